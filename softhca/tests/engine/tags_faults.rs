//! Tags: messages that cannot be delivered or fetched, and operations that fail or make no sense.
//!
//! Faults belong here, orderly matching in `tags.rs`.

use crate::lab::*;
use crate::tags::*;
use fastrand::Rng;
use softhca::context::{QpAttr, QpState};
use softhca::packet::Operation;

/// A message that its tag's buffer has no room for, or that cannot be written there: the tag's CQE says that nothing
/// comes, and the sender hears it. No receive WQE is taken.
#[test]
fn a_message_that_cannot_be_delivered_ends_its_tag() {
    // Of each: bytes of the buffer and of the message, the syndrome at the sender, and whether it takes several
    // packets.
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

/// Data that the sender does not let be read never comes, and the tag's CQE says so.
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

/// Missing or taken places, reserved bits, and queues without tags: the request fails, and the list stays as it was.
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

/// Flushed: the receiver of announced data learns that it will not come.
#[test]
fn what_is_on_its_way_when_the_queue_ends_is_canceled() {
    let mut tags = Tags::new(Options::default());
    tags.append(0, 1, (1, u64::MAX), Some(0), 8000);
    tags.append(1, 2, (2, u64::MAX), Some(0), 8000);
    tags.told();
    // The fetched data is lost, and the second half of the message is lost as well.
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

/// Hosts and peers send operations and messages of any bytes. There is no panic and no endless work, and the list stays
/// valid.
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
            // The key of the announced memory may be right.
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
