//! Posting one small request: floors, this crate, libmlx5; see `common`.
mod common;

use std::hint::black_box;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use blueflame::arch::Wide;
use blueflame::db::{DoorbellFence, ExclusiveRegister, FlushMode, OneFence, Register, TwoFences};
use blueflame::queue::{BlueFlamePolicy, SendQueue, Staged};
use blueflame::types::{DcKey, WrId};
use blueflame::wqe::address::CompactAv;
use blueflame::wqe::operations::{Prepared, Write};
use blueflame::wqe::{self, DcAddress, Request, UdAddress};
use blueflame::{Qpn, transport};

use common::contest::{Bench, Contestant, Group, Player, Poll, Timed, Work};
use common::floor::{Floor, FloorSq, address, floor, locked};
use common::libmlx5::{
    INLINE, List, SIGNALED, gather_entry, handle, inline_entry, set_dc_addr, set_entry, set_inline, set_ud_addr, theirs,
};
use common::many;
use common::ours::{Ours, entry, exclusive, ours, recordless, remote, shared, tag};
use common::rig::{ENTRIES, LID, QKEY, Rig, SMALL, Service, Shape, Threads};
use common::{MESSAGES, Message};

/// Messages of a cold slice, of which one is timed.
const COLD_MESSAGES: usize = 16;
/// Queues that each have one request that only needs its doorbell. The memory of this many queues stays in the
/// first-level cache.
const STAGED_QUEUES: usize = 64;
const STAGED: Shape = Shape { entries: 64, ..SMALL };

fn main() {
    let mut bench = Bench::new("post");
    inline(&mut bench);
    doorbell(&mut bench);
    one_entry(&mut bench);
    prepared_requests(&mut bench);
    addressed(&mut bench);
    cold(&mut bench);
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
        .case("floor with wr_id", "floor two fences", with_wr_id(post_by_hand::<true>))
        .case("typed two fences", "floor two fences", typed(exclusive))
        .case("typed one fence", "floor one fence", typed(one_fence))
        .case("typed doorbell fence", "floor one fence", typed(doorbell_fence))
        .case("typed shared", "floor shared", typed(shared))
        .case("prepared floor two fences", "", prepared_floor::<true>())
        .case("prepared floor one fence", "prepared floor two fences", prepared_floor::<false>())
        .case("prepared two fences", "prepared floor two fences", prepared(exclusive))
        .case("prepared one fence", "prepared floor one fence", prepared(one_fence))
        .case("recordless floor", "", recordless_floor())
        .case("recordless", "recordless floor", typed_recordless())
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

/// 8 bytes inline, by BlueFlame, after work that has taken all caches, TLBs and predictors.
fn cold(bench: &mut Bench) {
    Group::cold("cold post", Timed::Post, COLD_MESSAGES)
        .case("floor", "", by_hand::<true>())
        .case("typed", "floor", typed(exclusive))
        .case("prepared floor", "", prepared_floor::<true>())
        .case("prepared", "prepared floor", prepared(exclusive))
        .case("prepared, warmed", "prepared floor", warmed(false))
        .case("prepared, rehearsed", "prepared floor", warmed(true))
        .case("ibv_post_send default", "floor", post_send(Threads::Any))
        .case("ibv_wr default", "floor", wr(Threads::Any))
        .slices(1, STAGED_QUEUES)
        .case("staged floor", "", staged_floor::<true>())
        .case("staged", "staged floor", staged::<TwoFences>())
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
    floor(SMALL, post_by_hand::<FLUSH>)
}

#[inline(always)]
fn post_by_hand<const FLUSH: bool>(sq: &mut FloorSq, n: u64) {
    sq.post_wide::<FLUSH, _>(&sq.inline(MESSAGES.get(n), true).map(Wide::new));
}

/// A floor with a duty of a queue that answers for its requests: it keeps `wr_id` and size for the completion.
fn with_wr_id(mut post: impl FnMut(&mut FloorSq, u64)) -> impl Contestant {
    let mut records = vec![Wide::new([0; 2]); ENTRIES].into_boxed_slice();
    floor(SMALL, move |sq, n| {
        let record = Wide::new([tag(n).0, 1]);
        // SAFETY: there are as many records as entries of the ring, and the slot is below that number.
        unsafe { record.store(NonNull::from(records.get_unchecked_mut(sq.slot())).cast()) };
        post(sq, n);
    })
}

fn prepared_floor<const FLUSH: bool>() -> impl Contestant {
    let mut prepared = None;
    floor(SMALL, move |sq, n| {
        let blank = Message { payload: [0; 8], ..*MESSAGES.get(0) };
        let prepared = prepared.get_or_insert_with(|| sq.inline(&blank, true).map(Wide::new));
        sq.post_wide::<FLUSH, _>(&sq.patched(prepared, MESSAGES.get(n)));
    })
}

fn prepared<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    let queues = Ours::new(SMALL, register);
    let write = prepared_write::<_, 8, 0>(&queues.sq);
    ours(queues, move |sq, n| {
        sq.post(&write.inline(&MESSAGES.get(n).payload)).expect("space");
    })
}

/// A queue without a doorbell record. The device, which has a record, is told of the requests beforehand.
fn recordless_floor() -> impl Contestant {
    floor(SMALL, |sq, n| sq.post_recordless::<true>(&sq.inline(MESSAGES.get(n), true)))
        .prepared(|floor, first, count| floor.rig.announce(first, count))
}

fn typed_recordless() -> impl Contestant {
    ours(Ours::new(SMALL, recordless), post_inline).prepared(|ours, first, count| ours.rig.announce(first, count))
}

/// A prepared WRITE, whose words the compiler does not know.
fn prepared_write<R: Register, const BYTES: usize, const ENTRIES: usize>(
    sq: &SendQueue<transport::Rc, R>,
) -> Request<'static, Prepared<Write, BYTES, ENTRIES>> {
    let request = wqe::write(remote(MESSAGES.get(0))).signaled(WrId(0));
    black_box(sq.prepare(&request).expect("a size that the queue takes"))
}

/// A prepared request whose memory the queue was told to bring to the cache ahead; with `rehearse`, it has also been
/// posted to a queue that no device reads.
fn warmed(rehearse: bool) -> impl Contestant {
    let queues = Ours::new(SMALL, exclusive);
    let mut rehearsal = queues.sq.rehearsal(Box::leak(Box::default()));
    let write = Rc::new(prepared_write::<_, 8, 0>(&queues.sq));
    let prepared = Rc::clone(&write);
    ours(queues, move |sq, n| shoot(sq, &write, n)).warmed(move |ours| {
        ours.sq.warm(&*prepared);
        if rehearse {
            shoot(&mut rehearsal, &prepared, 0);
            rehearsal.end_rehearsal().expect("no device has it");
        }
    })
}

/// One function for the rehearsal and the post.
#[inline(never)]
fn shoot(sq: &mut SendQueue<transport::Rc>, write: &Request<'static, Prepared<Write, 8>>, n: u64) {
    sq.post(&write.inline(&MESSAGES.get(n).payload)).expect("space");
}

/// Requests that are in the rings of many queues and only need their doorbells.
fn staged_floor<const FLUSH: bool>() -> impl Contestant {
    let rigs = Rig::of_one_thread(STAGED_QUEUES, STAGED);
    many::staged_floor::<FLUSH>(rigs, |floor, n| floor.sq.inline(MESSAGES.get(n), true).map(Wide::new))
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

/// Whom requests are for that name it.
const NUMBER: u32 = 0x12_3456;
const DC_KEY: u64 = 0x0102_0304_0506_0708;

/// 8 bytes inline, by BlueFlame: a WRITE to a target, and a datagram; by addresses of 16 bytes, which libmlx5 does not
/// write, and of 48.
fn addressed(bench: &mut Bench) {
    const INITIATOR: Shape = Shape { service: Service::Initiator, ..SMALL };
    const DATAGRAMS: Shape = Shape { service: Service::Datagrams, ..SMALL };
    let near = CompactAv::new(LID);
    let (handle, number) = (handle(), Qpn::truncate(NUMBER));
    let far = handle.vector();

    let [key, qkey] = [DC_KEY, u64::from(QKEY.0) << 32];
    let (near_words, far_words) = (address::<1>(key, NUMBER, LID), address::<3>(key, NUMBER, LID));
    let (to_near, to_far) = (DcAddress::new(near, number, DcKey(key)), DcAddress::new(far, number, DcKey(key)));
    let initiator = || Ours::<_, transport::Dci>::of(Rig::new(INITIATOR, Threads::Domain), exclusive);
    Group::new("post dc", Timed::Post, 1, INITIATOR.requests())
        .case(
            "compact floor",
            "",
            floor(INITIATOR, |sq, n| {
                sq.post_wide::<true, 4>(&sq.write_to(black_box(&near_words), MESSAGES.get(n)));
            }),
        )
        .case(
            "compact typed",
            "compact floor",
            ours(initiator(), |sq, n| {
                let m = MESSAGES.get(n);
                sq.post(&wqe::write(remote(m)).to(*black_box(&to_near)).inline(&m.payload).signaled(tag(n)))
                    .expect("space");
            }),
        )
        .case(
            "full floor",
            "",
            floor(INITIATOR, |sq, n| {
                sq.post_wide::<true, 6>(&sq.write_to(black_box(&far_words), MESSAGES.get(n)));
            }),
        )
        .case(
            "full typed",
            "full floor",
            ours(initiator(), |sq, n| {
                let m = MESSAGES.get(n);
                sq.post(&wqe::write(remote(m)).to(*black_box(&to_far)).inline(&m.payload).signaled(tag(n)))
                    .expect("space");
            }),
        )
        .case(
            "full ibv_wr default",
            "full floor",
            theirs(INITIATOR, Threads::Any, 1, |theirs, n| {
                let dv = theirs.dv;
                theirs.wr(
                    n,
                    1,
                    |_| SIGNALED,
                    |ex, m| {
                        set_dc_addr(dv, &handle, NUMBER, DC_KEY);
                        set_inline(ex, m);
                    },
                );
            }),
        )
        .measure(bench);

    let (near_words, far_words) = (address::<1>(qkey, NUMBER, LID), address::<3>(qkey, NUMBER, LID));
    let (to_near, to_far) = (UdAddress::new(near, number, QKEY), UdAddress::new(far, number, QKEY));
    let datagrams = || Ours::<_, transport::Ud>::of(Rig::new(DATAGRAMS, Threads::Domain), exclusive);
    Group::new("post ud", Timed::Post, 1, DATAGRAMS.requests())
        .case(
            "compact floor",
            "",
            floor(DATAGRAMS, |sq, n| {
                sq.post_wide::<true, 3>(&sq.send_to(black_box(&near_words), MESSAGES.get(n)));
            }),
        )
        .case(
            "compact typed",
            "compact floor",
            ours(datagrams(), |sq, n| {
                let m = MESSAGES.get(n);
                sq.post(&wqe::send().to(*black_box(&to_near)).inline(&m.payload).signaled(tag(n))).expect("space");
            }),
        )
        .case(
            "full floor",
            "",
            floor(DATAGRAMS, |sq, n| {
                sq.post_wide::<true, 5>(&sq.send_to(black_box(&far_words), MESSAGES.get(n)));
            }),
        )
        .case(
            "full typed",
            "full floor",
            ours(datagrams(), |sq, n| {
                let m = MESSAGES.get(n);
                sq.post(&wqe::send().to(*black_box(&to_far)).inline(&m.payload).signaled(tag(n))).expect("space");
            }),
        )
        .case(
            "full ibv_wr default",
            "full floor",
            theirs(DATAGRAMS, Threads::Any, 1, |theirs, n| {
                theirs.send(
                    n,
                    |_| SIGNALED,
                    |ex, m| {
                        set_ud_addr(ex, &handle, NUMBER, QKEY.0);
                        set_inline(ex, m);
                    },
                );
            }),
        )
        .measure(bench);
}

/// One request by an 8-byte doorbell, 8 bytes inline or one entry, as with a register without BlueFlame.
fn doorbell(bench: &mut Bench) {
    Group::new("post doorbell", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", floor(SMALL, |sq, n| sq.post_eight::<true>(&sq.inline(MESSAGES.get(n), true))))
        .case(
            "floor one fence",
            "floor two fences",
            floor(SMALL, |sq, n| sq.post_eight::<false>(&sq.inline(MESSAGES.get(n), true))),
        )
        .case(
            "floor with wr_id",
            "floor two fences",
            with_wr_id(|sq, n| sq.post_eight::<true>(&sq.inline(MESSAGES.get(n), true))),
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

fn gathered<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    ours(Ours::new(SMALL, register), post_entry)
}

#[inline(always)]
fn post_entry<R: Register>(sq: &mut SendQueue<transport::Rc, R>, n: u64) {
    let m = MESSAGES.get(n);
    // SAFETY: a device in sink mode does not look at the entry's memory.
    unsafe { sq.post_unchecked(&wqe::write(remote(m)).gather([entry(m)]).signaled(tag(n))) }.expect("space");
}

fn post_send_entry(threads: Threads) -> impl Contestant {
    let mut list = List::new(1, SIGNALED);
    theirs(SMALL, threads, 1, move |theirs, n| theirs.post_send(list.load(n, gather_entry)))
}

fn wr_entry(threads: Threads) -> impl Contestant {
    theirs(SMALL, threads, 1, |theirs, n| theirs.wr(n, 1, |_| SIGNALED, set_entry))
}

/// Other prepared requests.
fn prepared_requests(bench: &mut Bench) {
    Group::new("prepared entry", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", entry_floor::<true>())
        .case("floor one fence", "floor two fences", entry_floor::<false>())
        .case("prepared two fences", "floor two fences", prepared_entry(exclusive))
        .case("prepared one fence", "floor one fence", prepared_entry(one_fence))
        .measure(bench);
    Group::new("prepared send", Timed::Post, 1, ENTRIES)
        .case("floor two fences", "", send_floor::<true>())
        .case("floor one fence", "floor two fences", send_floor::<false>())
        .case("prepared two fences", "floor two fences", prepared_send(exclusive))
        .case("prepared one fence", "floor one fence", prepared_send(one_fence))
        .measure(bench);
}

fn prepared_entry<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    let queues = Ours::new(SMALL, register);
    let write = prepared_write::<_, 0, 1>(&queues.sq);
    ours(queues, move |sq, n| {
        // SAFETY: nobody looks at the memory that the entry names: the device has no peer and fetches nothing.
        unsafe { sq.post_unchecked(&write.gather([entry(MESSAGES.get(n))])) }.expect("space");
    })
}

fn prepared_send<R: Register>(register: impl FnOnce(&Rig) -> R) -> impl Contestant {
    let queues = Ours::new(SMALL, register);
    let send = queues.sq.prepare::<_, _, 8, 0>(&wqe::send().signaled(WrId(0))).expect("a size that the queue takes");
    let send = black_box(send);
    ours(queues, move |sq, n| {
        sq.post(&send.inline(&MESSAGES.get(n).payload)).expect("space");
    })
}

fn entry_floor<const FLUSH: bool>() -> impl Contestant {
    let mut prepared = None;
    floor(SMALL, move |sq, n| {
        let prepared = prepared.get_or_insert_with(|| sq.gathered(MESSAGES.get(0)).map(Wide::new));
        sq.post_wide::<FLUSH, _>(&sq.patched_entry(prepared, MESSAGES.get(n)));
    })
}

fn send_floor<const FLUSH: bool>() -> impl Contestant {
    let mut prepared = None;
    floor(SMALL, move |sq, n| {
        let prepared = prepared.get_or_insert_with(|| sq.prepared_send());
        sq.post_wide::<FLUSH, _>(&sq.patched_send(prepared, MESSAGES.get(n)));
    })
}
