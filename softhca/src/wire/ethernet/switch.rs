//! A learning switch (IEEE 802.1Q, 8.6 to 8.8): each frame goes to the port where its destination was heard, or to all
//! others. Addresses are learnt apart for each VLAN; every port is in every VLAN.

use std::collections::{HashMap, VecDeque};

use crate::ethernet::{ETHERNET_HEADER, VLAN};

/// Most addresses that are known. Past it, the oldest one is forgotten.
const ADDRESSES: usize = 4096;
/// The VLAN's number in a tag.
const VLAN_ID: u16 = 0xfff;
/// The bit of an address that says that it is a group's.
const GROUP: u8 = 1;

/// An Ethernet address.
type Mac = [u8; 6];

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To this port.
    Port(u32),
    /// To all ports except its own.
    Others,
    /// Nowhere: its destination is behind the port that it came from, or it is no frame.
    Nowhere,
}

/// The addresses behind each port. Ports have any numbers.
#[derive(Clone, Debug, Default)]
pub struct Switch {
    ports: HashMap<(u16, Mac), u32>,
    /// The known addresses, the oldest first.
    order: VecDeque<(u16, Mac)>,
}

impl Switch {
    /// Learns from a frame that came from port `from`, and says where it goes.
    pub fn pass(&mut self, from: u32, frame: &[u8]) -> Way {
        let Some((destination, source, vlan)) = addresses(frame) else { return Way::Nowhere };
        if source[0] & GROUP == 0 {
            self.learn((vlan, source), from);
        }
        match self.ports.get(&(vlan, destination)) {
            Some(&port) if port == from => Way::Nowhere,
            Some(&port) => Way::Port(port),
            None => Way::Others,
        }
    }

    /// Port `port` is gone.
    pub fn forget(&mut self, port: u32) {
        self.ports.retain(|_, known| *known != port);
        self.order.retain(|address| self.ports.contains_key(address));
    }

    fn learn(&mut self, address: (u16, Mac), port: u32) {
        if self.ports.insert(address, port).is_none() {
            self.order.push_back(address);
            if self.order.len() > ADDRESSES {
                if let Some(oldest) = self.order.pop_front() {
                    self.ports.remove(&oldest);
                }
            }
        }
    }
}

/// Destination, source and VLAN of a frame. A frame without a tag, or with one for priority alone, is in VLAN 0.
fn addresses(frame: &[u8]) -> Option<(Mac, Mac, u16)> {
    let header: &[u8; ETHERNET_HEADER] = frame.first_chunk()?;
    let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, e0, e1] = *header;
    let vlan = match u16::from_be_bytes([e0, e1]) {
        VLAN => u16::from_be_bytes(*frame[ETHERNET_HEADER..].first_chunk()?) & VLAN_ID,
        _ => 0,
    };
    Some(([d0, d1, d2, d3, d4, d5], [s0, s1, s2, s3, s4, s5], vlan))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: u8, from: u8, vlan: Option<u16>) -> Vec<u8> {
        let tag = vlan.map(|vlan| [VLAN.to_be_bytes(), vlan.to_be_bytes()].concat()).unwrap_or_default();
        [&[2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from][..], &tag, &[8, 6]].concat()
    }

    #[test]
    fn addresses_are_learnt_from_their_frames() {
        let mut switch = Switch::default();
        assert_eq!(switch.pass(1, &frame(9, 5, None)), Way::Others);
        assert_eq!(switch.pass(2, &frame(5, 9, None)), Way::Port(1));
        assert_eq!(switch.pass(1, &frame(9, 5, None)), Way::Port(2));
        assert_eq!(switch.pass(2, &frame(9, 7, None)), Way::Nowhere);
        // It moves.
        assert_eq!(switch.pass(3, &frame(9, 5, None)), Way::Port(2));
        assert_eq!(switch.pass(2, &frame(5, 9, None)), Way::Port(3));
        switch.forget(3);
        assert_eq!(switch.pass(2, &frame(5, 9, None)), Way::Others);
    }

    #[test]
    fn vlans_are_apart_and_groups_reach_all() {
        let mut switch = Switch::default();
        switch.pass(1, &frame(9, 5, Some(7)));
        assert_eq!(switch.pass(2, &frame(5, 9, None)), Way::Others);
        assert_eq!(switch.pass(2, &frame(5, 9, Some(8))), Way::Others);
        assert_eq!(switch.pass(2, &frame(5, 9, Some(7 | 0xe000))), Way::Port(1));
        // A tag for priority alone is no VLAN.
        switch.pass(4, &frame(9, 6, None));
        assert_eq!(switch.pass(2, &frame(6, 9, Some(0xa000))), Way::Port(4));
        let group = [&[1, 0, 0x5e, 0, 0, 1, 3, 0, 0, 0, 0, 1][..], &[8, 0]].concat();
        assert_eq!(switch.pass(2, &group), Way::Others);
        // A group is nobody's address.
        assert_eq!(switch.pass(1, &[&[3, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 5][..], &[8, 0]].concat()), Way::Others);
    }

    #[test]
    fn what_is_no_frame_goes_nowhere_and_the_oldest_address_is_forgotten() {
        let mut switch = Switch::default();
        for bytes in [&[][..], &[2; 13], &frame(1, 2, None)[..12], &[&frame(1, 2, None)[..12], &[0x81, 0]].concat()] {
            assert_eq!(switch.pass(1, bytes), Way::Nowhere);
        }
        for number in 0..=ADDRESSES as u32 {
            let [.., a, b] = number.to_be_bytes();
            switch.pass(1, &[&[0xff; 6][..], &[2, 0, 0, 0, a, b], &[8, 6]].concat());
        }
        assert_eq!(switch.ports.len(), ADDRESSES);
        assert_eq!(switch.pass(2, &frame(0, 9, None)), Way::Others);
        assert_eq!(switch.pass(2, &frame(1, 9, None)), Way::Port(1));
    }
}
