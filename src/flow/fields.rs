//! The fields of frames that a flow names, checked, for the makers of rules.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::masked::Masked;

/// The fields that a frame must have. Where a mask is zero, any value will do. Values have no bits outside of their
/// masks, as devices want it (Linux `drivers/net/ethernet/mellanox/mlx5/core/fs_core.c`, `check_valid_spec`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Fields {
    /// The destination's MAC address.
    pub destination_mac: Masked<[u8; 6]>,
    /// The source's MAC address.
    pub source_mac: Masked<[u8; 6]>,
    /// The EtherType behind the VLAN tag.
    pub ether_type: Masked<u16>,
    /// The tag control information of the VLAN: priority (3 bits), drop eligible (1), identifier (12). A mask other
    /// than zero also requires a tag.
    pub vlan: Masked<u16>,
    /// The header of IP; `None`: any packet, or none.
    pub ip: Option<IpFields>,
    /// The ports; `None`: any.
    pub ports: Option<PortFields>,
}

/// Fields of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpFields {
    /// Of IPv4.
    V4 {
        /// The source's address.
        source: Masked<Ipv4Addr>,
        /// The destination's address.
        destination: Masked<Ipv4Addr>,
        /// The protocol.
        protocol: Masked<u8>,
        /// DSCP (6 bits) and ECN (2).
        traffic_class: Masked<u8>,
    },
    /// Of IPv6.
    V6 {
        /// The source's address.
        source: Masked<Ipv6Addr>,
        /// The destination's address.
        destination: Masked<Ipv6Addr>,
        /// The next header.
        protocol: Masked<u8>,
        /// DSCP (6 bits) and ECN (2).
        traffic_class: Masked<u8>,
    },
}

/// A protocol with ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum L4 {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl L4 {
    /// Its number in IP headers (IANA, "Protocol Numbers").
    #[must_use]
    pub const fn protocol(self) -> u8 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }
}

/// Ports of TCP or UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortFields {
    /// Of which protocol.
    pub l4: L4,
    /// The source's port.
    pub source: Masked<u16>,
    /// The destination's port.
    pub destination: Masked<u16>,
}
