//! Copies of memory, by mailboxes: places and values are those of rdma-core's `mlx5_ifc.h` and of its `qp_enable_mmo`,
//! written down by hand.

use super::qp_tests::RC;
use crate::config::{Generation, LinkLayer};
use crate::firmware::pair_bench::{Node, Qp, data_seg, pair_of};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;
use std::time::Duration;

/// The bytes that libmlx5 sends: `qpc_ext` 1, bit 3 of `opt_param_mask_95_32`, and `mmo`.
fn enable(node: &Node, mmo: bool) -> Vec<u8> {
    let mut bytes = node.transition(0xe, &[]);
    bytes.resize(0x1d0, 0);
    bytes[8] = 0x80;
    bytes[0x10f] = 1 << 3;
    bytes[0x110] = if mmo { 0x20 } else { 0 };
    bytes
}

/// A new QP in INIT.
fn in_init(nodes: &mut [Node; 2]) {
    nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st: RC, srqn: None }));
    let input = nodes[0].rst2init();
    assert_eq!(nodes[0].status(&input), Status::Ok);
}

/// From INIT to RTS, and a copy of 8 bytes: its CQE's opcode and syndrome.
fn copy(nodes: &mut [Node; 2]) -> (u8, u8) {
    for input in [nodes[0].init2rtr(&nodes[1]), nodes[0].rtr2rts()] {
        assert_eq!(nodes[0].status(&input), Status::Ok);
    }
    let [node, _] = nodes;
    let key = node.key;
    node.write(BASE, b"to copy.");
    node.write(BASE + 64, &[0; 8]);
    let body = [data_seg(BASE + 256, 0, key), data_seg(BASE, 8, key), data_seg(BASE + 64, 8, key)].concat();
    node.post_modified(1, 0x2f, &body);
    let worked = (0..10).any(|_| !node.bench.device.step(Duration::ZERO));
    assert!(worked, "it comes to rest");
    let cqe = node.poll().expect("complete");
    assert_eq!(node.read(BASE + 64, 8) == b"to copy.", cqe[63] >> 4 == 0);
    (cqe[63] >> 4, cqe[55])
}

const DONE: u8 = 0;
const FAILED: u8 = 13;

#[test]
fn a_queue_copies_if_a_command_has_let_it() {
    let mut nodes = pair_of(LinkLayer::InfiniBand, Generation::ConnectX7);
    in_init(&mut nodes);
    assert_eq!(copy(&mut nodes), (FAILED, 2), "nobody has let it");
    in_init(&mut nodes);
    let input = enable(&nodes[0], true);
    assert_eq!(nodes[0].status(&input), Status::Ok);
    assert_eq!(copy(&mut nodes).0, DONE);
    let input = enable(&nodes[0], true);
    assert_eq!(nodes[0].status(&input), Status::BadQpState, "it is in RTS");
    // Not after a reset.
    for input in [nodes[0].on_qp(0xa), nodes[0].rst2init()] {
        assert_eq!(nodes[0].status(&input), Status::Ok);
    }
    nodes[0].reset_rings();
    assert_eq!(copy(&mut nodes), (FAILED, 2));
    // Nor if it was taken back.
    in_init(&mut nodes);
    for mmo in [true, false] {
        let input = enable(&nodes[0], mmo);
        assert_eq!(nodes[0].status(&input), Status::Ok);
    }
    assert_eq!(copy(&mut nodes), (FAILED, 2));
    // A transition without the extension says nothing of it.
    in_init(&mut nodes);
    for input in [enable(&nodes[0], true), nodes[0].transition(0xe, &[])] {
        assert_eq!(nodes[0].status(&input), Status::Ok);
    }
    assert_eq!(copy(&mut nodes).0, DONE);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let mut nodes = pair_of(LinkLayer::InfiniBand, Generation::ConnectX7);
    in_init(&mut nodes);
    let good = enable(&nodes[0], true);
    // No extension, no mask, a stream's mask, a stream, reserved bits.
    for (at, value) in [(8, 0), (0x10f, 0), (0x10f, 9), (0x113, 1), (0x10f, 0x18), (0x110, 0x60), (0x1cf, 1)] {
        let mut bad = good.clone();
        bad[at] = value;
        assert_eq!(nodes[0].status(&bad), Status::BadParameter, "{value:#x} at {at:#x}");
    }
    assert_eq!(nodes[0].status(&good), Status::Ok);

    let mut nodes = pair_of(LinkLayer::InfiniBand, Generation::ConnectX6Dx);
    in_init(&mut nodes);
    let input = enable(&nodes[0], true);
    assert_eq!(nodes[0].status(&input), Status::BadParameter, "it asks nobody");
    assert_eq!(copy(&mut nodes).0, DONE);
}
