//! The layouts of CQEs, with the sizes and offsets of rdma-core's `mlx5dv.h`, checked when compiled.
//!
//! The structures are maps: no reference to device memory has their types. Fields are read one by one at
//! `offset_of!(…)`. Fields of several bytes are big endian.
use core::mem::{offset_of, size_of};

use static_assertions::const_assert_eq;

use crate::cq::opcode::Side;

/// Bytes of a CQE that carry fields; a 128-byte CQE has them in its second half.
pub const CQE64_BYTES: usize = size_of::<Cqe64>();

layout! {
    /// A completion queue entry (rdma-core `providers/mlx5/mlx5dv.h`, `mlx5_cqe64`; PRM "Completion Queue Entry").
    ///
    /// The first 32 bytes are scatter-to-CQE data instead, if bits 3:2 of `op_own` say so.
    #[doc(alias = "mlx5_cqe64")]
    #[derive(Clone, Copy, Debug)]
    #[repr(C)]
    pub struct Cqe64[64] {
        /// Of a frame: bit 0, it has a tunnel; bit 1, whose outer packet is IPv6, otherwise IPv4 (DPDK
        /// `drivers/common/mlx5/mlx5_prm.h`, `pkt_info`; Linux `include/linux/mlx5/device.h`, `tls_outer_l3_tunneled`).
        0 => pub pkt_info: u8,
        /// Reserved.
        1 => pub rsvd1: u8,
        /// Striding receive queues: the WQE's number.
        2 => pub wqe_id: u16,
        /// Of merged TCP segments: bit 6, one of them had PSH (Linux `include/linux/mlx5/device.h`, the structure `lro`;
        /// DPDK `drivers/common/mlx5/mlx5_prm.h`, `lro_tcppsh_abort_dupack` and below). Tag matching has other fields
        /// here.
        4 => pub lro_tcppsh_abort_dupack: u8,
        /// Merged segments: the least time to live, or hop limit.
        5 => pub lro_min_ttl: u8,
        /// Merged segments: the window of the TCP header.
        6 => pub lro_tcp_win: u16,
        /// Merged segments: the acknowledgement number of the TCP header.
        8 => pub lro_ack_seq_num: u32,
        /// The hash by which a packet's receive queue was chosen.
        12 => pub rx_hash_result: u32,
        /// Which fields of the packet went into the hash; 0: there is none.
        16 => pub rx_hash_type: u8,
        /// Low seven bits: path bits of the destination LID.
        17 => pub ml_path: u8,
        /// Reserved.
        18 => pub rsvd18: [u8; 2],
        /// Sum of the 16-bit words of a packet's IP header and the bytes behind it, not complemented.
        20 => pub check_sum: u16,
        /// The source LID.
        22 => pub slid: u16,
        /// Bits 29:28 say whether a GRH came, bits 27:24 the service level, bits 23:0 the sender's queue pair
        /// (datagrams).
        24 => pub flags_rqpn: u32,
        /// Verdicts: bit 0 layer 2 is good, bit 1 layer 3, bit 2 layer 4.
        28 => pub hds_ip_ext: u8,
        /// Bit 7: the packet is a fragment. Bits 6:4: the kind of layer 4 header. Bits 3:2: the kind of layer 3 header.
        /// Bit 1: it has options or extension headers. Bit 0: `vlan_info` has the VLAN tag of the frame.
        29 => pub l4_hdr_type_etc: u8,
        /// The stripped VLAN tag.
        30 => pub vlan_info: u16,
        /// Low 24 bits: the user index of the queue pair (CQE version 1), or the shared receive queue (version 0). High 8
        /// bits: how many TCP segments the device has merged (Linux `include/linux/mlx5/device.h`,
        /// `get_cqe_lro_num_seg`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `lro_num_seg`).
        32 => pub srqn_uidx: u32,
        /// Immediate data, or the invalidated key, or the P_Key index in the low 16 bits, or a frame's metadata (Linux
        /// `include/linux/mlx5/device.h`, `ft_metadata`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `flow_table_metadata`).
        36 => pub imm_inval_pkey: u32,
        /// The application that `app_op` belongs to (1: tag matching).
        40 => pub app: u8,
        /// The operation of the application.
        41 => pub app_op: u8,
        /// More about the operation.
        42 => pub app_info: u16,
        /// Bytes received or read.
        44 => pub byte_cnt: u32,
        /// The device's free-running clock when the message completed.
        48 => pub timestamp: u64,
        /// Bits 31:24 the WQE's opcode (requester), bits 23:0 the queue pair.
        56 => pub sop_drop_qpn: u32,
        /// The WQE's index: for a send queue the producer index it was posted at, in WQEBBs.
        60 => pub wqe_counter: u16,
        /// A checksum of the CQE, undocumented: see [`ErrCqe::signature`]. In the enhanced layout of compressed
        /// completions, the number of the pass over the ring (Linux `include/linux/mlx5/device.h`,
        /// `validity_iteration_count`).
        62 => pub signature: u8,
        /// Bits 7:4 opcode, 3:2 format, 1 solicited event, 0 owner.
        63 => pub op_own: u8,
    }
}

layout! {
    /// A completion queue entry of a request that failed (rdma-core `providers/mlx5/mlx5dv.h`, `mlx5_err_cqe`).
    #[doc(alias = "mlx5_err_cqe")]
    #[derive(Clone, Copy, Debug)]
    #[repr(C)]
    pub struct ErrCqe[size_of::<Cqe64>()] {
        /// Reserved.
        0 => pub rsvd0: [u8; 32],
        /// Low 24 bits: user index or shared receive queue, as in [`Cqe64::srqn_uidx`].
        32 => pub srqn: u32,
        /// Reserved.
        36 => pub rsvd1: [u8; 16],
        /// The hardware's syndrome (UCX `src/uct/ib/mlx5/ib_mlx5.h`, `uct_ib_mlx5_err_cqe_t`; DPDK
        /// `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_error_cqe`; reserved in `mlx5dv.h`). Public dumps have other
        /// values than 0 beside local errors.
        52 => pub hw_err_synd: u8,
        /// Bits 7:4 the type of the hardware's syndrome (UCX `src/uct/ib/mlx5/ib_mlx5_log.c`,
        /// `uct_ib_mlx5_completion_with_err`).
        53 => pub hw_synd_type: u8,
        /// The vendor's own syndrome, which says more to the vendor's support.
        54 => pub vendor_err_synd: u8,
        /// The error: see [`Syndrome`](crate::cq::Syndrome).
        55 => pub syndrome: u8,
        /// Bits 31:24 the WQE's opcode, bits 23:0 the queue pair.
        56 => pub s_wqe_opcode_qpn: u32,
        /// The WQE's index.
        60 => pub wqe_counter: u16,
        /// A checksum of the CQE, undocumented. NICs write one into error CQEs without being asked: every public dump
        /// has one (libfabric issue 4283, SPDK issue 961, UCX issues 1569 and 6414, Juniper/warp17 issue 81).
        62 => pub signature: u8,
        /// See [`Cqe64::op_own`]. NICs set the bit of solicited events regardless of the request: 0xd2 or 0xd3 in those
        /// dumps.
        63 => pub op_own: u8,
    }
}

/// Where the last four bytes of a CQE's fields are: `wqe_counter`, `signature`, `op_own`.
pub(in crate::cq) const TAIL_OFFSET: usize = offset_of!(Cqe64, wqe_counter);

const_assert_eq!(TAIL_OFFSET % size_of::<u32>(), 0);
const_assert_eq!(TAIL_OFFSET + size_of::<u32>(), CQE64_BYTES);
const_assert_eq!(TAIL_OFFSET + 3, offset_of!(Cqe64, op_own));

/// Where the byte before the last is.
pub(in crate::cq) const SIGNATURE_OFFSET: usize = offset_of!(Cqe64, signature);

const_assert_eq!(SIGNATURE_OFFSET % size_of::<u16>(), 0);
const_assert_eq!(SIGNATURE_OFFSET + 1, offset_of!(Cqe64, op_own));

/// [`Cqe64::op_own`] of a CQE that holds no completion: opcode 15, "invalid".
pub(in crate::cq) const EMPTY: u8 = 0xf0;

/// The last four bytes of a CQE, loaded at once and kept. They give its owner, its kind, and the WQE that it completes.
///
/// The counter may come out of the load that finds the owner bit, before any barrier. The device stores a CQE in one
/// write, whose bytes become visible at ascending addresses. The owner bit is in the very last byte: a load that sees
/// it new sees the bytes before it in the same word new as well. The source is the PCIe Base Specification, "Update
/// Ordering and Granularity Provided by a Write Transaction", which also asks hosts not to go below four aligned bytes.
/// DPDK does the same with the last eight bytes (`drivers/net/mlx5/mlx5_rxtx_vec_sse.h` and its siblings for Arm and
/// POWER).
///
/// Kept as a machine word (on 64-bit CPUs with a zero upper half), so that fields taken out of it need no extending.
#[derive(Clone, Copy, Debug)]
pub(in crate::cq) struct Tail(usize);

/// A CQE's last byte: the success of a receive of opcode "send".
const SEND: u8 = 2 << 4;

impl Tail {
    /// From the word in memory, `loaded` as it is, for a CQE that is software's if its owner bit equals `phase`, 0 or
    /// 1.
    ///
    /// It keeps the owner bit as zero if it equals `phase`: later looks at the tail need not know the phase.
    #[inline(always)]
    pub(in crate::cq) const fn new(loaded: u32, phase: u32) -> Self {
        Self((u32::from_be(loaded) ^ phase) as usize)
    }

    /// From the word in memory, if the device wrote the CQE in pass number `iteration` over the ring. The byte before
    /// the last has the pass number. The opcode says whether the CQE was written at all (Linux
    /// `drivers/net/ethernet/mellanox/mlx5/core/wq.h`, `mlx5_cqwq_get_cqe_enahnced_comp`).
    #[inline(always)]
    pub(in crate::cq) const fn of_pass(loaded: u32, iteration: u8) -> Option<Self> {
        let loaded = u32::from_be(loaded);
        if (loaded >> 8) as u8 == iteration && (loaded as u8) < EMPTY {
            Some(Self((loaded & !1) as usize))
        } else {
            None
        }
    }

    /// The tail of an expanded completion: the WQE's index, and the last byte, its owner bit zero.
    #[inline(always)]
    pub(in crate::cq) const fn expanded(wqe_counter: u16, op_own: OpOwn) -> Self {
        Self((wqe_counter as usize) << 16 | op_own.0 as usize)
    }

    /// Changes the format to the plain one.
    #[inline(always)]
    pub(in crate::cq) const fn without_format(self) -> Self {
        Self(self.0 & !(OpOwn::FORMAT as usize))
    }

    /// Whether software owns the CQE.
    #[inline(always)]
    pub(in crate::cq) const fn is_software_owned(self) -> bool {
        self.op_own().is_software_owned(0)
    }

    /// Whether software owns the CQE, and it is the success of a frame's receive, with its data in memory: opcode 2,
    /// "send" (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_CQE_RESP_SEND`; frames have no other, Linux
    /// `drivers/net/ethernet/mellanox/mlx5/core/en/txrx.h`, `MLX5E_RX_ERR_CQE`).
    #[inline(always)]
    pub(in crate::cq) const fn is_frame(self) -> bool {
        // The bit of solicited events does not matter.
        self.op_own().0 & !2 == SEND
    }

    /// Whether software owns the CQE, and it is the title of such successes, in the basic layout of compressed CQEs.
    #[inline(always)]
    pub(in crate::cq) const fn is_session_of_frames(self) -> bool {
        self.op_own().0 & !2 == SEND | 3 << 2
    }

    /// The last byte, its owner bit zero if software owns the CQE.
    #[inline(always)]
    pub(in crate::cq) const fn op_own(self) -> OpOwn {
        OpOwn(self.0 as u8)
    }

    /// The WQE's index.
    #[inline(always)]
    pub(in crate::cq) const fn wqe_counter(self) -> u16 {
        (self.0 >> 16) as u16
    }
}

/// The last byte of a CQE: opcode, format, solicited, owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpOwn(pub u8);

impl OpOwn {
    /// The bits of [`format`](Self::format).
    const FORMAT: u8 = 3 << 2;

    /// Whether software owns a CQE with this byte: its owner bit equals `phase` (0 or 1) and its opcode is not 15,
    /// which marks an entry never written (rdma-core `providers/mlx5/cq.c`, `get_sw_cqe`).
    ///
    /// One comparison does both: the rotation puts the owner bit, zero if right, above the opcode.
    #[inline(always)]
    #[must_use]
    pub const fn is_software_owned(self, phase: u8) -> bool {
        (self.0 ^ phase).rotate_right(1) < (0xf0 >> 1)
    }

    /// Whether this is the success of a send queue's request, all its data in memory: opcode 0, format plain.
    #[inline(always)]
    #[must_use]
    pub const fn is_requester_success(self) -> bool {
        self.0 < 1 << 2
    }

    /// Whether this is the success of a request, all its data in memory: opcode 0 to 4, format plain.
    ///
    /// One comparison: the rotation puts the format above the opcode. The owner bit and that of solicited events do not
    /// matter.
    #[inline(always)]
    #[must_use]
    pub const fn is_success(self) -> bool {
        (self.0 & !3).rotate_right(4) <= 4
    }

    /// Whether a request of `side` is complete, for a CQE that is not [`is_success`](Self::is_success): it failed, or
    /// its data is in the CQE.
    #[inline(always)]
    #[must_use]
    pub const fn ends_otherwise(self, side: Side) -> bool {
        let in_cqe = matches!(self.format(), CqeFormat::Inline32 | CqeFormat::Inline64);
        match side {
            Side::Requester => self.opcode() == 13 || self.opcode() == 0 && in_cqe,
            Side::Responder => self.opcode() == 14 || self.opcode().wrapping_sub(1) < 4 && in_cqe,
        }
    }

    /// Bits 7:4.
    #[inline(always)]
    #[must_use]
    pub const fn opcode(self) -> u8 {
        self.0 >> 4
    }

    /// Bits 3:2 (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_INLINE_SCATTER_32` = 4, `MLX5_INLINE_SCATTER_64` = 8; both:
    /// compressed).
    #[inline(always)]
    #[must_use]
    pub const fn format(self) -> CqeFormat {
        match (self.0 >> 2) & 3 {
            0 => CqeFormat::Plain,
            1 => CqeFormat::Inline32,
            2 => CqeFormat::Inline64,
            _ => CqeFormat::Compressed,
        }
    }

    /// Bit 1: the sender asked for a solicited event.
    #[inline(always)]
    #[must_use]
    pub const fn solicited(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The contents of the bytes before a CQE's common tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CqeFormat {
    /// Fields.
    Plain,
    /// Up to 32 bytes of the message, in the first 32 bytes of the fields.
    Inline32,
    /// Up to 64 bytes of the message, in the first half of a 128-byte CQE.
    Inline64,
    /// Several completions, compressed.
    Compressed,
}
