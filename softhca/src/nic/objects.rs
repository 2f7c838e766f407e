//! The objects of the Ethernet side, and which of them name which. One that others name stays.

use super::context::{Dispatch, ReceiveQueueContext, RqtContext, SendQueueContext, TirContext, TisContext};
use super::counters::PortCounters;
use super::filter::AddressFilter;
use super::looped::Looped;
use super::physical::PhysicalCounters;
use super::receive_queue::ReceiveQueue;
use crate::context::QueueState;
use crate::error::{Error, Object};
use crate::ethernet::{FRAME_BYTES, MAX_FRAME};
use crate::resources::Resources;
use crate::steering::{Destination, Direction, Entry, Steering};
use crate::table::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Most objects of a kind.
pub(crate) const MAX_OBJECTS: u32 = 1 << 16;
/// Bytes of a frame check sequence, which frames have on a cable and nowhere here.
const FCS: usize = 4;
/// Bytes of the longest frame with its check sequence.
pub(crate) const MAX_MTU: u16 = (MAX_FRAME + FCS) as u16;
/// Largest RQT.
pub(crate) const MAX_RQT: u16 = 1 << 11;

/// An object with a use count.
#[derive(Debug)]
pub(super) struct Used<T> {
    pub(super) context: T,
    users: u32,
}

/// The Ethernet side of a device.
#[derive(Debug)]
pub(crate) struct Nic {
    /// Send queues by number. Their engines are in the device's table of QPs, whose numbers they share.
    sqs: BTreeMap<u32, SendQueueContext>,
    /// Receive queues by number, from the same range of numbers.
    pub(super) rqs: BTreeMap<u32, ReceiveQueue>,
    /// Those that may have WQEs to flush.
    pub(super) flushing: BTreeSet<u32>,
    /// The queues with a frame that further segments may go into, and when it must be completed.
    pub(super) merging: BTreeSet<(Duration, u32)>,
    tises: Table<Used<TisContext>>,
    pub(super) tirs: Table<Used<TirContext>>,
    pub(super) rqts: Table<Used<RqtContext>>,
    /// Receive queues in all of them.
    listed: u64,
    pub(super) steering: Steering,
    /// Frames that this device has sent come back in, as rules say: those to one station, and those to a group.
    pub(crate) loops_unicast: bool,
    pub(crate) loops_multicast: bool,
    pub(super) looped: Vec<Looped>,
    /// Bytes of the longest frame that is received, with its check sequence: Linux counts the header, a tag and the
    /// sequence into it (`drivers/net/ethernet/mellanox/mlx5/core/en.h`, `MLX5E_SW2HW_MTU`).
    pub(crate) mtu: u16,
    /// Bytes of the longest frame that the port takes, with its check sequence. Other functions could share the port.
    pub(crate) port_mtu: u16,
    /// Which frames the port lets in.
    pub(crate) filter: AddressFilter,
    /// Counters of the frames on the cable, for all functions.
    pub(crate) physical: PhysicalCounters,
    /// Counters of the frames that have arrived and left.
    pub(crate) received: PortCounters,
    pub(crate) transmitted: PortCounters,
}

impl Default for Nic {
    fn default() -> Self {
        Self {
            sqs: BTreeMap::new(),
            rqs: BTreeMap::new(),
            flushing: BTreeSet::new(),
            merging: BTreeSet::new(),
            tises: Table::new(Object::Tis, 1, MAX_OBJECTS),
            tirs: Table::new(Object::Tir, 1, MAX_OBJECTS),
            rqts: Table::new(Object::Rqt, 1, MAX_OBJECTS),
            listed: 0,
            steering: Steering::default(),
            loops_unicast: true,
            loops_multicast: true,
            looped: Vec::new(),
            mtu: MAX_MTU,
            port_mtu: MAX_MTU,
            filter: AddressFilter::default(),
            physical: PhysicalCounters::default(),
            received: PortCounters::default(),
            transmitted: PortCounters::default(),
        }
    }
}

impl Nic {
    /// How many contexts there are. Send queues are not among them: the device counts their engines.
    pub(crate) fn contexts(&self) -> usize {
        self.rqs.len() + self.tises.len() + self.tirs.len() + self.rqts.len() + self.steering.contexts()
    }

    /// How many receive queues all RQTs list.
    pub(crate) fn listed(&self) -> u64 {
        self.listed
    }

    /// Notes a send queue that the device has made.
    pub(crate) fn add_sq(&mut self, sqn: u32, context: SendQueueContext) {
        self.count_tis(context.tis, 1);
        self.sqs.insert(sqn, context);
    }

    /// The context of a send queue.
    pub(crate) fn sq(&self, sqn: u32) -> Result<&SendQueueContext, Error> {
        self.sqs.get(&sqn).ok_or(Error::NoSuch { object: Object::Sq, number: sqn })
    }

    /// Forgets a send queue.
    pub(crate) fn remove_sq(&mut self, sqn: u32) {
        if let Some(context) = self.sqs.remove(&sqn) {
            self.count_tis(context.tis, -1);
        }
    }

    /// Adds a receive queue in the reset state. The objects that it names have been checked.
    pub(crate) fn add_rq(&mut self, rqn: u32, context: ReceiveQueueContext) {
        self.rqs.insert(rqn, ReceiveQueue::new(context));
    }

    /// A receive queue.
    pub(crate) fn rq(&self, rqn: u32) -> Result<&ReceiveQueue, Error> {
        self.rqs.get(&rqn).ok_or(Error::NoSuch { object: Object::Rq, number: rqn })
    }

    fn rq_mut(&mut self, rqn: u32) -> Result<&mut ReceiveQueue, Error> {
        self.rqs.get_mut(&rqn).ok_or(Error::NoSuch { object: Object::Rq, number: rqn })
    }

    /// Moves a receive queue to a state that it can go to; `strips_vlan` and `counter` change if they are given.
    pub(crate) fn modify_rq(
        &mut self,
        rqn: u32,
        to: QueueState,
        strips_vlan: Option<bool>,
        counter: Option<u8>,
    ) -> Result<(), Error> {
        let rq = self.rq_mut(rqn)?;
        let context = rq.context_mut();
        context.strips_vlan = strips_vlan.unwrap_or(context.strips_vlan);
        context.counter = counter.unwrap_or(context.counter);
        if rq.state() != to {
            rq.set_state(to);
            self.flushing.insert(rqn);
        }
        Ok(())
    }

    /// Removes a receive queue that no TIR and no RQT names.
    pub(crate) fn remove_rq(&mut self, rqn: u32) -> Result<ReceiveQueueContext, Error> {
        match self.rq(rqn)?.users {
            0 => {}
            users => return Err(Error::Busy { object: Object::Rq, number: rqn, users }),
        }
        let removed = self.rqs.remove(&rqn).map(|rq| *rq.context());
        removed.ok_or(Error::NoSuch { object: Object::Rq, number: rqn })
    }

    /// A receive queue that could not report a completion stops. `false` if there is no such queue.
    pub(crate) fn strand(&mut self, rqn: u32, resources: &mut Resources) -> bool {
        self.flushing.insert(rqn);
        self.rqs.get_mut(&rqn).map(|rq| rq.strand(rqn, resources)).is_some()
    }

    /// Makes a TIS.
    pub(crate) fn create_tis(&mut self, context: TisContext) -> Result<u32, Error> {
        let number = self.tises.reserve()?;
        self.tises.insert(number, Used { context, users: 0 });
        Ok(number)
    }

    /// A TIS.
    pub(crate) fn tis(&self, number: u32) -> Result<&TisContext, Error> {
        Ok(&self.tises.find(number)?.context)
    }

    /// Has the frames of a TIS leave by a port of the bond; 0: by one that the device chooses.
    pub(crate) fn set_lag_port(&mut self, number: u32, port: u8) -> Result<(), Error> {
        self.tises.find_mut(number)?.context.lag_port = port;
        Ok(())
    }

    /// Removes a TIS that no send queue names.
    pub(crate) fn destroy_tis(&mut self, number: u32) -> Result<TisContext, Error> {
        Ok(self.tises.remove_unused(number, |tis| tis.users)?.context)
    }

    /// Makes an RQT.
    pub(crate) fn create_rqt(&mut self, context: RqtContext) -> Result<u32, Error> {
        self.check_rqt(&context)?;
        let number = self.rqts.reserve()?;
        self.count_list(&context.rqs, 1);
        self.rqts.insert(number, Used { context, users: 0 });
        Ok(number)
    }

    /// Puts other receive queues into an RQT.
    pub(crate) fn modify_rqt(&mut self, number: u32, rqs: Vec<u32>) -> Result<(), Error> {
        let max_size = self.rqts.find(number)?.context.max_size;
        let context = RqtContext { max_size, rqs };
        self.check_rqt(&context)?;
        self.count_list(&context.rqs, 1);
        let before = std::mem::replace(&mut self.rqts.find_mut(number)?.context, context);
        self.count_list(&before.rqs, -1);
        Ok(())
    }

    /// An RQT.
    pub(crate) fn rqt(&self, number: u32) -> Result<&RqtContext, Error> {
        Ok(&self.rqts.find(number)?.context)
    }

    /// Removes an RQT that no TIR names.
    pub(crate) fn destroy_rqt(&mut self, number: u32) -> Result<(), Error> {
        let rqt = self.rqts.remove_unused(number, |rqt| rqt.users)?;
        self.count_list(&rqt.context.rqs, -1);
        Ok(())
    }

    /// Makes a TIR.
    pub(crate) fn create_tir(&mut self, context: TirContext) -> Result<u32, Error> {
        self.check_dispatch(context.dispatch)?;
        let number = self.tirs.reserve()?;
        self.count_dispatch(context.dispatch, 1);
        self.tirs.insert(number, Used { context, users: 0 });
        Ok(number)
    }

    /// Changes a TIR, but not where it finds the queue.
    pub(crate) fn modify_tir(&mut self, number: u32, context: TirContext) -> Result<(), Error> {
        let tir = self.tirs.find_mut(number)?;
        let dispatch = tir.context.dispatch;
        tir.context = TirContext { dispatch, ..context };
        Ok(())
    }

    /// A TIR.
    pub(crate) fn tir(&self, number: u32) -> Result<&TirContext, Error> {
        Ok(&self.tirs.find(number)?.context)
    }

    /// Removes a TIR that no rule names.
    pub(crate) fn destroy_tir(&mut self, number: u32) -> Result<TirContext, Error> {
        let tir = self.tirs.remove_unused(number, |tir| tir.users)?;
        self.count_dispatch(tir.context.dispatch, -1);
        Ok(tir.context)
    }

    /// Flow tables. Rules go through [`Self::set_entry`] and [`Self::remove_entry`].
    pub(crate) fn steering(&mut self) -> &mut Steering {
        &mut self.steering
    }

    /// Puts a rule into a flow table, in place of the one at its index.
    pub(crate) fn set_entry(
        &mut self,
        direction: Direction,
        table: u32,
        index: u32,
        entry: Entry,
    ) -> Result<(), Error> {
        let destinations = entry.destinations.clone();
        for &to in &destinations {
            if let Destination::Tir(tirn) = to {
                self.tirs.find(tirn)?;
            }
        }
        let before = self.steering.set_entry(direction, table, index, entry)?;
        self.count_tirs(&destinations, 1);
        if let Some(before) = before {
            self.count_tirs(&before.destinations, -1);
        }
        Ok(())
    }

    /// Removes a rule.
    pub(crate) fn remove_entry(&mut self, direction: Direction, table: u32, index: u32) -> Result<(), Error> {
        let removed = self.steering.remove_entry(direction, table, index)?;
        self.count_tirs(&removed.destinations, -1);
        Ok(())
    }

    /// Whether a frame of `bytes` bytes is received.
    pub(super) fn takes(&self, bytes: usize) -> bool {
        FRAME_BYTES.contains(&(bytes as u64)) && bytes + FCS <= usize::from(self.mtu.min(self.port_mtu))
    }

    /// The transport domain of a send queue, if it has one.
    pub(super) fn transport_domain_of(&self, sqn: u32) -> Option<u32> {
        Some(self.tis_of(sqn)?.transport_domain)
    }

    /// The TIS of a send queue.
    pub(super) fn tis_of(&self, sqn: u32) -> Option<&TisContext> {
        Some(&self.tises.get(self.sqs.get(&sqn)?.tis?)?.context)
    }

    fn check_rqt(&self, context: &RqtContext) -> Result<(), Error> {
        let RqtContext { max_size, rqs } = context;
        for (what, value, ok, permitted) in [
            (
                "most queues of the RQT",
                u64::from(*max_size),
                *max_size <= MAX_RQT,
                "up to the device's log_max_rqt_size",
            ),
            ("queues of the RQT", rqs.len() as u64, rqs.len() <= usize::from(*max_size), "up to rqt_max_size"),
            ("queues of the RQT", rqs.len() as u64, rqs.len().is_power_of_two(), "powers of two"),
        ] {
            if !ok {
                return Err(Error::BadValue { what, value, permitted });
            }
        }
        rqs.iter().try_for_each(|&rqn| self.rq(rqn).map(drop))
    }

    fn check_dispatch(&self, dispatch: Dispatch) -> Result<(), Error> {
        match dispatch {
            Dispatch::Direct(rqn) => self.rq(rqn).map(drop),
            Dispatch::Table(rqtn) => self.rqts.find(rqtn).map(drop),
        }
    }

    fn count_dispatch(&mut self, dispatch: Dispatch, users: i32) {
        match dispatch {
            Dispatch::Direct(rqn) => self.count_rqs(&[rqn], users),
            Dispatch::Table(rqtn) => count(self.rqts.get_mut(rqtn).map(|rqt| &mut rqt.users), users),
        }
    }

    /// Counts the queues of an RQT.
    fn count_list(&mut self, rqs: &[u32], users: i32) {
        self.listed = self.listed.saturating_add_signed(i64::from(users) * rqs.len() as i64);
        self.count_rqs(rqs, users);
    }

    fn count_rqs(&mut self, rqs: &[u32], users: i32) {
        for rqn in rqs {
            count(self.rqs.get_mut(rqn).map(|rq| &mut rq.users), users);
        }
    }

    fn count_tis(&mut self, tis: Option<u32>, users: i32) {
        count(tis.and_then(|tis| self.tises.get_mut(tis)).map(|tis| &mut tis.users), users);
    }

    fn count_tirs(&mut self, destinations: &[Destination], users: i32) {
        for &to in destinations {
            if let Destination::Tir(tirn) = to {
                count(self.tirs.get_mut(tirn).map(|tir| &mut tir.users), users);
            }
        }
    }
}

fn count(counter: Option<&mut u32>, users: i32) {
    if let Some(counter) = counter {
        *counter = counter.saturating_add_signed(users);
    }
}
