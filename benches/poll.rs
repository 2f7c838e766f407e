//! Polling completions that lie in the first-level cache, and an empty queue, against bare loads.
//!
//! Memory stands for the NIC: see `common`. The ring holds completions of one pass. When all were taken, the queue is made
//! anew, so that nothing need be written to the ring while the clock runs; making it is part of what is measured, once
//! in a ring's length, for the floor as for the crate.
mod common;

use std::hint::black_box;

use blueflame::cq::{CompletionQueue, Side};

use common::compare::{Group, criterion};
use common::floor::{FloorCq, sum};
use common::rig::{CqRig, ENTRIES};

/// Completions of one call in the amortised case.
const BURST: usize = 16;

fn main() {
    let mut criterion = criterion();

    let (floor, crated) = (CqRig::full(), CqRig::full());
    Group::new("poll/fields, consumer record each", 1)
        .case("floor", move || floor.snapshot(), floor_polls::<1>(floor, FloorCq::fields))
        .case("drain(1)", move || crated.snapshot(), drains::<1>(crated))
        .measure(&mut criterion);

    let (floor, crated) = (CqRig::full(), CqRig::full());
    Group::new("poll/fields, consumer record per 16", BURST as u64)
        .case("floor", move || floor.snapshot(), floor_polls::<BURST>(floor, FloorCq::fields))
        .case("drain(16)", move || crated.snapshot(), drains::<BURST>(crated))
        .measure(&mut criterion);

    let (floor, crated) = (CqRig::full(), CqRig::full());
    Group::new("poll/64-byte copy, consumer record each", 1)
        .case("floor", move || floor.snapshot(), floor_polls::<1>(floor, FloorCq::copied))
        .case("poll()", move || crated.snapshot(), polls(crated))
        .measure(&mut criterion);

    let (floor, drained, polled) = (CqRig::empty(), CqRig::empty(), CqRig::empty());
    let mut floor_cq = FloorCq::new(&floor);
    let (mut drained_cq, mut polled_cq) = (queue(&drained), queue(&polled));
    Group::new("poll/empty", 1)
        .case(
            "floor",
            move || floor.snapshot(),
            move |operations| (0..operations).map(|_| u64::from(floor_cq.cqe().is_some())).sum(),
        )
        .case(
            "drain(16)",
            move || drained.snapshot(),
            move |operations| (0..operations).map(|_| drained_cq.drain(BURST, |_| ()) as u64).sum(),
        )
        .case(
            "poll()",
            move || polled.snapshot(),
            move |operations| (0..operations).map(|_| u64::from(polled_cq.poll().is_some())).sum(),
        )
        .measure(&mut criterion);

    criterion.final_summary();
}

/// Runs `poll`, which takes `N` completions off a queue, so many times, on a new queue after each ring's length.
fn passes<const N: usize, Q>(make: impl Fn() -> Q, mut poll: impl FnMut(&mut Q) -> u64) -> impl FnMut(u64) -> u64 {
    move |operations| {
        let (mut left, mut total) = (operations, 0u64);
        while left > 0 {
            let now = left.min((ENTRIES / N) as u64);
            let mut queue = make();
            let queue = black_box(&mut queue);
            for _ in 0..now {
                total = total.wrapping_add(poll(queue));
            }
            left -= now;
        }
        total
    }
}

fn floor_polls<const N: usize>(rig: CqRig, read: impl Fn(std::ptr::NonNull<u8>) -> u64) -> impl FnMut(u64) -> u64 {
    passes::<N, _>(
        move || FloorCq::new(&rig),
        move |cq| {
            let mut total = 0;
            for _ in 0..N {
                let Some(cqe) = cq.cqe() else { break };
                total += read(cqe);
            }
            cq.record();
            total
        },
    )
}

fn queue(rig: &CqRig) -> CompletionQueue {
    // SAFETY: ring, record and page are as large as said and stay; nothing else stores to them while the queue is used.
    unsafe { CompletionQueue::from_parts(rig.parts()) }.expect("a queue")
}

fn drains<const N: usize>(rig: CqRig) -> impl FnMut(u64) -> u64 {
    passes::<N, _>(
        move || queue(&rig),
        |cq| {
            let mut total = 0;
            cq.drain(N, |cqe| {
                if let Ok(Side::Requester) = cqe.check() {
                    total += sum(cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len());
                }
            });
            total
        },
    )
}

fn polls(rig: CqRig) -> impl FnMut(u64) -> u64 {
    passes::<1, _>(
        move || queue(&rig),
        |cq| match cq.poll() {
            Some(cqe) if cqe.check() == Ok(Side::Requester) => sum(cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len()),
            _ => 0,
        },
    )
}
