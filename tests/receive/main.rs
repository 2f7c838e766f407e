//! Receive queues against expected bytes, from poisoned memory, over many wraps and against hostile completions.

mod memory;
mod own;
mod shared;
