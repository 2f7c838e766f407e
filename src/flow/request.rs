//! The flow that an application asks for.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::fields::{Fields, IpFields, L4, PortFields};
use super::masked::Masked;
use crate::setup::SetupError;

/// The kind of a flow (`enum ibv_flow_attr_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKind {
    /// The frames that have the flow's [fields](Flow::fields).
    Fields,
    /// All frames that no rule of another kind takes.
    AllDefault,
    /// Those of them that are for groups of stations.
    MulticastDefault,
    /// A copy of all frames of the port.
    Sniffer,
}

/// The frames that a receiver is to get, and what to do with them.
///
/// Begin with a constructor, and narrow the flow by further fields: a frame must have all of them. Each field takes a
/// value, or a [`Masked`] one of which only some bits count.
///
/// # Which rule takes a frame
///
/// The rule of the least [priority](Self::priority) number. Rules with equal fields and masks at one priority all get
/// the frame. If rules with different fields match it at one priority, the choice is not defined.
///
/// Rules for groups alone come after all priorities, and their own priority has no effect (Linux
/// `drivers/infiniband/hw/mlx5/fs.c`, `get_flow_table`, `flow_is_multicast_only`). These are flows to a group's MAC
/// address, and flows to an IPv4 group without a MAC address, EtherType or VLAN. So a broader rule, for instance for
/// one UDP port of any address, takes the frames of a group's rule. Give the broader rule more fields then. The
/// [defaults](Self::all_default) come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a flow is a value: it needs a receiver"]
pub struct Flow {
    kind: FlowKind,
    destination_mac: Masked<[u8; 6]>,
    source_mac: Masked<[u8; 6]>,
    ether_type: Masked<u16>,
    vlan: Masked<u16>,
    vlan_id: Option<u16>,
    destination: Option<Masked<IpAddr>>,
    source: Option<Masked<IpAddr>>,
    protocol: Masked<u8>,
    traffic_class: Masked<u8>,
    l4: Option<L4>,
    destination_port: Masked<u16>,
    source_port: Masked<u16>,
    priority: u16,
    flow_tag: Option<u32>,
    drops: bool,
    goes_on: bool,
}

impl Flow {
    /// Every frame, until it is narrowed.
    pub fn any() -> Self {
        Self {
            kind: FlowKind::Fields,
            destination_mac: Masked::default(),
            source_mac: Masked::default(),
            ether_type: Masked::default(),
            vlan: Masked::default(),
            vlan_id: None,
            destination: None,
            source: None,
            protocol: Masked::default(),
            traffic_class: Masked::default(),
            l4: None,
            destination_port: Masked::default(),
            source_port: Masked::default(),
            priority: 0,
            flow_tag: None,
            drops: false,
            goes_on: false,
        }
    }

    /// Frames to a station, or to a group of stations.
    pub fn mac(to: impl Into<Masked<[u8; 6]>>) -> Self {
        Self::any().destination_mac(to)
    }

    /// IP packets to an address, or to a group.
    pub fn ip(to: impl Into<Masked<IpAddr>>) -> Self {
        Self::any().destination(to)
    }

    /// UDP datagrams to an address, or a group, and a port.
    pub fn udp(to: impl Into<Masked<IpAddr>>, port: impl Into<Masked<u16>>) -> Self {
        Self { l4: Some(L4::Udp), ..Self::ip(to).destination_port(port) }
    }

    /// TCP segments to an address and a port.
    pub fn tcp(to: impl Into<Masked<IpAddr>>, port: impl Into<Masked<u16>>) -> Self {
        Self { l4: Some(L4::Tcp), ..Self::ip(to).destination_port(port) }
    }

    /// All frames that reach the port and that no rule with fields takes (`IBV_FLOW_ATTR_ALL_DEFAULT`). The kernel's
    /// network interface no longer gets them.
    #[doc(alias = "IBV_FLOW_ATTR_ALL_DEFAULT")]
    pub fn all_default() -> Self {
        Self { kind: FlowKind::AllDefault, ..Self::any() }
    }

    /// All frames for groups of stations that no rule with fields takes (`IBV_FLOW_ATTR_MC_DEFAULT`).
    #[doc(alias = "IBV_FLOW_ATTR_MC_DEFAULT")]
    pub fn multicast_default() -> Self {
        Self { kind: FlowKind::MulticastDefault, ..Self::any() }
    }

    /// A copy of each frame that the port receives or sends (`IBV_FLOW_ATTR_SNIFFER`). Few devices do that: Linux asks
    /// the firmware (`allow_sniffer_and_nic_rx_shared_tir`), and refuses it otherwise with `EOPNOTSUPP`.
    #[doc(alias = "IBV_FLOW_ATTR_SNIFFER")]
    pub fn sniffer() -> Self {
        Self { kind: FlowKind::Sniffer, ..Self::any() }
    }

    /// The destination's MAC address.
    pub fn destination_mac(mut self, address: impl Into<Masked<[u8; 6]>>) -> Self {
        self.destination_mac = address.into();
        self
    }

    /// The source's MAC address.
    pub fn source_mac(mut self, address: impl Into<Masked<[u8; 6]>>) -> Self {
        self.source_mac = address.into();
        self
    }

    /// The EtherType, behind a VLAN tag if there is one. IP addresses imply it.
    pub fn ether_type(mut self, ether_type: impl Into<Masked<u16>>) -> Self {
        self.ether_type = ether_type.into();
        self
    }

    /// Frames with a VLAN tag of this identifier, 0 to 4095, and any priority.
    pub fn vlan(mut self, id: u16) -> Self {
        (self.vlan_id, self.vlan) = (Some(id), Masked::new(id, VLAN_ID));
        self
    }

    /// Frames with a VLAN tag, by its control information: priority (3 bits), drop eligible (1), identifier (12).
    pub fn vlan_tag(mut self, tag: impl Into<Masked<u16>>) -> Self {
        (self.vlan_id, self.vlan) = (None, tag.into());
        self
    }

    /// The destination's IP address, or [subnet](Masked::prefix).
    pub fn destination(mut self, address: impl Into<Masked<IpAddr>>) -> Self {
        self.destination = Some(address.into());
        self
    }

    /// The source's IP address, or [subnet](Masked::prefix). For a multicast feed with a single source, this keeps
    /// frames of others out.
    pub fn source(mut self, address: impl Into<Masked<IpAddr>>) -> Self {
        self.source = Some(address.into());
        self
    }

    /// IP's protocol (IPv4), or next header (IPv6). Ports imply it.
    pub fn protocol(mut self, protocol: impl Into<Masked<u8>>) -> Self {
        self.protocol = protocol.into();
        self
    }

    /// IPv4's type of service or IPv6's traffic class: DSCP (6 bits) and ECN (2).
    pub fn traffic_class(mut self, class: impl Into<Masked<u8>>) -> Self {
        self.traffic_class = class.into();
        self
    }

    /// The destination's port.
    pub fn destination_port(mut self, port: impl Into<Masked<u16>>) -> Self {
        self.destination_port = port.into();
        self
    }

    /// The source's port.
    pub fn source_port(mut self, port: impl Into<Masked<u16>>) -> Self {
        self.source_port = port.into();
        self
    }

    /// The place among rules that match the same frame: 0, the default, is looked at first. By verbs at most 15 (Linux
    /// `include/linux/mlx5/device.h`, `MLX5_BY_PASS_NUM_REGULAR_PRIOS`). DevX has no priorities: there the place in the
    /// table decides.
    pub fn priority(mut self, priority: u16) -> Self {
        self.priority = priority;
        self
    }

    /// Completions of these frames carry this flow tag, of 24 bits ([`flow_tag`](crate::cq::CqeView::flow_tag));
    /// without one they carry 0 (`IBV_FLOW_SPEC_ACTION_TAG`).
    #[doc(alias = "IBV_FLOW_SPEC_ACTION_TAG")]
    pub fn flow_tag(mut self, tag: u32) -> Self {
        self.flow_tag = Some(tag);
        self
    }

    /// The device drops these frames (`IBV_FLOW_SPEC_ACTION_DROP`): no receiver gets them, and neither does the kernel.
    #[doc(alias = "IBV_FLOW_SPEC_ACTION_DROP")]
    pub fn drop_frames(mut self) -> Self {
        self.drops = true;
        self
    }

    /// Rules of a greater priority number get these frames as well (`IBV_FLOW_ATTR_FLAGS_DONT_TRAP`).
    #[doc(alias = "IBV_FLOW_ATTR_FLAGS_DONT_TRAP")]
    pub fn dont_trap(mut self) -> Self {
        self.goes_on = true;
        self
    }

    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> FlowKind {
        self.kind
    }

    /// The [priority](Self::priority) asked for.
    #[must_use]
    pub const fn asked_priority(&self) -> u16 {
        self.priority
    }

    /// The [flow tag](Self::flow_tag) asked for.
    #[must_use]
    pub const fn asked_flow_tag(&self) -> Option<u32> {
        self.flow_tag
    }

    /// Whether the device [drops](Self::drop_frames) these frames.
    #[must_use]
    pub const fn drops(&self) -> bool {
        self.drops
    }

    /// Whether these frames [go on](Self::dont_trap) to further rules.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// The fields that frames must have, checked against each other and against their ranges.
    ///
    /// # Errors
    /// [`SetupError::OutOfRange`] and the variants of [`SetupError`] that begin with `Flow`.
    pub fn fields(&self) -> Result<Fields, SetupError> {
        if self.kind != FlowKind::Fields {
            return self.whole();
        }
        if let Some(id) = self.vlan_id {
            SetupError::check_range("VLAN of a flow", id.into(), 0, VLAN_ID.into())?;
        }
        if let Some(tag) = self.flow_tag {
            SetupError::check_range("flow tag", tag.into(), 0, FLOW_TAG)?;
        }
        let ip = self.ip_fields()?;
        let ports = match self.l4 {
            Some(l4) => {
                Some(PortFields { l4, source: bits16(self.source_port), destination: bits16(self.destination_port) })
            }
            None if self.source_port.mask | self.destination_port.mask != 0 => {
                return Err(SetupError::FlowIncomplete { field: "port", needs: TRANSPORT });
            }
            None => None,
        };
        let ether_type = bits16(self.ether_type);
        let expected = match ip {
            Some(IpFields::V4 { .. }) => Some(ETHERTYPE_IPV4),
            Some(IpFields::V6 { .. }) => Some(ETHERTYPE_IPV6),
            None => None,
        };
        let Masked { value, mask } = ether_type;
        if let Some(expected) = expected.filter(|&expected| mask != 0 && (mask != u16::MAX || value != expected)) {
            return Err(SetupError::FlowContradiction { field: "EtherType", value, mask, expected });
        }
        let mac = |Masked { value, mask }: Masked<[u8; 6]>| {
            Masked::new(core::array::from_fn(|at| value[at] & mask[at]), mask)
        };
        let (destination_mac, source_mac) = (mac(self.destination_mac), mac(self.source_mac));
        Ok(Fields { destination_mac, source_mac, ether_type, vlan: bits16(self.vlan), ip, ports })
    }

    fn ip_fields(&self) -> Result<Option<IpFields>, SetupError> {
        let traffic_class = bits8(self.traffic_class);
        let mut protocol = bits8(self.protocol);
        if let Some(expected) = self.l4.map(L4::protocol) {
            let full = Masked::from(expected);
            if protocol.mask != 0 && protocol != full {
                let (Masked { value, mask }, field) = (protocol, "IP protocol");
                let (value, mask, expected) = (value.into(), mask.into(), expected.into());
                return Err(SetupError::FlowContradiction { field, value, mask, expected });
            }
            protocol = full;
        }
        let v4 = |Masked { value, mask }: Masked<IpAddr>| match (value, mask) {
            (IpAddr::V4(value), IpAddr::V4(mask)) => Ok(Masked::new(value & mask, mask)),
            _ => Err(SetupError::FlowFamilies),
        };
        let v6 = |Masked { value, mask }: Masked<IpAddr>| match (value, mask) {
            (IpAddr::V6(value), IpAddr::V6(mask)) => Ok(Masked::new(value & mask, mask)),
            _ => Err(SetupError::FlowFamilies),
        };
        let none = |unspecified: IpAddr| Masked::new(unspecified, unspecified);
        Ok(match (self.destination.or(self.source).map(|address| address.value), self.destination, self.source) {
            (None, ..) if protocol.mask != 0 => return Err(no_family("IP protocol")),
            (None, ..) if traffic_class.mask != 0 => return Err(no_family("traffic class")),
            (None, ..) => None,
            (Some(IpAddr::V4(_)), to, from) => {
                let any = none(Ipv4Addr::UNSPECIFIED.into());
                let (source, destination) = (v4(from.unwrap_or(any))?, v4(to.unwrap_or(any))?);
                Some(IpFields::V4 { source, destination, protocol, traffic_class })
            }
            (Some(IpAddr::V6(_)), to, from) => {
                let any = none(Ipv6Addr::UNSPECIFIED.into());
                let (source, destination) = (v6(from.unwrap_or(any))?, v6(to.unwrap_or(any))?);
                Some(IpFields::V6 { source, destination, protocol, traffic_class })
            }
        })
    }

    /// Checks a flow that has no fields.
    fn whole(&self) -> Result<Fields, SetupError> {
        let what = if self.flow_tag.is_some() {
            "flow tag"
        } else if self.priority != 0 {
            "priority"
        } else if self.drops || self.goes_on {
            "further action"
        } else if (Self { kind: FlowKind::Fields, ..*self }) != Self::any() {
            "field"
        } else {
            return Ok(Fields::default());
        };
        Err(SetupError::FlowWhole { what })
    }
}

/// The error for a field of IP's header without an IP version.
const fn no_family(field: &'static str) -> SetupError {
    SetupError::FlowIncomplete { field, needs: "IP version: give it an address, or a prefix of 0 bits" }
}

/// The setting that a flow with a port lacks.
const TRANSPORT: &str = "transport: begin with Flow::tcp or Flow::udp";
/// The largest flow tag: CQEs have 24 bits for it (rdma-core `providers/mlx5/cq.c`, `mlx5_cq_read_flow_tag`).
const FLOW_TAG: u64 = 0x00ff_ffff;
/// The bits of a VLAN's identifier (IEEE 802.1Q, 9.6).
const VLAN_ID: u16 = 0x0fff;
/// EtherTypes of IP (IEEE 802 numbers).
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;

const fn bits16(Masked { value, mask }: Masked<u16>) -> Masked<u16> {
    Masked::new(value & mask, mask)
}

const fn bits8(Masked { value, mask }: Masked<u8>) -> Masked<u8> {
    Masked::new(value & mask, mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 2, 3);

    #[test]
    fn values_have_no_bits_outside_of_masks() {
        let fields = Flow::mac(Masked::new([0xff; 6], [1, 0, 0, 0, 0, 0]))
            .vlan_tag(Masked::new(0xffff, 0xe000))
            .destination(Masked::prefix(Ipv4Addr::new(10, 1, 2, 3).into(), 8))
            .protocol(Masked::new(0xff, 0x0f))
            .fields()
            .expect("no contradiction");
        assert_eq!(fields.destination_mac.value, [1, 0, 0, 0, 0, 0]);
        assert_eq!(fields.vlan, Masked::new(0xe000, 0xe000));
        let Some(IpFields::V4 { source, destination, protocol, .. }) = fields.ip else { panic!("{fields:?}") };
        assert_eq!(destination, Masked::new(Ipv4Addr::new(10, 0, 0, 0), Ipv4Addr::new(255, 0, 0, 0)));
        assert_eq!((protocol, source), (Masked::new(0x0f, 0x0f), Masked::new([0; 4].into(), [0; 4].into())));
    }

    #[test]
    fn ports_say_the_protocol() {
        for (flow, l4, number) in [(Flow::udp(GROUP, 9), L4::Udp, 17), (Flow::tcp(Ipv6Addr::LOCALHOST, 9), L4::Tcp, 6)]
        {
            let fields = flow.protocol(number).source_port(Masked::new(0x1200, 0xff00)).fields().expect("the same");
            let ports = PortFields { l4, source: Masked::new(0x1200, 0xff00), destination: 9.into() };
            assert_eq!(fields.ports, Some(ports));
            let Some(IpFields::V4 { protocol, .. } | IpFields::V6 { protocol, .. }) = fields.ip else { panic!() };
            assert_eq!(protocol, number.into());
        }
    }

    #[test]
    fn contradictions_are_refused() {
        let v6 = Ipv6Addr::LOCALHOST;
        let expected = [
            (Flow::ip(GROUP).source(v6), SetupError::FlowFamilies),
            (Flow::ip(v6).source(GROUP), SetupError::FlowFamilies),
            (Flow::ip(Masked::new(GROUP.into(), v6.into())), SetupError::FlowFamilies),
            (Flow::any().protocol(1), no_family("IP protocol")),
            (Flow::mac([2; 6]).traffic_class(1), no_family("traffic class")),
            (
                Flow::ip(GROUP).ether_type(0x86dd),
                SetupError::FlowContradiction { field: "EtherType", value: 0x86dd, mask: 0xffff, expected: 0x0800 },
            ),
            (
                Flow::ip(v6).ether_type(Masked::new(0x86dd, 0xff00)),
                SetupError::FlowContradiction { field: "EtherType", value: 0x8600, mask: 0xff00, expected: 0x86dd },
            ),
            (
                Flow::udp(GROUP, 1).protocol(6),
                SetupError::FlowContradiction { field: "IP protocol", value: 6, mask: 0xff, expected: 17 },
            ),
            (Flow::ip(GROUP).destination_port(1), SetupError::FlowIncomplete { field: "port", needs: TRANSPORT }),
            (Flow::any().vlan(4096), SetupError::OutOfRange { what: "VLAN of a flow", value: 4096, min: 0, max: 4095 }),
            (
                Flow::any().flow_tag(1 << 24),
                SetupError::OutOfRange { what: "flow tag", value: 1 << 24, min: 0, max: 0xff_ffff },
            ),
            (Flow::all_default().flow_tag(1), SetupError::FlowWhole { what: "flow tag" }),
            (Flow::multicast_default().priority(1), SetupError::FlowWhole { what: "priority" }),
            (Flow::all_default().drop_frames(), SetupError::FlowWhole { what: "further action" }),
            (Flow::sniffer().dont_trap(), SetupError::FlowWhole { what: "further action" }),
            (Flow::sniffer().vlan(1), SetupError::FlowWhole { what: "field" }),
            (Flow::all_default().destination(GROUP), SetupError::FlowWhole { what: "field" }),
        ];
        for (flow, error) in expected {
            assert_eq!(flow.fields(), Err(error), "{flow:?}");
        }
        for flow in [Flow::any(), Flow::all_default(), Flow::multicast_default(), Flow::sniffer()] {
            assert_eq!(flow.fields(), Ok(Fields::default()));
        }
        let allowed = [Flow::any().vlan(4095).flow_tag(0xff_ffff), Flow::ip(GROUP).ether_type(0x0800)];
        assert!(allowed.iter().all(|flow| flow.fields().is_ok()));
    }
}
