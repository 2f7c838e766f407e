//! The one encoder: a request is an operation, a payload, flags and an identifier. Knows no queue, and no operation by
//! its name.
use super::error::EncodeError;
use super::flags::{CompletionMode, Fence, bits};
use super::limits::Limits;
use super::operations::service::{Operation, SupportedOn};
use super::payload::{Empty, NoLocalMemory, Payload};
use super::sealed::Sealed;
use super::seg::CtrlSeg;
use super::sink::Sink;
use super::words::ds::DsWords;
use crate::transport::Transport;
use crate::types::{Ds, WrId};

/// The queue's part of a request's control segment.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// Index of the WQE's first WQEBB, at most 2^16 - 1.
    pub(crate) index: u32,
    /// The queue pair number, at its place in the first word.
    pub(crate) qpn: u64,
    /// Whether requests complete with a CQE even if they do not ask.
    pub(crate) signal_all: bool,
}

/// A value that can be posted to a send queue of transport `T`.
///
/// Implemented by [`Request`] for the operations that `T` has ([`SupportedOn`]).
pub trait WorkRequest<T: Transport>: Sealed + Copy {
    /// The maximum number of DS, control segment included; `None` if it is known only at run time.
    const MAX_DS: Option<usize>;

    /// Whether it carries inline data.
    const INLINE: bool;

    /// Whether it has a payload, which may exceed a queue's limits.
    #[doc(hidden)]
    const HAS_PAYLOAD: bool;

    /// The identifier to hand back with its completion (`wr_id`).
    fn id(&self) -> WrId;

    /// Its size in DS, control segment included.
    ///
    /// # Errors
    /// The request exceeds `limits` or the format: the error has the value and the limit.
    #[doc(hidden)]
    fn ds(&self, limits: &Limits) -> Result<usize, EncodeError>;

    /// The required limits if it [has](Self::has_static_size) its static size.
    #[doc(hidden)]
    const NEEDS: Limits;

    /// Whether its size is [`MAX_DS`](Self::MAX_DS), it needs [`NEEDS`](Self::NEEDS), and its values are within
    /// `limits`, where they have any. The answer agrees with [`ds`](Self::ds), by the fewest comparisons.
    #[doc(hidden)]
    fn has_static_size(&self, limits: &Limits) -> bool;

    /// Writes the whole WQE of size `ds`, which must be the result of [`ds`](Self::ds).
    #[doc(hidden)]
    fn encode<S: Sink>(&self, control: &Control, ds: Ds, sink: &mut S);
}

/// A work request: start with the operation ([`write`](super::write), [`send`](super::send), …), add
/// data, flags and an identifier, then post it.
///
/// ```
/// use blueflame::types::{Lkey, Rkey, WrId};
/// use blueflame::{Remote, Sge, wqe};
///
/// let remote = Remote { addr: 0x1000, rkey: Rkey(0x11) };
/// let local = Sge { addr: 0x7000, length: 4096, lkey: Lkey(0x22) };
/// let _ = wqe::write(remote.at(64)).inline(b"an order").signaled(WrId(7));
/// let _ = wqe::read(remote).scatter([local]).signaled(WrId(8));
/// let _ = wqe::send().gather([local, local]).imm(42).solicited();
/// ```
///
/// Data can be given once, and a READ carries none:
///
/// ```compile_fail,E0599
/// # use blueflame::{Remote, types::Rkey, wqe};
/// let _ = wqe::read(Remote { addr: 0, rkey: Rkey(0) }).inline(b"no");
/// ```
/// ```compile_fail,E0599
/// # use blueflame::wqe;
/// let _ = wqe::send().inline(b"once").inline(b"twice");
/// ```
#[doc(alias = "ibv_send_wr")]
#[derive(Clone, Copy, Debug)]
#[must_use = "a request does nothing until it is posted"]
pub struct Request<O, P = Empty> {
    operation: O,
    payload: P,
    fm_ce_se: u8,
    wr_id: WrId,
}

impl<O, P> Request<O, P> {
    #[inline]
    pub(super) const fn new(operation: O, payload: P) -> Self {
        Self { operation, payload, fm_ce_se: 0, wr_id: WrId(0) }
    }

    /// A request in the mode [`CompletionMode::OnFirstError`] until the caller sets another mode.
    #[inline]
    pub(super) const fn of_first_error(operation: O, payload: P) -> Self {
        Self { operation, payload, fm_ce_se: bits::ONLY_FIRST_ERROR, wr_id: WrId(0) }
    }

    #[inline]
    pub(super) fn with_operation<Q>(self, change: impl FnOnce(O) -> Q) -> Request<Q, P> {
        let Self { operation, payload, fm_ce_se, wr_id } = self;
        Request { operation: change(operation), payload, fm_ce_se, wr_id }
    }

    #[inline]
    pub(super) fn with_payload<Q>(self, payload: Q) -> Request<O, Q> {
        let Self { operation, fm_ce_se, wr_id, .. } = self;
        Request { operation, payload, fm_ce_se, wr_id }
    }

    /// Asks for a completion that returns `wr_id` (`IBV_SEND_SIGNALED`). Without it the request completes silently, and
    /// its room in the ring becomes free with the next signalled one.
    #[doc(alias = "IBV_SEND_SIGNALED")]
    #[inline]
    pub fn signaled(self, wr_id: WrId) -> Self {
        Self { wr_id, ..self.completion(CompletionMode::Always) }
    }

    /// Sets `wr_id`, and asks for a completion if `signaled`: for moderation.
    #[inline]
    pub fn signaled_if(self, signaled: bool, wr_id: WrId) -> Self {
        if signaled { self.signaled(wr_id) } else { self.wr_id(wr_id) }
    }

    /// Sets when it completes with a CQE. The last call counts, including calls of [`signaled`](Self::signaled). On a
    /// queue that signals all requests it always completes with one.
    ///
    /// ```
    /// use blueflame::types::WrId;
    /// use blueflame::wqe::{self, CompletionMode};
    ///
    /// // If the queue fails, one completion says so, and not one for each of these.
    /// let _ = wqe::send().inline(b"a tick").completion(CompletionMode::OnFirstError).wr_id(WrId(7));
    /// ```
    #[inline]
    pub fn completion(self, mode: CompletionMode) -> Self {
        let others = !(bits::CQ_UPDATE | bits::ONLY_FIRST_ERROR);
        Self { fm_ce_se: self.fm_ce_se & others | mode as u8, ..self }
    }

    /// Sets the identifier without asking for a completion. An error completion returns the identifier even so.
    #[inline]
    pub fn wr_id(self, wr_id: WrId) -> Self {
        Self { wr_id, ..self }
    }

    /// Marks the message so that it wakes a peer that waits for solicited events only (`IBV_SEND_SOLICITED`).
    #[doc(alias = "IBV_SEND_SOLICITED")]
    #[inline]
    pub fn solicited(self) -> Self {
        Self { fm_ce_se: self.fm_ce_se | bits::SOLICITED, ..self }
    }

    /// Makes the request wait for earlier ones; the last call counts. `IBV_SEND_FENCE` is [`Fence::SmallAndReads`].
    #[doc(alias = "IBV_SEND_FENCE")]
    #[inline]
    pub fn fence(self, fence: Fence) -> Self {
        Self { fm_ce_se: self.fm_ce_se & !bits::FENCE | fence as u8, ..self }
    }
}

impl<O, P> Sealed for Request<O, P> {}
impl<O, P: NoLocalMemory> NoLocalMemory for Request<O, P> {}

impl<T: Transport, O: SupportedOn<T>, P: Payload> WorkRequest<T> for Request<O, P> {
    const MAX_DS: Option<usize> = match P::MAX_DS {
        Some(payload) => Some(1 + O::DS + payload),
        None => None,
    };
    const INLINE: bool = P::INLINE || (O::INLINE && matches!(P::MAX_DS, Some(0)));
    const HAS_PAYLOAD: bool = !matches!(P::MAX_DS, Some(0));
    const NEEDS: Limits = Limits { offloads: O::OFFLOADS, ..P::NEEDS };

    #[inline]
    fn id(&self) -> WrId {
        self.wr_id
    }

    #[inline(always)]
    fn ds(&self, limits: &Limits) -> Result<usize, EncodeError> {
        let () = O::FITS;
        self.check(limits)?;
        let ds = 1 + O::DS + self.payload.ds(limits)?;
        if ds > Ds::MAX as usize {
            return Err(EncodeError::wqe_too_long(ds));
        }
        Ok(ds)
    }

    #[inline(always)]
    fn has_static_size(&self, limits: &Limits) -> bool {
        self.payload.has_static_size() && (!O::CHECKED || self.check_values(limits).is_ok())
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, control: &Control, ds: Ds, sink: &mut S) {
        let () = O::FITS;
        self.encode_head(control, ds, sink);
        self.payload.encode(sink);
    }
}

impl<O, H> Request<O, H> {
    /// Its payload.
    #[inline]
    pub(crate) const fn payload(&self) -> &H {
        &self.payload
    }

    /// The same request, without asking for a completion.
    #[inline]
    pub(crate) fn unsignaled(self) -> Self {
        Self { fm_ce_se: self.fm_ce_se & !bits::CQ_UPDATE, ..self }
    }

    /// The identifier to hand back with its completion.
    #[inline]
    pub(crate) const fn id(&self) -> WrId {
        self.wr_id
    }
}

impl<O: Operation, P: Payload> Request<O, P> {
    /// Checks the operation. Its size is not checked.
    #[inline(always)]
    fn check(&self, limits: &Limits) -> Result<(), EncodeError> {
        limits.check_offloads(O::OFFLOADS)?;
        if O::CHECKED { self.check_values(limits) } else { Ok(()) }
    }

    /// Checks the operation's values that have limits.
    #[inline(always)]
    fn check_values(&self, limits: &Limits) -> Result<(), EncodeError> {
        self.operation.check(self.payload.data_bytes(), limits.offloads)
    }
}

impl<O: Operation, P> Request<O, P> {
    /// Writes the segments before the payload.
    #[inline(always)]
    pub(crate) fn encode_head<S: Sink>(&self, control: &Control, ds: Ds, sink: &mut S) {
        sink.ds(self.control(control, ds));
        self.operation.encode(sink);
    }

    #[inline(always)]
    fn control(&self, control: &Control, ds: Ds) -> DsWords {
        // A signalled request is signalled on every queue: if that is known at compile time, the queue's flag is not
        // read.
        let signaled = self.fm_ce_se & bits::CQ_UPDATE != 0 || control.signal_all;
        let asked = if signaled { self.fm_ce_se & !bits::ONLY_FIRST_ERROR } else { self.fm_ce_se };
        let fm_ce_se = asked | if signaled { bits::CQ_UPDATE } else { 0 };
        let first = CtrlSeg::index(control.index) | control.qpn | CtrlSeg::opcode_ds(O::OPMOD, O::OPCODE, ds);
        DsWords([first, CtrlSeg::second_word(self.operation.stream(), fm_ce_se, self.operation.imm())])
    }
}
