//! The segments of requests that change a memory key (UMR). Each has its field map (byte offsets, big endian), its
//! layout, and how its words are made. Knows no request.
use crate::arch::ds::DsWords;
use crate::layout::{Be16, Be32, Be64};
use crate::types::{DS_BYTES, Lkey};
use crate::wqe::seg::formats::SigBsfSeg;

layout! {
    /// UMR control segment: the changes of a memory key, and the conditions on it (rdma-core `providers/mlx5/mlx5dv.h`,
    /// `struct mlx5_wqe_umr_ctrl_seg`).
    ///
    /// ```text
    ///   0  inline (1), check free (2), translation offset (1), check QPN (1), 0 (3)
    ///   1  0 (24)
    ///   4  entries that follow, in 16 bytes (16)
    ///   6  where in the key's list they go, in 16 bytes; if it is not said that this is there: formats that follow, in 16 bytes (16)
    ///   8  which fields of the memory key segment count (64)
    ///  16  0 (256)
    /// ```
    #[doc(alias = "mlx5_wqe_umr_ctrl_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct UmrCtrlSeg[3 * DS_BYTES] {
        /// [`umr`] flags.
        0 => pub flags: u8,
        /// Zero.
        1 => pub rsvd0: [u8; 3],
        /// Entries, in units of 16 bytes; a multiple of 4.
        4 => pub klm_octowords: Be16,
        /// Their place in the list, in units of 16 bytes. Without [`umr::TRANSLATION_OFFSET`] it is the number of
        /// formats that follow (`bsf_octowords`), in the same units.
        6 => pub translation_offset: Be16,
        /// [`umr`] mask: fields of [`MkeySeg`] that count.
        8 => pub mkey_mask: Be64,
        /// Zero.
        16 => pub rsvd1: [Be64; 4],
    }
}

layout! {
    /// Memory key segment: the fields of a key's context that change (`struct mlx5_wqe_mkey_context_seg`).
    ///
    /// ```text
    ///   0  0 (1), free (1), 0 (6)
    ///   2  0 (1), atomic (1), remote write (1), remote read (1), local write (1), local read (1), 0 (2)
    ///   4  QPN (24), lowest byte of the key (8)
    ///  12  0 (1), has formats (1), 0 (3), signature errors so far (1), 0 (2), protection domain (24)
    ///  16  first address (64)
    ///  24  bytes (64)
    ///  32  signature list (32)
    ///  52  entries of the list (32)
    ///  59  log2 of a page's bytes (8)
    /// ```
    #[doc(alias = "mlx5_wqe_mkey_context_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct MkeySeg[4 * DS_BYTES] {
        /// [`umr::FREE`]: the key gives access to nothing.
        0 => pub free: u8,
        /// Zero.
        1 => pub reserved1: u8,
        /// Rights.
        2 => pub access_flags: u8,
        /// Zero.
        3 => pub sf: u8,
        /// The QP whose peer may use the key in bits 31:8, all ones for any; its lowest byte in 7:0.
        4 => pub qpn_mkey: Be32,
        /// Zero.
        8 => pub reserved2: Be32,
        /// [`umr::BSF_ENABLE`], signature errors so far, and the protection domain in bits 23:0.
        12 => pub flags_pd: Be32,
        /// First address of the region.
        16 => pub start_addr: Be64,
        /// Bytes of the region.
        24 => pub len: Be64,
        /// Size of the list of signatures, in units of 16 bytes.
        32 => pub bsf_octword_size: Be32,
        /// Zero.
        36 => pub reserved3: [Be32; 4],
        /// Size of the list, in units of 16 bytes.
        52 => pub translations_octword_size: Be32,
        /// Zero.
        56 => pub reserved4: [u8; 3],
        /// log2 of the bytes of a page, or of each piece.
        59 => pub log_page_size: u8,
        /// Zero.
        60 => pub reserved: Be32,
    }
}

layout! {
    /// First entry of a list that repeats (`struct mlx5_wqe_umr_repeat_block_seg`).
    ///
    /// ```text
    ///   0  bytes of a turn (32)
    ///   4  0x400 (32)
    ///   8  turns (32)
    ///  12  0 (16), entries that follow (16)
    /// ```
    #[doc(alias = "mlx5_wqe_umr_repeat_block_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct RepeatBlockSeg[DS_BYTES] {
        /// Bytes of one turn, of all entries together.
        0 => pub byte_count: Be32,
        /// [`umr::REPEAT`].
        4 => pub op: Be32,
        /// Turns.
        8 => pub repeat_count: Be32,
        /// Zero.
        12 => pub reserved: Be16,
        /// Entries that follow.
        14 => pub num_ent: Be16,
    }
}

impl RepeatBlockSeg {
    #[inline]
    pub(crate) const fn new(byte_count: u32, repeat_count: u32, entries: u16) -> Self {
        Self {
            byte_count: Be32::new(byte_count),
            op: Be32::new(umr::REPEAT),
            repeat_count: Be32::new(repeat_count),
            reserved: Be16::new(0),
            num_ent: Be16::new(entries),
        }
    }
}

layout! {
    /// An entry of a list that repeats (`struct mlx5_wqe_umr_repeat_ent_seg`).
    ///
    /// ```text
    ///   0  stride in bytes (16), bytes (16)
    ///   4  memory key (32)
    ///   8  address (64)
    /// ```
    #[doc(alias = "mlx5_wqe_umr_repeat_ent_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct RepeatEntrySeg[DS_BYTES] {
        /// Bytes from the start of one turn to the start of the next.
        0 => pub stride: Be16,
        /// Bytes of a turn.
        2 => pub byte_count: Be16,
        /// Memory key.
        4 => pub memkey: Be32,
        /// First address.
        8 => pub va: Be64,
    }
}

impl RepeatEntrySeg {
    #[inline]
    pub(crate) const fn new(stride: u16, bytes: u16, lkey: Lkey, addr: u64) -> Self {
        Self { stride: Be16::new(stride), byte_count: Be16::new(bytes), memkey: Be32::new(lkey.0), va: Be64::new(addr) }
    }
}

/// Bits of the segments (`MLX5_WQE_UMR_CTRL_*`, `MLX5_WQE_MKEY_CONTEXT_*`).
pub mod umr {
    /// Flag: the entries are in the WQE.
    pub const INLINE: u8 = 1 << 7;
    /// Flag: the request fails unless the key is free.
    pub const CHECK_FREE: u8 = 1 << 5;
    /// Flag: `translation_offset` is an offset.
    pub const TRANSLATION_OFFSET: u8 = 1 << 4;
    /// Flag: the request fails if the key is bound to another QP.
    pub const CHECK_QPN: u8 = 1 << 3;

    /// Mask: bytes.
    pub const MASK_LEN: u64 = 1;
    /// Mask: first address.
    pub const MASK_START_ADDR: u64 = 1 << 6;
    /// Mask: signature errors so far.
    pub const MASK_SIG_ERR: u64 = 1 << 9;
    /// Mask: whether the key has formats.
    pub const MASK_BSF_ENABLE: u64 = 1 << 12;
    /// Mask: lowest byte of the key.
    pub const MASK_MKEY: u64 = 1 << 13;
    /// Mask: QPN.
    pub const MASK_QPN: u64 = 1 << 14;
    /// Mask: local write.
    pub const MASK_LOCAL_WRITE: u64 = 1 << 18;
    /// Mask: remote read.
    pub const MASK_REMOTE_READ: u64 = 1 << 19;
    /// Mask: remote write.
    pub const MASK_REMOTE_WRITE: u64 = 1 << 20;
    /// Mask: atomic.
    pub const MASK_ATOMIC: u64 = 1 << 21;
    /// Mask: free.
    pub const MASK_FREE: u64 = 1 << 29;

    /// `op` of the first entry of a list that repeats (`0x400`; Linux calls it `MLX5_STRIDE_BLOCK_OP`).
    pub const REPEAT: u32 = 0x400;

    /// `flags_pd`: the key has formats.
    pub const BSF_ENABLE: u32 = 1 << 30;
    /// `flags_pd`: position of the lowest bit of the number of signature errors.
    pub const SIG_ERR_SHIFT: u32 = 26;

    /// `free`: the key is free.
    pub const FREE: u8 = 1 << 6;
    /// Right: atomic.
    pub const ATOMIC: u8 = 1 << 6;
    /// Right: remote write.
    pub const REMOTE_WRITE: u8 = 1 << 5;
    /// Right: remote read.
    pub const REMOTE_READ: u8 = 1 << 4;
    /// Right: local write.
    pub const LOCAL_WRITE: u8 = 1 << 3;
}

/// Gives a segment of several DS without padding its words.
macro_rules! words {
    ($seg:ty, $ds:literal) => {
        impl From<$seg> for [DsWords; $ds] {
            #[inline]
            fn from(seg: $seg) -> Self {
                // SAFETY: the assertions above pin the size and the offsets of integers so that they leave no gap:
                // every byte of the value is initialised, and any 16 bytes are two `u64`.
                unsafe { core::mem::transmute::<$seg, [[u64; 2]; $ds]>(seg) }.map(DsWords)
            }
        }
    };
}

/// Gives the segment of these words.
macro_rules! of_words {
    ($seg:ty, $ds:literal) => {
        impl From<[DsWords; $ds]> for $seg {
            #[inline]
            fn from(words: [DsWords; $ds]) -> Self {
                // SAFETY: as many bytes, as for the other way, and any bytes are a value of each of its fields.
                unsafe { core::mem::transmute::<[[u64; 2]; $ds], $seg>(words.map(|DsWords(words)| words)) }
            }
        }
    };
}

of_words!(UmrCtrlSeg, 3);
of_words!(MkeySeg, 4);

words!(UmrCtrlSeg, 3);
words!(MkeySeg, 4);
words!(SigBsfSeg, 4);

impl From<RepeatBlockSeg> for DsWords {
    #[inline]
    fn from(seg: RepeatBlockSeg) -> Self {
        let entries = (seg.reserved.get() as u32) << 16 | seg.num_ent.get() as u32;
        let [bytes, op, turns] = [seg.byte_count, seg.op, seg.repeat_count].map(Be32::to_bits);
        Self::from_halves([bytes, op, turns, Be32::new(entries).to_bits()])
    }
}

impl From<RepeatEntrySeg> for DsWords {
    #[inline]
    fn from(seg: RepeatEntrySeg) -> Self {
        let first = Be64::new(
            u64::from(seg.stride.get()) << 48 | u64::from(seg.byte_count.get()) << 32 | u64::from(seg.memkey.get()),
        );
        Self([first.to_bits(), seg.va.to_bits()])
    }
}
