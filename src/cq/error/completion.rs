//! Completions that report no success.
use core::fmt;

use crate::cq::error::status::{KnownSyndrome, Syndrome, WcStatus};
use crate::cq::layout::Tail;
use crate::cq::opcode::{CqeOpcode, Side};
use crate::types::Qpn;

/// The contents of an error CQE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCqe {
    /// The queue the failed request belongs to.
    pub side: Side,
    /// The error, in the device's terms.
    pub syndrome: Syndrome,
    /// The vendor's own syndrome, for the vendor's support.
    pub vendor_err_synd: u8,
    /// The hardware's syndrome, for the vendor's support: [`hw_err_synd`](crate::cq::layout::ErrCqe::hw_err_synd).
    pub hw_err_synd: u8,
    /// Its type: [`hw_synd_type`](crate::cq::layout::ErrCqe::hw_synd_type). UCX prints the upper four bits and
    /// `hw_err_synd` as `hw_synd 0/147`.
    pub hw_synd_type: u8,
    /// The queue pair.
    pub qpn: Qpn,
    /// The index of the WQE that failed, as [`CqeView::wqe_counter`](crate::cq::CqeView::wqe_counter).
    pub wqe_counter: u16,
}

impl ErrorCqe {
    /// The verbs status that the syndrome stands for.
    #[must_use]
    pub const fn status(&self) -> WcStatus {
        self.syndrome.status()
    }
}

impl fmt::Display for ErrorCqe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Requester => "send",
            Side::Responder => "receive",
        };
        write!(
            f,
            "{side} request {:#06x} of queue pair {:#08x} failed: {} [{}, vendor syndrome {:#04x}]",
            self.wqe_counter,
            self.qpn.get(),
            self.status(),
            self.syndrome,
            self.vendor_err_synd
        )
    }
}

/// Why a CQE is not the success of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CqeError {
    /// A request failed, and the device flushes the requests behind it. A queue pair that is a reliable connection is
    /// then in the error state. After a failed send on an unreliable transport only the send queue stops (`IBV_QPS_SQE`
    /// of `ibv_modify_qp(3)`). On a DCI with streams, only the request's stream stops.
    Completion(ErrorCqe),
    /// The device gave a request up (syndrome 0x22), but the queue pair stays usable. A receive of a shared receive
    /// queue ends this way for two reasons. Either a page of memory registered on demand was absent (vendor syndrome
    /// 0x93), or the WQE was taken for a packet out of sequence (0x99). The sender repeats its message, and
    /// [`SharedRecvQueue::repost`](crate::queue::SharedRecvQueue::repost) posts the buffer again.
    ///
    /// Sources: rdma-core `providers/mlx5/cq.c` (`is_odp_pfault_err`), UCX `src/uct/ib/mlx5/rc/rc_mlx5_iface.c`
    /// (`uct_rc_mlx5_iface_check_rx_completion`).
    Aborted(ErrorCqe),
    /// The request succeeded, but its data is in the CQE and not in the buffer ("scatter to CQE"):
    /// [`CqeView::copy_inline`](crate::cq::CqeView::copy_inline) takes it. Other libraries create queue pairs with this
    /// feature unless asked not to (rdma-core `providers/mlx5/verbs.c`, `use_scatter_to_cqe`); `verbs` creates them
    /// without it.
    DataInCqe {
        /// The queue that the request belongs to.
        side: Side,
        /// The queue pair.
        qpn: Qpn,
    },
    /// The CQE holds several completions, and cannot be expanded. Poll the queue in the mode
    /// [`Compressed`](crate::cq::mode::Compressed), with the format and layout that it was created with. In that mode,
    /// each lost completion is this value. Either the title is missing or is not the success of a request, or the
    /// device compressed an invalid number of completions. The basic layout allows 2 to the size of the ring
    /// ([`byte_len`](crate::cq::CqeView::byte_len) returns the number), the enhanced layout 1 to 7.
    Compressed,
    /// A block signature does not match its data (opcode 12):
    /// [`CqeView::signature_error`](crate::cq::CqeView::signature_error) says which. This completes no request.
    Signature,
    /// The queue was resized (opcode 5) by other means than this crate's: the device goes on in another ring.
    ResizeCq,
    /// No packet belongs to the CQE (opcode 6). It reports on a list of tags: see
    /// [`CqeView::tag_matching`](crate::cq::CqeView::tag_matching).
    NoPacket,
    /// The device wrote an opcode that does not exist.
    UnknownOpcode(u8),
}

impl CqeError {
    /// The error of a CQE for which [`OpOwn::is_success`](crate::cq::layout::OpOwn::is_success) is false.
    /// `syndromes` are the four bytes from [`hw_err_synd`](crate::cq::layout::ErrCqe::hw_err_synd) to
    /// [`syndrome`](crate::cq::layout::ErrCqe::syndrome).
    ///
    /// `inline`, though never inlined: callers then see that it cannot unwind, and need no landing pads.
    #[cold]
    #[inline]
    pub(in crate::cq) fn new(tail: Tail, syndromes: u32, opcode_and_qpn: u32) -> Self {
        let [hw_err_synd, hw_synd_type, vendor_err_synd, syndrome] = syndromes.to_be_bytes();
        let (qpn, wqe_counter) = (Qpn::truncate(opcode_and_qpn), tail.wqe_counter());
        let failed = |side| {
            let syndrome = Syndrome::new(syndrome);
            let error = ErrorCqe { side, syndrome, vendor_err_synd, hw_err_synd, hw_synd_type, qpn, wqe_counter };
            match error.syndrome {
                Syndrome::Known(KnownSyndrome::RemoteAborted) => Self::Aborted(error),
                _ => Self::Completion(error),
            }
        };
        match CqeOpcode::new(tail.op_own().opcode()) {
            CqeOpcode::ReqErr => failed(Side::Requester),
            CqeOpcode::RespErr => failed(Side::Responder),
            CqeOpcode::SigErr => Self::Signature,
            CqeOpcode::ResizeCq => Self::ResizeCq,
            CqeOpcode::NoPacket => Self::NoPacket,
            CqeOpcode::Req
            | CqeOpcode::RespWrImm
            | CqeOpcode::RespSend
            | CqeOpcode::RespSendImm
            | CqeOpcode::RespSendInv => {
                if tail.op_own().ends_otherwise(Side::Requester) {
                    Self::DataInCqe { side: Side::Requester, qpn }
                } else if tail.op_own().ends_otherwise(Side::Responder) {
                    Self::DataInCqe { side: Side::Responder, qpn }
                } else {
                    Self::Compressed
                }
            }
            CqeOpcode::Invalid => Self::UnknownOpcode(15),
            CqeOpcode::Unknown(opcode) => Self::UnknownOpcode(opcode),
        }
    }
}

impl fmt::Display for CqeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completion(error) | Self::Aborted(error) => error.fmt(f),
            Self::DataInCqe { side, qpn } => write!(
                f,
                "the data of a {} request of queue pair {:#08x} is in the CQE and not in the buffer: take it by \
                 copy_inline, or make the queue pair with MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE (or \
                 MLX5_SCATTER_TO_CQE=0 in the environment)",
                match side {
                    Side::Requester => "send",
                    Side::Responder => "receive",
                },
                qpn.get()
            ),
            Self::Compressed => f.write_str(
                "compressed CQE that cannot be expanded: poll in the mode Compressed, in the format and layout of the \
                 queue. If you do, the device has written an invalid one",
            ),
            Self::Signature => f.write_str(
                "block signature error CQE (opcode 12): a block signature behind a memory key does not match its data",
            ),
            Self::ResizeCq => f.write_str(
                "CQE of a resize (opcode 5): something other than this crate resized the queue, which continues in \
                 another ring",
            ),
            Self::NoPacket => f.write_str(
                "CQE without a packet (opcode 6): it belongs to a list of tags, and completes no request of this queue",
            ),
            Self::UnknownOpcode(opcode) => write!(f, "unknown CQE opcode {opcode}"),
        }
    }
}

impl core::error::Error for CqeError {}

/// Why a message cannot be copied out of a CQE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineError {
    /// The message is not in the CQE but in the buffer.
    NotInline,
    /// The CQE claims a message of `len` bytes, more than the `capacity` its format has.
    TooLong {
        /// Bytes the CQE claims.
        len: u32,
        /// Bytes the format has: 32 or 64.
        capacity: u32,
    },
    /// The message is longer than the destination.
    DestinationTooShort {
        /// Bytes of the message.
        len: usize,
        /// Bytes the destination has.
        room: usize,
    },
    /// The message is in the first half of a 128-byte CQE, and this is a 64-byte CQE or a copy of the second half. On a
    /// queue of 128-byte CQEs, use [`poll_with`](crate::cq::CompletionQueue::poll_with).
    NotInReach,
}

impl fmt::Display for InlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInline => f.write_str("the message is in the buffer, not in the CQE"),
            Self::TooLong { len, capacity } => {
                write!(f, "the CQE claims {len} bytes inline, its format has {capacity}")
            }
            Self::DestinationTooShort { len, room } => write!(f, "{len} bytes do not fit a destination of {room}"),
            Self::NotInReach => f.write_str("64 inline bytes are only in the first half of a 128-byte CQE"),
        }
    }
}

impl core::error::Error for InlineError {}
