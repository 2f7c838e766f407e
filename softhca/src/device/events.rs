//! Events: the event queues that drivers make in their memory, and the events that go to none of them.

use super::Device;
use super::check;
use crate::context::EqContext;
use crate::error::Error;
use crate::event::Event;
use crate::query::EqInfo;

impl Device {
    /// Creates an event queue; returns its number. The driver has set the owner bit of all EQEs. Events of the numbers
    /// in its context go to it from now on, and those of CQs that name it ([`Self::set_cq_eq`]).
    ///
    /// # Errors
    /// [`Error::NoSuch`] UAR; [`Error::BadValue`], also if another queue takes events of one of the numbers;
    /// [`Error::Dma`] if the ring is not mapped; [`Error::Exhausted`].
    pub fn create_eq(&mut self, context: EqContext) -> Result<u32, Error> {
        check::eq(&context, &*self.resources.memory)?;
        if let Some(eqn) = self.resources.eqs.taking(&context.events) {
            let permitted = "events that no other queue takes";
            return Err(Error::BadValue { what: "events of EQ", value: eqn.into(), permitted });
        }
        self.doorbells.check_queue(context.uar)?;
        let eqn = self.resources.eqs.create(context)?;
        self.doorbells.pages.find_mut(context.uar)?.users += 1;
        Ok(eqn)
    }

    /// Destroys an event queue. Its entries stay in the ring.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] while CQs name it.
    pub fn destroy_eq(&mut self, eqn: u32) -> Result<(), Error> {
        let context = self.resources.eqs.destroy(eqn)?;
        self.release_uar(context.uar);
        Ok(())
    }

    /// Returns the context and the position of an event queue.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn query_eq(&self, eqn: u32) -> Result<EqInfo, Error> {
        Ok(self.resources.eqs.find(eqn)?.info())
    }

    /// Declares an event queue with this number. CQs can name it, and the caller takes its events
    /// ([`Self::next_event`]).
    ///
    /// # Errors
    /// [`Error::BadValue`] if the number is not free.
    pub fn declare_eq(&mut self, eqn: u32) -> Result<(), Error> {
        self.resources.eqs.declare(eqn)
    }

    /// Whether there is an event queue of this number.
    #[must_use]
    pub fn has_eq(&self, eqn: u32) -> bool {
        self.resources.eqs.contains(eqn)
    }

    /// Has the events of a CQ go to an event queue. Those that are in another one already stay there.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn set_cq_eq(&mut self, cqn: u32, eqn: u32) -> Result<(), Error> {
        let cq = self.resources.cqs.find_mut(cqn)?;
        self.resources.eqs.hold(eqn)?;
        if let Some(before) = cq.eqn.replace(eqn) {
            self.resources.eqs.release(before, cqn);
        }
        Ok(())
    }

    /// Whether there is an event queue in memory for events of this number ([`Event::number`]).
    #[must_use]
    pub fn takes_event(&self, number: u8) -> bool {
        let mut events = [0; 4];
        events[usize::from(number / 64)] = 1 << (number % 64);
        self.resources.eqs.taking(&events).is_some()
    }

    /// Writes a CQE to a CQ.
    #[cfg(test)]
    pub(crate) fn complete(&mut self, cqn: u32, completion: &crate::cq::Completion) {
        self.resources.complete(cqn, crate::context::TimestampFormat::FreeRunning, completion.clone());
    }

    /// Tells of an event that is none of the data path's, such as [`Event::CommandDone`].
    pub fn raise(&mut self, event: Event) {
        self.resources.raise(event);
    }

    /// The next event that goes to no event queue in memory, in the order they were raised.
    pub fn next_event(&mut self) -> Option<Event> {
        self.resources.eqs.next_unclaimed()
    }

    /// The next interrupt that an event queue raises: its vector, below [`crate::eq::VECTORS`]. Several interrupts of
    /// one vector that have not been taken count as one.
    pub fn next_interrupt(&mut self) -> Option<u16> {
        self.resources.eqs.next_interrupt()
    }
}
