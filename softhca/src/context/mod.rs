//! Contexts of objects: the parts of the PRM's contexts (MKC, CQC, QPC, SRQC) that the device acts on.
//!
//! Front ends (the uverbs shim, embedded use, the firmware's command mailboxes) fill these in. They do not have a
//! driver's layout.

mod completion_queue;
mod memory_key;

pub use completion_queue::{CqCompression, CqContext, MiniFormat, PeriodStart};
pub use memory_key::{Backing, KeyPiece, MkeyContext, TphContext};

/// Rights that a memory key grants, or that a QP grants its peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The device may write the memory for its own host (receive, READ response).
    pub local_write: bool,
    /// Peers may RDMA WRITE.
    pub remote_write: bool,
    /// Peers may RDMA READ.
    pub remote_read: bool,
    /// Peers may do atomics.
    pub remote_atomic: bool,
}

/// Event queue context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqContext {
    /// Host address of the ring.
    pub buf: u64,
    /// log2 of the number of EQEs.
    pub log_size: u8,
    /// UAR page on which its doorbells are rung.
    pub uar: u32,
    /// The interrupt that it raises (EQC.intr), below [`crate::eq::VECTORS`].
    pub vector: u16,
    /// Which events go to it: bit `n % 64` of element `n / 64` for those of number `n`
    /// ([`crate::event::Event::number`]). Those of CQs go to the queue that the CQ names.
    pub events: [u64; 4],
}

/// Transport service of a QP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Reliable connection.
    #[default]
    Rc,
    /// Unreliable connection.
    Uc,
    /// Unreliable datagram.
    Ud,
    /// Dynamically connected: the QP is an initiator (DCI), which only sends. Each of its WQEs names a target
    /// ([`DctContext`]), to which the device connects while there are requests for it.
    Dc,
    /// Extended reliable connection: RC with a way in one direction. A QP is an initiator or a target
    /// ([`ReceiveSource::Domain`]). An initiator only sends, and each of its WQEs names an SRQ. A target only
    /// receives, into the SRQ of its XRC domain that a packet names.
    Xrc,
    /// Not a service of InfiniBand: the host builds whole Ethernet frames (`IBV_QPT_RAW_PACKET`), on Ethernet ports.
    /// The device checks and gathers them, sends them as rules of frames that leave permit, and shows them
    /// ([`crate::device::Device::take_frames`]). Such a QP receives nothing, since no rule can name it: its receive
    /// WQEs wait until they are flushed. Receive queues made by firmware commands receive frames.
    RawPacket,
    /// Not a service of InfiniBand, either: the QP has no peer, and its WQEs change memory keys (`MLX5_QP_ST_REG_UMR`),
    /// of any protection domain. A kernel's.
    RegUmr,
}

/// Receive ring: of a QP, or of an SRQ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RqContext {
    /// Host address of the ring.
    pub buf: u64,
    /// log2 of the number of WQEs.
    pub log_size: u8,
    /// log2 of the bytes per WQE, at least 4.
    pub log_stride: u8,
}

/// Where a QP's receive WQEs come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiveSource {
    /// The QP cannot receive.
    #[default]
    None,
    /// Its own ring.
    Own(RqContext),
    /// An SRQ.
    Shared {
        /// SRQ number.
        srqn: u32,
    },
    /// The SRQs of an XRC domain: each message names one. Where its receives complete and which keys its requests can
    /// name is the SRQ's business, so such a QP has no PD and no CQs; their numbers say nothing.
    Domain {
        /// XRC domain.
        xrcd: u32,
    },
}

/// Send ring: WQEBBs of 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SqContext {
    /// Host address of the ring.
    pub buf: u64,
    /// log2 of the number of WQEBBs.
    pub log_size: u8,
    /// Raw packets: which of a frame's headers its Ethernet segment must hold.
    pub inline_headers: InlineHeaders,
    /// Raw packets: a WQE may hold several frames (SQC.allow_multi_pkt_send_wqe).
    pub multi_packet: bool,
    /// Raw packets: a WQE may state where the headers are (SQC.allow_swp).
    pub software_parser: bool,
    /// It has no doorbell record: the doorbell alone tells the index, in a register of its own
    /// ([`crate::uar::RECORDLESS_DOORBELL`]; QPC.send_dbr_mode 1: rdma-core `tests/mlx5_base.py`, GPUNetIO
    /// `src/doca_verbs_qp.cpp`).
    pub is_recordless: bool,
}

/// Which of a frame's headers a WQE must hold inline, because the device steers by them (SQC.min_wqe_inline_mode; Linux
/// `include/linux/mlx5/device.h`, `enum mlx5_inline_modes`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum InlineHeaders {
    /// None.
    #[default]
    None,
    /// Addresses, VLAN tags and EtherType, 18 bytes at least.
    L2,
    /// L2, and the IP header of an IP packet.
    Ip,
    /// L2, the IP header of an IP packet, and the TCP or UDP header of a TCP or UDP packet.
    TcpUdp,
}

/// Clock of the timestamps in a queue's completions (QPC, SQC, RQC.ts_format).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimestampFormat {
    /// Nanoseconds since the clock of [`crate::device::Device::step`] was 0.
    #[default]
    FreeRunning,
    /// The time: seconds since 1970 in the upper half, nanoseconds in the lower one.
    RealTime,
}

/// Byte order of the 8 bytes that an atomic operation fetches (`atomic_caps.atomic_req_8B_endianness_mode`; Linux
/// commit f91e6d8941bf, "Add setting ATOMIC endian mode"). Four and 16 bytes come in network order in both modes (UCX
/// `src/uct/ib/mlx5/dv/ib_mlx5dv_md.c`, `ext_atomic_arg_sizes_be`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FetchedOrder {
    /// Big endian: the mode of a device that no driver has told otherwise.
    Network = 0,
    /// The host's, which Linux' driver asks for.
    #[default]
    Host = 1,
}

impl FetchedOrder {
    /// The number as the host finds it.
    pub(crate) fn bytes(self, number: u64) -> [u8; 8] {
        match self {
            Self::Network => number.to_be_bytes(),
            Self::Host => number.to_ne_bytes(),
        }
    }
}

/// Queue pair context, as given at creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QpContext {
    /// Transport service.
    pub transport: Transport,
    /// PD number.
    pub pd: u32,
    /// CQ of the send queue.
    pub send_cqn: u32,
    /// CQ of the receive queue.
    pub recv_cqn: u32,
    /// Send ring, if the QP can send.
    pub sq: Option<SqContext>,
    /// Receive WQEs.
    pub rq: ReceiveSource,
    /// Host address of the doorbell record: two big-endian words (receive, send).
    pub dbr: u64,
    /// UAR page on which the send queue's doorbell is rung.
    pub uar: u32,
    /// User index, 24 bits: the QP's CQEs carry it in `srqn_uidx` (bits 23:0). 0 if the host does not use CQE version
    /// 1.
    pub uidx: u32,
    /// Every send WQE completes with a CQE (sq_sig_all).
    pub signal_all: bool,
    /// READ and atomic results of up to this many bytes go into the CQE: 0 (off), 32 or 64 (QPC.cs_req).
    pub scatter_to_cqe_req: u32,
    /// Received messages of up to this many bytes go into the CQE: 0 (off), 32 or 64 (QPC.cs_res).
    pub scatter_to_cqe_res: u32,
    /// Clock of the timestamps in its completions. Real time is for devices that have it
    /// ([`crate::config::DeviceConfig::has_real_time`]).
    pub timestamps: TimestampFormat,
    /// DC: its streams, if it has any. Without, the QP fails with any of its requests.
    pub streams: Option<DciStreams>,
    /// How it waits for the queues of others, enables their WQEs, or lets them enable its own.
    pub cross_channel: CrossChannel,
    /// The WQEs of its send ring are executed again in each round, and their indices do not count (SQC.static_sq_wq).
    pub static_ring: bool,
    /// Its WQEs carry signatures, those of its own receive queue, too (QPC.wq_signature).
    pub signed: bool,
    /// UD: datagrams that it sends to a multicast group are not for itself (QPC.block_lb_mc).
    pub blocks_own_multicast: bool,
    /// Rights of a kernel's QP that a user's QP lacks.
    pub privileges: Privileges,
    /// The options of enhanced connection establishment that are asked for; 0: none. The device keeps those that it
    /// accepts.
    pub ece: u32,
}

impl QpContext {
    /// The protection domain of its keys; `None` for a queue that changes keys of all domains, and belongs to none.
    pub(crate) fn domain(&self) -> Option<u32> {
        (self.transport != Transport::RegUmr).then_some(self.pd)
    }

    /// Whether its send queue has no doorbell record.
    pub(crate) fn is_recordless(&self) -> bool {
        self.sq.is_some_and(|sq| sq.is_recordless)
    }

    /// The context of a QP without queues and without any option: PD, CQs, doorbell record, UAR page and user index are
    /// 0, and timestamps come from the free-running clock.
    #[must_use]
    pub fn new(transport: Transport) -> Self {
        Self { transport, ..Self::default() }
    }
}

/// Requests of one queue that another one's wait for, or that another one starts ("cross channel").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrossChannel {
    /// Its send queue takes requests that wait for completions, and that start other queues (QPC.cd_master).
    pub master: bool,
    /// Its send WQEs start when another queue says so, and not with a doorbell (QPC.cd_slave_send).
    pub slave_send: bool,
    /// Its receive WQEs are there when another queue says so, besides the doorbell record (QPC.cd_slave_receive).
    pub slave_receive: bool,
}

/// Streams of a DCI: each WQE says which one it is of, by any number of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DciStreams {
    /// log2 of how many the device is to work on at a time (QPC.log_num_dci_stream_channels), at most
    /// [`DciStreams::MAX_LOG_CHANNELS`]. This one executes the requests of all in their order.
    pub log_channels: u8,
    /// log2 of how many have failed when the QP fails (QPC.log_num_dci_errored_streams), at most
    /// [`DciStreams::MAX_LOG_ERRORED`].
    pub log_errored: u8,
}

impl DciStreams {
    /// log2 of the most streams that are worked on at a time.
    pub const MAX_LOG_CHANNELS: u8 = 6;
    /// log2 of the most streams that may fail.
    pub const MAX_LOG_ERRORED: u8 = 6;

    /// As many streams as have failed when the QP fails.
    pub(crate) fn most_failed(self) -> usize {
        1 << self.log_errored.min(Self::MAX_LOG_ERRORED)
    }
}

/// Rights that only QPs of a kernel have: they reach all of the host's memory, or act for the whole port. QPs of users
/// have none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Privileges {
    /// Its WQEs may name [`crate::memory::RESERVED_LKEY`], which is all of the host's memory (QPC.rlky).
    pub reserved_lkey: bool,
    /// Its UMR WQEs may say which pages are behind a key (QPC.fre, "fast registration enabled").
    pub fast_registration: bool,
    /// Its datagrams name QP 1 as their source (QPC.deth_sqpn).
    pub sends_as_qp1: bool,
    /// It is QP 1 of the port that it is bound to, although its own number is another. It receives the packets that
    /// arrive for QP 1 there, and it sends as QP 1 (`MLX5_QP_ST_QP1`).
    pub is_qp1: bool,
}

/// How the WQEs of a shared ring follow each other (PRM `wq.wq_type`, `rmpc.basic_cyclic_rcv_wqe`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SrqOrder {
    /// Each begins with a next segment of 16 bytes, which names the one after it.
    #[default]
    Linked,
    /// In a circle. CQEs carry the running number of the WQE, not its index.
    Cyclic {
        /// Each begins with a next segment all the same, whose link means nothing.
        next_segment: bool,
    },
}

/// Shared receive queue context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SrqContext {
    /// PD number.
    pub pd: u32,
    /// Ring.
    pub rq: RqContext,
    /// In which order its WQEs are consumed.
    pub order: SrqOrder,
    /// It is a receive memory pool (RMP): its events are said to be a receive queue's.
    pub is_pool: bool,
    /// Host address of the doorbell record: one big-endian word.
    pub dbr: u64,
    /// Raise [`crate::event::Event::SrqLimit`] when fewer WQEs than this are posted; 0 = never.
    pub limit: u16,
}

/// Additional context of an SRQ in an XRC domain ([`Transport::Xrc`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XrcContext {
    /// XRC domain.
    pub xrcd: u32,
    /// CQ of its receives, whichever QP they come by.
    pub cqn: u32,
    /// User index, 24 bits: the SRQ's CQEs carry it in `srqn_uidx`. `None` stands for the SRQ's own number.
    pub uidx: Option<u32>,
}

/// Additional context of an SRQ that matches messages with tags (PRM `xrqc` with the topology "tag matching").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagContext {
    /// CQ of its receives and of the operations on its list, whichever QP they come by.
    pub cqn: u32,
    /// User index, 24 bits: those CQEs carry it in `srqn_uidx`. `None` stands for the SRQ's own number.
    pub uidx: Option<u32>,
    /// log2 of the places of its list, at most [`TagContext::MAX_LOG_LIST`].
    pub log_list: u8,
    /// The device fetches the rendezvous data of matched messages itself. It sends by QPs that it is allowed to use.
    pub rendezvous: bool,
}

impl TagContext {
    /// log2 of the most places of a list: one less can be taken, as 127 on a ConnectX-5.
    pub const MAX_LOG_LIST: u8 = 7;
}

/// Dynamically connected target context: what many initiators (QPs with [`Transport::Dc`]) can connect to at once. It
/// only receives, and is ready as soon as it exists (PRM "DCT context").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DctContext {
    /// PD number.
    pub pd: u32,
    /// SRQ that receive WQEs come from.
    pub srqn: u32,
    /// CQ of the receives.
    pub cqn: u32,
    /// Initiators connect with this key.
    pub access_key: u64,
    /// Rights of the initiators.
    pub access: Access,
    /// Sizes of the masked atomics that they may do: as [`QpAttr::extended_atomics`].
    pub extended_atomics: u8,
    /// Largest path MTU in bytes that an initiator may have: 256, 512, 1024, 2048 or 4096.
    pub mtu: u32,
    /// Port, from 1.
    pub port: u8,
    /// The port of a bond by which answers leave: as [`QpAttr::lag_port`].
    pub lag_port: u8,
    /// Index into the port's P_Key table.
    pub pkey_index: u16,
    /// Index into the port's GID table: the address to which initiators send packets with a GRH.
    pub sgid_index: u8,
    /// Traffic class of the answers' GRH.
    pub traffic_class: u8,
    /// Flow label of the answers' GRH, 20 bits.
    pub flow_label: u32,
    /// Hop limit of the answers' GRH.
    pub hop_limit: u8,
    /// RNR NAK timer code, 0-31 (IBTA vol. 1 table 45).
    pub min_rnr_timer: u8,
    /// User index, 24 bits: the target's CQEs carry it in `srqn_uidx`.
    pub uidx: u32,
    /// Received messages of up to this many bytes go into the CQE: 0 (off), 32 or 64 (DCTC.cs_res).
    pub scatter_to_cqe_res: u32,
    /// As [`QpContext::ece`].
    pub ece: u32,
}

/// States of a DCT (PRM "DCT context", `state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DctState {
    /// Initiators can connect.
    #[default]
    Active,
    /// No further initiators can connect, and connected ones finish.
    Draining,
    /// None is connected.
    Drained,
}

/// QP states (IBTA vol. 1, 10.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QpState {
    /// Reset.
    #[default]
    Reset,
    /// Initialised.
    Init,
    /// Ready to receive.
    Rtr,
    /// Ready to send.
    Rts,
    /// Send queue drained.
    Sqd,
    /// Send queue error (UC and UD).
    Sqe,
    /// Error.
    Err,
}

/// Path to a peer (PRM "ADS").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Destination LID; 0 on Ethernet.
    pub dlid: u16,
    /// Service level.
    pub sl: u8,
    /// Low bits of the source LID.
    pub src_path_bits: u8,
    /// Global routing.
    pub grh: Option<PathGrh>,
    /// Destination MAC; used on Ethernet only.
    pub dmac: [u8; 6],
}

/// Global routing part of a [`Path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathGrh {
    /// Destination GID.
    pub dgid: [u8; 16],
    /// Index of the source GID in the port's table.
    pub sgid_index: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Hop limit.
    pub hop_limit: u8,
    /// Traffic class.
    pub traffic_class: u8,
}

/// Sizes in bytes of the masked atomics that the device has, summed.
pub const EXTENDED_ATOMICS: u8 = 4 | 8 | 16;

/// Attributes that a state change sets. `None` leaves a value as it is. The device checks which attributes a transition
/// needs and permits against IBTA vol. 1, table 91 (as `ib_modify_qp_is_ok` of the kernel does).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QpAttr {
    /// State to move to; `None` keeps the state.
    pub state: Option<QpState>,
    /// The state the caller believes the QP is in.
    pub cur_state: Option<QpState>,
    /// Index into the port's P_Key table.
    pub pkey_index: Option<u16>,
    /// Port, from 1.
    pub port: Option<u8>,
    /// Rights of the peer.
    pub access: Option<Access>,
    /// Q_Key (UD).
    pub qkey: Option<u32>,
    /// Primary path.
    pub path: Option<Path>,
    /// Path MTU in bytes: 256, 512, 1024, 2048 or 4096.
    pub path_mtu: Option<u32>,
    /// The peer's QPN.
    pub dest_qpn: Option<u32>,
    /// First PSN expected.
    pub rq_psn: Option<u32>,
    /// First PSN sent.
    pub sq_psn: Option<u32>,
    /// READs and atomics accepted at once.
    pub max_dest_rd_atomic: Option<u8>,
    /// READs and atomics outstanding at once.
    pub max_rd_atomic: Option<u8>,
    /// Sizes in bytes of the masked atomics that the peer may do, if it may do atomics: 0, or a sum of 4, 8 and 16
    /// (QPC.atomic_mode).
    pub extended_atomics: Option<u8>,
    /// RNR NAK timer code, 0-31 (IBTA vol. 1 table 45).
    pub min_rnr_timer: Option<u8>,
    /// Local ACK timeout code, 0-31: 4.096 us * 2^code; 0 = infinite.
    pub timeout: Option<u8>,
    /// Transport retries, 0-7.
    pub retry_cnt: Option<u8>,
    /// RNR retries, 0-7; 7 = without end.
    pub rnr_retry: Option<u8>,
    /// Receives may complete in another order than their WQEs were posted in, as with out-of-order data placement
    /// (rdma-core `MLX5DV_QP_CREATE_OOO_DP`, which libmlx5 sets from reset to init; UCX sets QPC.dp_ordering from init
    /// to RTR). This device writes the CQEs of all messages that arrive in one step in a random order, which depends on
    /// nothing but the QPN and the messages before. Each CQE's `wqe_counter` names its WQE.
    pub out_of_order: Option<bool>,
    /// The peer's WRITEs are placed in the order of their bytes, whatever the network does (QPC.dp_ordering_force, with
    /// dp_ordering 0). Without it, [`crate::config::DeviceConfig::late_writes`] decides.
    pub in_order: Option<bool>,
    /// UDP source port of RoCE v2 packets, on its path (QPC.primary_address_path.udp_sport); 0 or `None`: one that the
    /// wire makes of the flow label and the QPN.
    pub udp_sport: Option<u16>,
    /// The port of a bond by which it sends, 1 or 2 (QPC.lag_tx_port_affinity); 0 or `None`: the device chooses one.
    pub lag_port: Option<u8>,
    /// The options of enhanced connection establishment that are asked for, such as those that the peer accepted. A
    /// query has those that the device accepted.
    pub ece: Option<u32>,
    /// Raise [`crate::event::QpEvent::SqDrained`] when the move to SQD has drained the send queue.
    pub sqd_event: Option<bool>,
}

/// States of send and receive queues of Ethernet frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueState {
    /// Nothing is posted or done.
    Reset,
    /// WQEs are executed.
    Ready,
    /// WQEs are flushed, or left alone.
    Error,
}

impl QueueState {
    /// Whether a queue can go from here to `to` (Linux `drivers/net/ethernet/mellanox/mlx5/core/en_main.c` goes these
    /// ways, and `drivers/infiniband/hw/mlx5/qp.c` from reset to error, with the send queue of a QP that receives
    /// only).
    #[must_use]
    pub fn may_become(self, to: Self) -> bool {
        self == to || matches!((self, to), (Self::Reset, Self::Ready) | (_, Self::Error | Self::Reset))
    }
}
