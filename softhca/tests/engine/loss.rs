//! A network that loses, doubles and reorders: everything arrives once and in order.
//!
//! A failing network belongs here, failing requests in `failures.rs`.

use crate::lab::*;
use softhca::context::QpState;
use softhca::device::hw_counter_names;
use softhca::packet::Operation;
use softhca::wire::fault::FaultConfig;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A small generator of the tests' own, so that a seed means the same for ever.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

pub(crate) fn disturb(node: &Node, seed: u64, percent: u64) {
    let mut dice = Dice(seed * 2 + 1);
    node.script(move |_| match dice.roll(300) {
        n if n < percent => Fate::Drop,
        n if n < 2 * percent => Fate::Twice,
        n if n < 3 * percent => Fate::Late,
        _ => Fate::Deliver,
    });
}

#[test]
fn mixed_traffic_survives_a_bad_network() {
    for seed in 1..=40 {
        let mut lab = Lab::new(Options::patient(FaultConfig::default()));
        disturb(&lab.a, seed, seed % 20);
        disturb(&lab.b, seed + 1000, seed % 20);
        exchange(&mut lab, seed);
    }
}

#[test]
fn mixed_traffic_survives_the_fault_injector() {
    for seed in 1..=20 {
        let faults = FaultConfig { drop: 20, duplicate: 20, reorder: 20, delay: 10, seed, ..FaultConfig::default() };
        exchange(&mut Lab::new(Options::patient(faults)), seed);
    }
}

/// Sixty requests of all kinds, and their effects in the end.
pub(crate) fn exchange(lab: &mut Lab, seed: u64) {
    let mut dice = Dice(seed + 77);
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    let counter = dst + 0xf_0000;
    let mut model = vec![0u8; 0x1_0000];
    let (mut added, mut received, mut read_at) = (0u64, Vec::new(), Vec::new());
    for round in 0..60u64 {
        let len = dice.roll(1500) as usize + 1;
        let from = 0x1000 * (round % 16);
        let data = lab.a.fill(from, len, seed as u8 ^ round as u8);
        let wr = match dice.roll(4) {
            0 => {
                model[from as usize..from as usize + len].copy_from_slice(&data);
                Wr::write(dst + from, rkey).sge(src + from, len as u32, key)
            }
            1 => {
                let at = 0x2_0000 + 0x800 * (round % 16);
                read_at.push((at, model[from as usize..from as usize + len].to_vec()));
                Wr::read(dst + from, rkey).sge(src + at, len as u32, key)
            }
            2 => {
                added += round;
                Wr::add(counter, rkey, round).sge(src + 0x4_0000, 8, key)
            }
            _ => {
                lab.b.post_recv(&[(dst + 0x2_0000, 2000)]);
                received.push(data);
                Wr::send().sge(src + from, len as u32, key)
            }
        };
        lab.a.post(&wr);
        if dice.roll(3) == 0 || round % 16 == 15 {
            lab.settle();
            let got = lab.b.poll_recv();
            assert_eq!(got.len(), received.len(), "seed {seed}: each SEND is received once");
            for (cqe, data) in got.iter().zip(&received) {
                assert_eq!((cqe.opcode, cqe.byte_cnt as usize), (RECV, data.len()));
            }
            if let Some(data) = received.last() {
                assert_eq!(lab.b.memory.read(dst + 0x2_0000, data.len()), *data);
            }
            for (at, data) in read_at.drain(..) {
                assert_eq!(lab.a.memory.read(src + at, data.len()), data, "seed {seed} round {round}");
            }
            received.clear();
        }
    }
    lab.settle();
    let done = lab.a.poll_send();
    assert_eq!(done.iter().map(|c| c.wqe_counter).collect::<Vec<_>>().len(), 60, "seed {seed}");
    assert!(done.iter().all(|c| c.opcode == REQ), "seed {seed}: {done:?}");
    assert!(done.windows(2).all(|two| two[0].wqe_counter < two[1].wqe_counter));
    assert_eq!(lab.b.memory.read(counter, 8), added.to_ne_bytes(), "seed {seed}: each atomic happens once");
    assert_eq!(lab.b.memory.read(dst, model.len()), model);
}

/// Going back to a packet before it does not set a signature value again: it may be somebody else's by then.
#[test]
fn a_signature_value_is_set_once() {
    let mut lab = Lab::new(Options::default());
    let psv = lab.a.device.create_psvs(lab.a.pd, 1).unwrap()[0];
    let mut lost = 0;
    lab.a.script(move |_| {
        lost += 1;
        if lost == 1 { Fate::Drop } else { Fate::Deliver }
    });
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"lost at first"));
    let mut set = Wr::new(0x20);
    set.body = (u128::from(psv) << 96 | 0x1234).to_be_bytes().to_vec();
    lab.a.post(&set);
    lab.run();
    assert!(lab.a.poll_send().is_empty(), "done, not complete");
    lab.a.device.destroy_psv(psv).unwrap();
    lab.settle();
    let done: Vec<_> = lab.a.poll_send().iter().map(|cqe| (cqe.opcode, cqe.wqe_opcode)).collect();
    assert_eq!(done, [(REQ, 0x08), (REQ, 0x20)]);
    assert_eq!(lab.b.memory.read(lab.b.data, 13), b"lost at first");
}

/// A WRITE of 16 packets, as many as a step sends. The fifth is lost.
fn write_losing_the_fifth(lab: &mut Lab) {
    let mut nth = 0;
    lab.a.script(move |_| {
        nth += 1;
        if nth == 5 { Fate::Drop } else { Fate::Deliver }
    });
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 256 * 16, lab.a.key));
}

#[test]
fn a_lost_packet_is_asked_for_once() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    let sent = lab.a.fill(0, 256 * 16, 1);
    write_losing_the_fifth(&mut lab);
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 1, "a NAK repairs it before the timer does");
    assert_eq!(lab.b.memory.read(lab.b.data, sent.len()), sent);
    let acks = lab.b.sent(Operation::Acknowledge);
    assert_eq!(acks, [0x123 + 4, 0x123 + 15], "one NAK for the gap, one ACK for all");
    assert_eq!(lab.a.sent(Operation::Write).len(), 16 + 12);
}

fn counter(node: &Node, name: &str) -> u64 {
    let place = hw_counter_names().iter().position(|&(_, known)| known == name).unwrap();
    node.device.hw_counters(1)[place]
}

/// `rx_write_requests` counts messages, `packet_seq_err` NAKs of a sequence error (Linux `Documentation`, mlx5
/// `hw_counters`).
#[test]
fn a_write_and_a_sequence_error_are_counted_once() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 256 * 20, lab.a.key));
    lab.run();
    assert_eq!((counter(&lab.b, "rx_write_requests"), counter(&lab.a, "packet_seq_err")), (1, 0));
    write_losing_the_fifth(&mut lab);
    lab.run();
    assert_eq!((counter(&lab.b, "rx_write_requests"), counter(&lab.a, "packet_seq_err")), (2, 1));
    assert_eq!(lab.a.poll_send().len(), 2);
}

/// A queue pair does not fill the device's memory with packets that nobody takes.
#[test]
fn a_wire_that_takes_nothing_holds_few_packets() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    lab.a.script(|_| Fate::Refuse);
    let sent = lab.a.fill(0, 256 * 100, 1);
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 256 * 100, lab.a.key));
    lab.settle();
    lab.a.script(|_| Fate::Deliver);
    lab.a.step(lab.now);
    assert_eq!(lab.a.sent(Operation::Write).len(), 64);
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].opcode, REQ);
    assert_eq!(lab.b.memory.read(lab.b.data, sent.len()), sent);
}

#[test]
fn a_lost_acknowledgement_is_repeated() {
    let mut lab = Lab::new(Options::default());
    let mut first = true;
    lab.b.script(move |_| if std::mem::take(&mut first) { Fate::Drop } else { Fate::Deliver });
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.a.post(&Wr::send().inline(b"once"));
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 1);
    assert_eq!(lab.b.poll_recv().len(), 1, "the second copy is acknowledged, not received");
    assert_eq!(lab.a.sent(Operation::Send).len(), 2);
}

/// An acknowledgement after the READ would cover it, and Linux' rdma_rxe completes a READ so, without its data.
#[test]
fn a_repeated_request_is_acknowledged_by_the_next_answer() {
    for (answer, is_read) in [(Operation::ReadResponse, true), (Operation::AtomicAcknowledge, false)] {
        let mut lab = Lab::new(Options::default());
        // The answer is lost, then the repeated READ or atomic.
        for (node, lost) in [(&lab.b, 1), (&lab.a, 4)] {
            let mut nth = 0;
            node.script(move |_| {
                nth += 1;
                if nth == lost { Fate::Drop } else { Fate::Deliver }
            });
        }
        let (at, key) = (lab.b.data, lab.b.key);
        let answered = if is_read { Wr::read(at, key) } else { Wr::add(at, key, 1) };
        lab.a.post_silently(&Wr::write(at + 64, key).inline(b"repeated"));
        lab.a.post_silently(&answered.sge(lab.a.data, 8, lab.a.key));
        lab.a.ring();
        lab.settle();
        assert_eq!(lab.a.poll_send().len(), 2);
        assert_eq!(lab.a.sent(Operation::Write), [0x123, 0x123]);
        assert_eq!(lab.b.sent(Operation::Acknowledge), [0; 0]);
        assert_eq!(lab.b.sent(answer), [0x124, 0x124]);
        assert_eq!(lab.b.memory.read(at, 8), u64::from(!is_read).to_ne_bytes(), "an atomic happens once");
    }
}

/// It may come late, when the peer has the data and its key is gone.
#[test]
fn a_repeated_read_is_dropped_when_its_key_is_gone() {
    let mut lab = Lab::new(Options::default());
    lab.b.script(|_| Fate::Drop);
    lab.a.post(&Wr::read(lab.b.data, lab.b.key).sge(lab.a.data, 8, lab.a.key));
    lab.run();
    assert_eq!(lab.b.sent(Operation::ReadResponse).len(), 1);
    let key = lab.b.key;
    lab.b.device.destroy_mkey(key).unwrap();
    lab.b.script(|_| Fate::Deliver);
    lab.settle();
    assert!(lab.a.sent(Operation::ReadRequest).len() > 1);
    assert_eq!((lab.b.state(), lab.b.sent(Operation::Acknowledge)), (QpState::Rts, vec![]));
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x15, "no answer");
}

#[test]
fn a_lost_read_response_is_asked_for_from_there_on() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    let data = lab.b.fill(0, 256 * 10, 1);
    let mut nth = 0;
    lab.b.script(move |_| {
        nth += 1;
        if nth == 4 { Fate::Drop } else { Fate::Deliver }
    });
    lab.a.post(&Wr::read(lab.b.data, lab.b.key).sge(lab.a.data, 256 * 10, lab.a.key));
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 1);
    assert_eq!(lab.a.memory.read(lab.a.data, data.len()), data);
    assert_eq!(lab.a.sent(Operation::ReadRequest), [0x123, 0x123 + 3]);
}

#[test]
fn a_receiver_that_takes_nothing_holds_up_nobody_else() {
    const STOPPED: u32 = 0x2ff;
    let mut lab = Lab::unconnected(Options::default());
    lab.a.script(|packet| if packet.headers.bth.dest_qp == STOPPED { Fate::Refuse } else { Fate::Deliver });
    // More than anything between the send queue and the wire may hold, to the one that takes nothing.
    let (lid, gid, _) = lab.b.identity();
    for attr in [lab.a.init_attr(), lab.a.rtr_attr((lid, gid, STOPPED)), lab.a.rts_attr()] {
        lab.a.modify(attr);
    }
    for _ in 0..32 {
        lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 32 << 10, lab.a.key));
    }
    lab.run();
    lab.a.another_qp();
    lab.connect();
    let sent = lab.a.fill(0, 100 << 10, 1);
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 100 << 10, lab.a.key));
    let start = lab.now;
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 1);
    assert_eq!(lab.b.memory.read(lab.b.data, sent.len()), sent);
    assert_eq!(lab.now, start, "without waiting for anything");
}

/// Losses and RNR NAKs are counted apart, and only an acknowledged request resets the counts.
#[test]
fn losses_add_up_over_rnr_naks_until_something_is_acknowledged() {
    // Every second transmission of the SEND is lost; the others meet a receiver that is not ready.
    for (losses, syndrome) in [(3, 0), (4, 0x15)] {
        let mut lab = Lab::new(Options { retry_cnt: 3, rnr_retry: 7, min_rnr_timer: 1, ..Options::default() });
        for _ in 0..2 {
            let (mut sent, mut lost) = (0, 0);
            lab.a.script(move |_| {
                sent += 1;
                let is_lost = sent % 2 == 0 && lost < losses;
                lost += u32::from(is_lost);
                if is_lost { Fate::Drop } else { Fate::Deliver }
            });
            let before = lab.a.sent(Operation::Send).len();
            lab.a.post(&Wr::send().inline(b"patience"));
            while lab.a.sent(Operation::Send).len() < before + 2 * losses as usize && lab.a.poll_send().is_empty() {
                lab.run();
                match lab.a.device.next_deadline() {
                    Some(at) => lab.now = at.max(lab.now),
                    None => break,
                }
            }
            lab.b.post_recv(&[(lab.b.data, 64)]);
            lab.settle();
            let done = lab.a.poll_send();
            assert_eq!(done.last().map_or(syndrome, |cqe| cqe.syndrome), syndrome, "{losses} losses: {done:?}");
            if syndrome != 0 {
                assert_eq!(lab.a.state(), softhca::context::QpState::Err);
                break;
            }
            // The acknowledgement has reset the count: the same once more.
            assert_eq!((done.len(), lab.b.poll_recv().len()), (1, 1));
        }
    }
}

/// A program that has seen a message may end at once: by then its device has acknowledged it.
#[test]
fn a_message_is_acknowledged_before_its_receiver_sees_it() {
    let mut lab = Lab::new(Options::default());
    let (memory, cqe) = (lab.b.memory.clone(), lab.b.recv_cq.buf);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    lab.b.script(move |packet| {
        if packet.headers.bth.opcode.operation() == Operation::Acknowledge {
            log.lock().unwrap().push(memory.read(cqe + 63, 1)[0] >> 4);
        }
        Fate::Deliver
    });
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.a.post(&Wr::send().inline(b"the last one"));
    lab.settle();
    assert_eq!(*seen.lock().unwrap(), [15], "opcode 15: the CQE was not written yet");
    assert_eq!((lab.b.poll_recv().len(), lab.a.poll_send().len()), (1, 1));
}

/// A NIC answers while its program is stopped. So the time of a stopped peer counts as no retry, however long it is.
#[test]
fn a_peer_that_is_away_is_waited_for() {
    let mut lab = Lab::new(Options { retry_cnt: 1, timeout: 10, ..Options::default() });
    let away = |lab: &Lab, away| lab.a.tap.lock().unwrap().peer_is_away = away;
    // The peer's process has not read the packets sent to it.
    lab.a.script(|_| Fate::Drop);
    away(&lab, true);
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"first"));
    for _ in 0..1000 {
        lab.advance(Duration::from_secs(1));
    }
    assert_eq!(lab.a.sent(Operation::Write).len(), 1, "and nothing is sent again");
    // It comes back, and the packet was lost.
    lab.a.script(|_| Fate::Deliver);
    away(&lab, false);
    lab.settle();
    let done = lab.a.poll_send();
    assert_eq!((done.len(), done[0].opcode), (1, REQ));
    // One that does not come back fails, as soon as it is known to be dead.
    away(&lab, true);
    lab.a.script(|_| Fate::Drop);
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"second"));
    lab.advance(Duration::from_secs(100));
    assert!(lab.a.poll_send().is_empty());
    away(&lab, false);
    lab.settle();
    let done = lab.a.poll_send();
    assert_eq!((done.len(), done[0].opcode, done[0].syndrome), (1, REQ_ERR, 0x15));
}
