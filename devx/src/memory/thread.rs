//! Memory for the queues of one thread.

use std::sync::{Arc, Mutex, PoisonError};

use super::record::{Record, Records};
use super::rings::{RING_ALIGN, Rings, Space};
use super::umem::PAGE;
use crate::error::Error;

/// The rings and doorbell records of one thread's queues. Make one for each thread that posts and polls.
///
/// Any thread may use the queues made in it. But the records of all of them are dense, eight to a cache line, and two
/// CPUs that store to one line take it from each other.
#[derive(Debug)]
pub struct ThreadRings {
    rings: Rings,
    records: Mutex<Vec<Arc<Records>>>,
}

impl ThreadRings {
    /// For the queues of one thread, in the memory of `rings`.
    #[must_use]
    pub fn new(rings: &Rings) -> Self {
        Self { rings: rings.clone(), records: Mutex::default() }
    }

    /// The memory from which it takes rings and records.
    #[must_use]
    pub fn rings(&self) -> &Rings {
        &self.rings
    }

    /// Memory for a ring whose entries are `entry` bytes, a power of two. It begins at a multiple of `entry`.
    pub(crate) fn ring(&self, bytes: usize, entry: usize) -> Result<Space, Error> {
        self.rings.take_ring(bytes, entry.max(RING_ALIGN))
    }

    /// Memory for the ring of a work queue (`wq`), whose context cannot express every offset in a page.
    pub(crate) fn paged_ring(&self, bytes: usize) -> Result<Space, Error> {
        self.rings.take_ring(bytes, PAGE)
    }

    /// A doorbell record, both words zero.
    pub(crate) fn record(&self) -> Result<Record, Error> {
        // Nothing panics while it holds the lock, and the list is valid after every step.
        let mut pages = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        // Newest first: older pages are usually full.
        if let Some(record) = pages.iter().rev().find_map(Records::take) {
            return Ok(record);
        }
        let page = Arc::new(Records::new(self.rings.take(Records::BYTES, Records::BYTES)?));
        let record = Records::take(&page);
        pages.push(page);
        record.ok_or(Error::Parts { object: "doorbell record", why: "a new page is full".into() })
    }
}
