//! Signatures of blocks in memory and on the wire, for a memory key.
use core::fmt;
use core::ops::BitOr;

use crate::layout::{Be16, Be32};
use crate::types::Psv;
use crate::wqe::seg::{DifSeg, SigBsfSeg, bsf};

/// Bytes of data that one signature covers (`enum mlx5dv_block_size`). `mlx5dv_query_device` reports the sizes that a
/// device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockSize {
    /// 512.
    B512,
    /// 520.
    B520,
    /// 4048.
    B4048,
    /// 4096.
    B4096,
    /// 4160.
    B4160,
}

impl BlockSize {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::B512, Self::B520, Self::B4048, Self::B4096, Self::B4160];

    /// Bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::B512 => 512,
            Self::B520 => 520,
            Self::B4048 => 4048,
            Self::B4096 => 4096,
            Self::B4160 => 4160,
        }
    }

    /// The device's number for it (rdma-core `providers/mlx5/qp.c`, `bs_to_bs_selector`).
    pub(in crate::wqe) const fn selector(self) -> u8 {
        match self {
            Self::B512 => 1,
            Self::B520 => 2,
            Self::B4096 => 3,
            Self::B4160 => 4,
            Self::B4048 => 6,
        }
    }
}

/// The initial bits of a CRC or a checksum in each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seed {
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
}

/// The guard of a T10-DIF, its first two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// The CRC of T10 SBC-3.
    Crc,
    /// The checksum of IP (RFC 1071).
    IpChecksum,
}

/// Blocks that are not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Escape {
    /// None.
    Never,
    /// Blocks whose application tag is 0xffff.
    AppTag,
    /// Blocks whose application tag is 0xffff and whose reference tag is 0xffff_ffff.
    AppAndRefTag,
}

/// A T10-DIF: 8 bytes behind each block (`struct mlx5dv_sig_t10dif`).
///
/// ```text
///   0  guard (16)
///   2  application tag (16)
///   4  reference tag (32)
/// ```
#[doc(alias = "mlx5dv_sig_t10dif")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct T10Dif {
    /// Kind of guard.
    pub guard: Guard,
    /// The guard's initial value.
    pub seed: Seed,
    /// Application tag of every block.
    pub app_tag: u16,
    /// Reference tag of the first block.
    pub ref_tag: u32,
    /// Whether the reference tag is one more in each block; otherwise it is the same in all.
    pub increment: bool,
    /// Blocks that are not checked.
    pub escape: Escape,
}

/// Kinds of CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrcKind {
    /// CRC32 of FC-PH, the same as Ethernet's: 4 bytes.
    Crc32,
    /// CRC32C of iSCSI (RFC 3720): 4 bytes.
    Crc32c,
    /// CRC64 of Microsoft's XP10: 8 bytes.
    Crc64Xp10,
}

/// A CRC behind each block (`struct mlx5dv_sig_crc`).
#[doc(alias = "mlx5dv_sig_crc")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Crc {
    /// The kind of CRC.
    pub kind: CrcKind,
    /// The CRC's initial value.
    pub seed: Seed,
}

/// The signature behind each block.
#[doc(alias = "mlx5dv_sig_block_attr")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockSignatureKind {
    /// A T10-DIF.
    T10Dif(T10Dif),
    /// A CRC.
    Crc(Crc),
}

impl BlockSignatureKind {
    /// Bits of the guard, or of the CRC ([`SignatureError::values`](crate::cq::cqe::SignatureError::values)).
    #[must_use]
    pub const fn guard_bits(self) -> u32 {
        match self {
            Self::T10Dif(_) => 16,
            Self::Crc(Crc { kind: CrcKind::Crc64Xp10, .. }) => 64,
            Self::Crc(_) => 32,
        }
    }

    /// Its bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::T10Dif(_) | Self::Crc(Crc { kind: CrcKind::Crc64Xp10, .. }) => 8,
            Self::Crc(_) => 4,
        }
    }
}

/// Data on one side, in memory or on the wire: blocks, each with its signature behind it
/// (`struct mlx5dv_sig_block_domain`).
#[doc(alias = "mlx5dv_sig_block_domain")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignedBlocks {
    /// Bytes of a block, without its signature.
    pub size: BlockSize,
    /// The signature behind a block.
    pub signature: BlockSignatureKind,
}

impl SignedBlocks {
    /// The required content of its signature value when a transfer begins ([`set_psv`](crate::wqe::set_psv); rdma-core
    /// `providers/mlx5/qp.c`, `psv_transient_signature`).
    #[must_use]
    pub const fn initial_value(&self) -> u64 {
        match self.signature {
            BlockSignatureKind::T10Dif(dif) => {
                let guard: u64 = match dif.seed {
                    Seed::Zeros => 0,
                    Seed::Ones => 0xffff,
                };
                guard << 48 | (dif.app_tag as u64) << 32 | dif.ref_tag as u64
            }
            BlockSignatureKind::Crc(Crc { seed: Seed::Zeros, .. }) => 0,
            BlockSignatureKind::Crc(Crc { kind: CrcKind::Crc64Xp10, .. }) => u64::MAX,
            BlockSignatureKind::Crc(_) => 0xffff_ffff << 32,
        }
    }

    /// Format in bits 31:24, if it is a CRC.
    const fn format(&self) -> u32 {
        let BlockSignatureKind::Crc(crc) = self.signature else { return 0 };
        let kind = match crc.kind {
            CrcKind::Crc32 => bsf::CRC32,
            CrcKind::Crc32c => bsf::CRC32C,
            CrcKind::Crc64Xp10 => bsf::CRC64_XP10,
        };
        let seed = match crc.seed {
            Seed::Zeros => bsf::CRC_SEED_ZERO,
            Seed::Ones => 0,
        };
        kind | bsf::CRC_REPEAT | seed
    }

    const fn dif(&self) -> DifSeg {
        let BlockSignatureKind::T10Dif(dif) = self.signature else { return DifSeg::NONE };
        let seed = match dif.seed {
            Seed::Zeros => 0,
            Seed::Ones => bsf::DIF_SEED,
        };
        let escape = match dif.escape {
            Escape::Never => 0,
            Escape::AppTag => bsf::APPTAG_ESCAPE,
            Escape::AppAndRefTag => bsf::APPREF_ESCAPE,
        };
        DifSeg {
            vld_refresh: Be16::new(bsf::DIF_VALID | bsf::DIF_REFRESH),
            dif_apptag: Be16::new(dif.app_tag),
            dif_reftag: Be32::new(dif.ref_tag),
            sig_type: match dif.guard {
                Guard::Crc => bsf::GUARD_CRC,
                Guard::IpChecksum => bsf::GUARD_CHECKSUM,
            },
            rp_inv_seed: bsf::DIF_REPEAT | seed,
            rsvd: [0; 3],
            dif_inc_ref_guard_check: if dif.increment { bsf::INC_REFTAG } else { 0 } | escape,
            dif_app_bitmask_check: Be16::new(0xffff),
        }
    }
}

/// Bytes of a signature (`enum mlx5dv_sig_mask`). Combine with `|`.
///
/// ```text
///   bit           7          6        5        4       3       2       1       0
///   T10-DIF    guard 1    guard 0   app 1    app 0   ref 3   ref 2   ref 1   ref 0
///   CRC32(C)      3          2        1        0       -       -       -       -
///   CRC64         7          6        5        4       3       2       1       0
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignatureBytes(pub u8);

impl SignatureBytes {
    /// None.
    pub const NONE: Self = Self(0);
    /// The guard of a T10-DIF.
    pub const GUARD: Self = Self(0xc0);
    /// Its application tag.
    pub const APP_TAG: Self = Self(0x30);
    /// Its reference tag.
    pub const REF_TAG: Self = Self(0x0f);
    /// A CRC of 4 bytes.
    pub const CRC32: Self = Self(0xf0);
    /// All bytes of an 8-byte signature: a CRC of 8 bytes, or a T10-DIF.
    pub const ALL: Self = Self(0xff);
}

impl BitOr for SignatureBytes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The structures of blocks differ in size or in kind of signature, so the device cannot copy bytes of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DifferentBlocks;

impl fmt::Display for DifferentBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("signatures can only be copied between blocks of one size, with the same kind of signature")
    }
}

impl core::error::Error for DifferentBlocks {}

/// How data differs between memory and wire, for a key ([`Formats`](super::Formats); `struct mlx5dv_sig_block_attr`). The
/// device checks and strips the signatures of the source side, and generates those of the destination side. It copies
/// the bytes that are the same on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockSignature {
    memory: Option<SignedBlocks>,
    wire: Option<SignedBlocks>,
    check: SignatureBytes,
    copy: Option<SignatureBytes>,
}

impl BlockSignature {
    /// Signatures are in memory, and not on the wire. The device checks all of them when it sends data, and generates
    /// them when it receives.
    #[must_use]
    pub const fn in_memory(blocks: SignedBlocks) -> Self {
        Self { memory: Some(blocks), wire: None, check: SignatureBytes::ALL, copy: None }
    }

    /// Signatures are on the wire, and not in memory. The device generates them when it sends data, and checks all of
    /// them when it receives.
    #[must_use]
    pub const fn on_wire(blocks: SignedBlocks) -> Self {
        Self { memory: None, wire: Some(blocks), check: SignatureBytes::ALL, copy: None }
    }

    /// Signatures are on both sides.
    #[must_use]
    pub const fn on_both(memory: SignedBlocks, wire: SignedBlocks) -> Self {
        Self { memory: Some(memory), wire: Some(wire), check: SignatureBytes::ALL, copy: None }
    }

    /// Has the device check these bytes only (`check_mask`).
    #[must_use]
    pub const fn check(self, check: SignatureBytes) -> Self {
        Self { check, ..self }
    }

    /// Has the device copy these bytes from one side to the other (`copy_mask`), instead of the bytes that the
    /// descriptions make equal.
    ///
    /// # Errors
    /// [`DifferentBlocks`].
    pub const fn copy(self, copy: SignatureBytes) -> Result<Self, DifferentBlocks> {
        match self.same_structure() {
            Some(_) => Ok(Self { copy: Some(copy), ..self }),
            None => Err(DifferentBlocks),
        }
    }

    /// The blocks in memory.
    #[must_use]
    pub const fn memory(&self) -> Option<&SignedBlocks> {
        self.memory.as_ref()
    }

    /// The blocks on the wire.
    #[must_use]
    pub const fn wire(&self) -> Option<&SignedBlocks> {
        self.wire.as_ref()
    }

    /// The bytes that are the same on both sides, if the blocks have the same structure (rdma-core
    /// `providers/mlx5/qp.c`, `mlx5_umr_block_crc_sbs`, `mlx5_umr_block_t10dif_sbs`).
    const fn same_structure(&self) -> Option<SignatureBytes> {
        let (Some(memory), Some(wire)) = (self.memory, self.wire) else { return None };
        if memory.size.selector() != wire.size.selector() {
            return None;
        }
        match (memory.signature, wire.signature) {
            (BlockSignatureKind::Crc(a), BlockSignatureKind::Crc(b)) => match (a.kind, b.kind) {
                (CrcKind::Crc32, CrcKind::Crc32) | (CrcKind::Crc32c, CrcKind::Crc32c) => Some(SignatureBytes::CRC32),
                (CrcKind::Crc64Xp10, CrcKind::Crc64Xp10) => Some(SignatureBytes::ALL),
                _ => None,
            },
            (BlockSignatureKind::T10Dif(a), BlockSignatureKind::T10Dif(b)) => {
                let guard = a.guard as u8 == b.guard as u8 && a.seed as u8 == b.seed as u8;
                let guard = if guard { SignatureBytes::GUARD.0 } else { 0 };
                let app_tag = if a.app_tag == b.app_tag { SignatureBytes::APP_TAG.0 } else { 0 };
                let ref_tag = if a.ref_tag == b.ref_tag { SignatureBytes::REF_TAG.0 } else { 0 };
                Some(SignatureBytes(guard | app_tag | ref_tag))
            }
            _ => None,
        }
    }
}

/// The signature values of a key (PSV), in which the device keeps a transfer's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Psvs {
    /// The value for memory.
    pub memory: Psv,
    /// The value for the wire.
    pub wire: Psv,
}

impl BlockSignature {
    /// Whether there are signatures both in memory and on the wire.
    pub(in crate::wqe) const fn are_on_both_sides(&self) -> bool {
        self.memory.is_some() && self.wire.is_some()
    }

    /// The segment, as one of formats of this size.
    pub(in crate::wqe) fn segment(&self, psvs: Psvs, size: u8) -> SigBsfSeg {
        let signature = self;
        let number = |blocks: Option<SignedBlocks>, psv: Psv| blocks.map_or(0, |blocks| blocks.format() | psv.get());
        let selector = |blocks: Option<SignedBlocks>| blocks.map_or(0, |blocks| blocks.size.selector());
        let dif = |blocks: Option<SignedBlocks>| blocks.map_or(DifSeg::NONE, |blocks| blocks.dif());
        let same = signature.same_structure();
        let (same, wire) = match same {
            Some(same) => (bsf::SAME_STRUCTURE, signature.copy.unwrap_or(same).0),
            None => (0, selector(signature.wire)),
        };
        SigBsfSeg {
            bsf_size_sbs: size | same,
            check_byte_mask: signature.check.0,
            wire,
            mem: selector(signature.memory),
            raw_data_size: Be32::new(u32::MAX),
            w_bfs_psv: Be32::new(number(signature.wire, psvs.wire)),
            m_bfs_psv: Be32::new(number(signature.memory, psvs.memory)),
            ext: [Be32::new(0); 4],
            w_inl: dif(signature.wire),
            m_inl: dif(signature.memory),
        }
    }
}
