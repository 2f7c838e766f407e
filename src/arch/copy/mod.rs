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
//! | `Neon` | AArch64 | 1 of 64 | like `Words`: Arm promises atomicity up to 8 bytes of a vector only (Arm ARM, B2.2.1) |
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
//! A request whose type fixes its size to at most four WQEBBs is composed in the form that the routine takes: words for
//! `8x8`, wide registers ([`Wide`]) for the others. Wide registers halve the stores. Any other request is read back from
//! the ring by words, because combining the words would cost more than it saves.
//!
//! `docs/performance/measurements.md`, "Copy routines", has measurements of the CPU's cost for each routine. The effect
//! on the bus differs from machine to machine. [`SendQueue::probe`] measures it on yours, and sees which copies the
//! device takes.
//!
//! [`ExclusiveRegister::with_copy`]: crate::db::ExclusiveRegister::with_copy
//! [`Wide`]: super::Wide
//! [`SendQueue::probe`]: crate::queue::SendQueue::probe
//! [`mmio_copy64`]: super::mmio_copy64
mod block;
mod choice;
mod features;
mod routine;

pub use block::{BlockCopy, Words};
pub use choice::{CopyVisitor, DefaultCopy, DefaultSharedCopy};
#[cfg(feature = "std")]
pub use routine::{BadCopyVariable, COPY_VARIABLE};
pub use routine::{CopyRoutine, CopyUnavailable, UnknownCopyRoutine};

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
