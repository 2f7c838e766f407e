//! A CQ: where the next CQE goes, overrun, arming.

use super::completion::Completion;
use super::compression::{Piece, Session};
use super::cqe::{CQE64_BYTES, Encoded, sign};
use super::moderation::{Moderation, Times};
use crate::complaint::Complaint;
use crate::context::{CqCompression, CqContext};
use crate::error::Error;
use crate::event::Event;
use crate::memory::{DmaFault, HostMemory};
use crate::query::{CqArming, CqFault, CqInfo};
use std::time::Duration;

/// Bits of indices in doorbell records, arm words and the device's own counter.
const INDEX_MASK: u32 = 0x00ff_ffff;
/// Arm word bit 24: wake for solicited completions only (`MLX5_CQ_DB_REQ_NOT_SOL`).
const ARM_SOLICITED: u32 = 1 << 24;
/// Arm word bits that must be 0: 31:30 and 27:25.
const ARM_RESERVED: u32 = 0xce00_0000;
/// Arm word bits 29:28: the arm sequence number. Drivers count it up with each event that they take (libmlx5
/// `mlx5_cq_event`, Linux `mlx5_eq_comp_int`, UCX `uct_rc_mlx5_iface_common_event_cq`), so that a device can tell a new
/// request from the one that its event has answered.
const ARM_SEQUENCE: u32 = 3 << 28;
/// Sequence numbers that there are. So many events in a row may answer requests of one number before the device complains
/// of the next such request: a driver may ask again while events are under way to it. UCX does (`uct_ib_iface_pre_arm`),
/// and takes events that have piled up together.
const ARM_SEQUENCES: u32 = 4;
/// An arm word that no driver writes. The device puts it into the record, so that it sees even a first arm whose value
/// is 0.
const ARM_POISON: u32 = u32::MAX;

/// CQEs that were written, and not consumed, when an arming arrived.
#[derive(Clone, Copy, Debug)]
struct Missed {
    /// Index after the last CQE that counts.
    end: u32,
    /// When the event is due.
    due: Duration,
    /// An event for them was raised before. Another event comes only if the host has not consumed them when the event
    /// is due.
    is_repeated: bool,
}

/// Replaces the CQE of a collapsed CQ. The host may be reading it: its last eight bytes change at once, after the
/// others. The host takes index and opcode by one load of four bytes (DOCA GPUNetIO
/// `doca_gpunetio_dev_verbs_cq.cuh`, `doca_priv_gpu_dev_verbs_poll_cq_collapsed_at`).
fn replace(at: u64, cqe: &[u8], memory: &dyn HostMemory) -> Result<(), DmaFault> {
    let Some((rest, &last)) = cqe.split_last_chunk() else { return Err(DmaFault { addr: at, len: cqe.len() }) };
    memory.write(at, rest)?;
    memory.fetch_update_u64(at.wrapping_add(rest.len() as u64), &mut |_| u64::from_ne_bytes(last)).map(drop)
}

/// The timestamp of a free-running clock.
pub(crate) fn nanoseconds(now: Duration) -> u64 {
    // There are enough for 584 years.
    now.as_nanos() as u64
}

/// Why a CQ takes no further CQEs.
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
#[derive(Clone, Debug, Default)]
pub(crate) struct Cq {
    context: CqContext,
    /// CQEs written, all of them: drivers take the number of the pass over the ring from more than the index's 24 bits.
    count: u64,
    /// Completions that wait to be compressed.
    session: Session,
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
    /// The arm word that armed it last.
    request: u32,
    /// Events in a row that have answered requests of one sequence number, and that number, as in the arm word.
    answers: (u32, u32),
    /// It takes no further CQEs.
    failure: Option<CqFailure>,
    /// The event queue that its events go to.
    pub(crate) eqn: Option<u32>,
    /// Queues that use it.
    pub(crate) users: u32,
    /// The producer index after the latest error CQE that is not a flushed request's.
    last_error: Option<u32>,
}

impl Cq {
    pub(crate) fn new(context: CqContext) -> Self {
        Self { context, arm_word: ARM_POISON, ..Self::default() }
    }

    /// The context that it was created from.
    #[must_use]
    pub(crate) fn context(&self) -> &CqContext {
        &self.context
    }

    /// Why it takes no further CQEs, if so.
    #[must_use]
    pub(crate) fn failure(&self) -> Option<CqFailure> {
        self.failure
    }

    /// CQEs written, 24 bits. Those that wait to be compressed are not.
    pub(crate) fn written_index(&self) -> u32 {
        self.count as u32 & INDEX_MASK
    }

    /// Where it is. The consumer index is 0 if its record cannot be read.
    pub(crate) fn info(&self, memory: &dyn HostMemory) -> CqInfo {
        CqInfo {
            context: self.context,
            producer: self.written_index(),
            consumer: memory.load_be32(self.context.dbr).map_or(0, |consumer| consumer & INDEX_MASK),
            last_solicited: self.solicited.unwrap_or(0),
            last_notified: self.notified,
            arming: self.armed,
            fault: self.failure.map(CqFailure::fault),
        }
    }

    /// Whether the driver has not polled an error CQE.
    pub(crate) fn has_unread_error(&self, memory: &dyn HostMemory) -> bool {
        let CqInfo { producer, consumer, .. } = self.info(memory);
        let before = |index: u32| producer.wrapping_sub(index) & INDEX_MASK;
        self.last_error.is_some_and(|error| before(error) < before(consumer))
    }

    pub(crate) fn set_ignore_overrun(&mut self, ignore: bool) {
        self.context.ignore_overrun = ignore;
    }

    /// Writes the CQE of `c`, with timestamp `stamp`. Returns the event that follows, if any.
    pub(crate) fn write(
        &mut self,
        cqn: u32,
        (c, stamp): (&Completion, u64),
        memory: &dyn HostMemory,
        now: Duration,
    ) -> Option<Event> {
        if self.failure.is_some() {
            return None;
        }
        let entries = 1u32 << self.context.log_size;
        if !self.context.ignore_overrun {
            match memory.load_be32(self.context.dbr) {
                // A consumer index ahead of the producer counts as full, too: it is as far behind as possible.
                Ok(consumer) if self.ahead_of(consumer) + self.session.waiting() >= entries => {
                    // Write the waiting CQEs first: the host polls them when it gets the error.
                    let _ = self.settle(cqn, memory, now);
                    return Some(self.fail(cqn, CqFailure::Overrun { consumer, producer: self.written_index() }));
                }
                Ok(_) => {}
                Err(fault) => return Some(self.fail(cqn, CqFailure::Unreachable(fault))),
            }
        }
        if let Some(compression) = self.context.compression {
            return self.compress(compression, cqn, (c, stamp), memory, now);
        }
        let mut cqe = Encoded::new(c, self.context.cqe_bytes, self.owner(), stamp);
        cqe.sign(self.written_index());
        if let Err(fault) = self.put(&cqe, memory) {
            return Some(self.fail(cqn, CqFailure::Unreachable(fault)));
        }
        self.note_failure(c);
        self.written(cqn, c.is_solicited(), now)
    }

    /// The CQE of `c` is written.
    fn note_failure(&mut self, c: &Completion) {
        if c.is_failure() {
            self.last_error = Some(self.written_index());
        }
    }

    /// The event of CQEs just written, if it is due.
    fn written(&mut self, cqn: u32, is_solicited: bool, now: Duration) -> Option<Event> {
        let due = self.hold_event(is_solicited, now)?;
        (now >= due).then(|| self.fire(cqn, now))
    }

    /// When the event of CQEs just written is due, if they have one: until it is raised, it is held.
    fn hold_event(&mut self, is_solicited: bool, now: Duration) -> Option<Duration> {
        if is_solicited {
            self.solicited = Some(self.written_index());
        }
        let wakes = match self.armed {
            CqArming::Fired => false,
            CqArming::Solicited => is_solicited,
            CqArming::Any => true,
        };
        self.times.cqe = now;
        if !wakes {
            return None;
        }
        self.held_until = Some(self.moderation.due(self.since_event(), self.times));
        self.held_until
    }

    /// Has the completion wait for others like it, or writes it.
    fn compress(
        &mut self,
        compression: CqCompression,
        cqn: u32,
        (c, stamp): (&Completion, u64),
        memory: &dyn HostMemory,
        now: Duration,
    ) -> Option<Event> {
        let cqe = Encoded::new(c, self.context.cqe_bytes, false, stamp);
        if self.session.takes(compression, &cqe) {
            return self.wait_for_others(cqn, (&cqe, c.is_solicited()), memory, now);
        }
        let event = self.settle(cqn, memory, now);
        if self.failure.is_some() {
            return event;
        }
        // Those before are written: this one may be the first that waits for others, or be compressed with the latest.
        if self.session.takes(compression, &cqe) {
            return self.wait_for_others(cqn, (&cqe, c.is_solicited()), memory, now).or(event);
        }
        if let Err(fault) = self.put_alone(&cqe, memory) {
            return Some(self.fail(cqn, CqFailure::Unreachable(fault)));
        }
        self.note_failure(c);
        self.session.written(compression, &cqe);
        event.or(self.written(cqn, c.is_solicited(), now))
    }

    /// Has a completion wait for others like it, unless the ring ends with it.
    ///
    /// A session must not go on at the ring's start: DPDK looks for arrays behind the title without a look at the
    /// ring's end, and marks the CQEs there as invalid (`drivers/net/mlx5/mlx5_rxtx_vec_sse.h`, `rxq_cq_decompress_v`).
    fn wait_for_others(
        &mut self,
        cqn: u32,
        (cqe, is_solicited): (&Encoded, bool),
        memory: &dyn HostMemory,
        now: Duration,
    ) -> Option<Event> {
        self.session.add(cqe, is_solicited);
        let is_full = (self.count + u64::from(self.session.waiting())) & (self.entries() - 1) == 0;
        if is_full { self.settle(cqn, memory, now) } else { None }
    }

    /// Writes the completions that wait for others like them.
    pub(crate) fn settle(&mut self, cqn: u32, memory: &dyn HostMemory, now: Duration) -> Option<Event> {
        match self.put_waiting(memory) {
            Ok(is_solicited) => self.written(cqn, is_solicited?, now),
            Err(fault) => Some(self.fail(cqn, CqFailure::Unreachable(fault))),
        }
    }

    /// Writes the completions that wait for others like them. Whether one counts as solicited, if there were any.
    fn put_waiting(&mut self, memory: &dyn HostMemory) -> Result<Option<bool>, DmaFault> {
        let (waiting, is_solicited) = (self.session.waiting(), self.session.is_solicited);
        let Some(compression) = self.context.compression.filter(|_| waiting != 0 && self.failure.is_none()) else {
            return Ok(None);
        };
        for piece in self.session.end(compression) {
            self.put_piece(&piece, memory)?;
        }
        self.count += u64::from(waiting);
        Ok(Some(is_solicited))
    }

    /// Writes the next CQE of a CQ that compresses.
    fn put_alone(&mut self, cqe: &Encoded, memory: &dyn HostMemory) -> Result<(), DmaFault> {
        let (inline, _) = cqe.as_bytes().split_at(cqe.as_bytes().len() - CQE64_BYTES);
        memory.write(self.place(0).0, inline)?;
        self.put_piece(&Piece { ahead: 0, fields: *cqe.fields(), is_owned: true }, memory)?;
        self.count += 1;
        Ok(())
    }

    /// Writes the 64 bytes of a CQE that hold the fields, the ownership fields last.
    fn put_piece(&self, piece: &Piece, memory: &dyn HostMemory) -> Result<(), DmaFault> {
        let (at, pass) = self.place(piece.ahead);
        let at = at + u64::from(self.context.cqe_bytes) - CQE64_BYTES as u64;
        let mut fields = piece.fields;
        if piece.is_owned {
            fields[63] |= pass & 1;
            // Arrays of mini-CQEs have no signature, whatever their bytes look like.
            sign(&mut fields, (self.count + u64::from(piece.ahead)) as u32 & INDEX_MASK);
        }
        log::trace!("CQ ring {:#x}: pass {pass}, CQE {fields:02x?}", self.context.buf);
        if !piece.is_owned {
            return memory.write(at, &fields);
        }
        if !self.context.compression.is_some_and(|compression| compression.enhanced) {
            return memory.write_last_byte_last(at, &fields);
        }
        // Here it is the byte before the last.
        memory.write(at, &fields[..62])?;
        memory.write(at + 63, &fields[63..])?;
        memory.write_last_byte_last(at + 62, &[pass])
    }

    /// Where the CQE is `ahead` places after the next one, and the number of its pass over the ring.
    fn place(&self, ahead: u32) -> (u64, u8) {
        let index = self.count + u64::from(ahead);
        let slot = index & (self.entries() - 1);
        let at = self.context.buf.wrapping_add(slot * u64::from(self.context.cqe_bytes));
        (at, (index >> self.context.log_size) as u8)
    }

    /// CQEs of the ring.
    fn entries(&self) -> u64 {
        1 << self.context.log_size
    }

    /// How events are held back from now on.
    pub(crate) fn set_moderation(&mut self, moderation: Moderation) {
        self.moderation = moderation;
    }

    /// The arm word has reached the device.
    ///
    /// The word names the consumer index up to which the host has polled. CQEs from there on raise the event, also a
    /// CQE that is written already. The host may have polled its last CQE just before the device wrote this one: Linux
    /// (`drivers/net/ethernet/mellanox/mlx5/core/en_txrx.c`) arms after its last poll and does not look again. That
    /// event is due at once. If an event was raised for that CQE before, another one is due at `repeat` only, see
    /// [`Self::due_event`]. `None`: at once and in any case, as hardware does it, unless events are held back.
    ///
    /// A request with the sequence number of an answered one arms the CQ, too. If that goes on, the driver does not count
    /// its events: hardware may take the request for the answered one.
    pub(crate) fn arm(&mut self, cqn: u32, word: u32, repeat: Option<Duration>) -> Result<(), Complaint> {
        if word & ARM_RESERVED != 0 {
            return Err(Complaint::BadArmWord { cqn, word });
        }
        if self.failure.is_some() {
            return Ok(());
        }
        self.request = word;
        let consumer = word & INDEX_MASK;
        let unseen =
            |index: u32| (1..=1 << self.context.log_size).contains(&(index.wrapping_sub(consumer) & INDEX_MASK));
        // A request for the next CQE's event stays valid if the same queue is then armed for solicited ones (IBTA vol.
        // 1, 11.4.2.2; Linux' `rxe_req_notify_cq`).
        let end = if word & ARM_SOLICITED != 0 && self.armed != CqArming::Any {
            self.armed = CqArming::Solicited;
            self.solicited
        } else {
            self.armed = CqArming::Any;
            Some(self.written_index())
        };
        let notified = self.notified;
        let is_news = |end: u32| (1..=INDEX_MASK / 2).contains(&(end.wrapping_sub(notified) & INDEX_MASK));
        self.missed = end.filter(|&end| unseen(end)).map(|end| match repeat {
            Some(due) if !is_news(end) => Missed { end, due, is_repeated: true },
            Some(_) => Missed { end, due: Duration::ZERO, is_repeated: false },
            None => Missed { end, due: self.moderation.due(self.since_event(), self.times), is_repeated: false },
        });
        match self.answers {
            // A driver that has counted so many at once is at the same number again.
            (events, _) if events <= ARM_SEQUENCES || events % ARM_SEQUENCES == 0 => Ok(()),
            (events, sequence) if sequence == word & ARM_SEQUENCE => Err(Complaint::ArmUncounted { cqn, word, events }),
            _ => Ok(()),
        }
    }

    /// The event that waits for time to pass, if it is due. It is for CQEs that might have become more
    /// ([`Moderation`]), or for CQEs that were written before the CQ was armed.
    ///
    /// CQEs that an event has reported, and that the host has consumed meanwhile, raise no second event: a program
    /// that takes an event, arms and then polls would be woken for nothing. CQEs that no event has reported do raise
    /// theirs, even if another thread consumes them: UCX's timer thread polls, and leaves the CQEs that it finds to
    /// the thread that sleeps until the event.
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

    /// Nothing happens by itself.
    pub(crate) fn is_idle(&self) -> bool {
        self.deadline().is_none()
    }

    /// When the event for CQEs that are written already is due.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let waiting = (self.session.waiting() != 0).then_some(Duration::ZERO);
        self.missed.map(|missed| missed.due).into_iter().chain(self.held_until).chain(waiting).min()
    }

    /// Writes the CQE that ends the old ring, and goes on in the ring of `context`.
    pub(crate) fn resize(&mut self, context: CqContext, memory: &dyn HostMemory, now: Duration) -> Result<(), Error> {
        if let Some(is_solicited) = self.put_waiting(memory)? {
            // The next step raises the event.
            self.hold_event(is_solicited, now);
        }
        let waiting = self.ahead_of(memory.load_be32(context.dbr)?);
        let room = 1u32 << self.context.log_size.min(context.log_size);
        if self.failure.is_some() || waiting >= room {
            let permitted = "a CQ not in error, and fewer than either ring holds";
            return Err(Error::BadValue { what: "CQEs not consumed", value: waiting.into(), permitted });
        }
        let last = Encoded::resize(self.context.cqe_bytes, self.owner(), nanoseconds(now));
        match self.context.compression {
            Some(_) => self.put_alone(&last, memory)?,
            None => self.put(&last, memory)?,
        }
        // The new ring has no title yet.
        self.session = Session::default();
        self.context = context;
        Ok(())
    }

    /// Puts a value that no driver writes into the record's arm word. So [`Self::poll_arm_word`] sees the first arm
    /// word even if it is 0.
    pub(crate) fn poison_arm_word(&mut self, memory: &dyn HostMemory) -> Result<(), DmaFault> {
        self.arm_word = ARM_POISON;
        memory.write(self.context.dbr.wrapping_add(4), &ARM_POISON.to_be_bytes())
    }

    /// Whether the next CQE of any kind has an event.
    pub(crate) fn is_armed(&self) -> bool {
        self.armed == CqArming::Any
    }

    /// Whether [`Self::poll_arm_word`] would find another arm word.
    pub(crate) fn has_new_arm_word(&self, memory: &dyn HostMemory) -> bool {
        memory.load_be32(self.context.dbr.wrapping_add(4)).is_ok_and(|word| word != self.arm_word)
    }

    /// Looks at the record's arm word. Arms the CQ if the word has changed.
    pub(crate) fn poll_arm_word(&mut self, cqn: u32, memory: &dyn HostMemory, due: Duration) -> Result<(), Complaint> {
        match memory.load_be32(self.context.dbr.wrapping_add(4)) {
            Ok(word) if word != self.arm_word => {
                self.arm_word = word;
                self.arm(cqn, word, Some(due))
            }
            _ => Ok(()),
        }
    }

    /// Owner bit of the CQE to be written next: it changes with each pass over the ring.
    fn owner(&self) -> bool {
        self.place(0).1 & 1 != 0
    }

    /// Writes the next CQE.
    fn put(&mut self, cqe: &Encoded, memory: &dyn HostMemory) -> Result<(), DmaFault> {
        log::trace!("CQ ring {:#x}: CQE {:02x?}", self.context.buf, cqe.as_bytes());
        if self.context.collapsed {
            replace(self.context.buf, cqe.as_bytes(), memory)?;
        } else {
            memory.write_last_byte_last(self.place(0).0, cqe.as_bytes())?;
        }
        self.count += 1;
        Ok(())
    }

    /// CQEs written that the host has not consumed, by as many bits of the index as tell a full ring from others, but 16
    /// at least. DPDK counts the completions of a send queue with 16 bits, and stores those (`drivers/net/mlx5/mlx5_tx.h`,
    /// `struct mlx5_txq_data`, `cq_ci`; `mlx5_tx.c`, `mlx5_tx_handle_completion`). NVIDIA ships it for NICs.
    fn ahead_of(&self, consumer: u32) -> u32 {
        let bits = (u32::from(self.context.log_size) + 1).clamp(16, 24);
        self.written_index().wrapping_sub(consumer) & ((1 << bits) - 1)
    }

    /// CQEs written since the last event.
    fn since_event(&self) -> u32 {
        self.written_index().wrapping_sub(self.notified) & INDEX_MASK
    }

    fn fire(&mut self, cqn: u32, now: Duration) -> Event {
        let (events, sequence) = (self.answers, self.request & ARM_SEQUENCE);
        self.answers = (if events.1 == sequence { events.0.saturating_add(1) } else { 1 }, sequence);
        self.armed = CqArming::Fired;
        self.missed = None;
        self.held_until = None;
        self.times.event = Some(now);
        self.notified = self.written_index();
        Event::Completion { cqn }
    }

    fn fail(&mut self, cqn: u32, failure: CqFailure) -> Event {
        self.failure = Some(failure);
        Event::CqError { cqn, fault: failure.fault() }
    }
}

#[cfg(test)]
mod tests;
