//! XRC: an initiator and a target, whose requests are for SRQs.
//!
//! XRC belongs here, SRQs of other services in `operations.rs`.

use crate::every::Every;
use crate::lab::*;
use softhca::config::{GidType, LinkLayer};
use softhca::context::*;
use softhca::error::{Error, Object};
use softhca::event::{Event, QpEvent};
use softhca::packet::Operation;
use softhca::wire::fault::FaultConfig;
use softhca::wire::in_process::InProcessWire;
use softhca::wire::{Frame, Macs, Route, Wire};

/// `a` is an initiator, `b` a target.
fn xrc(options: Options) -> Lab {
    let mut lab = unconnected(options);
    lab.connect();
    lab
}

fn unconnected(options: Options) -> Lab {
    let initiator = Options { transport: Transport::Xrc, ..options };
    Lab::of(initiator.clone(), Options { srq: true, ..initiator })
}

fn srqn(node: &Node) -> u32 {
    node.srqn.expect("an SRQ")
}

/// An SRQ of the target's domain, or of another, that has nothing in common with the first: neither PD nor CQ, nor
/// keys.
struct Pool {
    srqn: u32,
    cq: Cq,
    key: u32,
    /// 64 KiB.
    data: u64,
    ring: u64,
    dbr: u64,
    posted: u16,
}

const POOL_LOG: u8 = 2;

impl Pool {
    fn new(node: &mut Node, xrcd: u32, uidx: Option<u32>, limit: u16) -> Self {
        let pd = node.device.alloc_pd().unwrap();
        let uar = node.device.alloc_uar().unwrap();
        let cq = node.make_cq(uar, 4);
        let [ring, dbr, data] = [256, 64, 1 << 16].map(|bytes| node.alloc(bytes));
        let mkey = MkeyContext { pd, iova: data, addr: data, len: 1 << 16, access: ALL };
        let key = node.device.create_mkey(mkey).unwrap();
        for index in 0..4u16 {
            node.memory.write(ring + 64 * u64::from(index) + 2, &((index + 1) % 4).to_be_bytes());
        }
        let rq = RqContext { buf: ring, log_size: POOL_LOG, log_stride: RQ_STRIDE_LOG };
        let srq = SrqContext { pd, rq, dbr, limit, ..SrqContext::default() };
        let srqn = node.device.create_xrc_srq(srq, XrcContext { xrcd, cqn: cq.cqn, uidx }).unwrap();
        Self { srqn, cq, key, data, ring, dbr, posted: 0 }
    }

    fn post(&mut self, node: &Node, addr: u64, len: u32) {
        let at = self.ring + 64 * u64::from(self.posted % 4) + 16;
        node.memory.write(at, &data_seg(addr, len, self.key));
        node.memory.write(at + 16, &data_seg(0, 0, 0x100));
        self.posted += 1;
        node.memory.write(self.dbr, &u32::from(self.posted).to_be_bytes());
    }

    fn poll(&mut self, node: &Node) -> Vec<Cqe> {
        self.cq.poll(&node.memory)
    }
}

#[test]
fn every_operation_arrives() {
    let ethernet = |kind| Options { link: LinkLayer::Ethernet, gid_types: vec![kind], ..Options::default() };
    for options in [Options::default(), ethernet(GidType::RoceV1), ethernet(GidType::RoceV2)] {
        let mut lab = xrc(options);
        let srqn = srqn(&lab.b);
        let every = Every::prepare(&mut lab.a, &mut lab.b);
        every.post(&mut lab.a, |wr| wr.of_srq(srqn));
        lab.run();
        let received = every.check(&mut lab.a, &mut lab.b);
        let named = |c: &Cqe| (c.qpn, c.uidx) == (lab.b.qpn, UIDX);
        assert!(received.iter().all(named), "the CQEs name the target, and the SRQ by its user index");
    }
}

/// A third party in the place of a peer: it sends and gets bytes.
struct Peer {
    wire: InProcessWire,
    route: Route,
}

impl Peer {
    /// Of the initiator, which has the third party's address and QPN 0x77 as its peer's.
    fn of_initiator(lab: &mut Lab) -> Self {
        Self::of(lab.attach(0x77), &mut lab.a, 1)
    }

    fn of_target(lab: &mut Lab) -> Self {
        Self::of(lab.attach(0x77), &mut lab.b, 2)
    }

    fn of(wire: InProcessWire, node: &mut Node, lid: u16) -> Self {
        for attr in [node.init_attr(), node.rtr_attr((99, [0; 16], 0x77)), node.rts_attr()] {
            node.modify(attr);
        }
        Self { wire, route: Route { slid: 99, dlid: lid, sl: 0, grh: None, macs: Macs::default() } }
    }

    fn send(&mut self, packet: Vec<u8>) {
        self.wire.send(Frame::new(self.route, packet)).expect("there is room");
    }

    fn received(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.wire.recv()).map(|frame| frame.packet).collect()
    }
}

/// The BTH of a packet to QP `qpn`.
fn bth(opcode: u8, qpn: u32, psn: u32, asks: bool) -> Vec<u8> {
    let mut bytes = vec![opcode, 0x40, 0xff, 0xff];
    bytes.extend(qpn.to_be_bytes());
    bytes.extend((psn | if asks { 1 << 31 } else { 0 }).to_be_bytes());
    bytes
}

#[test]
fn requests_look_as_the_specification_says() {
    let mut lab = unconnected(Options { mtu: 256, psn: 0x10, ..Options::default() });
    let mut peer = Peer::of_initiator(&mut lab);
    let (at, own) = (lab.a.data, lab.a.key);
    let sent = lab.a.fill(0, 600, 3);
    lab.a.post(&Wr::send().sge(at, 600, own).of_srq(0x1_0203));
    lab.a.post(&Wr::write(0x0102_0304_0506_0708, 0x11).with_imm(0xdead_beef).inline(b"four").of_srq(0x00ff_fffe));
    lab.a.post(&Wr::read(8, 0x22).sge(at, 600, own).of_srq(5));
    lab.a.post(&Wr::add(16, 0x33, 3).sge(at, 8, own).of_srq(6));
    lab.run();
    let srq = [0, 1, 2, 3];
    let expected = [
        [&bth(0xa0, 0x77, 0x10, false)[..], &srq, &sent[..256]].concat(),
        [&bth(0xa1, 0x77, 0x11, false)[..], &srq, &sent[256..512]].concat(),
        [&bth(0xa2, 0x77, 0x12, true)[..], &srq, &sent[512..]].concat(),
        [
            &bth(0xab, 0x77, 0x13, true)[..],
            &[0, 0xff, 0xff, 0xfe],
            &[1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0x11, 0, 0, 0, 4],
            &[0xde, 0xad, 0xbe, 0xef],
            b"four",
        ]
        .concat(),
        [&bth(0xac, 0x77, 0x14, true)[..], &[0, 0, 0, 5], &[0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0x22, 0, 0, 2, 0x58]]
            .concat(),
        [
            &bth(0xb4, 0x77, 0x17, true)[..],
            &[0, 0, 0, 6],
            &[0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0x33],
            &3u64.to_be_bytes(),
            &0u64.to_be_bytes(),
        ]
        .concat(),
    ];
    assert_eq!(peer.received(), expected);
    // Responses are RC's: an acknowledgement, an answer of three packets, and one of an atomic.
    let qpn = lab.a.qpn;
    peer.send([&bth(0xb1, qpn, 0x13, false)[..], &[0x1f, 0, 0, 2]].concat());
    let answer = lab.b.fill(0, 600, 9);
    peer.send([&bth(0xad, qpn, 0x14, false)[..], &[0x1f, 0, 0, 3], &answer[..256]].concat());
    peer.send([&bth(0xae, qpn, 0x15, false)[..], &answer[256..512]].concat());
    peer.send([&bth(0xaf, qpn, 0x16, false)[..], &[0x1f, 0, 0, 3], &answer[512..]].concat());
    peer.send([&bth(0xb2, qpn, 0x17, false)[..], &[0x1f, 0, 0, 4], &7u64.to_be_bytes()].concat());
    // RC's own acknowledgement means nothing here.
    peer.send([&bth(0x11, qpn, 0x12, false)[..], &[0x63, 0, 0, 2]].concat());
    lab.run();
    let done: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.wqe_opcode)).collect();
    assert_eq!(done, [(REQ, 0x0a), (REQ, 0x09), (REQ, 0x10), (REQ, 0x12)]);
    assert_eq!(lab.a.memory.read(at + 8, 592), answer[8..], "the atomic's answer lies over the first word");
}

#[test]
fn a_target_takes_requests_byte_by_byte() {
    let mut lab = unconnected(Options { mtu: 256, psn: 0x10, ..Options::default() });
    let mut peer = Peer::of_target(&mut lab);
    let (qpn, srq) = (lab.b.qpn, srqn(&lab.b).to_be_bytes());
    lab.b.post_recv(&[(lab.b.data, 0x200)]);
    peer.send([&bth(0xa0, qpn, 0x10, false)[..], &srq, &[1; 256]].concat());
    let mut last = [&bth(0xa3, qpn, 0x11, true)[..], &srq, &[0, 0, 0, 9], &[2; 4]].concat();
    // Three bytes of padding.
    last[1] |= 0x30;
    peer.send(last);
    lab.run();
    assert_eq!(peer.received(), [[&bth(0xb1, 0x77, 0x11, false)[..], &[0x1f, 0, 0, 1]].concat()]);
    let received = lab.b.poll_recv();
    assert_eq!((received[0].opcode, received[0].byte_cnt, received[0].imm), (RECV_IMM, 257, 9));
    assert_eq!(lab.b.memory.read(lab.b.data + 255, 3), [1, 2, 0]);
}

#[test]
fn each_message_goes_to_the_srq_that_it_names() {
    let mut lab = xrc(Options::default());
    let xrcd = lab.b.xrcd.unwrap();
    let mut pools = [Some(0x61), Some(0x62), None].map(|uidx| Pool::new(&mut lab.b, xrcd, uidx, 0));
    for pool in &mut pools {
        (0..3).for_each(|i| pool.post(&lab.b, pool.data + 0x1000 * i, 0x1000));
    }
    // One connection, and the SRQs in turn: SENDs, WRITEs with immediate data, and READs by the keys of each.
    let (at, own) = (lab.a.data, lab.a.key);
    let mut expected = vec![];
    for round in 0..3u64 {
        for (i, pool) in pools.iter().enumerate() {
            let offset = 0x4000 * (3 * round + i as u64);
            let bytes = lab.a.fill(offset, 1500, offset as u8 ^ 0x5a);
            let remote = pool.data + 0x8000 + 0x800 * round;
            let write = Wr::write(remote, pool.key).sge(at + offset, 1500, own);
            let read = Wr::read(remote, pool.key).sge(at + offset + 0x2000, 1500, own);
            for wr in [Wr::send().sge(at + offset, 1500, own), write, read] {
                lab.a.post(&wr.of_srq(pool.srqn));
            }
            expected.push((i, round, offset, bytes));
        }
    }
    lab.run();
    let done = lab.a.poll_send();
    assert_eq!(done.iter().filter(|c| c.opcode == REQ).count(), 27, "{done:?}");
    for (i, round, offset, bytes) in expected {
        assert_eq!(lab.b.memory.read(pools[i].data + 0x1000 * round, 1500), bytes);
        assert_eq!(lab.a.memory.read(at + offset + 0x2000, 1500), bytes);
    }
    for pool in &mut pools {
        let uidx = match pool.poll(&lab.b)[..] {
            [ref first, ref second, ref third] => {
                assert_eq!([first, second, third].map(|c| (c.opcode, c.qpn, c.byte_cnt)), [(RECV, lab.b.qpn, 1500); 3]);
                first.uidx
            }
            ref other => panic!("{other:?}"),
        };
        // Without a user index, the SRQ's own number.
        assert!(matches!(uidx, 0x61 | 0x62) || uidx == pool.srqn, "{uidx:#x}");
    }
    assert_eq!(lab.b.poll_recv(), [], "nothing in the CQ of another SRQ");
}

#[test]
fn keys_are_of_the_srqs_domain() {
    for which in 0..3 {
        let mut lab = xrc(Options::default());
        let xrcd = lab.b.xrcd.unwrap();
        let pool = Pool::new(&mut lab.b, xrcd, Some(1), 0);
        // A key of one SRQ's protection domain, and the other SRQ.
        let (data, key, own) = (lab.b.data, lab.b.key, lab.a.key);
        let wr = match which {
            0 => Wr::write(data, key).sge(lab.a.data, 10, own),
            1 => Wr::read(data, key).sge(lab.a.data, 10, own),
            _ => Wr::add(data, key, 1).sge(lab.a.data, 8, own),
        };
        lab.a.post(&wr.clone().of_srq(srqn(&lab.b)));
        lab.a.post(&wr.of_srq(pool.srqn));
        lab.run();
        let done: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.syndrome)).collect();
        assert_eq!(done, [(REQ, 0), (REQ_ERR, 0x13)], "remote access error");
        assert_eq!(lab.b.events, [QpEvent::AccessError, QpEvent::LastWqeReached]);
        assert_eq!([lab.a.state(), lab.b.state()], [QpState::Err; 2]);
    }
}

#[test]
fn only_srqs_of_the_targets_domain_can_be_named() {
    for which in 0..4 {
        let mut lab = xrc(Options::default());
        let named = match which {
            0 => srqn(&lab.b) + 100,
            // Of another domain.
            1 => {
                let other = lab.b.device.alloc_xrcd().unwrap();
                Pool::new(&mut lab.b, other, Some(1), 0).srqn
            }
            // Of none.
            2 => {
                let ring = lab.b.alloc(256);
                let rq = RqContext { buf: ring, log_size: 2, log_stride: 6 };
                let pd = lab.b.pd;
                let dbr = lab.b.alloc(64);
                lab.b.device.create_srq(SrqContext { pd, rq, dbr, ..SrqContext::default() }).unwrap()
            }
            _ => 0,
        };
        lab.b.post_recv(&[(lab.b.data, 64)]);
        let wr = if which == 3 { Wr::write(lab.b.data, lab.b.key) } else { Wr::send() };
        lab.a.post(&wr.inline(b"x").of_srq(named));
        lab.run();
        let done: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.syndrome)).collect();
        assert_eq!(done, [(REQ_ERR, 0x12)], "remote invalid request");
        assert_eq!(lab.b.events, [QpEvent::RequestError, QpEvent::LastWqeReached]);
        assert_eq!(lab.b.poll_recv(), []);
        assert_eq!([lab.a.state(), lab.b.state()], [QpState::Err; 2]);
    }
}

#[test]
fn a_wqe_without_a_segment_of_xrc_is_malformed() {
    let mut lab = xrc(Options::default());
    lab.a.post(&Wr::send());
    lab.run();
    assert_eq!(lab.a.poll_send().iter().map(|c| (c.opcode, c.syndrome)).collect::<Vec<_>>(), [(REQ_ERR, 0x02)]);
    let mut lab = xrc(Options::default());
    lab.a.post(&Wr::send().inline(b"x").of_srq(1 << 24));
    lab.run();
    assert_eq!(lab.a.poll_send().iter().map(|c| (c.opcode, c.syndrome)).collect::<Vec<_>>(), [(REQ_ERR, 0x02)]);
}

#[test]
fn a_message_is_for_one_srq() {
    let mut lab = unconnected(Options { mtu: 256, psn: 0x10, ..Options::default() });
    let mut peer = Peer::of_target(&mut lab);
    let xrcd = lab.b.xrcd.unwrap();
    let mut pool = Pool::new(&mut lab.b, xrcd, Some(0x61), 0);
    pool.post(&lab.b, pool.data, 0x1000);
    lab.b.post_recv(&[(lab.b.data, 0x200)]);
    let (qpn, first, second) = (lab.b.qpn, pool.srqn.to_be_bytes(), srqn(&lab.b).to_be_bytes());
    peer.send([&bth(0xa0, qpn, 0x10, false)[..], &first, &[1; 256]].concat());
    peer.send([&bth(0xa2, qpn, 0x11, true)[..], &second, &[2; 4]].concat());
    lab.run();
    // NAK, invalid request. The WQE at hand is flushed, to the CQ of its own SRQ.
    assert_eq!(peer.received(), [[&bth(0xb1, 0x77, 0x11, false)[..], &[0x61, 0, 0, 0]].concat()]);
    let flushed: Vec<_> = pool.poll(&lab.b).iter().map(|c| (c.opcode, c.syndrome, c.uidx)).collect();
    assert_eq!(flushed, [(RESP_ERR, 0x05, 0x61)]);
    assert_eq!(lab.b.poll_recv(), []);
    assert_eq!(lab.b.events.last(), Some(&QpEvent::LastWqeReached));
}

#[test]
fn an_empty_srq_is_not_ready_and_others_are() {
    let mut lab = xrc(Options { rnr_retry: 7, ..Options::default() });
    let xrcd = lab.b.xrcd.unwrap();
    let mut pool = Pool::new(&mut lab.b, xrcd, Some(0x61), 0);
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.a.post(&Wr::send().inline(b"one").of_srq(srqn(&lab.b)));
    lab.a.post(&Wr::send().inline(b"two").of_srq(pool.srqn));
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 1, "the second waits");
    pool.post(&lab.b, pool.data, 64);
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 1);
    assert_eq!(lab.b.memory.read(pool.data, 3), b"two");

    let mut lab = xrc(Options { rnr_retry: 1, ..Options::default() });
    lab.a.post(&Wr::send().inline(b"one").of_srq(srqn(&lab.b)));
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x16, "RNR retries exceeded");
}

#[test]
fn a_message_that_does_not_fit_fails_at_both_ends() {
    let mut lab = xrc(Options::default());
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.a.post(&Wr::send().sge(lab.a.data, 65, lab.a.key).of_srq(srqn(&lab.b)));
    lab.run();
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x12);
    let received = lab.b.poll_recv();
    assert_eq!(received.iter().map(|c| (c.opcode, c.syndrome, c.uidx)).collect::<Vec<_>>(), [(RESP_ERR, 0x01, UIDX)]);
    assert_eq!(lab.b.events.last(), Some(&QpEvent::LastWqeReached), "the other WQE stays in the SRQ");
}

#[test]
fn few_receives_are_an_event_of_their_srq() {
    let mut lab = xrc(Options::default());
    let xrcd = lab.b.xrcd.unwrap();
    let mut pool = Pool::new(&mut lab.b, xrcd, Some(0x61), 2);
    (0..3).for_each(|i| pool.post(&lab.b, pool.data + 64 * i, 64));
    for _ in 0..2 {
        lab.a.post(&Wr::send().inline(b"x").of_srq(pool.srqn));
    }
    let mut events = vec![];
    for _ in 0..10 {
        lab.a.step(lab.now);
        lab.b.device.step(lab.now);
        events.extend(std::iter::from_fn(|| lab.b.device.next_event()));
    }
    assert!(events.contains(&Event::SrqLimit { srqn: pool.srqn, is_pool: false }), "{events:?}");
    assert_eq!(lab.b.device.query_srq_limit(pool.srqn), Ok(0));
}

#[test]
fn an_initiator_answers_nobody() {
    let mut lab = unconnected(Options { psn: 0x10, ..Options::default() });
    let mut peer = Peer::of_initiator(&mut lab);
    let (qpn, data, key) = (lab.a.qpn, lab.a.data, lab.a.key);
    let target = [&data.to_be_bytes()[..], &key.to_be_bytes(), &[0, 0, 0, 4]].concat();
    peer.send([&bth(0xaa, qpn, 0x10, true)[..], &[0, 0, 0, 1], &target, b"four"].concat());
    peer.send([&bth(0xa4, qpn, 0x10, true)[..], &[0, 0, 0, 1], b"four"].concat());
    lab.run();
    assert_eq!(peer.received(), [] as [Vec<u8>; 0]);
    assert_eq!((lab.a.state(), lab.a.memory.read(data, 4)), (QpState::Rts, vec![0; 4]));
}

#[test]
fn an_srq_can_go_while_there_are_targets() {
    let mut lab = unconnected(Options { mtu: 256, psn: 0x10, ..Options::default() });
    let mut peer = Peer::of_target(&mut lab);
    let xrcd = lab.b.xrcd.unwrap();
    let mut pool = Pool::new(&mut lab.b, xrcd, Some(0x61), 0);
    pool.post(&lab.b, pool.data, 0x1000);
    let (qpn, srq) = (lab.b.qpn, pool.srqn.to_be_bytes());
    peer.send([&bth(0xa0, qpn, 0x10, false)[..], &srq, &[1; 256]].concat());
    lab.run();
    let in_use = |object, number, users| Err(Error::Busy { object, number, users });
    assert_eq!(lab.b.device.destroy_cq(pool.cq.cqn), in_use(Object::Cq, pool.cq.cqn, 1));
    assert_eq!(lab.b.device.free_xrcd(xrcd), in_use(Object::Xrcd, xrcd, 3), "two SRQs and a target");
    lab.b.device.destroy_srq(pool.srqn).unwrap();
    lab.b.device.destroy_cq(pool.cq.cqn).unwrap();
    // The rest of the message has no place to go to.
    peer.send([&bth(0xa2, qpn, 0x11, true)[..], &srq, &[2; 4]].concat());
    lab.run();
    assert_eq!(peer.received(), [[&bth(0xb1, 0x77, 0x11, false)[..], &[0x61, 0, 0, 0]].concat()]);
    assert_eq!(lab.b.state(), QpState::Err);
    assert_eq!((pool.poll(&lab.b), lab.b.poll_recv()), (vec![], vec![]));
    lab.b.device.destroy_qp(qpn).unwrap();
    lab.b.device.destroy_srq(srqn(&lab.b)).unwrap();
    lab.b.device.free_xrcd(xrcd).unwrap();
}

#[test]
fn a_cq_that_overruns_strands_the_target() {
    let mut lab = xrc(Options::default());
    let xrcd = lab.b.xrcd.unwrap();
    let mut pool = Pool::new(&mut lab.b, xrcd, Some(0x61), 0);
    // 16 CQEs, which nobody takes.
    for i in 0..17u64 {
        pool.post(&lab.b, pool.data, 64);
        lab.a.post(&Wr::send().inline(b"x").of_srq(pool.srqn));
        lab.run();
        let expected = if i < 16 { QpState::Rts } else { QpState::Err };
        assert_eq!(lab.b.state(), expected, "message {i}");
    }
    assert_eq!(lab.b.events, [QpEvent::Fatal, QpEvent::LastWqeReached]);
}

#[test]
fn contexts_make_sense() {
    let mut lab = unconnected(Options::default());
    let initiator = *lab.a.device.qp_context(lab.a.qpn).unwrap();
    let target = *lab.b.device.qp_context(lab.b.qpn).unwrap();
    let ring = RqContext { buf: lab.a.data, log_size: 2, log_stride: 6 };
    for rq in [ReceiveSource::Own(ring), ReceiveSource::Shared { srqn: 1 }, ReceiveSource::Domain { xrcd: 1 }] {
        let made = lab.a.device.create_qp(QpContext { rq, ..initiator });
        assert!(matches!(made, Err(Error::Unsupported(_))), "{rq:?}: {made:?}");
    }
    let create = |lab: &mut Lab, context| lab.b.device.create_qp(context);
    let made = create(&mut lab, QpContext { transport: Transport::Rc, ..target });
    assert!(matches!(made, Err(Error::Unsupported(_))), "{made:?}");
    let made = create(&mut lab, QpContext { rq: ReceiveSource::Domain { xrcd: 99 }, ..target });
    assert_eq!(made, Err(Error::NoSuch { object: Object::Xrcd, number: 99 }));
    // QPs of other services cannot use such SRQs.
    let srqn = srqn(&lab.b);
    let rc = QpContext { transport: Transport::Rc, sq: None, rq: ReceiveSource::Shared { srqn }, ..target };
    assert_eq!(create(&mut lab, rc), Err(Error::NoSuch { object: Object::Srq, number: srqn }));
    // Its PD, CQs, register and record are nobody's: they need not be there.
    let bare = QpContext { pd: 0, send_cqn: 0, recv_cqn: 0, uar: 0x9999, dbr: 0, ..target };
    let qpn = create(&mut lab, bare).unwrap();
    assert_eq!(lab.b.device.query_qp(qpn).unwrap().context, bare);
}

#[test]
fn each_end_has_attributes_of_its_own() {
    let mut lab = unconnected(Options::default());
    let (a, b) = (lab.a.identity(), lab.b.identity());
    for (node, peer, foreign) in [
        (&mut lab.a, b, [QpAttr { max_dest_rd_atomic: Some(1), ..QpAttr::default() }, QpAttr::default()]),
        (&mut lab.b, a, [QpAttr::default(), QpAttr { max_rd_atomic: Some(1), ..QpAttr::default() }]),
    ] {
        node.modify(node.init_attr());
        let [to_rtr, to_rts] = foreign;
        let rtr = node.rtr_attr(peer);
        if let Some(limit) = to_rtr.max_dest_rd_atomic {
            let extra = QpAttr { max_dest_rd_atomic: Some(limit), ..rtr };
            let refused = node.device.modify_qp(node.qpn, &extra);
            assert!(matches!(refused, Err(Error::UnexpectedAttr { attr: "max_dest_rd_atomic", .. })), "{refused:?}");
        } else {
            let lacking = QpAttr { max_dest_rd_atomic: None, ..rtr };
            let refused = node.device.modify_qp(node.qpn, &lacking);
            assert!(matches!(refused, Err(Error::MissingAttr { attr: "max_dest_rd_atomic", .. })), "{refused:?}");
        }
        let unordered = node.device.modify_qp(node.qpn, &QpAttr { out_of_order: Some(true), ..rtr });
        assert!(matches!(unordered, Err(Error::UnexpectedAttr { attr: "out_of_order", .. })), "{unordered:?}");
        node.modify(rtr);
        let rts = node.rts_attr();
        if let Some(limit) = to_rts.max_rd_atomic {
            let refused = node.device.modify_qp(node.qpn, &QpAttr { max_rd_atomic: Some(limit), ..rts });
            assert!(matches!(refused, Err(Error::UnexpectedAttr { attr: "max_rd_atomic", .. })), "{refused:?}");
        } else {
            let refused = node.device.modify_qp(node.qpn, &QpAttr { max_rd_atomic: None, ..rts });
            assert!(matches!(refused, Err(Error::MissingAttr { attr: "max_rd_atomic", .. })), "{refused:?}");
        }
        node.modify(rts);
    }
}

/// Each request changes something once and once only.
#[test]
fn everything_is_done_once_on_a_bad_network() {
    for seed in 1..=10 {
        let faults =
            FaultConfig { drop: 20, duplicate: 30, reorder: 30, delay: 20, seed: seed * 100, ..FaultConfig::default() };
        let mut lab = xrc(Options { rq_log: 6, ..Options::patient(faults) });
        let xrcd = lab.b.xrcd.unwrap();
        let pool = Pool::new(&mut lab.b, xrcd, Some(0x61), 0);
        let (at, own, srqn) = (lab.a.data, lab.a.key, srqn(&lab.b));
        let (data, key) = (lab.b.data, lab.b.key);
        let bytes = lab.a.fill(0x1000, 1200, seed as u8);
        (0..16).for_each(|i| lab.b.post_recv(&[(data + 0x1000 * (i + 1), 0x1000)]));
        for round in 0..16u64 {
            lab.a.post(&Wr::send().with_imm(round as u32).sge(at + 0x1000, 1200, own).of_srq(srqn));
            lab.a.post(&Wr::add(data, key, round + 1).sge(at, 8, own).of_srq(srqn));
            lab.a.post(&Wr::write(pool.data + 0x800 * round, pool.key).sge(at + 0x1000, 1200, own).of_srq(pool.srqn));
        }
        lab.settle();
        let done = lab.a.poll_send();
        assert!(done.len() == 48 && done.iter().all(|c| c.opcode == REQ), "seed {seed}: {done:?}");
        assert_eq!(lab.b.memory.read(data, 8), 136u64.to_ne_bytes(), "seed {seed}");
        let imm: Vec<_> = lab.b.poll_recv().iter().map(|c| c.imm).collect();
        assert_eq!(imm, (0..16).collect::<Vec<_>>(), "seed {seed}");
        for round in 0..16 {
            assert_eq!(lab.b.memory.read(data + 0x1000 * (round + 1), 1200), bytes);
            assert_eq!(lab.b.memory.read(pool.data + 0x800 * round, 1200), bytes);
        }
        assert!(lab.a.sent(Operation::Send).len() > 16 * 5, "something was lost");
    }
}
