//! The specifications of a flow, as a kernel reads them (Linux `drivers/infiniband/core/uverbs_cmd.c`,
//! `kern_spec_to_ib_spec`) and as mlx5_ib turns them into fields (`drivers/infiniband/hw/mlx5/fs.c`,
//! `parse_flow_attr`).

use crate::abi::frames::FlowSpecHeader;
use crate::abi::mailbox::{Field, field, fields};
use crate::device::FlowMatch;
use crate::process::Errno;
use zerocopy::FromBytes;

/// `enum ib_flow_spec_type`.
pub(super) mod kind {
    pub(in crate::commands) const ETH: u32 = 0x20;
    pub(in crate::commands) const IPV4: u32 = 0x30;
    pub(super) const IPV6: u32 = 0x31;
    pub(super) const ESP: u32 = 0x34;
    pub(super) const TCP: u32 = 0x40;
    pub(super) const UDP: u32 = 0x41;
    pub(super) const VXLAN: u32 = 0x50;
    pub(super) const GRE: u32 = 0x51;
    pub(super) const MPLS: u32 = 0x60;
    /// For headers inside a tunnel.
    pub(super) const INNER: u32 = 0x100;
    pub(super) const TAG: u32 = 0x1000;
    pub(super) const DROP: u32 = 0x1001;
    pub(super) const HANDLE: u32 = 0x1002;
    pub(super) const COUNT: u32 = 0x1003;
}

fields! {
    // Fields of both sets of headers.
    ETHERTYPE: 0x30, 16 = "fte_match_param.outer_headers.ethertype";
    IP_PROTOCOL: 0x80, 8 = "fte_match_param.outer_headers.ip_protocol";
    CVLAN_TAG: 0x90, 1 = "fte_match_param.outer_headers.cvlan_tag";
    IP_VERSION: 0x93, 4 = "fte_match_param.outer_headers.ip_version";
    TCP_SPORT: 0xa0, 16 = "fte_match_param.outer_headers.tcp_sport";
    TCP_DPORT: 0xb0, 16 = "fte_match_param.outer_headers.tcp_dport";
    UDP_SPORT: 0xe0, 16 = "fte_match_param.outer_headers.udp_sport";
    UDP_DPORT: 0xf0, 16 = "fte_match_param.outer_headers.udp_dport";
    GRE_PROTOCOL: 0x270, 16 = "fte_match_param.misc_parameters.gre_protocol";
    VXLAN_VNI: 0x2a0, 24 = "fte_match_param.misc_parameters.vxlan_vni";
    OUTER_FLOW_LABEL: 0x2ec, 20 = "fte_match_param.misc_parameters.outer_ipv6_flow_label";
    INNER_FLOW_LABEL: 0x30c, 20 = "fte_match_param.misc_parameters.inner_ipv6_flow_label";
}
/// Fields of `fte_match_set_lyr_2_4`; sets for outer and inner headers.
const SMAC: usize = 0x0;
const DMAC: usize = 0x8;
const FIRST_TAG: Field = field(0x70, 16);
const IP_DSCP_ECN: Field = field(0x88, 8);
const SOURCE_IP: usize = 0x20;
const DESTINATION_IP: usize = 0x30;
const INNER_HEADERS: usize = 0x80;
/// Of `fte_match_set_misc`, which is the second set.
const GRE_KEY: usize = 0x50;
/// Of `fte_match_set_misc2`, the fourth.
const MPLS_LABEL: usize = 0xc0;

const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const PROTOCOL_GRE: u8 = 47;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const ETHERTYPES_MPLS: [u16; 2] = [0x8847, 0x8848];

/// A specification: its kind, and the bytes of value and mask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec<'a> {
    pub(super) kind: u32,
    pub(super) value: &'a [u8],
    pub(super) mask: &'a [u8],
}

/// The matches of a flow, and its further effects.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) matching: FlowMatch,
    pub(super) tag: Option<u32>,
    pub(super) drops: bool,
    /// Whether frames are counted.
    pub(super) counts: bool,
}

/// Bytes of a filter as the kernel knows it, by its kind.
fn filter_bytes(kind: u32) -> Result<usize, Errno> {
    match kind & !kind::INNER {
        kind::ETH => Ok(16),
        kind::IPV4 => Ok(12),
        // Packed: less than a program's, which has a reserved byte at the end.
        kind::IPV6 => Ok(39),
        kind::TCP | kind::UDP | kind::VXLAN | kind::MPLS => Ok(4),
        kind::ESP | kind::GRE => Ok(8),
        _ => Err(Errno::EINVAL),
    }
}

/// Reads `count` specifications, which fill `bytes`.
pub(super) fn read(mut bytes: &[u8], count: u8) -> Result<Vec<Spec<'_>>, Errno> {
    let mut specs = Vec::new();
    for _ in 0..count {
        let (header, _) = FlowSpecHeader::read_from_prefix(bytes).map_err(|_| Errno::EINVAL)?;
        let body = bytes.get(size_of::<FlowSpecHeader>()..header.size.into()).ok_or(Errno::EINVAL)?;
        if header.reserved != 0 {
            return Err(Errno::EINVAL);
        }
        let kind = header.spec_type;
        let spec = if kind >= kind::TAG { act(kind, body)? } else { filter(kind, body)? };
        specs.push(spec);
        bytes = &bytes[header.size.into()..];
    }
    if bytes.is_empty() { Ok(specs) } else { Err(Errno::EINVAL) }
}

/// One that says what to do.
fn act(kind: u32, body: &[u8]) -> Result<Spec<'_>, Errno> {
    let expected = if kind == kind::DROP { 0 } else { 8 };
    match kind {
        kind::TAG | kind::DROP | kind::COUNT if body.len() == expected => Ok(Spec { kind, value: body, mask: &[] }),
        kind::HANDLE if body.len() != expected => Err(Errno::EOPNOTSUPP),
        // No program has such an object.
        kind::HANDLE if body.len() == expected => Err(Errno::ENOENT),
        _ => Err(Errno::EINVAL),
    }
}

/// One that says what frames have.
fn filter(kind: u32, body: &[u8]) -> Result<Spec<'_>, Errno> {
    let len = body.len() / 2;
    if len % 4 != 0 || len == 0 || kind == kind::INNER | kind::VXLAN {
        return Err(Errno::EINVAL);
    }
    let known = filter_bytes(kind)?.min(len);
    let (value, mask) = (&body[..len], &body[len..2 * len]);
    // A program may know more fields than this, if it does not use them.
    if mask[known..].iter().any(|&byte| byte != 0) {
        return Err(Errno::EINVAL);
    }
    Ok(Spec { kind, value: &value[..known], mask: &mask[..known] })
}

/// A number of up to 4 bytes in a filter; missing bytes are 0.
fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    (at..at + len).fold(0, |number, at| number << 8 | u64::from(bytes.get(at).copied().unwrap_or(0)))
}

/// Bytes of a filter, or zeros.
fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes.get(at + index).copied().unwrap_or(0))
}

impl Spec<'_> {
    /// The handle of counters, if the specification names them.
    pub(super) fn counters(&self) -> Option<u32> {
        (self.kind == kind::COUNT).then(|| u32::from_ne_bytes(part(self.value, 0)))
    }

    fn inner(&self) -> bool {
        self.kind & kind::INNER != 0
    }

    /// A number of mask and value.
    fn both(&self, at: usize, len: usize) -> (u64, u64) {
        (number(self.mask, at, len), number(self.value, at, len))
    }

    /// Whether the mask of an Ethernet address has the bit of groups, and the value.
    fn is_to_groups(&self) -> bool {
        number(self.mask, 0, 1) & number(self.value, 0, 1) & 1 != 0
    }
}

/// Whether specifications can match frames for groups of stations only (`flow_is_multicast_only`).
pub(super) fn is_multicast_only(specs: &[Spec<'_>]) -> bool {
    match specs.first() {
        Some(spec) if spec.kind == kind::IPV4 => number(spec.value, 4, 1) & 0xf0 == 0xe0,
        Some(spec) if spec.kind == kind::ETH => spec.is_to_groups(),
        _ => false,
    }
}

/// Whether an EtherType that is asked for fits the kind of IP that is (`is_valid_ethertype`).
fn is_valid_ethertype(specs: &[Spec<'_>], inner: bool) -> bool {
    let (mut ethertype, mut ip) = (None, None);
    for spec in specs.iter().filter(|spec| spec.inner() == inner) {
        match spec.kind & !kind::INNER {
            kind::ETH if spec.both(12, 2).0 != 0 => ethertype = Some(spec.both(12, 2)),
            kind::IPV4 => ip = Some(ETHERTYPE_IPV4),
            kind::IPV6 => ip = Some(ETHERTYPE_IPV6),
            _ => {}
        }
    }
    match (ethertype, ip) {
        (Some((0xffff, found)), Some(expected)) => {
            let found = found as u16;
            found == expected || ETHERTYPES_MPLS.contains(&found)
        }
        (Some(_), Some(_)) => false,
        _ => true,
    }
}

/// What specifications say.
pub(super) fn parse(specs: &[Spec<'_>]) -> Result<Parsed, Errno> {
    if !is_valid_ethertype(specs, false) || !is_valid_ethertype(specs, true) {
        return Err(Errno::EINVAL);
    }
    let mut parsed = Parsed::default();
    for spec in specs {
        add(&mut parsed, spec)?;
    }
    Ok(parsed)
}

/// IPv4's and IPv6's protocol, which several specifications may say, all the same (`set_proto`).
fn add_protocol(matching: &mut FlowMatch, place: Field, (mask, value): (u64, u64)) -> Result<(), Errno> {
    let (old_mask, old_value) = (place.get(&*matching.mask), place.get(&*matching.value));
    if mask == 0 || (old_mask, old_value) == (mask, value) {
        return Ok(());
    }
    if old_mask != 0 {
        return Err(Errno::EINVAL);
    }
    matching.add(place, mask, value);
    Ok(())
}

fn add(parsed: &mut Parsed, spec: &Spec<'_>) -> Result<(), Errno> {
    let set = if spec.inner() { INNER_HEADERS } else { 0 };
    let of_set = |place: Field| field(place.at + set * 8, place.width);
    let matching = &mut parsed.matching;
    let mut put = |place: Field, (mask, value): (u64, u64)| matching.add(place, mask, value);
    let supported = |bytes: &[u8]| if bytes.iter().any(|&byte| byte != 0) { Err(Errno::EOPNOTSUPP) } else { Ok(()) };
    let rest = |from: usize| spec.mask.get(from..).unwrap_or(&[]);
    match spec.kind & !kind::INNER {
        kind::ETH => {
            put(of_set(ETHERTYPE), spec.both(12, 2));
            let tag = spec.both(14, 2);
            if tag.0 != 0 {
                put(of_set(CVLAN_TAG), (1, 1));
                put(of_set(FIRST_TAG), tag);
            }
            matching.add_bytes(DMAC + set, &part::<6>(spec.mask, 0), &part::<6>(spec.value, 0));
            matching.add_bytes(SMAC + set, &part::<6>(spec.mask, 6), &part::<6>(spec.value, 6));
        }
        kind::IPV4 => {
            // Neither time to live nor flags.
            supported(rest(10))?;
            put(of_set(IP_VERSION), (0xf, 4));
            put(of_set(IP_DSCP_ECN), spec.both(9, 1));
            let last = 12 + set;
            matching.add_bytes(SOURCE_IP + last, &part::<4>(spec.mask, 0), &part::<4>(spec.value, 0));
            matching.add_bytes(DESTINATION_IP + last, &part::<4>(spec.mask, 4), &part::<4>(spec.value, 4));
            add_protocol(matching, of_set(IP_PROTOCOL), spec.both(8, 1))?;
        }
        kind::IPV6 => {
            let label = spec.both(32, 4);
            if label.0 >> 20 != 0 || label.1 >> 20 != 0 {
                return Err(Errno::EINVAL);
            }
            // No hop limit.
            supported(rest(38))?;
            put(of_set(IP_VERSION), (0xf, 6));
            put(of_set(IP_DSCP_ECN), spec.both(37, 1));
            put([OUTER_FLOW_LABEL, INNER_FLOW_LABEL][usize::from(spec.inner())], label);
            matching.add_bytes(SOURCE_IP + set, &part::<16>(spec.mask, 0), &part::<16>(spec.value, 0));
            matching.add_bytes(DESTINATION_IP + set, &part::<16>(spec.mask, 16), &part::<16>(spec.value, 16));
            add_protocol(matching, of_set(IP_PROTOCOL), spec.both(36, 1))?;
        }
        kind::TCP | kind::UDP => {
            let tcp = spec.kind & !kind::INNER == kind::TCP;
            let (protocol, [source, destination]) =
                if tcp { (PROTOCOL_TCP, [TCP_SPORT, TCP_DPORT]) } else { (PROTOCOL_UDP, [UDP_SPORT, UDP_DPORT]) };
            put(of_set(destination), spec.both(0, 2));
            put(of_set(source), spec.both(2, 2));
            add_protocol(matching, of_set(IP_PROTOCOL), (0xff, protocol.into()))?;
        }
        kind::GRE => {
            supported(&part::<2>(spec.mask, 0))?;
            put(GRE_PROTOCOL, spec.both(2, 2));
            matching.add_bytes(GRE_KEY, &part::<4>(spec.mask, 4), &part::<4>(spec.value, 4));
            add_protocol(matching, of_set(IP_PROTOCOL), (0xff, PROTOCOL_GRE.into()))?;
        }
        kind::VXLAN => {
            let vni = spec.both(0, 4);
            if vni.0 >> 24 != 0 || vni.1 >> 24 != 0 {
                return Err(Errno::EINVAL);
            }
            put(VXLAN_VNI, vni);
        }
        // The device says that it matches no part of a label.
        kind::MPLS => {
            supported(spec.mask)?;
            matching.add_bytes(MPLS_LABEL, &[], &part::<4>(spec.value, 0));
        }
        kind::ESP => return Err(Errno::EOPNOTSUPP),
        kind::TAG => {
            let word = |at: usize| u32::from_ne_bytes(part(spec.value, at));
            if word(0) >> 24 != 0 {
                return Err(Errno::EINVAL);
            }
            parsed.tag = Some(word(0));
        }
        kind::DROP => parsed.drops = true,
        // One at most.
        kind::COUNT if !parsed.counts => parsed.counts = true,
        _ => return Err(Errno::EINVAL),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::mailbox::linux::known;

    /// A specification: header, value, mask.
    fn spec(kind: u32, value: &[u8], mask: &[u8]) -> Vec<u8> {
        let size = (size_of::<FlowSpecHeader>() + value.len() + mask.len()) as u16;
        [&kind.to_ne_bytes()[..], &size.to_ne_bytes(), &[0; 2], value, mask].concat()
    }

    fn parsed(bytes: &[u8], count: u8) -> Result<Parsed, Errno> {
        parse(&read(bytes, count)?)
    }

    #[test]
    fn fields_are_where_linux_has_them() {
        let outer = |name: &str| known(&format!("fte_match_param.outer_headers.{name}"));
        // Of several fields, the first.
        let places = [FIRST_TAG.at, IP_DSCP_ECN.at, SMAC * 8, DMAC * 8, SOURCE_IP * 8, DESTINATION_IP * 8];
        let names = ["first_prio", "ip_dscp", "smac_47_16", "dmac_47_16", "src_ipv4_src_ipv6", "dst_ipv4_dst_ipv6"];
        assert_eq!(places, names.map(|name| outer(name).at));
        let misc = |name: &str| known(&format!("fte_match_param.misc_parameters.{name}"));
        assert_eq!(GRE_KEY * 8, misc("gre_key").at);
        assert_eq!(INNER_HEADERS * 8, known("fte_match_param.inner_headers").at);
        assert_eq!(MPLS_LABEL * 8, known("fte_match_param.misc_parameters_2").at);
    }

    #[test]
    fn values_and_masks_go_to_their_fields() {
        let mac = [2, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 8, 0, 0xa0, 5];
        let mac_mask = [255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 255, 255, 0xef, 255];
        let ip = [10, 0, 0, 1, 10, 0, 0, 2, 17, 0xb9, 0, 0];
        let ip_mask = [0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 0, 0];
        let bytes = [
            spec(kind::ETH, &mac, &mac_mask),
            spec(kind::IPV4, &ip.map(|byte| byte), &ip_mask),
            spec(kind::UDP, &[0, 53, 0, 0], &[255, 255, 0, 0]),
            spec(kind::TAG, &[&0xabcd_u32.to_ne_bytes()[..], &[0; 4]].concat(), &[]),
        ]
        .concat();
        let found = parsed(&bytes, 4).unwrap();
        assert_eq!((found.tag, found.drops, found.matching.sets()), (Some(0xabcd), false, 1));
        let (mask, value) = (&found.matching.mask[..0x40], &found.matching.value[..0x40]);
        assert_eq!(mask[..16], [0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0xef, 255]);
        assert_eq!(value[..16], [0, 0, 0, 0, 0, 0, 8, 0, 2, 0, 0, 0, 0, 9, 0xa0, 5]);
        // Protocol, DSCP and ECN; cvlan_tag (bit 0x90) and ip_version 4 (bits 0x93 to 0x96).
        assert_eq!((&mask[16..19], &value[16..19]), (&[255, 255, 0b1001_1110][..], &[17, 0xb9, 0b1000_1000][..]));
        assert_eq!((&mask[0x1e..0x20], &value[0x1e..0x20]), (&[255, 255][..], &[0, 53][..]));
        assert_eq!((&mask[0x3c..], &value[0x3c..]), (&[255; 4][..], &[10, 0, 0, 2][..]));
        assert_eq!((&mask[0x2c..0x30], parsed(&spec(kind::DROP, &[], &[]), 1).unwrap().drops), (&[0; 4][..], true));
    }

    #[test]
    fn what_linux_refuses_is_refused() {
        let zeros = [0; 64];
        let refused = |bytes: &[u8], count| parsed(bytes, count).unwrap_err();
        let filter = |kind, len: usize, mask: (usize, u8)| {
            let mut bytes = zeros;
            bytes[mask.0] = mask.1;
            spec(kind, &zeros[..len], &bytes[..len])
        };
        // Time to live, flags, and the hop limit have no support; reserved bytes have no meaning.
        assert_eq!(refused(&filter(kind::IPV4, 12, (10, 1)), 1), Errno::EOPNOTSUPP);
        assert_eq!(refused(&filter(kind::IPV4, 12, (11, 1)), 1), Errno::EOPNOTSUPP);
        assert_eq!(refused(&filter(kind::IPV6, 40, (38, 1)), 1), Errno::EOPNOTSUPP);
        assert_eq!(refused(&filter(kind::IPV6, 40, (39, 1)), 1), Errno::EINVAL);
        assert_eq!(refused(&filter(kind::IPV6, 40, (32, 1)), 1), Errno::EINVAL, "a flow label of 25 bits");
        assert_eq!(refused(&filter(kind::ESP, 8, (0, 1)), 1), Errno::EOPNOTSUPP);
        assert_eq!(refused(&filter(kind::GRE, 8, (0, 1)), 1), Errno::EOPNOTSUPP);
        assert_eq!(refused(&filter(kind::MPLS, 4, (0, 1)), 1), Errno::EOPNOTSUPP);
        assert_eq!(refused(&filter(kind::VXLAN, 4, (0, 1)), 1), Errno::EINVAL, "a VNI of 25 bits");
        assert_eq!(refused(&filter(kind::VXLAN | kind::INNER, 4, (3, 1)), 1), Errno::EINVAL);
        // A program that knows more fields may not use them; one that knows fewer leaves them open.
        assert!(parsed(&filter(kind::TCP, 8, (0, 1)), 1).is_ok());
        assert_eq!(refused(&filter(kind::TCP, 8, (4, 1)), 1), Errno::EINVAL);
        assert!(parsed(&filter(kind::ETH, 8, (0, 1)), 1).is_ok());
        for kind in [0, 0x21, 0x22, 0x35, 0x42, 0x70, 0x1004, u32::MAX] {
            assert_eq!(refused(&spec(kind, &zeros[..8], &zeros[..8]), 1), Errno::EINVAL, "{kind:#x}");
        }
        assert_eq!(refused(&spec(kind::COUNT, &zeros[..4], &[]), 1), Errno::EINVAL);
        let count = spec(kind::COUNT, &[&7_u32.to_ne_bytes()[..], &[0; 4]].concat(), &[]);
        assert!(parsed(&count, 1).unwrap().counts && read(&count, 1).unwrap()[0].counters() == Some(7));
        assert_eq!(refused(&[&count[..], &count].concat(), 2), Errno::EINVAL, "one counter object a flow");
        assert_eq!(refused(&spec(kind::TAG, &zeros[..4], &[]), 1), Errno::EINVAL);
        assert_eq!(refused(&spec(kind::HANDLE, &zeros[..4], &[]), 1), Errno::EOPNOTSUPP);
        // An EtherType, in all of its bits, or none, that fits the packet behind it.
        let typed = |value: [u8; 2], mask: [u8; 2], kind, len| {
            let place = |bytes: [u8; 2]| [&zeros[..12], &bytes, &zeros[..2]].concat();
            [spec(kind::ETH, &place(value), &place(mask)), filter(kind, len, (0, 0))].concat()
        };
        assert!(parsed(&typed([8, 0], [255; 2], kind::IPV4, 12), 2).is_ok());
        assert!(parsed(&typed([0x86, 0xdd], [255; 2], kind::IPV6, 40), 2).is_ok());
        assert!(parsed(&typed([0x88, 0x47], [255; 2], kind::IPV6, 40), 2).is_ok(), "MPLS");
        assert_eq!(refused(&typed([8, 0], [255; 2], kind::IPV6, 40), 2), Errno::EINVAL);
        assert_eq!(refused(&typed([8, 0], [255, 0], kind::IPV4, 12), 2), Errno::EINVAL);
    }

    #[test]
    fn sizes_and_counts_must_fit_the_bytes() {
        let whole = [spec(kind::ETH, &[0; 16], &[0; 16]), spec(kind::TCP, &[0; 4], &[0; 4])].concat();
        assert!(read(&whole, 2).is_ok());
        for (len, count) in [(whole.len(), 1), (whole.len(), 3), (whole.len() - 1, 2), (9, 2), (7, 1), (0, 1)] {
            assert!(read(&whole[..len], count).is_err(), "{len} {count}");
        }
        // Every size that a header can say, and reserved bytes.
        for size in 0..=u16::MAX {
            let mut bytes = whole.clone();
            bytes[4..6].copy_from_slice(&size.to_ne_bytes());
            assert_eq!(read(&bytes, 2).is_ok(), size == 40, "{size}");
        }
        let mut reserved = whole;
        reserved[6] = 1;
        assert!(read(&reserved, 2).is_err());
    }

    #[test]
    fn groups_of_stations_alone_are_told_from_others() {
        let only = |bytes: &[u8]| is_multicast_only(&read(bytes, 1).unwrap());
        let mac = |first: u8, mask: u8| {
            spec(kind::ETH, &[&[first][..], &[0; 15]].concat(), &[&[mask][..], &[0; 15]].concat())
        };
        assert_eq!(
            [only(&mac(1, 1)), only(&mac(3, 255)), only(&mac(2, 255)), only(&mac(1, 2))],
            [true, true, false, false]
        );
        let ip = |first: u8| spec(kind::IPV4, &[&[0; 4][..], &[first], &[0; 7]].concat(), &[0; 12]);
        assert_eq!([only(&ip(239)), only(&ip(10)), is_multicast_only(&[])], [true, false, false]);
    }
}
