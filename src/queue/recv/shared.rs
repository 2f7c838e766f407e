//! The shared receive queue: buffers for many queue pairs, in a linked list, because they complete in any order.
//!
//! ```text
//!   head                                  tail
//!    |                                     |
//!    v                                     v
//!   [4] -> [7] -> [0] -> ... -> [2] -> [9]       the free list, linked in the ring and in private memory
//! ```
//!
//! Posting takes WQEs from the head; the device follows the same links to find posted WQEs. A completed WQE is linked
//! behind the tail. The tail itself stays free, so that the list always has an end to link to.
use core::mem::{MaybeUninit, offset_of, size_of};
use core::ptr::NonNull;

use crate::arch;
use crate::cq::{CqeError, CqeView, Side, Source};
use crate::db::DoorbellRecord;
use crate::queue::outcome::{self, CompleteError, Received, RetireError};
use crate::queue::recv::scatter::{self, RecvError, SCATTER_BYTES};
use crate::setup::SetupError;
use crate::types::{Srqn, WrId};
use crate::wqe::Sge;

layout! {
    /// The link at the start of each WQE (rdma-core `providers/mlx5/mlx5dv.h`, `mlx5_wqe_srq_next_seg`).
    #[repr(C)]
    struct NextSeg[16] {
        0 => rsvd0: [u8; 2],
        /// The next WQE's index, big endian.
        2 => next_wqe_index: u16,
        4 => signature: u8,
        5 => rsvd1: [u8; 11],
    }
}

/// The most WQEs: indices have 15 bits.
const MAX_WQES: u32 = 1 << 15;

/// The receives that fit a queue made for `receives`: one WQE stays free, and rings are of a power of two (rdma-core
/// `providers/mlx5/verbs.c`, `mlx5_create_srq`).
pub(crate) const fn capacity(receives: u32) -> u32 {
    match receives.saturating_add(1).checked_next_power_of_two() {
        Some(wqes) => wqes - 1,
        None => u32::MAX,
    }
}

/// Set in [`SrqRecord::next`] while the WQE is posted. The link under it stays, to rewind a batch along.
const POSTED: u16 = 1 << 15;

/// A shared receive queue's raw parts, as `mlx5dv_init_obj` (`mlx5dv_srq`), DevX or the software device give them.
///
/// [`SharedRecvQueue::from_parts`] checks them as far as possible; its "Safety" section lists the conditions that you
/// vouch for.
#[doc(alias = "mlx5dv_srq")]
#[derive(Clone, Copy, Debug)]
pub struct SrqParts {
    /// WQE 0 (`mlx5dv_srq::buf`), 16-byte aligned.
    pub buf: NonNull<u8>,
    /// How many WQEs, counted from WQE 0, the free list may link: 2 to 32768. `mlx5dv_srq` does not say; on a queue
    /// that nothing was posted to it is `tail + 1` (libmlx5 keeps the WQEs behind the first tail for itself).
    pub wqe_cnt: u32,
    /// Bytes from one WQE to the next (`mlx5dv_srq::stride`): a power of two, 32 to 4096. The first 16 are the link,
    /// the rest holds `stride / 16 - 1` scatter entries.
    pub stride: u32,
    /// The index of the first free WQE (`mlx5dv_srq::head`).
    pub head: u32,
    /// The index of the last free WQE (`mlx5dv_srq::tail`); it stays free, so that the list never runs empty.
    pub tail: u32,
    /// The doorbell record, one word (`mlx5dv_srq::dbrec`), 4-byte aligned.
    pub dbrec: NonNull<u32>,
    /// The shared receive queue's number, 24 bits.
    pub srqn: Srqn,
    /// The receive counter the device has been told so far: 0 for a queue that nothing was posted to.
    pub counter: u16,
    /// Private memory of at least `wqe_cnt` records; its contents do not matter. See [`SrqRecord`].
    pub shadow: NonNull<MaybeUninit<SrqRecord>>,
}

/// The queue's record of one WQE, in private memory that the device cannot reach.
#[derive(Clone, Copy, Debug)]
pub struct SrqRecord {
    /// The application's identifier, handed back with the completion.
    wr_id: WrId,
    /// Low 15 bits: the next WQE of the free list (of a posted WQE: when it was posted). Bit 15: posted.
    next: u16,
}

/// A shared receive queue.
///
/// # Why completing a request is `unsafe`
///
/// A completion names its WQE by its place in the ring, and says neither for which shared receive queue nor how often
/// the place was used. So the queue cannot refuse:
/// - a completion of a queue pair that receives elsewhere. The CQE names the queue pair, which the queue does not know.
///   Only CQEs of version 0 name the shared receive queue.
/// - a completion that is given twice. A new request may have been posted at the same place in between. A
///   [`RecvQueue`](crate::RecvQueue) numbers its requests modulo 2^16 instead, so it finds no outstanding request
///   with the old number.
///
/// Either would free a WQE that the device may still read, and hand out a buffer that it may still write.
#[doc(alias = "SRQ")]
#[derive(Debug)]
pub struct SharedRecvQueue {
    buf: NonNull<u8>,
    record: DoorbellRecord,
    shadow: NonNull<MaybeUninit<SrqRecord>>,
    wqe_cnt: u32,
    /// log2 of the stride in bytes.
    shift: u32,
    head: u16,
    tail: u16,
    /// Requests posted ever, modulo 2^16.
    counter: u16,
    /// Requests posted and not completed.
    posted: u32,
    /// The most that can be posted: the length of the free list at the start, less its tail.
    capacity: u32,
    srqn: Srqn,
}

// SAFETY: the pointers are to memory promised for the queue's life, not bound to a thread; all access goes through
// `&mut self`.
unsafe impl Send for SharedRecvQueue {}

impl SharedRecvQueue {
    /// A queue over raw parts, with nothing posted. Reads the free list from the ring, once.
    ///
    /// # Errors
    ///
    /// [`SetupError`] names the invalid part.
    ///
    /// # Safety
    ///
    /// For as long as the queue lives:
    /// - `buf` is `wqe_cnt * stride` readable and writable bytes and `dbrec` one writable word, known to the device as
    ///   this shared receive queue's, or to nobody;
    /// - `shadow` is `wqe_cnt` records of memory that nothing else, and no device, touches;
    /// - no reference to any of them lives;
    /// - nothing else in the process posts to this queue or polls its completions (libibverbs does both), and nothing
    ///   is posted at the start;
    /// - it was created without WQE signatures (libmlx5's `MLX5_SRQ_SIGNATURE`), which this crate does not compute.
    pub unsafe fn from_parts(parts: SrqParts) -> Result<Self, SetupError> {
        let SrqParts { buf, wqe_cnt, stride, head, tail, dbrec, srqn, counter, shadow } = parts;
        SetupError::check_range("WQEs of a shared receive queue", wqe_cnt.into(), 2, MAX_WQES.into())?;
        scatter::check_parts(buf, dbrec, shadow, stride, 32)?;
        // SAFETY: the caller promises the word, and that nothing else posts.
        let record = unsafe { DoorbellRecord::receive(dbrec) };
        let mut queue = Self {
            buf,
            record,
            shadow,
            wqe_cnt,
            shift: stride.trailing_zeros(),
            head: head as u16,
            tail: tail as u16,
            counter,
            posted: 0,
            capacity: 0,
            srqn,
        };
        for index in 0..wqe_cnt as u16 {
            // SAFETY: `index` is less than `wqe_cnt`, as below.
            unsafe { queue.store(index, SrqRecord { wr_id: WrId(0), next: index }) };
        }
        // Each step leaves a WQE that may be visited once: the walk ends, and a loop is found.
        let (mut index, mut capacity) = (head, 0);
        while index != tail {
            if index >= wqe_cnt || capacity >= wqe_cnt - 1 {
                return Err(SetupError::FreeList { index });
            }
            // SAFETY: `index` is within the ring, and the link within the WQE; volatile, as the ring is device memory.
            let next = u16::from_be(unsafe { queue.link(index as u16).read_volatile() });
            // SAFETY: `index` is less than `wqe_cnt`.
            unsafe { queue.store(index as u16, SrqRecord { wr_id: WrId(0), next: next & !POSTED }) };
            (index, capacity) = (u32::from(next), capacity + 1);
        }
        if tail >= wqe_cnt {
            return Err(SetupError::FreeList { index: tail });
        }
        queue.capacity = capacity;
        Ok(queue)
    }

    /// Posts one receive request and tells the device.
    ///
    /// # Errors
    ///
    /// [`RecvError`]; nothing is written then.
    ///
    /// # Safety
    /// The device may write to the memory of `sges` from now until the request completes or the queue is destroyed.
    /// During that time the memory stays registered, and nothing else reads, writes, frees or reuses it. A request that
    /// is aborted and [posted again](Self::repost) has not completed.
    #[doc(alias = "ibv_post_srq_recv")]
    #[inline]
    pub unsafe fn post_unchecked(&mut self, wr_id: WrId, sges: &[Sge]) -> Result<(), RecvError> {
        let mut batch = self.batch();
        // SAFETY: the caller promises the memory of `sges` to the device until the request completes.
        unsafe { batch.push_unchecked(wr_id, sges)? };
        batch.ring_doorbell();
        Ok(())
    }

    /// Starts a batch of requests that are published together. Dropped without
    /// [`ring_doorbell`](SrqBatch::ring_doorbell), the batch leaves nothing posted.
    #[inline]
    pub fn batch(&mut self) -> SrqBatch<'_> {
        SrqBatch { head: self.head, pushed: 0, queue: self }
    }

    /// Puts the WQE that completed back on the free list, and returns its `wr_id` and the completion's facts about the
    /// message.
    ///
    /// # Errors
    ///
    /// [`CompleteError::Failed`] if the request did not succeed, or its data is not in the buffer: its WQE is free all
    /// the same. A receive that the device [gave up](CqeError::Aborted) can be [posted again](Self::repost) instead.
    /// [`CompleteError::Foreign`] as [`retire`](Self::retire); nothing changes then.
    ///
    /// # Safety
    ///
    /// The completion belongs to a queue pair that receives from this queue, and was not given before. See
    /// [`retire`](Self::retire).
    #[inline]
    pub unsafe fn complete<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Received<WrId>, CompleteError<WrId>> {
        // SAFETY: the caller promises that the completion is of this queue's receives, and was not given before.
        let wr_id = unsafe { self.retire(cqe)? };
        outcome::received(cqe, wr_id)
    }

    /// Puts the WQE that completed, successfully or not, back on the free list, and returns its `wr_id`.
    /// [`complete`](Self::complete) says which it was as well; after this call, [`CqeView::check`] does.
    ///
    /// # Errors
    ///
    /// [`RetireError::WrongSide`] for completions of sends, [`RetireError::NotPosted`] if no such WQE is posted;
    /// nothing changes then.
    ///
    /// # Safety
    ///
    /// The completion belongs to a queue pair that receives from this queue, and was not given before. The queue
    /// [cannot check that](Self#why-completing-a-request-is-unsafe).
    #[inline]
    pub unsafe fn retire<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<WrId, RetireError> {
        outcome::check_side(cqe, Side::Responder)?;
        // SAFETY: the caller promises that the completion is of this queue's receives, and was not given before.
        unsafe { self.retire_index(cqe.wqe_counter()) }
    }

    /// Puts the WQE at index `wqe_counter` back on the free list, and returns its `wr_id`.
    ///
    /// # Errors
    ///
    /// [`RetireError::NotPosted`] if no such WQE is posted; nothing changes then.
    ///
    /// # Safety
    ///
    /// The request has completed: `wqe_counter` comes from a completion of this queue, which has not been used before.
    /// Else the device may still be reading the WQE that a later request overwrites.
    #[inline]
    pub unsafe fn retire_index(&mut self, wqe_counter: u16) -> Result<WrId, RetireError> {
        if u32::from(wqe_counter) >= self.wqe_cnt {
            return Err(RetireError::not_posted(wqe_counter));
        }
        // SAFETY: just checked to be less than `wqe_cnt`.
        let record = unsafe { self.load(wqe_counter) };
        if record.next & POSTED == 0 {
            return Err(RetireError::not_posted(wqe_counter));
        }
        // SAFETY: both indices are less than `wqe_cnt`: one was checked, the tail is an index of the free list.
        unsafe {
            self.store(wqe_counter, SrqRecord { next: record.next & !POSTED, ..record });
            let tail = self.load(self.tail);
            self.store(self.tail, SrqRecord { next: wqe_counter, ..tail });
            self.link(self.tail).write_volatile(wqe_counter.to_be());
        }
        self.tail = wqe_counter;
        self.posted -= 1;
        Ok(record.wr_id)
    }

    /// Posts the buffers of an aborted receive again, with the same `wr_id`, tells the device, and returns it. Nothing
    /// was received into them, and the queue pair stays usable: see [`CqeError::Aborted`].
    ///
    /// They go into another WQE, as in libmlx5 (rdma-core `providers/mlx5/srq.c`, `mlx5_complete_odp_fault`): the
    /// device may still read the aborted WQE. The aborted WQE waits behind all that are free now.
    ///
    /// # Errors
    ///
    /// [`RetireError::NotAborted`] if the receive ended in another way, [`RetireError::NotPosted`] if no such WQE is
    /// posted; nothing changes then.
    ///
    /// # Safety
    ///
    /// The condition of [`retire`](Self::retire): a foreign completion would post once more the buffers of a receive
    /// that is still posted. Those buffers are the device's until the new receive completes.
    #[cold]
    pub unsafe fn repost<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<WrId, RetireError> {
        let wqe_counter = cqe.wqe_counter();
        match cqe.check() {
            Err(CqeError::Aborted(error)) if error.side == Side::Responder => {}
            _ => return Err(RetireError::NotAborted { wqe_counter }),
        }
        // The list had a free WQE before, its tail at least: the head is not the one that is linked behind it now.
        // SAFETY: the caller promises that the completion is of this queue's receives, and was not given before.
        let wr_id = unsafe { self.retire_index(wqe_counter)? };
        let head = self.head;
        let entries = (1 << self.shift) - size_of::<NextSeg>();
        // SAFETY: both indices are less than `wqe_cnt`, and both WQEs have `entries` bytes behind the link; they
        // differ. Nobody else stores to either.
        let next = unsafe {
            let [from, to] = [wqe_counter, head].map(|index| self.wqe(index).add(size_of::<NextSeg>()).cast::<u64>());
            for word in 0..entries / size_of::<u64>() {
                to.add(word).write_volatile(from.add(word).read_volatile());
            }
            let next = self.load(head).next;
            self.store(head, SrqRecord { wr_id, next });
            next
        };
        SrqBatch { head: next, pushed: 1, queue: self }.ring_doorbell();
        Ok(wr_id)
    }

    /// The ring's address, which tells queues apart.
    #[must_use]
    pub fn ring_addr(&self) -> usize {
        self.buf.addr().get()
    }

    /// The queue's number.
    #[must_use]
    pub fn srqn(&self) -> Srqn {
        self.srqn
    }

    /// Requests posted and not completed.
    #[must_use]
    pub fn posted(&self) -> u32 {
        self.posted
    }

    /// Requests the queue holds.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Scatter entries one request holds.
    #[inline]
    #[must_use]
    pub fn max_sge(&self) -> usize {
        (1 << self.shift) / SCATTER_BYTES - 1
    }

    /// The address of WQE `index`.
    ///
    /// # Safety
    ///
    /// `index` is less than `wqe_cnt`.
    #[inline(always)]
    unsafe fn wqe(&self, index: u16) -> NonNull<u8> {
        // SAFETY: `from_parts` was promised `wqe_cnt` strides.
        unsafe { self.buf.add(usize::from(index) << self.shift) }
    }

    /// The address of WQE `index`'s link.
    ///
    /// # Safety
    ///
    /// `index` is less than `wqe_cnt`.
    #[inline(always)]
    unsafe fn link(&self, index: u16) -> NonNull<u16> {
        // SAFETY: the link is within the 16 bytes that start each WQE.
        unsafe { self.wqe(index).add(offset_of!(NextSeg, next_wqe_index)).cast() }
    }

    /// # Safety
    ///
    /// `index` is less than `wqe_cnt`.
    #[inline(always)]
    unsafe fn load(&self, index: u16) -> SrqRecord {
        // SAFETY: `shadow` is `wqe_cnt` records, all of which `from_parts` wrote.
        unsafe { self.shadow.add(usize::from(index)).read().assume_init() }
    }

    /// # Safety
    ///
    /// `index` is less than `wqe_cnt`.
    #[inline(always)]
    unsafe fn store(&mut self, index: u16, record: SrqRecord) {
        // SAFETY: `shadow` is `wqe_cnt` records.
        unsafe { self.shadow.add(usize::from(index)).write(MaybeUninit::new(record)) };
    }
}

/// Receive requests in the ring that are not yet published to the device.
#[must_use = "a batch that is dropped without `ring_doorbell` posts nothing"]
#[derive(Debug)]
pub struct SrqBatch<'a> {
    queue: &'a mut SharedRecvQueue,
    /// The queue's head once the doorbell is rung.
    head: u16,
    pushed: u16,
}

impl SrqBatch<'_> {
    /// Adds one request.
    ///
    /// # Errors
    ///
    /// [`RecvError`]; nothing is written then, and the batch stays as it was.
    ///
    /// # Safety
    ///
    /// The conditions of [`SharedRecvQueue::post_unchecked`], from the call of [`ring_doorbell`](Self::ring_doorbell)
    /// on.
    #[inline]
    pub unsafe fn push_unchecked(&mut self, wr_id: WrId, sges: &[Sge]) -> Result<(), RecvError> {
        let Self { queue, head, pushed } = self;
        if *head == queue.tail {
            return Err(RecvError::Full(queue.capacity));
        }
        let max = queue.max_sge();
        scatter::check(sges, max)?;
        // SAFETY: the head is an index of the free list, hence less than `wqe_cnt`. Behind the link, the WQE has room
        // for `max` entries, and `sges` was checked.
        unsafe {
            scatter::write(queue.wqe(*head).add(size_of::<NextSeg>()), sges, max);
            let next = queue.load(*head).next;
            queue.store(*head, SrqRecord { wr_id, next });
            *head = next;
        }
        *pushed += 1;
        Ok(())
    }

    /// Tells the device of all requests in the batch, by one store to the doorbell record.
    #[inline]
    pub fn ring_doorbell(self) {
        let Self { queue, head, pushed } = self;
        if pushed == 0 {
            return;
        }
        let mut index = queue.head;
        while index != head {
            // SAFETY: from head to the batch's head, all are indices of the free list.
            unsafe {
                let record = queue.load(index);
                queue.store(index, SrqRecord { next: record.next | POSTED, ..record });
                index = record.next;
            }
        }
        queue.head = head;
        queue.posted += u32::from(pushed);
        queue.counter = queue.counter.wrapping_add(pushed);
        arch::to_device();
        // SAFETY: the WQEs that it counts are written, and `push`'s callers vouch for the memory they name.
        unsafe { queue.record.store(queue.counter) };
    }
}
