//! Asynchronous events, of each kind that the software device has, through libibverbs as installed.
//!
//! Asynchronous events of queues, ports and devices belong here. Completion events belong in `tests/verbs`.
//!
//! The tests change ports and devices of `mlx5_1` and `mlx5_2`, so that other tests do not notice. They need three
//! devices:
//!
//! ```text
//! softhca-run --devices 3 --
//! ```

#![cfg(feature = "verbs")]

use std::ffi::{CStr, c_int};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use blueflame::types::{Psn, Qpn, Rkey, WrId};
use blueflame::verbs::async_event::{AsyncEvent, AsyncEvents, PortEvent, QpEvent, SrqEvent};
use blueflame::verbs::device::{GidEntry, Port, PortState};
use blueflame::verbs::{Access, Buffer, Device, Error, OwnedCq, Path, Pool, ProtectionDomain, Qp, QpState, QueuePair};
use blueflame::{transport, wqe};

/// For tests that take the link of `mlx5_1` down.
static LINK: Mutex<()> = Mutex::new(());

const LONG: Duration = Duration::from_secs(20);

fn open(name: &str) -> Device {
    Device::open(name).unwrap_or_else(|error| {
        panic!(
            "{error}\nthese tests need the software device: run them by ./run test, or under softhca-run --devices 3"
        )
    })
}

fn memory(pd: &ProtectionDomain) -> Buffer {
    Pool::new(pd, 4096, Access::ALL).expect("a pool").take(4096).expect("all of it")
}

fn pair(pd: &ProtectionDomain, cq: &OwnedCq) -> QueuePair<transport::Rc> {
    pd.queue_pair(cq, cq).sends(16).receives(16).inline(64).build().expect("a queue pair")
}

fn connect(device: &Device, [a, b]: [&mut QueuePair<transport::Rc>; 2]) {
    let path = device.path(1, None).expect("a path");
    let (at_a, at_b) = (a.qp.endpoint_with(&path, Psn::truncate(1)), b.qp.endpoint_with(&path, Psn::truncate(2)));
    for qp in [&a.qp, &b.qp] {
        qp.to_init(&path).expect("INIT");
    }
    a.connect(&path, &at_a, &at_b).expect("connect");
    b.connect(&path, &at_b, &at_a).expect("connect");
}

fn send(pair: &mut QueuePair<transport::Rc>, tag: u64) {
    pair.sq.post(&wqe::send().inline(b"hello").signaled(WrId(tag))).expect("room");
}

/// The next event of the queue pair `qpn`; it may have others that the test does not look for.
fn event_of(events: &AsyncEvents, qpn: Qpn, wanted: QpEvent) {
    while let Some(event) = events.wait_timeout(LONG).expect("asked") {
        if event == (AsyncEvent::Qp { qpn, kind: wanted }) {
            return;
        }
        // A packet that comes between RTR and RTS of a connection to oneself.
        assert!(matches!(event, AsyncEvent::Qp { kind: QpEvent::CommunicationEstablished, .. }), "{event:?}");
    }
    panic!("no {wanted:?}");
}

fn function<F: Copy>(name: &CStr) -> F {
    // SAFETY: a string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!address.is_null(), "{name:?}: the software device is not there");
    assert_eq!(size_of::<F>(), size_of_val(&address));
    // SAFETY: the callers name the function's type.
    unsafe { std::mem::transmute_copy(&address) }
}

#[test]
fn a_refused_request_is_an_event_of_the_queue_pair_that_refused() {
    let device = open("mlx5_0");
    let (events, pd) = (device.async_events(), device.protection_domain().expect("a PD"));
    let cq = device.completion_queue(512).build().expect("a CQ");
    let (mut a, mut b) = (pair(&pd, &cq), pair(&pd, &cq));
    connect(&device, [&mut a, &mut b]);
    let buffer = memory(&pd);
    let mut remote = buffer.remote();
    remote.rkey = Rkey(!remote.rkey.0);
    a.sq.post(&wqe::write(remote).inline(b"no").signaled(WrId(1))).expect("room");
    event_of(&events, b.qp.qpn(), QpEvent::AccessError);
    assert_eq!(b.qp.state().expect("asked"), QpState::Error);
    // Acknowledged: nothing hangs.
}

#[test]
fn an_overrun_completion_queue_tells_its_tag() {
    let device = open("mlx5_0");
    let (events, pd) = (device.async_events(), device.protection_domain().expect("a PD"));
    let small = device.completion_queue(1).context(77).build().expect("a CQ");
    small.handle().oversubscribe();
    let large = device.completion_queue(512).build().expect("a CQ");
    let (mut a, mut b) = (pair(&pd, &small), pair(&pd, &large));
    connect(&device, [&mut a, &mut b]);
    let buffer = memory(&pd);
    for tag in 0..4 {
        // SAFETY: the buffer lives as long as the queue, and nobody looks at it.
        unsafe { b.rq.post_unchecked(WrId(tag), &[buffer.sge()]) }.expect("room");
        send(&mut a, tag);
    }
    let (mut overrun, mut fatal) = (None, None);
    while overrun.is_none() || fatal.is_none() {
        match events.wait_timeout(LONG).expect("asked") {
            Some(AsyncEvent::CqError { context }) => overrun = Some(context),
            Some(AsyncEvent::Qp { qpn, kind: QpEvent::Fatal }) => fatal = Some(qpn),
            Some(AsyncEvent::Qp { kind: QpEvent::CommunicationEstablished, .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((overrun, fatal), (Some(77), Some(a.qp.qpn())), "and the queue pair can complete nothing any more");
    assert_eq!(a.qp.state().expect("asked"), QpState::Error);
}

#[test]
fn a_shared_receive_queue_tells_when_it_runs_low_and_when_it_is_left() {
    let device = open("mlx5_0");
    let (events, pd) = (device.async_events(), device.protection_domain().expect("a PD"));
    let mut cq = device.completion_queue(512).build().expect("a CQ");
    let mut srq = pd.shared_recv_queue(8, 1).expect("an SRQ");
    let mut a = pair(&pd, &cq);
    let mut b = pd.queue_pair::<transport::Rc>(&cq, &cq).shared_recv_queue(srq.handle()).build().expect("a queue pair");
    connect(&device, [&mut a, &mut b]);
    let buffer = memory(&pd);
    for tag in 0..4 {
        // SAFETY: the buffer lives as long as the queue, and nobody looks at it.
        unsafe { srq.post_unchecked(WrId(tag), &[buffer.sge()]) }.expect("room");
    }
    let error = srq.handle().arm_limit(1 << 20).expect_err("more than it holds");
    assert!(matches!(error, Error::OutOfRange { value: 0x10_0000, min: 0, .. }), "{error}");
    srq.handle().arm_limit(3).expect("armed");
    send(&mut a, 1);
    send(&mut a, 2);
    let srqn = srq.handle().srqn();
    loop {
        match events.wait_timeout(LONG).expect("asked") {
            Some(AsyncEvent::Srq { srqn: number, kind }) => {
                break assert_eq!((number, kind), (srqn, SrqEvent::LimitReached));
            }
            Some(AsyncEvent::Qp { kind: QpEvent::CommunicationEstablished, .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    events.leave_shared_queue(&b.qp, LONG, |event| panic!("{event:?}")).expect("the last WQE was reached");
    // All that it took is in the completion queue by now.
    let (mut receives, begin) = (0, Instant::now());
    while receives < 2 && begin.elapsed() < LONG {
        let Some(cqe) = cq.poll() else { continue };
        if cqe.qpn() == b.qp.qpn() {
            receives += 1;
            // SAFETY: the queue pair receives from there; polled once.
            unsafe { srq.retire(&cqe) }.expect("posted");
        }
    }
    assert_eq!((receives, srq.posted()), (2, 2));
}

/// The event of a queue pair may be taken while another one leaves, or by a thread that takes all events.
#[test]
fn an_event_that_others_took_is_not_lost_for_the_queue_pair_that_leaves() {
    let device = open("mlx5_0");
    let (events, pd) = (device.async_events(), device.protection_domain().expect("a PD"));
    let cq = device.completion_queue(512).build().expect("a CQ");
    let srq = pd.shared_recv_queue(8, 1).expect("an SRQ");
    let shared =
        || pd.queue_pair::<transport::Rc>(&cq, &cq).shared_recv_queue(srq.handle()).build().expect("a queue pair");
    let (mut first, mut second, mut third) = (shared(), shared(), shared());
    let mut peers = [pair(&pd, &cq), pair(&pd, &cq), pair(&pd, &cq)];
    for (near, far) in [&mut first, &mut second, &mut third].into_iter().zip(&mut peers) {
        connect(&device, [near, far]);
    }
    let last = |qp: &Qp| AsyncEvent::Qp { qpn: qp.qpn(), kind: QpEvent::LastWqeReached };
    second.qp.to_error().expect("ERR");
    let mut others = Vec::new();
    events.leave_shared_queue(&first.qp, LONG, |event| others.push(event)).expect("told");
    assert_eq!(others, [last(&second.qp)]);
    third.qp.to_error().expect("ERR");
    assert_eq!(events.wait_timeout(LONG).expect("asked"), Some(last(&third.qp)));
    for qp in [&first.qp, &second.qp, &third.qp] {
        events.leave_shared_queue(qp, Duration::ZERO, |event| panic!("{event:?}")).expect("told before");
    }
    let qp = &peers[0].qp;
    let never = events.leave_shared_queue(qp, Duration::ZERO, drop);
    assert_eq!(never, Err(Error::StillReceiving { qpn: qp.qpn(), timeout: Duration::ZERO }), "it has its own receives");
}

#[test]
fn events_of_a_queue_that_is_gone_are_gone() {
    let device = open("mlx5_0");
    let (events, pd) = (device.async_events(), device.protection_domain().expect("a PD"));
    let cq = device.completion_queue(512).build().expect("a CQ");
    let srq = pd.shared_recv_queue(8, 1).expect("an SRQ");
    let mut other = pair(&pd, &cq);
    let mut shared =
        pd.queue_pair::<transport::Rc>(&cq, &cq).shared_recv_queue(srq.handle()).build().expect("a queue pair");
    connect(&device, [&mut other, &mut shared]);
    shared.qp.to_error().expect("ERR");
    let mut poll =
        libc::pollfd { fd: std::os::fd::AsRawFd::as_raw_fd(&events.as_fd()), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure of ours, and an open descriptor.
    assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 20_000) }, 1, "readable when there is an event");
    drop((shared, other));
    assert_eq!(events.wait_timeout(Duration::ZERO).expect("asked"), None);
}

#[test]
fn a_link_goes_down_and_up() {
    let set_port: unsafe extern "C" fn(c_int, c_int, c_int) -> c_int = function(c"softhca_set_port");
    let _link = LINK.lock().unwrap_or_else(PoisonError::into_inner);
    let devices = [open("mlx5_1"), open("mlx5_1")];
    let state = || devices[0].port(1).expect("port 1").state;
    assert_eq!(state(), PortState::Active);
    for (up, kind, now) in [(0, PortEvent::Error, PortState::Down), (1, PortEvent::Active, PortState::Active)] {
        // SAFETY: numbers.
        assert_eq!(unsafe { set_port(1, 1, up) }, 0);
        // SAFETY: numbers.
        assert_eq!(unsafe { set_port(1, 1, up) }, 0, "no change, no event");
        for device in &devices {
            let event = device.async_events().wait_timeout(LONG).expect("asked");
            assert_eq!(event, Some(AsyncEvent::Port { port: 1, kind }), "everybody who has it open");
        }
        assert_eq!(state(), now);
    }
    // SAFETY: numbers.
    assert_eq!(unsafe { (set_port(1, 2, 0), set_port(9, 1, 0), set_port(-1, -1, 0)) }, (-1, -1, -1));
    assert_eq!(devices[0].async_events().wait_timeout(Duration::ZERO).expect("asked"), None);
}

#[test]
fn an_error_on_a_port_that_is_down_says_so() {
    let set_port: unsafe extern "C" fn(c_int, c_int, c_int) -> c_int = function(c"softhca_set_port");
    let _link = LINK.lock().unwrap_or_else(PoisonError::into_inner);
    let device = open("mlx5_1");
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(512).build().expect("a CQ");
    let (a, b) = (pair(&pd, &cq), pair(&pd, &cq));
    let port = device.port(1).expect("port 1");
    let gid = device.default_gid(&port).expect("a GID");
    // The kernel refuses RTR with an entry that the table lacks, link or no link.
    let path = Path::new(port, Some(GidEntry { index: 200, ..gid }));
    let there = b.qp.endpoint_with(&path, Psn::truncate(1));
    a.qp.to_init(&path).expect("INIT");
    let try_all = || {
        let empty = Port { gid_tbl_len: 0, ..device.port(1).expect("port 1") };
        (a.qp.to_rtr(&path, &there), b.qp.to_rtr(&path, &there), device.default_gid(&empty).map(drop))
    };
    device.path(1, None).expect("the port is up");
    let no_transition = Err(Error::WrongState { is: QpState::Reset, to: QpState::ReadyToReceive });
    let (refused, early, no_gid) = try_all();
    assert!(matches!(refused, Err(Error::Call(_))), "{refused:?}");
    assert_eq!((early, no_gid), (no_transition.clone(), Err(Error::NoGid { port: 1 })));
    // SAFETY: numbers.
    assert_eq!(unsafe { set_port(1, 1, 0) }, 0);
    let (down, no_path) = (try_all(), device.path(1, None));
    // SAFETY: numbers.
    assert_eq!(unsafe { set_port(1, 1, 1) }, 0);
    let not_active = Err(Error::PortNotActive { port: 1, state: PortState::Down });
    assert_eq!(down, (not_active.clone(), no_transition, not_active.clone()));
    assert_eq!(no_path.map(drop), not_active);
    assert_eq!(try_all().0, refused);
}

#[test]
fn a_device_that_fails_says_so_and_nothing_else() {
    let fail: unsafe extern "C" fn(c_int) -> c_int = function(c"softhca_fail");
    let device = open("mlx5_2");
    let (events, pd) = (device.async_events(), device.protection_domain().expect("a PD"));
    let mut cq = device.completion_queue(512).build().expect("a CQ");
    let (mut a, mut b) = (pair(&pd, &cq), pair(&pd, &cq));
    connect(&device, [&mut a, &mut b]);
    let waiting = std::thread::spawn({
        let events = events.clone();
        move || events.wait()
    });
    // SAFETY: a number.
    assert_eq!(unsafe { fail(2) }, 0);
    assert_eq!(waiting.join().expect("woken"), Ok(AsyncEvent::DeviceFatal));
    // SAFETY: numbers.
    assert_eq!(unsafe { (fail(2), fail(9)) }, (0, -1), "it fails once");
    assert_eq!(events.wait_timeout(Duration::ZERO).expect("asked"), None);
    send(&mut a, 1);
    std::thread::sleep(Duration::from_millis(20));
    assert!(cq.poll().is_none());
    drop((a, b, cq, pd));
}
