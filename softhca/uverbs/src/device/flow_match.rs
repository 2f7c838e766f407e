//! The match of a flow: fields of frames, in the layout of commands.

use crate::abi::mailbox::Field;

/// Bytes of `fte_match_param`, and of each set of fields in it.
pub(crate) const MATCH_BYTES: usize = 0x200;
const SET_BYTES: usize = 0x40;

/// Fields, and which bits of them count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowMatch {
    pub(crate) mask: Box<[u8; MATCH_BYTES]>,
    pub(crate) value: Box<[u8; MATCH_BYTES]>,
}

impl Default for FlowMatch {
    /// Everything.
    fn default() -> Self {
        Self { mask: Box::new([0; MATCH_BYTES]), value: Box::new([0; MATCH_BYTES]) }
    }
}

impl FlowMatch {
    /// From now on, frames must have these bits of `field` under `mask`.
    pub(crate) fn add(&mut self, field: Field, mask: u64, value: u64) {
        field.set(&mut *self.mask, mask);
        field.set(&mut *self.value, value);
    }

    /// From now on, frames must have these bytes under `mask`, from byte `at` on.
    pub(crate) fn add_bytes(&mut self, at: usize, mask: &[u8], value: &[u8]) {
        self.mask[at..at + mask.len()].copy_from_slice(mask);
        self.value[at..at + value.len()].copy_from_slice(value);
    }

    /// Which sets of fields count, a bit each (`MLX5_MATCH_*`).
    pub(crate) fn sets(&self) -> u64 {
        let counts = |set: &[u8]| u64::from(set.iter().any(|&byte| byte != 0));
        self.mask.chunks(SET_BYTES).enumerate().fold(0, |all, (index, set)| all | counts(set) << index)
    }
}
