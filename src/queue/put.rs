//! Requests into the ring, without publishing them.
use super::parts::WqeRecord;
use super::send::SendQueue;
use super::send_error::PostError;
use super::slot::Index;
use crate::db::Register;
use crate::transport::Transport;
use crate::types::{Ds, Wqebbs, WrId};
use crate::wqe::{InPlace, LINE_UNITS, RingCursor, WorkRequest};

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Puts a request at `pi` without publishing it.
    #[inline(always)]
    pub(super) fn put<W: WorkRequest<T>>(&mut self, pi: Index, request: &W) -> Result<Put, PostError> {
        if self.is_one_wqebb(request) { self.put_wqebb(pi, request) } else { self.put_other(pi, request) }
    }

    /// Puts a request that is not [`is_one_wqebb`](Self::is_one_wqebb): in line where that is the rule by its type, out of
    /// line where it is the exception.
    #[inline(always)]
    pub(super) fn put_other<W: WorkRequest<T>>(&mut self, pi: Index, request: &W) -> Result<Put, PostError> {
        if const { line_units::<T, W>() == 0 } { self.put_long(pi, request) } else { self.put_exception(pi, *request) }
    }

    /// Whether a request fits one WQEBB by type, is of the size its type states, and the queue takes it.
    #[inline(always)]
    pub(super) fn is_one_wqebb<W: WorkRequest<T>>(&self, request: &W) -> bool {
        (const { line_units::<T, W>() != 0 }) && request.has_static_size(&self.limits)
    }

    /// Puts a request that [`is_one_wqebb`](Self::is_one_wqebb) at `pi`, in place, in words.
    #[inline(always)]
    pub(super) fn put_wqebb<W: WorkRequest<T>>(&mut self, pi: Index, request: &W) -> Result<Put, PostError> {
        if self.is_full_at(pi) {
            return Err(PostError::refused(Wqebbs(1), Wqebbs(0), self.window(), self.capacity()));
        }
        let ds = const { Ds(line_units::<T, W>() as u8) };
        let slot = self.slot(pi);
        // SAFETY: a WQEBB of the ring, which is free; the request is what its type says, so at most four units.
        let mut wqebb = unsafe { InPlace::new(self.wqebb(slot)) };
        request.encode(&self.control(pi), ds, &mut wqebb);
        // SAFETY: the record is one of the shadow, which `from_parts`' caller vouches for.
        unsafe { WqeRecord { wr_id: request.tag(), wqebbs: 1 }.store(self.record(slot)) };
        Ok(Put::new(wqebb.first_word(), ds, W::INLINE))
    }

    /// Out of line and by value for the same reasons as `post_other`.
    #[inline(never)]
    fn put_exception<W: WorkRequest<T>>(&mut self, pi: Index, request: W) -> Result<Put, PostError> {
        self.put_long(pi, &request)
    }

    /// Puts a request of any size at `pi`, in place, around the ring's end if need be.
    #[inline(always)]
    fn put_long<W: WorkRequest<T>>(&mut self, pi: Index, request: &W) -> Result<Put, PostError> {
        // `WorkRequest::units` says at most 63.
        let ds = Ds(request.units(&self.limits)? as u8);
        let wqebbs = self.reserve(pi, ds)?;
        let slot = self.slot(pi);
        let ring_wqebbs = usize::from(self.capacity().0);
        // SAFETY: `from_parts`' caller vouches for the ring; the slot is below its size; as many WQEBBs as the units
        // take are free.
        let mut cursor = unsafe { RingCursor::new(self.ring, ring_wqebbs, slot.number()) };
        request.encode(&self.control(pi), ds, &mut cursor);
        self.remember(pi, wqebbs, request.tag());
        // SAFETY: a word of the ring, which has just been stored.
        let first_word = unsafe { self.wqebb(slot).read() };
        Ok(Put::new(first_word, ds, W::INLINE))
    }

    /// Makes sure that a WQE of any size can be put at `pi`.
    #[inline]
    pub(super) fn reserve(&self, pi: Index, ds: Ds) -> Result<Wqebbs, PostError> {
        let wqebbs = ds.wqebbs();
        let free = self.free_from(pi);
        if wqebbs > free {
            return Err(PostError::refused(wqebbs, free, self.window(), self.capacity()));
        }
        Ok(wqebbs)
    }

    /// Notes a WQE put at `pi`, and that none starts in the other WQEBBs it covers.
    #[inline]
    pub(super) fn remember(&mut self, pi: Index, wqebbs: Wqebbs, wr_id: WrId) {
        for n in 0..wqebbs.0 {
            let record = WqeRecord { wr_id, wqebbs: if n == 0 { u64::from(wqebbs.0) } else { 0 } };
            // SAFETY: the record is one of the shadow, which `from_parts`' caller vouches for.
            unsafe { record.store(self.record(self.slot(pi.add(Wqebbs(n))))) };
        }
    }
}

/// A request in the ring that is not rung for yet. Two words without padding: what is known of one request stays in CPU
/// registers also where it may come from an out-of-line function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Put {
    /// The first word of the control segment, in memory order: the doorbell.
    pub(super) first_word: u64,
    /// The size in DS, and whether it is inline.
    shape: u64,
}

impl Put {
    const INLINE: u64 = 1 << 8;

    /// No request.
    pub(super) const NONE: Self = Self { first_word: 0, shape: 0 };

    #[inline(always)]
    pub(super) const fn new(first_word: u64, Ds(ds): Ds, inline: bool) -> Self {
        Self { first_word, shape: ds as u64 | if inline { Self::INLINE } else { 0 } }
    }

    #[inline(always)]
    pub(super) const fn ds(self) -> Ds {
        Ds(self.shape as u8)
    }

    #[inline(always)]
    pub(super) const fn is_inline(self) -> bool {
        self.shape & Self::INLINE != 0
    }

    #[inline(always)]
    pub(super) const fn wqebbs(self) -> Wqebbs {
        self.ds().wqebbs()
    }
}

/// Units of a request that fits one WQEBB by type; 0 for others.
pub(super) const fn line_units<T: Transport, W: WorkRequest<T>>() -> usize {
    match W::MAX_UNITS {
        Some(units) if units <= LINE_UNITS => units,
        _ => 0,
    }
}
