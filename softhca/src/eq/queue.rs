//! An event queue: where the next EQE goes, when it is full, and when it interrupts.

use crate::context::EqContext;
use crate::event::{EQE_BYTES, Event};
use crate::memory::{DmaFault, HostMemory};
use crate::query::{EqInfo, EqState};
use std::collections::{BTreeSet, VecDeque};

/// Bits of the indices: as many as a doorbell has for the consumer's.
const INDEX_MASK: u32 = 0x00ff_ffff;
/// Where in an EQE the owner bit is: in its last byte, which is written after the others.
const OWNER: usize = EQE_BYTES - 1;

/// Why an event queue takes no further EQEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EqFailure {
    /// An asynchronous event came when it was full.
    Overrun,
    /// Its ring was not reachable.
    Unreachable(DmaFault),
}

/// The fault of a doorbell: its consumer index is past the written EQEs, or further behind them than the ring is long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadConsumer {
    /// EQEs written, 24 bits.
    pub(crate) producer: u32,
}

/// An event queue.
#[derive(Clone, Debug)]
pub(crate) struct Eq {
    /// `None`: the front end takes its events ([`crate::device::Device::next_event`]).
    pub(crate) ring: Option<EqRing>,
    /// CQs whose events go to it.
    pub(crate) users: u32,
}

/// The ring of an event queue.
#[derive(Clone, Debug)]
pub(crate) struct EqRing {
    context: EqContext,
    /// EQEs written, 24 bits.
    producer: u32,
    /// The EQE that the host reads next, as its last doorbell said; 24 bits.
    consumer: u32,
    /// The next EQE interrupts.
    armed: bool,
    failure: Option<EqFailure>,
    /// CQs whose events found it full, in order.
    waiting: VecDeque<u32>,
    /// The CQs of `waiting`, to find one.
    waits: BTreeSet<u32>,
}

impl EqRing {
    pub(crate) fn new(context: EqContext) -> Self {
        Self {
            context,
            producer: 0,
            consumer: 0,
            armed: false,
            failure: None,
            waiting: VecDeque::new(),
            waits: BTreeSet::new(),
        }
    }

    /// The context that it was created from.
    pub(crate) fn context(&self) -> &EqContext {
        &self.context
    }

    /// Whether events of this number go to it.
    pub(super) fn takes(&self, number: u8) -> bool {
        self.context.events[usize::from(number / 64)] >> (number % 64) & 1 != 0
    }

    /// Where it is.
    pub(crate) fn info(&self) -> EqInfo {
        let state = if self.armed { EqState::Armed } else { EqState::Fired };
        let EqRing { context, producer, consumer, .. } = *self;
        EqInfo { context, producer, consumer, state, failed: self.failure.is_some() }
    }

    /// Tells the host of an event. `Ok(true)` if that interrupts it.
    ///
    /// A completion that finds the queue full waits for room, as its CQ could have waited: one event of each CQ at
    /// most, which then stands for all. Drivers make their queues smaller than the CQs are many. An asynchronous event
    /// has nowhere to wait.
    ///
    /// # Errors
    /// Why it takes no more from now on. Said once; later events are lost.
    pub(crate) fn write(&mut self, event: &Event, memory: &dyn HostMemory) -> Result<bool, EqFailure> {
        if self.failure.is_some() {
            return Ok(false);
        }
        match *event {
            Event::Completion { cqn } if self.is_full() || !self.waiting.is_empty() => {
                if self.waits.insert(cqn) {
                    self.waiting.push_back(cqn);
                }
                return Ok(false);
            }
            _ => {}
        }
        if self.is_full() {
            return Err(self.fail(EqFailure::Overrun));
        }
        self.put(event, memory)?;
        Ok(std::mem::take(&mut self.armed))
    }

    /// The host has read all EQEs before `consumer`, and asks for an interrupt at the next one if `arm`: at once if
    /// that is written already. `Ok(true)` if this interrupts it.
    ///
    /// # Errors
    /// [`Err(Ok)`](BadConsumer) for an index that cannot be, which changes nothing; [`Err(Err)`](EqFailure) as
    /// [`Self::write`] does.
    pub(crate) fn ring(
        &mut self,
        consumer: u32,
        arm: bool,
        memory: &dyn HostMemory,
    ) -> Result<bool, Result<BadConsumer, EqFailure>> {
        let unread = self.producer.wrapping_sub(consumer) & INDEX_MASK;
        if unread > 1 << self.context.log_size {
            return Err(Ok(BadConsumer { producer: self.producer }));
        }
        self.consumer = consumer & INDEX_MASK;
        let mut interrupts = false;
        while !self.is_full() && self.failure.is_none() {
            let Some(&cqn) = self.waiting.front() else { break };
            self.put(&Event::Completion { cqn }, memory).map_err(Err)?;
            self.waiting.pop_front();
            self.waits.remove(&cqn);
            interrupts |= std::mem::take(&mut self.armed);
        }
        if arm {
            let is_empty = self.producer == self.consumer;
            self.armed = is_empty;
            interrupts |= !is_empty;
        }
        Ok(interrupts)
    }

    /// The CQ is gone: no event of it is written any more.
    pub(super) fn forget_cq(&mut self, cqn: u32) {
        if self.waits.remove(&cqn) {
            self.waiting.retain(|&waiting| waiting != cqn);
        }
    }

    /// The interrupt that it raises.
    pub(super) fn vector(&self) -> u16 {
        self.context.vector
    }

    /// No room is left.
    fn is_full(&self) -> bool {
        let unread = self.producer.wrapping_sub(self.consumer) & INDEX_MASK;
        unread >= 1 << self.context.log_size
    }

    /// Writes the next EQE. Its owner bit changes with each pass over the ring; the host has set all to 1.
    fn put(&mut self, event: &Event, memory: &dyn HostMemory) -> Result<(), EqFailure> {
        let mut bytes = event.entry();
        bytes[OWNER] = (self.producer >> self.context.log_size & 1) as u8;
        let slot = u64::from(self.producer & ((1 << self.context.log_size) - 1));
        let at = self.context.buf.wrapping_add(slot * EQE_BYTES as u64);
        memory.write_last_byte_last(at, &bytes).map_err(|fault| self.fail(EqFailure::Unreachable(fault)))?;
        self.producer = (self.producer + 1) & INDEX_MASK;
        Ok(())
    }

    fn fail(&mut self, failure: EqFailure) -> EqFailure {
        self.failure = Some(failure);
        self.waiting.clear();
        self.waits.clear();
        failure
    }
}

/// The content of a doorbell: the number of the event queue, and the consumer index.
pub(crate) fn doorbell(word: u32) -> (u32, u32) {
    (word >> 24, word & INDEX_MASK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ArrayMemory;
    use crate::memory::test_memory::BASE;

    #[test]
    fn indices_wrap_at_24_bits() {
        let memory = ArrayMemory::filled(BASE, 4 * 64, 1);
        let mut ring = EqRing::new(EqContext { buf: BASE, log_size: 2, uar: 1, vector: 3, events: [0; 4] });
        (ring.producer, ring.consumer) = (0xff_fffd, 0xff_fffd);
        for (at, owner) in [(0xff_fffd, 1), (0xff_fffe, 1), (0xff_ffff, 1), (0, 0), (1, 0)] {
            assert_eq!(ring.ring(at, true, &memory), Ok(false));
            assert_eq!(ring.write(&Event::CommandDone { slots: at }, &memory), Ok(true));
            let entry = at as usize % 4 * 64;
            assert_eq!(memory.bytes()[entry + 32..entry + 36], at.to_be_bytes());
            assert_eq!(memory.bytes()[entry + 63], owner);
        }
        assert_eq!((ring.info().producer, ring.info().consumer), (2, 1));
    }
}
