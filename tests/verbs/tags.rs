//! Lists of tagged buffers by verbs, end to end: messages that match, in any order and by masks, and messages that do
//! not.
//!
//! Tag matching by verbs belongs here, by commands in `devx/tests/device/tags.rs`.

use blueflame::queue::tags::{TagError, TagEvent, TagListSizes};
use blueflame::tagged::{RendezvousHeader, TagHeader, TagKind};
use blueflame::transport::Rc;
use blueflame::types::{Psn, TagIndex, WrId};
use blueflame::verbs::device::LinkLayer;
use blueflame::verbs::receive::{OwnedTagMatching, TagAttr};
use blueflame::verbs::{Access, Buffer, Device, Error, OwnedCq, Pool, ProtectionDomain, QueuePair};
use blueflame::wqe::data::Data;
use blueflame::wqe::{self, Remote, Request, SupportedOn};

use crate::on_device::{device, wait_for};

const TAGS: u32 = 8;
/// Bytes of each buffer, and where those for unexpected messages begin.
const ROOM: usize = 8192;
const UNEXPECTED: usize = 16 * ROOM;

/// A list, a connection to itself that receives from it, and memory.
struct Line {
    list: OwnedTagMatching,
    cq: OwnedCq,
    pair: QueuePair<Rc>,
    send_cq: OwnedCq,
    memory: Buffer,
    _pd: ProtectionDomain,
    _device: Device,
}

impl Line {
    fn new() -> Option<Self> {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let path = device.path(1, None).expect("a path");
        let (cq, send_cq) =
            (device.completion_queue(256).build().expect("a CQ"), device.completion_queue(512).build().expect("a CQ"));
        let sizes = TagListSizes { tags: TAGS, receives: 16, ..TagListSizes::DEFAULT };
        // One more of the drain, and buffers to the end of the ring.
        assert_eq!(sizes.completions(), 2 * TAGS + 2 + 1 + 2 * TAGS + 31);
        let is_ethernet = device.port(1).expect("a port").link_layer == LinkLayer::Ethernet;
        let tags = device.tag_matching().expect("asked");
        assert!(tags.is_none() || !is_ethernet, "no device matches tags on Ethernet: {tags:?}");
        if tags.is_none() {
            assert!(matches!(pd.tag_matching(&cq, &path, &sizes), Err(Error::Unsupported { what: "tag matching" })));
            return None;
        }
        let list = pd.tag_matching(&cq, &path, &sizes).expect("a list");
        assert_eq!((list.capacity(), list.is_empty()), (TAGS as u16, true));
        let shared = list.shared_receives().handle();
        let pair = pd.queue_pair::<Rc>(&send_cq, &cq).shared_recv_queue(shared).inline(64);
        let mut pair = pair.build().expect("a queue pair");
        let itself = pair.qp.endpoint_with(&path, Psn::truncate(7));
        pair.qp.to_init(&path).expect("INIT");
        pair.connect(&path, &itself, &itself).expect("connect");
        let bytes = 64 * ROOM;
        let memory = Pool::new(&pd, bytes, Access::ALL).expect("a pool").take(bytes).expect("all of it");
        let mut line = Self { list, cq, pair, send_cq, memory, _pd: pd, _device: device };
        for n in 0..16 {
            line.receive(n);
        }
        Some(line)
    }

    /// A buffer for what matches nothing.
    fn receive(&mut self, n: u64) {
        let at = UNEXPECTED + n as usize * ROOM;
        let sge = self.memory.sge_of(at..at + ROOM);
        let mut batch = self.list.receives();
        // SAFETY: memory of this line's that nobody else uses until the buffer completes.
        unsafe { batch.push_unchecked(WrId(n), &[sge]) }.expect("room");
        batch.ring_doorbell();
    }

    /// Appends buffer `n`.
    fn append(&mut self, tag: u64, mask: u64, n: u64) -> Result<TagIndex, TagError> {
        let at = n as usize * ROOM;
        // SAFETY: this line's memory, which nobody else uses until the event; the list gets its own completions.
        unsafe { self.list.append_unchecked(tag, mask, self.memory.sge_of(at..at + ROOM), WrId(n)) }
    }

    /// The next event of the list.
    fn event(&mut self) -> TagEvent {
        wait_for("an event", || {
            let (list, mut event) = (&mut self.list, None);
            // SAFETY: nothing else completes there; polled once.
            self.cq.poll_with(1, |cqe| event = Some(unsafe { list.complete(&cqe) }.expect("of the list")));
            event
        })
    }

    /// Appends, and waits until that is done: whether the device compares at once.
    fn listed(&mut self, tag: u64, mask: u64, n: u64) -> (TagIndex, bool) {
        let entry = self.append(tag, mask, n).expect("room");
        match self.event() {
            TagEvent::Appended { wr_id, entry: told, in_step } if (wr_id, told) == (WrId(n), entry) => (entry, in_step),
            other => panic!("not appended, but {other:?}"),
        }
    }

    /// Sends a message of `bytes` bytes with its header.
    fn send(&mut self, header: TagHeader, bytes: usize) {
        let (at, end) = (48 * ROOM, 48 * ROOM + TagHeader::BYTES + bytes);
        let data: Vec<u8> = (0..bytes).map(|n| byte(header.tag, n)).collect();
        self.memory.write(at, &header.to_bytes());
        self.memory.write(at + TagHeader::BYTES, &data);
        self.post(&wqe::send().gather([self.memory.sge_of(at..end)]).signaled(WrId(1)));
    }

    /// Posts a request, and waits until it is done.
    fn post<O: SupportedOn<Rc>, D: Data>(&mut self, request: &Request<'_, O, D>) {
        // SAFETY: nobody else uses the memory until the request is done, for which this waits.
        unsafe { self.pair.sq.post_unchecked(request) }.expect("room");
        wait_for("a completion", || {
            let cqe = self.send_cq.poll()?;
            assert_eq!(cqe.check().map(drop), Ok(()));
            Some(self.pair.sq.retire(&cqe).expect("posted"))
        });
    }

    fn is_data(&self, at: usize, tag: u64, bytes: usize) -> bool {
        let mut found = vec![0; bytes];
        self.memory.read(at, &mut found);
        found.into_iter().enumerate().all(|(n, found)| found == byte(tag, n))
    }

    /// A message has matched buffer `n`, and all its data is there.
    fn matched(&mut self, header: TagHeader, entry: TagIndex, n: u64, bytes: usize) {
        let (wr_id, mut told) = (WrId(n), None);
        loop {
            match self.event() {
                TagEvent::Matched { wr_id: id, entry: of, header, bytes: len, complete, incomplete: false }
                    if (id, of) == (wr_id, entry) =>
                {
                    told = told.or(header);
                    if complete {
                        assert_eq!(len as usize, bytes);
                        break;
                    }
                }
                other => panic!("no match, but {other:?}"),
            }
        }
        assert_eq!(told, Some(header));
        assert!(self.is_data(n as usize * ROOM, header.tag, bytes), "the data is in its buffer, without the header");
    }

    /// A message is in a buffer of the shared receive queue, which is posted again.
    fn unexpected(&mut self, header: TagHeader, bytes: usize) {
        let len = (TagHeader::BYTES + bytes) as u32;
        let WrId(n) = match self.event() {
            TagEvent::Unexpected { wr_id, bytes } if header.kind == TagKind::Eager && bytes == len => wr_id,
            TagEvent::NoTag { wr_id, bytes } if header.kind == TagKind::NoTag && bytes == len => wr_id,
            other => panic!("not unexpected, but {other:?}"),
        };
        let at = UNEXPECTED + n as usize * ROOM;
        let mut found = [0; TagHeader::BYTES];
        self.memory.read(at, &mut found);
        assert_eq!(TagHeader::from_bytes(found), header);
        assert!(self.is_data(at + TagHeader::BYTES, header.tag, bytes), "the whole message is in the buffer");
        self.receive(n);
    }
}

/// Byte `n` of the data of a message.
fn byte(tag: u64, n: usize) -> u8 {
    (n as u64 ^ n as u64 >> 8 ^ tag) as u8
}

#[test]
fn messages_find_their_buffers() {
    let Some(mut line) = Line::new() else { return };
    let all = u64::MAX;
    let entries: Vec<_> = (0..4).map(|n| line.listed(100 + n, all, n)).collect();
    assert!(entries.iter().all(|(_, in_step)| *in_step));
    // In another order than they were appended, of one packet and of several.
    for (n, bytes) in [(2, 100), (0, 5000), (3, 0), (1, 1)] {
        let header = TagHeader::eager(100 + n).app_ctx(n as u32 + 7);
        line.send(header, bytes);
        line.matched(header, entries[n as usize].0, n, bytes);
    }
    assert!(line.list.is_empty());
    // The first that fits, by its mask.
    let (any, _) = line.listed(0, 0, 0);
    let (same, _) = line.listed(5, all, 1);
    for (entry, n) in [(any, 0), (same, 1)] {
        line.send(TagHeader::eager(5), 64);
        line.matched(TagHeader::eager(5), entry, n, 64);
    }
    // Around the list, many times.
    for n in 0..3 * u64::from(TAGS) {
        let (entry, _) = line.listed(n, all, n % 8);
        line.send(TagHeader::eager(n), 33);
        line.matched(TagHeader::eager(n), entry, n % 8, 33);
    }
}

#[test]
fn what_matches_nothing_is_unexpected_and_counted() {
    let Some(mut line) = Line::new() else { return };
    line.send(TagHeader::eager(1), 40);
    // Before software has seen it, a buffer is appended, which the device does not compare with anything.
    let (late, in_step) = line.append_behind_unexpected();
    assert!(!in_step);
    line.send(TagHeader::eager(1), 41);
    line.unexpected(TagHeader::eager(1), 41);
    assert_eq!(line.list.untold(), 2);
    line.list.sync().expect("room");
    assert_eq!(line.event(), TagEvent::Synced { in_step: true });
    line.send(TagHeader::eager(1), 42);
    line.matched(TagHeader::eager(1), late, 3, 42);
    // A message without a tag matches no entry, and is not counted.
    let (any, in_step) = line.listed(0, 0, 0);
    assert!(in_step);
    line.send(TagHeader::no_tag(), 50);
    line.unexpected(TagHeader::no_tag(), 50);
    assert_eq!(line.list.untold(), 0);
    line.send(TagHeader::eager(9), 10);
    line.matched(TagHeader::eager(9), any, 0, 10);
}

impl Line {
    /// Buffer 3, for tag 1, while the completion of a message with that tag waits.
    fn append_behind_unexpected(&mut self) -> (TagIndex, bool) {
        let entry = self.append(1, u64::MAX, 3).expect("room");
        self.unexpected(TagHeader::eager(1), 40);
        match self.event() {
            TagEvent::Appended { entry: told, in_step, .. } if told == entry => (entry, in_step),
            other => panic!("not appended, but {other:?}"),
        }
    }
}

#[test]
fn buffers_are_removed_unless_a_message_comes_first() {
    let Some(mut line) = Line::new() else { return };
    let all = u64::MAX;
    let (entry, _) = line.listed(7, all, 0);
    line.list.remove(entry).expect("room");
    assert_eq!(line.list.remove(entry), Err(TagError::NotListed { entry }));
    assert_eq!(line.event(), TagEvent::Removed { wr_id: WrId(0), entry, removed: true });
    assert_eq!(line.list.remove(entry), Err(TagError::NotListed { entry }));
    line.send(TagHeader::eager(7), 20);
    line.unexpected(TagHeader::eager(7), 20);
    // The message is there, and nobody knows.
    let (entry, _) = line.listed(8, all, 1);
    line.send(TagHeader::eager(8), 20);
    line.list.remove(entry).expect("room");
    line.matched(TagHeader::eager(8), entry, 1, 20);
    assert_eq!(line.event(), TagEvent::Removed { wr_id: WrId(1), entry, removed: false });
    assert!(line.list.is_empty());
    // All tags, and one more.
    for n in 0..TAGS.into() {
        line.listed(n, all, n);
    }
    let full = line.append(99, all, 9);
    assert_eq!(full, Err(TagError::ListFull { tags: TAGS as u16 }));
    assert_eq!(full.expect_err("full").to_string(), "the list of tags is full: 8 of 8 entries are taken");
}

/// A tag with bits outside its mask is for no message: the list refuses it, and the device matches nothing with it.
#[test]
fn a_tag_with_bits_outside_its_mask_is_refused() {
    let Some(mut line) = Line::new() else { return };
    let refused = line.append(3, 1, 0);
    assert_eq!(refused, Err(TagError::OutsideMask { tag: 3, mask: 1 }));
    let said = refused.expect_err("refused").to_string();
    assert_eq!(said, "tag 0x3 has bits outside its mask 0x1, so no message would match");
    let (entry, _) = line.listed(1, 1, 0);
    line.send(TagHeader::eager(3), 20);
    line.matched(TagHeader::eager(3), entry, 0, 20);
}

/// The headers are in the tag's buffer. Software reads the data, and tells the sender.
#[test]
fn a_rendezvous_that_does_not_fit_is_left_to_software() {
    let Some(mut line) = Line::new() else { return };
    let (entry, _) = line.listed(5, u64::MAX, 2);
    let (from, to, bytes) = (50 * ROOM, 4 * ROOM, ROOM + 100);
    let data: Vec<u8> = (0..bytes).map(|n| byte(77, n)).collect();
    line.memory.write(from, &data);
    let header = TagHeader::rendezvous(5).app_ctx(11);
    let data =
        RendezvousHeader { addr: line.memory.addr() + from as u64, rkey: line.memory.rkey(), bytes: bytes as u32 };
    let message = [header.to_bytes(), data.to_bytes()].concat();
    line.post(&wqe::send().inline_slice(&message[..]).signaled(WrId(1)));
    match line.event() {
        TagEvent::Matched { wr_id: WrId(2), entry: of, header: told, complete: true, incomplete: true, .. } => {
            assert_eq!((of, told), (entry, Some(header)));
        }
        other => panic!("not left to software, but {other:?}"),
    }
    let mut found = [0; 32];
    line.memory.read(2 * ROOM, &mut found);
    let (told, rest) = TagHeader::split(&found).expect("a header");
    let (place, _) = RendezvousHeader::split(rest).expect("where the data is");
    assert_eq!((told, place), (header, data));
    let remote = Remote { addr: place.addr, rkey: place.rkey };
    line.post(&wqe::read(remote).scatter([line.memory.sge_of(to..to + bytes)]).signaled(WrId(1)));
    assert!(line.is_data(to, 77, bytes));
    let message = [told.finished().to_bytes(), place.to_bytes()].concat();
    line.post(&wqe::send().inline_slice(&message[..]).signaled(WrId(1)));
    let TagEvent::NoTag { wr_id: WrId(n), bytes: 32 } = line.event() else { panic!("no word that it is finished") };
    line.memory.read(UNEXPECTED + n as usize * ROOM, &mut found);
    assert_eq!(TagHeader::split(&found).expect("a header").0, header.finished());
}

/// The queue pair's send queue belongs to the device. The sender hears that its memory is free again.
#[test]
fn the_device_fetches_a_rendezvous() {
    let Some(mut line) = Line::new() else { return };
    if !line._device.tag_matching().expect("asked").expect("it has it").rendezvous {
        return;
    }
    let path = line._device.path(1, None).expect("a path");
    let receiver = line._pd.tag_receiver(line.cq.handle(), line.list.shared_receives().handle()).expect("a receiver");
    let mut recv_cq = line._device.completion_queue(16).build().expect("a CQ");
    let sender = line._pd.queue_pair::<Rc>(&line.send_cq, &recv_cq).receives(4).inline(64);
    line.pair = sender.build().expect("a queue pair");
    let ends =
        [line.pair.qp.endpoint_with(&path, Psn::truncate(9)), receiver.qp().endpoint_with(&path, Psn::truncate(10))];
    receiver.qp().to_init(&path).expect("INIT");
    line.pair.qp.to_init(&path).expect("INIT");
    receiver.connect(&path, &ends[1], &ends[0]).expect("connect");
    line.pair.connect(&path, &ends[0], &ends[1]).expect("connect");
    for (n, bytes) in [(2, ROOM), (3, 1), (4, 0)] {
        let (entry, _) = line.listed(n, u64::MAX, n);
        // SAFETY: nobody else uses this memory until the receive completes.
        unsafe { line.pair.rq.post_unchecked(WrId(n), &[line.memory.sge_of(40 * ROOM..40 * ROOM + 64)]) }
            .expect("room");
        let from = 50 * ROOM;
        line.memory.write(from, &(0..bytes).map(|at| byte(n, at)).collect::<Vec<_>>());
        let header = TagHeader::rendezvous(n).app_ctx(11);
        let data =
            RendezvousHeader { addr: line.memory.addr() + from as u64, rkey: line.memory.rkey(), bytes: bytes as u32 };
        let message = [header.to_bytes(), data.to_bytes()].concat();
        line.post(&wqe::send().inline_slice(&message[..]).signaled(WrId(1)));
        line.matched(header, entry, n, bytes);
        let finished = wait_for("word that it is finished", || {
            let cqe = recv_cq.poll()?;
            Some((line.pair.rq.retire(&cqe), cqe.byte_len()))
        });
        assert_eq!(finished, (Ok(WrId(n)), 32));
        let mut found = [0; 32];
        line.memory.read(40 * ROOM, &mut found);
        let (told, rest) = TagHeader::split(&found).expect("a header");
        assert_eq!((told, RendezvousHeader::split(rest)), (header.finished(), Some((data, [].as_slice()))));
    }
    assert!(line.list.is_empty());
}

#[test]
fn sizes_that_the_device_does_not_have_are_refused() {
    let Some(line) = Line::new() else { return };
    let (pd, cq) = (&line._pd, &line.cq);
    let path = line._device.path(1, None).expect("a path");
    let TagAttr { max_tags, max_operations, rendezvous, max_rendezvous_bytes } =
        line._device.tag_matching().expect("asked").expect("it has it");
    assert!(max_tags >= TAGS && max_operations >= 2 && (max_rendezvous_bytes >= 32 || !rendezvous));
    let default = TagListSizes::DEFAULT;
    for sizes in [
        TagListSizes { tags: 0, ..default },
        TagListSizes { tags: max_tags + 1, ..default },
        TagListSizes { tags: u32::MAX, receives: u32::MAX, ..default },
        TagListSizes { operations: Some(0), ..default },
        TagListSizes { operations: Some(max_operations + 1), ..default },
    ] {
        let refused = pd.tag_matching(cq, &path, &sizes).expect_err("no such list");
        assert!(matches!(refused, Error::OutOfRange { .. }), "{refused}");
    }
}
