//! The commands on multicast groups, by the bytes of their mailboxes.

use crate::config::LinkLayer;
use crate::firmware::pair_bench::{Node, Qp, pair};
use crate::firmware::status::Status;

const RC: u8 = 0;
const UD: u8 = 2;
const ATTACH: u16 = 0x806;
const DETACH: u16 = 0x807;

/// The mailbox of a command on a group whose GID begins with `first`.
fn mailbox(opcode: u16, qpn: u32, first: u8) -> Vec<u8> {
    let mut input = vec![0; 0x20];
    input[..2].copy_from_slice(&opcode.to_be_bytes());
    input[8..12].copy_from_slice(&qpn.to_be_bytes());
    input[0x10..].copy_from_slice(&[first, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
    input
}

/// Makes a QP of service type `st`, which takes no copies of its own datagrams (`block_lb_mc`).
fn create(node: &mut Node, st: u8) {
    let mut input = node.qp_mailbox(&Qp { st, srqn: None });
    input[0x1c] |= 0x40;
    node.create_qp_by(&input);
}

#[test]
fn queue_pairs_join_groups_and_leave_them() {
    let [mut node, mut other] = pair(LinkLayer::InfiniBand);
    create(&mut node, UD);
    create(&mut other, RC);
    for (opcode, qpn, first, expected) in [
        (DETACH, node.qpn, 0xff, Status::BadResource),
        (ATTACH, node.qpn, 0xff, Status::Ok),
        (ATTACH, node.qpn, 0xff, Status::Ok),
        (ATTACH, node.qpn, 0xfe, Status::BadParameter),
        (ATTACH, node.qpn + 1, 0xff, Status::BadResource),
        (DETACH, node.qpn + 1, 0xff, Status::BadResource),
        (DETACH, node.qpn, 0xff, Status::Ok),
        (DETACH, node.qpn, 0xff, Status::BadResource),
    ] {
        assert_eq!(node.status(&mailbox(opcode, qpn, first)), expected, "{opcode:#x} {qpn:#x} {first:#x}");
    }
    let qpn = other.qpn;
    assert_eq!(other.status(&mailbox(ATTACH, qpn, 0xff)), Status::BadParameter, "it takes no datagrams");
}
