//! Send and receive queues of raw Ethernet.

use core::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use blueflame::db::ExclusiveRegister;
use blueflame::db::RegisterParts;
use blueflame::queue::owning::Posted;
use blueflame::queue::recv::RqParts;
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::queue::striding::StridedMemory;
use blueflame::queue::{AnyCq, Owned, RecvQueue, SendQueue};
use blueflame::transport::{PlainRecv, RawPacket};
use blueflame::types::{Qpn, SqPi, WQEBB_BYTES, Wqebbs, WrId};

use super::pacing::PacketPacing;
use super::tis::Tis;
use crate::check::in_range;
use crate::cmd::{
    CreateRqIn, CreateSqIn, CreateSqOut, ModifyRqIn, ModifySqIn, QueryRqIn, QuerySqIn, QueueState, Rqc, Rqn, Sqc, Sqn,
    Wq, WqType,
};
use crate::context::Object;
use crate::error::Error;
use crate::memory::{Record, Space, ThreadRings};
use crate::object::check_cq::{make_fresh, receiver_of_frames, whole};
use crate::object::cq::Cq;
use crate::object::pd::Pd;
use crate::object::uar::Uar;
use crate::support::ask::at_least;
use crate::support::{strides, timestamps};
use blueflame::queue::Shadow;

/// Handle of a send queue outside of queue pairs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sq {
    handle: Arc<SqHandle>,
}

#[derive(Debug)]
struct SqHandle {
    object: Object,
    sqn: Sqn,
    /// Its rate, which the object has as well.
    pacing: Arc<Mutex<Option<PacketPacing>>>,
    _shadow: Shadow<WqeRecord>,
}

/// A send queue of frames.
pub type OwnedSq<const HEADERS: usize> = Owned<SendQueue<RawPacket<HEADERS>, ExclusiveRegister>, Sq>;

/// The most bytes of one request behind its control and Ethernet segments.
const MAX_INLINE: u32 = 512;
const MAX_SGE: u32 = 16;

/// Bytes of such a request: its segments, and headers inline.
const LARGEST: u16 = 640;

/// Bit of `modify_bitmask` for the rate (DPDK `drivers/common/mlx5/mlx5_prm.h`,
/// `MLX5_MODIFY_SQ_IN_MODIFY_BITMASK_PACKET_PACING_RATE_LIMIT_INDEX`).
const MODIFY_RATE: u64 = 1 << 0;

/// Fills in the fields that all work queues share.
fn place(wq: &mut Wq, pd: &Pd, ring: &Space, record: &Record, entries: u32, stride: u32) {
    wq.set_wq_type(WqType::CYCLIC)
        .set_pd(pd.pdn())
        .set_log_wq_stride(stride.trailing_zeros() as u8)
        .set_log_wq_sz(entries.trailing_zeros() as u8)
        .set_wq_umem_valid(true)
        .set_wq_umem_id(ring.umem())
        .set_wq_umem_offset(ring.offset())
        .set_dbr_umem_valid(true)
        .set_dbr_umem_id(record.umem())
        .set_dbr_addr(record.offset());
}

impl Pd {
    /// Makes a send queue of frames with `wqebbs` WQEBBs (rounded up to a power of two). Its frames leave through
    /// `tis`. It is ready to send.
    ///
    /// Each frame carries at least `HEADERS` bytes of its headers inline. If the device needs more
    /// ([`min_inline_mode`](crate::Context::min_inline_mode)), the queue cannot be made. The queue takes
    /// [WQEs of several frames](blueflame::queue::send::Session), large sends, checksums of inner headers, offsets of
    /// headers and metadata if the device does ([`frame_offloads`](crate::Context::frame_offloads)).
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::Foreign`] if `cq` is the queue of another handle,
    /// [`Error::CqRoom`], [`Error::StaleCompletions`], [`Error::ForeignDevice`], [`Error::Command`], or no memory for
    /// the ring.
    pub fn send_queue<const HEADERS: usize>(
        &self,
        rings: &ThreadRings,
        cq: &dyn AnyCq<Cq>,
        tis: &Tis,
        uar: Uar,
        wqebbs: u32,
    ) -> Result<OwnedSq<HEADERS>, Error> {
        let completions = whole(cq)?;
        in_range("WQEBBs of a send queue", wqebbs, 1..=1 << 15)?;
        let wqebbs = wqebbs.next_power_of_two();
        let context = self.context();
        let general = context.general()?;
        at_least("cmd_hca_cap.log_max_qp_sz", general.log_max_qp_sz(), wqebbs.trailing_zeros())?;
        at_least("cmd_hca_cap.max_wqe_sz_sq", general.max_wqe_sz_sq(), LARGEST)?;
        let inline_mode = context.inline_mode_of(HEADERS)?;
        let offloads = context.frame_offloads()?;
        let ring = rings.paged_ring(wqebbs as usize * WQEBB_BYTES)?;
        let record = rings.record()?;
        let mut inbox = CreateSqIn::new();
        let sqc = inbox.ctx_mut();
        sqc.set_allow_multi_pkt_send_wqe(offloads.multi_packet)
            .set_min_wqe_inline_mode(inline_mode)
            // As Linux for the queues of verbs (`drivers/infiniband/hw/mlx5/qp.c`, `create_raw_packet_qp_sq`).
            .set_allow_swp(offloads.header_offsets || offloads.header_offsets_of_large)
            .set_flush_in_error_en(true)
            .set_state(QueueState::RST)
            .set_ts_format(timestamps::format(general.sq_ts_format()))
            .set_cqn(completions.cqn())
            .set_tis_lst_sz(1)
            .set_tis_num_0(tis.tisn());
        place(sqc.wq_mut(), self, &ring, &record, wqebbs, WQEBB_BYTES as u32);
        sqc.wq_mut().set_uar_page(uar.page().id());
        let (start, dbrec) = (ring.start(), record.start());
        let pacing = Arc::new(Mutex::new(None));
        let places = completions.reserve(wqebbs)?;
        let below = (tis.clone(), completions.clone(), self.clone(), Arc::clone(&pacing), places);
        let under = (ring, record, uar.page().clone(), below);
        let number = |out: &CreateSqOut| Qpn::truncate(out.sqn().get());
        let (object, out) = make_fresh(context, &inbox, &Arc::new(under), [cq; 2], number)?;
        let mut ready = ModifySqIn::new();
        ready.set_sqn(out.sqn()).set_sq_state(QueueState::RST);
        ready.ctx_mut().set_state(QueueState::RDY);
        object.change(&ready)?;

        let shadow = Shadow::new(wqebbs);
        let parts = SqParts {
            ring: start,
            wqebbs,
            dbrec,
            qpn: Qpn::truncate(out.sqn().get()),
            cq: cq.any_id(),
            max_inline: MAX_INLINE,
            max_sge: MAX_SGE,
            signal_all: false,
            pi: SqPi(0),
            shadow: shadow.start(),
        };
        let register: RegisterParts = uar.parts();
        // SAFETY: mapped as long as the page, which the object keeps; the register is this queue's, as `uar` was taken.
        let register = unsafe { ExclusiveRegister::from_parts(register) }
            .map_err(|error| Error::Parts { object: "doorbell register", why: error.to_string() })?;
        let handle = SqHandle { object, sqn: out.sqn(), pacing, _shadow: shadow };
        let bad = |why: String| Error::Parts { object: "send queue", why };
        // SAFETY: the device was told of this ring and record; the object keeps them, the handle keeps the shadow, and
        // both go after the queue. Nothing is left of an earlier queue with its number: `make_fresh` has looked, and
        // the completion queue is borrowed.
        let mut queue = unsafe { SendQueue::from_parts(parts, register) }.map_err(|error| bad(error.to_string()))?;
        queue.set_depth(Wqebbs(wqebbs as u16)).map_err(|error| bad(error.to_string()))?;
        queue.set_frame_offloads(offloads);
        // SAFETY: the handle keeps the object; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, Sq { handle: Arc::new(handle) }, SendQueue::ring_addr) })
    }

    /// Makes a receive queue of `receives` (rounded up to a power of two) with `sge` scatter entries each. It is ready
    /// to receive the packets that a [`Tir`](crate::object::Tir) sends there. You post values of type `B`; the compiler
    /// infers it from your call ([`RecvQueue::post`], [`RecvQueue::post_unchecked`]).
    ///
    /// It must be the only receiver of `cq`: completions of frames carry flow tags in place of its number
    /// ([`Receiver`](blueflame::cq::setup::Receiver)). Each queue of a [table](crate::object::Rqt) therefore has its
    /// own completion queue.
    ///
    /// # Errors
    /// The errors of [`send_queue`](Self::send_queue) except the one about stale completions; [`Error::Receivers`],
    /// [`Error::StaleReceives`].
    pub fn recv_queue<B: Posted>(
        &self,
        rings: &ThreadRings,
        cq: &dyn AnyCq<Cq>,
        receives: u32,
        sge: u32,
    ) -> Result<OwnedRq<B>, Error> {
        in_range("requests of a receive queue", receives, 1..=1 << 15)?;
        in_range("scatter entries", sge, 1..=128)?;
        let (wqes, stride) = (receives.next_power_of_two(), 16 * sge.next_power_of_two());
        let made = self.make_rq(rings, cq, (receives, stride), None)?;
        let shadow = Shadow::new(RqParts::shadow_words(wqes));
        let parts = RqParts {
            buf: made.start,
            wqe_cnt: wqes,
            stride,
            dbrec: made.dbrec,
            qpn: Qpn::truncate(made.rqn.get()),
            cq: cq.any_id(),
            flow_tags: true,
            head: 0,
            shadow: shadow.start(),
        };
        let handle = made.into_handle(shadow);
        // SAFETY: as for the send queue. Nothing else receives there as long as the object is, which keeps `receiver`,
        // and no receive of an earlier one is left.
        let mut queue = unsafe { RecvQueue::from_parts(parts) }
            .map_err(|error| Error::Parts { object: "receive queue", why: error.to_string() })?;
        queue.limit_depth(receives);
        // SAFETY: as for the send queue.
        Ok(unsafe { Owned::new(queue, handle, RecvQueue::ring_addr) })
    }

    /// Makes the object of a receive queue, a striding one if there is `memory` for it. It is ready to receive.
    pub(super) fn make_rq(
        &self,
        rings: &ThreadRings,
        cq: &dyn AnyCq<Cq>,
        (receives, stride): (u32, u32),
        memory: Option<&StridedMemory>,
    ) -> Result<MadeRq, Error> {
        let completions = whole(cq)?;
        let wqes = receives.next_power_of_two();
        let context = self.context();
        let general = context.general()?;
        at_least("cmd_hca_cap.log_max_qp_sz", general.log_max_qp_sz(), wqes.trailing_zeros())?;
        at_least("cmd_hca_cap.max_wqe_sz_rq", general.max_wqe_sz_rq(), stride)?;
        let receiver = receiver_of_frames(cq)?;
        let places = completions.reserve(memory.map_or(receives, |memory| memory.completions(receives)))?;
        let ring = rings.paged_ring(wqes as usize * stride as usize)?;
        let record = rings.record()?;
        let mut inbox = CreateRqIn::new();
        let rqc = inbox.ctx_mut();
        rqc.set_vsd(true)
            .set_flush_in_error_en(true)
            .set_state(QueueState::RST)
            .set_ts_format(timestamps::format(general.rq_ts_format()))
            .set_cqn(completions.cqn());
        place(rqc.wq_mut(), self, &ring, &record, wqes, stride);
        if let Some(memory) = memory {
            strides::place(rqc.wq_mut(), memory.strides());
        }
        let (start, dbrec) = (ring.start(), record.start());
        let under =
            (ring, record, completions.clone(), self.clone(), (receiver, places, memory.map(StridedMemory::guard)));
        let (object, out) = context.make(&inbox, under)?;
        let mut ready = ModifyRqIn::new();
        ready.set_rqn(out.rqn()).set_rq_state(QueueState::RST);
        ready.ctx_mut().set_state(QueueState::RDY);
        object.change(&ready)?;
        Ok(MadeRq { object, rqn: out.rqn(), start, dbrec })
    }
}

/// The object of a receive queue, and where its ring and its record are, which it keeps.
pub(super) struct MadeRq {
    object: Object,
    pub(super) rqn: Rqn,
    pub(super) start: NonNull<u8>,
    pub(super) dbrec: NonNull<u32>,
}

impl MadeRq {
    /// The handle, which keeps `shadow` as well.
    pub(super) fn into_handle(self, shadow: Shadow<u64>) -> Rq {
        Rq { handle: Arc::new(RqHandle { object: self.object, rqn: self.rqn, _shadow: shadow }) }
    }
}

impl Sq {
    /// The number that completions carry.
    #[must_use]
    pub fn sqn(&self) -> Sqn {
        self.handle.sqn
    }

    /// The object: for commands, and events.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.handle.object
    }

    /// Sends frames at this rate from now on, or as fast as the port permits (MODIFY_SQ). Frames that are posted and
    /// have not left follow. The queue keeps the entry.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::Command`].
    #[doc(alias = "packet_pacing_rate_limit_index")]
    pub fn pace(&self, pacing: Option<&PacketPacing>) -> Result<(), Error> {
        let mut kept = self.handle.pacing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut inbox = ModifySqIn::new();
        inbox.set_sqn(self.sqn()).set_sq_state(QueueState::RDY).set_modify_bitmask(MODIFY_RATE);
        let index = pacing.map_or(0, PacketPacing::index);
        inbox.ctx_mut().set_state(QueueState::RDY).set_packet_pacing_rate_limit_index(index);
        match pacing {
            Some(pacing) => self.object().change_to(&inbox, pacing)?,
            None => self.object().change(&inbox)?,
        };
        *kept = pacing.cloned();
        Ok(())
    }

    /// Queries the context.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Sqc, Error> {
        let mut inbox = QuerySqIn::new();
        inbox.set_sqn(self.sqn());
        Ok(self.object().query(&inbox)?.sq_context().clone())
    }
}

/// Handle of a receive queue outside of queue pairs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Rq {
    handle: Arc<RqHandle>,
}

#[derive(Debug)]
struct RqHandle {
    object: Object,
    rqn: Rqn,
    _shadow: Shadow<u64>,
}

/// A receive queue of frames.
pub type OwnedRq<B = WrId> = Owned<RecvQueue<PlainRecv, B>, Rq>;

impl Rq {
    /// Its number. Completions carry flow tags in its place.
    #[must_use]
    pub fn rqn(&self) -> Rqn {
        self.handle.rqn
    }

    /// The object: for commands, and events.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.handle.object
    }

    /// Queries the context.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Rqc, Error> {
        let mut inbox = QueryRqIn::new();
        inbox.set_rqn(self.rqn());
        Ok(self.object().query(&inbox)?.rq_context().clone())
    }
}
