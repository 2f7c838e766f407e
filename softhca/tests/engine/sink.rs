//! A sink: requests complete without being sent.
//!
//! Sinks belong here, devices that send in all other files.

use crate::lab::*;
use softhca::context::{QpState, Transport};

fn sink(transport: Transport) -> Lab {
    Lab::new(Options { transport, sink: true, ..Options::default() })
}

/// A sink does not send, touch memory, or leave anything for later.
fn nothing_else_happened(lab: &mut Lab) {
    assert!(lab.a.tap.lock().unwrap().log.is_empty());
    assert!(lab.b.poll_recv().is_empty() && lab.b.device.next_event().is_none());
    assert_eq!((lab.a.device.next_deadline(), lab.a.device.has_packets_waiting()), (None, false));
}

#[test]
fn every_opcode_completes_as_if_it_had_been_sent() {
    let mut lab = sink(Transport::Rc);
    let (at, key) = (lab.a.data, lab.a.key);
    let before = lab.a.fill(0, 64, 9);
    let requests = [
        (Wr::nop(), 0),
        (Wr::send(), 0),
        (Wr::send().sge(at, 100_000, key), 0),
        (Wr::send().with_imm(5).inline(b"data"), 0),
        (Wr::send().invalidating(3), 0),
        (Wr::write(1, 2).inline(&[1; 200]), 0),
        (Wr::write(1, 2).with_imm(6).sge(at, 1, key).sge(at, 1, key), 0),
        (Wr::read(1, 2).sge(at, 64, key), 64),
        (Wr::swap(8, 2, 3, 4).sge(at, 8, key), 8),
        (Wr::add(8, 2, 3).sge(at, 8, key).flags(SIGNALED | FENCE), 8),
    ];
    // The ring and the CQ wrap several times.
    for round in 0..40 {
        let posted: Vec<_> = requests.iter().map(|(wr, byte_cnt)| (lab.a.post(wr), wr.opcode, *byte_cnt)).collect();
        lab.run();
        let found: Vec<_> = lab.a.poll_send().iter().map(|c| (c.wqe_counter, c.wqe_opcode, c.byte_cnt)).collect();
        assert_eq!(found, posted, "round {round}");
    }
    assert_eq!(lab.a.device.sends_completed(), 400);
    assert_eq!(lab.a.memory.read(at, 64), before);
    nothing_else_happened(&mut lab);
}

#[test]
fn only_what_asks_for_a_cqe_gets_one() {
    let mut lab = sink(Transport::Uc);
    for _ in 0..3 {
        lab.a.post_silently(&Wr::write(1, 2).inline(b"silent").flags(0));
    }
    let last = lab.a.post(&Wr::write(1, 2).inline(b"signalled"));
    lab.run();
    let found = lab.a.poll_send();
    assert_eq!(found.len(), 1);
    let cqe = &found[0];
    assert_eq!((cqe.opcode, cqe.wqe_opcode, cqe.qpn, cqe.wqe_counter), (REQ, 0x08, lab.a.qpn, last));
    assert_eq!((cqe.solicited, cqe.inline, cqe.imm), (false, 0, 0));
    assert_eq!(lab.a.device.sends_completed(), 4);
    nothing_else_happened(&mut lab);
}

#[test]
fn datagrams_need_no_address_that_exists() {
    let mut lab = sink(Transport::Ud);
    lab.a.post(&Wr::send().inline(b"to nobody").to(0x4321, 0x777, QKEY, None));
    lab.run();
    assert_eq!(lab.a.poll_send()[0].opcode, REQ);
    nothing_else_happened(&mut lab);
}

#[test]
fn what_is_malformed_fails_as_ever() {
    let mut lab = sink(Transport::Rc);
    lab.a.post(&Wr::send());
    lab.a.post(&Wr::new(0x3f));
    lab.a.post(&Wr::send().flags(0));
    lab.run();
    let found: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.syndrome)).collect();
    assert_eq!(found, [(REQ, 0), (REQ_ERR, 0x02), (REQ_ERR, 0x05)]);
    assert_eq!((lab.a.state(), lab.a.device.sends_completed()), (QpState::Err, 3));
}

#[test]
fn an_initiator_needs_no_target() {
    let mut lab = Lab::unconnected(Options { transport: Transport::Dc, sink: true, ..Options::default() });
    for attr in [lab.a.init_attr(), lab.a.rtr_attr((0, [0; 16], 0)), lab.a.rts_attr()] {
        lab.a.modify(attr);
    }
    let posted: Vec<_> = (0..5).map(|i| lab.a.post(&Wr::write(1, 2).inline(&[i]).at_dct(1, 7, 8, None))).collect();
    // Malformed WQEs are found as always: no address vector.
    lab.a.post(&Wr::send());
    lab.run();
    let found: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.wqe_counter)).collect();
    assert_eq!(found[..5], posted.into_iter().map(|index| (REQ, index)).collect::<Vec<_>>());
    assert_eq!(found[5].0, REQ_ERR);
    nothing_else_happened(&mut lab);
}
