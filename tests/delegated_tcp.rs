//! Delegated sends against the TCP of Linux: both ends are sockets of the kernel, and the delegated segments are frames
//! of this crate, which a packet socket puts on the loopback interface.
//!
//! Sessions of the kernel belong here, the bytes of packets in `packet.rs`.
//!
//! Each test runs in a network namespace of its own, where it may do everything. Where the system allows no such
//! namespaces to this user, the tests say so and pass; with `NEEDS_NAMESPACES` set, they fail.

#![cfg(feature = "verbs")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use blueflame::packet::{Host, Packet, Tcp4};
use blueflame::verbs::CallError;
use blueflame::verbs::Error;
use blueflame::verbs::ethernet::{DelegatedTcp, Segment};

/// Whether this process is the one in the namespace: the value says how deep.
const INSIDE: &str = "BLUEFLAME_TEST_NAMESPACE";

/// Runs the test `name` in a network namespace: returns whether this is there. The system must permit namespaces where
/// `NEEDS_NAMESPACES` is set.
fn inside(name: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let allowed = Command::new("unshare").args(["-Urn", "true"]).output();
    if !allowed.as_ref().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("NEEDS_NAMESPACES").is_none(), "NEEDS_NAMESPACES, but unshare -Urn: {allowed:?}");
        eprintln!("{name}: left out, because this user may make no namespaces (unshare -Urn)");
        return false;
    }
    again(&["-Urn"], name);
    false
}

/// Runs the test `name` again by `unshare` with these options.
fn again(options: &[&str], name: &str) {
    let program = std::env::current_exe().expect("this program");
    let depth = std::env::var(INSIDE).map_or(1, |depth| depth.parse::<u32>().expect("a number") + 1);
    let mut command = Command::new("unshare");
    let output = command.args(options).arg(program).args(["--exact", name, "--nocapture"]);
    let output = output.env(INSIDE, depth.to_string()).output().expect("unshare starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Turns the loopback interface on.
fn loopback_up() {
    // SAFETY: integers, and a union of them, for which zero is a value.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    (request.ifr_name[0], request.ifr_name[1]) = (b'l' as _, b'o' as _);
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as _;
    let socket = TcpListener::bind("0.0.0.0:0").expect("any port");
    // SAFETY: the call reads the structure, which is ours.
    assert_eq!(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) }, 0);
}

/// A connection over loopback, and the cable of the delegated segments.
struct Lab {
    near: TcpStream,
    far: TcpStream,
    cable: OwnedFd,
}

impl Lab {
    fn new() -> Self {
        loopback_up();
        let listener = TcpListener::bind("127.0.0.1:0").expect("any port");
        let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("listening");
        let (far, _) = listener.accept().expect("connected");
        far.set_read_timeout(Some(Duration::from_secs(10))).expect("a time");
        // SAFETY: a new socket, owned by the value.
        let cable = unsafe { OwnedFd::from_raw_fd(libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0)) };
        // SAFETY: integers, for which zero is a value.
        let mut lo: libc::sockaddr_ll = unsafe { core::mem::zeroed() };
        (lo.sll_family, lo.sll_protocol, lo.sll_ifindex) = (libc::AF_PACKET as u16, 0x0300_u16.to_be(), 1);
        // SAFETY: the address is ours, and of this length.
        let bound = unsafe { libc::bind(cable.as_raw_fd(), (&raw const lo).cast(), size_of_val(&lo) as u32) };
        assert_eq!(bound, 0, "{}", std::io::Error::last_os_error());
        let mut lab = Self { near, far, cable };
        lab.exchange();
        lab
    }

    /// Both ends send a few bytes by ordinary writes, and no byte of the near end is unacknowledged afterwards.
    fn exchange(&mut self) {
        let mut bytes = [0; 5];
        self.near.write_all(b"hello").expect("connected");
        self.far.read_exact(&mut bytes).expect("in time");
        assert_eq!(&bytes, b"hello");
        self.far.write_all(b"world").expect("connected");
        self.near.read_exact(&mut bytes).expect("in time");
        assert_eq!(&bytes, b"world");
        let begin = Instant::now();
        while self.unacknowledged() != 0 {
            assert!(begin.elapsed() < Duration::from_secs(10), "{} bytes are not acknowledged", self.unacknowledged());
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn unacknowledged(&self) -> i32 {
        let mut bytes = 0;
        // SAFETY: the kernel writes one integer.
        assert_eq!(unsafe { libc::ioctl(self.near.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) }, 0);
        bytes
    }

    /// The next bytes at the far end.
    fn arrived(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.far.read_exact(&mut bytes).expect("in time");
        bytes
    }

    /// Puts a segment on the cable.
    fn shoot<const OPTIONS: usize>(&self, segment: &Segment, options: [u8; OPTIONS], payload: &[u8]) {
        let host = |address: SocketAddr| match address {
            SocketAddr::V4(socket) => Host { mac: [0; 6], socket },
            SocketAddr::V6(_) => unreachable!("bound to 127.0.0.1"),
        };
        let [from, to] =
            [self.near.local_addr(), self.near.peer_addr()].map(|address| host(address.expect("connected")));
        let mut packet = Packet::<Tcp4<OPTIONS>, 128>::new(&from, &to);
        segment.put(&mut packet, options).expect("room for a timestamp");
        packet.set_payload(payload).expect("short");
        let frame = packet.as_bytes();
        // SAFETY: the kernel reads the frame.
        let sent = unsafe { libc::send(self.cable.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        assert_eq!(sent, 128, "{}", std::io::Error::last_os_error());
    }
}

#[test]
fn a_session_goes_on_after_delegated_segments() {
    if !inside("a_session_goes_on_after_delegated_segments") {
        return;
    }
    let mut lab = Lab::new();
    let mut session = DelegatedTcp::new(lab.near.try_clone().expect("a descriptor")).expect("established");
    for n in 0..20_u8 {
        let segment = session.next().expect("established");
        assert!(segment.timestamp.is_some() && segment.room > 1000 && segment.max_payload > 1000, "{segment:?}");
        let payload = [b'a' + n; 40];
        // The program tells the kernel before the acknowledgement comes, or after.
        if n % 2 == 0 {
            lab.shoot(&segment, segment.timestamp_option(), &payload);
            assert_eq!(lab.arrived(40), payload);
            session.sent(&segment, &payload).expect("nothing else was sent");
        } else {
            session.sent(&segment, &payload).expect("nothing else was sent");
            lab.shoot(&segment, segment.timestamp_option(), &payload);
            assert_eq!(lab.arrived(40), payload);
        }
        if n % 5 == 0 {
            lab.exchange();
        }
    }
    lab.exchange();
}

#[test]
fn the_kernel_sends_a_lost_segment_again() {
    if !inside("the_kernel_sends_a_lost_segment_again") {
        return;
    }
    let mut lab = Lab::new();
    let mut session = DelegatedTcp::new(lab.near.try_clone().expect("a descriptor")).expect("established");
    let segment = session.next().expect("established");
    session.sent(&segment, b"lost on its way").expect("nothing else was sent");
    assert_eq!(lab.arrived(15), b"lost on its way");
    lab.exchange();
}

#[test]
fn a_segment_of_other_numbers_is_refused() {
    if !inside("a_segment_of_other_numbers_is_refused") {
        return;
    }
    let mut lab = Lab::new();
    let mut session = DelegatedTcp::new(lab.near.try_clone().expect("a descriptor")).expect("established");
    let segment = session.next().expect("established");
    lab.exchange();
    let error = session.sent(&segment, b"too late").expect_err("the socket has sent");
    let moved = segment.sequence.wrapping_add(5);
    assert_eq!(error, Error::TcpMoved { segment: segment.sequence, session: moved });
    let here = Host { mac: [0; 6], socket: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1) };
    let error = segment.put(&mut Packet::<Tcp4, 64>::new(&here, &here), []).expect_err("no room for options");
    assert_eq!(error, Error::TcpOptions { bytes: 0 });
    lab.exchange();
    lab.far.shutdown(std::net::Shutdown::Both).expect("connected");
    let begin = Instant::now();
    while session.next().is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(10), "the peer has closed");
    }
    assert!(matches!(session.next(), Err(Error::TcpState { state: 2.. })), "{:?}", session.next());
}

#[test]
fn sessions_without_timestamps_need_no_options() {
    if !inside("sessions_without_timestamps_need_no_options") {
        return;
    }
    std::fs::write("/proc/sys/net/ipv4/tcp_timestamps", "0").expect("a setting of the namespace");
    let mut lab = Lab::new();
    let mut session = DelegatedTcp::new(lab.near.try_clone().expect("a descriptor")).expect("established");
    let segment = session.next().expect("established");
    assert_eq!((segment.timestamp, segment.timestamp_option()), (None, [1; 12]));
    lab.shoot(&segment, [], b"plain");
    assert_eq!(lab.arrived(5), b"plain");
    session.sent(&segment, b"plain").expect("nothing else was sent");
    lab.exchange();
}

#[test]
fn without_the_capability_the_error_names_it() {
    const NAME: &str = "without_the_capability_the_error_names_it";
    if !inside(NAME) {
        return;
    }
    if std::env::var(INSIDE).is_ok_and(|depth| depth == "1") {
        // In a user namespace of its own, the program has no rights in this network namespace.
        loopback_up();
        again(&["-U"], NAME);
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("any port");
    let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("listening");
    let error = DelegatedTcp::new(near).expect_err("no right");
    let call = CallError { call: "TCP_REPAIR", errno: libc::EPERM };
    assert_eq!(error, Error::Call(call));
    assert!(error.to_string().contains("CAP_NET_ADMIN"), "{error}");
}
