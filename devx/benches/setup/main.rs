//! The cost of a queue pair until it is ready to send, in time and memory. Three ways are compared: verbs of this
//! workspace, the same calls of libibverbs and libmlx5 by hand, and commands of the firmware (DevX).
//!
//! All make a number of queue pairs of one size on the software device in one program, each connected to itself, and
//! destroy them. Only the making is timed, in turns. The software device answers a command in a microsecond or two. The
//! kernel and a NIC's firmware take longer, so this crate's share is smaller there. This crate must not add a command:
//! `tests/setup_commands.rs` counts them.
mod bare;
mod devx;
mod memory;
#[path = "../../../benches/common/record.rs"]
mod record;
mod rig;
mod shape;

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use record::Record;
use rig::Rig;
use shape::SHAPE;

const GROUP: &str = "set-up";
/// Queue pairs at a time.
const COUNTS: [usize; 4] = [1, 64, 512, 4096];
/// Queue pairs that a case makes in a round, at least.
const ROUND: usize = 64;
/// Time that the rounds of one number of queue pairs may take.
const TIME: Duration = Duration::from_secs(10);
/// Rounds at least.
const ROUNDS: usize = 15;

/// Nanoseconds that this thread has had a CPU for, in the kernel, too: what else runs on the machine does not count. In
/// sink mode the device works on the thread that gives the command.
fn cpu_time() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) }, 0);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// The cost of asking for the time.
fn clock_cost() -> f64 {
    static COST: OnceLock<f64> = OnceLock::new();
    *COST.get_or_init(|| {
        median((0..1001).map(|_| {
            let begin = cpu_time();
            cpu_time() - begin
        }))
    })
}

/// Nanoseconds for each of `count` things that exist at a time.
fn time<T>(count: usize, make: impl Fn() -> T) -> f64 {
    let batches = ROUND.div_ceil(count);
    let mut total = 0.0;
    let mut all = Vec::with_capacity(count);
    for _ in 0..batches {
        let begin = cpu_time();
        all.extend((0..count).map(|_| make()));
        total += cpu_time() - begin - clock_cost();
        all.clear();
    }
    total / (batches * count) as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Its name, its action, and the case to compare it with in the output.
type Case<'a> = (&'static str, &'a dyn Fn(usize) -> f64, Option<usize>);

/// Measures all cases at each number of queue pairs, in turns, the next round in the opposite order.
fn measure(cases: &[Case<'_>], least: usize, limit: Duration) -> Vec<Record> {
    let mut records = Vec::new();
    println!("{GROUP:<51} {:>8} {:>9}", "ns", "ratio to");
    for count in COUNTS {
        cases.iter().for_each(|(_, time, _)| _ = time(count));
        let mut rounds: Vec<Vec<f64>> = Vec::new();
        let begin = Instant::now();
        while rounds.len() < least || begin.elapsed() < limit {
            let mut round = vec![0.0; cases.len()];
            for turn in 0..cases.len() {
                let at = if rounds.len() % 2 == 0 { turn } else { cases.len() - 1 - turn };
                round[at] = cases[at].1(count);
            }
            rounds.push(round);
        }
        for (at, (case, _, beside)) in cases.iter().enumerate() {
            let ratio = |other: usize| median(rounds.iter().map(|round| round[at] / round[other]));
            let ns = median(rounds.iter().map(|round| round[at]));
            let others = cases.iter().enumerate().filter(|&(other, _)| other != at);
            let ratios: BTreeMap<_, _> = others.map(|(other, (case, ..))| ((*case).to_owned(), ratio(other))).collect();
            let name = format!("{case} (queue pairs {count})");
            match *beside {
                None => println!("  {name:<49} {ns:>8.0}"),
                Some(other) => println!("  {name:<49} {ns:>8.0} {:>8.3}x {}", ratio(other), cases[other].0),
            }
            let (group, case, axis) = (GROUP.to_owned(), (*case).to_owned(), Some("queue pairs".to_owned()));
            records.push(Record { group, case, ns, ratios, axis, x: Some(count as u64) });
        }
        println!("  ({} rounds)", rounds.len());
    }
    records
}

fn main() {
    // Criterion's rules: cargo passes `--bench` to measure, anything else is a test, and a word chooses the cases.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let measuring = arguments.iter().any(|arg| arg == "--bench") && !arguments.iter().any(|arg| arg == "--test");
    if arguments.iter().any(|arg| !arg.starts_with('-') && !GROUP.contains(arg.as_str())) {
        return;
    }
    let rig = Rig::new();
    if memory::is_measured(&rig) {
        return;
    }
    let cases: [Case<'_>; 6] = [
        ("by hand", &|count| time(count, || rig.theirs(SHAPE)), None),
        ("blueflame", &|count| time(count, || rig.ours(SHAPE)), Some(0)),
        ("DevX", &|count| time(count, || rig.devx.of_its_own(SHAPE, &rig.path)), Some(0)),
        ("by hand, one thread domain", &|count| time(count, || rig.theirs_in(&rig.bare_domain, SHAPE)), None),
        ("blueflame, one thread domain", &|count| time(count, || rig.ours_of_one_thread(SHAPE)), Some(3)),
        ("DevX, one register", &|count| time(count, || rig.devx.of_one_thread(SHAPE, &rig.path)), Some(3)),
    ];
    let (rounds, time) = if measuring { (ROUNDS, TIME) } else { (1, Duration::ZERO) };
    let records = measure(&cases, rounds, time);
    memory::report(&rig);
    memory::report_many(if measuring { memory::MANY } else { 64 });
    if measuring {
        record::write("setup", &records);
    }
}
