//! The segments of a WQE. Each has its field map (byte offsets, big endian), its layout, which assertions hold to the
//! map, and the construction of its words. Knows no request.
mod address;
mod atomics;
mod formats;
mod keys;
mod tags;

use crate::arch::ds::{DsWords, join, take8};
pub use crate::layout::{Be16, Be32, Be64, Be128};
use crate::types::{DS_BYTES, DciStream, Ds, Lkey, Qpn, Rkey};
pub use crate::wqe::opcode::{IbvWrOpcode, NotSupported, Opcode};
pub use address::{AV_GRH, BaseAvSeg, DatagramSeg, EXTENDED_AV, GrhAvSeg, XrcSeg};
pub use atomics::{AtomicSeg, Masked128Seg, MaskedAdd32Seg, MaskedSwap32Seg};
pub use formats::{CryptoBsfSeg, DifSeg, SetPsvSeg, SigBsfSeg, bsf};
pub use keys::{MkeySeg, RepeatBlockSeg, RepeatEntrySeg, UmrCtrlSeg, umr};
pub use tags::{TmSeg, TmTagSeg, tm};

layout! {
    /// Control segment: the first 16 bytes of every send WQE
    /// (rdma-core `providers/mlx5/mlx5dv.h`, `struct mlx5_wqe_ctrl_seg`).
    ///
    /// ```text
    ///   0  opmod (8), producer index (16), opcode (8)
    ///   4  queue pair number (24), 0 (2), DS (6)
    ///   8  signature (8), stream (16), fm_ce_se (8)
    ///  12  immediate data, or key to invalidate
    /// ```
    #[doc(alias = "mlx5_wqe_ctrl_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct CtrlSeg[DS_BYTES] {
        /// Opcode modifier in bits 31:24, producer index of the WQE's first WQEBB in 23:8, [`Opcode`] in 7:0.
        0 => pub opmod_idx_opcode: Be32,
        /// Queue pair number in bits 31:8, size of the WQE in DS in 5:0.
        4 => pub qpn_ds: Be32,
        /// XOR checksum of the WQE for queue pairs created with WQE signatures, otherwise 0.
        8 => pub signature: u8,
        /// Stream of a DCI queue pair, big endian, otherwise 0.
        9 => pub dci_stream_channel_id: [u8; 2],
        /// Fence mode in bits 7:5, completion mode in 3:2, solicited in bit 1.
        11 => pub fm_ce_se: u8,
        /// Immediate data, or the key to invalidate, or 0.
        12 => pub imm: Be32,
    }
}

/// The condition that a WQE waits for before the device starts it: bits 7:5 of the control segment's `fm_ce_se`.
///
/// The values are the PRM's fence modes (Linux `include/linux/mlx5/qp.h`, `MLX5_FENCE_MODE_*`; the first and the last
/// in rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE` and `MLX5_WQE_CTRL_FENCE`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Fence {
    /// Starts without waiting; requests still execute in the order they were posted.
    #[default]
    None = 0 << 5,
    /// Waits until the device has finished local work of earlier WQEs (memory key changes by UMR).
    Small = 1 << 5,
    /// Waits until every earlier READ and atomic of this queue has completed.
    Reads = 2 << 5,
    /// Waits until every earlier WQE of this queue has completed.
    Strong = 3 << 5,
    /// [`Small`](Self::Small) and [`Reads`](Self::Reads) together: what `IBV_SEND_FENCE` asks for.
    SmallAndReads = 4 << 5,
}

/// When a request completes with a CQE: bits 3:2 of the control segment's `fm_ce_se` (DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_COMP_*`).
///
/// No mode suppresses all error CQEs. Verbs have only the first and the last of these modes. (The field's fourth value
/// asks for an event queue entry as well.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CompletionMode {
    /// If it fails, or is flushed after another request failed.
    #[default]
    OnError = 0 << 2,
    /// If it fails, and no earlier request of the queue has failed. Once the queue has failed, later requests are
    /// dropped without a CQE; their place in the ring is free again when the queue is reset.
    OnFirstError = 1 << 2,
    /// In any case: what [`signaled`](super::Request::signaled) asks for.
    Always = 2 << 2,
}

/// The low bits of `fm_ce_se` (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_WQE_CTRL_*`).
pub(crate) mod bits {
    /// Write a CQE when the WQE completes, and not only when it fails: bits 3:2 = 2.
    pub(crate) const CQ_UPDATE: u8 = 2 << 2;
    /// Write a CQE on error only for the queue's first error: bits 3:2 = 1.
    pub(crate) const ONLY_FIRST_ERROR: u8 = 1 << 2;
    /// Ask the responder for a solicited event: bit 1.
    pub(crate) const SOLICITED: u8 = 1 << 1;
    /// The fence mode: bits 7:5.
    pub(crate) const FENCE: u8 = 7 << 5;
}

/// The parts of the first word, each where it belongs and zero elsewhere, so that an `or` puts them together.
impl CtrlSeg {
    const ZERO: Self = Self {
        opmod_idx_opcode: Be32::new(0),
        qpn_ds: Be32::new(0),
        signature: 0,
        dci_stream_channel_id: [0; 2],
        fm_ce_se: 0,
        imm: Be32::new(0),
    };

    #[inline(always)]
    const fn first_word(&self) -> u64 {
        join(self.opmod_idx_opcode.to_bits(), self.qpn_ds.to_bits())
    }

    /// Producer index, at most 2^16 - 1.
    #[inline(always)]
    pub(crate) const fn index(index: u32) -> u64 {
        Self { opmod_idx_opcode: Be32::new(index << 8), ..Self::ZERO }.first_word()
    }

    /// Queue pair number: the same for every WQE of a queue.
    #[inline(always)]
    pub(crate) const fn qpn(qpn: Qpn) -> u64 {
        Self { qpn_ds: Be32::new(qpn.get() << 8), ..Self::ZERO }.first_word()
    }

    /// Size.
    #[inline(always)]
    pub(crate) const fn size(ds: Ds) -> u64 {
        Self { qpn_ds: Be32::new(ds.0 as u32), ..Self::ZERO }.first_word()
    }

    /// Opcode modifier and opcode: the same for every request of a type.
    #[inline(always)]
    pub(crate) const fn opcode(opmod: u8, opcode: Opcode) -> u64 {
        let opmod_idx_opcode = Be32::new((opmod as u32) << 24 | opcode as u32);
        Self { opmod_idx_opcode, ..Self::ZERO }.first_word()
    }

    /// The second word's signature.
    #[inline(always)]
    pub(crate) const fn signature(signature: u8) -> u64 {
        join(u32::from_ne_bytes([signature, 0, 0, 0]), 0)
    }

    /// The second word's `fm_ce_se`.
    #[inline(always)]
    pub(crate) const fn flags(fm_ce_se: u8) -> u64 {
        Self::second_word(DciStream(0), fm_ce_se, Be32::new(0))
    }

    /// The second word of a request that always completes with a CQE, made from that of any other.
    #[inline(always)]
    pub(crate) const fn signaled(second: u64) -> u64 {
        second & !Self::flags(bits::ONLY_FIRST_ERROR) | Self::flags(bits::CQ_UPDATE)
    }

    /// The second word's last four bytes.
    #[inline(always)]
    pub(crate) const fn imm(imm: u32) -> u64 {
        Self::second_word(DciStream(0), 0, Be32::new(imm))
    }

    /// The second word's stream.
    #[inline(always)]
    pub(crate) const fn stream(stream: DciStream) -> u64 {
        Self::second_word(stream, 0, Be32::new(0))
    }

    /// The second word, without a signature.
    #[inline(always)]
    const fn second_word(stream: DciStream, fm_ce_se: u8, imm: Be32) -> u64 {
        let Self { signature, .. } = Self::ZERO;
        let [stream0, stream1] = stream.0.to_be_bytes();
        join(u32::from_ne_bytes([signature, stream0, stream1, fm_ce_se]), imm.to_bits())
    }
}

layout! {
    /// Remote address segment of RDMA and atomic operations (`struct mlx5_wqe_raddr_seg`).
    ///
    /// ```text
    ///   0  address (64)
    ///   8  rkey
    ///  12  0
    /// ```
    #[doc(alias = "mlx5_wqe_raddr_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct RaddrSeg[DS_BYTES] {
        /// Address in the peer's memory, in the address space of the key.
        0 => pub raddr: Be64,
        /// The peer's key of that memory.
        8 => pub rkey: Be32,
        /// Zero.
        12 => pub reserved: Be32,
    }
}

impl RaddrSeg {
    #[inline]
    pub(crate) const fn new(addr: u64, rkey: Rkey) -> Self {
        Self { raddr: Be64::new(addr), rkey: Be32::new(rkey.0), reserved: Be32::new(0) }
    }
}

layout! {
    /// Queue segment: the queue that WAIT, SEND_EN and RCV_EN refer to (DPDK `drivers/common/mlx5/mlx5_prm.h`,
    /// `struct mlx5_wqe_qseg`; libmlx5 of MLNX_OFED 4.3 `src/wqe.h`, `struct mlx5_wqe_wait_en_seg`).
    ///
    /// ```text
    ///   0  0 (64)
    ///   8  index (32)
    ///  12  0 (8), number of the queue (24)
    /// ```
    #[doc(alias("mlx5_wqe_qseg", "mlx5_wqe_wait_en_seg"))]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct QueueSeg[DS_BYTES] {
        /// Zero.
        0 => pub reserved: Be64,
        /// For a completion queue, the CQE to wait for, 24 bits. For other queues, the producer index to go up to, 16
        /// bits.
        8 => pub max_index: Be32,
        /// The queue's number, or its queue pair's.
        12 => pub qpn_cqn: Be32,
    }
}

impl QueueSeg {
    #[inline]
    pub(crate) const fn new(max_index: u32, qpn_cqn: u32) -> Self {
        Self { reserved: Be64::new(0), max_index: Be32::new(max_index), qpn_cqn: Be32::new(qpn_cqn) }
    }
}

layout! {
    /// Wait segment, for the clock or a word of memory (DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_wqe_wseg`,
    /// its first half; UCC `src/components/tl/mlx5/tl_mlx5_wqe.c`, `struct wait_on_data_seg`).
    ///
    /// ```text
    ///   0  0 (27), inverted (1), comparison (4)
    ///   4  lkey of the word, or 0
    ///   8  its address, or 0 (61), action while the condition does not hold (3)
    /// ```
    #[doc(alias = "mlx5_wqe_wseg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct WaitSeg[DS_BYTES] {
        /// How the value is compared (`MLX5_WAIT_COND_*`).
        0 => pub operation: Be32,
        /// Zero for the clock.
        4 => pub lkey: Be32,
        /// Zero for the clock.
        8 => pub va: Be64,
    }
}

layout! {
    /// The second half of a wait segment.
    ///
    /// ```text
    ///   0  value (64)
    ///   8  mask (64)
    /// ```
    #[doc(alias = "mlx5_wqe_wseg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct WaitValueSeg[DS_BYTES] {
        /// The value to compare with the clock or the word.
        0 => pub value: Be64,
        /// The compared bits of both.
        8 => pub mask: Be64,
    }
}

layout! {
    /// Ethernet segment of frames, up to the first bytes of the inline headers. The rest of the headers follows at
    /// once, padded to 16 bytes (`struct mlx5_wqe_eth_seg`, which has room for 16 more of them).
    ///
    /// ```text
    ///   0  offsets of headers, in units of 2 bytes: outer layer 4 (8) and 3 (8), inner layer 4 (8) and 3 (8)
    ///   4  checksums (8), kinds of these headers (8), bytes of payload in each packet of a large send (16)
    ///   8  metadata for flow tables
    ///  12  bytes of the frame in the segment (16), the first two of them (16)
    ///  16  the others
    /// ```
    #[doc(alias = "mlx5_wqe_eth_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct EthSeg[DS_BYTES] {
        /// Offsets for the software parser; 0 for none (DPDK `drivers/common/mlx5/mlx5_prm.h`, `swp_offs`; Linux
        /// `include/linux/mlx5/qp.h`, `swp_outer_l4_offset` and the three bytes behind it).
        0 => pub swp_offs: Be32,
        /// Checksums the device fills in: bits 4 and 5 inner layers 3 and 4, bits 6 and 7 outer layers 3 and 4
        /// (`MLX5_ETH_WQE_L3_INNER_CSUM`, `MLX5_ETH_WQE_L4_INNER_CSUM`, `MLX5_ETH_WQE_L3_CSUM`,
        /// `MLX5_ETH_WQE_L4_CSUM`).
        4 => pub cs_flags: u8,
        /// Kinds of the headers at the offsets: bits 0 and 4 inner and outer IPv6, bits 1 and 5 inner and outer UDP
        /// (Linux `MLX5_ETH_WQE_SWP_INNER_L3_IPV6` and those beside it).
        5 => pub swp_flags: u8,
        /// Bytes of payload in each packet of a large send (TSO), otherwise 0.
        6 => pub mss: Be16,
        /// Metadata that rules of frames that leave can match (`flow_table_metadata`).
        8 => pub flow_table_metadata: Be32,
        /// Bytes of the frame in the segment.
        12 => pub inline_hdr_sz: Be16,
        /// The first of them.
        14 => pub inline_hdr_start: [u8; 2],
    }
}

layout! {
    /// Data segment: one scatter/gather entry (`struct mlx5_wqe_data_seg`).
    ///
    /// ```text
    ///   0  0 (1), byte count (31)
    ///   4  lkey
    ///   8  address (64)
    /// ```
    #[doc(alias = "mlx5_wqe_data_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct DataSeg[DS_BYTES] {
        /// Bytes, 1 to 2^31 - 1. The device reads 0 as 2^31, and bit 31 as the mark of an inline segment.
        0 => pub byte_count: Be32,
        /// The local key of the memory.
        4 => pub lkey: Be32,
        /// Address in the address space of the key.
        8 => pub addr: Be64,
    }
}

layout! {
    /// The first segment of a receive WQE if its queue pair was made with WQE signatures (`struct mlx5_rwqe_sig`).
    ///
    /// ```text
    ///   0  0 (32)
    ///   4  signature (8), 0 (88)
    /// ```
    #[doc(alias = "mlx5_rwqe_sig")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct SignatureSeg[DS_BYTES] {
        /// Zero.
        0 => pub rsvd0: [u8; 4],
        /// Complement of the XOR of the WQE's bytes, of the queue pair's number and of the WQE's index.
        4 => pub signature: u8,
        /// Zero.
        5 => pub rsvd5: [u8; 11],
    }
}

impl SignatureSeg {
    #[inline]
    pub(crate) const fn new(signature: u8) -> Self {
        Self { rsvd0: [0; 4], signature, rsvd5: [0; 11] }
    }
}

impl DataSeg {
    #[inline]
    pub(crate) const fn new(bytes: u32, lkey: Lkey, addr: u64) -> Self {
        Self { byte_count: Be32::new(bytes), lkey: Be32::new(lkey.0), addr: Be64::new(addr) }
    }
}

layout! {
    /// Metadata segment of memory-to-memory operations, behind the control segment (rdma-core `providers/mlx5/wqe.h`,
    /// `struct mlx5_mmo_metadata_seg`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_gga_wqe`).
    ///
    /// ```text
    ///   0  0 (32): a copy has nothing to control
    ///   4  key of the opaque memory
    ///   8  its address (64)
    /// ```
    #[doc(alias("mlx5_mmo_metadata_seg", "mlx5_gga_wqe"))]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct MmoSeg[DS_BYTES] {
        /// Zero.
        0 => pub mmo_control_31_0: Be32,
        /// Key of memory that belongs to the device while it works.
        4 => pub local_key: Be32,
        /// Address of that memory.
        8 => pub local_address: Be64,
    }
}

impl MmoSeg {
    #[inline]
    pub(crate) const fn new(lkey: Lkey, addr: u64) -> Self {
        Self { mmo_control_31_0: Be32::new(0), local_key: Be32::new(lkey.0), local_address: Be64::new(addr) }
    }
}

layout! {
    /// Header of an inline segment; the bytes follow at once (rdma-core `providers/mlx5/wqe.h`,
    /// `struct mlx5_wqe_inline_seg`).
    ///
    /// ```text
    ///   0  1 (1), byte count (31)
    ///   4  the bytes
    /// ```
    #[doc(alias = "mlx5_wqe_inl_data_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct InlineSeg[4] {
        /// Bytes that follow, with [`INLINE_FLAG`].
        0 => pub byte_count: Be32,
    }
}

impl InlineSeg {
    /// The header of `bytes` bytes. They fit a WQE, so the number is far below 2^31.
    #[inline]
    pub(crate) const fn of(bytes: usize) -> Self {
        Self { byte_count: Be32::new(bytes as u32 | INLINE_FLAG) }
    }
}

/// Marks a byte count as that of an inline segment (`MLX5_INLINE_SEG`).
pub const INLINE_FLAG: u32 = 0x8000_0000;

/// Converts a segment of 16 bytes without padding to its words.
macro_rules! words_of_segment {
    ($($seg:ty),*) => {$(
        impl From<$seg> for DsWords {
            #[inline]
            fn from(seg: $seg) -> Self {
                // SAFETY: the assertions beside each pin the size to 16 bytes and the offsets of integers so that they
                // leave no gap: every byte of the value is initialised, and any 16 bytes are two `u64`.
                Self(unsafe { core::mem::transmute::<$seg, [u64; 2]>(seg) })
            }
        }
    )*};
}

words_of_segment!(
    RaddrSeg,
    AtomicSeg,
    MaskedSwap32Seg,
    MaskedAdd32Seg,
    Masked128Seg,
    QueueSeg,
    WaitSeg,
    WaitValueSeg,
    BaseAvSeg,
    GrhAvSeg,
    XrcSeg,
    EthSeg,
    DataSeg,
    SignatureSeg,
    MmoSeg
);

impl From<[u8; DS_BYTES]> for DsWords {
    #[inline]
    fn from(bytes: [u8; DS_BYTES]) -> Self {
        let mut rest = bytes.as_slice();
        Self([take8(&mut rest), take8(&mut rest)])
    }
}
