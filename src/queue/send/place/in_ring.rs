//! A request between the ring and the doorbell. Knows no queue.
use crate::queue::send::place::short::composed_ds;
use crate::transport::Transport;
use crate::types::{Ds, Wqebbs};
use crate::wqe::{Composed, HeldDs, WorkRequest};

/// A WQE in the ring whose doorbell has not been rung. Two words without padding, so that it stays in CPU registers
/// even when an out-of-line function returns it.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct WqeInRing {
    /// The first word of the control segment, in memory order: the doorbell.
    pub(in crate::queue) first_word: u64,
    /// The size in DS, and whether it is inline.
    shape: u64,
}

impl WqeInRing {
    const INLINE: u64 = 1 << 8;

    /// No WQE.
    pub(in crate::queue) const NONE: Self = Self { first_word: 0, shape: 0 };

    #[inline(always)]
    pub(in crate::queue) const fn new(first_word: u64, Ds(ds): Ds, inline: bool) -> Self {
        Self { first_word, shape: ds as u64 | if inline { Self::INLINE } else { 0 } }
    }

    /// A WQE whose doorbell is never a BlueFlame copy: its size is no size that BlueFlame takes.
    #[inline(always)]
    pub(in crate::queue) const fn without_blueflame(first_word: u64) -> Self {
        Self { first_word, ..Self::NONE }
    }

    /// Of request `W`, composed, by the first of its WQEBBs.
    #[inline(always)]
    pub(in crate::queue) fn composed<T: Transport, W: WorkRequest<T>, D: HeldDs>(first: &Composed<D>) -> Self {
        Self::new(first.first_word(), const { composed_ds::<T, W>() }, W::INLINE)
    }

    #[inline(always)]
    pub(in crate::queue) const fn ds(self) -> Ds {
        Ds(self.shape as u8)
    }

    #[inline(always)]
    pub(in crate::queue) const fn is_inline(self) -> bool {
        self.shape & Self::INLINE != 0
    }

    #[inline(always)]
    pub(in crate::queue) const fn wqebbs(self) -> Wqebbs {
        self.ds().wqebbs()
    }
}
