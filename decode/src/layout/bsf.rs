//! The formats after a memory key's list: signatures of blocks, and encryption. Their structures and numbers are in
//! rdma-core `providers/mlx5/wqe.h`, not in `mlx5dv.h`.

use super::Show::{Bytes, Flags, Hex, Named, Unused};
use super::{FieldLayout, Layout, bits, bits8, checked, whole};

/// `mlx5_bsf`: the format of signatures.
pub const BSF: Layout = checked(Layout {
    name: "mlx5_bsf",
    bytes: 64,
    fields: &[
        bits8("bsf_size_sbs:size", 0, 7, 6, Named(size)),
        bits8("bsf_size_sbs:sbs", 0, 5, 4, Named(same)),
        bits8("bsf_size_sbs:type", 0, 3, 0, Named(kind)),
        whole("check_byte_mask", 1, 1, Hex),
        whole("wire", 2, 1, Hex),
        whole("mem:bs_selector", 3, 1, Named(block)),
        whole("raw_data_size", 4, 4, Hex),
        bits("w_bfs_psv:bfs", 8, 31, 24, Hex),
        bits("w_bfs_psv:psv", 8, 23, 0, Hex),
        bits("m_bfs_psv:bfs", 12, 31, 24, Hex),
        bits("m_bfs_psv:psv", 12, 23, 0, Hex),
        whole("t_init_gen_pro_size", 16, 4, Unused),
        whole("rsvd_epi_size", 20, 4, Unused),
        whole("w_tfs_psv", 24, 4, Unused),
        whole("m_tfs_psv", 28, 4, Unused),
        WIRE[0],
        WIRE[1],
        WIRE[2],
        WIRE[3],
        WIRE[4],
        WIRE[5],
        WIRE[6],
        WIRE[7],
        MEMORY[0],
        MEMORY[1],
        MEMORY[2],
        MEMORY[3],
        MEMORY[4],
        MEMORY[5],
        MEMORY[6],
        MEMORY[7],
    ],
});

/// `mlx5_bsf_inl` at byte `at`: the T10-DIFs of one side, with these names.
const fn inline(at: usize, names: [&'static str; 8]) -> [FieldLayout; 8] {
    [
        whole(names[0], at, 2, Flags(&[(1 << 15, "VALID"), (1 << 14, "REFRESH_DIF")])),
        whole(names[1], at + 2, 2, Hex),
        whole(names[2], at + 4, 4, Hex),
        whole(names[3], at + 8, 1, Named(dif)),
        whole(names[4], at + 9, 1, Flags(&[(1 << 7, "REPEAT_BLOCK"), (1 << 3, "SEED")])),
        whole(names[5], at + 10, 3, Unused),
        whole(names[6], at + 13, 1, Flags(&[(1 << 6, "INC_REFTAG"), (1, "APPTAG_ESCAPE"), (2, "APPREF_ESCAPE")])),
        whole(names[7], at + 14, 2, Hex),
    ]
}

const WIRE: [FieldLayout; 8] = inline(
    32,
    [
        "w_inl:vld_refresh",
        "w_inl:dif_apptag",
        "w_inl:dif_reftag",
        "w_inl:sig_type",
        "w_inl:rp_inv_seed",
        "w_inl:rsvd",
        "w_inl:dif_inc_ref_guard_check",
        "w_inl:dif_app_bitmask_check",
    ],
);

const MEMORY: [FieldLayout; 8] = inline(
    48,
    [
        "m_inl:vld_refresh",
        "m_inl:dif_apptag",
        "m_inl:dif_reftag",
        "m_inl:sig_type",
        "m_inl:rp_inv_seed",
        "m_inl:rsvd",
        "m_inl:dif_inc_ref_guard_check",
        "m_inl:dif_app_bitmask_check",
    ],
);

/// `mlx5_crypto_bsf`.
pub const CRYPTO_BSF: Layout = checked(Layout {
    name: "mlx5_crypto_bsf",
    bytes: 64,
    fields: &[
        bits8("bsf_size_type:size", 0, 7, 6, Named(size)),
        bits8("bsf_size_type:reserved", 0, 5, 4, Unused),
        bits8("bsf_size_type:type", 0, 3, 0, Named(kind)),
        whole("enc_order", 1, 1, Named(order)),
        whole("rsvd0", 2, 1, Unused),
        whole("enc_standard", 3, 1, Named(standard)),
        whole("raw_data_size", 4, 4, Hex),
        whole("bs_pointer", 8, 1, Named(block)),
        whole("rsvd1", 9, 7, Unused),
        whole("xts_init_tweak", 16, 16, Bytes),
        bits("rsvd_dek_ptr:rsvd", 32, 31, 24, Unused),
        bits("rsvd_dek_ptr:dek", 32, 23, 0, Hex),
        whole("rsvd2", 36, 4, Unused),
        whole("keytag", 40, 8, Bytes),
        whole("rsvd3", 48, 16, Unused),
    ],
});

/// `MLX5_BSF_TYPE_CRYPTO`.
pub const CRYPTO: u64 = 1;

fn size(size: u64) -> Option<&'static str> {
    ["MLX5_BSF_SIZE_BASIC", "MLX5_BSF_SIZE_EXTENDED", "MLX5_BSF_SIZE_WITH_INLINE", "MLX5_BSF_SIZE_SIG_AND_CRYPTO"]
        .get(size as usize)
        .copied()
}

fn kind(kind: u64) -> Option<&'static str> {
    (kind == CRYPTO).then_some("MLX5_BSF_TYPE_CRYPTO")
}

fn same(bits: u64) -> Option<&'static str> {
    (bits != 0).then_some("both sides have one structure of blocks")
}

/// `bs_to_bs_selector` of `qp.c`.
fn block(selector: u64) -> Option<&'static str> {
    Some(match selector {
        1 => "blocks of 512 bytes",
        2 => "blocks of 520 bytes",
        3 => "blocks of 4096 bytes",
        4 => "blocks of 4160 bytes",
        6 => "blocks of 4048 bytes",
        _ => return None,
    })
}

fn dif(kind: u64) -> Option<&'static str> {
    Some(match kind {
        1 => "MLX5_T10DIF_CRC",
        2 => "MLX5_T10DIF_IPCS",
        _ => return None,
    })
}

/// `providers/mlx5/mlx5_ifc.h`, `MLX5_ENCRYPTION_ORDER_*`.
fn order(order: u64) -> Option<&'static str> {
    Some(match order {
        0 => "MLX5_ENCRYPTION_ORDER_ENCRYPTED_WIRE_SIGNATURE",
        1 => "MLX5_ENCRYPTION_ORDER_ENCRYPTED_MEMORY_SIGNATURE",
        2 => "MLX5_ENCRYPTION_ORDER_ENCRYPTED_RAW_WIRE",
        3 => "MLX5_ENCRYPTION_ORDER_ENCRYPTED_RAW_MEMORY",
        _ => return None,
    })
}

fn standard(standard: u64) -> Option<&'static str> {
    (standard == 0).then_some("MLX5_ENCRYPTION_STANDARD_AES_XTS")
}
