//! The part of a QP that all others read: its number, context, state and attributes, with values derived from them.

use crate::config::PortConfig;
use crate::context::{QpAttr, QpContext, QpState, ReceiveSource, Transport};
use crate::cq::Source;
use crate::event::{Event, QpEvent};
use crate::gsi::QP1;
use crate::packet::DcEth;
use crate::resources::Resources;
use crate::wire::{Frame, Route, Sender};

/// Membership bit of a P_Key: full member (IBTA vol. 1, 10.9.3).
const FULL_MEMBER: u16 = 0x8000;

/// The kind of engine: a whole QP, or a queue that only sends Ethernet frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// A QP.
    #[default]
    Qp,
    /// An SQ.
    SendQueue {
        /// In the error state its WQEs are flushed (SQC.flush_in_error_en).
        flushes: bool,
        /// It may send frames: it has a TIS.
        sends: bool,
    },
}

/// Identity, context and attributes of a QP, with values derived from them.
#[derive(Debug, Default)]
pub(super) struct QpCore {
    /// Number.
    pub(super) qpn: u32,
    /// The kind of engine.
    pub(super) role: Role,
    /// As created.
    pub(super) context: QpContext,
    /// State.
    pub(super) state: QpState,
    /// Most bytes of a message, in both directions.
    pub(super) max_message: u64,
    /// It may copy memory, where queues need leave to (`qpc_ext.mmo`).
    pub(super) copies: bool,
    /// Its send queue is the device's, to fetch rendezvous data (`qpc.offload_type`).
    pub(super) fetches: bool,
    /// Index of the rate at which it sends frames; 0 if it has none.
    pub(super) rate: u16,
    /// Q counter that counts its events; 0 if none does.
    pub(super) counter: u8,
    /// Attributes set so far; PSNs as they were set.
    pub(super) attr: QpAttr,
    /// Way to the peer of a connected QP.
    pub(super) route: Option<Route>,
    /// DC: the other end of the connection, while there is one.
    pub(super) dc_peer: Option<DcPeer>,
    /// P_Key of the packets sent.
    pub(super) pkey: u16,
    /// Most bytes of payload in a packet.
    pub(super) mtu: u32,
}

/// The other end of a dynamic connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DcPeer {
    /// Number of the DCT, or QPN of the DCI.
    pub(super) number: u32,
    /// The connection, as the target has numbered it.
    pub(super) connection: u32,
}

impl QpCore {
    /// Transport service.
    pub(super) fn transport(&self) -> Transport {
        self.context.transport
    }

    /// Whether the peer acknowledges, so that lost packets are repeated.
    pub(super) fn is_reliable(&self) -> bool {
        matches!(self.transport(), Transport::Rc | Transport::Xrc | Transport::Dc)
    }

    /// The QP that packets of a connected QP go to.
    pub(super) fn dest_qpn(&self) -> u32 {
        self.dc_peer.map(|peer| peer.number).or(self.attr.dest_qpn).unwrap_or(0)
    }

    /// The number that datagrams name as their source.
    pub(super) fn source_qpn(&self) -> u32 {
        if self.context.privileges.sends_as_qp1 { QP1 } else { self.qpn }
    }

    /// The header in each packet of a dynamic connection.
    pub(super) fn dc_header(&self) -> Option<DcEth> {
        self.dc_peer.map(|peer| DcEth { source: self.qpn, connection: peer.connection })
    }

    /// Where a message of a dynamic connection comes from, as its CQE tells.
    pub(super) fn dc_source(&self, resources: &Resources) -> Option<Source> {
        let (peer, route) = (self.dc_peer?, self.route?);
        let lid = self.port(resources).map_or(0, |port| port.lid);
        Some(Source {
            slid: route.dlid,
            src_qpn: peer.number,
            sl: route.sl,
            dlid_path_bits: (route.slid ^ lid) as u8 & 0x7f,
            // The receive buffer never begins with a GRH, even if the packet had one.
            grh: false,
            pkey_index: self.attr.pkey_index.unwrap_or(0),
        })
    }

    /// The port that the QP was bound to.
    pub(super) fn port<'a>(&self, resources: &'a Resources) -> Option<&'a PortConfig> {
        resources.ports.get(usize::from(self.attr.port?).checked_sub(1)?)
    }

    /// Whether it takes packets of this partition: QP 1 those of all that the port is in (IBTA vol. 1, 10.9.2).
    pub(super) fn accepts_pkey(&self, resources: &Resources, pkey: u16) -> bool {
        let all = self.port(resources).filter(|_| self.context.privileges.is_qp1);
        match all {
            Some(port) => port.pkeys.iter().any(|&own| pkeys_match(pkey, own)),
            None => pkeys_match(pkey, self.pkey),
        }
    }

    /// Packets that carry `len` bytes: one at least.
    pub(super) fn packets(&self, len: u32) -> u32 {
        len.div_ceil(self.mtu).max(1)
    }

    /// How many packets go out together, of `left` that a message still has: those of a segment, or one.
    pub(super) fn together(&self, resources: &Resources, left: u32) -> u16 {
        let most = (resources.segment_bytes / self.mtu as usize).max(1);
        most.min(left as usize) as u16
    }

    /// The sender whose packets wait for the wire together. A DCT's answers to one initiator do not wait for
    /// another's.
    fn sender(&self) -> Sender {
        Sender { qpn: self.qpn, connection: self.dc_peer.map_or(0, |peer| peer.connection) }
    }

    /// Whether there is room for more packets on their way to the wire.
    pub(super) fn may_send(&self, resources: &Resources) -> bool {
        resources.outbox.has_room(self.sender())
    }

    /// Whether the link of the port that the QP was bound to is up.
    pub(super) fn is_linked(&self, resources: &Resources) -> bool {
        self.attr.port.is_some_and(|port| resources.transport_is_up(port))
    }

    /// Whether frames leave the port that the QP was bound to.
    pub(super) fn is_cabled(&self, resources: &Resources) -> bool {
        self.attr.port.is_some_and(|port| resources.port_is_up(port))
    }

    /// Whether it may send Ethernet frames, if its transport does.
    pub(super) fn may_send_frames(&self) -> bool {
        !matches!(self.role, Role::SendQueue { sends: false, .. })
    }

    /// Sends a packet to the peer of a connected QP.
    pub(super) fn send_to_peer(&self, resources: &mut Resources, packet: Vec<u8>) {
        self.send_segment_to_peer(resources, packet, 1);
    }

    /// Sends a segment of `packets` packets to the peer of a connected QP.
    pub(super) fn send_segment_to_peer(&self, resources: &mut Resources, packet: Vec<u8>, packets: u16) {
        if let Some(route) = self.route {
            self.send(resources, Frame { route, packet, packets });
        }
    }

    /// Sends a frame; lost if the link is down.
    pub(super) fn send(&self, resources: &mut Resources, frame: Frame) {
        if self.is_linked(resources) {
            resources.outbox.push(self.sender(), frame);
        }
    }

    /// Raises an asynchronous event. A DCT has none of these: an error of one initiator does not concern the others.
    pub(super) fn raise(&self, resources: &mut Resources, kind: QpEvent) {
        let is_dct = self.transport() == Transport::Dc && self.context.rq != ReceiveSource::None;
        if is_dct {
            return;
        }
        resources.raise(match self.role {
            Role::SendQueue { .. } => Event::SqError { sqn: self.qpn },
            _ => Event::Qp { qpn: self.qpn, kind },
        });
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
