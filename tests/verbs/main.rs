//! The verbs layer on a device: libibverbs and libmlx5 as installed, this crate's queues over the objects that they
//! made.
//!
//! Setup by verbs and traffic of reliable and unreliable connections belong here. States and teardown belong in
//! `tests/lifecycle`; each other transport has a file of its own.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --generation connectx7 --
//! softhca-run --generation connectx8 -- data_direct dma_handles
//! softhca-run --bond -- bonds messages
//! softhca-run --faults place=500,seed=3 -- late_writes messages
//! softhca-run --no-write-combining --
//! softhca-run --strict --
//! ```

#![cfg(feature = "verbs")]

mod bonds;
mod buffer_pools;
mod changes;
mod conversation;
mod data_direct;
mod device;
mod dma_handles;
mod end;
mod key_lists;
mod late_writes;
mod leaks;
mod memcpy;
mod messages;
#[path = "../on_device/mod.rs"]
#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;
mod ownership;
mod regions;
mod tags;
mod windows;
