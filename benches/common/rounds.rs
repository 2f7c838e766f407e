//! Cases that take turns, a slice each, and the comparison of their times. For benchmarks that have slices of their
//! own.
use std::collections::BTreeMap;

use super::clock::Clock;
use super::record::{self, Record};

/// Whether the command line asks to measure `group`; `None` if it selects other groups. Criterion's rules hold: cargo
/// passes `--bench` to measure, anything else is a test, and a word selects the cases.
pub(crate) fn measuring(group: &str) -> Option<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    let selected = arguments.iter().all(|argument| argument.starts_with('-') || group.contains(argument.as_str()));
    selected.then(|| given("--bench") && !given("--test"))
}

/// The times of all cases, round by round.
pub(crate) struct Rounds(Vec<Vec<f64>>);

impl Rounds {
    /// Runs `slice` of each of the `cases` in every round, in one order and then in the other. It returns nanoseconds
    /// for a message or completion.
    pub(crate) fn of(rounds: usize, cases: usize, mut slice: impl FnMut(usize, &Clock) -> f64) -> Self {
        let clock = Clock::new();
        let round = |n: usize| {
            let mut round = vec![0.0; cases];
            for turn in 0..cases {
                let at = if n & 1 == 0 { turn } else { cases - 1 - turn };
                round[at] = slice(at, &clock);
            }
            round
        };
        Self((0..rounds).map(round).collect())
    }

    /// The median of a case's times, in nanoseconds.
    pub(crate) fn ns(&self, case: usize) -> f64 {
        median(self.0.iter().map(|round| round[case]))
    }

    /// The median of a case's times divided by another's of the same round.
    pub(crate) fn ratio(&self, case: usize, other: usize) -> f64 {
        median(self.0.iter().map(|round| round[case] / round[other]))
    }

    /// Writes the file of this benchmark, whose cases have these names.
    pub(crate) fn write(&self, benchmark: &str, group: &str, names: &[&str]) {
        let record = |(at, name): (usize, &&str)| {
            let others = names.iter().enumerate().filter(|&(other, _)| other != at);
            let ratios: BTreeMap<_, _> =
                others.map(|(other, name)| ((*name).to_owned(), self.ratio(at, other))).collect();
            let (group, case) = (group.to_owned(), (*name).to_owned());
            Record { group, case, ns: self.ns(at), ratios, axis: None, x: None }
        };
        record::write(benchmark, &names.iter().enumerate().map(record).collect::<Vec<_>>());
    }
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
