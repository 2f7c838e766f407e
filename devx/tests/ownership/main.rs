//! Runs the random program of `tests/ownership_verbs`, against its model, with queues made by commands.
//!
//! Only the random program belongs here. One known sequence belongs in `device`.
//!
//! Needs two devices that give numbers out again at once:
//!
//! ```text
//! softhca-run --devices 2 --reuse-qpn --
//! ```

#![forbid(unsafe_code)]

#[path = "../../../tests/ownership_verbs/cases.rs"]
mod cases;
mod host;
#[path = "../../../tests/ownership_verbs/lab.rs"]
mod lab;
#[path = "../../../tests/ownership_verbs/memory.rs"]
mod memory;
#[path = "../../../tests/ownership_verbs/together.rs"]
mod together;
