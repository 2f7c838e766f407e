//! Dynamic connections through libibverbs and libmlx5 as installed: initiators, targets, their states and their errors.
//!
//! Setup and traffic of dynamic connections belong here. The bytes of their requests belong in `tests/send_queue` and
//! `tests/differential`.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --
//! softhca-run --link ethernet --clock both --
//! softhca-run --no-write-combining --
//! softhca-run --strict --
//! ```

#![cfg(feature = "verbs")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use blueflame::cq::{CqeError, Side, WcOpcode, WcStatus};
use blueflame::transport::{Dci, DciStreams, Rc, Transport};
use blueflame::types::{DcKey, DciStream, Qpn, WrId};
use blueflame::verbs::adopt::adopt_qp;
use blueflame::verbs::{
    Access, Buffer, Dct, Device, Drained, Endpoint, Error, OwnedCq, OwnedSrq, Path, Pool, ProtectionDomain, QpState,
    QueuePair,
};
use blueflame::wqe::address::DcStream;
use blueflame::wqe::data::Data;
use blueflame::wqe::{self, DcAddress, Request, SupportedOn};
use blueflame::{PostError, Remote};

use on_device::{device, paths, wait_for};

const KEY: DcKey = DcKey(0xfeed_beef_0123_4567);
/// Receives of a target, and bytes of each.
const RECEIVES: usize = 8;
const SLOT: usize = 256;

/// An initiator, and memory for it.
struct Near<T: Transport = Dci> {
    pair: QueuePair<T>,
    cq: OwnedCq,
    buffer: Buffer,
}

impl Near {
    fn new(device: &Device, pd: &ProtectionDomain, path: &Path) -> Self {
        let cq = device.completion_queue(512).build().expect("a CQ");
        let builder = pd.queue_pair::<Dci>(&cq, &cq);
        let mut pair = builder.sends(16).inline(100).send_sge(2).build().expect("an initiator");
        assert_eq!(pair.rq.capacity(), 0);
        let nothing = pair.sq.post(&wqe::nop()).expect_err("not ready to send");
        assert!(matches!(nothing, PostError::NotReadyToSend), "{nothing}");
        pair.activate(path).expect("ready to send");
        let buffer = Pool::new(pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
        Self { pair, cq, buffer }
    }
}

impl<T: Transport> Near<T> {
    /// Posts, and waits for the completion.
    fn run<O: SupportedOn<T>, D: Data>(&mut self, request: &Request<'_, O, D>) -> Result<WcOpcode, CqeError> {
        // SAFETY: the buffer lives as long as the queue, and is looked at when the completion has come.
        unsafe { self.pair.sq.post_unchecked(request) }.expect("room");
        wait_for("a completion", || {
            let cqe = self.cq.poll()?;
            assert_eq!(self.pair.sq.retire(&cqe).expect("outstanding").wr_id, request.id());
            Some(cqe.check().map(|side| {
                assert_eq!(side, Side::Requester);
                cqe.wc_opcode()
            }))
        })
    }
}

/// A target, its receives, and memory that it gives.
struct Far {
    target: Dct,
    srq: OwnedSrq,
    cq: OwnedCq,
    slots: Buffer,
    window: Buffer,
}

/// A received message.
#[derive(Debug, PartialEq)]
struct Received {
    message: Vec<u8>,
    imm: Option<u32>,
    from: Qpn,
}

impl Far {
    fn new(device: &Device, pd: &ProtectionDomain, path: &Path) -> Self {
        Self::with_key(device, pd, path, KEY)
    }

    fn with_key(device: &Device, pd: &ProtectionDomain, path: &Path, key: DcKey) -> Self {
        let cq = device.completion_queue(512).build().expect("a CQ");
        let srq = pd.shared_recv_queue(RECEIVES as u32, 1).expect("an SRQ");
        let target = pd.target(&cq, srq.handle()).build(path, key).expect("a target");
        let take = |bytes| Pool::new(pd, bytes, Access::ALL).expect("a pool").take(bytes).expect("all of it");
        let mut far = Self { target, srq, cq, slots: take(RECEIVES * SLOT), window: take(4096) };
        (0..RECEIVES).for_each(|slot| far.post_receive(slot));
        far
    }

    fn post_receive(&mut self, slot: usize) {
        let sge = self.slots.sge_of(slot * SLOT..(slot + 1) * SLOT);
        // SAFETY: the buffer lives as long as the queue, and is looked at when the completion has come.
        unsafe { self.srq.post_unchecked(WrId(slot as u64), &[sge]) }.expect("room");
    }

    fn address(&self, pd: &ProtectionDomain, path: &Path) -> DcAddress {
        let handle = pd.address(&path.route(&self.target.endpoint(path)).expect("a route")).expect("an address handle");
        handle.target(self.target.dctn(), self.target.key())
    }

    fn remote(&self, at: u64) -> Remote {
        self.window.remote().at(at)
    }

    /// The next message, if it is there.
    fn received(&mut self) -> Option<Received> {
        let cqe = self.cq.poll()?;
        assert_eq!(cqe.check(), Ok(Side::Responder));
        assert_eq!(cqe.qpn(), self.target.dctn());
        // SAFETY: nothing else completes there; polled once.
        let slot = unsafe { self.srq.retire(&cqe) }.expect("posted").0 as usize;
        let mut message = vec![0; cqe.byte_len() as usize];
        // Of a WRITE with immediate data, the bytes are elsewhere.
        let written = cqe.wc_opcode() == WcOpcode::RecvRdmaWithImm;
        if written {
            self.window.read(0, &mut message)
        } else {
            self.slots.read(slot * SLOT, &mut message)
        }
        let received = Received { message, imm: cqe.imm(), from: cqe.src_qp() };
        self.post_receive(slot);
        Some(received)
    }

    fn receive(&mut self) -> Received {
        wait_for("a message", || self.received())
    }
}

/// Every operation, to two targets in turn, over every path.
#[test]
fn requests_reach_the_target_that_each_names() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    for mut path in paths(&device) {
        (path.traffic_class, path.hop_limit) = (0xa4, 17);
        let mut near = Near::new(&device, &pd, &path);
        let mut fars = [Far::new(&device, &pd, &path), Far::new(&device, &pd, &path)];
        assert_ne!(fars[0].target.dctn(), fars[1].target.dctn());
        let me = near.pair.qp.qpn();
        for round in 0..8_u8 {
            let far = &mut fars[usize::from(round % 2)];
            let to = far.address(&pd, &path);
            assert_eq!((to.dctn(), to.key()), (far.target.dctn(), KEY));
            let message = vec![round; usize::from(round) * 12];
            let sge = near.buffer.sge_of(0..message.len());
            near.buffer.write(0, &message);
            let told = |imm| Received { message: message.clone(), imm, from: me };
            assert_eq!(near.run(&wqe::send().to(to).inline_slice(&message[..]).signaled(WrId(1))), Ok(WcOpcode::Send));
            assert_eq!(far.receive(), told(None));
            assert_eq!(near.run(&wqe::send().to(to).imm(7).gather([sge]).signaled(WrId(2))), Ok(WcOpcode::Send));
            assert_eq!(far.receive(), told(Some(7)));
            let write = wqe::write(far.remote(0)).to(to).imm(8).gather([sge]).signaled(WrId(3));
            assert_eq!(near.run(&write), Ok(WcOpcode::RdmaWrite));
            assert_eq!(far.receive(), told(Some(8)));

            let (word, value) = (far.remote(512), [round; 8]);
            let found = u64::from_ne_bytes(value);
            let result = |n: u64| (near.buffer.addr() + 1024 + 8 * n, near.buffer.lkey());
            let [(first, lkey), (second, _)] = [result(0), result(1)];
            let write = wqe::write(word).to(to).inline(&value).signaled(WrId(4));
            assert_eq!(near.run(&write), Ok(WcOpcode::RdmaWrite));
            let add = wqe::fetch_add(word, 1).to(to).result(first, lkey).signaled(WrId(5));
            assert_eq!(near.run(&add), Ok(WcOpcode::FetchAdd));
            let swap = wqe::compare_swap(word, found + 1, 99).to(to).result(second, lkey).signaled(WrId(6));
            assert_eq!(near.run(&swap), Ok(WcOpcode::CompSwap));
            let mut olds = [0; 16];
            near.buffer.read(1024, &mut olds);
            assert_eq!(olds, [found.to_ne_bytes(), (found + 1).to_ne_bytes()].as_flattened());

            let read = wqe::read(far.remote(0)).to(to).scatter([near.buffer.sge_of(2048..2048 + message.len())]);
            assert_eq!(near.run(&read.signaled(WrId(7))), Ok(WcOpcode::RdmaRead));
            let mut back = vec![0; message.len()];
            near.buffer.read(2048, &mut back);
            assert_eq!(back, message, "{path:?}");
        }
    }
}

/// A target serves who knows its key. Other initiators end in the error state, and work again after a reset.
#[test]
fn a_wrong_key_ends_the_initiator_until_it_is_reset() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let (mut near, mut far) = (Near::new(&device, &pd, &path), Far::new(&device, &pd, &path));
    for round in 0..2_u8 {
        let to = far.address(&pd, &path);
        assert_eq!(near.run(&wqe::send().to(to).inline(&[round; 3]).signaled(WrId(1))), Ok(WcOpcode::Send));
        assert_eq!(far.receive().message, [round; 3]);
        let wrong = DcAddress::new(to.vector(), to.dctn(), DcKey(KEY.0 ^ 1 << 40));
        let failed = near.run(&wqe::send().to(wrong).inline(b"secret").signaled(WrId(2))).expect_err("refused");
        let CqeError::Completion(error) = &failed else { panic!("{failed}") };
        assert_ne!(error.status(), WcStatus::WrFlushErr, "{failed}");
        assert_eq!(near.pair.qp.state(), Ok(QpState::Error));
        let flushed = near.run(&wqe::send().to(to).inline(b"too late").signaled(WrId(3))).expect_err("flushed");
        assert!(matches!(flushed, CqeError::Completion(e) if e.status() == WcStatus::WrFlushErr), "{flushed}");
        assert!(far.cq.poll().is_none());
        near.pair.reset(&mut [&mut near.cq], |_| ()).expect("RESET");
        near.pair.activate(&path).expect("ready to send");
    }
}

/// A stream whose request fails is flushed until it is reset, and others go on; with the last one that may fail, the
/// initiator does.
#[test]
fn streams_fail_alone_and_work_again_when_they_are_reset() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    if device.attr().max_log_dci_errored == 0 {
        return;
    }
    for path in paths(&device) {
        let mut far = Far::new(&device, &pd, &path);
        let cq = device.completion_queue(512).build().expect("a CQ");
        let builder = pd.queue_pair::<DciStreams>(&cq, &cq);
        let pair = builder.sends(16).inline(100).streams(2, 1).build().expect("an initiator");
        let buffer = Pool::new(&pd, 64, Access::LOCAL_WRITE).expect("a pool").take(64).expect("all of it");
        let mut near = Near { pair, cq, buffer };
        let [one, other] = [DciStream(1), DciStream(0x8002)];
        let unready = near.pair.reset_stream(one).expect_err("it is in RESET");
        assert!(matches!(unready, Error::Call(call) if call.errno == libc::EOPNOTSUPP));
        near.pair.activate(&path).expect("ready to send");
        let to = far.address(&pd, &path);
        let wrong = DcAddress::new(to.vector(), to.dctn(), DcKey(KEY.0 ^ 2));
        let post = |near: &mut Near<DciStreams>, to: DcStream, text: &'static [u8]| {
            near.pair.sq.post(&wqe::send().to(to).inline_slice(text).signaled(WrId(text[0].into()))).expect("room");
        };
        let mut round = |near: &mut Near<DciStreams>, expected: [(u8, Option<WcStatus>); 5]| {
            // All are posted at once: the fifth uses a stream that has failed before it, or has not.
            for (text, to) in
                [("a", to.on(one)), ("b", wrong.on(one)), ("c", to.on(other)), ("d", to.on(one)), ("e", to.on(other))]
            {
                post(near, to, text.as_bytes());
            }
            let found = [(); 5].map(|()| {
                wait_for("a completion", || {
                    let cqe = near.cq.poll()?;
                    let id = near.pair.sq.retire(&cqe).expect("outstanding").wr_id.0 as u8;
                    let status = cqe.check().err().map(|error| match error {
                        CqeError::Completion(error) => error.status(),
                        other => panic!("{other}"),
                    });
                    Some((id, status))
                })
            });
            assert_eq!(found, expected);
            for (id, _) in expected.into_iter().filter(|(_, status)| status.is_none()) {
                assert_eq!(far.receive().message, [id]);
            }
        };
        let flushed = Some(WcStatus::WrFlushErr);
        let refused = Some(WcStatus::RemAccessErr);
        let fails = [(b'a', None), (b'b', refused), (b'c', None), (b'd', flushed), (b'e', None)];
        let has_failed = [(b'a', flushed), (b'b', flushed), (b'c', None), (b'd', flushed), (b'e', None)];
        round(&mut near, fails);
        assert_eq!(near.pair.qp.state(), Ok(QpState::ReadyToSend));
        round(&mut near, has_failed);
        let unasked = near.pair.reset_stream(other).expect_err("it has not failed");
        assert!(matches!(unasked, Error::Call(call) if call.errno == libc::EINVAL));
        round(&mut near, has_failed);
        near.pair.reset_stream(one).expect("it has failed");
        round(&mut near, fails);
        // The second one that fails is the last.
        let last = near.run(&wqe::send().to(wrong.on(DciStream(9))).inline(b"x").signaled(WrId(1)));
        assert!(matches!(last, Err(CqeError::Completion(e)) if e.status() == WcStatus::RemAccessErr), "{last:?}");
        assert_eq!(near.pair.qp.state(), Ok(QpState::Error));
        near.pair.reset_stream(one).expect_err("all have failed");
    }
}

/// Outstanding requests are accounted for. The target has no receives, and never gets any.
#[test]
fn requests_are_drained() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let (mut near, far) = (Near::new(&device, &pd, &path), Far::new(&device, &pd, &path));
    let cq = device.completion_queue(8).build().expect("a CQ");
    let srq = pd.shared_recv_queue(1, 1).expect("an SRQ");
    let empty = pd.target(&cq, srq.handle()).build(&path, KEY).expect("a target");
    let to = DcAddress::new(far.address(&pd, &path).vector(), empty.dctn(), KEY);
    for n in 0..5 {
        near.pair.sq.post(&wqe::send().to(to).inline(b"?").signaled(WrId(n))).expect("room");
    }
    let mut flushed = Vec::new();
    let mut drain = near.pair.drain().expect("ERR");
    while !drain.is_done() {
        near.cq.poll_with(16, |cqe| {
            if let Ok(Some(Drained::Send(done))) = drain.take(&cqe) {
                flushed.push(done.wr_id.0);
            }
        });
    }
    assert_eq!(flushed, [0, 1, 2, 3, 4]);
}

/// An initiator has one queue pair for all targets: messages of many arrive where they should, in order.
#[test]
fn one_initiator_serves_many_targets() {
    const TARGETS: usize = 40;
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let mut near = Near::new(&device, &pd, &path);
    let mut cq = device.completion_queue(512).build().expect("a CQ");
    let mut srq = pd.shared_recv_queue(256, 1).expect("an SRQ");
    let slots = Pool::new(&pd, 256 * 16, Access::ALL).expect("a pool").take(256 * 16).expect("all of it");
    let vector = Far::new(&device, &pd, &path).address(&pd, &path).vector();
    let targets: Vec<Dct> =
        (0..TARGETS).map(|n| pd.target(&cq, srq.handle()).build(&path, DcKey(n as u64)).expect("a target")).collect();
    for slot in 0..3 * TARGETS {
        // SAFETY: the buffer lives as long as the queue, and is looked at when the completion has come.
        unsafe { srq.post_unchecked(WrId(slot as u64), &[slots.sge_of(slot * 16..slot * 16 + 16)]) }.expect("room");
    }
    let (mut seen, mut sent) = (BTreeMap::<u32, Vec<u8>>::new(), 0);
    let begin = Instant::now();
    while seen.values().map(Vec::len).sum::<usize>() < 3 * TARGETS {
        // Of one target to another, and on again.
        if sent < 3 * TARGETS {
            let target = &targets[sent * 7 % TARGETS];
            let to = DcAddress::new(vector, target.dctn(), target.key());
            let round = [(sent / TARGETS) as u8];
            let request = wqe::send().to(to).inline(&round).signaled(WrId(9));
            sent += usize::from(near.pair.sq.post(&request).is_ok());
        }
        near.cq.poll_with(16, |cqe| near.pair.sq.retire(&cqe).map(drop).expect("outstanding"));
        cq.poll_with(16, |cqe| {
            assert_eq!(cqe.check(), Ok(Side::Responder));
            // SAFETY: only receives of this queue complete there, and each completion is polled once.
            let slot = unsafe { srq.retire(&cqe) }.expect("posted").0 as usize;
            let mut message = [0];
            slots.read(slot * 16, &mut message);
            seen.entry(cqe.qpn().get()).or_default().push(message[0]);
        });
        assert!(begin.elapsed() < Duration::from_secs(20), "{seen:?}");
    }
    let expected = targets.iter().map(|target| (target.dctn().get(), vec![0, 1, 2])).collect();
    assert_eq!(seen, expected);
}

/// Impossible values are refused by a typed error, if possible before any object is made.
#[test]
fn what_cannot_be_is_refused() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let cq = device.completion_queue(512).build().expect("a CQ");
    let srq = pd.shared_recv_queue(8, 1).expect("an SRQ");
    let builder = || pd.queue_pair::<Dci>(&cq, &cq);
    assert_eq!((builder().recv_completions(), builder().sends(9).send_completions()), (0, 10));
    let out_of_range = |what, value, min, max| Error::OutOfRange { what, value, min, max };
    let mut nowhere = path.clone();
    nowhere.port.number = device.attr().ports + 1;
    let refused = pd.target(&cq, srq.handle()).build(&nowhere, KEY).expect_err("no such port");
    assert_eq!(refused, Error::NoPort { port: nowhere.port.number, ports: device.attr().ports });
    // Streams are as many as the device has, which may be none.
    let streams = |log| pd.queue_pair::<DciStreams>(&cq, &cq).streams(log, 0).build().map(drop);
    match device.attr().max_log_dci_streams {
        0 => assert_eq!(streams(1), Err(Error::Unsupported { what: "streams of initiators (DCI streams)" })),
        most => {
            let value = u64::from(most) + 1;
            let refused = out_of_range("log2 of an initiator's streams", value, 0, most.into());
            assert_eq!(streams(most + 1), Err(refused));
        }
    }
    let mut pair = builder().build().expect("an initiator");
    assert_eq!(pair.activate(&nowhere), Err(refused));
    pair.activate(&path).expect("ready to send");
    let again = pair.activate(&path).expect_err("it is in RTS");
    assert_eq!(again, Error::WrongState { is: QpState::ReadyToSend, to: QpState::Init });
}

/// `ib_send_lat` of perftest tells its peer by TCP its version, sizes, and, with colons between, the numbers of two
/// queue pairs. One is its initiator. The other is its target, whose number it tells once it has one. It tells no
/// access key, because all of perftest have the same. So programs with another exchange, such as `dc_pingpong`, do not
/// find it.
///
/// It tells both, the first of them again as a signal that it is ready, and once more both (`src/send_lat.c`, `main`).
/// Only their order tells them apart: their PSNs are other ones the second time if the clock's second has changed
/// (`src/perftest_communication.c`, `set_up_connection`).
struct Perftest {
    stream: TcpStream,
    /// How many messages about a queue pair have come.
    told: usize,
    /// Which of these is to have the target's number.
    awaited: Option<usize>,
    target: Option<Qpn>,
}

impl Perftest {
    /// perftest `src/perftest_resources.h`, `DC_KEY`.
    const KEY: DcKey = DcKey(0xffee_ddcc);
    /// Bytes of its message about a queue pair, without and with a GID, whose 16 bytes are separate numbers
    /// (`src/perftest_communication.h`, `KEY_MSG_SIZE`, `KEY_MSG_SIZE_GID`).
    const NUMBERS: [usize; 2] = [59, 108];
    /// Which of the numbers are the LID and the queue pair's.
    const LID: usize = 0;
    const QPN: usize = 2;
    /// From a queue pair's first message to its second one: those about both, and the signal.
    const ROUND: usize = 3;

    /// Answers a message with the same message, except for the identity of this side. `false` once the peer has gone.
    fn answer(&mut self, path: &Path, far: &Far) -> bool {
        let mut bytes = [0; 128];
        let len = match self.stream.read(&mut bytes) {
            Ok(len) => len,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
            // Its end may come while an answer of ours is unread: the system then resets the connection.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return false,
            Err(error) => panic!("{error}"),
        };
        let mut answer = bytes[..len].to_vec();
        if Self::NUMBERS.contains(&len) {
            let text = std::str::from_utf8(&bytes[..len - 1]).expect("digits");
            let mut numbers: Vec<String> = text.split(':').map(str::to_owned).collect();
            let qpn = Qpn::new(u32::from_str_radix(&numbers[Self::QPN], 16).expect("a number")).expect("24 bits");
            if qpn.get() == 0 {
                self.awaited.get_or_insert(self.told + Self::ROUND);
            } else if self.awaited == Some(self.told) {
                self.target = Some(qpn);
            }
            self.told += 1;
            let endpoint = far.target.endpoint(path);
            numbers[Self::LID] = format!("{:04x}", endpoint.lid);
            numbers[Self::QPN] = format!("{:06x}", endpoint.qpn.get());
            answer = [numbers.join(":").as_bytes(), &[0]].concat();
        }
        match self.stream.write_all(&answer) {
            Ok(()) => len != 0,
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// perftest's initiator sends to a target of this crate, whose initiator answers perftest's target.
#[test]
fn perftest_is_answered() {
    const MESSAGES: u32 = 100;
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let mut near = Near::new(&device, &pd, &path);
    let mut far = Far::with_key(&device, &pd, &path, Perftest::KEY);
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let mut client = Command::new("ib_send_lat");
    client.args(["-c", "DC", "-s", "8", "-F"]).args(["-n", &MESSAGES.to_string(), "-p", &port.to_string()]);
    client.args(path.sgid.map(|entry| ["-x".to_owned(), entry.index.to_string()]).into_iter().flatten());
    let client = match client.arg("127.0.0.1").stdout(Stdio::piped()).spawn() {
        Ok(client) => client,
        Err(error) if std::env::var_os("SOFTHCA_DEVICES").is_none() => {
            return println!("perftest is not here: {error}");
        }
        Err(error) => panic!("perftest: {error}"),
    };
    let (stream, _) = listener.accept().expect("a client");
    stream.set_nonblocking(true).expect("a socket");
    let mut perftest = Perftest { stream, told: 0, awaited: None, target: None };
    let (begin, mut answered) = (Instant::now(), 0);
    while perftest.answer(&path, &far) {
        if let Some(received) = far.received() {
            assert_eq!(received.message.len(), 8);
            let target = perftest.target.expect("it has said which");
            let endpoint = Endpoint { qpn: target, ..far.target.endpoint(&path) };
            let handle = pd.address(&path.route(&endpoint).expect("a route")).expect("an address handle");
            let to = handle.target(target, Perftest::KEY);
            assert_eq!(near.run(&wqe::send().to(to).inline(b"answered").signaled(WrId(1))), Ok(WcOpcode::Send));
            answered += 1;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{answered} of {MESSAGES} were answered");
        std::thread::yield_now();
    }
    let output = client.wait_with_output().expect("its end");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(answered, MESSAGES);
}

/// Queue pairs are adopted by their own type; the differential tests post to initiators that another library has made.
#[test]
fn targets_are_not_adopted() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let far = Far::new(&device, &pd, &path);
    let raw = NonNull::new(far.target.as_raw()).expect("a target");
    // SAFETY: alive, and refused.
    let refused = unsafe { adopt_qp::<Dci>(raw) }.expect_err("it posts nothing");
    assert_eq!(refused, Error::WrongTransport { is: "DCT".into(), wanted: "DCI" });
    // SAFETY: alive, and refused.
    let refused = unsafe { adopt_qp::<Rc>(raw) }.expect_err("it is no connection");
    assert_eq!(refused, Error::WrongTransport { is: "the driver's own".into(), wanted: "RC" });
    let near = Near::new(&device, &pd, &path);
    // SAFETY: alive, and refused: a queue of this crate is there already.
    let taken = unsafe { adopt_qp::<Dci>(NonNull::new(near.pair.qp.as_raw()).expect("an initiator")) };
    assert!(matches!(taken, Err(Error::Taken { .. })), "{taken:?}");
}
