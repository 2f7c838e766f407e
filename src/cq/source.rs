//! Where a view reads a CQE's fields: in the queue's memory when asked, or in a private copy.
use core::marker::PhantomData;
use core::mem::offset_of;
use core::ptr::NonNull;

use super::layout::{Cqe64, CqeFormat};
use crate::sealed::Sealed;

/// Reads big-endian fields of a CQE at constant offsets.
pub trait Source: Sealed {
    /// The byte at `offset`, less than 64.
    fn u8(&self, offset: usize) -> u8;
    /// The 16-bit field at `offset`, even and less than 64.
    fn be16(&self, offset: usize) -> u16;
    /// The 32-bit field at `offset`, a multiple of 4 and less than 64.
    fn be32(&self, offset: usize) -> u32;
    /// The 64-bit field at `offset`, a multiple of 8 and less than 64.
    fn be64(&self, offset: usize) -> u64;
    /// The message bytes that `format` says are in the CQE, as words in memory order: for [`CqeFormat::Inline32`] the
    /// first four words, for [`CqeFormat::Inline64`] all eight. `None` if this source does not have them.
    fn inline_words(&self, format: CqeFormat) -> Option<[u64; 8]>;
}

/// The fields in the completion queue's own memory. Each access reads the device's memory once, by a volatile load.
#[derive(Clone, Copy)]
pub struct InQueue<'a> {
    /// The 64 bytes that carry the fields.
    cqe: NonNull<u8>,
    /// Whether the 64 bytes before them are the first half of the same, 128-byte CQE.
    is_128_bytes: bool,
    /// While this lives, the queue does not publish its consumer index, so the CQE is software's. That of a collapsed
    /// queue is always the device's.
    queue: PhantomData<&'a ()>,
}

impl<'a> InQueue<'a> {
    /// # Safety
    ///
    /// For the lifetime chosen by the caller, 64 bytes at `cqe` are readable and `cqe` is 64-byte aligned. If
    /// `is_128_bytes`, so are the 64 bytes before it. Any other writer of this memory is a device, not this program's
    /// abstract machine.
    #[inline(always)]
    pub(super) unsafe fn new(cqe: NonNull<u8>, is_128_bytes: bool) -> Self {
        Self { cqe, is_128_bytes, queue: PhantomData }
    }

    /// Drops the first half of a 128-byte CQE.
    #[inline(always)]
    pub(super) const fn narrow(self) -> Self {
        Self { is_128_bytes: false, ..self }
    }

    /// One volatile load of `T` at `offset`.
    #[inline(always)]
    fn load<T: Copy>(&self, offset: usize) -> T {
        debug_assert!(offset + size_of::<T>() <= 64 && offset % size_of::<T>() == 0);
        // SAFETY: `new` promises 64 readable, 64-byte aligned bytes; every caller in this crate passes an offset from
        // `layout`, a multiple of T's size with all of T within them (checked in debug builds). T is u8 to u64: any
        // bytes are a value.
        unsafe { self.cqe.add(offset).cast::<T>().read_volatile() }
    }

    /// The 64 bytes of the fields, each loaded once.
    ///
    /// Volatile, so that the copy is made: a plain read could be undone, and fields read from the device's memory
    /// again.
    #[inline(always)]
    pub(super) fn copy(&self) -> Private<'a> {
        const PARTS: usize = LANE_BYTES / size_of::<Lane>();
        let parts: [Lane; PARTS] = core::array::from_fn(|i| self.load(i * size_of::<Lane>()));
        // SAFETY: 48 bytes either way, and any bytes are six words.
        let [a, b, c, d, e, f] = unsafe { core::mem::transmute::<[Lane; PARTS], [u64; 6]>(parts) };
        let [g, h] = core::array::from_fn(|i| self.load(LANE_BYTES + i * size_of::<u64>()));
        Private { words: [a, b, c, d, e, f, g, h], queue: PhantomData }
    }

    /// These 64 bytes as 32-bit words in memory order.
    #[inline(always)]
    pub(super) fn words(&self) -> [u32; 16] {
        // SAFETY: 64 bytes either way, and any bytes are sixteen words.
        unsafe { core::mem::transmute::<[u64; 8], [u32; 16]>(self.copy().words) }
    }
}

/// The bytes of a CQE that [`Lane`]s copy. General registers copy the last 16, which have the fields most often asked
/// for (measured: `docs/performance/measurements.md`, "Polling").
const LANE_BYTES: usize = 48;

/// The widest register that every CPU of the architecture has. Its load need not be one access on the bus. A
/// misbehaving device can make the copy a mixture of two CQEs, but cannot change the finished copy.
#[cfg(target_arch = "x86_64")]
type Lane = core::arch::x86_64::__m128i;
#[cfg(target_arch = "aarch64")]
type Lane = core::arch::aarch64::uint64x2_t;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Lane = u64;

impl Sealed for InQueue<'_> {}

impl Source for InQueue<'_> {
    #[inline(always)]
    fn u8(&self, offset: usize) -> u8 {
        self.load(offset)
    }

    #[inline(always)]
    fn be16(&self, offset: usize) -> u16 {
        u16::from_be(self.load(offset))
    }

    #[inline(always)]
    fn be32(&self, offset: usize) -> u32 {
        u32::from_be(self.load(offset))
    }

    #[inline(always)]
    fn be64(&self, offset: usize) -> u64 {
        u64::from_be(self.load(offset))
    }

    #[inline]
    fn inline_words(&self, format: CqeFormat) -> Option<[u64; 8]> {
        match format {
            CqeFormat::Inline32 => Some(core::array::from_fn(|i| if i < 4 { self.load(i * 8) } else { 0 })),
            CqeFormat::Inline64 if self.is_128_bytes => {
                // SAFETY: `is_128_bytes` means that the 64 bytes before the fields belong to the same CQE.
                let first = unsafe { Self::new(self.cqe.sub(64), false) };
                Some(first.copy().words)
            }
            CqeFormat::Inline64 | CqeFormat::Plain | CqeFormat::Compressed => None,
        }
    }
}

/// The fields that decide about a completion of frames, by value: to hand it to a cold function, which would make its
/// callers keep any other source in memory.
#[derive(Clone, Copy)]
pub(crate) struct ColdCqe {
    /// The word at [`sop_drop_qpn`](Cqe64::sop_drop_qpn).
    number: u32,
    wqe_id: u16,
}

impl ColdCqe {
    #[inline(always)]
    pub(super) fn of<S: Source>(source: &S) -> Self {
        let (number, wqe_id) = (offset_of!(Cqe64, sop_drop_qpn), offset_of!(Cqe64, wqe_id));
        Self { number: source.be32(number), wqe_id: source.be16(wqe_id) }
    }
}

impl Sealed for ColdCqe {}

/// Other fields than those are zero.
impl Source for ColdCqe {
    #[inline(always)]
    fn u8(&self, _: usize) -> u8 {
        0
    }

    #[inline(always)]
    fn be16(&self, offset: usize) -> u16 {
        if offset == offset_of!(Cqe64, wqe_id) { self.wqe_id } else { 0 }
    }

    #[inline(always)]
    fn be32(&self, offset: usize) -> u32 {
        if offset == offset_of!(Cqe64, sop_drop_qpn) { self.number } else { 0 }
    }

    #[inline(always)]
    fn be64(&self, _: usize) -> u64 {
        0
    }

    fn inline_words(&self, _: CqeFormat) -> Option<[u64; 8]> {
        None
    }
}

/// The fields copied to private memory or, as a rule, to registers.
#[derive(Clone, Copy)]
pub struct Private<'a> {
    /// The CQE's eight 64-bit words, bytes in memory order.
    words: [u64; 8],
    /// While this lives, the queue lends no other completion, except within the same closure.
    queue: PhantomData<&'a ()>,
}

impl Private<'_> {
    /// The `SIZE` bytes at `offset` as a number, big endian. Both are constants wherever this is inlined.
    #[inline(always)]
    fn field<const SIZE: usize>(&self, offset: usize) -> u64 {
        let shift = (8 - SIZE - offset % 8) * 8;
        u64::from_be(self.words[offset / 8]) >> shift
    }
}

impl Sealed for Private<'_> {}

impl Source for Private<'_> {
    #[inline(always)]
    fn u8(&self, offset: usize) -> u8 {
        self.field::<1>(offset) as u8
    }

    #[inline(always)]
    fn be16(&self, offset: usize) -> u16 {
        self.field::<2>(offset) as u16
    }

    #[inline(always)]
    fn be32(&self, offset: usize) -> u32 {
        let word = self.words[offset / 8];
        let first = (offset % 8 == 0) == cfg!(target_endian = "little");
        // Half of the word first, and then its bytes: a lane of a wide register can be taken out by itself.
        u32::from_be(if first { word as u32 } else { (word >> 32) as u32 })
    }

    #[inline(always)]
    fn be64(&self, offset: usize) -> u64 {
        self.field::<8>(offset)
    }

    #[inline]
    fn inline_words(&self, format: CqeFormat) -> Option<[u64; 8]> {
        match format {
            CqeFormat::Inline32 => Some(self.words),
            CqeFormat::Inline64 | CqeFormat::Plain | CqeFormat::Compressed => None,
        }
    }
}
