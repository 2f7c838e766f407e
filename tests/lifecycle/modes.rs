//! Completion queues that are polled in other modes than the standard one, and the file descriptors of their events.
//!
//! Modes on a device belong here, their bytes in `tests/completion`.

use std::os::fd::{AsFd, AsRawFd};

use blueflame::cq::compressed::{Checksum, ChecksumStride, Hash, MiniFormat};
use blueflame::cq::mode::{NoOverrun, OncePerCall, PollMode, Prefetch};
use blueflame::verbs::{Device, OwnedCq, ProtectionDomain, QueuePair};
use blueflame::{WrId, transport, wqe};

use crate::on_device::{device, wait_for};

/// A queue pair connected to itself that completes on `cq`.
fn itself<M: PollMode>(device: &Device, pd: &ProtectionDomain, cq: &OwnedCq<M>) -> QueuePair<transport::Rc> {
    let mut pair = pd.queue_pair(cq, cq).sends(16).receives(16).build().expect("a queue pair");
    let path = device.path(1, None).expect("a path");
    let endpoint = pair.qp.endpoint(&path);
    pair.qp.to_init(&path).expect("INIT");
    pair.connect(&path, &endpoint, &endpoint).expect("connect");
    pair
}

/// Many times more completions than the ring holds, one outstanding at a time.
fn goes_round<M: PollMode>(pair: &mut QueuePair<transport::Rc>, cq: &mut OwnedCq<M>) {
    for tag in 0..u64::from(cq.capacity()) * 5 {
        pair.sq.post(&wqe::nop().signaled(WrId(tag))).expect("room");
        wait_for("a completion", || {
            let mut done = None;
            cq.poll_with(4, |cqe| {
                cqe.check().expect("a success");
                done = Some(pair.sq.retire(&cqe).expect("outstanding").wr_id);
            });
            done.map(|done| assert_eq!(done, WrId(tag)))
        });
    }
}

#[test]
fn a_queue_that_ignores_overruns_needs_no_consumer_index() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    // SAFETY: one queue pair with 17 completions of sends and 16 of receives at most.
    let cq = unsafe { device.completion_queue(33).ignore_overrun() }.build().expect("a completion queue");
    // SAFETY: the queue cannot overrun: 17 completions of sends and 16 of receives are all.
    let mut cq: OwnedCq<NoOverrun> = unsafe { cq.with_mode_unchecked() };
    let mut pair = itself(&device, &pd, &cq);
    goes_round(&mut pair, &mut cq);
    // The builder looks for what earlier queue pairs have left, from the index on that is published.
    drop(pair);
    cq.publish();
    let mut pair = itself(&device, &pd, &cq);
    goes_round(&mut pair, &mut cq);
}

#[test]
fn a_reset_cleans_queues_of_any_mode() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(64).build().expect("a completion queue");
    let mut cq: OwnedCq<OncePerCall<Prefetch>> = cq.with_mode();
    let mut pair = itself(&device, &pd, &cq);
    goes_round(&mut pair, &mut cq);
    for tag in 0..8 {
        pair.sq.post(&wqe::nop().signaled(WrId(tag))).expect("room");
    }
    let mut forgotten = 0;
    pair.reset(&mut [&mut cq], |_| forgotten += 1).expect("RESET");
    assert!(forgotten <= 8 && cq.poll().is_none(), "{forgotten} were complete, none is left");
}

#[test]
fn descriptors_are_those_of_the_channel_and_of_the_device() {
    let device = device();
    let (channel, events) = (device.completion_channel().expect("a channel"), device.async_events());
    assert_eq!(channel.as_raw_fd(), channel.as_fd().as_raw_fd());
    assert_eq!(events.as_raw_fd(), events.as_fd().as_raw_fd());
    assert_ne!(channel.as_raw_fd(), events.as_raw_fd());
}

/// In mini-CQEs of each format that verbs have, CQEs of either size: bursts, which the device compresses, and one by
/// one.
#[test]
fn queues_whose_completions_are_compressed() {
    fn compressed<F: MiniFormat>(cqe_bytes: u16) {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let cq = device.completion_queue(33).cqe_bytes(cqe_bytes).compressed::<F>().build();
        let mut cq = cq.expect("a completion queue");
        assert!(cq.capacity() > 33 + 64, "room for a session more");
        let mut pair = itself(&device, &pd, &cq);
        goes_round(&mut pair, &mut cq);
        for _ in 0..40 {
            let mut batch = pair.sq.batch();
            (0..16).for_each(|tag| batch.push(&wqe::nop().signaled(WrId(tag))).expect("room"));
            batch.ring_doorbell();
            let mut next = 0;
            wait_for("the completions", || {
                cq.poll_with(5, |cqe| {
                    cqe.check().expect("a success");
                    assert_eq!(pair.sq.retire(&cqe).expect("outstanding").wr_id, WrId(next));
                    next += 1;
                });
                (next == 16).then_some(())
            });
        }
    }
    for cqe_bytes in [64, 128] {
        compressed::<Hash>(cqe_bytes);
        compressed::<Checksum>(cqe_bytes);
        compressed::<ChecksumStride>(cqe_bytes);
    }
}
