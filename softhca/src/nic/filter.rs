//! The filter for frames that enter the function's port: by their destination, as a driver has set it in the vport's
//! context.

use crate::ethernet::Headers;

/// Most stations, groups and VLANs in the lists, as log2.
pub(crate) const LOG_MAX_UNICAST: u8 = 7;
pub(crate) const LOG_MAX_MULTICAST: u8 = 11;
pub(crate) const LOG_MAX_VLANS: u8 = 12;

/// An Ethernet address.
pub(crate) type Mac = [u8; 6];

/// The filter. A new one lets everything in, because programs without a kernel's driver do not set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AddressFilter {
    /// Frames to any one station, to any group, and all frames.
    pub(crate) any_unicast: bool,
    pub(crate) any_multicast: bool,
    pub(crate) any: bool,
    /// Stations and groups besides the port's own address and all stations.
    pub(crate) unicast: Vec<Mac>,
    pub(crate) multicast: Vec<Mac>,
    /// VLANs that the driver receives. The port knows none that are kept from it, so this says nothing of frames.
    pub(crate) vlans: Vec<u16>,
}

impl Default for AddressFilter {
    fn default() -> Self {
        let (unicast, multicast, vlans) = (Vec::new(), Vec::new(), Vec::new());
        Self { any_unicast: true, any_multicast: true, any: true, unicast, multicast, vlans }
    }
}

impl AddressFilter {
    /// Whether a frame comes in at a port with the address `own`.
    pub(crate) fn admits(&self, headers: &Headers, own: Mac) -> bool {
        let to = headers.destination;
        if self.any || headers.is_broadcast() {
            return true;
        }
        if headers.is_multicast() {
            self.any_multicast || self.multicast.contains(&to)
        } else {
            self.any_unicast || to == own || self.unicast.contains(&to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_let_in_as_the_driver_says() {
        let headers = |to: Mac| Headers::of(&[&to[..], &[2, 0, 0, 0, 0, 9, 8, 6]].concat()).expect("headers");
        let (own, other, group) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [1, 0, 0x5e, 0, 0, 1]);
        let all = [own, other, group, [0xff; 6]];
        let admitted = |filter: &AddressFilter| all.map(|to| filter.admits(&headers(to), own));
        assert_eq!(admitted(&AddressFilter::default()), [true; 4]);
        let none = AddressFilter { any_unicast: false, any_multicast: false, any: false, ..AddressFilter::default() };
        assert_eq!(admitted(&none), [true, false, false, true]);
        assert_eq!(admitted(&AddressFilter { unicast: vec![other], ..none.clone() }), [true, true, false, true]);
        assert_eq!(admitted(&AddressFilter { multicast: vec![group], ..none.clone() }), [true, false, true, true]);
        // An address is in its own kind of list only.
        assert_eq!(admitted(&AddressFilter { unicast: vec![group], ..none.clone() }), [true, false, false, true]);
        assert_eq!(admitted(&AddressFilter { any_unicast: true, ..none.clone() }), [true, true, false, true]);
        assert_eq!(admitted(&AddressFilter { any_multicast: true, ..none }), [true, false, true, true]);
    }
}
