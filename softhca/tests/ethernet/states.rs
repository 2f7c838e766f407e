//! States of queues, their flush, and their counters.
//!
//! States belong here, frames in `transfer.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{ERR, Node, RDY, RST, op, pair, run};
use softhca::event::Event;
use softhca::firmware::Status;
use softhca::query::CqFault;

fn whole() -> Vec<u8> {
    frame(mac(2), &[], &ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 100))
}

/// State and counters of a queue.
fn query(node: &mut Node, receives: bool, number: u64) -> [u64; 3] {
    let (input, output, opcode, name, context) = match receives {
        true => ("query_rq_in", "query_rq_out", op::QUERY_RQ, "rqn", "rq_context"),
        false => ("query_sq_in", "query_sq_out", op::QUERY_SQ, "sqn", "sq_context"),
    };
    let found = node.command(&Mail::command(input, opcode).set(name, number), output, 0).unwrap();
    ["state", "wq.hw_counter", "wq.sw_counter"].map(|field| found.get(&format!("{context}.{field}")))
}

#[test]
fn a_receive_queue_goes_its_ways_and_no_others() {
    let (mut a, mut b) = pair();
    let (a_cq, mut b_cq) = (a.cq(), b.cq());
    let mut sq = a.sq(&a_cq);
    let (mail, mut rq) = b.rq_mail(&b_cq, false);
    rq.number = b.number(mail, "create_rq_out", "rqn");
    b.receive_all(rq.number);
    b.post_recv(&mut rq, 3, 2048);
    let mut arrives = |b: &mut Node, b_cq: &mut _| {
        a.send(&mut sq, 0, &whole());
        run(&mut [&mut a, b]);
        b.poll_all(b_cq)
    };
    assert_eq!(arrives(&mut b, &mut b_cq), [], "in reset");
    for (from, to) in [(RDY, ERR), (ERR, RST), (RST, 2)] {
        assert!(b.modify_rq(rq.number, from, to).is_err(), "{from} to {to}");
    }
    let (mail, mut unused) = b.rq_mail(&b_cq, false);
    unused.number = b.number(mail, "create_rq_out", "rqn");
    b.modify_rq(unused.number, RST, ERR).unwrap();
    assert_eq!(b.modify_rq(unused.number, ERR, RDY), Err(Status::BadResourceState));
    b.modify_rq(rq.number, RST, RDY).unwrap();
    assert_eq!(arrives(&mut b, &mut b_cq), [(2, 0, 0, whole().len() as u32)]);
    assert_eq!(query(&mut b, true, rq.number), [RDY, 1, 3]);
    b.modify_rq(rq.number, RDY, ERR).unwrap();
    run(&mut [&mut b]);
    assert_eq!(b.poll_all(&mut b_cq).iter().map(|c| (c.0, c.1, c.2)).collect::<Vec<_>>(), [(14, 5, 1), (14, 5, 2)]);
    assert_eq!(arrives(&mut b, &mut b_cq), [], "in error");
    assert_eq!(b.modify_rq(rq.number, ERR, RDY), Err(Status::BadResourceState));
    b.modify_rq(rq.number, ERR, RST).unwrap();
    rq.posted = 0;
    b.post_recv(&mut rq, 1, 2048);
    b.modify_rq(rq.number, RST, RDY).unwrap();
    assert_eq!(arrives(&mut b, &mut b_cq), [(2, 0, 0, whole().len() as u32)], "from the first WQE on again");
}

/// `vsd`: VLAN stripping is disabled.
#[test]
fn a_receive_queue_tells_whether_it_strips_vlans() {
    let (mut a, _) = pair();
    let cq = a.cq();
    let (mail, _) = a.rq_mail(&cq, false);
    let rqn = a.number(mail.set("ctx.vsd", 1), "create_rq_out", "rqn");
    for (from, mask, given, told) in [(RST, 0, 0, 1), (RDY, 2, 0, 0), (RDY, 2, 1, 1), (RDY, 0, 0, 1)] {
        let mail = Mail::command("modify_rq_in", op::MODIFY_RQ).set("rqn", rqn).set("rq_state", from);
        a.bare(&mail.set("ctx.state", RDY).set("modify_bitmask", mask).set("ctx.vsd", given)).unwrap();
        let query = Mail::command("query_rq_in", op::QUERY_RQ).set("rqn", rqn);
        let found = a.command(&query, "query_rq_out", 0).unwrap();
        assert_eq!(found.get("rq_context.vsd"), told, "{mask} {given}");
    }
}

#[test]
fn a_send_queue_stops_at_an_error_and_flushes_if_it_is_told_to() {
    for flushes in [true, false] {
        let (mut a, mut b) = pair();
        let mut cq = a.cq();
        let tis = a.tis();
        let (mail, mut sq) = a.sq_mail(&cq, Some(tis));
        sq.number = a.number(mail.set("ctx.flush_in_error_en", flushes.into()), "create_sq_out", "sqn");
        // As Linux does it with the queue of a QP that has not been ready to send.
        a.modify_sq(sq.number, RST, ERR).unwrap();
        assert_eq!(a.modify_sq(sq.number, ERR, RDY), Err(Status::BadResourceState));
        a.modify_sq(sq.number, ERR, RST).unwrap();
        a.modify_sq(sq.number, RST, RDY).unwrap();
        a.send(&mut sq, 0, &whole());
        // No such opcode.
        let bad = [&[0, 0, 1, 0x3f][..], &((sq.number as u32) << 8 | 1).to_be_bytes(), &[0; 8]].concat();
        a.post(&mut sq, &bad);
        a.send(&mut sq, 0, &whole());
        run(&mut [&mut a, &mut b]);
        let found: Vec<_> = a.poll_all(&mut cq).iter().map(|c| (c.0, c.1, c.2)).collect();
        let expected = [(0, 0, 0), (13, 2, 1), (13, 5, 2)];
        assert_eq!(found, expected[..if flushes { 3 } else { 2 }]);
        assert_eq!(query(&mut a, false, sq.number)[0], ERR);
        a.modify_sq(sq.number, ERR, RST).unwrap();
        assert_eq!(query(&mut a, false, sq.number), [RST, 0, 0]);
        sq.posted = 0;
        a.memory.write(sq.pages[0], &[0; 64]);
        a.modify_sq(sq.number, RST, RDY).unwrap();
        a.send(&mut sq, 0, &whole());
        run(&mut [&mut a, &mut b]);
        assert_eq!(a.poll_all(&mut cq), [(0, 0, 0, 0)]);
        assert_eq!(query(&mut a, false, sq.number), [RDY, 1, 1]);
    }
}

#[test]
fn a_send_queue_without_a_tis_executes_nops_alone() {
    let (mut a, mut b) = pair();
    let mut cq = a.cq();
    let mut sq = a.sq_on(&cq, None);
    let nop = [&[0, 0, 0, 0][..], &((sq.number as u32) << 8 | 1).to_be_bytes(), &[0, 0, 0, 8, 0, 0, 0, 0]].concat();
    a.post(&mut sq, &nop);
    a.send(&mut sq, 0, &whole());
    run(&mut [&mut a, &mut b]);
    let found: Vec<_> = a.poll_all(&mut cq).iter().map(|c| (c.0, c.1)).collect();
    assert_eq!(found, [(0, 0), (13, 2)]);
    let counted =
        a.command(&Mail::command("query_vport_counter_in", op::QUERY_VPORT_COUNTER), "query_vport_counter_out", 0);
    assert_eq!(counted.unwrap().get("transmitted_eth_unicast.packets"), 0);
}

#[test]
fn frames_that_find_no_room_are_counted() {
    let (mut a, mut b) = pair();
    let (a_cq, mut b_cq) = (a.cq(), b.cq());
    let mut sq = a.sq(&a_cq);
    let counter =
        b.number(Mail::command("alloc_q_counter_in", op::ALLOC_Q_COUNTER), "alloc_q_counter_out", "counter_set_id");
    let (mail, mut rq) = b.rq_mail(&b_cq, false);
    rq.number = b.number(mail.set("ctx.counter_set_id", counter), "create_rq_out", "rqn");
    b.modify_rq(rq.number, RST, RDY).unwrap();
    b.receive_all(rq.number);
    b.post_recv(&mut rq, 1, whole().len() as u32 - 1);
    b.post_recv(&mut rq, 1, whole().len() as u32);
    for _ in 0..5 {
        a.send(&mut sq, 0, &whole());
    }
    run(&mut [&mut a, &mut b]);
    // Too long for the first WQE, which does not stop the queue; three found none.
    let found: Vec<_> = b.poll_all(&mut b_cq).iter().map(|c| (c.0, c.1, c.2)).collect();
    assert_eq!(found, [(14, 1, 0), (2, 0, 1)]);
    let query = Mail::command("query_q_counter_in", op::QUERY_Q_COUNTER).set("counter_set_id", counter);
    let read = |b: &mut Node, query: &Mail| {
        let found = b.command(query, "query_q_counter_out", 0).unwrap();
        ["out_of_buffer", "resp_local_length_error", "resp_cqe_error"].map(|field| found.get(field))
    };
    assert_eq!(read(&mut b, &query.clone().set("clear", 1)), [3, 1, 1]);
    assert_eq!(read(&mut b, &query), [0, 0, 0]);
    let dealloc = Mail::command("dealloc_q_counter_in", op::DEALLOC_Q_COUNTER).set("counter_set_id", counter);
    assert_eq!(b.bare(&dealloc), Err(Status::ResourceBusy));
    // The queue counts with another one from now on.
    let mail = Mail::command("modify_rq_in", op::MODIFY_RQ).set("rqn", rq.number).set("rq_state", RDY);
    b.bare(&mail.set("ctx.state", RDY).set("modify_bitmask", 8)).unwrap();
    b.bare(&dealloc).unwrap();
    assert_eq!(b.bare(&dealloc), Err(Status::BadResource));
}

#[test]
fn memory_that_a_key_does_not_give_stops_the_receive_queue() {
    let (mut a, mut b) = pair();
    let (a_cq, mut b_cq) = (a.cq(), b.cq());
    let mut sq = a.sq(&a_cq);
    let mut rq = b.rq(&b_cq, true, 0);
    b.receive_all(rq.number);
    let key = std::mem::replace(&mut b.key, 0x9999_9900);
    b.post_recv(&mut rq, 1, 2048);
    b.key = key;
    b.post_recv(&mut rq, 1, 2048);
    a.send(&mut sq, 0, &whole());
    a.send(&mut sq, 0, &whole());
    run(&mut [&mut a, &mut b]);
    let found: Vec<_> = b.poll_all(&mut b_cq).iter().map(|c| (c.0, c.1)).collect();
    assert_eq!(found, [(14, 4), (14, 5)]);
    assert_eq!(query(&mut b, true, rq.number)[0], ERR);
}

/// IBTA vol. 1, 11.6.3, has this event for QPs. A receive queue of frames has it by its own number.
#[test]
fn a_completion_that_finds_no_room_stops_the_receive_queue() {
    let (mut a, mut b) = pair();
    let (a_cq, b_cq) = (a.cq(), b.cq_with(&[("log_cq_size", 0)]));
    let mut sq = a.sq(&a_cq);
    let rq = b.rq(&b_cq, false, 4);
    b.receive_all(rq.number);
    for state in [RDY, ERR, ERR] {
        a.send(&mut sq, 0, &whole());
        run(&mut [&mut a, &mut b]);
        assert_eq!(query(&mut b, true, rq.number)[0], state);
    }
    let events: Vec<_> = std::iter::from_fn(|| b.device.next_event()).collect();
    let overrun = Event::CqError { cqn: b_cq.cqn as u32, fault: CqFault::Overrun };
    assert_eq!(events, [overrun, Event::RqError { rqn: rq.number as u32 }]);
}
