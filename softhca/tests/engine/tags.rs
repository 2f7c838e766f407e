//! Tags: an SRQ that matches messages, against a list that knows nothing of rings and packets.
//!
//! Matching belongs here, faults in `tags_faults.rs`.

use crate::lab::*;
use fastrand::Rng;
use softhca::context::{QpAttr, QpState};
use softhca::packet::Operation;
use softhca::wire::fault::FaultConfig;
use std::collections::VecDeque;

/// `app_op` of CQEs.
pub(crate) const CONSUMED: u8 = 0x1;
const EXPECTED: u8 = 0x2;
const UNEXPECTED: u8 = 0x3;
const NO_TAG: u8 = 0x4;
pub(crate) const APPEND: u8 = 0x5;
const REMOVE: u8 = 0x6;
const NOOP: u8 = 0x7;
pub(crate) const CONSUMED_MSG: u8 = 0xa;
const CONSUMED_MSG_SW_RNDV: u8 = 0xb;
pub(crate) const CANCELED: u8 = 0xc;

/// Operations of headers.
const RNDV: u8 = 1;
const FIN: u8 = 2;
pub(crate) const EAGER: u8 = 3;

/// log2 of the places of the list.
pub(crate) const TAGS_LOG: u8 = 3;
/// Bytes from one tag's buffer to the next, and where the receive WQEs' buffers begin.
const BUFFER: u64 = 0x2000;
const UNTAGGED: u64 = 0x8_0000;
/// The sender's place of the announced data.
const ANNOUNCED: u64 = 0x4_0000;

/// A CQE: opcode, `app_op`, `app_info`, bytes, and its first 16.
pub(crate) type Told = (u8, u8, u16, u32, [u8; 16]);

/// `a` sends; `b` has an SRQ with tags, one QP for operations on it, which is posted to, and one that receives.
pub(crate) struct Tags {
    pub(crate) lab: Lab,
    pub(crate) receiver: u32,
}

impl Tags {
    pub(crate) fn new(options: Options) -> Self {
        let mut lab = Lab::of(options.clone(), Options { srq: true, tags_log: Some(TAGS_LOG), ..options });
        let fetching = lab.b.fetch_from(lab.a.identity());
        let (lid, gid, _) = lab.b.identity();
        lab.a.become_ready((lid, gid, fetching.qpn));
        Self { lab, receiver: fetching.qpn }
    }

    /// Posts receive WQEs to the SRQ, until it has all that it can hold.
    pub(crate) fn fill(&mut self, count: u64) {
        for _ in 0..count {
            let at = self.lab.b.data + UNTAGGED + u64::from(self.lab.b.rq_pi % 16) * BUFFER;
            self.lab.b.post_recv(&[(at, BUFFER as u32)]);
        }
    }

    pub(crate) fn buffer(&self, index: u16) -> u64 {
        self.lab.b.data + u64::from(index) * BUFFER
    }

    pub(crate) fn append(&mut self, index: u16, next: u16, tag: (u64, u64), sw: Option<u16>, len: u32) {
        let buffer = (self.buffer(index), len, self.lab.b.key);
        self.lab.b.post(&Wr::append(next, tag, sw, buffer));
    }

    pub(crate) fn send(&mut self, message: &[u8]) {
        self.lab.a.memory.write(self.lab.a.data, message);
        let wr = Wr::send().sge(self.lab.a.data, message.len() as u32, self.lab.a.key);
        self.lab.a.post(&if message.is_empty() { Wr::send() } else { wr });
    }

    /// The completions of the SRQ's CQ.
    pub(crate) fn told(&mut self) -> Vec<Told> {
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

pub(crate) fn header(operation: u8, tag: u64) -> [u8; 16] {
    let mut header = [0; 16];
    header[0] = operation;
    header[4..8].copy_from_slice(b"user");
    header[8..].copy_from_slice(&tag.to_be_bytes());
    header
}

pub(crate) fn message(operation: u8, tag: u64, data: &[u8]) -> Vec<u8> {
    [&header(operation, tag), data].concat()
}

pub(crate) fn announcement(lab: &Lab, tag: u64, len: u32) -> Vec<u8> {
    let addr = (lab.a.data + ANNOUNCED).to_be_bytes();
    message(RNDV, tag, &[&addr[..], &lab.a.key.to_be_bytes(), &len.to_be_bytes()].concat())
}

/// The result of an operation.
pub(crate) fn outcome(operation: u8, index: u16, success: bool, hw_count: u16) -> Told {
    let mut head = [0; 16];
    head[0] = u8::from(success) << 7;
    head[4..6].copy_from_slice(&hw_count.to_be_bytes());
    (NO_PACKET, operation, index, 0, head)
}

pub(crate) const NOTHING: [u8; 16] = [0; 16];

/// A tag in the model's list.
struct Tag {
    index: u16,
    tag: u64,
    mask: u64,
    len: u32,
    held: bool,
}

impl Tag {
    /// As the manual of `ibv_post_srq_ops` has it.
    fn is_for(&self, tag: u64) -> bool {
        tag & self.mask == self.tag
    }
}

/// The expected state of software and device.
#[derive(Default)]
struct Model {
    list: Vec<Tag>,
    /// Places that are free; the first is where the next tag goes.
    free: VecDeque<u16>,
    /// Messages without a tag: the device's count, and the count that software has reported.
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
        let at = self.list.iter().position(|entry| !entry.held && entry.is_for(tag))?;
        let found = self.list.remove(at);
        self.free.push_back(found.index);
        Some(found)
    }
}

#[test]
fn messages_go_where_a_plain_list_says() {
    let losses = FaultConfig { drop: 20, duplicate: 20, reorder: 20, seed: 5, ..FaultConfig::default() };
    let mut outcomes = std::collections::BTreeMap::<u8, u32>::new();
    // Tags that no message matches, however its bits are.
    let mut outside = 0;
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
                    let tag = if random.u8(..4) == 0 { tag } else { tag & mask };
                    let (index, len) = (model.free.pop_front().unwrap(), [64, 8000][random.usize(..2)]);
                    tags.append(index, model.free[0], (tag, mask), seen, len);
                    model.sync(seen);
                    let held = model.seen != model.counted;
                    outside += u32::from(tag & !mask != 0);
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
                    let is_for = model.list.iter().find(|entry| !entry.held && entry.is_for(tag));
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
    assert!(outside > 50, "{outside} tags with bits outside their masks");
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

/// The device fetches a message that fits into the tag's buffer. Software fetches a longer one.
#[test]
fn an_announced_message_is_fetched_if_its_buffer_holds_it() {
    for (len, is_fetched) in [(99, true), (100, true), (101, false)] {
        let mut tags = Tags::new(Options::default());
        tags.append(0, 1, (7, u64::MAX), Some(0), 100);
        tags.told();
        tags.lab.a.post_recv(&[(tags.lab.a.data + 0x1_0000, 64)]);
        let sent = announcement(&tags.lab, 7, len);
        tags.send(&sent);
        let head = *sent.first_chunk().unwrap();
        let expected = match is_fetched {
            true => vec![(NO_PACKET, CONSUMED, 0, 0, head), (RECV, EXPECTED, 0, len, NOTHING)],
            false => vec![(RECV, CONSUMED_MSG_SW_RNDV, 0, 32, head)],
        };
        assert_eq!(tags.told(), expected, "{len}");
    }
}

/// The longest message takes half of all PSNs at the smallest MTU, so everything before it must be acknowledged.
#[test]
fn the_device_fetches_at_most_half_of_all_psns_at_once() {
    let mut tags = Tags::new(Options { mtu: 256, ..Options::default() });
    // A byte count of 0 is 2^31.
    for (index, tag, len) in [(0, 7, 100), (1, 8, 0)] {
        tags.append(index, index + 1, (tag, u64::MAX), Some(0), len);
        tags.told();
    }
    tags.lab.a.post_recv(&[(tags.lab.a.data + 0x1_0000, 64)]);
    // The peer does not get to know that the first is fetched.
    tags.lab.b.script(|packet| match packet.headers.bth.opcode.operation() {
        Operation::Send => Fate::Drop,
        _ => Fate::Deliver,
    });
    for (tag, len) in [(7, 100), (8, 1 << 31)] {
        let sent = announcement(&tags.lab, tag, len);
        tags.send(&sent);
        tags.lab.run();
    }
    let b = &tags.lab.b;
    assert_eq!((b.sent(Operation::ReadRequest).len(), b.sent(Operation::Send).len()), (1, 1));
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

/// Many announcements at once: the data is there before the sender hears that it was fetched, although packets are
/// lost.
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

/// Messages that are announced before the QP may send are fetched when it may: as many as it keeps in mind. The others
/// are software's.
#[test]
fn announcements_wait_until_the_queue_pair_may_send() {
    let mut tags = Tags::new(Options { rq_log: 7, ..Options::default() });
    let b = &tags.lab.b;
    let reset = QpAttr { state: Some(QpState::Reset), ..QpAttr::default() };
    let [init, rtr, rts] = [b.init_attr(), b.rtr_attr(tags.lab.a.identity()), b.rts_attr()];
    for attr in [reset, init, rtr] {
        tags.lab.b.device.modify_qp(tags.receiver, &attr).unwrap();
    }
    let sent = announcement(&tags.lab, 7, 2000);
    let data = tags.lab.a.fill(ANNOUNCED, 2000, 6);
    for number in 0..130 {
        tags.append(number % 8, (number + 1) % 8, (7, u64::MAX), Some(0), 4000);
        tags.send(&sent);
        let outcome = tags.told()[1].1;
        assert_eq!(outcome, if number < 128 { CONSUMED } else { CONSUMED_MSG_SW_RNDV }, "{number}");
        tags.lab.a.poll_send();
    }
    (0..128).for_each(|_| tags.lab.a.post_recv(&[(tags.lab.a.data + 0x1_0000, 64)]));
    tags.lab.b.device.modify_qp(tags.receiver, &rts).unwrap();
    let fetched: Vec<_> = tags.told().iter().map(|told| (told.1, told.2, told.3)).collect();
    assert_eq!(fetched, (0..128).map(|number| (EXPECTED, number % 8, 2000)).collect::<Vec<_>>());
    assert_eq!(tags.lab.a.poll_recv().len(), 128);
    assert_eq!(tags.lab.b.memory.read(tags.buffer(5), 2000), data);
}

/// Where nothing is sent, a list is a list all the same.
#[test]
fn a_sink_has_lists() {
    let mut tags = Tags::new(Options { sink: true, ..Options::default() });
    tags.append(0, 1, (7, u64::MAX), Some(0), 64);
    tags.lab.b.post(&Wr::tags(2, 0, None));
    assert_eq!(tags.told(), [outcome(APPEND, 0, true, 0), outcome(REMOVE, 0, true, 0)]);
}
