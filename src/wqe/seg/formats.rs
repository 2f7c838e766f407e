//! The segments that describe the format of a memory key's data ("byte stream format", BSF), and that set the initial
//! values of signatures. Each has its field map (byte offsets, big endian) and its layout. Knows no request.
use crate::arch::ds::DsWords;
use crate::layout::{Be16, Be32, Be64};
use crate::types::DS_BYTES;

layout! {
    /// Signatures of blocks, in memory and on the wire (rdma-core `providers/mlx5/wqe.h`, `struct mlx5_bsf`).
    ///
    /// ```text
    ///   0  size (2), 0 (1), same structure on both sides (1), 0 (4)
    ///   1  bytes of a signature that are checked (8)
    ///   2  bytes that are copied, of the same structure; else size of the wire's blocks (8)
    ///   3  size of blocks in memory (8)
    ///   4  bytes of raw data, all ones for as many as there are (32)
    ///   8  on the wire: format (8), signature value (24)
    ///  12  in memory: the same
    ///  16  of transactions: 0 (128)
    ///  32  on the wire: T10-DIF
    ///  48  in memory: T10-DIF
    /// ```
    #[doc(alias = "mlx5_bsf")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct SigBsfSeg[4 * DS_BYTES] {
        /// Size of this segment in the two highest bits, [`bsf::SAME_STRUCTURE`].
        0 => pub bsf_size_sbs: u8,
        /// A bit for each byte of a signature that is checked.
        1 => pub check_byte_mask: u8,
        /// A bit for each byte that is copied, or the number of a block size.
        2 => pub wire: u8,
        /// The number of a block size.
        3 => pub mem: u8,
        /// Bytes of raw data.
        4 => pub raw_data_size: Be32,
        /// Format of a CRC in bits 31:24, number of the signature value in 23:0.
        8 => pub w_bfs_psv: Be32,
        /// For memory: format of a CRC in bits 31:24, number of the signature value in 23:0.
        12 => pub m_bfs_psv: Be32,
        /// Zero.
        16 => pub ext: [Be32; 4],
        /// T10-DIF on the wire.
        32 => pub w_inl: DifSeg,
        /// T10-DIF in memory.
        48 => pub m_inl: DifSeg,
    }
}

layout! {
    /// The parts of a T10-DIF (`struct mlx5_bsf_inl`).
    ///
    /// ```text
    ///   0  valid (1), begins anew with each use (1), 0 (14)
    ///   2  application tag (16)
    ///   4  reference tag (32)
    ///   8  kind of guard (8)
    ///   9  repeats (1), 0 (3), guard begins with ones (1), 0 (3)
    ///  13  0 (1), reference tag counts (1), 0 (4), escapes (2)
    ///  14  bits of the application tag that are checked (16)
    /// ```
    #[doc(alias = "mlx5_bsf_inl")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct DifSeg[DS_BYTES] {
        /// [`bsf::DIF_VALID`], [`bsf::DIF_REFRESH`].
        0 => pub vld_refresh: Be16,
        /// Application tag.
        2 => pub dif_apptag: Be16,
        /// Reference tag of the first block.
        4 => pub dif_reftag: Be32,
        /// [`bsf::GUARD_CRC`] or [`bsf::GUARD_CHECKSUM`].
        8 => pub sig_type: u8,
        /// [`bsf::DIF_REPEAT`], [`bsf::DIF_SEED`].
        9 => pub rp_inv_seed: u8,
        /// Zero.
        10 => pub rsvd: [u8; 3],
        /// [`bsf::INC_REFTAG`], and escapes.
        13 => pub dif_inc_ref_guard_check: u8,
        /// Ones.
        14 => pub dif_app_bitmask_check: Be16,
    }
}

impl DifSeg {
    /// None.
    pub(in crate::wqe) const NONE: Self = Self {
        vld_refresh: Be16::new(0),
        dif_apptag: Be16::new(0),
        dif_reftag: Be32::new(0),
        sig_type: 0,
        rp_inv_seed: 0,
        rsvd: [0; 3],
        dif_inc_ref_guard_check: 0,
        dif_app_bitmask_check: Be16::new(0),
    };
}

layout! {
    /// Sets the initial value of a signature (`struct mlx5_wqe_set_psv_seg`).
    ///
    /// ```text
    ///   0  signature value (32)
    ///   4  syndrome: 0 (16)
    ///   8  CRC32, CRC32C (32), 0 (32); or CRC64 (64); or guard (16), application tag (16), reference tag (32)
    /// ```
    #[doc(alias = "mlx5_wqe_set_psv_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct SetPsvSeg[DS_BYTES] {
        /// Number of the signature value.
        0 => pub psv_index: Be32,
        /// Zero.
        4 => pub syndrome: Be16,
        /// Zero.
        6 => pub reserved: [u8; 2],
        /// The new value.
        8 => pub transient_signature: Be64,
    }
}

impl From<SetPsvSeg> for DsWords {
    #[inline]
    fn from(seg: SetPsvSeg) -> Self {
        let first = u64::from(seg.psv_index.get()) << 32 | u64::from(seg.syndrome.get()) << 16;
        let reserved = u64::from(u16::from_be_bytes(seg.reserved));
        Self([Be64::new(first | reserved).to_bits(), seg.transient_signature.to_bits()])
    }
}

layout! {
    /// Encryption between memory and the wire (rdma-core `providers/mlx5/wqe.h`, `struct mlx5_crypto_bsf`).
    ///
    /// ```text
    ///   0  size (2), 0 (5), type (1)
    ///   1  order (8)
    ///   2  0 (8), standard: 0 (8)
    ///   4  bytes of raw data, all ones for as many as there are (32)
    ///   8  size of data units (8), 0 (56)
    ///  16  number of the first data unit (128)
    ///  32  0 (8), key of encryption (24)
    ///  36  0 (32)
    ///  40  tag of the key of encryption (64)
    ///  48  0 (128)
    /// ```
    #[doc(alias = "mlx5_crypto_bsf")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct CryptoBsfSeg[4 * DS_BYTES] {
        /// Size of this, and [`bsf::CRYPTO`].
        0 => pub bsf_size_type: u8,
        /// Which side is encrypted, and when signatures are made.
        1 => pub enc_order: u8,
        /// Zero.
        2 => pub rsvd0: u8,
        /// Zero: AES-XTS.
        3 => pub enc_standard: u8,
        /// Bytes of raw data.
        4 => pub raw_data_size: Be32,
        /// The number of a data unit's size.
        8 => pub bs_pointer: u8,
        /// Zero.
        9 => pub rsvd1: [u8; 7],
        /// Number of the first data unit.
        16 => pub xts_init_tweak: [u8; 16],
        /// Key of encryption.
        32 => pub rsvd_dek_ptr: Be32,
        /// Zero.
        36 => pub rsvd2: [u8; 4],
        /// Tag of the encryption key.
        40 => pub keytag: [u8; 8],
        /// Zero.
        48 => pub rsvd3: [u8; 16],
    }
}

impl From<CryptoBsfSeg> for [DsWords; 4] {
    #[inline]
    fn from(seg: CryptoBsfSeg) -> Self {
        // SAFETY: the assertions above pin the size and the offsets of integers so that they leave no gap: every byte
        // of the value is initialised, and any 16 bytes are two `u64`.
        unsafe { core::mem::transmute::<CryptoBsfSeg, [[u64; 2]; 4]>(seg) }.map(DsWords)
    }
}

/// Bits of the segments (`MLX5_BSF_*`, `MLX5_BFS_*`, `MLX5_T10DIF_*`).
pub mod bsf {
    /// Size: 128 bytes, signatures and encryption.
    pub const SIG_AND_CRYPTO: u8 = 3 << 6;
    /// Type: encryption.
    pub const CRYPTO: u8 = 1;
    /// Size: 64 bytes, with T10-DIFs.
    pub const WITH_INLINE: u8 = 2 << 6;
    /// Blocks have the same structure on both sides.
    pub const SAME_STRUCTURE: u8 = 1 << 4;

    /// Format: CRC32.
    pub const CRC32: u32 = 0x20 << 24;
    /// Format: CRC32C.
    pub const CRC32C: u32 = 0x40 << 24;
    /// Format: CRC64-XP10.
    pub const CRC64_XP10: u32 = 0x50 << 24;
    /// Format: a CRC for each block.
    pub const CRC_REPEAT: u32 = 0x2 << 24;
    /// Format: it begins with zeros.
    pub const CRC_SEED_ZERO: u32 = 0x1 << 24;

    /// T10-DIF: there is one.
    pub const DIF_VALID: u16 = 1 << 15;
    /// T10-DIF: it begins with the tags that are here.
    pub const DIF_REFRESH: u16 = 1 << 14;
    /// T10-DIF: one for each block.
    pub const DIF_REPEAT: u8 = 1 << 7;
    /// T10-DIF: the guard begins with ones.
    pub const DIF_SEED: u8 = 1 << 3;
    /// T10-DIF: the guard is a CRC.
    pub const GUARD_CRC: u8 = 1;
    /// T10-DIF: the guard is a checksum of IP.
    pub const GUARD_CHECKSUM: u8 = 2;
    /// T10-DIF: the reference tag counts blocks.
    pub const INC_REFTAG: u8 = 1 << 6;
    /// T10-DIF: not checked where the application tag is ones.
    pub const APPTAG_ESCAPE: u8 = 1;
    /// T10-DIF: not checked where both tags are ones.
    pub const APPREF_ESCAPE: u8 = 2;
}
