//! UC: a lost message stays lost, as a whole.
//!
//! UC belongs here, UD in `datagrams.rs`.

use crate::lab::*;
use softhca::context::{QpAttr, QpState, Transport};
use softhca::packet::Operation;

fn options() -> Options {
    Options { transport: Transport::Uc, mtu: 256, ..Options::default() }
}

#[test]
fn messages_arrive_and_complete_when_sent() {
    let mut lab = Lab::new(options());
    let sent = lab.a.fill(0, 1000, 4);
    lab.b.post_recv(&[(lab.b.data, 1000)]);
    lab.a.post(&Wr::send().sge(lab.a.data, 1000, lab.a.key));
    lab.a.post(&Wr::write(lab.b.data + 4096, lab.b.key).sge(lab.a.data, 1000, lab.a.key));
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 2);
    assert_eq!(lab.b.poll_recv()[0].byte_cnt, 1000);
    assert_eq!(lab.b.memory.read(lab.b.data, 1000), sent);
    assert_eq!(lab.b.memory.read(lab.b.data + 4096, 1000), sent);
    assert!(lab.b.tap.lock().unwrap().log.is_empty(), "a UC responder says nothing");
}

#[test]
fn a_message_with_a_lost_packet_is_lost_whole() {
    for lost in 0..4 {
        let mut lab = Lab::new(options());
        let mut nth = 0;
        lab.a.script(move |_| {
            nth += 1;
            if nth == lost + 1 { Fate::Drop } else { Fate::Deliver }
        });
        lab.b.post_recv(&[(lab.b.data, 1024)]);
        lab.a.post(&Wr::send().sge(lab.a.data, 1000, lab.a.key));
        lab.run();
        assert!(lab.b.poll_recv().is_empty());
        // Its receive WQE serves the next message.
        lab.a.post(&Wr::send().inline(b"next"));
        lab.run();
        let got = lab.b.poll_recv();
        assert_eq!((got.len(), got[0].byte_cnt, got[0].wqe_counter), (1, 4, 0));
        assert_eq!(lab.a.poll_send().len(), 2);
    }
}

#[test]
fn what_is_refused_is_dropped() {
    let mut lab = Lab::new(options());
    lab.b.post_recv(&[(lab.b.data, 300)]);
    lab.a.post(&Wr::write(lab.b.data, 0x5555).inline(b"no key"));
    lab.a.post(&Wr::send().sge(lab.a.data, 1000, lab.a.key));
    lab.a.post(&Wr::send().inline(b"ok"));
    lab.a.post(&Wr::send().inline(b"no WQE"));
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 4);
    let got = lab.b.poll_recv();
    assert_eq!((got.len(), got[0].byte_cnt), (1, 2));
    assert_eq!((lab.a.state(), lab.b.state()), (QpState::Rts, QpState::Rts));
}

#[test]
fn a_local_error_stops_sending() {
    let mut lab = Lab::new(options());
    lab.a.post_silently(&Wr::send().sge(lab.a.data, 4, 0x4444));
    lab.a.post_silently(&Wr::nop());
    lab.a.ring();
    lab.settle();
    let done: Vec<_> = lab.a.poll_send().iter().map(|c| c.syndrome).collect();
    assert_eq!(done, [0x04, 0x05]);
    assert_eq!(lab.a.state(), QpState::Sqe);
}

#[test]
fn sending_goes_on_after_an_error() {
    let mut lab = Lab::new(options());
    for _ in 0..3 {
        lab.b.post_recv(&[(lab.b.data, 1024)]);
    }
    // The error comes in the middle of a message, part of which is sent.
    lab.a.post(&Wr::send().sge(lab.a.data, 600, lab.a.key).sge(lab.a.data, 4, 0x4444));
    lab.settle();
    assert_eq!((lab.a.state(), lab.a.poll_send()[0].syndrome), (QpState::Sqe, 0x04));
    lab.a.post(&Wr::nop());
    lab.settle();
    lab.a.modify(QpAttr { state: Some(QpState::Rts), ..QpAttr::default() });
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x05, "posted before the queue may send again");
    let sent = lab.a.fill(0, 1000, 7);
    lab.a.post(&Wr::send().sge(lab.a.data, 1000, lab.a.key));
    lab.a.post(&Wr::send().inline(b"more"));
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 2);
    let got: Vec<_> = lab.b.poll_recv().iter().map(|c| (c.wqe_counter, c.byte_cnt)).collect();
    assert_eq!(got, [(0, 1000), (1, 4)]);
    assert_eq!(lab.b.memory.read(lab.b.data, 1000)[4..], sent[4..]);
}

#[test]
fn invalidate_is_for_rc() {
    let mut lab = Lab::new(options());
    lab.a.post(&Wr::send().inline(b"x").invalidating(lab.b.key));
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x02);
    assert!(lab.a.tap.lock().unwrap().log.is_empty());
}

#[test]
fn qps_take_turns_on_a_narrow_wire() {
    const QPS: u32 = 8;
    let mut lab = Lab::unconnected(options());
    let peer = lab.b.identity();
    for i in 0..QPS {
        if i > 0 {
            lab.a.another_qp();
        }
        lab.a.modify(lab.a.init_attr());
        lab.a.modify(lab.a.rtr_attr(peer));
        // The PSN tells whose packet it is.
        lab.a.modify(QpAttr { sq_psn: Some(i << 20), ..lab.a.rts_attr() });
        lab.a.post(&Wr::write(0, 0).sge(lab.a.data, DATA_BYTES as u32, lab.a.key));
    }
    lab.a.tap.lock().unwrap().width = Some(4);
    for _ in 0..1000 {
        lab.a.step(lab.now);
        lab.b.step(lab.now);
    }
    let mut sent = [0; QPS as usize];
    for psn in lab.a.sent(Operation::Write) {
        sent[(psn >> 20) as usize] += 1;
    }
    assert_eq!(sent.iter().sum::<usize>(), 4000, "the wire is never idle");
    assert!(sent.iter().all(|&packets| (4000 / 8 / 2..4000 / 8 * 2).contains(&packets)), "{sent:?}");
}
