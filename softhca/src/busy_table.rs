//! A table of objects that do work in the steps of the device. Most of them are idle most of the time. A step visits
//! the busy ones only, so thousands of idle queues cost it nothing.
//!
//! An object gets work through a `&mut T`. Each method that gives one makes the object busy. The next step visits the
//! object and says whether it stays busy, or until when it sleeps.

use crate::error::Error;
use crate::table::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::time::Duration;

/// Objects by number, the numbers of the busy ones, and the times at which others become busy.
#[derive(Debug)]
pub(crate) struct BusyTable<T> {
    table: Table<T>,
    busy: BTreeSet<u32>,
    alarms: Alarms,
}

/// When an object has to be visited again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next step visits it, too.
    Busy,
    /// It has nothing to do before this time, unless it gets work.
    At(Duration),
    /// It has nothing to do unless it gets work.
    Idle,
}

/// Times at which objects become busy, at most one of each.
#[derive(Debug, Default)]
struct Alarms {
    in_order: BTreeSet<(Duration, u32)>,
    times: BTreeMap<u32, Duration>,
}

impl Alarms {
    /// Object `number` becomes busy at `time`, and at no other.
    fn set(&mut self, number: u32, time: Option<Duration>) {
        let before = match time {
            Some(time) => self.times.insert(number, time),
            None => self.times.remove(&number),
        };
        if before != time {
            before.map(|before| self.in_order.remove(&(before, number)));
            time.map(|time| self.in_order.insert((time, number)));
        }
    }

    /// The next object that becomes busy until `now`.
    fn next(&mut self, now: Duration) -> Option<u32> {
        let &(_, number) = self.in_order.first().filter(|&&(time, _)| time <= now)?;
        self.set(number, None);
        Some(number)
    }
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
        Self { table, busy, alarms: Alarms::default() }
    }
}

impl<T> BusyTable<T> {
    /// Visits the objects that are busy at `now`, lowest number first. `work` returns the object's next state.
    pub(crate) fn visit(&mut self, now: Duration, work: impl FnMut(u32, &mut T) -> Next) {
        self.visit_from(0, now, work);
    }

    /// Visits the objects that are busy at `now`: number `first` comes first, and the numbers below it come last.
    pub(crate) fn visit_from(&mut self, first: u32, now: Duration, mut work: impl FnMut(u32, &mut T) -> Next) {
        let Self { table, busy, alarms } = self;
        busy.extend(std::iter::from_fn(|| alarms.next(now)));
        let mut stays_busy = |number| {
            let next = table.get_mut(number).map_or(Next::Idle, |object| work(number, object));
            alarms.set(number, if let Next::At(time) = next { Some(time) } else { None });
            next == Next::Busy
        };
        busy.retain(|&number| number < first || stays_busy(number));
        if first > 0 {
            busy.retain(|&number| number >= first || stays_busy(number));
        }
    }

    /// The earliest time at which there is something to do: a busy object says so by `deadline`.
    pub(crate) fn deadline(&self, deadline: impl Fn(&T) -> Option<Duration>) -> Option<Duration> {
        let busy = self.busy.iter().filter_map(|&number| deadline(self.table.get(number)?));
        // A busy object's alarm was set before it got its work.
        let alarm = self.alarms.in_order.iter().find(|(_, number)| !self.busy.contains(number));
        busy.chain(alarm.map(|&(time, _)| time)).min()
    }

    /// How many objects the next step visits, if no alarm goes off.
    #[cfg(test)]
    pub(crate) fn count_busy(&self) -> usize {
        self.busy.len()
    }

    /// As [`Table::reserve`].
    pub(crate) fn reserve(&mut self) -> Result<u32, Error> {
        self.table.reserve()
    }

    /// As [`Table::hold`].
    pub(crate) fn hold(&mut self) -> Result<u32, Error> {
        self.table.hold()
    }

    /// As [`Table::hold_row`].
    pub(crate) fn hold_row(&mut self, count: u32) -> Result<u32, Error> {
        self.table.hold_row(count)
    }

    /// As [`Table::release`].
    pub(crate) fn release(&mut self, number: u32) {
        self.table.release(number);
    }

    /// As [`Table::clear`].
    pub(crate) fn clear(&mut self) {
        self.table.clear();
        self.busy.clear();
        self.alarms = Alarms::default();
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
        self.forget(number);
        self.table.remove(number)
    }

    /// As [`Table::remove_unused`].
    pub(crate) fn remove_unused(&mut self, number: u32, users: impl Fn(&T) -> u32) -> Result<T, Error> {
        let object = self.table.remove_unused(number, users)?;
        self.forget(number);
        Ok(object)
    }

    fn forget(&mut self, number: u32) {
        self.busy.remove(&number);
        self.alarms.set(number, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Object;

    /// The numbers that a step at `now` visits, each of which has this next.
    fn visited(table: &mut BusyTable<u32>, now: Duration, next: Next) -> Vec<u32> {
        let mut numbers = Vec::new();
        table.visit(now, |number, _| {
            numbers.push(number);
            next
        });
        numbers
    }

    /// Four objects, 5 to 8.
    fn table() -> BusyTable<u32> {
        let mut table = BusyTable::from(Table::new(Object::Qp, 5, 9));
        for _ in 0..4 {
            let number = table.reserve().unwrap();
            table.insert(number, 0);
        }
        table
    }

    const NOW: Duration = Duration::from_secs(1);

    #[test]
    fn an_object_is_visited_until_it_is_idle_and_again_when_it_is_touched() {
        let mut table = table();
        assert_eq!(visited(&mut table, NOW, Next::Busy), [5, 6, 7, 8], "new ones");
        assert_eq!(visited(&mut table, NOW, Next::Idle), [5, 6, 7, 8]);
        assert!(table.get(6).is_some() && table.find(7).is_ok() && table.iter().count() == 4);
        assert_eq!(visited(&mut table, NOW, Next::Idle), [], "nobody has touched them");
        *table.get_mut(8).unwrap() = 1;
        *table.find_mut(6).unwrap() = 1;
        assert!(table.get_mut(9).is_none() && table.find_mut(4).is_err());
        assert_eq!(table.count_busy(), 2);
        assert_eq!(visited(&mut table, NOW, Next::Idle), [6, 8]);
        let mut numbers = Vec::new();
        table.iter_mut().for_each(|_| ());
        table.visit_from(7, NOW, |number, _| {
            numbers.push(number);
            Next::Idle
        });
        assert_eq!(numbers, [7, 8, 5, 6]);
        assert_eq!(table.count_busy(), 0);
        table.iter_mut().for_each(|(_, object)| *object += 1);
        table.remove(7).unwrap();
        table.remove_unused(5, |_| 0).unwrap();
        assert_eq!(visited(&mut table, NOW, Next::Idle), [6, 8]);
        table.get_mut(6).unwrap();
        table.clear();
        assert_eq!(table.count_busy(), 0);
    }

    #[test]
    fn an_object_that_sleeps_is_visited_at_its_time_or_when_it_is_touched() {
        let mut table = table();
        let at = |seconds| Duration::from_secs(seconds);
        table.visit(at(1), |number, _| Next::At(at(number.into())));
        let deadline = |table: &BusyTable<u32>| table.deadline(|&object| (object != 0).then(|| at(object.into())));
        assert_eq!((table.count_busy(), deadline(&table)), (0, Some(at(5))));
        assert_eq!(visited(&mut table, at(4), Next::Idle), []);
        *table.get_mut(5).unwrap() = 50;
        assert_eq!(deadline(&table), Some(at(6)), "5 has another time now");
        assert_eq!(visited(&mut table, at(6), Next::Idle), [5, 6]);
        assert_eq!(visited(&mut table, at(6), Next::Idle), []);
        // Touched, it does not keep its alarm if it says nothing of one.
        table.get_mut(8).unwrap();
        assert_eq!(visited(&mut table, at(6), Next::Busy), [8]);
        assert_eq!(visited(&mut table, at(9), Next::Idle), [7, 8]);
        assert_eq!(visited(&mut table, at(9), Next::Idle), []);
        table.iter_mut().for_each(|_| ());
        table.visit(at(9), |number, _| Next::At(at(10 + u64::from(number))));
        table.remove(5).unwrap();
        table.remove_unused(6, |_| 0).unwrap();
        assert_eq!(deadline(&table), Some(at(17)));
        assert_eq!(visited(&mut table, at(30), Next::Idle), [7, 8]);
        assert_eq!(deadline(&table), None);
        table.get_mut(7).unwrap();
        table.visit(at(31), |_, _| Next::At(at(40)));
        table.clear();
        assert_eq!(deadline(&table), None);
    }
}
