//! The part of a QP that all others read: its number, context, state and attributes, with what follows from them.

use crate::config::PortConfig;
use crate::context::{QpAttr, QpContext, QpState, Transport};
use crate::event::{Event, QpEvent};
use crate::resources::Resources;
use crate::wire::{Frame, Route};

/// Membership bit of a P_Key: full member (IBTA vol. 1, 10.9.3).
const FULL_MEMBER: u16 = 0x8000;

/// Identity, context and attributes of a QP, with what follows from them.
#[derive(Debug)]
pub(super) struct QpCore {
    /// Number.
    pub(super) qpn: u32,
    /// As created.
    pub(super) context: QpContext,
    /// State.
    pub(super) state: QpState,
    /// Attributes set so far; PSNs as they were set.
    pub(super) attr: QpAttr,
    /// Way to the peer of a connected QP.
    pub(super) route: Option<Route>,
    /// P_Key of the packets sent.
    pub(super) pkey: u16,
    /// Most bytes of payload in a packet.
    pub(super) mtu: u32,
}

impl QpCore {
    /// Transport service.
    pub(super) fn transport(&self) -> Transport {
        self.context.transport
    }

    /// The port that the QP was bound to.
    pub(super) fn port<'a>(&self, resources: &'a Resources) -> Option<&'a PortConfig> {
        resources.ports.get(usize::from(self.attr.port?).checked_sub(1)?)
    }

    /// Packets that carry `len` bytes: one at least.
    pub(super) fn packets(&self, len: u32) -> u32 {
        len.div_ceil(self.mtu).max(1)
    }

    /// Whether there is room for more packets on their way to the wire.
    pub(super) fn may_send(&self, resources: &Resources) -> bool {
        resources.outbox.has_room(self.qpn)
    }

    /// Whether the link of the port that the QP was bound to is up.
    pub(super) fn is_linked(&self, resources: &Resources) -> bool {
        self.attr.port.is_some_and(|port| resources.port_is_up(port))
    }

    /// Sends a packet to the peer of a connected QP.
    pub(super) fn send_to_peer(&self, resources: &mut Resources, packet: Vec<u8>) {
        if let Some(route) = self.route {
            self.send(resources, Frame { route, packet });
        }
    }

    /// Sends a frame; lost if the link is down.
    pub(super) fn send(&self, resources: &mut Resources, frame: Frame) {
        if self.is_linked(resources) {
            resources.outbox.push(self.qpn, frame);
        }
    }

    /// Raises an asynchronous event.
    pub(super) fn raise(&self, resources: &mut Resources, kind: QpEvent) {
        resources.events.push_back(Event::Qp { qpn: self.qpn, kind });
    }
}

/// Whether two P_Keys name the same partition, of which at least one side is a full member.
pub(super) fn pkeys_match(a: u16, b: u16) -> bool {
    (a ^ b) & !FULL_MEMBER == 0 && (a | b) & FULL_MEMBER != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limited_members_do_not_talk() {
        assert!(pkeys_match(0xffff, 0xffff));
        assert!(pkeys_match(0x7fff, 0xffff));
        assert!(!pkeys_match(0x7fff, 0x7fff));
        assert!(!pkeys_match(0x8001, 0x8002));
    }
}
