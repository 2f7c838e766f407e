//! The pages behind a memory key whose driver names them, all at once or one after the other (access mode MTT). They
//! are entries of a translation table; each has a page's host address and the rights to it.

use super::need::Need;

/// Bytes of an entry.
pub(crate) const ENTRY_BYTES: usize = 8;
/// Right that an entry grants (Linux `MLX5_EN_RD`, `MLX5_EN_WR`). An entry without either names no page.
pub(crate) const READ: u64 = 1;
/// As [`READ`].
pub(crate) const WRITE: u64 = 2;

/// Entries of a translation table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageTable {
    entries: Vec<u64>,
    /// log2 of a page's bytes.
    log_bytes: u8,
}

impl PageTable {
    /// A table of pages of two to the power of `log_bytes` bytes.
    pub(crate) fn new(entries: Vec<u64>, log_bytes: u8) -> Self {
        Self { entries, log_bytes }
    }

    /// log2 of a page's bytes.
    pub(crate) fn log_bytes(&self) -> u8 {
        self.log_bytes
    }

    /// From now on a page has two to the power of `log_bytes` bytes.
    pub(crate) fn set_log_bytes(&mut self, log_bytes: u8) {
        self.log_bytes = log_bytes;
    }

    /// Entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Writes entries from number `at` on. Unwritten entries before it name no page.
    pub(crate) fn put(&mut self, at: usize, entries: impl ExactSizeIterator<Item = u64>) {
        let end = at + entries.len();
        if self.entries.len() < end {
            self.entries.resize(end, 0);
        }
        self.entries[at..end].iter_mut().zip(entries).for_each(|(to, entry)| *to = entry);
    }

    /// The host address of byte `at`, counted from the beginning of the first page. Returns also the number of bytes,
    /// up to `most`, that lie in a row from there on and permit `need`. `None` if that byte does not.
    pub(crate) fn find(&self, at: u64, most: u64, need: Need) -> Option<(u64, u64)> {
        let bytes = 1_u64 << (self.log_bytes & 63);
        let within = at % bytes;
        let mut index = usize::try_from(at / bytes).ok()?;
        let first = self.page(index, need)?;
        let mut left = bytes - within;
        let mut last = first;
        while left < most {
            index += 1;
            match self.page(index, need) {
                Some(page) if Some(page) == last.checked_add(bytes) => last = page,
                _ => break,
            }
            left += bytes;
        }
        Some((first.checked_add(within)?, left.min(most)))
    }

    /// The page of entry `index`, if that permits `need`.
    fn page(&self, index: usize, need: Need) -> Option<u64> {
        let entry = *self.entries.get(index)?;
        let rights = match need {
            Need::LocalRead | Need::RemoteRead => READ,
            Need::LocalWrite | Need::RemoteWrite => WRITE,
            Need::RemoteAtomic => READ | WRITE,
        };
        let page = entry & !(READ | WRITE);
        let aligned = page % (1 << (self.log_bytes & 63)) == 0;
        (entry & rights == rights && aligned).then_some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: u64 = READ | WRITE;

    #[test]
    fn pages_in_a_row_are_found_at_once_and_not_past_them() {
        let table = PageTable::new(vec![0x5000 | BOTH, 0x6000 | BOTH, 0x1000 | BOTH], 12);
        assert_eq!(table.find(0x10, 0x20, Need::LocalRead), Some((0x5010, 0x20)));
        assert_eq!(table.find(0x10, 0x2fff, Need::LocalRead), Some((0x5010, 0x1ff0)));
        assert_eq!(table.find(0x2fff, 0x10, Need::LocalWrite), Some((0x1fff, 1)));
        assert_eq!(table.find(0x3000, 1, Need::LocalRead), None);
        assert_eq!(table.find(u64::MAX, u64::MAX, Need::LocalRead), None);
    }

    #[test]
    fn entries_say_what_may_be_done() {
        let table = PageTable::new(vec![0x5000 | READ, 0x6000 | WRITE, 0x7000, 0x8800 | BOTH], 12);
        assert_eq!(table.find(0, 0x2000, Need::RemoteRead), Some((0x5000, 0x1000)));
        assert_eq!(table.find(0, 1, Need::LocalWrite), None);
        assert_eq!(table.find(0x1000, 1, Need::RemoteWrite), Some((0x6000, 1)));
        for need in [Need::LocalRead, Need::RemoteAtomic] {
            assert_eq!(table.find(0x1000, 8, need), None);
        }
        assert_eq!(table.find(0x2000, 1, Need::LocalRead), None, "no page");
        assert_eq!(table.find(0x3000, 1, Need::LocalRead), None, "not the address of a page");
    }

    #[test]
    fn entries_are_written_anywhere() {
        let mut table = PageTable::new(Vec::new(), 12);
        table.put(2, [0x5000 | BOTH, 0x6000 | BOTH].into_iter());
        table.put(0, [0x4000 | BOTH].into_iter());
        assert_eq!((table.len(), table.find(0, 0x1000, Need::LocalRead)), (4, Some((0x4000, 0x1000))));
        assert_eq!(table.find(0x1000, 1, Need::LocalRead), None);
        assert_eq!(table.find(0x2008, 0x2000, Need::LocalRead), Some((0x5008, 0x1ff8)));
        table.set_log_bytes(13);
        assert_eq!(table.find(0x4000, 1, Need::LocalRead), None, "0x5000 is no page of 8 KiB");
        assert_eq!(table.find(0x6000, 0x2000, Need::LocalRead), Some((0x6000, 0x2000)));
    }
}
