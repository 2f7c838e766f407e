//! Posting against the depth of the ring, the number of queues, inline bytes, and scatter/gather entries; see `common`.
mod common;

use blueflame::arch::Wide;
use blueflame::db::{Register, TwoFences};
use blueflame::queue::SendQueue;
use blueflame::types::Lkey;
use blueflame::{Sge, transport, wqe};
use blueflame_sys as sys;

use common::MESSAGES;
use common::contest::{Bench, Group};
use common::floor::{Floor, FloorSq, floor};
use common::libmlx5::{SIGNALED, Theirs, set_data, set_entries, set_inline, theirs};
use common::many::{floors, in_turn, of_one_thread};
use common::ours::{Ours, exclusive, ours, remote, tag};
use common::rig::{ENTRIES, Rig, SMALL, Shape, Threads};

fn main() {
    let mut bench = Bench::new("sweep");
    ring_depth(&mut bench);
    for queues in [1, 4, 16, 64, 256, 1024] {
        many_queues(&mut bench, queues);
    }
    inline_bytes(&mut bench);
    entries(&mut bench);
    bench.finish();
}

/// Every slice fills the ring.
fn ring_depth(bench: &mut Bench) {
    let mut group = Group::sweep("ring depth", "ring depth");
    for depth in [64, 128, 256, 512, 1024, 4096, 16384, 32768] {
        let shape = Shape { entries: depth, ..SMALL };
        group = group
            .at(depth as u64, 1, depth)
            .case("floor", "", floor(shape, floor_post))
            .case("typed", "floor", ours(Ours::new(shape, exclusive), typed))
            .case("ibv_wr default", "floor", theirs(shape, Threads::Any, 1, wr));
    }
    group.measure(bench);
}

fn floor_post(sq: &mut FloorSq, n: u64) {
    sq.post_wide::<true, _>(&sq.inline(MESSAGES.get(n), true).map(Wide::new));
}

#[inline(always)]
fn typed<R: Register>(sq: &mut SendQueue<transport::Rc, R>, n: u64) {
    let m = MESSAGES.get(n);
    sq.post(&wqe::write(remote(m)).inline(&m.payload).signaled(tag(n))).expect("space");
}

#[inline(always)]
fn wr(theirs: &mut Theirs, n: u64) {
    theirs.wr(n, 1, |_| SIGNALED, set_inline);
}

/// One message to each queue, and again. The first round is not timed: it brings the memory of all queues into the
/// caches.
fn many_queues(bench: &mut Bench, queues: usize) {
    const SHAPE: Shape = Shape { entries: 64, ..SMALL };
    let rounds = (ENTRIES / queues).clamp(4, SHAPE.entries);
    let post = |floor: &mut Floor, n| floor_post(&mut floor.sq, n);
    let own = || Rig::many(queues, SHAPE, Threads::Domain);
    let dense = || Rig::of_one_thread(queues, SHAPE);
    let typed_own = own().into_iter().map(|rig| Ours::over(rig, exclusive)).collect();
    let libmlx5 = Rig::many(queues, SHAPE, Threads::Any).into_iter().map(Theirs::over).collect();
    Group::sweep("queues", "queues")
        .at(queues as u64, queues, queues * rounds)
        .case("floor", "", in_turn(floors(own()), post))
        .case("floor dense", "", in_turn(floors(dense()), post))
        .case("typed", "floor", in_turn(typed_own, |ours, n| typed(&mut ours.sq, n)))
        .case(
            "typed dense",
            "floor dense",
            in_turn(of_one_thread::<TwoFences>(dense()), |ours, n| typed(&mut ours.sq, n)),
        )
        .case(
            "typed dense, prefetched",
            "floor dense",
            in_turn(of_one_thread::<TwoFences>(dense()), |ours, n| {
                typed(&mut ours.sq, n);
                ours.sq.prefetch();
            }),
        )
        .case("ibv_wr default", "floor", in_turn(libmlx5, wr))
        .measure(bench);
}

/// Bytes to send: each message's are others.
static BYTES: [[u8; 220]; 16] = {
    let mut bytes = [[0; 220]; 16];
    let mut i = 0;
    while i < 16 * 220 {
        bytes[i / 220][i % 220] = (i * 7 / 3) as u8;
        i += 1;
    }
    bytes
};

/// The first `N` bytes of the `n`th message.
#[inline(always)]
fn bytes<const N: usize>(n: u64) -> &'static [u8; N] {
    BYTES[n as usize % BYTES.len()].first_chunk().expect("N is at most 220")
}

/// Sizes that end with a 16-byte unit, but for 8: libmlx5 leaves the rest of a unit as it was, this crate clears it.
fn inline_bytes(bench: &mut Bench) {
    let mut group = Group::sweep("inline bytes", "inline bytes");
    group = inline_point::<8>(group);
    group = inline_point::<28>(group);
    group = inline_point::<60>(group);
    group = inline_point::<92>(group);
    group = inline_point::<156>(group);
    group = inline_point::<188>(group);
    group = inline_point::<220>(group);
    group.measure(bench);
}

fn inline_point<const N: usize>(group: Group<'_>) -> Group<'_> {
    let shape = Shape { entries: ENTRIES, inline: N as u32, ..SMALL };
    let typed = ours(Ours::new(shape, exclusive), |sq, n| {
        let request = wqe::write(remote(MESSAGES.get(n))).inline(bytes::<N>(n)).signaled(tag(n));
        // SAFETY: inline data names no memory of this side.
        unsafe { sq.post_unchecked(&request) }.expect("space");
    });
    let slice = ours(Ours::new(shape, exclusive), |sq, n| {
        let request = wqe::write(remote(MESSAGES.get(n))).inline_slice(bytes::<N>(n)).signaled(tag(n));
        // SAFETY: inline data names no memory of this side.
        unsafe { sq.post_unchecked(&request) }.expect("space");
    });
    let wr = theirs(shape, Threads::Any, 1, |theirs, n| {
        theirs.wr(n, 1, |_| SIGNALED, |ex, _| set_data(ex, bytes::<N>(n)));
    });
    group.at(N as u64, 1, shape.requests()).case("typed", "", typed).case("typed slice", "typed", slice).case(
        "ibv_wr default",
        "typed",
        wr,
    )
}

/// Entries such that a request fills its last block: an unused part would change its place from one pass over the ring
/// to the next.
fn entries(bench: &mut Bench) {
    let mut group = Group::sweep("entries", "entries");
    group = entries_by_value::<1>(group);
    group = entries_by_value::<2>(group);
    group = entries_by_value::<4>(group);
    group = entries_by_value::<6>(group);
    group = entries_by_value::<10>(group);
    group = entries_by_value::<14>(group);
    group = entries_by_slice::<16>(group, "typed");
    group.measure(bench);
}

/// `N` entries of the `n`th message.
#[inline(always)]
fn sges<const N: usize>(n: u64) -> [Sge; N] {
    let m = MESSAGES.get(n);
    std::array::from_fn(|i| Sge { addr: m.local + 4096 * i as u64, length: m.bytes, lkey: Lkey(m.lkey) })
}

/// The shape of queues for requests of `N` entries.
const fn gathering<const N: usize>() -> Shape {
    Shape { entries: ENTRIES, inline: 0, sge: N as u32, ..SMALL }
}

/// Requests that own their entries, which are at most 14.
fn entries_by_value<const N: usize>(group: Group<'_>) -> Group<'_> {
    let shape = gathering::<N>();
    let typed = ours(Ours::new(shape, exclusive), |sq, n| {
        let request = wqe::write(remote(MESSAGES.get(n))).gather(sges::<N>(n)).signaled(tag(n));
        // SAFETY: a device in sink mode does not look at the entries' memory.
        unsafe { sq.post_unchecked(&request) }.expect("space");
    });
    entries_by_slice::<N>(group.at(N as u64, 1, shape.requests()).case("typed", "", typed), "typed slice")
}

/// Requests that refer to their entries, and those of libmlx5.
fn entries_by_slice<'a, const N: usize>(group: Group<'a>, name: &'static str) -> Group<'a> {
    let shape = gathering::<N>();
    let slice = ours(Ours::new(shape, exclusive), |sq, n| {
        let entries = sges::<N>(n);
        let request = wqe::write(remote(MESSAGES.get(n))).gather_slice(&entries).signaled(tag(n));
        // SAFETY: a device in sink mode does not look at the entries' memory.
        unsafe { sq.post_unchecked(&request) }.expect("space");
    });
    let wr = theirs(shape, Threads::Any, 1, |theirs, n| {
        theirs.wr(
            n,
            1,
            |_| SIGNALED,
            |ex, _| {
                let entry = |sge: Sge| sys::ibv_sge { addr: sge.addr, length: sge.length, lkey: sge.lkey.0 };
                set_entries(ex, &sges::<N>(n).map(entry));
            },
        );
    });
    let against = if name == "typed" { "" } else { "typed" };
    group.at(N as u64, 1, shape.requests()).case(name, against, slice).case("ibv_wr default", "typed", wr)
}
