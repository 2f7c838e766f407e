//! Devices, ports, memory, and the agreement of two sides.
//!
//! The device itself belongs here, objects made on it in the file of each.

use std::ptr::NonNull;

use blueflame::cq::Side;
use blueflame::transport;
use blueflame::types::{Psn, WrId};
use blueflame::verbs::device::{LinkLayer, Mtu};
use blueflame::verbs::memory::{POOL_ALIGN, RawMemory};
use blueflame::verbs::{Access, Buffer, Device, Error, Pool, device_names};
use blueflame::wqe;

use crate::end::end;
use crate::on_device::device;

#[test]
fn devices_are_found_by_name() {
    let device = device();
    let names = device_names().expect("a list");
    assert!(names.iter().any(|name| name == device.name()), "{names:?}");
    assert_eq!(Device::open(device.name()).expect("open").name(), device.name());
    let missing = Device::open("no_such_device").expect_err("there is none");
    assert_eq!(missing, Error::UnknownDevice { name: "no_such_device".into(), known: names.clone() });
    assert!(missing.to_string().contains(&names[0]), "{missing}");
}

#[test]
fn ports_and_gids_are_described() {
    let device = device();
    let attr = device.attr();
    assert!(attr.ports >= 1 && attr.max_qp_wr > 0 && attr.max_cqe > 0, "{attr:?}");
    let port = device.port(1).expect("port 1");
    assert!(port.active_mtu <= port.max_mtu);
    if port.link_layer == LinkLayer::InfiniBand {
        assert_ne!(port.lid, 0);
    }
    let gids = device.gids(&port).expect("GIDs");
    assert!(gids.contains(&device.default_gid(&port).expect("a GID")));
    for number in [0, attr.ports + 1] {
        let error = device.port(number).expect_err("no such port");
        assert_eq!(error, Error::NoPort { port: number, ports: attr.ports });
    }
}

#[test]
fn pools_hand_out_disjoint_aligned_pieces() {
    let pd = device().protection_domain().expect("a PD");
    let mut pool = Pool::new(&pd, 10_000, Access::ALL | Access::RELAXED_ORDERING).expect("a pool");
    let capacity = pool.capacity();
    assert!(capacity >= 10_000 && capacity % 4096 == 0, "{capacity} on {:?}", pool.pages());
    let (mut first, mut second) = (pool.take(100).expect("room"), pool.take(1).expect("room"));
    assert_eq!(first.addr() % POOL_ALIGN as u64, 0);
    assert_eq!((second.addr() - first.addr(), first.len(), second.len()), (POOL_ALIGN as u64, 100, 1));
    assert_eq!(pool.remaining(), capacity - 2 * POOL_ALIGN);
    first.fill(1);
    second.fill(2);
    let mut bytes = [0; 100];
    first.read(0, &mut bytes);
    assert_eq!(bytes, [1; 100]);
    let rest = pool.remaining() as u64;
    for bytes in [0, pool.remaining() + 1] {
        let error = pool.take(bytes).expect_err("out of range");
        assert!(
            matches!(error, Error::OutOfRange { value, max, .. } if value == bytes as u64 && max == rest),
            "{error}"
        );
    }
    let chunks = pool.take(1000).expect("room").chunks(300);
    assert_eq!(chunks.iter().map(Buffer::len).collect::<Vec<_>>(), [300, 300, 300]);
    assert_eq!(chunks[1].addr() - chunks[0].addr(), 300);
    drop(pool);
    assert_eq!(chunks[2].lkey(), first.lkey(), "one registration for all");
}

#[test]
fn bad_registrations_say_why() {
    let pd = device().protection_domain().expect("a PD");
    // SAFETY: no bytes, of which nobody can make use.
    let nothing = unsafe { RawMemory::new(NonNull::dangling(), 0) };
    let error = pd.register(nothing, Access::LOCAL_WRITE).expect_err("no bytes");
    assert!(matches!(error, Error::OutOfRange { value: 0, min: 1, .. }), "{error}");
}

#[test]
fn sizes_are_checked_before_the_call() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let attr = device.attr();
    let error = device.completion_queue(attr.max_cqe + 1).build().expect_err("too many");
    assert!(matches!(error, Error::OutOfRange { what: "CQEs", .. }), "{error}");
    let error = device.completion_queue(1).cqe_bytes(32).build().expect_err("no such CQE");
    assert_eq!(error, Error::CqeBytes { bytes: 32 });
    let cq = device.completion_queue(4).build().expect("a CQ");
    let error = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(attr.max_qp_wr + 1).build().expect_err("too many");
    assert!(matches!(error, Error::OutOfRange { what: "requests of a send queue", .. }), "{error}");
    let error = pd.shared_recv_queue(attr.max_srq_wr + 1, 1).expect_err("too many");
    assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
}

#[test]
fn a_path_mtu_is_the_smaller_of_both_sides() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = (end::<transport::Rc>(&device, &pd), end::<transport::Rc>(&device, &pd));
    let mut small = device.path(1, None).expect("a path");
    small.mtu = Mtu::B256;
    let large = device.path(1, None).expect("a path");
    let (at_a, at_b) = (a.qp.endpoint_with(&small, Psn::truncate(5)), b.qp.endpoint_with(&large, Psn::truncate(6)));
    a.qp.to_init(&small).expect("INIT");
    b.qp.to_init(&large).expect("INIT");
    a.connect(&small, &at_a, &at_b).expect("connect");
    b.connect(&large, &at_b, &at_a).expect("connect");
    b.post_receive(1);
    a.buffer.fill(0x5a);
    a.post(&wqe::send().gather([a.buffer.sge_of(0..1000)]).signaled(WrId(2)));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), 1000));
    a.completion();
    assert_eq!(b.bytes(1000), [0x5a; 1000]);
}
