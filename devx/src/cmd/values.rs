//! Types of fields: numbers by which commands name objects, and named values.

use super::Mkc;
use crate::mailbox::{Value, identifiers, names};

identifiers! {
    /// A protection domain.
    pub struct Pdn: 24 bits;
    /// A transport domain.
    pub struct Tdn: 24 bits;
    /// An XRC domain.
    pub struct Xrcdn: 24 bits;
    /// A page of doorbell registers.
    pub struct UarPage: 24 bits;
    /// Memory for rings, records and keys.
    pub struct UmemId: 32 bits;
    /// A send queue outside of queue pairs.
    pub struct Sqn: 24 bits;
    /// A receive queue outside of queue pairs.
    pub struct Rqn: 24 bits;
    /// A receive memory pool.
    pub struct Rmpn: 24 bits;
    /// An extended shared receive queue.
    pub struct Xrqn: 24 bits;
    /// A target of dynamically connected queue pairs.
    pub struct Dctn: 24 bits;
    /// A transport interface of sends.
    pub struct Tisn: 24 bits;
    /// A transport interface of receives.
    pub struct Tirn: 24 bits;
    /// A table of receive queues.
    pub struct Rqtn: 24 bits;
}

names! {
    /// How a memory key finds memory (`mkc.access_mode`). The context has its lower and its upper bits in two places.
    pub struct AccessMode(u8) {
        /// Addresses are physical.
        PA = 0x0,
        /// By a list of pages.
        MTT = 0x1,
        /// By a list of parts of other keys, each as long as it says.
        KLMS = 0x2,
        /// By a list of parts of other keys, all equally long.
        KSM = 0x3,
        /// By ICM that software owns.
        SW_ICM = 0x4,
        /// Memory of the device.
        MEMIC = 0x5,
    }

    /// The state of a completion queue (`cqc.st`).
    pub struct CqState(u8) {
        SOLICITED_ARMED = 0x6,
        ARMED = 0x9,
        FIRED = 0xa,
    }

    /// Whether a completion queue works (`cqc.status`).
    pub struct CqStatus(u8) {
        OK = 0x0,
        OVERFLOW = 0x9,
        WRITE_FAIL = 0xa,
    }

    /// How large CQEs are (`cqc.cqe_sz`).
    pub struct CqeSize(u8) {
        BYTES_64 = 0x0,
        BYTES_128 = 0x1,
        /// 64 bytes in a stride of 128.
        BYTES_128_PADDED = 0x2,
    }

    /// The state of a queue pair (`qpc.state`).
    pub struct QpcState(u8) {
        RST = 0x0,
        INIT = 0x1,
        RTR = 0x2,
        RTS = 0x3,
        SQER = 0x4,
        SQD = 0x5,
        ERR = 0x6,
        SQ_DRAINING = 0x7,
        SUSPENDED = 0x9,
    }

    /// The service of a queue pair (`qpc.st`).
    pub struct ServiceType(u8) {
        RC = 0x0,
        UC = 0x1,
        UD = 0x2,
        XRC = 0x3,
        DCI = 0x5,
        QP0 = 0x7,
        QP1 = 0x8,
        RAW_DATAGRAM = 0x9,
        REG_UMR = 0xc,
    }

    /// The state of path migration (`qpc.pm_state`).
    pub struct PathMigration(u8) {
        ARMED = 0x0,
        REARM = 0x1,
        MIGRATED = 0x3,
    }

    /// The path MTU (`qpc.mtu`), as `ibv_mtu` counts.
    pub struct PathMtu(u8) {
        BYTES_256 = 0x1,
        BYTES_512 = 0x2,
        BYTES_1024 = 0x3,
        BYTES_2048 = 0x4,
        BYTES_4096 = 0x5,
        /// Raw Ethernet.
        RAW_ETHERNET = 0x7,
    }

    /// Where a queue pair's receives are (`qpc.rq_type`).
    pub struct RqType(u8) {
        /// In its own ring.
        REGULAR = 0x0,
        /// In a shared receive queue or receive memory pool.
        SRQ_RMP_XRC_SRQ_XRQ = 0x1,
        /// No receives: the queue pair serves RDMA only.
        ZERO_SIZE = 0x3,
    }

    /// The state of a receive memory pool (`rmpc.state`).
    pub struct RmpState(u8) {
        RDY = 0x1,
        ERR = 0x3,
    }

    /// How a work queue is laid out (`wq.wq_type`).
    pub struct WqType(u8) {
        LINKED_LIST = 0x0,
        CYCLIC = 0x1,
        LINKED_LIST_STRIDING_RQ = 0x2,
        CYCLIC_STRIDING_RQ = 0x3,
    }

    /// How a transport interface chooses a receive queue (`tirc.disp_type`).
    pub struct TirDispatch(u8) {
        DIRECT = 0x0,
        INDIRECT = 0x1,
    }

    /// How packets are spread (`tirc.rx_hash_fn`).
    pub struct RxHashFunction(u8) {
        NONE = 0x0,
        INVERTED_XOR8 = 0x1,
        TOEPLITZ = 0x2,
    }

    /// The state of a send or receive queue (`sqc.state`, `rqc.state`).
    pub struct QueueState(u8) {
        RST = 0x0,
        RDY = 0x1,
        ERR = 0x3,
    }

    /// The headers that a frame must carry inline (`sqc.min_wqe_inline_mode`, `nic_vport_context.min_wqe_inline_mode`).
    /// The last three modes include headers inside a tunnel (DPDK `drivers/common/mlx5/mlx5_prm.h`,
    /// `MLX5_INLINE_MODE_*`).
    pub struct MinInlineMode(u8) {
        NONE = 0x0,
        L2 = 0x1,
        IP = 0x2,
        TCP_UDP = 0x3,
        INNER_L2 = 0x5,
        INNER_IP = 0x6,
        INNER_TCP_UDP = 0x7,
    }

    /// The source of the requirement for inline headers (`per_protocol_networking_offload_caps.wqe_inline_mode`).
    pub struct InlineModeSource(u8) {
        /// The capability: the headers of layer 2.
        L2 = 0x0,
        /// The context of the function's port.
        VPORT_CONTEXT = 0x1,
        /// The capability: nothing.
        NOT_REQUIRED = 0x2,
    }

    /// Where a receive queue's buffers are (`rqc.mem_rq_type`).
    pub struct MemRqType(u8) {
        INLINE = 0x0,
        RMP = 0x1,
    }

    /// How a send queue announces its requests (`qpc.send_dbr_mode`; rdma-core 65 `tests/mlx5_prm_structs.py`,
    /// `SendDbrMode`).
    pub struct SendDbrMode(u8) {
        /// By a doorbell record, and a doorbell.
        DBR_VALID = 0x0,
        /// By a doorbell alone, at [`RecordlessRegister::OFFSET`](blueflame::db::RecordlessRegister::OFFSET) of its page.
        NO_DBR_EXT = 0x1,
        NO_DBR_INT = 0x2,
    }

    /// The clock of timestamps in CQEs (`sqc.ts_format`, `rqc.ts_format`, `qpc.ts_format`).
    pub struct TimestampFormat(u8) {
        FREE_RUNNING = 0x0,
        /// The device's default.
        DEFAULT = 0x1,
        REAL_TIME = 0x2,
    }

    /// The traffic that a flow table sees (`table_type`; Linux `include/linux/mlx5/fs.h`, `enum fs_flow_table_type`).
    pub struct FlowTableType(u8) {
        NIC_RX = 0x0,
        NIC_TX = 0x1,
        ESW_EGRESS_ACL = 0x2,
        ESW_INGRESS_ACL = 0x3,
        FDB = 0x4,
        SNIFFER_RX = 0x5,
        SNIFFER_TX = 0x6,
        RDMA_RX = 0x7,
        RDMA_TX = 0x8,
    }

    /// Where a rule sends packets (`dest_format_struct.destination_type`).
    pub struct DestinationType(u8) {
        VPORT = 0x0,
        FLOW_TABLE = 0x1,
        TIR = 0x2,
        FLOW_SAMPLER = 0x6,
        UPLINK = 0x8,
        TABLE_TYPE = 0xa,
    }

    /// A field of packets that rules modify: of headers, or a register (Linux `include/linux/mlx5/mlx5_ifc.h`,
    /// `MLX5_ACTION_IN_FIELD_*`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `enum mlx5_modification_field`).
    pub struct HeaderField(u16) {
        SMAC_47_16 = 0x1,
        SMAC_15_0 = 0x2,
        ETHERTYPE = 0x3,
        DMAC_47_16 = 0x4,
        DMAC_15_0 = 0x5,
        IP_DSCP = 0x6,
        TCP_FLAGS = 0x7,
        TCP_SPORT = 0x8,
        TCP_DPORT = 0x9,
        IPV4_TTL = 0xa,
        UDP_SPORT = 0xb,
        UDP_DPORT = 0xc,
        SIPV6_127_96 = 0xd,
        SIPV6_95_64 = 0xe,
        SIPV6_63_32 = 0xf,
        SIPV6_31_0 = 0x10,
        DIPV6_127_96 = 0x11,
        DIPV6_95_64 = 0x12,
        DIPV6_63_32 = 0x13,
        DIPV6_31_0 = 0x14,
        SIPV4 = 0x15,
        DIPV4 = 0x16,
        FIRST_VID = 0x17,
        IPV6_HOPLIMIT = 0x47,
        /// Of sent packets. It begins with the request's `metadata`.
        METADATA_REG_A = 0x49,
        /// Of received packets. Completions carry it ([`flow_metadata`](blueflame::cq::CqeView::flow_metadata)).
        METADATA_REG_B = 0x50,
        METADATA_REG_C_0 = 0x51,
        METADATA_REG_C_1 = 0x52,
        METADATA_REG_C_2 = 0x53,
        METADATA_REG_C_3 = 0x54,
        METADATA_REG_C_4 = 0x55,
        METADATA_REG_C_5 = 0x56,
        METADATA_REG_C_6 = 0x57,
        METADATA_REG_C_7 = 0x58,
        TCP_SEQ_NUM = 0x59,
        TCP_ACK_NUM = 0x5b,
        IP_ECN = 0x73,
    }

    /// A kind of general object (`MLX5_OBJ_TYPE_*` of rdma-core's `providers/mlx5/mlx5_ifc.h`,
    /// `MLX5_GENERAL_OBJECT_TYPES_*` of Linux').
    pub struct ObjectType(u16) {
        FLOW_METER = 0xa,
        GENEVE_TLV_OPT = 0xb,
        ENCRYPTION_KEY = 0xc,
        VIRTIO_NET_Q = 0xd,
        IPSEC = 0x13,
        MATCH_DEFINER = 0x18,
        VIRTIO_Q_COUNTERS = 0x1c,
        CRYPTO_LOGIN = 0x1f,
        SAMPLER = 0x20,
        HEADER_MODIFY_ARGUMENT = 0x23,
        FLOW_METER_ASO = 0x24,
        ASO_FIRST_HIT = 0x25,
        SCHEDULING_ELEMENT = 0x26,
        MACSEC = 0x27,
        RESERVED_QPN = 0x2c,
        ASO_CT = 0x31,
        AV_QP_MAPPING = 0x3a,
    }

    /// Whether a register is read or written (DPDK `drivers/common/mlx5/mlx5_prm.h`,
    /// `MLX5_ACCESS_REGISTER_IN_OP_MOD_READ`).
    pub struct RegisterAccess(u16) {
        /// It is written.
        WRITE = 0,
        /// It is read.
        READ = 1,
    }

    /// Which register (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_REGISTER_ID_*`).
    pub struct RegisterId(u16) {
        /// [`RegisterMtutc`](super::RegisterMtutc).
        MTUTC = 0x9055,
    }

    /// The mode of the device's clock (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_MTUTC_TIMESTAMP_MODE_*`).
    pub struct TimeStampMode(u8) {
        /// Ticks of a free-running timer.
        INTERNAL_TIMER = 0,
        /// Seconds since 1970 and nanoseconds.
        REAL_TIME = 1,
    }

    /// A set of capabilities: `enum mlx5_cap_type` of Linux' `include/linux/mlx5/device.h`, CRYPTO of DPDK's
    /// `mlx5_prm.h`.
    pub struct CapabilitySet(u16) {
        GENERAL = 0x0,
        ETHERNET_OFFLOADS = 0x1,
        ODP = 0x2,
        ATOMIC = 0x3,
        ROCE = 0x4,
        IPOIB_OFFLOADS = 0x5,
        IPOIB_ENHANCED_OFFLOADS = 0x6,
        FLOW_TABLE = 0x7,
        ESWITCH_FLOW_TABLE = 0x8,
        ESWITCH = 0x9,
        VECTOR_CALC = 0xb,
        QOS = 0xc,
        DEBUG = 0xd,
        DEV_MEM = 0xf,
        TLS = 0x11,
        VDPA_EMULATION = 0x13,
        DEV_EVENT = 0x14,
        IPSEC = 0x15,
        CRYPTO = 0x1a,
        SHAMPO = 0x1d,
        PSP = 0x1e,
        MACSEC = 0x1f,
        GENERAL_2 = 0x20,
        PORT_SELECTION = 0x25,
        ADV_VIRTUALIZATION = 0x26,
        ADV_RDMA = 0x28,
        TLP_EMULATION = 0x2a,
    }
}

impl Mkc {
    /// How the key finds memory.
    #[must_use]
    pub fn access_mode(&self) -> AccessMode {
        AccessMode(self.access_mode_4_2() << 2 | self.access_mode_1_0())
    }

    /// Sets [`access_mode`](Self::access_mode).
    ///
    /// # Panics
    /// If it has more than 5 bits.
    #[track_caller]
    pub fn set_access_mode(&mut self, mode: AccessMode) -> &mut Self {
        self.set_access_mode_4_2(mode.0 >> 2).set_access_mode_1_0(mode.0 & 3)
    }
}

/// The set and the mode of the query (`query_hca_cap_in.op_mod`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CapabilitySelector {
    /// The set.
    pub set: CapabilitySet,
    /// True for the values in force, false for the highest that may be set.
    pub current: bool,
}

impl Value for CapabilitySelector {
    const BITS: usize = 16;

    fn from_bits(bits: u64) -> Self {
        Self { set: CapabilitySet((bits >> 1) as u16), current: bits & 1 != 0 }
    }

    fn into_bits(self) -> u64 {
        u64::from(self.set.0) << 1 | u64::from(self.current)
    }
}
