//! Queue pairs, by mailboxes: what contexts name, ask for and report. The data that passes is in `qp_data_tests.rs`.

use crate::config::{Generation, LinkLayer};
use crate::firmware::pair_bench::{Node, Qp, connect, pair, pair_of, pair_with, sparse};
use crate::firmware::status::Status;

pub(super) const RC: u8 = 0;
pub(super) const UC: u8 = 1;
pub(super) const UD: u8 = 2;
pub(super) const DCI: u8 = 5;

/// `QUERY_QP`: the whole output.
pub(super) fn query(node: &mut Node) -> Vec<u8> {
    node.bench.execute(&node.on_qp(0xb), 0x110).expect("a context")
}

/// `qpc.state` of a query.
pub(super) fn state(node: &mut Node) -> u8 {
    query(node)[0x18] >> 4
}

pub(super) fn qps(link: LinkLayer, st: u8) -> [Node; 2] {
    let mut nodes = pair(link);
    nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st, srqn: None }));
    nodes
}

#[test]
fn a_mailbox_of_ucx_is_understood_and_reported() {
    // The bytes that UCX 1.13 writes (src/uct/ib/mlx5/dv/ib_mlx5_dv.c, rc/accel/rc_mlx5_devx.c), from its own
    // ib_mlx5_ifc.h, with these values: log_sq_size 8, log_rq_size 3 (not used), cs_req 0x22, cs_res 2, user index
    // 0xabcdef.
    let mut nodes = pair(LinkLayer::Ethernet);
    let [node, peer] = &mut nodes;
    let user = node.bench.user();
    for (kind, number) in [
        (crate::error::Object::Pd, node.pd),
        (crate::error::Object::Uar, node.uar),
        (crate::error::Object::Cq, node.cqn),
    ] {
        node.bench.firmware.set_owner(kind, number, user);
    }
    let umem = node.bench.umem(user, &[40, 38, 36, 34, 32], 0, false);
    let fixed = [(0x0, 0x05), (0x1a, 0x18), (0x21, 0x18), (0x22, 0x40), (0x29, 0xab), (0x2a, 0xcd), (0x2b, 0xef)];
    let mut create = sparse(0x110, &fixed);
    create[2..4].copy_from_slice(&user.0.to_be_bytes());
    create[0x1d..0x20].copy_from_slice(&node.pd.to_be_bytes()[1..]);
    create[0x25..0x28].copy_from_slice(&node.uar.to_be_bytes()[1..]);
    create[0x95..0x98].copy_from_slice(&node.cqn.to_be_bytes()[1..]);
    create[0xb5..0xb8].copy_from_slice(&node.cqn.to_be_bytes()[1..]);
    create[0xb8..0xc0].copy_from_slice(&0x4ff8_u64.to_be_bytes());
    create[0xde] = 0x22;
    create[0xdf] = 0x02;
    create[0xfc..0x100].copy_from_slice(&umem.to_be_bytes());
    create[0x108..0x10c].copy_from_slice(&umem.to_be_bytes());
    assert_eq!(node.status(&create), Status::BadInputLength, "the kernel says that the UMEMs count");
    create[0xe8] = 0x10;
    create[0x10c] = 0x80;
    // UCX has always a shared queue; here the QP has none.
    create[0xc4] = 0x03;
    node.qpn = node.number(&create);
    assert_eq!(node.bench.state().umems.get(umem).map(|umem| umem.users), Some(2));

    let on_behalf = |mut bytes: Vec<u8>, qpn: u32| {
        bytes[2..4].copy_from_slice(&user.0.to_be_bytes());
        bytes[9..12].copy_from_slice(&qpn.to_be_bytes()[1..]);
        bytes
    };
    let qpn = node.qpn;
    let rst2init = sparse(0x110, &[(0x0, 0x05), (0x1, 0x02), (0x1a, 0x18), (0x55, 0x01), (0xaa, 0x40)]);
    assert_eq!(node.status(&on_behalf(rst2init, qpn)), Status::Ok);
    let mut init2rtr = sparse(
        0x110,
        &[
            (0x0, 0x05),
            (0x1, 0x03),
            (0x13, 0x0e),
            (0x20, 0x7e),
            (0x2d, 0x65),
            (0x2e, 0x43),
            (0x2f, 0x21),
            (0x3b, 0x40),
            (0x51, 0x2a),
            (0x52, 0xc1),
            (0x53, 0x23),
            (0x54, 0x50),
            (0x55, 0x01),
            (0x56, 0x02),
            (0x57, 0x11),
            (0x58, 0x22),
            (0x59, 0x33),
            (0x5a, 0x44),
            (0x5b, 0x55),
            (0xa9, 0x83),
            (0xaa, 0xe0),
            (0xac, 0x0c),
        ],
    );
    init2rtr[0x40..0x50].copy_from_slice(&peer.gid);
    let mut wrong = init2rtr.clone();
    wrong[0x39] = 3;
    assert_eq!(node.status(&on_behalf(wrong, qpn)), Status::BadIndex, "a source address that the port does not have");
    assert_eq!(node.status(&on_behalf(init2rtr.clone(), qpn)), Status::Ok);
    let rtr2rts = [(0x38, 0x70), (0x3a, 0x10), (0x88, 0x80), (0x89, 0x87), (0x8a, 0xc0), (0x92, 0xbe), (0x93, 0xef)];
    let mut rtr2rts = sparse(0x110, &rtr2rts);
    rtr2rts[..2].copy_from_slice(&[5, 4]);
    assert_eq!(node.status(&on_behalf(rtr2rts, qpn)), Status::Ok);

    let context = query(node);
    let mut expected = create;
    expected[..12].fill(0);
    expected[0x18] = 0x30; // ready to send
    expected[0x20..0x24].copy_from_slice(&[0x7e, 0, 0x40, 0]); // no receive ring: its size is the mailbox's
    expected[0x21] = 0x18;
    expected[0x23] = 0x20; // data in order
    expected[0x2d..0x5c].copy_from_slice(&init2rtr[0x2d..0x5c]);
    expected[0x38] = 0x70;
    expected[0x3a] = 0x10;
    expected[0x88..0x8b].copy_from_slice(&[0x80, 0x87, 0xc0]);
    expected[0x92..0x94].copy_from_slice(&[0xbe, 0xef]);
    expected[0xa1..0xa4].copy_from_slice(&[0, 0xbe, 0xee]); // acknowledged last
    expected[0xa9..0xad].copy_from_slice(&[0x83, 0xe0, 0, 0x0c]);
    expected[0x10c] = 0;
    expected[0x108..0x10c].fill(0);
    assert_eq!(context, expected);
}

#[test]
fn what_a_qp_names_must_be_there_and_stays_as_long_as_it_does() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    let good = node.qp_mailbox(&Qp { st: RC, srqn: None });
    let cases: [(usize, &[u8], Status); 17] = [
        (0x1f, &[99], Status::BadResource),          // PD
        (0x27, &[99], Status::BadResource),          // UAR page
        (0x97, &[99], Status::BadResource),          // CQ of the send queue
        (0xb7, &[99], Status::BadResource),          // CQ of the receive queue
        (0xc4, &[1, 0, 0, 99], Status::BadResource), // SRQ
        (0xc4, &[2], Status::BadParameter),          // no such kind of receive queue
        (0x19, &[4], Status::BadParameter),          // no service
        (0x22, &[9 << 3], Status::BadInputLength),   // a send ring for which there are too few pages
        (0xbf, &[0x44], Status::BadParameter),       // a record that is not aligned
        (0xde, &[0x33], Status::BadParameter),       // scatter to CQE
        (0x23, &[0x80], Status::BadParameter),       // timestamps by real time
        (0x18, &[0x01], Status::BadParameter),       // link aggregation
        (0x1a, &[0x08], Status::BadParameter),       // path migration
        (0x1a, &[0x1a], Status::BadParameter),       // credits of an unknown mode
        (0x1a, &[0x1b], Status::BadParameter),       // the same
        (0x13, &[2], Status::BadParameter),          // optional parameters
        (0x9, &[0, 0, 9], Status::BadParameter),     // a number that the driver chooses
    ];
    for (at, part, status) in cases {
        let mut input = good.clone();
        input[at..at + part.len()].copy_from_slice(part);
        assert_eq!(node.status(&input), status, "byte {at:#x}");
    }
    node.create_qp(&Qp { st: RC, srqn: None });
    let on_cq = |cqn: u32| sparse(16, &[(0, 4), (1, 1), (11, cqn as u8)]);
    let on_pd = |pd: u32| sparse(16, &[(0, 8), (1, 1), (11, pd as u8)]);
    let (cqn, pd) = (node.cqn, node.pd);
    assert_eq!(node.status(&on_cq(cqn)), Status::ResourceBusy);
    assert_eq!(node.status(&on_pd(pd)), Status::ResourceBusy);
    let destroy = node.on_qp(1);
    assert_eq!(node.status(&destroy), Status::Ok);
    assert_eq!(node.status(&destroy), Status::BadResource);
    assert_eq!(node.status(&node.rst2init()), Status::BadResource);
    assert_eq!(node.status(&on_cq(cqn)), Status::Ok);
    assert_eq!(node.bench.execute(&node.on_qp(0xb), 0x110), Err(Status::BadResource));
}

#[test]
fn a_qp_is_its_owners() {
    let mut nodes = qps(LinkLayer::InfiniBand, RC);
    let [node, _] = &mut nodes;
    let (owner, other) = (node.bench.user(), node.bench.user());
    node.bench.firmware.set_owner(crate::error::Object::Qp, node.qpn, owner);
    for (uid, expected) in [(other, Status::BadResource), (owner, Status::Ok)] {
        for mut input in [node.rst2init(), node.on_qp(7), node.on_qp(0xa), node.on_qp(1)] {
            input[2..4].copy_from_slice(&uid.0.to_be_bytes());
            assert_eq!(node.status(&input), expected, "opcode {:#x}", input[1]);
        }
    }
}

#[test]
fn indexes_have_a_status_of_their_own() {
    let mut nodes = qps(LinkLayer::InfiniBand, RC);
    let [node, peer] = &mut nodes;
    let mut input = node.rst2init();
    input[0x55] = 2;
    assert_eq!(node.status(&input), Status::BadIndex, "the port");
    let mut input = node.rst2init();
    input[0x33] = 1;
    assert_eq!(node.status(&input), Status::BadIndex, "the P_Key");
    assert_eq!(node.status(&node.rst2init()), Status::Ok);
    let mut input = node.init2rtr(peer);
    input[0x35] = 0x80; // with a GRH
    input[0x39] = 9;
    assert_eq!(node.status(&input), Status::BadIndex, "the source address");
    let mut input = node.init2rtr(peer);
    input[0x55] = 2;
    assert_eq!(node.status(&input), Status::BadIndex, "a port that is not the QP's");
    let mut input = node.init2rtr(peer);
    input[0x20] = 6 << 5 | 30;
    assert_eq!(node.status(&input), Status::BadParameter, "the MTU");
    let mut input = node.init2rtr(peer);
    input[0xa9] = 7 << 5;
    assert_eq!(node.status(&input), Status::BadParameter, "READs at once");
    assert_eq!(state(node), 1);
}

#[test]
fn what_no_command_has_made_is_reported_too() {
    // As libmlx5 asks for a QP of verbs (`mlx5_query_qp_data_in_order`).
    let mut nodes = qps(LinkLayer::Ethernet, RC);
    connect(&mut nodes);
    let [node, _] = &mut nodes;
    let made = query(node);
    let qpn = node.qpn;
    node.bench.firmware.forget_owner(crate::error::Object::Qp, qpn);
    let mut found = query(node);
    assert_eq!(found[0xb8..0xc0], made[0xb8..0xc0], "its record");
    // Values that only the mailboxes have set are gone: migration, and the longest message.
    (found[0x1a], found[0x20]) = (0x18, found[0x20] | 30);
    assert_eq!(found, made);
    let cqn = node.cqn;
    let on_cq = sparse(16, &[(0, 4), (1, 2), (11, cqn as u8)]);
    let made = node.bench.execute(&on_cq, 0x110).expect("a context");
    node.bench.firmware.forget_owner(crate::error::Object::Cq, cqn);
    let mut found = node.bench.execute(&on_cq, 0x110).expect("a context");
    found[0x27] = made[0x27];
    assert_eq!(found, made, "all but the event queue");
}

/// UCX leaves the kind of an initiator's receive queue at 0, which is a ring of its own.
#[test]
fn an_initiator_reports_no_receive_queue() {
    let mut nodes = qps(LinkLayer::InfiniBand, DCI);
    assert_eq!(query(&mut nodes[0])[0xc4], 3);
}

/// Linux `drivers/infiniband/hw/mlx5/qp.c`, `MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE`.
#[test]
fn credits_from_end_to_end_have_a_mode() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    let mut input = node.qp_mailbox(&Qp { st: RC, srqn: None });
    input[0x1a] |= 1;
    assert_eq!(node.status(&input), Status::Ok);
}

#[test]
fn reset_brings_back_what_was_created() {
    let mut nodes = qps(LinkLayer::InfiniBand, RC);
    let fresh = query(&mut nodes[0]);
    connect(&mut nodes);
    let [node, _] = &mut nodes;
    assert_ne!(query(node), fresh);
    assert_eq!(node.status(&node.on_qp(0xa)), Status::Ok);
    assert_eq!(query(node), fresh);
}

#[test]
fn receives_in_any_order_are_asked_for_by_the_context() {
    // QPC.dp_ordering_1 is bit 0x49c; UCX sets it from init to RTR, Linux from reset to init.
    for at_init in [true, false] {
        let mut nodes = pair_of(LinkLayer::InfiniBand, Generation::ConnectX7);
        nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st: RC, srqn: None }));
        let [node, peer] = &mut nodes;
        let (mut init, mut rtr) = (node.rst2init(), node.init2rtr(peer));
        let asking = if at_init { &mut init } else { &mut rtr };
        asking[0xab] |= 0x08;
        assert_eq!(node.status(&init), Status::Ok);
        assert_eq!(node.status(&rtr), Status::Ok);
        assert_eq!(query(node)[0xab], 0x08);
        assert_eq!(node.bench.device.query_qp(node.qpn).expect("a QP").attr.out_of_order, Some(true));
    }
}

#[test]
fn an_older_device_has_an_order() {
    let mut nodes = qps(LinkLayer::InfiniBand, RC);
    let [node, _] = &mut nodes;
    let mut init = node.rst2init();
    init[0xab] |= 0x08;
    assert_eq!(node.status(&init), Status::BadParameter);
}

#[test]
fn send_queues_without_a_record_are_those_of_a_connectx_8() {
    // QPC.send_dbr_mode: the upper two bits of the fifth word, which is byte 0x28 of the mailbox.
    for (generation, mode, expected) in [
        (Generation::ConnectX7, 1, Status::BadParameter),
        (Generation::ConnectX8, 1, Status::Ok),
        (Generation::ConnectX8, 2, Status::BadParameter),
        (Generation::ConnectX8, 3, Status::BadParameter),
    ] {
        let mut nodes = pair_of(LinkLayer::InfiniBand, generation);
        let [node, _] = &mut nodes;
        let mut create = node.qp_mailbox(&Qp { st: RC, srqn: None });
        create[0x28] |= mode << 6;
        assert_eq!(node.status(&create), expected, "{generation:?} {mode}");
    }
}

/// The options of enhanced connection establishment: a new QP has the device's, and a peer's may leave fewer.
#[test]
fn ends_negotiate_options() {
    let mut nodes = pair_with(LinkLayer::InfiniBand, |config| config.ece = 0x6);
    let [node, peer] = &mut nodes;
    let word = |bytes: &[u8], at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let ece = |output: &[u8]| word(output, 12);
    let mut create = node.qp_mailbox(&Qp { st: RC, srqn: None });
    create[0x14..0x18].copy_from_slice(&u32::MAX.to_be_bytes());
    let output = node.bench.execute(&create, 16).expect("a QP");
    node.qpn = u32::from_be_bytes([0, output[9], output[10], output[11]]);
    assert_eq!(ece(&output), 0x1000_0006, "all options of the version that the device has");

    let queried = |node: &mut Node| word(&query(node), 0x14);
    for (mut input, wanted, enabled, what) in [
        (node.rst2init(), 5_u32, 0, "no version, so nothing is asked for"),
        (node.init2rtr(peer), 0x1000_000a, 0x1000_0002, "the peer's"),
        (node.rtr2rts(), 0, 0x1000_0002, "none named: they stay"),
        (node.transition(5, &[]), 0x1000_0004, 0x1000_0004, "others"),
    ] {
        input[0x14..0x18].copy_from_slice(&wanted.to_be_bytes());
        assert_eq!(ece(&node.bench.execute(&input, 16).expect(what)), enabled, "{what}");
        assert_eq!(queried(node), enabled, "{what}");
    }
    assert_eq!(node.status(&node.on_qp(0xa)), Status::Ok);
    assert_eq!(queried(node), 0x1000_0006, "reset: as it was created");

    // Without the trigger it has none.
    node.create_qp(&Qp { st: RC, srqn: None });
    assert_eq!(queried(node), 0);
}

/// libmlx5 changes the port without a flag for later additions to contexts (`mlx5dv_modify_qp_udp_sport`).
#[test]
fn a_connection_changes_its_source_port_on_ethernet() {
    const MASK_UDP_SPORT: (usize, &[u8]) = (0x10f, &[1 << 2]);
    for (link, st, status) in [
        (LinkLayer::Ethernet, RC, Status::Ok),
        (LinkLayer::Ethernet, UC, Status::Ok),
        (LinkLayer::InfiniBand, RC, Status::BadParameter),
    ] {
        let mut nodes = qps(link, st);
        connect(&mut nodes);
        let [node, _] = &mut nodes;
        let mut input = node.transition(5, &[(0x52, &[0xd9, 0x03])]);
        input.resize(0x1d0, 0);
        assert_eq!(node.status(&input), Status::Ok, "without its bit, it does not count");
        assert_eq!(query(node)[0x52..0x54], [0, 0]);
        input[MASK_UDP_SPORT.0..][..1].copy_from_slice(MASK_UDP_SPORT.1);
        assert_eq!(node.status(&input), status, "{link:?}, {st}");
        let expected: [u8; 2] = if status == Status::Ok { [0xd9, 0x03] } else { [0, 0] };
        assert_eq!(query(node)[0x52..0x54], expected);
    }
}
