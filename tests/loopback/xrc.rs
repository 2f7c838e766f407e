//! Extended reliable connections: one initiator, one target, and two shared receive queues of its domain, each with a
//! completion queue of its own.
//!
//! XRC without libibverbs belongs here, its domains in `tests/xrc.rs`.

use blueflame::cq::{CompletionQueue, CqeError, Side, WcStatus};
use blueflame::transport::XrcInitiator;
use blueflame::types::{Qpn, WrId};
use blueflame::wqe;
use blueflame_testkit::request::Target;
use blueflame_testkit::{
    ConnectOptions, Device, DeviceOptions, End, Faults, Network, Receives, Shape, XrcDomain, XrcReceives, XrcTarget,
    run_until_idle,
};
use proptest::prelude::*;

use crate::initiators::{Lab, Peer, asks, faults};

/// A queue, and what leads to it.
pub(crate) struct Reached {
    receives: XrcReceives,
    target: XrcTarget,
    device: Device,
}

impl Peer for Reached {
    fn target(&self, _: u8) -> Target {
        Target::Srq(self.receives.srqn())
    }

    fn queues(&mut self) -> (&mut Receives, &mut CompletionQueue) {
        (&mut self.receives.rq, &mut self.receives.cq)
    }

    fn numbers(&self) -> (Qpn, Option<Qpn>) {
        (self.target.qpn(), None)
    }

    fn device(&self) -> &Device {
        &self.device
    }
}

/// An initiator, connected with a target of the domain.
fn connected(here: &Device, domain: &XrcDomain, shape: &Shape) -> (End<XrcInitiator>, XrcTarget) {
    let options = ConnectOptions { path_mtu: 256, ..ConnectOptions::default() };
    let near = End::<XrcInitiator>::new(here, shape).expect("an initiator");
    let target = domain.target().expect("a target");
    near.connect(&target.endpoint(), &options).expect("connected");
    target.connect(&near.endpoint(), &options).expect("connected");
    (near, target)
}

pub(crate) fn lab(shape: Shape, faults: Faults) -> Lab<XrcInitiator, Reached> {
    let network = Network::new();
    let devices = [1, 2].map(|n| network.device(DeviceOptions::infiniband(n).faults(faults)).expect("a device"));
    let domain = XrcDomain::new(&devices[1]).expect("a domain");
    let (near, target) = connected(&devices[0], &domain, &shape);
    let reached = |()| Reached {
        receives: domain.receives(&shape).expect("a queue"),
        target: target.clone(),
        device: devices[1].clone(),
    };
    Lab::new(devices.to_vec(), near, [(), ()].map(reached))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn each_request_reaches_the_queue_that_it_names(asks in asks(), lossy: bool, signal_all: bool) {
        let mut lab = lab(Shape { signal_all, ..Shape::SMALL }, faults(lossy));
        for ask in asks {
            lab.ask(ask);
        }
    }
}

/// Two initiators, a target for each, and one queue that both reach. The queues of another domain neither reaches.
#[test]
fn initiators_share_the_queues_of_one_domain_alone() {
    let (here, there) = Device::pair().expect("devices");
    let shape = Shape::SMALL;
    let domains = [(), ()].map(|()| XrcDomain::new(&there).expect("a domain"));
    let mut ends = [(), ()].map(|()| connected(&here, &domains[0], &shape));
    let [mut ours, mut foreign] = domains.each_ref().map(|domain| domain.receives(&shape).expect("a queue"));
    let mailbox = there.buffer(64).expect("memory");
    // SAFETY: looked at when a message has arrived, which it does not; so below, where it does.
    unsafe { foreign.rq.post_unchecked(WrId(0), &[mailbox.sge(..)]) }.expect("room");
    for round in 0..20_u64 {
        let (near, target) = &mut ends[(round % 3 % 2) as usize];
        // SAFETY: looked at when a message has arrived.
        unsafe { ours.rq.post_unchecked(WrId(round), &[mailbox.sge(..)]) }.expect("room");
        near.sq.post(&wqe::send().to(ours.srqn()).inline(&round.to_ne_bytes()).signaled(WrId(round))).expect("room");
        run_until_idle(&[&here, &there]).expect("an end");
        let sent = near.cq.poll().expect("a completion");
        assert_eq!(
            (sent.check(), near.sq.retire(&sent).map(|done| done.wr_id)),
            (Ok(Side::Requester), Ok(WrId(round)))
        );
        let cqe = ours.cq.poll().expect("a message");
        assert_eq!((cqe.qpn(), ours.rq.retire(&cqe)), (target.qpn(), Ok(WrId(round))));
        assert_eq!(mailbox.to_vec(..8), round.to_ne_bytes());
    }
    let (near, _) = &mut ends[0];
    near.sq.post(&wqe::send().to(foreign.srqn()).inline(b"foreign!").signaled(WrId(1))).expect("room");
    run_until_idle(&[&here, &there]).expect("an end");
    let error = near.cq.poll().expect("a completion").check().expect_err("refused");
    assert!(matches!(error, CqeError::Completion(error) if error.status() == WcStatus::RemInvReqErr), "{error}");
    assert!(foreign.cq.poll().is_none());
    assert!([here, there].iter().all(|device| device.complaints().is_empty()));
}
