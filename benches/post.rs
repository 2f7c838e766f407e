//! Posting one small request: floors, this crate, libmlx5; see `common`.
mod common;

use std::sync::atomic::AtomicBool;

use blueflame::arch::Packed;
use blueflame::db::{DoorbellFence, ExclusiveRegister, FlushMode, OneFence, Register, TwoFences};
use blueflame::queue::{BlueFlamePolicy, SendQueue, Staged};
use blueflame::types::{Lkey, WrId};
use blueflame::wqe::{self, Request, SupportedOn, TemplatePayload};
use blueflame::{Sge, transport};

use common::contest::{Bench, Contestant, Group, Player, Poll, Timed, Work};
use common::floor::{Floor, floor, locked};
use common::libmlx5::{INLINE, List, SIGNALED, gather_entry, inline_entry, set_entry, set_inline, theirs};
use common::many;
use common::ours::{Ours, exclusive, ours, remote, shared, tag};
use common::rig::{ENTRIES, Rig, SMALL, Shape, Threads};
use common::{MESSAGES, Message};

/// Queues of which each has one request that only needs its doorbell: what is used of as many stays in the first-level cache.
const STAGED_QUEUES: usize = 64;
const STAGED: Shape = Shape { entries: 64, ..SMALL };

fn main() {
    let mut bench = Bench::new("post");
    inline(&mut bench);
    doorbell(&mut bench);
    one_entry(&mut bench);
    templates(&mut bench);
    bench.finish();
}

/// 8 bytes inline, by BlueFlame.
fn inline(bench: &mut Bench) {
    let lock = AtomicBool::new(false);
    let shared_floor = floor(SMALL, |sq, n| {
        let wqe = sq.inline(MESSAGES.get(n), true);
        sq.put(&wqe);
        sq.record();
        locked(&lock, || sq.copy::<true>(&wqe));
    });
    Group::new("post", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", by_hand::<true>())
        .case("floor one fence", "floor two fences", by_hand::<false>())
        .case("floor shared", "floor two fences", shared_floor)
        .case("typed two fences", "floor two fences", typed(exclusive))
        .case("typed one fence", "floor one fence", typed(one_fence))
        .case("typed doorbell fence", "floor one fence", typed(doorbell_fence))
        .case("typed shared", "floor shared", typed(shared))
        .case("template floor two fences", "", template_floor::<true>())
        .case("template floor one fence", "template floor two fences", template_floor::<false>())
        .case("template two fences", "template floor two fences", template(exclusive))
        .case("template one fence", "template floor one fence", template(one_fence))
        .case("ibv_post_send default", "floor two fences", post_send(Threads::Any))
        .case("ibv_post_send single-threaded", "floor two fences", post_send(Threads::One))
        .case("ibv_wr default", "floor two fences", wr(Threads::Any))
        .case("ibv_wr single-threaded", "floor two fences", wr(Threads::One))
        .slices(1, STAGED_QUEUES)
        .case("staged floor two fences", "", staged_floor::<true>())
        .case("staged floor one fence", "staged floor two fences", staged_floor::<false>())
        .case("staged two fences", "staged floor two fences", staged::<TwoFences>())
        .case("staged one fence", "staged floor one fence", staged::<OneFence>())
        .measure(bench);
}

fn one_fence(rig: &Rig) -> ExclusiveRegister<OneFence> {
    exclusive(rig).with_mode()
}

fn doorbell_fence(rig: &Rig) -> ExclusiveRegister<DoorbellFence> {
    exclusive(rig).with_mode()
}

fn typed<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    ours(Ours::new(SMALL, register), post_inline)
}

#[inline(always)]
fn post_inline<R: Register>(sq: &mut SendQueue<transport::Rc, R>, n: u64) {
    let m = MESSAGES.get(n);
    sq.post(&wqe::write(remote(m)).inline(&m.payload).signaled(tag(n))).expect("space");
}

fn by_hand<const FLUSH: bool>() -> Player<Floor, impl Work<Floor>, impl Poll<Floor>> {
    floor(SMALL, |sq, n| sq.post_packed::<FLUSH, _>(&sq.inline(MESSAGES.get(n), true).map(Packed::new)))
}

fn template_floor<const FLUSH: bool>() -> impl Contestant {
    let mut prepared = None;
    floor(SMALL, move |sq, n| {
        let blank = Message { payload: [0; 8], ..*MESSAGES.get(0) };
        let prepared = prepared.get_or_insert_with(|| sq.inline(&blank, true).map(Packed::new));
        sq.post_packed::<FLUSH, _>(&sq.patched(prepared, MESSAGES.get(n)));
    })
}

fn template<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    let request = wqe::write(remote(MESSAGES.get(0))).inline_len::<8>().signaled(WrId(0));
    fire(register, request, |m| m.payload)
}

/// Fires a template with what `data` makes of each message.
fn fire<R: Register, O: SupportedOn<transport::Rc>, H: TemplatePayload>(
    register: impl FnOnce(&Rig) -> R,
    request: Request<O, H>,
    data: impl Fn(&Message) -> H::Data,
) -> impl Contestant {
    let queues = Ours::new(SMALL, register);
    let template = queues.sq.template(request).expect("a size that the queue takes");
    ours(queues, move |sq, n| {
        // SAFETY: nobody looks at the memory that entries name: the device has no peer and fetches nothing.
        unsafe { sq.fire_unchecked(&template, &data(MESSAGES.get(n))) }.expect("space");
    })
}

/// Requests that are in the rings of many queues and only need their doorbells.
fn staged_floor<const FLUSH: bool>() -> impl Contestant {
    let rigs = Rig::of_one_thread(STAGED_QUEUES, STAGED);
    many::staged_floor::<FLUSH>(rigs, |floor, n| floor.sq.inline(MESSAGES.get(n), true).map(Packed::new))
}

fn staged<F: FlushMode>() -> impl Contestant {
    many::staged::<F>(Rig::of_one_thread(STAGED_QUEUES, STAGED), stage)
}

#[inline(always)]
fn stage<R: Register>(sq: &mut SendQueue<transport::Rc, R>, n: u64) -> Staged<'_, transport::Rc, R> {
    let m = MESSAGES.get(n);
    sq.stage(&wqe::write(remote(m)).inline(&m.payload).signaled(tag(n))).expect("space")
}

fn post_send(threads: Threads) -> impl Contestant {
    let mut list = List::new(1, SIGNALED | INLINE);
    theirs(SMALL, threads, 1, move |theirs, n| theirs.post_send(list.load(n, inline_entry)))
}

fn wr(threads: Threads) -> impl Contestant {
    theirs(SMALL, threads, 1, |theirs, n| theirs.wr(n, 1, |_| SIGNALED, set_inline))
}

/// One request by an 8-byte doorbell, 8 bytes inline or one entry: what a register without BlueFlame takes.
fn doorbell(bench: &mut Bench) {
    Group::new("post doorbell", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", floor(SMALL, |sq, n| sq.post_eight::<true>(&sq.inline(MESSAGES.get(n), true))))
        .case(
            "floor one fence",
            "floor two fences",
            floor(SMALL, |sq, n| sq.post_eight::<false>(&sq.inline(MESSAGES.get(n), true))),
        )
        .case("typed two fences", "floor two fences", ours(by_eight(exclusive), post_inline))
        .case("typed one fence", "floor one fence", ours(by_eight(one_fence), post_inline))
        .measure(bench);
    Group::new("post doorbell one entry", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", floor(SMALL, |sq, n| sq.post_eight::<true>(&sq.gathered(MESSAGES.get(n)))))
        .case("typed two fences", "floor two fences", ours(by_eight(exclusive), post_entry))
        .measure(bench);
}

/// Queues that ring by 8 bytes only.
fn by_eight<R: Register>(register: impl FnOnce(&Rig) -> R) -> Ours<R> {
    let mut queues = Ours::new(SMALL, register);
    queues.sq.set_blueflame_policy(BlueFlamePolicy::Never);
    queues
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
    Sge { addr: m.local, length: m.bytes, lkey: Lkey(m.lkey) }
}

fn gathered<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    ours(Ours::new(SMALL, register), post_entry)
}

#[inline(always)]
fn post_entry<R: Register>(sq: &mut SendQueue<transport::Rc, R>, n: u64) {
    let m = MESSAGES.get(n);
    // SAFETY: a device in sink mode does not look at the entry's memory.
    unsafe { sq.post_unchecked(&wqe::write(remote(m)).gather([sge(m)]).signaled(tag(n))) }.expect("space");
}

fn post_send_entry(threads: Threads) -> impl Contestant {
    let mut list = List::new(1, SIGNALED);
    theirs(SMALL, threads, 1, move |theirs, n| theirs.post_send(list.load(n, gather_entry)))
}

fn wr_entry(threads: Threads) -> impl Contestant {
    theirs(SMALL, threads, 1, |theirs, n| theirs.wr(n, 1, |_| SIGNALED, set_entry))
}

/// Templates of other requests.
fn templates(bench: &mut Bench) {
    let request = || wqe::write(remote(MESSAGES.get(0))).gather_len::<1>().signaled(WrId(0));
    Group::new("template entry", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", entry_floor::<true>())
        .case("floor one fence", "floor two fences", entry_floor::<false>())
        .case("template two fences", "floor two fences", fire(exclusive, request(), |m| [sge(m)]))
        .case("template one fence", "floor one fence", fire(one_fence, request(), |m| [sge(m)]))
        .measure(bench);
    let request = || wqe::send().inline_len::<8>().signaled(WrId(0));
    Group::new("template send", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", send_floor::<true>())
        .case("floor one fence", "floor two fences", send_floor::<false>())
        .case("template two fences", "floor two fences", fire(exclusive, request(), |m| m.payload))
        .case("template one fence", "floor one fence", fire(one_fence, request(), |m| m.payload))
        .measure(bench);
}

fn entry_floor<const FLUSH: bool>() -> impl Contestant {
    let mut prepared = None;
    floor(SMALL, move |sq, n| {
        let prepared = prepared.get_or_insert_with(|| sq.gathered(MESSAGES.get(0)).map(Packed::new));
        sq.post_packed::<FLUSH, _>(&sq.patched_entry(prepared, MESSAGES.get(n)));
    })
}

fn send_floor<const FLUSH: bool>() -> impl Contestant {
    let mut prepared = None;
    floor(SMALL, move |sq, n| {
        let prepared = prepared.get_or_insert_with(|| sq.prepared_send());
        sq.post_packed::<FLUSH, _>(&sq.patched_send(prepared, MESSAGES.get(n)));
    })
}
