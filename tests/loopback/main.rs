//! The crate's queues against the software device in this process: every posted request arrives, in order and once, or
//! fails as it must.
//!
//! Traffic without libibverbs belongs here: delivery, order, failures and losses. Bytes in memory belong in
//! `tests/send_queue`, `tests/receive` and `tests/completion`.

mod calamities;
mod complaints;
mod complete;
mod copies;
mod datagrams;
mod dynamic;
mod failures;
mod faults;
mod frames;
mod initiators;
mod kept;
mod operations;
mod out_of_order;
mod owning;
#[cfg(feature = "std")]
mod owning_frames;
mod probe;
mod retire;
mod room;
mod shapes;
mod shared_receive;
mod shared_register;
mod soak;
mod threads;
mod traffic;
mod wraps;
mod xrc;
