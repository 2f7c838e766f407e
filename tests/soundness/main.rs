//! Programs without `unsafe` that once had a buffer handed back while the device used it: here they are refused.
//!
//! A known misuse by safe code belongs here. A random one belongs in `tests/ownership_verbs`, a misuse that does not
//! compile in a `compile_fail` example.
//!
//! Needs a device that gives numbers out again at once, and no other test beside:
//!
//! ```text
//! softhca-run --reuse-qpn -- --test-threads=1
//! ```

#![cfg(feature = "verbs")]
#![forbid(unsafe_code)]

mod end;
mod held;
mod reset;
