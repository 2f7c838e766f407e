//! The rings of the crate under a model checker: every schedule, with up to two preemptions, of a program that posts
//! and polls, and of a device.
//!
//! `src/{wqe,db,cq}`, the send queue and the shared receive queue are compiled unchanged, in a crate in which other
//! types replace those of `core` and `volatile` that reach memory. Each word of a ring, a record or a register is an
//! atomic of loom there, and each access is relaxed. A load may give any earlier value that the order of accesses
//! permits. The barriers of `arch` are loom's fences. So a load can see an old word of a CQE or of a WQE, unless a
//! barrier forbids it. Loom moves no load behind a later store; `tests/ordering` checks that order.
//!
//! On every schedule, the device reads whole WQEs, and finds room for each completion. Each request completes once, with
//! its own fields and data.
//!
//! Negative controls take away one barrier, or move one access, at a time: a schedule must break a rule then.
//!
//! Schedules of one program and one device belong here. Threads that share a register belong in
//! `tests/shared_register_model`, and threads that drop frames in `tests/striding_model`. The unit tests of the checked
//! files run here once more, on ordinary memory.
//!
//! Not under the address sanitizer: a schedule that breaks a rule ends in a panic, and its memory is leaked.

#![cfg(target_arch = "x86_64")]
extern crate self as core;
extern crate self as volatile;

mod access;
mod arch;
mod controls;
mod device;
mod faults;
mod memory;
mod pointer;
mod program;
mod schedules;

// The parts of it that need no model.
pub(crate) use pointer::VolatilePtr;
pub(crate) use std::{array, convert, error, fmt, marker, mem, num, ops, slice, sync};

mod hint {
    pub(crate) const fn cold_path() {}
}

mod ptr {
    pub(crate) use crate::pointer::NonNull;
}

#[macro_use]
#[path = "../../src/layout.rs"]
mod layout;

macro_rules! unchanged {
    ($($path:literal $name:ident)*) => {$(
        #[allow(dead_code, unfulfilled_lint_expectations, unreachable_pub, unused_imports, reason = "the model does not use all that these files have")]
        #[path = $path]
        pub(crate) mod $name;
    )*};
}

unchanged! {
    "../../src/cq/mod.rs" cq
    "../../src/sealed.rs" sealed
    "../../src/setup.rs" setup
    "../../src/tagged.rs" tagged
    "../../src/transport.rs" transport
    "../../src/types.rs" types
    "../../src/wqe/mod.rs" wqe
}

#[path = "../../src/db"]
#[allow(dead_code, unfulfilled_lint_expectations, unreachable_pub, unused_imports, reason = "as above")]
pub(crate) mod db {
    mod exclusive;
    mod mode;
    mod record;
    pub(crate) mod register;

    pub(crate) use exclusive::ExclusiveRegister;
    pub(crate) use mode::FlushMode;
    pub(crate) use record::DoorbellRecord;
    pub(crate) use register::{Register, RegisterParts};
}

#[path = "../../src/queue"]
#[allow(dead_code, unfulfilled_lint_expectations, unreachable_pub, unused_imports, reason = "as above")]
pub(crate) mod queue {
    pub(crate) mod outcome;

    pub(crate) mod recv {
        pub(crate) mod scatter;
        pub(crate) mod shared;
    }

    pub(crate) mod send {
        pub(crate) mod batch;
        pub(crate) mod error;
        pub(crate) mod parts;
        pub(crate) mod place;
        pub(crate) mod policy;
        pub(crate) mod post;
        pub(crate) mod queue;
    }
}
