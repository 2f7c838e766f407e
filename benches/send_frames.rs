//! Sending Ethernet frames: several in one WQE, one in each, and large sends; see `common`.
//!
//! The device's ports must be Ethernet: `./run bench` starts it with `--link ethernet`. A WQE of frames of 60 bytes
//! inline has at most 15 of them.
mod common;

use blueflame::SendQueue;
use blueflame::db::ExclusiveRegister;
use blueflame::wqe::limits::FrameOffloads;
use blueflame::wqe::{self, Request, operations};
use blueflame_sys as sys;

use common::MESSAGES;
use common::contest::{Bench, Contestant, Group, Player, Timed};
use common::floor::{Floor, FloorSq};
use common::floor_cq::FloorCq;
use common::frames::{FRAME_BYTES, HEADER_BYTES, MSS, frame, headers};
use common::libmlx5::{Theirs, begin_frame, begin_large, set_data, set_entry};
use common::ours::{Ours, entry, exclusive, tag};
use common::rig::{ENTRIES, Frames, Rig, Service, Shape, Threads};

type Queue = SendQueue<Frames, ExclusiveRegister>;

const POINTERS: Shape = Shape { service: Service::Frames { tso_header: 0 }, entries: ENTRIES, inline: 0, sge: 1 };
const INLINE: Shape = Shape { inline: FRAME_BYTES as u32, ..POINTERS };
const LARGE: Shape = Shape { service: Service::Frames { tso_header: HEADER_BYTES as u32 }, ..POINTERS };

/// WQEBBs of a frame inline and of a large send, each in a WQE of its own.
const PAIR: usize = 2;
/// DS in front of frames, and of each frame inline.
const HEAD_DS: usize = 2;
const INLINE_DS: usize = 4;

fn main() {
    let mut bench = Bench::new("send_frames");
    inline::<8>(&mut bench, "frames inline 8");
    inline::<15>(&mut bench, "frames inline 15");
    pointers::<8>(&mut bench, "frames pointer 8");
    pointers::<32>(&mut bench, "frames pointer 32");
    large(&mut bench);
    bench.finish();
}

/// `N` frames inline by one doorbell.
fn inline<const N: usize>(bench: &mut Bench, name: &str) {
    let single = floor::<N, 1>(INLINE, |sq, first| {
        let mut last = 0;
        for n in first..first + N as u64 {
            last = sq.put_inline_frame(frame(n));
        }
        ring(sq, last);
    });
    let batch = ours::<N, 1>(INLINE, |sq, first| {
        let mut batch = sq.batch();
        for n in first..first + N as u64 {
            batch.push(&head(n).inline(frame(n))).expect("space");
        }
        batch.ring_doorbell();
    });
    let batch_of = ours::<N, 1>(INLINE, |sq, first| {
        let mut burst = sq.batch_of(N).expect("space");
        burst.fill(|n| head(first + n as u64).inline(frame(first + n as u64))).expect("the size of the type");
        burst.ring_doorbell();
    });
    let floor_session = floor::<N, N>(INLINE, |sq, first| {
        let word = sq.put_inline::<N>(|n| frame(first + n as u64));
        ring(sq, word);
    });
    let session = ours::<N, N>(INLINE, |sq, first| {
        let mut batch = sq.batch();
        let mut session = batch.session(&head(first)).expect("space");
        for n in first..first + N as u64 {
            session.inline(frame(n)).expect("room");
        }
        session.close();
        batch.ring_doorbell();
    });
    let data = |ex, n| {
        begin_frame(ex);
        set_data(ex, frame(n));
    };
    Group::new(name, Timed::Post, N, ENTRIES / PAIR / N * N)
        .case("floor single", "", single)
        .case("single batch", "floor single", batch)
        .case("single batch_of", "floor single", batch_of)
        .case("ibv_wr default", "floor single", theirs::<N>(INLINE, Threads::Any, data))
        .case("ibv_wr single-threaded", "floor single", theirs::<N>(INLINE, Threads::One, data))
        .sessions(N, (HEAD_DS + INLINE_DS * N).div_ceil(4))
        .case("floor session", "", floor_session)
        .case("session", "floor session", session)
        .measure(bench);
}

/// `N` frames from registered memory by one doorbell.
fn pointers<const N: usize>(bench: &mut Bench, name: &str) {
    let single = floor::<N, 1>(POINTERS, |sq, first| {
        let mut last = [[0; 2]; _];
        for n in first..first + N as u64 {
            last = sq.frame(MESSAGES.get(n));
            sq.put(&last);
        }
        ring(sq, last[0][0]);
    });
    let batch = ours::<N, 1>(POINTERS, |sq, first| {
        let mut batch = sq.batch();
        for n in first..first + N as u64 {
            // SAFETY: nobody looks at the memory that the entry names: the device sends nothing.
            unsafe { batch.push_unchecked(&head(n).gather([entry(MESSAGES.get(n))])) }.expect("space");
        }
        batch.ring_doorbell();
    });
    let batch_of = ours::<N, 1>(POINTERS, |sq, first| {
        let mut burst = sq.batch_of(N).expect("space");
        let request = |n: usize| head(first + n as u64).gather([entry(MESSAGES.get(first + n as u64))]);
        // SAFETY: nobody looks at the memory that the entry names: the device sends nothing.
        unsafe { burst.fill_unchecked(request) }.expect("the size of the type");
        burst.ring_doorbell();
    });
    let floor_session = floor::<N, N>(POINTERS, |sq, first| {
        let word = sq.put_pointers::<N>(first);
        ring(sq, word);
    });
    let session = ours::<N, N>(POINTERS, |sq, first| {
        let mut batch = sq.batch();
        let mut session = batch.session(&head(first)).expect("space");
        for n in first..first + N as u64 {
            // SAFETY: nobody looks at the memory that the entry names: the device sends nothing.
            unsafe { session.gather_unchecked(entry(MESSAGES.get(n))) }.expect("room");
        }
        session.close();
        batch.ring_doorbell();
    });
    let data = |ex, n| {
        begin_frame(ex);
        set_entry(ex, MESSAGES.get(n));
    };
    Group::new(name, Timed::Post, N, ENTRIES)
        .case("floor single", "", single)
        .case("single batch", "floor single", batch)
        .case("single batch_of", "floor single", batch_of)
        .case("ibv_wr default", "floor single", theirs::<N>(POINTERS, Threads::Any, data))
        .case("ibv_wr single-threaded", "floor single", theirs::<N>(POINTERS, Threads::One, data))
        .sessions(N, (HEAD_DS + N).div_ceil(4))
        .case("floor session", "", floor_session)
        .case("session", "floor session", session)
        .measure(bench);
}

/// A TCP packet for the device to cut up: its headers inline, its payload from registered memory.
fn large(bench: &mut Bench) {
    let by_hand = floor::<1, 1>(LARGE, |sq, n| sq.post_wide::<true, _>(&sq.large(headers(n), MESSAGES.get(n))));
    let typed = ours::<1, 1>(LARGE, |sq, n| {
        let request = wqe::frame().inline_headers(headers(n)).l3_checksum().l4_checksum().large(MSS);
        // SAFETY: nobody looks at the memory that the entry names: the device sends nothing.
        unsafe { sq.post_unchecked(&request.gather([entry(MESSAGES.get(n))]).signaled(tag(n))) }.expect("space");
    });
    let data = |ex, n| {
        begin_large(ex, headers(n), MSS);
        set_entry(ex, MESSAGES.get(n));
    };
    Group::new("large send", Timed::Post, 1, ENTRIES / PAIR)
        .case("floor", "", by_hand)
        .case("typed", "floor", typed)
        .case("ibv_wr default", "floor", theirs::<1>(LARGE, Threads::Any, data))
        .case("ibv_wr single-threaded", "floor", theirs::<1>(LARGE, Threads::One, data))
        .measure(bench);
}

/// A frame whose checksums the device computes.
#[inline(always)]
fn head(n: u64) -> Request<'static, operations::Frame> {
    wqe::frame().l3_checksum().l4_checksum().signaled(tag(n))
}

#[inline(always)]
fn ring(sq: &mut FloorSq, first_word: u64) {
    sq.record();
    sq.eight::<true>(first_word);
}

/// Posts `N` frames at a time by hand, of which `S` complete together.
fn floor<const N: usize, const S: usize>(shape: Shape, mut post: impl FnMut(&mut FloorSq, u64)) -> impl Contestant {
    Player::new(
        Floor::new(shape),
        move |floor: &mut Floor, first, count| {
            for first in (first..first + count as u64).step_by(N) {
                post(&mut floor.sq, first);
            }
        },
        |floor: &mut Floor, count| floor.cq.poll::<1>(count / S, FloorCq::fields),
    )
}

/// Posts `N` frames at a time by this crate, of which `S` complete together.
fn ours<const N: usize, const S: usize>(shape: Shape, mut post: impl FnMut(&mut Queue, u64)) -> impl Contestant {
    let mut queues: Ours<ExclusiveRegister, Frames> = Ours::of(Rig::new(shape, Threads::Domain), exclusive);
    queues.sq.set_frame_offloads(FrameOffloads { multi_packet: true, max_large_send: 1 << 18, ..FrameOffloads::NONE });
    Player::new(
        queues,
        move |queues: &mut Ours<ExclusiveRegister, Frames>, first, count| {
            for first in (first..first + count as u64).step_by(N) {
                post(&mut queues.sq, first);
            }
        },
        |queues: &mut Ours<ExclusiveRegister, Frames>, count| queues.poll_tags::<1>(count / S),
    )
}

/// Posts `N` frames at a time by libmlx5, a WQE for each frame.
fn theirs<const N: usize>(shape: Shape, threads: Threads, begin: impl Fn(*mut sys::ibv_qp_ex, u64)) -> impl Contestant {
    Player::new(
        Theirs::new(shape, threads),
        move |theirs: &mut Theirs, first, count| {
            for first in (first..first + count as u64).step_by(N) {
                theirs.frames(first, N, &begin);
            }
        },
        |theirs: &mut Theirs, count| theirs.poll_cq::<1>(count),
    )
}
