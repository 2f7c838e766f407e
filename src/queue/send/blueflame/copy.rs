//! The copy of composed WQEBBs to BlueFlame, in the form that they were composed in. Knows no ring.
use crate::arch::Wide;
use crate::arch::copy::BlockCopy;
use crate::db::register::{BlueFlame, Half};
use crate::types::WQEBB_BYTES;
use crate::wqe::{Composed, DsWords, HeldDs};

/// A form of a DS that copy routines take.
pub(in crate::queue) trait CopiedDs: HeldDs {
    /// Copies one WQEBB by `routine`.
    ///
    /// # Safety
    /// As for [`BlockCopy::copy`].
    unsafe fn copy(wqebb: &Composed<Self>, routine: impl BlockCopy, dst: *mut u64);
}

impl CopiedDs for Wide {
    #[inline(always)]
    unsafe fn copy(wqebb: &Composed<Self>, routine: impl BlockCopy, dst: *mut u64) {
        // SAFETY: the caller's.
        unsafe { routine.copy_wide(dst, *wqebb.all()) }
    }
}

impl CopiedDs for DsWords {
    #[inline(always)]
    unsafe fn copy(wqebb: &Composed<Self>, routine: impl BlockCopy, dst: *mut u64) {
        let [DsWords([a, b]), DsWords([c, d]), DsWords([e, f]), DsWords([g, h])] = *wqebb.all();
        // SAFETY: the caller's.
        unsafe { routine.copy(dst, &[a, b, c, d, e, f, g, h]) }
    }
}

/// Rings a doorbell by a composed WQE of `N` WQEBBs, which is the doorbell itself.
///
/// # Safety
/// As for [`Half::copy`], and the register must have a size of at least `N * 64` bytes.
#[inline(always)]
pub(in crate::queue) unsafe fn copy<D: CopiedDs, C: BlockCopy, const N: usize>(
    half: Half<'_, C>,
    wqebbs: &[Composed<D>; N],
) -> BlueFlame {
    // SAFETY: the caller's, of all `N`.
    unsafe {
        half.copy_by(|routine, dst| {
            for (n, wqebb) in wqebbs.iter().enumerate() {
                D::copy(wqebb, routine, dst.byte_add(n * WQEBB_BYTES));
            }
        })
    }
}
