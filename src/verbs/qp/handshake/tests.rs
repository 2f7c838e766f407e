//! Handshakes over sockets, with good peers, bad ones and hostile ones. No device.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use blueflame_sys as sys;

use crate::types::{Psn, Qpn};
use crate::verbs::device::{Gid, GidType};
use crate::verbs::qp::handshake::*;

fn endpoint(last: u8, gid_type: Option<GidType>, mtu: Mtu) -> Endpoint {
    let gid = Gid([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last]);
    Endpoint { lid: 0, gid, gid_type, qpn: Qpn::truncate(last.into()), psn: Psn::random(), mtu, ece: None }
}

fn v2(last: u8) -> Endpoint {
    endpoint(last, Some(GidType::RoceV2), Mtu::B4096)
}

/// Runs one closure at each end of a connection, at the same time, and returns both results.
fn both<A: Send>(a: impl FnOnce(&mut UnixStream) -> A + Send, b: impl FnOnce(&mut UnixStream) -> A + Send) -> (A, A) {
    let (mut left, mut right) = UnixStream::pair().expect("a pair of sockets");
    thread::scope(|scope| {
        let other = scope.spawn(move || b(&mut right));
        (a(&mut left), other.join().expect("no panic"))
    })
}

/// The error of `exchange` with a peer that sends only `bytes`.
fn answer(bytes: &[u8]) -> Error {
    let (mut stream, mut peer) = UnixStream::pair().expect("a pair of sockets");
    peer.write_all(bytes).expect("room for a few bytes");
    peer.shutdown(Shutdown::Write).expect("open");
    exchange(&mut stream, &v2(1), b"").expect_err("not a handshake")
}

/// A good message with one byte changed.
fn changed(at: usize, byte: u8) -> Error {
    let mut bytes = message(&v2(2), UNTOLD, b"data").expect("short");
    bytes[at] = byte;
    answer(&bytes)
}

#[test]
fn both_sides_are_told_and_the_lesser_mtu_is_in_use() {
    let (small, large) = (Endpoint { mtu: Mtu::B1024, ..v2(1) }, v2(2));
    let (at_small, at_large) = both(
        |stream| exchange(stream, &small, b"from the small").and_then(|peer| ready(stream).map(|()| peer)),
        |stream| exchange(stream, &large, &[7; MAX_DATA]).and_then(|peer| ready(stream).map(|()| peer)),
    );
    let told = |endpoint, data: &[u8]| Peer { endpoint, mtu: Mtu::B1024, data: data.to_vec() };
    assert_eq!(at_small.expect("a peer"), told(large, &[7; MAX_DATA]));
    assert_eq!(at_large.expect("a peer"), told(small, b"from the small"));
}

#[test]
fn one_thread_may_play_both_sides_for_nobody_waits_for_a_reader() {
    let (mut left, mut right) = UnixStream::pair().expect("a pair of sockets");
    right.write_all(&message(&v2(2), UNTOLD, b"").expect("short")).expect("room");
    assert_eq!(exchange(&mut left, &v2(1), b"").expect("a peer").endpoint.qpn, Qpn::truncate(2));
    let mut sent = [0; MESSAGE];
    right.read_exact(&mut sent).expect("all of it");
    assert_eq!(sent[..8], MAGIC);
}

#[test]
fn messages_have_these_bytes() {
    let local = v2(9);
    let bytes = message(&local, 2, &[0xaa, 0xbb]).expect("short");
    assert_eq!(bytes[..16], *b"blueflam\x01\x02\x00\x02\0\0\0\0");
    assert_eq!(bytes[16..56], local.to_bytes());
    assert_eq!((&bytes[56..58], &bytes[58..]), (&[0xaa, 0xbb][..], &[0; 206][..]));
}

#[test]
fn too_much_user_data_is_not_sent() {
    let (mut stream, mut peer) = UnixStream::pair().expect("a pair of sockets");
    let error = exchange(&mut stream, &v2(1), &[0; MAX_DATA + 1]).expect_err("too long");
    assert_eq!(error.to_string(), "bytes of user data in a handshake: 209 asked for, 0 to 208 possible");
    drop(stream);
    assert_eq!(peer.read(&mut [0; 1]).expect("the end"), 0);
}

#[test]
fn both_sides_of_a_mismatch_say_both_values() {
    let sides = [Some(GidType::RoceV2), Some(GidType::RoceV1)].map(|kind| endpoint(1, kind, Mtu::B1024));
    let (first, second) = both(|stream| exchange(stream, &sides[0], b""), |stream| exchange(stream, &sides[1], b""));
    let text = |result: Result<Peer, Error>| result.expect_err("a mismatch").to_string();
    let (first, second) = (text(first), text(second));
    assert!(first.starts_with("the GID types differ: RoCE v2 on this side, RoCE v1 on the peer's"), "{first}");
    assert!(second.starts_with("the GID types differ: RoCE v1 on this side, RoCE v2 on the peer's"), "{second}");
    let infiniband = endpoint(1, Some(GidType::Ib), Mtu::B1024);
    let (first, _) = both(|stream| exchange(stream, &infiniband, b""), |stream| exchange(stream, &sides[0], b""));
    let text = first.expect_err("a mismatch").to_string();
    assert!(text.starts_with("the link layers differ: InfiniBand on this side, Ethernet on the peer's"), "{text}");
}

#[test]
fn transports_must_agree_where_both_are_told() {
    let (rc, uc) = (sys::IBV_QPT_RC as u8, sys::IBV_QPT_UC as u8);
    let (first, _) = both(
        |stream| tell_and_hear(stream, &v2(1), &message(&v2(1), rc, b"").expect("short"), rc),
        |stream| tell_and_hear(stream, &v2(2), &message(&v2(2), uc, b"").expect("short"), uc),
    );
    let text = first.expect_err("RC and UC").to_string();
    assert!(text.starts_with("the transports differ: RC on this side, UC on the peer's"), "{text}");
    let (first, second) = both(
        |stream| tell_and_hear(stream, &v2(1), &message(&v2(1), rc, b"").expect("short"), rc),
        |stream| exchange(stream, &v2(2), b""),
    );
    assert!(first.is_ok() && second.is_ok());
}

#[test]
fn a_peer_that_fails_says_so() {
    let (mut stream, mut peer) = UnixStream::pair().expect("a pair of sockets");
    give_up(&mut peer).expect("the stream is open");
    let error = ready(&mut stream).expect_err("the peer failed");
    assert!(matches!(error, Error::PeerFailed), "{error}");
    give_up(&mut peer).expect("the stream is open");
    let error = exchange(&mut stream, &v2(1), b"").expect_err("the peer failed");
    assert!(matches!(error, Error::PeerFailed), "{error}");
}

#[test]
fn what_a_peer_said_before_it_closed_the_stream_is_heard() {
    let (mut stream, mut peer) = UnixStream::pair().expect("a pair of sockets");
    give_up(&mut peer).expect("the stream is open");
    drop(peer);
    let error = ready(&mut stream).expect_err("the peer failed");
    assert!(matches!(error, Error::PeerFailed), "{error}");
    let (mut stream, mut peer) = UnixStream::pair().expect("a pair of sockets");
    let other = endpoint(2, Some(GidType::RoceV1), Mtu::B1024);
    peer.write_all(&message(&other, UNTOLD, b"").expect("short")).expect("room");
    drop(peer);
    let error = exchange(&mut stream, &v2(1), b"").expect_err("a mismatch");
    assert!(matches!(error, Error::Mismatch { .. }), "{error}");
    // A peer that sends nothing.
    let (mut stream, peer) = UnixStream::pair().expect("a pair of sockets");
    drop(peer);
    let error = exchange(&mut stream, &v2(1), b"").expect_err("nobody there");
    assert!(matches!(error, Error::Stream { .. }), "{error}");
}

#[test]
fn other_protocols_are_told_by_their_first_bytes() {
    let error = answer(b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n");
    assert!(matches!(&error, Error::OtherProtocol { first } if first == b"GET / HT"), "{error}");
    assert!(error.to_string().contains(r#"it began with "GET / HT""#), "{error}");
    let error = answer(&[0xff; 4096]);
    assert!(matches!(error, Error::OtherProtocol { first: [0xff, ..] }), "{error}");
}

#[test]
fn truncated_messages_end_with_the_stream() {
    let good = message(&v2(2), UNTOLD, b"data").expect("short");
    for len in [0, 1, 15, 16, 17, 263] {
        let error = answer(&good[..len]);
        let Error::Stream { kind, .. } = &error else { panic!("{len} bytes: {error}") };
        assert_eq!(*kind, io::ErrorKind::UnexpectedEof);
        assert_eq!(error.to_string(), "the peer closed the stream during the handshake");
    }
}

#[test]
fn each_field_is_checked() {
    let value = |error: Error, must: &str, number: u64| match error {
        Error::Decode(DecodeError::Value { field, value, .. }) => assert_eq!((field, value), (must, number)),
        other => panic!("{must}: {other}"),
    };
    assert!(matches!(changed(8, 2), Error::Decode(DecodeError::Version { what: "handshake", is: 2, known: 1 })));
    value(changed(10, 1), "length of user data", 0x104);
    value(changed(11, 209), "length of user data", 209);
    value(changed(12, 3), "state", 3);
    value(changed(13, 3), "reserved part", 3);
    value(changed(263, 4), "reserved part", 4);
    value(changed(16 + 8, 0xff), "queue pair number", 0xff00_0002);
    value(changed(16 + 2, 0xff), "path MTU", 0xff);
    assert!(matches!(changed(16, 9), Error::Decode(DecodeError::Version { what: "endpoint", is: 9, .. })));
}

#[test]
fn nothing_is_read_behind_the_message() {
    let (mut stream, mut peer) = UnixStream::pair().expect("a pair of sockets");
    peer.write_all(&message(&v2(2), UNTOLD, b"").expect("short")).expect("room");
    peer.write_all(b"the application's own").expect("room");
    exchange(&mut stream, &v2(1), b"").expect("a peer");
    let mut rest = [0; 21];
    stream.read_exact(&mut rest).expect("still there");
    assert_eq!(&rest, b"the application's own");
}

#[test]
fn silence_ends_by_the_streams_own_limit() {
    let (mut stream, _peer) = UnixStream::pair().expect("a pair of sockets");
    stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a time");
    let error = exchange(&mut stream, &v2(1), b"").expect_err("nobody answers");
    assert!(error.to_string().contains("within the stream's time limit"), "{error}");
}

/// A peer that sends one byte before each limit of a read is over.
fn dribbles(mut peer: UnixStream, bytes: &[u8], every: Duration) {
    for byte in bytes {
        thread::sleep(every);
        if peer.write_all(&[*byte]).is_err() {
            return;
        }
    }
}

#[test]
fn a_slow_peer_ends_by_the_deadline() {
    let bytes = message(&v2(2), UNTOLD, b"").expect("short");
    for is_blocking in [true, false] {
        let (mut stream, peer) = UnixStream::pair().expect("a pair of sockets");
        stream.set_nonblocking(!is_blocking).expect("a socket");
        // 264 bytes would take more than five seconds. Each of them comes in time for a limit of a read.
        stream.set_read_timeout(Some(Duration::from_millis(200))).expect("a time");
        thread::scope(|scope| {
            scope.spawn(|| dribbles(peer, &bytes, Duration::from_millis(20)));
            let begin = Instant::now();
            let mut limited = Deadline::new(&mut stream, Duration::from_millis(200));
            let error = exchange(&mut limited, &v2(1), b"").expect_err("too slow");
            let took = begin.elapsed();
            assert!(error.to_string().contains("within the stream's time limit"), "{error}");
            assert!(matches!(&error, Error::Stream { kind: io::ErrorKind::TimedOut, .. }), "{error:?}");
            assert!((200..2_000).contains(&took.as_millis()), "{took:?}");
            // The peer's next byte fails.
            drop(stream);
        });
    }
}

#[test]
fn a_deadline_leaves_good_peers_alone() {
    let (at_left, at_right) = both(
        |stream| {
            stream.set_nonblocking(true).expect("a socket");
            let mut limited = Deadline::new(stream, Duration::from_secs(60));
            exchange(&mut limited, &v2(1), b"limited").and_then(|peer| ready(&mut limited).map(|()| peer))
        },
        |stream| exchange(stream, &v2(2), b"unlimited").and_then(|peer| ready(stream).map(|()| peer)),
    );
    assert_eq!(at_left.expect("a peer").data, b"unlimited");
    assert_eq!(at_right.expect("a peer").data, b"limited");
    // The end of the stream is no silence.
    let (mut stream, peer) = UnixStream::pair().expect("a pair of sockets");
    drop(peer);
    let mut limited = Deadline::new(&mut stream, Duration::from_secs(60));
    assert_eq!(limited.read(&mut [0]).expect("the end"), 0);
}

#[test]
fn a_write_without_a_reader_ends_by_the_deadline() {
    let (mut stream, _peer) = UnixStream::pair().expect("a pair of sockets");
    stream.set_nonblocking(true).expect("a socket");
    let mut limited = Deadline::new(&mut stream, Duration::from_millis(50));
    let error = limited.write_all(&vec![0; 16 << 20]).expect_err("more than a socket buffers");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

proptest::proptest! {
    #[test]
    fn whatever_is_changed_is_refused_or_has_a_meaning(
        changes in proptest::collection::vec((0..MESSAGE, proptest::num::u8::ANY), 0..4),
    ) {
        let mut all = message(&v2(2), 2, b"data").expect("short");
        for (at, byte) in changes {
            all[at] = byte;
        }
        let read = opened(&all[..HEADER]).and_then(|_| Ok(decode(&v2(1), &all)?));
        if let Ok((peer, transport)) = read {
            proptest::prop_assert_eq!(message(&peer.endpoint, transport, &peer.data).expect("short"), all);
        }
    }
}
