//! Copies to a register: one store in the model. `tests/shared_register_model` has this file, too.

use super::ds::HeldDs;
use super::{Wide, mmio_write64};

pub(crate) trait BlockCopy: Copy + std::fmt::Debug + Send + Sync + 'static {
    type Held: HeldDs;
    const ROUTINE: CopyRoutine = CopyRoutine::Words;

    /// # Safety
    /// The conditions of [`mmio_write64`].
    unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]);
    /// # Safety
    /// As for `copy`.
    unsafe fn copy_held(self, dst: *mut u64, wqebb: [Self::Held; 4]);
    /// # Safety
    /// As for `copy`.
    unsafe fn copy_wqebb(self, dst: *mut u64, wqebb: *const u64);
}

/// The routine of the model, and the one that stores to devices alone.
#[allow(dead_code, reason = "the models have one routine")]
pub(crate) enum CopyRoutine {
    Words,
    St64b,
}

/// One store in the model, of the first word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block;
pub(crate) type DefaultCopy = Block;

impl BlockCopy for Block {
    type Held = Wide;

    unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]) {
        // SAFETY: the caller promises that the register at `dst` may be written.
        unsafe { mmio_write64(dst, words[0]) }
    }

    unsafe fn copy_held(self, dst: *mut u64, wqebb: [Wide; 4]) {
        // SAFETY: the caller promises that the register at `dst` may be written.
        unsafe { mmio_write64(dst, wqebb[0].first_word()) }
    }

    unsafe fn copy_wqebb(self, _: *mut u64, _: *const u64) {
        unreachable!("no request of the models is copied from the ring");
    }
}
