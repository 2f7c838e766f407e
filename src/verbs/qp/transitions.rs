//! The calls that change the state of a queue pair (IBTA vol. 1, 10.3.1).

use std::sync::{MutexGuard, PoisonError};

use blueflame_sys as sys;

use crate::db::Register;
use crate::queue::SendQueue;
use crate::queue::owning::Posted;
use crate::transport::Transport;
use crate::types::{Psn, Wqebbs};
use crate::verbs::device::PortState;
use crate::verbs::device::port::port_state;
use crate::verbs::error::{has_port, zero};
use crate::verbs::event::event;
use crate::verbs::qp::pair::OBJECT;
use crate::verbs::state::QpState;
use crate::verbs::{Access, Endpoint, Error, Owned, Path, Qp, QueuePair, VerbsTransport};

impl Qp {
    /// RESET to INIT: receives may be posted from here on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::NoPort`], [`Error::WrongState`], or a failed call.
    #[doc(alias = "ibv_modify_qp")]
    pub fn to_init(&self, path: &Path) -> Result<(), Error> {
        path.check()?;
        self.check_port(path.port.number)?;
        let mut attr = zeroed_attr(sys::IBV_QPS_INIT);
        attr.pkey_index = path.pkey_index;
        attr.port_num = path.port.number;
        // A queue pair has remote rights only, and only those that its transport and device can do; the kernel refuses
        // more.
        let mut possible = Access::REMOTE_WRITE.bits() & !Access::LOCAL_WRITE.bits();
        if self.is_reliable() {
            possible |= Access::REMOTE_READ.bits();
            if self.device_attr().atomics {
                possible |= Access::REMOTE_ATOMIC.bits() & !Access::LOCAL_WRITE.bits();
            }
        }
        attr.qp_access_flags = path.access.bits() & possible;
        let mask = sys::IBV_QP_STATE | sys::IBV_QP_PKEY_INDEX | sys::IBV_QP_PORT | sys::IBV_QP_ACCESS_FLAGS;
        self.modify(&mut attr, mask)
    }

    /// INIT to RTR: the queue pair answers `remote` from here on. The device enables the options that both have
    /// ([`Endpoint::ece`]).
    ///
    /// # Errors
    /// [`Error::PeerWithoutAddress`], [`Error::PathWithoutGid`], [`Error::Mismatch`] if no packet of one side would
    /// reach the other, [`Error::OutOfRange`], [`Error::NoPort`], [`Error::WrongState`], [`Error::PortNotActive`] if
    /// the call failed and the port carries no data, or a failed call.
    pub fn to_rtr(&self, path: &Path, remote: &Endpoint) -> Result<(), Error> {
        path.check()?;
        self.check_port(path.port.number)?;
        let mut attr = zeroed_attr(sys::IBV_QPS_RTR);
        attr.ah_attr = path.address(remote)?;
        attr.path_mtu = path.mtu.min(remote.mtu) as sys::ibv_mtu;
        attr.dest_qp_num = remote.qpn.get();
        attr.rq_psn = remote.psn.get();
        let mut mask =
            sys::IBV_QP_STATE | sys::IBV_QP_AV | sys::IBV_QP_PATH_MTU | sys::IBV_QP_DEST_QPN | sys::IBV_QP_RQ_PSN;
        if self.is_reliable() {
            attr.max_dest_rd_atomic = path.max_dest_rd_atomic.min(self.device_attr().max_qp_rd_atom);
            attr.min_rnr_timer = path.min_rnr_timer;
            mask = mask | sys::IBV_QP_MAX_DEST_RD_ATOMIC | sys::IBV_QP_MIN_RNR_TIMER;
        }
        self.agree(remote.ece)?;
        self.modify(&mut attr, mask).map_err(|error| match error {
            Error::WrongState { .. } => error,
            _ => self.port_down(path.port.number).unwrap_or(error),
        })
    }

    /// The attributes of the transition from RTR to RTS.
    pub(in crate::verbs) fn ready_to_send(
        &self,
        path: &Path,
        psn: Psn,
    ) -> Result<(sys::ibv_qp_attr, sys::ibv_qp_attr_mask), Error> {
        path.check()?;
        let mut attr = zeroed_attr(sys::IBV_QPS_RTS);
        attr.sq_psn = psn.get();
        let mut mask = sys::IBV_QP_STATE | sys::IBV_QP_SQ_PSN;
        if self.is_reliable() {
            attr.timeout = path.timeout;
            attr.retry_cnt = path.retry_cnt;
            attr.rnr_retry = path.rnr_retry;
            attr.max_rd_atomic = path.max_rd_atomic.min(self.device_attr().max_qp_init_rd_atom);
            mask = mask
                | sys::IBV_QP_TIMEOUT
                | sys::IBV_QP_RETRY_CNT
                | sys::IBV_QP_RNR_RETRY
                | sys::IBV_QP_MAX_QP_RD_ATOMIC;
        }
        Ok((attr, mask))
    }

    /// To the error state. All posted requests that have not completed then complete as "flushed", unsignalled ones as
    /// well. Requests posted from here on are flushed likewise. Unsignalled requests that had succeeded before stay
    /// silent. To wait for the end, use [`QueuePair::drain`](crate::verbs::QueuePair::drain), which accounts for all of
    /// them.
    ///
    /// # Errors
    /// [`Error::WrongState`] in RESET, where nothing is posted; or a failed call.
    pub fn to_error(&self) -> Result<(), Error> {
        self.modify(&mut zeroed_attr(sys::IBV_QPS_ERR), sys::IBV_QP_STATE)
    }

    /// The queue pair's state; asks the device.
    ///
    /// # Errors
    /// A failed call.
    #[doc(alias = "ibv_query_qp")]
    pub fn state(&self) -> Result<QpState, Error> {
        let _changing = self.changing();
        self.state_alone()
    }

    /// Whether it is in RESET, as far as libibverbs knows.
    fn is_reset(&self) -> bool {
        let _changing = self.changing();
        // SAFETY: the queue pair is alive, and nobody changes its state now.
        unsafe { (*self.as_raw()).state == sys::IBV_QPS_RESET }
    }

    /// Returns the [state](Self::state), for a caller that keeps others from changing the state.
    pub(in crate::verbs) fn state_alone(&self) -> Result<QpState, Error> {
        let mut attr = zeroed_attr(0);
        let mut init = sys::ibv_qp_init_attr::ZERO;
        let mask = sys::IBV_QP_STATE as libc::c_int;
        // SAFETY: the queue pair is alive, both structures are ours.
        zero("ibv_query_qp", unsafe { sys::ibv_query_qp(self.as_raw(), &raw mut attr, mask, &raw mut init) })?;
        Ok(QpState::from_raw(attr.qp_state))
    }

    /// The error of a port that carries no data.
    fn port_down(&self, number: u8) -> Option<Error> {
        // SAFETY: the queue pair is alive, and its context with it.
        let state = unsafe { port_state((*self.as_raw()).context, number) }.ok()?;
        (state != PortState::Active).then_some(Error::PortNotActive { port: number, state })
    }

    /// Refuses a port that the device does not have: libmlx5 uses its number as an index before any check (rdma-core
    /// `providers/mlx5/verbs.c`, `mlx5_modify_qp`).
    pub(in crate::verbs) fn check_port(&self, number: u8) -> Result<(), Error> {
        has_port(number, self.device_attr().ports)
    }

    /// To RESET. The state stays until the result is dropped, even if other threads have clones of the handle: the
    /// queues must follow before the device uses them again.
    pub(in crate::verbs) fn to_reset(&self) -> Result<MutexGuard<'_, ()>, Error> {
        let changing = self.changing();
        self.modify_alone(&mut zeroed_attr(sys::IBV_QPS_RESET), sys::IBV_QP_STATE)?;
        // It takes receives again.
        self.handle.left_shared_queue(|left, qpn| _ = left.insert(qpn, false));
        Ok(changing)
    }

    /// Keeps others from changing the state, and from asking for it: libibverbs stores what either call says to
    /// `ibv_qp::state`, without a lock (rdma-core `libibverbs/verbs.c`, `ibv_query_qp` and `ibv_modify_qp`).
    pub(in crate::verbs) fn changing(&self) -> MutexGuard<'_, ()> {
        self.handle.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves to the state of `attr`.
    pub(in crate::verbs) fn modify(
        &self,
        attr: &mut sys::ibv_qp_attr,
        mask: sys::ibv_qp_attr_mask,
    ) -> Result<(), Error> {
        let _changing = self.changing();
        self.modify_alone(attr, mask)
    }

    /// [Modifies](Self::modify) the queue pair, for a caller that keeps others from changing the state.
    pub(in crate::verbs) fn modify_alone(
        &self,
        attr: &mut sys::ibv_qp_attr,
        mask: sys::ibv_qp_attr_mask,
    ) -> Result<(), Error> {
        let to = QpState::from_raw(attr.qp_state);
        let call = match to {
            QpState::Reset => "ibv_modify_qp to RESET",
            QpState::Init => "ibv_modify_qp to INIT",
            QpState::ReadyToReceive => "ibv_modify_qp to RTR",
            QpState::ReadyToSend => "ibv_modify_qp to RTS",
            QpState::Error => "ibv_modify_qp to ERR",
            _ => "ibv_modify_qp",
        };
        // SAFETY: the queue pair is alive, the structure is ours.
        let Err(error) = zero(call, unsafe { sys::ibv_modify_qp(self.as_raw(), attr, mask as libc::c_int) }) else {
            event!(DEBUG, "queue pair changed state", qpn = self.qpn().get(), state = %to);
            return Ok(());
        };
        // The kernel answers EINVAL for every cause: query the usual cause.
        let (from, _) = to.reached_from();
        match self.state_alone() {
            Ok(is) if error.errno == libc::EINVAL && !from.is_empty() && !from.contains(&is) => {
                event!(WARN, "queue pair cannot change state", qpn = self.qpn().get(), state = %is, to = %to);
                Err(Error::WrongState { is, to })
            }
            _ => Err(error.into()),
        }
    }
}

impl<T: VerbsTransport, R: Register, B: Posted> QueuePair<T, R, B> {
    /// RTR to RTS: requests may be posted from here on. `psn` is that of [`Qp::endpoint`].
    ///
    /// Until then the send queue refuses them ([`PostError::NotReadyToSend`](crate::queue::PostError::NotReadyToSend)):
    /// the device must not see a doorbell of a queue pair that is not ready. Therefore the handle has no such call.
    ///
    /// Queue pairs of other services than [`Rc`](crate::transport::Rc), [`Uc`](crate::transport::Uc) and
    /// [`XrcInitiator`](crate::transport::XrcInitiator) are not connected:
    ///
    /// ```compile_fail,E0080
    /// use blueflame::transport;
    /// use blueflame::verbs::QueuePair;
    ///
    /// let _ = QueuePair::<transport::Ud>::to_rts as fn(&mut _, &_, _) -> _;
    /// ```
    ///
    /// # Errors
    /// [`Error::MixedUp`] if the send queue is another object's; [`Error::OutOfRange`], [`Error::WrongState`],
    /// [`Error::ResetElsewhere`], or a failed call.
    pub fn to_rts(&mut self, path: &Path, psn: Psn) -> Result<(), Error> {
        const {
            assert!(
                T::CONNECTED,
                "queue pairs of this transport are not connected; `QueuePair::activate` makes those of datagrams, \
                 dynamic connections and raw packets ready"
            );
        }
        self.whole_to_send()?;
        let (mut attr, mask) = self.qp.ready_to_send(path, psn)?;
        self.sq.open_by(&mut attr, mask)
    }

    /// RESET or INIT to RTR to RTS: [`Qp::to_init`] where it was not called before, [`Qp::to_rtr`] and
    /// [`Self::to_rts`]. `local` is the endpoint that the peer was told.
    ///
    /// # Errors
    /// Those of the three.
    #[doc(alias = "ibv_modify_qp")]
    pub fn connect(&mut self, path: &Path, local: &Endpoint, remote: &Endpoint) -> Result<(), Error> {
        self.whole_to_send()?;
        if self.qp.is_reset() {
            self.qp.to_init(path)?;
        }
        self.qp.to_rtr(path, remote)?;
        self.to_rts(path, local.psn)?;
        event!(
            INFO,
            "connected",
            qpn = self.qp.qpn().get(),
            peer = %remote,
            path_mtu = path.mtu.min(remote.mtu).bytes()
        );
        Ok(())
    }
}

impl<T: Transport, R: Register, B: Posted> QueuePair<T, R, B> {
    /// Asks the device for the queue pair's state. If requests may be posted in that state, the send queue takes them
    /// from here on. This is for queue pairs that other code connects, such as `rdma_accept` and `rdma_connect` of
    /// librdmacm.
    ///
    /// # Errors
    /// [`Error::MixedUp`] if the send queue is another object's; [`Error::ResetElsewhere`], or a failed call.
    pub fn refresh(&mut self) -> Result<QpState, Error> {
        self.whole_to_send()?;
        let state = self.qp.state()?;
        if state.takes_sends() {
            self.sq.open()?;
        }
        Ok(state)
    }

    /// Checks that the send queue is here and belongs to the handle: safe code can exchange both.
    pub(in crate::verbs) fn whole_to_send(&self) -> Result<(), Error> {
        if self.sq.is_whole() && self.sq.handle().is(&self.qp) {
            Ok(())
        } else {
            Err(Error::MixedUp { object: "send queue" })
        }
    }
}

impl<T: Transport, R: Register> Owned<SendQueue<T, R>, Qp> {
    /// Moves the queue pair to a state in which requests may be posted.
    pub(in crate::verbs) fn open_by(
        &mut self,
        attr: &mut sys::ibv_qp_attr,
        mask: sys::ibv_qp_attr_mask,
    ) -> Result<(), Error> {
        self.in_step()?;
        self.handle().modify(attr, mask)?;
        self.open()
    }

    /// Opens the queue for as many requests at a time as its builder asked for.
    fn open(&mut self) -> Result<(), Error> {
        self.in_step()?;
        let depth = self.handle().handle.depth;
        if self.depth() == Wqebbs(0) {
            self.set_depth(depth).map_err(|error| Error::Parts { object: OBJECT, why: error.to_string() })?;
        }
        Ok(())
    }

    /// Whether device and queue agree on the next index. If code outside this crate has reset the queue pair, libmlx5
    /// has set the doorbell record to zero.
    fn in_step(&self) -> Result<(), Error> {
        if self.is_recorded() { Ok(()) } else { Err(Error::ResetElsewhere { qpn: self.qpn() }) }
    }
}

/// Attributes that say only which state to move to.
pub(in crate::verbs) fn zeroed_attr(state: sys::ibv_qp_state) -> sys::ibv_qp_attr {
    let mut attr = sys::ibv_qp_attr::ZERO;
    attr.qp_state = state;
    attr
}
