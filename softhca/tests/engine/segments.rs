//! Several packets of a message as one frame, on a wire that carries them.
//!
//! Segments on their way belong here, their bytes in `softhca/src/wire/segment.rs`.

use crate::lab::*;
use crate::loss::{disturb, exchange};
use softhca::context::Transport;
use softhca::packet::Operation;
use softhca::wire::fault::FaultConfig;

const SEGMENT: usize = 1 << 16;

fn options(mtu: u32) -> Options {
    Options { mtu, segment_bytes: SEGMENT, ..Options::default() }
}

#[test]
fn messages_of_every_length_arrive_in_few_frames() {
    for mtu in [256, 1024, 4096] {
        for len in [1, mtu as usize, mtu as usize + 1, SEGMENT - 1, SEGMENT, SEGMENT + 1, 300_001] {
            let mut lab = Lab::new(options(mtu));
            let sent = lab.a.fill(3, len, mtu as u8);
            let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
            lab.b.post_recv(&[(dst + 7, 0x5_0000)]);
            lab.a.post(&Wr::send().sge(src + 3, len as u32, key));
            lab.a.post(&Wr::write(dst + 0x5_0001, rkey).sge(src + 3, len as u32, key));
            lab.a.post(&Wr::read(dst + 0x5_0001, rkey).sge(src + 0xa_0003, len as u32, key));
            lab.settle();
            let received = lab.b.poll_recv();
            assert_eq!((received.len(), received[0].byte_cnt as usize), (1, len));
            assert!(lab.a.poll_send().iter().map(|cqe| cqe.opcode).eq([REQ; 3]), "{mtu} {len}");
            assert!(lab.b.memory.read(dst + 7, len) == sent, "{mtu} {len}");
            assert!(lab.b.memory.read(dst + 0x5_0001, len) == sent, "{mtu} {len}");
            assert!(lab.a.memory.read(src + 0xa_0003, len) == sent, "{mtu} {len}");
            let frames = len.div_ceil(SEGMENT);
            for (node, operation) in
                [(&lab.a, Operation::Send), (&lab.a, Operation::Write), (&lab.b, Operation::ReadResponse)]
            {
                assert_eq!(node.sent(operation).len(), frames, "{mtu} {len} {operation:?}");
            }
        }
    }
}

#[test]
fn packet_numbers_count_packets() {
    let mut lab = Lab::new(options(256));
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    for _ in 0..2 {
        lab.a.post(&Wr::write(dst, rkey).sge(src, 1000, key));
    }
    lab.run();
    assert_eq!(lab.a.sent(Operation::Write), [0x123, 0x127]);
}

#[test]
fn mixed_traffic_in_segments_survives_a_bad_network() {
    for seed in 1..=20 {
        let mut lab = Lab::new(Options { segment_bytes: 1024, ..Options::patient(FaultConfig::default()) });
        disturb(&lab.a, seed, seed % 20);
        disturb(&lab.b, seed + 1000, seed % 20);
        exchange(&mut lab, seed);
    }
}

#[test]
fn an_unreliable_connection_loses_whole_messages() {
    let mut lab = Lab::new(Options { transport: Transport::Uc, ..options(256) });
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    let sent = lab.a.fill(0, 100_000, 9);
    let mut frames = 0;
    lab.a.script(move |_| {
        frames += 1;
        if frames == 2 { Fate::Drop } else { Fate::Deliver }
    });
    for at in [0, 0x4_0000] {
        lab.a.post(&Wr::write(dst + at, rkey).sge(src, 100_000, key));
    }
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 2);
    assert!(lab.b.memory.read(dst, SEGMENT) == sent[..SEGMENT]);
    assert!(lab.b.memory.read(dst + SEGMENT as u64, 100_000 - SEGMENT).iter().all(|&byte| byte == 0));
    assert!(lab.b.memory.read(dst + 0x4_0000, 100_000) == sent);
}

#[test]
fn an_end_with_another_mtu_refuses_a_segment() {
    for (mine, theirs) in [(256, 1024), (1024, 256)] {
        let mut lab = Lab::of(options(mine), options(theirs));
        lab.connect();
        let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
        lab.a.post(&Wr::write(dst, rkey).sge(src, 5000, key));
        lab.settle();
        let done = lab.a.poll_send();
        assert_eq!((done.len(), done[0].opcode), (1, REQ_ERR), "{mine} {theirs}");
    }
}
