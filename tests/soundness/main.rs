//! Programs without `unsafe` that once got a buffer back while the device still used it. The crate now refuses them.
//!
//! A known misuse by safe code belongs here. A random one belongs in `tests/ownership_verbs`, a misuse that does not
//! compile in a `compile_fail` example.
//!
//! Needs a device that reuses numbers at once, and no concurrent test:
//!
//! ```text
//! softhca-run --reuse-qpn -- --test-threads=1
//! ```

#![cfg(feature = "verbs")]
#![forbid(unsafe_code)]

mod end;
mod held;
mod reset;
