//! The life of a queue pair on a device: the requests that it takes in each state, its end, its reuse, its owner, and
//! the errors for wrong calls.
//!
//! Connecting, state changes, teardown and adoption of queue pairs belong here. Traffic of a queue pair that stays up
//! belongs in `tests/verbs`.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --
//! softhca-run --no-write-combining --
//! softhca-run --strict --
//! softhca-run --faults drop=20,dup=10,reorder=10,seed=1 -- teardown
//! ```

#![cfg(feature = "verbs")]

mod adopted;
mod end;
mod foreign;
mod handshake;
mod modes;
#[path = "../on_device/mod.rs"]
#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;
mod options;
mod states;
mod teardown;
mod texts;
