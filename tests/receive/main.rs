//! Receive queues against expected bytes, from poisoned memory, over many wraps and against hostile completions.
//!
//! Bytes and counters of receive queues belong here. Messages that arrive belong in `tests/loopback`.

mod dpdk;
mod memory;
mod own;
mod shared;
