//! Who a port is: derived from its number and its device's, so that all processes on one network agree.

use crate::{DEFAULT_PKEY, Gid, GidType, Link, LocalAddress, MAX_PORTS, gid_of, mac, port_guid};
use softhca::config::{self, LinkLayer, PortConfig};

/// What the core makes a device's port of. The machine's IP addresses are those of port 1 of device 0.
#[must_use]
pub fn port_config(link: Link, addresses: &[LocalAddress], device: u32, port: u32) -> PortConfig {
    let gid = |(raw, kind)| config::Gid { raw, kind: gid_type(kind) };
    PortConfig {
        lid: lid(link, device, port),
        gids: gids(link, addresses, device, port).into_iter().map(gid).collect(),
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

/// The occupied part of a port's GID table, in order.
pub(crate) fn gids(link: Link, addresses: &[LocalAddress], device: u32, port: u32) -> Vec<(Gid, GidType)> {
    let link_local = |interface_id: [u8; 8]| {
        let mut gid = [0; 16];
        gid[..2].copy_from_slice(&[0xfe, 0x80]);
        gid[8..].copy_from_slice(&interface_id);
        gid
    };
    match link {
        Link::Infiniband => vec![(link_local(port_guid(device, port).to_be_bytes()), GidType::Ib)],
        Link::Ethernet => {
            // EUI-64 of the MAC 02:00:5f:03:DD:PP: bit 1 of the first byte is inverted (RFC 4291, appendix A).
            let mac = link_local([0x00, 0x00, 0x5f, 0xff, 0xfe, 0x03, device as u8, port as u8]);
            // The IPv4 address 10.95.DD.PP, mapped.
            let mut ip = [0; 16];
            ip[10..].copy_from_slice(&[0xff, 0xff, 10, 95, device as u8, port as u8]);
            let mut all = vec![mac, ip];
            if (device, port) == (0, 1) {
                all.extend(addresses.iter().map(|address| gid_of(address.ip)));
            }
            all.into_iter().flat_map(|gid| [(gid, GidType::RoceV1), (gid, GidType::RoceV2)]).collect()
        }
    }
}
