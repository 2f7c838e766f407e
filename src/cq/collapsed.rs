//! A completion queue of one place, where the device keeps the latest completion.
use core::ptr::NonNull;

use super::completion_queue::RING;
use super::cqe::view::{Cqe, CqeCopy, CqeView};
use super::forget::Whose;
use super::id::CqId;
use super::layout::{CQE64_BYTES, EMPTY, OpOwn, TAIL_OFFSET, Tail};
use super::parts::CqParts;
use super::source::InQueue;
use crate::arch;
use crate::setup::SetupError;
use crate::types::Cqn;

/// The completion queue of a single send queue, in which each completion replaces the one before (`cqc.cc` and
/// `cqc.oi`; DOCA GPUNetIO `doca_verbs_cq.cpp`, `create_cq_obj`; UCX `ib_mlx5_dv.c`,
/// `uct_ib_mlx5_devx_create_cq_common`).
///
/// A send queue completes its requests in order. So the latest completion also completes all requests before it, and
/// [`SendQueue::complete`](crate::SendQueue::complete) takes all of them back. The queue is one cache line. Polling
/// writes no doorbell record, and the queue cannot overrun.
///
/// This queue does not tell:
/// - The `wr_id` of a request whose completion was replaced before a poll saw it. If requests own buffers
///   ([`queue::owning`](crate::queue::owning)), use a [`CompletionQueue`](super::CompletionQueue): the buffers of such
///   requests would be leaked.
/// - The reason of an error, once the requests behind the failed one are flushed: their completions replace it. The
///   syndrome is then [`WrFlush`](super::error::KnownSyndrome::WrFlush).
/// - Errors of block signatures: the completion of the request itself replaces them, and corrupt data would pass for
///   good. Post no requests with such signatures.
/// - Events: it cannot be armed.
///
/// ```
/// use blueflame::cq::CollapsedQueue;
/// use blueflame::queue::Done;
/// use blueflame::{CompleteError, SendQueue, transport};
///
/// /// The latest request that is done, and all before it with it.
/// fn reap(cq: &mut CollapsedQueue, sq: &mut SendQueue<transport::Rc>) -> Result<Option<Done>, CompleteError<Done>> {
///     cq.poll().map(|cqe| sq.complete(&cqe)).transpose()
/// }
/// ```
#[derive(Debug)]
pub struct CollapsedQueue {
    /// The 64 bytes that have the fields.
    cqe: NonNull<u8>,
    /// The last four bytes when they were last polled, as they lie in memory.
    seen: u32,
    id: CqId,
    cqn: Cqn,
}

// SAFETY: the pointer is to memory that `from_parts` was promised for the queue's life, not bound to a thread; all
// access that changes something goes through `&mut self`.
unsafe impl Send for CollapsedQueue {}

impl CollapsedQueue {
    /// A queue over raw parts. The place is the first CQE of the ring; the doorbell record and the UAR page are not
    /// used.
    ///
    /// # Errors
    /// [`SetupError`] names the invalid part. The CQE must be marked as never written
    /// ([`mark_unwritten`](super::setup::mark_unwritten)).
    ///
    /// # Safety
    /// For as long as the queue lives:
    /// - `buf` is `cqe_size` readable and writable bytes, to which no reference lives;
    /// - the device knows them as the place of CQ `cqn`, which is collapsed and ignores overruns, or nobody knows them;
    /// - at most one send queue completes there, and nothing receives there. Before another send queue may, the first
    ///   one is reset and its completion [forgotten](Self::forget_with);
    /// - nothing else in the process polls this CQ.
    pub unsafe fn from_parts(parts: CqParts) -> Result<Self, SetupError> {
        let CqParts { buf, cqe_size, cqn, .. } = parts;
        SetupError::check_power_of_two("bytes of a CQE", cqe_size, 64, 128)?;
        SetupError::check_aligned(RING, buf.addr().get(), cqe_size as usize)?;
        // SAFETY: the fields end where the CQE ends, which is in the buffer.
        let cqe = unsafe { buf.add(cqe_size as usize - CQE64_BYTES) };
        let mut queue = Self { cqe, seen: 0, id: CqId::new()?, cqn };
        queue.seen = queue.load_tail();
        match op_own(queue.seen) {
            OpOwn(EMPTY..) => Ok(queue),
            written => Err(SetupError::WrittenCqe { slot: 0, opcode: written.opcode() }),
        }
    }

    /// The latest completion, copied, if it has come since the last call.
    ///
    /// Its index and its opcode, which says whether the request succeeded, are those of one completion. The device may
    /// have replaced the rest meanwhile: other fields, the syndrome among them, may be those of a later completion.
    #[doc(alias = "ibv_poll_cq")]
    #[inline(always)]
    pub fn poll(&mut self) -> Option<CqeCopy<'_>> {
        let tail = self.look()?;
        Some(CqeView::new(tail, self.id, self.fields().copy()))
    }

    /// Forgets the completion that is there, if any, so that another send queue may complete here: the first one has
    /// been reset. Lends the completion to `f` before, if it was not polled and is one of `whose`. Returns how many were
    /// lent, 0 or 1. If a send queue does complete here meanwhile, completions may be lost.
    pub fn forget_with(&mut self, whose: impl Into<Whose>, f: impl FnOnce(Cqe<'_>)) -> usize {
        let mut lent = 0;
        if let Some(tail) = self.look() {
            let latest = CqeView::new(tail, self.id, self.fields());
            if whose.into().covers(&latest) {
                lent = 1;
                f(latest);
            }
        }
        // SAFETY: the last byte of the place, which `from_parts` was promised. Every byte is a valid `u8`, also if the
        // device writes it at the same time.
        unsafe { self.cqe.add(CQE64_BYTES - 1).write_volatile(EMPTY) };
        self.seen = self.load_tail();
        lent
    }

    /// Whether there is a completion, polled or not: then no other send queue may complete here
    /// ([`forget_with`](Self::forget_with)). The new queue's first completion might have the same last bytes, and would
    /// not be noticed.
    #[must_use]
    pub fn is_used(&self) -> bool {
        !matches!(op_own(self.load_tail()), OpOwn(EMPTY..))
    }

    /// The queue's identity: [given](crate::queue::send::SqParts::cq) to the send queue that completes here.
    #[must_use]
    pub const fn id(&self) -> CqId {
        self.id
    }

    /// The queue's number.
    #[must_use]
    pub const fn cqn(&self) -> Cqn {
        self.cqn
    }

    /// The address of the place, which tells queues apart.
    #[must_use]
    pub fn ring_addr(&self) -> usize {
        self.cqe.addr().get()
    }

    /// The last four bytes, if they have changed since the last call.
    #[inline(always)]
    fn look(&mut self) -> Option<Tail> {
        let tail = self.load_tail();
        if tail == self.seen {
            return None;
        }
        self.seen = tail;
        // Orders this load before those of the fields.
        arch::from_device();
        // Either owner bit will do: without a ring, it tells nothing.
        Some(Tail::new(tail, u32::from_be(tail) & 1))
    }

    #[inline(always)]
    fn fields(&self) -> InQueue<'_> {
        // SAFETY: promised to `from_parts`, and aligned. Any bytes are fields.
        unsafe { InQueue::new(self.cqe, false) }
    }

    /// One load of the last four bytes. The device stores aligned words whole (`Tail`; GPUNetIO polls so, too:
    /// `doca_gpunetio_dev_verbs_cq.cuh`, `doca_priv_gpu_dev_verbs_poll_cq_collapsed_at`). So the index and the opcode are
    /// of one completion.
    #[inline(always)]
    fn load_tail(&self) -> u32 {
        // SAFETY: 64 readable, 64-byte aligned bytes, and these are the last four; volatile: the device writes them.
        unsafe { self.cqe.add(TAIL_OFFSET).cast::<u32>().read_volatile() }
    }
}

const fn op_own(tail: u32) -> OpOwn {
    OpOwn(u32::from_be(tail) as u8)
}
