//! The data that passes between queue pairs that mailboxes have made: rights, limits, loopback, counters and events.

use super::qp_tests::{RC, UC, UD, qps, query, state};
use crate::config::LinkLayer;
use crate::event::{Event, QpEvent};
use crate::firmware::pair_bench::{Node, Qp, connect, data_seg, pair, settle, sparse};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;

/// An address vector for UD (`struct mlx5_wqe_av` with an extended LID).
fn address(peer: &Node) -> Vec<u8> {
    let mut av = vec![0; 48];
    av[..4].copy_from_slice(&0x1111_2222_u32.to_be_bytes());
    av[8..12].copy_from_slice(&(peer.qpn | 1 << 31).to_be_bytes());
    av[15] = peer.lid;
    av
}

#[test]
fn data_passes_between_queues_in_scattered_pages() {
    for link in [LinkLayer::InfiniBand, LinkLayer::Ethernet] {
        for st in [RC, UC, UD] {
            if (link, st) == (LinkLayer::Ethernet, UD) {
                continue; // its address vector is another one
            }
            let mut nodes = qps(link, st);
            connect(&mut nodes);
            let [sender, receiver] = &mut nodes;
            let grh = if st == UD { 40 } else { 0 };
            let mut body = if st == UD { address(receiver) } else { vec![] };
            body.extend(data_seg(BASE + 0x100, 700, sender.key));
            // Enough rounds to reach the send ring's second page, and to wrap the receive ring.
            for round in 0..if st == UD { 30_u8 } else { 62 } {
                let [sender, receiver] = &mut nodes;
                sender_round(sender, receiver, round, &body);
                settle(&mut nodes);
                let [sender, receiver] = &mut nodes;
                let cqe = sender.poll().expect("sent");
                assert_eq!((cqe[63] >> 4, cqe[57..60].to_vec()), (0, sender.qpn.to_be_bytes()[1..].to_vec()));
                let cqe = receiver.poll().expect("received");
                assert_eq!(cqe[63] >> 4, 2, "a receive of a SEND");
                assert_eq!(cqe[33..36], [0xab, 0xcd, 0xef], "user index");
                assert_eq!(cqe[44..48], (700 + grh as u32).to_be_bytes());
                assert_eq!(receiver.read(BASE + 0x2000 + grh, 700), vec![round; 700]);
            }
            let [sender, receiver] = &mut nodes;
            let rounds = if st == UD { 30 } else { 62 };
            let units = if st == UD { 2 } else { 1 };
            assert_eq!(query(sender)[0xcc..0xd0], [0, rounds * units, 0, rounds * units], "hardware and software");
            assert_eq!(query(receiver)[0xd0..0xd8], [0, 0, 0, rounds, 0, 0, 0, rounds]);
            assert!(sender.bench.device.complaints().is_empty());
        }
    }
}

fn sender_round(sender: &mut Node, receiver: &mut Node, round: u8, body: &[u8]) {
    sender.write(BASE + 0x100, &[round; 700]);
    receiver.post_receive(BASE + 0x2000, 1000);
    sender.post(0x0a, body, true);
}

#[test]
fn writes_and_reads_need_the_rights_of_the_mailbox() {
    let mut nodes = qps(LinkLayer::InfiniBand, RC);
    connect(&mut nodes);
    let [sender, receiver] = &mut nodes;
    receiver.write(BASE + 0x3000, &[7; 64]);
    let mut remote = (BASE + 0x3000).to_be_bytes().to_vec();
    remote.extend(receiver.key.to_be_bytes());
    remote.extend([0; 4]);
    remote.extend(data_seg(BASE + 0x200, 64, sender.key));
    sender.post(0x10, &remote, true);
    settle(&mut nodes);
    let [sender, receiver] = &mut nodes;
    assert_eq!(sender.poll().map(|cqe| cqe[63] >> 4), Some(0));
    assert_eq!(sender.read(BASE + 0x200, 64), [7; 64]);
    // RTS2RTS with only the bit of READs: WRITEs stay permitted.
    let rts2rts = receiver.transition(5, &[(0x13, &[0x02])]);
    assert_eq!(receiver.status(&rts2rts), Status::Ok);
    assert_eq!(query(receiver)[0xaa], 0x60);
    sender.post(0x08, &remote, true);
    sender.post(0x10, &remote, true);
    settle(&mut nodes);
    let [sender, receiver] = &mut nodes;
    assert_eq!(sender.poll().map(|cqe| cqe[63] >> 4), Some(0), "the WRITE");
    let refused = sender.poll().expect("the READ");
    assert_eq!((refused[63] >> 4, refused[55]), (13, 0x12), "remote invalid request");
    assert_eq!((state(sender), state(receiver)), (6, 6));
    assert_eq!(receiver.events(), [Event::Qp { qpn: receiver.qpn, kind: QpEvent::RequestError }]);
}

/// `INIT2RTR_QP` as rdma-core's `dr_prepare_qp_to_rts` and SPDK's `mlx5_qp_loopback_conn_init_2_rtr` write it: the bit
/// `fl`, no address, and the queue's own number.
fn forced_loopback(node: &Node) -> Vec<u8> {
    let psn: &[u8] = &[0, 1, 0x23];
    let qpn = node.qpn.to_be_bytes();
    node.transition(
        3,
        &[(0x20, &[3 << 5 | 30]), (0x2c, &qpn), (0x30, &[0x80]), (0x55, &[1]), (0xac, &[12]), (0xad, psn)],
    )
}

#[test]
fn a_queue_in_force_loopback_reaches_itself_without_an_address() {
    for link in [LinkLayer::InfiniBand, LinkLayer::Ethernet] {
        let mut nodes = qps(link, RC);
        let [node, _] = &mut nodes;
        for input in [node.rst2init(), forced_loopback(node), node.rtr2rts()] {
            assert_eq!(node.status(&input), Status::Ok, "opcode {:#x}", input[1]);
        }
        let mut path = [0; 0x2c];
        (path[0], path[8], path[0x25]) = (0x80, 14 << 3, 1);
        assert_eq!(query(node)[0x30..0x5c], path, "what the driver has given, and no more");
        node.write(BASE + 0x100, &[7; 700]);
        node.post_receive(BASE + 0x2000, 700);
        node.post(0x0a, &data_seg(BASE + 0x100, 700, node.key), true);
        settle(&mut nodes);
        let [node, _] = &mut nodes;
        let mut kinds = [0; 2].map(|_| node.poll().expect("a completion")[63] >> 4);
        kinds.sort_unstable();
        assert_eq!(kinds, [0, 2], "sent and received");
        assert_eq!(node.read(BASE + 0x2000, 700), [7; 700]);
    }
}

#[test]
fn a_queue_without_receives_needs_no_cq_for_them() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    let mut create = node.qp_mailbox(&Qp { st: RC, srqn: None });
    create[0xb5..0xb8].fill(0);
    assert_eq!(node.status(&create), Status::BadResource, "with receives");
    create[0xc4] = 3;
    node.create_qp_by(&create);
    assert_eq!(query(node)[0xb5..0xb8], [0; 3]);
    for input in [node.rst2init(), forced_loopback(node), node.rtr2rts()] {
        assert_eq!(node.status(&input), Status::Ok, "opcode {:#x}", input[1]);
    }
    node.write(BASE + 0x100, &[7; 64]);
    let mut remote = (BASE + 0x2000).to_be_bytes().to_vec();
    remote.extend(node.key.to_be_bytes());
    remote.extend([0; 4]);
    remote.extend(data_seg(BASE + 0x100, 64, node.key));
    node.post(0x08, &remote, false);
    settle(&mut nodes);
    let [node, _] = &mut nodes;
    assert_eq!(node.poll().map(|cqe| cqe[63] >> 4), Some(0));
    assert_eq!(node.read(BASE + 0x2000, 64), [7; 64]);
}

#[test]
fn force_loopback_is_for_reliable_connections() {
    let [mut node, _] = qps(LinkLayer::InfiniBand, UC);
    assert_eq!(node.status(&node.rst2init()), Status::Ok);
    assert_eq!(node.status(&forced_loopback(&node)), Status::BadParameter);
}

#[test]
fn a_counter_of_all_users_counts_for_a_qp() {
    let mut nodes = qps(LinkLayer::InfiniBand, RC);
    let [node, peer] = &mut nodes;
    // ALLOC_Q_COUNTER on behalf of no user, as Linux' mlx5_ib does it.
    let output = node.bench.execute(&sparse(16, &[(0, 7), (1, 0x71), (2, 0xff), (3, 0xff)]), 16).expect("a counter");
    let counter = output[11];
    let user = node.bench.user();
    node.bench.firmware.set_owner(crate::error::Object::Qp, node.qpn, user);
    let mut init = node.rst2init();
    init[2..4].copy_from_slice(&user.0.to_be_bytes());
    init[0x24] = counter + 1;
    assert_eq!(node.status(&init), Status::BadResource);
    assert_eq!(state(node), 0);
    init[0x24] = counter;
    assert_eq!(node.status(&init), Status::Ok);
    assert_eq!(query(node)[0x24], counter);
    assert_eq!(node.status(&node.init2rtr(peer)), Status::Ok);
    assert_eq!(node.status(&node.rtr2rts()), Status::Ok);
    for input in [peer.rst2init(), peer.init2rtr(node), peer.rtr2rts()] {
        assert_eq!(peer.status(&input), Status::Ok);
    }
    // A WRITE, and a SEND for which there is no receive.
    let mut remote = (BASE + 0x3000).to_be_bytes().to_vec();
    remote.extend(node.key.to_be_bytes());
    remote.extend([0; 4]);
    remote.extend(data_seg(BASE + 0x200, 64, peer.key));
    peer.post(0x08, &remote, true);
    peer.post(0x0a, &data_seg(BASE, 16, peer.key), true);
    settle(&mut nodes);
    let [node, _] = &mut nodes;
    let counts = node.bench.execute(&sparse(0x20, &[(0, 7), (1, 0x73), (0x1f, counter)]), 0x100).expect("counts");
    assert_eq!((counts[0x13], counts[0x33]), (1, 1), "WRITEs, and no buffer");
    let free = sparse(16, &[(0, 7), (1, 0x72), (0xb, counter)]);
    assert_eq!(node.status(&free), Status::ResourceBusy);
    assert_eq!(node.status(&node.on_qp(0xa)), Status::Ok);
    assert_eq!(node.status(&free), Status::Ok, "reset ends the counting");
}

#[test]
fn a_counter_that_is_not_there_changes_nothing() {
    let mut nodes = qps(LinkLayer::InfiniBand, RC);
    let [node, _] = &mut nodes;
    // Named by the driver, which may name everything.
    let mut init = node.rst2init();
    init[0x24] = 9;
    assert_eq!(node.status(&init), Status::BadResource);
    assert_eq!(state(node), 0);
}

#[test]
fn packets_are_counted_as_the_ports() {
    let mut nodes = qps(LinkLayer::InfiniBand, RC);
    connect(&mut nodes);
    let [sender, receiver] = &mut nodes;
    sender_round(sender, receiver, 1, &data_seg(BASE + 0x100, 700, sender.key));
    settle(&mut nodes);
    // QUERY_VPORT_COUNTER: packets of this kind in, and out. The message has one packet, and so has its answer.
    for node in &mut nodes {
        let counts = node.bench.execute(&sparse(0x20, &[(0, 7), (1, 0x70)]), 0x210).expect("counts");
        assert_eq!([counts[0x37], counts[0x47]], [1, 1]);
    }
}

#[test]
fn draining_ends_with_an_event() {
    let mut nodes = qps(LinkLayer::InfiniBand, UC);
    connect(&mut nodes);
    let [node, _] = &mut nodes;
    assert_eq!(node.status(&node.transition(8, &[])), Status::Ok);
    settle(&mut nodes);
    let [node, _] = &mut nodes;
    assert_eq!(node.events(), [Event::Qp { qpn: node.qpn, kind: QpEvent::SqDrained }]);
}

#[test]
fn events_wait_for_as_many_completions_as_the_queue_was_told() {
    let mut nodes = qps(LinkLayer::InfiniBand, UC);
    connect(&mut nodes);
    let [node, _] = &mut nodes;
    // MODIFY_CQ: the period (1), its mode (16) and the count (2): 3 CQEs, or 4095 microseconds without any. Then the
    // driver arms it at its consumer index.
    let modified = [(0, 4), (1, 3), (0xf, 1 | 2 | 16), (0x12, 0x80), (0x20, 0x0f), (0x21, 0xff), (0x23, 3)];
    let mut modify = sparse(0x110, &modified);
    modify[8..12].copy_from_slice(&node.cqn.to_be_bytes());
    assert_eq!(node.status(&modify), Status::Ok);
    let mut doorbell = [0; 8];
    doorbell[4..].copy_from_slice(&node.cqn.to_be_bytes());
    node.bench.device.doorbell(node.uar, 0x20, &doorbell);
    for sent in 1..=4 {
        let [node, _] = &mut nodes;
        node.post(0x0a, &data_seg(BASE, 16, node.key), true);
        settle(&mut nodes);
        let [node, _] = &mut nodes;
        let expected: &[Event] = if sent == 3 { &[Event::Completion { cqn: node.cqn }] } else { &[] };
        assert_eq!(node.events(), expected, "{sent} sent");
    }
}

#[test]
fn messages_are_no_longer_than_the_context_says() {
    let mut nodes = qps(LinkLayer::InfiniBand, RC);
    for (at, other) in [(0, 1), (1, 0)] {
        let mut rtr = nodes[at].init2rtr(&nodes[other]);
        rtr[0x20] = 3 << 5 | 9;
        for input in [nodes[at].rst2init(), rtr, nodes[at].rtr2rts()] {
            assert_eq!(nodes[at].status(&input), Status::Ok);
        }
    }
    for (len, syndrome) in [(512, 0), (513, 0x01)] {
        let [sender, receiver] = &mut nodes;
        receiver.post_receive(BASE + 0x2000, 1000);
        sender.post(0x0a, &data_seg(BASE, len, sender.key), true);
        settle(&mut nodes);
        let cqe = nodes[0].poll().expect("done");
        assert_eq!(if cqe[63] >> 4 == 0 { 0 } else { cqe[55] }, syndrome, "{len} bytes");
    }
}

/// `qpc.log_msg_max` is a limit of both directions.
#[test]
fn a_responder_refuses_messages_longer_than_its_limit() {
    const WRITE: u8 = 0x08;
    const READ: u8 = 0x10;
    for (opcode, len, syndrome) in [(WRITE, 1024, 0), (WRITE, 1025, 0x12), (READ, 1024, 0), (READ, 1025, 0x12)] {
        let mut nodes = qps(LinkLayer::InfiniBand, RC);
        for (at, other) in [(0, 1), (1, 0)] {
            let mut init2rtr = nodes[at].init2rtr(&nodes[other]);
            init2rtr[0x20] = 3 << 5 | if at == 1 { 10 } else { 30 };
            for input in [nodes[at].rst2init(), init2rtr, nodes[at].rtr2rts()] {
                assert_eq!(nodes[at].status(&input), Status::Ok);
            }
        }
        let mut body = [0; 32];
        body[..8].copy_from_slice(&BASE.to_be_bytes());
        body[8..12].copy_from_slice(&nodes[1].key.to_be_bytes());
        body[16..].copy_from_slice(&data_seg(BASE, len, nodes[0].key));
        nodes[0].post(opcode, &body, true);
        settle(&mut nodes);
        let cqe = nodes[0].poll().expect("a CQE");
        assert_eq!(if cqe[63] >> 4 == 13 { cqe[55] } else { 0 }, syndrome, "{opcode:#x} of {len}");
    }
}
