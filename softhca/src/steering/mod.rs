//! Flow steering: tables of rules, which decide about a frame by its headers. It must never know a queue, or the maker
//! of the rules.
//!
//! ```text
//!  passing.rs ──> walk.rs: the root's table ── match: drop, allow, count, tag, modify, to TIRs ──> decision
//!  (frame, key.rs)    ▲    └─ miss ─┐    └─ match: to another table ─┐
//!                     └─────────────┴── of a higher level only ──────┘
//! ```
//!
//! Each step from table to table goes to a higher level, so with any rules the look-up ends.

mod counter;
mod field;
mod key;
mod modification;
mod passing;
mod registers;
mod table;
mod walk;

pub(crate) use field::Field;
pub(crate) use key::Key;
pub(crate) use modification::{Action, Part};
pub(crate) use passing::Passing;
pub(crate) use table::{Destination, Direction, Entry, Group, Miss, Verdict};
pub(crate) use walk::{
    FrameCopy, MAX_ACTIONS, MAX_COUNTERS, MAX_LEVEL, MAX_LOG_SIZE, MAX_MODIFICATIONS, MAX_TABLES, MAX_TARGETS, Steering,
};
