//! A request as a value: the facts of its type, its data, flags and an identifier. The module depends on no queue, and
//! names no operation.
use core::fmt;
use core::marker::PhantomData;
use core::mem::offset_of;

use crate::arch::ds::DsWords;
use crate::transport::Transport;
use crate::types::{DS_BYTES, Ds, Lkey, Wqebbs, WrId};
use crate::wqe::address::destination::Destination;
use crate::wqe::data::{Bytes, Data, Entries, Given, Remote, Sge, ToCarry, ToFetch, ToScatter, inline_ds};
use crate::wqe::error::EncodeError;
use crate::wqe::limits::Limits;
use crate::wqe::operation::{Addressed, Operation, Prepared};
use crate::wqe::seg::{CompletionMode, Fence, bits};
use crate::wqe::seg::{CtrlSeg, DataSeg, RaddrSeg};
use crate::wqe::untyped::{MAX_STORED_DS, Shape, Untyped};

/// The most DS of a prepared request: four WQEBBs.
const MAX_PREPARED_DS: usize = 16;

/// The place of a prepared request's second words of the control segment: that of one that asks for no completion, and
/// the bits that differ in one that does.
const PREPARED_FLAGS: usize = MAX_STORED_DS - 1;

/// A work request: start with the operation ([`write`](super::write()), [`send`](super::send), …), add
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
/// The operation `O` and the kind of data `D` are types, so the compiler knows the size of the WQE. Everything else is
/// a value. A request can be kept, and posted many times, each time with other data:
///
/// ```
/// # use blueflame::{PostError, Remote, SendQueue, WrId, db::Register, transport, wqe};
/// /// Writes messages one after the other into a buffer of the peer's.
/// fn stream<R: Register>(sq: &mut SendQueue<transport::Rc, R>, to: Remote, messages: &[[u8; 32]]) -> Result<(), PostError> {
///     let write = wqe::write(to).signaled(WrId(7));
///     for (message, n) in messages.iter().zip(0..) {
///         sq.post(&write.at(to.at(32 * n)).inline(message))?;
///     }
///     Ok(())
/// }
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
#[must_use = "a request does nothing until it is posted"]
pub struct Request<'d, O, D = ToCarry> {
    pub(crate) untyped: Untyped<'d>,
    types: PhantomData<(O, D)>,
}

impl<O, D> Clone for Request<'_, O, D> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, D> Copy for Request<'_, O, D> {}

impl<O, D> fmt::Debug for Request<'_, O, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Request").field(&self.untyped).finish()
    }
}

impl<O, D> Request<'static, O, D> {
    /// A request of these segments.
    #[inline(always)]
    pub(super) fn new<const N: usize>(segments: [DsWords; N]) -> Self {
        Self { untyped: Untyped::new(segments), types: PhantomData }
    }
}

impl<'d, O, D> Request<'d, O, D> {
    /// This value as a request of other types.
    #[inline(always)]
    pub(super) fn with_types<P, E>(self) -> Request<'d, P, E> {
        Request { untyped: self.untyped, types: PhantomData }
    }

    /// Changes it.
    #[inline(always)]
    pub(super) fn change(mut self, change: impl FnOnce(&mut Untyped<'d>)) -> Self {
        change(&mut self.untyped);
        self
    }

    /// Replaces the segments from `at` on.
    #[inline(always)]
    pub(super) fn with_segments<const N: usize>(self, at: usize, new: [DsWords; N]) -> Self {
        self.change(|untyped| {
            for (place, segment) in untyped.segments.iter_mut().skip(at).zip(new) {
                *place = segment;
            }
        })
    }

    /// Asks for a completion that returns `wr_id` (`IBV_SEND_SIGNALED`). Without it the request completes silently, and
    /// its room in the ring becomes free with the next signalled one.
    #[doc(alias = "IBV_SEND_SIGNALED")]
    #[inline(always)]
    pub fn signaled(self, wr_id: WrId) -> Self {
        self.completion(CompletionMode::Always).wr_id(wr_id)
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
    #[inline(always)]
    pub fn completion(self, mode: CompletionMode) -> Self {
        let others = !CtrlSeg::flags(bits::CQ_UPDATE | bits::ONLY_FIRST_ERROR);
        self.change(|untyped| untyped.control.0[1] = untyped.control.0[1] & others | CtrlSeg::flags(mode as u8))
    }

    /// Sets the identifier without asking for a completion. An error completion returns the identifier even so.
    #[inline(always)]
    pub fn wr_id(self, wr_id: WrId) -> Self {
        self.change(|untyped| untyped.record.0[0] = wr_id.0)
    }

    /// Marks the message so that it wakes a peer that waits for solicited events only (`IBV_SEND_SOLICITED`).
    #[doc(alias = "IBV_SEND_SOLICITED")]
    #[inline(always)]
    pub fn solicited(self) -> Self {
        self.change(|untyped| untyped.control.0[1] |= CtrlSeg::flags(bits::SOLICITED))
    }

    /// Makes the request wait for earlier ones; the last call counts. `IBV_SEND_FENCE` is [`Fence::SmallAndReads`].
    #[doc(alias = "IBV_SEND_FENCE")]
    #[inline(always)]
    pub fn fence(self, fence: Fence) -> Self {
        self.change(|untyped| {
            untyped.control.0[1] = untyped.control.0[1] & !CtrlSeg::flags(bits::FENCE) | CtrlSeg::flags(fence as u8)
        })
    }

    /// The identifier to hand back with its completion.
    #[inline(always)]
    #[must_use]
    pub const fn id(&self) -> WrId {
        WrId(self.untyped.record.0[0])
    }

    /// Sets the control segment's last word, as a number.
    #[inline(always)]
    pub(super) fn with_imm(self, number: u32) -> Self {
        self.change(|untyped| untyped.control.0[1] |= CtrlSeg::imm(number))
    }

    /// Refuses it, unless it is refused already.
    #[inline(always)]
    pub(super) fn refused_if(self, fault: Option<EncodeError>) -> Self {
        self.change(|untyped| {
            if fault.is_some() && untyped.fault.is_none() {
                untyped.fault = fault;
            }
        })
    }
}

impl<'d, O: Operation, D: Data> Request<'d, O, D> {
    /// The size of its WQE in DS, control segment included, if its type tells.
    pub(crate) const DS: Option<usize> = match (O::PREPARED, D::DS) {
        (Some((bytes, entries)), _) => Some(1 + O::DS + inline_ds(bytes) + entries),
        (None, Some(data)) => Some(1 + O::DS + data),
        (None, None) => None,
    };

    /// The limits that it needs, as far as its type tells.
    pub(crate) const NEEDS: Limits = Limits {
        max_inline: match D::BYTES {
            Some(bytes) => bytes as u32,
            None => 0,
        },
        max_sge: match D::ENTRIES {
            Some(entries) => entries as u32,
            None => 0,
        },
        ..Limits::NONE
    };

    /// Whether its data is in the WQE, so that the device has nothing else to fetch: then BlueFlame gives it the whole
    /// request. A message without data is not inline, as in libmlx5, where a flag says so (rdma-core
    /// `providers/mlx5/qp.c`, `_mlx5_post_send`, `inl`).
    pub(crate) const INLINE: bool =
        D::IS_INLINE || O::IS_FRAME && !D::NAMES && matches!((D::BYTES, D::ENTRIES), (Some(0), Some(0)));

    /// Entries given by value.
    const ENTRIES: usize = match D::ENTRIES {
        Some(entries) => entries,
        None => 0,
    };

    /// The facts that its type fixes, as a value.
    pub(crate) const SHAPE: Shape = Shape {
        opcode: CtrlSeg::opcode(O::OPMOD, O::OPCODE),
        stored: O::STORED_DS as u8,
        headers: (O::DS - O::STORED_DS) as u8,
        entries: Self::ENTRIES as u8,
        has_bytes: !matches!(D::BYTES, Some(0)),
        has_slice: D::ENTRIES.is_none(),
        transports: O::ON[0],
        is_inline: Self::INLINE,
        names_memory: D::NAMES || !matches!(D::ENTRIES, Some(0)),
        is_frame: O::IS_FRAME,
        is_large: O::IS_LARGE,
        is_checked: O::IS_CHECKED,
    };

    /// Sets the destination on queues whose requests name it:
    /// - a [`UdAddress`](super::UdAddress) on a [`Ud`](crate::transport::Ud) queue;
    /// - a [`DcAddress`](super::DcAddress) on a [`Dci`](crate::transport::Dci) queue;
    /// - a shared receive queue of the peer ([`Srqn`](crate::types::Srqn)) on the queue of an
    ///   [`XrcInitiator`](crate::transport::XrcInitiator).
    #[doc(alias("ibv_wr_set_ud_addr", "mlx5dv_wr_set_dc_addr", "mlx5dv_wr_set_dc_addr_stream", "ibv_wr_set_xrc_srqn"))]
    #[inline(always)]
    pub fn to<A: Destination>(self, destination: A) -> Request<'d, Addressed<O, A>, D> {
        const {
            assert!(A::DS + O::STORED_DS + Self::ENTRIES <= MAX_STORED_DS, "give so many entries by reference");
            assert!(O::PREPARED.is_none(), "a request has its destination before it is prepared");
        }
        let old = self.untyped.segments;
        self.change(|untyped| {
            untyped.control.0[1] |= CtrlSeg::stream(destination.stream());
            for (place, segment) in untyped.segments.iter_mut().skip(A::DS).zip(old) {
                *place = segment;
            }
            destination.write(&mut untyped.segments);
        })
        .with_types()
    }

    /// Sets `wr_id`, and asks for a completion if `signaled`, or else for none but that of an error: for moderation.
    #[inline(always)]
    pub fn signaled_if(self, signaled: bool, wr_id: WrId) -> Self {
        const { assert!(bits::CQ_UPDATE == 1 << 3 && bits::ONLY_FIRST_ERROR == 1 << 2) }
        // By a shift, and not by a branch: which requests ask is no pattern that a CPU could predict.
        let asked = CtrlSeg::flags(1).wrapping_mul(u64::from(signaled) << 3);
        self.change(|untyped| {
            if const { O::PREPARED.is_some() } {
                let DsWords([unsignaled, change]) = untyped.segments[PREPARED_FLAGS];
                untyped.control.0[1] = unsignaled ^ change & u64::from(signaled).wrapping_neg();
            } else {
                // A request that asks has no other mode.
                let others = !(CtrlSeg::flags(bits::CQ_UPDATE) | asked >> 1);
                untyped.control.0[1] = untyped.control.0[1] & others | asked;
            }
        })
        .wr_id(wr_id)
    }

    /// Sets another place in the peer's memory.
    ///
    /// ```compile_fail,E0080
    /// # use blueflame::{Remote, SendQueue, transport, types::Rkey, wqe};
    /// # fn elsewhere(sq: &mut SendQueue<transport::Rc>, remote: Remote) {
    /// let _ = wqe::send().at(remote); // a SEND names no memory of the peer
    /// # }
    /// # let _ = elsewhere as fn(_, _);
    /// ```
    #[inline(always)]
    pub fn at(self, remote: Remote) -> Self {
        let at = const {
            match O::REMOTE {
                Some(at) => at,
                None => panic!("the operation names no memory of the peer"),
            }
        };
        self.with_segments(at, [RaddrSeg::from(remote).into()])
    }

    /// WQEBBs that it takes in the ring, for [`Moderation`](crate::queue::Moderation) and for the length of the queue.
    ///
    /// The queue has room for its depth divided by this many requests: a queue of `sends(128)` has 128 WQEBBs, so it
    /// holds 64 requests of two WQEBBs. Ask for as many `sends` (`QpBuilder::sends`) as requests may be outstanding,
    /// times this. A WRITE of RC has one WQEBB up to 28 bytes inline, and one more for each further 64 bytes. A frame
    /// whose bytes are all inline headers has one WQEBB up to 34 bytes, and two up to 98: 16 bytes of control segment
    /// and 14 of Ethernet segment come before them.
    #[inline]
    #[must_use]
    pub fn wqebbs(&self) -> Wqebbs {
        let ds = match Self::DS {
            Some(ds) if O::PREPARED.is_some() || !self.untyped.is_odd => ds,
            _ => self.untyped.ds(Self::SHAPE),
        };
        Ds(ds.min(usize::from(Ds::MAX)) as u8).wqebbs()
    }

    /// Whether it has the size that its type tells, its operands are within their limits, and the queue has the offloads
    /// that it needs. Of a prepared request, all but the size is checked already.
    #[inline(always)]
    pub(crate) fn is_regular(&self, limits: &Limits) -> bool {
        let untyped = &self.untyped;
        let is_even = const { matches!(D::ENTRIES, Some(0)) } || !untyped.is_odd;
        is_even
            && (O::PREPARED.is_some()
                || (!O::IS_CHECKED || untyped.fault.is_none())
                    && (!O::IS_FRAME || limits.offloads.missing(untyped.needs).is_none())
                    && (!O::IS_LARGE || untyped.large_send(limits).is_none()))
    }

    /// Why it is not [regular](Self::is_regular).
    #[inline(always)]
    pub(crate) fn irregularity(&self, limits: &Limits) -> EncodeError {
        let (untyped, shape) = (&self.untyped, Self::SHAPE);
        if let Err(error) = untyped.check_operands(shape, limits) {
            return error;
        }
        // A single entry has all bytes, so that its segment need not be kept for the error.
        EncodeError::odd_entry(match Self::ENTRIES {
            1 => untyped.payload as u32,
            _ => untyped.odd_entry(shape),
        })
    }

    /// The request prepared for `BYTES` inline bytes and `ENTRIES` entries, on queues that have these limits. The segments
    /// that do not change are put together here. `signal_all` says whether the queues signal all requests.
    ///
    /// # Errors
    /// It exceeds the limits, or one of its operands does.
    pub(crate) fn prepared<const BYTES: usize, const ENTRIES: usize>(
        &self,
        limits: &Limits,
        signal_all: bool,
    ) -> Result<Request<'d, Prepared<O, BYTES, ENTRIES>, D>, EncodeError> {
        let ds = const {
            assert!(matches!(D::DS, Some(0)), "a request is prepared before it has its data");
            assert!(!O::IS_LARGE, "a large send is posted, not prepared: each may have other bytes");
            assert!(O::PREPARED.is_none() && O::STORED_DS + ENTRIES <= PREPARED_FLAGS);
            let ds = 1 + O::DS + inline_ds(BYTES) + ENTRIES;
            assert!(ds <= MAX_PREPARED_DS, "a prepared request takes at most four WQEBBs");
            Ds(ds as u8)
        };
        let needs = Limits { max_inline: BYTES as u32, max_sge: ENTRIES as u32, ..Limits::NONE };
        self.untyped.check(Self::SHAPE, limits)?;
        if !limits.cover(needs) {
            return Err(EncodeError::uncovered(*limits, needs));
        }
        let opcode = CtrlSeg::opcode(O::OPMOD, O::OPCODE) | CtrlSeg::size(ds);
        let second = self.untyped.control.0[1];
        let signaled = CtrlSeg::signaled(second);
        let unsignaled = if signal_all { signaled } else { second & !CtrlSeg::flags(bits::CQ_UPDATE) };
        let prepared = self.with_segments(PREPARED_FLAGS, [DsWords([unsignaled, unsignaled ^ signaled])]);
        Ok(prepared
            .change(|untyped| {
                untyped.control = DsWords([opcode, if signal_all { signaled } else { second }]);
                untyped.record.0[1] = ds.wqebbs().0.into();
            })
            .with_types())
    }

    /// The memory that holds it while it is kept: a frame's inline headers; of any other request, its segments.
    #[inline(always)]
    pub(crate) fn kept_at(&self) -> (*const u8, usize) {
        if const { O::IS_FRAME } {
            (self.untyped.headers.as_ptr(), O::HEADERS)
        } else {
            const BEFORE: usize = offset_of!(Untyped<'static>, segments);
            ((&raw const self.untyped).cast(), BEFORE + (O::STORED_DS + Self::ENTRIES) * DS_BYTES)
        }
    }

    /// The queue's record of the request, which takes `wqebbs` WQEBBs.
    #[inline(always)]
    pub(crate) const fn record(&self, wqebbs: u64) -> DsWords {
        // A prepared request has its size there.
        let DsWords([wr_id, prepared]) = self.untyped.record;
        DsWords([wr_id, if O::PREPARED.is_some() { prepared } else { wqebbs }])
    }

    /// Checks the offloads that it needs.
    ///
    /// # Errors
    /// The device lacks one.
    #[inline(always)]
    pub(crate) fn check_offloads(&self, limits: &Limits) -> Result<(), EncodeError> {
        self.untyped.check_offloads(limits)
    }

    /// The request for queues that check its transport when it is posted: for requests that are chosen at run time.
    ///
    /// ```
    /// use blueflame::wqe::{self, Erased};
    /// use blueflame::{PostError, Remote, SendQueue, WrId, transport};
    ///
    /// fn post(sq: &mut SendQueue<transport::Rc>, message: &[u8], to: Option<Remote>) -> Result<(), PostError> {
    ///     let request: Erased<'_> = match to {
    ///         Some(remote) => wqe::write(remote).inline_slice(message).signaled(WrId(1)).erased(),
    ///         None => wqe::send().inline_slice(message).signaled(WrId(1)).erased(),
    ///     };
    ///     sq.post_erased(&request)
    /// }
    /// ```
    #[inline(always)]
    pub fn erased(&self) -> Erased<'d> {
        // Its size is in its control segment already, and could differ from that of the data.
        const { assert!(O::PREPARED.is_none(), "a prepared request is posted as it is") }
        Erased { untyped: self.untyped, shape: Self::SHAPE }
    }

    /// Does not compile if the request was prepared for other data: its size is in its control segment
    /// already.
    pub(crate) const IS_AS_PREPARED: () = if let Some((bytes, entries)) = O::PREPARED {
        assert!(
            matches!(D::BYTES, Some(given) if given == bytes) && matches!(D::ENTRIES, Some(given) if given == entries),
            "the request was prepared for other data"
        );
    };
}

/// A request of any operation and any data: made by [`Request::erased`].
///
/// [`SendQueue::post_erased`](crate::SendQueue::post_erased) refuses it if the queue's transport does not have the
/// operation, or if the request names memory of this side.
#[derive(Clone, Copy, Debug)]
#[must_use = "a request does nothing until it is posted"]
pub struct Erased<'d> {
    pub(crate) untyped: Untyped<'d>,
    pub(crate) shape: Shape,
}

impl Erased<'_> {
    /// Whether the transport has the operation.
    #[inline]
    #[must_use]
    pub fn is_supported_on<T: Transport>(&self) -> bool {
        let Self { untyped, shape } = self;
        shape.transports & T::BIT != 0 && (!shape.is_frame || untyped.headers.len() >= T::LEAST_HEADERS)
    }

    /// Whether it names memory of this side, so that posting it is `unsafe`.
    #[inline]
    #[must_use]
    pub const fn names_memory(&self) -> bool {
        self.shape.names_memory
    }
}

impl<'d, O: Operation, D: Data> Request<'d, O, D> {
    /// Puts entries behind its segments. In place: moved once for each entry, it would stay in memory. So would an array
    /// for [`with_segments`](Self::with_segments), of some sizes.
    #[inline(always)]
    fn with_entries<const N: usize, E>(self, list: [Sge; N]) -> Request<'d, O, E> {
        const { assert!(O::STORED_DS + N <= MAX_STORED_DS, "give so many entries by reference: gather_slice, scatter_slice") }
        let named = self.change(|untyped| {
            for (n, sge) in list.iter().enumerate() {
                untyped.segments[O::STORED_DS + n] = sge.words();
            }
            untyped.count(&list);
        });
        named.with_types()
    }

    /// Names entries by reference.
    #[inline(always)]
    pub(super) fn with_slice(self, list: &'d [Sge]) -> Request<'d, O, Entries> {
        let named = self.change(|untyped| {
            untyped.count(list);
            untyped.entries = list;
        });
        named.with_types()
    }
}

impl<'d, O: Operation> Request<'d, O, ToCarry> {
    /// Takes the message's bytes from registered memory.
    #[doc(alias("ibv_wr_set_sge_list", "ibv_sge", "ibv_wr_set_sge"))]
    #[inline(always)]
    pub fn gather<const N: usize>(self, list: [Sge; N]) -> Request<'d, O, Given<0, N>> {
        self.with_entries(list)
    }

    /// Takes the message's bytes from registered memory, by as many entries as the slice has.
    #[inline(always)]
    pub fn gather_slice(self, list: &'d [Sge]) -> Request<'d, O, Entries> {
        self.with_slice(list)
    }

    /// Copies the message's bytes into the WQE, when the request is posted.
    #[doc(alias("ibv_wr_set_inline_data", "IBV_SEND_INLINE", "ibv_wr_set_inline_data_list"))]
    #[inline(always)]
    pub fn inline<'e, const N: usize>(self, data: &'e [u8; N]) -> Request<'e, O, Given<N, 0>>
    where
        'd: 'e,
    {
        let request: Request<'e, O, ToCarry> = self;
        request.change(|untyped| untyped.bytes = data).with_types()
    }

    /// Copies the message's bytes into the WQE, as many as the slice has.
    #[inline(always)]
    pub fn inline_slice<'e>(self, data: &'e [u8]) -> Request<'e, O, Bytes>
    where
        'd: 'e,
    {
        let request: Request<'e, O, ToCarry> = self;
        request.change(|untyped| untyped.bytes = data).with_types()
    }
}

impl<'d, O: Operation, const B: usize> Request<'d, O, Given<B, 0>> {
    /// Adds bytes from registered memory after the inline bytes, for example a message that the device fetches after a
    /// header that this CPU makes. Both are one message. (libmlx5 has no such request; UCX posts them.)
    ///
    /// ```
    /// use blueflame::types::{Lkey, WrId};
    /// use blueflame::{Sge, wqe};
    ///
    /// let page = Sge { addr: 0x7000, length: 4096, lkey: Lkey(0x22) };
    /// let _ = wqe::send().inline(b"page 17:").then_gather([page]).signaled(WrId(7));
    /// ```
    #[inline(always)]
    pub fn then_gather<const N: usize>(self, list: [Sge; N]) -> Request<'d, O, Given<B, N>> {
        self.with_entries(list)
    }

    /// Gathers by as many entries as the slice has.
    #[inline(always)]
    pub fn then_gather_slice(self, list: &'d [Sge]) -> Request<'d, O, Entries> {
        self.with_slice(list)
    }
}

impl<'d, O: Operation> Request<'d, O, Bytes> {
    /// Adds bytes from registered memory after the inline bytes.
    #[inline(always)]
    pub fn then_gather_slice(self, list: &'d [Sge]) -> Request<'d, O, Entries> {
        self.with_slice(list)
    }
}

impl<'d, O: Operation> Request<'d, O, ToScatter> {
    /// Puts the data read into registered memory.
    #[inline(always)]
    pub fn scatter<const N: usize>(self, list: [Sge; N]) -> Request<'d, O, Given<0, N>> {
        self.with_entries(list)
    }

    /// Puts the data read into registered memory, by as many entries as the slice has.
    #[inline(always)]
    pub fn scatter_slice(self, list: &'d [Sge]) -> Request<'d, O, Entries> {
        self.with_slice(list)
    }
}

impl<'d, O: Operation, const BYTES: u32> Request<'d, O, ToFetch<BYTES>> {
    /// Puts the old value, from before the operation, into registered memory. For operations on 8 bytes it is in the
    /// CPU's order. For operations on 4 bytes it is a [`Be32`](super::seg::Be32), for those on 16 a
    /// [`Be128`](super::seg::Be128).
    ///
    /// Linux' driver sets the device to the CPU's order. Where no kernel drives the device, the 8 bytes come in
    /// network order (`atomic_req_8B_endianness_mode` 0). `Context::fetched_order` of `blueflame-devx` reports the
    /// order.
    #[inline(always)]
    pub fn result(self, addr: u64, lkey: Lkey) -> Request<'d, O, Given<0, 1>> {
        self.with_segments(O::STORED_DS, [DataSeg::new(BYTES, lkey, addr).into()]).with_types()
    }
}
