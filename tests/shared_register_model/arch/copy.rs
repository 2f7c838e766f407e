//! Copies to a register, as `tests/ring_model` has them.

pub(crate) use super::block::{Block, BlockCopy, DefaultCopy};
pub(crate) type DefaultSharedCopy = Block;
