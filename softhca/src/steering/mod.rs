//! Flow steering: tables of rules, which decide about a frame by its headers. It must never know a queue, or the maker
//! of the rules.
//!
//! ```text
//!  headers ──> key.rs ──> walk.rs: the root's table ── match: drop, allow, count, tag, to TIRs ──> decision
//!                            ▲    └─ miss ─┐    └─ match: to another table ─┐
//!                            └─────────────┴── of a higher level only ──────┘
//! ```
//!
//! Each step from table to table goes to a higher level, so with any rules the look-up ends.

mod counter;
mod key;
mod table;
mod walk;

pub(crate) use key::Key;
pub(crate) use table::{Destination, Direction, Entry, Group, Miss, Verdict};
pub(crate) use walk::{MAX_COUNTERS, MAX_LEVEL, MAX_LOG_SIZE, MAX_TABLES, MAX_TARGETS, Steering};
