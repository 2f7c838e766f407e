//! The hand-declared part of mlx5dv against the installed header: a C program prints sizes, offsets and constants.
//!
//! Declarations of `src/verbs` belong here. Those of devx belong in `devx/tests/mlx5dv_devx.rs`.

#![cfg(feature = "verbs")]

mod c_header;

use std::mem::offset_of;

use blueflame::cq::compressed::{Checksum, ChecksumStride, Hash, MiniFormat};
use blueflame::verbs::ffi;
use blueflame::wqe::seg::{DatagramSeg, EXTENDED_AV};

/// The comparison: a C expression, and Rust's value.
#[derive(Default)]
struct Table {
    entries: Vec<(String, u64)>,
}

impl Table {
    fn add(&mut self, c: impl Into<String>, rust: u64) {
        self.entries.push((c.into(), rust));
    }
}

/// Adds the size, the offset and the size of each field of a struct.
macro_rules! structure {
    ($table:ident, $rust:ident, $c:literal, [$($field:tt as $c_field:literal),+ $(,)?]) => {
        $(
            $table.add(format!("offsetof(struct {}, {})", $c, $c_field), offset_of!(ffi::$rust, $field) as u64);
            $table.add(
                format!("sizeof(((struct {} *)0)->{})", $c, $c_field),
                field_size(|value: &ffi::$rust| &raw const value.$field),
            );
        )+
    };
}

/// Size of a field, from a function that points to it.
fn field_size<S, F>(_: impl Fn(&S) -> *const F) -> u64 {
    size_of::<F>() as u64
}

fn table() -> Table {
    let mut t = Table::default();
    structure!(t, Mlx5dvCqeCompCaps, "mlx5dv_cqe_comp_caps", [
        max_num as "max_num",
        supported_format as "supported_format",
    ]);
    structure!(t, Mlx5dvSwParsingCaps, "mlx5dv_sw_parsing_caps", [
        sw_parsing_offloads as "sw_parsing_offloads",
        supported_qpts as "supported_qpts",
    ]);
    structure!(t, Mlx5dvStridingRqCaps, "mlx5dv_striding_rq_caps", [
        min_single_stride_log_num_of_bytes as "min_single_stride_log_num_of_bytes",
        max_single_stride_log_num_of_bytes as "max_single_stride_log_num_of_bytes",
        min_single_wqe_log_num_of_strides as "min_single_wqe_log_num_of_strides",
        max_single_wqe_log_num_of_strides as "max_single_wqe_log_num_of_strides",
        supported_qpts as "supported_qpts",
    ]);
    structure!(t, Mlx5dvContext, "mlx5dv_context", [
        version as "version",
        flags as "flags",
        comp_mask as "comp_mask",
        cqe_comp_caps as "cqe_comp_caps",
        sw_parsing_caps as "sw_parsing_caps",
        striding_rq_caps as "striding_rq_caps",
        tunnel_offloads_caps as "tunnel_offloads_caps",
        max_dynamic_bfregs as "max_dynamic_bfregs",
        max_clock_info_update_nsec as "max_clock_info_update_nsec",
        flow_action_flags as "flow_action_flags",
        dc_odp_caps as "dc_odp_caps",
        hca_core_clock as "hca_core_clock",
        num_lag_ports as "num_lag_ports",
        sig_caps as "sig_caps",
        dci_streams_caps as "dci_streams_caps",
        max_wr_memcpy_length as "max_wr_memcpy_length",
        crypto_caps as "crypto_caps",
    ]);
    structure!(t, Mlx5dvCryptoCaps, "mlx5dv_crypto_caps", [
        failed_selftests as "failed_selftests",
        crypto_engines as "crypto_engines",
        wrapped_import_method as "wrapped_import_method",
        log_max_num_deks as "log_max_num_deks",
        flags as "flags",
    ]);
    structure!(t, Mlx5dvSigCaps, "mlx5dv_sig_caps", [
        block_size as "block_size",
        block_prot as "block_prot",
        t10dif_bg as "t10dif_bg",
        crc_type as "crc_type",
    ]);
    structure!(t, Mlx5dvDciStreamsCaps, "mlx5dv_dci_streams_caps", [
        max_log_num_concurent as "max_log_num_concurent",
        max_log_num_errored as "max_log_num_errored",
    ]);
    structure!(t, Mlx5dvQp, "mlx5dv_qp", [
        dbrec as "dbrec",
        sq as "sq",
        rq as "rq",
        bf as "bf",
        comp_mask as "comp_mask",
        uar_mmap_offset as "uar_mmap_offset",
        tirn as "tirn",
        tisn as "tisn",
        rqn as "rqn",
        sqn as "sqn",
        tir_icm_addr as "tir_icm_addr",
    ]);
    let nested = [
        ("sq.buf", offset_of!(ffi::Mlx5dvQp, sq) + offset_of!(ffi::Mlx5dvWq, buf)),
        ("sq.wqe_cnt", offset_of!(ffi::Mlx5dvQp, sq) + offset_of!(ffi::Mlx5dvWq, wqe_cnt)),
        ("sq.stride", offset_of!(ffi::Mlx5dvQp, sq) + offset_of!(ffi::Mlx5dvWq, stride)),
        ("rq.buf", offset_of!(ffi::Mlx5dvQp, rq) + offset_of!(ffi::Mlx5dvWq, buf)),
        ("rq.wqe_cnt", offset_of!(ffi::Mlx5dvQp, rq) + offset_of!(ffi::Mlx5dvWq, wqe_cnt)),
        ("rq.stride", offset_of!(ffi::Mlx5dvQp, rq) + offset_of!(ffi::Mlx5dvWq, stride)),
        ("bf.reg", offset_of!(ffi::Mlx5dvQp, bf) + offset_of!(ffi::Mlx5dvBf, reg)),
        ("bf.size", offset_of!(ffi::Mlx5dvQp, bf) + offset_of!(ffi::Mlx5dvBf, size)),
    ];
    for (field, offset) in nested {
        t.add(format!("offsetof(struct mlx5dv_qp, {field})"), offset as u64);
    }
    structure!(t, Mlx5dvCq, "mlx5dv_cq", [
        buf as "buf",
        dbrec as "dbrec",
        cqe_cnt as "cqe_cnt",
        cqe_size as "cqe_size",
        cq_uar as "cq_uar",
        cqn as "cqn",
        comp_mask as "comp_mask",
    ]);
    structure!(t, Mlx5dvSrq, "mlx5dv_srq", [
        buf as "buf",
        dbrec as "dbrec",
        stride as "stride",
        head as "head",
        tail as "tail",
        comp_mask as "comp_mask",
        srqn as "srqn",
    ]);
    structure!(t, Mlx5dvRwq, "mlx5dv_rwq", [
        buf as "buf",
        dbrec as "dbrec",
        wqe_cnt as "wqe_cnt",
        stride as "stride",
        comp_mask as "comp_mask",
    ]);
    structure!(t, Mlx5dvAh, "mlx5dv_ah", [
        av as "av",
        comp_mask as "comp_mask",
    ]);
    let av = [
        ("key", offset_of!(DatagramSeg, base.key)),
        ("dqp_dct", offset_of!(DatagramSeg, base.dqp_dct)),
        ("stat_rate_sl", offset_of!(DatagramSeg, base.stat_rate_sl)),
        ("fl_mlid", offset_of!(DatagramSeg, base.fl_mlid)),
        ("rlid", offset_of!(DatagramSeg, base.rlid)),
        ("reserved0", offset_of!(DatagramSeg, grh.reserved0)),
        ("rmac", offset_of!(DatagramSeg, grh.rmac)),
        ("tclass", offset_of!(DatagramSeg, grh.tclass)),
        ("hop_limit", offset_of!(DatagramSeg, grh.hop_limit)),
        ("grh_gid_fl", offset_of!(DatagramSeg, grh.grh_gid_fl)),
        ("rgid", offset_of!(DatagramSeg, rgid)),
    ];
    for (field, offset) in av {
        t.add(format!("offsetof(struct mlx5_wqe_av, {field})"), offset as u64);
    }
    t.add("sizeof(struct mlx5_wqe_av)", size_of::<DatagramSeg>() as u64);
    t.add("sizeof(struct mlx5_wqe_datagram_seg)", size_of::<DatagramSeg>() as u64);
    structure!(t, Mlx5dvObj, "mlx5dv_obj", [
        qp as "qp",
        cq as "cq",
        srq as "srq",
        rwq as "rwq",
        dm as "dm",
        ah as "ah",
        pd as "pd",
    ]);
    t.add("offsetof(struct mlx5dv_obj, qp.in)", offset_of!(ffi::Mlx5dvObj, qp.r#in) as u64);
    t.add("offsetof(struct mlx5dv_obj, srq.out)", offset_of!(ffi::Mlx5dvObj, srq.out) as u64);
    structure!(t, Mlx5dvCqInitAttr, "mlx5dv_cq_init_attr", [
        comp_mask as "comp_mask",
        cqe_comp_res_format as "cqe_comp_res_format",
        flags as "flags",
        cqe_size as "cqe_size",
    ]);
    structure!(t, Mlx5dvContextAttr, "mlx5dv_context_attr", [
        flags as "flags",
        comp_mask as "comp_mask",
    ]);
    structure!(t, Mlx5dvDcInitAttr, "mlx5dv_dc_init_attr", [
        dc_type as "dc_type",
        dct_access_key as "dct_access_key",
    ]);
    // The contents of the key's first two bytes.
    t.add(
        "offsetof(struct mlx5dv_dc_init_attr, dci_streams)",
        offset_of!(ffi::Mlx5dvDcInitAttr, dct_access_key) as u64,
    );
    t.add("offsetof(struct mlx5dv_dci_streams, log_num_concurent)", 0);
    t.add("offsetof(struct mlx5dv_dci_streams, log_num_errored)", 1);
    t.add("sizeof(struct mlx5dv_dci_streams)", 2);
    structure!(t, Mlx5dvQpInitAttr, "mlx5dv_qp_init_attr", [
        comp_mask as "comp_mask",
        create_flags as "create_flags",
        dc_init_attr as "dc_init_attr",
        send_ops_flags as "send_ops_flags",
    ]);
    structure!(t, Mlx5dvMkeyInitAttr, "mlx5dv_mkey_init_attr", [
        pd as "pd",
        create_flags as "create_flags",
        max_entries as "max_entries",
    ]);
    structure!(t, Mlx5dvWqInitAttr, "mlx5dv_wq_init_attr", [
        comp_mask as "comp_mask",
        striding_rq_attrs as "striding_rq_attrs",
    ]);
    structure!(t, Mlx5dvStridingRqInitAttr, "mlx5dv_striding_rq_init_attr", [
        single_stride_log_num_of_bytes as "single_stride_log_num_of_bytes",
        single_wqe_log_num_of_strides as "single_wqe_log_num_of_strides",
        two_byte_shift_en as "two_byte_shift_en",
    ]);
    structure!(t, Mlx5dvFlowMatcherAttr, "mlx5dv_flow_matcher_attr", [
        r#type as "type",
        flags as "flags",
        priority as "priority",
        match_criteria_enable as "match_criteria_enable",
        match_mask as "match_mask",
        comp_mask as "comp_mask",
        ft_type as "ft_type",
    ]);
    structure!(t, Mlx5dvFlowActionAttr, "mlx5dv_flow_action_attr", [r#type as "type", obj as "obj"]);
    t.add("offsetof(struct mlx5dv_flow_match_parameters, match_sz)", 0);
    let at = offset_of!(ffi::Mlx5dvFlowMatchParameters, match_buf) as u64;
    t.add("offsetof(struct mlx5dv_flow_match_parameters, match_buf)", at);
    structure!(t, Mlx5dvMkey, "mlx5dv_mkey", [lkey as "lkey", rkey as "rkey"]);
    // Those that the library reads whole, or writes whole.
    t.add("sizeof(struct mlx5dv_mkey_init_attr)", size_of::<ffi::Mlx5dvMkeyInitAttr>() as u64);
    t.add("sizeof(struct mlx5dv_wq_init_attr)", size_of::<ffi::Mlx5dvWqInitAttr>() as u64);
    t.add("sizeof(struct mlx5dv_mkey)", size_of::<ffi::Mlx5dvMkey>() as u64);
    t.add("sizeof(struct mlx5dv_qp)", size_of::<ffi::Mlx5dvQp>() as u64);
    t.add("sizeof(struct mlx5dv_cq)", size_of::<ffi::Mlx5dvCq>() as u64);
    t.add("sizeof(struct mlx5dv_ah)", size_of::<ffi::Mlx5dvAh>() as u64);
    t.add("sizeof(struct mlx5dv_rwq)", size_of::<ffi::Mlx5dvRwq>() as u64);
    t.add("sizeof(struct mlx5dv_srq)", size_of::<ffi::Mlx5dvSrq>() as u64);
    // `mlx5dv_init_obj` touches only the pairs that it is asked for. rdma-core 65 has one more at the end, `devx`.
    t.add(format!("sizeof(struct mlx5dv_obj) >= {}", size_of::<ffi::Mlx5dvObj>()), 1);
    t.add("sizeof(struct mlx5dv_cq_init_attr)", size_of::<ffi::Mlx5dvCqInitAttr>() as u64);
    t.add("sizeof(struct mlx5dv_qp_init_attr)", size_of::<ffi::Mlx5dvQpInitAttr>() as u64);
    let constants = [
        ("MLX5DV_CONTEXT_FLAGS_DEVX", ffi::MLX5DV_CONTEXT_FLAGS_DEVX.into()),
        ("MLX5DV_CONTEXT_FLAGS_CQE_V1", ffi::MLX5DV_CONTEXT_FLAGS_CQE_V1),
        ("MLX5DV_CONTEXT_MASK_DYN_BFREGS", ffi::MLX5DV_CONTEXT_MASK_DYN_BFREGS),
        ("MLX5DV_CONTEXT_MASK_SWP", ffi::MLX5DV_CONTEXT_MASK_SWP),
        ("MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS", ffi::MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS),
        ("MLX5DV_SW_PARSING", ffi::MLX5DV_SW_PARSING.into()),
        ("MLX5DV_SW_PARSING_CSUM", ffi::MLX5DV_SW_PARSING_CSUM.into()),
        ("MLX5DV_SW_PARSING_LSO", ffi::MLX5DV_SW_PARSING_LSO.into()),
        ("MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN", ffi::MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN.into()),
        ("MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE", ffi::MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE.into()),
        ("MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE", ffi::MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE.into()),
        ("MLX5DV_FLOW_MATCHER_MASK_FT_TYPE", ffi::MLX5DV_FLOW_MATCHER_MASK_FT_TYPE),
        ("MLX5DV_FLOW_TABLE_TYPE_NIC_TX", ffi::MLX5DV_FLOW_TABLE_TYPE_NIC_TX.into()),
        ("MLX5DV_FLOW_ACTION_DROP", ffi::MLX5DV_FLOW_ACTION_DROP.into()),
        ("MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD", ffi::MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD),
        ("MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK", ffi::MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK.into()),
        ("MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK", ffi::MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK.into()),
        ("MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO", ffi::MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO.into()),
        ("MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH", ffi::MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH),
        ("MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS", ffi::MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS),
        ("MLX5DV_QP_EX_WITH_MEMCPY", ffi::MLX5DV_QP_EX_WITH_MEMCPY),
        ("MLX5DV_CONTEXT_MASK_DCI_STREAMS", ffi::MLX5DV_CONTEXT_MASK_DCI_STREAMS),
        ("MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT", ffi::MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT.into()),
        ("MLX5DV_DCTYPE_DCT", ffi::MLX5DV_DCTYPE_DCT.into()),
        ("MLX5DV_DCTYPE_DCI", ffi::MLX5DV_DCTYPE_DCI.into()),
        ("MLX5DV_QP_INIT_ATTR_MASK_DC", ffi::MLX5DV_QP_INIT_ATTR_MASK_DC),
        ("MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS", ffi::MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS),
        ("MLX5_RCV_DBR", ffi::MLX5_RCV_DBR as u64),
        ("MLX5_SND_DBR", ffi::MLX5_SND_DBR as u64),
        ("MLX5DV_SRQ_MASK_SRQN", ffi::MLX5DV_SRQ_MASK_SRQN),
        ("MLX5DV_QP_MASK_RAW_QP_HANDLES", ffi::MLX5DV_QP_MASK_RAW_QP_HANDLES),
        ("MLX5DV_OBJ_QP", ffi::MLX5DV_OBJ_QP),
        ("MLX5DV_OBJ_CQ", ffi::MLX5DV_OBJ_CQ),
        ("MLX5DV_OBJ_SRQ", ffi::MLX5DV_OBJ_SRQ),
        ("MLX5DV_OBJ_RWQ", ffi::MLX5DV_OBJ_RWQ),
        ("MLX5DV_OBJ_AH", ffi::MLX5DV_OBJ_AH),
        ("(uint32_t)MLX5_EXTENDED_UD_AV", EXTENDED_AV.into()),
        ("MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED", ffi::MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED),
        ("MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW", ffi::MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW),
        ("MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP", ffi::MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP),
        ("MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS", ffi::MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS),
        ("MLX5DV_CONTEXT_MASK_STRIDING_RQ", ffi::MLX5DV_CONTEXT_MASK_STRIDING_RQ),
        ("MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ", ffi::MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ),
        ("MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE", ffi::MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE),
        ("MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK", ffi::MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK),
        ("MLX5DV_CONTEXT_MASK_CQE_COMPRESION", ffi::MLX5DV_CONTEXT_MASK_CQE_COMPRESION),
        ("MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE", ffi::MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE),
        ("MLX5DV_CQE_RES_FORMAT_HASH", Hash::MLX5DV.map_or(0, Into::into)),
        ("MLX5DV_CQE_RES_FORMAT_CSUM", Checksum::MLX5DV.map_or(0, Into::into)),
        ("MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX", ChecksumStride::MLX5DV.map_or(0, Into::into)),
        ("MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE", ffi::MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE),
        ("MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS", ffi::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS),
        ("MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE", ffi::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE.into()),
        ("MLX5DV_RES_TYPE_QP", ffi::MLX5DV_RES_TYPE_QP),
        ("MLX5DV_RES_TYPE_DBR", ffi::MLX5DV_RES_TYPE_DBR),
        ("MLX5DV_RES_TYPE_CQ", ffi::MLX5DV_RES_TYPE_CQ),
        ("(uintptr_t)IBV_ALLOCATOR_USE_DEFAULT", ffi::IBV_ALLOCATOR_USE_DEFAULT.addr() as u64),
    ];
    for (name, value) in constants {
        t.add(name, value);
    }
    t
}

#[test]
fn declarations_agree_with_the_installed_header() {
    c_header::compare("#include <infiniband/mlx5dv.h>", &table().entries);
}
