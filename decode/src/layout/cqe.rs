//! The layouts of CQEs, doorbell records and doorbell registers.
//!
//! Sources: rdma-core `providers/mlx5/mlx5dv.h`; Linux `include/linux/mlx5/device.h` (signature errors, compressed
//! CQEs, checksum) and `include/linux/mlx5/{cq,doorbell}.h`; UCX `src/uct/ib/mlx5/ib_mlx5.h` and NVSHMEM (the
//! hardware's syndrome); DPDK `drivers/common/mlx5/mlx5_prm.h` and VPP `src/plugins/rdma/rdma_mlx5dv.h` (the headers of a frame).

use super::Show::{Bytes, Dec, Flags, Hex, Named, Unused, Zero};
use super::{FieldLayout, Layout, bits, bits8, checked, whole};
use crate::names;

/// `mlx5_cqe64`.
pub const CQE64: Layout = checked(Layout {
    name: "mlx5_cqe64",
    bytes: 64,
    fields: &[
        bits8("rsvd0:reserved", 0, 7, 2, Unused),
        bits8("rsvd0:outer_l3_ipv6", 0, 1, 1, Unused),
        bits8("rsvd0:tunneled", 0, 0, 0, Unused),
        whole("rsvd0:reserved1", 1, 1, Unused),
        whole("wqe_id", 2, 2, Unused),
        whole("rsvd4:lro_tcppsh_abort_dupack", 4, 1, Unused),
        whole("rsvd4:lro_min_ttl", 5, 1, Unused),
        whole("rsvd4:lro_tcp_win", 6, 2, Unused),
        whole("rsvd4:lro_ack_seq_num", 8, 4, Unused),
        whole("rsvd4:rss_hash_result", 12, 4, Unused),
        whole("rsvd4:rss_hash_type", 16, 1, Unused),
        whole("ml_path", 17, 1, Unused),
        whole("rsvd20", 18, 4, Unused),
        whole("slid", 22, 2, Unused),
        bits("flags_rqpn:reserved", 24, 31, 30, Unused),
        bits("flags_rqpn:g", 24, 29, 28, Named(grh)),
        bits("flags_rqpn:sl", 24, 27, 24, Dec),
        bits("flags_rqpn:rqpn", 24, 23, 0, Hex),
        whole("hds_ip_ext", 28, 1, Flags(&[(1, "L2_OK"), (2, "L3_OK"), (4, "L4_OK")])),
        bits8("l4_hdr_type_etc:ip_frag", 29, 7, 7, Dec),
        bits8("l4_hdr_type_etc:l4_hdr_type", 29, 6, 4, Named(l4_header)),
        bits8("l4_hdr_type_etc:l3_hdr_type", 29, 3, 2, Named(l3_header)),
        bits8("l4_hdr_type_etc:ip_ext_opts", 29, 1, 1, Dec),
        bits8("l4_hdr_type_etc:cv", 29, 0, 0, Dec),
        whole("vlan_info", 30, 2, Unused),
        bits("srqn_uidx:lro_num_seg", 32, 31, 24, Unused),
        bits("srqn_uidx:srqn_uidx", 32, 23, 0, Hex),
        // Of a frame: `ft_metadata`.
        whole("imm_inval_pkey", 36, 4, Hex),
        whole("app", 40, 1, Unused),
        whole("app_op", 41, 1, Unused),
        whole("app_info", 42, 2, Unused),
        whole("byte_cnt", 44, 4, Dec),
        whole("timestamp", 48, 8, Hex),
        bits("sop_drop_qpn:sop", 56, 31, 24, Hex),
        bits("sop_drop_qpn:qpn", 56, 23, 0, Hex),
        whole("wqe_counter", 60, 2, Hex),
        whole("signature", 62, 1, Hex),
        OP_OWN[0],
        OP_OWN[1],
        OP_OWN[2],
        OP_OWN[3],
    ],
});

/// `mlx5_cqe64` of an operation on a list of tags.
pub const TM_CQE: Layout = checked(Layout {
    name: "mlx5_cqe64",
    bytes: 64,
    fields: &[
        whole("tm_cqe.success", 0, 4, Flags(&[(1 << 31, "MLX5_TMC_SUCCESS")])),
        whole("tm_cqe.hw_phase_cnt", 4, 2, Dec),
        whole("tm_cqe.rsvd0", 6, 12, Unused),
        whole("rsvd18", 18, 14, Unused),
        TM_REST[0],
        TM_REST[1],
        TM_REST[2],
        TM_REST[3],
        TM_REST[4],
        TM_REST[5],
        TM_REST[6],
        TM_REST[7],
        TM_REST[8],
        TM_REST[9],
        TM_REST[10],
        TM_REST[11],
        OP_OWN[0],
        OP_OWN[1],
        OP_OWN[2],
        OP_OWN[3],
    ],
});

/// `mlx5_cqe64` of a message that was compared with a list of tags. If the message matched, its header is here.
pub const TMH_CQE: Layout = checked(Layout {
    name: "mlx5_cqe64",
    bytes: 64,
    fields: &[
        whole("tmh.opcode", 0, 1, Named(tagged)),
        whole("tmh.reserved", 1, 3, Unused),
        whole("tmh.app_ctx", 4, 4, Hex),
        whole("tmh.tag", 8, 8, Hex),
        whole("rsvd16", 16, 16, Unused),
        TM_REST[0],
        TM_REST[1],
        TM_REST[2],
        TM_REST[3],
        TM_REST[4],
        TM_REST[5],
        TM_REST[6],
        TM_REST[7],
        TM_REST[8],
        TM_REST[9],
        TM_REST[10],
        TM_REST[11],
        OP_OWN[0],
        OP_OWN[1],
        OP_OWN[2],
        OP_OWN[3],
    ],
});

/// The fields that all completions of tag matching share.
const TM_REST: [FieldLayout; 12] = [
    bits("srqn_uidx:lro_num_seg", 32, 31, 24, Unused),
    bits("srqn_uidx:srqn_uidx", 32, 23, 0, Hex),
    whole("imm_inval_pkey", 36, 4, Hex),
    whole("app", 40, 1, Named(application)),
    whole("app_op", 41, 1, Named(tag_operation)),
    whole("app_info", 42, 2, Dec),
    whole("byte_cnt", 44, 4, Dec),
    whole("timestamp", 48, 8, Hex),
    bits("sop_drop_qpn:sop", 56, 31, 24, Hex),
    bits("sop_drop_qpn:qpn", 56, 23, 0, Hex),
    whole("wqe_counter", 60, 2, Hex),
    whole("signature", 62, 1, Hex),
];

fn application(number: u64) -> Option<&'static str> {
    (number == 1).then_some("MLX5_CQE_APP_TAG_MATCHING")
}

/// rdma-core `libibverbs/tm_types.h`, `enum ibv_tmh_op`.
fn tagged(opcode: u64) -> Option<&'static str> {
    const NAMES: [&str; 4] = ["IBV_TMH_NO_TAG", "IBV_TMH_RNDV", "IBV_TMH_FIN", "IBV_TMH_EAGER"];
    NAMES.get(opcode as usize).copied()
}

/// rdma-core `providers/mlx5/cq.c`, `MLX5_CQE_APP_OP_TM_*`.
fn tag_operation(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "MLX5_CQE_APP_OP_TM_CONSUMED: a message has matched entry app_info, its data is on the way",
        2 => "MLX5_CQE_APP_OP_TM_EXPECTED: the data of entry app_info's message is there",
        3 => {
            "MLX5_CQE_APP_OP_TM_UNEXPECTED: a message that matched none, in WQE wqe_counter of the shared receive queue"
        }
        4 => "MLX5_CQE_APP_OP_TM_NO_TAG: a message without a tag, in WQE wqe_counter of the shared receive queue",
        5 => "MLX5_CQE_APP_OP_TM_APPEND: an entry was appended",
        6 => "MLX5_CQE_APP_OP_TM_REMOVE: an entry was removed, or had matched before, as tm_cqe.success says",
        7 => "MLX5_CQE_APP_OP_TM_NOOP: the count of unexpected messages was taken",
        9 => "MLX5_CQE_APP_OP_TM_CONSUMED_SW_RDNV: a rendezvous has matched entry app_info, software fetches its data",
        10 => "MLX5_CQE_APP_OP_TM_CONSUMED_MSG: a message has matched entry app_info, and its data is there",
        11 => {
            "MLX5_CQE_APP_OP_TM_CONSUMED_MSG_SW_RDNV: a rendezvous has matched entry app_info, its header is there, \
               and software fetches its data"
        }
        12 => "MLX5_CQE_APP_OP_TM_MSG_COMPLETION_CANCELED: a rendezvous of entry app_info was given up",
        _ => return None,
    })
}

/// The last byte of each CQE.
const OP_OWN: [FieldLayout; 4] = [
    bits8("op_own:opcode", 63, 7, 4, Named(names::cqe_opcode)),
    bits8("op_own:format", 63, 3, 2, Named(format)),
    bits8("op_own:se", 63, 1, 1, Hex),
    bits8("op_own:owner", 63, 0, 0, Hex),
];

/// Linux `include/linux/mlx5/device.h`, `CQE_L4_HDR_TYPE_*`.
fn l4_header(bits: u64) -> Option<&'static str> {
    const NAMES: [&str; 5] = ["none", "TCP", "UDP", "TCP that acknowledges, without data", "TCP that acknowledges"];
    NAMES.get(bits as usize).copied()
}

/// Linux `include/linux/mlx5/device.h`, `CQE_L3_HDR_TYPE_*`.
fn l3_header(bits: u64) -> Option<&'static str> {
    const NAMES: [&str; 3] = ["none", "IPv6", "IPv4"];
    NAMES.get(bits as usize).copied()
}

fn grh(bits: u64) -> Option<&'static str> {
    (bits != 0).then_some("with a GRH")
}

fn format(bits: u64) -> Option<&'static str> {
    Some(match bits {
        0 => "no inline data",
        1 => "MLX5_INLINE_SCATTER_32: the first 32 bytes are the message",
        2 => "MLX5_INLINE_SCATTER_64: the 64 bytes before this half are the message",
        _ => "compressed",
    })
}

/// `mlx5_err_cqe`: a request that failed. The two bytes before `vendor_err_synd` are reserved in `mlx5dv.h`; UCX and
/// NVSHMEM name them.
pub const ERR_CQE: Layout = checked(Layout {
    name: "mlx5_err_cqe",
    bytes: 64,
    fields: &[
        whole("rsvd0", 0, 32, Unused),
        bits("srqn:reserved", 32, 31, 24, Unused),
        bits("srqn:srqn", 32, 23, 0, Hex),
        whole("rsvd1", 36, 16, Unused),
        whole("rsvd1:hw_err_synd", 52, 1, Hex),
        whole("rsvd1:hw_synd_type", 53, 1, Hex),
        whole("vendor_err_synd", 54, 1, Hex),
        whole("syndrome", 55, 1, Named(names::syndrome)),
        bits("s_wqe_opcode_qpn:s_wqe_opcode", 56, 31, 24, Hex),
        bits("s_wqe_opcode_qpn:qpn", 56, 23, 0, Hex),
        whole("wqe_counter", 60, 2, Hex),
        whole("signature", 62, 1, Hex),
        OP_OWN[0],
        OP_OWN[1],
        OP_OWN[2],
        OP_OWN[3],
    ],
});

/// `mlx5_sig_err_cqe` of Linux: a check of signatures failed.
pub const SIG_ERR_CQE: Layout = checked(Layout {
    name: "mlx5_sig_err_cqe",
    bytes: 64,
    fields: &[
        whole("rsvd0", 0, 16, Unused),
        whole("expected_trans_sig", 16, 4, Hex),
        whole("actual_trans_sig", 20, 4, Hex),
        whole("expected_reftag", 24, 4, Hex),
        whole("actual_reftag", 28, 4, Hex),
        whole(
            "syndrome",
            32,
            2,
            Flags(&[(1 << 13, "guard"), (1 << 11, "reference tag"), (1 << 12, "application tag")]),
        ),
        whole("rsvd22", 34, 2, Unused),
        whole("mkey", 36, 4, Hex),
        whole("err_offset", 40, 8, Hex),
        whole("rsvd30", 48, 8, Unused),
        whole("qpn", 56, 4, Hex),
        whole("rsvd38", 60, 2, Unused),
        whole("signature", 62, 1, Hex),
        OP_OWN[0],
        OP_OWN[1],
        OP_OWN[2],
        OP_OWN[3],
    ],
});

/// The doorbell record of a queue pair: `MLX5_RCV_DBR`, `MLX5_SND_DBR`.
pub const QP_RECORD: Layout = checked(Layout {
    name: "doorbell record of a queue pair",
    bytes: 8,
    fields: &[
        bits("MLX5_RCV_DBR:reserved", 0, 31, 16, Zero),
        bits("MLX5_RCV_DBR:counter", 0, 15, 0, Hex),
        bits("MLX5_SND_DBR:reserved", 4, 31, 16, Zero),
        bits("MLX5_SND_DBR:counter", 4, 15, 0, Hex),
    ],
});

/// The doorbell record of a completion queue: `MLX5_CQ_SET_CI`, `MLX5_CQ_ARM_DB`.
pub const CQ_RECORD: Layout = checked(Layout {
    name: "doorbell record of a completion queue",
    bytes: 8,
    fields: &[
        bits("MLX5_CQ_SET_CI:reserved", 0, 31, 24, Zero),
        bits("MLX5_CQ_SET_CI:ci", 0, 23, 0, Hex),
        bits("MLX5_CQ_ARM_DB:reserved", 4, 31, 30, Zero),
        bits("MLX5_CQ_ARM_DB:sn", 4, 29, 28, Dec),
        bits("MLX5_CQ_ARM_DB:cmd", 4, 27, 24, Named(arm)),
        bits("MLX5_CQ_ARM_DB:ci", 4, 23, 0, Hex),
    ],
});

fn arm(command: u64) -> Option<&'static str> {
    Some(match command {
        0 => "MLX5_CQ_DB_REQ_NOT: an event for the next CQE",
        1 => "MLX5_CQ_DB_REQ_NOT_SOL: an event for the next solicited CQE",
        _ => return None,
    })
}

/// A store to a send queue's doorbell register: the first 8 bytes of the last WQE.
pub const SQ_DOORBELL: Layout = checked(Layout {
    name: "doorbell register of a send queue",
    bytes: 8,
    fields: &[
        bits("opmod_idx_opcode:opmod", 0, 31, 24, Hex),
        bits("opmod_idx_opcode:idx", 0, 23, 8, Hex),
        bits("opmod_idx_opcode:opcode", 0, 7, 0, Named(names::opcode)),
        bits("qpn_ds:qpn", 4, 31, 8, Hex),
        bits("qpn_ds:reserved", 4, 7, 6, Zero),
        bits("qpn_ds:ds", 4, 5, 0, Dec),
    ],
});

/// A store to a completion queue's doorbell register (`MLX5_CQ_DOORBELL`) to ask for an event.
pub const CQ_DOORBELL: Layout = checked(Layout {
    name: "doorbell register of a completion queue",
    bytes: 8,
    fields: &[
        bits("arm:reserved", 0, 31, 30, Zero),
        bits("arm:sn", 0, 29, 28, Dec),
        bits("arm:cmd", 0, 27, 24, Named(arm)),
        bits("arm:ci", 0, 23, 0, Hex),
        bits("cqn:reserved", 4, 31, 24, Zero),
        bits("cqn:cqn", 4, 23, 0, Hex),
    ],
});

/// `mlx5_mini_cqe8` of Linux. The queue's format determines the meaning of the first four bytes.
pub const MINI_CQE: Layout = checked(Layout {
    name: "mlx5_mini_cqe8",
    bytes: 8,
    fields: &[whole("rx_hash_result", 0, 4, Hex), whole("byte_cnt", 4, 4, Dec)],
});

/// The end of a CQE of the enhanced layout that has up to seven mini-CQEs (Linux `include/linux/mlx5/device.h`,
/// `get_cqe_enhanced_num_mini_cqes`, and `validity_iteration_count` of `struct mlx5_cqe64`).
pub const MINI_CQES_END: Layout = checked(Layout {
    name: "mlx5_cqe64",
    bytes: 8,
    fields: &[
        whole("rsvd56", 0, 6, Unused),
        whole("validity_iteration_count", 6, 1, Dec),
        bits8("op_own:num_of_mini_cqes", 7, 7, 4, Named(mini_cqes)),
        bits8("op_own:format", 7, 3, 2, Named(format)),
        bits8("op_own:reserved", 7, 1, 0, Unused),
    ],
});

/// The stored number is the count minus one.
fn mini_cqes(number: u64) -> Option<&'static str> {
    const COUNTS: [&str; 7] = ["1", "2", "3", "4", "5", "6", "7"];
    COUNTS.get(number as usize).copied()
}

/// Message bytes in a CQE.
pub const INLINE_SCATTER: Layout =
    checked(Layout { name: "the message", bytes: 32, fields: &[whole("data", 0, 32, Bytes)] });

/// The layouts that `mlx5dv.h` also has. A test compares them with the header.
pub const OF_MLX5DV: &[&Layout] = &[&CQE64, &ERR_CQE];
