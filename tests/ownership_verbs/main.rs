//! As `tests/ownership.rs`, through libibverbs. A program without `unsafe` opens two devices, each of them twice. It
//! makes queue pairs of any parts, resets them with any parts, resizes, exchanges, takes apart, drops and holds them,
//! with traffic under way. A model knows the owner of each buffer.
//!
//! Needs two devices that give numbers out again at once: run by `./run test`, or under `softhca-run --devices 2 --reuse-qpn`. A
//! seed fixes the operations, and not the pace of the device.
#![forbid(unsafe_code)]

mod cases;
mod host;
mod lab;
mod memory;
mod together;
