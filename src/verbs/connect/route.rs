//! Routes: how packets get to a port, as a value to be compared and looked up by.

use blueflame_sys as sys;

use crate::cq::cqe::{Grh, GrhKind};
use crate::cq::{CqeView, Source};
use crate::verbs::device::{Gid, LinkLayer};
use crate::verbs::{Endpoint, Error, Path};
use crate::wqe::address::GlobalRoute;

/// How packets get from one of this side's ports to a peer's: the attributes of an [address
/// handle](crate::verbs::AddressHandle) (`struct ibv_ah_attr`). It is made from the peer's endpoint ([`Path::route`]),
/// or from a datagram of the peer ([`Path::route_back`]).
#[doc(alias("ibv_ah_attr", "ibv_global_route"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// The port to send from, from 1.
    pub port: u8,
    /// LID to send to; 0 on Ethernet.
    pub lid: u16,
    /// Service level, 0-15; on Ethernet the priority, 0-7.
    pub service_level: u8,
    /// Low bits of the LID to send from, where the port has several.
    pub path_bits: u8,
    /// The highest rate of sending there, as `ibv_rate`; 0 for the rate of the port.
    pub static_rate: u8,
    /// The global route header: always on Ethernet.
    pub grh: Option<GlobalRoute>,
}

impl Route {
    pub(in crate::verbs) fn of(attr: &sys::ibv_ah_attr) -> Self {
        // SAFETY: every view of the union is sixteen bytes without padding.
        let dgid = unsafe { attr.grh.dgid.raw };
        let grh = GlobalRoute {
            dgid,
            sgid_index: attr.grh.sgid_index,
            flow_label: attr.grh.flow_label,
            hop_limit: attr.grh.hop_limit,
            traffic_class: attr.grh.traffic_class,
        };
        Self {
            port: attr.port_num,
            lid: attr.dlid,
            service_level: attr.sl,
            path_bits: attr.src_path_bits,
            static_rate: attr.static_rate,
            grh: (attr.is_global != 0).then_some(grh),
        }
    }

    pub(in crate::verbs) fn attr(&self) -> sys::ibv_ah_attr {
        let none = GlobalRoute { dgid: [0; 16], sgid_index: 0, flow_label: 0, hop_limit: 0, traffic_class: 0 };
        let grh = self.grh.unwrap_or(none);
        sys::ibv_ah_attr {
            grh: sys::ibv_global_route {
                dgid: sys::ibv_gid { raw: grh.dgid },
                flow_label: grh.flow_label,
                sgid_index: grh.sgid_index,
                hop_limit: grh.hop_limit,
                traffic_class: grh.traffic_class,
            },
            dlid: self.lid,
            sl: self.service_level,
            src_path_bits: self.path_bits,
            static_rate: self.static_rate,
            is_global: self.grh.is_some().into(),
            port_num: self.port,
        }
    }
}

impl Path {
    /// The route to `remote`: by GID if it gave one, else by LID.
    ///
    /// # Errors
    /// The errors of [`address`](Self::address), and [`Error::OutOfRange`].
    pub fn route(&self, remote: &Endpoint) -> Result<Route, Error> {
        self.check()?;
        Ok(Route::of(&self.address(remote)?))
    }

    /// The route back to the sender of a datagram. `cqe` is the datagram's completion on this path's port, and `header`
    /// is the header in front of the datagram ([`Grh::split`]). The sender's queue pair is [`src_qp`](CqeView::src_qp).
    ///
    /// This works like `ibv_init_ah_from_wc` of libibverbs, with three differences. The GID to send from is the path's,
    /// with no search of a table. Datagrams to a multicast group can be answered as well, from that GID. On Ethernet,
    /// the priority is the path's, because the completion's service level has another meaning there
    /// ([`sl`](CqeView::sl)).
    ///
    /// # Errors
    /// [`Error::NoWayBack`]: there is no valid header, the datagram was sent to another GID than the path's, or the
    /// path has no GID on Ethernet.
    #[doc(alias("ibv_init_ah_from_wc", "ibv_create_ah_from_wc"))]
    pub fn route_back<S: Source>(&self, cqe: &CqeView<S>, header: &Grh) -> Result<Route, Error> {
        let ethernet = self.port.link_layer == LinkLayer::Ethernet;
        let grh = match (cqe.has_grh(), ethernet) {
            (true, _) => Some(self.grh_back(header)?),
            (false, false) => None,
            (false, true) => return Err(Error::NoWayBack { why: "no network header came with it".into() }),
        };
        Ok(Route {
            port: self.port.number,
            lid: if ethernet { 0 } else { cqe.slid() },
            service_level: if ethernet { self.service_level } else { cqe.sl() },
            path_bits: if ethernet { 0 } else { cqe.dlid_path_bits() },
            static_rate: 0,
            grh,
        })
    }

    fn grh_back(&self, header: &Grh) -> Result<GlobalRoute, Error> {
        let no = |why: String| Err(Error::NoWayBack { why });
        if header.kind() == GrhKind::Unknown {
            return no("the 40 bytes in front of it are no network header".into());
        }
        let to = Gid(header.destination_gid());
        let sgid_index = match self.sgid {
            Some(entry) if header.is_multicast() || entry.gid == to => entry.index,
            Some(entry) => return no(format!("it was sent to {to}, and the path's GID is {}", entry.gid)),
            None if self.port.link_layer == LinkLayer::Ethernet => return no("the path has no GID".into()),
            // InfiniBand ports have a GID at index 0 always (IBTA vol. 1, 4.1.1).
            None => 0,
        };
        Ok(GlobalRoute {
            dgid: header.source_gid(),
            sgid_index,
            flow_label: header.flow_label(),
            hop_limit: header.hop_limit(),
            traffic_class: header.traffic_class(),
        })
    }
}
