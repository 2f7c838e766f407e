//! Receivers of raw Ethernet: flow rules, work queues, tables of them, and hashes. libibverbs and libmlx5 as installed.
//!
//! The receivers of frames belong here. Sending frames belongs in `tests/raw_packet`, the bytes of rules in
//! `tests/flow_attr.rs`.
//!
//! Needs an mlx5 device with an Ethernet port, and `CAP_NET_RAW`. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --link ethernet -- --skip infiniband
//! softhca-run --link ethernet --strict -- --skip infiniband
//! softhca-run --link ethernet --ports 2 -- rules::
//! softhca-run -- infiniband
//! ```

#![cfg(feature = "verbs")]

mod frames;
mod infiniband;
mod interface;
mod lab;
#[path = "../on_device/mod.rs"]
#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;
mod packets;
mod queues;
mod rules;
mod spread;
mod tunnels;
