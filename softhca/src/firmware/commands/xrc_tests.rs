//! XRC by mailboxes whose bytes are computed by hand from Linux' `mlx5_ifc.h`, with what Linux' driver puts into them
//! (drivers/infiniband/hw/mlx5/qp.c, `create_user_qp` and `create_xrc_tgt_qp`; srq_cmd.c, `create_xrc_srq_cmd`).

use super::qp_tests::{query, state};
use crate::config::{Generation, LinkLayer};
use crate::error::Object;
use crate::firmware::pair_bench::{
    Node, Qp, SRQ_PAGES, SRQ_RECORD, connect, data_seg, mailbox, pair, pair_of, settle, sparse,
};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;

const XRC: u8 = 3;
/// The driver's own number for "no user index".
const NO_INDEX: u32 = 0xff_ffff;

fn be24(number: u32) -> [u8; 3] {
    let [_, a, b, c] = number.to_be_bytes();
    [a, b, c]
}

/// `ALLOC_XRCD`.
fn domain(node: &mut Node) -> u32 {
    node.number(&sparse(16, &[(0, 8), (1, 0x0e)]))
}

/// `CREATE_XRC_SRQ`: 128 WQEs of 64 bytes.
fn srq_mailbox(node: &Node, xrcd: u32, index: u32) -> Vec<u8> {
    let pages: Vec<u8> = SRQ_PAGES.iter().flat_map(|page| (BASE + page * 4096).to_be_bytes()).collect();
    mailbox(
        0x120,
        &[
            (0, &[7, 5]),
            (0x10, &[7]),
            (0x14, &[2]),
            (0x15, &be24(xrcd)),
            (0x19, &be24(node.cqn)),
            (0x21, &be24(index)),
            (0x28, &node.pd.to_be_bytes()),
            (0x38, &SRQ_RECORD.to_be_bytes()),
            (0x110, &pages),
        ],
    )
}

/// An initiator as the driver makes one: with a domain and an SRQ that it does not use.
fn initiator(node: &mut Node) -> Vec<u8> {
    let unused = domain(node);
    let srqn = node.number(&srq_mailbox(node, unused, NO_INDEX));
    let mut create = node.qp_mailbox(&Qp { st: XRC, srqn: Some(srqn) });
    create[0xb1..0xb4].copy_from_slice(&be24(unused));
    create
}

/// A target as the driver makes one: it has neither a register nor a record, its SRQ belongs to another domain, and its
/// protection domain and CQs are the driver's.
fn target(node: &mut Node, xrcd: u32) -> Vec<u8> {
    let other = domain(node);
    let srqn = node.number(&srq_mailbox(node, other, NO_INDEX));
    mailbox(
        0x110,
        &[
            (0, &[5, 0]),
            (0x19, &[XRC, 0x18]),
            (0x1c, &node.pd.to_be_bytes()),
            (0x22, &[0x80]),
            (0x29, &be24(0x4_5678)),
            (0x95, &be24(node.cqn)),
            (0xb1, &be24(xrcd)),
            (0xb5, &be24(node.cqn)),
            (0xc4, &[1]),
            (0xc5, &be24(srqn)),
        ],
    )
}

fn create(node: &mut Node, input: &[u8]) {
    // The record of the QP before.
    node.create_qp(&Qp { st: 0, srqn: None });
    node.qpn = node.number(input);
}

#[test]
fn requests_go_to_the_srqs_of_the_targets_domain() {
    for link in [LinkLayer::InfiniBand, LinkLayer::Ethernet] {
        let mut nodes = pair(link);
        let [sender, receiver] = &mut nodes;
        let xrcd = domain(receiver);
        let srqns = [0x45_6789, NO_INDEX].map(|index| receiver.number(&srq_mailbox(receiver, xrcd, index)));
        let made = initiator(sender);
        create(sender, &made);
        let given = target(receiver, xrcd);
        create(receiver, &given);
        connect(&mut nodes);
        for (srqn, index) in [(srqns[0], 0x45_6789), (srqns[1], srqns[1])] {
            let [sender, receiver] = &mut nodes;
            // Both have the same ring.
            let wqe = [&[0; 16][..], &data_seg(BASE + 0x1000, 1000, receiver.key), &data_seg(0, 0, 0x100)].concat();
            receiver.write_in(SRQ_PAGES, 0, &wqe);
            receiver.write(SRQ_RECORD, &1_u32.to_be_bytes());
            sender.write(BASE, &[srqn as u8; 16]);
            let body = [&srqn.to_be_bytes()[..], &[0xa5; 12], &data_seg(BASE, 16, sender.key)].concat();
            sender.post(0x0a, &body, false);
            settle(&mut nodes);
            let [sender, receiver] = &mut nodes;
            assert_eq!(sender.poll().map(|cqe| cqe[63] >> 4), Some(0));
            let cqe = receiver.poll().expect("a receive");
            assert_eq!((cqe[63] >> 4, &cqe[33..36], &cqe[57..60]), (2, &be24(index)[..], &be24(receiver.qpn)[..]));
            assert_eq!(receiver.read(BASE + 0x1000, 16), [srqn as u8; 16]);
        }
        let [sender, receiver] = &mut nodes;
        let context = query(receiver);
        assert_eq!(context[0x18] >> 4, 3, "ready to send");
        // As it was given: service, no send queue, user index, domain, and the SRQ that it does not use.
        for part in [0x19..0x1a, 0x1d..0x20, 0x22..0x23, 0x29..0x2c, 0xb1..0xb4, 0xc4..0xc8] {
            assert_eq!(context[part.clone()], given[part.clone()], "{part:#x?}");
        }
        let context = query(sender);
        for part in [0x19..0x1a, 0x22..0x23, 0xb1..0xb4, 0xc4..0xc8] {
            assert_eq!(context[part.clone()], made[part.clone()], "{part:#x?}");
        }
    }
}

#[test]
fn what_a_target_names_is_there_and_stays() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    let xrcd = domain(node);
    let good = target(node, xrcd);
    let user = node.bench.user();
    for (at, bytes, status) in [
        (0xb2, &[0x77][..], Status::BadResource),           // no such domain
        (0x96, &[0x77], Status::BadResource),               // no such CQ to send
        (0xb6, &[0x77], Status::BadResource),               // nor to receive
        (0x02, &user.0.to_be_bytes(), Status::BadResource), // everything is the driver's, and not the user's
    ] {
        let mut input = good.clone();
        input[at..at + bytes.len()].copy_from_slice(bytes);
        assert_eq!(node.status(&input), status, "byte {at:#x}");
    }
    for (kind, number) in [(Object::Pd, node.pd), (Object::Cq, node.cqn)] {
        node.bench.firmware.set_owner(kind, number, user);
    }
    let mut input = good.clone();
    input[2..4].copy_from_slice(&user.0.to_be_bytes());
    assert_eq!(node.status(&input), Status::BadResource, "the domain is still the driver's");
    create(node, &good);
    let free = mailbox(16, &[(0, &[8, 0x0f]), (8, &xrcd.to_be_bytes())]);
    assert_eq!(node.status(&free), Status::ResourceBusy);
    let destroy = node.on_qp(1);
    assert_eq!((node.status(&destroy), node.status(&free)), (Status::Ok, Status::Ok));
}

#[test]
fn each_end_has_parameters_of_its_own() {
    let mut nodes = pair_of(LinkLayer::InfiniBand, Generation::ConnectX7);
    let [sender, receiver] = &mut nodes;
    let xrcd = domain(receiver);
    let inputs = [initiator(sender), target(receiver, xrcd)];
    for (node, input) in nodes.iter_mut().zip(inputs) {
        create(node, &input);
        let mut unordered = node.rst2init();
        // dp_ordering_1: receives in any order.
        unordered[0xab] |= 0x08;
        assert_eq!(node.status(&unordered), Status::BadParameter);
    }
    // Linux says of each target that its WQEs may name the reserved key (`__mlx5_ib_modify_qp`), and it has none. The
    // initiator has not been made so.
    for (node, status) in nodes.iter_mut().zip([Status::BadParameter, Status::Ok]) {
        let mut reserved = node.rst2init();
        reserved[0x23] |= 0x10;
        assert_eq!(node.status(&reserved), status);
        let back = node.on_qp(0xa);
        assert_eq!(node.status(&back), Status::Ok);
    }
    connect(&mut nodes);
    // RNR timers are a target's.
    for (node, status) in nodes.iter_mut().zip([Status::BadParameter, Status::Ok]) {
        let rts2rts = node.transition(5, &[(0x10, &[0, 0, 0, 0x40]), (0xac, &[9])]);
        assert_eq!((node.status(&rts2rts), state(node)), (status, 3));
    }
    assert_eq!(query(&mut nodes[1])[0xac], 9);
    settle(&mut nodes);
}

#[test]
fn a_target_may_be_said_to_have_the_reserved_key_as_it_posts_nothing() {
    let mut nodes = pair(LinkLayer::Ethernet);
    let node = &mut nodes[0];
    let xrcd = domain(node);
    let mailbox = target(node, xrcd);
    create(node, &mailbox);
    // rlky, which Linux sets for each QP that no program has made by itself (`__mlx5_ib_modify_qp`).
    let mut rst2init = node.rst2init();
    rst2init[0x23] |= 0x10;
    assert_eq!(node.status(&rst2init), Status::Ok);
    create(node, &mailbox);
    node.create_qp(&Qp { st: 0, srqn: None });
    let mut rst2init = node.rst2init();
    rst2init[0x23] |= 0x10;
    assert_eq!(node.status(&rst2init), Status::BadParameter, "it was not made so");
}
