//! libmlx5 and this crate do the same on twin queues, and must leave the same bytes behind.
//!
//! Every comparison is with what the installed, unmodified libmlx5 wrote or read; nothing is expected that it did not
//! do. Each queue is connected to itself, so the device executes what both of them post.
//!
//! What may differ, and why:
//! - the queue pair's number, in the control segment and the doorbell: twins have different ones. That each has its own
//!   is checked; so in the addresses of datagrams that each sends to itself, and in their completions; and the number
//!   of each initiator's target, and on XRC of the shared receive queue;
//! - bytes between the end of inline data and the end of its 16-byte unit: libmlx5 leaves what was in the ring, this
//!   crate stores zeros (checked). The device reads neither; so with the segment of XRC, of which libmlx5 writes the
//!   number;
//! - the compare word of fetch-and-add: the same;
//! - the immediate data of requests that have none: the same with `ibv_wr_*` (`ibv_post_send` stores zero, too);
//! - of inline headers that are not 18 bytes, which libmlx5 has for large sends only, the opcode; and the bytes up to
//!   the end of the last 16-byte unit, as of inline data;
//! - a BlueFlame copy is of whole 64-byte blocks: what follows the WQE's end in the last one means nothing.
//!
//! Left out:
//! - receives of a shared queue with an entry of no bytes: libmlx5 44 writes the byte count 0, which the device takes
//!   for 2 GiB; this crate leaves such entries out, as both do in receive queues;
//! - READs and atomics whose data comes in a 128-byte CQE: libmlx5 44 takes it from the wrong place;
//! - frames that are no more than their inline headers, by `ibv_wr_set_sge` and `ibv_wr_set_inline_data`: libmlx5 44
//!   sends their bytes twice;
//! - lists of memory keys of 2 GiB or more, and those that repeat of 4 GiB or more: libmlx5 44 counts the bytes in 32
//!   bits;
//! - with signatures of WQEs, those around the ring's end: libmlx5 65 signs what lies behind the ring in place of the
//!   rest of them; and of several receives in one list the signatures of all but the first, which have the first one's
//!   index;
//! - data of large sends behind headers that come to the ring's end: libmlx5 44 writes it to wrong places.
//!
//! A comparison with libmlx5 belongs here. Bytes that libmlx5 cannot write belong in `tests/send_queue`.
//!
//! Needs an mlx5 device whose registers can be read back, in whole or in part. In strict mode register pages trap, so
//! there the device itself compares the register with the ring. `./run test` starts the software device so, with the
//! features that a ConnectX-5 lacks:
//!
//! ```text
//! softhca-run --generation connectx7 --
//! softhca-run --no-write-combining -- sends::reliable sends::unreliable datagrams dynamic shared_receives events
//! ```

#![cfg(feature = "verbs")]

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
mod memcpy;
mod post;
mod resize;
mod sends;
mod shared_receives;
mod sig_block;
mod signatures;
mod statuses;
mod tags;
mod twin;
mod verbs;
mod windows;
mod xrc;

/// How many cases a property has: `usual`, or with `LONG=1` (`./run test --long`) so many times as many that all of
/// them together are a million.
fn cases(usual: u32) -> u32 {
    const MORE: u32 = 25;
    if std::env::var_os("LONG").is_some() { usual * MORE } else { usual }
}
