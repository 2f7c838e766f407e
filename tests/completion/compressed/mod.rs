//! Packed completions.

mod any;
mod by_hand;
mod packer;
mod sessions;
