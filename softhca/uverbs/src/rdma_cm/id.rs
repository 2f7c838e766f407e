//! An id: one end of a connection, or a listener, as the program names it (`struct rdma_cm_id`).

use super::abi::{ConnParam, Ece, EventResp, UdParam};
use super::address::Address;
use super::conversation::Conversation;
use super::events::{Event, EventFile};
use super::ports::Lease;
use crate::abi::AhAttr;
use crate::device::Hca;
use crate::device::resources::Counted;
use crate::process::Errno;
use softhca::context::{Path, PathGrh};
use softhca_settings::{self as settings, Gid, Resource, Settings, gid_of};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use zerocopy::{FromZeros, IntoBytes};

/// `RDMA_UDP_QKEY`.
pub(super) const UDP_QKEY: u32 = 0x0123_4567;

/// Hop limit of packets: what Linux gives IP packets.
pub(super) const HOP_LIMIT: u8 = 64;

/// An id's membership in a multicast group.
pub(super) struct Membership {
    pub(super) id: u32,
    pub(super) events_reported: u32,
}

/// How far an id is (`enum rdma_cm_state` of the kernel).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    Bound,
    AddressResolved,
    RouteResolved,
    Listening,
    Connecting,
    Disconnected,
}

/// A port of ours, and the address of it that an id uses.
#[derive(Clone)]
pub(super) struct Local {
    pub(super) hca: Arc<Hca>,
    pub(super) port: u8,
    pub(super) gid: Gid,
    pub(super) gid_index: u8,
    _counted: Arc<Counted>,
}

impl Local {
    /// The port that has `gid`; the device is opened.
    pub(super) fn with_gid(settings: &Arc<Settings>, gid: &Gid) -> Result<Self, Errno> {
        let (device, port, index) = settings::find_gid(settings, gid).ok_or(Errno::ENODEV)?;
        // Ports are 1 and 2, tables shorter than 256.
        let hca = Hca::get(device, settings)?;
        let counted = Arc::new(hca.resources.count(Resource::CmId));
        Ok(Self { hca, port: port as u8, gid: *gid, gid_index: index as u8, _counted: counted })
    }

    /// The port that has the address `ip`.
    pub(super) fn with_ip(settings: &Arc<Settings>, ip: IpAddr) -> Result<Self, Errno> {
        Self::with_gid(settings, &gid_of(ip)).map_err(|error| {
            let known = settings.addresses.iter().any(|address| address.ip == ip);
            if error == Errno::ENODEV && !known { Errno(libc::EADDRNOTAVAIL) } else { error }
        })
    }

    /// The way to the port that has `gid`.
    pub(super) fn path_to(&self, gid: &Gid, traffic_class: u8) -> Path {
        let grh =
            PathGrh { dgid: *gid, sgid_index: self.gid_index, flow_label: 0, hop_limit: HOP_LIMIT, traffic_class };
        Path { dlid: 0, sl: 0, src_path_bits: 0, grh: Some(grh), dmac: [0; 6] }
    }
}

/// The settings of the program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub(super) traffic_class: u8,
    pub(super) reuse: bool,
    pub(super) family_only: bool,
    pub(super) ack_timeout: Option<u8>,
}

/// An id.
pub(super) struct Id {
    pub(super) number: u32,
    /// The program's name for it; 0 before it has accepted the connection.
    pub(super) uid: u64,
    pub(super) file: Arc<EventFile>,
    pub(super) events_reported: u32,
    /// Listener: requests that may still wait.
    pub(super) backlog: u32,
    pub(super) space: u16,
    pub(super) datagram: bool,
    pub(super) options: Options,
    pub(super) source: Option<Address>,
    pub(super) destination: Option<SocketAddr>,
    pub(super) lease: Option<Lease>,
    pub(super) local: Option<Local>,
    pub(super) state: State,
    /// First PSN that we receive.
    pub(super) psn: u32,
    pub(super) qkey: u32,
    pub(super) conversation: Option<Conversation>,
}

/// An event's parameters.
pub(super) enum Param {
    None,
    Conn(ConnParam),
    Ud(UdParam),
    Own(u64),
}

impl Id {
    pub(super) fn new(number: u32, uid: u64, file: &Arc<EventFile>, space: u16, datagram: bool) -> Self {
        Self {
            number,
            uid,
            file: file.clone(),
            events_reported: 0,
            backlog: 0,
            space,
            datagram,
            options: Options::default(),
            source: None,
            destination: None,
            lease: None,
            local: None,
            state: State::Idle,
            psn: fastrand::u32(..1 << 24),
            qkey: 0,
            conversation: None,
        }
    }

    /// The IP address and port that it is bound to.
    pub(super) fn source_ip(&self) -> Option<SocketAddr> {
        match self.source {
            Some(Address::Ip(address)) => Some(address),
            _ => None,
        }
    }

    /// Source and destination GID; zeros where there is none yet.
    pub(super) fn gids(&self) -> [Gid; 2] {
        let destination = self.destination.filter(|address| !address.ip().is_unspecified());
        [
            self.local.as_ref().map_or([0; 16], |local| local.gid),
            destination.map_or([0; 16], |address| gid_of(address.ip())),
        ]
    }

    /// The way to the peer, once it is resolved.
    pub(super) fn path(&self) -> Option<Path> {
        Some(self.local.as_ref()?.path_to(&gid_of(self.destination?.ip()), self.options.traffic_class))
    }

    /// The data of that way for a QP or an address handle.
    pub(super) fn ah_attr(&self) -> AhAttr {
        let (Some(path), Some(local)) = (self.path(), &self.local) else { return AhAttr::new_zeroed() };
        let mut attr = AhAttr { port_num: local.port, ..FromZeros::new_zeroed() };
        if let Some(grh) = path.grh {
            attr.is_global = 1;
            attr.grh.dgid = grh.dgid;
            attr.grh.sgid_index = grh.sgid_index;
            attr.grh.hop_limit = grh.hop_limit;
            attr.grh.traffic_class = grh.traffic_class;
        }
        attr
    }

    /// Tells the program of an event. Before it has accepted a connection it is told nothing of it.
    pub(super) fn raise(&self, event: u32, status: i32, param: &Param, ece: [u32; 2]) {
        if self.uid != 0 {
            self.file.push(self.event(self.number, event, status, param, ece));
        }
    }

    /// An event, reported for this id, about id `about`.
    pub(super) fn event(&self, about: u32, event: u32, status: i32, param: &Param, ece: [u32; 2]) -> Event {
        let mut response = EventResp {
            uid: self.uid,
            id: about,
            event,
            status,
            ece: Ece { vendor_id: ece[0], attr_mod: ece[1] },
            ..FromZeros::new_zeroed()
        };
        let bytes = match param {
            Param::None => &[],
            Param::Conn(param) => param.as_bytes(),
            Param::Ud(param) => param.as_bytes(),
            Param::Own(arg) => arg.as_bytes(),
        };
        response.param[..bytes.len()].copy_from_slice(bytes);
        Event { owner: self.number, membership: None, response }
    }
}
