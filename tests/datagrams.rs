//! Datagrams through libibverbs and libmlx5 as installed: queue pairs, address handles, headers, and the way back.
//!
//! Setup and traffic of datagram queue pairs belong here. The bytes of their requests belong in `tests/send_queue` and
//! `tests/differential`.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --
//! softhca-run --link ethernet --clock both --
//! softhca-run --link ethernet --clock real-time -- timestamps
//! softhca-run --no-write-combining --
//! softhca-run --strict --
//! ```

#![cfg(feature = "verbs")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blueflame::cq::cqe::{Grh, GrhKind, real_time_nanoseconds};
use blueflame::cq::{CqeError, Side, WcStatus};
use blueflame::transport::Ud;
use blueflame::types::{Qkey, Qpn, WrId};
use blueflame::verbs::device::{Gid, GidEntry, GidType, LinkLayer, Timestamps};
use blueflame::verbs::{
    Access, AddressCache, Buffer, Device, Drained, Endpoint, Error, OwnedCq, Path, Pool, ProtectionDomain, QpState,
    QueuePair,
};
use blueflame::wqe::data::Data;
use blueflame::wqe::{self, Request, SupportedOn, UdAddress};

use on_device::{device, paths, wait_for};

const QKEY: Qkey = Qkey(0x1122_3344);
/// Receives of an end, and bytes of each.
const RECEIVES: usize = 8;
const SLOT: usize = Grh::BYTES + 216;

/// A queue pair, and slots for its receives.
struct End {
    pair: QueuePair<Ud>,
    cq: OwnedCq,
    buffer: Buffer,
    path: Path,
}

/// A received datagram.
struct Received {
    header: Grh,
    message: Vec<u8>,
    imm: Option<u32>,
    from: Qpn,
    back: Result<blueflame::verbs::Route, Error>,
}

impl End {
    fn new(device: &Device, pd: &ProtectionDomain, path: &Path) -> Self {
        let cq = device.completion_queue(512).build().expect("a CQ");
        let builder = pd.queue_pair::<Ud>(&cq, &cq);
        let pair = builder.sends(16).receives(RECEIVES as u32).inline(100).build().expect("a queue pair");
        let mut pool = Pool::new(pd, RECEIVES * SLOT, Access::LOCAL_WRITE).expect("a pool");
        let buffer = pool.take(RECEIVES * SLOT).expect("all of it");
        let mut end = Self { pair, cq, buffer, path: path.clone() };
        for slot in 0..RECEIVES {
            end.post_receive(slot);
        }
        end.pair.activate(path, QKEY).expect("ready to send");
        end
    }

    fn post_receive(&mut self, slot: usize) {
        let sge = self.buffer.sge_of(slot * SLOT..(slot + 1) * SLOT);
        let rq = &mut self.pair.rq;
        // SAFETY: the buffer lives as long as the queue, and is looked at when the completion has come.
        unsafe { rq.post_unchecked(WrId(slot as u64), &[sge]) }.expect("room");
    }

    fn endpoint(&self) -> Endpoint {
        self.pair.qp.endpoint(&self.path)
    }

    fn send<O: SupportedOn<Ud>, D: Data>(&mut self, request: &Request<'_, O, D>) {
        // SAFETY: requests of these tests name buffers that live as long as the queue, and are left alone.
        unsafe { self.pair.sq.post_unchecked(request) }.expect("room");
    }

    /// The next datagram; sends complete on the way.
    fn receive(&mut self) -> Received {
        wait_for("a datagram", || {
            let cqe = self.cq.poll()?;
            if cqe.check().unwrap_or_else(|error| panic!("{error}")) == Side::Requester {
                self.pair.sq.retire(&cqe).expect("outstanding");
                return None;
            }
            let slot = self.pair.rq.retire(&cqe).expect("posted").0 as usize;
            let mut bytes = vec![0; cqe.byte_len() as usize];
            self.buffer.read(slot * SLOT, &mut bytes);
            let (header, message) = Grh::split(&bytes).expect("40 bytes");
            let received = Received {
                header,
                message: message.to_vec(),
                imm: cqe.imm(),
                from: cqe.src_qp(),
                back: self.path.route_back(&cqe, &header),
            };
            self.post_receive(slot);
            Some(received)
        })
    }
}

fn kind(entry: Option<GidEntry>) -> Option<GrhKind> {
    entry.map(|entry| match entry.kind {
        GidType::RoceV2 if entry.gid.is_ipv4() => GrhKind::Ipv4,
        GidType::RoceV2 => GrhKind::Ipv6,
        _ => GrhKind::GlobalRoute,
    })
}

/// Datagrams one way and answers the other, over every path: to the address that the peer sent, and to the source of
/// its datagram.
#[test]
fn datagrams_are_answered() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut kinds = BTreeSet::new();
    for mut path in paths(&device) {
        (path.traffic_class, path.hop_limit) = (0xa4, 17);
        let (mut a, mut b) = (End::new(&device, &pd, &path), End::new(&device, &pd, &path));
        let address = pd.address(&path.route(&b.endpoint()).expect("a route")).expect("an address handle");
        assert_eq!(address.compact().is_some(), path.sgid.is_none());
        let to = address.queue_pair(b.pair.qp.qpn(), QKEY);
        let mut cache = AddressCache::new(&pd, 4);
        for round in 0..20_u8 {
            let message = vec![round; usize::from(round) * 5];
            // All ways of sending, one after the other.
            match round % 4 {
                0 => a.send(&wqe::send().to(to).imm(u32::from(round)).inline_slice(&message[..]).signaled(WrId(1))),
                1 => a.send(&wqe::send().to(to).inline_slice(&message[..]).signaled(WrId(1))),
                2 if address.compact().is_some() => {
                    let near = UdAddress::new(address.compact().expect("compact"), to.qpn(), QKEY);
                    a.send(&wqe::send().to(near).inline_slice(&message[..]).signaled(WrId(1)));
                }
                _ => {
                    // Gathered from a slot that a receive has, too: nobody sends to this end meanwhile.
                    a.buffer.write(0, &message);
                    let sge = a.buffer.sge_of(0..message.len());
                    a.send(&wqe::send().to(to).gather([sge]).signaled(WrId(1)));
                }
            }
            let got = b.receive();
            assert_eq!((&got.message, got.from), (&message, a.pair.qp.qpn()), "{path:?}");
            assert_eq!(got.imm, (round % 4 == 0).then_some(u32::from(round)));
            if let Some(entry) = path.sgid {
                assert_eq!(Some(got.header.kind()), kind(path.sgid));
                assert_eq!((got.header.source_gid(), got.header.destination_gid()), (entry.gid.0, entry.gid.0));
                assert_eq!((got.header.traffic_class(), got.header.hop_limit()), (0xa4, 17));
            }
            let back = got.back.expect("a way back");
            let answer = UdAddress::new(cache.vector(&back).expect("an address"), got.from, QKEY);
            b.send(&wqe::send().to(answer).inline_slice(&message[..]).signaled(WrId(2)));
            let got = a.receive();
            assert_eq!((got.message, got.from), (message, b.pair.qp.qpn()));
        }
        assert_eq!(cache.len(), 1, "one peer, one handle");
        kinds.insert(kind(path.sgid).map(|kind| kind as u8));
    }
    let expected = match device.port(1).expect("port 1").link_layer {
        LinkLayer::InfiniBand => 2,
        LinkLayer::Ethernet => 3,
    };
    assert_eq!(kinds.len(), expected, "headers of every kind");
}

#[test]
fn datagrams_with_another_key_are_lost_in_silence() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let (mut a, mut b) = (End::new(&device, &pd, &path), End::new(&device, &pd, &path));
    let address = pd.address(&path.route(&b.endpoint()).expect("a route")).expect("an address handle");
    let (number, long) = (b.pair.qp.qpn(), [1; SLOT]);
    a.send(&wqe::send().to(address.queue_pair(number, Qkey(QKEY.0 ^ 1))).inline(b"wrong key").signaled(WrId(1)));
    // Longer than the receive.
    a.buffer.write(0, &long);
    let all = a.buffer.sge_of(0..SLOT);
    a.send(&wqe::send().to(address.queue_pair(number, QKEY)).gather([all]).signaled(WrId(2)));
    a.send(&wqe::send().to(address.queue_pair(number, QKEY)).inline(b"right").signaled(WrId(3)));
    assert_eq!(b.receive().message, b"right");
    assert!(b.cq.poll().is_none());
}

#[test]
fn paths_that_cannot_be_are_refused() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    for path in paths(&device) {
        let (mut a, mut b) = (End::new(&device, &pd, &path), End::new(&device, &pd, &path));
        let address = pd.address(&path.route(&b.endpoint()).expect("a route")).expect("an address handle");
        a.send(&wqe::send().to(address.queue_pair(b.pair.qp.qpn(), QKEY)).inline(b"to another").signaled(WrId(1)));
        let other = Gid([0x20; 16]);
        b.path.sgid = b.path.sgid.map(|entry| GidEntry { gid: other, ..entry });
        let got = b.receive();
        match (path.sgid, got.back) {
            (None, back) => assert!(back.is_ok()),
            (Some(_), Err(error @ Error::NoWayBack { .. })) => {
                assert!(error.to_string().contains(&other.to_string()), "{error}");
            }
            (Some(_), back) => panic!("{back:?}"),
        }
    }
    let path = device.path(1, None).expect("a path");
    let mut pair = End::new(&device, &pd, &path).pair;
    let again = pair.activate(&path, QKEY).expect_err("it is in RTS");
    assert_eq!(again, Error::WrongState { is: QpState::ReadyToSend, to: QpState::Init });
    let nobody = Endpoint { lid: 0, gid: Gid::default(), ..pair.qp.endpoint(&path) };
    assert!(matches!(path.route(&nobody), Err(Error::PeerWithoutAddress { .. })));
}

/// A queue pair whose timestamps are the time, on devices that have it: that of `softhca-run --clock both`, for one.
#[test]
fn timestamps_are_the_time() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let real_time = device.completion_queue(512).real_time(true).build();
    if std::env::var_os("SOFTHCA_DEVICES").is_some() {
        let set = std::env::var("SOFTHCA_CLOCK").is_ok_and(|clock| clock != "free-running");
        let ethernet = device.port(1).expect("port 1").link_layer == LinkLayer::Ethernet;
        assert_eq!(real_time.is_ok(), set && ethernet);
    }
    let cq = match real_time {
        Ok(cq) => cq,
        Err(error) => {
            assert_eq!(error, Error::Unsupported { what: "real-time timestamps" });
            if std::env::var("SOFTHCA_CLOCK").is_ok_and(|clock| clock == "free-running") {
                assert_eq!(device.clock().expect("a clock").real_time(), Err(Error::NoRealTime));
            }
            return;
        }
    };
    let other = device.completion_queue(512).free_running(true).build().expect("a CQ");
    let differ = pd.queue_pair::<Ud>(&cq, &other).sends(1).build().expect_err("two formats");
    assert!(matches!(&differ, Error::Call(call) if call.errno == libc::EOPNOTSUPP), "{differ:?}");
    assert!(differ.to_string().contains("free_running"), "{differ}");
    stamps_are_near(&device, cq, Timestamps::RealTime);
}

/// Cycles, on devices that have them: all but those of `softhca-run --clock real-time`.
#[test]
fn timestamps_are_cycles() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(512).free_running(true).build().expect("a CQ");
    let alone = std::env::var("SOFTHCA_CLOCK").is_ok_and(|clock| clock == "real-time");
    let ethernet = device.port(1).expect("port 1").link_layer == LinkLayer::Ethernet;
    if alone && ethernet {
        // Without the choice, the stamps would be times.
        let refused = pd.queue_pair::<Ud>(&cq, &cq).sends(1).build().expect_err("the device has no cycles");
        assert!(matches!(&refused, Error::Call(call) if call.errno == libc::EOPNOTSUPP), "{refused:?}");
        return;
    }
    stamps_are_near(&device, cq, Timestamps::FreeRunning);
}

/// Without a choice, stamps are cycles or times, as the device likes. So a device that has both makes no times of them.
#[test]
fn timestamps_of_either_clock_are_not_converted() {
    let device = device();
    let (clock, cq) = (device.clock().expect("a clock"), device.completion_queue(16).build().expect("a CQ"));
    let has_real_time = device.completion_queue(16).real_time(true).build().is_ok();
    let refused = clock.correlate(cq.handle()).err();
    assert_eq!(refused, has_real_time.then_some(Error::EitherClock));
    let foreign = self::device().completion_queue(16).free_running(true).build().expect("a CQ");
    let error = Error::ForeignDevice { object: "clock", part: "completion queue" };
    assert_eq!(clock.correlate(foreign.handle()).err(), Some(error));
}

/// Sends a message to itself, and checks the times of both completions.
fn stamps_are_near(device: &Device, mut cq: OwnedCq, timestamps: Timestamps) {
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let mut pair = pd.queue_pair::<Ud>(&cq, &cq).sends(4).receives(1).inline(40).build().expect("a QP");
    let mut pool = Pool::new(&pd, SLOT, Access::LOCAL_WRITE).expect("a pool");
    let buffer = pool.take(SLOT).expect("all of it");
    // SAFETY: the buffer lives as long as the queue.
    unsafe { pair.rq.post_unchecked(WrId(0), &[buffer.sge_of(0..SLOT)]) }.expect("room");
    pair.activate(&path, QKEY).expect("ready to send");
    let route = path.route(&pair.qp.endpoint(&path)).expect("a route");
    let to = pd.address(&route).expect("an address handle").queue_pair(pair.qp.qpn(), QKEY);
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let before = now();
    pair.sq.post(&wqe::send().to(to).inline(b"to itself").signaled(WrId(1))).expect("room");
    for _ in 0..2 {
        let stamp = wait_for("a completion", || {
            let cqe = cq.poll()?;
            cqe.check().unwrap_or_else(|error| panic!("{error}"));
            Some(cqe.timestamp())
        });
        // The device's clock is not adjusted while it is open. Its thread may wait for a CPU.
        let slack = Duration::from_millis(200);
        let times = before - slack..=now() + slack;
        let correlation = device.clock().expect("a clock").correlate(cq.handle()).expect("it moves");
        let time = correlation.time_of(stamp);
        assert!(times.contains(&Duration::from_nanos(time.nanoseconds)), "{times:?} {time:?}");
        assert!(time.error > correlation.moment().error && time.error < 100_000_000, "{correlation:?} {time:?}");
        if timestamps == Timestamps::RealTime {
            let stamp = Duration::from_nanos(real_time_nanoseconds(stamp));
            assert!(times.contains(&stamp), "{times:?} {stamp:?}");
        }
    }
}

/// Memory that a program unmaps while it is registered. A NIC would write to its pages, which nobody else has any more;
/// the software device says that it cannot.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_receive_into_memory_that_was_unmapped_fails() {
    if std::env::var_os("SOFTHCA_DEVICES").is_none() {
        return;
    }
    const PAGE: usize = 4096;
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let mut a = End::new(&device, &pd, &path);
    let mut cq = device.completion_queue(512).build().expect("a CQ");
    let mut pair = pd.queue_pair::<Ud>(&cq, &cq).sends(1).receives(1).build().expect("a queue pair");
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory, registered, and replaced by nothing while the device may write there. The address stays
    // taken: whatever else was mapped there, the device would write to.
    let region = unsafe {
        let at = libc::mmap(std::ptr::null_mut(), PAGE, prot, flags, -1, 0);
        assert_ne!(at, libc::MAP_FAILED);
        let region = blueflame_sys::ibv_reg_mr(pd.as_raw(), at, PAGE, 1);
        assert!(!region.is_null());
        assert_eq!(libc::mmap(at, PAGE, libc::PROT_NONE, flags | libc::MAP_FIXED, -1, 0), at);
        region
    };
    // SAFETY: alive until it is deregistered below.
    let (addr, lkey) = unsafe { ((*region).addr as u64, blueflame::types::Lkey((*region).lkey)) };
    let sge = wqe::Sge { addr, length: PAGE as u32, lkey };
    // SAFETY: nobody has the memory.
    unsafe { pair.rq.post_unchecked(WrId(9), &[sge]) }.expect("room");
    pair.activate(&path, QKEY).expect("ready to send");
    let address = pd.address(&path.route(&pair.qp.endpoint(&path)).expect("a route")).expect("an address handle");
    a.send(&wqe::send().to(address.queue_pair(pair.qp.qpn(), QKEY)).inline(b"into nothing").signaled(WrId(2)));
    let status = wait_for("a completion", || cq.poll().map(|cqe| cqe.check()));
    assert!(matches!(status, Err(CqeError::Completion(e)) if e.status() == WcStatus::LocProtErr), "{status:?}");
    drop(pair);
    // SAFETY: registered above, and nothing uses it.
    assert_eq!(unsafe { blueflame_sys::ibv_dereg_mr(region) }, 0);
}

/// A cache that is full forgets the route that was not asked for longest, and no more.
#[test]
fn caches_keep_what_is_asked_for() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let pair = End::new(&device, &pd, &path).pair;
    let route = path.route(&pair.qp.endpoint(&path)).expect("a route");
    let routes = [0, 1, 2, 3].map(|level| blueflame::verbs::Route { service_level: level, ..route });
    let mut cache = AddressCache::new(&pd, 3);
    assert!(cache.is_empty());
    let vectors = routes.map(|route| cache.vector(&route).expect("an address"));
    assert_eq!(cache.len(), 3);
    // On RoCE v2 each handle has a source port of its own: a handle that was kept gives the same vector again.
    for (route, vector) in routes.iter().zip(vectors).skip(1) {
        assert_eq!(cache.vector(route), Ok(vector));
    }
    cache.vector(&routes[0]).expect("an address");
    assert_eq!(cache.vector(&routes[2]), Ok(vectors[2]));
    cache.forget(&routes[2]);
    assert_eq!(cache.len(), 2);
}

/// Everything posted is accounted for, and after a reset the queue pair takes datagrams again.
#[test]
fn drained_reset_and_activated_again() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let (mut a, mut b) = (End::new(&device, &pd, &path), End::new(&device, &pd, &path));
    for round in 0..3_u8 {
        let address = pd.address(&path.route(&b.endpoint()).expect("a route")).expect("an address handle");
        let to = address.queue_pair(b.pair.qp.qpn(), QKEY);
        a.send(&wqe::send().to(to).inline(&[round; 9]).signaled(WrId(1)));
        assert_eq!(b.receive().message, [round; 9]);
        let mut flushed = 0;
        let mut drain = b.pair.drain().expect("ERR");
        while !drain.is_done() {
            b.cq.poll_with(16, |cqe| {
                assert!(matches!(cqe.check(), Err(CqeError::Completion(e)) if e.status() == WcStatus::WrFlushErr));
                flushed += usize::from(matches!(drain.take(&cqe), Ok(Some(Drained::Receive(_)))));
            });
        }
        assert_eq!(flushed, RECEIVES);
        b.pair.reset(&mut [&mut b.cq], |_| ()).expect("RESET");
        for slot in 0..RECEIVES {
            b.post_receive(slot);
        }
        b.pair.activate(&path, QKEY).expect("ready to send");
    }
}

/// Two queue pairs that take their receives from one shared queue: each gets its own datagrams.
#[test]
fn receives_may_be_shared() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let mut a = End::new(&device, &pd, &path);
    let buffer = Pool::new(&pd, 4 * SLOT, Access::LOCAL_WRITE).expect("a pool").take(4 * SLOT).expect("all of it");
    let mut cq = device.completion_queue(512).build().expect("a CQ");
    let mut srq = pd.shared_recv_queue(8, 1).expect("an SRQ");
    let pairs = [(); 2].map(|()| {
        let builder = pd.queue_pair::<Ud>(&cq, &cq).shared_recv_queue(srq.handle());
        let mut pair = builder.build().expect("a queue pair");
        pair.activate(&path, QKEY).expect("ready to send");
        pair
    });
    for slot in 0..4 {
        let sge = buffer.sge_of(slot * SLOT..(slot + 1) * SLOT);
        // SAFETY: the buffer lives as long as the queue, and is looked at when the completion has come.
        unsafe { srq.post_unchecked(WrId(slot as u64), &[sge]) }.expect("room");
    }
    for n in 0..4_u8 {
        let there = &pairs[usize::from(n % 2)].qp;
        let address = pd.address(&path.route(&there.endpoint(&path)).expect("a route")).expect("an address handle");
        a.send(&wqe::send().to(address.queue_pair(there.qpn(), QKEY)).inline(&[n; 3]).signaled(WrId(1)));
    }
    let seen = [(); 4].map(|()| {
        wait_for("a datagram", || {
            let cqe = cq.poll()?;
            assert_eq!(cqe.check(), Ok(Side::Responder));
            // SAFETY: both queue pairs receive from there; polled once.
            let slot = unsafe { srq.retire(&cqe) }.expect("posted").0 as usize;
            let mut bytes = [0; Grh::BYTES + 3];
            buffer.read(slot * SLOT, &mut bytes);
            Some((cqe.qpn(), bytes[Grh::BYTES..].to_vec()))
        })
    });
    let expected = [0, 1, 2, 3].map(|n: u8| (pairs[usize::from(n % 2)].qp.qpn(), vec![n; 3]));
    assert_eq!(seen, expected);
}
