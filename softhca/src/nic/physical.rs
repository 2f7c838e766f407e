//! Counters of the cable: frames of Ethernet queues, and packets of the transport with the headers that they have
//! there.

use crate::ethernet::Headers;
use crate::resources::Traffic;
use crate::wire::Route;
use crate::wire::cable::octets;

/// Priorities of frames (IEEE 802.1Q).
pub(crate) const PRIORITIES: usize = 8;
/// Longest frames of the classes of sizes that are counted, with check sequence (RFC 2819, `etherStatsPkts64Octets` and
/// so on).
pub(crate) const SIZES: [u64; 10] = [64, 127, 255, 511, 1023, 1518, 2047, 4095, 8191, 10239];

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
    /// Packets by size, as [`Passed::sizes`].
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

/// Bytes on the cable of a frame of `len` bytes without its check sequence.
fn on_cable(len: u64) -> u64 {
    len.max(SHORTEST) + FCS
}

/// The class of sizes of a frame with so many bytes on the cable.
fn class(octets: u64) -> Option<usize> {
    SIZES.iter().position(|&longest| octets <= longest)
}

/// Counters of the frames in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// All frames; bytes are those on the cable, with check sequences.
    pub(crate) all: Traffic,
    pub(crate) multicast: u64,
    pub(crate) broadcast: u64,
    /// By size, see [`SIZES`].
    pub(crate) sizes: [u64; SIZES.len()],
    /// Counts for each priority in the frames' tags; frames without a tag have priority 0.
    pub(crate) priorities: [Traffic; PRIORITIES],
    /// Longer than the port permits: lost.
    pub(crate) too_long: u64,
    /// No room was left for them: lost.
    pub(crate) no_room: u64,
}

impl Passed {
    /// Counts a frame of `len` bytes without its check sequence.
    pub(crate) fn add_frame(&mut self, headers: &Headers, len: u64) {
        self.broadcast += u64::from(headers.is_broadcast());
        self.multicast += u64::from(headers.is_multicast() && !headers.is_broadcast());
        let priority = headers.tags[0].map_or(0, |tag| tag.control >> 13);
        self.add(len, usize::from(priority));
    }

    /// Counts a packet of the transport.
    pub(crate) fn add_packet(&mut self, route: &Route, packet: usize) {
        self.add(octets(route, packet) as u64, usize::from(route.sl));
    }

    /// Counts packets of the transport, all along `route`. Another process may say how many, so any number is possible.
    pub(crate) fn add_packets(&mut self, route: &Route, packets: &Packets) {
        for traffic in [&mut self.all, &mut self.priorities[usize::from(route.sl) % PRIORITIES]] {
            traffic.add_many(packets.packets, packets.on_cable);
        }
        self.sizes.iter_mut().zip(packets.sizes).for_each(|(size, count)| *size = size.wrapping_add(count));
    }

    fn add(&mut self, len: u64, priority: usize) {
        let octets = on_cable(len);
        self.all.add(octets);
        self.priorities[priority % PRIORITIES].add(octets);
        if let Some(class) = class(octets) {
            self.sizes[class] += 1;
        }
    }
}

/// Both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhysicalCounters {
    pub(crate) received: Passed,
    pub(crate) transmitted: Passed,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GidType;
    use crate::wire::{Grh, Macs};

    #[test]
    fn frames_are_counted_as_on_a_cable() {
        let mut passed = Passed::default();
        let headers = |bytes: &[u8]| Headers::of(bytes).expect("headers");
        let untagged = headers(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 6]);
        let tagged = headers(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 2, 0x81, 0, 0xa0, 5, 8, 6]);
        for (headers, len) in [(&untagged, 42), (&untagged, 60), (&tagged, 61), (&untagged, 1514), (&untagged, 1515)] {
            passed.add_frame(headers, len);
        }
        assert_eq!(passed.all, Traffic { packets: 5, octets: 64 + 64 + 65 + 1518 + 1519 });
        assert_eq!(passed.sizes, [2, 1, 0, 0, 0, 1, 1, 0, 0, 0]);
        assert_eq!((passed.multicast, passed.broadcast), (0, 1));
        assert_eq!(passed.priorities[5], Traffic { packets: 1, octets: 65 });
        assert_eq!(passed.priorities[0].packets, 4);
    }

    #[test]
    fn packets_have_their_headers() {
        let packet = |kind, dgid| {
            let grh = Grh { kind, sgid: dgid, dgid, traffic_class: 0, flow_label: 0, hop_limit: 1 };
            Route { slid: 0, dlid: 0, sl: 3, grh: Some(grh), macs: Macs::default() }
        };
        let ipv4 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1];
        for (kind, dgid, octets) in
            [(GidType::RoceV1, [9; 16], 162), (GidType::RoceV2, [9; 16], 170), (GidType::RoceV2, ipv4, 150)]
        {
            let mut passed = Passed::default();
            passed.add_packet(&packet(kind, dgid), 100);
            assert_eq!(passed.priorities[3], Traffic { packets: 1, octets });
        }
    }
}
