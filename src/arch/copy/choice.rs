//! The choice of a copy routine: the default of each CPU, and any other at run time.
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
use super::aarch64::Neon;
#[cfg(target_arch = "aarch64")]
use super::aarch64::St64b;
use super::block::{BlockCopy, Words};
use super::features;
use super::routine::{CopyRoutine, CopyUnavailable};
#[cfg(target_arch = "x86_64")]
use super::x86_64::Movdir64b;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::x86_64::{Avx, Avx512, Sse};

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

/// Code that is compiled for every copy routine, and entered once with the chosen one.
pub trait CopyVisitor {
    /// The result of the code.
    type Output;

    /// Goes on with routine `copy`.
    fn run<C: BlockCopy>(self, copy: C) -> Self::Output;
}

impl CopyRoutine {
    /// The routines whose instructions this CPU has; [`Words`](Self::Words) always.
    ///
    /// It asks the CPU each time: call it at start-up, not where you post.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|routine| features::available(*routine))
    }

    /// Whether this CPU has the routine's instructions.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(self) -> Result<(), CopyUnavailable> {
        features::check(self)
    }

    /// The routine of a register whose type names none: [`DefaultCopy`]. Every CPU of the target has it.
    ///
    /// - AArch64: [`Neon`](Self::Neon), as in rdma-core. Eight stores of 8 bytes do not combine reliably on some CPUs;
    ///   the evidence, for and against, is in the text of `Neon`. [`St64b`](Self::St64b), where the CPU has it, is for
    ///   callers that know that the memory takes it.
    /// - x86-64: [`Sse`](Self::Sse), even if the CPU can store more at once. Write combining merges consecutive stores
    ///   of any width into one write, and a request of one WQEBB is in registers of 16 bytes already. UCX also copies
    ///   by 16 bytes if built with SSE4.2 (`uct_ib_mlx5_bf_copy_bb`), rdma-core by 8 bytes.
    ///   [`Movdir64b`](Self::Movdir64b) guarantees the single write that write combining usually achieves:
    ///   [probe](crate::queue::SendQueue::probe) it on the machine in question.
    /// - Everywhere else: [`Words`](Self::Words).
    #[must_use]
    pub const fn default_for_cpu() -> Self {
        <DefaultCopy as BlockCopy>::ROUTINE
    }

    /// Enters `visitor` with this routine as a type.
    ///
    /// # Errors
    /// If this CPU does not have it; the visitor is then dropped.
    pub fn dispatch<V: CopyVisitor>(self, visitor: V) -> Result<V::Output, CopyUnavailable> {
        match self {
            Self::Words => Ok(visitor.run(Words)),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Sse => Ok(visitor.run(Sse::new()?)),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx => Ok(visitor.run(Avx::new()?)),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx512 => Ok(visitor.run(Avx512::new()?)),
            #[cfg(target_arch = "x86_64")]
            Self::Movdir64b => Ok(visitor.run(Movdir64b::new()?)),
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Self::Neon => Ok(visitor.run(Neon::new()?)),
            #[cfg(target_arch = "aarch64")]
            Self::St64b => Ok(visitor.run(St64b::new()?)),
            routine => Err(CopyUnavailable { routine }),
        }
    }
}
