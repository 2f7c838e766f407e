//! Contests: all cases of a group do the same on queues of one size, in turns.
//!
//! A case is measured in *slices*: it posts as many messages as its ring takes; the device completes them; it polls
//! them all. The clock runs while it posts, or polls, or both, as the group says, and never while the device works.
//! Before the clock starts,
//! - rings that fit into the first-level cache are brought there: they would be there if the device did not also use
//!   that cache (completions "from another core" excepted);
//! - the first messages of the slice are posted or polled, so that the code is where it would be in a loop.
//!
//! The cost of reading the clock is measured and subtracted ([`Clock`]). On a Zen 4 it is 26 ns, 4 % of the shortest
//! slices of 224 messages. Slices of 56, 112 and 224 messages show that the subtraction is right: they give the same
//! nanoseconds a message within 3 % (a floor 2.75, 2.73, 2.72; `ibv_wr_*` 18.9, 19.2, 19.0).
//!
//! In a *cold* group ([`Group::cold`]) a slice has one timed message. Before it, everything is evicted from caches,
//! TLBs and predictors. The steps of a case to be ready are not timed ([`Player::warmed`]). Criterion does not measure
//! such groups: it would repeat a shot of a microsecond thousands of times, and each needs milliseconds of eviction.
//!
//! A *round* is some slices of every case; the next round is in the opposite order. Reports give medians over rounds:
//! of nanoseconds, and of ratios within a round. Other work on the machine disturbs those ratios least. Criterion also
//! measures the cases, one after the other, for its reports in `target/criterion`: use them to look at one case's
//! spread, not to compare cases.
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};

use super::clock::Clock;
use super::cold::Evictor;
use super::cpus::OtherCore;
use super::record::{self, Record};
use super::rig::{self, ENTRIES, Rig};
use super::rounds::{self, median};

/// Rounds, unless they take longer than [`GROUP_TIME`].
const ROUNDS: usize = 301;
/// Rounds at least.
const ROUNDS_AT_LEAST: usize = 25;
/// The time for the rounds of a group.
const GROUP_TIME: Duration = Duration::from_secs(6);
/// The time for the cases of a cold group.
const COLD_TIME: Duration = Duration::from_secs(20);
/// Pauses of the CPU between a cold group's eviction and the clock.
const SETTLE: usize = 200;
/// Messages of a case in a round, by one slice or more.
const ROUND_MESSAGES: usize = 2048;
/// Messages at the start of a slice that are not timed, where the ring is large enough.
const WARM_MESSAGES: usize = 32;
/// Bytes of rings up to which posting finds them in the first-level cache.
const FIRST_LEVEL_CACHE: usize = 32 << 10;
/// Slices before the stored bytes of the cases are compared: by then the rings have wrapped, not only been filled.
const CHECKED_SLICES: usize = 3;

/// A contestant: it posts and polls.
pub(crate) trait Contestant {
    /// Work that is needed before messages can be posted, and is never timed.
    fn prepare(&mut self, first: u64, count: usize);
    /// The steps of the program ahead of a cold shot, if there are any; never timed.
    fn warm(&mut self);
    /// Posts messages `first..first + count`.
    fn post(&mut self, first: u64, count: usize);
    /// Polls the completions of `count` messages. Returns a sum of the `wr_id`s or indices read, modulo 2^16 each.
    fn poll(&mut self, count: usize) -> u64;
    /// The queues used.
    fn rigs(&self) -> Vec<&Rig>;
}

/// Queues in somebody's hands.
pub(crate) trait Queues {
    fn rigs(&self) -> Vec<&Rig>;
}

/// Several of them.
impl<Q: Queues> Queues for Vec<Q> {
    fn rigs(&self) -> Vec<&Rig> {
        self.iter().flat_map(Queues::rigs).collect()
    }
}

/// Work on queues for a number of messages, from a first one on.
pub(crate) trait Work<Q>: FnMut(&mut Q, u64, usize) {}
impl<Q, F: FnMut(&mut Q, u64, usize)> Work<Q> for F {}

/// Polls the completions of a number of messages, see [`Contestant::poll`].
pub(crate) trait Poll<Q>: FnMut(&mut Q, usize) -> u64 {}
impl<Q, F: FnMut(&mut Q, usize) -> u64> Poll<Q> for F {}

/// Steps of the program ahead of a cold shot.
pub(crate) trait Warm<Q>: FnMut(&mut Q) {}
impl<Q, F: FnMut(&mut Q)> Warm<Q> for F {}

/// Queues, and the operations on them.
pub(crate) struct Player<Q, P, C> {
    queues: Q,
    post: P,
    poll: C,
    prepare: Option<Box<dyn Work<Q>>>,
    warm: Option<Box<dyn Warm<Q>>>,
}

impl<Q, P: Work<Q>, C: Poll<Q>> Player<Q, P, C> {
    pub(crate) fn new(queues: Q, post: P, poll: C) -> Self {
        Self { queues, post, poll, prepare: None, warm: None }
    }

    /// Gives the player another way to poll.
    pub(crate) fn polling<D: Poll<Q>>(self, poll: D) -> Player<Q, P, D> {
        Player { queues: self.queues, post: self.post, poll, prepare: self.prepare, warm: self.warm }
    }

    /// Gives the player something to do before posting.
    pub(crate) fn prepared(self, prepare: impl Work<Q> + 'static) -> Self {
        Self { prepare: Some(Box::new(prepare)), ..self }
    }

    /// Gives the player something to do ahead of a cold shot.
    pub(crate) fn warmed(self, warm: impl Warm<Q> + 'static) -> Self {
        Self { warm: Some(Box::new(warm)), ..self }
    }
}

impl<Q: Queues, P: Work<Q>, C: Poll<Q>> Contestant for Player<Q, P, C> {
    fn prepare(&mut self, first: u64, count: usize) {
        if let Some(prepare) = &mut self.prepare {
            prepare(&mut self.queues, first, count);
        }
    }

    fn warm(&mut self) {
        if let Some(warm) = &mut self.warm {
            warm(std::hint::black_box(&mut self.queues));
        }
    }

    fn post(&mut self, first: u64, count: usize) {
        // The compiler must know nothing about a queue's state, as in a program in which other code also uses it.
        (self.post)(std::hint::black_box(&mut self.queues), first, count);
    }

    fn poll(&mut self, count: usize) -> u64 {
        (self.poll)(std::hint::black_box(&mut self.queues), count)
    }

    fn rigs(&self) -> Vec<&Rig> {
        self.queues.rigs()
    }
}

/// The operations that are timed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Timed {
    Post,
    Poll,
    /// Both, one after the other.
    Both,
    /// Polling when there is nothing.
    Empty,
}

struct Case<'a> {
    name: &'a str,
    /// The case that does the same: the two are compared byte by byte and in the printed table.
    against: &'a str,
    contestant: Box<dyn Contestant + 'a>,
    slice: Slice,
    x: Option<u64>,
    posted: u64,
    /// Whether the command line's filter lets it run.
    selected: bool,
}

/// Messages of a slice: not timed, and timed.
#[derive(Clone, Copy)]
struct Slice {
    warm: usize,
    timed: usize,
    /// Messages of one WQE.
    together: usize,
}

impl Slice {
    const fn messages(self) -> usize {
        self.warm + self.timed
    }
}

/// Cases that do the same, or that do the same at each point of a sweep.
pub(crate) struct Group<'a> {
    name: &'a str,
    timed: Timed,
    slice: Slice,
    axis: Option<&'a str>,
    x: Option<u64>,
    other_core: Option<&'a OtherCore>,
    evictor: Option<Evictor>,
    cases: Vec<Case<'a>>,
}

impl<'a> Group<'a> {
    /// A group whose slices have `messages` messages, posted in bursts of `burst`.
    pub(crate) fn new(name: &'a str, timed: Timed, burst: usize, messages: usize) -> Self {
        let slice = split(burst, messages);
        Self { name, timed, slice, axis: None, x: None, other_core: None, evictor: None, cases: Vec::new() }
    }

    /// A group whose slices have `messages` messages. The last one is timed, with nothing in caches, TLBs and
    /// predictors.
    pub(crate) fn cold(name: &'a str, timed: Timed, messages: usize) -> Self {
        let slice = Slice { warm: messages - 1, timed: 1, together: 1 };
        Self { slice, evictor: Some(Evictor::new()), ..Self::new(name, timed, 1, messages) }
    }

    /// A sweep along an axis: each point begins with [`Self::at`].
    pub(crate) fn sweep(name: &'a str, axis: &'a str) -> Self {
        Self { axis: Some(axis), ..Self::new(name, Timed::Post, 1, 1) }
    }

    /// The cases that follow are at point `x`, with slices of `messages` messages, of which at least `warm` are not
    /// timed.
    pub(crate) fn at(mut self, x: u64, warm: usize, messages: usize) -> Self {
        (self.x, self.slice) = (Some(x), split(warm, messages));
        self
    }

    /// The cases that follow have slices of `messages` messages, posted in bursts of `burst`.
    pub(crate) fn slices(self, burst: usize, messages: usize) -> Self {
        let slice = if self.evictor.is_some() {
            Slice { warm: messages - 1, timed: 1, together: 1 }
        } else {
            split(burst, messages)
        };
        Self { slice, ..self }
    }

    /// The cases that follow post WQEs of `together` messages, each of which completes once: as many as a ring takes,
    /// of `wqebbs` WQEBBs each.
    pub(crate) fn sessions(self, together: usize, wqebbs: usize) -> Self {
        let slice = split(together, ENTRIES / wqebbs * together);
        Self { slice: Slice { together, ..slice }, ..self }
    }

    /// The device works on another core, so completions come from its cache.
    pub(crate) fn completed_by(mut self, other: &'a OtherCore) -> Self {
        self.other_core = Some(other);
        self
    }

    /// Adds a case. `against` is an earlier one that does the same: its floor, or for a floor another, or none.
    pub(crate) fn case(mut self, name: &'a str, against: &'a str, contestant: impl Contestant + 'a) -> Self {
        let (slice, x) = (self.slice, self.x);
        let contestant = Box::new(contestant);
        self.cases.push(Case { name, against, contestant, slice, x, posted: 0, selected: false });
        self
    }

    /// Makes sure that all cases do the same, and measures.
    ///
    /// # Panics
    /// If a case leaves other bytes in its queues than the one it is compared with, or has read something else.
    pub(crate) fn measure(mut self, bench: &mut Bench) {
        self.check();
        if self.evictor.is_some() {
            // Before a filter of criterion, which takes no part.
            if rounds::measuring(self.name) == Some(true) {
                self.take_turns(bench);
            }
            return;
        }
        let mut group = bench.criterion.benchmark_group(self.name);
        group.throughput(Throughput::Elements(1));
        for at in 0..self.cases.len() {
            let case = &self.cases[at];
            let id = match case.x {
                Some(x) => BenchmarkId::new(case.name, x),
                None => BenchmarkId::from_parameter(case.name),
            };
            group.bench_function(id, |bencher| {
                self.cases[at].selected = true;
                bencher.iter_custom(|messages| self.time(&bench.clock, at, messages));
            });
        }
        group.finish();
        if bench.measuring && self.cases.iter().any(|case| case.selected) {
            self.take_turns(bench);
        }
    }

    fn check(&mut self) {
        let mut done: BTreeMap<_, (u64, Vec<Vec<u8>>)> = BTreeMap::new();
        for at in 0..self.cases.len() {
            let mut sum = 0u64;
            for _ in 0..CHECKED_SLICES {
                sum = sum.wrapping_add(self.slice(at).1);
            }
            let case = &self.cases[at];
            // Floors read the CQE's index in place of the `wr_id`. The two agree only if each request is one WQEBB.
            let read = if self.timed == Timed::Post { 0 } else { sum };
            let stored: Vec<_> = case.contestant.rigs().into_iter().map(Rig::snapshot).collect();
            if let Some((other_read, other_stored)) = done.get(&(case.x, case.against)) {
                let (group, name, other) = (self.name, case.name, case.against);
                assert!(read == *other_read, "{group}: {name} has read {read}, {other} {other_read}");
                if let Some(what) = difference(other_stored, &stored) {
                    panic!("{group}: {name} does not store what {other} does: {what}");
                }
            }
            done.insert((case.x, case.name), (read, stored));
        }
    }

    /// One slice of a case: its ticks, and what polling has summed up.
    fn slice(&mut self, at: usize) -> (u64, u64) {
        let case = &mut self.cases[at];
        let mut cool = |player: &mut dyn Contestant| {
            if let Some(evictor) = &mut self.evictor {
                evictor.evict();
                player.warm();
                // Lines on their way to the caches arrive.
                (0..SETTLE).for_each(|_| std::hint::spin_loop());
            }
        };
        let Slice { warm, timed, .. } = case.slice;
        let (player, first) = (&mut *case.contestant, case.posted);
        let then = first + warm as u64;
        let (mut ticks, mut sum) = (0, 0u64);
        if self.timed == Timed::Empty {
            sum += player.poll(warm);
            ticks += Clock::time(|| sum += player.poll(timed));
            return (ticks, sum);
        }
        player.prepare(first, case.slice.messages());
        if player.rigs().iter().map(|rig| rig.ring_bytes()).sum::<usize>() <= FIRST_LEVEL_CACHE {
            player.rigs().into_iter().for_each(Rig::touch_sends);
        }
        player.post(first, warm);
        if self.timed == Timed::Poll {
            player.post(then, timed);
        } else {
            cool(player);
            ticks += Clock::time(|| player.post(then, timed));
        }
        case.posted += case.slice.messages() as u64;
        let completed = self.other_core.map_or_else(rig::step, OtherCore::step);
        let messages = completed * case.slice.together;
        assert_eq!(messages, case.slice.messages(), "{}: requests of {} completed", self.name, case.name);
        if self.timed == Timed::Post {
            return (ticks, player.poll(case.slice.messages()));
        }
        if self.other_core.is_none() {
            player.rigs().into_iter().for_each(Rig::touch_completions);
        }
        sum = sum.wrapping_add(player.poll(warm));
        cool(player);
        ticks += Clock::time(|| sum = sum.wrapping_add(player.poll(timed)));
        (ticks, sum)
    }

    /// Nanoseconds per message, over `slices` slices.
    fn ns(&mut self, clock: &Clock, at: usize, slices: usize) -> f64 {
        let ticks = (0..slices).map(|_| self.slice(at).0).sum();
        let readings = if self.timed == Timed::Both { 2 * slices } else { slices };
        clock.ns(ticks, readings) / (slices * self.cases[at].slice.timed) as f64
    }

    /// How long `messages` messages take, as criterion asks for it.
    fn time(&mut self, clock: &Clock, at: usize, messages: u64) -> Duration {
        let slices = (messages as usize).div_ceil(self.cases[at].slice.timed);
        Duration::from_nanos((self.ns(clock, at, slices) * messages as f64) as u64)
    }

    /// Measures in turns, prints, and records.
    fn take_turns(&mut self, bench: &mut Bench) {
        let begin = Instant::now();
        let mut rounds: Vec<Vec<f64>> = Vec::with_capacity(ROUNDS);
        let (time, messages) = if self.evictor.is_some() { (COLD_TIME, 1) } else { (GROUP_TIME, ROUND_MESSAGES) };
        while rounds.len() < ROUNDS && (rounds.len() < ROUNDS_AT_LEAST || begin.elapsed() < time) {
            let mut round = vec![0.0; self.cases.len()];
            for turn in 0..self.cases.len() {
                let at = if rounds.len() & 1 == 0 { turn } else { self.cases.len() - 1 - turn };
                let slices = messages.div_ceil(self.cases[at].slice.timed);
                round[at] = self.ns(&bench.clock, at, slices);
            }
            rounds.push(round);
        }
        let ratio = |a: usize, b: usize| median(rounds.iter().map(|round| round[a] / round[b]));
        println!("\n{:<51} {:>8} {:>9}", self.name, "ns", "ratio to");
        for (at, case) in self.cases.iter().enumerate() {
            let ns = median(rounds.iter().map(|round| round[at]));
            let others = self.cases.iter().enumerate().filter(|&(other, its)| other != at && its.x == case.x);
            let ratios: BTreeMap<_, _> = others.map(|(other, case)| (case.name.to_owned(), ratio(at, other))).collect();
            let name = match (self.axis, case.x) {
                (Some(axis), Some(x)) => format!("{} ({axis} {x})", case.name),
                _ => case.name.to_owned(),
            };
            match ratios.get(case.against) {
                Some(ratio) => println!("  {name:<49} {ns:>8.2} {ratio:>8.2}x {}", case.against),
                None => println!("  {name:<49} {ns:>8.2}"),
            }
            bench.records.push(Record {
                group: self.name.to_owned(),
                case: case.name.to_owned(),
                ns,
                ratios,
                axis: self.axis.map(str::to_owned),
                x: case.x,
            });
        }
        println!("  ({} rounds)\n", rounds.len());
    }
}

/// Divides a slice of `messages`, posted in bursts of `burst`.
fn split(burst: usize, messages: usize) -> Slice {
    let warm = WARM_MESSAGES.min(messages / 4).next_multiple_of(burst);
    Slice { warm, timed: messages - warm, together: 1 }
}

fn difference(first: &[Vec<u8>], other: &[Vec<u8>]) -> Option<String> {
    for (queue, (a, b)) in first.iter().zip(other).enumerate() {
        if let Some(at) = (0..a.len().max(b.len())).find(|&at| a.get(at) != b.get(at)) {
            let from = at / 64 * 64;
            let block = |bytes: &[u8]| format!("{:02x?}", &bytes[from..bytes.len().min(from + 64)]);
            return Some(format!("byte {at:#x} of queue {queue}\nthere {}\nhere  {}", block(a), block(b)));
        }
    }
    (first.len() != other.len()).then(|| format!("{} queues and not {}", other.len(), first.len()))
}

/// A benchmark program.
pub(crate) struct Bench {
    name: &'static str,
    criterion: Criterion,
    clock: Clock,
    /// Whether to measure, and not only to try each case.
    measuring: bool,
    records: Vec<Record>,
}

impl Bench {
    pub(crate) fn new(name: &'static str) -> Self {
        // Criterion's rule: cargo passes `--bench` to measure, and anything else is a test.
        let measuring = std::env::args().any(|arg| arg == "--bench") && !std::env::args().any(|arg| arg == "--test");
        let clock = Clock::new();
        if measuring {
            println!(
                "{name}: on {}; reading the clock costs {:.1} ns a slice, subtracted",
                record::cpu(),
                clock.cost_ns()
            );
        }
        // Short: the turns are what ratios are read from.
        let criterion = Criterion::default()
            .warm_up_time(Duration::from_millis(20))
            .measurement_time(Duration::from_millis(100))
            .sample_size(20)
            .nresamples(2000)
            .configure_from_args();
        Self { name, criterion, clock, measuring, records: Vec::new() }
    }

    /// Criterion's summary, and the file of figures.
    pub(crate) fn finish(self) {
        self.criterion.final_summary();
        record::write(self.name, &self.records);
    }
}
