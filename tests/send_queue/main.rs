//! Send queues on memory that stands in for a device: the contents of the ring, the doorbell record and the register.
//!
//! Bytes, counters and refusals of send queues belong here. Requests that arrive belong in `tests/loopback`,
//! comparisons with libmlx5 in `tests/differential`.

mod block_signatures;
mod burst;
mod cross_channel;
mod datagrams;
mod depth;
mod dpdk;
mod dynamic;
mod encryption;
mod entries;
mod ethernet;
mod formatted;
mod golden;
mod key_lists;
mod memcpy;
mod multi_packet;
mod offloads;
mod oracle;
mod properties;
mod register;
mod rehearsal;
#[path = "../requests/mod.rs"]
mod requests;
mod resume;
mod retire;
mod rig;
mod rows;
mod tag_matching;
mod tags;
mod wqe_signatures;
mod xrc;
