//! A list of tags with its command queue and its shared receive queue. It has the operations and the buffers of the
//! program, and the reports of an honest device.

use std::collections::{BTreeMap, VecDeque};

use blueflame::cq::cqe::{ListOperation, TagCqe, TagMatch};
use blueflame::cq::{CqId, CqeError, CqeOpcode, CqeView, Side, Source};
use blueflame::queue::tags::{TagError, TagEvent, TagRecord};
use blueflame::queue::{Owned, PostError, SendQueue, SharedRecvQueue, TagMatching};
use blueflame::transport;
use blueflame::types::{TagIndex, WrId};

use super::owners::{Holder, Owners, cqe, op, sge};
use super::receives::{Form, Shared};
use super::sends::Memory;

/// Entries of the list, one of which stays free.
const ENTRIES: u16 = 5;
/// Numbers of the command queue's queue pair, and of that whose messages are compared with the list.
pub(super) const COMMANDS: u32 = 0x13;
pub(super) const MESSAGES: u32 = 0x14;

/// `MLX5_CQE_APP_OP_TM_*` (rdma-core `providers/mlx5/mlx5dv.h` and `cq.c`).
mod app {
    pub(super) const CONSUMED: u8 = 0x1;
    pub(super) const EXPECTED: u8 = 0x2;
    pub(super) const UNEXPECTED: u8 = 0x3;
    pub(super) const NO_TAG: u8 = 0x4;
    pub(super) const APPEND: u8 = 0x5;
    pub(super) const REMOVE: u8 = 0x6;
    pub(super) const NOOP: u8 = 0x7;
    pub(super) const CONSUMED_EXPECTED: u8 = 0xa;
    pub(super) const CANCELED: u8 = 0xc;
}

/// A buffer on the list, or an entry whose operations are not all done.
#[derive(Debug)]
struct Entry {
    id: u64,
    /// Operations that have not completed.
    operations: u32,
    /// The buffer is the device's.
    lent: bool,
    /// The program knows of a match.
    matched: bool,
    removal: bool,
    /// The count of unexpected messages that the append had.
    phase: u16,
    /// An honest device's view of it.
    device: State,
}

/// The state of an entry in an honest device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The append was not executed.
    NotYet,
    OnList,
    Matched,
    /// Its last completion was written.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Append(u16),
    Remove(u16),
    Sync(u16),
}

type Tags = TagMatching<Owned<SharedRecvQueue, ()>, Owned<SendQueue<transport::Rc>, ()>, Vec<TagRecord>>;

pub(super) struct List {
    tags: Tags,
    pub(super) commands: Memory,
    pub(super) shared: Shared,
    entries: BTreeMap<u16, Entry>,
    /// Free entries in order.
    free: VecDeque<u16>,
    /// Operations that have not completed, the oldest first, and how many of them an honest device has completed.
    operations: VecDeque<Operation>,
    executed: usize,
    /// Unexpected messages: those that the program has seen, those that the device was told of, and those that an
    /// honest device has reported.
    seen: u16,
    told: u16,
    reported: u16,
}

impl List {
    pub(super) fn new(cq: CqId) -> Self {
        let (mut commands, mut shared) = (Memory::new(), Shared::new(Holder::Unexpected, MESSAGES));
        let (srq, sq) = (shared.queue(), commands.queue(COMMANDS, cq));
        // SAFETY: their memory outlives the queues, which are dropped first.
        let (srq, sq) =
            unsafe { (Owned::new(srq, (), SharedRecvQueue::ring_addr), Owned::new(sq, (), SendQueue::ring_addr)) };
        // SAFETY: no other queue changes this list; the device plays both.
        let tags = unsafe { TagMatching::new(srq, sq, vec![TagRecord::default(); ENTRIES.into()]) };
        Self {
            tags: tags.map_err(|(error, _)| error).expect("an idle command queue"),
            commands,
            shared,
            entries: BTreeMap::new(),
            free: (0..ENTRIES).collect(),
            operations: VecDeque::new(),
            executed: 0,
            seen: 0,
            told: 0,
            reported: 0,
        }
    }

    pub(super) fn post(&mut self, owners: &mut Owners, count: u8, ring: bool) {
        self.shared.post(self.tags.receives(), owners, count, ring);
    }

    pub(super) fn append(&mut self, owners: &mut Owners, tag: u8, mask: u8) {
        let (tag, mask, id) = (u64::from(tag), u64::from(mask), owners.fresh());
        // SAFETY: no device acts on it.
        let appended = unsafe { self.tags.append_unchecked(tag, mask, sge(id), WrId(id)) };
        let has_room = self.free.len() > 1;
        match appended {
            Ok(entry) => {
                assert!(tag & !mask == 0 && has_room && self.free.pop_front() == Some(entry.0));
                owners.lend(id, Holder::List);
                let (lent, device) = (true, State::NotYet);
                let entry_state =
                    Entry { id, operations: 1, lent, matched: false, removal: false, phase: self.seen, device };
                assert!(self.entries.insert(entry.0, entry_state).is_none());
                self.posted(Operation::Append(entry.0));
            }
            Err(TagError::OutsideMask { .. }) => assert!(tag & !mask != 0),
            Err(TagError::ListFull { tags }) => assert!(!has_room && tags == ENTRIES - 1),
            Err(error) => self.refused(&error),
        }
    }

    pub(super) fn remove(&mut self, entry: u8) {
        let entry = u16::from(entry) % (ENTRIES + 1);
        let can_be = self.entries.get_mut(&entry).filter(|entry| entry.lent && !entry.removal);
        match (self.tags.remove(TagIndex(entry)), can_be) {
            (Ok(()), Some(state)) => {
                (state.operations, state.removal) = (state.operations + 1, true);
                self.posted(Operation::Remove(entry));
            }
            (Err(TagError::NotListed { .. }), None) => {}
            (Err(error), Some(_)) => self.refused(&error),
            (found, expected) => panic!("{found:?} of {entry}, which is {expected:?}"),
        }
    }

    pub(super) fn sync(&mut self) {
        match self.tags.sync() {
            Ok(()) => self.posted(Operation::Sync(self.seen)),
            Err(error) => self.refused(&error),
        }
    }

    fn posted(&mut self, operation: Operation) {
        self.operations.push_back(operation);
        self.told = self.seen;
    }

    /// The command queue is full. That needs operations that are outstanding.
    fn refused(&self, error: &TagError) {
        assert!(matches!(error, TagError::Post(PostError::Full { .. })) && !self.operations.is_empty(), "{error}");
    }

    fn report(&self, qpn: u32, operation: u8, application: u8, entry: u16) -> [u8; 64] {
        let mut cqe = cqe(operation, qpn, 0, 4096);
        cqe[4..6].copy_from_slice(&self.reported.to_be_bytes());
        (cqe[40], cqe[41]) = (1, application);
        cqe[42..44].copy_from_slice(&entry.to_be_bytes());
        cqe
    }

    /// An honest device executes the next operation.
    pub(super) fn execute(&mut self, owners: &mut Owners) -> Option<[u8; 64]> {
        let operation = *self.operations.get(self.executed)?;
        self.executed += 1;
        let report = |application, entry| self.report(COMMANDS, op::NO_PACKET, application, entry);
        Some(match operation {
            Operation::Append(entry) => {
                let cqe = report(app::APPEND, entry);
                self.entries.get_mut(&entry)?.device = State::OnList;
                cqe
            }
            Operation::Remove(entry) => {
                let mut cqe = report(app::REMOVE, entry);
                let entry = self.entries.get_mut(&entry)?;
                if entry.device == State::OnList {
                    entry.device = State::Over;
                    owners.finish(entry.id);
                    cqe[0] = 0x80;
                }
                cqe
            }
            Operation::Sync(_) => report(app::NOOP, 0),
        })
    }

    /// A message matches an entry of an honest device, or the data of a matched one arrives, or is given up.
    pub(super) fn matched(&mut self, owners: &mut Owners, n: u8, how: u8) -> Option<[u8; 64]> {
        let on_list = |entry: &Entry| matches!(entry.device, State::OnList | State::Matched);
        let count = self.entries.values().filter(|entry| on_list(entry)).count().max(1);
        let mut left = self.entries.iter_mut().filter(|(_, entry)| on_list(entry));
        let (&number, entry) = left.nth(usize::from(n) % count)?;
        let (application, next) = match (entry.device, how % 3) {
            (State::OnList, 0) => (app::CONSUMED, State::Matched),
            (State::OnList, _) => (app::CONSUMED_EXPECTED, State::Over),
            (_, 2) => (app::CANCELED, State::Over),
            _ => (app::EXPECTED, State::Over),
        };
        entry.device = next;
        if next == State::Over {
            owners.finish(entry.id);
        }
        Some(self.report(MESSAGES, op::RECEIVED, application, number))
    }

    /// A message matches nothing: unexpected, without a tag, or failed.
    pub(super) fn unexpected(&mut self, owners: &mut Owners, n: u8, how: u8) -> Option<[u8; 64]> {
        let form = if how % 3 == 2 { Form::Failed } else { Form::Plain };
        let (filled, _) = self.shared.fill(owners, n, form)?;
        let application = match how % 3 {
            0 => app::UNEXPECTED,
            1 => app::NO_TAG,
            _ => return Some(filled),
        };
        let mut cqe = self.report(MESSAGES, op::RECEIVED, application, 0);
        cqe[60..62].copy_from_slice(&filled[60..62]);
        self.reported = self.reported.wrapping_add(u16::from(application == app::UNEXPECTED));
        Some(cqe)
    }

    /// Gives the list a completion of its queue pairs. Returns whether it took it.
    pub(super) fn offer<S: Source>(&mut self, cqe: &CqeView<S>, owners: &mut Owners, is_honest: bool) -> bool {
        if ![COMMANDS, MESSAGES].contains(&cqe.qpn().get()) {
            return false;
        }
        // SAFETY: these are the list's queue pairs, and each completion is offered once.
        let answer = unsafe { self.tags.complete(cqe) };
        let expected = self.expected(cqe, owners, is_honest);
        assert_eq!(answer.ok(), expected, "{answer:?} of {cqe:?}");
        expected.is_some()
    }

    /// The event that a completion reports, by the calls of the program alone.
    fn expected<S: Source>(&mut self, cqe: &CqeView<S>, owners: &mut Owners, is_honest: bool) -> Option<TagEvent> {
        let bytes = cqe.byte_len();
        let is_receive = cqe.side() == Some(Side::Responder);
        let mut take = |owners: &mut Owners| {
            let index = Some(cqe.wqe_counter()).filter(|_| is_receive)?;
            self.shared.take(index, owners, is_honest)
        };
        match cqe.tag_matching() {
            Some(TagCqe::Match(TagMatch { entry, header, complete, incomplete })) => {
                let wr_id = self.message(entry, header.is_some(), complete, owners, is_honest)?;
                Some(TagEvent::Matched { wr_id, entry, header, bytes, complete, incomplete })
            }
            Some(TagCqe::Canceled(entry)) => {
                let wr_id = self.message(entry, true, true, owners, is_honest)?;
                Some(TagEvent::Canceled { wr_id, entry })
            }
            Some(TagCqe::Unexpected) => {
                let wr_id = take(owners)?;
                self.seen = self.seen.wrapping_add(1);
                Some(TagEvent::Unexpected { wr_id, bytes })
            }
            Some(TagCqe::NoTag) => Some(TagEvent::NoTag { wr_id: take(owners)?, bytes }),
            Some(TagCqe::List { operation, phase }) => self.done(operation, phase, owners, is_honest),
            Some(TagCqe::Unknown(_)) => None,
            None => match cqe.check() {
                Err(error @ (CqeError::Completion(_) | CqeError::Aborted(_))) if cqe.opcode() == CqeOpcode::RespErr => {
                    Some(TagEvent::Failed { wr_id: take(owners)?, error })
                }
                _ => None,
            },
        }
    }

    fn done(&mut self, told: ListOperation, phase: u16, owners: &mut Owners, is_honest: bool) -> Option<TagEvent> {
        let event = match (*self.operations.front()?, told) {
            (Operation::Append(number), ListOperation::Append) => {
                let entry = self.entries.get_mut(&number).expect("its append is not done");
                entry.operations -= 1;
                let (wr_id, in_step) = (WrId(entry.id), entry.phase == phase);
                self.end(number);
                TagEvent::Appended { wr_id, entry: TagIndex(number), in_step }
            }
            (Operation::Remove(number), ListOperation::Remove { removed }) => {
                let entry = self.entries.get_mut(&number).expect("its removal is not done");
                if removed && (!entry.lent || entry.matched) {
                    return None;
                }
                (entry.operations, entry.removal) = (entry.operations - 1, false);
                if removed {
                    entry.lent = false;
                    owners.back(entry.id, Holder::List, is_honest);
                }
                let wr_id = WrId(entry.id);
                self.end(number);
                TagEvent::Removed { wr_id, entry: TagIndex(number), removed }
            }
            (Operation::Sync(told), ListOperation::Sync) => TagEvent::Synced { in_step: told == phase },
            _ => return None,
        };
        self.operations.pop_front();
        self.executed = self.executed.saturating_sub(1);
        Some(event)
    }

    /// A match of an entry, or its data, or both: the buffer, if the device has it and this is news of it.
    fn message(
        &mut self,
        TagIndex(number): TagIndex,
        matched: bool,
        complete: bool,
        owners: &mut Owners,
        is_honest: bool,
    ) -> Option<WrId> {
        let entry = self.entries.get_mut(&number)?;
        let is_news = if entry.matched { complete } else { matched };
        if !entry.lent || !is_news {
            return None;
        }
        (entry.matched, entry.lent) = (!complete, !complete);
        let wr_id = WrId(entry.id);
        if complete {
            owners.back(entry.id, Holder::List, is_honest);
        }
        self.end(number);
        Some(wr_id)
    }

    /// The entry is free if nothing more is due for it.
    fn end(&mut self, number: u16) {
        if self.entries.get(&number).is_some_and(|entry| entry.operations == 0 && !entry.lent) {
            self.entries.remove(&number);
            self.free.push_back(number);
        }
    }

    pub(super) fn check(&self, owners: &Owners) {
        assert_eq!(usize::from(self.tags.len()), self.entries.len());
        assert_eq!(self.tags.untold(), self.seen.wrapping_sub(self.told));
        assert_eq!(owners.count(Holder::List), self.entries.values().filter(|entry| entry.lent).count());
        self.shared.check(self.tags.shared_receives(), owners);
    }
}
