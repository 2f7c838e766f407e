//! Every operation of RC, its data and its completions.
//!
//! RC without faults belongs here, other services in files of their own.

use std::sync::{Arc, Mutex};

use crate::lab::*;
use softhca::context::{Access, MkeyContext, Transport};
use softhca::packet::Operation;

#[test]
fn send_of_every_length_around_the_mtu_arrives() {
    for len in [0, 1, 3, 255, 256, 257, 511, 512, 513, 4096, 70_001] {
        let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
        let sent = lab.a.fill(5, len, 0x5a);
        let (src, key, dst) = (lab.a.data + 5, lab.a.key, lab.b.data);
        lab.b.post_recv(&[(dst + 1, 100), (dst + 1000, 0x1_2000)]);
        let wr = if len == 0 { Wr::send() } else { Wr::send().sge(src, len as u32, key) };
        lab.a.post(&wr);
        lab.run();
        let cqe = &lab.b.poll_recv()[..];
        assert_eq!(cqe.len(), 1);
        assert_eq!((cqe[0].opcode, cqe[0].byte_cnt as usize, cqe[0].wqe_counter), (RECV, len, 0));
        let mut got = lab.b.memory.read(dst + 1, len.min(100));
        got.extend(lab.b.memory.read(dst + 1000, len.saturating_sub(100)));
        assert_eq!(got, sent);
        let done = lab.a.poll_send();
        assert_eq!(done.len(), 1);
        assert_eq!((done[0].opcode, done[0].wqe_opcode, done[0].qpn), (REQ, 0x0a, lab.a.qpn));
        assert_eq!(lab.a.sent(Operation::Send).len(), len.div_ceil(256).max(1));
    }
}

#[test]
fn immediate_solicited_and_inline_arrive() {
    let mut lab = Lab::new(Options::default());
    let dst = lab.b.data;
    for i in 0..3 {
        lab.b.post_recv(&[(dst + 256 * i, 256)]);
    }
    lab.a.post(&Wr::send().with_imm(0xdead_beef).inline(b"hello").flags(SIGNALED | SOLICITED));
    lab.a.post(&Wr::write(dst + 0x8000, lab.b.key).with_imm(7).inline(&[9; 33]));
    lab.a.post(&Wr::write(dst + 0x9000, lab.b.key).inline(&[8; 12]).flags(SIGNALED | SOLICITED));
    lab.run();
    let got = lab.b.poll_recv();
    assert_eq!(got.len(), 2, "a WRITE consumes no receive WQE");
    assert_eq!((got[0].opcode, got[0].imm, got[0].byte_cnt, got[0].solicited), (RECV_IMM, 0xdead_beef, 5, true));
    assert_eq!((got[1].opcode, got[1].imm, got[1].byte_cnt, got[1].solicited), (WRITE_IMM, 7, 33, false));
    assert_eq!(lab.b.memory.read(dst, 5), b"hello");
    assert_eq!(lab.b.memory.read(dst + 0x8000, 34), [&[9; 33][..], &[0]].concat());
    assert_eq!(lab.b.memory.read(dst + 0x9000, 13), [&[8; 12][..], &[0]].concat());
    assert_eq!(lab.a.poll_send().iter().map(|c| c.wqe_opcode).collect::<Vec<_>>(), [0x0b, 0x09, 0x08]);
}

/// Inline data before, between and after data by reference, cut into packets at any place.
#[test]
fn data_inline_in_part_arrives_in_order() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    let sent = lab.a.fill(0, 1000, 0x33);
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    let head: Vec<u8> = (1..=77).collect();
    let write = Wr::write(dst + 1, rkey).inline(&head).sge(src, 400, key).inline(b"between");
    lab.a.post(&write.sge(src + 400, 600, key).inline(b"end"));
    lab.run();
    let expected = [&head[..], &sent[..400], b"between", &sent[400..], b"end"].concat();
    assert_eq!(lab.b.memory.read(dst + 1, expected.len()), expected);
    assert_eq!(lab.a.sent(Operation::Write).len(), expected.len().div_ceil(256));
    assert_eq!(lab.a.poll_send().len(), 1);
}

#[test]
fn write_and_read_move_a_megabyte() {
    for mtu in [256, 4096] {
        let mut lab = Lab::new(Options { mtu, ..Options::default() });
        let half = DATA_BYTES / 2;
        let sent = lab.a.fill(0, half, 1);
        let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
        lab.a.post(&Wr::write(dst, rkey).sge(src, half as u32, key));
        lab.a.post(&Wr::read(dst + 3, rkey).sge(src + half as u64, 11, key).sge(src + half as u64 + 64, 400_000, key));
        lab.run();
        assert!(lab.b.memory.read(dst, half) == sent);
        assert!(lab.a.memory.read(src + half as u64, 11) == sent[3..14]);
        assert!(lab.a.memory.read(src + half as u64 + 64, 400_000) == sent[14..400_014]);
        let done = lab.a.poll_send();
        assert_eq!(done.iter().map(|c| (c.wqe_opcode, c.byte_cnt)).collect::<Vec<_>>(), [(0x08, 0), (0x10, 400_011)]);
        let wanted = 400_011usize.div_ceil(mtu as usize);
        assert_eq!(lab.b.sent(Operation::ReadResponse).len(), wanted);
        assert_eq!(lab.a.sent(Operation::ReadRequest).len(), 1, "nothing was lost, nothing is asked twice");
    }
}

#[test]
fn unsignaled_requests_complete_silently_and_in_order() {
    let mut lab = Lab::new(Options::default());
    let (dst, rkey) = (lab.b.data, lab.b.key);
    for i in 0..20u8 {
        let flags = if i % 5 == 4 { SIGNALED } else { 0 };
        lab.a.post(&Wr::write(dst + u64::from(i), rkey).inline(&[i]).flags(flags));
    }
    let last = lab.a.post(&Wr::nop());
    lab.run();
    let done: Vec<u16> = lab.a.poll_send().iter().map(|c| c.wqe_counter).collect();
    assert_eq!(done, [4, 9, 14, 19, last]);
    assert_eq!(lab.b.memory.read(dst, 20), (0..20).collect::<Vec<u8>>());
}

#[test]
fn indices_and_psns_wrap() {
    let mut lab = Lab::new(Options { psn: 0xff_fff0, sq_log: 2, rq_log: 2, mtu: 256, ..Options::default() });
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    let mut expected = 0u16;
    let mut received = 0u16;
    for round in 0..50_000u32 {
        lab.a.memory.write(src, &round.to_be_bytes());
        // One WQEBB each, or three of the ring's four, which wrap inside of the inline data.
        let (wr, wqebbs) = match round % 4 {
            0 => (Wr::write(dst, rkey).sge(src, 700, key), 1),
            1 => (Wr::read(dst, rkey).sge(src + 4096, 700, key), 1),
            2 => (Wr::send().inline(&round.to_be_bytes()), 1),
            _ => (Wr::write(dst + 64, rkey).inline(&[round as u8; 150]), 3),
        };
        if round % 4 == 2 {
            lab.b.post_recv(&[(dst + 8192, 64)]);
        }
        assert_eq!(lab.a.post(&wr), expected);
        lab.run();
        let done = lab.a.poll_send();
        assert_eq!((done.len(), done[0].opcode, done[0].wqe_counter), (1, REQ, expected), "round {round}");
        expected = expected.wrapping_add(wqebbs);
        match round % 4 {
            2 => {
                let got = lab.b.poll_recv();
                assert_eq!((got.len(), got[0].byte_cnt, got[0].wqe_counter), (1, 4, received));
                assert_eq!(lab.b.memory.read(dst + 8192, 4), round.to_be_bytes());
                received = received.wrapping_add(1);
            }
            3 => assert_eq!(lab.b.memory.read(dst + 64, 150), [round as u8; 150]),
            _ => assert_eq!(lab.b.memory.read(dst, 4), (round - round % 4).to_be_bytes()),
        }
    }
    assert!(lab.b.poll_recv().is_empty());
    let psns = lab.a.sent(Operation::Write);
    assert!(psns.contains(&0xff_fff0) && psns.contains(&0));
}

/// A queue pair that asks for 0 still has one at a time.
#[test]
fn read_depth_is_what_was_agreed() {
    for (max_rd_atomic, at_once) in [(2, 2), (0, 1)] {
        let mut lab = Lab::new(Options { max_rd_atomic, max_dest_rd_atomic: 2, ..Options::default() });
        let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
        let sent = lab.b.fill(0, 4096, 3);
        // No answer comes back: the permitted number of READs is on its way, and the next waits with all requests
        // behind it.
        lab.b.script(|_| Fate::Drop);
        for i in 0..5 {
            lab.a.post(&Wr::read(dst + 100 * i, rkey).sge(src + 100 * i, 100, key));
        }
        lab.a.post(&Wr::write(dst + 8192, rkey).inline(b"x"));
        lab.run();
        assert_eq!(lab.a.sent(Operation::ReadRequest).len(), at_once);
        assert!(lab.a.sent(Operation::Write).is_empty());
        lab.b.script(|_| Fate::Deliver);
        lab.settle();
        assert_eq!(lab.a.poll_send().iter().map(|c| c.syndrome).collect::<Vec<_>>(), [0; 6]);
        assert_eq!(lab.a.memory.read(src, 500), sent[..500]);
    }
}

/// Half of all PSNs, 2^23, can be told from the other half (IBTA vol. 1, 9.7.1). The longest message has as many at the
/// smallest MTU.
#[test]
fn at_most_half_of_all_psns_are_on_their_way() {
    for (len, psns) in [
        (1_u32 << 30, &[0x123, 0x123 + (1 << 22)][..]),
        ((1 << 30) + 1, &[0x123]),
        ((1 << 30) - 256, &[0x123, 0x123 + (1 << 22) - 1]),
        (1 << 31, &[0x123]),
    ] {
        let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
        lab.a.script(|_| Fate::Drop);
        for _ in 0..3 {
            // A byte count of 0 is 2^31.
            lab.a.post(&Wr::read(lab.b.data, lab.b.key).sge(lab.a.data, len & 0x7fff_ffff, lab.a.key));
        }
        lab.run();
        assert_eq!(lab.a.sent(Operation::ReadRequest), psns, "{len:#x}");
    }
}

/// The last packet of a message alone asks for a solicited event, and not of a WRITE, for which there is none (IBTA
/// vol. 1, 9.2.3). Requests of RC alone ask for an acknowledgement.
#[test]
fn bits_of_the_header_are_set_where_they_mean_something() {
    for transport in [Transport::Rc, Transport::Uc] {
        for (wr, has_event) in [
            (Wr::send(), true),
            (Wr::send().with_imm(1), true),
            (Wr::write(0, 0), false),
            (Wr::write(0, 0).with_imm(1), true),
        ] {
            let mut lab = Lab::new(Options { transport, mtu: 256, ..Options::default() });
            let seen = Arc::new(Mutex::new(Vec::new()));
            let bits = seen.clone();
            lab.a.script(move |packet| {
                let bth = packet.headers.bth;
                bits.lock().unwrap().push((bth.solicited, bth.ack_request));
                Fate::Drop
            });
            lab.a.post(&wr.clone().sge(lab.a.data, 600, lab.a.key).flags(SIGNALED | SOLICITED));
            lab.run();
            let last = (has_event, transport == Transport::Rc);
            assert_eq!(*seen.lock().unwrap(), [(false, false), (false, false), last], "{:#x}", wr.opcode);
        }
    }
}

#[test]
fn fence_waits_for_answers() {
    let mut lab = Lab::new(Options::default());
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    lab.b.fill(0, 64, 3);
    lab.b.script(|packet| match packet.headers.bth.opcode.operation() {
        Operation::ReadResponse => Fate::Drop,
        _ => Fate::Deliver,
    });
    lab.a.post(&Wr::read(dst, rkey).sge(src, 64, key));
    lab.a.post(&Wr::write(dst + 4096, rkey).inline(b"free"));
    // The fenced WRITE sends the READ's data.
    lab.a.post(&Wr::write(dst + 8192, rkey).sge(src, 64, key).flags(SIGNALED | FENCE));
    lab.run();
    // The answer is missing, so the first WRITE goes out again; the fenced one has another PSN.
    let mut psns = lab.a.sent(Operation::Write);
    psns.dedup();
    assert_eq!(psns.len(), 1);
    lab.b.script(|_| Fate::Deliver);
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 3);
    assert_eq!(lab.b.memory.read(dst + 8192, 64), lab.b.memory.read(dst, 64));
}

#[test]
fn small_data_goes_into_the_cqe() {
    let mut lab = Lab::new(Options { scatter_to_cqe: 32, ..Options::default() });
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    let remote = lab.b.fill(0, 64, 3);
    for i in 0..2 {
        lab.b.post_recv(&[(dst + 4096 + 64 * i, 64)]);
    }
    lab.a.post(&Wr::read(dst, rkey).sge(src, 32, key));
    lab.a.post(&Wr::read(dst, rkey).sge(src + 64, 33, key));
    lab.a.post(&Wr::send().inline(&[1; 32]));
    lab.a.post(&Wr::send().inline(&[2; 33]));
    lab.run();
    let done = lab.a.poll_send();
    assert_eq!((done[0].inline, done[0].byte_cnt, &done[0].data[..]), (1, 32, &remote[..32]));
    assert_eq!((done[1].inline, done[1].byte_cnt), (0, 33));
    assert_eq!(lab.a.memory.read(src, 32), [0; 32], "the CQE stands in place of memory");
    assert_eq!(lab.a.memory.read(src + 64, 33), remote[..33]);
    let got = lab.b.poll_recv();
    assert_eq!((got[0].inline, got[0].byte_cnt, &got[0].data[..]), (1, 32, &[1; 32][..]));
    assert_eq!(got[1].inline, 0);
    assert_eq!(lab.b.memory.read(dst + 4096, 32), [0; 32]);
    assert_eq!(lab.b.memory.read(dst + 4096 + 64, 33), [2; 33]);
}

/// The CQE has room for a message, and not for the end of a longer one.
#[test]
fn the_rest_of_a_message_does_not_go_into_the_cqe() {
    let mut lab = Lab::new(Options { scatter_to_cqe: 32, mtu: 256, ..Options::default() });
    let sent = lab.a.fill(0, 256 + 20, 3);
    lab.b.post_recv(&[(lab.b.data, 512)]);
    lab.a.post(&Wr::send().sge(lab.a.data, 256 + 20, lab.a.key));
    lab.run();
    let got = lab.b.poll_recv();
    assert_eq!((got.len(), got[0].inline, got[0].byte_cnt), (1, 0, 256 + 20));
    assert_eq!(lab.b.memory.read(lab.b.data, 256 + 20), sent);
}

#[test]
fn send_with_invalidate_takes_the_memory_away() {
    let mut lab = Lab::new(Options::default());
    let (dst, len) = (lab.b.data, 4096);
    let victim = lab.b.register(dst, len, ALL);
    for _ in 0..2 {
        lab.b.post_recv(&[(dst + 8192, 64)]);
    }
    lab.a.post(&Wr::write(dst, victim).inline(b"before"));
    lab.a.post(&Wr::send().inline(b"bye").invalidating(victim));
    lab.run();
    let got = lab.b.poll_recv();
    assert_eq!((got[0].opcode, got[0].imm, got[0].byte_cnt), (RECV_INV, victim, 3));
    assert_eq!(lab.b.memory.read(dst, 6), b"before");
    lab.a.post(&Wr::write(dst, victim).inline(b"after!"));
    lab.run();
    let done = lab.a.poll_send();
    assert_eq!((done[2].opcode, done[2].syndrome), (REQ_ERR, 0x13));
    assert_eq!(lab.b.memory.read(dst, 6), b"before");
    lab.b.device.destroy_mkey(victim).unwrap();
}

#[test]
fn send_with_invalidate_needs_the_whole_key() {
    let mut lab = Lab::new(Options::default());
    let victim = lab.b.register(lab.b.data, 4096, ALL);
    lab.b.post_recv(&[(lab.b.data + 8192, 64)]);
    lab.a.post(&Wr::send().inline(b"bye").invalidating(victim ^ 1));
    lab.settle();
    let got = lab.b.poll_recv();
    assert_ne!((got.len(), got[0].opcode), (1, RECV_INV));
    assert!(lab.b.device.mkey(victim).is_some(), "the key of another last byte is as before");
}

#[test]
fn an_srq_feeds_the_qp() {
    let mut lab = Lab::new(Options { srq: true, ..Options::default() });
    let dst = lab.b.data;
    for round in 0..40u64 {
        lab.b.post_recv(&[(dst + 64 * round, 64)]);
        lab.a.post(&Wr::send().inline(&round.to_be_bytes()));
        lab.run();
        let got = lab.b.poll_recv();
        assert_eq!((got.len(), u64::from(got[0].wqe_counter), got[0].byte_cnt), (1, round % 16, 8));
        assert_eq!(lab.b.memory.read(dst + 64 * round, 8), round.to_be_bytes());
        lab.a.poll_send();
    }
}

#[test]
fn an_empty_srq_makes_the_peer_wait() {
    let mut lab = Lab::new(Options { srq: true, rnr_retry: 7, ..Options::default() });
    lab.a.post(&Wr::send().inline(b"patience"));
    lab.run();
    assert!(lab.a.poll_send().is_empty());
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.settle();
    assert_eq!((lab.a.poll_send().len(), lab.b.poll_recv().len()), (1, 1));
    assert_eq!(lab.b.memory.read(lab.b.data, 8), b"patience");
}

#[test]
fn a_silent_peer_gets_no_more_than_a_window() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    lab.b.script(|_| Fate::Drop);
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, DATA_BYTES as u32, lab.a.key));
    lab.run();
    assert_eq!(lab.a.sent(Operation::Write).len(), 128);
    lab.b.script(|_| Fate::Deliver);
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 1);
}

/// This many requests may wait behind an unacknowledged one, although none of their packets is sent.
#[test]
fn at_most_256_requests_are_fetched_and_not_complete() {
    let mut lab = Lab::new(Options { sq_log: 9, ..Options::default() });
    lab.b.script(|_| Fate::Drop);
    lab.a.post_silently(&Wr::write(lab.b.data, lab.b.key).inline(b"x"));
    for _ in 0..400 {
        lab.a.post_silently(&Wr::nop());
    }
    lab.a.ring();
    lab.run();
    let info = lab.a.device.query_qp(lab.a.qpn).unwrap();
    assert_eq!((info.hw_sq_wqebb_counter, info.sw_sq_wqebb_counter), (256, 401));
    lab.b.script(|_| Fate::Deliver);
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 401);
}

#[test]
fn acknowledgements_are_coalesced() {
    let mut lab = Lab::new(Options::default());
    let (dst, rkey) = (lab.b.data, lab.b.key);
    for _ in 0..30 {
        lab.a.post_silently(&Wr::write(dst, rkey).inline(b"x"));
    }
    lab.a.ring();
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 30);
    assert!(lab.b.sent(Operation::Acknowledge).len() <= 2);
}

#[test]
fn roce_and_global_routes_work() {
    for options in [
        Options { grh: true, ..Options::default() },
        Options { link: softhca::config::LinkLayer::Ethernet, ..Options::default() },
    ] {
        let mut lab = Lab::new(options);
        let (dst, rkey) = (lab.b.data, lab.b.key);
        lab.a.post(&Wr::write(dst, rkey).inline(b"over there"));
        lab.run();
        assert_eq!(lab.a.poll_send().len(), 1);
        assert_eq!(lab.b.memory.read(dst, 10), b"over there");
    }
}

#[test]
fn a_key_can_be_made_to_name_other_memory() {
    let mut lab = Lab::new(Options::default());
    let (key, other) = (lab.b.key, lab.b.alloc(4096));
    let pd = lab.b.pd;
    let access = Access { local_write: true, remote_write: true, ..Access::default() };
    let elsewhere = MkeyContext { pd, iova: lab.b.data, addr: other, len: 8, access };
    lab.b.device.modify_mkey(key, elsewhere).unwrap();
    lab.a.post(&Wr::write(lab.b.data, key).inline(b"8 bytes!"));
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].opcode, REQ);
    assert_eq!(lab.b.memory.read(other, 8), b"8 bytes!");

    // A number of one's own choice, unless somebody has it; a wrong region changes nothing.
    let wanted = key + 0x1_0000;
    lab.b.device.create_mkey_as(wanted, elsewhere).unwrap();
    assert!(lab.b.device.create_mkey_as(wanted + 1, elsewhere).is_err(), "its index is taken");
    assert!(lab.b.device.create_mkey_as(0x100, elsewhere).is_err(), "no index of a key");
    assert_eq!(lab.b.device.mkey(wanted), Some(&elsewhere));
    assert!(lab.b.device.modify_mkey(wanted + 1, elsewhere).is_err());
    assert!(lab.b.device.modify_mkey(wanted, MkeyContext { addr: u64::MAX, ..elsewhere }).is_err());
    assert!(lab.b.device.modify_mkey(wanted, MkeyContext { pd: pd + 7, ..elsewhere }).is_err());
    assert_eq!(lab.b.device.mkey(wanted), Some(&elsewhere));

    // Its protection domain is busy as long as a key is in it.
    let second = lab.b.device.alloc_pd().unwrap();
    lab.b.device.modify_mkey(wanted, MkeyContext { pd: second, ..elsewhere }).unwrap();
    assert!(lab.b.device.free_pd(second).is_err());
    lab.b.device.modify_mkey(wanted, elsewhere).unwrap();
    lab.b.device.free_pd(second).unwrap();
}
