//! Rates of send queues: when frames leave, by the clock of the test. Without pacing, all of them leave at once.
//!
//! The clock of these tests moves only as they say, so each time is exact.
//!
//! Rates of the device belong here, those of verbs' queues in `tests/packet_pacing.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{Cq, Node, Queue, RDY, RST, op, pair};
use softhca::firmware::Status;
use std::time::Duration;

/// A byte a microsecond.
const BYTE_A_MICROSECOND: u64 = 8000;

/// Sets an entry of the table of rates.
fn set(node: &mut Node, index: u64, (kilobits, burst, typical): (u64, u64, u64)) -> Result<(), Status> {
    let mail = Mail::command("set_pp_rate_limit_in", op::SET_PP_RATE_LIMIT)
        .set("rate_limit_index", index)
        .set("ctx.rate_limit", kilobits)
        .set("ctx.burst_upper_bound", burst)
        .set("ctx.typical_packet_size", typical);
    node.bare(&mail)
}

/// Gives a queue that is ready a rate.
fn pace(node: &mut Node, queue: &Queue, index: u64) -> Result<(), Status> {
    let mail = Mail::command("modify_sq_in", op::MODIFY_SQ)
        .set("sqn", queue.number)
        .set("sq_state", RDY)
        .set("modify_bitmask", 1)
        .set("ctx.state", RDY)
        .set("ctx.packet_pacing_rate_limit_index", index);
    node.bare(&mail)
}

/// A sender and a receiver.
struct Lab {
    a: Node,
    b: Node,
    a_cq: Cq,
    b_cq: Cq,
    tis: u64,
    began: Duration,
}

impl Lab {
    fn new() -> Self {
        let (mut a, mut b) = pair();
        let (a_cq, b_cq) = (a.cq(), b.cq());
        let tis = a.tis();
        let rq = b.rq(&b_cq, false, 16);
        b.receive_all(rq.number);
        let began = a.now;
        Self { a, b, a_cq, b_cq, tis, began }
    }

    fn queue(&mut self) -> Queue {
        self.a.sq_on(&self.a_cq, Some(self.tis))
    }

    /// Posts a frame of `bytes` bytes.
    fn send(&mut self, queue: &mut Queue, bytes: usize) {
        let whole = frame(mac(2), &[], &ipv4(true, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), bytes - 42));
        assert_eq!(whole.len(), bytes);
        self.a.send(queue, 0, &whole);
    }

    /// Lets both devices work to the end of this time, in steps of 10 microseconds; when frames arrived, in those
    /// steps.
    fn run(&mut self, micros: u64) -> Vec<u64> {
        let mut arrived = Vec::new();
        for step in 0..=micros / 10 {
            let now = self.began + Duration::from_micros(10 * step);
            while self.a.device.step(now) | self.b.device.step(now) {}
            let frames = self.b.poll_all(&mut self.b_cq).len();
            arrived.extend(std::iter::repeat_n(10 * step, frames));
        }
        self.began += Duration::from_micros(micros + 10_000);
        arrived
    }
}

#[test]
fn frames_leave_at_the_rate_and_complete_then() {
    let mut lab = Lab::new();
    let mut queue = lab.queue();
    set(&mut lab.a, 1, (BYTE_A_MICROSECOND, 0, 0)).unwrap();
    pace(&mut lab.a, &queue, 1).unwrap();
    for _ in 0..4 {
        lab.send(&mut queue, 100);
    }
    assert_eq!(lab.run(150), [0, 100]);
    assert_eq!(lab.a.poll_all(&mut lab.a_cq).len(), 2, "the other two have not left");
    // The clock has gone on by more than they need.
    assert_eq!(lab.run(500), [0, 100]);
    assert_eq!(lab.a.poll_all(&mut lab.a_cq).len(), 2);
    // The device says when it has to go on.
    lab.send(&mut queue, 1000);
    lab.send(&mut queue, 100);
    let now = lab.began;
    while lab.a.device.step(now) {}
    assert_eq!(lab.a.device.next_deadline(), Some(now + Duration::from_micros(1000)));
    assert_eq!(lab.run(1100), [0, 1000]);
    // No rate: all at once.
    pace(&mut lab.a, &queue, 0).unwrap();
    for _ in 0..4 {
        lab.send(&mut queue, 100);
    }
    assert_eq!(lab.run(500), [0; 4]);
}

#[test]
fn bursts_have_as_many_bytes_as_the_rate_permits() {
    let mut lab = Lab::new();
    let mut queue = lab.queue();
    set(&mut lab.a, 5, (BYTE_A_MICROSECOND, 300, 100)).unwrap();
    pace(&mut lab.a, &queue, 5).unwrap();
    for _ in 0..6 {
        lab.send(&mut queue, 100);
    }
    assert_eq!(lab.run(1000), [0, 0, 0, 100, 200, 300]);
}

#[test]
fn each_queue_has_the_rate_for_itself_and_a_change_counts_at_once() {
    let mut lab = Lab::new();
    let [mut first, mut second, mut free] = [(); 3].map(|()| lab.queue());
    set(&mut lab.a, 127, (BYTE_A_MICROSECOND, 0, 0)).unwrap();
    for queue in [&first, &second] {
        pace(&mut lab.a, queue, 127).unwrap();
    }
    for queue in [&mut first, &mut second, &mut free] {
        lab.send(queue, 100);
        lab.send(queue, 100);
    }
    assert_eq!(lab.run(300), [0, 0, 0, 0, 100, 100]);
    // Ten times as fast, from the first frame that has not left.
    for _ in 0..3 {
        lab.send(&mut first, 100);
    }
    assert_eq!(lab.run(50), [0]);
    set(&mut lab.a, 127, (10 * BYTE_A_MICROSECOND, 0, 0)).unwrap();
    assert_eq!(lab.run(50), [0, 10]);
    // The entry is cleared.
    set(&mut lab.a, 127, (BYTE_A_MICROSECOND, 0, 0)).unwrap();
    for _ in 0..3 {
        lab.send(&mut first, 100);
    }
    set(&mut lab.a, 127, (0, 0, 0)).unwrap();
    assert_eq!(lab.run(50), [0; 3]);
}

/// The frames of a large packet, and those of a WQE of several, leave one by one; the WQE completes with the last.
#[test]
fn frames_of_one_wqe_are_paced() {
    let mut lab = Lab::new();
    let (mail, mut queue) = lab.a.sq_mail(&lab.a_cq, Some(lab.tis));
    set(&mut lab.a, 1, (BYTE_A_MICROSECOND, 0, 0)).unwrap();
    let mail = mail.set("ctx.packet_pacing_rate_limit_index", 1).set("ctx.allow_multi_pkt_send_wqe", 1);
    queue.number = lab.a.number(mail, "create_sq_out", "sqn");
    lab.a.modify_sq(queue.number, RST, RDY).unwrap();
    let whole = frame(mac(2), &[], &ipv4(true, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), 58));
    let buffer = lab.a.alloc(whole.len() as u64);
    lab.a.memory.write(buffer, &whole);
    let mut wqe = vec![0, 0, 0, 0x29];
    wqe.extend(((queue.number as u32) << 8 | 5).to_be_bytes());
    wqe.extend([0, 0, 0, 0x08, 0, 0, 0, 0]);
    wqe.extend([0; 16]);
    for _ in 0..3 {
        wqe.extend([0, 0, 0, 100]);
        wqe.extend(lab.a.key.to_be_bytes());
        wqe.extend(buffer.to_be_bytes());
    }
    lab.a.post(&mut queue, &wqe);
    assert_eq!(lab.run(150), [0, 100]);
    assert_eq!(lab.a.poll_all(&mut lab.a_cq), []);
    assert_eq!(lab.run(50), [0]);
    assert_eq!(lab.a.poll_all(&mut lab.a_cq).len(), 1);
}

#[test]
fn rates_that_cannot_be_are_refused() {
    let mut lab = Lab::new();
    let queue = lab.queue();
    for (index, rate) in [(0, (1, 0, 0)), (128, (1, 0, 0)), (1, (0, 1, 0)), (1, (100_000_001, 0, 0))] {
        assert_eq!(set(&mut lab.a, index, rate), Err(Status::BadParameter), "{index} {rate:?}");
    }
    // No entry, a queue that is not ready, another bit.
    assert!(pace(&mut lab.a, &queue, 1).is_err());
    set(&mut lab.a, 1, (1, 0, 0)).unwrap();
    pace(&mut lab.a, &queue, 1).unwrap();
    let query = Mail::command("query_sq_in", op::QUERY_SQ).set("sqn", queue.number);
    let found = lab.a.command(&query, "query_sq_out", 0).unwrap();
    assert_eq!(found.get("sq_context.packet_pacing_rate_limit_index"), 1);
    let mail = Mail::command("modify_sq_in", op::MODIFY_SQ).set("sqn", queue.number).set("sq_state", RDY);
    assert!(lab.a.bare(&mail.clone().set("modify_bitmask", 2).set("ctx.state", RDY)).is_err());
    assert!(lab.a.bare(&mail.set("modify_bitmask", 1).set("ctx.state", 3)).is_err());
}

#[test]
fn a_queue_that_gets_no_rate_keeps_its_state() {
    let mut lab = Lab::new();
    let (mail, _) = lab.a.sq_mail(&lab.a_cq, Some(lab.tis));
    let sqn = lab.a.number(mail, "create_sq_out", "sqn");
    let ready = Mail::command("modify_sq_in", op::MODIFY_SQ)
        .set("sqn", sqn)
        .set("sq_state", RST)
        .set("modify_bitmask", 1)
        .set("ctx.state", RDY)
        .set("ctx.packet_pacing_rate_limit_index", 7);
    assert_eq!(lab.a.bare(&ready), Err(Status::BadParameter), "no such rate");
    let query = Mail::command("query_sq_in", op::QUERY_SQ).set("sqn", sqn);
    assert_eq!(lab.a.command(&query, "query_sq_out", 0).unwrap().get("sq_context.state"), RST);
    set(&mut lab.a, 7, (BYTE_A_MICROSECOND, 0, 0)).unwrap();
    lab.a.bare(&ready).unwrap();
}
