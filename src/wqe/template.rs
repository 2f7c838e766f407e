//! The open part of a prepared request, supplied when it is fired. Knows no queue.
use super::error::EncodeError;
use super::limits::{Limits, MAX_SGE_BYTES};
use super::payload::{Inline, NoLocalMemory, Payload, Sge, inline_ds};
use super::sealed::Sealed;
use super::seg::{DataSeg, InlineSeg};
use super::sink::Sink;
use super::words::bytes::take8;
use super::words::ds::DsWords;
use crate::arch::Wide;
use crate::types::DS_BYTES;

/// The payload of a prepared request, and the part of it that each shot brings. A shot brings all of an [`InlineLen`],
/// all of a [`GatherLen`], and nothing of a payload that is already given.
///
/// The payload's type must fix its size.
pub trait TemplatePayload: Sealed {
    /// The data of a shot.
    type Data;

    /// DS of the payload.
    const DS: usize;

    /// The number of DS, from the first, that have prepared bytes.
    const PREPARED_DS: usize;

    /// Whether it is inline data.
    const INLINE: bool;

    /// Whether the payload has the stated size, and the queue accepts it.
    ///
    /// # Errors
    /// The payload exceeds `limits` or the format.
    fn check(&self, limits: &Limits) -> Result<(), EncodeError>;

    /// Writes the DS that have prepared bytes, with zeros for the bytes that a shot brings.
    fn prepare<S: Sink>(&self, sink: &mut S);

    /// Whether the format allows the shot's data: whether [`check_data`](Self::check_data) is `Ok`.
    fn is_legal(data: &Self::Data) -> bool;

    /// Checks the shot's data, and gives the reason for a refusal.
    ///
    /// # Errors
    /// The format does not allow the data.
    fn check_data(data: &Self::Data) -> Result<(), EncodeError>;

    /// The shot's bytes in DS `n` of the payload; other bytes are zero.
    fn ds(data: &Self::Data, n: usize) -> Wide;
}

/// Any payload whose type fixes its size: a shot brings nothing.
impl<P: Payload> TemplatePayload for P {
    type Data = ();
    const DS: usize = match P::MAX_DS {
        Some(ds) => ds,
        None => panic!("a template's size must be known by type: use arrays, not slices"),
    };
    const PREPARED_DS: usize = Self::DS;
    const INLINE: bool = P::INLINE;

    fn check(&self, limits: &Limits) -> Result<(), EncodeError> {
        // A WQE has no entries of zero bytes, so it would be shorter than the type says.
        if self.ds(limits)? == Self::DS { Ok(()) } else { Err(EncodeError::EmptySge) }
    }

    fn prepare<S: Sink>(&self, sink: &mut S) {
        self.encode(sink);
    }

    #[inline(always)]
    fn is_legal((): &()) -> bool {
        true
    }

    fn check_data((): &()) -> Result<(), EncodeError> {
        Ok(())
    }

    #[inline(always)]
    fn ds((): &(), _: usize) -> Wide {
        Wide::new([0; 2])
    }
}

/// Stands for `N` bytes of inline data that each shot of a template brings.
#[derive(Clone, Copy, Debug)]
pub struct InlineLen<const N: usize>(pub(super) ());

impl<const N: usize> Sealed for InlineLen<N> {}
impl<const N: usize> NoLocalMemory for InlineLen<N> {}
impl<const N: usize> TemplatePayload for InlineLen<N> {
    type Data = [u8; N];
    const DS: usize = inline_ds(N);
    // The first DS has the segment's header.
    const PREPARED_DS: usize = if N == 0 { 0 } else { 1 };
    const INLINE: bool = true;

    fn check(&self, limits: &Limits) -> Result<(), EncodeError> {
        Inline(&[0; N]).ds(limits).map(drop)
    }

    fn prepare<S: Sink>(&self, sink: &mut S) {
        if N != 0 {
            let seg = InlineSeg::of(N);
            sink.ds(DsWords::from_halves([seg.byte_count.to_bits(), 0, 0, 0]));
        }
    }

    #[inline(always)]
    fn is_legal(_: &[u8; N]) -> bool {
        true
    }

    fn check_data(_: &[u8; N]) -> Result<(), EncodeError> {
        Ok(())
    }

    #[inline(always)]
    fn ds(data: &[u8; N], n: usize) -> Wide {
        // The data begins behind the header.
        const HEADER: usize = size_of::<InlineSeg>();
        if n == 0 { bytes(data, 0).four_bytes_up() } else { bytes(data, n * DS_BYTES - HEADER) }
    }
}

/// Stands for `N` scatter/gather entries that each shot of a template brings. None may be of zero bytes.
#[derive(Clone, Copy, Debug)]
pub struct GatherLen<const N: usize>(pub(super) ());

impl<const N: usize> Sealed for GatherLen<N> {}
impl<const N: usize> TemplatePayload for GatherLen<N> {
    type Data = [Sge; N];
    const DS: usize = N;
    const PREPARED_DS: usize = 0;
    const INLINE: bool = false;

    fn check(&self, limits: &Limits) -> Result<(), EncodeError> {
        if N > limits.max_sge as usize { Err(EncodeError::too_many_sges(N, limits.max_sge)) } else { Ok(()) }
    }

    fn prepare<S: Sink>(&self, _: &mut S) {}

    #[inline(always)]
    fn is_legal(data: &[Sge; N]) -> bool {
        // One comparison for both ends: zero wraps to the largest value.
        data.iter().all(|sge| sge.length.wrapping_sub(1) < MAX_SGE_BYTES)
    }

    fn check_data(data: &[Sge; N]) -> Result<(), EncodeError> {
        match data.iter().find(|sge| sge.length == 0 || sge.length > MAX_SGE_BYTES) {
            Some(sge) => Err(EncodeError::sge_size(sge.length)),
            None => Ok(()),
        }
    }

    #[inline(always)]
    fn ds(data: &[Sge; N], n: usize) -> Wide {
        let Some(sge) = data.get(n) else { return Wide::new([0; 2]) };
        let DsWords(words) = DataSeg::new(sge.length, sge.lkey, sge.addr).into();
        Wide::new(words)
    }
}

/// Up to one DS of the bytes, from `at`, with zeros after the end.
///
/// For arrays and constant places only: then it compiles to the loads alone.
#[inline(always)]
fn bytes<const N: usize>(data: &[u8; N], at: usize) -> Wide {
    let mut rest = data.get(at..).unwrap_or_default();
    Wide::new([take8(&mut rest), take8(&mut rest)])
}
