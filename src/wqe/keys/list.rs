//! The memory behind an indirect key: lists in a request, or in memory. Knows no request.
use crate::types::{DS_BYTES, Lkey};
use crate::wqe::error::EncodeError;
use crate::wqe::keys::change::LIST_ENTRIES;
use crate::wqe::keys::seg::{RepeatBlockSeg, RepeatEntrySeg};
use crate::wqe::limits::{KEY_LIST_ALIGN, Limits, MAX_SGE_BYTES};
use crate::wqe::payload::{EntryList, Payload, Sge, without_segments};
use crate::wqe::sealed::Sealed;
use crate::wqe::seg::DataSeg;
use crate::wqe::sink::Sink;
use crate::wqe::words::be::Be32;
use crate::wqe::words::ds::DsWords;

/// DS of `entries`, including the padding of their last WQEBB.
const fn list_ds(entries: usize) -> usize {
    entries.next_multiple_of(LIST_ENTRIES)
}

/// The most entries that the UMR control segment counts, in whole WQEBBs.
const MAX_ENTRIES: u16 = u16::MAX - u16::MAX % LIST_ENTRIES as u16;

#[inline(always)]
fn check_room(entries: usize, room: u16) -> Result<(), EncodeError> {
    let limit = if room < MAX_ENTRIES { room } else { MAX_ENTRIES };
    if entries > limit.into() { Err(EncodeError::key_list_too_long(entries, limit)) } else { Ok(()) }
}

#[inline(always)]
fn pad<S: Sink>(entries: usize, sink: &mut S) {
    (entries..list_ds(entries)).for_each(|_| sink.ds(DsWords::ZERO));
}

/// Keeps the current mapping. Posting this can grant peers rights to the mapped memory, so it counts as memory that
/// the request names.
#[derive(Clone, Copy, Debug)]
pub struct Unchanged {
    /// Entries that the key has room for.
    pub(in crate::wqe) room: u16,
}

without_segments!(Unchanged);

/// Pieces of other keys' memory, in a row.
#[derive(Clone, Copy, Debug)]
pub struct Pieces<L> {
    pub(in crate::wqe) list: L,
    pub(in crate::wqe) room: u16,
}

impl<L> Sealed for Pieces<L> {}
impl<L: EntryList<Sge>> Payload for Pieces<L> {
    const MAX_DS: Option<usize> = match L::LEN {
        Some(entries) => Some(list_ds(entries)),
        None => None,
    };
    const INLINE: bool = false;
    const NEEDS: Limits = Limits::NONE;

    #[inline(always)]
    fn ds(&self, _: &Limits) -> Result<usize, EncodeError> {
        let entries = self.list.entries();
        check_room(entries.len(), self.room)?;
        match entries.iter().find(|sge| sge.length > MAX_SGE_BYTES) {
            Some(sge) => Err(EncodeError::sge_too_long(sge.length)),
            None => Ok(list_ds(entries.len())),
        }
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        // It is longer than a WQEBB, so a static size would gain nothing.
        false
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        let entries = self.list.entries();
        for sge in entries {
            sink.ds(DataSeg::new(sge.length, sge.lkey, sge.addr).into());
        }
        pad(entries.len(), sink);
    }
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

/// Memory of other keys in turn, repeated several times.
#[derive(Clone, Copy, Debug)]
pub struct Interleaved<L> {
    pub(in crate::wqe) list: L,
    pub(in crate::wqe) repeat: u32,
    pub(in crate::wqe) room: u16,
}

impl<L: EntryList<Strided>> Interleaved<L> {
    /// Bytes of a turn.
    fn turn(&self) -> u64 {
        self.list.entries().iter().map(|entry| u64::from(entry.bytes)).sum()
    }

    /// Entries, without the one for the repeat count.
    pub(in crate::wqe) fn entries(&self) -> usize {
        self.list.entries().len()
    }

    /// Bytes of all turns.
    pub(in crate::wqe) fn bytes(&self) -> u64 {
        self.turn().saturating_mul(self.repeat.into())
    }
}

impl<L> Sealed for Interleaved<L> {}
impl<L: EntryList<Strided>> Payload for Interleaved<L> {
    const MAX_DS: Option<usize> = None;
    const INLINE: bool = false;
    const NEEDS: Limits = Limits::NONE;

    #[inline(always)]
    fn ds(&self, _: &Limits) -> Result<usize, EncodeError> {
        let entries = 1 + self.list.entries().len();
        check_room(entries, self.room)?;
        Ok(list_ds(entries))
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        false
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        let entries = self.list.entries();
        // A WQE has fewer than 64 entries, each of at most 16 bits of bytes.
        sink.ds(RepeatBlockSeg::new(self.turn() as u32, self.repeat, entries.len() as u16).into());
        for entry in entries {
            sink.ds(RepeatEntrySeg::new(entry.stride, entry.bytes, entry.lkey, entry.addr).into());
        }
        pad(1 + entries.len(), sink);
    }
}

/// A list of pieces in registered memory, for lists too long for a WQE.
#[derive(Clone, Copy, Debug)]
pub struct PiecesAt {
    pub(in crate::wqe) place: Sge,
    pub(in crate::wqe) entries: u16,
    pub(in crate::wqe) room: u16,
}

impl PiecesAt {
    /// Bytes that the device reads: whole WQEBBs.
    const fn bytes(&self) -> usize {
        list_ds(self.entries as usize) * DS_BYTES
    }
}

impl Sealed for PiecesAt {}
impl Payload for PiecesAt {
    const MAX_DS: Option<usize> = Some(1);
    const INLINE: bool = false;
    const NEEDS: Limits = Limits::NONE;

    #[inline(always)]
    fn ds(&self, _: &Limits) -> Result<usize, EncodeError> {
        check_room(self.entries.into(), self.room)?;
        if self.entries == 0 {
            return Err(EncodeError::KeyListEmpty);
        }
        if self.place.addr % KEY_LIST_ALIGN != 0 {
            return Err(EncodeError::key_list_misaligned(self.place.addr));
        }
        if (self.place.length as usize) < self.bytes() {
            return Err(EncodeError::key_list_cut(self.place.length, self.bytes()));
        }
        Ok(1)
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        false
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.ds(DataSeg::new(self.bytes() as u32, self.place.lkey, self.place.addr).into());
    }
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
