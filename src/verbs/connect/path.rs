//! Paths: from which port and GID a queue pair connects, and with which attributes.

use blueflame_sys as sys;

use crate::types::{Psn, Qpn};
use crate::verbs::device::{Gid, GidEntry, GidType, LinkLayer, Mtu, Port, PortState};
use crate::verbs::error::in_range;
use crate::verbs::{Access, Device, Endpoint, Error};

/// How to connect: the attributes of INIT, RTR and RTS. [`Path::new`] sets values that work on InfiniBand and on RoCE;
/// change those that you know better.
#[doc(alias = "ibv_ah_attr")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The local port.
    pub port: Port,
    /// The local GID to send from. `None`: none, InfiniBand within the subnet.
    pub sgid: Option<GidEntry>,
    /// Partition, index into the port's table. Default 0, the default partition.
    pub pkey_index: u16,
    /// The peer's rights to memory through this queue pair. The peer needs each right here and in the memory's
    /// registration. Default [`Access::ALL`]: the registration decides.
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
    /// A path from `port`, sending from `sgid`. [`Device::path`] chooses both.
    ///
    /// `None` is right on InfiniBand within one subnet. On Ethernet a GID is needed ([`Error::PathWithoutGid`]);
    /// [`Device::default_gid`] has one.
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

    /// How this side's packets are carried: the type of its GID, or InfiniBand without a GID. `None`: on Ethernet
    /// without a GID, no packet can be sent.
    #[must_use]
    pub fn gid_type(&self) -> Option<GidType> {
        match (self.sgid, self.port.link_layer) {
            (Some(entry), _) => Some(entry.kind),
            (None, LinkLayer::InfiniBand) => Some(GidType::Ib),
            (None, LinkLayer::Ethernet) => None,
        }
    }

    /// Where the peer reaches a queue pair by this path. It has no [options](Endpoint::ece), which queue pairs have
    /// ([`Qp::endpoint`](crate::verbs::Qp::endpoint)).
    #[must_use]
    pub fn endpoint(&self, qpn: Qpn, psn: Psn) -> Endpoint {
        Endpoint {
            lid: self.port.lid,
            gid: self.sgid.map_or(Gid::default(), |entry| entry.gid),
            gid_type: self.gid_type(),
            qpn,
            psn,
            mtu: self.mtu,
            ece: None,
        }
    }

    /// The address vector towards `remote`, as libibverbs has it: by GID if the peer gave one, else by LID.
    ///
    /// # Errors
    /// [`Error::PeerWithoutAddress`], [`Error::PathWithoutGid`], [`Error::Mismatch`] if no packet of one side would
    /// reach the other.
    pub fn address(&self, remote: &Endpoint) -> Result<sys::ibv_ah_attr, Error> {
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
        remote.check_reached_from(self.gid_type(), self.sgid.map_or(Gid::default(), |entry| entry.gid))?;
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

    /// Checks the codes that have a range of their own. All calls that take a path do.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn check(&self) -> Result<(), Error> {
        in_range("service level", self.service_level.into(), 0..=15)?;
        in_range("RNR NAK timer code", self.min_rnr_timer.into(), 0..=31)?;
        in_range("ACK timeout code", self.timeout.into(), 0..=31)?;
        in_range("retry count", self.retry_cnt.into(), 0..=7)?;
        in_range("RNR retry count", self.rnr_retry.into(), 0..=7)
    }
}

impl Device {
    /// A path from port `number` (from 1), for `connect`: with a port that carries data, and the usual GID.
    ///
    /// `gid_index` is the place of the local GID in the port's table, as `-x` of perftest. `None` chooses: on Ethernet
    /// [`Device::default_gid`]; on InfiniBand no GID, as perftest does, unless the port asks for one in every packet
    /// (`IBV_QPF_GRH_REQUIRED`, which UCX checks as well); then the first GID.
    ///
    /// # Errors
    /// [`Error::NoPort`], [`Error::PortNotActive`], [`Error::OutOfRange`] for an index past the port's table,
    /// [`Error::EmptyGid`] for an index with nothing there, [`Error::NoGid`], or a failed call.
    pub fn path(&self, number: u8, gid_index: Option<u8>) -> Result<Path, Error> {
        let port = self.port(number)?;
        if port.state != PortState::Active {
            return Err(Error::PortNotActive { port: number, state: port.state });
        }
        let sgid = match gid_index {
            Some(index) => {
                in_range("GID index", index.into(), 0..=u64::from(port.gid_tbl_len).saturating_sub(1))?;
                Some(self.gid(number, index)?.ok_or(Error::EmptyGid { port: number, index })?)
            }
            None if port.link_layer == LinkLayer::Ethernet || port.grh_required => Some(self.default_gid(&port)?),
            None => None,
        };
        Ok(Path::new(port, sgid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            grh_required: false,
        }
    }

    fn remote(lid: u16, gid: u8) -> Endpoint {
        let (qpn, psn) = (Qpn::truncate(7), Psn::truncate(9));
        Endpoint { lid, gid: Gid([gid; 16]), gid_type: None, qpn, psn, mtu: Mtu::B1024, ece: None }
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

    fn sgid(gid: &str, kind: GidType) -> GidEntry {
        let address: std::net::Ipv6Addr = gid.parse().expect("test data");
        GidEntry { index: 0, gid: Gid(address.octets()), kind }
    }

    /// The refusal of `connect` when the local GID is `here`, on Ethernet unless it is InfiniBand's, and the peer's is
    /// `there`.
    fn refusal(here: GidEntry, there: GidEntry) -> Option<String> {
        let link_layer = if here.kind == GidType::Ib { LinkLayer::InfiniBand } else { LinkLayer::Ethernet };
        let remote = Endpoint { gid: there.gid, gid_type: Some(there.kind), ..remote(1, 0) };
        Path::new(port(link_layer), Some(here)).address(&remote).err().map(|error| error.to_string())
    }

    #[test]
    fn sides_that_cannot_reach_each_other_are_told_apart() {
        let v2 = sgid("::ffff:10.0.0.1", GidType::RoceV2);
        assert_eq!(refusal(v2, sgid("::ffff:10.0.0.2", GidType::RoceV2)), None);
        let version = refusal(v2, sgid("::ffff:10.0.0.2", GidType::RoceV1)).expect("RoCE v2 and v1");
        assert!(version.starts_with("the GID types differ: RoCE v2 on this side, RoCE v1 on the peer's"), "{version}");
        let layer = refusal(v2, sgid("fe80::1", GidType::Ib)).expect("Ethernet and InfiniBand");
        assert!(
            layer.starts_with("the link layers differ: Ethernet on this side, InfiniBand on the peer's"),
            "{layer}"
        );
        let family = refusal(v2, sgid("fe80::1", GidType::RoceV2)).expect("IPv4 and IPv6");
        assert!(family.starts_with("the GIDs' address families differ: IPv4 on this side, IPv6 on the"), "{family}");
        // On InfiniBand, a GID is an identifier, not an address.
        assert_eq!(refusal(sgid("::ffff:10.0.0.1", GidType::Ib), sgid("fe80::1", GidType::Ib)), None);
    }

    #[test]
    fn a_peer_that_does_not_tell_is_believed() {
        let path = Path::new(port(LinkLayer::InfiniBand), Some(sgid("fe80::1", GidType::Ib)));
        assert!(path.address(&remote(5, 1)).is_ok());
    }

    #[test]
    fn codes_are_checked_before_the_call() {
        let mut path = Path::new(port(LinkLayer::InfiniBand), None);
        assert_eq!(path.check(), Ok(()));
        path.rnr_retry = 8;
        assert_eq!(path.check(), Err(Error::OutOfRange { what: "RNR retry count", value: 8, min: 0, max: 7 }));
    }
}
