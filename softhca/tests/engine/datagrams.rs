//! UD: addressing, the GRH area, Q_Keys, and dropped datagrams.
//!
//! UD belongs here, UC in `unreliable.rs`.

use crate::lab::*;
use softhca::config::LinkLayer;
use softhca::context::{QpAttr, QpState, Transport};

fn options() -> Options {
    Options { transport: Transport::Ud, ..Options::default() }
}

fn to_b(lab: &Lab, qkey: u32) -> Wr {
    let (lid, _, qpn) = lab.b.identity();
    Wr::send().inline(b"datagram!").to(lid, qpn, qkey, None)
}

#[test]
fn a_datagram_tells_where_it_came_from() {
    let mut lab = Lab::new(options());
    lab.b.post_recv(&[(lab.b.data, 40), (lab.b.data + 100, 100)]);
    lab.a.post(&to_b(&lab, QKEY));
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 1, "sent is done");
    let got = lab.b.poll_recv();
    assert_eq!((got[0].opcode, got[0].byte_cnt, got[0].slid), (RECV, 49, 1));
    assert_eq!(got[0].flags_rqpn & 0xff_ffff, lab.a.qpn);
    assert_eq!(got[0].flags_rqpn >> 28 & 3, 0);
    assert_eq!(lab.b.memory.read(lab.b.data + 100, 9), b"datagram!");
}

#[test]
fn a_global_datagram_brings_its_grh() {
    // RoCE v2 has an IP header in the GRH's place: UDP follows, whose header counts.
    for (link, len, next_header) in [(LinkLayer::InfiniBand, 28, 0x1b), (LinkLayer::Ethernet, 36, 17)] {
        let mut lab = Lab::new(Options { link, ..options() });
        lab.b.post_recv(&[(lab.b.data, 100)]);
        let (lid, gid, qpn) = lab.b.identity();
        lab.a.post(&Wr::send().with_imm(0xabcd).inline(b"far").to(lid, qpn, QKEY, Some(gid)));
        lab.run();
        let got = lab.b.poll_recv();
        assert_eq!((got[0].opcode, got[0].byte_cnt, got[0].imm), (RECV_IMM, 43, 0xabcd));
        assert_ne!(got[0].flags_rqpn >> 28 & 3, 0);
        let area = lab.b.memory.read(lab.b.data, 43);
        assert_eq!(area[..8], [0x60, 0x90, 0x07, 0x77, 0, len, next_header, 33]);
        assert_eq!(area[8..24], lab.a.identity().1);
        assert_eq!(area[24..40], gid);
        assert_eq!(&area[40..], b"far");
    }
}

#[test]
fn what_does_not_fit_is_dropped() {
    let mut lab = Lab::new(options());
    lab.a.post(&to_b(&lab, QKEY));
    lab.run();
    lab.b.post_recv(&[(lab.b.data, 48)]);
    lab.a.post(&to_b(&lab, QKEY));
    lab.a.post(&to_b(&lab, QKEY + 1));
    lab.run();
    assert!(lab.b.poll_recv().is_empty(), "no WQE, too small, wrong Q_Key");
    assert_eq!(lab.a.poll_send().len(), 3, "the sender does not know");
    // A privileged Q_Key stands for the QP's own. The WQE is still there for a datagram that fits.
    let (lid, _, qpn) = lab.b.identity();
    lab.a.post(&Wr::send().inline(b"fits").to(lid, qpn, 1 << 31, None));
    lab.run();
    assert_eq!(lab.b.poll_recv()[0].byte_cnt, 44);
    assert_eq!(lab.b.state(), QpState::Rts);
}

#[test]
fn errors_stop_the_send_queue_only() {
    let mut lab = Lab::new(options());
    let (lid, _, qpn) = lab.b.identity();
    let long = Wr::send().sge(lab.a.data, 4097, lab.a.key).to(lid, qpn, QKEY, None);
    lab.a.post_silently(&to_b(&lab, QKEY));
    lab.a.post_silently(&long);
    lab.a.post_silently(&to_b(&lab, QKEY));
    lab.a.ring();
    lab.settle();
    let done: Vec<_> = lab.a.poll_send().iter().map(|c| c.syndrome).collect();
    assert_eq!(done, [0, 0x01, 0x05]);
    assert_eq!(lab.a.state(), QpState::Sqe);
    // It still receives.
    lab.a.post_recv(&[(lab.a.data, 100)]);
    let (lid, _, qpn) = lab.a.identity();
    lab.b.post(&Wr::send().inline(b"back").to(lid, qpn, QKEY, None));
    lab.settle();
    assert_eq!(lab.a.poll_recv()[0].byte_cnt, 44);
    // And sends again once it is told to.
    lab.a.modify(QpAttr { state: Some(QpState::Rts), ..QpAttr::default() });
    lab.b.post_recv(&[(lab.b.data, 100)]);
    lab.a.post(&to_b(&lab, QKEY));
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].opcode, REQ);
    assert_eq!(lab.b.poll_recv().len(), 1);
}

#[test]
fn a_wrong_source_gid_is_a_local_error() {
    let mut lab = Lab::new(Options { link: LinkLayer::Ethernet, ..options() });
    let (lid, gid, qpn) = lab.b.identity();
    let mut wr = Wr::send().inline(b"x").to(lid, qpn, QKEY, Some(gid));
    // Source GID index in bits 27:20 of the word at 28.
    wr.body[28..32].copy_from_slice(&(1u32 << 30 | 9 << 20).to_be_bytes());
    lab.a.post(&wr);
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x02);
}

/// As libmlx5 posts a `remote_qpn` of more than 24 bits.
#[test]
fn bits_above_the_qpn_mean_nothing() {
    let mut lab = Lab::new(options());
    let (lid, _, qpn) = lab.b.identity();
    lab.b.post_recv(&[(lab.b.data, 100)]);
    lab.a.post(&Wr::send().inline(b"to b").to(lid, qpn | 0x5e << 24, QKEY, None));
    lab.a.post(&Wr::send().inline(b"to none").to(lid, 0xdead_beef, QKEY, None));
    lab.settle();
    let done: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.syndrome)).collect();
    assert_eq!(done, [(REQ, 0); 2]);
    assert_eq!(lab.b.poll_recv().len(), 1);
}
