//! Programs without `unsafe` that once had a buffer handed back while the device used it: here they are refused.
//!
//! Needs a device that gives numbers out again at once: run by `./run test`, or under `softhca-run --reuse-qpn`.
#![forbid(unsafe_code)]

mod end;
mod held;
mod reset;
