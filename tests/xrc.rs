//! XRC through libibverbs and libmlx5 as installed: domains, their shared receive queues, targets and initiators.
//!
//! Setup and traffic of XRC belong here. The bytes of its requests belong in `tests/send_queue` and
//! `tests/differential`.
//!
//! Needs an mlx5 device with XRC. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --
//! softhca-run --link ethernet --clock both --
//! softhca-run --link ethernet --clock real-time --
//! softhca-run --no-write-combining --
//! softhca-run --strict --
//! ```

#![cfg(feature = "verbs")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use blueflame::cq::{CqeError, Side, WcStatus};
use blueflame::transport;
use blueflame::transport::XrcInitiator;
use blueflame::types::{Psn, Qpn, Srqn, WrId};
use blueflame::verbs::async_event::{AsyncEvent, AsyncEvents, QpEvent, SrqEvent};
use blueflame::verbs::{
    Access, Buffer, Device, Error, OwnedCq, OwnedSrq, Path, Pool, ProtectionDomain, QpState, QueuePair, XrcDomain,
    XrcTarget,
};
use blueflame::wqe::data::Data;
use blueflame::wqe::{self, Request, SupportedOn};

use on_device::{device, wait_for};

const LONG: Duration = Duration::from_secs(20);
const RECEIVES: usize = 8;
const SLOT: usize = 256;

/// A receiver: a shared receive queue with a protection domain, a completion queue and memory of its own.
struct Worker {
    srq: OwnedSrq,
    cq: OwnedCq,
    buffer: Buffer,
    pd: ProtectionDomain,
}

impl Worker {
    fn new(device: &Device, domain: &XrcDomain) -> Self {
        let pd = device.protection_domain().expect("a PD");
        let cq = device.completion_queue(512).build().expect("a CQ");
        let buffer = memory(&pd);
        let srq = pd.xrc_shared_recv_queue(domain, cq.handle(), RECEIVES as u32, 2).expect("an XRC SRQ");
        let mut worker = Self { srq, cq, buffer, pd };
        (0..RECEIVES).for_each(|slot| worker.post(slot));
        worker
    }

    fn post(&mut self, slot: usize) {
        let sge = self.buffer.sge_of(slot * SLOT..(slot + 1) * SLOT);
        // SAFETY: the buffer lives as long as the queue, and is looked at when the completion has come.
        unsafe { self.srq.post_unchecked(WrId(slot as u64), &[sge]) }.expect("room");
    }

    fn srqn(&self) -> Srqn {
        self.srq.handle().srqn()
    }

    /// The next message: which target it came through, its bytes and its immediate data.
    fn receive(&mut self) -> (Qpn, Vec<u8>, Option<u32>) {
        wait_for("a message", || {
            let cqe = self.cq.poll()?;
            assert_eq!(cqe.check(), Ok(Side::Responder));
            // SAFETY: nothing else completes there; polled once.
            let slot = unsafe { self.srq.retire(&cqe) }.expect("posted").0 as usize;
            let mut bytes = vec![0; cqe.byte_len() as usize];
            self.buffer.read(slot * SLOT, &mut bytes);
            let got = (cqe.qpn(), bytes, cqe.imm());
            self.post(slot);
            Some(got)
        })
    }
}

fn memory(pd: &ProtectionDomain) -> Buffer {
    let bytes = RECEIVES * SLOT;
    Pool::new(pd, bytes, Access::ALL).expect("a pool").take(bytes).expect("all of it")
}

/// Who sends.
struct Sender {
    pair: QueuePair<XrcInitiator>,
    cq: OwnedCq,
    buffer: Buffer,
}

impl Sender {
    fn new(device: &Device) -> Self {
        let pd = device.protection_domain().expect("a PD");
        let cq = device.completion_queue(512).build().expect("a CQ");
        let builder = pd.queue_pair::<XrcInitiator>(&cq, &cq).sends(16).send_sge(2).inline(100);
        assert_eq!((builder.send_completions(), builder.recv_completions()), (17, 0));
        let pair = builder.build().expect("an initiator");
        assert_eq!(pair.rq.capacity(), 0, "it receives nothing");
        Self { pair, cq, buffer: memory(&pd) }
    }

    fn connect(&mut self, path: &Path, target: &XrcTarget) {
        let (here, there) = (self.pair.qp.endpoint_with(path, Psn::truncate(0xff_fffe)), target.endpoint(path));
        self.pair.qp.to_init(path).expect("INIT");
        target.qp().to_init(path).expect("INIT");
        target.connect(path, &there, &here).expect("RTS");
        self.pair.connect(path, &here, &there).expect("RTS");
        assert_eq!(target.qp().state(), Ok(QpState::ReadyToSend));
    }

    fn post<O: SupportedOn<XrcInitiator>, D: Data>(&mut self, request: &Request<'_, O, D>) {
        // SAFETY: the buffer lives as long as the queue, and is looked at when the completion has come.
        unsafe { self.pair.sq.post_unchecked(request) }.expect("room");
    }

    /// The next completion: which request, and how it ended.
    fn done(&mut self) -> (WrId, Result<Side, WcStatus>) {
        wait_for("a completion", || {
            let cqe = self.cq.poll()?;
            let status = match cqe.check() {
                Ok(side) => Ok(side),
                Err(CqeError::Completion(error)) => Err(error.status()),
                Err(other) => panic!("{other}"),
            };
            Some((self.pair.sq.retire(&cqe).expect("outstanding").wr_id, status))
        })
    }
}

fn path(device: &Device) -> Path {
    device.path(1, None).expect("a path")
}

/// Two senders, a target for each, and three workers, any of whom either reaches by one queue pair.
#[test]
fn each_message_goes_to_the_queue_that_it_names() {
    let device = device();
    let (path, domain) = (path(&device), device.xrc_domain().expect("an XRC domain"));
    let mut workers = [(); 3].map(|()| Worker::new(&device, &domain));
    let targets = [(); 2].map(|()| domain.target().expect("a target"));
    let mut senders = [(); 2].map(|()| Sender::new(&device));
    senders.iter_mut().zip(&targets).for_each(|(sender, target)| sender.connect(&path, target));
    for round in 0..60_usize {
        let (sender, target) = (&mut senders[round % 2], &targets[round % 2]);
        let worker = &mut workers[round / 2 % 3];
        let (srqn, message) = (worker.srqn(), vec![round as u8; 1 + round % 40]);
        let imm = match round % 3 {
            0 => {
                sender.post(&wqe::send().to(srqn).inline_slice(&message[..]).signaled(WrId(round as u64)));
                None
            }
            1 => {
                sender.post(&wqe::send().to(srqn).imm(7).inline_slice(&message[..]).signaled(WrId(round as u64)));
                Some(7)
            }
            _ => {
                sender.buffer.write(0, &message);
                let parts = [sender.buffer.sge_of(0..1), sender.buffer.sge_of(1..message.len())];
                sender.post(&wqe::send().imm(8).gather(parts).to(srqn).signaled(WrId(round as u64)));
                Some(8)
            }
        };
        assert_eq!(worker.receive(), (target.qp().qpn(), message, imm), "{round}");
        assert_eq!(sender.done(), (WrId(round as u64), Ok(Side::Requester)));
    }
    assert!(workers.iter_mut().all(|worker| worker.cq.poll().is_none()), "nobody got another's");
}

/// WRITE, READ and atomics access the memory of the worker that they name, and of no other.
#[test]
fn memory_is_of_the_queue_that_is_named() {
    let device = device();
    let (path, domain) = (path(&device), device.xrc_domain().expect("an XRC domain"));
    let mut workers = [(); 2].map(|()| Worker::new(&device, &domain));
    let target = domain.target().expect("a target");
    let mut sender = Sender::new(&device);
    sender.connect(&path, &target);
    let windows = workers.each_ref().map(|worker| memory(&worker.pd));
    for (n, window) in windows.iter().enumerate() {
        let (srqn, remote, n) = (workers[n].srqn(), window.remote(), n as u8);
        sender.post(&wqe::write(remote.at(3)).to(srqn).inline(&[n + 1; 20]).signaled(WrId(1)));
        let (first, result) = (sender.buffer.sge_of(64..84), sender.buffer.sge_of(128..136));
        sender.post(&wqe::read(remote.at(3)).to(srqn).scatter([first]).signaled(WrId(2)));
        sender.post(&wqe::fetch_add(remote.at(64), 5).to(srqn).result(result.addr, result.lkey).signaled(WrId(3)));
        let result = sender.buffer.sge_of(136..144);
        let swap = wqe::compare_swap(remote.at(64), 5, 0x1122).to(srqn);
        sender.post(&swap.result(result.addr, result.lkey).signaled(WrId(4)));
        sender.post(&wqe::write(remote.at(100)).to(srqn).imm(9).inline(b"imm").signaled(WrId(5)));
        for tag in 1..=5 {
            assert_eq!(sender.done(), (WrId(tag), Ok(Side::Requester)));
        }
        let mut bytes = [0; 20];
        window.read(3, &mut bytes);
        assert_eq!(bytes, [n + 1; 20]);
        sender.buffer.read(64, &mut bytes);
        assert_eq!(bytes, [n + 1; 20]);
        let word = |at: usize, buffer: &Buffer| {
            let mut bytes = [0; 8];
            buffer.read(at, &mut bytes);
            u64::from_ne_bytes(bytes)
        };
        assert_eq!((word(128, &sender.buffer), word(136, &sender.buffer), word(64, window)), (0, 5, 0x1122));
        // The receive that the WRITE took has none of its bytes.
        assert_eq!(workers[usize::from(n)].receive().2, Some(9));
    }
    // The other's key.
    let stranger = wqe::write(windows[0].remote()).to(workers[1].srqn()).inline(b"no").signaled(WrId(6));
    sender.post(&stranger);
    assert_eq!(sender.done(), (WrId(6), Err(WcStatus::RemAccessErr)));
    assert_eq!(target.qp().state(), Ok(QpState::Error));
}

/// A SEND that invalidates a key of the worker.
#[test]
fn keys_are_invalidated() {
    let device = device();
    let (path, domain) = (path(&device), device.xrc_domain().expect("an XRC domain"));
    let mut worker = Worker::new(&device, &domain);
    let target = domain.target().expect("a target");
    let mut sender = Sender::new(&device);
    sender.connect(&path, &target);
    let window = memory(&worker.pd);
    sender.post(&wqe::send().to(worker.srqn()).invalidate(window.rkey()).inline(b"gone").signaled(WrId(1)));
    assert_eq!(sender.done(), (WrId(1), Ok(Side::Requester)));
    assert_eq!(worker.receive().1, b"gone");
    sender.post(&wqe::write(window.remote()).to(worker.srqn()).inline(b"no").signaled(WrId(2)));
    assert_eq!(sender.done(), (WrId(2), Err(WcStatus::RemAccessErr)));
}

/// Templates: to the same queue each time, elsewhere in memory.
#[test]
fn prepared_requests_are_posted() {
    let device = device();
    let (path, domain) = (path(&device), device.xrc_domain().expect("an XRC domain"));
    let worker = Worker::new(&device, &domain);
    let target = domain.target().expect("a target");
    let mut sender = Sender::new(&device);
    sender.connect(&path, &target);
    let (window, srqn) = (memory(&worker.pd), worker.srqn());
    let write = wqe::write(window.remote()).to(srqn).signaled(WrId(3));
    let write = sender.pair.sq.prepare::<_, _, 8, 0>(&write).expect("within the limits");
    for n in 0..8_u64 {
        sender.pair.sq.post(&write.at(window.remote().at(8 * n)).inline(&n.to_ne_bytes())).expect("room");
        assert_eq!(sender.done(), (WrId(3), Ok(Side::Requester)));
    }
    let mut bytes = [0; 64];
    window.read(0, &mut bytes);
    assert_eq!(bytes.as_chunks().0, (0..8_u64).map(u64::to_ne_bytes).collect::<Vec<_>>());
}

fn no_queue_named(sender: &mut Sender, srqn: Srqn, events: &AsyncEvents, target: &XrcTarget) {
    sender.post(&wqe::send().to(srqn).inline(b"?").signaled(WrId(1)));
    assert_eq!(sender.done(), (WrId(1), Err(WcStatus::RemInvReqErr)));
    let mut seen = Vec::new();
    let refused = AsyncEvent::Qp { qpn: target.qp().qpn(), kind: QpEvent::RequestError };
    while !seen.contains(&refused) {
        seen.extend(events.wait_timeout(LONG).expect("asked").map(Some).expect("an event"));
    }
    assert_eq!(target.qp().state(), Ok(QpState::Error));
}

/// Only queues of the target's domain can be named; afterwards both ends are connected anew.
#[test]
fn queues_of_other_domains_are_out_of_reach() {
    let device = device();
    let (path, events) = (path(&device), device.async_events());
    let domains = [(); 2].map(|()| device.xrc_domain().expect("an XRC domain"));
    let mut workers = domains.each_ref().map(|domain| Worker::new(&device, domain));
    let target = domains[0].target().expect("a target");
    let mut sender = Sender::new(&device);
    sender.connect(&path, &target);
    let nobody = Srqn::truncate(0xff_fff0);
    for srqn in [workers[1].srqn(), nobody] {
        no_queue_named(&mut sender, srqn, &events, &target);
        sender.pair.reset(&mut [&mut sender.cq], |_| ()).expect("RESET");
        target.reset().expect("RESET");
        sender.connect(&path, &target);
    }
    sender.post(&wqe::send().to(workers[0].srqn()).inline(b"here").signaled(WrId(2)));
    assert_eq!(sender.done(), (WrId(2), Ok(Side::Requester)));
    assert_eq!(workers[0].receive().1, b"here");
}

/// A queue that runs low tells, each time it is asked to; a target that is ended takes no more.
#[test]
fn queues_tell_when_they_run_low_and_targets_when_they_are_done() {
    let device = device();
    let (path, events) = (path(&device), device.async_events());
    let domain = device.xrc_domain().expect("an XRC domain");
    let mut worker = Worker::new(&device, &domain);
    let target = domain.target().expect("a target");
    let mut sender = Sender::new(&device);
    sender.connect(&path, &target);
    let srqn = worker.srqn();
    for _ in 0..3 {
        worker.srq.handle().arm_limit(RECEIVES as u32).expect("armed");
        sender.post(&wqe::send().to(srqn).inline(b"one fewer").signaled(WrId(1)));
        assert_eq!(sender.done(), (WrId(1), Ok(Side::Requester)));
        loop {
            match events.wait_timeout(LONG).expect("asked").expect("an event") {
                AsyncEvent::Srq { srqn: number, kind } => {
                    break assert_eq!((number, kind), (srqn, SrqEvent::LimitReached));
                }
                AsyncEvent::Qp { kind: QpEvent::CommunicationEstablished, .. } => {}
                other => panic!("{other:?}"),
            }
        }
        worker.receive();
    }
    events.leave_shared_queue(target.qp(), LONG, |event| panic!("{event:?}")).expect("told");
    assert_eq!(worker.srq.posted(), RECEIVES as u32, "they are left to other targets");
}

/// Over a stream, as between two processes; a peer that is not the other end learns it.
#[test]
fn ends_are_connected_over_a_stream() {
    let device = device();
    let (path, domain) = (path(&device), device.xrc_domain().expect("an XRC domain"));
    let mut worker = Worker::new(&device, &domain);
    let (mut here, mut there) = UnixStream::pair().expect("sockets");
    let srqn = worker.srqn();
    let target = domain.target().expect("a target");
    let mut sender = Sender::new(&device);
    std::thread::scope(|scope| {
        scope.spawn(|| target.connect_over(&mut there, &path, &srqn.get().to_be_bytes()).expect("connected"));
        let peer = sender.pair.connect_over(&mut here, &path, &[]).expect("connected");
        let told = Srqn::truncate(u32::from_be_bytes(peer.data[..].try_into().expect("4 bytes")));
        sender.post(&wqe::send().to(told).inline(b"by handshake").signaled(WrId(1)));
        assert_eq!(sender.done(), (WrId(1), Ok(Side::Requester)));
    });
    assert_eq!(worker.receive(), (target.qp().qpn(), b"by handshake".to_vec(), None));

    let mut other = Sender::new(&device);
    let pd = device.protection_domain().expect("a PD");
    let mut rc = pd.queue_pair::<transport::Rc>(&other.cq, &other.cq).build().expect("a queue pair");
    let (mut here, mut there) = UnixStream::pair().expect("sockets");
    let path = &path;
    let (ours, theirs) = std::thread::scope(|scope| {
        let ours = scope.spawn(move || other.pair.connect_over(&mut here, path, &[]).map(drop));
        (rc.connect_over(&mut there, path, &[]).map(drop), ours.join().expect("no panic"))
    });
    for (error, is) in [(ours, "RC"), (theirs, "XRC initiator")] {
        let Err(Error::Mismatch { what: "transports", local, remote }) = error else {
            panic!("{error:?}");
        };
        assert!([&local, &remote].contains(&&is.to_owned()), "{local} {remote}");
    }
}

/// A domain of a file is one to all who name it.
#[test]
fn domains_of_files_are_shared() {
    let file = tempfile();
    let (one, two) = (device(), device());
    let domains = [&one, &two].map(|device| device.xrc_domain_of(&file).expect("an XRC domain"));
    let target = domains[0].target().expect("a target");
    // The second context's worker is reached through the first one's target.
    let mut worker = Worker::new(&two, &domains[1]);
    let (path, mut sender) = (path(&one), Sender::new(&one));
    sender.connect(&path, &target);
    for _ in 0..3 {
        sender.post(&wqe::send().to(worker.srqn()).inline(b"to another context").signaled(WrId(1)));
        assert_eq!(sender.done(), (WrId(1), Ok(Side::Requester)));
        assert_eq!(worker.receive(), (target.qp().qpn(), b"to another context".to_vec(), None));
    }
    // Of another domain, it is not.
    let mut elsewhere = Worker::new(&two, &two.xrc_domain().expect("an XRC domain"));
    sender.post(&wqe::send().to(elsewhere.srqn()).inline(b"?").signaled(WrId(2)));
    assert_eq!(sender.done(), (WrId(2), Err(WcStatus::RemInvReqErr)));
    assert!(elsewhere.cq.poll().is_none());
}

fn tempfile() -> std::fs::File {
    let path = std::env::temp_dir().join(format!("blueflame-xrc-{}", std::process::id()));
    let file = std::fs::File::create(&path).expect("a file");
    std::fs::remove_file(&path).expect("removed");
    file
}

#[test]
fn what_cannot_be_made_is_refused() {
    let (one, two) = (device(), device());
    let domain = one.xrc_domain().expect("an XRC domain");
    let pd = two.protection_domain().expect("a PD");
    let cq = two.completion_queue(8).build().expect("a CQ");
    let error = pd.xrc_shared_recv_queue(&domain, cq.handle(), 8, 1).expect_err("of two contexts");
    assert_eq!(error, Error::ForeignDevice { object: "shared receive queue", part: "XRC domain" });
    let domain = two.xrc_domain().expect("an XRC domain");
    let error = pd.xrc_shared_recv_queue(&domain, cq.handle(), 0, 1).expect_err("no receives");
    assert!(matches!(error, Error::OutOfRange { value: 0, min: 1, .. }), "{error}");
}

/// The parts keep the objects under them alive in any order of drops.
#[test]
fn parts_may_be_dropped_in_any_order() {
    let device = device();
    for order in 0..6 {
        let domain = device.xrc_domain().expect("an XRC domain");
        let mut parts: BTreeMap<usize, Box<dyn std::any::Any>> = BTreeMap::new();
        let Worker { srq, cq, pd, .. } = Worker::new(&device, &domain);
        let target = domain.target().expect("a target");
        let [a, b, c] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][order];
        parts.insert(a, Box::new(domain));
        parts.insert(b, Box::new((cq, target)));
        parts.insert(c, Box::new((pd, srq)));
        parts.into_values().for_each(drop);
    }
}
