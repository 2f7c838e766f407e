//! Numbers of Ethernet and of the protocols in its frames.

use std::ops::RangeInclusive;

/// Bytes of an Ethernet header without VLAN tags.
pub(crate) const ETHERNET_HEADER: usize = 14;
/// Bytes that a frame can have, from the destination address to the end of the payload: its own header, up to a jumbo
/// frame. Padding to the 60 bytes of the shortest frame on a cable is the port's affair, and left out.
pub(crate) const FRAME_BYTES: RangeInclusive<u64> = ETHERNET_HEADER as u64..=MAX_FRAME as u64;
/// Bytes of the longest frame.
pub(crate) const MAX_FRAME: usize = 9216;

/// EtherTypes (IEEE 802.3, 802.1Q, 802.1ad).
pub(crate) const IPV4: u16 = 0x0800;
/// As above.
pub(crate) const IPV6: u16 = 0x86dd;
/// As above.
pub(crate) const VLAN: u16 = 0x8100;
/// As above.
pub(crate) const SERVICE_VLAN: u16 = 0x88a8;
/// Bytes of a VLAN tag.
pub(crate) const VLAN_TAG: usize = 4;

/// EtherType of an Ethernet frame, in tunnels (RFC 1701, RFC 8926).
pub(crate) const TRANSPARENT_ETHERNET: u16 = 0x6558;

/// Bytes of an IPv4 header without options.
pub(crate) const IPV4_HEADER: usize = 20;
/// Bytes of an IPv6 header.
pub(crate) const IPV6_HEADER: usize = 40;

/// Bytes of a UDP header.
pub(crate) const UDP_HEADER: usize = 8;
/// Bytes of a TCP header without options.
pub(crate) const TCP_HEADER: usize = 20;

/// UDP ports of tunnels (IANA): VXLAN, Geneve.
pub(crate) const VXLAN_PORT: u16 = 4789;
/// As above.
pub(crate) const GENEVE_PORT: u16 = 6081;

/// IP protocol numbers.
pub(crate) const IPV4_IN_IP: u8 = 4;
/// As above.
pub(crate) const TCP: u8 = 6;
/// As above.
pub(crate) const UDP: u8 = 17;
/// As above.
pub(crate) const IPV6_IN_IP: u8 = 41;
/// As above.
pub(crate) const GRE: u8 = 47;
/// As above: IPsec, encrypted.
pub(crate) const ESP: u8 = 50;
/// As above: IPsec, authenticated.
pub(crate) const AH: u8 = 51;
