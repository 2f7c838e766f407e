//! Targets of dynamic connections, by mailboxes whose bytes are computed by hand from Linux' `mlx5_ifc.h`.

use crate::config::{DeviceConfig, LinkLayer, PortConfig};
use crate::context::{CqContext, QpAttr, QpContext, QpState, RqContext, SqContext, SrqContext, Transport};
use crate::event::{DctEvent, Event};
use crate::firmware::owners::{DRIVER, Uid};
use crate::firmware::pair_bench::{Qp, SRQ_RECORD, data_seg, pair, settle, sparse};
use crate::firmware::status::Status;
use crate::firmware::test_bench::Bench;
use crate::memory::test_memory::BASE;
use std::time::Duration;

const KEY: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
/// Page of the doorbell records, of the SRQ's ring and of the send ring.
const RECORDS: u64 = BASE + 20 * 4096;
const SRQ_RING: u64 = BASE + 21 * 4096;
const SEND_RING: u64 = BASE + 22 * 4096;
const CQ_RING: u64 = BASE + 23 * 4096;

/// Numbers of PD, CQ, SRQ and UAR page.
struct Parts {
    bench: Bench,
    pd: u32,
    cqn: u32,
    srqn: u32,
    uar: u32,
}

fn parts() -> Parts {
    parts_of(Bench::new())
}

fn parts_of(mut bench: Bench) -> Parts {
    let device = &mut bench.device;
    let uar = device.alloc_uar().expect("a UAR page");
    let pd = device.alloc_pd().expect("a PD");
    let cq = CqContext::new(CQ_RING, 4, RECORDS, uar);
    let cqn = device.create_cq(cq).expect("a CQ");
    let rq = RqContext { buf: SRQ_RING, log_size: 4, log_stride: 6 };
    let srqn = device.create_srq(SrqContext { pd, rq, dbr: RECORDS + 64, ..SrqContext::default() }).expect("an SRQ");
    Parts { bench, pd, cqn, srqn, uar }
}

/// `CREATE_DCT` with the fields that Linux' driver sets.
fn create(parts: &Parts, uid: Uid) -> Vec<u8> {
    let mut bytes = vec![0; 0x80];
    bytes[..4].copy_from_slice(&[0x07, 0x10, (uid.0 >> 8) as u8, uid.0 as u8]);
    let context = &mut bytes[0x10..];
    context[4..8].copy_from_slice(&0x45_6789_u32.to_be_bytes());
    context[8..12].copy_from_slice(&parts.cqn.to_be_bytes());
    // Counters 9; atomic mode 2; reads, writes, atomics.
    context[0x0c..0x0e].copy_from_slice(&[9, 2 << 4 | 0b1110]);
    context[0x12] = 12;
    context[0x14..0x18].copy_from_slice(&parts.srqn.to_be_bytes());
    context[0x18..0x1c].copy_from_slice(&parts.pd.to_be_bytes());
    context[0x1c..0x20].copy_from_slice(&[0x60, 0x0a, 0xbc, 0xde]);
    context[0x20..0x28].copy_from_slice(&KEY);
    // MTU 4096, port 1, P_Key index 0; GID index 0, hop limit 64; Ethernet priority 3, DSCP 5.
    context[0x28..0x30].copy_from_slice(&[5, 1, 0, 0, 0, 0, 0, 64]);
    context[0x36..0x38].copy_from_slice(&[3, 5]);
    bytes
}

/// A command that names a DCT and nothing else.
fn on(opcode: u8, uid: Uid, dctn: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&[0x07, opcode, (uid.0 >> 8) as u8, uid.0 as u8]);
    bytes[8..12].copy_from_slice(&dctn.to_be_bytes());
    bytes
}

fn dctn(output: &[u8]) -> u32 {
    u32::from_be_bytes([0, output[9], output[10], output[11]])
}

#[test]
fn a_target_is_what_it_was_created_from() {
    let mut parts = parts();
    let input = create(&parts, DRIVER);
    let number = dctn(&parts.bench.execute(&input, 16).expect("a DCT"));
    let info = parts.bench.device.query_dct(number).expect("it is there");
    let c = info.context;
    assert_eq!((c.pd, c.cqn, c.srqn, c.uidx), (parts.pd, parts.cqn, parts.srqn, 0x45_6789));
    assert_eq!((c.access_key, c.mtu, c.port, c.min_rnr_timer), (0x0102_0304_0506_0708, 4096, 1, 12));
    assert!(c.access.remote_read && c.access.remote_write && c.access.remote_atomic);
    assert_eq!(c.extended_atomics, 8);
    assert_eq!((c.traffic_class, c.flow_label, c.hop_limit), (0x60, 0xa_bcde, 64));
    let output = parts.bench.execute(&on(0x13, DRIVER, number), 0x80).expect("a context");
    assert_eq!(output[0x10..0x50], input[0x10..0x50]);
    // A target made on the device itself reads the same, except for the fields that the device does not know.
    let other = parts.bench.device.create_dct(c).expect("another");
    let output = parts.bench.execute(&on(0x13, DRIVER, other), 0x80).expect("a context");
    let mut expected = input[0x10..0x50].to_vec();
    expected[0x0c] = 0;
    expected[0x36..0x38].fill(0);
    assert_eq!(output[0x10..0x50], expected);
}

/// `atomic_mode` 0 is none, and `rae` is the right to use the mode: Linux and UCX set both (`mlx5_ib_modify_dct`;
/// `uct_dc_mlx5_iface_devx_create_dct`).
#[test]
fn a_target_answers_atomics_by_right_and_mode() {
    let mut parts = parts();
    for (mode, right, answers) in [(2, true, true), (2, false, false), (0, true, false), (0, false, false)] {
        let mut input = create(&parts, DRIVER);
        input[0x1d] = mode << 4 | 0b1100 | u8::from(right) << 1;
        let number = dctn(&parts.bench.execute(&input, 16).expect("a DCT"));
        let access = parts.bench.device.query_dct(number).expect("it is there").context.access;
        assert_eq!(access.remote_atomic, answers, "mode {mode}, right {right}");
    }
}

/// Linux and UCX have the options in different words.
#[test]
fn a_target_accepts_the_options_of_the_device() {
    for (at, wanted, accepted) in
        [(0x4c, 0x1000_0006_u32, 0x1000_0002_u32), (0x50, u32::MAX, 0x1000_0003), (0x4c, 7, 0)]
    {
        let config = DeviceConfig { ece: 3, ..DeviceConfig::with_port(PortConfig::infiniband(1)) };
        let mut parts = parts_of(Bench::of(config));
        let mut input = create(&parts, DRIVER);
        input[at..at + 4].copy_from_slice(&wanted.to_be_bytes());
        let output = parts.bench.execute(&input, 16).expect("a DCT");
        assert_eq!(output[12..], accepted.to_be_bytes());
        let context = parts.bench.execute(&on(0x13, DRIVER, dctn(&output)), 0x80).expect("a context");
        assert_eq!(context[0x4c..0x50], accepted.to_be_bytes());
    }
}

/// Packets by LID need no GID.
#[test]
fn a_target_has_a_gid_of_its_port_unless_it_is_reached_by_lid() {
    for (port, index, expected) in [
        (PortConfig::infiniband(1), 0, Ok(())),
        (PortConfig::infiniband(1), 1, Err(Status::BadParameter)),
        (PortConfig::ethernet(1), 0, Err(Status::BadParameter)),
        (PortConfig::ethernet(1), 1, Err(Status::BadParameter)),
    ] {
        let link = port.link;
        let mut parts = parts_of(Bench::of(DeviceConfig::with_port(PortConfig { gids: vec![], ..port })));
        let mut input = create(&parts, DRIVER);
        input[0x3d] = index;
        assert_eq!(parts.bench.execute(&input, 16).map(drop), expected, "{link:?}, index {index}");
    }
}

#[test]
fn a_drained_target_tells_and_can_be_destroyed() {
    let mut parts = parts();
    let input = create(&parts, DRIVER);
    let number = dctn(&parts.bench.execute(&input, 16).expect("a DCT"));
    assert!(parts.bench.device.destroy_cq(parts.cqn).is_err(), "the target uses it");
    let state = |parts: &mut Parts| parts.bench.execute(&on(0x13, DRIVER, number), 0x80).expect("a context")[0x10];
    assert_eq!(state(&mut parts), 0);
    assert!(parts.bench.execute(&on(0x12, DRIVER, number), 16).is_ok());
    assert_eq!(state(&mut parts), 1);
    while parts.bench.device.step(Duration::ZERO) {}
    assert_eq!(state(&mut parts), 2);
    let drained = Event::Dct { dctn: number, kind: DctEvent::Drained };
    assert_eq!(parts.bench.device.next_event(), Some(drained));
    assert!(parts.bench.execute(&on(0x11, DRIVER, number), 16).is_ok());
    for opcode in [0x11, 0x12, 0x13, 0x14] {
        assert_eq!(parts.bench.execute(&on(opcode, DRIVER, number), 0x80), Err(Status::BadResource));
    }
    assert!(parts.bench.device.destroy_cq(parts.cqn).is_ok());
}

/// An initiator on the same device that is ready to send.
fn initiator(parts: &mut Parts) -> u32 {
    let device = &mut parts.bench.device;
    let context = QpContext {
        pd: parts.pd,
        send_cqn: parts.cqn,
        recv_cqn: parts.cqn,
        sq: Some(SqContext { buf: SEND_RING, log_size: 4, ..SqContext::default() }),
        dbr: RECORDS + 128,
        uar: parts.uar,
        ..QpContext::new(Transport::Dc)
    };
    let qpn = device.create_qp(context).expect("a DCI");
    let none = QpAttr::default();
    for attr in [
        QpAttr { state: Some(QpState::Init), pkey_index: Some(0), port: Some(1), ..none },
        QpAttr { state: Some(QpState::Rtr), path_mtu: Some(1024), ..none },
        QpAttr {
            state: Some(QpState::Rts),
            sq_psn: Some(0),
            timeout: Some(10),
            retry_cnt: Some(1),
            rnr_retry: Some(1),
            max_rd_atomic: Some(1),
            ..none
        },
    ] {
        device.modify_qp(qpn, &attr).expect("a state");
    }
    qpn
}

/// A write of no bytes to the target, which must be permitted all the same.
fn post(parts: &mut Parts, qpn: u32, index: u16, dctn: u32, key: [u8; 8]) -> Vec<u8> {
    let mut wqe = vec![0; 48];
    wqe[..4].copy_from_slice(&(u32::from(index) << 8 | 0x08).to_be_bytes());
    wqe[4..8].copy_from_slice(&(qpn << 8 | 3).to_be_bytes());
    wqe[11] = 8;
    wqe[16..24].copy_from_slice(&key);
    wqe[24..28].copy_from_slice(&dctn.to_be_bytes());
    wqe[30..32].copy_from_slice(&[0, 1]);
    let device = &mut parts.bench.device;
    let memory = device.host_memory();
    memory.write(SEND_RING + 64 * u64::from(index), &wqe).expect("the ring");
    memory.write(RECORDS + 128 + 4, &(u32::from(index) + 1).to_be_bytes()).expect("the record");
    device.doorbell(parts.uar, 0x800, &wqe[..8]);
    for time in 0..100 {
        while device.step(Duration::from_micros(100 * time)) {}
    }
    let mut cqe = vec![0; 64];
    device.host_memory().read(CQ_RING + 64 * u64::from(index), &mut cqe).expect("the CQ");
    cqe
}

#[test]
fn key_violations_are_counted_and_tell_once_when_armed() {
    let mut parts = parts();
    let input = create(&parts, DRIVER);
    let number = dctn(&parts.bench.execute(&input, 16).expect("a DCT"));
    let qpn = initiator(&mut parts);
    assert_eq!(post(&mut parts, qpn, 0, number, KEY)[63], 0, "done");
    assert!(parts.bench.execute(&on(0x14, DRIVER, number), 16).is_ok());
    let cqe = post(&mut parts, qpn, 1, number, [0; 8]);
    assert_eq!((cqe[63], cqe[55]), (0xd2, 0x13), "remote access error");
    let events: Vec<_> = std::iter::from_fn(|| parts.bench.device.next_event()).collect();
    assert_eq!(events, [Event::Dct { dctn: number, kind: DctEvent::KeyViolation }]);
    let output = parts.bench.execute(&on(0x13, DRIVER, number), 0x80).expect("a context");
    assert_eq!(output[0x40..0x44], [0, 0, 0, 1], "dc_access_key_violation_count");
}

/// An initiator and a target that both are made by commands, each on its own device.
#[test]
fn an_initiator_of_commands_reaches_a_target_of_commands() {
    for link in [LinkLayer::InfiniBand, LinkLayer::Ethernet] {
        let mut nodes = pair(link);
        let [node, peer] = &mut nodes;
        let srq = SrqContext {
            pd: peer.pd,
            rq: RqContext { buf: SRQ_RING, log_size: 4, log_stride: 6 },
            dbr: SRQ_RECORD,
            ..SrqContext::default()
        };
        let srqn = peer.bench.device.create_srq(srq).expect("an SRQ");
        let mut dct = sparse(0x80, &[(0, 7), (1, 0x10), (0x1d, 0x0e), (0x22, 12), (0x38, 3), (0x39, 1), (0x3f, 64)]);
        dct[0x18..0x1c].copy_from_slice(&peer.cqn.to_be_bytes());
        dct[0x1d] = 3 << 4 | 0x0e;
        dct[0x24..0x28].copy_from_slice(&srqn.to_be_bytes());
        dct[0x28..0x2c].copy_from_slice(&peer.pd.to_be_bytes());
        dct[0x30..0x38].copy_from_slice(&KEY);
        let dctn = peer.number(&dct);
        // One receive: its WQE links to the next, and holds one buffer.
        peer.write(SRQ_RING + 2, &[0, 1]);
        peer.write(SRQ_RING + 16, &data_seg(BASE + 0x4000, 0x1000, peer.key));
        peer.write(SRQ_RING + 32, &data_seg(0, 0, 0x100));
        peer.write(SRQ_RECORD, &[0, 0, 0, 1]);

        node.create_qp(&Qp { st: 5, srqn: None });
        for input in [node.rst2init(), node.init2rtr(peer), node.rtr2rts()] {
            assert_eq!(node.status(&input), Status::Ok, "opcode {:#x}", input[1]);
        }
        let mut body = vec![0; 48];
        body[..8].copy_from_slice(&KEY);
        body[8..12].copy_from_slice(&(dctn | 1 << 31).to_be_bytes());
        body[15] = if link == LinkLayer::InfiniBand { peer.lid } else { 0 };
        body[27] = 64;
        body[32..48].copy_from_slice(&peer.gid);
        body.extend(data_seg(BASE + 0x100, 3000, node.key));
        node.write(BASE + 0x100, &[0x5a; 3000]);
        node.post(0x0a, &body, false);
        settle(&mut nodes);
        let [node, peer] = &mut nodes;
        let cqe = node.poll().expect("sent");
        assert_eq!((cqe[63] >> 4, cqe[57..60].to_vec()), (0, node.qpn.to_be_bytes()[1..].to_vec()));
        let cqe = peer.poll().expect("received");
        assert_eq!((cqe[63] >> 4, cqe[57..60].to_vec()), (2, dctn.to_be_bytes()[1..].to_vec()));
        assert_eq!(cqe[25..28], node.qpn.to_be_bytes()[1..], "whom it comes from");
        assert_eq!(peer.read(BASE + 0x4000, 3000), [0x5a; 3000]);
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let mut parts = parts();
    let good = create(&parts, DRIVER);
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[0x10 + at] = value;
        bytes
    };
    for (input, what) in [
        (with(0x00, 1), "state"),
        (with(0x0d, 5 << 4), "atomics on 32 bytes"),
        (with(0x0d, 1), "atomics like writes"),
        (with(0x0e, 0x40), "receives by the reserved key"),
        (with(0x11, 1), "small messages of 32 bytes"),
        (with(0x28, 0), "an MTU of 128"),
        (with(0x28, 6), "an MTU of 8192"),
        (with(0x29, 2), "port 2"),
        (with(0x2b, 7), "P_Key 7"),
        (with(0x2d, 7), "GID 7"),
        (with(0x03, 1), "an offload"),
    ] {
        assert_eq!(parts.bench.execute(&input, 16), Err(Status::BadParameter), "{what}");
    }
    for at in [0x0b, 0x17, 0x1b] {
        assert_eq!(parts.bench.execute(&with(at, 99), 16), Err(Status::BadResource), "CQ, SRQ, PD: byte {at:#x}");
    }
    // The objects are the driver's, and so is the target.
    let user = parts.bench.user();
    assert_eq!(parts.bench.execute(&create(&parts, user), 16), Err(Status::BadResource));
    let number = dctn(&parts.bench.execute(&good, 16).expect("a DCT"));
    for opcode in [0x11, 0x12, 0x13, 0x14] {
        assert_eq!(parts.bench.execute(&on(opcode, user, number), 0x80), Err(Status::BadResource));
    }
}
