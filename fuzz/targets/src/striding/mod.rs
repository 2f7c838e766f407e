//! Any completions of a striding receive queue, plain or compressed. A model beside it knows the filled strides, the
//! kept frames and the posted buffers.
//!
//! The queue accepts a completion exactly if the model does, and lends the same bytes. It posts all buffers but those
//! that are posted already, or in which a frame is kept. Kept frames keep their bytes and their memory. If the device
//! keeps the format, each of its frames is received once, in order.

mod device;
mod model;
mod rack;

use std::sync::Weak;

use blueflame::cq::compressed::{Basic, Checksum, ChecksumStride, Enhanced, FlowTag, Hash, Headers, Strided};
use blueflame::cq::mode::PollMode;
use blueflame::cq::setup::CqParts;
use blueflame::cq::{CompletionQueue, CqId};
use blueflame::queue::striding::{Frame, StridedMemory, Strides, StridingParts, StridingRecvQueue};
use blueflame::types::{CqCi, Cqn, Qpn};

use crate::memory::Arena;
use device::{CQES, Device, Form};
use model::{Completion, Expected, Model, check_bytes};

input_struct! {
    /// A queue, and what becomes of it.
    Input {
        /// Strides of a WQE and their bytes.
        strides: u8,
        /// Two bytes are before each frame.
        shifted: bool,
        /// Format and layout of completions.
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
        /// A receive fails, and its completion counts so many strides.
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

/// log2 of strides and of their bytes: WQEs of 16 KiB.
const STRIDES: [(u8, u8); 4] = [(3, 11), (8, 6), (6, 8), (5, 9)];

/// Plays the steps.
pub fn run(input: &Input) {
    let (ring, record) = (Arena::new(CQES as usize * 64, 0), Arena::new(8, 0));
    (0..CQES as usize).for_each(|slot| ring.scribble(slot * 64 + 63, &[0xf0]));
    let parts = CqParts {
        buf: ring.ptr(),
        cqe_cnt: CQES,
        cqe_size: 64,
        dbrec: record.ptr().cast(),
        cq_uar: record.ptr(),
        cqn: Cqn::truncate(7),
        ci: CqCi::truncate(0),
    };
    // SAFETY: the arenas outlive the queue, and have no other user.
    let cq = unsafe { CompletionQueue::from_parts(parts) }.expect("parts of a queue");
    let form = |has_index, has_tag, enhanced| Form { compressed: true, has_index, has_tag, enhanced };
    macro_rules! play {
        ($format:ty, $layout:ty, $form:expr) => {
            Play::new(input, cq.compressed::<$format, $layout>(), ring, $form).run()
        };
    }
    // SAFETY, for each that is compressed: the ring is written in that format, or hostile.
    unsafe {
        match input.kind % 11 {
            1 => play!(Strided<Hash>, Basic, form(false, false, false)),
            2 => play!(Strided<Checksum>, Basic, form(false, false, false)),
            3 => play!(Strided<FlowTag>, Basic, form(true, true, false)),
            4 => play!(ChecksumStride, Basic, form(true, false, false)),
            5 => play!(Headers, Basic, form(true, false, false)),
            6 => play!(Strided<Hash>, Enhanced, form(false, false, true)),
            7 => play!(Strided<Checksum>, Enhanced, form(false, false, true)),
            8 => play!(Strided<FlowTag>, Enhanced, form(true, true, true)),
            9 => play!(ChecksumStride, Enhanced, form(true, false, true)),
            10 => play!(Headers, Enhanced, form(true, false, true)),
            _ => Play::new(input, cq, ring, Form { compressed: false, ..form(false, false, false) }).run(),
        }
    }
}

/// A frame that is kept.
struct Kept {
    frame: Frame,
    buffer: usize,
    id: u64,
}

/// A queue, its device and its model. The queue goes before its memory.
struct Play<'a, M: PollMode> {
    input: &'a Input,
    rq: StridingRecvQueue,
    cq: CompletionQueue<M>,
    device: Device,
    model: Model,
    kept: Vec<Kept>,
    /// The ring, its record and its shadow.
    rings: [Arena; 3],
    /// Gone when the memory of the frames is.
    alive: Weak<()>,
}

impl<'a, M: PollMode> Play<'a, M> {
    fn new(input: &'a Input, cq: CompletionQueue<M>, ring: Arena, form: Form) -> Self {
        let (log_count, log_bytes) = STRIDES[usize::from(input.strides) % STRIDES.len()];
        let strides = Strides::new(log_count, log_bytes).expect("possible").two_byte_shift(input.shifted);
        let (wqes, buffers) = (2_u32 << (input.log_wqes & 3), usize::from(input.buffers & 7) + 1);
        let memory = Arena::new(buffers * strides.wqe_bytes() as usize, 0);
        let model = Model::new(strides, wqes, buffers, memory.clone());
        let (memory, alive) = rack::memory(memory, strides);
        let rings = [Arena::new(wqes as usize * 32, 0xff), Arena::new(8, 0), Arena::new(wqes as usize * 8, 0xff)];
        let rq = Self::queue(&rings, wqes, cq.id(), memory);
        Self { input, rq, cq, device: Device::new(ring, form), model, kept: Vec::new(), rings, alive }
    }

    fn queue([ring, record, shadow]: &[Arena; 3], wqe_cnt: u32, cq: CqId, memory: StridedMemory) -> StridingRecvQueue {
        let parts = StridingParts {
            buf: ring.ptr(),
            wqe_cnt,
            stride: 32,
            dbrec: record.ptr().cast(),
            qpn: Qpn::truncate(9),
            cq,
            shadow: shadow.ptr().cast(),
        };
        // SAFETY: arenas of this queue alone, which outlive it.
        unsafe { StridingRecvQueue::from_parts(parts, memory) }.expect("parts of a queue")
    }

    fn run(mut self) {
        self.refill();
        for step in self.input.steps.iter().take(200) {
            self.device.look(&self.model, self.cq.consumer_index().get());
            match step {
                Step::Frame { len, twist } => self.device.frame(&self.model, *len, *twist),
                Step::Filler {} => self.device.filler(&self.model),
                Step::Error { count } => self.device.error(&self.model, *count),
                Step::Session { lens } => self.device.session(&self.model, lens),
                Step::Any { cqe } => self.device.any(*cqe),
                Step::Scribble { slot, cqe } => self.device.scribble(*slot, cqe),
                &Step::Poll { max, keep, again } => _ = self.poll(max.into(), keep, again),
                &Step::Drop { which } if !self.kept.is_empty() => self.drop_frame(usize::from(which)),
                Step::Drop { .. } => {}
                Step::Refill {} => self.refill(),
                Step::Reset {} => self.reset(),
            }
        }
        self.drain();
        while !self.kept.is_empty() && self.input.shifted {
            self.drop_frame(0);
        }
        self.refill();
        self.finish();
    }

    fn poll(&mut self, max: usize, keep: u16, again: bool) -> usize {
        let Self { rq, cq, device, model, kept, .. } = self;
        let mut n = 0;
        cq.poll_with(max, |cqe| {
            let said = Completion {
                wqe_id: cqe.wqe_id(),
                first: cqe.wqe_counter(),
                word: cqe.byte_len(),
                opcode: cqe.opcode(),
                format: cqe.format(),
            };
            for time in 0..=u8::from(again) {
                let expected = model.receive(&said);
                device.received(&expected, time == 0);
                match (rq.receive(&cqe), expected) {
                    (Ok(Some(frame)), Expected::Frame { buffer, at, len, id }) => {
                        assert_eq!(frame.flow_tag(), cqe.flow_tag());
                        model.check(&frame, (at, len, id));
                        if keep >> (n % 16) & 1 != 0 {
                            model.kept[buffer] += 1;
                            kept.push(Kept { frame: frame.keep(), buffer, id });
                        }
                    }
                    (Ok(None), Expected::Nothing) | (Err(_), Expected::Refused) => {}
                    (got, expected) => panic!("{said:?}: {got:?} in place of {expected:?}"),
                }
            }
            n += 1;
        })
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
        self.device.drained();
    }

    fn drop_frame(&mut self, which: usize) {
        let Kept { frame, buffer, id } = self.kept.swap_remove(which % self.kept.len());
        check_bytes(&frame, id);
        drop(frame);
        self.model.kept[buffer] -= 1;
    }

    fn refill(&mut self) {
        let posted = self.rq.refill();
        self.model.refilled(posted, &self.rings[0], &self.rings[1]);
        assert_eq!(self.rq.posted(), self.model.posted.len() as u32);
    }

    fn reset(&mut self) {
        self.drain();
        // SAFETY: the device of this test takes nothing any more, and no completion is left or lent.
        unsafe { self.rq.reset() };
        self.model.reset();
        assert_eq!(self.rq.posted(), 0);
    }

    /// The queue goes, then the frames: with the last of them, the memory.
    fn finish(self) {
        let Self { rq, model, kept, rings, alive, .. } = self;
        drop((rq, rings, model));
        for Kept { frame, id, .. } in kept {
            assert!(alive.upgrade().is_some(), "a frame without memory");
            check_bytes(&frame, id);
        }
        assert!(alive.upgrade().is_none(), "memory without frames");
    }
}
