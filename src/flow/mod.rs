//! Which frames a receiver of raw Ethernet gets, as values. Knows no device: `verbs` and `blueflame-devx` make rules of
//! them.
//!
//! ```
//! use std::net::Ipv4Addr;
//!
//! use blueflame::flow::{Flow, Masked};
//!
//! // A multicast feed, marked so that its completions are told from others.
//! let feed = Flow::udp(Ipv4Addr::new(239, 1, 2, 3), 5001).flow_tag(7);
//! // Everything from one subnet to TCP port 443, in one VLAN.
//! let subnet = Flow::tcp(Masked::prefix(Ipv4Addr::UNSPECIFIED.into(), 0), 443)
//!     .source(Masked::prefix(Ipv4Addr::new(10, 1, 0, 0).into(), 16))
//!     .vlan(42);
//! // Frames of one EtherType, to one station; less urgent than the rules above.
//! let own = Flow::mac([2, 0, 0x5e, 0, 0x53, 1]).ether_type(0x88b5).priority(3);
//! # for flow in [feed, subnet, own] { flow.fields().expect("no contradiction"); }
//! ```

mod fields;
mod masked;
mod request;
mod rss;

pub use fields::{Fields, IpFields, L4, PortFields};
pub use masked::Masked;
pub use request::{Flow, FlowKind};
pub use rss::Rss;
