//! Copy routines: different instructions that copy one WQEBB to a BlueFlame register. A program chooses one when it
//! starts, and posting does not pay for the choice.
//!
//! If the 64 bytes reach the device in one write, it need not fetch the WQE. [`Words`] makes eight stores
//! ([`mmio_copy64`]) and relies on the CPU's write-combining buffers to merge them into one write, which they usually
//! do. Other instructions store more at once.
//!
//! | routine | CPU | stores | one write of 64 bytes on the bus? |
//! |---|---|---|---|
//! | [`Words`] | all | 8 of 8 bytes | if the memory is write-combining and the CPU's buffer fills before it leaves; no architecture promises that it fills |
//! | `Sse` | x86-64 | 4 of 16 | the same |
//! | `Avx` | x86-64, AVX | 2 of 32 | the same |
//! | `Avx512` | x86-64, AVX-512 | 1 of 64 | the same: Intel promises atomicity up to 16 bytes only (SDM vol. 3, "Guaranteed Atomic Operations") |
//! | `Movdir64b` | x86-64, MOVDIR64B | 1 of 64 | promised (SDM vol. 2, MOVDIR64B) for every memory type of the register's mapping |
//! | `Neon` | AArch64 | 1 of 64 | the same as `Words`: Arm promises atomicity up to 8 bytes of a vector only (Arm ARM, B2.2.1) |
//! | `St64b` | AArch64, FEAT_LS64 | 1 of 64 | promised (Arm ARM, ST64B); a fault if the memory does not take such stores |
//!
//! All need the same barriers around them, [`mmio_wc_start`](super::mmio_wc_start) and
//! [`mmio_flush_writes`](super::mmio_flush_writes); a register's [`ring_doorbell`](crate::db::Register::ring_doorbell)
//! has them. MOVDIR64B is not ordered with other stores, to memory of any type, but `sfence` orders it. `dsb st`
//! orders ST64B like any other store.
//!
//! # The choice
//!
//! A routine is a type of size zero. A value of it proves that this CPU has the instructions, because its constructor
//! asks the CPU. A register takes the value ([`ExclusiveRegister::with_copy`]) and has the routine in its type, so
//! posting needs no branch, no pointer and no check. To choose at run time, take a [`CopyRoutine`] and let
//! [`dispatch`](CopyRoutine::dispatch) call your main loop with the type:
//!
//! ```
//! use blueflame::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor};
//! use blueflame::db::{ExclusiveRegister, Register};
//!
//! /// What the main loop works on.
//! struct Trading {
//!     register: ExclusiveRegister,
//!     // rings, keys, …
//! }
//!
//! impl CopyVisitor for Trading {
//!     type Output = u32;
//!
//!     fn run<C: BlockCopy>(self, copy: C) -> u32 {
//!         main_loop(self.register.with_copy(copy))
//!     }
//! }
//!
//! /// Compiled once for each routine.
//! fn main_loop(mut register: impl Register) -> u32 {
//!     // register.ring_doorbell(…), or rather queue.post(…)
//! #   register.size() as u32
//! }
//! # #[repr(align(512))]
//! # struct Page([u8; 512]);
//! # let mut page = Page([0; 512]);
//! # let parts = blueflame::db::RegisterParts { reg: std::ptr::NonNull::from(&mut page.0).cast(), size: 256 };
//! # // SAFETY: memory of this function, which nothing else uses.
//! # let register = unsafe { ExclusiveRegister::from_parts(parts)? };
//!
//! let wanted: Option<CopyRoutine> = Some("8x8".parse()?); // from the command line, say
//! let routine = wanted.unwrap_or_else(CopyRoutine::default_for_cpu);
//! let result = routine.dispatch(Trading { register })?; // or: this CPU lacks it
//! # assert_eq!(result, 256);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! If you know the routine when you write the program, `register.with_copy(Avx512::new()?)` is all.
//!
//! # Which is best
//!
//! A request whose type fixes its size to one or two WQEBBs is composed in the form that the routine takes
//! ([`BlockCopy::WIDE`]): words for `8x8`, wide registers ([`Packed`]) for the others. Wide registers halve the
//! stores. Any other request is read back from the ring by words, because combining the words would cost more than it
//! saves.
//!
//! `docs/performance/measurements.md`, "Copy routines", has measurements of the CPU's cost for each routine. The effect
//! on the bus differs from machine to machine. [`SendQueue::probe`] measures it on yours, and sees which copies the
//! device takes.
//!
//! [`ExclusiveRegister::with_copy`]: crate::db::ExclusiveRegister::with_copy
//! [`SendQueue::probe`]: crate::queue::SendQueue::probe
mod features;
mod routine;

use core::fmt::Debug;

#[cfg(feature = "std")]
pub use routine::{BadCopyVariable, COPY_VARIABLE};
pub use routine::{CopyRoutine, CopyUnavailable, CopyVisitor, UnknownCopyRoutine};

use super::{Packed, mmio_copy64};

/// A copy routine: see the [module's text](self). A value proves that this CPU has the instructions.
///
/// Only this crate implements it: registers and queues rely on the 64 bytes arriving as they are.
pub trait BlockCopy: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// The routine's name at run time.
    const ROUTINE: CopyRoutine;

    /// Whether to compose a WQEBB in wide registers ([`copy_packed`](Self::copy_packed)) rather than in words
    /// ([`copy`](Self::copy)).
    const WIDE: bool;

    /// Copies 64 bytes to a BlueFlame register. The caller brackets it with barriers.
    ///
    /// # Safety
    /// `dst` is 64-byte aligned and valid for a 64-byte write; that write may make a device execute the block as a WQE.
    unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]);

    /// As [`copy`](Self::copy), from wide registers.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy).
    unsafe fn copy_packed(self, dst: *mut u64, block: [Packed; 4]);

    /// As [`copy`](Self::copy), from memory where the WQEBB was stored by words, perhaps a moment ago.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), and `wqebb` is 8-byte aligned and valid for a 64-byte read.
    #[inline(always)]
    unsafe fn copy_wqebb(self, dst: *mut u64, wqebb: *const u64) {
        // By words, as they were stored: the CPU cannot forward narrow stores to a wider load.
        // SAFETY: eight words from `wqebb` on, for which the caller vouches.
        let words = core::array::from_fn(|i| unsafe { wqebb.add(i).read() });
        // SAFETY: the caller's promise.
        unsafe { self.copy(dst, &words) }
    }
}

/// Seals the trait: other crates cannot implement it.
mod sealed {
    pub trait Sealed {}
}

/// The routine of a register whose type names none. On x86-64 it is `Sse` and on AArch64 `Neon`, which all CPUs of the
/// target have; elsewhere it is [`Words`]. For the reasons see [`CopyRoutine::default_for_cpu`].
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub type DefaultCopy = Sse;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
#[expect(missing_docs, reason = "above")]
pub type DefaultCopy = Neon;
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
)))]
#[expect(missing_docs, reason = "above")]
pub type DefaultCopy = Words;

/// The default routine of a [`SharedRegister`](crate::db::SharedRegister). On x86-64 it is [`Words`], because wider
/// stores take longer behind the lock; elsewhere it is [`DefaultCopy`].
#[cfg(target_arch = "x86_64")]
pub type DefaultSharedCopy = Words;
#[cfg(not(target_arch = "x86_64"))]
#[expect(missing_docs, reason = "above")]
pub type DefaultSharedCopy = DefaultCopy;

/// Eight stores of 8 bytes at ascending addresses, by this CPU's [`mmio_copy64`]. On s390x it is one PCI block store,
/// if those are enabled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words;

impl sealed::Sealed for Words {}
impl BlockCopy for Words {
    const ROUTINE: CopyRoutine = CopyRoutine::Words;
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]) {
        // SAFETY: the caller's promise.
        unsafe { mmio_copy64(dst, words) }
    }

    #[inline(always)]
    unsafe fn copy_packed(self, dst: *mut u64, block: [Packed; 4]) {
        let [[a, b], [c, d], [e, f], [g, h]] = block.map(Packed::words);
        // SAFETY: the caller's promise.
        unsafe { mmio_copy64(dst, &[a, b, c, d, e, f, g, h]) }
    }
}

/// Declares routines that not every CPU has, with the functions that copy words and wide registers.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! routines {
    ($($(#[$about:meta])* $name:ident, $copy:path, $copy_packed:path $(, wqebb $copy_wqebb:path)?;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The routine, if this CPU and its operating system have the instructions.
            ///
            /// # Errors
            /// The routine that this CPU or its operating system lacks.
            pub fn new() -> Result<Self, CopyUnavailable> {
                CopyRoutine::$name.check()?;
                Ok(Self(()))
            }
        }

        impl sealed::Sealed for $name {}
        impl BlockCopy for $name {
            const ROUTINE: CopyRoutine = CopyRoutine::$name;
            const WIDE: bool = true;

            #[inline(always)]
            unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]) {
                // SAFETY: the caller vouches for `dst`, and the value of this type for the instructions.
                unsafe { $copy(dst, words) }
            }

            #[inline(always)]
            unsafe fn copy_packed(self, dst: *mut u64, block: [Packed; 4]) {
                // SAFETY: the caller vouches for `dst`, and the value of this type for the instructions.
                unsafe { $copy_packed(dst, block) }
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

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::Movdir64b;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub use x86_64::{Avx, Avx512, Sse};

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
pub use aarch64::Neon;
#[cfg(target_arch = "aarch64")]
pub use aarch64::St64b;

#[cfg(test)]
mod tests;
