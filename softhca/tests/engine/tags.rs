//! Tags: an SRQ that matches messages, against a list that knows nothing of rings and packets.

use crate::lab::*;
use fastrand::Rng;
use softhca::context::{QpAttr, QpState};
use softhca::packet::Operation;
use softhca::wire::fault::FaultConfig;
use std::collections::VecDeque;

/// `app_op` of CQEs.
const CONSUMED: u8 = 0x1;
const EXPECTED: u8 = 0x2;
const UNEXPECTED: u8 = 0x3;
const NO_TAG: u8 = 0x4;
const APPEND: u8 = 0x5;
const REMOVE: u8 = 0x6;
const NOOP: u8 = 0x7;
const CONSUMED_MSG: u8 = 0xa;
const CONSUMED_MSG_SW_RNDV: u8 = 0xb;
const CANCELED: u8 = 0xc;

/// Operations of headers.
const RNDV: u8 = 1;
const FIN: u8 = 2;
const EAGER: u8 = 3;

/// log2 of the places of the list.
const TAGS_LOG: u8 = 3;
/// Bytes from one tag's buffer to the next, and where the receive WQEs' buffers begin.
const BUFFER: u64 = 0x2000;
const UNTAGGED: u64 = 0x8_0000;
/// Where the sender has what it announces.
const ANNOUNCED: u64 = 0x4_0000;

/// A CQE: opcode, `app_op`, `app_info`, bytes, and its first 16.
type Told = (u8, u8, u16, u32, [u8; 16]);

/// `a` sends; `b` has an SRQ with tags, one QP for operations on it, which is posted to, and one that receives.
struct Tags {
    lab: Lab,
    receiver: u32,
}

impl Tags {
    fn new(options: Options) -> Self {
        let mut lab = Lab::of(options.clone(), Options { srq: true, tags_log: Some(TAGS_LOG), ..options });
        let fetching = lab.b.fetch_from(lab.a.identity());
        let (lid, gid, _) = lab.b.identity();
        lab.a.become_ready((lid, gid, fetching.qpn));
        Self { lab, receiver: fetching.qpn }
    }

    /// Posts receive WQEs to the SRQ, until it has all that it can hold.
    fn fill(&mut self, count: u64) {
        for _ in 0..count {
            let at = self.lab.b.data + UNTAGGED + u64::from(self.lab.b.rq_pi % 16) * BUFFER;
            self.lab.b.post_recv(&[(at, BUFFER as u32)]);
        }
    }

    fn buffer(&self, index: u16) -> u64 {
        self.lab.b.data + u64::from(index) * BUFFER
    }

    fn append(&mut self, index: u16, next: u16, tag: (u64, u64), sw: Option<u16>, len: u32) {
        let buffer = (self.buffer(index), len, self.lab.b.key);
        self.lab.b.post(&Wr::append(next, tag, sw, buffer));
    }

    fn send(&mut self, message: &[u8]) {
        self.lab.a.memory.write(self.lab.a.data, message);
        let wr = Wr::send().sge(self.lab.a.data, message.len() as u32, self.lab.a.key);
        self.lab.a.post(&if message.is_empty() { Wr::send() } else { wr });
    }

    /// What the SRQ's CQ has got.
    fn told(&mut self) -> Vec<Told> {
        self.lab.settle();
        let (receiver, operations) = (self.receiver, self.lab.b.qpn);
        let told = self.lab.b.poll_recv().into_iter().map(|cqe| {
            assert_eq!((cqe.uidx, cqe.app[0]), (UIDX, 1));
            let is_message = !matches!(cqe.app[1], APPEND | REMOVE | NOOP);
            assert_eq!(cqe.qpn, if is_message { receiver } else { operations });
            let index = u16::from_be_bytes([cqe.app[2], cqe.app[3]]);
            (cqe.opcode, cqe.app[1], index, cqe.byte_cnt, *cqe.data.first_chunk().unwrap())
        });
        told.collect()
    }
}

fn header(operation: u8, tag: u64) -> [u8; 16] {
    let mut header = [0; 16];
    header[0] = operation;
    header[4..8].copy_from_slice(b"user");
    header[8..].copy_from_slice(&tag.to_be_bytes());
    header
}

fn message(operation: u8, tag: u64, data: &[u8]) -> Vec<u8> {
    [&header(operation, tag), data].concat()
}

fn announcement(lab: &Lab, tag: u64, len: u32) -> Vec<u8> {
    let addr = (lab.a.data + ANNOUNCED).to_be_bytes();
    message(RNDV, tag, &[&addr[..], &lab.a.key.to_be_bytes(), &len.to_be_bytes()].concat())
}

/// What came of an operation.
fn outcome(operation: u8, index: u16, success: bool, hw_count: u16) -> Told {
    let mut head = [0; 16];
    head[0] = u8::from(success) << 7;
    head[4..6].copy_from_slice(&hw_count.to_be_bytes());
    (NO_PACKET, operation, index, 0, head)
}

const NOTHING: [u8; 16] = [0; 16];

/// A tag in the model's list.
struct Tag {
    index: u16,
    tag: u64,
    mask: u64,
    len: u32,
    held: bool,
}

/// What software and the device should know.
#[derive(Default)]
struct Model {
    list: Vec<Tag>,
    /// Places that are free; the first is where the next tag goes.
    free: VecDeque<u16>,
    /// Messages without a tag: what the device has counted, and what it has been told.
    counted: u16,
    seen: u16,
}

impl Model {
    fn sync(&mut self, seen: Option<u16>) {
        self.seen = seen.unwrap_or(self.seen);
        if self.seen == self.counted {
            self.list.iter_mut().for_each(|tag| tag.held = false);
        }
    }

    fn matching(&mut self, tag: u64) -> Option<Tag> {
        let at = self.list.iter().position(|entry| !entry.held && entry.tag & entry.mask == tag & entry.mask)?;
        let found = self.list.remove(at);
        self.free.push_back(found.index);
        Some(found)
    }
}

#[test]
fn messages_go_where_a_plain_list_says() {
    let losses = FaultConfig { drop: 20, duplicate: 20, reorder: 20, seed: 5, ..FaultConfig::default() };
    let mut outcomes = std::collections::BTreeMap::<u8, u32>::new();
    for series in 0..120 {
        let options = if series % 3 == 0 { Options::patient(losses) } else { Options::default() };
        let mtu = options.mtu as usize;
        let mut tags = Tags::new(options);
        tags.fill(16);
        let mut random = Rng::with_seed(series);
        let mut model = Model { free: (0..1 << TAGS_LOG).collect(), ..Model::default() };
        for _ in 0..60 {
            let seen = [None, Some(model.counted), Some(model.counted.wrapping_sub(1))][random.usize(..3)];
            let expected: Vec<Told> = match random.u8(..8) {
                0..3 if model.free.len() > 1 => {
                    let (tag, mask) = (random.u64(..4), [u64::MAX, 1, 0][random.usize(..3)]);
                    let (index, len) = (model.free.pop_front().unwrap(), [64, 8000][random.usize(..2)]);
                    tags.append(index, model.free[0], (tag, mask), seen, len);
                    model.sync(seen);
                    let held = model.seen != model.counted;
                    model.list.push(Tag { index, tag, mask, len, held });
                    vec![outcome(APPEND, index, true, model.counted)]
                }
                3 => {
                    let index = random.u16(..1 << TAGS_LOG);
                    tags.lab.b.post(&Wr::tags(2, index, seen));
                    model.sync(seen);
                    let found = model.list.iter().position(|tag| tag.index == index);
                    if let Some(at) = found {
                        model.free.push_back(model.list.remove(at).index);
                    }
                    vec![outcome(REMOVE, index, found.is_some(), model.counted)]
                }
                4 => {
                    tags.lab.b.post(&Wr::tags(0, 0, seen));
                    model.sync(seen);
                    vec![outcome(NOOP, 0, true, model.counted)]
                }
                kind => {
                    let (tag, len) = (random.u64(..4), [0, 40, 64, 3000][random.usize(..4)]);
                    let announces = kind == 5;
                    let data = tags.lab.a.fill(ANNOUNCED, len, random.u8(..));
                    let sent = match (kind, random.u8(..4)) {
                        (5, _) => announcement(&tags.lab, tag, len as u32),
                        (_, 0) => message([0, FIN, 7][random.usize(..3)], tag, &data),
                        _ => message(EAGER, tag, &data),
                    };
                    let has_tag = sent[0] == EAGER || announces;
                    let fits = |found: &Tag| announces || found.len as usize >= data.len();
                    // One that does not fit ends the queue pair: elsewhere.
                    let is_for = model.list.iter().find(|entry| !entry.held && (entry.tag ^ tag) & entry.mask == 0);
                    if has_tag && is_for.is_some_and(|found| !fits(found)) {
                        continue;
                    }
                    let found = if has_tag { model.matching(tag) } else { None };
                    let is_fetched = announces && found.as_ref().is_some_and(|found| data.len() <= found.len as usize);
                    let finished = tags.lab.a.data + 0x1_0000;
                    if is_fetched {
                        tags.lab.a.post_recv(&[(finished, 64)]);
                    }
                    tags.send(&sent);
                    let told = tags.told();
                    let head = *sent.first_chunk().unwrap();
                    let mut answers = tags.lab.a.poll_recv();
                    let expected = match found {
                        Some(Tag { index, .. }) if announces && !is_fetched => {
                            let scattered = tags.lab.b.memory.read(tags.buffer(index), 32);
                            assert_eq!(scattered, sent);
                            vec![(RECV, CONSUMED_MSG_SW_RNDV, index, 32, head)]
                        }
                        Some(Tag { index, .. }) => {
                            assert_eq!(tags.lab.b.memory.read(tags.buffer(index), data.len()), data);
                            if announces {
                                let fin = answers.pop().expect("a FIN");
                                assert_eq!((fin.byte_cnt, fin.solicited, fin.app), (32, true, [0; 4]));
                                assert_eq!(tags.lab.a.memory.read(finished, 32), [&[FIN], &sent[1..]].concat());
                            }
                            if announces || sent.len() > mtu {
                                let done = (RECV, EXPECTED, index, data.len() as u32, NOTHING);
                                vec![(NO_PACKET, CONSUMED, index, 0, head), done]
                            } else {
                                vec![(RECV, CONSUMED_MSG, index, data.len() as u32, head)]
                            }
                        }
                        None => {
                            let at = UNTAGGED + u64::from(tags.lab.b.rq_pi % 16) * BUFFER;
                            assert_eq!(tags.lab.b.memory.read(tags.lab.b.data + at, sent.len()), sent);
                            tags.fill(1);
                            model.counted += u16::from(has_tag);
                            vec![(RECV, if has_tag { UNEXPECTED } else { NO_TAG }, 0, sent.len() as u32, NOTHING)]
                        }
                    };
                    assert_eq!(answers, []);
                    tags.lab.a.poll_send();
                    assert_eq!(told, expected, "series {series}");
                    told.iter().for_each(|told| *outcomes.entry(told.1).or_default() += 1);
                    continue;
                }
            };
            let told = tags.told();
            assert_eq!(told, expected, "series {series}");
            told.iter().for_each(|told| *outcomes.entry(told.1).or_default() += 1);
        }
        assert_eq!((tags.lab.a.events.as_slice(), tags.lab.b.events.as_slice()), (&[][..], &[][..]));
    }
    for outcome in [CONSUMED, EXPECTED, UNEXPECTED, NO_TAG, APPEND, REMOVE, NOOP, CONSUMED_MSG, CONSUMED_MSG_SW_RNDV] {
        assert!(outcomes.get(&outcome).is_some_and(|&times| times > 50), "{outcome:#x} in {outcomes:?}");
    }
}

/// A tag that software has matched a message with meanwhile is held back until it says that it has seen the message.
#[test]
fn tags_wait_until_software_has_seen_all_messages() {
    let mut tags = Tags::new(Options::default());
    tags.fill(16);
    tags.send(&message(EAGER, 1, b"before"));
    assert_eq!(tags.told(), [(RECV, UNEXPECTED, 0, 22, NOTHING)]);
    tags.append(0, 1, (1, u64::MAX), Some(0), 64);
    assert_eq!(tags.told(), [outcome(APPEND, 0, true, 1)]);
    let info = tags.lab.b.device.query_srq(tags.lab.b.srqn.unwrap()).unwrap().tags.unwrap();
    assert_eq!((info.append_next_index, info.sw_phase_cnt, info.hw_phase_cnt), (1, 0, 1));
    tags.send(&message(EAGER, 1, b"held"));
    assert_eq!(tags.told(), [(RECV, UNEXPECTED, 0, 20, NOTHING)]);
    for (seen, count) in [(1, 2), (2, 2)] {
        tags.lab.b.post(&Wr::tags(0, 0, Some(seen)));
        assert_eq!(tags.told(), [outcome(NOOP, 0, true, count)]);
    }
    tags.send(&message(EAGER, 1, b"after"));
    assert_eq!(tags.told(), [(RECV, CONSUMED_MSG, 0, 5, header(EAGER, 1))]);
    assert_eq!(tags.lab.b.memory.read(tags.buffer(0), 5), b"after");
}

/// A message that its tag's buffer has no room for, or that cannot be written there: the tag's CQE says that nothing comes, and the sender
/// hears it. No receive WQE is taken.
#[test]
fn a_message_that_cannot_be_delivered_ends_its_tag() {
    // Of each: bytes of the buffer and of the message, the syndrome at the sender, and whether it takes several packets.
    for (room, bytes, readable, syndrome) in
        [(64, 65, true, 0x12), (4000, 4001, true, 0x12), (64, 10, false, 0x14), (8000, 4000, false, 0x14)]
    {
        let mut tags = Tags::new(Options::default());
        tags.fill(1);
        let key = tags.lab.b.key ^ u32::from(!readable);
        let buffer = (tags.buffer(0), room, key);
        tags.lab.b.post(&Wr::append(1, (7, u64::MAX), Some(0), buffer));
        tags.told();
        tags.send(&message(EAGER, 7, &vec![3; bytes]));
        let mut told = tags.told();
        assert_eq!(told.pop(), Some((RECV, CANCELED, 0, 0, NOTHING)), "{bytes}");
        assert_eq!(told.len(), usize::from(bytes > 1000), "{bytes}");
        let sent = tags.lab.a.poll_send();
        assert_eq!((sent[0].opcode, sent[0].syndrome), (REQ_ERR, syndrome), "{bytes}");
    }
}

/// What cannot be read from the sender does not come, and the tag's CQE says so.
#[test]
fn an_announcement_of_nothing_ends_its_tag() {
    let mut tags = Tags::new(Options::default());
    tags.fill(1);
    tags.append(0, 1, (7, u64::MAX), Some(0), 4000);
    tags.told();
    let mut sent = announcement(&tags.lab, 7, 3000);
    sent[27] ^= 1;
    tags.send(&sent);
    let head = *sent.first_chunk().unwrap();
    assert_eq!(tags.told(), [(NO_PACKET, CONSUMED, 0, 0, head), (RECV, CANCELED, 0, 0, NOTHING)]);
}

/// A QP that is reset and connected anew is still one that the device may send by.
#[test]
fn a_qp_that_begins_anew_still_fetches() {
    let mut tags = Tags::new(Options::default());
    tags.append(0, 1, (7, u64::MAX), Some(0), 4000);
    tags.told();
    let reset = QpAttr { state: Some(QpState::Reset), ..QpAttr::default() };
    tags.lab.a.modify(reset);
    tags.lab.a.pi = 0;
    let (lid, gid, _) = tags.lab.b.identity();
    tags.lab.a.become_ready((lid, gid, tags.receiver));
    let b = &tags.lab.b;
    let ready = [reset, b.init_attr(), b.rtr_attr(tags.lab.a.identity()), b.rts_attr()];
    for attr in ready {
        tags.lab.b.device.modify_qp(tags.receiver, &attr).unwrap();
    }
    tags.lab.a.post_recv(&[(tags.lab.a.data + 0x1_0000, 64)]);
    let sent = announcement(&tags.lab, 7, 3000);
    tags.send(&sent);
    let expected = [(NO_PACKET, CONSUMED, 0, 0, *sent.first_chunk().unwrap()), (RECV, EXPECTED, 0, 3000, NOTHING)];
    assert_eq!(tags.told(), expected);
}

/// Many announcements at once: the data is there before the sender hears that it was fetched, although packets are lost.
#[test]
fn what_is_announced_is_fetched_before_its_sender_may_free_it() {
    let losses = FaultConfig { drop: 30, duplicate: 20, reorder: 30, seed: 11, ..FaultConfig::default() };
    for max_rd_atomic in [1, 4] {
        let mut tags = Tags::new(Options { max_rd_atomic, ..Options::patient(losses) });
        tags.fill(1);
        for round in 0..20_u8 {
            for index in 0..7 {
                tags.append(index, index + 1, (index.into(), u64::MAX), Some(0), 8000);
            }
            // So that the next ones begin at the first place again.
            tags.append(7, 0, (99, u64::MAX), Some(0), 64);
            tags.lab.b.post(&Wr::tags(2, 7, None));
            assert_eq!(tags.told().len(), 9);
            let data = tags.lab.a.fill(ANNOUNCED, 7000, round);
            for tag in 0..7 {
                tags.lab.a.post_recv(&[(tags.lab.a.data + 0x1_0000, 64)]);
                let sent = announcement(&tags.lab, tag, 7000);
                let at = tags.lab.a.data + 64 * tag;
                tags.lab.a.memory.write(at, &sent);
                tags.lab.a.post(&Wr::send().sge(at, sent.len() as u32, tags.lab.a.key));
            }
            tags.lab.run();
            let mut fins = tags.lab.a.poll_recv().len();
            let memory = &tags.lab.b.memory;
            for index in 0..fins as u16 {
                assert_eq!(memory.read(tags.buffer(index), 7000), data, "round {round}: {fins} are said to be fetched");
            }
            tags.lab.settle();
            fins += tags.lab.a.poll_recv().len();
            assert_eq!((fins, tags.told().len()), (7, 14));
            tags.lab.a.poll_send();
        }
    }
}

/// Without a QP whose send queue is the device's, software fetches.
#[test]
fn a_qp_with_a_send_queue_leaves_what_is_announced_to_software() {
    let options = Options { srq: true, tags_log: Some(TAGS_LOG), ..Options::default() };
    let mut lab = Lab::of(Options::default(), options);
    lab.connect();
    let receiver = lab.b.qpn;
    let mut tags = Tags { lab, receiver };
    tags.append(0, 1, (7, u64::MAX), Some(0), 64);
    tags.told();
    let sent = announcement(&tags.lab, 7, 10);
    tags.send(&sent);
    assert_eq!(tags.told(), [(RECV, CONSUMED_MSG_SW_RNDV, 0, 32, *sent.first_chunk().unwrap())]);
    assert_eq!(tags.lab.b.memory.read(tags.buffer(0), 32), sent);
    assert!(tags.lab.b.device.offload_rendezvous(receiver).is_err(), "it has a send queue");
}

/// Places that there are not, or are taken, reserved bits, and queues without tags: the request fails, and the list stays as it was.
#[test]
fn operations_that_make_no_sense_fail() {
    let append = |next: u16| Wr::append(next, (7, u64::MAX), None, (0, 0, 0x100));
    let mut with_flag = Wr::tags(0, 0, None);
    with_flag.body[1] |= 1;
    let mut reserved = Wr::tags(0, 0, None);
    reserved.body[9] = 1;
    let mut short = append(1);
    short.body.truncate(32);
    let mut inline = append(1);
    inline.body[32] = 0x80;
    let cases = [
        append(8),
        append(u16::MAX),
        Wr::tags(2, 8, None),
        Wr::tags(3, 0, None),
        with_flag,
        reserved,
        short,
        inline,
        Wr::tags(1, 0, None).sge(0, 0, 0x100).sge(0, 0, 0x100),
    ];
    for (number, wr) in cases.iter().enumerate() {
        let mut tags = Tags::new(Options::default());
        tags.append(0, 1, (7, u64::MAX), None, 64);
        assert_eq!(tags.told(), [outcome(APPEND, 0, true, 0)]);
        tags.lab.b.post(wr);
        assert_eq!(tags.told(), [], "case {number}");
        let failed = tags.lab.b.poll_send();
        assert_eq!(
            (failed[0].opcode, failed[0].syndrome, failed[0].wqe_opcode),
            (REQ_ERR, 0x02, 0x28),
            "case {number}"
        );
        let srqn = tags.lab.b.srqn.unwrap();
        let info = tags.lab.b.device.query_srq(srqn).unwrap().tags.unwrap();
        assert_eq!((info.append_next_index, info.hw_phase_cnt), (1, 0), "case {number}");
    }
    // The place is taken: the one before said so.
    let mut tags = Tags::new(Options::default());
    tags.append(0, 0, (7, u64::MAX), None, 64);
    tags.append(0, 1, (7, u64::MAX), None, 64);
    assert_eq!(tags.told(), [outcome(APPEND, 0, true, 0)]);
    assert_eq!(tags.lab.b.poll_send()[0].syndrome, 0x02);
    // A QP without such an SRQ.
    let mut lab = Lab::new(Options::default());
    lab.b.post(&Wr::tags(0, 0, None));
    lab.settle();
    assert_eq!(lab.b.poll_send()[0].syndrome, 0x02);
}

/// Flushed: who has been promised data hears that it will not come.
#[test]
fn what_is_on_its_way_when_the_queue_ends_is_canceled() {
    let mut tags = Tags::new(Options::default());
    tags.append(0, 1, (1, u64::MAX), Some(0), 8000);
    tags.append(1, 2, (2, u64::MAX), Some(0), 8000);
    tags.told();
    // What is fetched is lost, and so is the message from its middle on.
    tags.lab.a.script(|packet| {
        let opcode = packet.headers.bth.opcode;
        let arrives = opcode.operation() == Operation::Send && opcode.place().begins();
        if arrives { Fate::Deliver } else { Fate::Drop }
    });
    let sent = announcement(&tags.lab, 1, 3000);
    tags.send(&sent);
    tags.lab.run();
    let eager = message(EAGER, 2, &[5; 3000]);
    tags.send(&eager);
    tags.lab.run();
    let consumed = tags.lab.b.poll_recv();
    assert_eq!(consumed.iter().map(|cqe| cqe.app[1]).collect::<Vec<_>>(), [CONSUMED; 2]);
    let error = QpAttr { state: Some(QpState::Err), ..QpAttr::default() };
    tags.lab.b.device.modify_qp(tags.receiver, &error).unwrap();
    let told = tags.told();
    let mut canceled: Vec<_> = told.iter().map(|told| (told.1, told.2)).collect();
    canceled.sort_unstable();
    assert_eq!(canceled, [(CANCELED, 0), (CANCELED, 1)]);
}

/// Operations and messages of any bytes, by hosts and peers that lose their minds: no panic and no endless work, and the list stays what a
/// list can be.
#[test]
fn any_operations_and_messages_leave_a_device_that_works() {
    for series in 0..150 {
        let mut random = Rng::with_seed(series);
        let mut tags = Tags::new(Options { max_dest_rd_atomic: 16, ..Options::default() });
        tags.fill(16);
        for _ in 0..12 {
            let mut wr = Wr::new(0x28).flags(0);
            wr.body = (0..random.usize(0..5) * 16).map(|_| random.u8(..)).collect();
            // Often one that is nearly right.
            if wr.body.len() >= 32 && random.u8(..4) != 0 {
                wr.body[0] &= 0x30;
                wr.body[1] &= 0xc0;
                wr.body[4..6].fill(0);
                wr.body[8..16].fill(0);
                let places = random.u16(..=1 << TAGS_LOG);
                wr.body[2..4].copy_from_slice(&places.to_be_bytes());
                wr.body[16..32].fill(random.u8(..2) * 0xff);
            }
            tags.lab.b.post(&wr);
            let mut sent: Vec<u8> = (0..random.usize(..80)).map(|_| random.u8(..)).collect();
            if let Some(operation) = sent.first_mut() {
                *operation &= 3;
            }
            // Of what it announces, the key may be right.
            if sent.len() >= 32 {
                sent[24..28].copy_from_slice(&tags.lab.a.key.to_be_bytes());
                sent[28..30].fill(0);
            }
            tags.send(&sent);
            tags.lab.settle();
            tags.lab.a.poll_send();
            tags.lab.b.poll_send();
            let told = tags.lab.b.poll_recv();
            assert!(told.len() < 64, "series {series}: {told:?}");
        }
        let info = tags.lab.b.device.query_srq(tags.lab.b.srqn.unwrap()).unwrap().tags.unwrap();
        assert!(info.append_next_index < 1 << TAGS_LOG, "series {series}");
        let error = QpAttr { state: Some(QpState::Err), ..QpAttr::default() };
        let reset = QpAttr { state: Some(QpState::Reset), ..QpAttr::default() };
        for qpn in [tags.receiver, tags.lab.b.qpn] {
            tags.lab.b.device.modify_qp(qpn, &error).unwrap();
            tags.lab.settle();
            tags.lab.b.device.modify_qp(qpn, &reset).unwrap();
            tags.lab.b.device.destroy_qp(qpn).unwrap();
        }
        tags.lab.b.device.destroy_srq(tags.lab.b.srqn.unwrap()).unwrap();
    }
}
