//! Posting one small request, and bursts of them, against bare stores.
//!
//! Memory stands for the NIC: see `common`. After each half of the ring the crate's queues take the completed requests
//! back, by one call, which is part of what is measured; the floors have no space to keep account of.
mod common;

use std::hint::black_box;
use std::sync::atomic::AtomicBool;

use blueflame::db::{OneFence, Register};
use blueflame::queue::{BlueFlamePolicy, SendQueue};
use blueflame::types::{Lkey, Rkey, WrId};
use blueflame::wqe::{Rc, Remote, Sge, Write};

use common::compare::{Group, criterion};
use common::floor::{FloorSq, locked};
use common::rig::{ENTRIES, HALF_BYTES, SendRig};
use common::{Message, Messages};

/// Requests posted before their space is taken back.
const RETIRED_AT_ONCE: u64 = ENTRIES as u64 / 2;

fn main() {
    let mut criterion = criterion();
    let messages = &Messages::new();
    let rig = || SendRig::new(HALF_BYTES);

    let (floor, typed) = (rig(), rig());
    Group::new("post/inline 8, BlueFlame, two fences", 1)
        .case("floor", move || floor.snapshot(), floor_inline::<true>(&floor, messages))
        .case("typed", move || typed.snapshot(), typed_inline(typed.queue(typed.exclusive()), messages))
        .measure(&mut criterion);

    let (floor, typed) = (rig(), rig());
    let register = typed.exclusive().with_mode::<OneFence>();
    Group::new("post/inline 8, BlueFlame, one fence", 1)
        .case("floor", move || floor.snapshot(), floor_inline::<false>(&floor, messages))
        .case("typed", move || typed.snapshot(), typed_inline(typed.queue(register), messages))
        .measure(&mut criterion);

    let (floor, fired) = (rig(), rig());
    Group::new("post/template, BlueFlame, two fences", 1)
        .case("floor", move || floor.snapshot(), floor_patched::<true>(&floor, messages))
        .case("fire", move || fired.snapshot(), fire(fired.queue(fired.exclusive()), messages))
        .measure(&mut criterion);

    let (floor, fired) = (rig(), rig());
    let register = fired.exclusive().with_mode::<OneFence>();
    Group::new("post/template, BlueFlame, one fence", 1)
        .case("floor", move || floor.snapshot(), floor_patched::<false>(&floor, messages))
        .case("fire", move || fired.snapshot(), fire(fired.queue(register), messages))
        .measure(&mut criterion);

    let (floor, typed) = (rig(), rig());
    Group::new("post/one entry, 8-byte doorbell, two fences", 1)
        .case("floor", move || floor.snapshot(), floor_gathered(&floor, messages))
        .case("typed", move || typed.snapshot(), typed_gathered(typed.queue(typed.exclusive()), messages))
        .measure(&mut criterion);

    let (floor, shared) = (rig(), rig());
    Group::new("post/inline 8, BlueFlame, shared register", 1)
        .case("floor", move || floor.snapshot(), floor_shared(&floor, messages))
        .case("typed", move || shared.snapshot(), typed_inline(shared.queue(shared.shared()), messages))
        .measure(&mut criterion);

    let (floor, batch) = (rig(), rig());
    Group::new("post/batch of 1, BlueFlame, two fences", 1)
        .case("floor", move || floor.snapshot(), floor_inline::<true>(&floor, messages))
        .case("batch", move || batch.snapshot(), batches::<1>(&batch, messages))
        .measure(&mut criterion);

    let (floor, batch) = (rig(), rig());
    Group::new("post/batch of 16, one 8-byte doorbell", 16)
        .case("floor", move || floor.snapshot(), floor_batches::<16>(&floor, messages))
        .case("batch", move || batch.snapshot(), batches::<16>(&batch, messages))
        .measure(&mut criterion);

    let (floor, batch) = (rig(), rig());
    Group::new("post/batch of 64, one 8-byte doorbell", 64)
        .case("floor", move || floor.snapshot(), floor_batches::<64>(&floor, messages))
        .case("batch", move || batch.snapshot(), batches::<64>(&batch, messages))
        .measure(&mut criterion);

    criterion.final_summary();
}

/// Runs a floor so many times.
fn floor(rig: &SendRig, mut post: impl FnMut(&mut FloorSq, u64)) -> impl FnMut(u64) -> u64 {
    let mut sq = FloorSq::new(rig);
    move |operations| {
        let sq = black_box(&mut sq);
        for n in 0..operations {
            post(sq, n);
        }
        0
    }
}

fn floor_inline<const FLUSH: bool>(rig: &SendRig, messages: &Messages) -> impl FnMut(u64) -> u64 {
    floor(rig, |sq, n| {
        let wqe = sq.inline(messages.get(n));
        sq.put(&wqe);
        sq.record();
        sq.copy::<FLUSH>(&wqe);
    })
}

fn floor_patched<const FLUSH: bool>(rig: &SendRig, messages: &Messages) -> impl FnMut(u64) -> u64 {
    let prepared = FloorSq::new(rig).inline(messages.get(0));
    floor(rig, move |sq, n| {
        let wqe = sq.patched(&prepared, messages.get(n));
        sq.put(&wqe);
        sq.record();
        sq.copy::<FLUSH>(&wqe);
    })
}

fn floor_gathered(rig: &SendRig, messages: &Messages) -> impl FnMut(u64) -> u64 {
    floor(rig, |sq, n| {
        let wqe = sq.gathered(messages.get(n));
        sq.put(&wqe);
        sq.record();
        sq.eight::<true>(wqe[0]);
    })
}

fn floor_shared(rig: &SendRig, messages: &Messages) -> impl FnMut(u64) -> u64 {
    let lock = AtomicBool::new(false);
    floor(rig, move |sq, n| {
        let wqe = sq.inline(messages.get(n));
        sq.put(&wqe);
        sq.record();
        locked(&lock, || sq.copy::<true>(&wqe));
    })
}

fn floor_batches<const N: u64>(rig: &SendRig, messages: &Messages) -> impl FnMut(u64) -> u64 {
    floor(rig, |sq, _| {
        let mut last = 0;
        for n in 0..N {
            let wqe = sq.inline(messages.get(n));
            sq.put(&wqe);
            last = wqe[0];
        }
        sq.record();
        sq.eight::<true>(last);
    })
}

/// Runs a queue so many times, each of which posts `N` requests of one WQEBB.
fn queue<const N: u64, R: Register>(
    mut sq: SendQueue<Rc, R>,
    mut post: impl FnMut(&mut SendQueue<Rc, R>, u64),
) -> impl FnMut(u64) -> u64 {
    let at_once = RETIRED_AT_ONCE / N;
    move |operations| {
        let sq = black_box(&mut sq);
        let mut n = 0;
        while n < operations {
            let end = operations.min(n + at_once);
            for n in n..end {
                post(sq, n);
            }
            n = end;
            sq.retire(sq.pi().0.wrapping_sub(1)).expect("the last request posted");
        }
        0
    }
}

fn typed_inline<R: Register>(sq: SendQueue<Rc, R>, messages: &Messages) -> impl FnMut(u64) -> u64 {
    queue::<1, R>(sq, |sq, n| {
        let m = messages.get(n);
        // SAFETY: inline data names no memory, and there is no device.
        unsafe { sq.post(&Write::to(remote(m)).inline(&m.payload).signaled(WrId(n))) }.expect("space");
    })
}

fn typed_gathered<R: Register>(mut sq: SendQueue<Rc, R>, messages: &Messages) -> impl FnMut(u64) -> u64 {
    sq.set_blueflame_policy(BlueFlamePolicy::Inline);
    queue::<1, R>(sq, |sq, n| {
        let m = messages.get(n);
        let sge = Sge { addr: m.local, bytes: m.bytes, lkey: Lkey(m.lkey) };
        // SAFETY: there is no device that would look at the entry's memory.
        unsafe { sq.post(&Write::to(remote(m)).gather([sge]).signaled(WrId(n))) }.expect("space");
    })
}

fn fire<R: Register>(sq: SendQueue<Rc, R>, messages: &Messages) -> impl FnMut(u64) -> u64 {
    let request = Write::to(remote(messages.get(0))).inline_len::<8>().signaled(WrId(0));
    let template = sq.template(request).expect("room for 8 bytes");
    queue::<1, R>(sq, move |sq, n| {
        // SAFETY: the template is this queue's, and there is no device.
        unsafe { sq.fire(&template, &messages.get(n).payload) }.expect("space");
    })
}

fn batches<const N: u64>(rig: &SendRig, messages: &Messages) -> impl FnMut(u64) -> u64 {
    queue::<N, _>(rig.queue(rig.exclusive()), |sq, operation| {
        let mut batch = sq.batch();
        for i in 0..N {
            // A batch of one is compared with single posts, which go through all messages.
            let n = if N == 1 { operation } else { i };
            let m = messages.get(n);
            // SAFETY: inline data names no memory, and there is no device.
            unsafe { batch.push(&Write::to(remote(m)).inline(&m.payload).signaled(WrId(n))) }.expect("space");
        }
        batch.ring();
    })
}

fn remote(m: &Message) -> Remote {
    Remote { addr: m.addr, rkey: Rkey(m.rkey) }
}
