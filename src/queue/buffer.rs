//! The buffers that queues own, from posting to completion.
//!
//! The `wr_id` of a request is its buffer, as an index or a pointer, so the queues keep nothing else.
use core::fmt;
use core::num::NonZeroU64;

use crate::types::WrId;
use crate::wqe::Sge;

/// Registered memory that can become a `wr_id` and be made of that `wr_id` again: `Box<verbs::Buffer>`, a slot of an
/// application's pool.
///
/// # Safety
///
/// From [`into_wr_id`](Self::into_wr_id) to [`from_wr_id`](Self::from_wr_id), and for good if that is never called,
/// the memory named by [`sge`](Self::sge) stays valid and registered. During that time, only the device reads or
/// writes it.
pub unsafe trait DeviceBuffer: Sized {
    /// The memory.
    fn sge(&self) -> Sge;

    /// Turns the buffer into a `wr_id`.
    fn into_wr_id(self) -> NonZeroU64;

    /// Turns the `wr_id` into the buffer again.
    ///
    /// # Safety
    ///
    /// `wr_id` comes from [`into_wr_id`](Self::into_wr_id) of this type, and is used here once.
    unsafe fn from_wr_id(wr_id: NonZeroU64) -> Self;
}

/// A value that a queue takes for a request and returns with its completion. A [`DeviceBuffer`] is the request's memory.
/// With a [`WrId`], you name the memory, and vouch for it.
pub trait Posted: Sized {
    /// Makes the value again from the request's `wr_id`.
    ///
    /// # Safety
    /// If it is a buffer: `wr_id` comes from [`into_wr_id`](DeviceBuffer::into_wr_id), and is used here once.
    unsafe fn returned(wr_id: WrId) -> Self;
}

impl Posted for WrId {
    #[inline(always)]
    unsafe fn returned(wr_id: WrId) -> Self {
        wr_id
    }
}

impl<B: DeviceBuffer> Posted for B {
    #[inline(always)]
    unsafe fn returned(wr_id: WrId) -> Self {
        // SAFETY: the caller promises that `wr_id` is a buffer's, and used here once; no buffer's is zero.
        unsafe { B::from_wr_id(NonZeroU64::new_unchecked(wr_id.0)) }
    }
}

/// A request that was not posted, and its buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Refused<E, B> {
    /// Why.
    pub error: E,
    /// The buffer.
    pub buffer: B,
}

impl<E: fmt::Debug, B> fmt::Debug for Refused<E, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<E: fmt::Display, B> fmt::Display for Refused<E, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<E: core::error::Error, B> core::error::Error for Refused<E, B> {}
