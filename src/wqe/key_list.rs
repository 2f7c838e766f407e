//! The memory behind an indirect key: lists in a request, or in memory; and the formats of its data. Knows no request.
use crate::arch::ds::DsWords;
use crate::layout::Be32;
use crate::types::{DS_BYTES, Lkey};
use crate::wqe::cursor::RingCursor;
use crate::wqe::data::Sge;
use crate::wqe::error::EncodeError;
use crate::wqe::formats::Formats;
use crate::wqe::seg::{RepeatBlockSeg, RepeatEntrySeg};

/// Lists are whole WQEBBs, of this many entries each.
pub(in crate::wqe) const LIST_ENTRIES: usize = 4;

/// DS of `entries`, including the padding of their last WQEBB.
pub(in crate::wqe) const fn list_ds(entries: usize) -> usize {
    entries.next_multiple_of(LIST_ENTRIES)
}

/// The most entries that the UMR control segment counts, in whole WQEBBs.
const MAX_ENTRIES: u16 = u16::MAX - u16::MAX % LIST_ENTRIES as u16;

/// The error of a list of `entries` entries for a key with `room` for them.
#[inline(always)]
pub(in crate::wqe) fn too_long(entries: usize, room: u16) -> Option<EncodeError> {
    let limit = room.min(MAX_ENTRIES);
    if entries > limit.into() { Some(EncodeError::key_list_too_long(entries, limit)) } else { None }
}

/// Memory of another key that repeats: `bytes` at `addr`, then as many one `stride` further, and so on
/// (`struct mlx5dv_mr_interleaved`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// First address in the address space of the key.
    pub addr: u64,
    /// Bytes in each turn.
    pub bytes: u16,
    /// Bytes from the start of one turn to the start of the next: `bytes` plus the skipped bytes (`bytes_skip`).
    pub stride: u16,
    /// The memory region's local key.
    pub lkey: Lkey,
}

/// The memory that a request puts behind a key, and the formats of its data. Without any, the memory stays the same. (No
/// `enum`: a choice of four would be a jump through a table.)
#[derive(Clone, Copy, Debug)]
pub(in crate::wqe) struct KeyList<'d> {
    /// Pieces of other keys' memory, in a row.
    pub(in crate::wqe) pieces: &'d [Sge],
    /// Memory of other keys in turn, and how many times.
    pub(in crate::wqe) interleaved: Option<(&'d [Strided], u32)>,
    /// Pieces, by a list in memory.
    pub(in crate::wqe) at: Option<Sge>,
    pub(in crate::wqe) formats: Option<&'d Formats>,
}

impl KeyList<'_> {
    /// Nothing.
    pub(in crate::wqe) const NONE: Self = Self { pieces: &[], interleaved: None, at: None, formats: None };

    /// Entries of 16 bytes in the request.
    #[inline(always)]
    pub(in crate::wqe) fn entries(&self) -> usize {
        self.pieces.len() + self.interleaved.map_or(0, |(list, _)| 1 + list.len())
    }

    /// Bytes of a turn.
    #[inline(always)]
    fn turn(list: &[Strided]) -> u64 {
        list.iter().map(|entry| u64::from(entry.bytes)).sum()
    }

    /// Bytes behind the key; 0 if the request does not set them, or by a list in memory.
    #[inline(always)]
    pub(in crate::wqe) fn bytes(&self) -> u64 {
        let in_a_row: u64 = self.pieces.iter().map(|sge| u64::from(sge.length)).sum();
        let in_turn = self.interleaved.map_or(0, |(list, repeat)| Self::turn(list).saturating_mul(repeat.into()));
        // One of the two is 0.
        in_a_row.saturating_add(in_turn)
    }

    /// DS of all.
    #[inline(always)]
    pub(in crate::wqe) fn ds(&self) -> usize {
        list_ds(self.entries()) + usize::from(self.at.is_some()) + self.formats.map_or(0, Formats::ds)
    }

    /// Writes all.
    #[inline(always)]
    pub(in crate::wqe) fn encode(&self, ring: &mut RingCursor) {
        self.pieces.iter().for_each(|sge| ring.ds(sge.words()));
        if let Some((list, repeat)) = self.interleaved {
            // A WQE has fewer than 64 entries, each of at most 16 bits of bytes.
            ring.ds(RepeatBlockSeg::new(Self::turn(list) as u32, repeat, list.len() as u16).into());
            for entry in list {
                ring.ds(RepeatEntrySeg::new(entry.stride, entry.bytes, entry.lkey, entry.addr).into());
            }
        }
        if let Some(place) = self.at {
            ring.ds(place.words());
        }
        (self.entries()..list_ds(self.entries())).for_each(|_| ring.ds(DsWords::ZERO));
        if let Some(formats) = self.formats {
            formats.encode(ring);
        }
    }
}

/// Bytes that the device reads of a list in memory: whole WQEBBs.
pub(in crate::wqe) const fn bytes_at(entries: u16) -> usize {
    list_ds(entries as usize) * DS_BYTES
}

impl Sge {
    /// The entry in the format of a list in memory ([`Request::list_at`](crate::wqe::Request::list_at)).
    #[must_use]
    pub fn to_list_entry(self) -> [u8; DS_BYTES] {
        let words = [Be32::new(self.length), Be32::new(self.lkey.0)].map(|word| word.to_bits().to_ne_bytes());
        let mut entry = [0; DS_BYTES];
        entry[..4].copy_from_slice(&words[0]);
        entry[4..8].copy_from_slice(&words[1]);
        entry[8..].copy_from_slice(&self.addr.to_be_bytes());
        entry
    }
}
