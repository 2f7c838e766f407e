//! Striding receive queues: one WQE receives many frames, each in strides of its own. PRM and Linux call them
//! multi-packet receive queues (MPRQ).
//!
//! ```text
//!            stride
//!           ├──────┤
//!   buffer  │ frame │ frame        │ frame │  …  │ empty │    one WQE: a power of two of strides
//!             CQE     CQE            CQE           filler
//! ```
//!
//! A frame begins with a stride, and takes as many strides as it needs. It does not continue in another WQE: if the
//! strides that are left are too few, the device reports them as empty by a *filler* CQE.
//!
//! The queue lends each [frame](LentFrame) in place. A lent frame can be [kept](LentFrame::keep): a [`Frame`] outlives
//! the poll and goes to other threads. A buffer is posted again when the last of its frames was dropped.
mod filling;
mod frame;
mod memory;
mod poll;
#[cfg(all(test, feature = "std"))]
mod poll_tests;
mod queue;
#[cfg(feature = "std")]
mod rack;
mod strides;
#[cfg(all(test, feature = "std"))]
mod tests;

pub use frame::{Frame, FrameBytes, LentFrame};
pub use memory::{BufferState, MemoryGuard, Slab, SlabParts, StridedMemory};
pub use queue::{StridingParts, StridingRecvQueue};
pub use strides::{Strides, StridesLimits};
