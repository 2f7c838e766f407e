//! Sizes of frames on a cable, and packets counted by them.

use super::{crc, infiniband, network};
use crate::config::GidType;
use crate::ethernet::ETHERNET_HEADER;
use crate::wire::frame::Route;

/// Longest frames of the classes of sizes that are counted, with check sequence (RFC 2819, `etherStatsPkts64Octets` and
/// so on).
pub const SIZES: [u64; 10] = [64, 127, 255, 511, 1023, 1518, 2047, 4095, 8191, 10239];

/// Bytes of the shortest frame on a cable, and of a frame check sequence.
const SHORTEST: u64 = 60;
const FCS: u64 = 4;

/// Packets of the transport that are counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// How many.
    pub packets: u64,
    /// Their bytes, from BTH to padding.
    pub bytes: u64,
    /// Bytes of their frames, without check sequences.
    pub octets: u64,
    /// Bytes of their frames on a cable, with check sequences, where short ones are padded.
    pub on_cable: u64,
    /// Packets by size: see [`SIZES`].
    pub sizes: [u64; SIZES.len()],
}

impl Packets {
    /// Counts `count` packets of `bytes` bytes along `route`.
    pub fn add(&mut self, route: &Route, bytes: usize, count: u64) {
        let octets = octets(route, bytes) as u64;
        self.packets += count;
        self.bytes += count * bytes as u64;
        self.octets += count * octets;
        self.on_cable += count * on_cable(octets);
        if let Some(class) = class(on_cable(octets)) {
            self.sizes[class] += count;
        }
    }

    /// Counts these, too. Another process may say how many, so any number is possible.
    pub fn add_all(&mut self, other: &Self) {
        let Self { packets, bytes, octets, on_cable, sizes } = other;
        let pairs = [(&mut self.packets, packets), (&mut self.bytes, bytes)];
        let more = [(&mut self.octets, octets), (&mut self.on_cable, on_cable)];
        for (sum, count) in pairs.into_iter().chain(more).chain(self.sizes.iter_mut().zip(sizes)) {
            *sum = sum.wrapping_add(*count);
        }
    }
}

/// Bytes on a cable, without the check sequence of an Ethernet frame and the VCRC, of a packet that has `packet` bytes
/// from BTH to padding. A VLAN tag does not count.
pub(crate) fn octets(route: &Route, packet: usize) -> usize {
    let headers = match &route.grh {
        None => infiniband::LRH,
        Some(grh) => {
            let link = match grh.kind {
                GidType::InfiniBand => infiniband::LRH,
                GidType::RoceV1 | GidType::RoceV2 => ETHERNET_HEADER,
            };
            link + network::bytes(grh)
        }
    };
    headers + packet + crc::ICRC
}

/// Bytes on the cable of a frame of `len` bytes without its check sequence.
pub(crate) fn on_cable(len: u64) -> u64 {
    len.max(SHORTEST) + FCS
}

/// The class of sizes of a frame with so many bytes on the cable.
pub(crate) fn class(octets: u64) -> Option<usize> {
    SIZES.iter().position(|&longest| octets <= longest)
}
