//! The verbs layer on a device: libibverbs and libmlx5 as installed, this crate's queues over what they made.
//!
//! Needs an mlx5 device; the software one will do: `./run test` runs it under `softhca-run`.

use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use blueflame::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor};
use blueflame::cq::{CqeError, Notify, Side, WcStatus};
use blueflame::db::{OneFence, Register};
use blueflame::queue::{OwningRecvQueue, OwningSendQueue, RecvQueue, SendQueue};
use blueflame::transport::{self, Transport};
use blueflame::types::{Psn, WrId};
use blueflame::verbs::{
    Access, Buffer, Device, Error, LinkLayer, Mtu, Owned, OwnedCq, POOL_ALIGN, Path, Pool, ProtectionDomain, Qp,
    QpState, QueuePair, RawMemory, VerbsTransport, adopt_cq, adopt_qp, device_names,
};
use blueflame::wqe::{self, WorkRequest};
use rdma_sys as sys;

fn device() -> Device {
    match Device::open_first() {
        Ok(device) => device,
        Err(error) => panic!("{error}\nthese tests need an mlx5 device: run them by ./run test, or under softhca-run"),
    }
}

fn path(device: &Device) -> Path {
    let port = device.port(1).expect("port 1");
    let sgid = (port.link_layer == LinkLayer::Ethernet).then(|| device.default_gid(&port).expect("a GID"));
    Path::new(port, sgid)
}

/// One end of a connection, with memory of its own.
struct End<T: Transport, R: Register = blueflame::db::ExclusiveRegister> {
    qp: Qp,
    sq: Owned<SendQueue<T, R>, Qp>,
    rq: Option<Owned<RecvQueue, Qp>>,
    cq: OwnedCq,
    buffer: Buffer,
}

impl<T: VerbsTransport, R: Register> End<T, R> {
    fn new(pd: &ProtectionDomain, cq: OwnedCq, pair: QueuePair<T, R>) -> Self {
        let mut pool = Pool::new(pd, 1 << 16, Access::ALL).expect("a pool");
        let QueuePair { qp, sq, rq } = pair;
        Self { qp, sq, rq, cq, buffer: pool.take(1 << 16).expect("all of it") }
    }

    fn post(&mut self, request: &impl WorkRequest<T>) {
        // SAFETY: requests of these tests name the ends' buffers, which live as long as the queues, and are looked at
        // when the completion has come.
        unsafe { self.sq.post_unchecked(request) }.expect("post");
    }

    fn post_receive(&mut self, tag: u64) {
        let sge = [self.buffer.sge()];
        // SAFETY: as above.
        unsafe { self.rq.as_mut().expect("a receive queue").post(WrId(tag), &sge) }.expect("post a receive");
    }

    /// The next completion, which must be good: its queue, its tag, its bytes.
    fn completion(&mut self) -> (Side, WrId, u32) {
        let begin = Instant::now();
        loop {
            if let Some(cqe) = self.cq.poll() {
                let side = cqe.check().unwrap_or_else(|error| panic!("{error}"));
                let tag = match side {
                    Side::Requester => self.sq.retire(&cqe).expect("outstanding").wr_id,
                    Side::Responder => self.rq.as_mut().expect("a receive queue").retire(&cqe).expect("posted"),
                };
                return (side, tag, cqe.byte_len());
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
            std::thread::yield_now();
        }
    }

    fn bytes(&self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.buffer.read(0, &mut bytes);
        bytes
    }
}

fn end<T: VerbsTransport>(device: &Device, pd: &ProtectionDomain) -> End<T> {
    let cq = device.completion_queue(64).build().expect("a completion queue");
    let pair = pd.queue_pair(cq.handle(), cq.handle()).sends(16).receives(16).inline(64).build().expect("a queue pair");
    End::new(pd, cq, pair)
}

fn connect<T: Transport, A: Register, B: Register>(
    device: &Device,
    a: &mut Owned<SendQueue<T, A>, Qp>,
    b: &mut Owned<SendQueue<T, B>, Qp>,
) {
    let path = path(device);
    let (first, second) = (a.handle().clone(), b.handle().clone());
    let (at_a, at_b) =
        (first.endpoint_with(&path, Psn::truncate(0x123)), second.endpoint_with(&path, Psn::truncate(0xff_fff0)));
    for qp in [first, second] {
        qp.to_init(&path).expect("INIT");
    }
    a.connect(&path, &at_a, &at_b).expect("connect");
    b.connect(&path, &at_b, &at_a).expect("connect");
}

fn connected<T: VerbsTransport>(device: &Device, pd: &ProtectionDomain) -> (End<T>, End<T>) {
    let (mut a, mut b) = (end(device, pd), end(device, pd));
    connect(device, &mut a.sq, &mut b.sq);
    (a, b)
}

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
        assert_eq!(error, Error::OutOfRange { what: "port", value: number.into(), min: 1, max: attr.ports.into() });
    }
}

#[test]
fn pools_hand_out_disjoint_aligned_pieces() {
    let pd = device().protection_domain().expect("a PD");
    let mut pool = Pool::new(&pd, 10_000, Access::ALL | Access::RELAXED_ORDERING).expect("a pool");
    let capacity = pool.capacity();
    assert!(capacity >= 10_000 && capacity.is_multiple_of(4096), "{capacity} on {:?}", pool.pages());
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
fn rc_sends_writes_reads_and_adds() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    let message: Vec<u8> = (0..5000_u32).map(|i| (i * 7) as u8).collect();

    b.post_receive(1);
    a.buffer.write(0, &message);
    a.post(&wqe::send().gather([a.buffer.sge_of(0..message.len())]).signaled(WrId(2)));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), 5000));
    assert_eq!(a.completion().1, WrId(2));
    assert_eq!(b.bytes(5000), message);

    a.post(&wqe::write(b.buffer.remote().at(8)).inline(b"inline").signaled(WrId(3)));
    assert_eq!(a.completion().1, WrId(3));
    assert_eq!(b.bytes(14)[8..], *b"inline");

    a.buffer.fill(0);
    a.post(&wqe::read(b.buffer.remote()).scatter([a.buffer.sge_of(0..5000)]).signaled(WrId(4)));
    assert_eq!(a.completion().1, WrId(4));
    assert_eq!(a.bytes(5000), b.bytes(5000));

    b.buffer.write(64, &41_u64.to_ne_bytes());
    a.post(&wqe::fetch_add(b.buffer.remote().at(64), 1).result(a.buffer.addr(), a.buffer.lkey()).signaled(WrId(5)));
    assert_eq!(a.completion().1, WrId(5));
    assert_eq!((&a.bytes(8)[..], &b.bytes(72)[64..]), (&41_u64.to_ne_bytes()[..], &42_u64.to_ne_bytes()[..]));
}

#[test]
fn uc_sends_and_writes() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Uc>(&device, &pd);
    b.post_receive(1);
    a.post(&wqe::send().inline(b"unreliable").imm(0xabcd).signaled(WrId(2)));
    assert_eq!(a.completion().1, WrId(2));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), 10));
    assert_eq!(b.bytes(10), b"unreliable");
    b.post_receive(3);
    a.post(&wqe::write(b.buffer.remote().at(100)).inline(b"written").imm(1).signaled(WrId(4)));
    assert_eq!(a.completion().1, WrId(4));
    assert_eq!(b.completion(), (Side::Responder, WrId(3), 7));
    assert_eq!(b.bytes(107)[100..], *b"written");
}

#[test]
fn rings_wrap_many_times() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    for round in 0..2000_u64 {
        b.post_receive(round);
        let len = (round * 37 % 64 + 1) as usize;
        let message: Vec<u8> = (0..len as u64).map(|i| (round + i) as u8).collect();
        a.post(&wqe::send().inline(&message[..]).signaled(WrId(round)));
        assert_eq!(b.completion(), (Side::Responder, WrId(round), len as u32));
        assert_eq!(a.completion().1, WrId(round));
        assert_eq!(b.bytes(len), message, "round {round}");
    }
}

/// Messages on queues whose WQEs are copied by one routine, in the other flush mode.
struct CopiedMessages;

impl CopyVisitor for CopiedMessages {
    type Output = ();

    fn run<C: BlockCopy>(self, copy: C) {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let [mut a, mut b] = [(), ()].map(|()| {
            let cq = device.completion_queue(64).build().expect("a completion queue");
            let builder = pd.queue_pair::<transport::Rc>(cq.handle(), cq.handle()).sends(16).receives(16).inline(200);
            let pair = builder.build_with::<OneFence, _>(copy).expect("a queue pair");
            End::new(&pd, cq, pair)
        });
        connect(&device, &mut a.sq, &mut b.sq);
        // One WQEBB, whose words are in registers when it is copied, and several, which are copied out of the ring.
        for (tag, len) in (0..).zip([8, 32, 60, 120, 200]) {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8 ^ 0x55).collect();
            b.post_receive(tag);
            match <&[u8; 8]>::try_from(&*bytes) {
                Ok(bytes) => a.post(&wqe::send().inline(bytes).signaled(WrId(tag))),
                Err(_) => a.post(&wqe::send().inline(&*bytes).signaled(WrId(tag))),
            }
            a.sq.flush();
            assert_eq!((a.completion().1, b.completion()), (WrId(tag), (Side::Responder, WrId(tag), len)));
            assert_eq!(b.bytes(bytes.len()), bytes, "{}", C::ROUTINE);
        }
    }
}

#[test]
fn every_copy_routine_reaches_the_device() {
    // What ST64B needs of the memory behind a register, the software device's lacks.
    for routine in CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b) {
        routine.dispatch(CopiedMessages).expect("available");
    }
}

#[test]
fn large_cqes_and_several_gather_entries() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(10).cqe_bytes(128).build().expect("a CQ of 128-byte CQEs");
    let pair =
        pd.queue_pair::<transport::Rc>(cq.handle(), cq.handle()).send_sge(4).recv_sge(2).build().expect("a queue pair");
    let mut a = End::new(&pd, cq, pair);
    let mut b = end::<transport::Rc>(&device, &pd);
    connect(&device, &mut a.sq, &mut b.sq);
    b.post_receive(1);
    a.buffer.write(0, b"one two three");
    let pieces = [a.buffer.sge_of(8..13), a.buffer.sge_of(3..4), a.buffer.sge_of(0..3)];
    a.post(&wqe::send().gather(&pieces[..]).signaled(WrId(2)));
    assert_eq!(b.completion().2, 9);
    assert_eq!(a.completion().1, WrId(2));
    assert_eq!(b.bytes(9), b"three one");
}

#[test]
fn two_queue_pairs_share_a_receive_queue() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut srq = pd.shared_recv_queue(8, 1).expect("an SRQ");
    let srq_handle = srq.handle().clone();
    let mut pool = Pool::new(&pd, 8 * 128, Access::LOCAL_WRITE).expect("a pool");
    let receive: Vec<Buffer> = (0..8).map(|_| pool.take(128).expect("room")).collect();
    for (tag, buffer) in receive.iter().enumerate() {
        // SAFETY: looked at after completion, and alive longer than the queue pairs.
        unsafe { srq.post(WrId(tag as u64), &[buffer.sge()]) }.expect("post");
    }
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let build = |cq: &OwnedCq| {
        let builder = pd.queue_pair::<transport::Rc>(cq.handle(), cq.handle());
        builder.shared_recv_queue(&srq_handle).build().expect("a queue pair")
    };
    let (mut x, mut y) = (build(&cq), build(&cq));
    assert!(x.rq.is_none());
    let (mut a, mut b) = (end::<transport::Rc>(&device, &pd), end::<transport::Rc>(&device, &pd));
    connect(&device, &mut a.sq, &mut x.sq);
    connect(&device, &mut b.sq, &mut y.sq);
    for (sender, text) in [(&mut a, b"from a"), (&mut b, b"from b")] {
        sender.post(&wqe::send().inline(text).signaled(WrId(0)));
        sender.completion();
        let begin = Instant::now();
        let cqe = loop {
            if let Some(cqe) = cq.poll() {
                break cqe;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
            std::thread::yield_now();
        };
        assert_eq!(cqe.check(), Ok(Side::Responder));
        let tag = srq.retire(&cqe).expect("posted");
        let mut bytes = [0; 6];
        receive[tag.0 as usize].read(0, &mut bytes);
        assert_eq!(&bytes, text);
    }
    assert_eq!(srq.posted(), 6);
}

#[test]
fn events_wake_a_sleeper() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let channel = device.completion_channel().expect("a channel");
    let cq = device.completion_queue(16).channel(&channel).tag(0xfeed).build().expect("a CQ");
    let pair = pd.queue_pair::<transport::Rc>(cq.handle(), cq.handle()).build().expect("a queue pair");
    let mut b = End::new(&pd, cq, pair);
    let mut a = end::<transport::Rc>(&device, &pd);
    connect(&device, &mut a.sq, &mut b.sq);
    assert_eq!(channel.wait_timeout(Duration::ZERO), Ok(None), "nothing is armed");
    for round in 0..3 {
        b.post_receive(round);
        b.cq.arm(Notify::Any);
        assert!(b.cq.poll().is_none());
        a.post(&wqe::send().inline(b"wake up").signaled(WrId(round)));
        let event = channel.wait_timeout(Duration::from_secs(20)).expect("no error").expect("an event");
        assert_eq!(event.tag, 0xfeed);
        b.cq.event_received();
        assert_eq!(b.completion(), (Side::Responder, WrId(round), 7));
        a.completion();
    }
    a.post(&wqe::send().inline(b"not armed").signaled(WrId(9)));
    b.post_receive(9);
    b.completion();
    assert_eq!(channel.wait_timeout(Duration::from_millis(50)), Ok(None), "an event without arming");
    assert!(channel.as_fd().try_clone_to_owned().is_ok());
}

#[test]
fn states_follow_each_other_and_errors_flush() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, b) = (end::<transport::Rc>(&device, &pd), end::<transport::Rc>(&device, &pd));
    let path = path(&device);
    let (at_a, at_b) = (a.qp.endpoint_with(&path, Psn::truncate(1)), b.qp.endpoint_with(&path, Psn::truncate(2)));
    assert_eq!(a.qp.state(), Ok(QpState::Reset));
    assert!(a.sq.to_rts(&path, at_a.psn).is_err(), "RESET to RTS");
    a.qp.to_init(&path).expect("INIT");
    assert_eq!(a.qp.state(), Ok(QpState::Init));
    a.qp.to_rtr(&path, &at_b).expect("RTR");
    assert_eq!(a.qp.state(), Ok(QpState::ReadyToReceive));
    a.sq.to_rts(&path, at_a.psn).expect("RTS");
    assert_eq!(a.qp.state(), Ok(QpState::ReadyToSend));
    a.post_receive(77);
    a.qp.to_error().expect("ERR");
    assert_eq!(a.qp.state(), Ok(QpState::Error));
    let begin = Instant::now();
    let error = loop {
        if let Some(cqe) = a.cq.poll() {
            break cqe.check().expect_err("flushed");
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "the receive was not flushed");
        std::thread::yield_now();
    };
    let CqeError::Completion(error) = error else { panic!("{error}") };
    assert_eq!((error.side, error.status()), (Side::Responder, WcStatus::WrFlushErr));
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
    let error = pd
        .queue_pair::<transport::Rc>(cq.handle(), cq.handle())
        .sends(attr.max_qp_wr + 1)
        .build()
        .expect_err("too many");
    assert!(matches!(error, Error::OutOfRange { what: "requests of a send queue", .. }), "{error}");
    let error = pd.shared_recv_queue(attr.max_srq_wr + 1, 1).expect_err("too many");
    assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
}

#[test]
fn every_queue_pair_has_its_own_register() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(64).build().expect("a CQ");
    let pairs: Vec<QueuePair<transport::Rc>> =
        (0..24).map(|_| pd.queue_pair(cq.handle(), cq.handle()).build().expect("a queue pair")).collect();
    let mut numbers: Vec<u32> = pairs.iter().map(|pair| pair.qp.qpn().get()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    // Had two the same register, building the second would have failed.
    assert_eq!(numbers.len(), 24);
    drop(pairs);
    let again: QueuePair<transport::Rc> = pd.queue_pair(cq.handle(), cq.handle()).build().expect("registers come back");
    drop(again);
}

#[test]
fn queues_on_shared_registers_work_from_two_threads() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let build = || {
                    let cq = device.completion_queue(64).build().expect("a CQ");
                    let builder = pd.queue_pair::<transport::Rc>(cq.handle(), cq.handle()).inline(64);
                    // SAFETY: nothing here posts by libibverbs.
                    let pair = unsafe { builder.build_shared() }.expect("a queue pair");
                    End::new(&pd, cq, pair)
                };
                let (mut a, mut b) = (build(), build());
                connect(&device, &mut a.sq, &mut b.sq);
                for round in 0..200 {
                    b.post_receive(round);
                    a.post(&wqe::send().inline(&round.to_le_bytes()).signaled(WrId(round)));
                    assert_eq!(b.completion(), (Side::Responder, WrId(round), 8));
                    a.completion();
                    assert_eq!(b.bytes(8), round.to_le_bytes());
                }
            });
        }
    });
}

#[test]
fn queues_move_to_other_threads_and_outlive_what_they_were_made_from() {
    let (mut a, mut b) = {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        connected::<transport::Rc>(&device, &pd)
    };
    let receiver = std::thread::spawn(move || {
        b.post_receive(1);
        assert_eq!(b.completion(), (Side::Responder, WrId(1), 5));
        let bytes = b.bytes(5);
        // In an order that would be wrong without the handles: the completion queue first.
        let End { qp, sq, rq, cq, buffer } = b;
        drop((cq, buffer, qp));
        drop((rq, sq));
        bytes
    });
    a.post(&wqe::send().inline(b"hello").signaled(WrId(1)));
    assert_eq!(a.completion().1, WrId(1));
    assert_eq!(receiver.join().expect("the receiver"), b"hello");
}

#[test]
fn objects_of_other_libraries_are_adopted() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    // As another library would make them: plain verbs.
    // SAFETY: the context is open; a completion queue without channel or context.
    let raw_cq = unsafe { sys::ibv_create_cq(device.as_raw(), 32, std::ptr::null_mut(), std::ptr::null_mut(), 0) };
    let raw_cq = NonNull::new(raw_cq).expect("a CQ");
    // SAFETY: integers and null pointers.
    let mut attr: sys::ibv_qp_init_attr = unsafe { std::mem::zeroed() };
    (attr.send_cq, attr.recv_cq) = (raw_cq.as_ptr(), raw_cq.as_ptr());
    attr.qp_type = sys::ibv_qp_type::IBV_QPT_RC;
    attr.sq_sig_all = 1;
    attr.cap =
        sys::ibv_qp_cap { max_send_wr: 8, max_recv_wr: 8, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 32 };
    // SAFETY: the domain and the queue are alive.
    let raw_qp = NonNull::new(unsafe { sys::ibv_create_qp(pd.as_raw(), &raw mut attr) }).expect("a QP");

    // SAFETY: alive to the end of the test, posted to, polled and rung for by nobody else: the only queue pair that is not in
    // a thread domain of its own.
    let (cq, wrong) = unsafe { (adopt_cq(raw_cq).expect("adopt"), adopt_qp::<transport::Uc>(raw_qp)) };
    assert_eq!(wrong.err(), Some(Error::WrongTransport { is: "RC".into(), wanted: "UC" }));
    // SAFETY: as above.
    let pair = unsafe { adopt_qp::<transport::Rc>(raw_qp) }.expect("adopt");
    // SAFETY: as above; refused.
    let twice = unsafe { adopt_qp::<transport::Rc>(raw_qp) };
    assert!(matches!(twice, Err(Error::Taken { object: "queue pair", .. })), "the same one twice");

    let mut a = End::new(&pd, cq, pair);
    let mut b = end::<transport::Rc>(&device, &pd);
    connect(&device, &mut a.sq, &mut b.sq);
    b.post_receive(1);
    // Not signalled, but the queue pair signals all.
    a.post(&wqe::send().inline(b"adopted").wr_id(WrId(2)));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), 7));
    assert_eq!(a.completion().1, WrId(2));
    a.post_receive(3);
    // Longer than what would come in the CQE.
    b.post(&wqe::send().inline(&[7; 40]).signaled(WrId(4)));
    assert_eq!(a.completion(), (Side::Responder, WrId(3), 40));
    assert_eq!(b.completion().1, WrId(4));
    drop(a);
    // SAFETY: the adopting queues and handles are gone, and left both to their owner.
    unsafe {
        assert_eq!(sys::ibv_destroy_qp(raw_qp.as_ptr()), 0);
        assert_eq!(sys::ibv_destroy_cq(raw_cq.as_ptr()), 0);
    }
}

#[test]
fn a_path_mtu_is_the_smaller_of_both_sides() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = (end::<transport::Rc>(&device, &pd), end::<transport::Rc>(&device, &pd));
    let mut small = path(&device);
    small.mtu = Mtu::B256;
    let large = path(&device);
    let (at_a, at_b) = (a.qp.endpoint_with(&small, Psn::truncate(5)), b.qp.endpoint_with(&large, Psn::truncate(6)));
    a.qp.to_init(&small).expect("INIT");
    b.qp.to_init(&large).expect("INIT");
    a.sq.connect(&small, &at_a, &at_b).expect("connect");
    b.sq.connect(&large, &at_b, &at_a).expect("connect");
    b.post_receive(1);
    a.buffer.fill(0x5a);
    a.post(&wqe::send().gather([a.buffer.sge_of(0..1000)]).signaled(WrId(2)));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), 1000));
    a.completion();
    assert_eq!(b.bytes(1000), [0x5a; 1000]);
}

#[test]
fn queues_that_own_their_buffers_give_them_back() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (a, b) = connected::<transport::Rc>(&device, &pd);
    let mut pool = Pool::new(&pd, 1 << 13, Access::ALL).expect("a pool");
    let mut page = || Box::new(pool.take(64).expect("room"));
    let mut sq = OwningSendQueue::new(a.sq).expect("nothing is outstanding");
    let mut rq = OwningRecvQueue::new(b.rq.expect("a receive queue")).expect("nothing is posted");
    let (mut send_cq, mut recv_cq) = (a.cq, b.cq);
    for n in 0..20_u8 {
        let mut message = page();
        message.fill(n);
        rq.post(page()).expect("room");
        sq.gather(wqe::send(), message, 40).expect("room");
        let begin = Instant::now();
        let (mut sent, mut received) = (None, None);
        while sent.is_none() || received.is_none() {
            sent = sent.or_else(|| send_cq.poll().map(|cqe| sq.retire(&cqe).expect("outstanding").expect("a buffer")));
            received = received.or_else(|| recv_cq.poll().map(|cqe| rq.retire(&cqe).expect("posted")));
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        }
        let mut bytes = [0xff; 41];
        received.expect("just seen").read(0, &mut bytes);
        assert_eq!((&bytes[..40], bytes[40]), (&[n; 40][..], 0));
    }
}
