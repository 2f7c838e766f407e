//! Any completions of a striding receive queue, plain or compressed. A model beside it knows the filled strides, the
//! kept frames and the posted buffers.
//!
//! The queue accepts a completion exactly if the model does, and lends the same bytes. It posts all buffers but those
//! that are posted already, or in which a frame is kept. Kept frames keep their bytes and their memory. If the device
//! keeps the format, each of its frames is received once, in order.
//!
//! Completions are received one by one, or taken at once. Another completion queue then polls a copy of the ring one by
//! one, and the call must find the same.

mod device;
mod frames;
mod model;
mod rack;

use blueflame::cq::CompletionQueue;
use blueflame::cq::compressed::{BASIC, Checksum, ChecksumStride, ENHANCED, FlowTag, Hash, Headers, Strided};
use blueflame::cq::mode::PollMode;
use blueflame::cq::setup::CqParts;
use blueflame::types::{CqCi, Cqn};

use crate::cqe_ring::{CqeRing, Form};
use crate::memory::Arena;
pub(crate) use frames::{Frames, Shape};
use model::Expected;

input_struct! {
    /// A queue, and what becomes of it.
    Input {
        /// Strides of a WQE and their bytes.
        strides: u8,
        /// Two bytes are before each frame.
        shifted: bool,
        /// Format and layout of completions, modulo 11; the quotient is odd if they are taken at once.
        kind: u8,
        /// log2 of the WQEs of the ring, less one; the low 2 bits count.
        log_wqes: u8,
        /// Buffers, less one; the low 3 bits count.
        buffers: u8,
        /// In order.
        steps: Vec<Step>,
    }
}

input_enum! {
    /// What happens next.
    Step {
        /// A frame of `len` bytes, in the next strides. With `twist`, its completion breaks the format.
        Frame { len: u16, twist: u8 },
        /// The strides that are left stay empty.
        Filler {},
        /// A receive fails, and its completion counts `count` strides.
        Error { count: u8 },
        /// Frames of these lengths, compressed into a session where completions are.
        Session { lens: Vec<u16> },
        /// Any completion, as the next one.
        Any { cqe: [u8; 64] },
        /// Any bytes at a place of the completion queue.
        Scribble { slot: u8, cqe: [u8; 64] },
        /// Up to `max` completions are polled. `keep` has a bit for each sixteenth one. With `again`, each is received
        /// twice.
        Poll { max: u8, keep: u16, again: bool },
        /// A kept frame is dropped.
        Drop { which: u8 },
        /// Free buffers are posted.
        Refill {},
        /// The queue starts over, after its completion queue is drained.
        Reset {},
    }
}

/// CQEs of the ring.
const CQES: u32 = 64;

/// Plays the steps.
pub fn run(input: &Input) {
    let form = |has_index, has_tag, enhanced| Form { compressed: true, has_index, has_tag, enhanced };
    let form = match input.kind % 11 {
        1 | 2 => form(false, false, false),
        3 => form(true, true, false),
        4 | 5 => form(true, false, false),
        6 | 7 => form(false, false, true),
        8 => form(true, true, true),
        9 | 10 => form(true, false, true),
        _ => Form::WHOLE,
    };
    let (ring, copy) = (CqeRing::new(CQES, 64, form), CqeRing::new(CQES, 64, form));
    let records = [Arena::new(8, 0), Arena::new(8, 0)];
    let queue = |ring: &CqeRing, record: &Arena| {
        let parts = CqParts {
            buf: ring.arena().ptr(),
            cqe_cnt: CQES,
            cqe_size: 64,
            dbrec: record.ptr().cast(),
            cq_uar: record.ptr(),
            cqn: Cqn::truncate(7),
            ci: CqCi::truncate(0),
        };
        // SAFETY: the arenas outlive the queue, and have no other user.
        unsafe { CompletionQueue::from_parts(parts) }.expect("parts of a queue")
    };
    let (cq, observer) = (queue(&ring, &records[0]), queue(&copy, &records[1]));
    let arenas = [ring.arena().clone(), copy.arena().clone()];
    macro_rules! play {
        ($format:ty, $layout:ty) => {
            Play::new(input, [cq.compressed::<$format, $layout>(), observer.compressed()], ring, arenas).run()
        };
    }
    // SAFETY: for each that is compressed, the ring is written in that format, or hostile.
    unsafe {
        match input.kind % 11 {
            1 => play!(Strided<Hash>, BASIC),
            2 => play!(Strided<Checksum>, BASIC),
            3 => play!(Strided<FlowTag>, BASIC),
            4 => play!(ChecksumStride, BASIC),
            5 => play!(Headers, BASIC),
            6 => play!(Strided<Hash>, ENHANCED),
            7 => play!(Strided<Checksum>, ENHANCED),
            8 => play!(Strided<FlowTag>, ENHANCED),
            9 => play!(ChecksumStride, ENHANCED),
            10 => play!(Headers, ENHANCED),
            _ => Play::new(input, [cq, observer], ring, arenas).run(),
        }
    }
}

/// A queue, its device and its model.
struct Play<'a, M: PollMode> {
    input: &'a Input,
    cq: CompletionQueue<M>,
    /// Polls a copy of the ring.
    observer: CompletionQueue<M>,
    /// The ring's memory, and the copy's.
    arenas: [Arena; 2],
    frames: Frames,
}

impl<'a, M: PollMode> Play<'a, M> {
    fn new(input: &'a Input, [cq, observer]: [CompletionQueue<M>; 2], ring: CqeRing, arenas: [Arena; 2]) -> Self {
        let Input { strides, shifted, log_wqes, buffers, .. } = *input;
        let frames = Frames::new(&Shape { strides, shifted, log_wqes, buffers }, cq.id(), ring);
        Self { input, cq, observer, arenas, frames }
    }

    fn run(mut self) {
        self.frames.refill();
        for step in self.input.steps.iter().take(200) {
            let Frames { device, model, .. } = &mut self.frames;
            device.look(model, self.cq.consumer_index().get());
            match step {
                Step::Frame { len, twist } => device.frame(model, *len, *twist),
                Step::Filler {} => device.filler(model),
                Step::Error { count } => device.error(model, *count),
                Step::Session { lens } => device.session(model, lens),
                Step::Any { cqe } => device.any(*cqe),
                Step::Scribble { slot, cqe } => device.scribble(*slot, cqe),
                &Step::Poll { max, keep, again } => _ = self.poll(max.into(), keep, again),
                &Step::Drop { which } => self.frames.drop_frame(usize::from(which)),
                Step::Refill {} => self.frames.refill(),
                Step::Reset {} => {
                    self.drain();
                    self.frames.reset();
                }
            }
        }
        self.drain();
        if self.input.shifted {
            self.frames.drop_all();
        }
        self.frames.refill();
        self.frames.finish();
    }

    fn poll(&mut self, max: usize, keep: u16, again: bool) -> usize {
        if self.input.kind / 11 % 2 == 1 {
            return self.take(max, keep);
        }
        let Self { cq, frames, .. } = self;
        let mut n = 0;
        cq.poll_with(max, |cqe| {
            frames.receive(&cqe, keep >> (n % 16) & 1 != 0, again);
            n += 1;
        })
    }

    /// Takes up to `max` completions at once. Returns how many there were.
    fn take(&mut self, max: usize, keep: u16) -> usize {
        let Self { cq, observer, arenas, frames, .. } = self;
        arenas[1].scribble(0, &arenas[0].bytes());
        let mut expected: Vec<(Expected, u32, bool)> = Vec::new();
        while expected.len() < max && !matches!(expected.last(), Some((.., true))) {
            if observer.poll_with(1, |cqe| expected.push(frames.expect(&cqe))) == 0 {
                break;
            }
        }
        frames.take(cq, max, &expected, keep);
        assert_eq!(cq.consumer_index(), observer.consumer_index());
        expected.len()
    }

    /// Polls all. Polling marks the polled CQEs of a session: in the next pass, the rest belongs to an older one.
    fn drain(&mut self) {
        let mut left = 4 * CQES as usize;
        loop {
            let polled = self.poll(left, 0, false);
            left -= polled;
            if polled == 0 {
                break;
            }
        }
        self.frames.device.drained();
    }
}
