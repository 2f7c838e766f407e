//! The free buffers of a striding receive queue under a model checker: every schedule, with up to two preemptions, of
//! threads that drop frames while the queue posts buffers again.
//!
//! `src/queue/striding/memory.rs` is compiled unchanged, in a crate in which loom's atomics replace those of `core`. On
//! every schedule, a buffer is posted again only after each thread has read its frames there. No buffer is lost or
//! given back twice. The memory is released once, after its last use.
//!
//! Negative controls weaken each ordering of the file, one at a time: a schedule must break a rule then.
//!
//! Schedules of threads on free buffers belong here. Threads on a device's frames belong in `tests/striding`.
//!
//! Not under the address sanitizer: a schedule that breaks a rule ends in a panic, and its memory is leaked.

#![cfg(target_arch = "x86_64")]
extern crate self as core;

mod sync;
mod types;

// The parts of it that need no model.
pub(crate) use std::{error, fmt, marker, mem, ops, ptr};

#[path = "../../src/setup.rs"]
#[allow(dead_code, unreachable_pub, reason = "the model does not use all that this file has")]
mod setup;

#[path = "../../src/queue"]
mod queue {
    #[allow(dead_code, unreachable_pub, reason = "the model does not use all that these files have")]
    pub(crate) mod striding {
        pub(crate) mod memory;
        #[path = "../../../tests/striding_model/schedules.rs"]
        mod schedules;
        pub(crate) mod strides;
    }
}
