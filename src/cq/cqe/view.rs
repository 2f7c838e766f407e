//! A completion as a view: each field is read when you ask for it.
use crate::hint::cold_path;
use core::fmt;
use core::mem::offset_of;

use crate::cq::error::completion::{CqeError, InlineError};
use crate::cq::id::{CqId, Origin};
use crate::cq::layout::{Cqe64, CqeFormat, ErrCqe, OpOwn, Tail};
use crate::cq::opcode::{CqeOpcode, Side, WcOpcode};
use crate::cq::source::{ColdCqe, InQueue, Private, Source};
use crate::types::{Qpn, Rkey, Srqn};

/// A completion in the queue's memory, lent for one call of a closure. Each call of a field's method reads the field
/// once; the device could change it between two, so ask once for a value that decides something.
pub type Cqe<'a> = CqeView<InQueue<'a>>;

/// A completion copied out of the queue. It still borrows the queue. A completion retires its request once, and the
/// argument for [`SendQueue::retire`](crate::SendQueue::retire) needs the copy to be gone before the next completion
/// comes. If you need a completion for longer, keep its fields:
///
/// ```compile_fail,E0499
/// # use blueflame::cq::CompletionQueue;
/// fn keep(cq: &mut CompletionQueue) {
///     let first = cq.poll();
///     let second = cq.poll();
///     drop((first, second));
/// }
/// ```
pub type CqeCopy<'a> = CqeView<Private<'a>>;

/// A completion whose fields are in `S`.
///
/// [`check`](Self::check) says what kind it is. The other methods return the values in the CQE's bytes. Some fields
/// have a meaning only for some opcodes; their methods say which.
#[doc(alias = "ibv_wc")]
#[derive(Clone, Copy)]
pub struct CqeView<S> {
    /// The last four bytes, read once, when polling saw the owner bit.
    tail: Tail,
    /// The queue that lent it.
    cq: CqId,
    pub(in crate::cq) source: S,
}

impl<S: Source> CqeView<S> {
    #[inline(always)]
    pub(in crate::cq) fn new(tail: Tail, cq: CqId, source: S) -> Self {
        Self { tail, cq, source }
    }

    /// This completion, with only the fields that decide about frames.
    #[inline(always)]
    pub(crate) fn for_cold_code(&self) -> CqeView<ColdCqe> {
        CqeView::new(self.tail, self.cq, ColdCqe::of(&self.source))
    }

    #[inline(always)]
    pub(crate) fn op_own(&self) -> OpOwn {
        self.tail.op_own()
    }

    /// The side of the request, if it succeeded and its data is where you asked for it. Otherwise the error.
    ///
    /// [`complete`](crate::SendQueue::complete) of the request's queue looks at this after it has taken the request
    /// back. To return this error first loses the request.
    ///
    /// # Errors
    ///
    /// [`CqeError::Completion`] if the request failed; [`CqeError::Aborted`] if the device gave it up;
    /// [`CqeError::DataInCqe`] if it succeeded, but its data is here and not in the buffer; the other values if this is
    /// no completion of a request.
    #[inline(always)]
    pub fn check(&self) -> Result<Side, CqeError> {
        let op_own = self.op_own();
        if op_own.is_requester_success() {
            return Ok(Side::Requester);
        }
        if op_own.is_success() {
            return Ok(Side::Responder);
        }
        // The few fields by value: lending `self` to a cold function would make every caller keep a copied CQE in
        // memory. They stay side by side as in the CQE, so that each caller has little code for this.
        const { assert!(offset_of!(ErrCqe, syndrome) == offset_of!(ErrCqe, hw_err_synd) + 3) }
        // The lower half of a word: one instruction less than the half alone where a CQE was copied.
        let syndromes = self.source.be64(offset_of!(ErrCqe, hw_err_synd) - 4) as u32;
        Err(CqeError::new(self.tail, syndromes, self.source.be32(offset_of!(Cqe64, sop_drop_qpn))))
    }

    /// The side whose request this completes, successfully or not; `None` if it completes none.
    #[inline(always)]
    pub fn side(&self) -> Option<Side> {
        let op_own = self.op_own();
        if op_own.is_requester_success() {
            return Some(Side::Requester);
        }
        if op_own.is_success() {
            return Some(Side::Responder);
        }
        [Side::Requester, Side::Responder].into_iter().find(|&side| op_own.ends_otherwise(side))
    }

    /// Whether [`side`](Self::side) is `side`, decided by one comparison where the request succeeded with its data in
    /// memory.
    #[inline(always)]
    pub(crate) fn is_of_side(&self, side: Side) -> bool {
        let op_own = self.op_own();
        let success = match side {
            Side::Requester => op_own.is_requester_success(),
            Side::Responder => op_own.is_success() && !op_own.is_requester_success(),
        };
        success || {
            cold_path();
            op_own.ends_otherwise(side)
        }
    }

    /// Whether it is the success of a frame's receive, with its data in memory.
    #[inline(always)]
    pub(crate) fn is_frame(&self) -> bool {
        self.tail.is_frame()
    }

    /// The CQE's opcode.
    #[inline(always)]
    pub fn opcode(&self) -> CqeOpcode {
        CqeOpcode::new(self.op_own().opcode())
    }

    /// The contents of the bytes before the common tail.
    #[inline(always)]
    pub fn format(&self) -> CqeFormat {
        self.op_own().format()
    }

    /// Whether the sender asked for a solicited event.
    #[inline(always)]
    pub fn solicited(&self) -> bool {
        self.op_own().solicited()
    }

    /// The kind of request, as `ibv_wc_opcode`. For error CQEs it is the kind of the failed request, where verbs leaves
    /// the value undefined.
    #[doc(alias = "ibv_wc_read_opcode")]
    pub fn wc_opcode(&self) -> WcOpcode {
        match self.opcode() {
            CqeOpcode::RespWrImm => WcOpcode::RecvRdmaWithImm,
            CqeOpcode::RespSend | CqeOpcode::RespSendImm | CqeOpcode::RespSendInv | CqeOpcode::RespErr => {
                WcOpcode::Recv
            }
            CqeOpcode::Req | CqeOpcode::ReqErr => WcOpcode::of_request(self.request_opcode()),
            CqeOpcode::ResizeCq
            | CqeOpcode::NoPacket
            | CqeOpcode::SigErr
            | CqeOpcode::Invalid
            | CqeOpcode::Unknown(_) => WcOpcode::Unknown(self.op_own().opcode()),
        }
    }

    /// The index of the completed WQE. Requester: the producer index it was posted at, in WQEBBs, 16 bits; everything
    /// posted before is complete as well. Shared receive queue: the WQE's index in the list.
    #[inline(always)]
    pub fn wqe_counter(&self) -> u16 {
        self.tail.wqe_counter()
    }

    /// The WQE of a striding receive queue: its index in the ring, or its index counted from the first ever posted.
    /// There, [`wqe_counter`](Self::wqe_counter) is the index of a stride.
    #[inline(always)]
    pub fn wqe_id(&self) -> u16 {
        self.source.be16(offset_of!(Cqe64, wqe_id))
    }

    /// The queue pair this completion belongs to. For received frames, the [flow tag](Self::flow_tag).
    #[doc(alias = "ibv_wc_read_qp_num")]
    #[inline(always)]
    pub fn qpn(&self) -> Qpn {
        Qpn::truncate(self.source.be32(offset_of!(Cqe64, sop_drop_qpn)))
    }

    /// The completion queue that lent it.
    #[inline(always)]
    pub fn cq(&self) -> CqId {
        self.cq
    }

    /// Whether this completion belongs to that queue, by these bits of the origin.
    #[inline(always)]
    pub(crate) fn is_of(&self, origin: Origin, bits: u64) -> bool {
        if bits == Origin::ANY_NUMBER {
            return self.cq == origin.cq();
        }
        // In memory order: where the source is the queue's memory, no byte is swapped.
        let field = self.source.be32(offset_of!(Cqe64, sop_drop_qpn)).to_be();
        Origin::of(self.cq, field).is(origin, bits)
    }

    /// The mlx5 opcode of the send queue's WQE (requester only).
    #[inline(always)]
    pub fn request_opcode(&self) -> u8 {
        (self.source.be32(offset_of!(Cqe64, sop_drop_qpn)) >> 24) as u8
    }

    /// The user index that the queue pair (or shared receive queue) was created with: CQE version 1. 24 bits.
    ///
    /// With PRM commands (DevX), the creator of the queue pair chooses it, and can index an array by it. With verbs,
    /// libmlx5 chooses it and does not report it: find the queue pair by [`qpn`](Self::qpn), as `ByQpn` does.
    #[inline(always)]
    pub fn uidx(&self) -> u32 {
        self.source.be32(offset_of!(Cqe64, srqn_uidx)) & 0x00ff_ffff
    }

    /// The shared receive queue the buffer came from, 0 if none: CQE version 0 (responder only).
    #[inline(always)]
    pub fn srqn(&self) -> Srqn {
        Srqn::truncate(self.source.be32(offset_of!(Cqe64, srqn_uidx)))
    }

    /// Bytes received (a datagram's include the 40 bytes of the GRH) or read. Responder and RDMA READ only. Verbs
    /// reports 8 for atomics regardless of this field, and nothing for other requests.
    ///
    /// A completion of a striding receive queue has strides in the upper half:
    /// [`StridingRecvQueue`](crate::queue::striding::StridingRecvQueue) takes the word apart.
    #[doc(alias = "ibv_wc_read_byte_len")]
    #[inline(always)]
    pub fn byte_len(&self) -> u32 {
        self.source.be32(offset_of!(Cqe64, byte_cnt))
    }

    /// The immediate data as a number, if the message carried any. Verbs hands it over in network byte order; this is
    /// the number those bytes are.
    #[doc(alias = "ibv_wc_read_imm_data")]
    #[inline]
    pub fn imm(&self) -> Option<u32> {
        // Loaded in any case: a load costs less than a branch around it.
        let number = self.source.be32(offset_of!(Cqe64, imm_inval_pkey));
        matches!(self.opcode(), CqeOpcode::RespWrImm | CqeOpcode::RespSendImm).then_some(number)
    }

    /// The key that a SEND with invalidate invalidated here.
    #[doc(alias = "ibv_wc_read_invalidated_rkey")]
    #[inline]
    pub fn invalidated_rkey(&self) -> Option<Rkey> {
        match self.opcode() {
            CqeOpcode::RespSendInv => Some(Rkey(self.source.be32(offset_of!(Cqe64, imm_inval_pkey)))),
            _ => None,
        }
    }

    /// When the request completed, in cycles of the device's free-running clock, which
    /// [`ClockInfo`](crate::cq::cqe::ClockInfo) converts to nanoseconds. On a queue created with real-time timestamps,
    /// seconds and nanoseconds since 1970 ([`real_time_nanoseconds`](crate::cq::cqe::real_time_nanoseconds)).
    #[doc(alias = "ibv_wc_read_completion_ts")]
    #[inline(always)]
    pub fn timestamp(&self) -> u64 {
        self.source.be64(offset_of!(Cqe64, timestamp))
    }

    /// The sender's LID (datagrams on InfiniBand).
    #[doc(alias = "ibv_wc_read_slid")]
    #[inline]
    pub fn slid(&self) -> u16 {
        self.source.be16(offset_of!(Cqe64, slid))
    }

    /// The sender's queue pair (datagrams).
    #[doc(alias = "ibv_wc_read_src_qp")]
    #[inline]
    pub fn src_qp(&self) -> Qpn {
        Qpn::truncate(self.source.be32(offset_of!(Cqe64, flags_rqpn)))
    }

    /// The service level, 0 to 15 (datagrams). Ethernet has none. There, bits 2:0 are the kind of the network header in
    /// the first 40 bytes received. The kinds are 0, a GRH (RoCE v1); 1, an IPv6 header; 2, an IPv4 header in the last
    /// 20 of these bytes. Bit 3 is set if there was a UDP header (RoCE v2). UCX quotes NVIDIA's manual for that
    /// (`src/uct/ib/mlx5/ib_mlx5.inl`, `uct_ib_mlx5_cqe_roce_gid_len`); Linux names the kinds
    /// (`include/linux/mlx5/device.h`, `MLX5_CQE_ROCE_L3_HEADER_TYPE_*`).
    #[doc(alias = "ibv_wc_read_sl")]
    #[inline]
    pub fn sl(&self) -> u8 {
        (self.source.be32(offset_of!(Cqe64, flags_rqpn)) >> 24) as u8 & 0xf
    }

    /// Whether the first 40 bytes of the receive buffer hold a global route header (datagrams).
    #[doc(alias("IBV_WC_GRH", "ibv_wc_read_wc_flags"))]
    #[inline]
    pub fn has_grh(&self) -> bool {
        (self.source.be32(offset_of!(Cqe64, flags_rqpn)) >> 28) & 3 != 0
    }

    /// The path bits of the destination LID, 0 to 127 (datagrams).
    #[doc(alias = "ibv_wc_read_dlid_path_bits")]
    #[inline]
    pub fn dlid_path_bits(&self) -> u8 {
        self.source.u8(offset_of!(Cqe64, ml_path)) & 0x7f
    }

    /// The P_Key index (datagrams on queue pair 1); the same bytes as the immediate data.
    #[inline]
    pub fn pkey_index(&self) -> u16 {
        self.source.be32(offset_of!(Cqe64, imm_inval_pkey)) as u16
    }

    /// Copies the message out of the CQE, if the device put it there instead of into the buffer ("scatter to CQE"), to
    /// the start of `dst`. Returns the bytes copied. An atomic's original value comes in the CQE's byte order,
    /// untouched.
    ///
    /// # Errors
    ///
    /// [`InlineError`]; nothing is written to `dst` then.
    pub fn copy_inline(&self, dst: &mut [u8]) -> Result<usize, InlineError> {
        let format = self.op_own().format();
        let capacity = match format {
            CqeFormat::Inline32 => 32,
            CqeFormat::Inline64 => 64,
            CqeFormat::Plain | CqeFormat::Compressed => return Err(InlineError::NotInline),
        };
        let len = self.inline_len();
        if len > capacity {
            return Err(InlineError::TooLong { len, capacity });
        }
        let len = len as usize;
        let room = dst.len();
        let Some(dst) = dst.get_mut(..len) else { return Err(InlineError::DestinationTooShort { len, room }) };
        let words = self.source.inline_words(format).ok_or(InlineError::NotInReach)?;
        for (bytes, word) in dst.chunks_mut(8).zip(words) {
            for (to, from) in bytes.iter_mut().zip(word.to_ne_bytes()) {
                *to = from;
            }
        }
        Ok(len)
    }

    /// The message's length: 8 for atomics, as in rdma-core (`providers/mlx5/cq.c`, `handle_good_req`).
    fn inline_len(&self) -> u32 {
        match (self.opcode(), self.wc_opcode()) {
            (CqeOpcode::Req, WcOpcode::CompSwap | WcOpcode::FetchAdd) => 8,
            _ => self.byte_len(),
        }
    }
}

impl<'a> Cqe<'a> {
    /// Copies the 64 bytes that have the fields, each loaded once. A message in the first half of a 128-byte CQE
    /// ([`CqeFormat::Inline64`]) is not among them.
    #[inline(always)]
    pub fn copy(&self) -> CqeCopy<'a> {
        CqeView::new(self.tail, self.cq, self.source.copy())
    }
}

impl<S: Source> fmt::Debug for CqeView<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cqe")
            .field("check", &self.check())
            .field("opcode", &self.opcode())
            .field("format", &self.format())
            .field("qpn", &self.qpn())
            .field("wqe_counter", &self.wqe_counter())
            .field("byte_len", &self.byte_len())
            .finish_non_exhaustive()
    }
}
