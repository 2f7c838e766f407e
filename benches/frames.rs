//! Receiving frames of a striding queue: floors, and this crate. Whole completions and compressed ones; frames that go
//! to handlers by their flow tags; frames of several queues (RSS).
//!
//! Completions are written by this program before each slice, into memory of its own: no device and no libibverbs are
//! there. All lie in this core's cache. One slice is the ring's completions, polled sixteen a call. Before it, sixteen
//! are not timed: they open the WQE, where one begins. The rest is as in `common`.
mod common;

use std::hint::black_box;

use blueflame::arch;
use blueflame::cq::CompletionQueue;
use blueflame::cq::compressed::{BASIC, ChecksumStride};
use blueflame::cq::mode::{Compressed, PollMode, Standard};
use blueflame::queue::striding::StridingRecvQueue;

use common::clock::Clock;
use common::rounds::{Rounds, measuring};
use common::striding::{CQES, FRAME_BYTES, Form, LOG_BYTES, LOG_STRIDES, Rig, SESSION, TAGS, compressed, tag};

const GROUP: &str = "receive frames";
/// Completions of one call.
const BURST: usize = 16;
/// Queues that frames are spread over.
const QUEUES: usize = 4;
const ROUNDS: usize = 801;

/// Sums of frames' bytes, by handler.
type Handlers = [u64; TAGS];

/// A way to receive.
trait Receive {
    /// Takes `count` frames. Each adds its bytes to the handler of its flow tag, or to the first one.
    fn receive<const BY_TAG: bool>(&mut self, count: usize, handlers: &mut Handlers);
}

/// This crate's.
struct Ours<M: PollMode> {
    cq: CompletionQueue<M>,
    rq: StridingRecvQueue,
}

impl<M: PollMode> Receive for Ours<M> {
    #[inline(always)]
    fn receive<const BY_TAG: bool>(&mut self, count: usize, handlers: &mut Handlers) {
        for _ in 0..count / BURST {
            let polled = self.rq.poll_with(&mut self.cq, BURST, |frame| {
                let handler = if BY_TAG { frame.flow_tag() as usize % TAGS } else { 0 };
                handlers[handler] += frame.len() as u64;
                black_box(frame.as_ptr());
            });
            assert!(polled == Ok(BURST), "{polled:?}");
            self.rq.refill();
        }
    }
}

/// Loads and stores by hand, for frames of one stride. It posts no buffers. `DUTIES` are those
/// of a safe queue: the strides of each frame must be the next ones, and its bytes must fit.
struct Floor<const COMPRESSED: bool, const DUTIES: bool> {
    rig: Rig,
    /// Completions taken.
    taken: usize,
    /// WQEs before the open one, and its next stride.
    wqe: u16,
    next: u32,
}

impl<const COMPRESSED: bool, const DUTIES: bool> Floor<COMPRESSED, DUTIES> {
    fn new() -> Self {
        let form = if COMPRESSED { Form::Compressed } else { Form::Plain };
        Self { rig: Rig::new(form), taken: 0, wqe: 0, next: 0 }
    }

    /// The duties for a frame, of its first stride and of the word of its strides and bytes. False if it must not be
    /// taken.
    #[inline(always)]
    fn check(&mut self, first: u16, word: u32) -> bool {
        if !DUTIES {
            return true;
        }
        let strides = word >> 16;
        let end = self.next + strides;
        let has_room = end <= 1 << LOG_STRIDES && (word & 0xffff).wrapping_sub(1) < strides << LOG_BYTES;
        if u32::from(first) != self.next || !has_room {
            return false;
        }
        self.next = end;
        if end == 1 << LOG_STRIDES {
            (self.wqe, self.next) = (self.wqe.wrapping_add(1), 0);
        }
        true
    }

    /// Whether a completion belongs to the open WQE.
    #[inline(always)]
    fn is_of_open(&self, index: usize) -> bool {
        // SAFETY: an aligned field of a CQE of the ring.
        let wqe = unsafe { self.rig.cqes.add(index % CQES).cast::<u16>().add(1).read_volatile() };
        !DUTIES || u16::from_be(wqe) == self.wqe
    }

    /// A frame in place.
    #[inline(always)]
    fn frame<const BY_TAG: bool>(&self, stride: u32, bytes: u32, tag: u32, handlers: &mut Handlers) {
        let buffer = self.taken >> LOG_STRIDES & 3;
        let at = (buffer << LOG_STRIDES | stride as usize) << LOG_BYTES;
        black_box(self.rig.buffers.as_ptr().wrapping_add(at));
        handlers[if BY_TAG { tag as usize % TAGS } else { 0 }] += u64::from(bytes & 0xffff);
    }

    /// The words of a completion, each loaded once: strides and bytes, tag, index; its last byte.
    #[inline(always)]
    fn load(&self, index: usize) -> (u32, u32, u16, u8) {
        // SAFETY: aligned fields of a CQE of the ring.
        unsafe {
            let cqe = self.rig.cqes.add(index % CQES).cast::<u8>();
            let last = cqe.add(63).read_volatile();
            arch::from_device();
            let word = u32::from_be(cqe.add(44).cast().read_volatile());
            let tag = u32::from_be(cqe.add(56).cast().read_volatile()) & 0x00ff_ffff;
            (word, tag, u16::from_be(cqe.add(60).cast().read_volatile()), last)
        }
    }

    fn publish(&self) {
        // SAFETY: the record's word, which stays.
        unsafe { self.rig.record.write_volatile((self.taken as u32 & 0x00ff_ffff).to_be()) };
    }

    #[inline(always)]
    fn session<const BY_TAG: bool>(&mut self, handlers: &mut Handlers) {
        let phase = (self.taken / CQES % 2) as u8;
        let (count, tag, _, last) = self.load(self.taken);
        if last != 0x2c | phase || !self.is_of_open(self.taken) {
            return;
        }
        for n in 0..count as usize {
            // SAFETY: the arrays of the session: behind its title, and at its ninth place.
            let [first, word] = unsafe {
                let array = self.rig.cqes.add((self.taken - n) % CQES + if n < 8 { 1 } else { 8 });
                array.cast::<[u32; 2]>().add(n % 8).read_volatile().map(u32::from_be)
            };
            if !self.check(first as u16, word) {
                return;
            }
            self.frame::<BY_TAG>(first & 0xffff, word, tag, handlers);
            self.taken += 1;
        }
        for n in self.taken - count as usize..self.taken {
            // SAFETY: the last byte of a CQE of the ring.
            unsafe { self.rig.cqes.add(n % CQES).cast::<u8>().add(63).write_volatile(0xf0 | phase) };
        }
        self.publish();
    }
}

impl<const COMPRESSED: bool, const DUTIES: bool> Receive for Floor<COMPRESSED, DUTIES> {
    #[inline(always)]
    fn receive<const BY_TAG: bool>(&mut self, count: usize, handlers: &mut Handlers) {
        for _ in 0..count / BURST {
            if COMPRESSED {
                self.session::<BY_TAG>(handlers);
                continue;
            }
            for _ in 0..BURST {
                let phase = (self.taken / CQES % 2) as u8;
                let (word, tag, stride, last) = self.load(self.taken);
                if last != 0x20 | phase || !self.is_of_open(self.taken) || !self.check(stride, word) {
                    return;
                }
                self.frame::<BY_TAG>(stride.into(), word, tag, handlers);
                self.taken += 1;
                // For each, as this crate's mode `Standard` does.
                self.publish();
            }
        }
    }
}

/// A contestant: its name, and a function that runs a slice and returns nanoseconds a frame.
type Case = (&'static str, Box<dyn FnMut(&Clock) -> f64>);

/// `queues` of one kind, which are polled in turn; `fill` writes the completions of each.
fn case<R: Receive + 'static, const BY_TAG: bool>(
    name: &'static str,
    mut queues: Vec<R>,
    mut fill: impl FnMut(&mut [R]) + 'static,
) -> Case {
    /// A function of its own, as in a program.
    #[inline(never)]
    fn receive<R: Receive, const BY_TAG: bool>(queues: &mut [R], count: usize, handlers: &mut Handlers) {
        for _ in 0..count / BURST {
            for queue in &mut *queues {
                queue.receive::<BY_TAG>(BURST, handlers);
            }
        }
    }
    let mut passes = 0;
    let slice = move |clock: &Clock| {
        fill(&mut queues);
        let mut handlers = [0; TAGS];
        receive::<R, BY_TAG>(&mut queues, BURST, &mut handlers);
        let rest = CQES - BURST;
        let ticks = Clock::time(|| receive::<R, BY_TAG>(black_box(&mut queues), rest, black_box(&mut handlers)));
        let mut expected = [0; TAGS];
        for n in passes * CQES..(passes + 1) * CQES {
            expected[if BY_TAG { tag(n) } else { 0 }] += u64::from(FRAME_BYTES) * queues.len() as u64;
        }
        passes += 1;
        assert_eq!(handlers, expected, "{name}: each frame once");
        clock.ns(ticks, 1) / (rest * queues.len()) as f64
    };
    (name, Box::new(slice))
}

fn floors<const COMPRESSED: bool, const DUTIES: bool, const BY_TAG: bool>(name: &'static str, count: usize) -> Case {
    let queues: Vec<_> = (0..count).map(|_| Floor::<COMPRESSED, DUTIES>::new()).collect();
    case::<_, BY_TAG>(name, queues, |queues| queues.iter_mut().for_each(|floor| floor.rig.fill()))
}

fn ours<M: PollMode + 'static, const BY_TAG: bool>(
    name: &'static str,
    count: usize,
    form: Form,
    mode: fn(CompletionQueue) -> CompletionQueue<M>,
) -> Case {
    let mut rigs: Vec<_> = (0..count).map(|_| Rig::new(form)).collect();
    let queues = rigs.iter().map(|rig| {
        let (cq, rq) = rig.queues();
        Ours { cq: mode(cq), rq }
    });
    case::<_, BY_TAG>(name, queues.collect(), move |_| rigs.iter_mut().for_each(Rig::fill))
}

fn plain<const BY_TAG: bool>(name: &'static str, count: usize) -> Case {
    ours::<Standard, BY_TAG>(name, count, Form::Plain, |cq| cq)
}

fn packed<const BY_TAG: bool>(name: &'static str, count: usize) -> Case {
    ours::<Compressed<ChecksumStride, BASIC>, BY_TAG>(name, count, Form::Compressed, compressed)
}

fn main() {
    const { assert!(BURST == SESSION) };
    let Some(measuring) = measuring(GROUP) else { return };
    // Each with the place of its bare floor.
    let (floors_at, mut cases): (Vec<usize>, Vec<Case>) = [
        (0, floors::<false, false, false>("floor plain", 1)),
        (0, floors::<false, true, false>("floor plain with duties", 1)),
        (0, plain::<false>("plain", 1)),
        (3, floors::<true, false, false>("floor compressed", 1)),
        (3, floors::<true, true, false>("floor compressed with duties", 1)),
        (3, packed::<false>("compressed", 1)),
        (6, floors::<false, false, true>("floor by tag", 1)),
        (6, floors::<false, true, true>("floor by tag with duties", 1)),
        (6, plain::<true>("by tag", 1)),
        (9, floors::<true, false, false>("floor of 4 queues", QUEUES)),
        (9, floors::<true, true, false>("floor of 4 queues with duties", QUEUES)),
        (9, packed::<false>("of 4 queues", QUEUES)),
    ]
    .into_iter()
    .unzip();
    let rounds = Rounds::of(if measuring { ROUNDS } else { 1 }, cases.len(), |at, clock| (cases[at].1)(clock));
    if !measuring {
        return;
    }
    println!("{GROUP:<36} {:>8} {:>12}", "ns", "to floor");
    for (at, (name, _)) in cases.iter().enumerate() {
        println!("  {name:<34} {:>8.2} {:>11.2}x", rounds.ns(at), rounds.ratio(at, floors_at[at]));
    }
    let names: Vec<_> = cases.iter().map(|(name, _)| *name).collect();
    rounds.write("frames", GROUP, &names);
}
