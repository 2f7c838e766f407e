//! A completion queue that 64 queue pairs share: the cost of finding the queue pair of a completion.
//!
//! The queue pairs have posted four requests each, in random order, and every completion retires its request. One slice
//! is 192 completions, polled sixteen a call. Before it, 64 completions are not timed, one of each queue pair. The rest
//! is as in `common`.
mod common;

use std::collections::HashMap;
use std::hint::black_box;

use blueflame::cq::{Cqe, Side};
use blueflame::db::ThreadRegister;
use blueflame::types::Psn;
use blueflame::verbs::{Device, OwnedCq, QueuePair, ThreadDomain};
use blueflame::{ByQpn, Qpn, Remote, Rkey, WrId, transport, wqe};
use blueflame_sys as sys;

use common::clock::Clock;
use common::rig::step;
use common::rounds::{Rounds, measuring};

const GROUP: &str = "shared CQ";
const QUEUE_PAIRS: usize = 64;
const CQES: usize = 256;
/// Completions at the start of a slice that are not timed.
const WARM: usize = QUEUE_PAIRS;
/// Completions of one call.
const BURST: usize = 16;
const ROUNDS: usize = 401;

type Pair = QueuePair<transport::Rc, std::rc::Rc<ThreadRegister>>;

/// A completion queue, and the order in which its queue pairs post.
struct Shared {
    cq: OwnedCq,
    order: Vec<usize>,
    _domain: ThreadDomain,
}

impl Shared {
    /// Makes `count` queue pairs, each connected to itself.
    fn new(count: usize) -> (Self, Vec<Pair>) {
        let device = Device::open_first().unwrap_or_else(|error| panic!("{error}\nrun this by ./run bench"));
        let pd = device.protection_domain().expect("a PD");
        let domain = pd.thread_domain().expect("a thread domain");
        let cq = device.completion_queue(CQES as u32 - 1).thread_domain(&domain).build().expect("a CQ");
        // Room for receives as well would double the ring. None is posted.
        cq.handle().oversubscribe();
        let path = device.path(1, None).expect("a path");
        let make = || {
            let builder = pd.queue_pair(&cq, &cq).sends((CQES / count) as u32).receives(1);
            let mut pair = builder.build_in(&domain).expect("a queue pair");
            let itself = pair.qp.endpoint_with(&path, Psn::truncate(1));
            pair.qp.to_init(&path).expect("INIT");
            pair.connect(&path, &itself, &itself).expect("RTS");
            pair
        };
        let pairs = (0..count).map(|_| make()).collect();
        (Self { cq, order: order(count), _domain: domain }, pairs)
    }

    /// Posts a request for each CQE, and has the device complete it before the next.
    fn fill(&self, mut post: impl FnMut(usize, u64)) {
        for (n, &at) in self.order.iter().enumerate() {
            post(at, n as u64);
            step();
        }
        self.touch();
    }

    /// Brings the CQEs into this core's cache, where they would be if the device did not use it.
    fn touch(&self) {
        // SAFETY: plain numbers and pointers, for which zero is a value; the completion queue is alive.
        unsafe {
            let mut parts = sys::mlx5dv_cq::ZERO;
            let pair = sys::mlx5dv_pair { r#in: self.cq.handle().as_raw(), out: &raw mut parts };
            let mut obj = sys::mlx5dv_obj { cq: pair, ..sys::mlx5dv_obj::ZERO };
            assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_CQ), 0);
            (0..parts.cqe_cnt as usize).for_each(|n| _ = parts.buf.cast::<u8>().add(n * 64).read_volatile());
        }
    }
}

/// An order in which every queue pair comes as often, by a generator of no quality.
fn order(count: usize) -> Vec<usize> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut order = Vec::new();
    for _ in 0..CQES / count {
        let mut round: Vec<usize> = (0..count).collect();
        (1..count).rev().for_each(|at| round.swap(at, next() % (at + 1)));
        order.extend(round);
    }
    order
}

/// A way to find a completion's queue pair.
trait Find {
    fn find(&mut self, cqe: &Cqe<'_>) -> Option<&mut Pair>;
    /// The `at`-th queue pair, to post to.
    fn nth(&mut self, at: usize) -> &mut Pair;
}

/// There is but one.
struct One(Pair);

impl Find for One {
    #[inline(always)]
    fn find(&mut self, _: &Cqe<'_>) -> Option<&mut Pair> {
        Some(&mut self.0)
    }

    fn nth(&mut self, _: usize) -> &mut Pair {
        &mut self.0
    }
}

/// The queue pair is known beforehand, which a program cannot know: the cost without a search.
struct Known {
    pairs: Vec<Pair>,
    order: Vec<usize>,
    next: usize,
}

impl Find for Known {
    #[inline(always)]
    fn find(&mut self, _: &Cqe<'_>) -> Option<&mut Pair> {
        let at = *self.order.get(self.next)?;
        self.next = (self.next + 1) % CQES;
        self.pairs.get_mut(at)
    }

    fn nth(&mut self, at: usize) -> &mut Pair {
        &mut self.pairs[at]
    }
}

/// By the table of this crate.
struct Table {
    pairs: ByQpn<Pair>,
    numbers: Vec<Qpn>,
}

impl Find for Table {
    #[inline(always)]
    fn find(&mut self, cqe: &Cqe<'_>) -> Option<&mut Pair> {
        self.pairs.find(cqe)
    }

    fn nth(&mut self, at: usize) -> &mut Pair {
        self.pairs.get_mut(self.numbers[at]).expect("it is there")
    }
}

/// By the standard library's map.
struct Map {
    pairs: HashMap<Qpn, Pair>,
    numbers: Vec<Qpn>,
}

impl Find for Map {
    #[inline(always)]
    fn find(&mut self, cqe: &Cqe<'_>) -> Option<&mut Pair> {
        self.pairs.get_mut(&cqe.qpn())
    }

    fn nth(&mut self, at: usize) -> &mut Pair {
        self.pairs.get_mut(&self.numbers[at]).expect("it is there")
    }
}

/// By the index that completions carry, as whoever chooses it can; here it is learnt from completions.
struct UserIndex {
    pairs: Vec<Option<Pair>>,
    indices: Vec<usize>,
}

impl Find for UserIndex {
    #[inline(always)]
    fn find(&mut self, cqe: &Cqe<'_>) -> Option<&mut Pair> {
        self.pairs.get_mut(cqe.uidx() as usize)?.as_mut()
    }

    fn nth(&mut self, at: usize) -> &mut Pair {
        self.pairs[self.indices[at]].as_mut().expect("it is there")
    }
}

/// A case: its name, and a function that runs a slice and returns nanoseconds a completion.
type Case = (&'static str, Box<dyn FnMut(&Clock) -> f64>);

fn case<F: Find + 'static>(name: &'static str, (mut shared, pairs): (Shared, F)) -> Case {
    /// A function of its own, as in a program.
    #[inline(never)]
    fn poll(cq: &mut OwnedCq, find: &mut impl Find, count: usize) -> u64 {
        let mut sum = 0;
        for _ in 0..count / BURST {
            cq.poll_with(BURST, |cqe| {
                if let Some(pair) = find.find(&cqe)
                    && let Ok(Side::Requester) = cqe.check()
                    && let Ok(done) = pair.sq.retire(&cqe)
                {
                    sum += done.wr_id.0;
                }
            });
        }
        sum
    }
    // Not on the stack: the compiler must not know the value's address as a constant, as in a program.
    let mut pairs = Box::new(pairs);
    let slice = move |clock: &Clock| {
        let request = wqe::write(Remote { addr: 0x1000, rkey: Rkey(1) }).inline(&[0; 8]);
        shared.fill(|at, n| pairs.nth(at).sq.post(&request.signaled(WrId(n))).expect("room"));
        let mut sum = poll(&mut shared.cq, &mut *pairs, WARM);
        let ticks = Clock::time(|| sum += poll(black_box(&mut shared.cq), black_box(&mut *pairs), CQES - WARM));
        assert_eq!(sum, (0..CQES as u64).sum::<u64>(), "{name}: each request once");
        clock.ns(ticks, 1) / (CQES - WARM) as f64
    };
    (name, Box::new(slice))
}

fn one() -> (Shared, One) {
    let (shared, mut pairs) = Shared::new(1);
    (shared, One(pairs.remove(0)))
}

fn known() -> (Shared, Known) {
    let (shared, pairs) = Shared::new(QUEUE_PAIRS);
    let order = shared.order.clone();
    (shared, Known { pairs, order, next: 0 })
}

fn table() -> (Shared, Table) {
    let (shared, list) = Shared::new(QUEUE_PAIRS);
    let numbers = list.iter().map(|pair| pair.qp.qpn()).collect();
    let mut pairs = ByQpn::new();
    list.into_iter().for_each(|pair| assert!(pairs.insert(pair.qp.qpn(), pair).is_none()));
    (shared, Table { pairs, numbers })
}

fn map() -> (Shared, Map) {
    let (shared, list) = Shared::new(QUEUE_PAIRS);
    let numbers = list.iter().map(|pair| pair.qp.qpn()).collect();
    (shared, Map { pairs: list.into_iter().map(|pair| (pair.qp.qpn(), pair)).collect(), numbers })
}

fn user_index() -> (Shared, UserIndex) {
    let (mut shared, list) = Shared::new(QUEUE_PAIRS);
    let (mut pairs, mut indices) = (Vec::new(), Vec::new());
    for mut pair in list {
        pair.sq.post(&wqe::nop().signaled(WrId(0))).expect("room");
        step();
        let cqe = shared.cq.poll().expect("its completion");
        pair.sq.retire(&cqe).expect("its own");
        let index = cqe.uidx() as usize;
        indices.push(index);
        pairs.resize_with(pairs.len().max(index + 1), || None);
        assert!(pairs[index].replace(pair).is_none(), "indices differ");
    }
    (shared, UserIndex { pairs, indices })
}

fn main() {
    let Some(measuring) = measuring(GROUP) else { return };
    let mut cases = [
        case("one queue pair", one()),
        case("64, order known", known()),
        case("64, ByQpn", table()),
        case("64, array by user index", user_index()),
        case("64, HashMap", map()),
    ];
    let rounds = Rounds::of(if measuring { ROUNDS } else { 1 }, cases.len(), |at, clock| cases[at].1(clock));
    if !measuring {
        return;
    }
    println!("{GROUP:<30} {:>8} {:>12} {:>14}", "ns", "to one", "to order known");
    let names = cases.map(|(name, _)| name);
    for (at, name) in names.iter().enumerate() {
        let [to_one, to_known] = [0, 1].map(|other| rounds.ratio(at, other));
        println!("  {name:<28} {:>8.2} {to_one:>11.2}x {to_known:>13.2}x", rounds.ns(at));
    }
    rounds.write("dispatch", GROUP, &names);
}
