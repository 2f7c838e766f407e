//! The mlx5 driver's part of the uverbs ABI (`rdma/mlx5-abi.h`, `rdma/mlx5_user_ioctl_cmds.h`).

use super::abi;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

abi! {
    /// `struct mlx5_ib_alloc_mw`.
    struct AllocMwReq {
        comp_mask: u32,
        num_klms: u8,
        reserved1: u8,
        reserved2: u16,
    }

    /// What it answers.
    struct AllocMwUhwResp {
        comp_mask: u32,
        response_length: u32,
    }

    /// `struct mlx5_ib_alloc_ucontext_req_v2`.
    struct AllocUcontextReq {
        total_num_bfregs: u32,
        num_low_latency_bfregs: u32,
        flags: u32,
        comp_mask: u32,
        max_cqe_version: u8,
        reserved0: u8,
        reserved1: u16,
        reserved2: u32,
        lib_caps: u64,
    }

    /// `struct mlx5_ib_alloc_ucontext_resp`.
    struct AllocUcontextResp {
        qp_tab_size: u32,
        /// Bytes of a BlueFlame register: two halves.
        bf_reg_size: u32,
        /// Static BlueFlame registers; 0 = UARs are allocated one by one.
        tot_bfregs: u32,
        cache_line_size: u32,
        /// Bytes.
        max_sq_desc_sz: u16,
        /// Bytes.
        max_rq_desc_sz: u16,
        max_send_wqebb: u32,
        max_recv_wr: u32,
        max_srq_recv_wr: u32,
        num_ports: u16,
        flow_action_flags: u16,
        comp_mask: u32,
        response_length: u32,
        cqe_version: u8,
        cmds_supp_uhw: u8,
        eth_min_inline: u8,
        clock_info_versions: u8,
        hca_core_clock_offset: u64,
        log_uar_size: u32,
        num_uars_per_page: u32,
        num_dyn_bfregs: u32,
        dump_fill_mkey: u32,
    }

    /// `struct mlx5_ib_clock_info`: at `cycles` of the device's clock, it was `nsec`.
    struct ClockInfo {
        /// Odd while the rest is being written; another number when it has been.
        sign: u32,
        reserved: u32,
        nsec: u64,
        cycles: u64,
        /// The fraction beyond `nsec`, in parts of `1 << shift`.
        frac: u64,
        /// Nanoseconds of `1 << shift` cycles.
        mult: u32,
        shift: u32,
        /// Which bits of the clock count.
        mask: u64,
        /// How long this may be used.
        overflow_period: u64,
    }

    /// `struct mlx5_ib_query_device_resp`: almost all of it describes offloads that the device does not have.
    struct DeviceResp {
        comp_mask: u32,
        response_length: u32,
        tso_caps: [u32; 2],
        rss_caps: [u64; 2],
        cqe_comp_caps: [u32; 2],
        packet_pacing_caps: [u32; 4],
        multi_pkt_send_wqes: u32,
        flags: u32,
        sw_parsing_caps: [u32; 2],
        striding_rq_caps: [u32; 6],
        tunnel_offloads_caps: u32,
        dci_streams_caps: [u8; 2],
        reserved: u16,
        /// Of an embedded switch: value and mask.
        reg_c0: [u32; 2],
    }

    /// `struct mlx5_ib_create_cq`.
    struct CreateCq {
        buf_addr: u64,
        db_addr: u64,
        cqe_size: u32,
        cqe_comp_en: u8,
        cqe_comp_res_format: u8,
        flags: u16,
        uar_page_index: u16,
        reserved0: u16,
        reserved1: u32,
    }

    /// `struct mlx5_ib_create_cq_resp`.
    struct CreateCqResp {
        cqn: u32,
        reserved: u32,
    }

    /// `struct mlx5_ib_resize_cq`.
    struct ResizeCq {
        buf_addr: u64,
        cqe_size: u16,
        reserved0: u16,
        reserved1: u32,
    }

    /// `struct mlx5_ib_create_srq`.
    struct CreateSrq {
        buf_addr: u64,
        db_addr: u64,
        flags: u32,
        reserved0: u32,
        uidx: u32,
        reserved1: u32,
    }

    /// `struct mlx5_ib_create_srq_resp`.
    struct CreateSrqResp {
        srqn: u32,
        reserved: u32,
    }

    /// `struct mlx5_ib_create_qp`.
    struct CreateQp {
        buf_addr: u64,
        db_addr: u64,
        sq_wqe_count: u32,
        rq_wqe_count: u32,
        /// log2 of the bytes of a receive WQE.
        rq_wqe_shift: u32,
        flags: u32,
        uidx: u32,
        bfreg_index: u32,
        /// Where a raw packet QP's send ring is; the access key of a DCT.
        sq_buf_addr: u64,
        ece_options: u32,
        dci_streams: [u8; 2],
        reserved: u16,
    }

    /// `struct mlx5_ib_create_qp_resp`.
    struct CreateQpResp {
        bfreg_index: u32,
        ece_options: u32,
        comp_mask: u32,
        tirn: u32,
        tisn: u32,
        rqn: u32,
        sqn: u32,
        reserved1: u32,
        tir_icm_addr: u64,
    }

    /// `struct mlx5_ib_create_qp_rss`.
    struct CreateQpRss {
        rx_hash_fields_mask: u64,
        rx_hash_function: u8,
        rx_key_len: u8,
        reserved: [u8; 6],
        rx_hash_key: [u8; 128],
        comp_mask: u32,
        flags: u32,
    }

    /// `struct mlx5_ib_create_wq`.
    struct CreateWq {
        buf_addr: u64,
        db_addr: u64,
        rq_wqe_count: u32,
        /// log2 of the bytes of a WQE.
        rq_wqe_shift: u32,
        user_index: u32,
        flags: u32,
        comp_mask: u32,
        single_stride_log_num_of_bytes: u32,
        single_wqe_log_num_of_strides: u32,
        two_byte_shift_en: u32,
    }

    /// `struct mlx5_ib_modify_wq`.
    struct ModifyWq {
        comp_mask: u32,
        reserved: u32,
    }

    /// `struct mlx5_ib_create_flow`, which [`FlowCountersData`] may follow.
    struct CreateFlow {
        ncounters_data: u32,
        reserved: u32,
    }

    /// `struct mlx5_ib_flow_counters_data`: where the program has the places of counts, and how many.
    struct FlowCountersData {
        counters_data: u64,
        ncounters: u32,
        reserved: u32,
    }

    /// `struct mlx5_ib_flow_counters_desc`: which count goes to which place.
    struct FlowCountersDesc {
        description: u32,
        index: u32,
    }

    /// `struct mlx5_ib_create_ah_resp`.
    struct CreateAhResp {
        response_length: u32,
        dmac: [u8; 6],
        reserved: [u8; 6],
    }

    /// `struct mlx5_ib_modify_qp`, with its `struct mlx5_ib_burst_info`.
    struct DriverModifyQp {
        comp_mask: u32,
        max_burst_sz: u32,
        typical_pkt_sz: u16,
        reserved: u16,
        ece_options: u32,
    }

    /// `struct mlx5_ib_modify_qp_resp`.
    struct ModifyQpResp {
        response_length: u32,
        dctn: u32,
        ece_options: u32,
        reserved: u32,
    }
}

/// `enum mlx5_ib_alloc_ucontext_flags`, `MLX5_IB_ALLOC_UCTX_DEVX`: the context is a user of the device, who may send
/// commands.
pub(crate) const ALLOC_UCTX_DEVX: u32 = 1;

/// `MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET`: the clock can be read; `..._MKEY_UPDATE_TAG`: UMR can change
/// the lowest byte of a key.
pub(crate) const ALLOC_UCONTEXT_CORE_CLOCK: u32 = 1;
pub(crate) const ALLOC_UCONTEXT_MKEY_TAG: u32 = 1 << 5;
/// `MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY`: there is such a key.
pub(crate) const ALLOC_UCONTEXT_DUMP_FILL: u32 = 1 << 1;
/// `MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE`: queue pairs negotiate options when they connect.
pub(crate) const ALLOC_UCONTEXT_ECE: u32 = 1 << 2;
/// `MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS`: timestamps can have the time.
pub(crate) const ALLOC_UCONTEXT_REAL_TIME: u32 = 1 << 4;
/// `MLX5_IB_CLOCK_INFO_V1`, as a bit: there is [`ClockInfo`].
pub(crate) const CLOCK_INFO_V1: u8 = 1;

/// `enum mlx5_lib_caps`: the library can allocate UARs one by one.
pub(crate) const LIB_CAP_DYN_UAR: u64 = 1 << 1;

/// The content of the response to creating a QP (`enum mlx5_ib_create_qp_resp_mask`): numbers of its parts.
pub(crate) mod qp_resp {
    pub(crate) const TIRN: u32 = 1;
    pub(crate) const TISN: u32 = 1 << 1;
    pub(crate) const RQN: u32 = 1 << 2;
    pub(crate) const SQN: u32 = 1 << 3;
}

/// Fields of frames that are hashed (`enum mlx5_rx_hash_fields`).
pub(crate) mod rx_hash {
    pub(crate) const SRC_IPV4: u64 = 1;
    pub(crate) const DST_IPV4: u64 = 1 << 1;
    pub(crate) const SRC_IPV6: u64 = 1 << 2;
    pub(crate) const DST_IPV6: u64 = 1 << 3;
    pub(crate) const SRC_PORT_TCP: u64 = 1 << 4;
    pub(crate) const DST_PORT_TCP: u64 = 1 << 5;
    pub(crate) const SRC_PORT_UDP: u64 = 1 << 6;
    pub(crate) const DST_PORT_UDP: u64 = 1 << 7;
    pub(crate) const IPSEC_SPI: u64 = 1 << 8;
    /// For the headers inside a tunnel.
    pub(crate) const INNER: u64 = 1 << 31;
    /// `MLX5_RX_HASH_FUNC_TOEPLITZ`.
    pub(crate) const TOEPLITZ: u8 = 1;
}

/// `MLX5_IB_CREATE_WQ_STRIDING_RQ`: a bit of `mlx5_ib_create_wq.comp_mask`.
pub(crate) const CREATE_WQ_STRIDING: u32 = 1;

/// `enum mlx5_ib_mpw_caps`: WQEs may hold several frames; they have the enhanced form.
pub(crate) const MULTI_PACKET_ALLOWED: u32 = 1 << 1;
pub(crate) const MULTI_PACKET_ENHANCED: u32 = 1 << 2;

/// `MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP`: CQEs of 128 bytes can be compressed.
pub(crate) const DEVICE_CQE_128B_COMP: u32 = 1 << 0;
/// `MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT`: what DCTs receive can go into CQEs.
pub(crate) const DEVICE_SCAT2CQE_DCT: u32 = 1 << 3;
/// `MLX5_IB_QUERY_DEV_RESP_FLAGS_OOO_DP`: receives of a QP can complete in any order.
pub(crate) const DEVICE_OOO_DP: u32 = 1 << 4;

/// `MLX5_IB_MODIFY_QP_OOO_DP`, of `struct mlx5_ib_modify_qp::comp_mask`: this QP's do.
pub(crate) const MODIFY_QP_OOO_DP: u32 = 1 << 0;

/// QP flags (`MLX5_QP_FLAG_*`).
pub(crate) mod qp_flag {
    pub(crate) const SIGNATURE: u32 = 1 << 0;
    pub(crate) const SCATTER_CQE: u32 = 1 << 1;
    /// CQEs tell of the headers inside of tunnels: raw packets.
    pub(crate) const TUNNEL_OFFLOADS: u32 = 1 << 2;
    pub(crate) const BFREG_INDEX: u32 = 1 << 3;
    pub(crate) const TYPE_DCT: u32 = 1 << 4;
    pub(crate) const TYPE_DCI: u32 = 1 << 5;
    /// Frames that the device itself has sent come to receivers of frames: two flags.
    pub(crate) const SELF_LB: u32 = 3 << 6;
    pub(crate) const ALLOW_SCATTER_CQE: u32 = 1 << 8;
    pub(crate) const UAR_PAGE_INDEX: u32 = 1 << 10;
    pub(crate) const DCI_STREAM: u32 = 1 << 11;
    /// The flags that the device supports for a QP that is not a DCT or RSS.
    pub(crate) const SUPPORTED: u32 =
        SIGNATURE | SCATTER_CQE | BFREG_INDEX | TYPE_DCI | ALLOW_SCATTER_CQE | UAR_PAGE_INDEX | DCI_STREAM;
}

/// `MLX5_IB_CQE_RES_FORMAT_HASH`.
pub(crate) const CQE_RES_FORMAT_HASH: u8 = 1 << 0;
/// `MLX5_IB_CQE_RES_FORMAT_CSUM`.
pub(crate) const CQE_RES_FORMAT_CSUM: u8 = 1 << 1;
/// `MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX`.
pub(crate) const CQE_RES_FORMAT_CSUM_STRIDX: u8 = 1 << 2;
/// `MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX`.
pub(crate) const CQ_FLAG_UAR_PAGE_INDEX: u16 = 1 << 1;
/// `MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS`.
pub(crate) const CQ_FLAG_REAL_TIME: u16 = 1 << 2;
