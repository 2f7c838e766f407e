//! The function itself: the identity of its adapter, its registers, and its Ethernet port.

pub(super) mod adapter;
pub(super) mod register;
pub(super) mod vport;
