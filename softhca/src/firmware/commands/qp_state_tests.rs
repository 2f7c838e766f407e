//! States of queue pairs, by mailboxes: each transition from each state, which optional parameters it can have, and
//! which fields it takes.

use super::qp_tests::{DCI, RC, UC, UD, query, state};
use crate::config::{Generation, LinkLayer};
use crate::firmware::pair_bench::{Node, Qp, pair, pair_of, pair_with};
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

/// Opcode, the state from which it goes, the optional parameters, and the transition's answer to a value of
/// `pm_state` or `atomic_mode` that is no capability.
type OfField = (u8, u8, u32, Status);

/// `opt_param_mask`: path state, and the right of atomics.
const PM_STATE: u32 = 1 << 10;
const RAE: u32 = 1 << 2;

#[test]
fn fields_count_where_a_transition_takes_them() {
    use Status::{BadParameter, Ok};
    // The path state counts from reset to init, and later by its bit of the mask.
    let path_state: &[OfField] = &[
        (2, 0, 0, BadParameter),
        (3, 1, 0, Ok),
        (4, 2, 0, Ok),
        (4, 2, PM_STATE, BadParameter),
        (5, 3, 0, Ok),
        (5, 3, PM_STATE, BadParameter),
    ];
    // The mode of atomics comes with the rights, or on the way to RTR.
    let atomic_mode: &[OfField] = &[
        (2, 0, 0, BadParameter),
        (3, 1, 0, BadParameter),
        (4, 2, 0, Ok),
        (4, 2, RAE, BadParameter),
        (5, 3, 0, Ok),
        (5, 3, RAE, BadParameter),
    ];
    for (at, value, cases) in [(0x1a, 1 << 3, path_state), (0xa9, 6, atomic_mode)] {
        for &(opcode, from, mask, expected) in cases {
            let mut nodes = pair(LinkLayer::InfiniBand);
            bring(&mut nodes, RC, from);
            let [node, peer] = &mut nodes;
            let mut input = match opcode {
                2 => node.rst2init(),
                3 => node.init2rtr(peer),
                4 => node.rtr2rts(),
                _ => node.transition(opcode, &[]),
            };
            input[0x10..0x14].copy_from_slice(&mask.to_be_bytes());
            let good = input.clone();
            input[at] = value;
            assert_eq!(node.status(&input), expected, "byte {at:#x}, opcode {opcode}, {mask:#x}");
            if expected != Ok {
                assert_eq!(state(node), from);
                assert_eq!(node.status(&good), Ok, "byte {at:#x}, opcode {opcode}, {mask:#x}");
            }
        }
    }
}

/// Linux gives the mode of atomics in the context of this transition, without a bit for the rights
/// (`drivers/infiniband/hw/mlx5/qp.c`, `set_qpc_atomic_flags`).
#[test]
fn a_queue_pair_has_the_mode_of_atomics_of_its_way_to_rtr() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    bring(&mut nodes, RC, 1);
    let [node, peer] = &mut nodes;
    let mut input = node.init2rtr(peer);
    input[0xa9] |= 3;
    assert_eq!(node.status(&input), Status::Ok);
    assert_eq!(node.bench.device.query_qp(node.qpn).expect("a QP").attr.extended_atomics, Some(4 | 8));
}

/// Linux takes the request for initiators, too (`drivers/infiniband/hw/mlx5/qp.c`, `get_dp_ooo_cap`). They receive
/// nothing.
#[test]
fn an_initiator_may_ask_for_receives_in_any_order() {
    let mut nodes = pair_of(LinkLayer::InfiniBand, Generation::ConnectX7);
    nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st: DCI, srqn: None }));
    let [node, peer] = &mut nodes;
    let (mut init, mut rtr) = (node.rst2init(), node.init2rtr(peer));
    (init[0xab], rtr[0xab]) = (init[0xab] | 0x08, rtr[0xab] | 0x08);
    assert_eq!([node.status(&init), node.status(&rtr)], [Status::Ok; 2]);
    assert_eq!(query(node)[0xab], 0x08, "as it was asked for");
    assert_eq!(node.bench.device.query_qp(node.qpn).expect("a QP").attr.out_of_order, None);
}

/// `log_max_msg` says the most, which the transition to RTR takes.
#[test]
fn a_context_asks_for_no_longer_messages_than_there_are() {
    let mut nodes = pair_with(LinkLayer::InfiniBand, |config| config.limits.max_msg = 1 << 20);
    nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st: RC, srqn: None }));
    let [node, peer] = &mut nodes;
    assert_eq!(node.status(&node.rst2init()), Status::Ok);
    let mut rtr = node.init2rtr(peer);
    for (log, status) in [(21, Status::BadParameter), (20, Status::Ok)] {
        rtr[0x20] = 3 << 5 | log;
        assert_eq!(node.status(&rtr), status, "{log}");
    }
    let mut rts = node.rtr2rts();
    rts[0x20] = 31;
    assert_eq!(node.status(&rts), Status::Ok, "this transition does not take it");
}
