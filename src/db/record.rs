use core::ptr::NonNull;

use volatile::VolatilePtr;

/// One word of a queue pair's doorbell record: the producer index as the device reads it by DMA.
///
/// The record is two big-endian 32-bit words: word 0 belongs to the receive queue, word 1 to the send queue
/// (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_RCV_DBR`, `MLX5_SND_DBR`). A shared receive queue's record is one word.
#[doc(alias("DBR", "dbrec"))]
#[derive(Debug)]
pub struct DoorbellRecord(NonNull<u32>);

// SAFETY: the record is plain memory with no tie to a thread; `new`'s caller vouches that only this value writes it.
unsafe impl Send for DoorbellRecord {}

impl DoorbellRecord {
    /// The receive queue's word of the record at `dbrec`.
    ///
    /// # Safety
    /// `dbrec` must be 4-byte aligned and its first word valid for writes, with no reference to it and no other writer,
    /// as long as the value is used.
    #[must_use]
    pub const unsafe fn receive(dbrec: NonNull<u32>) -> Self {
        Self(dbrec)
    }

    /// The send queue's word of the record at `dbrec`.
    ///
    /// # Safety
    /// `dbrec` must be 4-byte aligned and its second word valid for writes, with no reference to it and no other
    /// writer, as long as the value is used.
    #[must_use]
    pub const unsafe fn send(dbrec: NonNull<u32>) -> Self {
        // SAFETY: the caller vouches for the second word.
        Self(unsafe { dbrec.add(1) })
    }

    /// The producer index stored last.
    pub(crate) fn load(&self) -> u16 {
        // SAFETY: the constructors' callers vouch for the word.
        let word = unsafe { VolatilePtr::new(self.0) };
        u32::from_be(word.read()) as u16
    }

    /// Where the word is.
    #[inline(always)]
    pub(crate) const fn as_ptr(&self) -> *const u32 {
        self.0.as_ptr()
    }

    /// Stores the producer index: WQEBBs of a send queue, WQEs of a receive queue; 16 bits.
    ///
    /// The WQEs must be visible to the device first: [`arch::to_device`](crate::arch::to_device).
    ///
    /// # Safety
    /// The WQEs before `pi` must be complete, and name memory that stays registered and alive until they complete. The
    /// device may read the record, and act on it, at any time, even if its register is not rung.
    #[inline]
    pub unsafe fn store(&mut self, pi: u16) {
        // SAFETY: the constructors' callers vouch for the word, and this call's caller for the device's actions. It is
        // a scalar that the device reads whole.
        let word = unsafe { VolatilePtr::new(self.0) };
        word.write(u32::from(pi).to_be());
    }
}
