//! Copies of one 64-byte block to a BlueFlame register, by different instructions: chosen once, for nothing on the path.
//!
//! The device need not fetch a WQE from memory whose copy reaches the register in one piece. [`mmio_copy64`], here by the
//! name of [`Words`], makes eight stores and leaves it to the CPU's write-combining buffers to make one bus write of
//! them, which they usually do. Other instructions store more at once.
//!
//! | routine | CPU | stores | one write of 64 bytes on the bus? |
//! |---|---|---|---|
//! | [`Words`] | all | 8 of 8 bytes | if the memory is write-combining and nothing interrupts; promised by no architecture |
//! | `Sse` | x86-64 | 4 of 16 | the same |
//! | `Avx` | x86-64, AVX | 2 of 32 | the same |
//! | `Avx512` | x86-64, AVX-512 | 1 of 64 | the same: what Intel promises to be atomic ends at 16 bytes (SDM vol. 3, 9.1.1) |
//! | `Movdir64b` | x86-64, MOVDIR64B | 1 of 64 | promised (SDM vol. 2, MOVDIR64B), whatever type of memory the register is mapped as |
//! | `Neon` | AArch64 | 1 of 64 | the same: what Arm promises to be atomic ends at 8 bytes of a vector (Arm ARM, B2.2.1) |
//! | `St64b` | AArch64, FEAT_LS64 | 1 of 64 | promised (Arm ARM, ST64B); a fault if the memory does not take such stores |
//!
//! All need the same barriers around them, [`mmio_wc_start`](super::mmio_wc_start) and
//! [`mmio_flush_writes`](super::mmio_flush_writes), and a register has them in [`ring_doorbell`](crate::db::Register::ring_doorbell).
//! MOVDIR64B is ordered with no other store, not even on memory on which others are, but `sfence` orders it; ST64B is
//! a store like others to `dsb st`.
//!
//! # The choice
//!
//! A routine is a type without size, and a value of it the proof that this CPU has the instructions: it can only be made
//! by asking the CPU, once. A register takes the value ([`ExclusiveRegister::with_copy`]), and from then on the routine is
//! part of its type: there is no branch, no pointer and no check where WQEs are posted. What was chosen at run time by
//! [`CopyRoutine`] becomes a type by [`dispatch`](CopyRoutine::dispatch), around the program's main loop:
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
//!     // register.ring(…), or rather queue.post(…)
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
//! Where the routine is known when the program is written, `register.with_copy(Avx512::new()?)` is all.
//! [`SendQueue::probe`] measures, and sees what the device takes.
//!
//! # What they cost
//!
//! On an AMD Zen 4, with write-back memory in place of the register, so without anything the bus costs: what the CPU does to
//! put the block together. Instructions are counted by single steps; times are medians of interleaved slices, and repeat to a
//! few per cent.
//!
//! | routine | instructions of a copy of words | doorbell with both barriers | a template's post, time |
//! |---|---|---|---|
//! | `8x8` | 8 | 2.2 ns | |
//! | `sse` | 16 | 3.8 ns | 1.00x |
//! | `avx` | 13 | 3.8 ns | 1.04x |
//! | `avx512` | 12 | 3.5 to 3.8 ns | 0.96x |
//!
//! What comes as words, a longer request read back from the ring, costs more to bring together than it saves. But a request of
//! one WQEBB is put together as the routine wants it ([`BlockCopy::WIDE`]): in words for `8x8`, in wide registers ([`Packed`])
//! for the others, and so it is stored to the ring. That halves the stores, which are what a post costs, and `sse` is the
//! usual routine on x86-64. What the bus makes of each is what the [probe][`SendQueue::probe`] is for.
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

/// A way to copy a block: see the [module's text](self). A value is the proof that this CPU has the instructions.
///
/// Implemented here only: registers and queues rely on the block being stored as it is.
pub trait BlockCopy: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// The routine's name at run time.
    const ROUTINE: CopyRoutine;

    /// Whether a block is best put together in wide registers ([`copy_packed`](Self::copy_packed)), and not in words
    /// ([`copy`](Self::copy)).
    const WIDE: bool;

    /// Copies 64 bytes to a BlueFlame register. Ordering is the caller's.
    ///
    /// # Safety
    /// `dst` is 64-byte aligned and valid for a 64-byte write; that write may make a device execute the block as a WQE.
    unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]);

    /// The same, of a block that is in wide registers already.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy).
    unsafe fn copy_packed(self, dst: *mut u64, block: [Packed; 4]);

    /// The same, of a block in memory that was stored there by words, perhaps a moment ago.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), and `line` is 8-byte aligned and valid for a 64-byte read.
    #[inline(always)]
    unsafe fn copy_line(self, dst: *mut u64, line: *const u64) {
        // Read by words, as they were stored, and wanted in general registers: a wider load could not be forwarded from
        // the stores.
        // SAFETY: eight words from `line` on, for which the caller vouches.
        let words = core::array::from_fn(|i| unsafe { line.add(i).read() });
        // SAFETY: the caller's promise.
        unsafe { self.copy(dst, &words) }
    }
}

/// Keeps the trait this room's own.
mod sealed {
    pub trait Sealed {}
}

/// The routine of a register whose type names none: `Sse` on x86-64 and `Neon` on AArch64, as all such CPUs have them,
/// otherwise [`Words`]. Why these: [`CopyRoutine::default_for_cpu`].
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

/// The same of a [`SharedRegister`](crate::db::SharedRegister): [`Words`] on x86-64, where wider stores were found to take
/// longer behind the lock (7.6 against 5.1 ns a post on a Zen 4), elsewhere [`DefaultCopy`].
#[cfg(target_arch = "x86_64")]
pub type DefaultSharedCopy = Words;
#[cfg(not(target_arch = "x86_64"))]
#[expect(missing_docs, reason = "above")]
pub type DefaultSharedCopy = DefaultCopy;

/// Eight stores of 8 bytes at ascending addresses: [`mmio_copy64`], whatever that is on this CPU. On s390x it is one PCI
/// block store, if those are enabled.
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

/// Declares routines that not every CPU has: what each is, and the functions that copy words, and a block in wide registers.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! routines {
    ($($(#[$about:meta])* $name:ident, $copy:path, $copy_packed:path $(, line $copy_line:path)?;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The routine, if this CPU and its operating system have the instructions.
            ///
            /// # Errors
            /// What is missing.
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
                unsafe fn copy_line(self, dst: *mut u64, line: *const u64) {
                    // SAFETY: the caller vouches for both places, and the value of this type for the instructions.
                    unsafe { $copy_line(dst, line) }
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
