//! Lists of tags against a device that consists of its rules alone (rdma-core `Documentation/tag_matching.md`), and
//! against completions that no device writes.
//!
//! The list's state belongs here, bytes of its requests in `tags.rs`.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::SetupError;
use blueflame::cq::CompletionQueue;
use blueflame::cq::setup::CqParts;
use blueflame::queue::recv::{SrqParts, SrqRecord};
use blueflame::queue::tags::{TagError, TagEvent, TagRecord};
use blueflame::queue::{Owned, PostError, SendQueue, SharedRecvQueue, TagMatching};
use blueflame::tagged::{TagHeader, TagKind};
use blueflame::transport::Rc;
use blueflame::types::{CqCi, Cqn, Lkey, Srqn, TagIndex, Wqebbs, WrId};
use blueflame::wqe::Sge;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::rig::{QPN, Rig, Setup};

type Receives = Owned<SharedRecvQueue, ()>;
type Commands = Owned<SendQueue<Rc>, ()>;
type List = TagMatching<Receives, Commands, Vec<TagRecord>>;

/// Both queues of a list, over memory that outlives them.
fn owned(receives: SharedRecvQueue, commands: SendQueue<Rc>) -> (Receives, Commands) {
    // SAFETY: there is no device, and no other queue over the same memory.
    unsafe { (Owned::new(receives, (), SharedRecvQueue::ring_addr), Owned::new(commands, (), SendQueue::ring_addr)) }
}

const TAGS: u16 = 4;
const RECEIVES: usize = 4;
const BUFFER: Sge = Sge { addr: 0x7000, length: 64, lkey: Lkey(3) };

/// Memory that a queue has by its address, given back when this is dropped.
struct Kept<T: ?Sized>(NonNull<T>);

impl<T: ?Sized> Kept<T> {
    fn new(memory: Box<T>) -> Self {
        Self(NonNull::from(Box::leak(memory)))
    }
}

impl<T: ?Sized> Drop for Kept<T> {
    fn drop(&mut self) {
        // SAFETY: of a box, once; the queue is gone.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// The memory of a shared receive queue: its WQEs of 32 bytes, linked one to the next, its record, and its shadow.
struct Shared {
    wqes: Kept<[Wqe]>,
    record: Kept<u32>,
    shadow: Kept<[MaybeUninit<SrqRecord>]>,
}

impl Shared {
    fn new() -> Self {
        let link = |n: usize| {
            u128::from_ne_bytes({
                let mut bytes = [0; 16];
                bytes[2..4].copy_from_slice(&(n as u16 + 1).to_be_bytes());
                bytes
            })
        };
        Self {
            wqes: Kept::new((0..=RECEIVES).map(|n| Wqe([link(n), 0])).collect()),
            record: Kept::new(Box::new(0)),
            shadow: Kept::new((0..=RECEIVES).map(|_| MaybeUninit::uninit()).collect()),
        }
    }

    fn queue(&self) -> SharedRecvQueue {
        let parts = SrqParts {
            buf: self.wqes.0.cast(),
            wqe_cnt: RECEIVES as u32 + 1,
            stride: 32,
            head: 0,
            tail: RECEIVES as u32,
            dbrec: self.record.0,
            srqn: Srqn::truncate(5),
            counter: 0,
            shadow: self.shadow.0.cast(),
        };
        // SAFETY: memory of as many WQEs, a word and as many records, which outlives the queue; one queue is made of
        // it.
        unsafe { SharedRecvQueue::from_parts(parts) }.expect("a queue")
    }
}

/// `u128` alone has 8-byte alignment on some CPUs of 32 bits.
#[repr(C, align(32))]
struct Wqe([u128; 2]);

/// A CQE where one belongs.
#[repr(C, align(64))]
struct Cqe([u8; 64]);

/// A completion queue of one CQE, which is written before each poll.
struct Completions {
    cq: CompletionQueue,
    cqe: Kept<Cqe>,
    owner: u8,
    _record: Kept<[u32; 2]>,
    _register: Kept<[u64; 8]>,
}

impl Completions {
    fn new() -> Self {
        let cqe = Kept::new(Box::new(Cqe([0xff; 64])));
        let (record, register) = (Kept::new(Box::new([0; 2])), Kept::new(Box::new([0; 8])));
        let parts = CqParts {
            buf: cqe.0.cast(),
            cqe_cnt: 1,
            cqe_size: 64,
            dbrec: record.0.cast(),
            cq_uar: register.0.cast(),
            cqn: Cqn::truncate(7),
            ci: CqCi::truncate(0),
        };
        // SAFETY: memory that nobody else has, and that is dropped after the queue.
        let cq = unsafe { CompletionQueue::from_parts(parts) }.expect("a queue");
        Self { cq, cqe, owner: 0, _record: record, _register: register }
    }

    fn tell(&mut self, list: &mut List, mut cqe: [u8; 64]) -> Result<TagEvent, TagError> {
        cqe[63] = cqe[63] & !0xd | self.owner;
        self.owner ^= 1;
        // SAFETY: the queue reads it in its calls only.
        unsafe { self.cqe.0.write_volatile(Cqe(cqe)) };
        let mut event = None;
        // SAFETY: there is no device.
        self.cq.poll_with(1, |cqe| event = Some(unsafe { list.complete(&cqe) }));
        event.expect("a completion")
    }
}

fn new_list(rig: &Rig, shared: &Shared) -> List {
    let records = vec![TagRecord::default(); usize::from(TAGS) + 1];
    let (receives, commands) = owned(shared.queue(), rig.queue());
    // SAFETY: there is no device, and no other queue.
    unsafe { TagMatching::new(receives, commands, records) }.map_err(|(error, _)| error).expect("idle")
}

/// A completion of tag matching.
fn cqe(opcode: u8, app_op: u8, info: u16, counter: u16) -> [u8; 64] {
    let mut cqe = [0; 64];
    (cqe[40], cqe[41], cqe[63]) = (1, app_op, opcode << 4);
    cqe[42..44].copy_from_slice(&info.to_be_bytes());
    cqe[60..62].copy_from_slice(&counter.to_be_bytes());
    cqe
}

const NO_PACKET: u8 = 6;
const SEND: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    index: u16,
    tag: u64,
    mask: u64,
    is_new: bool,
    id: u64,
}

/// The device, by the document.
#[derive(Default)]
struct Device {
    list: Vec<Entry>,
    next: u16,
    unexpected: u16,
    /// The expected reports, and those that the list must give.
    told: VecDeque<([u8; 64], TagEvent)>,
    /// Buffers of the shared receive queue: their tags, by index.
    buffers: VecDeque<(u16, u64)>,
    /// Messages whose data is on the way.
    partial: Vec<(u16, u64, u32)>,
}

impl Device {
    fn execute(&mut self, wqe: &[u8], id: u64) {
        assert_eq!((wqe[3], wqe[17]), (0x28, 0xc0), "opcode, flags");
        let be16 = |at: usize| u16::from_be_bytes([wqe[at], wqe[at + 1]]);
        let be64 = |at: usize| u64::from_be_bytes(wqe[at..at + 8].try_into().expect("eight"));
        let (index, count) = (be16(18), be16(22));
        let in_step = count == self.unexpected;
        if in_step {
            self.list.iter_mut().for_each(|entry| entry.is_new = false);
        }
        let (app_op, event, success) = match wqe[16] >> 4 {
            1 => {
                assert_eq!(wqe[7], 4, "DS");
                let entry = TagIndex(self.next);
                let (tag, mask) = (be64(32), be64(40));
                self.list.push(Entry { index: self.next, tag, mask, is_new: !in_step, id });
                self.next = index;
                (5, TagEvent::Appended { wr_id: WrId(id), entry, in_step }, false)
            }
            2 => {
                let found = self.list.iter().position(|entry| entry.index == index);
                let removed = found.map(|at| self.list.remove(at)).is_some();
                (6, TagEvent::Removed { wr_id: WrId(id), entry: TagIndex(index), removed }, removed)
            }
            _ => (7, TagEvent::Synced { in_step }, false),
        };
        let mut cqe = cqe(NO_PACKET, app_op, 0xdead, 0xbeef);
        cqe[0] = u8::from(success) << 7;
        cqe[4..6].copy_from_slice(&self.unexpected.to_be_bytes());
        self.told.push_back((cqe, event));
    }

    /// A message of `bytes` bytes and its header; its data comes apart if `apart`. Nothing, if there is no room for it.
    fn message(&mut self, header: TagHeader, bytes: u32, apart: bool) {
        let matching = |entry: &Entry| !entry.is_new && header.tag & entry.mask == entry.tag;
        let found = self.list.iter().position(matching).filter(|_| header.kind == TagKind::Eager);
        if let Some(at) = found {
            let Entry { index, id, .. } = self.list.remove(at);
            let mut cqe = cqe(if apart { NO_PACKET } else { SEND }, if apart { 1 } else { 0xa }, index, 0);
            cqe[..16].copy_from_slice(&header.to_bytes());
            cqe[44..48].copy_from_slice(&bytes.to_be_bytes());
            let (wr_id, entry) = (WrId(id), TagIndex(index));
            let (header, complete) = (Some(header), !apart);
            let event = TagEvent::Matched { wr_id, entry, header, bytes, complete, incomplete: false };
            self.told.push_back((cqe, event));
            if apart {
                self.partial.push((index, id, bytes));
            }
            return;
        }
        let Some((index, id)) = self.buffers.pop_front() else { return };
        let (is_tagged, wr_id) = (header.kind == TagKind::Eager, WrId(id));
        let mut cqe = cqe(SEND, if is_tagged { 3 } else { 4 }, 0, index);
        cqe[44..48].copy_from_slice(&bytes.to_be_bytes());
        self.unexpected = self.unexpected.wrapping_add(is_tagged.into());
        let event = if is_tagged { TagEvent::Unexpected { wr_id, bytes } } else { TagEvent::NoTag { wr_id, bytes } };
        self.told.push_back((cqe, event));
    }

    fn finish(&mut self) {
        if !self.partial.is_empty() {
            let (index, id, bytes) = self.partial.remove(0);
            let (wr_id, entry) = (WrId(id), TagIndex(index));
            if bytes % 4 == 0 {
                self.told.push_back((cqe(SEND, 0xc, index, 0), TagEvent::Canceled { wr_id, entry }));
                return;
            }
            let mut cqe = cqe(SEND, 2, index, 0);
            cqe[44..48].copy_from_slice(&bytes.to_be_bytes());
            let event = TagEvent::Matched { wr_id, entry, header: None, bytes, complete: true, incomplete: false };
            self.told.push_back((cqe, event));
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Append { tag: u64, mask: u64 },
    Remove { nth: usize },
    Sync,
    Receive,
    Message { tag: u64, bytes: u32, apart: bool, tagged: bool },
    Finish,
    Poll,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let mask = prop_oneof![Just(u64::MAX), Just(1), Just(0)];
    let step = prop_oneof![
        4 => (0..4_u64, mask).prop_map(|(tag, mask)| Step::Append { tag, mask }),
        2 => (0..4_usize).prop_map(|nth| Step::Remove { nth }),
        1 => Just(Step::Sync),
        2 => Just(Step::Receive),
        4 => (0..4_u64, any::<u32>(), any::<bool>(), proptest::bool::weighted(0.9))
            .prop_map(|(tag, bytes, apart, tagged)| Step::Message { tag, bytes, apart, tagged }),
        2 => Just(Step::Finish),
        6 => Just(Step::Poll),
    ];
    vec(step, 1..200)
}

/// The list, its memory, and the device.
struct Pair {
    list: List,
    rig: Rig,
    _shared: Shared,
    completions: Completions,
    device: Device,
    /// Entries whose buffer the device has, or that have operations without a completion.
    live: Vec<(u16, u64, u32)>,
    posted: u16,
    /// Free WQEs of the shared receive queue, in the order in which they are posted.
    order: VecDeque<u16>,
}

impl Pair {
    fn new() -> Self {
        let rig = Rig::new(Setup { max_sge: 1, max_inline: 0, ..Setup::default() });
        let shared = Shared::new();
        let list = new_list(&rig, &shared);
        Self {
            list,
            rig,
            _shared: shared,
            completions: Completions::new(),
            device: Device::default(),
            live: Vec::new(),
            posted: 0,
            order: (0..=RECEIVES as u16).collect(),
        }
    }

    /// The device fetches the last request.
    fn execute(&mut self, id: u64) {
        let at = usize::from(self.posted % 8) * 64;
        self.posted += 1;
        assert_eq!(self.list.commands().pi().0, self.posted);
        self.device.execute(&self.rig.ring()[at..at + 64], id);
    }

    fn step(&mut self, n: u64, step: Step) {
        let is_full = self.list.commands().free() == Wqebbs(0);
        let full = Err(TagError::Post(PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) }));
        match step {
            Step::Append { tag, mask } => {
                // SAFETY: no device writes.
                let posted = unsafe { self.list.append_unchecked(tag, mask, BUFFER, WrId(n)) };
                if tag & !mask != 0 {
                    assert_eq!(posted, Err(TagError::OutsideMask { tag, mask }));
                } else if self.live.len() == usize::from(TAGS) {
                    assert_eq!(posted, Err(TagError::ListFull { tags: TAGS }));
                } else if is_full {
                    assert_eq!(posted.map(drop), full);
                } else {
                    let TagIndex(entry) = posted.expect("room");
                    assert_eq!(entry, self.device.next);
                    self.live.push((entry, n, 2));
                    self.execute(n);
                }
            }
            Step::Remove { nth } => {
                // Of those whose end was not told.
                let Some(&mut (entry, id, ref mut due)) = self.live.get_mut(nth) else {
                    let entry = TagIndex(u16::MAX);
                    assert_eq!(self.list.remove(entry), Err(TagError::NotListed { entry }));
                    return;
                };
                match self.list.remove(TagIndex(entry)) {
                    Ok(()) => {
                        *due += 1;
                        self.execute(id);
                    }
                    refused if is_full => {
                        assert!(refused == full || refused == Err(TagError::NotListed { entry: TagIndex(entry) }));
                    }
                    refused => assert_eq!(refused, Err(TagError::NotListed { entry: TagIndex(entry) })),
                }
            }
            Step::Sync => match self.list.sync() {
                Ok(()) => self.execute(0),
                refused => assert_eq!(refused, full),
            },
            Step::Receive => {
                let index = self.list.shared_receives().posted();
                if index < RECEIVES as u32 {
                    self.receive(n);
                }
            }
            Step::Message { tag, bytes, apart, tagged } => {
                let header = if tagged { TagHeader::eager(tag).app_ctx(7) } else { TagHeader::no_tag() };
                self.device.message(header, bytes, apart);
            }
            Step::Finish => self.device.finish(),
            Step::Poll => self.poll(),
        }
        assert_eq!((usize::from(self.list.len()), self.list.capacity()), (self.live.len(), TAGS));
    }

    fn receive(&mut self, id: u64) {
        let mut batch = self.list.receives();
        // SAFETY: no device writes.
        unsafe { batch.push_unchecked(WrId(id), &[BUFFER]) }.expect("room");
        batch.ring_doorbell();
        // WQEs go around in the order of the list: at first by their numbers, then as they come back.
        let at = self.order.pop_front().expect("free");
        self.device.buffers.push_back((at, id));
    }

    fn poll(&mut self) {
        let Some((cqe, expected)) = self.device.told.pop_front() else { return };
        assert_eq!(self.completions.tell(&mut self.list, cqe), Ok(expected));
        let mut less = |entry: TagIndex, by: u32| {
            let at = self.live.iter().position(|live| live.0 == entry.0).expect("live");
            self.live[at].2 -= by;
            if self.live[at].2 == 0 {
                self.live.remove(at);
            }
        };
        match expected {
            TagEvent::Appended { entry, .. } => less(entry, 1),
            TagEvent::Removed { entry, removed, .. } => less(entry, if removed { 2 } else { 1 }),
            TagEvent::Matched { entry, complete, .. } => less(entry, complete.into()),
            TagEvent::Canceled { entry, .. } => less(entry, 1),
            TagEvent::Unexpected { .. } | TagEvent::NoTag { .. } => {
                self.order.push_back(u16::from_be_bytes([cqe[60], cqe[61]]));
            }
            TagEvent::Synced { .. } | TagEvent::Failed { .. } => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_list_says_what_the_device_has_done(steps in steps()) {
        let mut pair = Pair::new();
        for (n, step) in steps.into_iter().enumerate() {
            pair.step(n as u64, step);
        }
        // All is told in the end, and each entry is free but those that wait for messages.
        while !(pair.device.told.is_empty() && pair.device.partial.is_empty()) {
            pair.device.finish();
            pair.poll();
        }
        assert_eq!(usize::from(pair.list.len()), pair.device.list.len());
        assert_eq!(pair.list.commands().free(), pair.list.commands().depth());
    }

    /// With any bytes, the list gives back only entries that were taken, and none twice.
    #[test]
    fn no_completion_gives_back_what_was_not_taken(cqes in vec((any::<[u8; 32]>(), 0..8_u16, 0..14_u8, 0..16_u8), 1..100)) {
        let rig = Rig::new(Setup { max_sge: 1, max_inline: 0, ..Setup::default() });
        let shared = Shared::new();
        let (mut list, mut completions) = (new_list(&rig, &shared), Completions::new());
        let mut due = 0;
        for (n, (bytes, index, app_op, opcode)) in cqes.into_iter().enumerate() {
            // SAFETY: no device writes.
            due += u32::from(unsafe { list.append_unchecked(1, 1, BUFFER, WrId(n as u64)) }.is_ok());
            let mut cqe = cqe(opcode.min(14), app_op, index, index);
            cqe[..32].copy_from_slice(&bytes);
            match completions.tell(&mut list, cqe) {
                Ok(
                    TagEvent::Matched { complete: true, .. }
                    | TagEvent::Canceled { .. }
                    | TagEvent::Removed { removed: true, .. },
                ) => {
                    due = due.checked_sub(1).expect("a buffer that was the device's");
                }
                Ok(TagEvent::Unexpected { .. } | TagEvent::NoTag { .. } | TagEvent::Failed { .. }) => {
                    panic!("no buffer was posted");
                }
                Ok(_) | Err(_) => {}
            }
            assert!(list.len() <= TAGS && u32::from(list.len()) >= due);
        }
    }
}

#[test]
fn unexpected_messages_must_be_told() {
    let rig = Rig::new(Setup { max_sge: 1, max_inline: 0, ..Setup::default() });
    let shared = Shared::new();
    let (mut list, mut completions) = (new_list(&rig, &shared), Completions::new());
    let mut order: VecDeque<u16> = (0..=RECEIVES as u16).collect();
    for n in 0..0x4000_u64 {
        assert!(!list.must_sync());
        let mut batch = list.receives();
        // SAFETY: no device writes.
        unsafe { batch.push_unchecked(WrId(n), &[BUFFER]) }.expect("room");
        batch.ring_doorbell();
        let at = order.pop_front().expect("free");
        let told = completions.tell(&mut list, cqe(SEND, 3, 0, at));
        assert_eq!(told, Ok(TagEvent::Unexpected { wr_id: WrId(n), bytes: 0 }));
        order.push_back(at);
    }
    assert_eq!((list.must_sync(), list.untold()), (true, 0x4000));
    list.sync().expect("room");
    assert!(!list.must_sync());
    assert_eq!(rig.ring()[22..24], [0x40, 0]);
    let mut synced = cqe(NO_PACKET, 7, 0, 0);
    synced[4..6].copy_from_slice(&[0x40, 1]);
    assert_eq!(completions.tell(&mut list, synced), Ok(TagEvent::Synced { in_step: false }));
}

#[test]
fn a_failed_command_is_one_of_the_command_queue() {
    let rig = Rig::new(Setup::default());
    let shared = Shared::new();
    let (mut list, mut completions) = (new_list(&rig, &shared), Completions::new());
    assert!(list.is_empty());
    // SAFETY: no device writes.
    unsafe { list.append_unchecked(1, 1, BUFFER, WrId(1)) }.expect("room");
    assert!(!list.is_empty());
    for (qpn, ours) in [(QPN, true), (QPN + 1, false)] {
        let mut failed = cqe(13, 0, 0, 0);
        failed[56..60].copy_from_slice(&qpn.to_be_bytes());
        let told = completions.tell(&mut list, failed).expect_err("an error");
        assert_eq!(matches!(told, TagError::Command(_)), ours, "{told:?}");
        assert_eq!(matches!(told, TagError::NotOfTags { .. }), !ours, "{told:?}");
    }
}

#[test]
fn a_command_is_done_once() {
    // The place of the next command is that of the last one.
    let rig = Rig::new(Setup { wqebbs: 1, ..Setup::default() });
    let shared = Shared::new();
    let (mut list, mut completions) = (new_list(&rig, &shared), Completions::new());
    let (appended, mut removed) = (cqe(NO_PACKET, 5, 0, 0), cqe(NO_PACKET, 6, 0, 0));
    removed[0] = 1 << 7;
    // SAFETY: no device writes.
    let entry = unsafe { list.append_unchecked(1, 1, BUFFER, WrId(1)) }.expect("room");
    assert_eq!(completions.tell(&mut list, appended), Ok(TagEvent::Appended { wr_id: WrId(1), entry, in_step: true }));
    list.remove(entry).expect("room");
    assert_eq!(completions.tell(&mut list, removed), Ok(TagEvent::Removed { wr_id: WrId(1), entry, removed: true }));
    let again = completions.tell(&mut list, removed);
    assert!(matches!(again, Err(TagError::NotPosted { .. })), "{again:?}");
}

#[test]
fn lists_that_cannot_be_are_refused() {
    let rig = Rig::new(Setup::default());
    for records in [0, 1, (1 << 15) + 1] {
        let shared = Shared::new();
        let (receives, commands) = owned(shared.queue(), rig.queue());
        // SAFETY: there is no device, and no other queue.
        let refused = unsafe { TagMatching::new(receives, commands, vec![TagRecord::default(); records]) };
        let (error, (_, _, back)) = refused.expect_err("no list");
        let what = "records of a list of tags";
        let expected = SetupError::OutOfRange { what, value: records as u64, min: 2, max: 1 << 15 };
        assert_eq!((error, back.len()), (expected, records));
    }
    let mut busy = rig.queue::<Rc>();
    busy.post(&blueflame::wqe::nop()).expect("room");
    let shared = Shared::new();
    let (receives, commands) = owned(shared.queue(), busy);
    // SAFETY: there is no device, and no other queue.
    let refused = unsafe { TagMatching::new(receives, commands, vec![TagRecord::default(); 2]) };
    let error = refused.expect_err("no list").0;
    let what = "command queue of a list of tags";
    assert_eq!(error, SetupError::Outstanding { what, outstanding: 1 });
    assert_eq!(error.to_string(), "the command queue of a list of tags must be idle, and has 1 WQEBBs outstanding");
}

#[test]
fn texts_name_the_value_and_the_limit() {
    let texts = [
        (TagError::ListFull { tags: 7 }.to_string(), "the list of tags is full: 7 of 7 entries are taken"),
        (
            TagError::NotListed { entry: TagIndex(3) }.to_string(),
            "the device has no buffer of entry 3 of the list of tags",
        ),
    ];
    for (text, expected) in texts {
        assert_eq!(text, expected);
    }
}
