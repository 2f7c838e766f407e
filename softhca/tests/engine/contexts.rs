//! Configurations and contexts at their limits, and beyond them.
//!
//! Impossible configurations and contexts belong here, impossible states in `states.rs`.

use softhca::config::{DeviceConfig, DoorbellSource, Limits, LinkLayer, PortConfig, SrqFaults};
use softhca::context::*;
use softhca::device::{Device, KeyOptions};
use softhca::error::{Error, Object};
use softhca::wire::Address;
use softhca::wire::in_process::Fabric;

use crate::arena::{Arena, BASE};

const BYTES: usize = 1 << 20;
const LIMITS: Limits = Limits {
    max_cqe_log: 8,
    max_wqe_log: 6,
    max_rq_stride_log: 7,
    max_rd_atomic: 4,
    max_msg: 1 << 20,
    max_objects: 100,
    max_mkeys: 100,
};

fn device_of(config: DeviceConfig) -> Result<Device, Error> {
    let wire = Fabric::new().attach(Address { lids: vec![1], gids: vec![], qpns: 2..3 }).unwrap();
    Device::new(config, Box::new(Arena::new(BYTES)), Box::new(wire))
}

fn config() -> DeviceConfig {
    DeviceConfig { limits: LIMITS, ..DeviceConfig::with_port(PortConfig::infiniband(1)) }
}

#[test]
fn configurations_that_no_device_has_are_refused() {
    let limits = |limits| DeviceConfig { limits, ..config() };
    let numbers = |qpn_first, qpn_count| DeviceConfig { qpn_first, qpn_count, ..config() };
    let faults = |page, sequence| DeviceConfig { srq_faults: SrqFaults { page, sequence }, ..config() };
    let ports = |count| DeviceConfig { ports: vec![PortConfig::infiniband(1); count], ..config() };
    let mtu = |active_mtu| DeviceConfig::with_port(PortConfig { active_mtu, ..PortConfig::infiniband(1) });
    for (config, possible) in [
        (numbers(2, 1), true),
        (numbers(2, 0xff_fffd), true),
        (numbers(1, 1), false),
        (numbers(2, 0), false),
        (numbers(2, 0xff_fffe), false),
        (numbers(u32::MAX, u32::MAX), false),
        (faults(600, 400), true),
        (faults(600, 401), false),
        (ports(0), false),
        (ports(255), true),
        (ports(256), false),
        (mtu(256), true),
        (mtu(4096), true),
        (mtu(1000), false),
        (limits(Limits { max_objects: 1, max_mkeys: 1, ..LIMITS }), true),
        (limits(Limits { max_objects: 0, ..LIMITS }), false),
        (limits(Limits { max_objects: 0xff_fffe, ..LIMITS }), true),
        (limits(Limits { max_objects: 0xff_ffff, ..LIMITS }), false),
        (limits(Limits { max_mkeys: 0, ..LIMITS }), false),
        (limits(Limits { max_mkeys: 0xff_0000, ..LIMITS }), false),
    ] {
        let made = device_of(config.clone());
        assert_eq!(made.is_ok(), possible, "{config:?}");
    }
}

/// A device with a UAR page, a domain, and contexts that it accepts.
struct Lab {
    device: Device,
    pd: u32,
    cq: CqContext,
    qp: QpContext,
}

const RING: RqContext = RqContext { buf: BASE + 0x1_0000, log_size: 6, log_stride: 7 };

impl Lab {
    fn new(config: DeviceConfig) -> Self {
        let mut device = device_of(config).unwrap();
        let (uar, pd) = (device.alloc_uar().unwrap(), device.alloc_pd().unwrap());
        let cq = CqContext::new(BASE, 8, BASE + 0x8_0000, uar);
        let cqn = device.create_cq(cq).unwrap();
        let sq = SqContext { buf: BASE + 0x2_0000, log_size: 6, ..SqContext::default() };
        let qp = QpContext {
            pd,
            send_cqn: cqn,
            recv_cqn: cqn,
            sq: Some(sq),
            rq: ReceiveSource::Own(RING),
            dbr: BASE + 0x8_0040,
            uar,
            ..QpContext::new(Transport::Rc)
        };
        Self { device, pd, cq, qp }
    }
}

/// Where the device looks for doorbells, it sees the latest one in a place, which may not be that of another queue.
#[test]
fn a_page_that_is_looked_at_has_one_queue_without_a_record() {
    for (doorbells, has_room) in
        [(DoorbellSource::Registers, false), (DoorbellSource::RungRecords, false), (DoorbellSource::Calls, true)]
    {
        let mut lab = Lab::new(DeviceConfig { doorbells, ..config() });
        let with_record = lab.qp;
        let without = QpContext { sq: lab.qp.sq.map(|sq| SqContext { is_recordless: true, ..sq }), ..lab.qp };
        let first = lab.device.create_qp(without).unwrap();
        let refused = Err(Error::Busy { object: Object::Uar, number: without.uar, users: 1 });
        let second = lab.device.create_qp(without);
        assert_eq!(second.is_ok(), has_room, "{second:?}");
        assert!(has_room || second == refused, "{second:?}");
        lab.device.create_qp(with_record).unwrap();
        lab.device.destroy_qp(first).unwrap();
        lab.device.create_qp(without).unwrap();
    }
}

/// The last byte of each ring is in memory, or not.
#[test]
fn rings_have_the_device_s_sizes_and_lie_in_memory() {
    let end = BASE + BYTES as u64;
    let mut lab = Lab::new(config());
    let good = lab.cq;
    for (cq, possible) in [
        (CqContext { log_size: 9, ..good }, false),
        (CqContext { cqe_bytes: 128, ..good }, true),
        (CqContext { cqe_bytes: 96, ..good }, false),
        (CqContext { buf: BASE + 32, ..good }, false),
        (CqContext { buf: end - (64 << 8), ..good }, true),
        (CqContext { buf: end - (64 << 8) + 64, ..good }, false),
        (CqContext { buf: BASE - 64, ..good }, false),
        (CqContext { dbr: end, ..good }, false),
        (CqContext { uar: 99, ..good }, false),
    ] {
        assert_eq!(lab.device.create_cq(cq).is_ok(), possible, "{cq:?}");
    }
    let eq = EqContext { buf: BASE, log_size: 3, uar: lab.cq.uar, vector: 31, events: [0; 4] };
    for (eq, possible) in [
        (eq, true),
        (EqContext { vector: 32, ..eq }, false),
        (EqContext { log_size: 23, ..eq }, false),
        (EqContext { buf: BASE + 16, ..eq }, false),
        (EqContext { buf: end - 256, ..eq }, false),
    ] {
        assert_eq!(lab.device.create_eq(eq).is_ok(), possible, "{eq:?}");
    }
    let good = lab.qp;
    let sq = good.sq.unwrap();
    let send = |sq| QpContext { sq: Some(sq), ..good };
    let receive = |rq| QpContext { rq: ReceiveSource::Own(rq), ..good };
    for (qp, possible) in [
        (good, true),
        (send(SqContext { log_size: 7, ..sq }), false),
        (send(SqContext { buf: BASE + 32, ..sq }), false),
        (send(SqContext { buf: end - (64 << 6), ..sq }), true),
        (send(SqContext { buf: end - (64 << 6) + 64, ..sq }), false),
        (receive(RqContext { log_size: 7, ..RING }), false),
        (receive(RqContext { log_stride: 8, ..RING }), false),
        (receive(RqContext { log_stride: 4, ..RING }), true),
        (receive(RqContext { log_stride: 3, ..RING }), false),
        (receive(RqContext { buf: BASE + 8, ..RING }), false),
        (receive(RqContext { buf: end - (1 << 13), ..RING }), true),
        (receive(RqContext { buf: end - (1 << 13) + 16, ..RING }), false),
        (QpContext { dbr: end - 4, ..good }, false),
        (QpContext { pd: 99, ..good }, false),
        (QpContext { send_cqn: 99, ..good }, false),
        (QpContext { recv_cqn: 99, ..good }, false),
        (QpContext { uar: 99, ..good }, false),
        (QpContext { rq: ReceiveSource::Shared { srqn: 99 }, ..good }, false),
        (QpContext { scatter_to_cqe_req: 64, scatter_to_cqe_res: 32, ..good }, true),
        (QpContext { scatter_to_cqe_req: 16, ..good }, false),
        (QpContext { scatter_to_cqe_res: 128, ..good }, false),
    ] {
        assert_eq!(lab.device.create_qp(qp).is_ok(), possible, "{qp:?}");
    }
}

#[test]
fn queue_pairs_that_no_service_has_are_refused() {
    let mut lab = Lab::new(config());
    let good = lab.qp;
    let (none, sq) = (ReceiveSource::None, None);
    let cross = |master, slave_send, slave_receive| CrossChannel { master, slave_send, slave_receive };
    let of = |transport| QpContext { transport, ..good };
    for (qp, possible) in [
        (QpContext { rq: none, ..of(Transport::RegUmr) }, true),
        (of(Transport::RegUmr), false),
        (QpContext { rq: none, ..of(Transport::Dc) }, true),
        (of(Transport::Dc), false),
        (QpContext { rq: none, ..of(Transport::Xrc) }, true),
        (of(Transport::Xrc), false),
        (of(Transport::RawPacket), false),
        (QpContext { cross_channel: cross(true, true, true), ..good }, true),
        (QpContext { cross_channel: cross(true, false, false), sq, ..good }, false),
        (QpContext { cross_channel: cross(false, true, false), sq, ..good }, false),
        (QpContext { cross_channel: cross(false, false, true), sq, ..good }, true),
        (QpContext { cross_channel: cross(false, false, true), rq: none, ..good }, false),
        (QpContext { timestamps: TimestampFormat::RealTime, ..good }, false),
        (QpContext { timestamps: TimestampFormat::FreeRunning, ..good }, true),
    ] {
        assert_eq!(lab.device.create_qp(qp).is_ok(), possible, "{qp:?}");
    }
    let time = Some(std::time::Duration::from_secs(1));
    let ports = vec![PortConfig::ethernet(1)];
    let mut lab = Lab::new(DeviceConfig { real_time: time, real_time_only: true, ports, ..config() });
    for (timestamps, possible) in [(TimestampFormat::RealTime, true), (TimestampFormat::FreeRunning, false)] {
        let made = lab.device.create_qp(QpContext { timestamps, ..lab.qp });
        assert_eq!(made.is_ok(), possible, "{timestamps:?}");
    }
}

/// Such a queue changes keys of all domains, and belongs to none.
#[test]
fn a_queue_that_changes_keys_is_no_user_of_a_domain() {
    let mut lab = Lab::new(config());
    let qp = QpContext { transport: Transport::RegUmr, rq: ReceiveSource::None, ..lab.qp };
    // A domain that is made after the queue.
    let qpn = lab.device.create_qp(QpContext { pd: lab.pd + 1, ..qp }).unwrap();
    assert_eq!(lab.device.alloc_pd(), Ok(lab.pd + 1));
    lab.device.destroy_qp(qpn).unwrap();
    lab.device.free_pd(lab.pd + 1).unwrap();
    // One that was there before.
    lab.device.create_qp(qp).unwrap();
    lab.device.free_pd(lab.pd).unwrap();
}

#[test]
fn rates_are_of_queues_of_frames() {
    let mut lab = Lab::new(config());
    let qpn = lab.device.create_qp(lab.qp).unwrap();
    assert!(lab.device.pace(qpn, 0).is_err(), "it sends no frames");
    assert!(lab.device.set_rate(1, None).is_err(), "an InfiniBand port");
    let port = PortConfig { link: LinkLayer::Ethernet, ..PortConfig::ethernet(1) };
    let mut lab = Lab::new(DeviceConfig { limits: LIMITS, ..DeviceConfig::with_port(port) });
    let frames = QpContext { transport: Transport::RawPacket, ..lab.qp };
    let qpn = lab.device.create_qp(frames).unwrap();
    assert!(lab.device.pace(qpn, 0).is_ok());
    assert!(lab.device.pace(qpn, 1).is_err(), "no such rate");
    assert!(lab.device.set_rate(1, None).is_ok());
}

#[test]
fn keys_are_of_the_memory_that_their_lists_have() {
    let mut lab = Lab::new(config());
    let access = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: false };
    let good = MkeyContext { pd: lab.pd, iova: 0, addr: BASE, len: 0x1000, access };
    let (mut count, mut create) =
        (0, |context, backing| lab.device.create_mkey_with(context, KeyOptions::with(backing)).is_ok());
    let piece = KeyPiece { key: 0x100, addr: 0, len: 16 };
    let equal = |log_bytes, count| Backing::EqualPieces { log_bytes, pieces: vec![piece; count] };
    let pages = |log_bytes, count| Backing::Pages { log_bytes, entries: vec![BASE | 3; count] };
    for (context, backing, possible) in [
        (good, Backing::Memory, true),
        (MkeyContext { pd: 99, ..good }, Backing::Memory, false),
        (MkeyContext { access: Access { local_write: false, ..access }, ..good }, Backing::Memory, false),
        (MkeyContext { addr: u64::MAX - 0x1000, ..good }, Backing::Memory, true),
        (MkeyContext { addr: u64::MAX - 0xfff, ..good }, Backing::Memory, false),
        (good, pages(12, 1), true),
        (good, pages(11, 2), false),
        (good, pages(32, 1), false),
        (MkeyContext { len: 0x1001, ..good }, pages(12, 1), false),
        (MkeyContext { iova: 1, ..good }, pages(12, 1), false),
        (MkeyContext { len: 32, ..good }, Backing::Pieces(vec![piece; 2]), true),
        (MkeyContext { len: 33, ..good }, Backing::Pieces(vec![piece; 2]), false),
        (good, Backing::Pieces(vec![piece; 1 << 16]), true),
        (good, Backing::Pieces(vec![piece; (1 << 16) + 1]), false),
        (good, equal(12, 1), true),
        (good, equal(31, 1 << 16), true),
        (good, equal(32, 1), false),
        (good, equal(12, (1 << 16) + 1), false),
    ] {
        count += 1;
        assert_eq!(create(context, backing), possible, "case {count}");
    }
}

#[test]
fn an_srq_has_a_limit_up_to_its_ring_and_numbers_of_24_bits() {
    let mut lab = Lab::new(config());
    let srq = SrqContext { pd: lab.pd, rq: RING, dbr: BASE + 0x8_0080, ..SrqContext::default() };
    let srqn = lab.device.create_srq(srq).unwrap();
    assert!(lab.device.modify_srq_limit(srqn, 64).is_ok() && lab.device.modify_srq_limit(srqn, 65).is_err());
    for (rq, possible) in [
        (RqContext { log_stride: 5, ..RING }, true),
        (RqContext { log_stride: 4, ..RING }, false),
        (RqContext { log_size: 7, ..RING }, false),
    ] {
        assert_eq!(lab.device.create_srq(SrqContext { rq, ..srq }).is_ok(), possible, "{rq:?}");
    }
    let (xrcd, cqn) = (lab.device.alloc_xrcd().unwrap(), lab.qp.send_cqn);
    for (uidx, possible) in [(None, true), (Some((1 << 24) - 1), true), (Some(1 << 24), false)] {
        let xrc = XrcContext { xrcd, cqn, uidx };
        assert_eq!(lab.device.create_xrc_srq(srq, xrc).is_ok(), possible, "{uidx:?}");
        let tags = TagContext { cqn, uidx, log_list: TagContext::MAX_LOG_LIST, rendezvous: false };
        assert_eq!(lab.device.create_tag_srq(srq, tags).is_ok(), possible, "{uidx:?}");
    }
    let tags = TagContext { cqn, uidx: None, log_list: TagContext::MAX_LOG_LIST + 1, rendezvous: false };
    assert!(lab.device.create_tag_srq(srq, tags).is_err());
}

#[test]
fn an_ethernet_port_matches_no_tags() {
    let mut lab = Lab::new(DeviceConfig { ports: vec![PortConfig::ethernet(1)], ..config() });
    let srq = SrqContext { pd: lab.pd, rq: RING, dbr: BASE + 0x8_0080, ..SrqContext::default() };
    let tags = TagContext { cqn: lab.qp.send_cqn, uidx: None, log_list: 5, rendezvous: false };
    let refused = Error::BadValue { what: "log2 of tags on Ethernet", value: 5, permitted: "none" };
    assert_eq!(lab.device.create_tag_srq(srq, tags), Err(refused));
    assert!(lab.device.create_srq(srq).is_ok());
}
