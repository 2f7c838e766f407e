//! Sets of numbers that lie close together, such as the numbers of objects. A run of numbers is one entry, so the next
//! number that is missing is found at once.

use std::collections::BTreeMap;

/// A set of numbers below `u32::MAX`.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// Runs by first number, with the number behind the last; they neither touch nor overlap.
    runs: BTreeMap<u32, u32>,
}

impl Runs {
    /// Adds a number, if it is missing.
    pub(crate) fn insert(&mut self, number: u32) {
        if self.next_missing(number) != number {
            return;
        }
        let (mut start, mut end) = (number, number + 1);
        if let Some((&before, _)) = self.runs.range(..number).next_back().filter(|(_, end)| **end == number) {
            start = before;
        }
        if let Some(behind) = self.runs.remove(&end) {
            end = behind;
        }
        self.runs.insert(start, end);
    }

    /// Removes a number, if it is there.
    pub(crate) fn remove(&mut self, number: u32) {
        let Some((&start, &end)) = self.runs.range(..=number).next_back().filter(|(_, end)| number < **end) else {
            return;
        };
        self.runs.remove(&start);
        if start < number {
            self.runs.insert(start, number);
        }
        if number + 1 < end {
            self.runs.insert(number + 1, end);
        }
    }

    /// The lowest number from `from` on that is missing.
    pub(crate) fn next_missing(&self, from: u32) -> u32 {
        let run = self.runs.range(..=from).next_back();
        run.map_or(from, |(_, &end)| end.max(from))
    }

    /// The lowest number from `from` on that is there.
    pub(crate) fn next_present(&self, from: u32) -> Option<u32> {
        if self.next_missing(from) != from {
            return Some(from);
        }
        self.runs.range(from..).next().map(|(&start, _)| start)
    }

    pub(crate) fn clear(&mut self) {
        self.runs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn neighbours_are_one_run() {
        let mut runs = Runs::default();
        [3, 5, 4, 4, 9].into_iter().for_each(|number| runs.insert(number));
        assert_eq!(runs.runs, BTreeMap::from([(3, 6), (9, 10)]));
        assert_eq!([0, 3, 5, 6, 9, 20].map(|from| runs.next_missing(from)), [0, 6, 6, 6, 10, 20]);
        [4, 4, 9, 7].into_iter().for_each(|number| runs.remove(number));
        assert_eq!(runs.runs, BTreeMap::from([(3, 4), (5, 6)]));
        runs.clear();
        assert_eq!(runs.next_missing(3), 3);
    }

    #[test]
    fn it_is_a_set() {
        let (mut runs, mut set, mut rng) = (Runs::default(), BTreeSet::new(), fastrand::Rng::with_seed(1));
        for _ in 0..20_000 {
            let number = rng.u32(0..64);
            if rng.bool() {
                runs.insert(number);
                set.insert(number);
            } else {
                runs.remove(number);
                set.remove(&number);
            }
            let from = rng.u32(0..64);
            assert_eq!(runs.next_missing(from), (from..).find(|number| !set.contains(number)).unwrap());
            assert_eq!(runs.next_present(from), set.range(from..).next().copied());
        }
    }
}
