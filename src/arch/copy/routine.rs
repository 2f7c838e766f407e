use core::fmt;
use core::str::FromStr;

#[cfg(target_arch = "x86_64")]
use super::Movdir64b;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
use super::Neon;
#[cfg(target_arch = "aarch64")]
use super::St64b;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::{Avx, Avx512, Sse};
use super::{BlockCopy, Words, features};

/// A copy routine by name, for choosing one at run time: see the [module's text](super).
///
/// All names exist on every CPU, so a configuration can be read anywhere. Using a routine that this CPU lacks is an
/// error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyRoutine {
    /// `8x8`: [`Words`].
    Words,
    /// `sse`: `Sse`.
    Sse,
    /// `avx`: `Avx`.
    Avx,
    /// `avx512`: `Avx512`.
    Avx512,
    /// `movdir64b`: `Movdir64b`.
    Movdir64b,
    /// `neon`: `Neon`.
    Neon,
    /// `st64b`: `St64b`.
    St64b,
}

/// Code that is compiled for every copy routine, and entered once with the chosen one.
pub trait CopyVisitor {
    /// The result of the code.
    type Output;

    /// Goes on with routine `copy`.
    fn run<C: BlockCopy>(self, copy: C) -> Self::Output;
}

impl CopyRoutine {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Words, Self::Sse, Self::Avx, Self::Avx512, Self::Movdir64b, Self::Neon, Self::St64b];

    /// The name, as [`FromStr`] reads it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "8x8",
            Self::Sse => "sse",
            Self::Avx => "avx",
            Self::Avx512 => "avx512",
            Self::Movdir64b => "movdir64b",
            Self::Neon => "neon",
            Self::St64b => "st64b",
        }
    }

    /// The features that the routine needs.
    const fn needs(self) -> &'static str {
        match self {
            Self::Words => "nothing",
            Self::Sse => "an x86-64 CPU, and a program whose target has SSE2",
            Self::Avx => "AVX (x86-64), enabled by the operating system",
            Self::Avx512 => "AVX-512F and AVX-512DQ (x86-64), enabled by the operating system",
            Self::Movdir64b => "MOVDIR64B (x86-64)",
            Self::Neon => "Advanced SIMD (AArch64), and a program whose target has it",
            Self::St64b => {
                "FEAT_LS64 (AArch64), announced by Linux as HWCAP3_LS64, which takes this crate's feature `std`"
            }
        }
    }

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
        if features::available(self) { Ok(()) } else { Err(CopyUnavailable { routine: self }) }
    }

    /// The routine of a register whose type names none: [`DefaultCopy`](super::DefaultCopy). Every CPU of the target
    /// has it.
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
        <super::DefaultCopy as BlockCopy>::ROUTINE
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

impl fmt::Display for CopyRoutine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CopyRoutine {
    type Err = UnknownCopyRoutine;

    fn from_str(name: &str) -> Result<Self, UnknownCopyRoutine> {
        Self::ALL.into_iter().find(|routine| routine.name() == name).ok_or(UnknownCopyRoutine(()))
    }
}

/// A routine that cannot be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyUnavailable {
    /// The requested routine.
    pub routine: CopyRoutine,
}

impl fmt::Display for CopyUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "copy routine {} is not available here: it needs {}", self.routine, self.routine.needs())
    }
}

impl core::error::Error for CopyUnavailable {}

/// The error for a name that no copy routine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownCopyRoutine(());

impl fmt::Display for UnknownCopyRoutine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such copy routine; there are")?;
        CopyRoutine::ALL.iter().try_for_each(|routine| write!(f, " {routine}"))
    }
}

impl core::error::Error for UnknownCopyRoutine {}

/// The environment variable that [`CopyRoutine::from_env`] reads.
#[cfg(feature = "std")]
pub const COPY_VARIABLE: &str = "BLUEFLAME_COPY";

#[cfg(feature = "std")]
impl CopyRoutine {
    /// The routine that the environment variable `BLUEFLAME_COPY` names; `None` if it is not set, or empty.
    ///
    /// Nothing in this crate reads the variable by itself. A program that wants the override calls this when it
    /// starts: `CopyRoutine::from_env()?.unwrap_or_else(CopyRoutine::default_for_cpu)`.
    ///
    /// # Errors
    /// A value that names no routine. [`dispatch`](Self::dispatch) checks whether the CPU has it.
    pub fn from_env() -> Result<Option<Self>, BadCopyVariable> {
        Self::from_variable(std::env::var_os(COPY_VARIABLE))
    }

    /// The routine that a variable's value names.
    pub(super) fn from_variable(value: Option<std::ffi::OsString>) -> Result<Option<Self>, BadCopyVariable> {
        let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
        let value = value.to_string_lossy();
        value.parse().map(Some).map_err(|why| BadCopyVariable { value: value.into_owned(), why })
    }
}

/// An invalid value of the environment variable for the copy routine, and the reason.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadCopyVariable {
    /// The variable's value.
    pub value: std::string::String,
    /// The reason why it is invalid.
    pub why: UnknownCopyRoutine,
}

#[cfg(feature = "std")]
impl fmt::Display for BadCopyVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{COPY_VARIABLE} is {:?}: {}", self.value, self.why)
    }
}

#[cfg(feature = "std")]
impl core::error::Error for BadCopyVariable {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.why)
    }
}
