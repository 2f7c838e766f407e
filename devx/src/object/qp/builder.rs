//! Making queue pairs.

use core::marker::PhantomData;
use std::rc;
use std::sync::Arc;

use blueflame::arch::copy::{BlockCopy, DefaultCopy};
use blueflame::db::{ExclusiveRegister, FlushMode, Register, SharedRegister, ThreadRegister, TwoFences};
use blueflame::queue::{Owned, RecvQueue, RqParts, SendQueue, SqParts};
use blueflame::types::{DS_BYTES, Ds, Qpn, SqPi, WQEBB_BYTES, Wqebbs};

use super::super::cq::Cq;
use super::super::pd::Pd;
use super::super::shadow::Shadow;
use super::super::uar::{DoorbellPage, SharedUar, ThreadUar, Uar};
use super::handle::{Handle, Qp};
use super::pair::QueuePair;
use super::transport::DevxTransport;
use crate::caps::{at_least, has};
use crate::check::in_range;
use crate::cmd::{CreateQpIn, CreateQpOut, PathMigration, RqType, ServiceType};
use crate::context::Object;
use crate::error::Error;
use crate::memory::{Record, Space, ThreadRings};

/// What a queue pair is to be like.
#[derive(Clone, Copy, Debug)]
pub struct QpBuilder<'a, T> {
    pd: &'a Pd,
    rings: &'a ThreadRings,
    send_cq: &'a Cq,
    recv_cq: &'a Cq,
    sends: u32,
    receives: u32,
    send_sge: u32,
    recv_sge: u32,
    inline: u32,
    user_index: u32,
    transport: PhantomData<T>,
}

const OBJECT: &str = "queue pair";

/// The user index of queues that nobody has given one: what Linux gives its own (`MLX5_IB_DEFAULT_UIDX`).
const NO_USER_INDEX: u32 = 0xff_ffff;

/// Queue pairs that are made for one with a number of which nothing is left.
const TRIES: usize = 16;

/// DS of a request between its control segment and its payload: the remote address.
const OPERAND_DS: usize = 1;

impl Pd {
    /// Begins a queue pair of transport `T` whose rings and record lie in `rings`, whose sends complete on `send_cq` and receives on
    /// `recv_cq`.
    #[must_use]
    pub fn queue_pair<'a, T: DevxTransport>(
        &'a self,
        rings: &'a ThreadRings,
        send_cq: &'a Cq,
        recv_cq: &'a Cq,
    ) -> QpBuilder<'a, T> {
        QpBuilder {
            pd: self,
            rings,
            send_cq,
            recv_cq,
            sends: 128,
            receives: 128,
            send_sge: 1,
            recv_sge: 1,
            inline: 0,
            user_index: NO_USER_INDEX,
            transport: PhantomData,
        }
    }
}

/// How large the rings of a queue pair are: receive WQEs first, the send ring behind.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Outstanding at most.
    window: Wqebbs,
    /// WQEBBs of the largest request.
    largest: Wqebbs,
    /// WQEBBs of the send ring.
    wqebbs: u32,
    /// WQEs of the receive ring; 0 without one.
    wqes: u32,
    /// Bytes of each.
    stride: u32,
}

impl Shape {
    fn recv_bytes(&self) -> usize {
        self.wqes as usize * self.stride as usize
    }

    fn bytes(&self) -> usize {
        self.recv_bytes() + self.wqebbs as usize * WQEBB_BYTES
    }
}

impl<T: DevxTransport> QpBuilder<'_, T> {
    /// Requests that may be outstanding on the send queue at a time, so long as each fits one WQEBB (64 bytes: with RC, 28 bytes
    /// inline or two gather entries). A larger one counts as many times as it has WQEBBs. Default 128.
    ///
    /// The ring has that many WQEBBs, rounded up to a power of two, and no more: verbs' is four times as long and longer.
    #[must_use]
    pub fn sends(mut self, requests: u32) -> Self {
        self.sends = requests;
        self
    }

    /// Requests that may be posted to the receive queue at a time. Default 128; 0 for none.
    #[must_use]
    pub fn receives(mut self, requests: u32) -> Self {
        self.receives = requests;
        self
    }

    /// Gather entries of a request to send. Default 1.
    #[must_use]
    pub fn send_sge(mut self, entries: u32) -> Self {
        self.send_sge = entries;
        self
    }

    /// Scatter entries of a receive. Default 1.
    #[must_use]
    pub fn recv_sge(mut self, entries: u32) -> Self {
        self.recv_sge = entries;
        self
    }

    /// Bytes a request may carry inline. Default 0, which still leaves what fits the space of the gather entries.
    #[must_use]
    pub fn inline(mut self, bytes: u32) -> Self {
        self.inline = bytes;
        self
    }

    /// What completions carry to tell whose they are (`qpc.user_index`), 24 bits.
    #[must_use]
    pub fn user_index(mut self, index: u32) -> Self {
        self.user_index = index;
        self
    }

    /// The most completions that the send queue can have waiting in its CQ.
    #[must_use]
    pub fn send_completions(&self) -> u32 {
        self.sends.max(1)
    }

    /// The most completions that the receive queue can have waiting in its CQ.
    #[must_use]
    pub fn recv_completions(&self) -> u32 {
        self.receives
    }

    /// Makes the queue pair with a doorbell register of its own.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::Command`], or no memory or register for it.
    pub fn build(self) -> Result<QueuePair<T>, Error> {
        let uar = Uar::new(self.pd.context())?;
        self.build_on(uar)
    }

    /// As [`build`](Self::build), with this register.
    ///
    /// # Errors
    /// As there; [`Error::Foreign`].
    pub fn build_on(self, uar: Uar) -> Result<QueuePair<T>, Error> {
        self.build_with::<TwoFences, _>(uar, DefaultCopy::default())
    }

    /// As [`build_on`](Self::build_on), with a doorbell of another flush mode, and another [routine](blueflame::arch::copy) that copies
    /// WQEs to BlueFlame. [`FlushMode`] has the table of which mode is for whom.
    ///
    /// # Errors
    /// As there.
    pub fn build_with<F: FlushMode, C: BlockCopy>(
        self,
        uar: Uar,
        copy: C,
    ) -> Result<QueuePair<T, ExclusiveRegister<F, C>>, Error> {
        let (register, page) = uar.exclusive(copy)?;
        self.make(&page, register)
    }

    /// Makes the queue pair on the register of the calling thread's queues.
    ///
    /// # Errors
    /// As [`build_on`](Self::build_on).
    pub fn build_in<F: FlushMode, C: BlockCopy>(
        self,
        uar: &ThreadUar<F, C>,
    ) -> Result<QueuePair<T, rc::Rc<ThreadRegister<F, C>>>, Error> {
        self.make(uar.page(), uar.register())
    }

    /// Makes the queue pair on a register that others have, too, under a lock.
    ///
    /// # Errors
    /// As [`build_on`](Self::build_on).
    pub fn build_shared(self, uar: &SharedUar) -> Result<QueuePair<T, Arc<SharedRegister>>, Error> {
        self.make(uar.page(), uar.register())
    }

    /// How large the rings become.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`].
    fn shape(&self) -> Result<Shape, Error> {
        in_range("gather entries", self.send_sge, 0..=61)?;
        in_range("bytes inline", self.inline, 0..=960)?;
        in_range("requests of a send queue", self.sends, 1..=1 << 15)?;
        in_range("requests of a receive queue", self.receives, 0..=1 << 15)?;
        in_range("scatter entries", self.recv_sge, 1..=128)?;
        in_range("user index", self.user_index, 0..=0xff_ffff)?;
        let inline = (self.inline as usize + size_of::<u32>()).div_ceil(DS_BYTES);
        let payload = if self.inline == 0 { 0 } else { inline };
        // Control segment and operands.
        let ds = 1 + OPERAND_DS + payload.max(self.send_sge as usize);
        in_range("DS of a request", ds as u64, 0..=Ds::MAX.into())?;
        let largest = Ds(ds as u8).wqebbs();
        let window = Wqebbs(self.sends as u16).max(largest);
        let stride = DS_BYTES as u32 * self.recv_sge.next_power_of_two();
        // The send ring begins behind the receive ring, at a WQEBB.
        let least = (WQEBB_BYTES as u32 / stride).max(1);
        let wqes = if self.receives == 0 { 0 } else { self.receives.next_power_of_two().max(least) };
        let shape = Shape { window, largest, wqebbs: u32::from(window.0).next_power_of_two(), wqes, stride };
        self.check(&shape)?;
        Ok(shape)
    }

    /// Whether the device can do it.
    fn check(&self, shape: &Shape) -> Result<(), Error> {
        let general = self.pd.context().general()?;
        match T::SERVICE {
            ServiceType::RC => has("cmd_hca_cap.rc", general.rc())?,
            ServiceType::UC => has("cmd_hca_cap.uc", general.uc())?,
            _ => {}
        }
        let longest = shape.wqebbs.max(shape.wqes).trailing_zeros();
        at_least("cmd_hca_cap.log_max_qp_sz", general.log_max_qp_sz(), longest)?;
        let bytes = shape.largest.0 * WQEBB_BYTES as u16;
        at_least("cmd_hca_cap.max_wqe_sz_sq", general.max_wqe_sz_sq(), bytes)?;
        if shape.wqes != 0 {
            at_least("cmd_hca_cap.max_wqe_sz_rq", general.max_wqe_sz_rq(), shape.stride)?;
        }
        Ok(())
    }

    fn make<R: Register>(&self, page: &DoorbellPage, register: R) -> Result<QueuePair<T, R>, Error> {
        let context = self.pd.context();
        let cqs = [self.send_cq, self.recv_cq];
        for (object, other) in [
            ("doorbell page", page.context()),
            ("memory of rings", self.rings.rings().context()),
            ("completion queue of sends", cqs[0].object().context()),
            ("completion queue of receives", cqs[1].object().context()),
        ] {
            if !context.is(other) {
                return Err(Error::Foreign { object, of: "device" });
            }
        }
        let shape = self.shape()?;
        let ring = self.rings.ring(shape.bytes())?;
        let record = self.rings.record()?;
        let inbox = self.inbox(&shape, &ring, &record, page);
        let (object, out) = self.create(&inbox, cqs)?;
        self.finish(object, out.qpn(), &shape, (ring, record, page), register)
    }

    /// CREATE_QP.
    fn inbox(&self, shape: &Shape, ring: &Space, record: &Record, page: &DoorbellPage) -> CreateQpIn {
        let mut inbox = CreateQpIn::new();
        let (offset, page_offset) = ring.page();
        inbox.set_wq_umem_valid(true).set_wq_umem_id(ring.umem()).set_wq_umem_offset(offset);
        let qpc = inbox.qpc_mut();
        qpc.set_st(T::SERVICE)
            .set_pm_state(PathMigration::MIGRATED)
            .set_pd(self.pd.pdn())
            .set_uar_page(page.id())
            .set_user_index(self.user_index)
            .set_cqn_snd(self.send_cq.cqn())
            .set_cqn_rcv(self.recv_cq.cqn())
            .set_log_sq_size(shape.wqebbs.trailing_zeros() as u8)
            .set_page_offset(page_offset)
            .set_dbr_umem_valid(true)
            .set_dbr_umem_id(record.umem())
            .set_dbr_addr(record.offset());
        if shape.wqes == 0 {
            qpc.set_rq_type(RqType::ZERO_SIZE);
        } else {
            qpc.set_rq_type(RqType::REGULAR)
                .set_log_rq_size(shape.wqes.trailing_zeros() as u8)
                .set_log_rq_stride((shape.stride / DS_BYTES as u32).trailing_zeros() as u8);
        }
        inbox
    }

    /// Makes queue pairs until one has a number of which no completions are left in the completion queues: they would pass for its own.
    fn create(&self, inbox: &CreateQpIn, cqs: [&Cq; 2]) -> Result<(Object, CreateQpOut), Error> {
        // As a rule both are one, and need looking at once.
        let cqs = &cqs[..if cqs[0].is(cqs[1]) { 1 } else { 2 }];
        let mut unfit = Vec::new();
        loop {
            let (object, out) = self.pd.context().create(inbox)?;
            let Some(cq) = cqs.iter().find(|cq| cq.holds(out.qpn())) else {
                return Ok((object, out));
            };
            unfit.push(object);
            if unfit.len() == TRIES {
                let why = format!(
                    "completions of an earlier one with its number {:#x} lie unpolled in completion queue {:#x}",
                    out.qpn().get(),
                    cq.cqn().get()
                );
                return Err(Error::Parts { object: OBJECT, why });
            }
        }
    }

    fn finish<R: Register>(
        &self,
        object: Object,
        qpn: Qpn,
        shape: &Shape,
        (ring, record, page): (Space, Record, &DoorbellPage),
        register: R,
    ) -> Result<QueuePair<T, R>, Error> {
        let bad = |object| move |error: &dyn core::fmt::Display| Error::Parts { object, why: error.to_string() };
        let room = shape.largest.0 as usize * WQEBB_BYTES - (1 + OPERAND_DS) * DS_BYTES;
        let sq_shadow = Shadow::new(shape.wqebbs);
        let sq = SqParts {
            // SAFETY: the send ring lies behind the receive ring, in the same space.
            ring: unsafe { ring.start().add(shape.recv_bytes()) },
            wqebbs: shape.wqebbs,
            dbrec: record.start(),
            qpn,
            max_inline: (room - size_of::<u32>()) as u32,
            max_sge: (room / DS_BYTES) as u32,
            signal_all: false,
            pi: SqPi(0),
            shadow: sq_shadow.start(),
        };
        // SAFETY: the device was told of this ring and record; they, and the shadow, live in the handle, which goes after the queue
        // (`Owned`); the register is in the page that the queue pair was made with; nobody else posts.
        let mut sq =
            unsafe { SendQueue::<T, R>::from_parts(sq, register) }.map_err(|error| bad("send queue")(&error))?;
        sq.set_window(Wqebbs(0)).map_err(|error| bad("send queue")(&error))?;

        let (mut rq, mut rq_shadow) = (None, None);
        if shape.wqes != 0 {
            let shadow = Shadow::new(RqParts::shadow_words(shape.wqes));
            let parts = RqParts {
                buf: ring.start(),
                wqe_cnt: shape.wqes,
                stride: shape.stride,
                dbrec: record.start(),
                qpn,
                head: 0,
                shadow: shadow.start(),
            };
            // SAFETY: as for the send queue.
            let mut queue = unsafe { RecvQueue::from_parts(parts) }.map_err(|error| bad("receive queue")(&error))?;
            queue.set_window(self.receives);
            (rq, rq_shadow) = (Some(queue), Some(shadow));
        }
        let handle = Handle {
            object,
            qpn,
            service: T::SERVICE,
            window: shape.window,
            sq_ring: sq.ring_addr(),
            rq_ring: rq.as_ref().map_or(0, RecvQueue::ring_addr),
            _sq_shadow: sq_shadow,
            _rq_shadow: rq_shadow,
            _ring: ring,
            _record: record,
            _page: page.clone(),
            send_cq: self.send_cq.clone(),
            recv_cq: self.recv_cq.clone(),
            _pd: self.pd.clone(),
        };
        let qp = Qp { handle: Arc::new(handle) };
        Ok(QueuePair {
            // SAFETY: the handle keeps the queue pair; these are the only queues over its rings.
            sq: unsafe { Owned::new(sq, qp.clone(), SendQueue::ring_addr) },
            // SAFETY: as above.
            rq: rq.map(|rq| unsafe { Owned::new(rq, qp.clone(), RecvQueue::ring_addr) }),
            qp,
        })
    }
}
