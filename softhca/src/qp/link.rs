//! Where a QP's packets go, and which packets are its own: route, partition and MTU, as the attributes resolve them.

use crate::config::{LinkLayer, PortConfig};
use crate::context::Path;
use crate::wire::{Grh, Route};

/// Membership bit of a P_Key: full member (IBTA vol. 1, 10.9.3).
const FULL_MEMBER: u16 = 0x8000;

/// The route of packets along `path` from `port`; `None` if the path names a GID that the port does not have.
pub(crate) fn route(port: &PortConfig, path: &Path) -> Option<Route> {
    let grh = match &path.grh {
        None => None,
        Some(grh) => {
            // The source's type says how the packet travels: a destination GID alone does not tell.
            let source = port.gids.get(usize::from(grh.sgid_index))?;
            Some(Grh {
                kind: source.kind,
                sgid: source.raw,
                dgid: grh.dgid,
                traffic_class: grh.traffic_class,
                flow_label: grh.flow_label & 0x000f_ffff,
                hop_limit: grh.hop_limit,
            })
        }
    };
    let (slid, dlid) = match port.link {
        LinkLayer::InfiniBand => (port.lid | u16::from(path.src_path_bits & 0x7f), path.dlid),
        LinkLayer::Ethernet => (0, 0),
    };
    Some(Route { slid, dlid, sl: path.sl & 0xf, grh })
}

/// Whether a packet that came by `from` came from the peer that `to` leads to (IBTA vol. 1, 9.6.1.1 and 9.6.1.2).
pub(super) fn is_way_back(to: &Route, from: &Route) -> bool {
    let lids = from.slid == to.dlid && from.dlid == to.slid;
    let gids = match (&to.grh, &from.grh) {
        (None, None) => true,
        (Some(to), Some(from)) => (from.kind, from.sgid, from.dgid) == (to.kind, to.dgid, to.sgid),
        _ => false,
    };
    lids && gids
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
        let to = route(&port(1), &path).expect("the GID exists");
        let back = crate::context::PathGrh { dgid: port(1).gids[0].raw, ..grh };
        let from = route(&port(2), &Path { dlid: 1, grh: Some(back), ..path }).expect("the GID exists");
        assert!(is_way_back(&to, &from));
        assert!(!is_way_back(&to, &to));
        assert!(!is_way_back(&to, &Route { grh: None, ..from }));
        assert!(!is_way_back(&to, &Route { slid: 3, ..from }));
        let other = Grh { kind: crate::config::GidType::RoceV1, ..from.grh.expect("a GRH") };
        assert!(!is_way_back(&to, &Route { grh: Some(other), ..from }));
        assert_eq!(
            route(&port(1), &Path { grh: Some(crate::context::PathGrh { sgid_index: 1, ..grh }), ..path }),
            None
        );
    }
}
