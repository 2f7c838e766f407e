//! Hints to the compiler.

/// Marks the branch that calls it as one that seldom runs. Compilers before Rust 1.95 have no such hint (`build.rs`).
#[inline(always)]
#[clippy::msrv = "1.95"]
pub(crate) const fn cold_path() {
    #[cfg(has_cold_path)]
    core::hint::cold_path();
}
