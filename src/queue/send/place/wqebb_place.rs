//! The place of the next WQE: indices, and places of the ring.
use crate::queue::send::parts::WqeRecord;
use crate::types::{SqPi, WQEBB_BYTES, Wqebbs};

/// An [`SqPi`] for calculating: the same 16 bits in a field of a CPU register's width.
///
/// The compiler loads a `u16` together with its padding, and a load of 32 bits just after a store of 16 has to wait
/// until the store has left the CPU. It also knows the upper half to be zero, and then chooses longer sequences to swap
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::queue) struct Index(u32);

impl Index {
    #[inline(always)]
    pub(in crate::queue) const fn new(pi: SqPi) -> Self {
        Self(pi.0 as u32)
    }

    #[inline(always)]
    pub(in crate::queue) const fn get(self) -> SqPi {
        SqPi(self.0 as u16)
    }

    /// At most 2^16 - 1.
    #[inline(always)]
    pub(in crate::queue) const fn bits(self) -> u32 {
        self.0
    }

    /// The index `n` WQEBBs later.
    #[inline(always)]
    pub(in crate::queue) const fn add(self, n: Wqebbs) -> Self {
        Self(self.0.wrapping_add(n.0 as u32) & 0xffff)
    }

    /// The index `n` WQEBBs earlier.
    #[inline(always)]
    pub(in crate::queue) const fn sub(self, n: Wqebbs) -> Self {
        Self(self.0.wrapping_sub(n.0 as u32) & 0xffff)
    }

    /// How many WQEBBs `self` is past `earlier`.
    #[inline(always)]
    pub(in crate::queue) const fn since(self, earlier: Self) -> Wqebbs {
        Wqebbs(self.0.wrapping_sub(earlier.0) as u16)
    }
}

/// The place of a WQEBB and of its record: bytes into the shadow. Bytes into the ring are four times that, a factor
/// that most CPUs' addresses can have.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct WqebbPlace(usize);

/// log2 of the bytes of a record.
const RECORD_LOG: u32 = size_of::<WqeRecord>().trailing_zeros();

impl WqebbPlace {
    /// The mask that selects a place in a ring of `wqebbs` WQEBBs, a power of two of at most 2^16.
    #[inline]
    pub(in crate::queue) const fn mask(wqebbs: u32) -> u32 {
        (wqebbs - 1) << RECORD_LOG
    }

    /// WQEBBs of the ring that a mask is for.
    #[inline]
    pub(in crate::queue) const fn wqebbs(mask: u32) -> u32 {
        (mask >> RECORD_LOG) + 1
    }

    /// The place of an index: below the ring's size.
    #[inline(always)]
    pub(in crate::queue) const fn new(index: Index, mask: u32) -> Self {
        Self(((index.bits() << RECORD_LOG) & mask) as usize)
    }

    /// Bytes into the ring.
    #[inline(always)]
    pub(in crate::queue) const fn ring_offset(self) -> usize {
        self.0 * (WQEBB_BYTES / size_of::<WqeRecord>())
    }

    /// Bytes into the shadow.
    #[inline(always)]
    pub(in crate::queue) const fn shadow_offset(self) -> usize {
        self.0
    }

    /// The place's number.
    #[inline]
    pub(in crate::queue) const fn number(self) -> usize {
        self.0 >> RECORD_LOG
    }
}
