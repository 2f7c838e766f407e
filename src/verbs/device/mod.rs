//! Devices and ports: opening one, its attributes, clock and events.
pub(super) mod async_event;
pub(super) mod clock;
pub(super) mod contexts;
mod correlation;
pub(super) mod foreign;
mod frames;
pub(super) mod inline;
pub(super) mod link;
pub(super) mod open;
pub(super) mod port;
mod rate;

pub use async_event::{AsyncEvent, AsyncEvents, PortEvent, QpEvent, SrqEvent};
pub use clock::{Clock, Timestamps};
pub use correlation::{Correlation, Time};
pub use frames::{SoftwareParser, Tunnels};
pub use link::{LinkLayer, PortState};
pub use open::DeviceAttr;
pub use port::{Gid, GidEntry, GidType, Mtu, Port};
pub use rate::{RateLimit, RateLimits};
