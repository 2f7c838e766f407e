//! The names of copy routines, and the errors about them.
use core::fmt;
use core::str::FromStr;

/// A copy routine by name, for choosing one at run time: see the [module's text](super).
///
/// All names exist on every CPU, so a configuration can be read anywhere. Using a routine that this CPU lacks is an
/// error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyRoutine {
    /// `8x8`: [`Words`](super::Words).
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
    pub(crate) const fn needs(self) -> &'static str {
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
