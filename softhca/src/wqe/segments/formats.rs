//! How the data behind a memory key is formatted: the segments behind the list of a UMR WQE ("byte stream format",
//! rdma-core `providers/mlx5/wqe.h`, `struct mlx5_bsf`; Linux `include/linux/mlx5/qp.h`, the same), and what sets
//! signature values.

use super::{Segments, be16, be32, be64, zero};
use crate::crypto::{EncryptionFormat, Order, Unit};
use crate::memory::{CrcKind, Domain, Escape, Guard, Signature, SignatureFormat};
use crate::wqe::fault::WqeFault;

/// Bytes of the segment of signatures, and offsets in it.
mod bsf {
    pub(super) const BYTES: usize = 64;
    pub(super) const SIZE: usize = 0;
    pub(super) const CHECK: usize = 1;
    pub(super) const WIRE: usize = 2;
    pub(super) const MEMORY: usize = 3;
    pub(super) const RAW_BYTES: usize = 4;
    pub(super) const WIRE_PSV: usize = 8;
    pub(super) const MEMORY_PSV: usize = 12;
    pub(super) const EXTENSION: std::ops::Range<usize> = 16..32;
    pub(super) const WIRE_DIF: usize = 32;
    pub(super) const MEMORY_DIF: usize = 48;
}

/// Offsets in the half of a segment that describes a transaction (SPDK `lib/mlx5/mlx5_priv.h`, `struct
/// mlx5_sig_bsf_ext`): one signature behind all data of an access.
mod transaction {
    pub(super) const FLAGS: usize = 16;
    pub(super) const WIRE_PSV: usize = 24;
    pub(super) const MEMORY_PSV: usize = 28;
    /// What is zeros: blocks, and descriptions of T10-DIFs.
    pub(super) const RESERVED: [std::ops::Range<usize>; 4] = [2..4, 8..16, 20..24, 32..64];
    /// The signature value begins anew, and the signature is checked, or made (`MLX5_SIG_BSF_EXT_*`).
    pub(super) const WIRE: u32 = 1 << 29 | 1 << 28;
    pub(super) const MEMORY: u32 = 1 << 25 | 1 << 24;
    /// The format of a CRC of one transaction: the bit of a repetition is absent.
    pub(super) const NO_REPETITION: u8 = 1 << 1;
}

/// `bsf_size_sbs`: 32 bytes, of transactions. The segment has 64 bytes nevertheless.
const SIZE_32: u8 = 1 << 6;
/// `bsf_size_sbs`: 64 bytes; the same structure on both sides.
const SIZE_64: u8 = 2 << 6;
const SAME_STRUCTURE: u8 = 1 << 4;
/// `bsf_size_sbs`: 128 bytes, for signatures and encryption.
const SIZE_BOTH: u8 = 3 << 6;
/// The segment describes encryption.
const CRYPTO: u8 = 1;

/// Offsets in the segment of encryption (`struct mlx5_crypto_bsf`).
mod crypto {
    pub(super) const ORDER: usize = 1;
    pub(super) const STANDARD: usize = 3;
    pub(super) const UNIT: usize = 8;
    pub(super) const TWEAK: usize = 16;
    pub(super) const DEK: usize = 32;
    pub(super) const TAG: usize = 40;
    pub(super) const RESERVED: [std::ops::Range<usize>; 5] = [2..3, 9..16, 32..33, 36..40, 48..64];
}

/// Offsets in a description of T10-DIFs (`struct mlx5_bsf_inl`).
mod dif {
    pub(super) const BYTES: usize = 16;
    pub(super) const VALID: usize = 0;
    pub(super) const APP_TAG: usize = 2;
    pub(super) const REF_TAG: usize = 4;
    pub(super) const GUARD: usize = 8;
    pub(super) const REPEAT: usize = 9;
    pub(super) const RESERVED: std::ops::Range<usize> = 10..13;
    pub(super) const FLAGS: usize = 13;
    pub(super) const APP_MASK: usize = 14;
}

/// There is one, and it begins with its tags each time.
const VALID_AND_REFRESH: u16 = 3 << 14;
/// One for each block; the guard begins with ones.
const REPEAT: u8 = 1 << 7;
const ONES: u8 = 1 << 3;
/// The reference tag counts.
const INCREMENT: u8 = 1 << 6;

/// Formats of a CRC for each block. The lowest bit says that it begins with zeros.
const CRC32: u8 = 0x22;
const CRC32C: u8 = 0x42;
const CRC64: u8 = 0x52;
const CRC_ZEROS: u8 = 1;

/// Most bytes of a transaction: those of the longest message.
const MAX_TRANSACTION: u32 = 1 << 30;

/// Bytes of a `SET_PSV` segment.
const SET_PSV_BYTES: usize = 16;

/// Takes the value of a `SET_PSV` WQE: the number of the signature value, and its new content.
pub(in crate::wqe) fn set_psv(segs: &mut Segments<'_>) -> Result<(u32, u64), WqeFault> {
    let (start, seg) = segs.take("set PSV", SET_PSV_BYTES)?;
    zero("PSV number", start, u64::from(be32(seg, 0) >> 24))?;
    zero("PSV syndrome", start + 4, be32(seg, 4).into())?;
    segs.end()?;
    Ok((be32(seg, 0), be64(seg, 8)))
}

/// Content of formats: of signatures, and of encryption.
pub(in crate::wqe) type Said = (Option<SignatureFormat>, Option<EncryptionFormat>);

/// Takes `bytes` bytes of formats of a key that gets the length `len`, if the request says one.
pub(in crate::wqe) fn take(segs: &mut Segments<'_>, bytes: usize, len: Option<u64>) -> Result<Said, WqeFault> {
    const BOTH: usize = 2 * bsf::BYTES;
    match bytes {
        0 => Ok((None, None)),
        bsf::BYTES => {
            let (start, seg) = segs.take("BSF", bytes)?;
            if seg[bsf::SIZE] == SIZE_32 {
                return Ok((Some(transaction(start, seg)?), None));
            }
            if seg[bsf::SIZE] & CRYPTO == 0 {
                return Ok((Some(signatures(start, seg, SIZE_64)?), None));
            }
            Ok((None, Some(encryption(start, seg, SIZE_64, len)?)))
        }
        BOTH => {
            let (start, seg) = segs.take("BSF", bsf::BYTES)?;
            let signatures = signatures(start, seg, SIZE_BOTH)?;
            let (start, seg) = segs.take("crypto BSF", bsf::BYTES)?;
            let encryption = encryption(start, seg, SIZE_BOTH, None)?;
            // libmlx5 knows of no device that does it (`get_crypto_order`).
            let raw = matches!(encryption.order, Order::RawWire | Order::RawMemory);
            if raw && signatures.memory.is_some() && signatures.wire.is_some() {
                let what = "order of encryption and signatures on both sides";
                return Err(WqeFault::BadFormat { what, value: encryption.order as u64 });
            }
            Ok((Some(signatures), Some(encryption)))
        }
        _ => Err(WqeFault::BadFormat { what: "bytes of formats", value: bytes as u64 }),
    }
}

/// How the data is encrypted. A segment of signatures has another type. The data is all of the key: libmlx5 says so, and
/// SPDK and DPDK give its length (`mlx5_set_umr_crypto_bsf_seg`, `mlx5_crypto_xts_wqe_set`).
fn encryption(start: usize, seg: &[u8], expected: u8, len: Option<u64>) -> Result<EncryptionFormat, WqeFault> {
    let bad = |what, value: u64| Err(WqeFault::BadFormat { what, value });
    if seg[bsf::SIZE] != expected | CRYPTO {
        return bad("size or type of the crypto segment", seg[bsf::SIZE].into());
    }
    let raw = be32(seg, bsf::RAW_BYTES);
    if raw != u32::MAX && Some(raw.into()) != len {
        return bad("bytes of data, other than all", raw.into());
    }
    if seg[crypto::STANDARD] != 0 {
        return bad("standard of encryption, other than AES-XTS", seg[crypto::STANDARD].into());
    }
    for range in crypto::RESERVED {
        for at in range {
            zero("crypto BSF", start + at, seg[at].into())?;
        }
    }
    let Some(order) = Order::of_number(seg[crypto::ORDER]) else {
        return bad("order of encryption and signatures", seg[crypto::ORDER].into());
    };
    let Some(unit) = Unit::of_selector(seg[crypto::UNIT]) else {
        return bad("size of data units", seg[crypto::UNIT].into());
    };
    let first = std::array::from_fn(|n| seg[crypto::TWEAK + n]);
    let tag = std::array::from_fn(|n| seg[crypto::TAG + n]);
    Ok(EncryptionFormat { dek: be32(seg, crypto::DEK), order, unit, first, tag })
}

fn signatures(start: usize, seg: &[u8], expected: u8) -> Result<SignatureFormat, WqeFault> {
    let bad = |what, value: u64| Err(WqeFault::BadFormat { what, value });
    let size = seg[bsf::SIZE];
    if size & !SAME_STRUCTURE != expected {
        return bad("size of the segment, or reserved bits", size.into());
    }
    let raw = be32(seg, bsf::RAW_BYTES);
    if raw != u32::MAX {
        // Linux counts them; then nothing else is behind the key.
        return bad("bytes of data, other than all", raw.into());
    }
    for at in bsf::EXTENSION {
        zero("BSF of transactions", start + at, seg[at].into())?;
    }
    let same = size & SAME_STRUCTURE != 0;
    let memory = domain(seg[bsf::MEMORY], be32(seg, bsf::MEMORY_PSV), &seg[bsf::MEMORY_DIF..])?;
    let selector = if same { seg[bsf::MEMORY] } else { seg[bsf::WIRE] };
    let wire = domain(selector, be32(seg, bsf::WIRE_PSV), &seg[bsf::WIRE_DIF..])?;
    let of_one = match (&memory, &wire) {
        (Some(memory), Some(wire)) => match (memory.signature, wire.signature) {
            (Signature::Dif { .. }, Signature::Dif { .. }) => true,
            (one, other) => one == other,
        },
        _ => false,
    };
    if same && !of_one {
        return bad("sides that are not of one structure", size.into());
    }
    let copy = if same { seg[bsf::WIRE] } else { 0 };
    Ok(SignatureFormat { memory, wire, check: seg[bsf::CHECK], copy })
}

/// One CRC behind all data, on one side.
fn transaction(start: usize, seg: &[u8]) -> Result<SignatureFormat, WqeFault> {
    let bad = |what, value: u64| Err(WqeFault::BadFormat { what, value });
    for at in transaction::RESERVED.into_iter().flatten() {
        zero("BSF of transactions", start + at, seg[at].into())?;
    }
    let block = be32(seg, bsf::RAW_BYTES);
    if !(1..=MAX_TRANSACTION).contains(&block) {
        return bad("bytes of a transaction", block.into());
    }
    let flags = be32(seg, transaction::FLAGS);
    let sides = [be32(seg, transaction::WIRE_PSV), be32(seg, transaction::MEMORY_PSV)];
    let format_and_psv = match (flags, sides) {
        (transaction::WIRE, [wire, 0]) => wire,
        (transaction::MEMORY, [0, memory]) => memory,
        // A transaction may go on in another access (`init` or `check_gen` alone). This device has none of these.
        _ => return bad("side of a transaction, or a part of one", flags.into()),
    };
    let [format, ..] = format_and_psv.to_be_bytes();
    let Some(kind) = crc_kind(format | transaction::NO_REPETITION) else {
        return bad("format of a transaction's CRC", format.into());
    };
    let domain = Domain {
        block,
        psv: format_and_psv & 0xff_ffff,
        signature: Signature::Crc(kind),
        ones: format & CRC_ZEROS == 0,
        begins_anew: true,
    };
    let (memory, wire) = if flags == transaction::WIRE { (None, Some(domain)) } else { (Some(domain), None) };
    Ok(SignatureFormat { memory, wire, check: seg[bsf::CHECK], copy: 0 })
}

/// Which CRC a format is, whatever it begins with.
fn crc_kind(format: u8) -> Option<CrcKind> {
    match format & !CRC_ZEROS {
        CRC32 => Some(CrcKind::Crc32),
        CRC32C => Some(CrcKind::Crc32c),
        CRC64 => Some(CrcKind::Crc64),
        _ => None,
    }
}

/// One side; none if it has no block size.
fn domain(selector: u8, format_and_psv: u32, inline: &[u8]) -> Result<Option<Domain>, WqeFault> {
    let bad = |what, value: u64| Err(WqeFault::BadFormat { what, value });
    let inline = &inline[..dif::BYTES];
    let [format, ..] = format_and_psv.to_be_bytes();
    let has_dif = inline.iter().any(|&byte| byte != 0);
    let block = match selector {
        0 if format_and_psv == 0 && !has_dif => return Ok(None),
        1 => 512,
        2 => 520,
        3 => 4096,
        4 => 4160,
        6 => 4048,
        _ => return bad("block size", selector.into()),
    };
    let (signature, ones) = match (format, has_dif) {
        (0, true) => self::dif(inline)?,
        (_, false) => {
            let Some(kind) = crc_kind(format) else { return bad("format of a CRC", format.into()) };
            (Signature::Crc(kind), format & CRC_ZEROS == 0)
        }
        _ => return bad("format of a CRC, beside a T10-DIF", format.into()),
    };
    Ok(Some(Domain { block, psv: format_and_psv & 0xff_ffff, signature, ones, begins_anew: false }))
}

fn dif(seg: &[u8]) -> Result<(Signature, bool), WqeFault> {
    let bad = |what, value: u64| Err(WqeFault::BadFormat { what, value });
    let valid = be16(seg, dif::VALID);
    if valid != VALID_AND_REFRESH {
        return bad("first bits of a T10-DIF", valid.into());
    }
    for at in dif::RESERVED {
        zero("T10-DIF", at, seg[at].into())?;
    }
    let guard = match seg[dif::GUARD] {
        1 => Guard::Crc,
        2 => Guard::Checksum,
        other => return bad("guard of a T10-DIF", other.into()),
    };
    let repeat = seg[dif::REPEAT];
    if repeat & !ONES != REPEAT {
        return bad("repetition of a T10-DIF", repeat.into());
    }
    let flags = seg[dif::FLAGS];
    let escape = match flags & !INCREMENT {
        0 => Escape::Never,
        1 => Escape::AppTag,
        2 => Escape::BothTags,
        _ => return bad("flags of a T10-DIF", flags.into()),
    };
    let signature = Signature::Dif {
        guard,
        app_tag: be16(seg, dif::APP_TAG),
        app_mask: be16(seg, dif::APP_MASK),
        ref_tag: be32(seg, dif::REF_TAG),
        increment: flags & INCREMENT != 0,
        escape,
    };
    Ok((signature, repeat & ONES != 0))
}
