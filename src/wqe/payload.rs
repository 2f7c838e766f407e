//! The payload of a request: scatter/gather entries that name registered memory, or bytes copied into the WQE. Knows
//! no request.
use core::marker::PhantomData;

use super::error::EncodeError;
use super::limits::{Limits, MAX_SGE_BYTES};
use super::operations::service::Found;
use super::sealed::Sealed;
use super::seg::{DataSeg, InlineSeg};
use super::sink::Sink;
use crate::types::{DS_BYTES, Lkey};

/// The part of the WQE that follows the operation's own segments.
pub trait Payload: Sealed + Copy {
    /// The maximum number of DS; `None` if it is known only at run time.
    const MAX_DS: Option<usize>;

    /// Whether it is inline data. By BlueFlame the device then gets the whole request, and fetches nothing.
    const INLINE: bool;

    /// The DS it takes.
    ///
    /// # Errors
    /// The payload exceeds `limits` or the format: the error has the value and the limit.
    fn ds(&self, limits: &Limits) -> Result<usize, EncodeError>;

    /// The required limits if it [has](Self::has_static_size) its static size.
    const NEEDS: Limits;

    /// Whether it takes [`MAX_DS`](Self::MAX_DS) and needs [`NEEDS`](Self::NEEDS). The answer agrees with
    /// [`ds`](Self::ds), by the fewest comparisons.
    fn has_static_size(&self) -> bool;

    /// Bytes of a message or frame that it carries; of other payloads, 0.
    fn data_bytes(&self) -> u64 {
        0
    }

    /// Writes its segments.
    fn encode<S: Sink>(&self, sink: &mut S);
}

/// A payload, or a whole request, whose type guarantees that it names no memory of this side: inline data of any form,
/// or no data. Posting it is safe.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names registered memory, which the device uses until the request has completed",
    label = "post it by the `_unchecked` call, whose caller vouches for that memory"
)]
pub trait NoLocalMemory: Sealed {}

impl NoLocalMemory for Empty {}
impl<D: InlineBytes> NoLocalMemory for Inline<D> {}

/// No data: a message of zero bytes.
#[derive(Clone, Copy, Debug)]
pub struct Empty;

/// A payload without segments: the rest of the WQE says it all.
macro_rules! without_segments {
    ($payload:ty) => {
        impl $crate::wqe::sealed::Sealed for $payload {}
        impl $crate::wqe::payload::Payload for $payload {
            const MAX_DS: Option<usize> = Some(0);
            const INLINE: bool = false;
            const NEEDS: $crate::wqe::limits::Limits = $crate::wqe::limits::Limits::NONE;

            #[inline(always)]
            fn ds(&self, _: &$crate::wqe::limits::Limits) -> Result<usize, $crate::wqe::error::EncodeError> {
                Ok(0)
            }

            #[inline(always)]
            fn has_static_size(&self) -> bool {
                true
            }

            #[inline(always)]
            fn encode<S: $crate::wqe::sink::Sink>(&self, _: &mut S) {}
        }
    };
}
pub(in crate::wqe) use without_segments;

without_segments!(Empty);

/// A scatter/gather entry: a range of this side's registered memory (`struct ibv_sge`).
#[doc(alias = "ibv_sge")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sge {
    /// Address in the address space of the key, usually the virtual address.
    pub addr: u64,
    /// Bytes, at most [`MAX_SGE_BYTES`]. An entry of zero bytes is left out of the WQE, as libmlx5 does.
    pub length: u32,
    /// The memory region's local key.
    pub lkey: Lkey,
}

/// A list of entries: an array, whose length is known at compile time, or a slice.
pub trait EntryList<E>: Sealed + Copy {
    /// The number of entries, if the type tells it.
    const LEN: Option<usize>;

    /// The entries.
    fn entries(&self) -> &[E];
}

impl<E, const N: usize> Sealed for [E; N] {}
impl<E: Copy, const N: usize> EntryList<E> for [E; N] {
    const LEN: Option<usize> = Some(N);

    #[inline]
    fn entries(&self) -> &[E] {
        self
    }
}

impl<E> Sealed for &[E] {}
impl<E> EntryList<E> for &[E] {
    const LEN: Option<usize> = None;

    #[inline]
    fn entries(&self) -> &[E] {
        self
    }
}

/// Registered memory: the source of a message's bytes, or the destination of a READ's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Registered<L>(pub(super) L);

impl<L> Registered<L> {
    #[inline(always)]
    pub(crate) const fn of(list: L) -> Self {
        Self(list)
    }
}

impl<L> Sealed for Registered<L> {}
impl<L: EntryList<Sge>> Payload for Registered<L> {
    const MAX_DS: Option<usize> = L::LEN;
    const INLINE: bool = false;
    const NEEDS: Limits = match L::LEN {
        Some(entries) => Limits { max_sge: entries as u32, ..Limits::NONE },
        None => Limits::NONE,
    };

    #[inline(always)]
    fn ds(&self, limits: &Limits) -> Result<usize, EncodeError> {
        let entries = self.0.entries();
        if entries.len() > limits.max_sge as usize {
            return Err(EncodeError::too_many_sges(entries.len(), limits.max_sge));
        }
        let mut ds = 0;
        for sge in entries {
            if sge.length > MAX_SGE_BYTES {
                return Err(EncodeError::sge_too_long(sge.length));
            }
            ds += usize::from(sge.length != 0);
        }
        Ok(ds)
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        let entries = self.0.entries();
        // One comparison for both ends of a size: zero wraps to the largest value.
        L::LEN == Some(entries.len()) && entries.iter().all(|sge| sge.length.wrapping_sub(1) < MAX_SGE_BYTES)
    }

    #[inline(always)]
    fn data_bytes(&self) -> u64 {
        self.0.entries().iter().map(|sge| u64::from(sge.length)).sum()
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        for sge in self.0.entries() {
            if S::HAS_STATIC_SIZE || sge.length != 0 {
                sink.ds(DataSeg::new(sge.length, sge.lkey, sge.addr).into());
            }
        }
    }
}

/// The destination of an atomic operation's result: registered memory that receives the old value, from before the
/// operation, as an `F` (rdma-core `providers/mlx5/qp.c`, `set_data_ptr_seg_atomic`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicResult<F = u64> {
    /// Address in the address space of the key.
    pub addr: u64,
    /// The memory region's local key.
    pub lkey: Lkey,
    pub(super) found: PhantomData<F>,
}

impl<F> Sealed for AtomicResult<F> {}
impl<F: Found> Payload for AtomicResult<F> {
    const MAX_DS: Option<usize> = Some(1);
    const INLINE: bool = false;
    const NEEDS: Limits = Limits { max_sge: 1, ..Limits::NONE };

    #[inline(always)]
    fn ds(&self, limits: &Limits) -> Result<usize, EncodeError> {
        if limits.max_sge == 0 { Err(EncodeError::too_many_sges(1, 0)) } else { Ok(1) }
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        true
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.ds(DataSeg::new(F::BYTES, self.lkey, self.addr).into());
    }
}

/// Bytes to copy into the WQE: `&[u8; N]`, whose length is known at compile time, or `&[u8]`.
pub trait InlineBytes: Sealed + Copy {
    /// The number of bytes, if the type tells it.
    const LEN: Option<usize>;

    /// The bytes.
    fn bytes(&self) -> &[u8];
}

impl<const N: usize> Sealed for &[u8; N] {}
impl<const N: usize> InlineBytes for &[u8; N] {
    const LEN: Option<usize> = Some(N);

    #[inline]
    fn bytes(&self) -> &[u8] {
        *self
    }
}

impl InlineBytes for &[u8] {
    const LEN: Option<usize> = None;

    #[inline]
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// Data in the WQE itself: the device fetches nothing, and the caller's bytes are free once the request is posted.
#[derive(Clone, Copy, Debug)]
pub struct Inline<D>(pub(super) D);

/// DS of an inline segment of `bytes` bytes. No bytes, no segment.
#[inline]
pub(super) const fn inline_ds(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { (size_of::<InlineSeg>() + bytes).div_ceil(DS_BYTES) }
}

impl<D> Inline<D> {
    #[inline(always)]
    pub(crate) const fn of(data: D) -> Self {
        Self(data)
    }

    /// DS of so many bytes.
    #[inline(always)]
    pub(crate) const fn ds_of(bytes: usize) -> usize {
        inline_ds(bytes)
    }
}

impl<D> Sealed for Inline<D> {}
impl<D: InlineBytes> Payload for Inline<D> {
    const MAX_DS: Option<usize> = match D::LEN {
        Some(bytes) => Some(inline_ds(bytes)),
        None => None,
    };
    const INLINE: bool = true;
    const NEEDS: Limits = match D::LEN {
        Some(bytes) => Limits { max_inline: bytes as u32, ..Limits::NONE },
        None => Limits::NONE,
    };

    #[inline(always)]
    fn ds(&self, limits: &Limits) -> Result<usize, EncodeError> {
        let bytes = self.0.bytes().len();
        if bytes > limits.max_inline as usize {
            return Err(EncodeError::inline_too_long(bytes, limits.max_inline));
        }
        Ok(inline_ds(bytes))
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        D::LEN.is_some()
    }

    #[inline(always)]
    fn data_bytes(&self) -> u64 {
        self.0.bytes().len() as u64
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        let mut rest = self.0.bytes();
        if rest.is_empty() {
            return;
        }
        let header = InlineSeg::of(rest.len()).byte_count.to_bits();
        sink.headed(header, &mut rest);
        sink.bytes(rest);
    }
}

/// Bytes that are copied into the WQE, and registered memory that follows them: a header, say, and its message.
#[derive(Clone, Copy, Debug)]
pub struct InlineThen<D, L> {
    pub(super) first: Inline<D>,
    pub(super) rest: Registered<L>,
}

impl<D, L> Sealed for InlineThen<D, L> {}
impl<D: InlineBytes, L: EntryList<Sge>> Payload for InlineThen<D, L> {
    const MAX_DS: Option<usize> = match (<Inline<D> as Payload>::MAX_DS, <Registered<L> as Payload>::MAX_DS) {
        (Some(first), Some(rest)) => Some(first + rest),
        _ => None,
    };
    const INLINE: bool = false;
    const NEEDS: Limits = Limits {
        max_inline: <Inline<D> as Payload>::NEEDS.max_inline,
        max_sge: <Registered<L> as Payload>::NEEDS.max_sge,
        ..Limits::NONE
    };

    #[inline(always)]
    fn ds(&self, limits: &Limits) -> Result<usize, EncodeError> {
        Ok(self.first.ds(limits)? + self.rest.ds(limits)?)
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        self.first.has_static_size() && self.rest.has_static_size()
    }

    #[inline(always)]
    fn data_bytes(&self) -> u64 {
        self.first.data_bytes() + self.rest.data_bytes()
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        self.first.encode(sink);
        self.rest.encode(sink);
    }
}
