//! Constants of rdma-core's `providers/mlx5/mlx5dv.h`.

use crate::declare::constants;

/// `RDMA_DRIVER_MLX5` of `rdma/ib_user_ioctl_verbs.h`: the upper half of the numbers of resources.
const RDMA_DRIVER_MLX5: u64 = 1;

constants! {
    /// `mlx5dv_crypto_caps::crypto_engines`: AES-XTS of one data unit for each key.
    MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK: u8 = 1 << 1;
    /// `mlx5dv_crypto_caps::crypto_engines`: AES-XTS of many.
    MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK: u8 = 1 << 2;
    /// CQEs carry the user index and have version 1 (`MLX5DV_CONTEXT_FLAGS_CQE_V1`).
    MLX5DV_CONTEXT_FLAGS_CQE_V1: u64 = 1 << 0;
    /// Raw packet queue pairs send several frames from one WQE, at least by the older kind of such WQEs
    /// (`MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED`).
    MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED: u64 = 1 << 2;
    /// Such WQEs have the enhanced form.
    MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW: u64 = 1 << 3;
    /// CQEs of 128 bytes can be compressed.
    MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP: u64 = 1 << 4;
    /// Completion queues can ask for real-time timestamps.
    MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS: u64 = 1 << 7;
    /// Asks for `max_clock_info_update_nsec`; not given where there is no clock page.
    MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE: u64 = 1 << 5;
    /// Asks for `hca_core_clock`; not given where the clock is not mapped.
    MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK: u64 = 1 << 8;
    /// Asks for `cqe_comp_caps`. (The header spells it so.)
    MLX5DV_CONTEXT_MASK_CQE_COMPRESION: u64 = 1 << 0;
    /// Asks for `striding_rq_caps`.
    MLX5DV_CONTEXT_MASK_STRIDING_RQ: u64 = 1 << 2;
    /// Asks for `sw_parsing_caps`.
    MLX5DV_CONTEXT_MASK_SWP: u64 = 1 << 1;
    /// Asks for `tunnel_offloads_caps`.
    MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS: u64 = 1 << 3;
    /// `mlx5dv_sw_parsing_caps::sw_parsing_offloads`: there is a software parser.
    MLX5DV_SW_PARSING: u32 = 1 << 0;
    /// `mlx5dv_sw_parsing_caps::sw_parsing_offloads`: for checksums.
    MLX5DV_SW_PARSING_CSUM: u32 = 1 << 1;
    /// `mlx5dv_sw_parsing_caps::sw_parsing_offloads`: for large sends.
    MLX5DV_SW_PARSING_LSO: u32 = 1 << 2;
    /// `tunnel_offloads_caps`: VXLAN.
    MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN: u32 = 1 << 0;
    /// `tunnel_offloads_caps`: GRE.
    MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE: u32 = 1 << 1;
    /// `tunnel_offloads_caps`: Geneve.
    MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE: u32 = 1 << 2;
    /// Asks for `max_dynamic_bfregs`.
    MLX5DV_CONTEXT_MASK_DYN_BFREGS: u64 = 1 << 4;
    /// Asks for `num_lag_ports`.
    MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS: u64 = 1 << 9;
    /// Asks for `dci_streams_caps`.
    MLX5DV_CONTEXT_MASK_DCI_STREAMS: u64 = 1 << 11;
    /// Asks for `max_wr_memcpy_length`.
    MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH: u64 = 1 << 12;
    /// Asks for `crypto_caps`.
    MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD: u64 = 1 << 13;
    /// Asks for the four numbers from `mlx5dv_qp::tirn` on; zero where there is none.
    MLX5DV_QP_MASK_RAW_QP_HANDLES: u64 = 1 << 1;
    /// Index of the receive word in a QP's doorbell record.
    MLX5_RCV_DBR: usize = 0;
    /// Index of the send word in a QP's doorbell record.
    MLX5_SND_DBR: usize = 1;
    /// Asks for `mlx5dv_srq::srqn`.
    MLX5DV_SRQ_MASK_SRQN: u64 = 1 << 0;
    /// `mlx5dv_init_obj`: `mlx5dv_obj::qp` is asked for.
    MLX5DV_OBJ_QP: u64 = 1 << 0;
    /// `mlx5dv_init_obj`: `mlx5dv_obj::cq` is asked for.
    MLX5DV_OBJ_CQ: u64 = 1 << 1;
    /// `mlx5dv_init_obj`: `mlx5dv_obj::srq` is asked for.
    MLX5DV_OBJ_SRQ: u64 = 1 << 2;
    /// `mlx5dv_init_obj`: `mlx5dv_obj::rwq` is asked for.
    MLX5DV_OBJ_RWQ: u64 = 1 << 3;
    /// `mlx5dv_init_obj`: `mlx5dv_obj::ah` is asked for.
    MLX5DV_OBJ_AH: u64 = 1 << 5;
    /// `mlx5dv_cq_init_attr::cqe_comp_res_format` counts: the device compresses completions.
    MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE: u64 = 1 << 0;
    /// `mlx5dv_cq_init_attr::cqe_size` counts.
    MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE: u64 = 1 << 2;
    /// A target (`mlx5dv_dc_init_attr::dc_type`).
    MLX5DV_DCTYPE_DCT: u32 = 1;
    /// An initiator.
    MLX5DV_DCTYPE_DCI: u32 = 2;
    /// `mlx5dv_qp_init_attr::create_flags` counts.
    MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS: u64 = 1 << 0;
    /// `mlx5dv_qp_init_attr::dc_init_attr` counts.
    MLX5DV_QP_INIT_ATTR_MASK_DC: u64 = 1 << 1;
    /// `mlx5dv_qp_init_attr::send_ops_flags` counts.
    MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS: u64 = 1 << 2;
    /// The queue pair copies memory.
    MLX5DV_QP_EX_WITH_MEMCPY: u64 = 1 << 4;
    /// An initiator's streams count.
    MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS: u64 = 1 << 3;
    /// Completions of frames tell of the headers inside of tunnels.
    MLX5DV_QP_CREATE_TUNNEL_OFFLOADS: u32 = 1 << 0;
    /// Data never arrives in a CQE, always in the buffer.
    MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE: u32 = 1 << 3;
    /// `mlx5dv_mkey_init_attr::create_flags`: other keys are behind it.
    MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT: u32 = 1 << 0;
    /// `mlx5dv_mkey_init_attr::create_flags`: it encrypts.
    MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO: u32 = 1 << 2;
    /// `striding_rq_attrs` counts.
    MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ: u64 = 1 << 0;
    /// `mlx5dv_context_attr::flags`: the context may send firmware commands.
    MLX5DV_CONTEXT_FLAGS_DEVX: u32 = 1 << 0;
    /// The rings of a queue pair.
    MLX5DV_RES_TYPE_QP: u64 = RDMA_DRIVER_MLX5 << 32 | 1;
    /// A doorbell record, of whatever object.
    MLX5DV_RES_TYPE_DBR: u64 = RDMA_DRIVER_MLX5 << 32 | 3;
    /// The ring of a completion queue.
    MLX5DV_RES_TYPE_CQ: u64 = RDMA_DRIVER_MLX5 << 32 | 5;
    /// `mlx5dv_flow_matcher_attr::ft_type` counts.
    MLX5DV_FLOW_MATCHER_MASK_FT_TYPE: u64 = 1 << 0;
    /// `mlx5dv_flow_matcher_attr::ft_type`: frames that are sent.
    MLX5DV_FLOW_TABLE_TYPE_NIC_TX: u32 = 1;
    /// `mlx5dv_flow_action_attr::type`: the frame is dropped.
    MLX5DV_FLOW_ACTION_DROP: u32 = 1;
    /// `mlx5dv_init_obj`: the parts of a protection domain are asked for.
    MLX5DV_OBJ_PD: u64 = 1 << 6;
}
