//! Connecting: what peers must tell each other, and by which way.

use rdma_sys as sys;

use super::error::in_range;
use super::{Access, Error, Gid, GidEntry, LinkLayer, Mtu, Port, Qp};
use crate::types::{Psn, Qpn};

/// Where a queue pair can be reached: what two peers exchange by some other way (TCP, a file) before they can connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// LID of the port; 0 on Ethernet.
    pub lid: u16,
    /// GID of the port; zero for "reach me by my LID".
    pub gid: Gid,
    /// Number of the queue pair.
    pub qpn: Qpn,
    /// The first packet it will send has this number.
    pub psn: Psn,
    /// Path MTU its port has in force.
    pub mtu: Mtu,
}

/// How to connect: the attributes of INIT, RTR and RTS. [`Path::new`] sets what works on InfiniBand and on RoCE; change what
/// you know better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The local port.
    pub port: Port,
    /// The local GID to send from. `None`: none, InfiniBand within the subnet.
    pub sgid: Option<GidEntry>,
    /// Partition, index into the port's table. Default 0, the default partition.
    pub pkey_index: u16,
    /// What the peer may do to memory through this queue pair, in addition to what the memory's registration permits.
    /// Default [`Access::ALL`]: the registration decides.
    pub access: Access,
    /// Upper bound of the path MTU; the smaller of this and the peer's is used. Default: the port's active MTU.
    pub mtu: Mtu,
    /// Service level, 0-15. Default 0.
    pub service_level: u8,
    /// Traffic class (DSCP and ECN bits), with a GID only. Default 0.
    pub traffic_class: u8,
    /// Routers a packet may cross, with a GID only. Default 64, the usual IP time to live.
    pub hop_limit: u8,
    /// READs and atomics of the peer that this side answers at once. Default: the device's limit, at most 16.
    pub max_dest_rd_atomic: u8,
    /// READs and atomics this side has outstanding at once; must not be more than the peer answers. Default as above.
    pub max_rd_atomic: u8,
    /// How long the peer waits before it tries again when no receive was posted: code of IBTA vol. 1, table 46 (0-31).
    /// Default 12, 0.64 ms.
    pub min_rnr_timer: u8,
    /// Local ACK timeout, 4.096 us * 2^code, 0-31, 0 = for ever. Default 14, 67 ms.
    pub timeout: u8,
    /// Retries when no answer comes, 0-7. Default 7.
    pub retry_cnt: u8,
    /// Retries when the peer has no receive posted, 0-7; 7 is without end. Default 7.
    pub rnr_retry: u8,
}

impl Path {
    /// A path from `port`, sending from `sgid`.
    ///
    /// `None` is right on InfiniBand within one subnet. On Ethernet a GID is needed ([`Error::PathWithoutGid`]);
    /// [`super::Device::default_gid`] has one.
    #[must_use]
    pub fn new(port: Port, sgid: Option<GidEntry>) -> Self {
        Self {
            port,
            sgid,
            pkey_index: 0,
            access: Access::ALL,
            mtu: port.active_mtu,
            service_level: 0,
            traffic_class: 0,
            hop_limit: 64,
            max_dest_rd_atomic: 16,
            max_rd_atomic: 16,
            min_rnr_timer: 12,
            timeout: 14,
            retry_cnt: 7,
            rnr_retry: 7,
        }
    }

    /// The address vector towards `remote`: by GID if the peer gave one, else by LID.
    pub(super) fn address(&self, remote: &Endpoint) -> Result<sys::ibv_ah_attr, Error> {
        let link_layer = self.port.link_layer;
        let by_gid = !remote.gid.is_zero();
        let by_lid = link_layer == LinkLayer::InfiniBand && remote.lid != 0;
        if !by_gid && !by_lid {
            return Err(Error::PeerWithoutAddress { link_layer });
        }
        let sgid_index = match (by_gid, self.sgid) {
            (true, Some(sgid)) => sgid.index,
            // InfiniBand ports have a GID at index 0 always (IBTA vol. 1, 4.1.1); Ethernet ones must be told.
            (true, None) if link_layer == LinkLayer::Ethernet => {
                return Err(Error::PathWithoutGid { port: self.port.number });
            }
            _ => 0,
        };
        Ok(sys::ibv_ah_attr {
            grh: sys::ibv_global_route {
                dgid: sys::ibv_gid { raw: remote.gid.0 },
                flow_label: 0,
                sgid_index,
                hop_limit: self.hop_limit,
                traffic_class: self.traffic_class,
            },
            dlid: remote.lid,
            sl: self.service_level,
            src_path_bits: 0,
            static_rate: 0,
            is_global: u8::from(by_gid),
            port_num: self.port.number,
        })
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        in_range("service level", self.service_level.into(), 0..=15)?;
        in_range("RNR NAK timer code", self.min_rnr_timer.into(), 0..=31)?;
        in_range("ACK timeout code", self.timeout.into(), 0..=31)?;
        in_range("retry count", self.retry_cnt.into(), 0..=7)?;
        in_range("RNR retry count", self.rnr_retry.into(), 0..=7)
    }
}

impl Qp {
    /// Where the peer reaches this queue pair by `path`. `psn` is where this side begins to count its packets; a fresh random
    /// number keeps late packets of an earlier connection out.
    #[must_use]
    pub fn endpoint(&self, path: &Path, psn: Psn) -> Endpoint {
        Endpoint {
            lid: path.port.lid,
            gid: path.sgid.map_or(Gid::default(), |entry| entry.gid),
            qpn: self.qpn(),
            psn,
            mtu: path.mtu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::{GidType, PortState};

    fn port(link_layer: LinkLayer) -> Port {
        Port {
            number: 1,
            state: PortState::Active,
            link_layer,
            active_mtu: Mtu::B4096,
            max_mtu: Mtu::B4096,
            lid: 0,
            gid_tbl_len: 8,
            max_msg_sz: 1 << 30,
        }
    }

    fn remote(lid: u16, gid: u8) -> Endpoint {
        Endpoint { lid, gid: Gid([gid; 16]), qpn: Qpn::truncate(7), psn: Psn::truncate(9), mtu: Mtu::B1024 }
    }

    #[test]
    fn infiniband_prefers_the_gid_the_peer_gave() {
        let path = Path::new(port(LinkLayer::InfiniBand), None);
        let lid_only = path.address(&remote(5, 0)).expect("by LID");
        assert_eq!((lid_only.dlid, lid_only.is_global), (5, 0));
        let both = path.address(&remote(5, 1)).expect("by GID");
        assert_eq!((both.dlid, both.is_global, both.grh.sgid_index), (5, 1, 0));
        assert_eq!(
            path.address(&remote(0, 0)).err(),
            Some(Error::PeerWithoutAddress { link_layer: LinkLayer::InfiniBand })
        );
    }

    #[test]
    fn ethernet_needs_gids_on_both_sides() {
        let sgid = GidEntry { index: 3, gid: Gid([2; 16]), kind: GidType::RoceV2 };
        let path = Path::new(port(LinkLayer::Ethernet), Some(sgid));
        let by_gid = path.address(&remote(0, 1)).expect("by GID");
        assert_eq!((by_gid.is_global, by_gid.grh.sgid_index, by_gid.grh.hop_limit), (1, 3, 64));
        assert_eq!(
            path.address(&remote(5, 0)).err(),
            Some(Error::PeerWithoutAddress { link_layer: LinkLayer::Ethernet })
        );
        let blind = Path::new(port(LinkLayer::Ethernet), None);
        assert_eq!(blind.address(&remote(0, 1)).err(), Some(Error::PathWithoutGid { port: 1 }));
    }

    #[test]
    fn codes_are_checked_before_the_call() {
        let mut path = Path::new(port(LinkLayer::InfiniBand), None);
        assert_eq!(path.check(), Ok(()));
        path.rnr_retry = 8;
        assert_eq!(path.check(), Err(Error::OutOfRange { what: "RNR retry count", value: 8, min: 0, max: 7 }));
    }
}
