//! Which event queue an event goes to, and the interrupts that follow.

use super::queue::{BadConsumer, Eq, EqFailure, EqRing};
use super::{MAX_EQS, VECTORS};
use crate::complaint::{Complaint, Complaints};
use crate::context::EqContext;
use crate::error::{Error, Object};
use crate::event::Event;
use crate::memory::HostMemory;
use crate::table::Table;
use std::collections::VecDeque;

/// The event queues of a device, and the events that none of them takes.
#[derive(Debug)]
pub(crate) struct EventQueues {
    table: Table<Eq>,
    /// Events for [`crate::device::Device::next_event`], in order.
    unclaimed: VecDeque<Event>,
    /// Interrupts that have not been taken yet: a bit for each vector.
    interrupts: u32,
}

const _: () = assert!(VECTORS as u32 <= u32::BITS);

impl EventQueues {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self { table: Table::new(Object::Eq, 1, MAX_EQS), unclaimed: VecDeque::new(), interrupts: 0 }
    }

    /// Creates one in memory; returns its number.
    pub(crate) fn create(&mut self, context: EqContext) -> Result<u32, Error> {
        let eqn = self.table.reserve()?;
        self.table.insert(eqn, Eq { ring: Some(EqRing::new(context)), users: 0 });
        Ok(eqn)
    }

    /// Notes an event queue of this number, whose events the front end takes.
    pub(crate) fn declare(&mut self, eqn: u32) -> Result<(), Error> {
        if !self.table.is_free(eqn) {
            return Err(Error::BadValue { what: "EQ", value: eqn.into(), permitted: "free numbers, 1 to 255" });
        }
        self.table.insert(eqn, Eq { ring: None, users: 0 });
        Ok(())
    }

    /// The queue that takes events of a number which is in `events`, if there is one.
    pub(crate) fn taking(&self, events: &[u64; 4]) -> Option<u32> {
        let shares = |ring: &EqRing| ring.context().events.iter().zip(events).any(|(one, other)| one & other != 0);
        self.rings().find(|(_, ring)| shares(ring)).map(|(eqn, _)| eqn)
    }

    /// Removes one in memory, which no CQ uses. EQEs stay in its ring.
    pub(crate) fn destroy(&mut self, eqn: u32) -> Result<EqContext, Error> {
        let context = *self.find(eqn)?.context();
        self.table.remove_unused(eqn, |eq| eq.users)?;
        Ok(context)
    }

    /// The ring of a queue in memory.
    pub(crate) fn find(&self, eqn: u32) -> Result<&EqRing, Error> {
        self.ring_of(eqn).ok_or(Error::NoSuch { object: Object::Eq, number: eqn })
    }

    /// Whether there is one, in memory or not.
    pub(crate) fn contains(&self, eqn: u32) -> bool {
        self.table.get(eqn).is_some()
    }

    /// Whether events of this queue are written to memory.
    pub(crate) fn is_in_memory(&self, eqn: u32) -> bool {
        self.ring_of(eqn).is_some()
    }

    /// Says that a CQ uses it. Until [`Self::release`] it stays.
    pub(crate) fn hold(&mut self, eqn: u32) -> Result<(), Error> {
        self.table.find_mut(eqn)?.users += 1;
        Ok(())
    }

    /// Ends the effect of [`Self::hold`], for a CQ that no longer sends it events.
    pub(crate) fn release(&mut self, eqn: u32, cqn: u32) {
        if let Some(eq) = self.table.get_mut(eqn) {
            eq.users -= 1;
            if let Some(ring) = &mut eq.ring {
                ring.forget_cq(cqn);
            }
        }
    }

    /// How many are in memory.
    pub(crate) fn len(&self) -> usize {
        self.rings().count()
    }

    /// Tells of an event. `of_cq` is the queue of the CQ that a completion is of.
    pub(crate) fn raise(
        &mut self,
        event: Event,
        of_cq: Option<u32>,
        memory: &dyn HostMemory,
        complaints: &mut Complaints,
    ) {
        let number = event.number();
        let eqn = match event {
            Event::Completion { .. } => of_cq,
            _ => self.rings().find(|(_, ring)| ring.takes(number)).map(|(eqn, _)| eqn),
        };
        let Some((eqn, ring)) = eqn.and_then(|eqn| Some((eqn, self.table.get_mut(eqn)?.ring.as_mut()?))) else {
            return self.unclaimed.push_back(event);
        };
        match ring.write(&event, memory) {
            Ok(interrupts) => self.interrupts |= u32::from(interrupts) << ring.vector(),
            Err(failure) => complaints.add(complaint(eqn, ring, failure)),
        }
    }

    /// A doorbell on UAR page `uar`: see [`EqRing::ring`].
    pub(crate) fn ring(
        &mut self,
        uar: u32,
        word: u32,
        arm: bool,
        memory: &dyn HostMemory,
        complaints: &mut Complaints,
    ) {
        let (eqn, consumer) = super::queue::doorbell(word);
        let Some(ring) = self.table.get_mut(eqn).and_then(|eq| eq.ring.as_mut()) else {
            return complaints.add(Complaint::NoSuchEq { uar, eqn });
        };
        let expected = ring.context().uar;
        if expected != uar {
            return complaints.add(Complaint::WrongUar { uar, number: eqn, expected });
        }
        match ring.ring(consumer, arm, memory) {
            Ok(interrupts) => self.interrupts |= u32::from(interrupts) << ring.vector(),
            Err(Ok(BadConsumer { producer })) => complaints.add(Complaint::BadEqConsumer { eqn, consumer, producer }),
            Err(Err(failure)) => complaints.add(complaint(eqn, ring, failure)),
        }
    }

    /// The next event that no queue in memory takes.
    pub(crate) fn next_unclaimed(&mut self) -> Option<Event> {
        self.unclaimed.pop_front()
    }

    /// Drops events of an object that is gone, if they have not been taken.
    pub(crate) fn forget(&mut self, is_of_it: impl Fn(&Event) -> bool) {
        self.unclaimed.retain(|event| !is_of_it(event));
    }

    /// The next interrupt: its vector.
    pub(crate) fn next_interrupt(&mut self) -> Option<u16> {
        let vector = self.interrupts.trailing_zeros();
        (vector < u32::BITS).then(|| {
            self.interrupts &= !(1 << vector);
            vector as u16
        })
    }

    fn rings(&self) -> impl Iterator<Item = (u32, &EqRing)> {
        self.table.iter().filter_map(|(eqn, eq)| Some((eqn, eq.ring.as_ref()?)))
    }

    fn ring_of(&self, eqn: u32) -> Option<&EqRing> {
        self.table.get(eqn)?.ring.as_ref()
    }
}

/// The complaint about a queue that takes no further events.
fn complaint(eqn: u32, ring: &EqRing, failure: EqFailure) -> Complaint {
    match failure {
        EqFailure::Overrun => Complaint::EqOverrun { eqn, eqes: 1 << ring.context().log_size },
        EqFailure::Unreachable(fault) => Complaint::Unreachable { number: eqn, fault },
    }
}
