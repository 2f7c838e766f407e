//! As `tests/ownership_verbs`, with queues made by commands: the same program, and the same model.
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
