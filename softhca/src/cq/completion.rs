//! Completions: their content, without the layout of their bytes.

use crate::listed::listed;
use crate::memory::Mismatch;
use smallvec::SmallVec;

listed! {
    /// Syndromes of error CQEs (`MLX5_CQE_SYNDROME_*`), by their names in libibverbs (`ibv_wc_status_str`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub(crate) enum Syndrome {
        /// Message longer than the receive WQE or than the transport permits.
        LocalLength = 0x01 => "local length error",
        /// The WQE or the QP is inconsistent.
        LocalQpOp = 0x02 => "local QP operation error",
        /// A local key does not permit the access.
        LocalProtection = 0x04 => "local protection error",
        /// Flushed: the QP is in the error state.
        WrFlush = 0x05 => "Work Request Flushed Error",
        /// A change of a memory key was refused: a memory window's, a registration, an invalidation.
        MwBind = 0x06 => "memory bind operation error",
        /// The responder's packet made no sense.
        BadResponse = 0x10 => "bad response error",
        /// A WRITE with immediate data was not permitted (`MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR`).
        LocalAccess = 0x11 => "local access error",
        /// NAK: invalid request.
        RemoteInvalidRequest = 0x12 => "remote invalid request error",
        /// NAK: remote access error.
        RemoteAccess = 0x13 => "remote access error",
        /// NAK: remote operational error.
        RemoteOp = 0x14 => "remote operation error",
        /// No answer after all retries.
        TransportRetryExceeded = 0x15 => "transport retry counter exceeded",
        /// Receiver not ready after all retries.
        RnrRetryExceeded = 0x16 => "RNR retry counter exceeded",
        /// The peer aborted.
        RemoteAborted = 0x22 => "aborted error",
    }
}

impl Syndrome {
    /// The syndrome of this number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|known| *known as u8 == number)
    }
}

/// Kind of the message that consumed a receive WQE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceiveKind {
    /// SEND.
    Send,
    /// SEND with immediate data.
    SendImm,
    /// SEND with invalidate.
    SendInval,
    /// RDMA WRITE with immediate data.
    WriteImm,
}

/// Where a message came from: the fields of a CQE that only UD and DC fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// Source LID.
    pub slid: u16,
    /// Source QPN.
    pub src_qpn: u32,
    /// Service level; on Ethernet, the kind of the packet's network header.
    pub sl: u8,
    /// Low bits of the LID the packet was sent to.
    pub dlid_path_bits: u8,
    /// The first 40 bytes of the receive buffer hold a GRH.
    pub grh: bool,
    /// Index of the packet's P_Key.
    pub pkey_index: u16,
}

/// Strides of a WQE that takes several frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TakenStrides {
    /// Running number of the WQE (`wqe_id`).
    pub wqe: u16,
    /// Index of the first one in the WQE.
    pub first: u16,
    /// How many. The CQE has 14 bits for it.
    pub count: u16,
}

/// The description of an Ethernet frame in its CQE, besides its size (`struct mlx5_cqe64`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameInfo {
    /// Hash, by which its queue was chosen.
    pub rss_hash: u32,
    /// The fields that the hash covers (`rss_hash_type`).
    pub rss_hash_type: u8,
    /// Sum of the words of its IP packet, or of merged segments' data, not complemented (`check_sum`).
    pub sum: u16,
    /// Which layers are without fault (`hds_ip_ext`).
    pub layers_ok: u8,
    /// Which headers it has (`l4_l3_hdr_type`).
    pub headers: u8,
    /// Its tunnel (`pkt_info`).
    pub tunnel: u8,
    /// The VLAN tag that was taken out of it.
    pub vlan: u16,
    /// Tag by rules; 24 bits.
    pub flow_tag: u32,
    /// Register B of rules (`ft_metadata`).
    pub metadata: u32,
    /// The TCP segments that it was made of, if it was.
    pub merged: Option<MergedSegments>,
}

/// TCP segments that became one frame. Software puts the values into its headers (`struct mlx5_cqe64`, `lro_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MergedSegments {
    /// How many; one may have been alone. All drivers take a frame as merged from two on. A frame that none can be
    /// merged with has 0 here: with any other number, Linux takes the sum as one without headers
    /// (`drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_handle_csum`, `lro`).
    pub segments: u8,
    /// The last one has PSH.
    pub has_push: bool,
    /// Least time to live, or hop limit.
    pub min_ttl: u8,
    /// The window and the acknowledgement number of the last one.
    pub window: u16,
    pub acknowledgement: u32,
    /// The time stamps of the last one, of the sender and returned, which take the place of the CQE's. Only FreeBSD
    /// reads them (`sys/dev/mlx5/mlx5_en/mlx5_en_rx.c`, `mlx5e_lro_update_hdr`).
    pub stamps: Option<[u32; 2]>,
}

/// A signature was not that of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignatureError {
    /// The key.
    pub(crate) key: u32,
    /// The mismatch.
    pub(crate) mismatch: Mismatch,
}

/// Event of a tag, or of a message with a tag (`MLX5_CQE_APP_OP_TM_*`, rdma-core `providers/mlx5/cq.c`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TagOutcome {
    /// Nothing was to change.
    #[default]
    Noop = 0x07,
    /// A message was for a tag, and its data is on its way.
    Consumed = 0x01,
    /// Its data is there.
    Expected = 0x02,
    /// A message had a tag for which there was nothing.
    Unexpected = 0x03,
    /// A message had none.
    NoTag = 0x04,
    /// A tag was appended.
    Append = 0x05,
    /// A tag was taken away, or was not there any more.
    Remove = 0x06,
    /// A message was for a tag, and its data is there.
    ConsumedMessage = 0x0a,
    /// The announcement of a message was for a tag. It is in the tag's buffer, and software must fetch the message.
    ConsumedAnnouncement = 0x0b,
    /// A message was for a tag, and its data will not come.
    Canceled = 0x0c,
}

/// Additional content of the CQEs of a queue that matches tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TagReport {
    /// The event.
    pub(crate) outcome: TagOutcome,
    /// Place of the tag.
    pub(crate) index: u16,
    /// The first bytes of the CQE: a message's header, or the result of an operation.
    pub(crate) head: [u8; TagReport::HEAD_BYTES],
    /// The message's; none of an operation.
    pub(crate) message: Option<ReceivedTag>,
}

/// The message as its CQE describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedTag {
    /// The kind of message.
    pub(crate) kind: ReceiveKind,
    /// Bytes: of its data if it was for a tag, else of all of it.
    pub(crate) byte_cnt: u32,
    /// As of [`Completion::Receive`].
    pub(crate) imm: u32,
    /// The sender asked for a solicited event.
    pub(crate) solicited: bool,
    /// Scatter-to-CQE: those bytes.
    pub(crate) inline: Option<InCqe>,
}

impl TagReport {
    /// Bytes of a message's header (`struct ibv_tmh`).
    pub(crate) const HEAD_BYTES: usize = 16;
}

/// Scatter-to-CQE data. Up to 32 bytes, as many as fit into a CQE of 64 bytes, are not allocated.
pub(crate) type InCqe = SmallVec<[u8; 32]>;

/// A completion, to be written by [`crate::resources::Resources::complete`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// A send WQE succeeded.
    Request {
        /// QP.
        qpn: u32,
        /// User index of the QP's context.
        uidx: u32,
        /// Opcode byte of the WQE.
        opcode: u8,
        /// Index of the WQE's first WQEBB.
        wqe_counter: u16,
        /// Bytes the operation brought (READ, atomics); 0 otherwise.
        byte_cnt: u32,
        /// Scatter-to-CQE: those bytes themselves, in place of writing them to the WQE's buffers.
        inline: Option<InCqe>,
    },
    /// A receive WQE succeeded.
    Receive {
        /// QP.
        qpn: u32,
        /// User index of the QP's context.
        uidx: u32,
        /// Message.
        kind: ReceiveKind,
        /// Counter of the receive WQE ([`crate::recv::RecvWqe::counter`]).
        wqe_counter: u16,
        /// Bytes of the message; for UD with the 40 bytes of the GRH.
        byte_cnt: u32,
        /// Immediate data or invalidated key, in host order of the big-endian word; 0 for a plain SEND.
        imm: u32,
        /// The sender asked for a solicited event.
        solicited: bool,
        /// UD and DC only.
        source: Option<Source>,
        /// Scatter-to-CQE: the message itself, in place of writing it to the WQE's buffers.
        inline: Option<InCqe>,
    },
    /// An Ethernet frame consumed a receive WQE.
    Frame {
        /// RQ.
        rqn: u32,
        /// User index of the RQ's context.
        uidx: u32,
        /// See [`Self::Receive`]; in its place, a CQE of a striding queue has the first stride's index.
        wqe_counter: u16,
        /// Bytes of the frame.
        byte_cnt: u32,
        /// The strides that it is in, if the queue is a striding one.
        strides: Option<TakenStrides>,
        /// The other fields.
        info: FrameInfo,
    },
    /// Strides that stay without a frame, because the next one is too long for them.
    Filler {
        /// RQ.
        rqn: u32,
        /// User index of the RQ's context.
        uidx: u32,
        /// The strides.
        strides: TakenStrides,
    },
    /// Something happened to the tags of an SRQ.
    Tag {
        /// QP.
        qpn: u32,
        /// User index of the SRQ.
        uidx: u32,
        /// Index of the WQE that asked for it, or of the receive WQE, if the message has taken one.
        wqe_counter: u16,
        /// The event.
        report: TagReport,
    },
    /// A signature was not that of its data. It completes no WQE.
    Signature {
        /// QP.
        qpn: u32,
        /// The error.
        error: SignatureError,
    },
    /// A WQE failed or was flushed.
    Error {
        /// QP.
        qpn: u32,
        /// User index of the QP's context.
        uidx: u32,
        /// It is a send WQE; otherwise a receive WQE.
        requester: bool,
        /// Opcode byte of the send WQE; 0 for a receive WQE.
        opcode: u8,
        /// The index that a successful completion has. A CQE of a striding queue has the WQE's number here as well.
        wqe_counter: u16,
        /// The strides that no frame is in any more, if the queue is a striding one.
        strides: Option<TakenStrides>,
        /// The kind of error.
        syndrome: Syndrome,
        /// Finer reason; free for the vendor to choose.
        vendor_syndrome: u8,
        /// Finer still: the hardware's own number.
        hardware_syndrome: u8,
    },
}

impl Completion {
    /// The QP that completes something.
    #[must_use]
    pub(crate) fn qpn(&self) -> u32 {
        match *self {
            Self::Request { qpn, .. }
            | Self::Receive { qpn, .. }
            | Self::Tag { qpn, .. }
            | Self::Error { qpn, .. }
            | Self::Signature { qpn, .. } => qpn,
            Self::Frame { rqn, .. } | Self::Filler { rqn, .. } => rqn,
        }
    }

    /// How far the WQE counter of the next completion of the same queue is from this one's.
    pub(super) fn span(&self) -> u16 {
        match self {
            Self::Filler { strides, .. } | Self::Frame { strides: Some(strides), .. } => strides.count,
            _ => 1,
        }
    }

    /// QPN, or the value in its place; user index, WQE counter.
    pub(super) fn origin(&self) -> (u32, u32, u16) {
        match *self {
            Self::Request { qpn, uidx, wqe_counter, .. }
            | Self::Receive { qpn, uidx, wqe_counter, .. }
            | Self::Tag { qpn, uidx, wqe_counter, .. }
            | Self::Error { qpn, uidx, wqe_counter, .. } => (qpn, uidx, wqe_counter),
            Self::Signature { qpn, .. } => (qpn, 0, 0),
            // In the place of a QPN, frames have their tag.
            Self::Frame { uidx, wqe_counter, strides, info, .. } => {
                (info.flow_tag, uidx, strides.map_or(wqe_counter, |strides| strides.first))
            }
            Self::Filler { uidx, strides, .. } => (0, uidx, strides.first),
        }
    }

    /// A work request failed, and was not just flushed.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Error { syndrome, .. } if *syndrome != Syndrome::WrFlush)
    }

    /// Wakes a CQ armed for solicited completions only: errors count as solicited (IBTA vol. 1, 11.4.2.2).
    pub(crate) fn is_solicited(&self) -> bool {
        match self {
            Self::Request { .. } | Self::Frame { .. } | Self::Filler { .. } => false,
            Self::Tag { report, .. } => report.message.as_ref().is_some_and(|message| message.solicited),
            Self::Receive { solicited, .. } => *solicited,
            Self::Error { .. } | Self::Signature { .. } => true,
        }
    }
}
