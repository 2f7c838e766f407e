//! Maps a completion to its owner: values found by queue pair number. Knows completions and numbers, and no queue.

use crate::hint::cold_path;
use core::fmt;
use core::mem::MaybeUninit;

use crate::cq::{CqeView, Source};
use crate::types::Qpn;

/// The owners of a shared completion queue's queue pairs: a value for each, such as a queue, a connection or an index.
///
/// Fill it when you set up queues. A completion then finds its value by one table lookup ([`find`](Self::find)):
///
/// ```
/// # use blueflame::queue::Done;
/// # use blueflame::{ByQpn, CompleteError, CompletionQueue, SendQueue, transport};
/// fn poll(
///     cq: &mut CompletionQueue,
///     queues: &mut ByQpn<SendQueue<transport::Rc>>,
/// ) -> Result<usize, CompleteError<Done>> {
///     cq.try_poll_with(16, |cqe| {
///         // A queue pair that is gone, or one that never was: nothing the NIC writes is trusted.
///         let Some(sq) = queues.find(&cqe) else { return Ok(()) };
///         let done = sq.complete(&cqe)?;
///         println!("{:?}: {:?}", cqe.qpn(), done.wr_id);
///         Ok(())
///     })
/// }
/// ```
///
/// Completions of received raw packets carry flow tags, so they are not found by number. Their queue pair is the only
/// receiver of its completion queue ([`Receiver`](crate::cq::setup::Receiver)).
///
/// # Why by number, and not by the user index
///
/// CQEs of version 1 carry an index that the creator of the queue pair chose ([`CqeView::uidx`]). If you create queue
/// pairs through DevX, you choose it: index an array by it. For queue pairs made through verbs, libmlx5 chooses it for
/// its own use. It takes the lowest free index of the context (rdma-core `providers/mlx5/mlx5.c`, `get_free_uidx`),
/// for queue pairs and shared receive queues alike, and hands it to the kernel. No function sets or returns it
/// (`mlx5dv.h`). The number is in every CQE of either version and known from the beginning. Looking it up costs the
/// same: load, swap, mask, compare.
///
/// # How it is laid out
///
/// The table is a power of two long, at least twice the number of values. The value of number `n` is at `n` modulo the
/// length. Devices give numbers out one after the other, so as a rule no two numbers share a place. Where two do, the
/// table doubles, up to sixteen times the values; beyond that a value goes to the next free place. Numbers lie apart
/// from values: those of 64 queue pairs are eight cache lines.
pub struct ByQpn<T> {
    /// The number of the value at the same place, or [`EMPTY`].
    numbers: Box<[u32]>,
    /// Values; written where the number is not [`EMPTY`].
    values: Box<[MaybeUninit<T>]>,
    /// One less than the length of both, a power of two.
    mask: u32,
    len: usize,
}

/// Marks a place without a value: no number has more than 24 bits.
const EMPTY: u32 = u32::MAX;
/// Places of an empty table.
const FEWEST: usize = 8;
/// The table grows to this many places for each value to keep numbers apart.
const MOST_PER_VALUE: usize = 16;

impl<T> ByQpn<T> {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::with_places(FEWEST)
    }

    fn with_places(places: usize) -> Self {
        debug_assert!(places.is_power_of_two() && u32::try_from(places).is_ok());
        Self {
            numbers: vec![EMPTY; places].into(),
            values: Box::new_uninit_slice(places),
            mask: (places - 1) as u32,
            len: 0,
        }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of the completion's queue pair. `None` if the table has no such queue pair.
    #[inline(always)]
    pub fn find<S: Source>(&mut self, cqe: &CqeView<S>) -> Option<&mut T> {
        self.get_mut(cqe.qpn())
    }

    /// The value of queue pair `qpn`.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, qpn: Qpn) -> Option<&T> {
        let place = self.place(qpn)?;
        // SAFETY: in the table, and written.
        Some(unsafe { self.values.get_unchecked(place).assume_init_ref() })
    }

    /// The value of queue pair `qpn`.
    #[inline(always)]
    pub fn get_mut(&mut self, qpn: Qpn) -> Option<&mut T> {
        let place = self.place(qpn)?;
        // SAFETY: in the table, and written.
        Some(unsafe { self.values.get_unchecked_mut(place).assume_init_mut() })
    }

    /// The place of `qpn`'s value: less than the length, and written.
    #[inline(always)]
    fn place(&self, qpn: Qpn) -> Option<usize> {
        let mut place = qpn.get() & self.mask;
        loop {
            // SAFETY: the mask is one less than the length.
            let number = *unsafe { self.numbers.get_unchecked(place as usize) };
            if number == qpn.get() {
                return Some(place as usize);
            }
            // Displaced, or not there. At least half of the places are empty, so this ends.
            cold_path();
            if number == EMPTY {
                return None;
            }
            place = (place + 1) & self.mask;
        }
    }

    /// Gives queue pair `qpn` a value. Returns its previous value, if any. As a rule that one belonged to a destroyed
    /// queue pair, because the device gives numbers out again.
    pub fn insert(&mut self, qpn: Qpn, value: T) -> Option<T> {
        if let Some(before) = self.get_mut(qpn) {
            return Some(core::mem::replace(before, value));
        }
        let mut places = self.numbers.len().max((2 * (self.len + 1)).next_power_of_two());
        while self.meets(qpn, places) && 2 * places <= MOST_PER_VALUE * (self.len + 1) {
            places *= 2;
        }
        if places != self.numbers.len() {
            self.rebuild(places);
        }
        self.put(qpn.get(), value);
        None
    }

    /// Removes the value of queue pair `qpn` and returns it.
    pub fn remove(&mut self, qpn: Qpn) -> Option<T> {
        let mut gap = self.place(qpn)?;
        // SAFETY: written, and not looked at again: the place is empty from here on, or has another value.
        let value = unsafe { self.values[gap].assume_init_read() };
        self.numbers[gap] = EMPTY;
        self.len -= 1;
        // Values that were displaced past the gap move up; otherwise they would not be found.
        let mask = self.mask as usize;
        let mut next = (gap + 1) & mask;
        while self.numbers[next] != EMPTY {
            let home = (self.numbers[next] & self.mask) as usize;
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(gap) & mask {
                self.numbers[gap] = core::mem::replace(&mut self.numbers[next], EMPTY);
                self.values.swap(gap, next);
                gap = next;
            }
            next = (next + 1) & mask;
        }
        Some(value)
    }

    /// Numbers and values, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Qpn, &T)> {
        let places = self.numbers.iter().zip(&self.values).filter(|(number, _)| **number != EMPTY);
        // SAFETY: written where the number is not empty.
        places.map(|(&number, value)| (Qpn::truncate(number), unsafe { value.assume_init_ref() }))
    }

    /// Iterates over the numbers and their values, to change the values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Qpn, &mut T)> {
        let places = self.numbers.iter().zip(&mut self.values).filter(|(number, _)| **number != EMPTY);
        // SAFETY: written where the number is not empty.
        places.map(|(&number, value)| (Qpn::truncate(number), unsafe { value.assume_init_mut() }))
    }

    /// Whether a new number's home is already another number's home, in a table of `places` places.
    fn meets(&self, qpn: Qpn, places: usize) -> bool {
        if places == self.numbers.len() {
            return self.numbers[(qpn.get() & self.mask) as usize] != EMPTY;
        }
        self.iter().any(|(other, _)| (other.get() ^ qpn.get()) as usize & (places - 1) == 0)
    }

    fn rebuild(&mut self, places: usize) {
        let mut before = core::mem::replace(self, Self::with_places(places));
        for place in 0..before.numbers.len() {
            let number = core::mem::replace(&mut before.numbers[place], EMPTY);
            if number != EMPTY {
                // SAFETY: written, and not looked at again: the place is empty from here on.
                self.put(number, unsafe { before.values[place].assume_init_read() });
            }
        }
    }

    /// Puts a new value at its home or the next free place; a free place exists.
    fn put(&mut self, number: u32, value: T) {
        let mut place = number & self.mask;
        while self.numbers[place as usize] != EMPTY {
            place = (place + 1) & self.mask;
        }
        self.values[place as usize].write(value);
        self.numbers[place as usize] = number;
        self.len += 1;
    }
}

impl<T> Default for ByQpn<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for ByQpn<T> {
    fn drop(&mut self) {
        for (number, value) in self.numbers.iter().zip(&mut self.values) {
            if *number != EMPTY {
                // SAFETY: written where the number is not empty, and not used again.
                unsafe { value.assume_init_drop() };
            }
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for ByQpn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use proptest::prelude::*;

    use super::*;

    fn qpn(number: u32) -> Qpn {
        Qpn::new(number).expect("24 bits")
    }

    #[test]
    fn numbers_in_a_row_do_not_meet() {
        let mut by = ByQpn::new();
        for number in 0x1_23f0..0x1_2430 {
            assert_eq!(by.insert(qpn(number), number), None);
        }
        assert_eq!((by.len(), by.numbers.len()), (64, 128));
        for number in 0x1_23f0..0x1_2430 {
            assert_eq!(by.numbers[(number & by.mask) as usize], number, "at home");
            assert_eq!(by.get(qpn(number)), Some(&number));
        }
        assert_eq!(by.get(qpn(0x1_2430)), None);
        // These numbers differ, but have the same places.
        assert_eq!(by.get(qpn(0x1_2400 ^ 0x80_0000)), None);
    }

    #[test]
    fn a_table_grows_to_keep_numbers_apart_and_not_for_ever() {
        let mut by = ByQpn::new();
        // Every 16th number.
        (0..8).for_each(|n| _ = by.insert(qpn(16 * n), n));
        assert_eq!(by.numbers.len(), 128);
        // Numbers that no table of fewer places keeps apart.
        let mut by = ByQpn::new();
        (0..8).for_each(|n| _ = by.insert(qpn(n << 20), n));
        assert!(by.numbers.len() <= 8 * MOST_PER_VALUE, "{}", by.numbers.len());
        assert!((0..8).all(|n| by.get(qpn(n << 20)) == Some(&n)));
        assert_eq!(by.get(qpn(8 << 20)), None);
    }

    #[test]
    fn a_number_given_out_again_replaces_what_was_there() {
        let mut by = ByQpn::new();
        assert_eq!(by.insert(qpn(7), "old"), None);
        assert_eq!(by.insert(qpn(7), "new"), Some("old"));
        assert_eq!((by.remove(qpn(7)), by.remove(qpn(7)), by.is_empty()), (Some("new"), None, true));
    }

    #[test]
    fn values_are_dropped_once() {
        let value = Rc::new(());
        let mut by = ByQpn::new();
        (0..100).for_each(|n| _ = by.insert(qpn(n * 1000), Rc::clone(&value)));
        assert_eq!(Rc::strong_count(&value), 101);
        (0..50).for_each(|n| drop(by.remove(qpn(n * 1000))));
        assert_eq!(Rc::strong_count(&value), 51);
        drop(by);
        assert_eq!(Rc::strong_count(&value), 1);
    }

    proptest! {
        /// Behaves as a map from the standard library, for any numbers that a device gives out.
        #[test]
        fn as_a_map(
            steps in proptest::collection::vec((any::<bool>(), 0..24_u32, 0..12_u32), 1..200),
        ) {
            let (mut by, mut map) = (ByQpn::new(), BTreeMap::new());
            for (n, (insert, shift, low)) in steps.into_iter().enumerate() {
                let number = (low << shift) & Qpn::MAX;
                if insert {
                    prop_assert_eq!(by.insert(qpn(number), n), map.insert(number, n));
                } else {
                    prop_assert_eq!(by.remove(qpn(number)), map.remove(&number));
                }
                prop_assert_eq!(by.len(), map.len());
                prop_assert!(2 * by.len() <= by.numbers.len());
                let mut found: Vec<_> = by.iter_mut().map(|(qpn, value)| (qpn.get(), *value)).collect();
                found.sort_unstable();
                prop_assert_eq!(found, map.iter().map(|(&number, &n)| (number, n)).collect::<Vec<_>>());
                for (&number, &n) in &map {
                    prop_assert_eq!(by.get_mut(qpn(number)).copied(), Some(n));
                }
            }
        }
    }
}
