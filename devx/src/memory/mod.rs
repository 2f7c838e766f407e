//! Memory that the device uses: registered once, cut into rings and doorbell records.

mod gaps;
mod record;
mod rings;
mod thread;
mod umem;

pub(crate) use record::Record;
pub use rings::{Rings, RingsBuilder, RingsUse};
pub(crate) use rings::{Space, host_page};
pub use thread::ThreadRings;
pub use umem::Umem;
pub(crate) use umem::{PAGE, last};
