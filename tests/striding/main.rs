//! Striding receive queues by verbs: frames of all sizes, kept frames, limits. libibverbs and libmlx5 as installed.
//!
//! Striding queues of work queues belong here. Those made by DevX belong in `devx/tests/device`. Bytes that no device
//! writes belong in the tests of `src/queue/striding`.
//!
//! Needs an mlx5 device with an Ethernet port, and `CAP_NET_RAW`. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --link ethernet --generation connectx7 --
//! softhca-run --link ethernet --generation connectx5 --
//! softhca-run --link ethernet --generation connectx7 --strict --
//! ```

#![cfg(feature = "verbs")]

mod compressed;
mod frames;
mod kept;
mod lab;
mod libmlx5;
mod limits;
#[path = "../on_device/mod.rs"]
#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;
mod states;
mod tunnels;
