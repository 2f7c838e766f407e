//! What makes a packet belong to a device.

use std::ops::Range;

use super::frame::Route;
use crate::config::Gid;

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

impl Address {
    /// Whether a packet for QP `dest_qp` on this route is for the device: by LID where the link has LIDs, else by
    /// GID and its type.
    #[must_use]
    pub fn accepts(&self, route: &Route, dest_qp: u32) -> bool {
        self.qpns.contains(&dest_qp)
            && match (route.dlid, &route.grh) {
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
