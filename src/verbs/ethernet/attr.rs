//! A flow in the form of verbs: `struct ibv_flow_attr`, and its specifications behind it (`verbs.h`).

use core::mem::{offset_of, size_of};

use blueflame_sys as sys;

use super::counters::FlowCounters;
use crate::flow::{Fields, Flow, FlowKind, IpFields, L4, Masked, PortFields};
use crate::setup::SetupError;
use crate::verbs::Error;
use crate::verbs::error::in_range;

/// Bytes of the longest flow: Ethernet, IPv6, ports, tag, drop and counters.
const MOST: usize = size_of::<sys::ibv_flow_attr>()
    + size_of::<sys::ibv_flow_spec_eth>()
    + size_of::<sys::ibv_flow_spec_ipv6>()
    + size_of::<sys::ibv_flow_spec_tcp_udp>()
    + size_of::<sys::ibv_flow_spec_action_tag>()
    + size_of::<sys::ibv_flow_spec_action_drop>()
    + size_of::<sys::ibv_flow_spec_counter_action>();

/// The greatest priority number (Linux `drivers/infiniband/hw/mlx5/mlx5_ib.h`, `MLX5_IB_FLOW_LAST_PRIO`). The kernel
/// answers `ENOMEM` beyond.
const LAST_PRIORITY: u64 = 15;

/// A flow as `ibv_create_flow` takes it. [`Qp::steer`](crate::verbs::Qp::steer) makes one; other code needs it for
/// calls of its own.
///
/// MAC addresses come first, then IP, then ports, then actions: Linux looks at the first to see whether a flow is a
/// group's (`drivers/infiniband/hw/mlx5/fs.c`, `flow_is_multicast_only`). A specification without fields is left out.
#[doc(alias = "ibv_flow_attr")]
#[derive(Clone, Debug)]
#[repr(C, align(8))]
pub struct FlowAttr {
    bytes: [u8; MOST],
    len: usize,
}

/// Where a specification has its value and its mask.
struct Places {
    kind: sys::ibv_flow_spec_type,
    size: usize,
    value: usize,
    mask: usize,
}

macro_rules! places {
    ($spec:ident, $kind:ident) => {
        Places {
            kind: sys::$kind,
            size: size_of::<sys::$spec>(),
            value: offset_of!(sys::$spec, val),
            mask: offset_of!(sys::$spec, mask),
        }
    };
}

impl FlowAttr {
    /// The attributes of a flow on a port, from 1. The port only matters where one device represents several (Linux
    /// `fs.c`, `is_rep`).
    ///
    /// # Errors
    /// [`Error::Setup`], [`Error::OutOfRange`] for a priority.
    pub fn new(flow: &Flow, port: u8) -> Result<Self, Error> {
        in_range("priority of a flow", flow.asked_priority().into(), 0..=LAST_PRIORITY)?;
        let fields = flow.fields()?;
        let mut attr = Self { bytes: [0; MOST], len: size_of::<sys::ibv_flow_attr>() };
        let specs = attr.add_all(flow, &fields);
        let kind = match flow.kind() {
            FlowKind::Fields => sys::IBV_FLOW_ATTR_NORMAL,
            FlowKind::AllDefault => sys::IBV_FLOW_ATTR_ALL_DEFAULT,
            FlowKind::MulticastDefault => sys::IBV_FLOW_ATTR_MC_DEFAULT,
            FlowKind::Sniffer => sys::IBV_FLOW_ATTR_SNIFFER,
        };
        let flags = if flow.goes_on() { sys::IBV_FLOW_ATTR_FLAGS_DONT_TRAP } else { 0 };
        attr.put(offset_of!(sys::ibv_flow_attr, r#type), &kind.to_ne_bytes());
        attr.put(offset_of!(sys::ibv_flow_attr, size), &(attr.len as u16).to_ne_bytes());
        attr.put(offset_of!(sys::ibv_flow_attr, priority), &flow.asked_priority().to_ne_bytes());
        attr.put(offset_of!(sys::ibv_flow_attr, num_of_specs), &[specs]);
        attr.put(offset_of!(sys::ibv_flow_attr, port), &[port]);
        attr.put(offset_of!(sys::ibv_flow_attr, flags), &flags.to_ne_bytes());
        Ok(attr)
    }

    /// Encodes the flow, and has these counters count the frames. The bytes then have their address, so the counters
    /// must outlive the flow that is made of them.
    ///
    /// # Errors
    /// [`SetupError::FlowWhole`] of a flow without fields of its own: Linux would count nothing
    /// (`drivers/infiniband/hw/mlx5/fs.c`, `create_leftovers_rule`, `create_sniffer_rule`).
    #[doc(alias = "ibv_flow_spec_counter_action")]
    pub fn counted(flow: &Flow, port: u8, counters: &FlowCounters) -> Result<Self, Error> {
        type Count = sys::ibv_flow_spec_counter_action;
        let mut attr = Self::new(flow, port)?;
        if flow.kind() != FlowKind::Fields {
            return Err(SetupError::FlowWhole { what: "counter" }.into());
        }
        let start = attr.begin(sys::IBV_FLOW_SPEC_ACTION_COUNT, size_of::<Count>());
        let address = counters.as_raw().expose_provenance();
        attr.put(start + offset_of!(Count, counters), &address.to_ne_bytes());
        attr.put(offset_of!(sys::ibv_flow_attr, size), &(attr.len as u16).to_ne_bytes());
        attr.bytes[offset_of!(sys::ibv_flow_attr, num_of_specs)] += 1;
        Ok(attr)
    }

    /// The attributes and the specifications, aligned to 8 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// For calls. The callee does not write there.
    pub(in crate::verbs) fn as_mut_ptr(&mut self) -> *mut sys::ibv_flow_attr {
        self.bytes.as_mut_ptr().cast()
    }

    /// Appends the specifications; how many they are.
    fn add_all(&mut self, flow: &Flow, fields: &Fields) -> u8 {
        let filters = [
            Some((places!(ibv_flow_spec_eth, IBV_FLOW_SPEC_ETH), ethernet(fields))),
            fields.ip.as_ref().map(|ip| match ip {
                IpFields::V4 { .. } => (places!(ibv_flow_spec_ipv4_ext, IBV_FLOW_SPEC_IPV4_EXT), address(ip)),
                IpFields::V6 { .. } => (places!(ibv_flow_spec_ipv6, IBV_FLOW_SPEC_IPV6), address(ip)),
            }),
            fields.ports.as_ref().map(|ports| match ports.l4 {
                L4::Tcp => (places!(ibv_flow_spec_tcp_udp, IBV_FLOW_SPEC_TCP), transport(ports)),
                L4::Udp => (places!(ibv_flow_spec_tcp_udp, IBV_FLOW_SPEC_UDP), transport(ports)),
            }),
        ];
        let mut specs = 0;
        for (at, (places, [value, mask])) in filters.into_iter().enumerate().filter_map(|(at, it)| Some((at, it?))) {
            // An Ethernet filter without fields says nothing; filters for IP and ports name the protocol.
            if at == 0 && mask == [0; LONGEST] {
                continue;
            }
            let start = self.begin(places.kind, places.size);
            self.put(start + places.value, &value[..places.mask - places.value]);
            self.put(start + places.mask, &mask[..places.mask - places.value]);
            specs += 1;
        }
        if let Some(tag) = flow.asked_flow_tag() {
            type Tag = sys::ibv_flow_spec_action_tag;
            let start = self.begin(sys::IBV_FLOW_SPEC_ACTION_TAG, size_of::<Tag>());
            self.put(start + offset_of!(Tag, tag_id), &tag.to_ne_bytes());
            specs += 1;
        }
        if flow.drops() {
            let size = size_of::<sys::ibv_flow_spec_action_drop>();
            self.begin(sys::IBV_FLOW_SPEC_ACTION_DROP, size);
            specs += 1;
        }
        specs
    }

    /// Appends a specification without fields; where it begins.
    fn begin(&mut self, kind: sys::ibv_flow_spec_type, size: usize) -> usize {
        type Any = sys::ibv_flow_spec_action_drop;
        let start = self.len;
        self.len += size;
        self.put(start + offset_of!(Any, r#type), &kind.to_ne_bytes());
        self.put(start + offset_of!(Any, size), &(size as u16).to_ne_bytes());
        start
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

/// Bytes of the longest filter, that of IPv6.
const LONGEST: usize = size_of::<sys::ibv_flow_ipv6_filter>();

/// The bytes of a filter: value, then mask. Zeros follow a shorter one.
type Filter = [[u8; LONGEST]; 2];

/// Value and mask.
fn both<T>(field: Masked<T>) -> [T; 2] {
    [field.value, field.mask]
}

/// A filter of these parts, in order.
fn filter(parts: &[[&[u8]; 2]]) -> Filter {
    let mut filter = [[0; LONGEST]; 2];
    for (side, bytes) in filter.iter_mut().enumerate() {
        let mut at = 0;
        for part in parts {
            bytes[at..at + part[side].len()].copy_from_slice(part[side]);
            at += part[side].len();
        }
    }
    filter
}

/// References to the bytes of value and mask.
fn sides<const N: usize>([value, mask]: &[[u8; N]; 2]) -> [&[u8]; 2] {
    [value, mask]
}

/// `struct ibv_flow_eth_filter`.
fn ethernet(fields: &Fields) -> Filter {
    let ether_type = both(fields.ether_type).map(u16::to_be_bytes);
    let vlan = both(fields.vlan).map(u16::to_be_bytes);
    let (destination, source) = (both(fields.destination_mac), both(fields.source_mac));
    filter(&[sides(&destination), sides(&source), sides(&ether_type), sides(&vlan)])
}

/// `struct ibv_flow_ipv4_ext_filter`, whose TTL and flags no mlx5 device matches, or `struct ibv_flow_ipv6_filter`.
fn address(ip: &IpFields) -> Filter {
    match *ip {
        IpFields::V4 { source, destination, protocol, traffic_class } => {
            let [source, destination] = [source, destination].map(|it| both(it).map(|address| address.octets()));
            let [protocol, class] = [protocol, traffic_class].map(|it| both(it).map(|byte| [byte]));
            filter(&[sides(&source), sides(&destination), sides(&protocol), sides(&class)])
        }
        IpFields::V6 { source, destination, protocol, traffic_class } => {
            let [source, destination] = [source, destination].map(|it| both(it).map(|address| address.octets()));
            let [protocol, class] = [protocol, traffic_class].map(|it| both(it).map(|byte| [byte]));
            const LABEL: [[u8; 4]; 2] = [[0; 4]; 2];
            filter(&[sides(&source), sides(&destination), sides(&LABEL), sides(&protocol), sides(&class)])
        }
    }
}

/// `struct ibv_flow_tcp_udp_filter`.
fn transport(ports: &PortFields) -> Filter {
    let [destination, source] = [ports.destination, ports.source].map(|port| both(port).map(u16::to_be_bytes));
    filter(&[sides(&destination), sides(&source)])
}
