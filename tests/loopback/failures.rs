//! Requests that fail: the right status, then the flush. Every request and receive is reported once.
//!
//! Failing requests belong here, a failing network in `faults.rs`.

use std::collections::BTreeMap;

use blueflame::cq::error::KnownSyndrome;
use blueflame::cq::{Cqe, CqeError, Side, Syndrome, WcStatus};
use blueflame::queue::BlueFlamePolicy;
use blueflame::{Lkey, Remote, Rkey, Sge, WrId, transport};
use blueflame_testkit::request::{Data, Kind, Wr};
use blueflame_testkit::{Buffer, ConnectOptions, Device, End, Shape, connect, run_until_idle};
use softhca::context::{Access, QpState};
use softhca::event::Event;
use softhca::query::CqFault;

struct Lab {
    near: End<transport::Rc>,
    far: End<transport::Rc>,
    a: Device,
    b: Device,
    source: Buffer,
    window: Buffer,
    /// Tags of everything posted.
    sends: Vec<u64>,
    receives: Vec<u64>,
}

/// Statuses by tag, for sends and receives of one end.
#[derive(Debug, Default)]
struct Report {
    sends: Vec<(u64, WcStatus)>,
    receives: Vec<(u64, WcStatus)>,
}

const SHAPE: Shape = Shape { sq_wqebbs: 16, policy: BlueFlamePolicy::Inline, recv_sges: 2, cqes: 32, ..Shape::SMALL };

impl Lab {
    fn new(shape: &Shape) -> Self {
        Self::with(shape, &ConnectOptions { retry_cnt: 2, rnr_retry: 2, ..ConnectOptions::default() })
    }

    fn with(shape: &Shape, options: &ConnectOptions) -> Self {
        let (a, b) = Device::pair().expect("two devices");
        let (near, far) = (
            End::<transport::Rc>::new(&a, shape).expect("an end"),
            End::<transport::Rc>::new(&b, shape).expect("an end"),
        );
        connect(&near, &far, options).expect("a connection");
        let (mut source, window) = (a.buffer(8192).expect("memory"), b.buffer(8192).expect("memory"));
        source.write(0, &[0x77; 8192]);
        Self { near, far, a, b, source, window, sends: Vec::new(), receives: Vec::new() }
    }

    fn post(&mut self, kind: Kind, data: Data, signaled: bool) -> u64 {
        let id = 100 + self.sends.len() as u64;
        // SAFETY: the request names memory of the devices, which outlive the queue, or no memory that exists.
        unsafe { self.near.post(&Wr { signaled, ..Wr::new(kind, data, id) }) }.expect("room");
        self.sends.push(id);
        self.a.step();
        id
    }

    fn good(&mut self, signaled: bool) -> u64 {
        let (to, data) = (self.window.remote().at(4096), Data::Inline(b"good".to_vec()));
        self.post(Kind::Write(to), data, signaled)
    }

    /// Posts a receive into `len` bytes of the window.
    fn receive_at(&mut self, at: usize, len: usize) -> u64 {
        self.receive(&[self.window.sge(at..at + len)])
    }

    fn receive(&mut self, sges: &[Sge]) -> u64 {
        let id = 500 + self.receives.len() as u64;
        // SAFETY: as in `post`.
        unsafe { self.far.rq.post_unchecked(WrId(id), sges) }.expect("room");
        self.receives.push(id);
        id
    }

    fn run(&mut self) {
        run_until_idle(&[&self.a, &self.b]).expect("an end");
    }

    /// Posts `bad` among good requests, unsignalled ones too, and checks every status: those before it succeed, it
    /// fails with `syndrome`, all after it are flushed, signalled or not. Gives the peer's report.
    fn fails(&mut self, kind: Kind, data: Data, syndrome: KnownSyndrome) -> Report {
        self.good(false);
        let before = self.good(true);
        self.good(false);
        let bad = self.post(kind, data, false);
        let behind: Vec<_> = (0..3).map(|n| self.good(n % 2 == 0)).collect();
        self.run();
        let report = poll(&mut self.near);
        let mut expected = vec![(before, WcStatus::Success), (bad, syndrome.status())];
        expected.extend(behind.iter().map(|&id| (id, WcStatus::WrFlushErr)));
        assert_eq!(report.sends, expected);
        assert_eq!(self.near.sq.free(), self.near.sq.capacity(), "room that did not come back");
        assert_eq!(self.state(), QpState::Err);
        // Later requests are flushed as well.
        let late = [self.good(true), self.good(false)];
        self.run();
        let expected = late.map(|id| (id, WcStatus::WrFlushErr)).to_vec();
        assert_eq!(poll(&mut self.near).sends, expected);
        // And nothing comes twice.
        self.run();
        let again = poll(&mut self.near);
        assert!(again.sends.is_empty() && again.receives.is_empty(), "{again:?}");
        assert_eq!(self.near.sq.free(), self.near.sq.capacity());
        assert_eq!((self.a.complaints(), self.b.complaints()), (Vec::new(), Vec::new()));
        let report = poll(&mut self.far);
        let mut seen = BTreeMap::new();
        for (id, status) in &report.receives {
            assert_eq!(seen.insert(*id, *status), None, "receive {id} is reported twice");
        }
        report
    }

    fn state(&mut self) -> QpState {
        let qpn = self.near.qpn();
        self.a.look(|device| device.query_qp(qpn.get())).expect("a QP").state
    }

    fn gather(&self, len: usize) -> Data {
        Data::Sges(vec![self.source.sge(..len)])
    }
}

/// Takes every completion of an end. Each must retire something that is outstanding.
fn poll(end: &mut End<transport::Rc>) -> Report {
    let mut report = Report::default();
    let qpn = end.qpn();
    let take = |cqe: Cqe<'_>| {
        assert_eq!(cqe.qpn(), qpn);
        let (side, status) = match cqe.check() {
            Ok(side) => (side, WcStatus::Success),
            Err(CqeError::Completion(error)) => {
                assert_eq!(error.wqe_counter, cqe.wqe_counter());
                assert!(matches!(error.syndrome, Syndrome::Known(_)) && error.vendor_err_synd != 0, "{error}");
                (error.side, error.status())
            }
            Err(error) => panic!("{error}"),
        };
        match side {
            Side::Requester => report.sends.push((end.sq.retire(&cqe).expect("outstanding").wr_id.0, status)),
            Side::Responder => report.receives.push((end.rq.retire(&cqe).expect("a posted receive").0, status)),
        }
    };
    end.cq.poll_with(usize::MAX, take);
    report
}

#[test]
fn remote_access() {
    let rights = |access| {
        move |lab: &mut Lab| {
            let buffer = lab.b.buffer_with(64, access).expect("memory");
            buffer.remote()
        }
    };
    let read_only = Access { remote_read: true, ..Access::default() };
    let write_only = Access { local_write: true, remote_write: true, ..Access::default() };
    type Where<'a> = &'a dyn Fn(&mut Lab) -> Remote;
    let stale: Where = &|lab| {
        let buffer = lab.b.buffer(64).expect("memory");
        lab.b.deregister(buffer.rkey()).expect("a key");
        buffer.remote()
    };
    let wrong: Where = &|lab| Remote { rkey: Rkey(lab.window.rkey().0 ^ 0x100), ..lab.window.remote() };
    let past_the_end: Where = &|lab| lab.window.remote().at(8192 - 8).at(1);
    let cases: [(Where, bool); 6] = [
        (stale, true),
        (wrong, true),
        (wrong, false),
        (past_the_end, true),
        (&rights(read_only), true),
        (&rights(write_only), false),
    ];
    for (place, write) in cases {
        let mut lab = Lab::new(&SHAPE);
        let place = place(&mut lab);
        let kind = if write { Kind::Write(place) } else { Kind::Read(place) };
        let posted: Vec<_> = (0..3).map(|n| lab.receive_at(64 * n, 64)).collect();
        let data = lab.gather(8);
        let report = lab.fails(kind, data, KnownSyndrome::RemoteAccess);
        // The responder is in error, too, and gives its receives back.
        let flushed: Vec<_> = posted.into_iter().map(|id| (id, WcStatus::WrFlushErr)).collect();
        assert_eq!(report.receives, flushed);
        assert_eq!(lab.window.to_vec(8192 - 8..8192 - 8 + 8), [0; 8], "a refused WRITE wrote");
    }
}

#[test]
fn remote_access_of_atomics() {
    let mut lab = Lab::new(&SHAPE);
    let place = Remote { rkey: Rkey(1), ..lab.window.remote() };
    let data = lab.gather(8);
    lab.fails(Kind::FetchAdd(place, 1), data, KnownSyndrome::RemoteAccess);
    // The responder refuses a misaligned one.
    let mut lab = Lab::new(&SHAPE);
    let (place, data) = (lab.window.remote().at(4), lab.gather(8));
    lab.fails(Kind::CompareSwap(place, 0, 1), data, KnownSyndrome::RemoteInvalReq);
    assert_eq!(lab.window.to_vec(..16), [0; 16]);
}

#[test]
fn local_protection() {
    type Where<'a> = &'a dyn Fn(&Lab) -> Sge;
    let wrong: Where = &|lab| Sge { lkey: Lkey(0x4242), ..lab.source.sge(..8) };
    let past_the_end: Where = &|lab| Sge { length: 9, ..lab.source.sge(8192 - 8..) };
    for (place, read) in [(wrong, false), (wrong, true), (past_the_end, false), (past_the_end, true)] {
        let mut lab = Lab::new(&SHAPE);
        let (bad, to) = (place(&lab), lab.window.remote());
        let good = lab.source.sge(64..72);
        let kind = if read { Kind::Read(to) } else { Kind::Write(to) };
        let report = lab.fails(kind, Data::Sges(vec![good, bad]), KnownSyndrome::LocalProt);
        assert!(report.receives.is_empty(), "the peer is not concerned: {report:?}");
    }
}

#[test]
fn message_longer_than_the_receive() {
    for len in [65, 6000] {
        let mut lab = Lab::new(&SHAPE);
        let first = lab.receive_at(0, 64);
        let second = lab.receive_at(64, 64);
        let data = lab.gather(len);
        let report = lab.fails(Kind::Send, data, KnownSyndrome::RemoteInvalReq);
        assert_eq!(report.receives, [(first, WcStatus::LocLenErr), (second, WcStatus::WrFlushErr)]);
        assert_eq!(lab.window.to_vec(64..128), [0; 64], "bytes past the receive");
    }
}

#[test]
fn receive_without_protection() {
    let mut lab = Lab::new(&SHAPE);
    let bad = Sge { lkey: Lkey(0x4242), ..lab.window.sge(..64) };
    let first = lab.receive(&[bad]);
    let second = lab.receive_at(64, 64);
    let data = lab.gather(8);
    let report = lab.fails(Kind::SendImm(1), data, KnownSyndrome::RemoteOp);
    assert_eq!(report.receives, [(first, WcStatus::LocProtErr), (second, WcStatus::WrFlushErr)]);
}

#[test]
fn receiver_never_ready() {
    for (kind, data) in [(Kind::Send, Data::Inline(vec![1; 8])), (Kind::SendImm(3), Data::Sges(Vec::new()))] {
        let mut lab = Lab::new(&SHAPE);
        let report = lab.fails(kind, data, KnownSyndrome::RnrRetryExc);
        assert!(report.receives.is_empty());
    }
    let mut lab = Lab::new(&SHAPE);
    let (to, data) = (lab.window.remote(), lab.gather(8));
    lab.fails(Kind::WriteImm(to, 4), data, KnownSyndrome::RnrRetryExc);
}

#[test]
fn peer_gone() {
    let mut lab = Lab::new(&SHAPE);
    let far = lab.far.qpn();
    lab.b.destroy_qp(far).expect("a QP");
    let ids: Vec<_> = (0..4).map(|n| lab.good(n % 2 == 0)).collect();
    lab.run();
    let mut expected = vec![(ids[0], WcStatus::RetryExcErr)];
    expected.extend(ids[1..].iter().map(|&id| (id, WcStatus::WrFlushErr)));
    assert_eq!(poll(&mut lab.near).sends, expected);
    assert_eq!(lab.near.sq.free(), lab.near.sq.capacity());
    lab.run();
    assert!(poll(&mut lab.near).sends.is_empty());
}

/// The receives of a shared queue outlive the failure of one of its users.
#[test]
fn shared_receives_stay() {
    let mut lab = Lab::new(&Shape { shared_recv: true, ..SHAPE });
    let first = lab.receive_at(0, 16);
    lab.receive_at(16, 64);
    lab.receive_at(80, 64);
    let data = lab.gather(17);
    let report = lab.fails(Kind::Send, data, KnownSyndrome::RemoteInvalReq);
    assert_eq!(report.receives, [(first, WcStatus::LocLenErr)]);
    assert_eq!(lab.far.rq.posted(), 2);
    let events: Vec<_> = std::iter::from_fn(|| lab.b.next_event()).collect();
    let last = Event::Qp { qpn: lab.far.qpn().get(), kind: softhca::event::QpEvent::LastWqeReached };
    assert!(events.contains(&last), "{events:?}");
}

/// A queue that is not polled fails once it would overwrite. Its CQEs stay good, and there is an event.
#[test]
fn completion_queue_overrun() {
    let mut lab = Lab::new(&Shape { cqes: 4, ..SHAPE });
    let ids: Vec<_> = (0..6).map(|_| lab.good(true)).collect();
    lab.run();
    let events: Vec<_> = std::iter::from_fn(|| lab.a.next_event()).collect();
    let cqn = lab.near.cq.cqn().get();
    assert!(events.contains(&Event::CqError { cqn, fault: CqFault::Overrun }), "{events:?}");
    let expected: Vec<_> = ids[..4].iter().map(|&id| (id, WcStatus::Success)).collect();
    assert_eq!(poll(&mut lab.near).sends, expected);
    lab.good(true);
    lab.run();
    let report = poll(&mut lab.near);
    assert!(report.sends.is_empty(), "a failed queue goes on: {report:?}");
}

/// A queue polled in time does not overrun, however often it wraps.
#[test]
fn no_overrun_when_polled_in_time() {
    let mut lab = Lab::new(&Shape { cqes: 4, ..SHAPE });
    for _ in 0..500 {
        let ids: Vec<_> = (0..4).map(|_| lab.good(true)).collect();
        lab.run();
        let expected: Vec<_> = ids.iter().map(|&id| (id, WcStatus::Success)).collect();
        assert_eq!(poll(&mut lab.near).sends, expected);
    }
    assert_eq!(lab.a.next_event(), None);
}
