//! Addresses: they decide whether a packet is for a device.

use std::ops::Range;

use super::frame::Route;
use crate::config::Gid;

/// QP 1, to which management datagrams go (IBTA vol. 1, 3.9.2): all devices have one, so that only the rest of an
/// address tells whose it is.
pub const GSI_QPN: u32 = 1;

/// Whom a device answers for: its ports' addresses, and the QPNs it owns.
///
/// Several instances may carry the same addresses (processes that open the same device); then their QPN ranges tell
/// them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// LIDs of its InfiniBand ports, 0 excluded.
    pub lids: Vec<u16>,
    /// GIDs of all ports.
    pub gids: Vec<Gid>,
    /// QPNs.
    pub qpns: Range<u32>,
}

/// The part of a device's address that changes during its life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announcement {
    /// GIDs of all ports.
    pub gids: Vec<Gid>,
    /// Packets to QP 1 at its addresses are for it, although the number is not among its QPNs.
    pub owns_gsi: bool,
    /// The GIDs of the multicast groups whose datagrams it takes, in ascending order.
    pub groups: Vec<[u8; 16]>,
}

impl Address {
    /// Whether a packet for QP `dest_qp` on this route is for the device.
    #[must_use]
    pub fn accepts(&self, route: &Route, dest_qp: u32) -> bool {
        self.qpns.contains(&dest_qp) && self.is_at(route)
    }

    /// Whether a route ends at the device: by LID where the link has LIDs, else by GID and its type.
    #[must_use]
    pub fn is_at(&self, route: &Route) -> bool {
        match (route.dlid, &route.grh) {
            (0, Some(grh)) => self.gids.contains(&Gid { raw: grh.dgid, kind: grh.kind }),
            (0, None) => false,
            (dlid, _) => self.lids.contains(&dlid),
        }
    }

    /// Whether a packet could be for either of the two.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.qpns.start.max(other.qpns.start) < self.qpns.end.min(other.qpns.end)
            && (self.lids.iter().any(|lid| other.lids.contains(lid))
                || self.gids.iter().any(|gid| other.gids.contains(gid)))
    }
}
