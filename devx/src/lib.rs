//! Objects of mlx5 NICs made by firmware commands (DevX) instead of verbs, for the data path of [`blueflame`].

#[cfg(feature = "device")]
mod ask;
mod caps;
#[cfg(feature = "device")]
mod check;
pub mod cmd;
#[cfg(feature = "device")]
mod context;
#[cfg(feature = "device")]
mod error;
#[cfg(feature = "device")]
mod event;
#[cfg(feature = "device")]
pub mod ffi;
#[cfg(feature = "device")]
mod later;
pub mod mailbox;
#[cfg(feature = "device")]
pub mod memory;
#[cfg(feature = "device")]
pub mod object;
#[cfg(feature = "device")]
mod told;

pub use caps::{CapMode, Capabilities, Caps, parse as parse_capabilities};
#[cfg(feature = "device")]
pub use context::{Context, EqNumber, Object};
#[cfg(feature = "device")]
pub use error::{CommandError, Error};
#[cfg(feature = "device")]
pub use event::{Event, EventChannel, EventType};
#[cfg(feature = "device")]
pub use later::{Answer, Answers};
