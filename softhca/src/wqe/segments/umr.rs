//! The segments of UMR WQEs, which change a memory key: what must hold of it, what of its context changes, and entries
//! of its list (Linux `include/linux/mlx5/qp.h` `struct mlx5_wqe_umr_ctrl_seg`, `device.h` `struct mlx5_mkey_seg` and
//! `MLX5_MKEY_MASK_*`; `mlx5_ifc.h` `mkc`).

use super::formats;
use super::{DATA_SEG_BYTES, Segments, be16, be32, be64, data_seg, zero};
use crate::wqe::changes::{KeyChange, Umr, UmrList};
use crate::wqe::fault::WqeFault;

/// Bytes of the UMR control segment, and offsets in it.
mod control {
    pub(super) const BYTES: usize = 48;
    pub(super) const FLAGS: usize = 0;
    pub(super) const RESERVED: usize = 1;
    pub(super) const OCTWORDS: usize = 4;
    /// Where in the list, in octwords; if it is not said, how many octwords of signatures there are.
    pub(super) const OFFSET_15_0: usize = 6;
    pub(super) const MASK: usize = 8;
    pub(super) const OFFSET_47_16: usize = 16;
    pub(super) const END: usize = 20;
}

/// `flags` of the UMR control segment (`MLX5_UMR_*`).
mod flag {
    /// It fails if the key is bound to another QP, or is a window of type 2 and bound to none.
    pub(super) const CHECK_QPN: u8 = 1 << 3;
    pub(super) const OFFSET: u8 = 1 << 4;
    /// It fails unless the key is free.
    pub(super) const MUST_BE_FREE: u8 = 1 << 5;
    /// It fails if the key is free.
    pub(super) const MUST_BE_VALID: u8 = 2 << 5;
    pub(super) const INLINE: u8 = 1 << 7;
}

/// Which fields change (`MLX5_MKEY_MASK_*`).
mod mask {
    pub(super) const LEN: u64 = 1;
    pub(super) const PAGE_SIZE: u64 = 1 << 1;
    pub(super) const START_ADDR: u64 = 1 << 6;
    pub(super) const PD: u64 = 1 << 7;
    pub(super) const EN_RINVAL: u64 = 1 << 8;
    pub(super) const SIGNATURE_ERRORS: u64 = 1 << 9;
    pub(super) const FORMATTED: u64 = 1 << 12;
    pub(super) const KEY: u64 = 1 << 13;
    pub(super) const QPN: u64 = 1 << 14;
    pub(super) const LR: u64 = 1 << 17;
    pub(super) const LW: u64 = 1 << 18;
    pub(super) const RR: u64 = 1 << 19;
    pub(super) const RW: u64 = 1 << 20;
    pub(super) const A: u64 = 1 << 21;
    pub(super) const SMALL_FENCE: u64 = 1 << 23;
    pub(super) const RELAXED_ORDERING_WRITE: u64 = 1 << 25;
    pub(super) const FREE: u64 = 1 << 29;
    /// The highest bit of the page size, by itself: `PAGE_SIZE` is the five below it (Linux
    /// `drivers/infiniband/hw/mlx5/umr.c`, `get_umr_update_translation_mask`).
    pub(super) const PAGE_SIZE_5: u64 = 1 << 42;
    pub(super) const RELAXED_ORDERING_READ: u64 = 1 << 47;
    /// All fields that can change.
    pub(super) const ALL: u64 = LEN
        | PAGE_SIZE
        | START_ADDR
        | PD
        | EN_RINVAL
        | SIGNATURE_ERRORS
        | FORMATTED
        | KEY
        | QPN
        | LR
        | LW
        | RR
        | RW
        | A
        | SMALL_FENCE
        | RELAXED_ORDERING_WRITE
        | FREE
        | PAGE_SIZE_5
        | RELAXED_ORDERING_READ;
}

/// Bytes of the memory key segment, which is a memory key context, and the bits in it: first bit, and how many.
mod context {
    pub(super) const BYTES: usize = 64;
    pub(super) const FREE: (usize, usize) = (0x1, 1);
    pub(super) const RELAXED_ORDERING_WRITE: (usize, usize) = (0xd, 1);
    pub(super) const A: (usize, usize) = (0x11, 1);
    pub(super) const RW: (usize, usize) = (0x12, 1);
    pub(super) const RR: (usize, usize) = (0x13, 1);
    pub(super) const LW: (usize, usize) = (0x14, 1);
    pub(super) const LR: (usize, usize) = (0x15, 1);
    pub(super) const QPN: (usize, usize) = (0x20, 24);
    pub(super) const MKEY_7_0: (usize, usize) = (0x38, 8);
    pub(super) const LENGTH64: (usize, usize) = (0x60, 1);
    pub(super) const BSF_EN: (usize, usize) = (0x61, 1);
    pub(super) const EXPECTED_SIGERR_COUNT: (usize, usize) = (0x65, 1);
    pub(super) const EN_RINVAL: (usize, usize) = (0x67, 1);
    pub(super) const PD: (usize, usize) = (0x68, 24);
    pub(super) const START_ADDR: (usize, usize) = (0x80, 64);
    pub(super) const LEN: (usize, usize) = (0xc0, 64);
    pub(super) const RELAXED_ORDERING_READ: (usize, usize) = (0x1d9, 1);
    pub(super) const LOG_PAGE_SIZE_5: (usize, usize) = (0x1da, 1);
    pub(super) const LOG_PAGE_SIZE: (usize, usize) = (0x1db, 5);
    /// Bits that mean nothing: first bit, and how many.
    pub(super) const RESERVED: [(usize, usize); 10] = [
        (0x0, 1),
        (0x2, 1),
        (0x6, 7),
        (0xe, 1),
        (0x18, 2),
        (0x1c, 4),
        (0x40, 32),
        (0x120, 64),
        (0x160, 64),
        (0x1e0, 32),
    ];
}

/// No QP in particular.
const ANY_QPN: u64 = 0xff_ffff;
/// Octwords in which lists are counted (`MLX5_UMR_FLEX_ALIGNMENT`, 64 bytes).
const LIST_UNIT: u16 = 4;
/// Bytes of an octword.
pub(crate) const OCTWORD: usize = 16;

/// Takes the segments after the control segment, which names `key`.
///
/// Fields of the memory key segment that the mask does not name mean nothing. A `strict` queue's driver (Linux, on its
/// dedicated queue) leaves zeros in fields that never have a meaning. libmlx5 leaves the ring's old bytes there
/// (`set_umr_mkey_seg`).
pub(in crate::wqe) fn take(segs: &mut Segments<'_>, key: u32, strict: bool) -> Result<Umr, WqeFault> {
    let (start, seg) = segs.take("UMR control", control::BYTES)?;
    let flags = seg[control::FLAGS];
    let conditions = flags & (flag::MUST_BE_FREE | flag::MUST_BE_VALID);
    let must_be_free = match conditions {
        0 => None,
        flag::MUST_BE_FREE => Some(true),
        flag::MUST_BE_VALID => Some(false),
        _ => return Err(WqeFault::BadUmrFlags(flags)),
    };
    if flags & !(flag::CHECK_QPN | flag::OFFSET | flag::MUST_BE_FREE | flag::MUST_BE_VALID | flag::INLINE) != 0 {
        return Err(WqeFault::BadUmrFlags(flags));
    }
    for at in (control::RESERVED..control::OCTWORDS).chain(control::END..control::BYTES) {
        zero("UMR control segment", start + at, seg[at].into())?;
    }
    let (low, high) = (be16(seg, control::OFFSET_15_0), be32(seg, control::OFFSET_47_16));
    let (mut at, mut format_octwords) = (u64::from(high) << 16 | u64::from(low), 0);
    if flags & flag::OFFSET == 0 {
        zero("UMR list offset that is not said to be one", start + control::OFFSET_47_16, high.into())?;
        (at, format_octwords) = (0, low);
    }
    let octwords = be16(seg, control::OCTWORDS);
    zero("UMR list octwords modulo 4", start + control::OCTWORDS, (octwords % LIST_UNIT).into())?;
    let mask = be64(seg, control::MASK);
    if mask & !mask::ALL != 0 {
        return Err(WqeFault::BadUmrMask(mask));
    }
    let (start, seg) = segs.take("memory key", context::BYTES)?;
    for field in context::RESERVED.into_iter().filter(|_| strict) {
        zero("memory key segment", start + field.0 / 8, bits(seg, field))?;
    }
    let change = change(mask, seg, strict);
    let bytes = usize::from(octwords) * OCTWORD;
    let list = if flags & flag::INLINE != 0 {
        let (_, rest) = segs.take("inline list", bytes)?;
        UmrList::Inline(rest.to_vec())
    } else {
        let (at, seg) = segs.take("list", DATA_SEG_BYTES)?;
        let seg = data_seg(seg).ok_or(WqeFault::InlineResult { at })?;
        if bytes as u64 > seg.len.into() {
            return Err(WqeFault::ShortList { octwords, bytes: seg.len });
        }
        // No public driver shows which bytes follow the list there.
        zero("formats behind a list in memory", start + control::OFFSET_15_0, format_octwords.into())?;
        UmrList::Reference(seg)
    };
    let (signatures, encryption) = formats::take(segs, usize::from(format_octwords) * OCTWORD, change.len)?;
    segs.end()?;
    let must_be_of_qp = flags & flag::CHECK_QPN != 0;
    Ok(Umr { key, must_be_free, must_be_of_qp, change, at, octwords, list, format_octwords, signatures, encryption })
}

/// The change that the memory key segment requests for the fields in `mask`.
fn change(mask: u64, seg: &[u8], strict: bool) -> KeyChange {
    let field = |bit: u64, field: (usize, usize)| (mask & bit != 0).then(|| bits(seg, field));
    let flag = |bit: u64, place: (usize, usize)| field(bit, place).map(|value| value != 0);
    // The bit for all of the address space belongs to a field that libmlx5 does not write.
    let all = strict && bits(seg, context::LENGTH64) != 0;
    let relaxed = [
        flag(mask::RELAXED_ORDERING_WRITE, context::RELAXED_ORDERING_WRITE),
        flag(mask::RELAXED_ORDERING_READ, context::RELAXED_ORDERING_READ),
    ];
    KeyChange {
        free: flag(mask::FREE, context::FREE),
        variant: field(mask::KEY, context::MKEY_7_0).map(|byte| byte as u8),
        qpn: field(mask::QPN, context::QPN).map(|qpn| (qpn != ANY_QPN).then_some(qpn as u32)),
        pd: field(mask::PD, context::PD).map(|pd| pd as u32),
        start: field(mask::START_ADDR, context::START_ADDR),
        len: field(mask::LEN, context::LEN).map(|len| if all { u64::MAX } else { len }),
        log_bytes: field(mask::PAGE_SIZE, context::LOG_PAGE_SIZE).map(|log| log as u8),
        log_bytes_5: flag(mask::PAGE_SIZE_5, context::LOG_PAGE_SIZE_5),
        remote_invalidate: flag(mask::EN_RINVAL, context::EN_RINVAL),
        local_read: flag(mask::LR, context::LR),
        local_write: flag(mask::LW, context::LW),
        remote_read: flag(mask::RR, context::RR),
        remote_write: flag(mask::RW, context::RW),
        remote_atomic: flag(mask::A, context::A),
        formatted: flag(mask::FORMATTED, context::BSF_EN),
        errors: flag(mask::SIGNATURE_ERRORS, context::EXPECTED_SIGERR_COUNT),
        relaxed_ordering: relaxed.into_iter().flatten().reduce(|one, other| one || other),
    }
}

/// The number in these bits.
fn bits(seg: &[u8], (at, width): (usize, usize)) -> u64 {
    let bit = |at: usize| u64::from(seg[at / 8] >> (7 - at % 8) & 1);
    (at..at + width).fold(0, |number, at| number << 1 | bit(at))
}
