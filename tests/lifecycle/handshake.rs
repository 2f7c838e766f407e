//! Connecting over a stream, and the paths of connections.
//!
//! The exchange of endpoints belongs here, the states of queue pairs in `states.rs`.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use blueflame::encoding::DecodeError;
use blueflame::memory_polling::InOrder;
use blueflame::types::WrId;
use blueflame::verbs::device::{LinkLayer, Mtu};
use blueflame::verbs::handshake::{MAX_DATA, Peer};
use blueflame::verbs::{Device, Error, Path, QpState};
use blueflame::{Remote, transport, wqe};

use crate::end::{End, connected};
use crate::on_device::{device, wait_for};

fn usual_path(device: &Device) -> Path {
    device.path(1, None).expect("port 1 is up")
}

/// Both ends connect at the same time, each with its own path.
fn connect_over(a: &mut End, at: &Path, b: &mut End, bt: &Path) -> [Result<Peer, Error>; 2] {
    let (mut left, mut right) = UnixStream::pair().expect("a pair of sockets");
    let (remote_a, remote_b) = (a.buffer.remote().to_bytes(), b.buffer.remote().to_bytes());
    thread::scope(|scope| {
        let other = scope.spawn(|| b.pair.connect_over(&mut right, bt, &remote_b));
        [a.pair.connect_over(&mut left, at, &remote_a), other.join().expect("no panic")]
    })
}

#[test]
fn two_sides_of_a_stream_connect_and_write() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = usual_path(&device);
    let small = Path { mtu: Mtu::B512, ..path.clone() };
    let (mut a, mut b) = (End::<transport::Rc>::new(&device, &pd), End::<transport::Rc>::new(&device, &pd));
    let [from_b, from_a] = connect_over(&mut a, &path, &mut b, &small).map(|peer| peer.expect("connected"));
    assert_eq!((from_b.mtu, from_a.mtu), (Mtu::B512, Mtu::B512));
    assert_eq!((from_b.endpoint.qpn, from_a.endpoint.qpn), (b.pair.qp.qpn(), a.pair.qp.qpn()));
    assert_eq!(a.pair.qp.state(), Ok(QpState::ReadyToSend));
    let theirs = Remote::from_bytes(&from_b.data).expect("where to write");
    assert_eq!(theirs, b.buffer.remote());
    a.pair.sq.post(&wqe::write(theirs).inline(b"over a stream").signaled(WrId(7))).expect("room");
    wait_for("the WRITE", || {
        let cqe = a.cq.poll()?;
        cqe.check().expect("a success");
        Some(a.pair.sq.retire(&cqe).expect("outstanding"))
    });
    let mut bytes = [0; 13];
    b.buffer.read(0, &mut bytes);
    assert_eq!(&bytes, b"over a stream");
}

#[test]
fn the_peers_side_polls_its_memory() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = usual_path(&device);
    let (mut a, mut b) = (End::<transport::Rc>::new(&device, &pd), End::<transport::Rc>::new(&device, &pd));
    let [from_b, _] = connect_over(&mut a, &path, &mut b, &path).map(|peer| peer.expect("connected"));
    // libibverbs promises it on x86 alone.
    let order = b.pair.qp.writes_in_order().filter(|_| cfg!(target_arch = "x86_64")).unwrap_or(InOrder::assumed());
    let (place, far) = (b.buffer.polled(64..72, order), Remote::from_bytes(&from_b.data).expect("where to write"));
    for flag in 1..=200 {
        let message = [flag ^ 1, flag ^ 2, flag ^ 3, flag ^ 4, flag ^ 5, flag ^ 6, flag ^ 7, flag];
        a.pair.sq.post(&wqe::write(far.at(64)).inline(&message).signaled(WrId(flag.into()))).expect("room");
        wait_for("the message", || place.arrived(flag).then_some(()));
        let mut payload = [0; 7];
        place.read(0, &mut payload).expect("all of it");
        assert_eq!(payload, message[..7]);
        wait_for("the completion", || a.cq.poll().map(|cqe| a.pair.sq.retire(&cqe).expect("outstanding")));
    }
    assert!(b.cq.poll().is_none(), "the peer has no completion of it");
}

#[test]
fn receives_may_be_posted_before() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = usual_path(&device);
    let (mut a, mut b) = (End::<transport::Rc>::new(&device, &pd), End::<transport::Rc>::new(&device, &pd));
    b.pair.qp.to_init(&path).expect("INIT");
    b.post_receive(5);
    let [_, _] = connect_over(&mut a, &path, &mut b, &path).map(|peer| peer.expect("connected"));
    a.pair.sq.post(&wqe::send().inline(b"hello").signaled(WrId(1))).expect("room");
    wait_for("the receive", || {
        let cqe = b.cq.poll()?;
        cqe.check().expect("a success");
        assert_eq!(b.pair.rq.retire(&cqe), Ok(WrId(5)));
        Some(())
    });
}

#[test]
fn queue_pairs_of_two_transports_do_not_connect() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = usual_path(&device);
    let (mut rc, mut uc) = (End::<transport::Rc>::new(&device, &pd), End::<transport::Uc>::new(&device, &pd));
    let (mut left, mut right) = UnixStream::pair().expect("a pair of sockets");
    let [at_rc, at_uc] = thread::scope(|scope| {
        let other = scope.spawn(|| uc.pair.connect_over(&mut right, &path, &[]));
        [rc.pair.connect_over(&mut left, &path, &[]), other.join().expect("no panic")]
    });
    for (result, here, there) in [(at_rc, "RC", "UC"), (at_uc, "UC", "RC")] {
        let Err(error) = result else { panic!("{result:?}") };
        assert_eq!(error, Error::Mismatch { what: "transports", local: here.into(), remote: there.into() });
    }
    assert_eq!(rc.pair.qp.state(), Ok(QpState::Init));
}

#[test]
fn a_side_that_cannot_connect_tells_the_other() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = usual_path(&device);
    let bad = Path { retry_cnt: 9, ..path.clone() };
    let (mut a, mut b) = (End::<transport::Rc>::new(&device, &pd), End::<transport::Rc>::new(&device, &pd));
    let [good, wrong] = connect_over(&mut a, &path, &mut b, &bad);
    assert!(matches!(wrong, Err(Error::OutOfRange { what: "retry count", .. })), "{wrong:?}");
    assert!(matches!(good, Err(Error::PeerFailed)), "{good:?}");
    // Found when the two know each other: a queue that another library has reset meanwhile.
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    let [wrong, also] = connect_over(&mut a, &path, &mut b, &path);
    for result in [wrong, also] {
        assert!(matches!(result, Err(Error::WrongState { .. } | Error::PeerFailed)));
    }
}

#[test]
fn a_peer_that_was_not_understood_is_told() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut a = End::<transport::Rc>::new(&device, &pd);
    let (mut left, mut right) = UnixStream::pair().expect("a pair of sockets");
    // A good header, and then an endpoint of version 0.
    let mut message = [0; 264];
    message[..9].copy_from_slice(b"blueflam\x01");
    right.write_all(&message).expect("room");
    let error = a.pair.connect_over(&mut left, &usual_path(&device), &[]).expect_err("not understood");
    let decode = DecodeError::Version { what: "endpoint", is: 0, known: 1 };
    assert!(matches!(error, Error::Decode(is) if is == decode), "{error}");
    let mut answer = [0; 264 + 16];
    right.read_exact(&mut answer).expect("a message, and that it failed");
    assert_eq!((&answer[264..273], answer[264 + 12]), (&b"blueflam\x01"[..], 1));
}

#[test]
fn more_user_data_than_fits_fails_on_both_sides() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = usual_path(&device);
    let (mut a, mut b) = (End::<transport::Rc>::new(&device, &pd), End::<transport::Rc>::new(&device, &pd));
    let (mut left, mut right) = UnixStream::pair().expect("a pair of sockets");
    let [long, other] = thread::scope(|scope| {
        let other = scope.spawn(|| b.pair.connect_over(&mut right, &path, &[]));
        [a.pair.connect_over(&mut left, &path, &[0; MAX_DATA + 1]), other.join().expect("no panic")]
    });
    assert!(matches!(long, Err(Error::OutOfRange { value: 209, max: 208, .. })), "{long:?}");
    assert!(matches!(other, Err(Error::PeerFailed)), "{other:?}");
}

#[test]
fn paths_say_what_is_wrong_with_port_and_index() {
    let device = device();
    let attr = device.attr();
    let path = usual_path(&device);
    let port = device.port(1).expect("port 1");
    let usual = match port.link_layer {
        LinkLayer::Ethernet => Some(device.default_gid(&port).expect("a GID")),
        LinkLayer::InfiniBand => None,
    };
    assert_eq!(path, Path::new(port, usual));
    let gids = device.gids(&port).expect("GIDs");
    let chosen = device.path(1, Some(gids[0].index)).expect("in use");
    assert_eq!(chosen.sgid, Some(gids[0]));
    for number in [0, attr.ports + 1] {
        let error = device.path(number, None).expect_err("no such port");
        assert!(matches!(error, Error::NoPort { .. }), "{error}");
    }
    if let Ok(beyond) = u8::try_from(port.gid_tbl_len) {
        let max = u64::from(beyond) - 1;
        let error = device.path(1, Some(beyond)).expect_err("beyond the table");
        assert_eq!(error, Error::OutOfRange { what: "GID index", value: max + 1, min: 0, max });
    }
    let empty = (0..=u8::MAX)
        .find(|index| u32::from(*index) < port.gid_tbl_len && gids.iter().all(|entry| entry.index != *index));
    if let Some(index) = empty {
        let error = device.path(1, Some(index)).expect_err("empty");
        assert_eq!(error, Error::EmptyGid { port: 1, index });
        assert!(error.to_string().contains(&format!("entry {index} of the GID table of port 1 is empty")), "{error}");
    }
}
