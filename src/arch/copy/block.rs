//! A copy routine as a type, and the routine of every CPU.
use core::fmt::Debug;

use super::super::ds::{DsWords, HeldDs};
use super::super::mmio_copy64;
use super::routine::CopyRoutine;
use crate::sealed::Sealed;

/// A copy routine: see the [module's text](super). A value proves that this CPU has the instructions.
///
/// Only this crate implements it: registers and queues rely on the 64 bytes arriving as they are.
pub trait BlockCopy: Sealed + Copy + Debug + Send + Sync + 'static {
    /// The routine's name at run time.
    const ROUTINE: CopyRoutine;

    /// The form in which to compose a WQEBB for it: words or wide registers.
    #[doc(hidden)]
    type Held: HeldDs;

    /// [Copies](Self::copy) from [`Held`](Self::Held), the form in which the WQEBB was composed.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy).
    #[doc(hidden)]
    unsafe fn copy_held(self, dst: *mut u64, wqebb: [Self::Held; 4]);

    /// Copies 64 bytes to a BlueFlame register. The caller brackets it with barriers.
    ///
    /// # Safety
    /// `dst` is 64-byte aligned and valid for a 64-byte write; that write may make a device execute the block as a WQE.
    unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]);

    /// [Copies](Self::copy) from memory where the WQEBB was stored by words, perhaps a moment ago.
    ///
    /// # Safety
    /// The conditions of [`copy`](Self::copy); `wqebb` is 8-byte aligned and valid for a 64-byte read.
    #[inline(always)]
    unsafe fn copy_wqebb(self, dst: *mut u64, wqebb: *const u64) {
        // By words, as they were stored: the CPU cannot forward narrow stores to a wider load.
        // SAFETY: eight words from `wqebb` on, for which the caller vouches.
        let words = core::array::from_fn(|i| unsafe { wqebb.add(i).read() });
        // SAFETY: the caller promises 64 aligned, writable bytes at `dst`, and that the device may execute the block.
        unsafe { self.copy(dst, &words) }
    }
}

/// Eight stores of 8 bytes at ascending addresses, by this CPU's [`mmio_copy64`]. On s390x it is one PCI block store,
/// if those are enabled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words;

impl Sealed for Words {}
impl BlockCopy for Words {
    const ROUTINE: CopyRoutine = CopyRoutine::Words;
    type Held = DsWords;

    #[inline(always)]
    unsafe fn copy_held(self, dst: *mut u64, wqebb: [DsWords; 4]) {
        let [DsWords([a, b]), DsWords([c, d]), DsWords([e, f]), DsWords([g, h])] = wqebb;
        // SAFETY: the caller promises 64 aligned, writable bytes at `dst`, and that the device may execute the block.
        unsafe { self.copy(dst, &[a, b, c, d, e, f, g, h]) }
    }

    #[inline(always)]
    unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]) {
        // SAFETY: the caller promises 64 aligned, writable bytes at `dst`, and that the device may execute the block.
        unsafe { mmio_copy64(dst, words) }
    }
}

/// Declares routines that not every CPU has, with the functions that copy words and wide registers.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! routines {
    ($($(#[$about:meta])* $name:ident, $copy:path, $copy_wide:path $(, wqebb $copy_wqebb:path)?;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The routine, if this CPU and its operating system have the instructions.
            ///
            /// # Errors
            /// The routine that this CPU or its operating system lacks.
            pub fn new() -> Result<Self, CopyUnavailable> {
                features::check(CopyRoutine::$name)?;
                Ok(Self(()))
            }
        }

        impl $crate::sealed::Sealed for $name {}
        impl BlockCopy for $name {
            const ROUTINE: CopyRoutine = CopyRoutine::$name;
            type Held = Wide;

            #[inline(always)]
            unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]) {
                // SAFETY: the caller vouches for `dst`, and the value of this type for the instructions.
                unsafe { $copy(dst, words) }
            }

            #[inline(always)]
            unsafe fn copy_held(self, dst: *mut u64, wqebb: [Wide; 4]) {
                // SAFETY: the caller vouches for `dst`, and the value of this type for the instructions.
                unsafe { $copy_wide(dst, wqebb) }
            }

            $(
                #[inline(always)]
                unsafe fn copy_wqebb(self, dst: *mut u64, wqebb: *const u64) {
                    // SAFETY: the caller vouches for both places, and the value of this type for the instructions.
                    unsafe { $copy_wqebb(dst, wqebb) }
                }
            )?
        }
    )*};
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use routines;
