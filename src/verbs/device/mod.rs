//! Devices and ports: opening one, its attributes and clock.
pub(super) mod blueflame;
pub(super) mod clock;
pub(super) mod foreign;
mod frames;
pub(super) mod inline;
pub(super) mod memory_attr;
pub(super) mod open;
pub(super) mod port;
mod rate;

pub use crate::verbs::link::{LinkLayer, PortState};
pub use clock::{Clock, Timestamps};
pub use frames::{SoftwareParser, Tunnels};
pub use open::DeviceAttr;
pub use port::{Gid, GidEntry, GidType, Mtu, Port};
pub use rate::{RateLimit, RateLimits};
