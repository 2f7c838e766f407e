//! UAR pages: the device's registers, and the doorbells that drivers ring there. They must never know the request in a
//! WQE.
//!
//! ```text
//!  driver ── store ──> page.rs ────── seen by a step ─────> doorbells.rs ──> the QP's or CQ's index
//!                        └── trapped by a front end ── queue.rs ──┘ └─ copy.rs: is the copy what the ring holds?
//!  record ─────────────────────────────> records.rs: all, or those of the queues that turns.rs tells of
//! ```

mod copy;
mod doorbells;
mod page;
mod queue;
mod records;
mod turns;

pub(crate) use doorbells::Doorbells;
pub use page::{
    BLUEFLAME_HALF_BYTES, BLUEFLAME_OFFSET, CQ_DOORBELL, DOORBELL_BYTES, EQ_ARM_DOORBELL, EQ_DOORBELL, POISON,
    RECORDLESS_DOORBELL, UAR_PAGE_BYTES, Uar, UarMemory, blueflame_halves,
};
pub use queue::{Doorbell, DoorbellQueue, DoorbellsFull, MAX_DOORBELL};
