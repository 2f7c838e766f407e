//! A table of objects that do work in the steps of the device. Most of them are idle most of the time. A step visits
//! the busy ones only, so thousands of idle queues cost it nothing.
//!
//! An object gets work through a `&mut T`. Each method that gives one makes the object busy. The next step visits the
//! object and says whether it stays busy.

use crate::error::Error;
use crate::table::Table;
use std::collections::BTreeSet;
use std::ops::Deref;

/// Objects by number, and the numbers of the busy ones.
#[derive(Debug)]
pub(crate) struct BusyTable<T> {
    table: Table<T>,
    busy: BTreeSet<u32>,
}

/// Reading makes no object busy.
impl<T> Deref for BusyTable<T> {
    type Target = Table<T>;

    fn deref(&self) -> &Table<T> {
        &self.table
    }
}

impl<T> From<Table<T>> for BusyTable<T> {
    fn from(table: Table<T>) -> Self {
        let busy = table.iter().map(|(number, _)| number).collect();
        Self { table, busy }
    }
}

impl<T> BusyTable<T> {
    /// Visits the busy objects, lowest number first. `work` returns whether the object stays busy.
    pub(crate) fn visit(&mut self, mut work: impl FnMut(u32, &mut T) -> bool) {
        let table = &mut self.table;
        self.busy.retain(|&number| table.get_mut(number).is_some_and(|object| work(number, object)));
    }

    /// The same, but number `first` comes first, and the numbers below it come last.
    pub(crate) fn visit_from(&mut self, first: u32, mut work: impl FnMut(u32, &mut T) -> bool) {
        let table = &mut self.table;
        let mut visit = |number| table.get_mut(number).is_some_and(|object| work(number, object));
        self.busy.retain(|&number| number < first || visit(number));
        self.busy.retain(|&number| number >= first || visit(number));
    }

    /// The busy objects, lowest number first.
    pub(crate) fn busy(&self) -> impl Iterator<Item = &T> {
        self.busy.iter().filter_map(|&number| self.table.get(number))
    }

    /// As [`Table::reserve`].
    pub(crate) fn reserve(&mut self) -> Result<u32, Error> {
        self.table.reserve()
    }

    /// As [`Table::hold`].
    pub(crate) fn hold(&mut self) -> Result<u32, Error> {
        self.table.hold()
    }

    /// As [`Table::release`].
    pub(crate) fn release(&mut self, number: u32) {
        self.table.release(number);
    }

    /// As [`Table::clear`].
    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.busy.clear();
    }

    pub(crate) fn insert(&mut self, number: u32, object: T) {
        self.busy.insert(number);
        self.table.insert(number, object);
    }

    /// The object with this number.
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let object = self.table.get_mut(number)?;
        self.busy.insert(number);
        Some(object)
    }

    /// The object, or the error that says there is none.
    pub(crate) fn find_mut(&mut self, number: u32) -> Result<&mut T, Error> {
        let object = self.table.find_mut(number)?;
        self.busy.insert(number);
        Ok(object)
    }

    /// All objects, by number.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        self.busy.extend(self.table.iter().map(|(number, _)| number));
        self.table.iter_mut()
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        self.busy.remove(&number);
        self.table.remove(number)
    }

    /// As [`Table::remove_unused`].
    pub(crate) fn remove_unused(&mut self, number: u32, users: impl Fn(&T) -> u32) -> Result<T, Error> {
        let object = self.table.remove_unused(number, users)?;
        self.busy.remove(&number);
        Ok(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Object;

    /// The numbers that a step visits, each of which stays busy if `stays` says so.
    fn visited(table: &mut BusyTable<u32>, stays: bool) -> Vec<u32> {
        let mut numbers = Vec::new();
        table.visit(|number, _| {
            numbers.push(number);
            stays
        });
        numbers
    }

    #[test]
    fn an_object_is_visited_until_it_is_idle_and_again_when_it_is_touched() {
        let mut table = BusyTable::from(Table::new(Object::Qp, 5, 9));
        for _ in 0..4 {
            let number = table.reserve().unwrap();
            table.insert(number, 0);
        }
        assert_eq!(visited(&mut table, true), [5, 6, 7, 8], "new ones");
        assert_eq!(visited(&mut table, false), [5, 6, 7, 8]);
        assert!(table.get(6).is_some() && table.find(7).is_ok() && table.iter().count() == 4);
        assert_eq!(visited(&mut table, false), [], "nobody has touched them");
        *table.get_mut(8).unwrap() = 1;
        *table.find_mut(6).unwrap() = 1;
        assert!(table.get_mut(9).is_none() && table.find_mut(4).is_err());
        assert_eq!(table.busy().count(), 2);
        assert_eq!(visited(&mut table, false), [6, 8]);
        let mut numbers = Vec::new();
        table.iter_mut().for_each(|_| ());
        table.visit_from(7, |number, _| {
            numbers.push(number);
            false
        });
        assert_eq!(numbers, [7, 8, 5, 6]);
        assert_eq!(table.busy().count(), 0);
        table.iter_mut().for_each(|(_, object)| *object += 1);
        table.remove(7).unwrap();
        table.remove_unused(5, |_| 0).unwrap();
        assert_eq!(visited(&mut table, false), [6, 8]);
        table.get_mut(6).unwrap();
        table.clear();
        assert_eq!(table.busy().count(), 0);
    }
}
