//! A device's send and receive queues of Ethernet frames, and its Q counters.

use super::Device;
use super::check;
use crate::config::LinkLayer;
use crate::context::{QpContext, QueueState, Transport};
use crate::error::Error;
use crate::event::Event;
use crate::memory::HostMemory;
use crate::nic::{Nic, ReceiveQueueContext, SendQueueContext};
use crate::qp::Qp;
use crate::resources::{QCounter, Rate};

/// Result of a query of a send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SendQueueInfo {
    pub(crate) state: QueueState,
    /// WQEBBs that the device has fetched, and that doorbells have announced, 16 bits.
    pub(crate) fetched: u16,
    pub(crate) announced: u16,
}

impl Device {
    /// The Ethernet side, for work that concerns it alone.
    pub(crate) fn nic(&mut self) -> &mut Nic {
        &mut self.nic
    }

    /// Completes the frames that further TCP segments might go into, for a command after which these would go elsewhere.
    /// A script's stall does not keep them: their segments have arrived before it.
    pub(crate) fn end_merging(&mut self) {
        self.nic.end_merging(&mut self.resources, None);
    }

    /// UDP ports that are VXLAN's, besides the usual one.
    pub(crate) fn vxlan_ports(&mut self) -> &mut Vec<u16> {
        &mut self.resources.vxlan_ports
    }

    /// Sets a rate, to which send queues can refer by its index, or removes it.
    ///
    /// # Errors
    /// The device has no such index or rate.
    pub fn set_rate(&mut self, index: u16, rate: Option<Rate>) -> Result<(), Error> {
        self.check_ethernet()?;
        self.resources.rates.set(index, rate)
    }

    /// Refuses the index of a rate that is not set; 0 stands for no limit.
    pub(crate) fn check_rate(&self, index: u16) -> Result<(), Error> {
        self.resources.rates.check(index)
    }

    /// Has a send queue, or a QP for raw packets, send frames at the rate of this index; 0: without a limit.
    ///
    /// # Errors
    /// There is no such queue, or no such rate.
    pub fn pace(&mut self, number: u32, index: u16) -> Result<(), Error> {
        self.resources.rates.check(index)?;
        let engine = self.qps.find_mut(number)?;
        if engine.context().transport != Transport::RawPacket {
            return Err(Error::Unsupported("a rate of a QP that sends no Ethernet frames"));
        }
        engine.set_rate(index);
        Ok(())
    }

    /// Makes a send queue in the reset state; returns its number. Send queues and QPs share one range of numbers.
    pub(crate) fn create_sq(&mut self, context: SendQueueContext) -> Result<u32, Error> {
        self.check_ethernet()?;
        let memory = &*self.resources.memory;
        check::sq(&context.ring, &self.config.limits, memory)?;
        memory.load_be32(context.dbr.wrapping_add(4))?;
        self.resources.pds.find(context.pd)?;
        self.resources.cqs.find(context.cqn)?;
        if let Some(tis) = context.tis {
            self.nic.tis(tis)?;
        }
        self.doorbells.pages.find_mut(context.uar)?.begin_anew();
        let sqn = self.qps.reserve()?;
        let engine = QpContext {
            pd: context.pd,
            send_cqn: context.cqn,
            recv_cqn: context.cqn,
            sq: Some(context.ring),
            dbr: context.dbr,
            uar: context.uar,
            uidx: context.uidx,
            timestamps: context.timestamps,
            cross_channel: context.cross_channel,
            static_ring: context.static_ring,
            ..QpContext::new(Transport::RawPacket)
        };
        self.count_qp(&engine, |users| *users += 1);
        self.resources.slaves.begin(sqn, &engine);
        self.qps.insert(sqn, Qp::send_queue(sqn, engine, context.flushes, context.tis.is_some()));
        self.nic.add_sq(sqn, context);
        Ok(sqn)
    }

    /// The state of a send queue, and how far it is.
    pub(crate) fn query_sq(&self, sqn: u32) -> Result<SendQueueInfo, Error> {
        self.nic.sq(sqn)?;
        let engine = self.qps.find(sqn)?;
        let info = engine.query(&*self.resources.memory);
        Ok(SendQueueInfo {
            state: engine.queue_state(),
            fetched: info.hw_sq_wqebb_counter,
            announced: info.sw_sq_wqebb_counter,
        })
    }

    /// Moves a send queue from state `from` to `to`.
    pub(crate) fn modify_sq(&mut self, sqn: u32, from: QueueState, to: QueueState) -> Result<(), Error> {
        self.nic.sq(sqn)?;
        let engine = self.qps.find_mut(sqn)?;
        check_way(engine.queue_state(), from, to)?;
        engine.set_queue_state(to);
        self.doorbells.follow_qp(sqn, engine, &*self.resources.memory);
        if to == QueueState::Reset {
            self.resources.slaves.begin(sqn, engine.context());
        }
        Ok(())
    }

    /// Removes a send queue, in any state.
    pub(crate) fn destroy_sq(&mut self, sqn: u32) -> Result<(), Error> {
        self.nic.sq(sqn)?;
        self.nic.remove_sq(sqn);
        self.remove_qp(sqn);
        Ok(())
    }

    /// Makes a receive queue in the reset state; returns its number. Receive queues and QPs share one range of numbers.
    pub(crate) fn create_rq(&mut self, context: ReceiveQueueContext) -> Result<u32, Error> {
        self.check_ethernet()?;
        let memory = &*self.resources.memory;
        check::rq(&context.ring, &self.config.limits, memory)?;
        memory.load_be32(context.dbr)?;
        // Domain 0 has no keys: no buffer of such a queue can be reached.
        if context.pd != 0 {
            self.resources.pds.find(context.pd)?;
        }
        self.resources.cqs.find(context.cqn)?;
        if context.counter != 0 {
            self.resources.q_counters.find(context.counter.into())?;
        }
        let rqn = self.qps.hold()?;
        self.count_rq(&context, 1);
        self.nic.add_rq(rqn, context);
        Ok(rqn)
    }

    /// WQEs that a receive queue has consumed, and that are posted, 16 bits.
    pub(crate) fn rq_counters(&self, rqn: u32) -> Result<(u16, u16), Error> {
        Ok(self.nic.rq(rqn)?.counters(&self.resources))
    }

    /// Moves a receive queue from state `from` to `to`; VLAN stripping and the Q counter change if they are given.
    pub(crate) fn modify_rq(
        &mut self,
        rqn: u32,
        (from, to): (QueueState, QueueState),
        strips_vlan: Option<bool>,
        counter: Option<u8>,
    ) -> Result<(), Error> {
        let rq = self.nic.rq(rqn)?;
        check_way(rq.state(), from, to)?;
        let before = rq.context().counter;
        if let Some(counter) = counter.filter(|&counter| counter != 0) {
            self.resources.q_counters.find(counter.into())?;
        }
        self.end_merging();
        self.nic.modify_rq(rqn, to, strips_vlan, counter)?;
        if let Some(counter) = counter {
            self.count_q_counter(counter, 1);
            self.count_q_counter(before, -1);
        }
        Ok(())
    }

    /// Removes a receive queue that no TIR and no RQT names, in any state.
    pub(crate) fn destroy_rq(&mut self, rqn: u32) -> Result<(), Error> {
        let context = self.nic.remove_rq(rqn)?;
        self.count_rq(&context, -1);
        self.qps.release(rqn);
        self.resources.eqs.forget(|event| matches!(*event, Event::RqError { rqn: n } if n == rqn));
        Ok(())
    }

    /// Makes a Q counter.
    pub(crate) fn alloc_q_counter(&mut self) -> Result<u8, Error> {
        let number = self.resources.q_counters.reserve()?;
        self.resources.q_counters.insert(number, QCounter::default());
        Ok(number as u8)
    }

    /// Refuses a Q counter that is not there.
    pub(crate) fn find_q_counter(&self, number: u8) -> Result<(), Error> {
        self.resources.q_counters.find(number.into()).map(drop)
    }

    /// Returns the counts of a Q counter, and sets them to 0 if `clear` is set.
    pub(crate) fn query_q_counter(&mut self, number: u8, clear: bool) -> Result<QCounter, Error> {
        let counter = self.resources.q_counters.find_mut(number.into())?;
        let read = *counter;
        if clear {
            *counter = QCounter { users: read.users, ..QCounter::default() };
        }
        Ok(read)
    }

    /// Removes a Q counter that no queue counts with.
    pub(crate) fn dealloc_q_counter(&mut self, number: u8) -> Result<(), Error> {
        self.resources.q_counters.remove_unused(number.into(), |counter| counter.users).map(drop)
    }

    fn check_ethernet(&self) -> Result<(), Error> {
        let ethernet = self.config.ports.first().is_some_and(|port| port.link == LinkLayer::Ethernet);
        if ethernet { Ok(()) } else { Err(Error::Unsupported("queues of Ethernet frames on an InfiniBand port")) }
    }

    fn count_rq(&mut self, context: &ReceiveQueueContext, users: i32) {
        let pd = self.resources.pds.get_mut(context.pd).map(|pd| &mut pd.users);
        let cq = self.resources.cqs.get_mut(context.cqn).map(|cq| &mut cq.users);
        for counter in [pd, cq].into_iter().flatten() {
            *counter = counter.saturating_add_signed(users);
        }
        self.count_q_counter(context.counter, users);
    }

    pub(super) fn count_q_counter(&mut self, number: u8, users: i32) {
        if let Some(counter) = self.resources.q_counters.get_mut(number.into()) {
            counter.users = counter.users.saturating_add_signed(users);
        }
    }
}

/// Whether a queue in state `found`, which the driver believes to be in `from`, can go to `to`.
fn check_way(found: QueueState, from: QueueState, to: QueueState) -> Result<(), Error> {
    if found != from || !found.may_become(to) {
        return Err(Error::BadQueueTransition { found, from, to });
    }
    Ok(())
}
