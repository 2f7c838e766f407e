//! Counters of the cable: frames of Ethernet queues, and packets of the transport with the headers that they have
//! there.

use crate::ethernet::Headers;
use crate::resources::Traffic;
use crate::wire::Route;
use crate::wire::cable::{Packets, SIZES, class, octets, on_cable};

/// Priorities of frames (IEEE 802.1Q).
pub(crate) const PRIORITIES: usize = 8;

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
            let grh = Grh { kind, sgid: dgid, dgid, traffic_class: 0, flow_label: 0, hop_limit: 1, udp_sport: 0 };
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
