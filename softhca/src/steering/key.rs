//! Match keys: a frame's headers in the layout of the PRM, so that a match is a comparison of bytes under a mask.

use super::registers::Registers;
use crate::ethernet::{Headers, L4, SERVICE_VLAN};

/// Bytes of one set of match parameters. The device knows three of the first four: of the outer headers
/// (`fte_match_set_lyr_2_4`), others (`fte_match_set_misc`), and of registers (`fte_match_set_misc2`). The third covers
/// inner headers.
const SET: usize = 64;
/// Sets in a key.
const SETS: usize = 4;
/// First bit of the second set.
const M: usize = SET * 8;
/// First bit of the fourth set.
const M2: usize = 3 * SET * 8;

/// Fields of a key: first bit, bits. Offsets are those of Linux' `include/linux/mlx5/mlx5_ifc.h`.
mod field {
    use super::{M, M2};

    pub(super) type Field = (usize, usize);
    pub(super) const SMAC: Field = (0x0, 0x30);
    pub(super) const ETHERTYPE: Field = (0x30, 0x10);
    pub(super) const DMAC: Field = (0x40, 0x30);
    pub(super) const FIRST_TAG: Field = (0x70, 0x10);
    pub(super) const IP_PROTOCOL: Field = (0x80, 0x8);
    pub(super) const IP_DSCP_ECN: Field = (0x88, 0x8);
    pub(super) const CVLAN_TAG: Field = (0x90, 0x1);
    pub(super) const SVLAN_TAG: Field = (0x91, 0x1);
    pub(super) const FRAG: Field = (0x92, 0x1);
    pub(super) const IP_VERSION: Field = (0x93, 0x4);
    pub(super) const TCP_FLAGS: Field = (0x97, 0x9);
    pub(super) const TCP_SPORT: Field = (0xa0, 0x10);
    pub(super) const TCP_DPORT: Field = (0xb0, 0x10);
    pub(super) const IPV4_IHL: Field = (0xd0, 0x4);
    pub(super) const TTL_HOPLIMIT: Field = (0xd8, 0x8);
    pub(super) const UDP_SPORT: Field = (0xe0, 0x10);
    pub(super) const UDP_DPORT: Field = (0xf0, 0x10);
    pub(super) const SRC_IP: Field = (0x100, 0x80);
    pub(super) const DST_IP: Field = (0x180, 0x80);
    pub(super) const SOURCE_SQN: Field = (M + 0x8, 0x18);
    pub(super) const SECOND_TAG: Field = (M + 0x40, 0x10);
    pub(super) const SECOND_CVLAN_TAG: Field = (M + 0x60, 0x1);
    pub(super) const SECOND_SVLAN_TAG: Field = (M + 0x62, 0x1);
    pub(super) const IPV6_FLOW_LABEL: Field = (M + 0xec, 0x14);
    pub(super) const METADATA_REG_A: Field = (M2 + 0x180, 0x20);

    /// A register C: the last one comes first.
    pub(super) const fn metadata_reg_c(index: usize) -> Field {
        (M2 + 0x160 - 0x20 * index, 0x20)
    }

    /// All of them. `SOURCE_SQN` and `METADATA_REG_A` are known of frames that this device sends only.
    pub(super) const ALL: [Field; 33] = [
        SMAC,
        ETHERTYPE,
        DMAC,
        FIRST_TAG,
        IP_PROTOCOL,
        IP_DSCP_ECN,
        CVLAN_TAG,
        SVLAN_TAG,
        FRAG,
        IP_VERSION,
        TCP_FLAGS,
        TCP_SPORT,
        TCP_DPORT,
        IPV4_IHL,
        TTL_HOPLIMIT,
        UDP_SPORT,
        UDP_DPORT,
        SRC_IP,
        DST_IP,
        SOURCE_SQN,
        SECOND_TAG,
        SECOND_CVLAN_TAG,
        SECOND_SVLAN_TAG,
        IPV6_FLOW_LABEL,
        METADATA_REG_A,
        metadata_reg_c(0),
        metadata_reg_c(1),
        metadata_reg_c(2),
        metadata_reg_c(3),
        metadata_reg_c(4),
        metadata_reg_c(5),
        metadata_reg_c(6),
        metadata_reg_c(7),
    ];
}

/// A frame's key, or the mask or the value of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(pub(crate) [u8; SETS * SET]);

impl Default for Key {
    fn default() -> Self {
        Self([0; SETS * SET])
    }
}

impl Key {
    /// The key of a frame. `sqn` is the send queue of one that this device sends.
    pub(crate) fn of(headers: &Headers, sqn: u32) -> Self {
        let mut key = Self::default();
        key.put(field::SMAC, number(&headers.source));
        key.put(field::DMAC, number(&headers.destination));
        key.put(field::ETHERTYPE, headers.ether_type.into());
        let places = [
            (field::FIRST_TAG, field::CVLAN_TAG, field::SVLAN_TAG),
            (field::SECOND_TAG, field::SECOND_CVLAN_TAG, field::SECOND_SVLAN_TAG),
        ];
        for (tag, (control, customer, service)) in headers.tags.iter().zip(places) {
            if let Some(tag) = tag {
                key.put(control, tag.control.into());
                key.put(if tag.ether_type == SERVICE_VLAN { service } else { customer }, 1);
            }
        }
        if let Some(ip) = &headers.ip {
            key.put(field::IP_VERSION, ip.version.into());
            key.put(field::IP_PROTOCOL, ip.protocol.into());
            key.put(field::IP_DSCP_ECN, ip.traffic_class.into());
            key.put(field::FRAG, ip.fragment.into());
            key.put(field::IPV4_IHL, ip.words.into());
            key.put(field::TTL_HOPLIMIT, ip.ttl.into());
            key.put(field::SRC_IP, number(&ip.source));
            key.put(field::DST_IP, number(&ip.destination));
            key.put(field::IPV6_FLOW_LABEL, ip.flow_label.into());
        }
        if let Some(ports) = &headers.ports {
            let (source, destination) = match ports.l4 {
                L4::Tcp { flags, .. } => {
                    key.put(field::TCP_FLAGS, flags.into());
                    (field::TCP_SPORT, field::TCP_DPORT)
                }
                L4::Udp => (field::UDP_SPORT, field::UDP_DPORT),
            };
            key.put(source, ports.source.into());
            key.put(destination, ports.destination.into());
        }
        key.put(field::SOURCE_SQN, sqn.into());
        key
    }

    /// The key of a frame that has these registers. Rules match A and C.
    pub(super) fn with_registers(mut self, registers: &Registers) -> Self {
        self.put(field::METADATA_REG_A, registers.a.into());
        for (index, value) in registers.c.into_iter().enumerate() {
            self.put(field::metadata_reg_c(index), value.into());
        }
        self
    }

    /// The bits that a mask can have.
    pub(crate) fn supported() -> Self {
        let mut key = Self::default();
        for (at, width) in field::ALL {
            key.put((at, width), u128::MAX);
        }
        key
    }

    /// The bits under a mask.
    pub(crate) fn masked(&self, mask: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & mask.0[at]))
    }

    /// The first byte in which there are bits that `permitted` does not have.
    pub(crate) fn outside(&self, permitted: &Self) -> Option<usize> {
        self.0.iter().zip(&permitted.0).position(|(bits, permitted)| bits & !permitted != 0)
    }

    fn put(&mut self, (at, width): field::Field, value: u128) {
        if value == 0 {
            return;
        }
        for bit in 0..width {
            let place = at + width - 1 - bit;
            self.0[place / 8] |= u8::from(value >> bit & 1 != 0) << (7 - place % 8);
        }
    }
}

fn number(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_header_of_linux_has_them() {
        // A tagged TCP packet; offsets in bytes of fte_match_set_lyr_2_4 and, 64 later, fte_match_set_misc.
        let mut frame =
            vec![2, 0, 0, 0, 0, 0xdd, 2, 0, 0, 0, 0, 0x55, 0x88, 0xa8, 0xa1, 0x23, 0x81, 0, 0x0f, 0xff, 8, 0];
        frame.extend([0x45, 0xb9, 0, 40, 0, 0, 0, 0, 63, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0x12, 0x34, 0x56, 0x78, 0, 0, 0, 1, 0, 0, 0, 2, 0x51, 0x12, 1, 0, 0, 0, 0, 0]);
        let registers = Registers { a: 0x0405_0607, b: u32::MAX, c: [0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17] };
        let key = Key::of(&Headers::of(&frame).expect("headers"), 0x0001_0203).with_registers(&registers).0;
        let mut expected = [0; 256];
        expected[..16].copy_from_slice(&[2, 0, 0, 0, 0, 0x55, 8, 0, 2, 0, 0, 0, 0, 0xdd, 0xa1, 0x23]);
        // ip_protocol, dscp and ecn; svlan_tag (bit 0x91), ip_version 4 (bits 0x93 to 0x96), tcp_flags (0x97 to 0x9f).
        expected[16..20].copy_from_slice(&[6, 0xb9, 0b0100_1001, 0x12]);
        expected[20..32].copy_from_slice(&[0x12, 0x34, 0x56, 0x78, 0, 0, 0x50, 63, 0, 0, 0, 0]);
        expected[32 + 12..32 + 16].copy_from_slice(&[10, 0, 0, 1]);
        expected[48 + 12..48 + 16].copy_from_slice(&[10, 0, 0, 2]);
        expected[64 + 1..64 + 4].copy_from_slice(&[1, 2, 3]);
        expected[64 + 8..64 + 10].copy_from_slice(&[0x0f, 0xff]);
        expected[64 + 12] = 0x80;
        // Behind four words of MPLS: the registers C, the last one first, then A.
        for (index, place) in expected[192 + 16..192 + 48].chunks_mut(4).enumerate() {
            place.copy_from_slice(&[0, 0, 0, 0x17 - index as u8]);
        }
        expected[192 + 48..192 + 52].copy_from_slice(&[4, 5, 6, 7]);
        assert_eq!(key, expected);
        assert_eq!(Key(key).outside(&Key::supported()), None);
    }

    #[test]
    fn what_the_device_does_not_know_is_no_part_of_a_mask() {
        let supported = Key::supported();
        // Reserved bits of the first set, GRE's of the second one, inner headers, MPLS, and the bits after register A.
        for at in [24, 25, 64, 64 + 16, 128, 192 + 12, 192 + 52] {
            let mut mask = Key::default();
            mask.0[at] = 0x80;
            assert_eq!(mask.outside(&supported), Some(at));
        }
        let bits: usize = field::ALL.iter().map(|(_, width)| width).sum();
        let set: u32 = supported.0.iter().map(|byte| byte.count_ones()).sum();
        assert_eq!(set as usize, bits, "no two fields share a bit");
    }
}
