//! Initiators of dynamic connections, and targets.
//!
//! DC belongs here, datagrams in `datagrams.rs`.

use blueflame::cq::CompletionQueue;
use blueflame::transport::Dci;
use blueflame::types::Qpn;
use blueflame::wqe::DcAddress;
use blueflame::wqe::address::GlobalRoute;
use blueflame_testkit::request::Target;
use blueflame_testkit::{ConnectOptions, DcTarget, Device, DeviceOptions, End, Faults, Network, Receives, Shape};
use proptest::prelude::*;

use crate::initiators::{Lab, Peer, asks, faults};

/// A target, and its initiator's number.
pub(crate) struct Known(DcTarget, Qpn);

impl Peer for Known {
    fn target(&self, form: u8) -> Target {
        let near = self.0.address();
        let dgid = self.0.endpoint().gid;
        let route = GlobalRoute { dgid, sgid_index: 0, flow_label: 0xa_bcde, hop_limit: 9, traffic_class: 0x5a };
        match form {
            0 => Target::Compact(near),
            1 => Target::Full(near.to_full()),
            _ => Target::Full(DcAddress::new(near.vector().with_grh(&route), near.dctn(), near.key())),
        }
    }

    fn queues(&mut self) -> (&mut Receives, &mut CompletionQueue) {
        (&mut self.0.rq, &mut self.0.cq)
    }

    fn numbers(&self) -> (Qpn, Option<Qpn>) {
        (self.0.dctn(), Some(self.1))
    }

    fn device(&self) -> &Device {
        self.0.device()
    }
}

pub(crate) fn lab(shape: Shape, faults: Faults) -> Lab<Dci, Known> {
    let network = Network::new();
    let device = |n| network.device(DeviceOptions::infiniband(n).faults(faults)).expect("a device");
    let devices = [1, 2, 3].map(device);
    let options = ConnectOptions { path_mtu: 256, ..ConnectOptions::default() };
    let near = End::<Dci>::new(&devices[0], &shape).expect("an initiator");
    near.connect(&near.endpoint(), &options).expect("ready to send");
    let target = |n: usize| Known(DcTarget::new(&devices[n], &shape, &options).expect("a target"), near.qpn());
    let targets = [1, 2].map(target);
    Lab::new(devices.to_vec(), near, targets)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn each_request_reaches_the_target_that_it_names(asks in asks(), lossy: bool, signal_all: bool) {
        let mut lab = lab(Shape { signal_all, ..Shape::SMALL }, faults(lossy));
        for ask in asks {
            lab.ask(ask);
        }
    }
}
