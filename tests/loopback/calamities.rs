//! A calamity in the middle of traffic, over a network with losses: each request completes at most once, in order and
//! with the right status, data are whole, and the queues carry on afterwards.
//!
//! Calamities at random moments belong here, single failures in `failures.rs`, a network's faults alone in `faults.rs`.

use std::time::Duration;

use blueflame::cq::{Cqe, CqeError, Side, WcStatus};
use blueflame::wqe::{Fence, Sge};
use blueflame::{WrId, transport};
use blueflame_testkit::request::{Data, Kind, Wr};
use blueflame_testkit::{Buffer, ConnectOptions, Device, DeviceOptions, End, Network, Shape, connect, wait_for_timer};
use proptest::prelude::*;
use softhca::faults::Faults;
use softhca::script::Script;
use softhca::wire::fault::FaultConfig;

type Rc = transport::Rc;

/// Requests of a run, and receives for them.
const REQUESTS: usize = 24;
/// Bytes of a long message, which has three packets, and of a short one.
const LONG: usize = 1100;
const SHORT: usize = 48;
/// A queue that is not polled overruns with its fifth completion.
const FEW_CQES: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calamity {
    /// The peer has no receives for a while.
    NotReady,
    /// The cable is out for less than the retries take.
    Flap,
    /// The cable stays out.
    CableOut,
    /// The peer's queue pair is destroyed.
    PeerDies,
    /// The peer revokes the key of the memory that is written and read.
    KeyRevoked,
    /// The memory of messages is deregistered while requests of it are posted.
    SourceDeregistered,
    /// Time passes at once, for all timers.
    ClockJumps,
    /// Completions are not polled, and their queue is small.
    Overrun,
    /// The sender's device fails.
    DeviceFails,
}

impl Calamity {
    const ALL: [Self; 9] = [
        Self::NotReady,
        Self::Flap,
        Self::CableOut,
        Self::PeerDies,
        Self::KeyRevoked,
        Self::SourceDeregistered,
        Self::ClockJumps,
        Self::Overrun,
        Self::DeviceFails,
    ];

    /// The possible statuses of the one request that fails. Those behind it are flushed.
    fn errors(self) -> &'static [WcStatus] {
        match self {
            Self::CableOut | Self::PeerDies => &[WcStatus::RetryExcErr],
            // The refusal may be lost, and the peer refuses once.
            Self::KeyRevoked => &[WcStatus::RemAccessErr, WcStatus::RetryExcErr],
            Self::SourceDeregistered => &[WcStatus::LocProtErr],
            Self::NotReady | Self::Flap | Self::ClockJumps | Self::Overrun | Self::DeviceFails => &[],
        }
    }

    /// Some requests have no completion.
    fn silences(self) -> bool {
        matches!(self, Self::Overrun | Self::DeviceFails)
    }
}

/// Two ends and their memory. The near one posts, the far one receives.
struct Lab {
    network: Network,
    faults: Faults,
    near: End<Rc>,
    far: End<Rc>,
    source: Buffer,
    landing: Buffer,
    window: Buffer,
    mailbox: Buffer,
    /// Number and status of each completed request.
    done: Vec<(usize, WcStatus)>,
    /// Number of each received message.
    arrived: Vec<usize>,
    polls: bool,
    /// Where the connection's PSNs begin: far from those of the one before, of which packets may still be under way.
    psn: u32,
}

/// Bytes of message `number`: of each kind of request, some are long.
fn length(number: usize) -> usize {
    if number % 2 == 0 { LONG } else { SHORT }
}

/// Message `number`. The peer's memory has others, made by numbers from 100 on.
fn message(number: usize) -> Vec<u8> {
    (0..length(number)).map(|i| (number * 37 + i * 11 + 1) as u8).collect()
}

fn shape(calamity: Calamity) -> Shape {
    let cqes = if calamity == Calamity::Overrun { FEW_CQES } else { 64 };
    Shape { sq_wqebbs: 64, recv_wqes: REQUESTS as u32, recv_sges: 1, cqes, ..Shape::SMALL }
}

impl Lab {
    fn new(calamity: Calamity, seed: u64) -> Self {
        let network = Network::new();
        let loss = FaultConfig { drop: 30, duplicate: 30, reorder: 30, delay: 30, seed, ..FaultConfig::default() };
        let faults = Faults { network: loss, ..Faults::default() };
        let [a, b] = [1, 2].map(|lid| device(&network, lid, faults));
        let near = End::new(&a, &shape(calamity)).expect("an end");
        let far = End::new(&b, &shape(Calamity::Flap)).expect("an end");
        let [source, landing] = [(); 2].map(|()| a.buffer(REQUESTS * LONG).expect("memory"));
        let [window, mailbox] = [(); 2].map(|()| b.buffer(2 * REQUESTS * LONG).expect("memory"));
        let (done, arrived) = (Vec::new(), Vec::new());
        let mut lab =
            Self { network, faults, near, far, source, landing, window, mailbox, done, arrived, polls: true, psn: 0 };
        lab.connect();
        lab
    }

    fn connect(&mut self) {
        // Receivers without room are awaited for ever.
        let (timeout, retry_cnt, rnr_retry, min_rnr_timer, psn, path_mtu) = (10, 7, 7, 1, self.psn, 512);
        let options =
            ConnectOptions { timeout, retry_cnt, rnr_retry, min_rnr_timer, psn, path_mtu, ..Default::default() };
        self.psn += 1 << 20;
        connect(&self.near, &self.far, &options).expect("a connection");
        for number in 0..REQUESTS {
            self.source.write(number * LONG, &message(number));
            self.window.write((REQUESTS + number) * LONG, &message(100 + number));
        }
    }

    fn receives(&mut self) {
        for slot in 0..REQUESTS {
            // SAFETY: the mailbox belongs to the device, which outlives the queue, and is looked at when all is done.
            unsafe { self.far.rq.post_unchecked(WrId(slot as u64), &[self.mailbox.slot(slot, LONG)]) }.expect("room");
        }
    }

    /// A message, a WRITE or a READ, by the number.
    fn post(&mut self, number: usize) {
        let length = length(number) as u32;
        let slot = |buffer: &Buffer| Data::Sges(vec![Sge { length, ..buffer.slot(number, LONG) }]);
        let there = |at: usize| self.window.remote().at((at * LONG) as u64);
        let (kind, data) = match number % 3 {
            0 => (Kind::SendImm(number as u32), slot(&self.source)),
            1 => (Kind::Write(there(number)), slot(&self.source)),
            _ => (Kind::Read(there(REQUESTS + number)), slot(&self.landing)),
        };
        let wr = Wr { signaled: true, fence: Fence::None, ..Wr::new(kind, data, number as u64) };
        // SAFETY: the buffers belong to the devices, which outlive the queue, and are looked at when all is done.
        unsafe { self.near.post(&wr) }.expect("room");
        self.step();
    }

    fn step(&mut self) -> bool {
        self.near.device().step() | self.far.device().step() | self.poll()
    }

    fn poll(&mut self) -> bool {
        let before = self.done.len() + self.arrived.len();
        let Self { near, far, done, arrived, mailbox, .. } = self;
        let status = |cqe: &Cqe<'_>| match cqe.check() {
            Ok(side) => (side, WcStatus::Success),
            Err(CqeError::Completion(error)) => (error.side, error.status()),
            Err(error) => panic!("{error}"),
        };
        if self.polls {
            near.cq.poll_with(usize::MAX, |cqe: Cqe<'_>| {
                let (side, status) = status(&cqe);
                assert_eq!(side, Side::Requester);
                done.push((near.sq.retire(&cqe).expect("outstanding").wr_id.0 as usize, status));
            });
        }
        far.cq.poll_with(usize::MAX, |cqe: Cqe<'_>| {
            let (side, status) = status(&cqe);
            assert_eq!(side, Side::Responder);
            let slot = far.rq.retire(&cqe).expect("a posted receive").0 as usize;
            // A receiver that refuses a request flushes its receives.
            if status != WcStatus::WrFlushErr {
                let number = cqe.imm().expect("a message with immediate data") as usize;
                assert_eq!((status, cqe.byte_len() as usize), (WcStatus::Success, length(number)));
                let there = slot * LONG..slot * LONG + length(number);
                assert_eq!(mailbox.to_vec(there), message(number), "message {number}");
                arrived.push(number);
            }
        });
        self.done.len() + self.arrived.len() != before
    }

    /// Until nothing is left to do.
    fn settle(&mut self) {
        for _ in 0..1 << 16 {
            if !self.step() && !wait_for_timer(&[self.near.device(), self.far.device()]) {
                return;
            }
        }
        panic!("no end: {:?}, {:?}", self.done, self.arrived);
    }

    fn strike(&mut self, calamity: Calamity) {
        let near = self.near.device().clone();
        match calamity {
            // As it was from the start.
            Calamity::NotReady => (),
            Calamity::Flap | Calamity::CableOut => near.set_port_up(1, false).expect("a port"),
            Calamity::PeerDies => self.far.device().destroy_qp(self.far.qpn()).expect("a queue pair"),
            Calamity::KeyRevoked => self.far.device().deregister(self.window.rkey()).expect("a key"),
            Calamity::SourceDeregistered => near.deregister(self.source.rkey()).expect("a key"),
            Calamity::ClockJumps => {
                [&near, self.far.device()].iter().for_each(|d| d.advance(Duration::from_secs(3600)))
            }
            Calamity::Overrun => self.polls = false,
            Calamity::DeviceFails => {
                near.set_script(Script { fails: Some(Duration::ZERO), ..Script::default() });
                near.step();
            }
        }
    }

    /// Ends a calamity that is to last for a while.
    fn relieve(&mut self, calamity: Calamity) {
        match calamity {
            Calamity::NotReady => self.receives(),
            Calamity::Flap => self.near.device().set_port_up(1, true).expect("a port"),
            _ => (),
        }
    }

    /// Each completion is right, and so are the data.
    fn check(&mut self, posted: usize, calamity: Calamity) {
        let numbers: Vec<_> = self.done.iter().map(|done| done.0).collect();
        assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>(), "each once, in order");
        let good = self.done.iter().take_while(|done| done.1 == WcStatus::Success).count();
        let bad: Vec<_> = self.done[good..].iter().map(|done| done.1).collect();
        let fails = !calamity.errors().is_empty();
        assert_eq!(bad.is_empty(), !fails, "{calamity:?}: {:?}", self.done);
        if let Some((error, flushed)) = bad.split_first() {
            assert!(calamity.errors().contains(error), "{calamity:?}: {error:?}");
            assert!(flushed.iter().all(|&status| status == WcStatus::WrFlushErr), "{bad:?}");
        }
        let missing = posted - self.done.len();
        assert_eq!(missing != 0, calamity.silences(), "{missing} completions are missing: {:?}", self.done);
        let sent: Vec<_> = (0..good).filter(|number| number % 3 == 0).collect();
        assert!(self.arrived.is_sorted_by(|a, b| a < b), "once, in order: {:?}", self.arrived);
        assert!(self.arrived.starts_with(&sent), "{:?} completed, {:?} arrived", sent, self.arrived);
        for number in (0..good).filter(|number| number % 3 != 0) {
            let here = number * LONG..number * LONG + length(number);
            let (found, expected) = match number % 3 {
                1 => (self.window.to_vec(here), message(number)),
                _ => (self.landing.to_vec(here), message(100 + number)),
            };
            assert_eq!(found, expected, "request {number}");
        }
    }

    /// The queues of both ends from the start, on another device if the near one has failed.
    fn recover(&mut self, calamity: Calamity) {
        let mut near = self.near.device().clone();
        let far = self.far.device().clone();
        match calamity {
            Calamity::CableOut => near.set_port_up(1, true).expect("a port"),
            Calamity::DeviceFails => near = device(&self.network, 3, self.faults),
            _ => (),
        }
        if calamity.silences() {
            self.near = End::new(&near, &shape(Calamity::Flap)).expect("an end");
        } else {
            reset(&mut self.near);
        }
        if calamity == Calamity::PeerDies {
            self.far = End::new(&far, &shape(calamity)).expect("an end");
        } else {
            reset(&mut self.far);
        }
        [self.source, self.landing] = [(); 2].map(|()| near.buffer(REQUESTS * LONG).expect("memory"));
        self.window = far.buffer(2 * REQUESTS * LONG).expect("memory");
        (self.done, self.arrived, self.polls) = (Vec::new(), Vec::new(), true);
        self.connect();
    }
}

fn device(network: &Network, lid: u16, faults: Faults) -> Device {
    network.device(DeviceOptions::infiniband(lid).faults(faults)).expect("a device")
}

/// An end's queues from the start.
fn reset(end: &mut End<Rc>) {
    let qpn = end.qpn();
    // SAFETY: both queues are reset below.
    unsafe { end.device().reset_qp(qpn) }.expect("RESET");
    end.cq.forget(qpn);
    // SAFETY: the queue pair is in RESET, and its unpolled completions are forgotten.
    unsafe { end.sq.reset() };
    let ring = end.sq.capacity();
    end.sq.set_depth(ring).expect("the whole ring");
    let blueflame_testkit::Receives::Own(rq) = &mut end.rq else { panic!("receives of its own") };
    // SAFETY: the queue pair is in RESET, and its unpolled completions are forgotten.
    unsafe { rq.reset() };
}

fn survives(calamity: Calamity, seed: u64, before: usize, steps: usize) {
    let mut lab = Lab::new(calamity, seed);
    if calamity != Calamity::NotReady {
        lab.receives();
    }
    (0..before).for_each(|number| lab.post(number));
    // Some of the requests are done by then, others under way.
    (0..steps).for_each(|_| _ = lab.step());
    lab.strike(calamity);
    (before..REQUESTS).for_each(|number| lab.post(number));
    (0..steps).for_each(|_| _ = lab.step());
    lab.relieve(calamity);
    lab.settle();
    lab.polls = true;
    lab.poll();
    lab.check(REQUESTS, calamity);
    lab.recover(calamity);
    assert_eq!((lab.near.sq.free(), lab.far.rq.posted()), (lab.near.sq.capacity(), 0), "all came back");
    lab.receives();
    (0..REQUESTS).for_each(|number| lab.post(number));
    lab.settle();
    lab.check(REQUESTS, Calamity::Flap);
    assert_eq!(lab.arrived.len(), REQUESTS / 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn each_request_ends_once_and_the_queues_carry_on(
        seed: u64,
        before in 0..REQUESTS - 6,
        steps in 0_usize..30,
    ) {
        for calamity in Calamity::ALL {
            survives(calamity, seed, before, steps);
        }
    }
}
