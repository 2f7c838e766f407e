//! Doorbell records: two words each, many to a cache line.

use core::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use super::rings::Space;
use crate::cmd::UmemId;
use crate::context::Context;

/// Bytes of a record.
const RECORD_BYTES: usize = 8;

/// Some cache lines of records.
#[derive(Debug)]
pub(super) struct Records {
    space: Space,
    /// A bit for each record in use.
    used: Mutex<u64>,
}

impl Records {
    /// Bytes of all of its records: eight cache lines.
    pub(super) const BYTES: usize = u64::BITS as usize * RECORD_BYTES;

    /// Records in `space`, which has [`BYTES`](Self::BYTES), all zero.
    pub(super) fn new(space: Space) -> Self {
        Self { space, used: Mutex::new(0) }
    }

    /// Takes the first free record.
    pub(super) fn take(self: &Arc<Self>) -> Option<Record> {
        // Nothing panics while it holds the lock.
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let index = used.trailing_ones();
        if index == u64::BITS {
            return None;
        }
        *used |= 1 << index;
        let record = Record { records: Arc::clone(self), index };
        // SAFETY: inside of the space, and nobody else has it: it was free.
        unsafe { record.start().cast::<u64>().write(0) };
        Some(record)
    }
}

/// A doorbell record. Given back when dropped.
#[derive(Debug)]
pub(crate) struct Record {
    records: Arc<Records>,
    index: u32,
}

impl Record {
    /// Its first word.
    pub(crate) fn start(&self) -> NonNull<u32> {
        // SAFETY: inside of the space.
        unsafe { self.records.space.start().add(self.index as usize * RECORD_BYTES) }.cast()
    }

    /// The device that the memory is registered with.
    pub(crate) fn context(&self) -> &Context {
        self.records.space.context()
    }

    /// The memory that it lies in.
    pub(crate) fn umem(&self) -> UmemId {
        self.records.space.umem()
    }

    /// Where in that memory.
    pub(crate) fn offset(&self) -> u64 {
        self.records.space.offset() + u64::from(self.index) * RECORD_BYTES as u64
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        *self.records.used.lock().unwrap_or_else(PoisonError::into_inner) &= !(1 << self.index);
    }
}
