//! Packets as bytes on a cable. One place makes them and takes them, for every wire and capture.
//!
//! ```text
//! RoCE v2      Ethernet 14 │ IPv4 20 or IPv6 40 │ UDP 8 │ BTH … padding │ ICRC 4
//! RoCE v1      Ethernet 14 │ GRH 40                     │ BTH … padding │ ICRC 4
//! InfiniBand   LRH 8       │ (GRH 40)                   │ BTH … padding │ ICRC 4 │ VCRC 2
//! ```
//!
//! The check sequence of an Ethernet frame is not here: neither sockets nor captures have it.
//!
//! Frames have no VLAN tag: a service level is the priority in the tag that the VLAN of a GID adds (Linux commit
//! 4be2c95d1f77, "IB/core: Add VLAN support for IBoE"), and the device has no GIDs of VLANs. The priority in the tag of
//! an arriving frame is its service level. IPv4 headers have identification 0 and the DF bit (RFC 6864, 4.1: the
//! identification of a packet that is never fragmented has no meaning).
//!
//! Not in any specification: packets of dynamic connections and of masked atomics. They are packets of this device's
//! own form ([`crate::packet::dc`], [`crate::packet::extended`]), with opcodes of the service that has no name in the
//! IBTA's list.

mod crc;
mod datagram;
mod dropped;
mod entropy;
mod ethernet;
mod identification;
mod infiniband;
pub(crate) mod network;
mod sizes;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

pub use datagram::{Datagram, decode_datagram, encode_datagram, gid_of, ip_of};
pub use dropped::Dropped;
pub(crate) use entropy::flow;
pub use network::PORT as ROCE_PORT;
pub use sizes::{Packets, SIZES};
pub(crate) use sizes::{class, octets, on_cable};

use super::frame::{Frame, Route};
use crate::config::{GidType, LinkLayer};

/// The kind of cable that a route is for.
#[must_use]
pub fn link_of(route: &Route) -> LinkLayer {
    match route.grh.as_ref().map(|grh| grh.kind) {
        Some(GidType::RoceV1 | GidType::RoceV2) => LinkLayer::Ethernet,
        Some(GidType::InfiniBand) | None => LinkLayer::InfiniBand,
    }
}

/// The bytes of a packet.
///
/// # Errors
/// [`Dropped::Transport`] if the packet has no length that a port can send.
pub fn encode(frame: &Frame) -> Result<Vec<u8>, Dropped> {
    crc::check_transport(&frame.packet)?;
    Ok(match link_of(&frame.route) {
        LinkLayer::Ethernet => ethernet::encode(frame),
        LinkLayer::InfiniBand => infiniband::encode(frame),
    })
}

/// The packet in the bytes that arrived by a cable, which may be anything.
///
/// # Errors
/// [`Dropped`]: the first check that failed. [`Dropped::OtherProtocol`] says that a frame is not the transport's.
pub fn decode(link: LinkLayer, bytes: &[u8]) -> Result<Frame, Dropped> {
    match link {
        LinkLayer::Ethernet => ethernet::decode(bytes),
        LinkLayer::InfiniBand => infiniband::decode(bytes),
    }
}
