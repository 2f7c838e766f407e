//! A request without its type: segments, references and limits; and its checks. The module names no operation.
use crate::arch::ds::DsWords;
use crate::types::{Ds, WrId};
use crate::wqe::data::{Sge, inline_ds};
use crate::wqe::error::EncodeError;
use crate::wqe::key_list::KeyList;
use crate::wqe::limits::{Limits, MAX_SGE_BYTES, OffloadBits};

/// The most DS that a request stores: those of the longest operations with a destination, or of a change of a key, with
/// an entry each; and fourteen entries of a WRITE, which fill four WQEBBs.
pub(crate) const MAX_STORED_DS: usize = 15;

/// All of a request but its type.
///
/// The segments come first, aligned to a DS, so that one load gets 16 bytes of a request that is kept.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Untyped<'d> {
    /// The control segment, of which the first word is the operation's and the queue's.
    pub(super) control: DsWords,
    /// The `wr_id`; once prepared, the size as well (`WqeRecord` of send queues).
    pub(super) record: DsWords,
    /// The destination, the operation's segments, and the entries given by value.
    pub(super) segments: [DsWords; MAX_STORED_DS],
    /// Inline headers of a frame.
    pub(super) headers: &'d [u8],
    /// Inline data.
    pub(super) bytes: &'d [u8],
    /// Entries given by reference.
    pub(super) entries: &'d [Sge],
    /// The memory behind a key.
    pub(super) list: KeyList<'d>,
    /// Entries of a key, or bytes of each packet of a large send.
    pub(super) size: u16,
    /// Bytes that the entries name.
    pub(super) payload: u64,
    /// The offloads that a frame needs.
    pub(super) needs: OffloadBits,
    /// An operand is out of its limits.
    pub(super) fault: Option<EncodeError>,
    /// Some entries have no bytes, and are left out, or have too many.
    pub(super) is_odd: bool,
}

impl Untyped<'_> {
    /// Takes entries into account.
    #[inline(always)]
    pub(super) fn count(&mut self, list: &[Sge]) {
        for sge in list {
            // One comparison for both ends of a size: zero wraps to the largest value.
            self.is_odd |= sge.length.wrapping_sub(1) >= MAX_SGE_BYTES;
            self.payload += u64::from(sge.length);
        }
    }
}

impl Untyped<'static> {
    /// These segments, and nothing else.
    #[inline(always)]
    pub(super) fn new<const N: usize>(first: [DsWords; N]) -> Self {
        const { assert!(N <= MAX_STORED_DS) }
        let mut segments = [DsWords::ZERO; MAX_STORED_DS];
        for (place, ds) in segments.iter_mut().zip(first) {
            *place = ds;
        }
        Self {
            control: DsWords::ZERO,
            record: DsWords::ZERO,
            segments,
            headers: &[],
            bytes: &[],
            entries: &[],
            list: KeyList::NONE,
            size: 0,
            payload: 0,
            needs: OffloadBits::NONE,
            fault: None,
            is_odd: false,
        }
    }
}

/// The facts about a WQE that a request's type fixes, as a value. Where the value is a constant, reading it costs
/// nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The first word of the control segment, but for the queue's parts and the size.
    pub(super) opcode: u64,
    /// DS of destination and operation: those stored in the request, and those of inline headers.
    pub(super) stored: u8,
    pub(super) headers: u8,
    /// DS of entries given by value.
    pub(super) entries: u8,
    /// Whether there may be inline data, and entries or a key's list by reference.
    pub(super) has_bytes: bool,
    pub(super) has_slice: bool,
    pub(super) transports: u8,
    /// Whether the device has nothing to fetch but the WQE.
    pub(crate) is_inline: bool,
    pub(super) names_memory: bool,
    /// Whether its first segment is followed by inline headers.
    pub(super) is_frame: bool,
    pub(super) is_large: bool,
    pub(super) is_checked: bool,
}

impl Shape {
    /// DS stored in the request.
    #[inline(always)]
    pub(crate) const fn all_stored(self) -> usize {
        self.stored as usize + self.entries as usize
    }
}

/// A request of a fixed size for cold code, with its first `N` segments: little to move out of the way.
#[derive(Clone, Copy)]
pub(crate) struct ColdRequest<'d, const N: usize> {
    control: DsWords,
    record: DsWords,
    segments: [DsWords; N],
    headers: &'d [u8],
    bytes: &'d [u8],
    size: u16,
    payload: u64,
    needs: OffloadBits,
    fault: Option<EncodeError>,
    is_odd: bool,
}

impl<'d> Untyped<'d> {
    /// This request, whose shape has at most `N` stored DS.
    #[inline(always)]
    pub(crate) fn for_cold_code<const N: usize>(&self, shape: Shape) -> ColdRequest<'d, N> {
        debug_assert!(shape.all_stored() <= N, "{} DS are stored", shape.all_stored());
        let (mut segments, is_frame) = ([DsWords::ZERO; N], shape.is_frame);
        for (place, from) in segments.iter_mut().zip(&self.segments).take((shape.stored + shape.entries).into()) {
            *place = *from;
        }
        ColdRequest {
            control: self.control,
            record: self.record,
            segments,
            headers: if is_frame { self.headers } else { &[] },
            bytes: if shape.has_bytes { self.bytes } else { &[] },
            size: if is_frame { self.size } else { 0 },
            payload: if is_frame { self.payload } else { 0 },
            needs: if is_frame { self.needs } else { OffloadBits::NONE },
            fault: if shape.is_checked { self.fault } else { None },
            is_odd: shape.entries != 0 && self.is_odd,
        }
    }
}

impl<'d, const N: usize> ColdRequest<'d, N> {
    /// The whole request.
    #[inline(always)]
    pub(crate) fn untyped(self) -> Untyped<'d> {
        let Self { control, record, segments: first, headers, bytes, size, payload, needs, fault, is_odd } = self;
        let mut segments = [DsWords::ZERO; MAX_STORED_DS];
        for (place, from) in segments.iter_mut().zip(first) {
            *place = from;
        }
        let (entries, list) = (&[][..], KeyList::NONE);
        Untyped { control, record, segments, headers, bytes, entries, list, size, payload, needs, fault, is_odd }
    }
}

impl Untyped<'_> {
    /// The error of a large send.
    #[inline(always)]
    pub(super) fn large_send(&self, limits: &Limits) -> Option<EncodeError> {
        let bytes = self.payload + self.bytes.len() as u64;
        let limit = limits.offloads.max_large_send;
        if self.size == 0 || bytes > limit.into() {
            Some(EncodeError::large_send(self.size, bytes, limit))
        } else {
            None
        }
    }
}

impl Untyped<'_> {
    /// The identifier to hand back with its completion.
    #[inline(always)]
    pub(crate) const fn id(&self) -> WrId {
        WrId(self.record.0[0])
    }

    /// The entries given by value.
    #[inline(always)]
    pub(super) fn own_entries(&self, shape: Shape) -> &[DsWords] {
        let from = usize::from(shape.stored);
        self.segments.get(from..from + usize::from(shape.entries)).unwrap_or_default()
    }

    /// Its size in DS, control segment included.
    #[inline(always)]
    pub(crate) fn ds(&self, shape: Shape) -> usize {
        let mut ds = 1 + usize::from(shape.stored) + usize::from(shape.headers);
        if shape.has_bytes {
            ds += inline_ds(self.bytes.len());
        }
        // Entries without bytes are left out. Where there is none, nobody looks at each.
        ds += match self.is_odd {
            false => usize::from(shape.entries),
            true => self.own_entries(shape).iter().filter(|words| byte_count(words) != 0).count(),
        };
        if shape.has_slice {
            ds += match self.is_odd {
                false => self.entries.len(),
                true => self.entries.iter().filter(|sge| sge.length != 0).count(),
            };
            ds += self.list.ds();
        }
        ds
    }

    /// Checks that the device has the offloads that it needs.
    #[inline(always)]
    pub(super) fn check_offloads(&self, limits: &Limits) -> Result<(), EncodeError> {
        match limits.offloads.missing(self.needs) {
            None => Ok(()),
            Some(offload) => Err(EncodeError::no_offload(offload)),
        }
    }

    /// Checks the operands, and the offloads that it needs.
    ///
    /// # Errors
    /// One exceeds its limit, or the device lacks an offload.
    #[inline(always)]
    pub(super) fn check_operands(&self, shape: Shape, limits: &Limits) -> Result<(), EncodeError> {
        if shape.is_frame {
            self.check_offloads(limits)?;
        }
        if shape.is_checked {
            if let Some(error) = self.fault {
                return Err(error);
            }
        }
        if shape.is_large {
            if let Some(error) = self.large_send(limits) {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Bytes of an entry that has too many; 0 if only others are odd.
    #[cold]
    pub(super) fn odd_entry(&self, shape: Shape) -> u32 {
        let own = self.own_entries(shape).iter().map(byte_count);
        let mut all = own.chain(self.entries.iter().map(|sge| sge.length));
        all.find(|&bytes| bytes > MAX_SGE_BYTES).unwrap_or(0)
    }

    /// Checks it, and says its size in DS, control segment included.
    ///
    /// # Errors
    /// It exceeds `limits` or the format: the error has the value and the limit.
    #[inline(always)]
    pub(crate) fn check(&self, shape: Shape, limits: &Limits) -> Result<Ds, EncodeError> {
        self.check_operands(shape, limits)?;
        if shape.has_bytes && self.bytes.len() > limits.max_inline as usize {
            return Err(EncodeError::inline_too_long(self.bytes.len(), limits.max_inline));
        }
        let count = if shape.has_slice { self.entries.len() } else { 0 } + usize::from(shape.entries);
        if count > limits.max_sge as usize {
            return Err(EncodeError::too_many_sges(count, limits.max_sge));
        }
        if count != 0 && self.is_odd {
            let bytes = self.odd_entry(shape);
            if bytes > MAX_SGE_BYTES {
                return Err(EncodeError::sge_too_long(bytes));
            }
        }
        let ds = self.ds(shape);
        if ds > usize::from(Ds::MAX) {
            return Err(EncodeError::wqe_too_long(ds));
        }
        Ok(Ds(ds as u8))
    }
}

/// The byte count of a data segment.
#[inline(always)]
pub(super) fn byte_count(words: &DsWords) -> u32 {
    let DsWords([first, _]) = *words;
    let [a, b, c, d, ..] = first.to_ne_bytes();
    u32::from_be_bytes([a, b, c, d])
}
