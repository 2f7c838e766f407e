//! The verbs layer on a device: libibverbs and libmlx5 as installed, this crate's queues over what they made.
//!
//! Needs an mlx5 device; the software one will do: `./run test` runs it under `softhca-run`.

mod buffer_pools;
mod changes;
mod conversation;
mod device;
mod end;
mod key_lists;
mod leaks;
mod memcpy;
mod messages;
mod ownership;
mod regions;
mod tags;
mod windows;
