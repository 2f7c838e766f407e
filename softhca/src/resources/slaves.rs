//! Queues that work when other queues say so ("slaves"): how far each may go. The masters write it here, the slaves
//! read it, and neither knows the other.

use crate::context::{CrossChannel, QpContext};
use std::collections::BTreeMap;

/// How far one may go.
#[derive(Debug)]
struct Slave {
    /// Protection domain, which its masters share.
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

    /// A master of protection domain `pd` lets it receive up to `index`. `false` if it is no such slave.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Transport;

    #[test]
    fn a_master_is_of_the_domain_of_its_slave_and_of_its_kind() {
        let mut slaves = Slaves::default();
        let slave = |slave_send, slave_receive| QpContext {
            pd: 3,
            cross_channel: CrossChannel { slave_send, slave_receive, ..CrossChannel::default() },
            ..QpContext::new(Transport::Rc)
        };
        slaves.begin(1, &slave(true, false));
        slaves.begin(2, &slave(false, true));
        slaves.begin(3, &slave(false, false));
        for (pd, qpn, sends, receives) in
            [(3, 1, true, false), (3, 2, false, true), (4, 1, false, false), (4, 2, false, false), (3, 3, false, false)]
        {
            assert_eq!((slaves.enable_sends(pd, qpn, 5), slaves.enable_receives(pd, qpn, 5)), (sends, receives));
        }
        assert_eq!((slaves.news(1), slaves.news(1), slaves.may_receive(2, 4)), (Some(5), None, true));
        assert!(!slaves.may_receive(2, 5) && !slaves.may_receive(2, 6) && !slaves.may_receive(1, 0));
        slaves.end(2);
        assert!(!slaves.may_receive(2, 4) && !slaves.enable_receives(3, 2, 9));
    }
}
