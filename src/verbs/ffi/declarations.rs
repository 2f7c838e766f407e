//! Structures and constants of `mlx5dv.h`. Knows no library.

use core::ffi::c_void;

use rdma_sys as sys;

use crate::wqe::seg::DatagramSeg;

/// Compression formats of CQEs (`struct mlx5dv_cqe_comp_caps`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvCqeCompCaps {
    /// Longest compressed block, in CQEs.
    pub max_num: u32,
    /// Mini-CQE formats, bits of `enum mlx5dv_cqe_comp_res_format`.
    pub supported_format: u32,
}

/// Software parsing offloads (`struct mlx5dv_sw_parsing_caps`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvSwParsingCaps {
    /// Bits of `enum mlx5dv_sw_parsing_offloads`.
    pub sw_parsing_offloads: u32,
    /// QP types, bits `1 << ibv_qp_type`.
    pub supported_qpts: u32,
}

/// Striding receive queues (`struct mlx5dv_striding_rq_caps`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvStridingRqCaps {
    /// log2 of the smallest stride, bytes.
    pub min_single_stride_log_num_of_bytes: u32,
    /// log2 of the largest stride, bytes.
    pub max_single_stride_log_num_of_bytes: u32,
    /// log2 of the fewest strides per WQE.
    pub min_single_wqe_log_num_of_strides: u32,
    /// log2 of the most strides per WQE.
    pub max_single_wqe_log_num_of_strides: u32,
    /// QP types, bits `1 << ibv_qp_type`.
    pub supported_qpts: u32,
}

/// Signature offloads (`struct mlx5dv_sig_caps`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvSigCaps {
    /// Bits of `enum mlx5dv_block_size_caps`.
    pub block_size: u64,
    /// Bits of `enum mlx5dv_sig_prot_caps`.
    pub block_prot: u32,
    /// Bits of `enum mlx5dv_sig_t10dif_bg_caps`.
    pub t10dif_bg: u16,
    /// Bits of `enum mlx5dv_sig_crc_type_caps`.
    pub crc_type: u16,
}

/// Streams of initiators (`struct mlx5dv_dci_streams_caps`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvDciStreamsCaps {
    /// log2 of the most streams of a DCI.
    pub max_log_num_concurent: u8,
    /// log2 of the most of them that may have failed while the others go on; 0: the device has no streams that fail
    /// alone.
    pub max_log_num_errored: u8,
}

/// Encryption (`struct mlx5dv_crypto_caps`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvCryptoCaps {
    /// Self tests that failed.
    pub failed_selftests: u16,
    /// `MLX5DV_CRYPTO_ENGINES_CAP_*`.
    pub crypto_engines: u8,
    /// Bits of `enum mlx5dv_crypto_wrapped_import_method_caps`.
    pub wrapped_import_method: u8,
    /// log2 of the most keys of encryption.
    pub log_max_num_deks: u8,
    /// Bits of `enum mlx5dv_crypto_caps_flags`.
    pub flags: u32,
}

/// [`Mlx5dvCryptoCaps::crypto_engines`]: AES-XTS of one data unit for each key.
pub const MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK: u8 = 1 << 1;
/// [`Mlx5dvCryptoCaps::crypto_engines`]: AES-XTS of many.
pub const MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK: u8 = 1 << 2;

/// The answer of `mlx5dv_query_device` (`struct mlx5dv_context`), up to `crypto_caps`. The call fills in the fields
/// that `comp_mask` asks for; this crate asks for no later field.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvContext {
    /// Version of the device's user space interface.
    pub version: u8,
    /// `MLX5DV_CONTEXT_FLAGS_*`.
    pub flags: u64,
    /// In: `MLX5DV_CONTEXT_MASK_*` of the fields wanted; out: of those given.
    pub comp_mask: u64,
    /// CQE compression.
    pub cqe_comp_caps: Mlx5dvCqeCompCaps,
    /// Software parsing.
    pub sw_parsing_caps: Mlx5dvSwParsingCaps,
    /// Striding receive queues.
    pub striding_rq_caps: Mlx5dvStridingRqCaps,
    /// Tunnel offloads.
    pub tunnel_offloads_caps: u32,
    /// The number of BlueFlame registers beyond the static ones: the limit of thread domains. 0 if the kernel allocates
    /// registers one by one.
    pub max_dynamic_bfregs: u32,
    /// The longest interval between updates of the clock's page, nanoseconds.
    pub max_clock_info_update_nsec: u64,
    /// Flow actions: not asked for.
    pub flow_action_flags: u32,
    /// On-demand paging of dynamic connections: not asked for.
    pub dc_odp_caps: u32,
    /// The device's clock: 64 bits, big endian, mapped as long as the context is open.
    pub hca_core_clock: *mut c_void,
    /// Ports of a bond: not asked for.
    pub num_lag_ports: u8,
    /// Signatures: not asked for.
    pub sig_caps: Mlx5dvSigCaps,
    /// Streams of initiators.
    pub dci_streams_caps: Mlx5dvDciStreamsCaps,
    /// Most bytes of a copy (`mlx5dv_wr_memcpy`); 0: none.
    pub max_wr_memcpy_length: usize,
    /// Encryption.
    pub crypto_caps: Mlx5dvCryptoCaps,
}

impl Mlx5dvContext {
    /// Nothing asked.
    pub const NONE: Self = Self {
        version: 0,
        flags: 0,
        comp_mask: 0,
        cqe_comp_caps: Mlx5dvCqeCompCaps { max_num: 0, supported_format: 0 },
        sw_parsing_caps: Mlx5dvSwParsingCaps { sw_parsing_offloads: 0, supported_qpts: 0 },
        striding_rq_caps: Mlx5dvStridingRqCaps {
            min_single_stride_log_num_of_bytes: 0,
            max_single_stride_log_num_of_bytes: 0,
            min_single_wqe_log_num_of_strides: 0,
            max_single_wqe_log_num_of_strides: 0,
            supported_qpts: 0,
        },
        tunnel_offloads_caps: 0,
        max_dynamic_bfregs: 0,
        max_clock_info_update_nsec: 0,
        flow_action_flags: 0,
        dc_odp_caps: 0,
        hca_core_clock: core::ptr::null_mut(),
        num_lag_ports: 0,
        sig_caps: Mlx5dvSigCaps { block_size: 0, block_prot: 0, t10dif_bg: 0, crc_type: 0 },
        dci_streams_caps: Mlx5dvDciStreamsCaps { max_log_num_concurent: 0, max_log_num_errored: 0 },
        max_wr_memcpy_length: 0,
        crypto_caps: Mlx5dvCryptoCaps {
            failed_selftests: 0,
            crypto_engines: 0,
            wrapped_import_method: 0,
            log_max_num_deks: 0,
            flags: 0,
        },
    };
}

/// CQEs carry the user index and have version 1 (`MLX5DV_CONTEXT_FLAGS_CQE_V1`).
pub const MLX5DV_CONTEXT_FLAGS_CQE_V1: u64 = 1 << 0;
/// Raw packet queue pairs send several frames from one WQE, at least by the older kind of such WQEs
/// (`MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED`).
pub const MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED: u64 = 1 << 2;
/// Such WQEs have the enhanced form.
pub const MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW: u64 = 1 << 3;
/// CQEs of 128 bytes can be compressed.
pub const MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP: u64 = 1 << 4;
/// Completion queues can ask for real-time timestamps.
pub const MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS: u64 = 1 << 7;
/// Asks for `max_clock_info_update_nsec`; not given where there is no clock page.
pub const MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE: u64 = 1 << 5;
/// Asks for `hca_core_clock`; not given where the clock is not mapped.
pub const MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK: u64 = 1 << 8;
/// Asks for `cqe_comp_caps`. (The header spells it so.)
pub const MLX5DV_CONTEXT_MASK_CQE_COMPRESION: u64 = 1 << 0;
/// Asks for `striding_rq_caps`.
pub const MLX5DV_CONTEXT_MASK_STRIDING_RQ: u64 = 1 << 2;
/// Asks for `sw_parsing_caps`.
pub const MLX5DV_CONTEXT_MASK_SWP: u64 = 1 << 1;
/// Asks for `tunnel_offloads_caps`.
pub const MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS: u64 = 1 << 3;
/// [`Mlx5dvSwParsingCaps::sw_parsing_offloads`]: there is a software parser.
pub const MLX5DV_SW_PARSING: u32 = 1 << 0;
/// [`Mlx5dvSwParsingCaps::sw_parsing_offloads`]: for checksums.
pub const MLX5DV_SW_PARSING_CSUM: u32 = 1 << 1;
/// [`Mlx5dvSwParsingCaps::sw_parsing_offloads`]: for large sends.
pub const MLX5DV_SW_PARSING_LSO: u32 = 1 << 2;
/// `tunnel_offloads_caps`: VXLAN.
pub const MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN: u32 = 1 << 0;
/// `tunnel_offloads_caps`: GRE.
pub const MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE: u32 = 1 << 1;
/// `tunnel_offloads_caps`: Geneve.
pub const MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE: u32 = 1 << 2;
/// Asks for `max_dynamic_bfregs`.
pub const MLX5DV_CONTEXT_MASK_DYN_BFREGS: u64 = 1 << 4;
/// Asks for `dci_streams_caps`.
pub const MLX5DV_CONTEXT_MASK_DCI_STREAMS: u64 = 1 << 11;
/// Asks for `max_wr_memcpy_length`.
pub const MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH: u64 = 1 << 12;
/// Asks for `crypto_caps`.
pub const MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD: u64 = 1 << 13;

/// A buffer of WQEs (`struct mlx5dv_qp::{sq,rq}`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvWq {
    /// First byte.
    pub buf: *mut c_void,
    /// Number of WQEs (receive) or WQEBBs (send).
    pub wqe_cnt: u32,
    /// Bytes per WQE or WQEBB.
    pub stride: u32,
}

/// The send doorbell register (`struct mlx5dv_qp::bf`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvBf {
    /// Address in the mapped UAR page.
    pub reg: *mut c_void,
    /// Bytes of one BlueFlame buffer; 0 = no BlueFlame, doorbells only.
    pub size: u32,
}

/// Raw parts of a QP (`struct mlx5dv_qp`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvQp {
    /// Doorbell record: two big-endian words, `MLX5_RCV_DBR` and `MLX5_SND_DBR`.
    pub dbrec: *mut u32,
    /// Send ring.
    pub sq: Mlx5dvWq,
    /// Receive ring.
    pub rq: Mlx5dvWq,
    /// Doorbell register.
    pub bf: Mlx5dvBf,
    /// In: which of the fields below are wanted; out: which are given.
    pub comp_mask: u64,
    /// Where the UAR page is mapped from.
    pub uar_mmap_offset: i64,
    /// Transport interface receive number.
    pub tirn: u32,
    /// Transport interface send number.
    pub tisn: u32,
    /// Receive queue number (raw packet QPs).
    pub rqn: u32,
    /// Send queue number (raw packet QPs).
    pub sqn: u32,
    /// ICM address of the TIR.
    pub tir_icm_addr: u64,
}

/// Asks for the four numbers from [`Mlx5dvQp::tirn`] on; zero where there is none.
pub const MLX5DV_QP_MASK_RAW_QP_HANDLES: u64 = 1 << 1;

/// Index of the receive word in a QP's doorbell record.
pub const MLX5_RCV_DBR: usize = 0;
/// Index of the send word in a QP's doorbell record.
pub const MLX5_SND_DBR: usize = 1;

/// Raw parts of a CQ (`struct mlx5dv_cq`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvCq {
    /// Ring of CQEs.
    pub buf: *mut c_void,
    /// Doorbell record: two big-endian words, consumer index and arm.
    pub dbrec: *mut u32,
    /// Number of CQEs, a power of two.
    pub cqe_cnt: u32,
    /// Bytes per CQE, 64 or 128.
    pub cqe_size: u32,
    /// UAR page on which the CQ is armed.
    pub cq_uar: *mut c_void,
    /// CQ number.
    pub cqn: u32,
    /// In and out: none defined.
    pub comp_mask: u64,
}

/// Raw parts of an SRQ (`struct mlx5dv_srq`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvSrq {
    /// Ring of WQEs, linked by their first segment.
    pub buf: *mut c_void,
    /// Doorbell record: one big-endian word.
    pub dbrec: *mut u32,
    /// Bytes per WQE.
    pub stride: u32,
    /// First free WQE.
    pub head: u32,
    /// Last free WQE.
    pub tail: u32,
    /// In: [`MLX5DV_SRQ_MASK_SRQN`]; out: the same if given.
    pub comp_mask: u64,
    /// SRQ number.
    pub srqn: u32,
}

/// Asks for [`Mlx5dvSrq::srqn`].
pub const MLX5DV_SRQ_MASK_SRQN: u64 = 1 << 0;

/// Raw parts of a work queue (`struct mlx5dv_rwq`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvRwq {
    /// Ring of WQEs.
    pub buf: *mut c_void,
    /// Doorbell record: one big-endian word.
    pub dbrec: *mut u32,
    /// Number of WQEs, a power of two.
    pub wqe_cnt: u32,
    /// Bytes per WQE.
    pub stride: u32,
    /// In and out: none defined.
    pub comp_mask: u64,
}

/// Raw parts of an address handle (`struct mlx5dv_ah`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvAh {
    /// The address vector, libmlx5's own: `struct mlx5_wqe_av`.
    pub av: *mut DatagramSeg,
    /// In and out: none defined.
    pub comp_mask: u64,
}

/// One pair of `struct mlx5dv_obj`: a verbs object, and where its raw parts go.
#[repr(C)]
pub struct Mlx5dvPair<I, O> {
    /// The object.
    pub r#in: *mut I,
    /// Its parts.
    pub out: *mut O,
}

impl<I, O> Mlx5dvPair<I, O> {
    /// Nothing asked.
    pub const NONE: Self = Self { r#in: core::ptr::null_mut(), out: core::ptr::null_mut() };
}

/// The argument of `mlx5dv_init_obj` (`struct mlx5dv_obj`).
#[repr(C)]
pub struct Mlx5dvObj {
    /// With [`MLX5DV_OBJ_QP`].
    pub qp: Mlx5dvPair<sys::ibv_qp, Mlx5dvQp>,
    /// With [`MLX5DV_OBJ_CQ`].
    pub cq: Mlx5dvPair<sys::ibv_cq, Mlx5dvCq>,
    /// With [`MLX5DV_OBJ_SRQ`].
    pub srq: Mlx5dvPair<sys::ibv_srq, Mlx5dvSrq>,
    /// With [`MLX5DV_OBJ_RWQ`].
    pub rwq: Mlx5dvPair<sys::ibv_wq, Mlx5dvRwq>,
    /// Device memory: unused here.
    pub dm: Mlx5dvPair<c_void, c_void>,
    /// With [`MLX5DV_OBJ_AH`].
    pub ah: Mlx5dvPair<sys::ibv_ah, Mlx5dvAh>,
    /// Protection domains: unused here.
    pub pd: Mlx5dvPair<c_void, c_void>,
}

impl Mlx5dvObj {
    /// Nothing asked.
    pub const NONE: Self = Self {
        qp: Mlx5dvPair::NONE,
        cq: Mlx5dvPair::NONE,
        srq: Mlx5dvPair::NONE,
        rwq: Mlx5dvPair::NONE,
        dm: Mlx5dvPair::NONE,
        ah: Mlx5dvPair::NONE,
        pd: Mlx5dvPair::NONE,
    };
}

/// `mlx5dv_init_obj`: [`Mlx5dvObj::qp`] is asked for.
pub const MLX5DV_OBJ_QP: u64 = 1 << 0;
/// `mlx5dv_init_obj`: [`Mlx5dvObj::cq`] is asked for.
pub const MLX5DV_OBJ_CQ: u64 = 1 << 1;
/// `mlx5dv_init_obj`: [`Mlx5dvObj::srq`] is asked for.
pub const MLX5DV_OBJ_SRQ: u64 = 1 << 2;
/// `mlx5dv_init_obj`: [`Mlx5dvObj::rwq`] is asked for.
pub const MLX5DV_OBJ_RWQ: u64 = 1 << 3;
/// `mlx5dv_init_obj`: [`Mlx5dvObj::ah`] is asked for.
pub const MLX5DV_OBJ_AH: u64 = 1 << 5;

/// CQ attributes that verbs has no words for (`struct mlx5dv_cq_init_attr`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvCqInitAttr {
    /// Which of the fields below count.
    pub comp_mask: u64,
    /// Mini-CQE format.
    pub cqe_comp_res_format: u8,
    /// `MLX5DV_CQ_INIT_ATTR_FLAGS_*`.
    pub flags: u32,
    /// Bytes per CQE.
    pub cqe_size: u16,
}

/// [`Mlx5dvCqInitAttr::cqe_comp_res_format`] counts: the device compresses completions.
pub const MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE: u64 = 1 << 0;
/// [`Mlx5dvCqInitAttr::cqe_size`] counts.
pub const MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE: u64 = 1 << 2;

/// Dynamically connected QPs (`struct mlx5dv_dc_init_attr`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvDcInitAttr {
    /// [`MLX5DV_DCTYPE_DCT`] or [`MLX5DV_DCTYPE_DCI`].
    pub dc_type: u32,
    /// Access key of a DCT. For a DCI with streams, the first two bytes in memory are `struct mlx5dv_dci_streams`: log2
    /// of the number of streams, and of the number that may have failed.
    pub dct_access_key: u64,
}

/// A target ([`Mlx5dvDcInitAttr::dc_type`]).
pub const MLX5DV_DCTYPE_DCT: u32 = 1;
/// An initiator.
pub const MLX5DV_DCTYPE_DCI: u32 = 2;

/// QP attributes that verbs has no words for (`struct mlx5dv_qp_init_attr`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvQpInitAttr {
    /// Which of the fields below count.
    pub comp_mask: u64,
    /// `MLX5DV_QP_CREATE_*`.
    pub create_flags: u32,
    /// Dynamically connected transport.
    pub dc_init_attr: Mlx5dvDcInitAttr,
    /// Extra `mlx5dv_wr_*` operations.
    pub send_ops_flags: u64,
}

/// [`Mlx5dvQpInitAttr::create_flags`] counts.
pub const MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS: u64 = 1 << 0;
/// [`Mlx5dvQpInitAttr::dc_init_attr`] counts.
pub const MLX5DV_QP_INIT_ATTR_MASK_DC: u64 = 1 << 1;
/// [`Mlx5dvQpInitAttr::send_ops_flags`] counts.
pub const MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS: u64 = 1 << 2;
/// The queue pair copies memory.
pub const MLX5DV_QP_EX_WITH_MEMCPY: u64 = 1 << 4;
/// An initiator's streams count.
pub const MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS: u64 = 1 << 3;
/// Data never arrives in a CQE, always in the buffer.
pub const MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE: u32 = 1 << 3;

/// Attributes of a new indirect memory key (`struct mlx5dv_mkey_init_attr`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvMkeyInitAttr {
    /// Its protection domain.
    pub pd: *mut sys::ibv_pd,
    /// `MLX5DV_MKEY_INIT_ATTR_FLAGS_*`.
    pub create_flags: u32,
    /// Entries that its list has room for; as granted afterwards.
    pub max_entries: u16,
}

/// [`Mlx5dvMkeyInitAttr::create_flags`]: other keys are behind it.
pub const MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT: u32 = 1 << 0;

/// [`Mlx5dvMkeyInitAttr::create_flags`]: it encrypts.
pub const MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO: u32 = 1 << 2;

/// The strides of a work queue (`struct mlx5dv_striding_rq_init_attr`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvStridingRqInitAttr {
    /// log2 of the bytes of a stride.
    pub single_stride_log_num_of_bytes: u32,
    /// log2 of the strides of a WQE.
    pub single_wqe_log_num_of_strides: u32,
    /// 1: two zero bytes come before each frame.
    pub two_byte_shift_en: u8,
}

/// Work queue attributes that verbs has no words for (`struct mlx5dv_wq_init_attr`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvWqInitAttr {
    /// `MLX5DV_WQ_INIT_ATTR_MASK_*` of the fields below.
    pub comp_mask: u64,
    /// Strides.
    pub striding_rq_attrs: Mlx5dvStridingRqInitAttr,
}

/// `striding_rq_attrs` counts.
pub const MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ: u64 = 1 << 0;

/// An indirect memory key (`struct mlx5dv_mkey`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvMkey {
    /// As this side's requests name it.
    pub lkey: u32,
    /// As peers' name it: the same number.
    pub rkey: u32,
}

/// How a device is opened (`struct mlx5dv_context_attr`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvContextAttr {
    /// `MLX5DV_CONTEXT_FLAGS_DEVX`.
    pub flags: u32,
    /// Which of later fields count: there are none.
    pub comp_mask: u64,
}

/// [`Mlx5dvContextAttr::flags`]: the context may send firmware commands.
pub const MLX5DV_CONTEXT_FLAGS_DEVX: u32 = 1 << 0;

/// The resource that an allocator of a parent domain is asked for (`MLX5DV_RES_TYPE_*`: the driver's number in the
/// upper half).
const fn mlx5dv_res_type(number: u64) -> u64 {
    /// `RDMA_DRIVER_MLX5` of `rdma/ib_user_ioctl_verbs.h`.
    const RDMA_DRIVER_MLX5: u64 = 1;
    RDMA_DRIVER_MLX5 << 32 | number
}

/// The rings of a queue pair.
pub const MLX5DV_RES_TYPE_QP: u64 = mlx5dv_res_type(1);
/// A doorbell record, of whatever object.
pub const MLX5DV_RES_TYPE_DBR: u64 = mlx5dv_res_type(3);
/// The ring of a completion queue.
pub const MLX5DV_RES_TYPE_CQ: u64 = mlx5dv_res_type(5);

/// Bytes of match parameters (`struct mlx5_ifc_fte_match_param_bits`, up to the fifth set of further fields).
pub const MATCH_BYTES: usize = 0x200;

/// Fields of frames in the device's layout (`struct mlx5dv_flow_match_parameters`, which ends with an array).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvFlowMatchParameters {
    /// Bytes of the fields.
    pub match_sz: usize,
    /// The fields, as the device has them.
    pub match_buf: [u8; MATCH_BYTES],
}

/// A matcher (`struct mlx5dv_flow_matcher_attr`, up to the type of the table).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvFlowMatcherAttr {
    /// `enum ibv_flow_attr_type`.
    pub r#type: u32,
    /// `enum ibv_flow_flags`.
    pub flags: u32,
    /// Priority: the least number comes first.
    pub priority: u16,
    /// Which sets of fields count, a bit each.
    pub match_criteria_enable: u8,
    /// The bits that count.
    pub match_mask: *mut Mlx5dvFlowMatchParameters,
    /// Which of the later fields are meant.
    pub comp_mask: u64,
    /// `enum mlx5dv_flow_table_type`.
    pub ft_type: u32,
}

/// `MLX5DV_FLOW_MATCHER_MASK_FT_TYPE`.
pub const MLX5DV_FLOW_MATCHER_MASK_FT_TYPE: u64 = 1 << 0;
/// `MLX5DV_FLOW_TABLE_TYPE_NIC_TX`.
pub const MLX5DV_FLOW_TABLE_TYPE_NIC_TX: u32 = 1;

/// An action of a rule (`struct mlx5dv_flow_action_attr`, as the exported function reads it: without the offset of a
/// counter).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvFlowActionAttr {
    /// `enum mlx5dv_flow_action_type`.
    pub r#type: u32,
    /// The object of the action, if it has one.
    pub obj: *mut c_void,
}

/// `MLX5DV_FLOW_ACTION_DROP`.
pub const MLX5DV_FLOW_ACTION_DROP: u32 = 1;
