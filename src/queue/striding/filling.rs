//! The strides of the open WQE that frames can fill next. Knows no queue.
use core::ptr::NonNull;

/// Bit 31 of a completion's word: the strides are empty. Bits 29:16 count strides; DPDK reads these, Linux bit 30 as
/// well. Bits 15:0 count bytes (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_MPRQ_*_MASK`; Linux
/// `include/linux/mlx5/device.h`, `struct mpwrq_cqe_bc`).
pub(super) const FILLER: u32 = 1 << 31;
pub(super) const BYTES_MASK: u32 = 0xffff;
pub(super) const COUNT_SHIFT: u32 = 16;
pub(super) const COUNT_MASK: u32 = 0x3fff;

/// Strides of the open WQE, from one up to another.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) first: u32,
    pub(super) end: u32,
}

impl Span {
    /// The strides of a completion: those that it counts, but at least those that the bytes need. Mini-CQEs with flow
    /// tags have no whole count (DPDK `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_burst_mprq`, computes it from the bytes as
    /// well). A stride has 2^`log_bytes` bytes, and `shift` bytes are before a frame.
    #[inline(always)]
    pub(super) fn of(first: u16, word: u32, (log_bytes, shift): (u32, u64)) -> Self {
        let first = u32::from(first);
        let needed = (last_byte(word, shift) >> log_bytes) as u32 + 1;
        Self { first, end: first + needed.max((word >> COUNT_SHIFT) & COUNT_MASK) }
    }
}

/// The place of the last byte. That of a frame of no bytes wraps in 32 bits, before the shift is added in 64. So such a
/// frame would need more strides than any WQE has.
#[inline(always)]
fn last_byte(word: u32, shift: u64) -> u64 {
    u64::from((word & BYTES_MASK).wrapping_sub(1)) + shift
}

/// The strides that frames can fill next, as a loop keeps them in registers.
#[derive(Clone, Copy)]
pub(super) struct Filling {
    /// The next stride, and its first byte, counted in the buffer.
    next: u32,
    at: u64,
    /// The stride that no frame reaches.
    end: u32,
    /// The first byte that a frame can have.
    start: NonNull<u8>,
    log_bytes: u32,
    shift: u64,
}

impl Filling {
    /// The end of the strides that are filled here, in a WQE of `count`. A count with bit 30 is too large, also in the
    /// largest WQE.
    pub(super) fn end_of(count: u32) -> u32 {
        count.min(COUNT_MASK)
    }

    /// # Safety
    /// If `next` is less than `end`, a buffer of at least `end` strides begins `shift` bytes before `start`.
    #[inline(always)]
    pub(super) unsafe fn new(start: NonNull<u8>, (next, end): (u32, u32), log_bytes: u32, shift: u64) -> Self {
        Self { next, at: u64::from(next) << log_bytes, end, start, log_bytes, shift }
    }

    /// The next stride.
    #[inline(always)]
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Whether a stride is the next one.
    #[inline(always)]
    pub(super) fn is_next(&self, first: u16) -> bool {
        // A WQE has 2^14 strides at most.
        first == self.next as u16
    }

    /// Fills the next strides with the frame of a completion's word. Returns its first byte.
    ///
    /// `None`, with nothing filled, if the word belongs to no frame, or if the strides that it counts have no room for
    /// the bytes. The strides of a word that is not `COUNTED` follow from its bytes. `None` as well for strides behind
    /// the [end](Self::end_of).
    #[inline(always)]
    pub(super) fn fill<const COUNTED: bool>(&mut self, word: u32) -> Option<NonNull<u8>> {
        let last = last_byte(word, self.shift);
        // The count of a filler has bit 31 of the word, and is too large.
        let strides = if COUNTED { word >> COUNT_SHIFT } else { (last >> self.log_bytes) as u32 + 1 };
        let (next, bytes) = (self.next + strides, u64::from(strides) << self.log_bytes);
        if next > self.end || COUNTED && last >= bytes {
            return None;
        }
        // SAFETY: the next stride is one of the buffer's, as a stride behind it is.
        let start = unsafe { self.start.add(self.at as usize) };
        (self.next, self.at) = (next, self.at + bytes);
        Some(start)
    }
}
