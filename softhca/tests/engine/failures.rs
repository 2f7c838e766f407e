//! Every way in which a request or a receive can fail: the right syndrome, then the flush. Each WQE is reported once
//! and in order.
//!
//! Failing requests belong here, a failing network in `loss.rs`.

use crate::explanations::{no_memory, told};
use crate::lab::*;
use softhca::config::SrqFaults;
use softhca::context::{Access, QpAttr, QpState, Transport};
use softhca::event::QpEvent;
use softhca::packet::Operation;

const FLUSHED: u8 = 0x05;

/// Posts `bad` between good requests. It must fail with `syndrome`, the requests before it succeed, and all after it be
/// flushed. Unsignalled requests that succeed are silent, all others are reported.
fn fails(lab: &mut Lab, bad: &Wr, syndrome: u8) {
    let (dst, rkey) = (lab.b.data + 0x8000, lab.b.key);
    let good = Wr::write(dst, rkey).inline(b"good");
    let first = lab.a.post_silently(&good);
    lab.a.post_silently(&good.clone().flags(0));
    let failing = lab.a.post_silently(&bad.clone().flags(0));
    let behind: Vec<u16> = (0..3).map(|i| lab.a.post_silently(&good.clone().flags(8 * (i & 1)))).collect();
    lab.a.ring();
    for _ in 0..2 {
        lab.a.post_recv(&[(lab.a.data, 64)]);
    }
    lab.settle();
    let done = lab.a.poll_send();
    assert_eq!((done[0].opcode, done[0].wqe_counter), (REQ, first));
    assert_eq!((done[1].opcode, done[1].wqe_counter, done[1].syndrome), (REQ_ERR, failing, syndrome));
    assert_eq!(done[1].wqe_opcode, bad.opcode);
    let flushed: Vec<_> = done[2..].iter().map(|c| (c.opcode, c.wqe_counter, c.syndrome)).collect();
    assert_eq!(flushed, behind.iter().map(|&index| (REQ_ERR, index, FLUSHED)).collect::<Vec<_>>());
    let receives: Vec<_> = lab.a.poll_recv().iter().map(|c| (c.opcode, c.wqe_counter, c.syndrome)).collect();
    assert_eq!(receives, [(RESP_ERR, 0, FLUSHED), (RESP_ERR, 1, FLUSHED)]);
    assert_eq!(lab.a.state(), QpState::Err);
    // Requests posted in the error state are flushed as well.
    let late = lab.a.post(&good);
    lab.a.post_recv(&[(lab.a.data, 64)]);
    lab.settle();
    let done = lab.a.poll_send();
    assert_eq!((done.len(), done[0].wqe_counter, done[0].syndrome), (1, late, FLUSHED));
    assert_eq!(lab.a.poll_recv().len(), 1);
    // And nothing comes twice.
    lab.settle();
    assert!(lab.a.poll_send().is_empty() && lab.a.poll_recv().is_empty());
}

#[test]
fn local_protection() {
    let mut lab = Lab::new(Options::default());
    let rkey = lab.b.key;
    let bad = Wr::write(lab.b.data, rkey).sge(lab.a.data + DATA_BYTES as u64 - 4, 5, lab.a.key);
    fails(&mut lab, &bad, 0x04);
    assert_eq!(lab.b.state(), QpState::Rts, "the peer never saw it");
}

#[test]
fn local_protection_in_the_middle_of_a_message() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    let bad = Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 1000, lab.a.key).sge(lab.a.data, 8, 0x1234);
    fails(&mut lab, &bad, 0x04);
}

#[test]
fn local_protection_of_a_read_result() {
    let mut lab = Lab::new(Options::default());
    let read_only = Access { remote_read: true, ..Access::default() };
    let key = lab.a.register(lab.a.data, 4096, read_only);
    let bad = Wr::read(lab.b.data, lab.b.key).sge(lab.a.data, 8, key);
    fails(&mut lab, &bad, 0x04);
}

#[test]
fn local_length() {
    let mut lab = Lab::new(Options::default());
    let (addr, key) = (lab.a.data, lab.a.key);
    let bad = Wr::write(lab.b.data, lab.b.key).sge(addr, 0x7fff_ffff, key).sge(addr, 2, key);
    fails(&mut lab, &bad, 0x01);
}

#[test]
fn bad_wqe() {
    let mut lab = Lab::new(Options::default());
    fails(&mut lab, &Wr::new(0x3e), 0x02);
    // A READ that does not say where from.
    let mut lab = Lab::new(Options::default());
    fails(&mut lab, &Wr::new(0x10), 0x02);
    // A WRITE whose inline data is longer than the WQE.
    let mut lab = Lab::new(Options::default());
    let mut long = Wr::write(lab.b.data, lab.b.key).inline(b"x");
    long.body[19] = 13;
    fails(&mut lab, &long, 0x02);
}

/// A WQE of a QP with signatures that has a wrong one is not executed, whichever of its bytes was damaged.
#[test]
fn bad_signature() {
    let signed = || Lab::new(Options { signed: true, ..Options::default() });
    let mut lab = signed();
    let (to, key) = (lab.b.data, lab.b.key);
    let write = Wr::write(to, key).inline(&[0x55; 58]);
    lab.a.post(&write);
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].opcode, REQ, "a good one");
    assert_eq!(lab.b.memory.read(to, 58), [0x55; 58]);
    // The signature itself, immediate data that nobody looks at, data, and padding behind them.
    for at in [8, 15, 64, 95] {
        let mut lab = signed();
        lab.a.post_silently(&write);
        let place = lab.a.ring_addr() + at;
        let bad = lab.a.memory.read(place, 1)[0] ^ 0x10;
        lab.a.memory.write(place, &[bad]);
        lab.a.ring();
        lab.settle();
        let cqes = lab.a.poll_send();
        assert_eq!((cqes[0].opcode, cqes[0].syndrome), (REQ_ERR, 0x02), "byte {at}");
        assert_eq!(lab.b.memory.read(lab.b.data, 58), [0; 58]);
    }
}

#[test]
fn remote_access_by_key_range_and_right() {
    for kind in 0..4 {
        let mut lab = Lab::new(Options::default());
        let (addr, end, key) = (lab.b.data, lab.b.data + DATA_BYTES as u64, lab.b.key);
        let no_write = lab.b.register(addr, 4096, Access { remote_read: true, ..Access::default() });
        let no_read = lab.b.register(addr, 4096, Access::default());
        let bad = match kind {
            0 => Wr::write(addr, key ^ 1).inline(b"x"),
            1 => Wr::write(end - 1, key).inline(b"xx"),
            2 => Wr::write(addr, no_write).inline(b"x"),
            _ => Wr::read(addr, no_read).sge(lab.a.data, 8, lab.a.key),
        };
        fails(&mut lab, &bad, 0x13);
        assert_eq!(lab.b.events, [QpEvent::AccessError]);
        assert_eq!(lab.b.state(), QpState::Err);
        assert_eq!(lab.b.memory.read(addr, 2), [0, 0]);
    }
}

/// `IBV_WC_LOC_ACCESS_ERR`, for the receive that the WRITE would have completed; Linux `rxe_resp.c`, class C, completes
/// it in error, too.
#[test]
fn a_write_that_is_refused_fails_the_receive_that_it_names() {
    for (has_immediate, syndrome) in [(true, 0x11), (false, FLUSHED)] {
        let mut lab = Lab::new(Options::default());
        lab.b.post_recv(&[]);
        lab.b.post_recv(&[]);
        let bad = Wr::write(lab.b.data, lab.b.key ^ 1).inline(b"x");
        fails(&mut lab, &if has_immediate { bad.with_imm(7) } else { bad }, 0x13);
        let got: Vec<_> = lab.b.poll_recv().iter().map(|c| (c.opcode, c.wqe_counter, c.syndrome)).collect();
        assert_eq!(got, [(RESP_ERR, 0, syndrome), (RESP_ERR, 1, FLUSHED)]);
        assert_eq!((&*lab.b.events, lab.b.state()), (&[QpEvent::AccessError][..], QpState::Err));
        assert_eq!(lab.b.memory.read(lab.b.data, 1), [0]);
    }
    // Nothing is posted: the sender hears of its key all the same.
    let mut lab = Lab::new(Options::default());
    let bad = Wr::write(lab.b.data, lab.b.key ^ 1).with_imm(7).inline(b"x");
    fails(&mut lab, &bad, 0x13);
}

/// The key permits everything; each of the QP's own rights counts by itself.
#[test]
fn a_right_that_the_qp_lacks() {
    let lacking = [
        Access { remote_write: false, ..ALL },
        Access { remote_read: false, ..ALL },
        Access { remote_atomic: false, ..ALL },
    ];
    for access in lacking {
        let permitted_and_request = |lab: &Lab, nth| {
            let (dst, rkey) = (lab.b.data, lab.b.key);
            match nth {
                0 => (access.remote_write, Wr::write(dst, rkey)),
                1 => (access.remote_write, Wr::write(dst, rkey).with_imm(1)),
                2 => (access.remote_read, Wr::read(dst, rkey)),
                3 => (access.remote_atomic, Wr::add(dst, rkey, 1)),
                _ => (access.remote_atomic, Wr::swap(dst, rkey, 0, 1)),
            }
        };
        for nth in 0..5 {
            let mut lab = Lab::new(Options { access, ..Options::default() });
            let (permitted, wr) = permitted_and_request(&lab, nth);
            let wr = wr.sge(lab.a.data, 8, lab.a.key);
            lab.a.fill(0, 8, 0x55);
            lab.b.post_recv(&[]);
            lab.a.post(&wr);
            lab.settle();
            let syndrome = lab.a.poll_send()[0].syndrome;
            assert_eq!(syndrome, if permitted { 0 } else { 0x12 }, "{access:?} opcode {:#x}", wr.opcode);
            let events: &[QpEvent] = if permitted { &[] } else { &[QpEvent::RequestError] };
            assert_eq!(lab.b.events, events);
            if !permitted {
                assert_eq!(lab.b.memory.read(lab.b.data, 8), [0; 8], "nothing was done");
            }
        }
    }
}

#[test]
fn remote_invalid_request() {
    // The QP does not take part in RDMA at all.
    let mut lab = Lab::new(Options { access: Access { local_write: true, ..Access::default() }, ..Options::default() });
    let bad = Wr::write(lab.b.data, lab.b.key).inline(b"x");
    lab.a.post(&bad);
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x12);
    assert_eq!(lab.b.events, [QpEvent::RequestError]);
    // More READs at once than the peer agreed to.
    let mut lab = Lab::new(Options { max_rd_atomic: 3, max_dest_rd_atomic: 2, mtu: 256, ..Options::default() });
    for _ in 0..3 {
        lab.a.post_silently(&Wr::read(lab.b.data, lab.b.key).sge(lab.a.data, 0x8000, lab.a.key));
    }
    lab.a.ring();
    lab.settle();
    let done: Vec<_> = lab.a.poll_send().iter().map(|c| c.syndrome).collect();
    assert_eq!(done, [0, 0, 0x12]);
}

#[test]
fn message_longer_than_the_receive_wqe() {
    for len in [65, 5000] {
        let mut lab = Lab::new(Options::default());
        lab.b.post_recv(&[(lab.b.data, 64)]);
        lab.b.post_recv(&[(lab.b.data, 64)]);
        let bad = Wr::send().sge(lab.a.data, len, lab.a.key);
        fails(&mut lab, &bad, 0x12);
        let got: Vec<_> = lab.b.poll_recv().iter().map(|c| (c.opcode, c.wqe_counter, c.syndrome)).collect();
        assert_eq!(got, [(RESP_ERR, 0, 0x01), (RESP_ERR, 1, FLUSHED)]);
    }
}

#[test]
fn receive_buffer_without_protection_or_sense() {
    for (key, syndrome) in [(0x7777, 0x04), (0, 0x02)] {
        let mut lab = Lab::new(Options::default());
        if key == 0 {
            // An inline segment, where the device is to write.
            lab.b.post_recv_keys(&[(lab.b.data, 1 << 31 | 4, lab.b.key)]);
        } else {
            lab.b.post_recv_keys(&[(lab.b.data, 64, key)]);
        }
        fails(&mut lab, &Wr::send().inline(b"x"), 0x14);
        let got: Vec<_> = lab.b.poll_recv().iter().map(|c| (c.opcode, c.wqe_counter, c.syndrome)).collect();
        assert_eq!(got, [(RESP_ERR, 0, syndrome)]);
        assert_eq!(lab.b.state(), QpState::Err);
    }
}

/// The responder sends no NAK (IBTA vol. 1, 9.9.6.3, class J; Linux `rxe_resp.c`, `RESPST_ERR_INVALIDATE_RKEY`).
#[test]
fn invalidating_a_key_that_is_not_there() {
    let mut lab = Lab::new(Options::default());
    lab.b.post_recv(&[(lab.b.data, 64)]);
    fails(&mut lab, &Wr::send().inline(b"x").invalidating(0x1234), 0x15);
    let done = lab.b.poll_recv();
    assert_eq!((done.len(), done[0].syndrome, lab.b.state()), (1, 0x12, QpState::Err));
    assert!(lab.b.events.is_empty(), "the CQE tells");
}

#[test]
fn nobody_answers() {
    let mut lab = Lab::new(Options { retry_cnt: 3, timeout: 10, ..Options::default() });
    let start = lab.now;
    lab.b.modify(QpAttr { state: Some(QpState::Err), ..QpAttr::default() });
    let bad = Wr::write(lab.b.data, lab.b.key).inline(b"x");
    let index = lab.a.post(&bad.flags(0));
    lab.settle();
    let done = lab.a.poll_send();
    assert_eq!((done.len(), done[0].wqe_counter, done[0].syndrome), (1, index, 0x15));
    assert_eq!(lab.a.sent(Operation::Write).len(), 4, "once and three retries");
    // 4.096 us * 2^10: once each for the first two, four times each for the later ones.
    assert_eq!((lab.now - start).as_nanos(), (2 + 2 * 4) * (4096 << 10));
}

#[test]
fn timeout_zero_waits_without_end() {
    let mut lab = Lab::new(Options { timeout: 0, ..Options::default() });
    lab.b.script(|_| Fate::Drop);
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"x"));
    lab.run();
    assert_eq!(lab.a.device.next_deadline(), None);
    lab.advance(std::time::Duration::from_secs(1000));
    assert!(lab.a.poll_send().is_empty());
}

#[test]
fn receiver_never_ready() {
    let mut lab = Lab::new(Options { rnr_retry: 2, min_rnr_timer: 12, ..Options::default() });
    let start = lab.now;
    let index = lab.a.post(&Wr::send().inline(b"x"));
    lab.settle();
    let done = lab.a.poll_send();
    assert_eq!((done.len(), done[0].wqe_counter, done[0].syndrome), (1, index, 0x16));
    assert_eq!(lab.a.sent(Operation::Send).len(), 3);
    assert_eq!((lab.now - start).as_micros(), 2 * 640);
    assert_eq!(lab.b.state(), QpState::Rts, "not being ready is no error of the receiver");
}

#[test]
fn receiver_ready_late() {
    // 7 means: for ever.
    let mut lab = Lab::new(Options { rnr_retry: 7, min_rnr_timer: 1, mtu: 256, ..Options::default() });
    let sent = lab.a.fill(0, 1000, 9);
    lab.a.post(&Wr::send().sge(lab.a.data, 1000, lab.a.key));
    lab.a.post(&Wr::write(lab.b.data + 0x8000, lab.b.key).with_imm(1).inline(b"imm"));
    for _ in 0..20 {
        lab.run();
        lab.now = lab.a.device.next_deadline().expect("the RNR timer runs");
    }
    assert!(lab.a.poll_send().is_empty());
    assert_eq!(lab.b.memory.read(lab.b.data + 0x8000, 3), [0; 3]);
    lab.b.post_recv(&[(lab.b.data, 1000)]);
    lab.advance(std::time::Duration::from_millis(1));
    assert_eq!(lab.b.memory.read(lab.b.data, 1000), sent);
    assert_eq!(lab.a.poll_send().len(), 1);
    lab.b.post_recv(&[]);
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 1);
    assert_eq!(lab.b.poll_recv().iter().map(|c| c.opcode).collect::<Vec<_>>(), [RECV, WRITE_IMM]);
}

#[test]
fn a_key_that_goes_while_it_is_read() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    let key = lab.b.register(lab.b.data, DATA_BYTES as u64, ALL);
    lab.a.post(&Wr::read(lab.b.data, key).sge(lab.a.data, 1 << 19, lab.a.key));
    // A few steps: the answer is on its way.
    for _ in 0..4 {
        lab.a.device.step(lab.now);
        lab.b.device.step(lab.now);
    }
    assert!(lab.b.sent(Operation::ReadResponse).len() > 10);
    assert_eq!(told(&mut lab.b), <[&str; 0]>::default());
    lab.b.device.destroy_mkey(key).unwrap();
    lab.settle();
    let told = told(&mut lab.b);
    assert!(told.len() == 1 && told[0].ends_with(&no_memory(key)), "{told:?}");
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x13);
    assert_eq!(lab.b.events, [QpEvent::AccessError]);
}

/// Receives from an SRQ that meet a page fault, or turn out to be out of sequence, fail by themselves: the message
/// comes again, and the connection lives.
#[test]
fn a_receive_from_an_srq_that_is_aborted() {
    const MESSAGES: u8 = 10;
    for (srq_faults, vendor) in
        [(SrqFaults { page: 400, sequence: 0 }, 0x93), (SrqFaults { page: 0, sequence: 400 }, 0x99)]
    {
        let mut lab = Lab::new(Options { srq: true, srq_faults, rnr_retry: 7, mtu: 256, ..Options::default() });
        for nth in 0..16 {
            lab.b.post_recv(&[(lab.b.data + 1024 * nth, 1000)]);
        }
        let mut sent = Vec::new();
        for nth in 0..MESSAGES {
            sent.push(lab.a.fill(0, 600, nth));
            lab.a.post(&Wr::send().sge(lab.a.data, 600, lab.a.key));
            lab.settle();
        }
        let done = lab.a.poll_send();
        assert!(done.len() == usize::from(MESSAGES) && done.iter().all(|cqe| cqe.opcode == REQ), "{done:?}");
        let (received, aborted): (Vec<_>, Vec<_>) = lab.b.poll_recv().into_iter().partition(|cqe| cqe.opcode == RECV);
        let at = |counter: u16| lab.b.data + 1024 * u64::from(counter);
        let data: Vec<_> = received.iter().map(|cqe| lab.b.memory.read(at(cqe.wqe_counter), 600)).collect();
        assert_eq!(data, sent, "each message once, in order");
        // Two of five receives fail; ten succeed.
        assert_eq!(aborted.len(), 6);
        for cqe in &aborted {
            assert_eq!((cqe.opcode, cqe.syndrome, cqe.vendor), (RESP_ERR, 0x22, vendor));
            assert_eq!(lab.b.memory.read(at(cqe.wqe_counter), 600), [0; 600], "nothing was written");
        }
        assert_eq!((lab.a.state(), lab.b.state()), (QpState::Rts, QpState::Rts));
        assert!(lab.b.events.is_empty());
    }
}

/// Only an SRQ's receives meet page faults, and only a message's first packet takes one. UC has no RNR NAK, so nothing
/// would come again.
#[test]
fn receives_are_aborted_where_the_message_can_come_again() {
    for (transport, srq, is_aborted) in
        [(Transport::Rc, true, true), (Transport::Rc, false, false), (Transport::Uc, true, false)]
    {
        let srq_faults = SrqFaults { page: 1000, sequence: 0 };
        let mut lab = Lab::new(Options { transport, srq, srq_faults, mtu: 256, ..Options::default() });
        for _ in 0..8 {
            lab.b.post_recv(&[(lab.b.data, 1000)]);
        }
        lab.a.post(&Wr::send().sge(lab.a.data, 600, lab.a.key));
        lab.settle();
        let received: Vec<_> = lab.b.poll_recv().iter().map(|cqe| cqe.opcode).collect();
        let expected = if is_aborted { [RESP_ERR; 3].to_vec() } else { vec![RECV] };
        assert_eq!(received, expected, "{transport:?}, of an SRQ: {srq}");
        assert_eq!(lab.a.poll_send()[0].syndrome, if is_aborted { 0x16 } else { 0 });
    }
}

/// More receives than the ring holds: nobody knows which is next. The event comes once (IBTA vol. 1, 11.6.3.2, "local
/// work queue catastrophic error").
#[test]
fn a_receive_ring_without_sense_stops_the_queue_once() {
    let mut lab = Lab::new(Options::default());
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.b.rq_pi = 100;
    lab.b.ring_recv();
    fails(&mut lab, &Wr::send().inline(b"x"), 0x14);
    for _ in 0..3 {
        lab.advance(std::time::Duration::from_millis(1));
        assert_eq!((&lab.b.events[..], lab.b.state()), (&[QpEvent::Fatal][..], QpState::Err));
        assert!(lab.b.poll_recv().is_empty());
    }
}

/// Completion modes (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_COMP_*`): 0 tells every error, 1 the first alone, 2
/// all.
#[test]
fn each_completion_mode_tells_what_it_should() {
    const EACH_ERROR: u8 = 0;
    const FIRST_ERROR: u8 = 1 << 2;
    for (modes, told) in [
        ([FIRST_ERROR; 4], &[0_u16][..]),
        ([EACH_ERROR; 4], &[0, 1, 2, 3]),
        ([FIRST_ERROR, FIRST_ERROR, SIGNALED, FIRST_ERROR], &[0, 2]),
        ([SIGNALED, FIRST_ERROR, EACH_ERROR, FIRST_ERROR], &[0, 2]),
    ] {
        for fails in [true, false] {
            let mut lab = Lab::new(Options::default());
            // A key that is not there; or else the requests are waiting when the queue goes to the error state.
            let rkey = if fails { 0x1234_5600 } else { lab.b.key };
            for (n, &mode) in modes.iter().enumerate() {
                lab.a.post(&Wr::write(lab.b.data + n as u64, rkey).inline(&[7]).flags(mode));
            }
            if !fails {
                lab.a.modify(QpAttr { state: Some(QpState::Err), ..QpAttr::default() });
            }
            lab.settle();
            let cqes: Vec<_> = lab.a.poll_send().iter().map(|cqe| (cqe.wqe_counter, cqe.syndrome)).collect();
            let first = if fails { 0x13 } else { 5 };
            let expected: Vec<_> = told.iter().map(|&n| (n, if n == 0 { first } else { 5 })).collect();
            assert_eq!(cqes, expected, "modes {modes:x?}, a request fails: {fails}");
        }
        // Without an error, those that ask for it complete.
        let mut lab = Lab::new(Options::default());
        for &mode in &modes {
            lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(&[7]).flags(mode));
        }
        lab.run();
        assert_eq!(lab.a.poll_send().len(), modes.iter().filter(|&&mode| mode == SIGNALED).count());
    }
}
