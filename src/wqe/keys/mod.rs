//! Changes of memory keys by the send queue (UMR): memory windows, lists of pieces, repeated blocks.
pub(super) mod change;
pub(super) mod configure;
pub(super) mod list;
pub(super) mod seg;
pub(super) mod window;

pub use configure::KeyRights;
pub use list::Strided;
pub use window::{Window, WindowRights};
