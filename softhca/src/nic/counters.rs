//! Counters of the frames that enter and leave through the function's port.

use crate::ethernet::Headers;
use crate::resources::Traffic;

/// Frames in one direction, by kind of destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortCounters {
    pub(crate) unicast: Traffic,
    pub(crate) multicast: Traffic,
    pub(crate) broadcast: Traffic,
    /// Packets of the transport; all are to one station.
    pub(crate) transport: Traffic,
}

impl PortCounters {
    /// Counts a frame of `octets` bytes.
    pub(super) fn add(&mut self, headers: &Headers, octets: u64) {
        let traffic = match (headers.is_broadcast(), headers.is_multicast()) {
            (true, _) => &mut self.broadcast,
            (_, true) => &mut self.multicast,
            _ => &mut self.unicast,
        };
        traffic.add(octets);
    }
}
