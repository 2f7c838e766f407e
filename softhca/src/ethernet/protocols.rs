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

/// Bytes of an IPv4 header without options.
pub(crate) const IPV4_HEADER: usize = 20;
/// Bytes of an IPv6 header.
pub(crate) const IPV6_HEADER: usize = 40;

/// IP protocol numbers.
pub(crate) const TCP: u8 = 6;
/// As above.
pub(crate) const UDP: u8 = 17;
/// As above: IPsec, encrypted.
pub(crate) const ESP: u8 = 50;
/// As above: IPsec, authenticated.
pub(crate) const AH: u8 = 51;
