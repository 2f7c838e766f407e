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

/// The words of one kind of queue, by number.
#[derive(Debug, Default)]
pub(super) struct Records(BTreeMap<u32, Word>);

impl Records {
    /// Adds queue `number`, with its word at `at`. A queue that is here already stays as it is.
    pub(super) fn add(&mut self, number: u32, at: u64) {
        self.0.entry(number).or_insert(Word { at, seen: None });
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
}
