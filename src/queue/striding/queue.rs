//! The queue: posts free buffers in order, and takes completions of the oldest posted one.
//!
//! ```text
//!          tail (open)                      head
//!            |                               |
//!            v                               v
//!    free  [ frame frame · · · ] [ · · · ] [ ... ]  free
//!                        ^
//!                       next stride
//! ```
//!
//! The device fills WQEs in order, and the strides of a WQE in order. So the completions that the queue accepts begin
//! at the next stride of the oldest WQE or behind it. The completion of a frame is accepted once.
use crate::arch::ds::DsWords;
use crate::hint::cold_path;
use crate::setup::SetupError;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::arch;
use crate::cq::mode::PollMode;
use crate::cq::{ColdCqe, CompletionQueue, CqId, CqeView, Origin, Side, Source};
use crate::db::DoorbellRecord;
use crate::queue::outcome::{self, RetireError};
use crate::queue::recv::scatter::{self, SCATTER_BYTES};
use crate::queue::striding::filling::{BYTES_MASK, COUNT_MASK, COUNT_SHIFT, FILLER, Filling, Span};
use crate::queue::striding::frame::{FrameBytes, LentFrame};
use crate::queue::striding::memory::{BufferState, StridedMemory};
use crate::types::Qpn;
use crate::wqe::DataSeg;

/// The most WQEs: half of the values of the 16-bit counter.
const MAX_WQES: u32 = 1 << 15;
/// Bytes of a WQE: the segment of a linked list, all zero in a ring, and a data segment (DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_wqe_mprq`; NVIDIA/daqiri `daqiri_ibverbs_engine.cpp`,
/// `devx_build_wqe`). libmlx5's `ibv_post_wq_recv` writes the data segment first (rdma-core `providers/mlx5/qp.c`,
/// `mlx5_post_wq_recv`), where a device looks for the other one.
const WQE_BYTES: u32 = 2 * SCATTER_BYTES as u32;

/// A striding receive queue's raw parts, as `mlx5dv_init_obj` (`mlx5dv_rwq`) or DevX give them.
#[doc(alias = "mlx5dv_rwq")]
#[derive(Clone, Copy, Debug)]
pub struct StridingParts {
    /// The first WQE (`mlx5dv_rwq::buf`), 16-byte aligned.
    pub buf: NonNull<u8>,
    /// How many WQEs the ring holds (`mlx5dv_rwq::wqe_cnt`): a power of two, 2 to 32768.
    pub wqe_cnt: u32,
    /// Bytes from one WQE to the next (`mlx5dv_rwq::stride`): 32.
    pub stride: u32,
    /// The doorbell record's first word (`mlx5dv_rwq::dbrec`), 4-byte aligned.
    pub dbrec: NonNull<u32>,
    /// The queue's number, 24 bits. Completions carry flow tags in its place.
    pub qpn: Qpn,
    /// The completion queue that frames complete to: [`CompletionQueue::id`](crate::CompletionQueue::id).
    pub cq: CqId,
    /// Private memory of `wqe_cnt` words; its contents do not matter.
    pub shadow: NonNull<MaybeUninit<u64>>,
}

/// A striding receive queue: the buffer of each WQE receives many frames.
///
/// ```
/// use blueflame::CompletionQueue;
/// use blueflame::queue::striding::{Frame, StridingRecvQueue};
///
/// /// Keeps the frames of one flow, and reads the others in place.
/// fn receive(cq: &mut CompletionQueue, queue: &mut StridingRecvQueue, kept: &mut Vec<Frame>) {
///     cq.poll_with(64, |cqe| match queue.receive(&cqe) {
///         Ok(Some(frame)) if frame.flow_tag() == 7 => kept.push(frame.keep()),
///         Ok(Some(frame)) => {
///             let mut headers = [0; 42];
///             let bytes = frame.read(0, &mut headers);
///             println!("{:x?} of {} bytes", &headers[..bytes], frame.len());
///         }
///         Ok(None) => {} // empty strides, or an error: cqe.check()
///         Err(error) => eprintln!("{error}"),
///     });
///     queue.refill();
/// }
/// ```
///
/// # Room
/// The completion queue needs room for a completion of each stride that is posted: a frame can be as short as a stride.
///
/// # Starvation
/// A kept frame keeps its whole buffer. If no buffer is free, the device drops frames. So give the queue more buffers
/// than WQEs, or copy what you keep for long.
#[doc(alias("MPRQ", "RQ"))]
#[derive(Debug)]
pub struct StridingRecvQueue {
    /// The next stride of the open WQE; that of its end if it is over, or none is open.
    pub(super) next: u32,
    /// Strides of a WQE.
    count: u32,
    /// The end of the strides that [`Filling`] fills.
    end: u32,
    /// The first byte that a frame of the open WQE can have: behind the two zeros, if there are any.
    start: NonNull<u8>,
    log_bytes: u32,
    /// Bytes before a frame: 0 or 2.
    shift: u64,
    /// WQEs posted ever, and those before the oldest; both count on modulo 2^32.
    pub(super) tail: u32,
    /// Number of WQEs, less one.
    mask: u32,
    /// Whose completions are this queue's.
    origin: Origin,
    /// The buffer of the open WQE, and how many of its frames were kept.
    pub(super) open: NonNull<BufferState>,
    pub(super) kept: u32,
    pub(super) is_open: bool,
    head: u32,
    /// How many WQEs may be posted at a time, and the most that this may be.
    depth: u32,
    most: u32,
    buf: NonNull<u8>,
    shadow: NonNull<MaybeUninit<u64>>,
    record: DoorbellRecord,
    memory: StridedMemory,
}

// SAFETY: the pointers are to memory promised for the queue's life, not bound to a thread; all access goes through
// `&mut self`.
unsafe impl Send for StridingRecvQueue {}

impl StridingRecvQueue {
    /// A queue over raw parts, with nothing posted: [`refill`](Self::refill) posts.
    ///
    /// # Errors
    /// [`SetupError`] names the invalid part.
    ///
    /// # Safety
    /// For as long as the queue lives:
    /// - `buf` is `wqe_cnt * stride` writable bytes and `dbrec` one writable word, known to the device as this receive
    ///   queue's, or to nobody. The device's queue is in the ready state, has consumed nothing, and its WQEs have the
    ///   strides of `memory`;
    /// - `shadow` is `wqe_cnt` words of memory that nothing else, and no device, touches;
    /// - no reference to any of them lives;
    /// - nothing else in the process posts to this queue (libibverbs included);
    /// - it completes to the completion queue with the identity `cq`. No other receive completes there, and none of an
    ///   earlier queue is left there.
    ///
    /// After the queue is gone, a [guard](StridedMemory::guard) of `memory` lives on as long as the device may use the
    /// ring.
    pub unsafe fn from_parts(parts: StridingParts, memory: StridedMemory) -> Result<Self, SetupError> {
        let StridingParts { buf, wqe_cnt, stride, dbrec, qpn, cq, shadow } = parts;
        // With a single WQE, a completion could not be distinguished from that of the next WQE.
        SetupError::check_power_of_two(scatter::WQES, wqe_cnt, 2, MAX_WQES)?;
        scatter::check_parts(buf, dbrec, shadow, stride, WQE_BYTES)?;
        SetupError::check_range(scatter::STRIDE, stride.into(), WQE_BYTES.into(), WQE_BYTES.into())?;
        let strides = memory.strides();
        // SAFETY: the memory has a buffer at least, or its states are not looked at before one is open.
        let open = unsafe { memory.state(0) };
        for index in 0..wqe_cnt {
            // SAFETY: a WQE of the ring, which the caller promises.
            unsafe { scatter::store_words(buf.add((index * WQE_BYTES) as usize), DsWords([0; 2])) };
        }
        Ok(Self {
            next: strides.count(),
            count: strides.count(),
            end: Filling::end_of(strides.count()),
            start: NonNull::dangling(),
            log_bytes: strides.log_bytes().into(),
            shift: strides.shift_bytes().into(),
            tail: 0,
            mask: wqe_cnt - 1,
            origin: Origin::new(cq, qpn),
            open,
            kept: 0,
            is_open: false,
            head: 0,
            depth: wqe_cnt,
            most: wqe_cnt,
            buf,
            shadow,
            // SAFETY: the caller promises the word, and that nothing else posts.
            record: unsafe { DoorbellRecord::receive(dbrec) },
            memory,
        })
    }

    /// Takes a completion, and lends its frame. `None` if it has none: it reports strides that stay empty, or an error
    /// ([`check`](CqeView::check) tells which). Give each completion once: an error counts its strides each time.
    ///
    /// # Errors
    /// See [`RetireError`]; the completion is not of the strides that come next, or its frame has no bytes. The queue
    /// does not trust the device's writes.
    #[doc(alias("ibv_poll_cq", "ibv_wc_read_byte_len"))]
    #[inline(always)]
    pub fn receive<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Option<LentFrame<'_>>, RetireError> {
        let (first, word) = (cqe.wqe_counter(), cqe.byte_len());
        let mut filling = self.filling();
        // `word` and the counter are loaded once: the values below are the checked ones.
        let is_usual = cqe.is_frame()
            && cqe.is_of(self.origin, Origin::ANY_NUMBER)
            && self.is_of_open(cqe)
            && filling.is_next(first);
        let filled = if is_usual { filling.fill::<true>(word) } else { None };
        let start = if let Some(start) = filled {
            self.next = filling.next();
            start
        } else {
            cold_path();
            let Some(start) = self.settle::<S>(cqe.for_cold_code(), first, word)? else { return Ok(None) };
            start
        };
        // SAFETY: the strides were checked, here or in `settle`, and have room for the bytes. They are only read, as long
        // as the value lives: it is lent, so that the buffer is not posted again, or kept, and counts.
        let bytes = unsafe { FrameBytes::new(start, word, (cqe.flow_tag(), cqe.packet_info()), cqe.verdicts()) };
        // SAFETY: the open buffer, whose frames `kept` counts.
        Ok(Some(unsafe { LentFrame::new(bytes, (self.open, &mut self.kept)) }))
    }

    /// Whether the completions of `cq` are this queue's.
    #[inline(always)]
    pub(super) fn completes_to<M: PollMode>(&self, cq: &CompletionQueue<M>) -> bool {
        cq.id() == self.origin.cq()
    }

    /// Whether a completion of this queue belongs to the open WQE, if one is open.
    #[inline(always)]
    pub(super) fn is_of_open<S: Source>(&self, cqe: &CqeView<S>) -> bool {
        (u32::from(cqe.wqe_id()) ^ self.tail) & self.mask == 0
    }

    /// The strides that can be filled next, for a loop.
    #[inline(always)]
    pub(super) fn filling(&self) -> Filling {
        // SAFETY: the strides of a WQE are so many. If the next is one of them, a WQE is open, and its buffer begins
        // there.
        unsafe { Filling::new(self.start, (self.next, self.end), self.log_bytes, self.shift) }
    }

    /// Takes a completion that is not the usual one: the first of a WQE, one that has no frame, or one that cannot be.
    /// Returns the first byte of its frame, if it has one. It and the functions that it calls are generic only to be
    /// compiled with their callers, which then see that they cannot unwind.
    #[cold]
    #[inline(never)]
    #[expect(clippy::extra_unused_type_parameters, reason = "it is compiled with its callers")]
    fn settle<S: Source>(
        &mut self,
        cqe: CqeView<ColdCqe>,
        first: u16,
        word: u32,
    ) -> Result<Option<NonNull<u8>>, RetireError> {
        outcome::check_side(&cqe, Side::Responder)?;
        outcome::check_origin(&cqe, self.origin, Origin::ANY_NUMBER)?;
        self.finish();
        self.open_oldest();
        let wqe = cqe.wqe_id();
        if !self.is_open || (u32::from(wqe) ^ self.tail) & self.mask != 0 {
            return Err(RetireError::not_outstanding(wqe, self.tail as u16, self.head as u16));
        }
        let said = (word >> COUNT_SHIFT) & COUNT_MASK;
        if !cqe.is_frame() {
            // An error has strides as well (Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`,
            // `mlx5e_handle_rx_cqe_mpwrq`). If it counts none, it ends the WQE.
            let left = self.count - self.next;
            self.next += if said == 0 { left } else { said.min(left) };
            return Ok(None);
        }
        let is_filler = word >= FILLER;
        let span = Span::of(first, word, (self.log_bytes, self.shift));
        let span = if is_filler { Span { end: span.first + said, ..span } } else { span };
        if !is_filler && word & BYTES_MASK == 0 {
            return Err(RetireError::NoBytes { first: span.first });
        }
        if !(span.first >= self.next && span.end <= self.count) {
            return Err(RetireError::Strides { first: span.first, end: span.end, next: self.next, count: self.count });
        }
        self.next = span.end;
        // SAFETY: `first` is a stride of the open WQE, so its first byte lies in the buffer.
        Ok((!is_filler).then(|| unsafe { self.start.add((span.first << self.log_bytes) as usize) }))
    }

    /// Ends the open WQE if its strides are over. Its buffer is free once the frames that were kept are dropped.
    #[inline(always)]
    fn finish(&mut self) {
        if self.is_open && self.next == self.count {
            self.close();
            self.tail = self.tail.wrapping_add(1);
        }
    }

    /// The open buffer is not the device's any more.
    #[inline]
    fn close(&mut self) {
        self.is_open = false;
        self.next = self.count;
        // SAFETY: a buffer of the memory that is posted, of which so many frames were kept.
        unsafe { self.memory.close(self.open, self.kept) };
    }

    /// Opens the oldest posted WQE, unless one is open.
    #[inline]
    fn open_oldest(&mut self) {
        if self.is_open || self.tail == self.head {
            return;
        }
        // SAFETY: posted.
        self.open = unsafe { self.posted_at(self.tail) };
        // SAFETY: the state of a buffer of the memory; its buffer has 2^14 bytes at least.
        self.start = unsafe { self.open.as_ref().start().add(self.shift as usize) };
        (self.next, self.kept, self.is_open) = (0, 0, true);
    }

    /// The buffer of the WQE at an index.
    ///
    /// # Safety
    /// It is posted.
    #[inline]
    unsafe fn posted_at(&self, index: u32) -> NonNull<BufferState> {
        // SAFETY: the masked index is within the words; `post_free` has written this one, the number of a buffer.
        unsafe { self.memory.state(self.shadow.add((index & self.mask) as usize).read().assume_init() as u32) }
    }

    /// Posts as many free buffers as fit into the ring, and tells the device once. Returns how many. Call it after each
    /// poll of the completion queue: the device then knows of free CQEs before it knows of buffers to fill (DPDK does
    /// the same, `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_burst_mprq`).
    #[doc(alias = "ibv_post_wq_recv")]
    #[inline]
    pub fn refill(&mut self) -> u32 {
        if self.head.wrapping_sub(self.tail) == self.depth && self.next != self.count {
            return 0;
        }
        cold_path();
        self.post_free()
    }

    /// Inlined wherever it is called: its barrier is in a listing then.
    #[inline(always)]
    fn post_free(&mut self) -> u32 {
        self.finish();
        let mut posted = 0;
        while self.head.wrapping_sub(self.tail) < self.depth {
            let Some(state) = self.memory.take_free() else { break };
            // SAFETY: the state of a buffer of the memory.
            let state = unsafe { state.as_ref() };
            state.post();
            let (place, addr) = ((self.head & self.mask) as usize, state.start().as_ptr().expose_provenance() as u64);
            let seg = DataSeg::new(self.memory.strides().wqe_bytes(), self.memory.lkey(), addr);
            // SAFETY: a WQE of the ring that is not posted, behind its first segment; and its word.
            unsafe {
                scatter::store_words(self.buf.add(place * WQE_BYTES as usize + SCATTER_BYTES), seg.into());
                self.shadow.add(place).write(MaybeUninit::new(state.index().into()));
            }
            self.head = self.head.wrapping_add(1);
            posted += 1;
        }
        if posted != 0 {
            arch::to_device();
            // SAFETY: the WQEs are written, and name buffers of the memory, which a guard keeps as long as the device
            // uses them.
            unsafe { self.record.store(self.head as u16) };
        }
        posted
    }

    /// Starts over at index 0, with nothing posted and a doorbell record of zero. Buffers that were posted are free
    /// again, once the frames in them are dropped.
    ///
    /// # Safety
    /// The device's queue is in the reset state, or went through it since its last frame. None of its completions is
    /// lent, and all that are left in the completion queue are removed before the queue takes another.
    pub unsafe fn reset(&mut self) {
        self.open_oldest();
        while self.is_open {
            self.close();
            self.tail = self.tail.wrapping_add(1);
            self.open_oldest();
        }
        (self.head, self.tail) = (0, 0);
        // SAFETY: nothing is posted, and the device takes nothing in this state.
        unsafe { self.record.store(0) };
    }

    /// Bounds how many WQEs may be posted at a time. A queue made of parts begins with its whole ring, and no bound
    /// exceeds that, or the [limit](Self::limit_depth). WQEs already posted stay posted.
    pub fn set_depth(&mut self, wqes: u32) {
        self.depth = wqes.min(self.most);
    }

    /// From now on, at most `wqes` may be posted at a time, whatever [`set_depth`](Self::set_depth) asks for. Later
    /// calls may lower the limit. The queues of `verbs` and DevX have one: the WQEs whose completions their completion
    /// queue has room for.
    pub fn limit_depth(&mut self, wqes: u32) {
        self.most = wqes.min(self.most);
        self.set_depth(self.depth);
    }

    /// WQEs that are posted, the one that is being filled included.
    #[inline]
    #[must_use]
    pub fn posted(&self) -> u32 {
        self.head.wrapping_sub(self.tail)
    }

    /// How many WQEs may be posted at a time.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The memory of its buffers.
    #[must_use]
    pub fn memory(&self) -> &StridedMemory {
        &self.memory
    }

    /// The address of the ring, which distinguishes queues: [`Owned`](crate::queue::Owned).
    #[must_use]
    pub fn ring_addr(&self) -> usize {
        self.buf.addr().get()
    }
}

impl Drop for StridingRecvQueue {
    /// Frames that were kept of the open buffer keep the memory from here on.
    fn drop(&mut self) {
        if self.is_open {
            self.close();
        }
    }
}
