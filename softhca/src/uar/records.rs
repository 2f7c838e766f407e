//! The words of doorbell records in which a device looks for doorbells, each with its last value. A look touches no
//! queue whose word has the same value as before.

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

/// The words of one kind of queue, by number.
#[derive(Debug, Default)]
pub(super) struct Records(BTreeMap<u32, Word>);

impl Records {
    /// Adds queue `number`, with its word at `at`. The word's present value is news. A queue that is here already stays
    /// as it is.
    pub(super) fn add(&mut self, number: u32, at: u64) {
        self.0.entry(number).or_insert(Word { at, seen: None });
    }

    /// Adds a send queue that leaves the reset state. Its producer index is 0, whatever its record says: a NIC executes
    /// WQEs when the register is stored to, and no driver has done that yet. Drivers need not clear the record. UCX
    /// does not for a DCI that it resets (`src/uct/ib/mlx5/dc/dc_mlx5.c`, `uct_dc_mlx5_dci_reset` and
    /// `uct_ib_mlx5_txwq_reset`), nor DPDK for an SQ (`drivers/net/mlx5/mlx5_txq.c`, `mlx5_tx_queue_stop_primary`).
    ///
    /// The driver may announce the index that the record has already: as many WQEs as it posted before the reset. So the
    /// device marks a stale index as [`STALE`]. A record that the driver has cleared stays as it is.
    pub(super) fn add_send(&mut self, number: u32, at: u64, memory: &dyn HostMemory) {
        self.0.entry(number).or_insert_with(|| {
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
    pub(super) fn remove(&mut self, number: u32) {
        self.0.remove(&number);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Looks at all words, lowest number first, and gives each new value to `take`. A value that `take` refuses is new
    /// at the next look, too. A word that cannot be read is no doorbell.
    pub(super) fn look(&mut self, memory: &dyn HostMemory, mut take: impl FnMut(u32, u32) -> bool) {
        for (&number, word) in &mut self.0 {
            let Ok(found) = memory.load_be32(word.at) else { continue };
            if word.seen != Some(found) && take(number, found) {
                word.seen = Some(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ArrayMemory;
    use crate::memory::test_memory::BASE;

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
        records.add(7, BASE + 0x10);
        records.add(3, BASE + 0x20);
        records.add(9, BASE + 0x10_0000);
        assert_eq!(look(&mut records, false), [(3, 0), (7, 0)], "9 has no memory");
        assert_eq!(look(&mut records, true), [(3, 0), (7, 0)], "they were refused");
        assert_eq!(look(&mut records, true), []);
        memory.put(0x10, &5_u32.to_be_bytes());
        records.add(3, BASE + 0x10);
        assert_eq!(look(&mut records, true), [(7, 5)], "3 stays where it is");
        records.remove(7);
        records.add(7, BASE + 0x10);
        assert_eq!(look(&mut records, true), [(7, 5)], "what was found is forgotten");
        records.clear();
        assert_eq!(look(&mut records, true), []);
    }

    /// What a send queue's word is when the queue leaves the reset state is no doorbell. Each store afterwards is one,
    /// also of the same index.
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
            records.add_send(7, BASE + 0x10, &memory);
            assert_eq!((look(&mut records), memory.load_be32(BASE + 0x10)), (vec![], Ok(marked)));
            memory.put(0x10, &u32::to_be_bytes(stored));
            records.add_send(7, BASE + 0x10, &memory);
            assert_eq!((look(&mut records), look(&mut records)), (vec![stored], vec![]), "{stale:#x}");
        }
        let mut unreachable = Records::default();
        unreachable.add_send(7, BASE + 0x10_0000, &memory);
        assert_eq!(look(&mut unreachable), []);
    }
}
