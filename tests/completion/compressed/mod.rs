//! Compressed completions: mini-CQEs and titles. Queues that a device fills belong in `tests/compression.rs`.

mod any;
mod by_hand;
mod packer;
mod sessions;
