//! Why a flow cannot be a rule.

use core::fmt;

/// A flow with a contradiction, or with a request beyond the power of any rule. No rule is made then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowError {
    /// An IPv4 address and an IPv6 address: no packet has both.
    Families,
    /// A field of IP's header without an IP version.
    NoFamily {
        /// The field.
        field: &'static str,
    },
    /// An EtherType other than that of the IP version. Linux refuses it, and an EtherType of which only some bits count
    /// beside an IP version (`drivers/infiniband/hw/mlx5/fs.c`, `is_valid_ethertype`).
    EtherType {
        /// The EtherType asked for.
        value: u16,
        /// Its bits that count.
        mask: u16,
        /// That of the IP version.
        expected: u16,
    },
    /// Another protocol than that of the ports.
    Protocol {
        /// The protocol asked for.
        value: u8,
        /// That of the ports.
        expected: u8,
    },
    /// Ports without a protocol that has any: begin with [`Flow::udp`](super::Flow::udp) or
    /// [`Flow::tcp`](super::Flow::tcp).
    NoPorts,
    /// A VLAN identifier beyond 12 bits.
    Vlan {
        /// The identifier asked for.
        id: u16,
    },
    /// A flow tag beyond 24 bits.
    FlowTag {
        /// The flow tag asked for.
        tag: u32,
    },
    /// A flow for all remaining frames, or a sniffer, with fields, a priority, a flow tag, or another action. Linux
    /// ignores them without an error (`create_leftovers_rule`, `create_sniffer_rule`).
    Whole {
        /// The further request.
        what: &'static str,
    },
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Families => {
                f.write_str("the flow has an IPv4 and an IPv6 address, which no packet has: make one flow for each")
            }
            Self::NoFamily { field } => {
                write!(f, "the flow has a {field} and no IP version: give it an address, or a prefix of 0 bits")
            }
            Self::EtherType { value, mask, expected } => write!(
                f,
                "the flow has EtherType {value:#06x} under mask {mask:#06x}, but its addresses need {expected:#06x}: \
                 leave the EtherType out"
            ),
            Self::Protocol { value, expected } => write!(
                f,
                "the flow has IP protocol {value}, but its ports are those of protocol {expected}: leave the protocol \
                 out"
            ),
            Self::NoPorts => f.write_str("the flow has ports without TCP or UDP: begin with Flow::tcp or Flow::udp"),
            Self::Vlan { id } => write!(f, "VLAN {id} asked for, 0 to 4095 possible"),
            Self::FlowTag { tag } => write!(f, "flow tag {tag:#x} asked for, 0 to 0xffffff possible"),
            Self::Whole { what } => {
                write!(f, "a flow for all remaining frames, or a sniffer, cannot have a {what}: Linux would ignore it")
            }
        }
    }
}

impl core::error::Error for FlowError {}
