//! Comparing cases with their floor.
//!
//! Criterion measures one case after the other, for its reports under `target/criterion`. On a machine with neighbours the
//! seconds between two cases already cost several per cent, so each group is measured once more, in turns: a slice of
//! every case in each round. The ratios that are printed are medians over the rounds.
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};

/// Rounds of slices.
const ROUNDS: usize = 201;
/// How long a slice is to take: much longer than reading the clock, much shorter than a time slice of the scheduler.
const SLICE: Duration = Duration::from_micros(100);
/// Operations before what cases have done is compared: rings have wrapped, and not just been filled.
const CHECKED_OPERATIONS: u64 = 700;

/// One way to do what the group is about.
struct Case<'a> {
    name: &'a str,
    /// Does so many operations; returns a sum of what it read.
    run: Box<dyn FnMut(u64) -> u64 + 'a>,
    /// The memory that it stores to.
    snapshot: Box<dyn Fn() -> Vec<u8> + 'a>,
    /// Whether the command line's filter lets it run.
    selected: bool,
}

/// A floor, and cases that are measured against it.
pub(crate) struct Group<'a> {
    name: &'a str,
    /// Messages or completions in one operation.
    elements: u64,
    /// The floor comes first.
    cases: Vec<Case<'a>>,
}

impl<'a> Group<'a> {
    /// A group of operations of `elements` messages each. The first case is the floor.
    pub(crate) fn new(name: &'a str, elements: u64) -> Self {
        Self { name, elements, cases: Vec::new() }
    }

    /// Adds a case: `run` does so many operations and returns a sum of what it read, `snapshot` gives what it stored.
    pub(crate) fn case(
        mut self,
        name: &'a str,
        snapshot: impl Fn() -> Vec<u8> + 'a,
        run: impl FnMut(u64) -> u64 + 'a,
    ) -> Self {
        self.cases.push(Case { name, run: Box::new(run), snapshot: Box::new(snapshot), selected: false });
        self
    }

    /// Makes sure that all cases do the same, and measures.
    ///
    /// # Panics
    /// If a case leaves other bytes in its memory than the floor, or has read something else.
    pub(crate) fn measure(mut self, criterion: &mut Criterion) {
        let mut floor = None;
        for case in &mut self.cases {
            let done = ((case.run)(CHECKED_OPERATIONS), (case.snapshot)());
            let floor = floor.get_or_insert_with(|| done.clone());
            assert!(done == *floor, "{}: {} does not do what the floor does", self.name, case.name);
        }
        let mut group = criterion.benchmark_group(self.name);
        group.throughput(Throughput::Elements(self.elements));
        for case in &mut self.cases {
            group.bench_function(case.name, |bencher| {
                case.selected = true;
                bencher.iter_custom(|operations| time(&mut case.run, operations));
            });
        }
        group.finish();
        // As criterion has it: cargo passes `--bench` to measure, and anything else is a test.
        let measuring = std::env::args().any(|arg| arg == "--bench") && !std::env::args().any(|arg| arg == "--test");
        if measuring && self.cases.iter().any(|case| case.selected) {
            self.take_turns();
        }
    }

    /// Measures in turns and prints.
    fn take_turns(&mut self) {
        let operations: Vec<u64> = self.cases.iter_mut().map(|case| operations_of_a_slice(&mut case.run)).collect();
        let mut rounds: Vec<Vec<f64>> = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let slices = self.cases.iter_mut().zip(&operations);
            let per_element = |operations: u64| (operations * self.elements) as f64;
            rounds.push(slices.map(|(case, &n)| time(&mut case.run, n).as_secs_f64() * 1e9 / per_element(n)).collect());
        }
        println!("\n{:<44} {:>8} {:>9}", self.name, "ns", "to floor");
        for (n, case) in self.cases.iter().enumerate() {
            let ns = median(rounds.iter().map(|round| round[n]));
            let ratio = median(rounds.iter().map(|round| round[n] / round[0]));
            println!("  {:<42} {ns:>8.2} {ratio:>8.2}x", case.name);
        }
        println!();
    }
}

fn time(run: &mut dyn FnMut(u64) -> u64, operations: u64) -> Duration {
    let start = Instant::now();
    std::hint::black_box(run(operations));
    start.elapsed()
}

/// How many operations take about [`SLICE`].
fn operations_of_a_slice(run: &mut dyn FnMut(u64) -> u64) -> u64 {
    let mut operations = 64;
    while time(run, operations) < SLICE {
        operations *= 2;
    }
    operations
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Criterion with short measurements: the turns are what ratios are read from.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .sample_size(30)
        .nresamples(10_000)
        .configure_from_args()
}
