//! Events of setup, as a subscriber of `tracing` gets them: numbers, states, connections, errors, and none on the data
//! path.
//!
//! Events of setup belong here. Texts of errors belong in `tests/lifecycle`.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --
//! ```

#![cfg(feature = "tracing")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::fmt::{Debug, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;

use blueflame::verbs::device::Mtu;
use blueflame::verbs::{Access, Endpoint, Pool, QueuePair};
use blueflame::{WrId, transport, wqe};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use on_device::{device, wait_for};

/// Writes events down, a line each: `DEBUG completion queue made cqn=7`.
#[derive(Clone, Default)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    /// Whether it panics at each event, once that is written down.
    panics: bool,
}

impl Log {
    /// The output since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().expect("nobody panics with it"))
    }

    fn lines_with(lines: &[String], text: &str) -> usize {
        lines.iter().filter(|line| line.contains(text)).count()
    }
}

/// Text and fields of an event.
#[derive(Default)]
struct Line {
    text: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => write!(self.text, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        }
        .expect("a string");
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "blueflame"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let Line { text, fields } = line;
        let line = format!("{} {text}{fields}", event.metadata().level());
        self.lines.lock().expect("nobody panics with it").push(line);
        assert!(!self.panics, "of the subscriber");
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The device has changed when an event is reported, and the queues must follow.
#[test]
fn a_subscriber_that_panics_loses_its_events_alone() {
    let log = Log { panics: true, ..Log::default() };
    let _subscribed = tracing::subscriber::set_default(log.clone());
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut cq = device.completion_queue(100).build().expect("a completion queue");
    cq.resize(1000).expect("resized");
    assert_eq!(cq.capacity(), 1024);
    let mut pair = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(16).inline(32).build().expect("a QP");
    let path = device.path(1, None).expect("a path");
    for tag in 0..2 {
        let itself = pair.qp.endpoint(&path);
        pair.qp.to_init(&path).expect("INIT");
        pair.connect(&path, &itself, &itself).expect("connect");
        pair.sq.post(&wqe::nop().signaled(WrId(tag))).expect("room");
        let done = wait_for("a completion", || cq.poll().map(|cqe| pair.sq.retire(&cqe)));
        assert_eq!(done.map(|done| done.wr_id), Ok(WrId(tag)));
        pair.reset(&mut [&mut cq], |_| ()).expect("RESET");
    }
    let seen = log.take();
    assert!(
        ["completion queue resized", "state=RESET"].iter().all(|text| Log::lines_with(&seen, text) > 0),
        "{seen:#?}"
    );
    drop((pair, cq));
    assert_eq!(Log::lines_with(&log.take(), "destroyed"), 2);
}

#[test]
fn setup_is_reported_and_the_data_path_is_not() {
    let log = Log::default();
    let _subscribed = tracing::subscriber::set_default(log.clone());

    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut cq = device.completion_queue(512).build().expect("a completion queue");
    let make = || pd.queue_pair::<transport::Rc>(&cq, &cq).sends(16).inline(32).build().expect("a QP");
    let (mut a, mut b): (QueuePair<_>, QueuePair<_>) = (make(), make());
    let mut pool = Pool::new(&pd, 4096, Access::ALL).expect("a pool");
    let buffer = pool.take(64).expect("room");
    let (cqn, cqes, qpn) = (cq.handle().cqn().get(), cq.capacity(), a.qp.qpn().get());
    let made = log.take();
    for text in [
        &format!("INFO device opened name=\"{}\"", device.name()),
        "DEBUG protection domain made number=",
        &format!("DEBUG completion queue made cqn={cqn} cqes={cqes} cqe_bytes=64 adopted=false"),
        "DEBUG thread domain made own_register=",
        &format!("DEBUG queue pair made qpn={qpn} transport=\"RC\" state=RESET sends=16 receives=128 inline="),
        "DEBUG memory registered number=",
    ] {
        assert!(Log::lines_with(&made, text) >= 1, "{text}: {made:#?}");
    }
    assert_eq!(Log::lines_with(&made, "queue pair made"), 2);
    // A peer with the key can access the memory; here both keys are one number.
    assert_eq!(Log::lines_with(&made, "key"), 0, "{made:#?}");

    // This side's events are this thread's.
    let path = device.path(1, None).expect("a path");
    let (mut left, mut right) = UnixStream::pair().expect("a pair of sockets");
    thread::scope(|scope| {
        let path = &path;
        scope.spawn(|| b.connect_over(&mut right, path, &[]).expect("connected"));
        a.connect_over(&mut left, path, &[]).expect("connected");
    });
    let connected = log.take();
    for state in ["INIT", "RTR", "RTS"] {
        assert_eq!(Log::lines_with(&connected, &format!("changed state qpn={qpn} state={state}")), 1, "{connected:#?}");
    }
    let peer = format!("INFO connected qpn={qpn} peer=queue pair {:#x} at ", b.qp.qpn().get());
    assert_eq!(Log::lines_with(&connected, &peer), 1, "{connected:#?}");

    for tag in 0..1000 {
        a.sq.post(&wqe::write(buffer.remote()).inline(b"quiet").signaled(WrId(tag))).expect("room");
        wait_for("a completion", || cq.poll().map(|cqe| a.sq.retire(&cqe).expect("outstanding")));
    }
    assert_eq!(log.take(), Vec::<String>::new());

    let other = Endpoint { mtu: Mtu::B256, ..b.qp.endpoint(&path) };
    a.qp.to_rtr(&path, &other).expect_err("it is in RTS");
    assert_eq!(log.take(), [format!("WARN queue pair cannot change state qpn={qpn} state=RTS to=RTR")]);
    a.reset(&mut [&mut cq], |_| ()).expect("RESET");
    drop((a, b, cq, pool, buffer, pd, device));
    let gone = log.take();
    for text in
        ["queue pair destroyed", "completion queue destroyed", "memory deregistered", "domain freed", "device closed"]
    {
        assert!(Log::lines_with(&gone, text) >= 1, "{text}: {gone:#?}");
    }
    assert_eq!(Log::lines_with(&gone, "WARN"), 0, "{gone:#?}");
}

#[test]
fn failures_are_reported() {
    let log = Log::default();
    let _subscribed = tracing::subscriber::set_default(log.clone());
    let device = device();
    device.gid(1, u8::MAX).map(|entry| assert_eq!(entry, None)).unwrap_or_default();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(300).build().expect("a CQ");
    log.take();
    pd.queue_pair::<transport::Rc>(&cq, &cq).inline(4000).build().expect_err("too much");
    let failed = log.take();
    assert_eq!(Log::lines_with(&failed, "WARN call failed call=\"mlx5dv_create_qp\" errno=22"), 1, "{failed:#?}");
}
