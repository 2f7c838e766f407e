//! Making queue pairs with queues over them.

use core::marker::PhantomData;
use std::rc;
use std::sync::Arc;

use blueflame::arch::copy::{BlockCopy, DefaultCopy};
use blueflame::db::{
    ExclusiveRegister, FlushMode, Managed, RecordlessRegister, Register, SharedRegister, ThreadRegister, TwoFences,
};
use blueflame::queue::owning::Posted;
use blueflame::queue::{AnyCq, Owned, RecvQueue, SendQueue};
use blueflame::transport::Transport;
use blueflame::types::{Wqebbs, WrId};
use blueflame::wqe::SupportedOn;
use blueflame::wqe::operations::Memcpy;

use super::super::cq::Cq;
use super::super::pd::Pd;
use super::super::uar::{DoorbellPage, SharedUar, ThreadUar, Uar, UarKind, recordless};
use super::pair::QueuePair;
use super::plan::{Made, Plan};
use super::transport::service;
use crate::error::Error;
use crate::memory::ThreadRings;
use crate::object::receives::shared::SharedReceives;

/// The register of a thread's queues.
type Threads<F, C> = rc::Rc<ThreadRegister<F, C>>;

/// Builder of a queue pair.
#[derive(Clone, Copy, Debug)]
pub struct QpBuilder<'a, T, B = WrId> {
    plan: Plan<'a>,
    of: PhantomData<(T, B)>,
}

impl Pd {
    /// Begins a queue pair of transport `T`. Its rings and record lie in `rings`. Its sends complete on `send_cq`, its
    /// receives on `recv_cq`.
    ///
    /// A lent completion borrows its queue, so no queue pair can be made there meanwhile:
    ///
    /// ```compile_fail,E0502
    /// use blueflame::transport::Rc;
    /// use blueflame_devx::Error;
    /// use blueflame_devx::memory::ThreadRings;
    /// use blueflame_devx::object::{OwnedCq, Pd};
    ///
    /// fn hold(pd: &Pd, rings: &ThreadRings, cq: &mut OwnedCq) -> Result<(), Error> {
    ///     let held = cq.poll();
    ///     let pair = pd.queue_pair::<Rc>(rings, cq, cq).build()?;
    ///     drop((held, pair));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// The transports are [`Rc`](blueflame::transport::Rc) and [`Uc`](blueflame::transport::Uc), also
    /// [`Signed`](blueflame::transport::Signed). The call does not compile for other transports:
    ///
    /// ```compile_fail,E0080
    /// use blueflame::transport::Ud;
    /// use blueflame_devx::object::Pd;
    ///
    /// let _ = Pd::queue_pair::<Ud> as fn(_, _, _, _) -> _;
    /// ```
    #[must_use]
    pub fn queue_pair<'a, T: Transport>(
        &'a self,
        rings: &'a ThreadRings,
        send_cq: &'a dyn AnyCq<Cq>,
        recv_cq: &'a dyn AnyCq<Cq>,
    ) -> QpBuilder<'a, T> {
        QpBuilder {
            plan: Plan { signed: T::SIGNS, ..Plan::new(self, rings, send_cq, recv_cq, const { service::<T>() }) },
            of: PhantomData,
        }
    }
}

impl<'a, T: Transport, B: Posted> QpBuilder<'a, T, B> {
    /// Requests that may be outstanding on the send queue at a time, if each fits one WQEBB (64 bytes: with RC, 28
    /// bytes inline or two gather entries). A larger request counts once for each of its WQEBBs. Default 128.
    ///
    /// The ring has that many WQEBBs, rounded up to a power of two, and no more. The rings of verbs are at least four
    /// times as long.
    #[must_use]
    pub fn sends(mut self, requests: u32) -> Self {
        self.plan.sends = requests;
        self
    }

    /// Requests that may be posted to the receive queue at a time. Default 128.
    ///
    /// The compiler infers `C` from the way you post: buffers, which the queue owns until they complete
    /// ([`RecvQueue::post`]), or memory that you vouch for ([`RecvQueue::post_unchecked`], with a [`WrId`]).
    #[must_use]
    pub fn receives<C: Posted>(mut self, requests: u32) -> QpBuilder<'a, T, C> {
        self.plan.receives = requests;
        QpBuilder { plan: self.plan, of: PhantomData }
    }

    /// The queue pair receives no messages: it has no receive queue.
    #[must_use]
    pub fn no_receives(mut self) -> Self {
        self.plan.receives = 0;
        self
    }

    /// Gather entries of a request to send. Default 1.
    #[must_use]
    pub fn send_sge(mut self, entries: u32) -> Self {
        self.plan.send_sge = entries;
        self
    }

    /// Scatter entries of a receive. Default 1.
    #[must_use]
    pub fn recv_sge(mut self, entries: u32) -> Self {
        self.plan.recv_sge = entries;
        self
    }

    /// Bytes that a request may carry inline. Default 0, which still allows as many as fit the space of the gather
    /// entries.
    #[must_use]
    pub fn inline(mut self, bytes: u32) -> Self {
        self.plan.inline = bytes;
        self
    }

    /// Takes receives from `shared`; the queue pair has no receive queue of its own.
    #[must_use]
    pub fn shared_receives(mut self, shared: &'a SharedReceives) -> Self {
        self.plan.shared = Some(shared);
        self
    }

    /// The number by which completions identify their queue (`qpc.user_index`), 24 bits.
    #[must_use]
    pub fn user_index(mut self, index: u32) -> Self {
        self.plan.user_index = index;
        self
    }

    /// Has the device copy memory when requests ask for it ([`memcpy`](blueflame::wqe::memcpy)). Off by default. If the
    /// device makes no copies, building the queue pair fails ([`Context::max_memcpy`](crate::Context::max_memcpy)).
    /// Some devices copy only for queue pairs that were made for it.
    #[must_use]
    pub fn memcpy(mut self, on: bool) -> Self
    where
        Memcpy: SupportedOn<T>,
    {
        self.plan.memcpy = on;
        self
    }

    /// Its send queue takes requests about other queues: to wait for completions, and to start queues (`qpc.cd_master`;
    /// [`wait_for_completion`](blueflame::wqe::wait_for_completion),
    /// [`SendQueue::enable`](blueflame::SendQueue::enable)).
    #[must_use]
    pub fn cross_channel(mut self) -> Self {
        self.plan.master = true;
        self
    }

    /// It receives only into buffers that a request of another queue pair has [enabled](blueflame::RecvQueue::enable)
    /// (`qpc.cd_slave_receive`).
    #[must_use]
    pub fn managed_receives(mut self) -> Self {
        self.plan.managed_receives = true;
        self
    }

    /// The most completions of the send queue that can wait in its CQ.
    #[must_use]
    pub fn send_completions(&self) -> u32 {
        self.plan.depth().0.into()
    }

    /// The most completions of the receive queue that can wait in its CQ.
    #[must_use]
    pub fn recv_completions(&self) -> u32 {
        if self.plan.shared.is_some() { 0 } else { self.plan.receives }
    }

    /// Makes the queue pair with a doorbell register of its own.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::Foreign`] if a completion queue is another handle's,
    /// [`Error::CqRoom`], [`Error::Receivers`], [`Error::StaleCompletions`], [`Error::ForeignDevice`],
    /// [`Error::Command`], or no memory or register for it.
    pub fn build(self) -> Result<QueuePair<T, ExclusiveRegister, B>, Error> {
        let uar = Uar::new(self.plan.pd.context())?;
        self.build_on(uar)
    }

    /// [Builds](Self::build) the queue pair on this register.
    ///
    /// # Errors
    /// As `build`; [`Error::ForeignDevice`].
    pub fn build_on(self, uar: Uar) -> Result<QueuePair<T, ExclusiveRegister, B>, Error> {
        self.build_with::<TwoFences, _>(uar, DefaultCopy::default())
    }

    /// [Builds](Self::build_on) the queue pair on this register, with another flush mode of its doorbell, and another
    /// [routine](blueflame::arch::copy) that copies WQEs to BlueFlame. A table in [`FlushMode`] says which mode to use
    /// when.
    ///
    /// # Errors
    /// As `build_on`.
    pub fn build_with<F: FlushMode, C: BlockCopy>(
        self,
        uar: Uar,
        copy: C,
    ) -> Result<QueuePair<T, ExclusiveRegister<F, C>, B>, Error> {
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
    ) -> Result<QueuePair<T, Threads<F, C>, B>, Error> {
        self.make(uar.page(), uar.register())
    }

    /// Makes the queue pair on a register that other queues share, under a lock.
    ///
    /// # Errors
    /// As [`build_on`](Self::build_on).
    pub fn build_shared(self, uar: &SharedUar) -> Result<QueuePair<T, Arc<SharedRegister>, B>, Error> {
        self.make(uar.page(), uar.register())
    }

    /// Makes the queue pair without a doorbell. Posted requests begin when a request of another queue pair starts them
    /// (`qpc.cd_slave_send`; [`SendQueue::enable`](blueflame::SendQueue::enable)).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_managed(mut self) -> Result<QueuePair<T, Managed, B>, Error> {
        self.plan.managed_sends = true;
        let uar = Uar::new(self.plan.pd.context())?;
        self.make(uar.page(), Managed)
    }

    /// Makes the queue pair with a send queue that has no doorbell record: each post is the WQE and a doorbell of 8
    /// bytes, at a register of its own (`qpc.send_dbr_mode`). For ConnectX-8 and later
    /// ([`Context::recordless_sends`](crate::Context::recordless_sends)).
    ///
    /// The page is [uncached](crate::object::UarKind::NonCachedDedicated), or combines writes where there is no such
    /// page.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_recordless(mut self) -> Result<QueuePair<T, RecordlessRegister, B>, Error> {
        let context = self.plan.pd.context();
        // First: a device without the mode may have no such page either.
        context.recordless_sends()?;
        self.plan.recordless = true;
        let uar = Uar::with_kind(context, UarKind::NonCachedDedicated)
            .or_else(|_| Uar::with_kind(context, UarKind::BlueFlame))?;
        let (register, page) = recordless(uar)?;
        self.make(&page, register)
    }

    fn make<R: Register>(&self, page: &DoorbellPage, register: R) -> Result<QueuePair<T, R, B>, Error> {
        let bad = |object| move |error: &dyn core::fmt::Display| Error::Parts { object, why: error.to_string() };
        let Made { qp, sq, rq } = self.plan.make(page)?;
        // SAFETY: the device was told of this ring and record. They, and the shadow, live in the handle, which goes
        // after the queue (`Owned`). The register is in the page that the queue pair was made with. Nothing else posts.
        // Nothing is left of an earlier queue pair with its number: `make` has looked, and the plan borrows the
        // completion queues.
        let mut sq =
            unsafe { SendQueue::<T, R>::from_parts(sq, register) }.map_err(|error| bad("send queue")(&error))?;
        sq.limit_depth(qp.handle.depth);
        sq.set_depth(Wqebbs(0)).map_err(|error| bad("send queue")(&error))?;
        // SAFETY: as for the send queue.
        let mut rq = unsafe { RecvQueue::from_parts(rq) }.map_err(|error| bad("receive queue")(&error))?;
        rq.limit_depth(qp.handle.receives);
        // SAFETY: the handle keeps the queue pair; these are the only queues over its rings.
        let (sq, rq) = unsafe {
            (Owned::new(sq, qp.clone(), SendQueue::ring_addr), Owned::new(rq, qp.clone(), RecvQueue::ring_addr))
        };
        Ok(QueuePair { qp, sq, rq })
    }
}
