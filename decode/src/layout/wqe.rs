//! The segments of WQEs.
//!
//! Sources: rdma-core `providers/mlx5/mlx5dv.h` and `wqe.h`; Linux `include/linux/mlx5/qp.h` (`mlx5_wqe_eth_seg`'s VLAN
//! bit, the fences); DPDK `drivers/common/mlx5/mlx5_prm.h` (`mlx5_wqe_qseg`, `mlx5_wqe_wseg`); UCX
//! `src/uct/ib/mlx5/ib_mlx5_log.c` (the operands of extended atomics).

use super::Show::{Bytes, Dec, Flags, Hex, Named, Unused, Zero};
use super::{Layout, bits, bits8, checked, whole};
use crate::names;

/// `mlx5_wqe_ctrl_seg`, the first 16 bytes of each send WQE.
pub const CTRL: Layout = checked(Layout {
    name: "mlx5_wqe_ctrl_seg",
    bytes: 16,
    fields: &[
        bits("opmod_idx_opcode:opmod", 0, 31, 24, Hex),
        bits("opmod_idx_opcode:idx", 0, 23, 8, Hex),
        bits("opmod_idx_opcode:opcode", 0, 7, 0, Named(names::opcode)),
        bits("qpn_ds:qpn", 4, 31, 8, Hex),
        bits("qpn_ds:reserved", 4, 7, 6, Zero),
        bits("qpn_ds:ds", 4, 5, 0, Dec),
        whole("signature", 8, 1, Unused),
        whole("dci_stream_channel_id", 9, 2, Unused),
        bits8("fm_ce_se:fm", 11, 7, 5, Named(fence)),
        bits8("fm_ce_se:reserved4", 11, 4, 4, Zero),
        bits8("fm_ce_se:ce", 11, 3, 2, Named(completion)),
        bits8("fm_ce_se:se", 11, 1, 1, Named(solicited)),
        bits8("fm_ce_se:reserved0", 11, 0, 0, Unused),
        whole("imm", 12, 4, Hex),
    ],
});

fn fence(mode: u64) -> Option<&'static str> {
    Some(match mode {
        0 => "no fence",
        1 => "small fence: after local work of earlier WQEs (UMR)",
        2 => "fence: after earlier READs and atomics",
        3 => "strong ordering: after all earlier WQEs",
        4 => "small fence, and after earlier READs and atomics",
        _ => return None,
    })
}

fn completion(mode: u64) -> Option<&'static str> {
    Some(match mode {
        0 => "a CQE only if it fails",
        1 => "a CQE only for the first failure",
        2 => "CQ_UPDATE: a CQE",
        _ => "a CQE and an EQE",
    })
}

fn solicited(bit: u64) -> Option<&'static str> {
    (bit == 1).then_some("solicited event")
}

/// `mlx5_wqe_raddr_seg`.
pub const RADDR: Layout = checked(Layout {
    name: "mlx5_wqe_raddr_seg",
    bytes: 16,
    fields: &[whole("raddr", 0, 8, Hex), whole("rkey", 8, 4, Hex), whole("reserved", 12, 4, Zero)],
});

/// `mlx5_wqe_atomic_seg`.
pub const ATOMIC: Layout = checked(Layout {
    name: "mlx5_wqe_atomic_seg",
    bytes: 16,
    fields: &[whole("swap_add", 0, 8, Hex), whole("compare", 8, 8, Hex)],
});

/// `mlx5_wqe_masked_atomic_seg` of `wqe.h`: a masked compare and swap of 8 bytes.
pub const MASKED_ATOMIC: Layout = checked(Layout {
    name: "mlx5_wqe_masked_atomic_seg",
    bytes: 32,
    fields: &[
        whole("swap_add", 0, 8, Hex),
        whole("compare", 8, 8, Hex),
        whole("swap_add_mask", 16, 8, Hex),
        whole("compare_mask", 24, 8, Hex),
    ],
});

/// A masked fetch and add of 8 bytes. Public headers have no name for it; UCX calls the second operand the boundary.
pub const MASKED_ADD: Layout = checked(Layout {
    name: "masked fetch-and-add segment",
    bytes: 16,
    fields: &[whole("add", 0, 8, Hex), whole("boundary", 8, 8, Hex)],
});

/// A masked fetch and add of 4 bytes.
pub const MASKED_ADD_32: Layout = checked(Layout {
    name: "masked fetch-and-add segment",
    bytes: 16,
    fields: &[whole("add", 0, 4, Hex), whole("boundary", 4, 4, Hex), whole("reserved", 8, 8, Zero)],
});

/// A masked compare and swap of 4 bytes.
pub const MASKED_SWAP_32: Layout = checked(Layout {
    name: "masked compare-and-swap segment",
    bytes: 16,
    fields: &[
        whole("swap", 0, 4, Hex),
        whole("compare", 4, 4, Hex),
        whole("swap_mask", 8, 4, Hex),
        whole("compare_mask", 12, 4, Hex),
    ],
});

/// A masked compare and swap of 16 bytes: each operand word by word.
pub const MASKED_SWAP_128: Layout = checked(Layout {
    name: "masked compare-and-swap segment",
    bytes: 64,
    fields: &[
        whole("swap", 0, 8, Hex),
        whole("swap (second word)", 8, 8, Hex),
        whole("compare", 16, 8, Hex),
        whole("compare (second word)", 24, 8, Hex),
        whole("swap_mask", 32, 8, Hex),
        whole("swap_mask (second word)", 40, 8, Hex),
        whole("compare_mask", 48, 8, Hex),
        whole("compare_mask (second word)", 56, 8, Hex),
    ],
});

/// A masked fetch and add of 16 bytes.
pub const MASKED_ADD_128: Layout = checked(Layout {
    name: "masked fetch-and-add segment",
    bytes: 32,
    fields: &[
        whole("add", 0, 8, Hex),
        whole("add (second word)", 8, 8, Hex),
        whole("boundary", 16, 8, Hex),
        whole("boundary (second word)", 24, 8, Hex),
    ],
});

/// The first 16 bytes of `mlx5_wqe_av`: a compact address vector, or the beginning of a full one.
pub const BASE_AV: Layout = checked(Layout {
    name: "mlx5_wqe_av",
    bytes: 16,
    fields: &[
        whole("key.qkey.qkey", 0, 4, Hex),
        whole("key.qkey.reserved", 4, 4, Unused),
        bits("dqp_dct:ext", 8, 31, 31, Named(extended)),
        bits("dqp_dct:reserved", 8, 30, 24, Zero),
        bits("dqp_dct:dqp_dct", 8, 23, 0, Hex),
        bits8("stat_rate_sl:stat_rate", 12, 7, 4, Hex),
        bits8("stat_rate_sl:sl", 12, 3, 0, Dec),
        bits8("fl_mlid:fl", 13, 7, 7, Hex),
        bits8("fl_mlid:mlid", 13, 6, 0, Dec),
        whole("rlid", 14, 2, Hex),
    ],
});

fn extended(bit: u64) -> Option<&'static str> {
    Some(if bit == 1 { "a full address vector" } else { "a compact address vector" })
}

/// `mlx5_wqe_datagram_seg`: a full address vector.
pub const DATAGRAM: Layout = checked(Layout {
    name: "mlx5_wqe_av",
    bytes: 48,
    fields: &[
        whole("key.qkey.qkey", 0, 4, Hex),
        whole("key.qkey.reserved", 4, 4, Unused),
        bits("dqp_dct:ext", 8, 31, 31, Named(extended)),
        bits("dqp_dct:reserved", 8, 30, 24, Zero),
        bits("dqp_dct:dqp_dct", 8, 23, 0, Hex),
        bits8("stat_rate_sl:stat_rate", 12, 7, 4, Hex),
        bits8("stat_rate_sl:sl", 12, 3, 0, Dec),
        bits8("fl_mlid:fl", 13, 7, 7, Hex),
        bits8("fl_mlid:mlid", 13, 6, 0, Dec),
        whole("rlid", 14, 2, Hex),
        whole("reserved0", 16, 4, Zero),
        whole("rmac", 20, 6, Bytes),
        whole("tclass", 26, 1, Hex),
        whole("hop_limit", 27, 1, Dec),
        bits("grh_gid_fl:reserved31", 28, 31, 31, Zero),
        bits("grh_gid_fl:grh", 28, 30, 30, Hex),
        bits("grh_gid_fl:reserved28", 28, 29, 28, Zero),
        bits("grh_gid_fl:gid", 28, 27, 20, Dec),
        bits("grh_gid_fl:fl", 28, 19, 0, Hex),
        whole("rgid", 32, 16, Bytes),
    ],
});

/// `mlx5_wqe_xrc_seg` of `wqe.h`.
pub const XRC: Layout = checked(Layout {
    name: "mlx5_wqe_xrc_seg",
    bytes: 16,
    fields: &[whole("xrc_srqn", 0, 4, Hex), whole("rsvd", 4, 12, Zero)],
});

/// `mlx5_wqe_eth_seg`, up to the first two bytes of the inline headers.
pub const ETH: Layout = checked(Layout {
    name: "mlx5_wqe_eth_seg",
    bytes: 16,
    fields: &[
        whole("rsvd0", 0, 4, Unused),
        whole("cs_flags", 4, 1, Flags(CHECKSUMS)),
        whole("rsvd1", 5, 1, Unused),
        whole("mss", 6, 2, Dec),
        whole("rsvd2", 8, 4, Unused),
        whole("inline_hdr_sz", 12, 2, Dec),
        whole("inline_hdr_start", 14, 2, Bytes),
    ],
});

const CHECKSUMS: &[(u64, &str)] = &[
    (1 << 4, "MLX5_ETH_WQE_L3_INNER_CSUM"),
    (1 << 5, "MLX5_ETH_WQE_L4_INNER_CSUM"),
    (1 << 6, "MLX5_ETH_WQE_L3_CSUM"),
    (1 << 7, "MLX5_ETH_WQE_L4_CSUM"),
];

/// `mlx5_wqe_data_seg`.
pub const DATA: Layout = checked(Layout {
    name: "mlx5_wqe_data_seg",
    bytes: 16,
    fields: &[whole("byte_count", 0, 4, Dec), whole("lkey", 4, 4, Hex), whole("addr", 8, 8, Hex)],
});

/// The head of `mlx5_wqe_inl_data_seg`; the bytes follow.
pub const INLINE: Layout = checked(Layout {
    name: "mlx5_wqe_inl_data_seg",
    bytes: 4,
    fields: &[bits("byte_count:inline", 0, 31, 31, Hex), bits("byte_count:byte_count", 0, 30, 0, Dec)],
});

/// `mlx5_wqe_umr_ctrl_seg`.
pub const UMR_CTRL: Layout = checked(Layout {
    name: "mlx5_wqe_umr_ctrl_seg",
    bytes: 48,
    fields: &[
        whole("flags", 0, 1, Flags(UMR_FLAGS)),
        whole("rsvd0", 1, 3, Zero),
        whole("klm_octowords", 4, 2, Dec),
        whole("bsf_octowords", 6, 2, Dec),
        whole("mkey_mask", 8, 8, Flags(MKEY_MASK)),
        whole("rsvd1", 16, 32, Unused),
    ],
});

const UMR_FLAGS: &[(u64, &str)] =
    &[(1 << 7, "INLINE"), (1 << 5, "CHECK_FREE"), (1 << 4, "TRNSLATION_OFFSET"), (1 << 3, "CHECK_QPN")];

const MKEY_MASK: &[(u64, &str)] = &[
    (1 << 0, "LEN"),
    (1 << 6, "START_ADDR"),
    (1 << 9, "SIG_ERR"),
    (1 << 12, "BSF_ENABLE"),
    (1 << 13, "MKEY"),
    (1 << 14, "QPN"),
    (1 << 18, "ACCESS_LOCAL_WRITE"),
    (1 << 19, "ACCESS_REMOTE_READ"),
    (1 << 20, "ACCESS_REMOTE_WRITE"),
    (1 << 21, "ACCESS_ATOMIC"),
    (1 << 29, "FREE"),
];

/// `mlx5_wqe_mkey_context_seg`.
pub const MKEY_CONTEXT: Layout = checked(Layout {
    name: "mlx5_wqe_mkey_context_seg",
    bytes: 64,
    fields: &[
        whole("free", 0, 1, Flags(&[(1 << 6, "FREE")])),
        whole("reserved1", 1, 1, Unused),
        whole("access_flags", 2, 1, Flags(ACCESS)),
        whole("sf", 3, 1, Hex),
        whole("qpn_mkey", 4, 4, Hex),
        whole("reserved2", 8, 4, Unused),
        whole("flags_pd", 12, 4, Hex),
        whole("start_addr", 16, 8, Hex),
        whole("len", 24, 8, Hex),
        whole("bsf_octword_size", 32, 4, Dec),
        whole("reserved3", 36, 16, Unused),
        whole("translations_octword_size", 52, 4, Dec),
        whole("reserved4", 56, 3, Unused),
        whole("log_page_size", 59, 1, Dec),
        whole("reserved", 60, 4, Unused),
    ],
});

const ACCESS: &[(u64, &str)] = &[
    (1 << 6, "ATOMIC"),
    (1 << 5, "REMOTE_WRITE"),
    (1 << 4, "REMOTE_READ"),
    (1 << 3, "LOCAL_WRITE"),
    (1 << 2, "LOCAL_READ"),
];

/// `mlx5_wqe_umr_klm_seg`.
pub const KLM: Layout = checked(Layout {
    name: "mlx5_wqe_umr_klm_seg",
    bytes: 16,
    fields: &[whole("byte_count", 0, 4, Dec), whole("mkey", 4, 4, Hex), whole("address", 8, 8, Hex)],
});

/// `mlx5_wqe_umr_repeat_block_seg`.
pub const REPEAT_BLOCK: Layout = checked(Layout {
    name: "mlx5_wqe_umr_repeat_block_seg",
    bytes: 16,
    fields: &[
        whole("byte_count", 0, 4, Dec),
        whole("op", 4, 4, Hex),
        whole("repeat_count", 8, 4, Dec),
        whole("reserved", 12, 2, Zero),
        whole("num_ent", 14, 2, Dec),
    ],
});

/// `mlx5_wqe_umr_repeat_ent_seg`.
pub const REPEAT_ENTRY: Layout = checked(Layout {
    name: "mlx5_wqe_umr_repeat_ent_seg",
    bytes: 16,
    fields: &[
        whole("stride", 0, 2, Dec),
        whole("byte_count", 2, 2, Dec),
        whole("memkey", 4, 4, Hex),
        whole("va", 8, 8, Hex),
    ],
});

/// `mlx5_wqe_set_psv_seg` of `wqe.h`.
pub const SET_PSV: Layout = checked(Layout {
    name: "mlx5_wqe_set_psv_seg",
    bytes: 16,
    fields: &[
        whole("psv_index", 0, 4, Hex),
        whole("syndrome", 4, 2, Hex),
        whole("reserved", 6, 2, Zero),
        whole("transient_signature", 8, 8, Hex),
    ],
});

/// `mlx5_wqe_tm_seg`.
pub const TAG_MATCHING: Layout = checked(Layout {
    name: "mlx5_wqe_tm_seg",
    bytes: 32,
    fields: &[
        bits8("opcode:opcode", 0, 7, 4, Named(tag_operation)),
        bits8("opcode:reserved", 0, 3, 0, Zero),
        whole("flags", 1, 1, Flags(&[(1 << 7, "MLX5_SRQ_FLAG_TM_CQE_REQ"), (1 << 6, "MLX5_SRQ_FLAG_TM_SW_CNT")])),
        whole("index", 2, 2, Dec),
        whole("rsvd0", 4, 2, Zero),
        whole("sw_cnt", 6, 2, Dec),
        whole("rsvd1", 8, 8, Zero),
        whole("append_tag", 16, 8, Hex),
        whole("append_mask", 24, 8, Hex),
    ],
});

/// rdma-core `providers/mlx5/mlx5.h`, `MLX5_TM_OPCODE_*`.
fn tag_operation(number: u64) -> Option<&'static str> {
    Some(match number {
        0 => "MLX5_TM_OPCODE_NOP",
        1 => "MLX5_TM_OPCODE_APPEND: index is the entry of the next append",
        2 => "MLX5_TM_OPCODE_REMOVE: index is the entry",
        _ => return None,
    })
}

/// `mlx5_mmo_metadata_seg` of `wqe.h`.
pub const MMO: Layout = checked(Layout {
    name: "mlx5_mmo_metadata_seg",
    bytes: 16,
    fields: &[whole("mmo_control_31_0", 0, 4, Hex), whole("local_key", 4, 4, Hex), whole("local_address", 8, 8, Hex)],
});

/// `mlx5_wqe_qseg` of DPDK: the queue and the index that WAIT, SEND_EN and RCV_EN name.
pub const QUEUE: Layout = checked(Layout {
    name: "mlx5_wqe_qseg",
    bytes: 16,
    fields: &[
        whole("reserved0", 0, 4, Zero),
        whole("reserved1", 4, 4, Zero),
        whole("max_index", 8, 4, Hex),
        whole("qpn_cqn", 12, 4, Hex),
    ],
});

/// `mlx5_wqe_wseg` of DPDK: the value in memory, or the time, of a WAIT.
pub const WAIT: Layout = checked(Layout {
    name: "mlx5_wqe_wseg",
    bytes: 32,
    fields: &[
        whole("operation", 0, 4, Hex),
        whole("lkey", 4, 4, Hex),
        whole("va_high", 8, 4, Hex),
        whole("va_low", 12, 4, Hex),
        whole("value", 16, 8, Hex),
        whole("mask", 24, 8, Hex),
    ],
});

/// `mlx5_wqe_flow_update_ctrl_seg` of `wqe.h`.
pub const FLOW_UPDATE: Layout = checked(Layout {
    name: "mlx5_wqe_flow_update_ctrl_seg",
    bytes: 48,
    fields: &[whole("flow_idx_update", 0, 4, Hex), whole("dest_handle", 4, 4, Hex), whole("reserved0", 8, 40, Unused)],
});

/// `mlx5_wqe_srq_next_seg`, the first 16 bytes of a WQE of a shared receive queue.
pub const SRQ_NEXT: Layout = checked(Layout {
    name: "mlx5_wqe_srq_next_seg",
    bytes: 16,
    fields: &[
        whole("rsvd0", 0, 2, Unused),
        whole("next_wqe_index", 2, 2, Dec),
        whole("signature", 4, 1, Unused),
        whole("rsvd1", 5, 11, Unused),
    ],
});

/// The layouts that `mlx5dv.h` also has. A test compares them with the header.
pub const OF_MLX5DV: &[&Layout] = &[
    &CTRL,
    &RADDR,
    &ATOMIC,
    &DATAGRAM,
    &ETH,
    &DATA,
    &UMR_CTRL,
    &MKEY_CONTEXT,
    &KLM,
    &REPEAT_BLOCK,
    &REPEAT_ENTRY,
    &TAG_MATCHING,
    &SRQ_NEXT,
];
