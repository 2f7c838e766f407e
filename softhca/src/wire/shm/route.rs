//! The route of a packet, as bytes in a ring.
//!
//! ```text
//! 0 source LID u16   2 destination LID u16   4 SL u8   5 GID type u8 (0: no GRH)   6 traffic class u8   7 hop limit u8
//! 8 flow label u32   12 source GID   28 destination GID   44 source MAC   50 destination MAC   56 UDP source port u16
//! 58 6 bytes of 0
//! ```

use crate::config::GidType;
use crate::wire::frame::{Grh, Macs, Route};

/// Bytes of a route.
pub(super) const ROUTE_BYTES: usize = 64;

/// The number of a GID's type. 0 is none.
fn gid_type_code(kind: GidType) -> u8 {
    match kind {
        GidType::InfiniBand => 1,
        GidType::RoceV1 => 2,
        GidType::RoceV2 => 3,
    }
}

/// The GID type of a number that [`gid_type_code`] made.
fn gid_type(code: u8) -> Option<GidType> {
    [GidType::InfiniBand, GidType::RoceV1, GidType::RoceV2].into_iter().find(|&kind| gid_type_code(kind) == code)
}

/// The bytes of a route.
pub(super) fn bytes(route: &Route) -> [u8; ROUTE_BYTES] {
    let mut bytes = [0; ROUTE_BYTES];
    bytes[..2].copy_from_slice(&route.slid.to_ne_bytes());
    bytes[2..4].copy_from_slice(&route.dlid.to_ne_bytes());
    bytes[4] = route.sl;
    if let Some(grh) = &route.grh {
        bytes[5] = gid_type_code(grh.kind);
        bytes[6] = grh.traffic_class;
        bytes[7] = grh.hop_limit;
        bytes[8..12].copy_from_slice(&grh.flow_label.to_ne_bytes());
        bytes[12..28].copy_from_slice(&grh.sgid);
        bytes[28..44].copy_from_slice(&grh.dgid);
        bytes[56..58].copy_from_slice(&grh.udp_sport.to_ne_bytes());
    }
    bytes[44..50].copy_from_slice(&route.macs.source);
    bytes[50..56].copy_from_slice(&route.macs.destination);
    bytes
}

/// The route that the bytes mean. Any bytes mean one.
pub(super) fn read(bytes: &[u8; ROUTE_BYTES]) -> Route {
    /// The `N` bytes at `at`.
    fn array<const N: usize>(bytes: &[u8; ROUTE_BYTES], at: usize) -> [u8; N] {
        std::array::from_fn(|byte| bytes[at + byte])
    }
    let number = |at| u16::from_ne_bytes(array(bytes, at));
    let grh = gid_type(bytes[5]).map(|kind| Grh {
        kind,
        sgid: array(bytes, 12),
        dgid: array(bytes, 28),
        traffic_class: bytes[6],
        flow_label: u32::from_ne_bytes(array(bytes, 8)) & 0xf_ffff,
        hop_limit: bytes[7],
        udp_sport: number(56),
    });
    let macs = Macs { source: array(bytes, 44), destination: array(bytes, 50) };
    Route { slid: number(0), dlid: number(2), sl: bytes[4], grh, macs }
}
