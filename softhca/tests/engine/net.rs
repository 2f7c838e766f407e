//! Several devices, each with an initiator of dynamic connections, and an SRQ for its targets.

use std::time::Duration;

use crate::lab::*;
use softhca::config::LinkLayer;
use softhca::context::{DctContext, QpAttr, QpState, Transport};
use softhca::wire::Address;
use softhca::wire::in_process::{Fabric, InProcessWire};

/// The access key of all targets.
pub(crate) const KEY: u64 = 0x1122_3344_5566_7788;

/// A target, as an initiator's host knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) lid: u16,
    pub(crate) dctn: u32,
    /// For an address vector with a GRH.
    pub(crate) gid: Option<[u8; 16]>,
}

impl Target {
    pub(crate) fn of(&self, wr: Wr) -> Wr {
        wr.at_dct(self.lid, self.dctn, KEY, self.gid)
    }
}

pub(crate) struct Net {
    pub(crate) nodes: Vec<Node>,
    pub(crate) now: Duration,
    options: Options,
    fabric: Fabric,
}

impl Net {
    pub(crate) fn new(count: u16, options: Options) -> Self {
        let options = Options { transport: Transport::Dc, srq: true, ..options };
        let fabric = Fabric::new();
        let nodes = (1..=count).map(|lid| Node::new(&fabric, lid, &options)).collect();
        let mut net = Self { nodes, now: Duration::from_secs(1), options, fabric };
        (0..count.into()).for_each(|node| net.activate(node));
        net
    }

    /// Two nodes; a target of the second, and where that one's data lies, with its key.
    pub(crate) fn to_one(options: Options) -> (Self, Target, (u64, u32)) {
        let mut net = Self::new(2, options);
        let target = net.target(1);
        let data = (net.nodes[1].data, net.nodes[1].key);
        (net, target, data)
    }

    /// A wire of a third party, which may send any packet.
    pub(crate) fn stranger(&self) -> InProcessWire {
        self.fabric.attach(Address { lids: vec![99], gids: vec![], qpns: 0..1 }).unwrap()
    }

    /// Takes the initiator of a node from reset to ready to send.
    pub(crate) fn activate(&mut self, node: usize) {
        let node = &mut self.nodes[node];
        for attr in [node.init_attr(), node.rtr_attr((0, [0; 16], 0)), node.rts_attr()] {
            node.modify(attr);
        }
    }

    /// The initiator of a node, after an error, as new.
    pub(crate) fn revive(&mut self, node: usize) {
        let at = &mut self.nodes[node];
        at.modify(QpAttr { state: Some(QpState::Reset), ..QpAttr::default() });
        at.pi = 0;
        at.ring();
        self.activate(node);
    }

    pub(crate) fn context(&self, node: usize) -> DctContext {
        let at = &self.nodes[node];
        DctContext {
            pd: at.pd,
            srqn: at.srqn.unwrap(),
            cqn: at.recv_cq.cqn,
            access_key: KEY,
            access: self.options.access,
            extended_atomics: self.options.extended_atomics,
            mtu: self.options.mtu,
            port: 1,
            traffic_class: 7,
            flow_label: 0x123,
            hop_limit: 44,
            min_rnr_timer: self.options.min_rnr_timer,
            uidx: 0x45,
            scatter_to_cqe_res: self.options.scatter_to_cqe,
            ..DctContext::default()
        }
    }

    pub(crate) fn target(&mut self, node: usize) -> Target {
        self.target_of(node, self.context(node))
    }

    pub(crate) fn target_of(&mut self, node: usize, context: DctContext) -> Target {
        let dctn = self.nodes[node].device.create_dct(context).unwrap();
        let (lid, gid, _) = self.nodes[node].identity();
        let global = self.options.grh || self.options.link == LinkLayer::Ethernet;
        let lid = if self.options.link == LinkLayer::Ethernet { 0 } else { lid };
        Target { lid, dctn, gid: global.then_some(gid) }
    }

    /// Steps all until none has anything to do at this time.
    pub(crate) fn run(&mut self) {
        for _ in 0..1_000_000 {
            let now = self.now;
            if !self.nodes.iter_mut().fold(false, |worked, node| node.step(now) | worked) {
                return;
            }
        }
        panic!("the devices do not come to rest");
    }

    /// Runs, and lets the clock jump to the next timer, until no timer runs.
    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            self.run();
            match self.nodes.iter().filter_map(|node| node.device.next_deadline()).min() {
                Some(at) => self.now = at.max(self.now),
                None => return,
            }
        }
        panic!("the timers do not come to rest");
    }

    /// Runs until this many requests of a node are complete, and gives their completions.
    pub(crate) fn complete(&mut self, node: usize, count: usize) -> Vec<Cqe> {
        let mut done = Vec::new();
        for _ in 0..10_000 {
            self.run();
            done.extend(self.nodes[node].poll_send());
            if done.len() >= count {
                assert_eq!(done.len(), count);
                return done;
            }
            let next = self.nodes.iter().filter_map(|node| node.device.next_deadline()).min();
            self.now = next.expect("something is still to happen").max(self.now);
        }
        panic!("the requests do not complete: {done:?}");
    }

    pub(crate) fn connections(&self, node: usize, target: Target) -> usize {
        self.nodes[node].device.query_dct(target.dctn).unwrap().connections
    }
}
