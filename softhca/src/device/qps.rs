//! A device's QPs.

use super::Device;
use super::check::{self, value};
use crate::config::{Gid, LinkLayer, PortConfig};
use crate::context::{CrossChannel, DciStreams, QpAttr, QpContext, ReceiveSource, TimestampFormat, Transport};
use crate::error::{Error, Object};
use crate::event::Event;
use crate::memory::HostMemory;
use crate::qp::{Qp, QpInfo};
use crate::wire::Route;
use crate::wire::loan::Returned;

impl Device {
    /// Creates a QP in the reset state; returns its number.
    ///
    /// # Errors
    /// [`Error::NoSuch`] for a PD, CQ, SRQ or UAR that does not exist; [`Error::BadValue`]; [`Error::Dma`] if rings or
    /// record are not mapped; [`Error::Exhausted`]; [`Error::Unsupported`] for raw packets if not all ports are
    /// Ethernet, and for an initiator of dynamic connections or XRC that would receive, or a target that would send.
    pub fn create_qp(&mut self, context: QpContext) -> Result<u32, Error> {
        let ethernet = self.config.ports.iter().all(|port| port.link == LinkLayer::Ethernet);
        if context.transport == Transport::RawPacket && !ethernet {
            return Err(Error::Unsupported("raw packets on InfiniBand ports"));
        }
        if context.transport == Transport::Dc && context.rq != ReceiveSource::None {
            return Err(Error::Unsupported("receives of a DCI: its targets receive"));
        }
        if context.timestamps == TimestampFormat::RealTime && !self.config.has_real_time() {
            return Err(Error::Unsupported("real time in timestamps"));
        }
        if context.timestamps == TimestampFormat::FreeRunning && !self.config.has_free_running() {
            return Err(Error::Unsupported("timestamps of a clock that runs freely"));
        }
        if context.streams.is_some() && context.transport != Transport::Dc {
            return Err(Error::Unsupported("streams of a QP that is no DCI"));
        }
        if let Some(DciStreams { log_channels, log_errored }) = context.streams {
            value("log2 of streams", log_channels.into(), log_channels <= DciStreams::MAX_LOG_CHANNELS, "0 to 6")?;
            value("log2 of failed streams", log_errored.into(), log_errored <= DciStreams::MAX_LOG_ERRORED, "0 to 6")?;
        }
        if context.transport == Transport::RegUmr && context.rq != ReceiveSource::None {
            return Err(Error::Unsupported("receives of a queue that changes memory keys"));
        }
        let CrossChannel { master, slave_send, slave_receive } = context.cross_channel;
        if (master || slave_send) && context.sq.is_none() {
            return Err(Error::Unsupported("cross-channel requests of a QP without a send queue"));
        }
        if slave_receive && !matches!(context.rq, ReceiveSource::Own(_)) {
            return Err(Error::Unsupported(
                "receives that another queue starts, of a QP without a receive queue of its own",
            ));
        }
        let is_target = matches!(context.rq, ReceiveSource::Domain { .. });
        if is_target && (context.transport != Transport::Xrc || context.sq.is_some()) {
            return Err(Error::Unsupported("XRC domains of QPs that are not targets of XRC alone"));
        }
        if context.transport == Transport::Xrc && !is_target && context.rq != ReceiveSource::None {
            return Err(Error::Unsupported("receives of an XRC QP that is no target"));
        }
        let (limits, memory) = (&self.config.limits, &*self.resources.memory);
        if let Some(sq) = &context.sq {
            check::sq(sq, limits, memory)?;
        }
        if let ReceiveSource::Own(rq) = &context.rq {
            check::rq(rq, limits, memory)?;
        }
        for bytes in [context.scatter_to_cqe_req, context.scatter_to_cqe_res] {
            value("scatter-to-CQE bytes", bytes.into(), matches!(bytes, 0 | 32 | 64), "0, 32 or 64")?;
        }
        match context.rq {
            ReceiveSource::Domain { xrcd } => self.check_xrcd(xrcd)?,
            _ => self.check_parts(&context)?,
        }
        if !is_target {
            self.doorbells.check_recordless(&context)?;
            self.doorbells.pages.find_mut(context.uar)?.begin_anew();
        }
        let context = QpContext { ece: self.config.accepted_ece(context.ece), ..context };
        let qpn = self.qps.reserve()?;
        self.doorbells.follow_new_qp(&context);
        self.count_qp(&context, |users| *users += 1);
        self.resources.slaves.begin(qpn, &context);
        self.resources.script.forget(qpn);
        self.qps.insert(qpn, Qp::new(qpn, context));
        if context.privileges.is_qp1 {
            self.qp1s.insert(qpn);
            self.announce();
        }
        Ok(qpn)
    }

    /// Refuses a QP, which is no target of XRC, of which a part does not exist.
    fn check_parts(&self, context: &QpContext) -> Result<(), Error> {
        let memory = &*self.resources.memory;
        memory.load_be32(context.dbr)?;
        memory.load_be32(context.dbr.wrapping_add(4))?;
        if let Some(pd) = context.domain() {
            self.resources.pds.find(pd)?;
        }
        self.resources.cqs.find(context.send_cqn)?;
        self.resources.cqs.find(context.recv_cqn)?;
        self.doorbells.check_queue(context.uar)?;
        if let ReceiveSource::Shared { srqn } = context.rq {
            self.check_plain_srq(srqn)?;
            self.check_tags(srqn, context.transport)?;
        }
        Ok(())
    }

    /// Returns the context that a QP was created from.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn qp_context(&self, qpn: u32) -> Result<&QpContext, Error> {
        Ok(self.find_qp(qpn)?.context())
    }

    /// Changes the state or attributes of a QP.
    ///
    /// # Errors
    /// [`Error::NoSuch`], [`Error::BadTransition`], [`Error::MissingAttr`], [`Error::UnexpectedAttr`],
    /// [`Error::BadValue`]; [`Error::Busy`] if its peer is in the middle of a request.
    pub fn modify_qp(&mut self, qpn: u32, attr: &QpAttr) -> Result<(), Error> {
        let before = self.find_qp(qpn)?.counter();
        self.take_back(qpn)?;
        let ece = attr.ece.map(|wanted| self.config.accepted_ece(wanted));
        let qp = self.qps.find_mut(qpn)?;
        qp.modify(&mut self.resources, &QpAttr { ece, ..*attr })?;
        self.doorbells.follow_qp(qpn, qp, &*self.resources.memory);
        // Reset ends the counting.
        let after = qp.counter();
        if after != before {
            self.count_q_counter(before, -1);
        }
        Ok(())
    }

    /// Has a stream of a DCI work again, of which a request has failed.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::BadValue`] for a stream that has not failed.
    pub fn reset_dci_stream(&mut self, qpn: u32, stream: u16) -> Result<(), Error> {
        self.find_qp(qpn)?;
        let had_failed = self.qps.find_mut(qpn)?.reset_stream(stream);
        value("stream", stream.into(), had_failed, "one that has failed")
    }

    /// Lets messages of a QP have at most `bytes` bytes, in both directions, until it is reset.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub(crate) fn set_qp_max_message(&mut self, qpn: u32, bytes: u64) -> Result<(), Error> {
        self.find_qp(qpn)?;
        self.take_back(qpn)?;
        self.qps.find_mut(qpn)?.set_max_message(bytes);
        Ok(())
    }

    /// Lets a QP copy memory or not, until it is reset.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub(crate) fn let_qp_copy(&mut self, qpn: u32, copies: bool) -> Result<(), Error> {
        self.find_qp(qpn)?;
        self.qps.find_mut(qpn)?.let_copy(copies);
        Ok(())
    }

    /// Makes Q counter `counter` count the events of a QP, until the QP is reset; 0 for none.
    ///
    /// # Errors
    /// [`Error::NoSuch`] QP or counter.
    pub(crate) fn set_qp_counter(&mut self, qpn: u32, counter: u8) -> Result<(), Error> {
        let before = self.find_qp(qpn)?.counter();
        if counter != 0 {
            self.resources.q_counters.find(counter.into())?;
        }
        self.take_back(qpn)?;
        self.count_q_counter(counter, 1);
        self.count_q_counter(before, -1);
        self.qps.find_mut(qpn)?.set_counter(counter);
        Ok(())
    }

    /// State and attributes of a QP.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn query_qp(&self, qpn: u32) -> Result<QpInfo, Error> {
        Ok(self.info(qpn, self.find_qp(qpn)?))
    }

    /// State and attributes of all QPs, by number.
    pub fn queue_pairs(&self) -> impl Iterator<Item = (u32, QpInfo)> {
        self.qps.iter().map(|(number, qp)| (number, self.info(number, qp)))
    }

    /// State and attributes of a QP. Of a responder on loan, the peer knows how far it is.
    fn info(&self, number: u32, qp: &Qp) -> QpInfo {
        let mut info = qp.query(&*self.resources.memory);
        if let Some(Returned { psn, done }) = self.wire.on_loan(number).filter(|_| qp.is_lent()) {
            info.attr.rq_psn = Some(psn);
            info.rmsn = info.rmsn.wrapping_add(done.writes.wrapping_add(done.reads)) & 0x00ff_ffff;
        }
        info
    }

    /// Destroys a QP, in any state. Its outstanding WQEs never complete.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] if its peer is in the middle of a request.
    pub fn destroy_qp(&mut self, qpn: u32) -> Result<(), Error> {
        self.find_qp(qpn)?;
        self.take_back(qpn)?;
        self.remove_qp(qpn);
        Ok(())
    }

    /// The QP that is QP 1 of the port to which a packet came.
    pub(super) fn qp1_of(&self, route: &Route) -> Option<u32> {
        let is_to = |port: &PortConfig| match route.dlid {
            0 => route.grh.as_ref().is_some_and(|grh| port.gids.contains(&Gid { raw: grh.dgid, kind: grh.kind })),
            dlid => dlid == port.lid,
        };
        let number = self.resources.ports.iter().position(is_to)? + 1;
        let bound = |qpn: &&u32| self.qps.get(**qpn).is_some_and(|qp| qp.port().map(usize::from) == Some(number));
        self.qp1s.iter().find(bound).copied()
    }

    /// The QP with this number, which is not that of a send queue.
    pub(super) fn find_qp(&self, qpn: u32) -> Result<&Qp, Error> {
        let missing = Error::NoSuch { object: Object::Qp, number: qpn };
        self.qps.get(qpn).filter(|qp| !qp.is_send_queue()).ok_or(missing)
    }

    /// Removes a QP or a send queue, with its events.
    pub(super) fn remove_qp(&mut self, qpn: u32) {
        self.resources.slaves.end(qpn);
        self.leave_groups(qpn);
        if let Some(mut qp) = self.qps.remove(qpn) {
            qp.leave_target(&mut self.resources);
            self.count_qp(qp.context(), |users| *users -= 1);
            self.doorbells.free_given_back(qp.context().uar);
            self.doorbells.forget_qp(qpn, qp.context());
            self.count_q_counter(qp.counter(), -1);
        }
        self.resources.eqs.forget(|e| matches!(*e, Event::Qp { qpn: n, .. } | Event::SqError { sqn: n } if n == qpn));
        if self.qp1s.remove(&qpn) {
            self.announce();
        }
    }

    /// Applies `count` to the use counts of everything that a QP refers to.
    pub(super) fn count_qp(&mut self, c: &QpContext, count: impl Fn(&mut u32)) {
        if let ReceiveSource::Domain { xrcd } = c.rq {
            self.xrcds.get_mut(xrcd).map(|domain| &mut domain.users).into_iter().for_each(count);
            return;
        }
        let srq = match c.rq {
            ReceiveSource::Shared { srqn } => self.resources.srqs.get_mut(srqn).map(|s| &mut s.users),
            _ => None,
        };
        let pd = c.domain().and_then(|pd| self.resources.pds.get_mut(pd)).map(|p| &mut p.users);
        let uar = self.doorbells.pages.get_mut(c.uar).map(|u| &mut u.users);
        [srq, pd, uar].into_iter().flatten().for_each(&count);
        for cqn in [c.send_cqn, c.recv_cqn] {
            self.resources.cqs.get_mut(cqn).map(|cq| &mut cq.users).into_iter().for_each(&count);
        }
    }
}
