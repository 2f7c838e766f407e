//! Goes on in another ring, once the device does.
use core::ptr::NonNull;

use super::completion_queue::{CQES, CompletionQueue, MAX_CQES, RING};
use super::layout::EMPTY;
use super::mode::PollMode;
use super::opcode::CqeOpcode;
use super::ring::Ring;
use crate::setup::SetupError;
use crate::types::CqCi;

/// Marks a new ring's CQEs as never written.
///
/// # Safety
/// `buf` is `cqe_cnt * cqe_bytes` writable bytes of which no device knows; `cqe_bytes` is 64 or 128.
pub unsafe fn mark_unwritten(buf: NonNull<u8>, cqe_cnt: u32, cqe_bytes: u32) {
    for n in 1..=cqe_cnt as usize {
        // SAFETY: the last byte of a CQE of the ring.
        unsafe { buf.add(n * cqe_bytes as usize - 1).write_volatile(EMPTY) };
    }
}

impl<M: PollMode<Compression = ()>> CompletionQueue<M> {
    /// Whether the queue can go on in a ring of `cqe_cnt` CQEs at `buf`. Ask before the device moves there: it does not
    /// move back.
    ///
    /// # Errors
    /// [`SetupError::NotPowerOfTwo`], [`SetupError::Misaligned`].
    pub fn check_ring(&self, buf: NonNull<u8>, cqe_cnt: u32) -> Result<(), SetupError> {
        if !cqe_cnt.is_power_of_two() || cqe_cnt > MAX_CQES {
            return Err(SetupError::NotPowerOfTwo { what: CQES, value: cqe_cnt.into(), min: 1, max: MAX_CQES.into() });
        }
        let (address, alignment) = (buf.addr().get(), self.ring.cqe_bytes());
        if address % alignment != 0 {
            return Err(SetupError::Misaligned { what: RING, address, alignment });
        }
        Ok(())
    }

    /// Goes on in the ring of `cqe_cnt` CQEs at `buf`, to which the device has moved: MODIFY_CQ with the operation
    /// "resize". In the old ring the device has written a last CQE, of opcode 5. Unpolled completions before that CQE
    /// are copied. The index of each completion is then greater by one, for the last CQE has an index as well
    /// (rdma-core `providers/mlx5/cq.c`, `mlx5_cq_resize_copy_cqes`). The device is told the consumer index.
    ///
    /// Returns how many completions were copied.
    ///
    /// A queue whose device compresses completions cannot be resized:
    ///
    /// ```compile_fail,E0271
    /// use blueflame::CompletionQueue;
    /// use blueflame::cq::compressed::Checksum;
    /// use blueflame::cq::mode::Compressed;
    ///
    /// unsafe fn of_frames(cq: &mut CompletionQueue<Compressed<Checksum>>, buf: std::ptr::NonNull<u8>) {
    ///     // SAFETY: (never called: it does not compile)
    ///     let _ = unsafe { cq.carry_over(buf, 64) };
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of [`check_ring`](Self::check_ring): the queue is still over the old ring then.
    /// [`SetupError::RingNotEnded`] and [`SetupError::RingTooSmall`]: the device has misbehaved. The queue then uses
    /// the new ring, with the completions copied so far; the others are missing.
    ///
    /// # Safety
    /// - `buf` is `cqe_cnt` CQEs of this queue's size, and is what [`from_parts`](CompletionQueue::from_parts) asks of
    ///   a ring, from now on. Its CQEs were [marked as never written](mark_unwritten) before the device was told of it,
    ///   as this queue's, and the command has succeeded.
    /// - The old ring is readable until this returns. Afterwards this queue does not need it, except after an error of
    ///   [`check_ring`](Self::check_ring). Any error means that the device may still write there.
    #[doc(alias = "mlx5_cq_resize_copy_cqes")]
    pub unsafe fn carry_over(&mut self, buf: NonNull<u8>, cqe_cnt: u32) -> Result<u32, SetupError> {
        self.check_ring(buf, cqe_cnt)?;
        let cqe_bytes = self.ring.cqe_bytes();
        let (from, to) = (self.consumer_index(), self.consumer_index().add(1));
        // SAFETY: the caller promises the buffer; the numbers were checked.
        let (ring, next) = unsafe { Ring::new(buf, cqe_cnt, cqe_bytes, to) };
        // SAFETY: the caller promises that the device writes the rest of the new ring only.
        let carried = unsafe { carry(&self.ring, from, &ring, to, Self::barrier) };
        (self.ring, self.next) = (ring, next);
        self.publish();
        carried
    }
}

/// Copies completions from `from` on in the old ring to `to` on in the new one, up to the CQE that ends the old ring.
/// `barrier` comes between the load of an owner bit and the loads of the rest.
///
/// # Safety
/// The rings do not overlap. In the old ring, the device no longer writes to CQEs that it has written. In the new ring,
/// it has written nothing at an index, from `to` on, that a completion of the old ring will have.
#[inline(always)]
unsafe fn carry(old: &Ring, from: CqCi, new: &Ring, to: CqCi, barrier: impl Fn()) -> Result<u32, SetupError> {
    for carried in 0..old.cqe_cnt() {
        let index = from.add(carried);
        let tail = old.tail_at(index);
        if !tail.is_software_owned() {
            return Err(SetupError::RingNotEnded { carried });
        }
        barrier();
        if CqeOpcode::new(tail.op_own().opcode()) == CqeOpcode::ResizeCq {
            return Ok(carried);
        }
        if carried == new.cqe_cnt() {
            return Err(SetupError::RingTooSmall { carried });
        }
        // SAFETY: the one is software's, the other will be; neither is lent, for the queue is borrowed.
        unsafe { old.copy_cqe(index, new, to.add(carried)) };
    }
    Err(SetupError::RingNotEnded { carried: old.cqe_cnt() })
}
