//! libmlx5 and this crate run the same operations on twin queues, and must leave the same bytes behind.
//!
//! Every comparison is with bytes that the installed, unmodified libmlx5 wrote or read; the tests expect nothing else.
//! Each queue is connected to itself, so the device executes the requests of both.
//!
//! Permitted differences, with reasons:
//! - the queue pair's number, in the control segment and the doorbell: twins have different numbers. The tests check
//!   that each has its own. Numbers of other objects differ as well: in the addresses of datagrams to itself and in
//!   their completions, of an initiator's target, and of a shared receive queue on XRC;
//! - bytes between the end of inline data and the end of its 16-byte unit: libmlx5 leaves the ring's old bytes, this
//!   crate stores zeros (checked). The device reads neither. In the XRC segment, libmlx5 writes only the number and
//!   leaves the other bytes as well;
//! - the compare word of fetch-and-add, for the same reason;
//! - the immediate data of requests that have none, for the same reason with `ibv_wr_*` (`ibv_post_send` also stores
//!   zero);
//! - the opcode of requests with inline headers of other sizes than 18 bytes: libmlx5 has those for large sends only.
//!   The bytes up to the end of the headers' last 16-byte unit differ as well, like inline data's;
//! - bytes after the WQE's end in the last block of a BlueFlame copy: a copy has whole 64-byte blocks, and those bytes
//!   mean nothing.
//!
//! Left out:
//! - receives of a shared queue with an entry of no bytes. libmlx5 44 writes the byte count 0, which the device takes
//!   for 2 GiB. This crate leaves such entries out, as both libraries do in receive queues;
//! - READs and atomics whose data comes in a 128-byte CQE: libmlx5 44 takes the data from the wrong place;
//! - frames that consist only of their inline headers, by `ibv_wr_set_sge` and `ibv_wr_set_inline_data`: libmlx5 44
//!   sends their bytes twice;
//! - lists of memory keys of 2 GiB or more, and repeating lists of 4 GiB or more: libmlx5 44 counts the bytes in 32
//!   bits;
//! - signatures of WQEs that wrap around the ring's end: libmlx5 65 signs the bytes behind the ring in place of the
//!   rest of the WQE. Signatures of receives after the first in one list are left out as well: libmlx5 65 signs them
//!   with the first one's index;
//! - data of large sends behind headers that reach the ring's end: libmlx5 44 writes it to wrong places.
//!
//! A comparison with libmlx5 belongs here. Bytes that libmlx5 cannot write belong in `tests/send_queue`.
//!
//! Needs an mlx5 device whose registers can be read back, in whole or in part. In strict mode register pages trap, so
//! there the device itself compares the register with the ring. `./run test` starts the software device with these
//! options; some tests need features that a ConnectX-5 lacks:
//!
//! ```text
//! softhca-run --keep-registers --generation connectx7 --
//! softhca-run --keep-registers --generation connectx6dx -- crypto memcpy
//! softhca-run --keep-registers --no-write-combining -- sends::reliable sends::unreliable datagrams dynamic shared_receives events
//! ```

#![cfg(feature = "verbs")]

mod addresses;
mod again;
#[path = "../operations/claims.rs"]
mod claims;
mod compare;
mod completions;
mod crypto;
mod datagrams;
mod decoded;
mod dynamic;
mod encryption;
mod ethernet;
mod events;
mod extended;
mod formats;
mod in_turn;
mod key_lists;
mod large_sends;
mod memcpy;
#[path = "../on_device/mod.rs"]
#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;
mod post;
mod random;
#[path = "../requests/mod.rs"]
mod requests;
mod resize;
mod rows;
mod sends;
mod shared_receives;
mod sig_block;
mod signatures;
mod statuses;
mod tags;
mod twin;
mod verbs;
mod windows;
mod work_queues;
mod xrc;

/// How many cases a property has: `usual`, or with `LONG=1` (`./run test --long`) a multiple of it, chosen so that all
/// of them together are a million.
fn cases(usual: u32) -> u32 {
    const MORE: u32 = 25;
    if is_long() { usual * MORE } else { usual }
}

fn is_long() -> bool {
    std::env::var_os("LONG").is_some()
}
