//! Indices, the places of requests in the ring, and requests on their way there, each with its record. Knows requests
//! by their size only.
use core::ptr::NonNull;

use crate::arch::Wide;
use crate::arch::ds::{DsWords, HeldDs};
use crate::queue::send::parts::WqeRecord;
use crate::transport::Transport;
use crate::types::{Ds, SqPi, WQEBB_BYTES, WQEBB_DS, Wqebbs};
use crate::wqe::data::Data;
use crate::wqe::operations::Operation;
use crate::wqe::{CtrlSeg, Request, sign};

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

/// A send queue's ring and shadow, and the parts of a control segment that are the queue's.
///
/// A copy stays in CPU registers while many requests are put. Each store to the ring could change the queue itself, as
/// far as the compiler knows.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct SendRing {
    /// Its first word, which `from_parts`' caller vouches for.
    pub(in crate::queue) start: NonNull<u64>,
    /// The records of its WQEBBs, likewise.
    pub(in crate::queue) shadow: NonNull<WqeRecord>,
    /// The queue pair's number where the control segment's first word has it.
    pub(in crate::queue) qpn: u64,
    /// Selects a [`WqebbPlace`] of the ring.
    pub(in crate::queue) mask: u32,
    pub(in crate::queue) signal_all: bool,
}

impl SendRing {
    /// The queue's part of the control segment's first word, for a WQE at an index.
    #[inline(always)]
    pub(in crate::queue) fn first_word(&self, pi: Index) -> u64 {
        CtrlSeg::index(pi.bits()) | self.qpn
    }

    /// Where the WQEBB of an index is: always inside of the ring, and its record inside of the shadow.
    #[inline(always)]
    pub(in crate::queue) fn place(&self, pi: Index) -> WqebbPlace {
        WqebbPlace::new(pi, self.mask)
    }

    /// The first word of a WQEBB of the ring.
    #[inline(always)]
    pub(in crate::queue) fn wqebb(&self, place: WqebbPlace) -> NonNull<u64> {
        // SAFETY: a place is inside of the ring that `from_parts`' caller vouches for.
        unsafe { self.start.byte_add(place.ring_offset()) }
    }

    /// The record of the WQE that starts at a place.
    #[inline(always)]
    pub(in crate::queue) fn record(&self, place: WqebbPlace) -> NonNull<WqeRecord> {
        // SAFETY: there are as many records as places.
        unsafe { self.shadow.byte_add(place.shadow_offset()) }
    }

    /// WQEBBs of the ring.
    #[inline(always)]
    pub(in crate::queue) const fn wqebbs(&self) -> u32 {
        WqebbPlace::wqebbs(self.mask)
    }

    /// Composes a request in CPU registers, and stores it at `pi`, around the ring's end if need be. `N` DS are those of
    /// its WQEBBs.
    ///
    /// # Safety
    /// There is room for its WQEBBs at `pi`, the request is regular, and the queue's limits cover its needs.
    #[inline(always)]
    pub(in crate::queue) unsafe fn put<T: Transport, F: HeldDs, O: Operation, D: Data, const N: usize>(
        &self,
        pi: Index,
        request: &Request<'_, O, D>,
    ) -> [F; N] {
        let mut wqe = request.compose(self.first_word(pi), self.signal_all);
        if const { T::SIGNS } {
            sign(&mut wqe);
        }
        // SAFETY: the caller promises room at `pi` for the WQEBBs of the request, which are those of `wqe`.
        unsafe {
            self.store(pi, &wqe, const { composed_ds::<O, D>() }, request.record(const { (N / WQEBB_DS) as u64 }))
        };
        wqe
    }

    /// [Puts](Self::put) a request whose doorbell is rung later, and gives its first word.
    ///
    /// # Safety
    /// As for `put`.
    #[inline(always)]
    pub(in crate::queue) unsafe fn put_for_later<T: Transport, O: Operation, D: Data>(
        &self,
        pi: Index,
        request: &Request<'_, O, D>,
    ) -> u64 {
        // One WQEBB in words: cheaper for a WQE that is stored only once. More have more words than a CPU has registers.
        // SAFETY: the caller promises room at `pi`, a regular request, and limits that cover it.
        unsafe {
            match const { composed_wqebbs::<O, D>() } {
                1 => self.put::<T, DsWords, _, _, WQEBB_DS>(pi, request)[0].first_word(),
                2 => self.put::<T, Wide, _, _, { 2 * WQEBB_DS }>(pi, request)[0].first_word(),
                3 => self.put::<T, Wide, _, _, { 3 * WQEBB_DS }>(pi, request)[0].first_word(),
                _ => self.put::<T, Wide, _, _, { 4 * WQEBB_DS }>(pi, request)[0].first_word(),
            }
        }
    }

    /// Stores a WQE of `ds` at `pi`, and its records. Bytes past the WQE's end are left alone, as libmlx5 leaves them.
    ///
    /// # Safety
    /// There is room for it at `pi`.
    #[inline(always)]
    unsafe fn store<F: HeldDs, const N: usize>(&self, pi: Index, wqe: &[F; N], Ds(ds): Ds, record: DsWords) {
        let mut at = pi;
        for (n, wqebb) in wqe.chunks(WQEBB_DS).enumerate() {
            let place = self.place(at);
            // No WQE starts in a later WQEBB.
            let record = if n == 0 { record } else { DsWords([record.0[0], 0]) };
            let stored = usize::from(ds) - n * WQEBB_DS;
            // SAFETY: a WQEBB of the ring that is free, and its record in the shadow: `from_parts`' caller vouches for
            // both. The `i`th DS is in that WQEBB, aligned as it is.
            unsafe {
                // The record first, which waits for nothing: the doorbell's barrier waits for both.
                F::new(record).store(self.record(place).cast());
                for (i, ds) in wqebb.iter().enumerate().take(stored) {
                    ds.store(self.wqebb(place).byte_add(i * crate::types::DS_BYTES));
                }
            }
            at = at.add(Wqebbs(1));
        }
    }
}

/// The size of a request that is composed in CPU registers, which fits four WQEBBs by type; zero for others.
pub(in crate::queue) const fn composed_ds<O: Operation, D: Data>() -> Ds {
    let most = 4 * WQEBB_DS;
    match Request::<'static, O, D>::DS {
        // At most 16.
        Some(ds) if ds <= most => Ds(ds as u8),
        _ => Ds(0),
    }
}

/// The WQEBBs of such a request; zero for others.
pub(in crate::queue) const fn composed_wqebbs<O: Operation, D: Data>() -> u16 {
    composed_ds::<O, D>().wqebbs().0
}

/// A WQE in the ring whose doorbell has not been rung. Two words without padding, so that it stays in CPU registers
/// even when an out-of-line function returns it.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct WqeInRing {
    /// The first word of the control segment, in memory order: the doorbell.
    pub(in crate::queue) first_word: u64,
    /// The size in DS, and whether it is inline.
    size_and_inline: u64,
}

impl WqeInRing {
    const INLINE: u64 = 1 << 8;

    /// No WQE.
    pub(in crate::queue) const NONE: Self = Self { first_word: 0, size_and_inline: 0 };

    #[inline(always)]
    pub(in crate::queue) const fn new(first_word: u64, Ds(ds): Ds, inline: bool) -> Self {
        Self { first_word, size_and_inline: ds as u64 | if inline { Self::INLINE } else { 0 } }
    }

    /// A WQE whose doorbell is never a BlueFlame copy: its size is no size that BlueFlame takes.
    #[inline(always)]
    pub(in crate::queue) const fn without_blueflame(first_word: u64) -> Self {
        Self { first_word, ..Self::NONE }
    }

    /// A composed request, by its first word.
    #[inline(always)]
    pub(in crate::queue) fn composed<O: Operation, D: Data>(first_word: u64) -> Self {
        Self::new(first_word, const { composed_ds::<O, D>() }, Request::<'static, O, D>::INLINE)
    }

    #[inline(always)]
    pub(in crate::queue) const fn ds(self) -> Ds {
        Ds(self.size_and_inline as u8)
    }

    #[inline(always)]
    pub(in crate::queue) const fn is_inline(self) -> bool {
        self.size_and_inline & Self::INLINE != 0
    }

    #[inline(always)]
    pub(in crate::queue) const fn wqebbs(self) -> Wqebbs {
        self.ds().wqebbs()
    }
}
