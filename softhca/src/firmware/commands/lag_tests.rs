//! A bond of two ports, by mailboxes whose bytes are computed by hand from Linux' `mlx5_ifc.h`: which port each queue has,
//! and by which its packets leave.

use crate::config::{DeviceConfig, LinkLayer, PortConfig};
use crate::embedded::EmbeddedDevice;
use crate::event::Event;
use crate::firmware::pair_bench::{Node, Qp, data_seg, pair_with, settle, sparse};
use crate::firmware::status::Status;
use crate::firmware::test_bench::Bench;
use crate::memory::test_memory::BASE;
use crate::wire::Address;
use crate::wire::in_process::Fabric;

/// `MLX5_QP_OPTPAR_LAG_TX_AFF`, in the optional parameters.
const LAG_TX_AFFINITY: (usize, &[u8]) = (0x12, &[0x80]);
/// Byte of a mailbox that has `qpc.lag_tx_port_affinity` as its lower half.
const AFFINITY_AT: usize = 0x18;

fn bonded_pair(st: u8) -> [Node; 2] {
    let mut nodes = pair_with(LinkLayer::Ethernet, |config| config.bonded = true);
    nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st, srqn: None }));
    nodes
}

/// `QUERY_LAG`: the state, and by which ports the queues of ports 1 and 2 send.
fn mapping(bench: &mut Bench) -> (u8, [u8; 2]) {
    let output = bench.execute(&sparse(16, &[(0, 0x08), (1, 0x42)]), 16).expect("a bond");
    (output[11] & 7, [output[15] & 0xf, output[14] & 0xf])
}

/// Packets that have left by each port.
fn sent(node: &Node) -> Vec<u64> {
    node.bench.device.bonded_ports().iter().map(|port| port.sent).collect()
}

#[test]
fn a_queue_pair_sends_by_its_port_and_by_the_other_one_if_that_is_down() {
    let mut nodes = bonded_pair(0);
    for (at, other) in [(0, 1), (1, 0)] {
        let mut init = nodes[at].rst2init();
        init[AFFINITY_AT] |= 2;
        for input in [init, nodes[at].init2rtr(&nodes[other]), nodes[at].rtr2rts()] {
            assert_eq!(nodes[at].status(&input), Status::Ok);
        }
    }
    let write = |nodes: &mut [Node; 2]| {
        let mut remote = (BASE + 0x2000).to_be_bytes().to_vec();
        remote.extend(nodes[1].key.to_be_bytes());
        remote.extend([0; 4]);
        remote.extend(data_seg(BASE + 0x100, 64, nodes[0].key));
        nodes[0].post(0x08, &remote, true);
        settle(nodes);
        let cqe = nodes[0].poll().expect("a completion");
        assert_eq!(cqe[63] >> 4, 0, "{cqe:x?}");
        sent(&nodes[0])
    };
    assert_eq!(mapping(&mut nodes[0].bench), (1, [1, 2]));
    assert_eq!(write(&mut nodes), [0, 1]);
    let query = nodes[0].on_qp(0xb);
    let affinity = |node: &mut Node| node.bench.execute(&query, 0x110).expect("a context")[AFFINITY_AT] & 0xf;
    assert_eq!(affinity(&mut nodes[0]), 2);

    // Without its bit, the field does not count.
    for (parts, port, expected) in [(vec![], 1, [0, 2]), (vec![LAG_TX_AFFINITY], 1, [1, 2])] {
        let mut to_rts = nodes[0].transition(5, &parts);
        to_rts[AFFINITY_AT] |= port;
        assert_eq!(nodes[0].status(&to_rts), Status::Ok);
        assert_eq!(write(&mut nodes), expected);
    }
    assert_eq!(affinity(&mut nodes[0]), 1);
    let mut third = nodes[0].transition(5, &[LAG_TX_AFFINITY]);
    third[AFFINITY_AT] |= 3;
    assert_eq!(nodes[0].status(&third), Status::BadParameter);

    // One cable is pulled: nothing else changes. The second one: the port is down.
    nodes[0].bench.device.set_port_up(1, false).expect("a port of the bond");
    assert_eq!((mapping(&mut nodes[0].bench), nodes[0].bench.device.next_event()), ((1, [2, 2]), None));
    assert_eq!(write(&mut nodes), [1, 3]);
    let device = &mut nodes[0].bench.device;
    device.set_port_up(2, false).expect("a port of the bond");
    assert!(!device.port_is_up(1) && device.next_event() == Some(Event::Port { port: 1, up: false }));
    device.set_port_up(1, true).expect("a port of the bond");
    assert!(device.port_is_up(1) && device.next_event() == Some(Event::Port { port: 1, up: true }));
    assert!(device.set_port_up(3, false).is_err() && device.set_port_up(0, false).is_err());
    assert_eq!(mapping(&mut nodes[0].bench), (1, [1, 1]));
    assert_eq!(write(&mut nodes), [2, 3]);
    // These WRITEs are one flow, so all of them arrive by one port.
    let received: Vec<u64> = nodes[1].bench.device.bonded_ports().iter().map(|port| port.received).collect();
    assert!(received == [0, 5] || received == [5, 0], "{received:?}");
}

#[test]
fn a_port_of_a_bond_needs_a_bond() {
    let mut nodes = pair_with(LinkLayer::Ethernet, |_| {});
    let [node, _] = &mut nodes;
    node.create_qp(&Qp { st: 0, srqn: None });
    assert_eq!(mapping(&mut node.bench), (0, [0, 0]));
    let mut init = node.rst2init();
    init[AFFINITY_AT] |= 1;
    assert_eq!(node.status(&init), Status::BadParameter);
    assert_eq!(node.status(&node.rst2init()), Status::Ok);
    let optional = node.transition(4, &[LAG_TX_AFFINITY]);
    assert_ne!(node.status(&optional), Status::Ok);
    let bonded = |link: LinkLayer, ports: usize| {
        let port = match link {
            LinkLayer::Ethernet => PortConfig::ethernet(1),
            LinkLayer::InfiniBand => PortConfig::infiniband(1),
        };
        let config = DeviceConfig::with_port(port.clone());
        DeviceConfig { ports: vec![port; ports], bonded: true, ..config }
    };
    for (link, ports, possible) in
        [(LinkLayer::Ethernet, 1, true), (LinkLayer::Ethernet, 2, false), (LinkLayer::InfiniBand, 1, false)]
    {
        let address = Address { lids: vec![], gids: vec![], qpns: 0x100..0x200 };
        let wire = Fabric::new().attach(address).expect("a wire");
        let made = EmbeddedDevice::new(bonded(link, ports), Box::new(wire));
        assert_eq!(made.is_ok(), possible, "{link:?}, {ports}");
    }
}

/// `CREATE_TIS`, `MODIFY_TIS` and `QUERY_TIS`.
#[test]
fn frames_leave_by_the_port_of_their_tis() {
    for bonded in [false, true] {
        let config = DeviceConfig { bonded, ..DeviceConfig::with_port(PortConfig::ethernet(1)) };
        let mut bench = Bench::of(config);
        let domain = bench.execute(&sparse(16, &[(0, 0x08), (1, 0x16)]), 16).expect("a transport domain");
        let tis = |port: u8| {
            let mut input = sparse(0xc0, &[(0, 0x09), (1, 0x12), (0x20, port)]);
            input[0x45..0x48].copy_from_slice(&domain[9..12]);
            input
        };
        assert_eq!(bench.execute(&tis(3), 16), Err(Status::BadParameter));
        assert_eq!(bench.execute(&tis(2), 16).is_ok(), bonded);
        let made = bench.execute(&tis(0), 16).expect("a TIS");
        let mut change = sparse(0xc0, &[(0, 0x09), (1, 0x13), (0x17, 0x04), (0x20, 1)]);
        change[9..12].copy_from_slice(&made[9..12]);
        assert_eq!(bench.execute(&change, 16).is_ok(), bonded);
        let mut query = sparse(16, &[(0, 0x09), (1, 0x15)]);
        query[9..12].copy_from_slice(&made[9..12]);
        let context = bench.execute(&query, 0xb0).expect("its context");
        assert_eq!(context[0x10], u8::from(bonded));
        change[0x17] = 0x02;
        assert_eq!(bench.execute(&change, 16), Err(Status::BadParameter), "strictly by one port");
    }
}
