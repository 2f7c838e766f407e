//! Posting one small request: floors, this crate, libmlx5; see `common`.
mod common;

use std::sync::atomic::AtomicBool;

use blueflame::arch::Packed;
use blueflame::db::{OneFence, Register};
use blueflame::types::{Lkey, WrId};
use blueflame::wqe::{Sge, Write};

use common::contest::{Bench, Contestant, Group, Timed};
use common::floor::{floor, locked};
use common::libmlx5::{INLINE, List, SIGNALED, gather_entry, inline_entry, set_entry, set_inline, theirs};
use common::ours::{Ours, exclusive, ours, remote, shared, tag};
use common::rig::{ENTRIES, Rig, SMALL, Threads};
use common::{MESSAGES, Message};

fn main() {
    let mut bench = Bench::new("post");
    inline(&mut bench);
    one_entry(&mut bench);
    bench.finish();
}

/// 8 bytes inline, by BlueFlame.
fn inline(bench: &mut Bench) {
    let lock = AtomicBool::new(false);
    let shared_floor = floor(SMALL, |sq, n| {
        let wqe = sq.inline(MESSAGES.get(n), true).map(Packed::new);
        sq.put_packed(&wqe);
        sq.record();
        locked(&lock, || sq.copy_packed::<true>(&wqe));
    });
    Group::new("post", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", by_hand::<true>())
        .case("floor one fence", "floor two fences", by_hand::<false>())
        .case("floor shared", "floor two fences", shared_floor)
        .case("typed two fences", "floor two fences", typed(exclusive))
        .case("typed one fence", "floor one fence", typed(one_fence))
        .case("typed shared", "floor shared", typed(shared))
        .case("template floor two fences", "", template_floor::<true>())
        .case("template floor one fence", "template floor two fences", template_floor::<false>())
        .case("template two fences", "template floor two fences", template(exclusive))
        .case("template one fence", "template floor one fence", template(one_fence))
        .case("ibv_post_send default", "floor two fences", post_send(Threads::Any))
        .case("ibv_post_send single-threaded", "floor two fences", post_send(Threads::One))
        .case("ibv_wr default", "floor two fences", wr(Threads::Any))
        .case("ibv_wr single-threaded", "floor two fences", wr(Threads::One))
        .measure(bench);
}

fn one_fence(rig: &Rig) -> blueflame::db::ExclusiveRegister<OneFence> {
    exclusive(rig).with_mode()
}

fn typed<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    ours(Ours::new(SMALL, register), |sq, n| {
        let m = MESSAGES.get(n);
        // SAFETY: inline data names no memory of this side.
        unsafe { sq.post(&Write::to(remote(m)).inline(&m.payload).signaled(tag(n))) }.expect("space");
    })
}

fn by_hand<const FLUSH: bool>() -> impl Contestant {
    floor(SMALL, |sq, n| sq.post_packed::<FLUSH>(&sq.inline(MESSAGES.get(n), true).map(Packed::new)))
}

fn template_floor<const FLUSH: bool>() -> impl Contestant {
    let mut prepared = None;
    floor(SMALL, move |sq, n| {
        let blank = Message { payload: [0; 8], ..*MESSAGES.get(0) };
        let prepared = prepared.get_or_insert_with(|| sq.inline(&blank, true).map(Packed::new));
        sq.post_packed::<FLUSH>(&sq.patched(prepared, MESSAGES.get(n)));
    })
}

fn template<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    let queues = Ours::new(SMALL, register);
    let request = Write::to(remote(MESSAGES.get(0))).inline_len::<8>().signaled(WrId(0));
    let template = queues.sq.template(request).expect("room for 8 bytes");
    ours(queues, move |sq, n| {
        // SAFETY: the template is this queue's.
        unsafe { sq.fire(&template, &MESSAGES.get(n).payload) }.expect("space");
    })
}

fn post_send(threads: Threads) -> impl Contestant {
    let mut list = List::new(1, SIGNALED | INLINE);
    theirs(SMALL, threads, 1, move |theirs, n| theirs.post_send(list.load(n, inline_entry)))
}

fn wr(threads: Threads) -> impl Contestant {
    theirs(SMALL, threads, 1, |theirs, n| theirs.wr(n, 1, |_| SIGNALED, set_inline))
}

/// One scatter/gather entry, by BlueFlame, as libmlx5 rings for a lone request by default.
fn one_entry(bench: &mut Bench) {
    Group::new("post one entry", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", floor(SMALL, |sq, n| sq.post::<true>(&sq.gathered(MESSAGES.get(n)))))
        .case(
            "floor one fence",
            "floor two fences",
            floor(SMALL, |sq, n| sq.post::<false>(&sq.gathered(MESSAGES.get(n)))),
        )
        .case("typed two fences", "floor two fences", gathered(exclusive))
        .case("typed one fence", "floor one fence", gathered(one_fence))
        .case("ibv_post_send default", "floor two fences", post_send_entry(Threads::Any))
        .case("ibv_post_send single-threaded", "floor two fences", post_send_entry(Threads::One))
        .case("ibv_wr default", "floor two fences", wr_entry(Threads::Any))
        .case("ibv_wr single-threaded", "floor two fences", wr_entry(Threads::One))
        .measure(bench);
}

fn sge(m: &Message) -> Sge {
    Sge { addr: m.local, bytes: m.bytes, lkey: Lkey(m.lkey) }
}

fn gathered<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    ours(Ours::new(SMALL, register), |sq, n| {
        let m = MESSAGES.get(n);
        // SAFETY: a device in sink mode does not look at the entry's memory.
        unsafe { sq.post(&Write::to(remote(m)).gather([sge(m)]).signaled(tag(n))) }.expect("space");
    })
}

fn post_send_entry(threads: Threads) -> impl Contestant {
    let mut list = List::new(1, SIGNALED);
    theirs(SMALL, threads, 1, move |theirs, n| theirs.post_send(list.load(n, gather_entry)))
}

fn wr_entry(threads: Threads) -> impl Contestant {
    theirs(SMALL, threads, 1, |theirs, n| theirs.wr(n, 1, |_| SIGNALED, set_entry))
}
