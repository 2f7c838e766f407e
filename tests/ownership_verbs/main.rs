//! Like `tests/ownership.rs`, through libibverbs. A program without `unsafe` opens two devices, each of them twice. It
//! makes queue pairs of any parts, resets them with any parts, resizes, exchanges, takes apart, drops and holds them,
//! with traffic under way. A model knows the owner of each buffer.
//!
//! Only the random program belongs here. One known sequence belongs in `tests/soundness`.
//!
//! A seed fixes the operations, but not the pace of the device. Needs two devices that reuse numbers at once:
//!
//! ```text
//! softhca-run --devices 2 --reuse-qpn --
//! ```

#![cfg(feature = "verbs")]
#![forbid(unsafe_code)]

mod cases;
mod host;
mod lab;
mod memory;
mod together;
