//! Objects of mlx5 NICs made by firmware commands (DevX) instead of verbs, for the data path of [`blueflame`].

pub mod cmd;
mod context;
mod error;
pub mod ffi;
pub mod mailbox;

pub use context::{Context, Object};
pub use error::{CommandError, Error};
