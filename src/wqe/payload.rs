//! What a request carries: scatter/gather entries that name registered memory, or bytes copied into the WQE.
use super::EncodeError;
use super::request::Limits;
use super::sealed::Sealed;
use super::seg::{DataSeg, InlineSeg};
use super::sink::{Sink, Unit};
use crate::types::{DS_BYTES, Lkey};

/// The most bytes one scatter/gather entry can name: 2^31 - 1. The data segment's byte count has 31 bits
/// (bit 31 marks an inline segment), and the device reads 0 as 2^31, which no tool of verbs' users can ask for.
pub const MAX_SGE_BYTES: u32 = 0x7fff_ffff;

/// What follows a request's operands in the WQE.
pub trait Payload: Sealed + Copy {
    /// The most 16-byte units it takes; `None` if that is known only at run time.
    const MAX_UNITS: Option<usize>;

    /// Whether it is inline data, of which BlueFlame leaves the device nothing to fetch.
    const INLINE: bool;

    /// The 16-byte units it takes.
    ///
    /// # Errors
    /// What exceeds `limits` or the format, with the value and the limit.
    fn units(&self, limits: &Limits) -> Result<usize, EncodeError>;

    /// Whether it takes [`MAX_UNITS`](Self::MAX_UNITS) units and `limits` allow it: what [`units`](Self::units) says, in
    /// the fewest comparisons.
    fn has_static_size(&self, limits: &Limits) -> bool;

    /// Writes its segments.
    fn encode<S: Sink>(&self, sink: &mut S);
}

/// A payload, or a whole request, whose type says that it names no memory of this side: inline data of any form, or none.
/// Posting it is safe.
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

impl Sealed for Empty {}
impl Payload for Empty {
    const MAX_UNITS: Option<usize> = Some(0);
    const INLINE: bool = false;

    #[inline(always)]
    fn units(&self, _: &Limits) -> Result<usize, EncodeError> {
        Ok(0)
    }

    #[inline(always)]
    fn has_static_size(&self, _: &Limits) -> bool {
        true
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, _: &mut S) {}
}

/// A scatter/gather entry: a piece of registered memory of this side (`struct ibv_sge`).
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
pub trait SgList: Sealed + Copy {
    /// The number of entries, if the type tells it.
    const LEN: Option<usize>;

    /// The entries.
    fn entries(&self) -> &[Sge];
}

impl<const N: usize> Sealed for [Sge; N] {}
impl<const N: usize> SgList for [Sge; N] {
    const LEN: Option<usize> = Some(N);

    #[inline]
    fn entries(&self) -> &[Sge] {
        self
    }
}

impl Sealed for &[Sge] {}
impl SgList for &[Sge] {
    const LEN: Option<usize> = None;

    #[inline]
    fn entries(&self) -> &[Sge] {
        self
    }
}

/// Registered memory: where a message's bytes come from, or where a READ's bytes go.
#[derive(Clone, Copy, Debug)]
pub struct Registered<L>(pub(super) L);

impl<L> Sealed for Registered<L> {}
impl<L: SgList> Payload for Registered<L> {
    const MAX_UNITS: Option<usize> = L::LEN;
    const INLINE: bool = false;

    #[inline(always)]
    fn units(&self, limits: &Limits) -> Result<usize, EncodeError> {
        let entries = self.0.entries();
        if entries.len() > limits.max_sge as usize {
            return Err(EncodeError::too_many_sges(entries.len(), limits.max_sge));
        }
        let mut units = 0;
        for sge in entries {
            if sge.length > MAX_SGE_BYTES {
                return Err(EncodeError::sge_too_long(sge.length));
            }
            units += usize::from(sge.length != 0);
        }
        Ok(units)
    }

    #[inline(always)]
    fn has_static_size(&self, limits: &Limits) -> bool {
        let entries = self.0.entries();
        // One comparison for both ends of a size: zero wraps to the largest value.
        L::LEN == Some(entries.len())
            && entries.len() <= limits.max_sge as usize
            && entries.iter().all(|sge| sge.length.wrapping_sub(1) < MAX_SGE_BYTES)
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        for sge in self.0.entries() {
            if S::HAS_STATIC_SIZE || sge.length != 0 {
                sink.unit(DataSeg::new(sge.length, sge.lkey, sge.addr).into());
            }
        }
    }
}

/// Where an atomic operation's result goes: 8 bytes of registered memory that receive the value before the operation,
/// in the CPU's order (rdma-core `providers/mlx5/qp.c`, `set_data_ptr_seg_atomic`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicResult {
    /// Address in the address space of the key.
    pub addr: u64,
    /// The memory region's local key.
    pub lkey: Lkey,
}

/// Bytes that an atomic operation works on (rdma-core `providers/mlx5/qp.c`, `MLX5_ATOMIC_SIZE`).
const ATOMIC_BYTES: u32 = 8;

impl Sealed for AtomicResult {}
impl Payload for AtomicResult {
    const MAX_UNITS: Option<usize> = Some(1);
    const INLINE: bool = false;

    #[inline(always)]
    fn units(&self, limits: &Limits) -> Result<usize, EncodeError> {
        if limits.max_sge == 0 { Err(EncodeError::too_many_sges(1, 0)) } else { Ok(1) }
    }

    #[inline(always)]
    fn has_static_size(&self, limits: &Limits) -> bool {
        limits.max_sge != 0
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.unit(DataSeg::new(ATOMIC_BYTES, self.lkey, self.addr).into());
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

impl Sealed for &[u8] {}
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

/// Units of an inline segment of `bytes` bytes. No bytes, no segment.
#[inline]
pub(super) const fn inline_units(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { (size_of::<InlineSeg>() + bytes).div_ceil(DS_BYTES) }
}

impl<D> Sealed for Inline<D> {}
impl<D: InlineBytes> Payload for Inline<D> {
    const MAX_UNITS: Option<usize> = match D::LEN {
        Some(bytes) => Some(inline_units(bytes)),
        None => None,
    };
    const INLINE: bool = true;

    #[inline(always)]
    fn units(&self, limits: &Limits) -> Result<usize, EncodeError> {
        let bytes = self.0.bytes().len();
        if bytes > limits.max_inline as usize {
            return Err(EncodeError::inline_too_long(bytes, limits.max_inline));
        }
        Ok(inline_units(bytes))
    }

    #[inline(always)]
    fn has_static_size(&self, limits: &Limits) -> bool {
        D::LEN.is_some_and(|bytes| bytes <= limits.max_inline as usize)
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        let mut rest = self.0.bytes();
        if rest.is_empty() {
            return;
        }
        let header = InlineSeg::of(rest.len()).byte_count.to_bits();
        sink.headed(header, &mut rest);
        encode_bytes(rest, sink);
    }
}

/// Writes bytes unit by unit, zero behind the end.
///
/// Whole units are apart from the rest: where the length is known, a loop that only loads is unrolled, and words stay in
/// registers.
#[inline(always)]
pub(super) fn encode_bytes<S: Sink>(bytes: &[u8], sink: &mut S) {
    let (units, mut tail) = bytes.as_chunks::<DS_BYTES>();
    for mut unit in units.iter().map(<[u8; DS_BYTES]>::as_slice) {
        sink.unit(Unit([take8(&mut unit), take8(&mut unit)]));
    }
    if !tail.is_empty() {
        sink.unit(Unit([take8(&mut tail), take8(&mut tail)]));
    }
}

/// Takes up to 8 bytes off the front, in memory order, zero behind the end.
#[inline(always)]
pub(super) fn take8(rest: &mut &[u8]) -> u64 {
    if let Some((bytes, tail)) = rest.split_first_chunk::<8>() {
        *rest = tail;
        u64::from_ne_bytes(*bytes)
    } else {
        short(core::mem::take(rest))
    }
}

/// Takes up to 4 bytes off the front, in memory order, zero behind the end.
#[inline(always)]
pub(super) fn take4(rest: &mut &[u8]) -> u32 {
    if let Some((bytes, tail)) = rest.split_first_chunk::<4>() {
        *rest = tail;
        u32::from_ne_bytes(*bytes)
    } else {
        // Fewer than 4 bytes: in memory order they are the first half of the word.
        let bytes = short(core::mem::take(rest)).to_ne_bytes();
        u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

/// Fewer than 8 bytes as a word in memory order, zero behind the end. Loads that overlap instead of a loop over bytes,
/// which the compiler would turn into a call of `memcpy`.
#[inline]
fn short(bytes: &[u8]) -> u64 {
    let little = if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let shift = (bytes.len() as u32).wrapping_sub(4) * 8;
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)).wrapping_shl(shift)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<2>(), bytes.last()) {
        let shift = (bytes.len() as u32).wrapping_sub(1) * 8;
        u64::from(u16::from_le_bytes(*first)) | u64::from(*last).wrapping_shl(shift)
    } else {
        bytes.first().map_or(0, |&byte| u64::from(byte))
    };
    little.to_le()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pieces_keep_memory_order() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        for len in 0..8 {
            let mut expected = [0; 8];
            expected[..len].copy_from_slice(&bytes[..len]);
            assert_eq!(short(&bytes[..len]).to_ne_bytes(), expected, "{len}");
            let mut rest = &bytes[..len];
            assert_eq!(take4(&mut rest).to_ne_bytes(), expected[..4], "{len}");
            assert_eq!(rest.len(), len.saturating_sub(4));
        }
        let mut rest = &bytes[..];
        assert_eq!(take8(&mut rest).to_ne_bytes(), bytes[..8]);
        assert_eq!(rest, [9]);
    }
}
