//! A request without its type: words, references and limits; and its checks. Knows no operation by its name.
use crate::arch::ds::DsWords;
use crate::types::{Ds, WrId};
use crate::wqe::data::{Sge, inline_ds};
use crate::wqe::error::EncodeError;
use crate::wqe::keys::list::KeyList;
use crate::wqe::limits::{Limits, MAX_SGE_BYTES, Needs};

/// DS that a request holds in words: the longest operations with a destination, or those that change a key, with an
/// entry each.
pub(super) const WORDS: usize = 12;

/// All of a request but its type.
///
/// The words come first, aligned to their size, so that one load gets 16 bytes of a request that is kept.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Parts<'d> {
    /// The control segment, of which the first word is the operation's and the queue's.
    pub(super) control: DsWords,
    /// The record, of which the second word is the size.
    pub(super) record: DsWords,
    /// The destination, the operation's segments, and the entries given by value.
    pub(super) words: [DsWords; WORDS],
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
    pub(super) needs: Needs,
    /// An operand is out of its limits.
    pub(super) fault: Option<EncodeError>,
    /// Some entries are of no bytes, and left out, or have too many.
    pub(super) is_odd: bool,
}

impl Parts<'static> {
    /// These words, and nothing else.
    #[inline(always)]
    pub(super) fn new<const N: usize>(words: [DsWords; N]) -> Self {
        const { assert!(N <= WORDS) }
        let mut all = [DsWords::ZERO; WORDS];
        for (place, words) in all.iter_mut().zip(words) {
            *place = words;
        }
        Self {
            control: DsWords::ZERO,
            record: DsWords::ZERO,
            words: all,
            headers: &[],
            bytes: &[],
            entries: &[],
            list: KeyList::NONE,
            size: 0,
            payload: 0,
            needs: Needs::NONE,
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
    /// DS of destination and operation: of words, and of inline headers.
    pub(super) words: u8,
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
    /// Whether its first words are followed by inline headers.
    pub(super) is_frame: bool,
    pub(super) is_large: bool,
    pub(super) is_checked: bool,
}

impl Shape {
    /// DS in words.
    #[inline(always)]
    pub(crate) const fn all_words(self) -> usize {
        self.words as usize + self.entries as usize
    }
}

/// The parts that a request of a fixed size has, with its first `N` words: little to move out of the way.
#[derive(Clone, Copy)]
pub(crate) struct Few<'d, const N: usize> {
    control: DsWords,
    record: DsWords,
    words: [DsWords; N],
    headers: &'d [u8],
    bytes: &'d [u8],
    size: u16,
    payload: u64,
    needs: Needs,
    fault: Option<EncodeError>,
    is_odd: bool,
}

impl<'d> Parts<'d> {
    /// The parts of a request of that shape, which has at most `N` words.
    #[inline(always)]
    pub(crate) fn few<const N: usize>(&self, shape: Shape) -> Few<'d, N> {
        let (mut words, is_frame) = ([DsWords::ZERO; N], shape.is_frame);
        for (place, from) in words.iter_mut().zip(&self.words).take((shape.words + shape.entries).into()) {
            *place = *from;
        }
        Few {
            control: self.control,
            record: self.record,
            words,
            headers: if is_frame { self.headers } else { &[] },
            bytes: if shape.has_bytes { self.bytes } else { &[] },
            size: if is_frame { self.size } else { 0 },
            payload: if is_frame { self.payload } else { 0 },
            needs: if is_frame { self.needs } else { Needs::NONE },
            fault: if shape.is_checked { self.fault } else { None },
            is_odd: shape.entries != 0 && self.is_odd,
        }
    }
}

impl<'d, const N: usize> Few<'d, N> {
    /// All parts.
    #[inline(always)]
    pub(crate) fn parts(self) -> Parts<'d> {
        let Self { control, record, words: few, headers, bytes, size, payload, needs, fault, is_odd } = self;
        let mut words = [DsWords::ZERO; WORDS];
        for (place, from) in words.iter_mut().zip(few) {
            *place = from;
        }
        let (entries, list) = (&[][..], KeyList::NONE);
        Parts { control, record, words, headers, bytes, entries, list, size, payload, needs, fault, is_odd }
    }
}

impl Parts<'_> {
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

impl Parts<'_> {
    /// The identifier to hand back with its completion.
    #[inline(always)]
    pub(crate) const fn id(&self) -> WrId {
        WrId(self.record.0[0])
    }

    /// The words of entries given by value.
    #[inline(always)]
    pub(super) fn own_entries(&self, shape: Shape) -> &[DsWords] {
        let from = usize::from(shape.words);
        self.words.get(from..from + usize::from(shape.entries)).unwrap_or_default()
    }

    /// Its size in DS, control segment included.
    #[inline(always)]
    pub(crate) fn ds(&self, shape: Shape) -> usize {
        let mut ds = 1 + usize::from(shape.words) + usize::from(shape.headers);
        if shape.has_bytes {
            ds += inline_ds(self.bytes.len());
        }
        ds += match self.is_odd {
            false => usize::from(shape.entries),
            true => self.own_entries(shape).iter().filter(|words| byte_count(words) != 0).count(),
        };
        if shape.has_slice {
            ds += self.entries.iter().filter(|sge| sge.length != 0).count() + self.list.ds();
        }
        ds
    }

    /// Checks the operands, and the offloads that it needs.
    ///
    /// # Errors
    /// One exceeds its limit, or the device lacks an offload.
    #[inline(always)]
    pub(super) fn check_operands(&self, shape: Shape, limits: &Limits) -> Result<(), EncodeError> {
        if shape.is_frame {
            limits.check_offloads(self.needs)?;
        }
        if shape.is_checked
            && let Some(error) = self.fault
        {
            return Err(error);
        }
        if shape.is_large
            && let Some(error) = self.large_send(limits)
        {
            return Err(error);
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
