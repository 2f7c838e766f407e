//! Counters of the port's Ethernet traffic.

use crate::ethernet::Headers;

/// Frames of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) packets: u64,
    /// Bytes, without frame check sequences.
    pub(crate) octets: u64,
}

/// Frames in one direction, by whom they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortCounters {
    pub(crate) unicast: Traffic,
    pub(crate) multicast: Traffic,
    pub(crate) broadcast: Traffic,
}

impl PortCounters {
    /// Counts a frame of `octets` bytes.
    pub(super) fn add(&mut self, headers: &Headers, octets: u64) {
        let traffic = match (headers.is_broadcast(), headers.is_multicast()) {
            (true, _) => &mut self.broadcast,
            (_, true) => &mut self.multicast,
            _ => &mut self.unicast,
        };
        traffic.packets += 1;
        traffic.octets += octets;
    }
}
