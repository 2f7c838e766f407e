//! Reasons to drop bytes from a cable.

use thiserror::Error;

/// Why bytes from a cable are no packet for a device, or why a packet cannot become bytes; or why a frame is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Dropped {
    /// An Ethernet frame of another protocol than RoCE: for the host's network, and no error.
    #[error("frame of EtherType {ether_type:#06x}, protocol {protocol}, port {port}: not the transport's")]
    OtherProtocol {
        /// EtherType behind VLAN tags.
        ether_type: u16,
        /// IP protocol; 0 if there is no IP header.
        protocol: u8,
        /// UDP destination port; 0 if there is no UDP header.
        port: u16,
    },
    /// An Ethernet frame that has arrived when too many waited for the device.
    #[error("no room for a frame that has arrived")]
    NoRoomHere,
    /// An Ethernet frame for a device that has no room for it.
    #[error("no room for a frame at its receiver")]
    NoRoomThere,
    /// The bytes end inside of a header.
    #[error("{len} bytes end inside of a header")]
    Truncated {
        /// Bytes that have arrived.
        len: usize,
    },
    /// The version in the IP header or GRH is not that of the EtherType, or not 6 in a GRH.
    #[error("IP version {0}")]
    IpVersion(u8),
    /// An IPv4 header has options, or fewer than 20 bytes: RoCE v2 has none (IBTA annex A17.3.1.1).
    #[error("IPv4 header of {0} words instead of 5")]
    IpOptions(u8),
    /// The checksum of the IPv4 header is wrong.
    #[error("IPv4 header checksum {0:#06x} is wrong")]
    HeaderChecksum(u16),
    /// A fragment: packets of RoCE v2 are never fragmented.
    #[error("IPv4 fragment (word {0:#06x})")]
    Fragment(u16),
    /// A GRH whose next header is not the transport.
    #[error("next header {0:#04x} of a GRH")]
    NextHeader(u8),
    /// The length in a header is not that of the bytes.
    #[error("a header announces {announced} bytes, and there are {there}")]
    Length {
        /// Bytes that the header announces, itself included.
        announced: usize,
        /// Bytes that are there.
        there: usize,
    },
    /// The transport packet is shorter than a BTH, no multiple of 4 bytes, or longer than the longest packet.
    #[error("transport packet of {len} bytes")]
    Transport {
        /// Bytes from BTH to padding.
        len: usize,
    },
    /// A link version other than 0 in an LRH.
    #[error("link version {0}")]
    LinkVersion(u8),
    /// An LRH before a raw packet, which has no BTH.
    #[error("link next header {0}: a raw packet")]
    RawPacket(u8),
    /// The invariant CRC is wrong.
    #[error("invariant CRC {found:#010x} instead of {expected:#010x}")]
    InvariantCrc {
        /// As it has arrived.
        found: u32,
        /// That of the bytes.
        expected: u32,
    },
    /// The variant CRC is wrong.
    #[error("variant CRC {found:#06x} instead of {expected:#06x}")]
    VariantCrc {
        /// As it has arrived.
        found: u16,
        /// That of the bytes.
        expected: u16,
    },
}
