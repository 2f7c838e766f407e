//! Completion queues against CQEs written by hand, at these tests' own offsets from the PRM's table, and against
//! arbitrary bytes.
//!
//! The meaning of each CQE, good or bad, belongs here. Completions of a device that executes requests belong in
//! `tests/loopback`.

mod compressed;
mod device;
mod dpdk;
mod fields;
mod forget;
mod polling;
mod resize;
