//! The copy of composed WQEBBs to BlueFlame, in the form that they were composed in. Knows no ring.
use crate::arch::Wide;
use crate::arch::copy::BlockCopy;
use crate::db::register::{BlueFlame, Half};
use crate::types::WQEBB_BYTES;
use crate::wqe::{DsWords, HeldDs, WQEBB_DS};

/// A form of a DS that copy routines take.
pub(in crate::queue) trait CopiedDs: HeldDs {
    /// Copies one WQEBB by `routine`.
    ///
    /// # Safety
    /// As for [`BlockCopy::copy`].
    unsafe fn copy(wqebb: [Self; WQEBB_DS], routine: impl BlockCopy, dst: *mut u64);
}

impl CopiedDs for Wide {
    #[inline(always)]
    unsafe fn copy(wqebb: [Self; WQEBB_DS], routine: impl BlockCopy, dst: *mut u64) {
        // SAFETY: the caller's.
        unsafe { routine.copy_wide(dst, wqebb) }
    }
}

impl CopiedDs for DsWords {
    #[inline(always)]
    unsafe fn copy(wqebb: [Self; WQEBB_DS], routine: impl BlockCopy, dst: *mut u64) {
        let [DsWords([a, b]), DsWords([c, d]), DsWords([e, f]), DsWords([g, h])] = wqebb;
        // SAFETY: the caller's.
        unsafe { routine.copy(dst, &[a, b, c, d, e, f, g, h]) }
    }
}

/// Rings a doorbell by a composed WQE of `N` DS, whole WQEBBs, which is the doorbell itself.
///
/// # Safety
/// As for [`Half::copy`]. Each half of the register must have room for the `N` DS.
#[inline(always)]
pub(in crate::queue) unsafe fn copy<F: CopiedDs, C: BlockCopy, const N: usize>(
    half: Half<'_, C>,
    wqe: &[F; N],
) -> BlueFlame {
    // SAFETY: the caller's, of all WQEBBs.
    unsafe {
        half.copy_by(|routine, dst| {
            for (n, wqebb) in wqe.chunks_exact(WQEBB_DS).enumerate() {
                if let Some(wqebb) = wqebb.first_chunk() {
                    F::copy(*wqebb, routine, dst.byte_add(n * WQEBB_BYTES));
                }
            }
        })
    }
}
