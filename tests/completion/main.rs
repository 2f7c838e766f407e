//! Completion queues against a device written out by hand: these tests' own offsets, taken from the PRM's table, and any
//! bytes at all.

mod compressed;
mod device;
mod fields;
mod forget;
mod polling;
mod resize;
