//! A striding queue and the completions of its frames, on memory of this process: no device writes them.
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ptr::NonNull;

use blueflame::cq::compressed::ChecksumStride;
use blueflame::cq::mode::{Compressed, PollMode};
use blueflame::cq::setup::CqParts;
use blueflame::cq::{CompletionQueue, CqId};
use blueflame::queue::striding::{
    BufferState, Slab, SlabParts, StridedMemory, Strides, StridingParts, StridingRecvQueue,
};
use blueflame::types::{CqCi, Cqn, Lkey, Qpn};

/// CQEs of the ring.
pub(crate) const CQES: usize = 256;
/// Completions of a session, where the device compresses them.
pub(crate) const SESSION: usize = 16;
/// log2 of the strides of a WQE, and of the bytes of a stride.
pub(crate) const LOG_STRIDES: u8 = 9;
pub(crate) const LOG_BYTES: u8 = 6;
/// WQEs, and their buffers.
pub(crate) const WQES: usize = 4;
/// Bytes of a frame: it takes one stride.
pub(crate) const FRAME_BYTES: u32 = 60;
/// Flow tags are 0 to one less, in turn.
pub(crate) const TAGS: usize = 8;

const CQE_BYTES: usize = 64;
const PAGE_BYTES: usize = 4096;

/// How completions lie in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A CQE for each.
    Plain,
    /// Sessions.
    Compressed,
}

/// The memory of a queue.
pub(crate) struct Rig {
    pub(crate) cqes: NonNull<[u8; CQE_BYTES]>,
    pub(crate) record: NonNull<u32>,
    pub(crate) buffers: NonNull<u8>,
    form: Form,
    /// Completions written so far.
    written: usize,
}

/// Zeroed pages that stay.
fn pages(bytes: usize) -> NonNull<u8> {
    let layout = Layout::from_size_align(bytes.next_multiple_of(PAGE_BYTES), PAGE_BYTES).expect("a size");
    // SAFETY: not of zero bytes.
    NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

fn strides() -> Strides {
    Strides::new(LOG_STRIDES, LOG_BYTES).expect("possible")
}

impl Rig {
    pub(crate) fn new(form: Form) -> Self {
        let cqes = pages(CQES * CQE_BYTES).cast::<[u8; CQE_BYTES]>();
        for n in 0..CQES {
            // SAFETY: the pages, which no other code knows yet. CQEs that were never written.
            unsafe { cqes.add(n).write([0xf0; CQE_BYTES]) };
        }
        let buffers = pages(WQES * strides().wqe_bytes() as usize);
        Self { cqes, record: pages(PAGE_BYTES).cast(), buffers, form, written: 0 }
    }

    /// The queues of this crate over the memory.
    pub(crate) fn queues(&self) -> (CompletionQueue, StridingRecvQueue) {
        let parts = CqParts {
            buf: self.cqes.cast(),
            cqe_cnt: CQES as u32,
            cqe_size: CQE_BYTES as u32,
            dbrec: self.record.cast(),
            cq_uar: pages(PAGE_BYTES),
            cqn: Cqn::new(1).expect("24 bits"),
            ci: CqCi::truncate(0),
        };
        // SAFETY: pages that stay; the caller lets nothing overrun the ring.
        let cq = unsafe { CompletionQueue::from_parts(parts) }.expect("a queue");
        let rq = self.striding(cq.id());
        (cq, rq)
    }

    fn striding(&self, cq: CqId) -> StridingRecvQueue {
        unsafe fn stays(_: NonNull<Slab>) {}
        let parts = SlabParts {
            slab: pages(size_of::<Slab>()).cast(),
            states: pages(WQES * size_of::<BufferState>()).cast(),
            buffers: WQES as u32,
            start: self.buffers,
            lkey: Lkey(1),
            strides: strides(),
            release: stays,
        };
        // SAFETY: pages of their own, large enough, which stay; there is no device.
        let memory = unsafe { StridedMemory::from_parts(parts) };
        let parts = StridingParts {
            buf: pages(PAGE_BYTES),
            wqe_cnt: WQES as u32,
            stride: 32,
            dbrec: pages(PAGE_BYTES).cast(),
            qpn: Qpn::truncate(7),
            cq,
            shadow: pages(PAGE_BYTES).cast(),
        };
        // SAFETY: pages of their own, large enough, which stay; there is no device.
        let mut rq = unsafe { StridingRecvQueue::from_parts(parts, memory) }.expect("a queue");
        rq.refill();
        rq
    }

    /// Writes a completion to each CQE, as a device would: all of them were polled.
    pub(crate) fn fill(&mut self) {
        for n in 0..CQES {
            let number = self.written + n;
            let cqe = match self.form {
                Form::Plain => Some(whole(number, 1 << 16 | FRAME_BYTES, 0x20)),
                Form::Compressed => match n % SESSION {
                    0 => Some(whole(number, SESSION as u32, 0x2c)),
                    1 | 8 => Some(minis(number / SESSION * SESSION + n % SESSION / 8 * 8)),
                    _ => None,
                },
            };
            if let Some(mut cqe) = cqe {
                cqe[CQE_BYTES - 1] |= (number / CQES % 2) as u8 * u8::from(!self.is_minis(n));
                // SAFETY: a CQE of the ring, which was polled.
                unsafe { self.cqes.add(n).write(cqe) };
            }
        }
        self.written += CQES;
    }

    fn is_minis(&self, n: usize) -> bool {
        self.form == Form::Compressed && matches!(n % SESSION, 1 | 8)
    }
}

/// The completion of frame `number`, or the title of a session that begins with it.
fn whole(number: usize, word: u32, op_own: u8) -> [u8; CQE_BYTES] {
    let mut cqe = [0; CQE_BYTES];
    cqe[2..4].copy_from_slice(&((number >> LOG_STRIDES) as u16).to_be_bytes());
    cqe[44..48].copy_from_slice(&word.to_be_bytes());
    cqe[56..60].copy_from_slice(&(tag(number) as u32).to_be_bytes());
    cqe[60..62].copy_from_slice(&stride(number).to_be_bytes());
    cqe[63] = op_own;
    cqe
}

/// Mini-CQEs of the eight frames from `number` on.
fn minis(number: usize) -> [u8; CQE_BYTES] {
    let mut cqe = [0; CQE_BYTES];
    for (mini, bytes) in cqe.chunks_exact_mut(8).enumerate() {
        bytes[2..4].copy_from_slice(&stride(number + mini).to_be_bytes());
        bytes[4..].copy_from_slice(&(1 << 16 | FRAME_BYTES).to_be_bytes());
    }
    cqe
}

fn stride(number: usize) -> u16 {
    (number % (1 << LOG_STRIDES)) as u16
}

/// The tag of frame `number`, where frames have their own. Those of a session have one.
pub(crate) fn tag(number: usize) -> usize {
    number / SESSION % TAGS
}

/// Turns the queue into one whose device compresses completions.
pub(crate) fn compressed<M: PollMode<Compression = ()>>(
    cq: CompletionQueue<M>,
) -> CompletionQueue<Compressed<ChecksumStride, { blueflame::cq::compressed::BASIC }, M>> {
    // SAFETY: its completions are of this format, and none has been polled.
    unsafe { cq.compressed() }
}
