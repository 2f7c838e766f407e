//! The fields that rules modify, by the numbers of the PRM.
//!
//! Numbers: Linux `include/linux/mlx5/mlx5_ifc.h`, `MLX5_ACTION_IN_FIELD_*`; DPDK `drivers/common/mlx5/mlx5_prm.h`,
//! `enum mlx5_modification_field`. Widths: rdma-core `providers/mlx5/dr_ste_v0.c`, `dr_ste_v0_action_modify_field_arr`,
//! and, of the VLAN, DPDK `drivers/net/mlx5/mlx5_flow_dv.c`, `modify_vlan_out_first_vid`.

use super::table::Direction;
use crate::ethernet::{Bits, Header};

/// A field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its number.
    pub(crate) number: u16,
    /// Its bits, at most 32.
    pub(crate) width: u8,
    pub(super) place: Place,
}

/// Where a field is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the first of these headers that a frame has.
    Headers(&'static [Bits]),
    /// In the register that the WQE of an egress frame begins with.
    RegisterA,
    /// In the register that goes into a received frame's CQE.
    RegisterB,
    /// In one of the registers that rules alone use.
    RegisterC(usize),
}

impl Field {
    /// The field of a number.
    pub(crate) fn of(number: u16) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.number == number)
    }

    /// Whether frames of a direction have it: register A leaves with a frame, B arrives with it (rdma-core
    /// `providers/mlx5/dr_action.c`, `dr_action_modify_check_field_limitation_set`).
    pub(crate) fn is_of(&self, direction: Direction) -> bool {
        match self.place {
            Place::RegisterA => direction == Direction::Transmit,
            Place::RegisterB => direction == Direction::Receive,
            Place::Headers(_) | Place::RegisterC(_) => true,
        }
    }
}

const fn bits(header: Header, at: usize, width: u8) -> Bits {
    Bits { header, at, width }
}

/// A field of headers, all of the same width.
const fn header(number: u16, places: &'static [Bits]) -> Field {
    Field { number, width: places[0].width, place: Place::Headers(places) }
}

const fn register(number: u16, place: Place) -> Field {
    Field { number, width: 32, place }
}

/// All of them.
#[rustfmt::skip]
const FIELDS: &[Field] = &[
    header(0x01, &[bits(Header::Stations, 48, 32)]),
    header(0x02, &[bits(Header::Stations, 80, 16)]),
    header(0x03, &[bits(Header::EtherType, 0, 16)]),
    header(0x04, &[bits(Header::Stations, 0, 32)]),
    header(0x05, &[bits(Header::Stations, 32, 16)]),
    header(0x06, &[bits(Header::Ipv4, 8, 6), bits(Header::Ipv6, 4, 6)]),
    header(0x07, &[bits(Header::Tcp, 103, 9)]),
    header(0x08, &[bits(Header::Tcp, 0, 16)]),
    header(0x09, &[bits(Header::Tcp, 16, 16)]),
    header(0x0a, &[bits(Header::Ipv4, 64, 8)]),
    header(0x0b, &[bits(Header::Udp, 0, 16)]),
    header(0x0c, &[bits(Header::Udp, 16, 16)]),
    header(0x0d, &[bits(Header::Ipv6, 64, 32)]),
    header(0x0e, &[bits(Header::Ipv6, 96, 32)]),
    header(0x0f, &[bits(Header::Ipv6, 128, 32)]),
    header(0x10, &[bits(Header::Ipv6, 160, 32)]),
    header(0x11, &[bits(Header::Ipv6, 192, 32)]),
    header(0x12, &[bits(Header::Ipv6, 224, 32)]),
    header(0x13, &[bits(Header::Ipv6, 256, 32)]),
    header(0x14, &[bits(Header::Ipv6, 288, 32)]),
    header(0x15, &[bits(Header::Ipv4, 96, 32)]),
    header(0x16, &[bits(Header::Ipv4, 128, 32)]),
    header(0x17, &[bits(Header::FirstTag, 4, 12)]),
    header(0x47, &[bits(Header::Ipv6, 56, 8)]),
    register(0x49, Place::RegisterA),
    register(0x50, Place::RegisterB),
    register(0x51, Place::RegisterC(0)),
    register(0x52, Place::RegisterC(1)),
    register(0x53, Place::RegisterC(2)),
    register(0x54, Place::RegisterC(3)),
    register(0x55, Place::RegisterC(4)),
    register(0x56, Place::RegisterC(5)),
    register(0x57, Place::RegisterC(6)),
    register(0x58, Place::RegisterC(7)),
    header(0x59, &[bits(Header::Tcp, 32, 32)]),
    header(0x5b, &[bits(Header::Tcp, 64, 32)]),
    header(0x73, &[bits(Header::Ipv4, 14, 2), bits(Header::Ipv6, 10, 2)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_once_and_in_order_and_places_are_as_wide_as_fields() {
        assert!(FIELDS.windows(2).all(|pair| pair[0].number < pair[1].number));
        for field in FIELDS {
            if let Place::Headers(places) = field.place {
                assert!(places.iter().all(|place| place.width == field.width), "{:#x}", field.number);
            }
        }
        // Inner headers (0x31 on), and numbers between.
        for number in [0, 0x18, 0x31, 0x48, 0x4a, 0x5a, 0x5c, 0x74, 0xfff] {
            assert_eq!(Field::of(number), None, "{number:#x}");
        }
    }

    #[test]
    fn registers_a_and_b_have_a_direction() {
        let directions = |number| Direction::ALL.map(|direction| Field::of(number).unwrap().is_of(direction));
        assert_eq!(directions(0x49), [false, true, false, false]);
        assert_eq!(directions(0x50), [true, false, false, false]);
        assert_eq!((directions(0x58), directions(0x16)), ([true; 4], [true; 4]));
    }
}
