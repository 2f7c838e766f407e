//! Packets between ports, and their ways.

use crate::config::{Gid, GidType, LinkLayer, PortConfig};
use crate::context::Path;
use std::net::Ipv6Addr;

/// The destination QP of datagrams to a multicast group (IBTA vol. 1, 10.5.2; Linux `include/rdma/ib_verbs.h`,
/// `IB_MULTICAST_QPN`).
pub const MULTICAST_QPN: u32 = 0xff_ffff;

/// Global route header fields of a packet (IBTA vol. 1, 8.3), or those in the IP header of RoCE v2 that take their
/// place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grh {
    /// How the packet travels.
    pub kind: GidType,
    /// Source GID.
    pub sgid: [u8; 16],
    /// Destination GID.
    pub dgid: [u8; 16],
    /// Traffic class.
    pub traffic_class: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Hop limit.
    pub hop_limit: u8,
    /// UDP source port of RoCE v2 that the sender has set; 0: the wire makes one of the flow label and the QPN. Receivers
    /// ignore it, and frames from a cable have 0.
    pub udp_sport: u16,
}

/// Whether a GID is that of a multicast group: it begins with 0xff, or is a mapped IPv4 group of RoCE v2 (Linux
/// `include/rdma/ib_addr.h`, `rdma_is_multicast_addr`).
#[must_use]
pub fn is_group(gid: &[u8; 16]) -> bool {
    gid[0] == 0xff || Ipv6Addr::from(*gid).to_ipv4_mapped().is_some_and(|ip| ip.is_multicast())
}

/// Ethernet addresses of a packet; zeros on InfiniBand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Macs {
    /// That of the port that sends.
    pub source: [u8; 6],
    /// The one that the driver gave for the path.
    pub destination: [u8; 6],
}

/// Where a packet comes from and goes to: the content of LRH and GRH (IBTA vol. 1, 7.7 and 8.3), or of the Ethernet
/// header in the LRH's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Source LID; 0 where the link has none (Ethernet).
    pub slid: u16,
    /// Destination LID; 0 where the link has none (Ethernet).
    pub dlid: u16,
    /// Service level.
    pub sl: u8,
    /// Present on Ethernet always, on InfiniBand when the path is global.
    pub grh: Option<Grh>,
    /// Ethernet addresses. A device compares neither with its own: wires find receivers by GID.
    pub macs: Macs,
}

/// A route, and the IB transport packet from BTH to the end of the (padded) payload, without CRCs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// From where to where.
    pub route: Route,
    /// BTH, extended headers, payload and padding as IBTA vol. 1 chapter 9 lays them out.
    pub packet: Vec<u8>,
    /// Packets that it stands for: 1, or the number in a segment: several packets of one message.
    pub packets: u16,
}

impl Frame {
    /// One packet.
    #[must_use]
    pub const fn new(route: Route, packet: Vec<u8>) -> Self {
        Self { route, packet, packets: 1 }
    }
}

impl Route {
    /// The route of packets along `path` from `port`; `None` if the path names a GID that the port does not have.
    pub(crate) fn along(port: &PortConfig, path: &Path) -> Option<Self> {
        let grh = match &path.grh {
            None => None,
            Some(grh) => {
                // The source's type says how the packet travels: a destination GID alone does not tell.
                let source = port.gid(grh.sgid_index)?;
                Some(Grh {
                    kind: source.kind,
                    sgid: source.raw,
                    dgid: grh.dgid,
                    traffic_class: grh.traffic_class,
                    flow_label: grh.flow_label & 0x000f_ffff,
                    hop_limit: grh.hop_limit,
                    udp_sport: 0,
                })
            }
        };
        let (slid, dlid, macs) = match port.link {
            LinkLayer::InfiniBand => (port.lid | u16::from(path.src_path_bits & 0x7f), path.dlid, Macs::default()),
            LinkLayer::Ethernet => (0, 0, Macs { source: port.mac, destination: path.dmac }),
        };
        Some(Self { slid, dlid, sl: path.sl & 0xf, grh, macs })
    }

    /// The multicast group that a packet to QP `dest_qp` is for; `None` if it is for one receiver.
    #[must_use]
    pub fn group(&self, dest_qp: u32) -> Option<[u8; 16]> {
        self.grh.map(|grh| grh.dgid).filter(|gid| dest_qp == MULTICAST_QPN && is_group(gid))
    }

    /// Whether it begins at a port.
    pub(crate) fn begins_at(&self, port: &PortConfig) -> bool {
        match &self.grh {
            Some(grh) if self.slid == 0 => port.gids.contains(&Gid { raw: grh.sgid, kind: grh.kind }),
            _ => self.slid == port.lid,
        }
    }

    /// Whether it ends at a port.
    pub(crate) fn ends_at(&self, port: &PortConfig) -> bool {
        match &self.grh {
            Some(grh) if self.dlid == 0 => port.gids.contains(&Gid { raw: grh.dgid, kind: grh.kind }),
            _ => self.dlid == port.lid,
        }
    }

    /// Whether a packet that came by `from` came from the peer that this route leads to (IBTA vol. 1, 9.6.1.1 and
    /// 9.6.1.2).
    pub(crate) fn is_way_back(&self, from: &Self) -> bool {
        let lids = from.slid == self.dlid && from.dlid == self.slid;
        let gids = match (&self.grh, &from.grh) {
            (None, None) => true,
            (Some(to), Some(from)) => (from.kind, from.sgid, from.dgid) == (to.kind, to.dgid, to.sgid),
            _ => false,
        };
        lids && gids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_told_by_gid_and_qp() {
        let to = |ip: &str| {
            let dgid = ip.parse::<Ipv6Addr>().unwrap().octets();
            let grh = Grh {
                kind: GidType::RoceV2,
                sgid: [0; 16],
                dgid,
                traffic_class: 0,
                flow_label: 0,
                hop_limit: 1,
                udp_sport: 0,
            };
            Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() }
        };
        for (ip, is_group) in
            [("ff0e::1", true), ("::ffff:239.1.2.3", true), ("::ffff:10.1.2.3", false), ("fe80::1", false)]
        {
            let gid = ip.parse::<Ipv6Addr>().unwrap().octets();
            assert_eq!(to(ip).group(0xff_ffff), is_group.then_some(gid), "{ip}");
            assert_eq!(to(ip).group(0xff_fffe), None, "{ip}");
        }
        assert_eq!(Route { grh: None, dlid: 0xc001, ..to("ff0e::1") }.group(0xff_ffff), None);
    }

    #[test]
    fn the_way_back_exchanges_both_ends() {
        let port = |lid| PortConfig::infiniband(lid);
        let grh = crate::context::PathGrh {
            dgid: port(2).gids[0].raw,
            sgid_index: 0,
            flow_label: 0,
            hop_limit: 1,
            traffic_class: 0,
        };
        let path = Path { dlid: 2, sl: 0, src_path_bits: 0, grh: Some(grh), dmac: [0; 6] };
        let to = Route::along(&port(1), &path).expect("the GID exists");
        let back = crate::context::PathGrh { dgid: port(1).gids[0].raw, ..grh };
        let from = Route::along(&port(2), &Path { dlid: 1, grh: Some(back), ..path }).expect("the GID exists");
        assert!(to.is_way_back(&from));
        assert!(!to.is_way_back(&to));
        assert!(!to.is_way_back(&Route { grh: None, ..from }));
        assert!(!to.is_way_back(&Route { slid: 3, ..from }));
        let other = Grh { kind: crate::config::GidType::RoceV1, ..from.grh.expect("a GRH") };
        assert!(!to.is_way_back(&Route { grh: Some(other), ..from }));
        let roce = PortConfig::ethernet(7);
        let macs = Macs { source: roce.mac, destination: [2; 6] };
        assert_eq!(Route::along(&roce, &Path { dmac: [2; 6], ..path }).expect("the GID exists").macs, macs);
        assert_eq!(
            Route::along(&port(1), &Path { grh: Some(crate::context::PathGrh { sgid_index: 1, ..grh }), ..path }),
            None
        );
    }
}
