//! What the specifications of a flow say, as a kernel reads them (Linux `drivers/infiniband/core/uverbs_cmd.c`,
//! `kern_spec_to_ib_spec`) and as mlx5_ib turns them into fields (`drivers/infiniband/hw/mlx5/fs.c`, `parse_flow_attr`).

use crate::abi::frames::FlowSpecHeader;
use crate::abi::mailbox::{Field, field};
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
    /// Of headers inside of a tunnel.
    pub(super) const INNER: u32 = 0x100;
    pub(super) const TAG: u32 = 0x1000;
    pub(super) const DROP: u32 = 0x1001;
    pub(super) const HANDLE: u32 = 0x1002;
    pub(super) const COUNT: u32 = 0x1003;
}

/// Fields of `fte_match_set_lyr_2_4`; sets for outer and inner headers.
const SMAC: usize = 0x0;
const ETHERTYPE: Field = field(0x30, 16);
const DMAC: usize = 0x8;
const FIRST_TAG: Field = field(0x70, 16);
const IP_PROTOCOL: Field = field(0x80, 8);
const IP_DSCP_ECN: Field = field(0x88, 8);
const CVLAN_TAG: Field = field(0x90, 1);
const IP_VERSION: Field = field(0x93, 4);
const TCP_PORTS: [Field; 2] = [field(0xa0, 16), field(0xb0, 16)];
const UDP_PORTS: [Field; 2] = [field(0xe0, 16), field(0xf0, 16)];
const SOURCE_IP: usize = 0x20;
const DESTINATION_IP: usize = 0x30;
const INNER_HEADERS: usize = 0x80;
/// Of `fte_match_set_misc`, which is the second set.
const GRE_PROTOCOL: Field = field(0x270, 16);
const GRE_KEY: usize = 0x50;
const VXLAN_VNI: Field = field(0x2a0, 24);
const FLOW_LABELS: [Field; 2] = [field(0x2ec, 20), field(0x30c, 20)];
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

/// What a flow matches, and what it does besides.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) matching: FlowMatch,
    pub(super) tag: Option<u32>,
    pub(super) drops: bool,
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
        kind::TAG | kind::DROP if body.len() == expected => Ok(Spec { kind, value: body, mask: &[] }),
        kind::HANDLE if body.len() != expected => Err(Errno::EOPNOTSUPP),
        // Nobody can have made such objects.
        kind::HANDLE | kind::COUNT if body.len() == expected => Err(Errno::ENOENT),
        _ => Err(Errno::EINVAL),
    }
}

/// One that says what frames have.
fn filter(kind: u32, body: &[u8]) -> Result<Spec<'_>, Errno> {
    let len = body.len() / 2;
    if !len.is_multiple_of(4) || len == 0 || kind == kind::INNER | kind::VXLAN {
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

/// A number of up to 4 bytes in a filter; what is missing of it is 0.
fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    (at..at + len).fold(0, |number, at| number << 8 | u64::from(bytes.get(at).copied().unwrap_or(0)))
}

/// Bytes of a filter, or zeros.
fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes.get(at + index).copied().unwrap_or(0))
}

impl Spec<'_> {
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
            put(FLOW_LABELS[usize::from(spec.inner())], label);
            matching.add_bytes(SOURCE_IP + set, &part::<16>(spec.mask, 0), &part::<16>(spec.value, 0));
            matching.add_bytes(DESTINATION_IP + set, &part::<16>(spec.mask, 16), &part::<16>(spec.value, 16));
            add_protocol(matching, of_set(IP_PROTOCOL), spec.both(36, 1))?;
        }
        kind::TCP | kind::UDP => {
            let tcp = spec.kind & !kind::INNER == kind::TCP;
            let (protocol, [source, destination]) =
                if tcp { (PROTOCOL_TCP, TCP_PORTS) } else { (PROTOCOL_UDP, UDP_PORTS) };
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
        _ => return Err(Errno::EINVAL),
    }
    Ok(())
}
