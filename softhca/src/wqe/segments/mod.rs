//! Segments of WQEs: the walk from one to the next, and the data segment, which send and receive WQEs have in common.
//! The other segments have a file each.

pub(super) mod address;
pub(super) mod atomics;
pub(super) mod control;
pub(super) mod cross_channel;
pub(super) mod ethernet;
pub(super) mod formats;
pub(super) mod memcpy;
pub(super) mod tags;
pub(super) mod umr;

use super::fault::WqeFault;
use super::payload::{DataSeg, DataSegs, Part, Payload};

/// Bytes of a DS, in which a WQE's size is counted; also the size of the control, remote address, atomic and data
/// segments.
pub const DATA_SEG_BYTES: usize = 16;
/// Key that ends a receive WQE's list (`MLX5_INVALID_LKEY`).
pub const INVALID_LKEY: u32 = 0x100;

/// Bit 31 of a data segment's first word: inline (`MLX5_INLINE_SEG`).
const INLINE: u32 = 1 << 31;
/// A byte count of 0 means this.
const COUNT_ZERO_MEANS: u32 = 1 << 31;

/// The big-endian number at byte `at`.
pub(super) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The big-endian number at byte `at`.
pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The big-endian number at byte `at`.
pub(super) fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from(be32(bytes, at)) << 32 | u64::from(be32(bytes, at + 4))
}

/// The data segment in the first 16 bytes of `bytes` (`struct mlx5_wqe_data_seg`), a byte count of 0 decoded as 2^31.
/// `None` if it is an inline segment.
///
/// # Panics
/// If `bytes` is shorter than [`DATA_SEG_BYTES`].
#[must_use]
pub fn data_seg(bytes: &[u8]) -> Option<DataSeg> {
    let count = be32(bytes, 0);
    if count & INLINE != 0 {
        return None;
    }
    let len = if count == 0 { COUNT_ZERO_MEANS } else { count };
    Some(DataSeg { len, lkey: be32(bytes, 4), addr: be64(bytes, 8) })
}

/// `Ok` if a field that must be 0 is 0.
pub(super) fn zero(field: &'static str, at: usize, value: u64) -> Result<(), WqeFault> {
    if value == 0 { Ok(()) } else { Err(WqeFault::Reserved { field, at, value }) }
}

/// Walks the segments of a WQE.
#[derive(Clone)]
pub(super) struct Segments<'a> {
    wqe: &'a [u8],
    /// Offset in bytes of the next segment.
    at: usize,
}

impl<'a> Segments<'a> {
    /// The segments of `wqe` from byte `at` on.
    pub(super) fn new(wqe: &'a [u8], at: usize) -> Self {
        Self { wqe, at }
    }

    /// The next `len` bytes, and where they start.
    pub(super) fn take(&mut self, segment: &'static str, len: usize) -> Result<(usize, &'a [u8]), WqeFault> {
        let start = self.at;
        let seg = self.wqe.get(start..start + len).ok_or(WqeFault::MissingSegment {
            segment,
            needs: start + len,
            has: self.wqe.len(),
        })?;
        self.at += len;
        Ok((start, seg))
    }

    /// Refuses remaining segments.
    pub(super) fn end(&self) -> Result<(), WqeFault> {
        match self.wqe.len() - self.at {
            0 => Ok(()),
            left => Err(WqeFault::Trailing(left)),
        }
    }

    /// Everything up to the end: data segments, each by reference or inline.
    pub(super) fn payload(&mut self, inline_permitted: bool) -> Result<Payload, WqeFault> {
        // All are in `segs` until one is inline, and in `parts` from then on.
        let (mut segs, mut parts) = (DataSegs::new(), Vec::new());
        while self.at < self.wqe.len() {
            let (start, bytes) = self.take("data", DATA_SEG_BYTES)?;
            match data_seg(bytes) {
                Some(seg) if parts.is_empty() => segs.push(seg),
                Some(seg) => parts.push(Part::Seg(seg)),
                None if !inline_permitted => return Err(WqeFault::InlineResult { at: start }),
                None => {
                    parts.extend(segs.drain(..).map(Part::Seg));
                    parts.push(Part::Inline(self.inline(start)?.to_vec()));
                }
            }
        }
        Ok(match &mut parts[..] {
            [] => Payload::Segs(segs),
            [Part::Inline(bytes)] => Payload::Inline(std::mem::take(bytes)),
            _ => Payload::Mixed(parts),
        })
    }

    /// The data of the inline segment at `start`, which is padded to whole DSs.
    fn inline(&mut self, start: usize) -> Result<&'a [u8], WqeFault> {
        let len = (be32(self.wqe, start) & !INLINE) as usize;
        let first = start + 4;
        let data = first.checked_add(len).and_then(|end| self.wqe.get(first..end)).ok_or(WqeFault::InlineTooLong {
            at: start,
            len,
            room: self.wqe.len() - first,
        })?;
        self.at = (first + len).next_multiple_of(DATA_SEG_BYTES);
        Ok(data)
    }
}
