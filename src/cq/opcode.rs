//! The opcode of a CQE, and the kind of request it stands for.

/// The side of a transfer that a completion belongs to. It determines the queue whose slot is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The send queue.
    Requester,
    /// The receive queue, or the shared one.
    Responder,
}

/// The opcode of a CQE, bits 7:4 of its last byte (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_CQE_*`).
#[doc(alias("MLX5_CQE_REQ", "MLX5_CQE_RESP_SEND"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CqeOpcode {
    /// 0: a request of the send queue completed.
    Req,
    /// 1: an RDMA WRITE with immediate data arrived.
    RespWrImm,
    /// 2: a SEND arrived.
    RespSend,
    /// 3: a SEND with immediate data arrived.
    RespSendImm,
    /// 4: a SEND with invalidate arrived.
    RespSendInv,
    /// 5: the completion queue was resized; the new buffer continues here.
    ResizeCq,
    /// 6: no packet belongs to it (tag matching).
    NoPacket,
    /// 12: a signature check failed.
    SigErr,
    /// 13: a request of the send queue failed.
    ReqErr,
    /// 14: a receive failed.
    RespErr,
    /// 15: never written by the device; polling does not deliver it.
    Invalid,
    /// Any other value.
    Unknown(u8),
}

impl CqeOpcode {
    /// The opcode with this value. In a CQE, only the low four bits can be set.
    #[inline]
    #[must_use]
    pub const fn new(value: u8) -> Self {
        match value {
            0 => Self::Req,
            1 => Self::RespWrImm,
            2 => Self::RespSend,
            3 => Self::RespSendImm,
            4 => Self::RespSendInv,
            5 => Self::ResizeCq,
            6 => Self::NoPacket,
            12 => Self::SigErr,
            13 => Self::ReqErr,
            14 => Self::RespErr,
            15 => Self::Invalid,
            other => Self::Unknown(other),
        }
    }
}

/// The kind of request a completion reports, as `ibv_wc_opcode` has it (rdma-core `libibverbs/verbs.h`).
#[doc(alias = "ibv_wc_opcode")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WcOpcode {
    /// `IBV_WC_SEND`, with or without immediate data or invalidation; also of several frames in one WQE.
    Send,
    /// `IBV_WC_RDMA_WRITE`, with or without immediate data.
    RdmaWrite,
    /// `IBV_WC_RDMA_READ`.
    RdmaRead,
    /// `IBV_WC_COMP_SWAP`.
    CompSwap,
    /// `IBV_WC_FETCH_ADD`.
    FetchAdd,
    /// A masked compare and swap; verbs have none.
    MaskedCompSwap,
    /// A masked fetch and add; verbs have none.
    MaskedFetchAdd,
    /// `IBV_WC_TSO`.
    Tso,
    /// `IBV_WC_RECV`.
    Recv,
    /// `IBV_WC_RECV_RDMA_WITH_IMM`.
    RecvRdmaWithImm,
    /// A request with this mlx5 opcode (NOP 0x00, WAIT 0x0f, RCV_EN 0x16, SEND_EN 0x17, SET_PSV 0x20, DUMP 0x23, UMR
    /// 0x25, TAG_MATCHING 0x28, MMO 0x2f). The CQE does not say which verb it was: a UMR can be LOCAL_INV, BIND_MW or
    /// more. Only the poster knows.
    Local(u8),
    /// An mlx5 opcode that this crate does not know.
    Unknown(u8),
}

impl WcOpcode {
    /// The kind of request, from the mlx5 opcode of a send queue's WQE (rdma-core `providers/mlx5/cq.c`,
    /// `handle_good_req`).
    #[inline]
    #[must_use]
    pub const fn of_request(opcode: u8) -> Self {
        match opcode {
            0x01 | 0x0a | 0x0b | 0x29 => Self::Send,
            0x08 | 0x09 => Self::RdmaWrite,
            0x0e => Self::Tso,
            0x10 => Self::RdmaRead,
            0x11 => Self::CompSwap,
            0x12 => Self::FetchAdd,
            0x14 => Self::MaskedCompSwap,
            0x15 => Self::MaskedFetchAdd,
            0x00 | 0x0f | 0x16 | 0x17 | 0x20 | 0x23 | 0x25 | 0x28 | 0x2f => Self::Local(opcode),
            other => Self::Unknown(other),
        }
    }

    /// The value of `ibv_wc_opcode`; `None` where the CQE alone does not determine it.
    #[must_use]
    pub const fn ibv_value(self) -> Option<u32> {
        match self {
            Self::Send => Some(0),
            Self::RdmaWrite => Some(1),
            Self::RdmaRead => Some(2),
            Self::CompSwap => Some(3),
            Self::FetchAdd => Some(4),
            Self::Tso => Some(7),
            Self::Recv => Some(128),
            Self::RecvRdmaWithImm => Some(129),
            Self::MaskedCompSwap | Self::MaskedFetchAdd | Self::Local(_) | Self::Unknown(_) => None,
        }
    }
}
