//! Flows as verbs take them, in the form of tables: a group has the mask, a rule the value.

use std::sync::Arc;

use blueflame::flow::{Fields, Flow, FlowKind, IpFields, L4, Masked};

use super::rule::{Destination, FlowRule};
use super::table::{FlowGroup, FlowTable, MatchCriteria};
use crate::caps::CapMode;
use crate::check::in_range;
use crate::cmd::{FlowTableNicCap, FteMatchParam, FteMatchSetLyr24};
use crate::context::Context;
use crate::error::Error;
use crate::mailbox::Structure;
use crate::object::simple::FlowCounter;

/// EtherTypes of IP (IEEE 802 numbers).
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;

impl FlowGroup {
    /// Makes a group of the entries `first` to `last` of the table, for rules that match the fields of `flow`, whatever
    /// their values: [`FlowRule::of_flow`].
    ///
    /// # Errors
    /// [`Error::Setup`], [`Error::KernelOnly`] for a flow without fields of its own, and as [`new`](Self::new).
    pub fn of_flow(table: &FlowTable, first: u32, last: u32, flow: &Flow) -> Result<Self, Error> {
        let [_, mask] = matched(table.object().context(), flow)?;
        let outer = mask.outer_headers().as_bytes().iter().any(|&byte| byte != 0);
        let criteria = MatchCriteria { outer_headers: outer, ..MatchCriteria::default() };
        Self::new(table, first, last, criteria, &mask)
    }
}

impl FlowRule {
    /// Puts a rule for `flow` at entry `index`, with the flow's tag. It sends packets to all of `to`; if the flow drops
    /// them, `to` is empty.
    ///
    /// The group has the mask of `flow` ([`FlowGroup::of_flow`]). The entry's place in the table decides which rule
    /// comes first, so the flow has no priority.
    ///
    /// # Errors
    /// [`Error::Setup`], [`Error::KernelOnly`], [`Error::Foreign`] if the group has another mask, and as
    /// [`new`](Self::new).
    pub fn of_flow(
        group: &FlowGroup,
        index: u32,
        flow: &Flow,
        to: &[Destination<'_>],
        counter: Option<&Arc<FlowCounter>>,
    ) -> Result<Self, Error> {
        let [value, mask] = matched(group.table().object().context(), flow)?;
        if group.mask() != &mask {
            return Err(Error::Foreign { object: "group", of: "set of fields" });
        }
        let allowed = if flow.drops() { 0..=0 } else { 1..=64 };
        in_range("destinations of a flow", to.len() as u64, allowed)?;
        Self::tagged(group, index, flow.asked_flow_tag().unwrap_or(0), &value, to, counter)
    }
}

/// The value and the mask of a flow.
fn matched(context: &Context, flow: &Flow) -> Result<[FteMatchParam; 2], Error> {
    if flow.kind() != FlowKind::Fields {
        return Err(Error::KernelOnly { what: "default or sniffer" });
    }
    if flow.goes_on() {
        return Err(Error::KernelOnly { what: "further rule for the same packets" });
    }
    in_range("priority of a flow in a table", flow.asked_priority(), 0..=0)?;
    let fields = flow.fields()?;
    let caps = context.capabilities::<FlowTableNicCap>(CapMode::Current)?;
    // As Linux' driver chooses (`drivers/infiniband/hw/mlx5/fs.c`, `parse_flow_attr`).
    let by_version = caps.flow_table_properties_nic_receive().ft_field_support().outer_ip_version();
    let mut sides = [FteMatchParam::zeroed(), FteMatchParam::zeroed()];
    for (side, headers) in sides.iter_mut().enumerate() {
        fill(headers.outer_headers_mut(), &fields, side == 1, by_version);
    }
    Ok(sides)
}

/// Writes the values of fields, or their masks.
fn fill(to: &mut FteMatchSetLyr24, fields: &Fields, masks: bool, by_version: bool) {
    /// Which of both is written.
    fn of<T>(masks: bool, field: Masked<T>) -> T {
        if masks { field.mask } else { field.value }
    }
    let halves = |[a, b, c, d, e, f]: [u8; 6]| (u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f]));
    let ((dmac, dmac_end), (smac, smac_end)) =
        (halves(of(masks, fields.destination_mac)), halves(of(masks, fields.source_mac)));
    to.set_dmac_47_16(dmac).set_dmac_15_0(dmac_end).set_smac_47_16(smac).set_smac_15_0(smac_end);
    to.set_ethertype(of(masks, fields.ether_type));
    if fields.vlan.mask != 0 {
        let tag = of(masks, fields.vlan);
        to.set_cvlan_tag(true).set_first_prio((tag >> 13) as u8).set_first_cfi(tag >> 12 & 1 != 0);
        to.set_first_vid(tag & 0xfff);
    }
    if let Some(ip) = &fields.ip {
        let (version, ether_type, protocol, class) = match *ip {
            IpFields::V4 { source, destination, protocol, traffic_class } => {
                to.src_ipv4_src_ipv6_mut()[12..].copy_from_slice(&of(masks, source).octets());
                to.dst_ipv4_dst_ipv6_mut()[12..].copy_from_slice(&of(masks, destination).octets());
                (4, ETHERTYPE_IPV4, protocol, traffic_class)
            }
            IpFields::V6 { source, destination, protocol, traffic_class } => {
                *to.src_ipv4_src_ipv6_mut() = of(masks, source).octets();
                *to.dst_ipv4_dst_ipv6_mut() = of(masks, destination).octets();
                (6, ETHERTYPE_IPV6, protocol, traffic_class)
            }
        };
        if by_version {
            to.set_ip_version(if masks { 0xf } else { version });
        } else {
            to.set_ethertype(if masks { u16::MAX } else { ether_type });
        }
        let class = of(masks, class);
        to.set_ip_protocol(of(masks, protocol)).set_ip_dscp(class >> 2).set_ip_ecn(class & 3);
    }
    if let Some(ports) = &fields.ports {
        let (source, destination) = (of(masks, ports.source), of(masks, ports.destination));
        match ports.l4 {
            L4::Tcp => to.set_tcp_sport(source).set_tcp_dport(destination),
            L4::Udp => to.set_udp_sport(source).set_udp_dport(destination),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    fn bytes(flow: Flow, by_version: bool) -> [Vec<u8>; 2] {
        let fields = flow.fields().expect("no contradiction");
        [false, true].map(|masks| {
            let mut headers = FteMatchSetLyr24::zeroed();
            fill(&mut headers, &fields, masks, by_version);
            headers.as_bytes().to_vec()
        })
    }

    /// `fte_match_set_lyr_2_4` byte by byte (Linux `include/linux/mlx5/mlx5_ifc.h`). Source MAC: 0. EtherType: 6.
    /// Destination MAC: 8. VLAN tag: 14. Protocol, traffic class, flags with version: 16. Ports of TCP: 20. Ports of
    /// UDP: 28. Addresses: 32 and 48.
    #[test]
    fn fields_are_where_the_device_looks() {
        let flow = Flow::udp(Ipv4Addr::new(239, 1, 2, 3), 5001)
            .destination_mac([1, 0, 0x5e, 1, 2, 3])
            .source_mac([2, 3, 4, 5, 6, 7])
            .vlan_tag(0xb123)
            .traffic_class(0xba)
            .source(Masked::prefix(Ipv4Addr::new(10, 1, 2, 3).into(), 16))
            .source_port(Masked::new(0x1234, 0xff00));
        let [value, mask] = bytes(flow, true);
        let mut expected = [[0; 64]; 2];
        expected[0][..18].copy_from_slice(&[2, 3, 4, 5, 6, 7, 0, 0, 1, 0, 0x5e, 1, 2, 3, 0xb1, 0x23, 17, 0xba]);
        expected[0][18] = 0b1000_1000;
        expected[0][28..32].copy_from_slice(&[0x12, 0, 0x13, 0x89]);
        expected[0][44..48].copy_from_slice(&[10, 1, 0, 0]);
        expected[0][60..64].copy_from_slice(&[239, 1, 2, 3]);
        expected[1][..6].fill(0xff);
        expected[1][8..18].fill(0xff);
        expected[1][18] = 0b1001_1110;
        expected[1][28..32].copy_from_slice(&[0xff, 0, 0xff, 0xff]);
        expected[1][44..46].fill(0xff);
        expected[1][60..64].fill(0xff);
        assert_eq!((&*value, &*mask), (&expected[0][..], &expected[1][..]));

        let [value, mask] = bytes(flow, false);
        assert_eq!((&value[6..8], value[18], &mask[6..8], mask[18]), (&[8, 0][..], 0x80, &[0xff; 2][..], 0x80));
        let [value, mask] = bytes(Flow::tcp(Ipv6Addr::LOCALHOST, 443), false);
        assert_eq!(
            (&value[6..8], &value[20..24], value[16], value[63]),
            (&[0x86, 0xdd][..], &[0, 0, 1, 0xbb][..], 6, 1)
        );
        assert_eq!(
            (&mask[20..24], &mask[32..48], &mask[48..]),
            (&[0, 0, 0xff, 0xff][..], &[0; 16][..], &[0xff; 16][..])
        );
    }
}
