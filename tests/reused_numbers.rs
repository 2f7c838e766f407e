//! Queue pair numbers that the device reuses while completions of the previous queue pair are still in a completion
//! queue.
//!
//! Reused numbers belong here. Other ends of a queue pair belong in `tests/lifecycle`.
//!
//! Needs a device that reuses numbers at once, and no concurrent test:
//!
//! ```text
//! softhca-run --reuse-qpn -- --test-threads=1
//! ```

#![cfg(feature = "verbs")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::time::Duration;

use blueflame::cq::Notify;
use blueflame::types::{Psn, Qpn, WrId};
use blueflame::verbs::{Access, Buffer, CompletionChannel, Device, Error, OwnedCq, Pool, ProtectionDomain, QueuePair};
use blueflame::{transport, wqe};

use on_device::{device, wait_for};

struct Setup {
    device: Device,
    pd: ProtectionDomain,
    channel: CompletionChannel,
    cq: OwnedCq,
    buffer: Buffer,
}

impl Setup {
    fn new() -> Self {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let channel = device.completion_channel().expect("a channel");
        let cq = device.completion_queue(256).channel(&channel).build().expect("a CQ");
        let buffer = Pool::new(&pd, 4096, Access::ALL).expect("a pool").take(4096).expect("all of it");
        Self { device, pd, channel, cq, buffer }
    }

    fn build(&self) -> Result<QueuePair<transport::Rc>, Error> {
        let cq = &self.cq;
        self.pd.queue_pair(cq, cq).sends(8).receives(1).inline(16).build()
    }

    /// A queue pair that is connected to itself.
    fn connected(&self) -> QueuePair<transport::Rc> {
        let mut pair = self.build().expect("a queue pair");
        let path = self.device.path(1, None).expect("a path");
        let itself = pair.qp.endpoint_with(&path, Psn::truncate(1));
        pair.qp.to_init(&path).expect("INIT");
        pair.connect(&path, &itself, &itself).expect("connect");
        pair
    }

    /// Posts a WRITE, and sleeps until its completion is in the completion queue, where it stays.
    fn complete(&mut self, pair: &mut QueuePair<transport::Rc>, tag: u64) {
        self.cq.arm(Notify::Any);
        pair.sq.post(&wqe::write(self.buffer.remote()).inline(b"old").signaled(WrId(tag))).expect("room");
        assert!(self.channel.wait_timeout(Duration::from_secs(20)).expect("asked").is_some(), "no event");
        self.cq.event_received();
    }

    /// Leaves an unpolled completion of a queue pair that is gone; its number.
    fn leave(&mut self) -> Qpn {
        let mut pair = self.connected();
        self.complete(&mut pair, 1);
        pair.qp.qpn()
    }
}

#[test]
fn a_completion_of_an_earlier_queue_pair_retires_nothing_of_the_next() {
    let mut setup = Setup::new();
    // The objects under the test.
    let number = setup.build().expect("a queue pair").qp.qpn();
    assert_eq!(setup.build().expect("a queue pair").qp.qpn(), number, "run under softhca-run --reuse-qpn");

    let old = setup.leave();
    assert_eq!(old, number);
    let mut next = setup.connected();
    setup.complete(&mut next, 2);
    let seen = [(); 2].map(|()| {
        wait_for("a completion", || {
            let cqe = setup.cq.poll()?;
            Some((cqe.qpn(), next.sq.retire(&cqe).ok().map(|done| done.wr_id)))
        })
    });
    assert_eq!(seen, [(old, None), (next.qp.qpn(), Some(WrId(2)))], "the first is nothing of the second queue pair's");
    assert_eq!(setup.build().expect("a queue pair").qp.qpn(), old, "nothing is left of it");
}

#[test]
fn what_is_forgotten_is_in_nobodys_way() {
    let mut setup = Setup::new();
    let old = setup.leave();
    assert_ne!(setup.build().expect("another number").qp.qpn(), old);
    assert_eq!(setup.cq.forget(old), 1);
    assert_eq!(setup.build().expect("a queue pair").qp.qpn(), old);

    let mut pair = setup.connected();
    let number = pair.qp.qpn();
    setup.complete(&mut pair, 3);
    let mut tags = 0;
    pair.reset(&mut [&mut setup.cq], |cqe| tags += u32::from(cqe.qpn() == number)).expect("RESET");
    drop(pair);
    assert_eq!(tags, 1);
    assert_eq!(setup.build().expect("a queue pair").qp.qpn(), number);
    assert!(setup.cq.poll().is_none());
}

#[test]
fn numbers_that_all_have_something_left_are_an_error() {
    let mut setup = Setup::new();
    let mut pairs: Vec<_> = (0..20).map(|_| setup.connected()).collect();
    for pair in &mut pairs {
        setup.complete(pair, 4);
    }
    let numbers: Vec<_> = pairs.iter().map(|pair| pair.qp.qpn()).collect();
    drop(pairs);
    let error = setup.build().expect_err("of each number there is a completion");
    let Error::StaleCompletions { qpn, cqn } = error else { panic!("{error}") };
    assert!(numbers.contains(&qpn) && cqn == setup.cq.handle().cqn(), "{error}");
    assert!(error.to_string().contains("forget"), "{error}");
    // A completion queue of which none of them is.
    let other = setup.device.completion_queue(300).build().expect("a CQ");
    let elsewhere = setup.pd.queue_pair::<transport::Rc>(&other, &other).build().expect("a queue pair");
    assert!(numbers.contains(&elsewhere.qp.qpn()));
    drop(elsewhere);
    while setup.cq.poll().is_some() {}
    assert!(numbers.contains(&setup.build().expect("all was polled").qp.qpn()));
}
