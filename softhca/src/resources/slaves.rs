//! Queues that work when other queues say so ("slaves"): how far each may go. The masters write it here, the slaves
//! read it, and neither knows the other.

use crate::context::{CrossChannel, QpContext};
use std::collections::BTreeMap;

/// How far one may go.
#[derive(Debug)]
struct Slave {
    /// Protection domain: its masters are of the same.
    pd: u32,
    kind: CrossChannel,
    /// Producer index of the send queue, if the queue has not yet got it.
    sends: Option<u16>,
    /// Producer index of the receive queue.
    receives: u16,
}

/// All slaves, by number.
#[derive(Debug, Default)]
pub(crate) struct Slaves(BTreeMap<u32, Slave>);

impl Slaves {
    /// A queue has been made, or reset: it may do nothing yet.
    pub(crate) fn begin(&mut self, qpn: u32, context: &QpContext) {
        let QpContext { pd, cross_channel: kind, .. } = *context;
        if kind.slave_send || kind.slave_receive {
            self.0.insert(qpn, Slave { pd, kind, sends: None, receives: 0 });
        }
    }

    /// It is gone.
    pub(crate) fn end(&mut self, qpn: u32) {
        self.0.remove(&qpn);
    }

    /// A master of protection domain `pd` lets it send up to `index`. `false` if it is no such slave.
    pub(crate) fn enable_sends(&mut self, pd: u32, qpn: u32, index: u16) -> bool {
        let slave = self.0.get_mut(&qpn).filter(|slave| slave.kind.slave_send && slave.pd == pd);
        slave.map(|slave| slave.sends = Some(index)).is_some()
    }

    /// The same, to receive.
    pub(crate) fn enable_receives(&mut self, pd: u32, qpn: u32, index: u16) -> bool {
        let slave = self.0.get_mut(&qpn).filter(|slave| slave.kind.slave_receive && slave.pd == pd);
        slave.map(|slave| slave.receives = index).is_some()
    }

    /// The producer index of sends, if the queue has not yet got it.
    pub(crate) fn news(&mut self, qpn: u32) -> Option<u16> {
        self.0.get_mut(&qpn)?.sends.take()
    }

    /// Whether it may consume the receive WQE with running number `counter`.
    pub(crate) fn may_receive(&self, qpn: u32, counter: u16) -> bool {
        let ahead = self.0.get(&qpn).map_or(0, |slave| slave.receives.wrapping_sub(counter));
        (1..=1 << 15).contains(&ahead)
    }
}
