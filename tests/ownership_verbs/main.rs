//! As `tests/ownership.rs`, through libibverbs: a program without `unsafe` has two devices, each opened twice, makes queue pairs of
//! whatever it has, resets them with whatever it has, resizes, exchanges, takes apart, drops and holds, with traffic under way; a model
//! knows who owns each buffer.
//!
//! Needs two devices that give numbers out again at once: run by `./run test`, or under `softhca-run --devices 2 --reuse-qpn`. A
//! seed fixes the operations, and not the pace of the device.
#![forbid(unsafe_code)]

mod cases;
mod host;
mod lab;
mod memory;
mod together;
