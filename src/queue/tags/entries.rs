//! The entries of a list of tags: the free ones in order, and the completions still due for the others. Knows no queue.
//!
//! ```text
//!   head                            tail
//!    |                               |
//!    v                               v
//!   [2] -> [3] -> [0] -> ... -> [7] -> [1]     free, in the order in which they were freed
//! ```
//!
//! The device takes entries in the order in which they are named: each append has the number of the next one's entry.
//! So the last free entry is not taken, and a list of *n* tags has *n* + 1 entries.
use crate::types::{TagIndex, WrId};

/// The record of an entry, in private memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct TagRecord {
    /// The application's tag of the buffer.
    wr_id: u64,
    /// For a free entry, the next one.
    next: u16,
    /// Unexpected messages that the device was told of when it was appended.
    phase: u16,
    /// Operations on the list that are not done yet.
    operations: u8,
    /// [`BUFFER`], [`MATCHED`], [`REMOVAL`].
    state: u8,
}

/// The buffer is the device's.
const BUFFER: u8 = 1;
/// A message has matched; its data is on the way.
const MATCHED: u8 = 1 << 1;
/// It is to be removed.
const REMOVAL: u8 = 1 << 2;

/// The entries. `E` is memory for their records.
#[derive(Debug)]
pub(in crate::queue) struct Entries<E> {
    records: E,
    head: u16,
    tail: u16,
    /// Entries that are not free.
    taken: u16,
    /// The most that can be taken.
    tags: u16,
}

impl<E: AsRef<[TagRecord]> + AsMut<[TagRecord]>> Entries<E> {
    /// The most entries. Their numbers have 16 bits, and the last is not used, so that numbers of tags fit 16 bits as
    /// well.
    pub(in crate::queue) const MOST: usize = 1 << 15;

    /// All free. There are 2 to [`MOST`](Self::MOST) records.
    pub(in crate::queue) fn new(mut records: E) -> Self {
        let list = records.as_mut();
        for (n, record) in list.iter_mut().enumerate() {
            *record = TagRecord { next: n as u16 + 1, ..TagRecord::default() };
        }
        let tail = list.len().saturating_sub(1) as u16;
        Self { records, head: 0, tail, taken: 0, tags: tail }
    }

    pub(in crate::queue) const fn taken(&self) -> u16 {
        self.taken
    }

    pub(in crate::queue) const fn tags(&self) -> u16 {
        self.tags
    }

    fn of(&self, entry: TagIndex) -> Option<&TagRecord> {
        self.records.as_ref().get(usize::from(entry.0))
    }

    fn of_mut(&mut self, entry: TagIndex) -> Option<&mut TagRecord> {
        self.records.as_mut().get_mut(usize::from(entry.0))
    }

    /// The entry that an append takes now, and the one that it names; `None` if none is left.
    #[inline]
    pub(in crate::queue) fn next(&self) -> Option<(TagIndex, TagIndex)> {
        if self.head == self.tail {
            return None;
        }
        let entry = TagIndex(self.head);
        Some((entry, TagIndex(self.of(entry)?.next)))
    }

    /// The entry that [`next`](Self::next) gave is taken, by an append that is posted.
    #[inline]
    pub(in crate::queue) fn take(&mut self, (entry, next): (TagIndex, TagIndex), wr_id: WrId, phase: u16) {
        if let Some(record) = self.of_mut(entry) {
            *record = TagRecord { wr_id: wr_id.0, next: 0, phase, operations: 1, state: BUFFER };
            self.head = next.0;
            self.taken += 1;
        }
    }

    /// Whether the entry can be removed: its buffer is the device's, and no removal is posted.
    #[inline]
    pub(in crate::queue) fn is_removable(&self, entry: TagIndex) -> bool {
        self.of(entry).is_some_and(|record| record.state & (BUFFER | REMOVAL) == BUFFER)
    }

    /// A removal is posted.
    #[inline]
    pub(in crate::queue) fn remove(&mut self, entry: TagIndex) {
        if let Some(record) = self.of_mut(entry) {
            record.state |= REMOVAL;
            record.operations += 1;
        }
    }

    /// The append of an entry is done: the buffer's tag, and the count that it had; `None` if none is posted.
    #[inline]
    pub(in crate::queue) fn appended(&mut self, entry: TagIndex) -> Option<(WrId, u16)> {
        let record = self.of_mut(entry)?;
        record.operations = record.operations.checked_sub(1)?;
        let (wr_id, phase) = (WrId(record.wr_id), record.phase);
        self.free_if_done(entry);
        Some((wr_id, phase))
    }

    /// The removal of an entry is done, and `removed` says whether the entry was there: the buffer's tag. `None` if
    /// none is posted, or a message had the buffer before.
    #[inline]
    pub(in crate::queue) fn removed(&mut self, entry: TagIndex, removed: bool) -> Option<WrId> {
        let record = self.of_mut(entry)?;
        if removed && record.state & (BUFFER | MATCHED) != BUFFER {
            return None;
        }
        record.operations = record.operations.checked_sub(1)?;
        record.state &= if removed { !(BUFFER | REMOVAL) } else { !REMOVAL };
        let wr_id = WrId(record.wr_id);
        self.free_if_done(entry);
        Some(wr_id)
    }

    /// Records a message of the entry, and returns the buffer's tag. `matched`: this reports the match; `complete`:
    /// nothing more follows. `None` if the buffer is not the device's, or this reports nothing new of it.
    #[inline]
    pub(in crate::queue) fn message(&mut self, entry: TagIndex, matched: bool, complete: bool) -> Option<WrId> {
        let record = self.of_mut(entry)?;
        let has_matched = record.state & MATCHED != 0;
        let is_news = if has_matched { complete } else { matched };
        if record.state & BUFFER == 0 || !is_news {
            return None;
        }
        if complete {
            record.state &= !(BUFFER | MATCHED);
        } else {
            record.state |= MATCHED;
        }
        let wr_id = WrId(record.wr_id);
        self.free_if_done(entry);
        Some(wr_id)
    }

    /// Links the entry behind the tail, if nothing more is due for it.
    #[inline]
    fn free_if_done(&mut self, entry: TagIndex) {
        let tail = TagIndex(self.tail);
        match self.of(entry) {
            Some(record) if record.operations == 0 && record.state & BUFFER == 0 => {}
            _ => return,
        }
        if let Some(last) = self.of_mut(tail) {
            last.next = entry.0;
            self.tail = entry.0;
            self.taken -= 1;
        }
    }
}
