//! States of queue pairs, by mailboxes: each transition from each state, and which optional parameters it can have.

use super::qp_tests::{DCI, RC, UC, UD, state};
use crate::config::LinkLayer;
use crate::firmware::pair_bench::{Node, Qp, pair};
use crate::firmware::status::Status;

/// Brings a new QP into a state, given by its number in `qpc.state`.
fn bring(nodes: &mut [Node; 2], st: u8, to: u8) {
    let [node, peer] = nodes;
    peer.create_qp(&Qp { st, srqn: None });
    node.create_qp(&Qp { st, srqn: None });
    let path = [node.rst2init(), node.init2rtr(peer), node.rtr2rts()];
    let steps = match to {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 3,
    };
    for input in &path[..steps] {
        assert_eq!(node.status(input), Status::Ok, "opcode {:#x} of service {st}", input[1]);
    }
    match to {
        4 => {
            // A WQE of an unknown opcode.
            node.post(0x3f, &[], true);
            while node.bench.device.step(std::time::Duration::ZERO) {}
        }
        5 => assert_eq!(node.status(&node.transition(8, &[])), Status::Ok),
        6 => assert_eq!(node.status(&node.on_qp(7)), Status::Ok),
        _ => {}
    }
    assert_eq!(state(node), to, "service {st}");
}

#[test]
fn each_transition_is_possible_from_its_state_and_from_no_other() {
    // Opcode, and the states from which it goes: to reset from all, to error from all but reset.
    let commands: [(u8, &[u8], u8); 10] = [
        (2, &[0], 1),
        (0xe, &[1], 1),
        (3, &[1], 2),
        (4, &[2], 3),
        (5, &[3], 3),
        (6, &[4], 3),
        (8, &[3], 5),
        (0xc, &[5], 3),
        (7, &[1, 2, 3, 4, 5, 6], 6),
        (0xa, &[0, 1, 2, 3, 4, 5, 6], 0),
    ];
    for st in [RC, UC, UD, DCI] {
        for from in 0..=6_u8 {
            // A reliable QP is in error where others only stop sending, and an initiator does not drain.
            if matches!((st, from), (RC | DCI, 4) | (DCI, 5)) {
                continue;
            }
            for (opcode, states, to) in commands {
                let mut nodes = pair(LinkLayer::InfiniBand);
                bring(&mut nodes, st, from);
                let [node, peer] = &mut nodes;
                let input = match opcode {
                    2 => node.rst2init(),
                    3 => node.init2rtr(peer),
                    4 => node.rtr2rts(),
                    7 | 0xa => node.on_qp(opcode),
                    _ => node.transition(opcode, &[]),
                };
                let possible = states.contains(&from) && (st, opcode) != (DCI, 8);
                let expected = if possible { Status::Ok } else { Status::BadQpState };
                assert_eq!(node.status(&input), expected, "service {st}, from {from}, opcode {opcode:#x}");
                assert_eq!(state(node), if possible { to } else { from });
            }
        }
    }
}

/// Opcode, the state from which it goes, and the bits it may have.
type OfTransition = (u8, u8, u32);

#[test]
fn optional_parameters_are_those_of_linux() {
    // By hand from `opt_mask` of drivers/infiniband/hw/mlx5/qp.c, less alternate paths (bit 0) and link aggregation
    // (bit 15), which are no capabilities, and with counters (bit 25) where __mlx5_ib_qp_set_counter has them.
    let tables: [(u8, &[OfTransition]); 4] = [
        (
            RC,
            &[
                (2, 0, 0),
                (0xe, 1, 0x1_001e),
                (3, 1, 0x1e),
                (4, 2, 0x44e),
                (5, 3, 0x200_044e),
                (8, 3, 0),
                (0xc, 5, 0x4e),
            ],
        ),
        (
            UC,
            &[
                (2, 0, 0),
                (0xe, 1, 0x1_0018),
                (3, 1, 0x18),
                (4, 2, 0x408),
                (5, 3, 0x200_0408),
                (8, 3, 0),
                (0xc, 5, 8),
                (6, 4, 8),
            ],
        ),
        (
            UD,
            &[
                (2, 0, 0),
                (0xe, 1, 0x1_0030),
                (3, 1, 0x30),
                (4, 2, 0x20),
                (5, 3, 0x200_0020),
                (8, 3, 0),
                (0xc, 5, 0x20),
                (6, 4, 0x20),
            ],
        ),
        // UCX 1.13 src/uct/ib/dc/dc_mlx5_devx.c: the bit of atomics.
        (DCI, &[(2, 0, 0), (0xe, 1, 0x1_0010), (3, 1, 0x14), (4, 2, 0x40), (5, 3, 0x200_0040)]),
    ];
    for (st, table) in tables {
        for &(opcode, from, mask) in table {
            for bit in 0..32 {
                let mut nodes = pair(LinkLayer::InfiniBand);
                bring(&mut nodes, st, from);
                let [node, peer] = &mut nodes;
                let mut input = match opcode {
                    2 => node.rst2init(),
                    3 => node.init2rtr(peer),
                    4 => node.rtr2rts(),
                    _ => node.transition(opcode, &[(0x55, &[1])]),
                };
                input[0x10..0x14].copy_from_slice(&(1_u32 << bit).to_be_bytes());
                let expected = if mask >> bit & 1 != 0 { Status::Ok } else { Status::BadParameter };
                assert_eq!(node.status(&input), expected, "service {st}, opcode {opcode:#x}, bit {bit}");
            }
        }
    }
}

/// A source of QP 1's datagrams, packets in any order by force, and the reserved key.
#[test]
fn privileges_that_a_queue_pair_lacks_are_refused() {
    for (st, at, byte) in [(UD, 0x9b, 1), (RC, 0x1c, 0x01), (RC, 0x23, 0x10)] {
        let mut nodes = pair(LinkLayer::InfiniBand);
        bring(&mut nodes, st, 0);
        let [node, _] = &mut nodes;
        let good = node.rst2init();
        let mut input = good.clone();
        input[at] |= byte;
        assert_eq!(node.status(&input), Status::BadParameter, "service {st}, byte {at:#x}");
        assert_eq!(node.status(&good), Status::Ok);
    }
}
