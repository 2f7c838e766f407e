//! Tables of numbered objects, one for each kind. A freed number is not given out again at once, so that a stale number
//! is an error and not another object. QPNs may be given out lowest first instead, as firmware does.

use crate::error::{Error, Object};
use crate::runs::Runs;
use std::collections::{BTreeMap, BTreeSet};

/// Objects of one kind by number.
#[derive(Debug)]
pub(crate) struct Table<T> {
    object: Object,
    first: u32,
    count: u32,
    /// Offset from `first` at which the search for a free number begins.
    next: u32,
    /// The search begins at the lowest free number.
    reuses: bool,
    entries: BTreeMap<u32, T>,
    /// Numbers of objects in another table that shares the numbers.
    held: BTreeSet<u32>,
    /// Offsets of all of these numbers from `first`.
    taken: Runs,
}

impl<T> Table<T> {
    /// An empty table for the numbers from `first` on, `count` of them.
    pub(crate) fn new(object: Object, first: u32, count: u32) -> Self {
        let (entries, held, taken) = (BTreeMap::new(), BTreeSet::new(), Runs::default());
        Self { object, first, count, next: 0, reuses: false, entries, held, taken }
    }

    /// With `reuses`, gives out the lowest free number first, even one freed a moment ago.
    pub(crate) fn reusing(self, reuses: bool) -> Self {
        Self { reuses, ..self }
    }

    /// A free number: the one that has been unused for longest, or the lowest if the table reuses numbers.
    pub(crate) fn reserve(&mut self) -> Result<u32, Error> {
        if (self.entries.len() + self.held.len()) as u64 >= u64::from(self.count) {
            return Err(Error::Exhausted { object: self.object, limit: self.count });
        }
        let behind = self.taken.next_missing(self.next);
        // Behind the last number comes the first.
        let free = if behind < self.count { behind } else { self.taken.next_missing(0) };
        self.next = (free + 1) % self.count;
        Ok(self.first + free)
    }

    /// A free number for an object of another table, which shares the numbers with this one.
    pub(crate) fn hold(&mut self) -> Result<u32, Error> {
        let number = self.reserve()?;
        self.held.insert(number);
        self.take(number);
        Ok(number)
    }

    /// As [`Self::hold`], for `count` numbers in a row; returns the first.
    pub(crate) fn hold_row(&mut self, count: u32) -> Result<u32, Error> {
        let first = self.row(self.next, count).or_else(|| self.row(0, count));
        let first = first.ok_or(Error::Exhausted { object: self.object, limit: self.count })?;
        self.next = (first + count) % self.count;
        let numbers = self.first + first..self.first + first + count;
        for number in numbers.clone() {
            self.held.insert(number);
            self.take(number);
        }
        Ok(numbers.start)
    }

    /// Offset of the first `count` free numbers in a row, from offset `from` on.
    fn row(&self, from: u32, count: u32) -> Option<u32> {
        let mut at = self.taken.next_missing(from);
        loop {
            let end = self.taken.next_present(at).unwrap_or(self.count).min(self.count);
            if end.saturating_sub(at) >= count {
                return Some(at);
            }
            if end == self.count {
                return None;
            }
            at = self.taken.next_missing(end);
        }
    }

    /// Takes back a number that [`Self::hold`] or [`Self::hold_row`] gave.
    pub(crate) fn release(&mut self, number: u32) {
        if self.held.remove(&number) {
            self.reuse(number);
        }
    }

    /// Forgets all objects. Their numbers are given out again as late as those of destroyed ones.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.held.clear();
        self.taken.clear();
        if self.reuses {
            self.next = 0;
        }
    }

    pub(crate) fn insert(&mut self, number: u32, entry: T) {
        self.entries.insert(number, entry);
        self.take(number);
    }

    /// Whether the number belongs to this table, and is free.
    pub(crate) fn is_free(&self, number: u32) -> bool {
        number.checked_sub(self.first).is_some_and(|at| at < self.count)
            && !self.entries.contains_key(&number)
            && !self.held.contains(&number)
    }

    /// The object with this number.
    #[must_use]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.entries.get(&number)
    }

    /// The object with this number.
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.entries.get_mut(&number)
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        let entry = self.entries.remove(&number)?;
        self.reuse(number);
        Some(entry)
    }

    /// A number is not free any more. Those before `first` are the driver's to choose.
    fn take(&mut self, number: u32) {
        if let Some(offset) = number.checked_sub(self.first) {
            self.taken.insert(offset);
        }
    }

    /// A number is free again.
    fn reuse(&mut self, number: u32) {
        let Some(offset) = number.checked_sub(self.first) else { return };
        self.taken.remove(offset);
        if self.reuses {
            self.next = self.next.min(offset);
        }
    }

    /// How many objects there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The object, or the error that says there is none.
    pub(crate) fn find(&self, number: u32) -> Result<&T, Error> {
        self.entries.get(&number).ok_or(self.no_such(number))
    }

    /// The object, or the error that says there is none.
    pub(crate) fn find_mut(&mut self, number: u32) -> Result<&mut T, Error> {
        let missing = self.no_such(number);
        self.entries.get_mut(&number).ok_or(missing)
    }

    /// Removes the object if nothing refers to it; `users` counts.
    pub(crate) fn remove_unused(&mut self, number: u32, users: impl Fn(&T) -> u32) -> Result<T, Error> {
        match users(self.find(number)?) {
            0 => self.remove(number).ok_or(self.no_such(number)),
            users => Err(Error::Busy { object: self.object, number, users }),
        }
    }

    /// All objects, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.entries.iter().map(|(&n, t)| (n, t))
    }

    /// All objects, by number.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        self.entries.iter_mut().map(|(&n, t)| (n, t))
    }

    fn no_such(&self, number: u32) -> Error {
        Error::NoSuch { object: self.object, number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_number_comes_back_last() {
        let mut t = Table::new(Object::Cq, 5, 3);
        for expected in [5, 6, 7] {
            let n = t.reserve().unwrap();
            assert_eq!(n, expected);
            t.insert(n, ());
        }
        assert_eq!(t.reserve(), Err(Error::Exhausted { object: Object::Cq, limit: 3 }));
        t.remove(6).unwrap();
        t.remove(5).unwrap();
        let n = t.reserve().unwrap();
        assert_eq!(n, 5, "the search goes on from the last number given out, around the end");
        t.insert(n, ());
        assert_eq!(t.reserve().unwrap(), 6);
    }

    #[test]
    fn the_lowest_free_number_comes_first_where_numbers_are_reused() {
        let mut t = Table::new(Object::Qp, 5, 4).reusing(true);
        let mut next = || {
            let n = t.reserve().unwrap();
            t.insert(n, ());
            n
        };
        assert_eq!([next(), next(), next()], [5, 6, 7]);
        t.remove(6).unwrap();
        t.remove(5).unwrap();
        let mut next = || {
            let n = t.reserve().unwrap();
            t.insert(n, ());
            n
        };
        assert_eq!([next(), next(), next()], [5, 6, 8]);
        assert_eq!(t.reserve(), Err(Error::Exhausted { object: Object::Qp, limit: 4 }));
    }

    #[test]
    fn numbers_outside_of_the_table_are_not_free() {
        let t: Table<()> = Table::new(Object::Eq, 5, 3);
        assert_eq!([4, 5, 7, 8].map(|number| t.is_free(number)), [false, true, true, false]);
    }

    #[test]
    fn held_numbers_are_given_to_no_other() {
        let mut t: Table<()> = Table::new(Object::Qp, 5, 3).reusing(true);
        assert_eq!(t.hold(), Ok(5));
        assert!(!t.is_free(5) && t.get(5).is_none());
        assert_eq!((t.hold(), t.reserve()), (Ok(6), Ok(7)));
        t.insert(7, ());
        assert_eq!(t.reserve(), Err(Error::Exhausted { object: Object::Qp, limit: 3 }));
        t.release(7);
        assert_eq!(t.hold(), Err(Error::Exhausted { object: Object::Qp, limit: 3 }), "7 was not held");
        t.release(5);
        assert_eq!(t.reserve(), Ok(5));
    }

    #[test]
    fn rows_are_held_where_enough_numbers_are_free_side_by_side() {
        let full = Err(Error::Exhausted { object: Object::Qp, limit: 10 });
        let mut t: Table<()> = Table::new(Object::Qp, 5, 10);
        assert_eq!([t.hold(), t.hold_row(4), t.hold_row(4)], [Ok(5), Ok(6), Ok(10)]);
        assert_eq!(t.hold_row(2), full, "one is free");
        [7, 8].into_iter().for_each(|number| t.release(number));
        assert_eq!([t.hold_row(3), t.hold_row(2), t.hold(), t.hold()], [full.clone(), Ok(7), Ok(14), full.clone()]);
        (5..15).for_each(|number| t.release(number));
        assert_eq!([t.hold_row(11), t.hold_row(u32::MAX)], [full.clone(), full]);
        assert_eq!(t.hold_row(10), Ok(5), "around the end");
    }

    #[test]
    fn a_used_object_stays() {
        let mut t = Table::new(Object::Pd, 1, 9);
        t.insert(4, 2u32);
        assert_eq!(t.remove_unused(4, |&u| u), Err(Error::Busy { object: Object::Pd, number: 4, users: 2 }));
        assert_eq!(t.remove_unused(5, |&u| u), Err(Error::NoSuch { object: Object::Pd, number: 5 }));
        *t.get_mut(4).unwrap() = 0;
        assert!(t.remove_unused(4, |&u| u).is_ok());
    }
}
