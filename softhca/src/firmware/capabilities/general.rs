//! General capabilities (`MLX5_CAP_GENERAL`): how many of everything, and which features there are.

use super::row::{MAX_STATIC_SQ_LOG, capability_set, has_clock_queues, is_ethernet, log2, timestamps};
use crate::config::{DeviceConfig, Generation};
use crate::context::{DciStreams, TagContext};
use crate::cq::MAX_SESSION;
use crate::crypto;
use crate::device::{LOG_MAX_GROUPS, MAX_MEMBERS};
use crate::eq::{MAX_EQS, MAX_LOG_EQ_SIZE};
use crate::firmware::owners::RAW_TX;
use crate::memory::MAX_INDIRECTION;
use crate::memory::MAX_PIECES_LOG;
use crate::nic::{LOG_MAX_MULTICAST, LOG_MAX_UNICAST, LOG_MAX_VLANS, MAX_OBJECTS, MAX_RQT, has_extended_range};
use crate::qp::dc::target::MAX_CONNECTIONS as MAX_DCT_CONNECTIONS;
use crate::resources::{MAX_LOG_MEMCPY, MAX_Q_COUNTERS};
use crate::steering::MAX_COUNTERS;

/// The kind of general objects that are keys of encryption.
pub(crate) const DEK_TYPE: u16 = 0xc;
/// The kind that are numbers without a queue pair (rdma-core `providers/mlx5/mlx5_ifc.h`,
/// `MLX5_OBJ_TYPE_RESERVED_QPN`).
pub(crate) const RESERVED_QPN_TYPE: u16 = 0x2c;
/// log2 of the longest message that is announced: more is accepted, but drivers take other values for another device
/// (UCX `UCT_IB_MLX5_LOG_MAX_MSG_SIZE`).
const LOG_MAX_MSG: u32 = 30;
/// log2 of the QPs that a device has at least, over all processes that share it; as on a ConnectX-5.
const LOG_MAX_QP: u64 = 18;
/// Bytes of the longest receive WQE that is announced, as on a ConnectX-5.
const MAX_RQ_WQE: u32 = 512;
/// How long the device takes to acknowledge: 4.096 us times two to the power of this.
const LOCAL_CA_ACK_DELAY: u64 = 16;

/// log2 of the shared receive queues of all kinds: they have numbers of QPs.
fn srqs(config: &DeviceConfig) -> u64 {
    log2(config.max_srqs())
}

/// log2 of the send queues of Ethernet frames, and of the receive queues: all have numbers of QPs.
fn ethernet_queues(config: &DeviceConfig) -> u64 {
    if is_ethernet(config) { log2(config.qpn_count) } else { 0 }
}

/// log2 of the other objects of the Ethernet side.
fn ethernet_objects(config: &DeviceConfig) -> u64 {
    if is_ethernet(config) { log2(MAX_OBJECTS) } else { 0 }
}

/// Rights that users of the device may be given (`MLX5_UCTX_CAP_*`). There are no resources that would be the device's
/// own.
pub(crate) fn user_caps(config: &DeviceConfig) -> u32 {
    if is_ethernet(config) { RAW_TX } else { 0 }
}

fn encrypts(config: &DeviceConfig) -> bool {
    crypto::is_there(config.generation)
}

capability_set! {
    /// General capabilities.
    cmd_hca_cap: 0x100 bytes, set 0, if |_| true;
    HCA_CAP_2: 0x20, 1 = |_| 1;
    // QPs tell whether WRITEs are placed in the order of their bytes.
    QP_DATA_IN_ORDER: 0x62, 1 = |_| 1;
    // Of copies of memory, by queues that have them without asking, or by those that ask.
    LOG_DMA_MMO_MAX_SIZE: 0x6b, 5 = |c| if c.generation >= Generation::ConnectX6Dx { MAX_LOG_MEMCPY.into() } else { 0 };
    LOG_MAX_SRQ_SZ: 0x80, 8 = |c| c.limits.max_wqe_log.into();
    LOG_MAX_QP_SZ: 0x88, 8 = |c| c.limits.max_wqe_log.into();
    // Indices in WQEs of static rings are ignored.
    WQE_INDEX_IGNORE_CAP: 0x99, 1 = |c| has_clock_queues(c).into();
    // QPNs are below this, which libmlx5's table of QPs is for. The bound is for all processes together: each has a
    // part of the numbers.
    LOG_MAX_QP: 0x9b, 5 = |c| (log2(c.qpn_first + c.qpn_count - 1) + 1).max(LOG_MAX_QP);
    ECE_SUPPORT: 0xa3, 1 = |_| 1;
    LOG_MAX_SRQ: 0xab, 5 = srqs;
    MAX_SGL_FOR_OPTIMIZED_PERFORMANCE: 0xc0, 8 = |_| 30;
    LOG_MAX_CQ_SZ: 0xc8, 8 = |c| c.limits.max_cqe_log.into();
    RELAXED_ORDERING_WRITE_UMR: 0xd0, 1 = |c| (c.generation >= Generation::ConnectX6Dx).into();
    RELAXED_ORDERING_READ_UMR: 0xd1, 1 = |c| (c.generation >= Generation::ConnectX6Dx).into();
    // Users read registers.
    ACCESS_REGISTER_USER: 0xd2, 1 = |_| 1;
    LOG_MAX_CQ: 0xdb, 5 = |c| log2(c.limits.max_objects);
    LOG_MAX_EQ_SZ: 0xe0, 8 = |_| MAX_LOG_EQ_SIZE.into();
    // The device orders all that it does, which is one of the orders that a relaxed key permits.
    RELAXED_ORDERING_WRITE: 0xe8, 1 = |c| (c.generation >= Generation::ConnectX6Dx).into();
    RELAXED_ORDERING_READ_PCI_ENABLED: 0xe9, 1 = |c| (c.generation >= Generation::ConnectX6Dx).into();
    LOG_MAX_MKEY: 0xea, 6 = |c| log2(c.limits.max_mkeys);
    DUMP_FILL_MKEY: 0xf8, 1 = |_| 1;
    FAST_TEARDOWN: 0xfb, 1 = |_| 1;
    LOG_MAX_EQ: 0xfc, 4 = |_| log2(MAX_EQS);
    MAX_INDIRECTION: 0x100, 8 = |_| MAX_INDIRECTION.into();
    // Pieces of one length.
    FIXED_BUFFER_SIZE: 0x108, 1 = |_| 1;
    LOG_MAX_MRW_SZ: 0x109, 7 = |_| 63;
    FORCE_TEARDOWN: 0x110, 1 = |_| 1;
    UMR_EXTENDED_TRANSLATION_OFFSET: 0x118, 1 = |_| 1;
    NULL_MKEY: 0x119, 1 = |_| 1;
    LOG_MAX_KLM_LIST_SIZE: 0x11a, 6 = |_| MAX_PIECES_LOG.into();
    NON_WIRE_SQ: 0x120, 1 = |c| has_clock_queues(c).into();
    // `RTS2RTS_QP` takes the later additions to contexts.
    QPC_EXTENSION: 0x122, 1 = |_| 1;
    LOG_MAX_RA_REQ_DC: 0x12a, 6 = |c| log2(c.limits.max_rd_atomic.into());
    LOG_MAX_STATIC_SQ_WQ: 0x133, 5 = |c| if has_clock_queues(c) { MAX_STATIC_SQ_LOG } else { 0 };
    LOG_MAX_RA_RES_DC: 0x13a, 6 = |c| log2(c.limits.max_rd_atomic.into());
    SIG_CRC64_XP10: 0x147, 1 = |_| 1;
    SIG_CRC32C: 0x148, 1 = |_| 1;
    LOG_MAX_RA_REQ_QP: 0x14a, 6 = |c| log2(c.limits.max_rd_atomic.into());
    RTS2RTS_QP_UDP_SPORT: 0x151, 1 = |c| is_ethernet(c).into();
    RTS2RTS_LAG_TX_PORT_AFFINITY: 0x152, 1 = |c| c.bonded.into();
    DMA_MMO_SQ: 0x153, 1 = |c| c.generation.copies_by_any().into();
    LOG_MAX_RA_RES_QP: 0x15a, 6 = |c| log2(c.limits.max_rd_atomic.into());
    RTS2RTS_QP_COUNTERS_SET_ID: 0x169, 1 = |_| 1;
    // 8 << n entries: paths name one by 8 bits.
    GID_TABLE_SIZE: 0x170, 16 = |_| 4;
    // Besides requests, Q counters count packets out of order, repeated packets, and errors of CQEs.
    OUT_OF_SEQ_CNT: 0x180, 1 = |_| 1;
    VPORT_COUNTERS: 0x181, 1 = |c| is_ethernet(c).into();
    RETRANSMISSION_Q_COUNTERS: 0x182, 1 = |_| 1;
    MODIFY_RQ_COUNTER_SET_ID: 0x184, 1 = |c| is_ethernet(c).into();
    MAX_QP_CNT: 0x186, 10 = |_| MAX_Q_COUNTERS.into();
    // 128 << n entries.
    PKEY_TABLE_SIZE: 0x190, 16 = |_| 0;
    IB_VIRT: 0x1a2, 1 = |c| (!is_ethernet(c)).into();
    ETH_VIRT: 0x1a3, 1 = |c| is_ethernet(c).into();
    NIC_FLOW_TABLE: 0x1a6, 1 = |c| is_ethernet(c).into();
    // Verbs allocate it; no command does.
    DEVICE_MEMORY: 0x1a8, 1 = |c| (c.device_memory > 0).into();
    LOCAL_CA_ACK_DELAY: 0x1ab, 5 = |_| LOCAL_CA_ACK_DELAY;
    ENHANCED_ERROR_Q_COUNTERS: 0x1b1, 1 = |_| 1;
    PORT_TYPE: 0x1b6, 2 = |c| is_ethernet(c).into();
    NUM_PORTS: 0x1b8, 8 = |c| c.ports.len() as u64;
    LOG_MAX_MSG: 0x1c3, 5 = |c| log2(c.limits.max_msg.min(1 << LOG_MAX_MSG));
    // UCX calls it dp_ordering_ooo_rw_rc.
    MULTI_PATH_RC_RDMA: 0x1ca, 1 = |c| (c.generation >= Generation::ConnectX7).into();
    SIG_BLOCK_4048: 0x1f0, 1 = |_| 1;
    INIT2_LAG_TX_PORT_AFFINITY: 0x1f8, 1 = |c| c.bonded.into();
    CQE_VERSION: 0x1fc, 4 = |_| 1;
    // Short address vectors have no GID, so they lead nowhere on Ethernet.
    COMPACT_ADDRESS_VECTOR: 0x200, 1 = |c| (!is_ethernet(c)).into();
    // WQEs for several frames.
    STRIDING_RQ: 0x201, 1 = |c| is_ethernet(c).into();
    // Lists have strided blocks (`memory/strided.rs`).
    REPEATED_BLOCK_DISABLED: 0x206, 1 = |_| 0;
    UMR_MODIFY_ENTITY_SIZE_DISABLED: 0x207, 1 = |c| (!c.umr_registers).into();
    // Drivers also learn from this one whether atomics by indirect keys work (UCX
    // `UCT_IB_MLX5_MD_FLAG_INDIRECT_ATOMICS`), and they do.
    UMR_MODIFY_ATOMIC_DISABLED: 0x208, 1 = |_| 0;
    UMR_INDIRECT_MKEY_DISABLED: 0x209, 1 = |_| 0;
    // A change of a key waits for the READs and atomics before it, if its driver asks for the strongest fence.
    UMR_FENCE: 0x20a, 2 = |_| 0;
    DC_REQ_SCAT_DATA_CQE: 0x20c, 1 = |_| 1;
    // Signatures of commands. A driver with a command queue chooses; others have nothing to sign.
    CMDIF_CHECKSUM: 0x210, 2 = |_| 0;
    // Of queue pairs. No public driver computes those of an SRQ.
    WQ_SIGNATURE: 0x214, 1 = |_| 1;
    SCTR_DATA_CQE: 0x215, 1 = |_| 1;
    // Signatures of blocks.
    SHO: 0x217, 1 = |_| 1;
    DCT: 0x21a, 1 = |_| 1;
    QOS: 0x21b, 1 = |c| is_ethernet(c).into();
    ETH_NET_OFFLOADS: 0x21c, 1 = |c| is_ethernet(c).into();
    ROCE: 0x21d, 1 = |c| is_ethernet(c).into();
    ATOMIC: 0x21e, 1 = |_| 1;
    CQ_OI: 0x220, 1 = |_| 1;
    CQ_RESIZE: 0x221, 1 = |_| 1;
    CQ_MODERATION: 0x222, 1 = |_| 1;
    CQ_PERIOD_MODE_MODIFY: 0x223, 1 = |_| 1;
    PG: 0x227, 1 = |c| c.on_demand.into();
    BLOCK_LB_MC: 0x228, 1 = |_| 1;
    CQ_PERIOD_START_FROM_CQE: 0x22b, 1 = |_| 1;
    // Queues that wait for completions, and start others.
    CD: 0x22c, 1 = |_| 1;
    UMR_PTR_RLKY: 0x230, 1 = |_| 1;
    SET_DETH_SQPN: 0x238, 1 = |_| 1;
    XRC: 0x23c, 1 = |_| 1;
    UD: 0x23d, 1 = |_| 1;
    UC: 0x23e, 1 = |_| 1;
    RC: 0x23f, 1 = |_| 1;
    UAR_4K: 0x240, 1 = |_| 1;
    FL_RC_QP_WHEN_ROCE_DISABLED: 0x248, 1 = |c| (!is_ethernet(c)).into();
    // The driver makes UMEMs, too, as one in user space does that has the whole function.
    UMEM_UID_0: 0x252, 1 = |_| 1;
    LOG_PG_SZ: 0x258, 8 = |_| 12;
    BF: 0x260, 1 = |_| 1;
    DRIVER_VERSION: 0x261, 1 = |_| 1;
    // Two halves of 256 bytes.
    LOG_BF_REG_SIZE: 0x26b, 5 = |_| 9;
    LAG_DCT: 0x276, 2 = |c| c.bonded.into();
    LAG_TX_PORT_AFFINITY: 0x278, 1 = |c| c.bonded.into();
    NUM_LAG_PORTS: 0x27c, 4 = |c| 1 + u64::from(c.bonded);
    // 16 DS of 64 bytes: the size of a WQE is 6 bits, counted in 16 bytes.
    MAX_WQE_SZ_SQ: 0x290, 16 = |_| 1024;
    MKEY_PCIE_TPH: 0x2a7, 1 = |c| c.generation.has_tph().into();
    MAX_WQE_SZ_RQ: 0x2b0, 16 = |c| (1 << c.limits.max_rq_stride_log).min(MAX_RQ_WQE).into();
    MAX_FLOW_COUNTER_31_16: 0x2c0, 16 = |c| if is_ethernet(c) { u64::from(MAX_COUNTERS) >> 16 } else { 0 };
    MAX_WQE_SZ_SQ_DC: 0x2d0, 16 = |_| 1024;
    // Multicast groups, and their members.
    MAX_QP_MCG: 0x2e7, 25 = |_| MAX_MEMBERS as u64;
    LOG_MAX_MCG: 0x318, 8 = |_| LOG_MAX_GROUPS.into();
    LOG_MAX_TRANSPORT_DOMAIN: 0x323, 5 = |_| 16;
    // The PCI configuration of the function itself does not matter: a virtual function's permits nothing (Linux
    // `set_mkc_access_pd_addr_fields`, commit bd4ba605c4a9).
    RELAXED_ORDERING_READ: 0x32a, 1 = |c| (c.generation >= Generation::ConnectX6Dx).into();
    LOG_MAX_PD: 0x32b, 5 = |c| log2(c.limits.max_objects);
    // Receives of a QP may complete in any order, if its context asks for it.
    DP_ORDERING_OOO_ALL_UD: 0x330, 1 = |c| (c.generation >= Generation::ConnectX7).into();
    DP_ORDERING_OOO_ALL_UC: 0x331, 1 = |c| (c.generation >= Generation::ConnectX7).into();
    DP_ORDERING_OOO_ALL_RC: 0x334, 1 = |c| (c.generation >= Generation::ConnectX7).into();
    LOG_MAX_XRCD: 0x33b, 5 = |c| log2(c.limits.max_objects);
    // Counters that one query reads.
    LOG_MAX_FLOW_COUNTER_BULK: 0x348, 8 = |c| if is_ethernet(c) { 10 } else { 0 };
    MODIFY_TIS: 0x360, 1 = |c| is_ethernet(c).into();
    LOG_MAX_RQ: 0x363, 5 = ethernet_queues;
    LOG_MAX_SQ: 0x36b, 5 = ethernet_queues;
    LOG_MAX_TIR: 0x373, 5 = ethernet_objects;
    LOG_MAX_TIS: 0x37b, 5 = ethernet_objects;
    BASIC_CYCLIC_RCV_WQE: 0x380, 1 = |_| 1;
    LOG_MAX_RMP: 0x383, 5 = srqs;
    LOG_MAX_RQT: 0x38b, 5 = ethernet_objects;
    LOG_MAX_RQT_SIZE: 0x393, 5 = |c| if is_ethernet(c) { log2(MAX_RQT.into()) } else { 0 };
    // 2^3 strides of a WQE and more, in place of 2^9.
    EXT_STRIDE_NUM_RANGE: 0x3a0, 1 = |c| has_extended_range(c.generation).into();
    LOG_MAX_STRIDE_SZ_RQ: 0x3a3, 5 = |c| c.limits.max_rq_stride_log.into();
    LOG_MIN_STRIDE_SZ_RQ: 0x3ab, 5 = |_| 4;
    LOG_MAX_STRIDE_SZ_SQ: 0x3b3, 5 = |_| 6;
    LOG_MIN_STRIDE_SZ_SQ: 0x3bb, 5 = |_| 6;
    // Of work queues alone; Linux refuses longer ones to `ibv_create_wq`.
    LOG_MAX_WQ_SZ: 0x3db, 5 = |c| if is_ethernet(c) { c.limits.max_wqe_log.into() } else { 0 };
    DISABLE_LOCAL_LB_UC: 0x3e1, 1 = |c| is_ethernet(c).into();
    DISABLE_LOCAL_LB_MC: 0x3e2, 1 = |c| is_ethernet(c).into();
    LOG_MAX_VLAN_LIST: 0x3eb, 5 = |c| if is_ethernet(c) { LOG_MAX_VLANS.into() } else { 0 };
    // Several data units at once, or one.
    AES_XTS_SINGLE_BLOCK_LE_TWEAK: 0x3f1, 1 = |c| (encrypts(c) && !crypto::has_many_units(c.generation)).into();
    AES_XTS_MULTI_BLOCK_BE_TWEAK: 0x3f2, 1 = |c| crypto::has_many_units(c.generation).into();
    LOG_MAX_CURRENT_MC_LIST: 0x3f3, 5 = |c| if is_ethernet(c) { LOG_MAX_MULTICAST.into() } else { 0 };
    LOG_MAX_CURRENT_UC_LIST: 0x3fb, 5 = |c| if is_ethernet(c) { LOG_MAX_UNICAST.into() } else { 0 };
    GENERAL_OBJ_TYPES: 0x400, 64 = |c| u64::from(encrypts(c)) << DEK_TYPE | 1 << RESERVED_QPN_TYPE;
    SQ_TS_FORMAT: 0x440, 2 = timestamps;
    RQ_TS_FORMAT: 0x442, 2 = timestamps;
    LOG_MAX_UCTX: 0x463, 5 = |_| 15;
    CRYPTO: 0x469, 1 = |c| encrypts(c).into();
    LOG_MAX_UMEM: 0x46b, 5 = |_| 20;
    SIGERR_DOMAIN_AND_SIG_TYPE: 0x480, 1 = |_| 1;
    // CQE timestamps count nanoseconds.
    DEVICE_FREQUENCY_MHZ: 0x4c0, 32 = |_| 1000;
    DEVICE_FREQUENCY_KHZ: 0x4e0, 32 = |_| 1_000_000;
    NUM_OF_UARS_PER_PAGE: 0x520, 32 = |_| 1;
    // Connections of a DCT at once.
    LOG_MAX_DCT_CONNECTIONS: 0x57b, 5 = |_| log2(MAX_DCT_CONNECTIONS);
    // log2 of the bytes that an atomic replaces.
    LOG_MAX_ATOMIC_SIZE_QP: 0x580, 8 = |_| 3;
    LOG_MAX_DCI_STREAM_CHANNELS: 0x58b, 5 = |_| DciStreams::MAX_LOG_CHANNELS.into();
    LOG_MAX_DCI_ERRORED_STREAMS: 0x593, 5 = |_| DciStreams::MAX_LOG_ERRORED.into();
    LOG_MAX_ATOMIC_SIZE_DC: 0x598, 8 = |_| 3;
    // ConnectX-6 introduced it, and the figures come from a ConnectX-6 Dx: Linux, "net/mlx5e: Support enhanced CQE
    // compression" (2c925db0a7d6).
    ENHANCED_CQE_COMPRESSION: 0x5b0, 1 = |c| (c.generation >= Generation::ConnectX6Dx).into();
    LOG_MAX_DEK: 0x5b3, 5 = |c| if encrypts(c) { crypto::LOG_MAX_DEKS.into() } else { 0 };
    MINI_CQE_RESP_L3_L4_TAG: 0x5b9, 1 = |c| (c.generation >= Generation::ConnectX6Dx).into();
    MINI_CQE_RESP_FLOW_TAG: 0x5ba, 1 = |c| (c.generation >= Generation::ConnectX6Dx).into();
    MINI_CQE_RESP_STRIDE_INDEX: 0x5bc, 1 = |_| 1;
    CQE_COMPRESSION_128: 0x5be, 1 = |_| 1;
    CQE_COMPRESSION: 0x5bf, 1 = |_| 1;
    CQE_COMPRESSION_MAX_NUM: 0x5d0, 16 = |_| MAX_SESSION.into();
    // Every generation from ConnectX-5 on has it; `matches_tags` excludes Ethernet ports.
    TAG_MATCHING: 0x5f0, 1 = |c| c.matches_tags().into();
    RNDV_OFFLOAD_RC: 0x5f1, 1 = |c| c.matches_tags().into();
    LOG_TAG_MATCHING_LIST_SZ: 0x5f3, 5 = |c| if c.matches_tags() { TagContext::MAX_LOG_LIST.into() } else { 0 };
    LOG_MAX_XRQ: 0x5fb, 5 = srqs;
    WAIT_ON_DATA: 0x68b, 1 = |c| (c.generation >= Generation::ConnectX7).into();
    WAIT_ON_TIME: 0x68c, 1 = |c| (c.generation >= Generation::ConnectX7).into();
    UCTX_CAP: 0x6a0, 32 = |c| user_caps(c).into();
    DMA_MMO_QP: 0x748, 1 = |c| c.generation.copies_if_enabled().into();
    DATA_DIRECT: 0x752, 1 = |c| c.generation.has_data_direct().into();
}
