//! QP 1 of a port, as Linux' `mlx5_ib` makes it (`drivers/infiniband/hw/mlx5/gsi.c`, `qp.c`): a QP of datagrams that
//! has another number in the commands.

use crate::config::LinkLayer;
use crate::firmware::pair_bench::{Node, Qp, data_seg, pair, settle};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;

const UD: u8 = 2;
const QP1: u8 = 8;
const SEND: u8 = 0x0a;
const QKEY: u32 = 0x8001_0000;

/// The GRH, or the IP header in its place, and a management datagram.
const GRH_BYTES: u64 = 40;
const MAD_BYTES: u32 = 256;

/// Makes a QP of service type `st`, with all privileges of a kernel's QP; `deth_sqpn` is the source in its datagrams.
fn create(node: &mut Node, st: u8, deth_sqpn: u8) {
    let mut input = node.qp_mailbox(&Qp { st, srqn: None });
    // rlky, fre, deth_sqpn.
    input[0x23] |= 0x10;
    input[0x8a] |= 8;
    input[0x9b] = deth_sqpn;
    node.create_qp_by(&input);
}

/// Goes to RTS as `mlx5_ib_modify_qp` does for the two kinds, each with its own MTU and longest message.
fn to_rts(node: &mut Node, st: u8, qkey: u32) {
    let (mtu, log_msg_max) = if st == QP1 { (1, 8) } else { (5, 12) };
    for opcode in 2..=4 {
        let mut input = node.transition(
            opcode,
            &[(0x19, &[st, 0x18]), (0x20, &[mtu << 5 | log_msg_max]), (0x55, &[1]), (0x88, &[0x80])],
        );
        if opcode == 2 {
            input[0x23] = 0x10;
            input[0xc0..0xc4].copy_from_slice(&qkey.to_be_bytes());
        }
        assert_eq!(node.status(&input), Status::Ok, "{opcode}");
    }
}

fn qp1s() -> [Node; 2] {
    let mut nodes = pair(LinkLayer::Ethernet);
    for node in &mut nodes {
        create(node, QP1, 0);
        to_rts(node, QP1, QKEY);
    }
    nodes
}

/// An address vector (`struct mlx5_av`) to a QP of the node with this GID.
fn address(gid: [u8; 16], qpn: u32, qkey: u32) -> Vec<u8> {
    let mut av = vec![0; 48];
    av[..4].copy_from_slice(&qkey.to_be_bytes());
    av[8..12].copy_from_slice(&(qpn | 1 << 31).to_be_bytes());
    // udp_sport, rmac, a hop limit, and the bit for a GRH.
    av[14..16].copy_from_slice(&[0xc0, 1]);
    av[20..26].copy_from_slice(&[2, 0, 0, 0, 0, 2]);
    av[27] = 64;
    av[28] = 0x40;
    av[32..48].copy_from_slice(&gid);
    av
}

/// Sends `len` bytes from the first node to QP `qpn` at the second's address; gives the CQE.
fn send(nodes: &mut [Node; 2], qpn: u32, qkey: u32, len: u32) -> Vec<u8> {
    let mut body = address(nodes[1].gid, qpn, qkey);
    body.extend(data_seg(BASE + 0x1000, len, nodes[0].key));
    nodes[0].post(SEND, &body, true);
    settle(nodes);
    nodes[0].poll().expect("a CQE")
}

#[test]
fn management_datagrams_go_between_the_qps_1_of_two_ports() {
    let mut nodes = qp1s();
    let mad: Vec<u8> = (0..MAD_BYTES).map(|n| n as u8 ^ 0x5a).collect();
    nodes[0].write(BASE + 0x1000, &mad);
    nodes[1].post_receive(BASE, 512);
    assert_ne!(nodes[1].qpn, 1, "the commands have an ordinary number");
    assert_eq!(send(&mut nodes, 1, QKEY, MAD_BYTES)[63] >> 4, 0);
    let cqe = nodes[1].poll().expect("a datagram");
    assert_eq!(cqe[63] >> 4, 2);
    assert_eq!(cqe[57..60], nodes[1].qpn.to_be_bytes()[1..], "it is the ordinary number's");
    assert_eq!(cqe[44..48], (MAD_BYTES + GRH_BYTES as u32).to_be_bytes());
    // From QP 1; RoCE v2 by IPv6, with its header; the P_Key, of which the kernel finds the index.
    assert_eq!(cqe[25..28], [0, 0, 1]);
    assert_eq!(cqe[24], 0x19);
    assert_eq!(cqe[36..40], [0, 0, 0xff, 0xff]);
    assert_eq!(nodes[1].read(BASE + GRH_BYTES, MAD_BYTES as usize), mad);
    let header = nodes[1].read(BASE, GRH_BYTES as usize);
    assert_eq!((header[0] >> 4, header[6], header[7]), (6, 17, 64));
    assert_eq!(header[8..24], nodes[0].gid);
    assert_eq!(header[24..40], nodes[1].gid);
    assert_eq!(nodes[1].bench.execute(&nodes[1].on_qp(0xb), 0x110).expect("a context")[0x19], QP1);
    // Nothing longer is sent.
    assert_eq!(send(&mut nodes, 1, QKEY, MAD_BYTES + 1)[55], 1);
}

#[test]
fn what_has_another_q_key_or_no_qp_1_to_go_to_is_dropped() {
    let mut nodes = qp1s();
    nodes[1].post_receive(BASE, 512);
    assert_eq!(send(&mut nodes, 1, 0x1111, MAD_BYTES)[63] >> 4, 0);
    assert!(nodes[1].poll().is_none());
    let destroy = nodes[1].on_qp(1);
    assert_eq!(nodes[1].status(&destroy), Status::Ok);
    assert_eq!(send(&mut nodes, 1, QKEY, MAD_BYTES)[63] >> 4, 0);
    assert!(nodes[1].poll().is_none());
    // Another one is found again.
    create(&mut nodes[1], QP1, 0);
    to_rts(&mut nodes[1], QP1, QKEY);
    nodes[1].post_receive(BASE, 512);
    send(&mut nodes, 1, QKEY, MAD_BYTES);
    assert!(nodes[1].poll().is_some());
}

#[test]
fn a_queue_of_datagrams_may_send_as_qp_1() {
    let mut nodes = pair(LinkLayer::Ethernet);
    create(&mut nodes[0], UD, 1);
    to_rts(&mut nodes[0], UD, QKEY);
    create(&mut nodes[1], UD, 0);
    to_rts(&mut nodes[1], UD, 0x77);
    nodes[1].post_receive(BASE, 512);
    let qpn = nodes[1].qpn;
    assert_eq!(send(&mut nodes, qpn, 0x77, 64)[63] >> 4, 0);
    assert_eq!(nodes[1].poll().expect("a datagram")[25..28], [0, 0, 1]);
    // Not of services whose packets do not say from where they are, and not as others.
    let node = &mut nodes[0];
    let mut of_rc = node.qp_mailbox(&Qp { st: 0, srqn: None });
    of_rc[0x9b] = 1;
    assert_eq!(node.status(&of_rc), Status::BadParameter);
    let mut as_other = node.qp_mailbox(&Qp { st: UD, srqn: None });
    as_other[0x9b] = 2;
    assert_eq!(node.status(&as_other), Status::BadParameter);
}
