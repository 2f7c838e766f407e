//! A CQ: where the next CQE goes, overrun, arming.

use super::completion::Completion;
use super::cqe::Encoded;
use super::moderation::{Moderation, Times};
use crate::context::CqContext;
use crate::error::Error;
use crate::event::Event;
use crate::memory::{DmaFault, HostMemory};
use crate::query::{CqArming, CqFault, CqInfo};
use std::time::Duration;

/// Bits of indices in doorbell records, arm words and the device's own counter.
const INDEX_MASK: u32 = 0x00ff_ffff;
/// Arm word bit 24: wake for solicited completions only (`MLX5_CQ_DB_REQ_NOT_SOL`).
const ARM_SOLICITED: u32 = 1 << 24;
/// Arm word bits that must be 0: 31:30 and 27:25. Bits 29:28 are the arm sequence number.
const ARM_RESERVED: u32 = 0xce00_0000;
/// An arm word that no driver writes: what the device puts into the record to see a first arm whose value is 0.
const ARM_POISON: u32 = u32::MAX;

/// CQEs that were written, and not consumed, when an arming arrived.
#[derive(Clone, Copy, Debug)]
struct Missed {
    /// Index after the last CQE that counts.
    end: u32,
    /// When the event is due.
    due: Duration,
    /// An event for them was raised before: there is another one only if the host has not consumed them when it is due.
    is_repeated: bool,
}

/// Why a CQ takes no more CQEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CqFailure {
    /// The ring is full: the host has not consumed enough CQEs.
    Overrun {
        /// Consumer index in the doorbell record.
        consumer: u32,
        /// CQEs written, 24 bits.
        producer: u32,
    },
    /// Its ring or record was not reachable.
    Unreachable(DmaFault),
}

impl CqFailure {
    fn fault(self) -> CqFault {
        match self {
            Self::Overrun { .. } => CqFault::Overrun,
            Self::Unreachable(_) => CqFault::Unreachable,
        }
    }
}

/// A CQ.
#[derive(Clone, Debug)]
pub(crate) struct Cq {
    context: CqContext,
    /// CQEs written, 24 bits.
    producer: u32,
    /// Index after the last CQE that counts as solicited, if any was written.
    solicited: Option<u32>,
    armed: CqArming,
    missed: Option<Missed>,
    /// CQEs written when the last event was raised, 24 bits.
    notified: u32,
    moderation: Moderation,
    times: Times,
    /// When CQEs that the arming asks for wait for more no longer, if there are any.
    held_until: Option<Duration>,
    /// Arm word last seen in the record.
    arm_word: u32,
    /// It takes no more CQEs.
    failure: Option<CqFailure>,
    /// The event queue that its events go to.
    pub(crate) eqn: Option<u32>,
    /// Queues that use it.
    pub(crate) users: u32,
}

impl Cq {
    pub(crate) fn new(context: CqContext) -> Self {
        Self {
            context,
            producer: 0,
            solicited: None,
            armed: CqArming::Fired,
            missed: None,
            notified: 0,
            moderation: Moderation::default(),
            times: Times::default(),
            held_until: None,
            arm_word: ARM_POISON,
            failure: None,
            eqn: None,
            users: 0,
        }
    }

    /// What it was created from.
    #[must_use]
    pub(crate) fn context(&self) -> &CqContext {
        &self.context
    }

    /// Why it takes no more CQEs, if so.
    #[must_use]
    pub(crate) fn failure(&self) -> Option<CqFailure> {
        self.failure
    }

    /// Where it is. The consumer index is 0 if its record cannot be read.
    pub(crate) fn info(&self, memory: &dyn HostMemory) -> CqInfo {
        CqInfo {
            context: self.context,
            producer: self.producer,
            consumer: memory.load_be32(self.context.dbr).map_or(0, |consumer| consumer & INDEX_MASK),
            last_solicited: self.solicited.unwrap_or(0),
            last_notified: self.notified,
            arming: self.armed,
            fault: self.failure.map(CqFailure::fault),
        }
    }

    pub(crate) fn set_ignore_overrun(&mut self, ignore: bool) {
        self.context.ignore_overrun = ignore;
    }

    /// Writes the CQE of `c`. Returns the event that follows, if any.
    pub(crate) fn write(&mut self, cqn: u32, c: &Completion, memory: &dyn HostMemory, now: Duration) -> Option<Event> {
        if self.failure.is_some() {
            return None;
        }
        let entries = 1u32 << self.context.log_size;
        if !self.context.ignore_overrun {
            match memory.load_be32(self.context.dbr) {
                // A consumer index ahead of the producer counts as full, too: modulo 2^24 it is as far behind as
                // possible.
                Ok(consumer) if self.ahead_of(consumer) >= entries => {
                    return Some(self.fail(cqn, CqFailure::Overrun { consumer, producer: self.producer }));
                }
                Ok(_) => {}
                Err(fault) => return Some(self.fail(cqn, CqFailure::Unreachable(fault))),
            }
        }
        let cqe = Encoded::new(c, self.context.cqe_bytes, self.owner(), now);
        if let Err(fault) = self.put(&cqe, memory) {
            return Some(self.fail(cqn, CqFailure::Unreachable(fault)));
        }
        if c.is_solicited() {
            self.solicited = Some(self.producer);
        }
        let wakes = match self.armed {
            CqArming::Fired => false,
            CqArming::Solicited => c.is_solicited(),
            CqArming::Any => true,
        };
        self.times.cqe = now;
        if !wakes {
            return None;
        }
        let due = self.moderation.due(self.since_event(), self.times);
        self.held_until = Some(due);
        (now >= due).then(|| self.fire(cqn, now))
    }

    /// How events are held back from now on.
    pub(crate) fn set_moderation(&mut self, moderation: Moderation) {
        self.moderation = moderation;
    }

    /// The arm word has reached the device.
    ///
    /// The word names the consumer index up to which the host has polled. CQEs from there on raise the event, also one
    /// that is written already: the host may have polled its last CQE just before the device wrote this one (Linux
    /// `drivers/net/ethernet/mellanox/mlx5/core/en_txrx.c` arms after its last poll and does not look again). That event is due at
    /// once. If an event was raised for that CQE before, another one is due at `repeat` only, see [`Self::due_event`]. `None`: at
    /// once and in any case, as hardware does it, unless events are held back.
    pub(crate) fn arm(&mut self, word: u32, repeat: Option<Duration>) -> Result<(), u32> {
        if word & ARM_RESERVED != 0 {
            return Err(word);
        }
        if self.failure.is_some() {
            return Ok(());
        }
        let consumer = word & INDEX_MASK;
        let unseen =
            |index: u32| (1..=1 << self.context.log_size).contains(&(index.wrapping_sub(consumer) & INDEX_MASK));
        // Who has asked for the next CQE gets that event, also if the same queue is then asked for solicited ones (IBTA vol. 1,
        // 11.4.2.2; Linux' `rxe_req_notify_cq`).
        let end = if word & ARM_SOLICITED != 0 && self.armed != CqArming::Any {
            self.armed = CqArming::Solicited;
            self.solicited
        } else {
            self.armed = CqArming::Any;
            Some(self.producer)
        };
        let notified = self.notified;
        let is_news = |end: u32| (1..=INDEX_MASK / 2).contains(&(end.wrapping_sub(notified) & INDEX_MASK));
        self.missed = end.filter(|&end| unseen(end)).map(|end| match repeat {
            Some(due) if !is_news(end) => Missed { end, due, is_repeated: true },
            Some(_) => Missed { end, due: Duration::ZERO, is_repeated: false },
            None => Missed { end, due: self.moderation.due(self.since_event(), self.times), is_repeated: false },
        });
        Ok(())
    }

    /// The event that waits for time to pass, if it is due: for CQEs that might have become more ([`Moderation`]), or for those
    /// that were written before the CQ was armed.
    ///
    /// CQEs that an event has told of, and that the host has consumed meanwhile, raise no second one: a program that takes an
    /// event, arms and then polls would be woken for nothing. CQEs of which it was not told do raise theirs, whoever consumes
    /// them: UCX's timer thread polls, and leaves what it finds to the thread that sleeps until the event.
    pub(crate) fn due_event(&mut self, cqn: u32, memory: &dyn HostMemory, now: Duration) -> Option<Event> {
        if self.held_until.is_some_and(|due| now >= due) {
            return Some(self.fire(cqn, now));
        }
        let Missed { end, due, is_repeated } = self.missed?;
        let consumed = |consumer: u32| consumer.wrapping_sub(end) & INDEX_MASK < 1 << self.context.log_size;
        if is_repeated && memory.load_be32(self.context.dbr).is_ok_and(consumed) {
            self.missed = None;
            return None;
        }
        (now >= due).then(|| self.fire(cqn, now))
    }

    /// When the event for CQEs that are written already is due.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.missed.map(|missed| missed.due).into_iter().chain(self.held_until).min()
    }

    /// Writes the CQE that ends the old ring, and goes on in the ring of `context`.
    pub(crate) fn resize(&mut self, context: CqContext, memory: &dyn HostMemory, now: Duration) -> Result<(), Error> {
        let waiting = self.ahead_of(memory.load_be32(context.dbr)?);
        let room = 1u32 << self.context.log_size.min(context.log_size);
        if self.failure.is_some() || waiting >= room {
            let permitted = "a CQ not in error, and fewer than either ring holds";
            return Err(Error::BadValue { what: "CQEs not consumed", value: waiting.into(), permitted });
        }
        self.put(&Encoded::resize(self.context.cqe_bytes, self.owner(), now), memory)?;
        self.context = context;
        Ok(())
    }

    /// Puts a value that no driver writes into the record's arm word. So [`Self::poll_arm_word`] sees the first arm
    /// word even if it is 0.
    pub(crate) fn poison_arm_word(&mut self, memory: &dyn HostMemory) -> Result<(), DmaFault> {
        self.arm_word = ARM_POISON;
        memory.write(self.context.dbr.wrapping_add(4), &ARM_POISON.to_be_bytes())
    }

    /// Looks at the record's arm word. Arms the CQ if the word has changed.
    pub(crate) fn poll_arm_word(&mut self, memory: &dyn HostMemory, due: Duration) -> Result<(), u32> {
        match memory.load_be32(self.context.dbr.wrapping_add(4)) {
            Ok(word) if word != self.arm_word => {
                self.arm_word = word;
                self.arm(word, Some(due))
            }
            _ => Ok(()),
        }
    }

    /// Owner bit of the CQE to be written next: it changes with each pass over the ring.
    fn owner(&self) -> bool {
        self.producer >> self.context.log_size & 1 != 0
    }

    /// Writes the next CQE.
    fn put(&mut self, cqe: &Encoded, memory: &dyn HostMemory) -> Result<(), DmaFault> {
        let slot = match self.context.collapsed {
            true => 0,
            false => u64::from(self.producer & ((1 << self.context.log_size) - 1)),
        };
        let at = self.context.buf.wrapping_add(slot * u64::from(self.context.cqe_bytes));
        memory.write_last_byte_last(at, cqe.as_bytes())?;
        self.producer = (self.producer + 1) & INDEX_MASK;
        Ok(())
    }

    /// CQEs written that the host has not consumed, modulo 2^24.
    fn ahead_of(&self, consumer: u32) -> u32 {
        self.producer.wrapping_sub(consumer) & INDEX_MASK
    }

    /// CQEs written since the last event.
    fn since_event(&self) -> u32 {
        self.producer.wrapping_sub(self.notified) & INDEX_MASK
    }

    fn fire(&mut self, cqn: u32, now: Duration) -> Event {
        self.armed = CqArming::Fired;
        self.missed = None;
        self.held_until = None;
        self.times.event = Some(now);
        self.notified = self.producer;
        Event::Completion { cqn }
    }

    fn fail(&mut self, cqn: u32, failure: CqFailure) -> Event {
        self.failure = Some(failure);
        Event::CqError { cqn, fault: failure.fault() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::completion::Syndrome;
    use super::*;
    use crate::context::PeriodStart;
    use crate::memory::test_memory::{BASE, TestMemory};

    const CQN: u32 = 7;
    /// Place of the doorbell record in the tests' memory, after a ring of 4 CQEs.
    const RECORD: usize = 256;

    fn setup(ignore_overrun: bool) -> (Cq, TestMemory) {
        let memory = TestMemory::filled(1024, 0xa5);
        memory.put(RECORD, &[0; 8]);
        let dbr = BASE + RECORD as u64;
        let context =
            CqContext { buf: BASE, log_size: 2, cqe_bytes: 64, dbr, uar: 1, ignore_overrun, collapsed: false };
        (Cq::new(context), memory)
    }

    fn completion(wqe_counter: u16) -> Completion {
        Completion::Request { qpn: 1, uidx: 0, opcode: 8, wqe_counter, byte_cnt: 0, inline: None }
    }

    fn error() -> Completion {
        let syndrome = Syndrome::WrFlush;
        Completion::Error { qpn: 1, uidx: 0, requester: true, opcode: 8, wqe_counter: 0, syndrome, vendor_syndrome: 0 }
    }

    fn write(cq: &mut Cq, memory: &TestMemory, c: &Completion) -> Option<Event> {
        cq.write(CQN, c, memory, Duration::ZERO)
    }

    fn arm(cq: &mut Cq, memory: &TestMemory, word: u32) -> Result<Option<Event>, u32> {
        cq.arm(word, Some(Duration::ZERO))?;
        Ok(cq.due_event(CQN, memory, Duration::ZERO))
    }

    fn poll(cq: &mut Cq, memory: &TestMemory) -> Result<Option<Event>, u32> {
        cq.poll_arm_word(memory, Duration::ZERO)?;
        Ok(cq.due_event(CQN, memory, Duration::ZERO))
    }

    fn consume(memory: &TestMemory, index: u32) {
        memory.put(RECORD, &index.to_be_bytes());
    }

    #[test]
    fn the_owner_bit_changes_with_each_pass() {
        let (mut cq, memory) = setup(false);
        for i in 0..12u16 {
            assert_eq!(write(&mut cq, &memory, &completion(i)), None);
            consume(&memory, u32::from(i) + 1);
            let at = usize::from(i % 4) * 64;
            assert_eq!(memory.bytes()[at + 60..at + 64], [0, i as u8, 0, u8::from(i / 4 % 2 == 1)]);
        }
        assert!(memory.bytes()[RECORD + 8..].iter().all(|&b| b == 0xa5), "nothing past the ring is touched");
    }

    #[test]
    fn the_producer_wraps_at_24_bits() {
        let (mut cq, memory) = setup(false);
        cq.producer = 0x00ff_fffe;
        consume(&memory, 0x00ff_fffc);
        assert_eq!(write(&mut cq, &memory, &completion(0)), None);
        assert_eq!(write(&mut cq, &memory, &completion(0)), None);
        assert_eq!(cq.producer, 0);
        assert_eq!(write(&mut cq, &memory, &completion(0)), Some(Event::CqError { cqn: CQN, fault: CqFault::Overrun }));
        consume(&memory, 0x00ff_fffd);
        assert_eq!(write(&mut cq, &memory, &completion(0)), None, "an overrun is final");
    }

    #[test]
    fn overrun_is_an_error_unless_ignored() {
        let (mut cq, memory) = setup(false);
        for i in 0..4 {
            assert_eq!(write(&mut cq, &memory, &completion(i)), None);
        }
        let before = memory.bytes().clone();
        assert_eq!(write(&mut cq, &memory, &completion(4)), Some(Event::CqError { cqn: CQN, fault: CqFault::Overrun }));
        assert_eq!(write(&mut cq, &memory, &completion(5)), None, "reported once");
        assert_eq!(*memory.bytes(), before);
        assert_eq!(cq.failure(), Some(CqFailure::Overrun { consumer: 0, producer: 4 }));

        let (mut cq, memory) = setup(true);
        for i in 0..5 {
            assert_eq!(write(&mut cq, &memory, &completion(i)), None);
        }
        assert_eq!(memory.bytes()[61..64], [4, 0, 1]);
    }

    #[test]
    fn a_collapsed_queue_holds_the_latest() {
        let (mut cq, memory) = setup(true);
        cq.context.collapsed = true;
        for i in 0..5 {
            assert_eq!(write(&mut cq, &memory, &completion(i)), None);
        }
        assert_eq!(memory.bytes()[61..64], [4, 0, 1], "the owner bit changes as in a ring");
        assert_eq!(memory.bytes()[64..128], [0xa5; 64]);
    }

    #[test]
    fn an_arm_gives_one_event_for_the_next_cqe() {
        let (mut cq, memory) = setup(true);
        assert_eq!(write(&mut cq, &memory, &completion(0)), None, "not armed");
        assert_eq!(arm(&mut cq, &memory, 1), Ok(None), "the CQE before index 1 was consumed");
        assert_eq!(write(&mut cq, &memory, &completion(1)), Some(Event::Completion { cqn: CQN }));
        assert_eq!(write(&mut cq, &memory, &completion(2)), None, "disarmed");
    }

    fn write_at(cq: &mut Cq, memory: &TestMemory, now: u64) -> Option<Event> {
        cq.write(CQN, &completion(0), memory, Duration::from_secs(now))
    }

    fn due_at(cq: &mut Cq, memory: &TestMemory, now: u64) -> Option<Event> {
        cq.due_event(CQN, memory, Duration::from_secs(now))
    }

    #[test]
    fn events_are_as_far_apart_as_the_period_says() {
        let (mut cq, memory) = setup(true);
        let fired = Some(Event::Completion { cqn: CQN });
        let moderation = Moderation { count: 3, period: Duration::from_secs(10), start: PeriodStart::Event };
        cq.set_moderation(moderation);
        assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
        assert_eq!(write_at(&mut cq, &memory, 100), fired, "long after the last event");
        assert_eq!(arm(&mut cq, &memory, 1), Ok(None));
        assert_eq!((write_at(&mut cq, &memory, 104), cq.deadline()), (None, Some(Duration::from_secs(110))));
        assert_eq!((write_at(&mut cq, &memory, 105), due_at(&mut cq, &memory, 109)), (None, None));
        assert_eq!((due_at(&mut cq, &memory, 110), cq.deadline()), (fired, None));
        assert_eq!(arm(&mut cq, &memory, 3), Ok(None));
        let written = [111, 112, 113, 114].map(|now| write_at(&mut cq, &memory, now));
        assert_eq!(written, [None, None, fired, None], "the third, and then it is not armed");
    }

    #[test]
    fn a_period_that_begins_with_each_cqe_ends_in_a_pause() {
        let (mut cq, memory) = setup(true);
        let fired = Some(Event::Completion { cqn: CQN });
        cq.set_moderation(Moderation { count: 4, period: Duration::from_secs(10), start: PeriodStart::Cqe });
        assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
        assert_eq!((write_at(&mut cq, &memory, 100), write_at(&mut cq, &memory, 109)), (None, None));
        assert_eq!((due_at(&mut cq, &memory, 118), cq.deadline()), (None, Some(Duration::from_secs(119))));
        assert_eq!(due_at(&mut cq, &memory, 119), fired);
        assert_eq!(arm(&mut cq, &memory, 2), Ok(None));
        let written = [120, 121, 122, 123].map(|now| write_at(&mut cq, &memory, now));
        assert_eq!(written, [None, None, None, fired]);
    }

    #[test]
    fn where_there_are_no_delays_an_arming_tells_of_what_is_not_consumed() {
        let (mut cq, memory) = setup(true);
        let fired = Some(Event::Completion { cqn: CQN });
        assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
        assert_eq!(write_at(&mut cq, &memory, 100), fired);
        // The record says that it was consumed, the arm word that it was not.
        consume(&memory, 1);
        cq.arm(0, None).unwrap();
        assert_eq!(due_at(&mut cq, &memory, 100), fired);
        cq.arm(1, None).unwrap();
        assert_eq!(due_at(&mut cq, &memory, 100), None);
        cq.set_moderation(Moderation { count: 2, period: Duration::from_secs(10), start: PeriodStart::Event });
        assert_eq!(write_at(&mut cq, &memory, 103), None);
        cq.arm(1, None).unwrap();
        assert_eq!((due_at(&mut cq, &memory, 109), cq.deadline()), (None, Some(Duration::from_secs(110))));
        assert_eq!(due_at(&mut cq, &memory, 110), fired);
        assert_eq!((write_at(&mut cq, &memory, 111), write_at(&mut cq, &memory, 112)), (None, None));
        cq.arm(2, None).unwrap();
        assert_eq!(due_at(&mut cq, &memory, 112), fired, "two since the last event");
    }

    #[test]
    fn an_arm_that_comes_late_is_not_lost() {
        let (mut cq, memory) = setup(true);
        assert_eq!(write(&mut cq, &memory, &completion(0)), None);
        assert_eq!(arm(&mut cq, &memory, 1 << 28), Ok(Some(Event::Completion { cqn: CQN })), "CQE 0 was not consumed");
        assert_eq!(write(&mut cq, &memory, &completion(1)), None);
        // An index the device has not reached yet is no reason to wake.
        assert_eq!(arm(&mut cq, &memory, 0x0000_0003), Ok(None));
    }

    #[test]
    fn a_host_that_polls_after_arming_is_not_woken_for_what_it_was_told_of() {
        let (mut cq, memory) = setup(true);
        let due = Duration::from_micros(9);
        let fired = Some(Event::Completion { cqn: CQN });
        assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
        assert_eq!(write(&mut cq, &memory, &completion(0)), fired);
        cq.arm(1 << 28, Some(due)).unwrap();
        assert_eq!((cq.deadline(), cq.due_event(CQN, &memory, Duration::ZERO)), (Some(due), None));
        consume(&memory, 1);
        assert_eq!((cq.due_event(CQN, &memory, due), cq.deadline()), (None, None));
        assert_eq!(write(&mut cq, &memory, &completion(1)), fired, "still armed");
        // The host stays away: it is woken when the time has come, once.
        cq.arm(1, Some(due)).unwrap();
        assert_eq!(cq.due_event(CQN, &memory, due), fired);
        assert_eq!(cq.due_event(CQN, &memory, due), None);
    }

    #[test]
    fn what_it_was_not_told_of_it_is_told_at_once() {
        let (mut cq, memory) = setup(true);
        let late = Duration::from_secs(9);
        assert_eq!(write(&mut cq, &memory, &completion(0)), None);
        cq.arm(0, Some(late)).unwrap();
        // Another thread polls, and says nothing to the one that sleeps.
        consume(&memory, 1);
        assert_eq!(cq.due_event(CQN, &memory, Duration::ZERO), Some(Event::Completion { cqn: CQN }));
    }

    #[test]
    fn asking_for_less_takes_nothing_back() {
        let (mut cq, memory) = setup(true);
        assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
        assert_eq!(arm(&mut cq, &memory, ARM_SOLICITED), Ok(None));
        assert_eq!(write(&mut cq, &memory, &completion(0)), Some(Event::Completion { cqn: CQN }), "not solicited");
    }

    #[test]
    fn solicited_only() {
        let (mut cq, memory) = setup(true);
        assert_eq!(write(&mut cq, &memory, &completion(0)), None);
        assert_eq!(arm(&mut cq, &memory, ARM_SOLICITED), Ok(None), "CQE 0 is not solicited");
        assert_eq!(write(&mut cq, &memory, &completion(1)), None);
        assert_eq!(write(&mut cq, &memory, &error()), Some(Event::Completion { cqn: CQN }), "errors count");
        assert_eq!(write(&mut cq, &memory, &completion(3)), None);
        assert_eq!(
            arm(&mut cq, &memory, ARM_SOLICITED | 2),
            Ok(Some(Event::Completion { cqn: CQN })),
            "CQE 2 was missed"
        );
        assert_eq!(arm(&mut cq, &memory, ARM_SOLICITED | 3), Ok(None));
        assert_eq!(arm(&mut cq, &memory, 0x8000_0000), Err(0x8000_0000));
    }

    #[test]
    fn a_first_arm_of_value_0_is_seen_in_the_record() {
        let (mut cq, memory) = setup(true);
        cq.poison_arm_word(&memory).unwrap();
        assert_eq!(memory.bytes()[RECORD..RECORD + 8], [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(poll(&mut cq, &memory), Ok(None));
        assert_eq!(write(&mut cq, &memory, &completion(0)), None);
        memory.put(RECORD + 4, &[0; 4]);
        assert_eq!(poll(&mut cq, &memory), Ok(Some(Event::Completion { cqn: CQN })));
        assert_eq!(poll(&mut cq, &memory), Ok(None), "the same word does not arm again");
    }

    #[test]
    fn resize_goes_on_in_the_new_ring() {
        let (mut cq, memory) = setup(false);
        assert_eq!(write(&mut cq, &memory, &completion(0)), None);
        let context = CqContext { buf: BASE + 512, log_size: 1, ..cq.context };
        cq.resize(context, &memory, Duration::ZERO).unwrap();
        assert_eq!(memory.bytes()[127], 0x50, "the old ring ends");
        consume(&memory, 2);
        assert_eq!(write(&mut cq, &memory, &completion(0x77)), None);
        assert_eq!(memory.bytes()[512 + 60..512 + 64], [0, 0x77, 0, 1], "index 2 is the second pass over 2 CQEs");
        assert_eq!(write(&mut cq, &memory, &completion(0x78)), None);
        assert!(cq.resize(context, &memory, Duration::ZERO).is_err(), "no room for what is not consumed");
    }

    #[test]
    fn unreachable_rings_are_an_error() {
        let (mut cq, memory) = setup(false);
        cq.context.buf = BASE + 1000;
        assert_eq!(
            write(&mut cq, &memory, &completion(0)),
            Some(Event::CqError { cqn: CQN, fault: CqFault::Unreachable })
        );
        let (mut cq, memory) = setup(false);
        cq.context.dbr = 0;
        assert_eq!(
            write(&mut cq, &memory, &completion(0)),
            Some(Event::CqError { cqn: CQN, fault: CqFault::Unreachable })
        );
    }
}
