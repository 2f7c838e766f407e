//! The words of doorbell records in which a device looks for doorbells, each with its last value.
//!
//! A device that polls looks at all of them ([`Records::look`]). One that sees the stores to its registers looks at the
//! words of the queues that were rung ([`Page::look_at`]). If it may have missed a store to a UAR page, it looks at all
//! words of the page's queues, some at a time ([`Page::look_again`]).

use crate::memory::HostMemory;
use std::collections::BTreeMap;

/// A word in memory.
#[derive(Clone, Copy, Debug)]
struct Word {
    at: u64,
    /// The last value. `None`: the queue has taken none yet.
    seen: Option<u32>,
}

/// Bits of a send doorbell record that are no part of the producer index. Drivers store 0 there: rdma-core
/// `providers/mlx5/qp.c`, `post_send_db`; UCX `src/uct/ib/mlx5/ib_mlx5.inl`, `uct_ib_mlx5_txwq_ring_doorbell`.
const STALE: u32 = 0xffff_0000;

/// The words of the queues that ring on one UAR page.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// By the queue's number.
    words: BTreeMap<u32, Word>,
    /// How many words may have values that were not seen.
    doubtful: usize,
    /// The first of them is that of the lowest number from here on. Behind the last number comes the first.
    next: u32,
}

/// The words of one kind of queue.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// By UAR page; each has words.
    pages: BTreeMap<u32, Page>,
}

impl Records {
    /// Adds queue `number`, which rings on UAR page `page` and has its word at `at`. The word's present value is news. A
    /// queue that is here already stays as it is.
    pub(super) fn add(&mut self, page: u32, number: u32, at: u64) {
        self.pages.entry(page).or_default().words.entry(number).or_insert(Word { at, seen: None });
    }

    /// Adds a send queue that leaves the reset state. Its producer index is 0, regardless of its record: a NIC executes
    /// WQEs after a store to the register, and no driver has made one yet. Drivers need not clear the record. UCX does
    /// not for a DCI that it resets (`src/uct/ib/mlx5/dc/dc_mlx5.c`, `uct_dc_mlx5_dci_reset` and
    /// `uct_ib_mlx5_txwq_reset`), nor DPDK for an SQ (`drivers/net/mlx5/mlx5_txq.c`, `mlx5_tx_queue_stop_primary`).
    ///
    /// The driver may announce the index that the record has already: as many WQEs as it posted before the reset. So the
    /// device marks a stale index as [`STALE`]. A record that the driver has cleared stays as it is.
    pub(super) fn add_send(&mut self, (page, number): (u32, u32), at: u64, memory: &dyn HostMemory) {
        self.pages.entry(page).or_default().words.entry(number).or_insert_with(|| {
            let mut seen = memory.load_be32(at).ok();
            if let Some(stale) = &mut seen {
                let marked = *stale | STALE;
                // In memory that cannot be written, the same index again is not seen.
                if *stale != 0 && memory.write(at, &marked.to_be_bytes()).is_ok() {
                    *stale = marked;
                }
            }
            Word { at, seen }
        });
    }

    /// Removes a queue, and forgets the last value of its word.
    pub(super) fn remove(&mut self, page: u32, number: u32) {
        let Some(there) = self.pages.get_mut(&page) else { return };
        there.words.remove(&number);
        if there.words.is_empty() {
            self.pages.remove(&page);
        }
    }

    pub(super) fn clear(&mut self) {
        self.pages.clear();
    }

    /// The UAR pages on which queues ring, by number.
    pub(super) fn pages_mut(&mut self) -> impl Iterator<Item = (u32, &mut Page)> {
        self.pages.iter_mut().map(|(&number, page)| (number, page))
    }

    /// Looks at all words, and gives each new value to `take`. A value that `take` refuses is new at the next look,
    /// too. A word that cannot be read is no doorbell.
    pub(super) fn look(&mut self, memory: &dyn HostMemory, mut take: impl FnMut(u32, u32) -> bool) {
        for page in self.pages.values_mut() {
            page.words.iter_mut().for_each(|(&number, word)| word.look(number, memory, &mut take));
        }
    }
}

impl Page {
    /// Looks at the word of one queue, which was rung, as [`Records::look`] does. The store may be one of before a reset:
    /// a value that was seen, or a stale one, is no doorbell.
    pub(super) fn look_at(&mut self, number: u32, memory: &dyn HostMemory, take: &mut impl FnMut(u32, u32) -> bool) {
        if let Some(word) = self.words.get_mut(&number) {
            word.look(number, memory, take);
        }
    }

    /// Any word may have a value that was not seen.
    pub(super) fn doubt(&mut self) {
        self.doubtful = self.words.len();
    }

    /// Looks at the next words that may have values that were not seen, at most `limit`, as [`Records::look`] does.
    /// True if there are more.
    pub(super) fn look_again(
        &mut self,
        limit: usize,
        memory: &dyn HostMemory,
        take: &mut impl FnMut(u32, u32) -> bool,
    ) -> bool {
        if self.doubtful == 0 {
            return false;
        }
        // Queues may have gone meanwhile.
        self.doubtful = self.doubtful.min(self.words.len());
        let count = limit.min(self.doubtful);
        let (first, mut looked) = (self.next, 0);
        for range in [first..=u32::MAX, 0..=first] {
            for (&number, word) in self.words.range_mut(range).take(count - looked) {
                word.look(number, memory, take);
                (looked, self.next) = (looked + 1, number.wrapping_add(1));
            }
        }
        self.doubtful -= count;
        self.doubtful != 0
    }
}

impl Word {
    fn look(&mut self, number: u32, memory: &dyn HostMemory, take: &mut impl FnMut(u32, u32) -> bool) {
        let Ok(found) = memory.load_be32(self.at) else { return };
        if self.seen != Some(found) && take(number, found) {
            self.seen = Some(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ArrayMemory;
    use crate::memory::test_memory::BASE;

    const PAGE: u32 = 5;

    #[test]
    fn a_word_is_taken_once_for_each_change() {
        let memory = ArrayMemory::filled(BASE, 0x1000, 0);
        let mut records = Records::default();
        let look = |records: &mut Records, takes: bool| {
            let mut found = Vec::new();
            records.look(&memory, |number, word| {
                found.push((number, word));
                takes
            });
            found
        };
        records.add(PAGE, 7, BASE + 0x10);
        records.add(PAGE, 3, BASE + 0x20);
        records.add(PAGE + 1, 9, BASE + 0x10_0000);
        assert_eq!(look(&mut records, false), [(3, 0), (7, 0)], "9 has no memory");
        assert_eq!(look(&mut records, true), [(3, 0), (7, 0)], "they were refused");
        assert_eq!(look(&mut records, true), []);
        memory.put(0x10, &5_u32.to_be_bytes());
        records.add(PAGE, 3, BASE + 0x10);
        assert_eq!(look(&mut records, true), [(7, 5)], "3 stays where it is");
        records.remove(PAGE, 7);
        records.add(PAGE, 7, BASE + 0x10);
        assert_eq!(look(&mut records, true), [(7, 5)], "what was found is forgotten");
        records.clear();
        assert_eq!(look(&mut records, true), []);
    }

    /// The word that a send queue has when it leaves the reset state is no doorbell. Each later store is one, even of
    /// the same index.
    #[test]
    fn a_stale_word_is_taken_when_it_is_stored_again() {
        let memory = ArrayMemory::filled(BASE, 0x1000, 0);
        let look = |records: &mut Records| {
            let mut found = Vec::new();
            records.look(&memory, |_, word| {
                found.push(word);
                true
            });
            found
        };
        for (stale, marked, stored) in [(5, 0xffff_0005, 5), (5, 0xffff_0005, 1), (0x8000, 0xffff_8000, 0), (0, 0, 1)] {
            let mut records = Records::default();
            memory.put(0x10, &u32::to_be_bytes(stale));
            records.add_send((PAGE, 7), BASE + 0x10, &memory);
            assert_eq!((look(&mut records), memory.load_be32(BASE + 0x10)), (vec![], Ok(marked)));
            memory.put(0x10, &u32::to_be_bytes(stored));
            records.add_send((PAGE, 7), BASE + 0x10, &memory);
            assert_eq!((look(&mut records), look(&mut records)), (vec![stored], vec![]), "{stale:#x}");
        }
        let mut unreachable = Records::default();
        unreachable.add_send((PAGE, 7), BASE + 0x10_0000, &memory);
        assert_eq!(look(&mut unreachable), []);
    }

    #[test]
    fn the_word_of_the_queue_that_was_rung_is_looked_at() {
        let memory = ArrayMemory::filled(BASE, 0x1000, 0);
        memory.put(0x10, &5_u32.to_be_bytes());
        let mut records = Records::default();
        records.add_send((PAGE, 7), BASE + 0x10, &memory);
        records.add(PAGE, 8, BASE + 0x20);
        let look = |records: &mut Records| {
            let mut found = Vec::new();
            for number in [7, 9] {
                records.pages.get_mut(&PAGE).unwrap().look_at(number, &memory, &mut |number, word| {
                    found.push((number, word));
                    true
                });
            }
            found
        };
        assert_eq!(look(&mut records), [], "the store to the register was one of before the reset");
        memory.put(0x10, &5_u32.to_be_bytes());
        assert_eq!((look(&mut records), look(&mut records)), (vec![(7, 5)], vec![]));
    }

    #[test]
    fn words_in_doubt_are_looked_at_in_turns() {
        let memory = ArrayMemory::filled(BASE, 0x1000, 0);
        let mut records = Records::default();
        (0..5).for_each(|number| records.add(PAGE, number, BASE + 8 * u64::from(number)));
        let mut value = 0_u32;
        // All words change before each look.
        let mut look = |records: &mut Records, limit, more| {
            value += 1;
            (0..5).for_each(|number| memory.put(8 * number, &value.to_be_bytes()));
            let mut found = Vec::new();
            let page = records.pages.get_mut(&PAGE).unwrap();
            let has_more = page.look_again(limit, &memory, &mut |number, _| {
                found.push(number);
                true
            });
            assert_eq!(has_more, more);
            found
        };
        let doubt = |records: &mut Records| records.pages_mut().for_each(|(_, page)| page.doubt());
        assert_eq!(look(&mut records, 9, false), [], "nothing is in doubt");
        doubt(&mut records);
        assert_eq!(look(&mut records, 2, true), [0, 1]);
        // A store is missed again: each word is looked at once more, and none waits for ever.
        doubt(&mut records);
        assert_eq!(look(&mut records, 2, true), [2, 3]);
        assert_eq!(look(&mut records, 2, true), [4, 0]);
        assert_eq!(look(&mut records, 2, false), [1]);
        assert_eq!(look(&mut records, 2, false), []);
        doubt(&mut records);
        (0..4).for_each(|number| records.remove(PAGE, number));
        assert_eq!(look(&mut records, 9, false), [4]);
        records.add(PAGE, 3, BASE + 24);
        doubt(&mut records);
        assert_eq!(look(&mut records, usize::MAX, false), [3, 4], "behind the last one comes the first");
        (3..5).for_each(|number| records.remove(PAGE, number));
        assert_eq!(records.pages_mut().count(), 0);
    }
}
