//! Changes of memory keys by the send queue (UMR): memory windows, lists of pieces, repeated blocks.
pub(super) mod change;
pub(super) mod configure;
pub(super) mod window;

pub use crate::wqe::key_list::Strided;
pub use configure::KeyRights;
pub use window::{Window, WindowRights};
