//! Objects of mlx5 NICs made by firmware commands (DevX) instead of verbs, for the data path of [`blueflame`].

mod caps;
mod check;
pub mod cmd;
mod context;
mod error;
mod event;
pub mod ffi;
mod later;
pub mod mailbox;
pub mod memory;
pub mod object;
mod told;

pub use caps::{CapMode, Capabilities, Caps, parse as parse_capabilities};
pub use context::{Context, EqNumber, Object};
pub use error::{CommandError, Error};
pub use event::{Event, EventChannel, EventType};
pub use later::{Answer, Answers};
