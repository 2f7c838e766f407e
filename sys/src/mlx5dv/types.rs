//! Structures of rdma-core's `providers/mlx5/mlx5dv.h`.
//!
//! rdma-core extends them at their end only, and `comp_mask` says which of the later fields are meant. A newer library
//! accepts them as they are here.

use core::ffi::c_void;

use crate::declare::{Uncalled, structures};
use crate::verbs::{ibv_ah, ibv_cq, ibv_dm, ibv_pd, ibv_qp, ibv_sge, ibv_srq, ibv_wq};

/// One pair of `struct mlx5dv_obj`: an object of verbs, and where its raw parts go.
#[repr(C)]
#[derive(Debug)]
pub struct mlx5dv_pair<I, O> {
    /// The object.
    pub r#in: *mut I,
    /// Its parts.
    pub out: *mut O,
}

impl<I, O> mlx5dv_pair<I, O> {
    /// Nothing asked.
    pub const ZERO: Self = Self { r#in: core::ptr::null_mut(), out: core::ptr::null_mut() };
}

// Derived, they would hold for objects only that are themselves copied.
impl<I, O> Copy for mlx5dv_pair<I, O> {}
impl<I, O> Clone for mlx5dv_pair<I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

/// Bytes of match parameters (`struct mlx5_ifc_fte_match_param_bits`, up to the fifth set of further fields).
pub const MATCH_BYTES: usize = 0x200;

/// The fields of frames that a rule may look at. Its insides are the library's.
#[repr(C)]
#[derive(Debug)]
pub struct mlx5dv_flow_matcher {
    _private: [u8; 0],
    _not_send: core::marker::PhantomData<*mut c_void>,
}

structures! {
    /// Compression formats of CQEs.
    struct mlx5dv_cqe_comp_caps {
        /// Longest compressed block, in CQEs.
        max_num: u32,
        /// Mini-CQE formats, bits of `enum mlx5dv_cqe_comp_res_format`.
        supported_format: u32,
    }

    /// Software parsing offloads.
    struct mlx5dv_sw_parsing_caps {
        /// Bits of `enum mlx5dv_sw_parsing_offloads`.
        sw_parsing_offloads: u32,
        /// QP types, bits `1 << ibv_qp_type`.
        supported_qpts: u32,
    }

    /// Striding receive queues.
    struct mlx5dv_striding_rq_caps {
        /// log2 of the smallest stride, bytes.
        min_single_stride_log_num_of_bytes: u32,
        /// log2 of the largest stride, bytes.
        max_single_stride_log_num_of_bytes: u32,
        /// log2 of the fewest strides per WQE.
        min_single_wqe_log_num_of_strides: u32,
        /// log2 of the most strides per WQE.
        max_single_wqe_log_num_of_strides: u32,
        /// QP types, bits `1 << ibv_qp_type`.
        supported_qpts: u32,
    }

    /// Signature offloads.
    struct mlx5dv_sig_caps {
        /// Bits of `enum mlx5dv_block_size_caps`.
        block_size: u64,
        /// Bits of `enum mlx5dv_sig_prot_caps`.
        block_prot: u32,
        /// Bits of `enum mlx5dv_sig_t10dif_bg_caps`.
        t10dif_bg: u16,
        /// Bits of `enum mlx5dv_sig_crc_type_caps`.
        crc_type: u16,
    }

    /// Streams of initiators.
    struct mlx5dv_dci_streams_caps {
        /// log2 of the most streams of a DCI.
        max_log_num_concurent: u8,
        /// log2 of the most of them that may have failed while the others go on; 0: the device has no streams that fail
        /// alone.
        max_log_num_errored: u8,
    }

    /// Encryption.
    struct mlx5dv_crypto_caps {
        /// Self tests that failed.
        failed_selftests: u16,
        /// `MLX5DV_CRYPTO_ENGINES_CAP_*`.
        crypto_engines: u8,
        /// Bits of `enum mlx5dv_crypto_wrapped_import_method_caps`.
        wrapped_import_method: u8,
        /// log2 of the most keys of encryption.
        log_max_num_deks: u8,
        /// Bits of `enum mlx5dv_crypto_caps_flags`.
        flags: u32,
    }

    /// The answer of `mlx5dv_query_device`, up to `crypto_caps`. The call fills in the
    /// fields that `comp_mask` asks for. Later fields are not declared here.
    struct mlx5dv_context {
        /// Version of the device's user space interface.
        version: u8,
        /// `MLX5DV_CONTEXT_FLAGS_*`.
        flags: u64,
        /// In: `MLX5DV_CONTEXT_MASK_*` of the fields wanted; out: of those given.
        comp_mask: u64,
        /// CQE compression.
        cqe_comp_caps: mlx5dv_cqe_comp_caps,
        /// Software parsing.
        sw_parsing_caps: mlx5dv_sw_parsing_caps,
        /// Striding receive queues.
        striding_rq_caps: mlx5dv_striding_rq_caps,
        /// Tunnel offloads.
        tunnel_offloads_caps: u32,
        /// The number of BlueFlame registers beyond the static ones: the limit of thread domains. 0 if the kernel allocates
        /// registers one by one.
        max_dynamic_bfregs: u32,
        /// The longest interval between updates of the clock's page, nanoseconds.
        max_clock_info_update_nsec: u64,
        /// Flow actions: not asked for.
        flow_action_flags: u32,
        /// On-demand paging of dynamic connections: not asked for.
        dc_odp_caps: u32,
        /// The device's clock: 64 bits, big endian, mapped as long as the context is open.
        hca_core_clock: *mut c_void,
        /// Ports that the device can bond.
        num_lag_ports: u8,
        /// Signatures: not asked for.
        sig_caps: mlx5dv_sig_caps,
        /// Streams of initiators.
        dci_streams_caps: mlx5dv_dci_streams_caps,
        /// Most bytes of a copy (`mlx5dv_wr_memcpy`); 0: none.
        max_wr_memcpy_length: usize,
        /// Encryption.
        crypto_caps: mlx5dv_crypto_caps,
    }

    /// A buffer of WQEs (`struct mlx5dv_qp::{sq,rq}`).
    struct mlx5dv_wq {
        /// First byte.
        buf: *mut c_void,
        /// Number of WQEs (receive) or WQEBBs (send).
        wqe_cnt: u32,
        /// Bytes per WQE or WQEBB.
        stride: u32,
    }

    /// The send doorbell register (`struct mlx5dv_qp::bf`).
    struct mlx5dv_bf {
        /// Address in the mapped UAR page.
        reg: *mut c_void,
        /// Bytes of one BlueFlame buffer; 0 = no BlueFlame, doorbells only.
        size: u32,
    }

    /// Raw parts of a QP.
    struct mlx5dv_qp {
        /// Doorbell record: two big-endian words, `MLX5_RCV_DBR` and `MLX5_SND_DBR`.
        dbrec: *mut u32,
        /// Send ring.
        sq: mlx5dv_wq,
        /// Receive ring.
        rq: mlx5dv_wq,
        /// Doorbell register.
        bf: mlx5dv_bf,
        /// In: which of the fields below are wanted; out: which are given.
        comp_mask: u64,
        /// Where the UAR page is mapped from.
        uar_mmap_offset: i64,
        /// Transport interface receive number.
        tirn: u32,
        /// Transport interface send number.
        tisn: u32,
        /// Receive queue number (raw packet QPs).
        rqn: u32,
        /// Send queue number (raw packet QPs).
        sqn: u32,
        /// ICM address of the TIR.
        tir_icm_addr: u64,
    }

    /// Raw parts of a CQ.
    struct mlx5dv_cq {
        /// Ring of CQEs.
        buf: *mut c_void,
        /// Doorbell record: two big-endian words, consumer index and arm.
        dbrec: *mut u32,
        /// Number of CQEs, a power of two.
        cqe_cnt: u32,
        /// Bytes per CQE, 64 or 128.
        cqe_size: u32,
        /// UAR page on which the CQ is armed.
        cq_uar: *mut c_void,
        /// CQ number.
        cqn: u32,
        /// In and out: none defined.
        comp_mask: u64,
    }

    /// Raw parts of an SRQ.
    struct mlx5dv_srq {
        /// Ring of WQEs, linked by their first segment.
        buf: *mut c_void,
        /// Doorbell record: one big-endian word.
        dbrec: *mut u32,
        /// Bytes per WQE.
        stride: u32,
        /// First free WQE.
        head: u32,
        /// Last free WQE.
        tail: u32,
        /// In: `MLX5DV_SRQ_MASK_SRQN`; out: the same if given.
        comp_mask: u64,
        /// SRQ number.
        srqn: u32,
    }

    /// Raw parts of a work queue.
    struct mlx5dv_rwq {
        /// Ring of WQEs.
        buf: *mut c_void,
        /// Doorbell record: one big-endian word.
        dbrec: *mut u32,
        /// Number of WQEs, a power of two.
        wqe_cnt: u32,
        /// Bytes per WQE.
        stride: u32,
        /// In and out: none defined.
        comp_mask: u64,
    }

    /// The argument of `mlx5dv_init_obj`.
    struct mlx5dv_obj {
        /// With `MLX5DV_OBJ_QP`.
        qp: mlx5dv_pair<ibv_qp, mlx5dv_qp>,
        /// With `MLX5DV_OBJ_CQ`.
        cq: mlx5dv_pair<ibv_cq, mlx5dv_cq>,
        /// With `MLX5DV_OBJ_SRQ`.
        srq: mlx5dv_pair<ibv_srq, mlx5dv_srq>,
        /// With `MLX5DV_OBJ_RWQ`.
        rwq: mlx5dv_pair<ibv_wq, mlx5dv_rwq>,
        /// Memory of the device: its parts are not declared here.
        dm: mlx5dv_pair<ibv_dm, c_void>,
        /// With `MLX5DV_OBJ_AH`.
        ah: mlx5dv_pair<ibv_ah, mlx5dv_ah>,
        /// With `MLX5DV_OBJ_PD`.
        pd: mlx5dv_pair<ibv_pd, mlx5dv_pd>,
    }

    /// CQ attributes that verbs has no words for.
    struct mlx5dv_cq_init_attr {
        /// Which of the fields below count.
        comp_mask: u64,
        /// Mini-CQE format.
        cqe_comp_res_format: u8,
        /// `MLX5DV_CQ_INIT_ATTR_FLAGS_*`.
        flags: u32,
        /// Bytes per CQE.
        cqe_size: u16,
    }

    /// Dynamically connected QPs.
    struct mlx5dv_dc_init_attr {
        /// `MLX5DV_DCTYPE_DCT` or `MLX5DV_DCTYPE_DCI`.
        dc_type: u32,
        /// Access key of a DCT. For a DCI with streams, the first two bytes in memory are `struct mlx5dv_dci_streams`: log2
        /// of the number of streams, and of the number that may have failed.
        dct_access_key: u64,
    }

    /// QP attributes that verbs has no words for.
    struct mlx5dv_qp_init_attr {
        /// Which of the fields below count.
        comp_mask: u64,
        /// `MLX5DV_QP_CREATE_*`.
        create_flags: u32,
        /// Dynamically connected transport.
        dc_init_attr: mlx5dv_dc_init_attr,
        /// Extra `mlx5dv_wr_*` operations.
        send_ops_flags: u64,
    }

    /// Attributes of a new indirect memory key.
    struct mlx5dv_mkey_init_attr {
        /// Its protection domain.
        pd: *mut ibv_pd,
        /// `MLX5DV_MKEY_INIT_ATTR_FLAGS_*`.
        create_flags: u32,
        /// Entries that its list has room for; as granted afterwards.
        max_entries: u16,
    }

    /// The strides of a work queue.
    struct mlx5dv_striding_rq_init_attr {
        /// log2 of the bytes of a stride.
        single_stride_log_num_of_bytes: u32,
        /// log2 of the strides of a WQE.
        single_wqe_log_num_of_strides: u32,
        /// 1: two zero bytes come before each frame.
        two_byte_shift_en: u8,
    }

    /// Work queue attributes that verbs has no words for.
    struct mlx5dv_wq_init_attr {
        /// `MLX5DV_WQ_INIT_ATTR_MASK_*` of the fields below.
        comp_mask: u64,
        /// Strides.
        striding_rq_attrs: mlx5dv_striding_rq_init_attr,
    }

    /// A queue pair with mlx5's own functions that build requests, up to the last one that is declared here.
    struct mlx5dv_qp_ex {
        /// Which of the fields below are there.
        comp_mask: u64,
        wr_set_dc_addr: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, *mut ibv_ah, u32, u64)>,
        wr_mr_interleaved: Uncalled,
        wr_mr_list: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, *mut mlx5dv_mkey, u32, u16, *mut ibv_sge)>,
    }

    /// An indirect memory key.
    struct mlx5dv_mkey {
        /// As this side's requests name it.
        lkey: u32,
        /// As peers' name it: the same number.
        rkey: u32,
    }

    /// How a device is opened.
    struct mlx5dv_context_attr {
        /// `MLX5DV_CONTEXT_FLAGS_DEVX`.
        flags: u32,
        /// Which of later fields count: there are none.
        comp_mask: u64,
    }

    /// Fields of frames in the device's layout (`struct mlx5dv_flow_match_parameters`, which ends with an array).
    struct mlx5dv_flow_match_parameters {
        /// Bytes of the fields.
        match_sz: usize,
        /// The fields, as the device has them.
        match_buf: [u8; MATCH_BYTES],
    }

    /// A matcher (`struct mlx5dv_flow_matcher_attr`, up to the type of the table).
    struct mlx5dv_flow_matcher_attr {
        /// `enum ibv_flow_attr_type`.
        r#type: u32,
        /// `enum ibv_flow_flags`.
        flags: u32,
        /// Priority: the least number comes first.
        priority: u16,
        /// Which sets of fields count, a bit each.
        match_criteria_enable: u8,
        /// The bits that count.
        match_mask: *mut mlx5dv_flow_match_parameters,
        /// Which of the later fields are meant.
        comp_mask: u64,
        /// `enum mlx5dv_flow_table_type`.
        ft_type: u32,
    }

    /// An action of a rule (`struct mlx5dv_flow_action_attr`, as the exported function reads it: without the offset of a
    /// counter).
    struct mlx5dv_flow_action_attr {
        /// `enum mlx5dv_flow_action_type`.
        r#type: u32,
        /// The object of the action, if it has one.
        obj: *mut c_void,
    }

    /// A protection domain's parts.
    struct mlx5dv_pd {
        /// The number that identifies it in commands.
        pdn: u32,
        /// Which later fields are requested: none.
        comp_mask: u64,
    }

    /// An address handle's parts.
    struct mlx5dv_ah {
        /// The address vector for WQEs.
        av: *mut mlx5_wqe_av,
        /// Which later fields are requested: none.
        comp_mask: u64,
    }

    /// An address vector, big endian.
    struct mlx5_wqe_av {
        /// Q_Key, or access key of a DCT.
        key: u64,
        /// Queue pair, or DCT.
        dqp_dct: u32,
        /// Rate and service level.
        stat_rate_sl: u8,
        /// Force loopback, and the lower bits of the LID.
        fl_mlid: u8,
        /// LID; on Ethernet with RoCE v2 the UDP source port.
        rlid: u16,
        /// Reserved.
        reserved0: [u8; 4],
        /// MAC.
        rmac: [u8; 6],
        /// Traffic class.
        tclass: u8,
        /// Hop limit.
        hop_limit: u8,
        /// Whether there is a GRH, index of the GID, flow label.
        grh_gid_fl: u32,
        /// GID.
        rgid: [u8; 16],
    }
}
