//! The identity of a port: LID, GUIDs, MAC address and GIDs. They are derived from the number of the port and of its
//! device, so that all processes on one network agree.

use crate::local_address::{Gid, gid_of};
use crate::words::words;
use softhca::config::{self, LinkLayer, PortConfig};
use std::net::Ipv4Addr;

/// Most ports of a device, as of a ConnectX.
pub const MAX_PORTS: u32 = 2;

/// P_Key of the default partition, full member.
pub const DEFAULT_PKEY: u16 = 0xffff;

/// The prefix of InfiniBand ports' GIDs: the default prefix of an unconfigured subnet.
pub const SUBNET_PREFIX: u64 = 0xfe80_0000_0000_0000;

/// Entries of an InfiniBand port's GID table, most of them empty: what mlx5 reports.
pub const INFINIBAND_GIDS: u32 = 8;

words! {
    /// Link layer of all ports.
    #[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
    pub enum Link {
        /// Ports have LIDs.
        Infiniband = "infiniband",
        /// RoCE: ports have GIDs of their MAC and IP addresses, and no LIDs.
        Ethernet = "ethernet",
    }
}

/// The type of a GID table entry (`enum ib_uverbs_gid_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GidType {
    /// InfiniBand.
    Ib = 0,
    /// RoCE v1.
    RoceV1 = 1,
    /// RoCE v2.
    RoceV2 = 2,
}

/// Capabilities of a port (`ibv_port_attr.port_cap_flags`), as a ConnectX-5 reports them; on Ethernet, CM (bit 16) and
/// IP-based GIDs (bit 26).
#[must_use]
pub fn port_capabilities(link: Link) -> u32 {
    match link {
        Link::Infiniband => 0x2651_e848,
        Link::Ethernet => 0x0401_0000,
    }
}

/// Node GUID of device `device`.
#[must_use]
pub fn node_guid(device: u32) -> u64 {
    // Locally administered, so that no real card has it.
    0x0200_5f03_0000_0000 | u64::from(device) << 8
}

/// GUID of port `port` (from 1) of device `device`.
#[must_use]
pub fn port_guid(device: u32, port: u32) -> u64 {
    node_guid(device) | u64::from(port)
}

/// MAC address of an Ethernet port.
#[must_use]
pub fn mac(device: u32, port: u32) -> [u8; 6] {
    [0x02, 0x00, 0x5f, 0x03, device as u8, port as u8]
}

/// The core's description of a port without IP addresses of the machine.
#[must_use]
pub fn plain_port(link: Link, device: u32, port: u32) -> PortConfig {
    config(link, own_gids(link, device, port), device, port)
}

/// The core's description of a port with these GIDs.
pub(crate) fn config(link: Link, gids: Vec<(Gid, GidType)>, device: u32, port: u32) -> PortConfig {
    let gid = |(raw, kind)| config::Gid { raw, kind: gid_type(kind) };
    PortConfig {
        lid: lid(link, device, port),
        gids: gids.into_iter().map(gid).collect(),
        pkeys: vec![DEFAULT_PKEY],
        link: match link {
            Link::Infiniband => LinkLayer::InfiniBand,
            Link::Ethernet => LinkLayer::Ethernet,
        },
        active_mtu: 4096,
        guid: port_guid(device, port),
        mac: match link {
            Link::Infiniband => [0; 6],
            Link::Ethernet => mac(device, port),
        },
    }
}

fn gid_type(kind: GidType) -> config::GidType {
    match kind {
        GidType::Ib => config::GidType::InfiniBand,
        GidType::RoceV1 => config::GidType::RoceV1,
        GidType::RoceV2 => config::GidType::RoceV2,
    }
}

/// LID of a port: 0 on Ethernet.
pub(crate) fn lid(link: Link, device: u32, port: u32) -> u16 {
    match link {
        // At most 16 devices of 2 ports: never truncates.
        Link::Infiniband => (1 + device * MAX_PORTS + port - 1) as u16,
        Link::Ethernet => 0,
    }
}

/// The GIDs of a port without IP addresses of the machine, in order.
fn own_gids(link: Link, device: u32, port: u32) -> Vec<(Gid, GidType)> {
    match link {
        Link::Infiniband => vec![(guid_gid(device, port), GidType::Ib)],
        Link::Ethernet => {
            let gids = [mac_gid(device, port), gid_of(own_ip(device, port).into())];
            gids.into_iter().flat_map(|gid| ROCE_TYPES.map(|kind| (gid, kind))).collect()
        }
    }
}

/// The types of the entries that Linux makes for each address of an Ethernet port, in order.
pub(crate) const ROCE_TYPES: [GidType; 2] = [GidType::RoceV1, GidType::RoceV2];

/// The GID of an InfiniBand port.
pub(crate) fn guid_gid(device: u32, port: u32) -> Gid {
    link_local(port_guid(device, port).to_be_bytes())
}

/// The GID of an Ethernet port's MAC address.
pub(crate) fn mac_gid(device: u32, port: u32) -> Gid {
    // EUI-64 of the MAC 02:00:5f:03:DD:PP: bit 1 of the first byte is inverted (RFC 4291, appendix A).
    link_local([0x00, 0x00, 0x5f, 0xff, 0xfe, 0x03, device as u8, port as u8])
}

fn link_local(interface_id: [u8; 8]) -> Gid {
    let mut gid = [0; 16];
    gid[..2].copy_from_slice(&[0xfe, 0x80]);
    gid[8..].copy_from_slice(&interface_id);
    gid
}

/// The IP address of an Ethernet port on a network of software devices.
#[must_use]
pub fn own_ip(device: u32, port: u32) -> Ipv4Addr {
    Ipv4Addr::new(10, 95, device as u8, port as u8)
}
