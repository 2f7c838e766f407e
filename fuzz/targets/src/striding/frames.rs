//! A striding receive queue with its device and its model.

use std::sync::Weak;

use blueflame::cq::mode::PollMode;
use blueflame::cq::{CompletionQueue, CqId, CqeView, Source};
use blueflame::queue::striding::{Frame, StridedMemory, Strides, StridingParts, StridingRecvQueue};
use blueflame::types::Qpn;

use super::device::Device;
use super::model::{Completion, Expected, Model, check_bytes};
use super::rack;
use crate::cqe_ring::CqeRing;
use crate::memory::Arena;

/// log2 of strides and of their bytes: WQEs of 16 KiB.
const STRIDES: [(u8, u8); 4] = [(3, 11), (8, 6), (6, 8), (5, 9)];

/// The sizes of a queue.
pub(crate) struct Shape {
    /// Strides of a WQE and their bytes: one of [`STRIDES`].
    pub(crate) strides: u8,
    /// Two bytes are before each frame.
    pub(crate) shifted: bool,
    /// log2 of the WQEs of the ring, less one; the low 2 bits count.
    pub(crate) log_wqes: u8,
    /// Buffers, less one; the low 3 bits count.
    pub(crate) buffers: u8,
}

/// A frame that is kept.
struct Kept {
    frame: Frame,
    buffer: usize,
    id: u64,
}

/// The queue goes before its memory.
pub(crate) struct Frames {
    rq: StridingRecvQueue,
    pub(crate) device: Device,
    pub(crate) model: Model,
    kept: Vec<Kept>,
    /// The ring, its record and its shadow.
    rings: [Arena; 3],
    /// Gone when the memory of the frames is.
    alive: Weak<()>,
}

/// The fields of a completion that the model knows.
fn said<S: Source>(cqe: &CqeView<S>) -> Completion {
    Completion {
        wqe_id: cqe.wqe_id(),
        first: cqe.wqe_counter(),
        word: cqe.byte_len(),
        opcode: cqe.opcode(),
        format: cqe.format(),
    }
}

impl Frames {
    /// A queue that completes to the completion queue over `ring`.
    pub(crate) fn new(shape: &Shape, cq: CqId, ring: CqeRing) -> Self {
        let (log_count, log_bytes) = STRIDES[usize::from(shape.strides) % STRIDES.len()];
        let strides = Strides::new(log_count, log_bytes).expect("possible").two_byte_shift(shape.shifted);
        let (wqes, buffers) = (2_u32 << (shape.log_wqes & 3), usize::from(shape.buffers & 7) + 1);
        let memory = Arena::new(buffers * strides.wqe_bytes() as usize, 0);
        let model = Model::new(strides, wqes, buffers, memory.clone());
        let (memory, alive) = rack::memory(memory, strides);
        let rings = [Arena::new(wqes as usize * 32, 0xff), Arena::new(8, 0), Arena::new(wqes as usize * 8, 0xff)];
        let rq = Self::queue(&rings, wqes, cq, memory);
        Self { rq, device: Device::new(ring), model, kept: Vec::new(), rings, alive }
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

    /// The device writes to its ring or to its record.
    pub(crate) fn scribble(&mut self, is_ring: bool, at: usize, bytes: &[u8]) {
        let [ring, record, _] = &self.rings;
        if is_ring { ring } else { record }.scribble(at, bytes);
        self.model.is_damaged |= is_ring;
    }

    /// The model's answer to a completion, which the queue will give. The frame's tag as well, and whether a call that
    /// takes frames ends there by an error.
    pub(super) fn expect<S: Source>(&mut self, cqe: &CqeView<S>) -> (Expected, u32, bool) {
        let expected = self.model.receive(&said(cqe));
        self.device.received(&expected, true);
        let is_error = matches!(expected, Expected::Refused) || cqe.check().is_err();
        (expected, cqe.flow_tag(), is_error)
    }

    /// Takes up to `max` completions at once: those that `expected` has, in order. Each sixteenth frame is kept if `keep`
    /// has its bit.
    pub(super) fn take<M: PollMode>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        max: usize,
        expected: &[(Expected, u32, bool)],
        keep: u16,
    ) {
        let Self { rq, model, kept, .. } = self;
        let mut frames = expected.iter().filter(|(expected, ..)| matches!(expected, Expected::Frame { .. }));
        let mut n = 0;
        let taken = rq.poll_with(cq, max, |frame| {
            let Some(&(Expected::Frame { buffer, at, len, id }, tag, _)) = frames.next() else {
                panic!("a frame that the model has not: {frame:?}")
            };
            assert_eq!(frame.flow_tag(), tag);
            model.check(&frame, (at, len, id));
            if keep >> (n % 16) & 1 != 0 {
                model.kept[buffer] += 1;
                kept.push(Kept { frame: frame.keep(), buffer, id });
            }
            n += 1;
        });
        assert!(frames.next().is_none(), "a frame is missing");
        match expected.last() {
            Some((.., true)) => assert!(taken.is_err(), "{taken:?} of {expected:?}"),
            _ => assert_eq!(taken, Ok(expected.len())),
        }
    }

    /// Gives the queue a completion, and compares its answer with the model's. A frame is kept if `keep` says so. With
    /// `again`, it is received twice.
    pub(crate) fn receive<S: Source>(&mut self, cqe: &CqeView<S>, keep: bool, again: bool) {
        let said = said(cqe);
        let Self { rq, device, model, kept, .. } = self;
        for time in 0..=u8::from(again) {
            let expected = model.receive(&said);
            device.received(&expected, time == 0);
            match (rq.receive(cqe), expected) {
                (Ok(Some(frame)), Expected::Frame { buffer, at, len, id }) => {
                    assert_eq!(frame.flow_tag(), cqe.flow_tag());
                    model.check(&frame, (at, len, id));
                    if keep {
                        model.kept[buffer] += 1;
                        kept.push(Kept { frame: frame.keep(), buffer, id });
                    }
                }
                (Ok(None), Expected::Nothing) | (Err(_), Expected::Refused) => {}
                (got, expected) => panic!("{said:?}: {got:?} in place of {expected:?}"),
            }
        }
    }

    /// Drops a kept frame, if there is one.
    pub(crate) fn drop_frame(&mut self, which: usize) {
        if !self.kept.is_empty() {
            let Kept { frame, buffer, id } = self.kept.swap_remove(which % self.kept.len());
            check_bytes(&frame, id);
            drop(frame);
            self.model.kept[buffer] -= 1;
        }
    }

    /// Drops all kept frames.
    pub(crate) fn drop_all(&mut self) {
        while !self.kept.is_empty() {
            self.drop_frame(0);
        }
    }

    pub(crate) fn refill(&mut self) {
        let posted = self.rq.refill();
        self.model.refilled(posted, &self.rings[0], &self.rings[1]);
        assert_eq!(self.rq.posted(), self.model.posted.len() as u32);
    }

    /// Starts over. Its completion queue is drained.
    pub(crate) fn reset(&mut self) {
        // SAFETY: the device of this test takes nothing any more, and no completion is left or lent.
        unsafe { self.rq.reset() };
        self.model.reset();
        assert_eq!(self.rq.posted(), 0);
    }

    /// The queue goes, then the frames: with the last of them, the memory.
    pub(crate) fn finish(self) {
        let Self { rq, model, kept, rings, alive, .. } = self;
        drop((rq, rings, model));
        for Kept { frame, id, .. } in kept {
            assert!(alive.upgrade().is_some(), "a frame without memory");
            check_bytes(&frame, id);
        }
        assert!(alive.upgrade().is_none(), "memory without frames");
    }
}
