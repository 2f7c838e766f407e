//! Dynamic connections: initiators and targets on a network without faults.
//!
//! Orderly connections belong here, faults in `dynamic_faults.rs`, streams in `streams.rs`.

use std::time::Duration;

use crate::every::Every;
use crate::lab::*;
use crate::net::{KEY, Net, Target};
use softhca::config::{GidType, LinkLayer};
use softhca::context::{
    Access, DctContext, DctState, Path, QpAttr, QpContext, QpState, ReceiveSource, RqContext, Transport,
};
use softhca::error::{Error, Object};
use softhca::event::DctEvent;
use softhca::packet::Operation;

/// How targets are addressed: the short vector, the extended one, and on Ethernet.
fn networks() -> [Options; 4] {
    let ethernet = |kind| Options { link: LinkLayer::Ethernet, gid_types: vec![kind], ..Options::default() };
    let infiniband = Options::default();
    [infiniband.clone(), Options { grh: true, ..infiniband }, ethernet(GidType::RoceV1), ethernet(GidType::RoceV2)]
}

#[test]
fn every_operation_arrives() {
    for options in networks() {
        let (mut net, target, _) = Net::to_one(options);
        let [initiator, responder] = &mut net.nodes[..] else { unreachable!() };
        let every = Every::prepare(initiator, responder);
        every.post(initiator, |wr| target.of(wr));
        net.run();
        let [initiator, responder] = &mut net.nodes[..] else { unreachable!() };
        let received = every.check(initiator, responder);
        assert!(received.iter().all(|c| c.qpn == target.dctn), "the CQEs name the target");
    }
}

/// UCX answers an initiator whose LID it has from the CQE.
#[test]
fn completions_of_receives_say_where_they_come_from() {
    let (mut net, target, _) = Net::to_one(Options::default());
    let (data, dci) = (net.nodes[1].data, net.nodes[0].qpn);
    net.nodes[1].post_recv(&[(data, 64)]);
    net.nodes[0].post(&target.of(Wr::send().inline(b"who").flags(SIGNALED | SOLICITED)));
    net.run();
    let received = net.nodes[1].poll_recv();
    let [cqe] = &received[..] else { panic!("{received:?}") };
    assert_eq!((cqe.slid, cqe.flags_rqpn, cqe.solicited), (1, dci, true));
    assert_eq!(cqe.data.len(), 32);
    assert_eq!(net.nodes[1].memory.read(data, 3), b"who", "and no GRH before the message");
}

#[test]
fn one_initiator_serves_many_targets_one_after_the_other() {
    let mut net = Net::new(3, Options::default());
    let targets: Vec<Target> = [1, 2, 1, 2, 0].into_iter().map(|node| net.target(node)).collect();
    let at = net.nodes[0].data;
    let own = net.nodes[0].key;
    let mut expected = vec![Vec::new(); 5];
    for round in 0..30u64 {
        let which = (round * 7 % 5) as usize;
        let node = [1, 2, 1, 2, 0][which];
        let bytes = net.nodes[0].fill(0x1000 * round, 2000 + round as usize, round as u8);
        let (data, key) = (net.nodes[node].data + 0x8_0000 + 0x1000 * round, net.nodes[node].key);
        net.nodes[0].post(&targets[which].of(Wr::write(data, key).sge(at + 0x1000 * round, bytes.len() as u32, own)));
        expected[which].push((node, data, bytes));
        if round % 3 == 2 {
            net.run();
        }
    }
    let done = net.complete(0, 30);
    assert!(done.windows(2).all(|two| two[0].wqe_counter < two[1].wqe_counter), "in the order they were posted");
    for (node, data, bytes) in expected.into_iter().flatten() {
        assert_eq!(net.nodes[node].memory.read(data, bytes.len()), bytes);
    }
    // Each request went to another target than the one before, so that there was a connection for each.
    assert_eq!(net.nodes[0].sent(Operation::Connect).len(), 30);
    net.settle();
    for (target, node) in targets.into_iter().zip([1, 2, 1, 2, 0]) {
        assert_eq!(net.connections(node, target), 0, "it has left them all");
    }
}

#[test]
fn requests_to_one_target_share_a_connection_that_ends_when_it_is_idle() {
    let (mut net, target, (data, key)) = Net::to_one(Options::default());
    for _ in 0..20 {
        net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"again")));
        net.run();
        net.now += Duration::from_micros(100);
    }
    assert_eq!(net.nodes[0].sent(Operation::Connect).len(), 1);
    assert_eq!(net.connections(1, target), 1);
    net.settle();
    assert_eq!((net.connections(1, target), net.nodes[0].sent(Operation::Disconnect).len()), (0, 1));
    net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"anew")));
    net.run();
    assert_eq!(net.nodes[0].poll_send().len(), 21);
    assert_eq!(net.nodes[0].sent(Operation::Connect).len(), 2);
}

#[test]
fn many_initiators_share_a_target() {
    let mut net = Net::new(5, Options { rq_log: 7, sq_log: 6, mtu: 256, ..Options::default() });
    let target = net.target(0);
    let data = net.nodes[0].data;
    for i in 0..4 * 2 * 5 {
        net.nodes[0].post_recv(&[(data + 0x1000 * i, 0x1000)]);
    }
    // Two initiators on each of four nodes, with messages of several packets each that mix on their way.
    for node in 1..5 {
        for twin in 0..2u8 {
            if twin == 1 {
                net.nodes[node].another_qp();
                net.activate(node);
            }
            let (at, own) = (net.nodes[node].data, net.nodes[node].key);
            for i in 0..5u64 {
                let from = 0x1000 * (u64::from(twin) * 5 + i);
                net.nodes[node].fill(from, 1500, node as u8 * 16 + twin * 8 + i as u8);
                net.nodes[node].post(&target.of(Wr::send().with_imm(node as u32).sge(at + from, 1500, own)));
            }
        }
    }
    net.run();
    assert_eq!(net.connections(0, target), 8, "all at once");
    let received = net.nodes[0].poll_recv();
    assert_eq!(received.len(), 40);
    let mut next = [[0u64; 2]; 5];
    for cqe in received {
        let node = cqe.imm as usize;
        let twin = usize::from(cqe.flags_rqpn & 0xff_ffff == net.nodes[node].qpn);
        let index = &mut next[node][twin];
        let at = net.nodes[node].data + 0x1000 * (5 * twin as u64 + *index);
        *index += 1;
        let sent = net.nodes[node].memory.read(at, 1500);
        let found = net.nodes[0].memory.read(data + 0x1000 * u64::from(cqe.wqe_counter), 1500);
        assert_eq!(found, sent, "message {index} of node {node}, in order");
    }
    for node in 1..5 {
        assert_eq!(net.nodes[node].poll_send().len(), 10);
    }
}

#[test]
fn a_wrong_access_key_fails_the_request_and_can_raise_an_event() {
    let (mut net, target, (data, key)) = Net::to_one(Options::default());
    for round in 1..=3 {
        if round == 2 {
            net.nodes[1].device.arm_dct(target.dctn).unwrap();
        }
        net.nodes[0].post(&Wr::write(data, key).inline(b"no").at_dct(target.lid, target.dctn, KEY + 1, target.gid));
        net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"yes")));
        net.run();
        let found: Vec<_> = net.nodes[0].poll_send().iter().map(|c| (c.opcode, c.syndrome)).collect();
        assert_eq!(found, [(REQ_ERR, 0x13), (REQ_ERR, 0x05)], "remote access error, then flushed");
        assert_eq!(net.nodes[0].state(), QpState::Err);
        let info = net.nodes[1].device.query_dct(target.dctn).unwrap();
        assert_eq!((info.key_violations, info.connections), (round, 0));
        net.revive(0);
    }
    assert_eq!(net.nodes[1].dct_events, [DctEvent::KeyViolation], "once for the one time that it was armed");
    net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"yes")));
    net.run();
    assert_eq!(net.nodes[0].poll_send()[0].opcode, REQ);
    assert_eq!(net.nodes[1].memory.read(data, 3), b"yes");
}

#[test]
fn a_refused_request_ends_its_connection_only() {
    let read_only = Access { remote_read: true, ..Access::default() };
    let mut net = Net::new(3, Options::default());
    let target = net.target_of(2, DctContext { access: read_only, ..net.context(2) });
    let (data, key) = (net.nodes[2].data, net.nodes[2].key);
    let read = |node: &Node| Wr::read(data, key).sge(node.data, 500, node.key);
    let bad = [
        (Wr::write(data, key).inline(b"x"), 0x12),
        (Wr::add(data, key, 1).sge(BASE, 8, 0), 0x12),
        (Wr::read(data, key + 1).sge(BASE, 8, 0), 0x13),
    ];
    for (wr, syndrome) in bad {
        let good = read(&net.nodes[1]);
        net.nodes[1].post(&target.of(good));
        net.run();
        net.nodes[0].post(&target.of(wr));
        net.run();
        assert_eq!(net.nodes[0].poll_send()[0].syndrome, syndrome);
        assert_eq!(net.connections(2, target), 1, "the other's");
        let good = read(&net.nodes[1]);
        net.nodes[1].post(&target.of(good));
        net.run();
        let found: Vec<_> = net.nodes[1].poll_send().iter().map(|c| c.opcode).collect();
        assert_eq!(found, [REQ, REQ]);
        net.revive(0);
    }
    assert!(net.nodes[2].events.is_empty() && net.nodes[2].dct_events.is_empty());
}

#[test]
fn messages_wait_for_receives_and_their_length_counts() {
    let (mut net, target, _) = Net::to_one(Options { rnr_retry: 7, ..Options::default() });
    let data = net.nodes[1].data;
    net.nodes[0].post(&target.of(Wr::send().inline(b"early")));
    net.run();
    assert!(net.nodes[0].poll_send().is_empty());
    net.nodes[1].post_recv(&[(data, 64)]);
    assert_eq!(net.complete(0, 1)[0].opcode, REQ);
    assert_eq!(net.nodes[1].poll_recv()[0].byte_cnt, 5);
    // A message that is too long fails at both ends, and the target lives.
    net.nodes[1].post_recv(&[(data, 4)]);
    net.nodes[1].post_recv(&[(data, 64)]);
    net.nodes[0].post(&target.of(Wr::send().inline(b"too long")));
    assert_eq!(net.complete(0, 1)[0].syndrome, 0x12);
    assert_eq!(net.nodes[1].poll_recv()[0].syndrome, 0x01);
    net.revive(0);
    net.nodes[0].post(&target.of(Wr::send().inline(b"fits")));
    assert_eq!(net.complete(0, 1)[0].opcode, REQ);
    assert_eq!(net.nodes[1].poll_recv()[0].byte_cnt, 4);
}

#[test]
fn the_smaller_mtu_is_the_initiators_to_choose() {
    // The target takes up to 1024.
    for (mtu, syndrome) in [(256, 0), (1024, 0), (2048, 0x12)] {
        let mut net = Net::new(2, Options { mtu, ..Options::default() });
        let target = net.target_of(1, DctContext { mtu: 1024, ..net.context(1) });
        let (data, key, at, own) = (net.nodes[1].data, net.nodes[1].key, net.nodes[0].data, net.nodes[0].key);
        let sent = net.nodes[0].fill(0, 4000, 9);
        net.nodes[0].post(&target.of(Wr::write(data, key).sge(at, 4000, own)));
        net.nodes[0].post(&target.of(Wr::read(data, key).sge(at + 0x2000, 4000, own)));
        net.run();
        assert_eq!(net.nodes[0].poll_send()[0].syndrome, syndrome);
        if syndrome == 0 {
            assert_eq!(net.nodes[0].memory.read(at + 0x2000, 4000), sent);
        }
    }
}

#[test]
fn draining_waits_for_those_that_are_connected() {
    let mut net = Net::new(3, Options::default());
    let target = net.target(2);
    let (data, key) = (net.nodes[2].data, net.nodes[2].key);
    net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"before")));
    net.run();
    let state = |net: &Net| net.nodes[2].device.query_dct(target.dctn).unwrap().state;
    assert_eq!(state(&net), DctState::Active);
    net.nodes[2].device.drain_dct(target.dctn).unwrap();
    // Connected initiators go on, and others are refused.
    net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"still")));
    net.nodes[1].post(&target.of(Wr::write(data, key).inline(b"late")));
    net.run();
    assert_eq!(net.nodes[0].poll_send().len(), 2);
    assert_eq!((state(&net), net.nodes[2].dct_events.len()), (DctState::Draining, 0));
    net.settle();
    assert_eq!(net.nodes[1].poll_send()[0].syndrome, 0x15, "nobody answers");
    assert_eq!((state(&net), &net.nodes[2].dct_events[..]), (DctState::Drained, &[DctEvent::Drained][..]));
    assert_eq!(net.nodes[2].memory.read(data, 5), b"still");
    net.nodes[2].device.destroy_dct(target.dctn).unwrap();
    // One that nobody is connected to is drained at once.
    let target = net.target(2);
    net.nodes[2].device.drain_dct(target.dctn).unwrap();
    net.run();
    assert_eq!(net.nodes[2].dct_events.len(), 2);
}

#[test]
fn a_target_destroyed_while_connected_answers_no_more() {
    let (mut net, target, _) = Net::to_one(Options::default());
    let (data, key, at, own) = (net.nodes[1].data, net.nodes[1].key, net.nodes[0].data, net.nodes[0].key);
    let srqn = net.nodes[1].srqn.unwrap();
    let device = &mut net.nodes[1].device;
    assert!(matches!(device.destroy_srq(srqn), Err(Error::Busy { .. })), "the target takes its receives from it");
    net.nodes[1].post_recv(&[(data, 0x1000)]);
    // A message of which only the first part has come.
    net.nodes[0].script(|packet| if packet.headers.bth.psn == 0x125 { Fate::Drop } else { Fate::Deliver });
    net.nodes[0].post(&target.of(Wr::send().sge(at, 3500, own)));
    net.run();
    net.nodes[1].device.destroy_dct(target.dctn).unwrap();
    let received = net.nodes[1].poll_recv();
    let aborted: Vec<_> = received.iter().map(|c| (c.syndrome, c.vendor)).collect();
    assert_eq!(aborted, [(0x22, 0x99)], "its receive is aborted, as UCX knows it");
    let missing = Err(Error::NoSuch { object: Object::Dct, number: target.dctn });
    assert_eq!(net.nodes[1].device.query_dct(target.dctn).map(|_| ()), missing);
    assert_eq!(net.nodes[1].device.destroy_dct(target.dctn), missing);
    assert_eq!(net.complete(0, 1)[0].syndrome, 0x15);
    net.nodes[1].device.destroy_srq(srqn).unwrap();
    // A QP may have the number of a target that is gone, but not that of one that is there.
    net.revive(0);
    net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"x")));
    assert_eq!(net.complete(0, 1)[0].syndrome, 0x15);
}

#[test]
fn an_initiator_that_dies_is_forgotten() {
    let (mut net, target, (data, key)) = Net::to_one(Options::default());
    net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"x")));
    net.run();
    // Its good-bye is lost.
    net.nodes[0].script(|_| Fate::Drop);
    let dci = net.nodes[0].qpn;
    net.nodes[0].device.destroy_qp(dci).unwrap();
    net.run();
    assert_eq!(net.connections(1, target), 1);
    net.settle();
    assert_eq!(net.connections(1, target), 0);
    // One that says good-bye is gone at once.
    let (mut net, target, _) = Net::to_one(Options::default());
    net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"x")));
    net.run();
    let dci = net.nodes[0].qpn;
    net.nodes[0].device.destroy_qp(dci).unwrap();
    net.run();
    assert_eq!(net.connections(1, target), 0);
}

#[test]
fn small_messages_can_arrive_in_the_cqe() {
    let (mut net, target, _) = Net::to_one(Options { scatter_to_cqe: 32, ..Options::default() });
    let data = net.nodes[1].data;
    net.nodes[1].post_recv(&[(data, 64)]);
    net.nodes[0].post(&target.of(Wr::send().inline(b"in the entry itself")));
    net.run();
    let cqe = &net.nodes[1].poll_recv()[0];
    assert_eq!((cqe.inline, &cqe.data[..19]), (1, &b"in the entry itself"[..]));
}

#[test]
fn contexts_that_cannot_be_are_refused() {
    let mut net = Net::new(1, Options::default());
    let good = net.context(0);
    let bad = [
        DctContext { mtu: 1000, ..good },
        DctContext { port: 0, ..good },
        DctContext { port: 2, ..good },
        DctContext { pkey_index: 1, ..good },
        DctContext { sgid_index: 1, ..good },
        DctContext { sgid_index: 9, ..good },
        DctContext { min_rnr_timer: 32, ..good },
        DctContext { scatter_to_cqe_res: 5, ..good },
        DctContext { srqn: 99, ..good },
        DctContext { cqn: 99, ..good },
        DctContext { pd: 99, ..good },
    ];
    for context in bad {
        assert!(net.nodes[0].device.create_dct(context).is_err(), "{context:?}");
    }
    let context = *net.nodes[0].device.qp_context(net.nodes[0].qpn).unwrap();
    let ring = RqContext { buf: net.nodes[0].data, log_size: 2, log_stride: 6 };
    for rq in [ReceiveSource::Own(ring), ReceiveSource::Shared { srqn: good.srqn }] {
        assert_eq!(context.transport, Transport::Dc);
        let refused = net.nodes[0].device.create_qp(QpContext { rq, ..context });
        assert!(matches!(refused, Err(Error::Unsupported(_))), "{refused:?}");
    }
    // Numbers are from one space.
    let target = net.target(0);
    net.nodes[0].another_qp();
    assert_ne!(net.nodes[0].qpn, target.dctn);
}

/// An initiator's path only says which of the port's addresses it has (mlx5_ib `qp.c`, `modify_dci_qp_is_ok`: optional);
/// its requests say where to.
#[test]
fn an_initiator_s_path_leads_nowhere() {
    let (mut net, target, (data, key)) = Net::to_one(Options { link: LinkLayer::Ethernet, ..Options::default() });
    let node = &mut net.nodes[0];
    node.modify(QpAttr { state: Some(QpState::Reset), ..QpAttr::default() });
    node.modify(node.init_attr());
    let path = Path { dlid: 0, sl: 0, src_path_bits: 0, grh: None, dmac: [0; 6] };
    node.modify(QpAttr { path: Some(path), ..node.rtr_attr((0, [0; 16], 0)) });
    node.modify(node.rts_attr());
    node.post(&target.of(Wr::write(data, key).inline(b"there")));
    assert_eq!(net.complete(0, 1)[0].opcode, REQ);
    assert_eq!(net.nodes[1].memory.read(data, 5), b"there");
}

#[test]
fn a_bad_address_fails_the_request() {
    let (mut net, target, _) = Net::to_one(Options { link: LinkLayer::Ethernet, ..Options::default() });
    let mut wr = target.of(Wr::send().inline(b"x"));
    // GID index 5 of the own port, which has one.
    wr.body[28..32].copy_from_slice(&(1u32 << 30 | 5 << 20).to_be_bytes());
    net.nodes[0].post(&wr);
    net.run();
    assert_eq!(net.nodes[0].poll_send()[0].syndrome, 0x02);
    assert!(net.nodes[0].tap.lock().unwrap().log.is_empty());
}

/// A target has one of its port's addresses, and takes no packets that were sent to another.
#[test]
fn a_target_has_an_address() {
    let gid_types = vec![GidType::RoceV1, GidType::RoceV2];
    for own in [0, 1] {
        let options = Options { link: LinkLayer::Ethernet, gid_types: gid_types.clone(), ..Options::default() };
        let mut net = Net::new(2, options);
        let target = net.target_of(1, DctContext { sgid_index: own, ..net.context(1) });
        let (data, key) = (net.nodes[1].data, net.nodes[1].key);
        for from in [0, 1u32] {
            let mut wr = target.of(Wr::write(data, key).inline(&[1 + from as u8]));
            wr.body[28..32].copy_from_slice(&(1u32 << 30 | from << 20).to_be_bytes());
            net.nodes[0].post(&wr);
            let reached = from == u32::from(own);
            assert_eq!(net.complete(0, 1)[0].syndrome, if reached { 0 } else { 0x15 }, "{from} to {own}");
            if !reached {
                net.revive(0);
            }
        }
        assert_eq!(net.nodes[1].memory.read(data, 1), [1 + own]);
    }
}
