//! Posting many requests by one doorbell, and polling their completions; see `common`.
mod common;

use blueflame::wqe;

use common::MESSAGES;
use common::contest::{Bench, Contestant, Group, Player, Timed};
use common::floor::{Floor, FloorSq};
use common::floor_cq::FloorCq;
use common::libmlx5::{INLINE, List, SIGNALED, Theirs, inline_entry, set_inline};
use common::ours::{Ours, exclusive, remote, tag};
use common::rig::{ENTRIES, SMALL, Threads};

/// Completions of one poll call.
const POLLED: usize = 16;

fn main() {
    let mut bench = Bench::new("burst");
    post::<1>(&mut bench, "burst of 1");
    post::<16>(&mut bench, "burst of 16");
    post::<64>(&mut bench, "burst of 64");
    post_and_poll::<16>(&mut bench, "burst of 16 and poll");
    post_and_poll::<64>(&mut bench, "burst of 64 and poll");
    bench.finish();
}

fn post<const N: usize>(bench: &mut Bench, name: &str) {
    Group::new(name, Timed::Post, N, ENTRIES)
        .case("floor", "", floor::<N, 1>())
        .case("batch", "floor", batch::<N, 1>())
        .case("batch_of", "floor", batch_of::<N, 1>())
        .case("ibv_post_send list default", "floor", list::<N, 1>(Threads::Any))
        .case("ibv_post_send list single-threaded", "floor", list::<N, 1>(Threads::One))
        .case("ibv_wr default", "floor", wr::<N, 1>(Threads::Any))
        .case("ibv_wr single-threaded", "floor", wr::<N, 1>(Threads::One))
        .measure(bench);
}

/// Every message signalled, and the last of a burst only ("moderated").
fn post_and_poll<const N: usize>(bench: &mut Bench, name: &str) {
    Group::new(name, Timed::Both, N, ENTRIES)
        .case("floor", "", floor::<N, 1>())
        .case("blueflame", "floor", batch::<N, 1>())
        .case("blueflame batch_of", "floor", batch_of::<N, 1>())
        .case("ibv_post_send and ibv_poll_cq(16) default", "floor", list::<N, 1>(Threads::Any))
        .case("ibv_post_send and ibv_poll_cq(16) single-threaded", "floor", list::<N, 1>(Threads::One))
        .case("ibv_wr and ibv_poll_cq(16) default", "floor", wr::<N, 1>(Threads::Any))
        .case("ibv_wr and ibv_poll_cq(16) single-threaded", "floor", wr::<N, 1>(Threads::One))
        .case("floor moderated", "", floor::<N, N>())
        .case("blueflame moderated", "floor moderated", batch::<N, N>())
        .case("blueflame batch_of moderated", "floor moderated", batch_of::<N, N>())
        .case("ibv_wr and ibv_poll_cq(1) moderated default", "floor moderated", wr::<N, N>(Threads::Any))
        .case("ibv_wr and ibv_poll_cq(1) moderated single-threaded", "floor moderated", wr::<N, N>(Threads::One))
        .measure(bench);
}

/// Whether the `n`th message asks for a completion, when one in `S` does.
#[inline(always)]
fn is_signaled<const S: usize>(n: u64) -> bool {
    n % S as u64 == S as u64 - 1
}

fn floor<const N: usize, const S: usize>() -> impl Contestant {
    Player::new(
        Floor::new(SMALL),
        |floor: &mut Floor, first, count| {
            for first in (first..first + count as u64).step_by(N) {
                floor_burst::<N, S>(&mut floor.sq, first);
            }
        },
        |floor: &mut Floor, count| match S {
            1 => floor.cq.poll::<POLLED>(count, FloorCq::fields),
            _ => floor.cq.poll::<1>(count / S, FloorCq::fields),
        },
    )
}

#[inline(always)]
fn floor_burst<const N: usize, const S: usize>(sq: &mut FloorSq, first: u64) {
    let mut last = [[0; 2]; _];
    for n in first..first + N as u64 {
        last = sq.inline(MESSAGES.get(n), is_signaled::<S>(n));
        sq.put(&last);
    }
    sq.record();
    if N == 1 {
        sq.copy::<true>(&last);
    } else {
        sq.eight::<true>(last[0][0]);
    }
}

fn batch<const N: usize, const S: usize>() -> impl Contestant {
    Player::new(
        Ours::new(SMALL, exclusive),
        |ours: &mut Ours<_>, first, count| {
            for first in (first..first + count as u64).step_by(N) {
                let mut batch = ours.sq.batch();
                for n in first..first + N as u64 {
                    let m = MESSAGES.get(n);
                    let request = wqe::write(remote(m)).inline(&m.payload).signaled_if(is_signaled::<S>(n), tag(n));
                    // SAFETY: inline data names no memory of this side.
                    unsafe { batch.push_unchecked(&request) }.expect("space");
                }
                batch.ring_doorbell();
            }
        },
        |ours: &mut Ours<_>, count| match S {
            1 => ours.poll_tags::<POLLED>(count),
            _ => ours.poll_tags::<1>(count / S),
        },
    )
}

/// A burst of `N` messages with room and limits checked once.
fn batch_of<const N: usize, const S: usize>() -> impl Contestant {
    Player::new(
        Ours::new(SMALL, exclusive),
        |ours: &mut Ours<_>, first, count| {
            for first in (first..first + count as u64).step_by(N) {
                let mut burst = ours.sq.batch_of(N).expect("space");
                let request = |n: usize| {
                    let n = first + n as u64;
                    let m = MESSAGES.get(n);
                    wqe::write(remote(m)).inline(&m.payload).signaled_if(is_signaled::<S>(n), tag(n))
                };
                burst.fill(request).expect("the size of the type");
                burst.ring_doorbell();
            }
        },
        |ours: &mut Ours<_>, count| match S {
            1 => ours.poll_tags::<POLLED>(count),
            _ => ours.poll_tags::<1>(count / S),
        },
    )
}

fn list<const N: usize, const S: usize>(threads: Threads) -> impl Contestant {
    let mut list = List::new(N, SIGNALED | INLINE);
    Player::new(
        Theirs::new(SMALL, threads),
        move |theirs: &mut Theirs, first, count| {
            for first in (first..first + count as u64).step_by(N) {
                theirs.post_send(list.load(first, inline_entry));
            }
        },
        their_poll::<S>,
    )
}

fn wr<const N: usize, const S: usize>(threads: Threads) -> impl Contestant {
    Player::new(
        Theirs::new(SMALL, threads),
        |theirs: &mut Theirs, first, count| {
            for first in (first..first + count as u64).step_by(N) {
                theirs.wr(first, N, |n| if is_signaled::<S>(n) { SIGNALED } else { 0 }, set_inline);
            }
        },
        their_poll::<S>,
    )
}

fn their_poll<const S: usize>(theirs: &mut Theirs, count: usize) -> u64 {
    match S {
        1 => theirs.poll_cq::<POLLED>(count),
        _ => theirs.poll_cq::<1>(count / S),
    }
}
