//! Completion queues against a device written out by hand: these tests' own offsets, taken from the PRM's table, and
//! any bytes at all.
//!
//! The meaning of each CQE, good or bad, belongs here. Completions of a device that executes requests belong in
//! `tests/loopback`.

mod compressed;
mod device;
mod fields;
mod forget;
mod polling;
mod resize;
