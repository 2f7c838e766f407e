//! Requests from one end to the other, with a model of what must have happened once they have completed.

mod done;
mod expected;
mod model;

use std::collections::{HashMap, VecDeque};

use blueflame::PostError;
use blueflame::WrId;
use blueflame::cq::CqeFormat;
use blueflame_testkit::ops::{MAX_MESSAGE, Op};
use blueflame_testkit::request::{Service, Wr};
use blueflame_testkit::{Buffer, ConnectOptions, Faults, Pair, Shape, wait_for_timer};
use softhca::wire::fault::FaultConfig;

use done::Done;
use expected::{Arrival, FILL, Posted, SLOT, SOURCE, WINDOW};

/// Rounds without an end after which a test gives up.
const MAX_ROUNDS: usize = 1 << 16;

/// The history so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) posted: u64,
    pub(crate) completed: u64,
    pub(crate) arrived: u64,
    pub(crate) in_cqe: u64,
    pub(crate) doorbells: u64,
}

/// Two connected ends; the near one posts, the far one receives.
pub(crate) struct Traffic<T: Service> {
    pair: Pair<T>,
    source: Buffer,
    landing: Buffer,
    window: Buffer,
    mailbox: Buffer,
    source_bytes: Vec<u8>,
    window_bytes: Vec<u8>,
    posted: VecDeque<Posted>,
    arrivals: VecDeque<Arrival>,
    /// Slots of the mailbox that are posted, by tag.
    receives: HashMap<u64, usize>,
    free_slots: Vec<usize>,
    next_id: u64,
    pub(crate) counts: Counts,
}

impl<T: Service> Traffic<T> {
    /// Over a sound network.
    pub(crate) fn new(shape: &Shape, path_mtu: u32) -> Self {
        Self::over(FaultConfig::default(), shape, path_mtu)
    }

    /// Over a network with these faults.
    pub(crate) fn over(network: FaultConfig, shape: &Shape, path_mtu: u32) -> Self {
        // PSNs that wrap soon, short timers so that losses cost little virtual time.
        let options = ConnectOptions { path_mtu, psn: 0xff_fff0, timeout: 8, min_rnr_timer: 1, ..Default::default() };
        let faults = Faults { network, ..Faults::default() };
        let pair = Pair::builder().shape(*shape).faults(faults).options(options).connect().expect("a pair");
        let Pair { near, far } = &pair;
        let source_bytes: Vec<u8> = (0..SOURCE as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let mut source = near.buffer(SOURCE).expect("memory");
        source.write(0, &source_bytes);
        let landing = near.buffer(SLOT * shape.sq_wqebbs as usize).expect("memory");
        let window = far.buffer(WINDOW).expect("memory");
        let receives = far.rq.capacity() as usize;
        let mailbox = far.buffer(SLOT * receives).expect("memory");
        let mut traffic = Self {
            pair,
            source,
            landing,
            window,
            mailbox,
            source_bytes,
            window_bytes: vec![0; WINDOW],
            posted: VecDeque::new(),
            arrivals: VecDeque::new(),
            receives: HashMap::new(),
            free_slots: (0..receives).collect(),
            next_id: 0x1000_0000_0000,
            counts: Counts::default(),
        };
        traffic.post_receives();
        traffic
    }

    /// Posts `op` with a doorbell of its own, waiting for room if there is none.
    pub(crate) fn post(&mut self, op: &Op, signaled: bool) {
        let wr = self.request(op, signaled);
        loop {
            // SAFETY: source and landing belong to the device, which outlives the queue; neither is written, or read,
            // by this side while the request is outstanding.
            match unsafe { self.pair.near.post(&wr) } {
                Ok(()) => break,
                Err(PostError::Full { .. }) => self.make_room(&wr),
                Err(error) => panic!("{wr:?}: {error}"),
            }
        }
        self.ring();
        self.record(op, &wr);
    }

    /// Posts `op` on a queue that signals everything, without asking for a completion; there must be one.
    pub(crate) fn post_unsignaled(&mut self, op: &Op) {
        self.post(op, false);
        self.posted.back_mut().expect("what was just posted").signaled = true;
    }

    /// Posts `ops` in batches, as large as there is room, each with one doorbell. `signal` says of each whether it asks
    /// for a completion.
    pub(crate) fn post_batches(&mut self, ops: &[(Op, bool)]) {
        let mut rest = ops;
        while !rest.is_empty() {
            let id = self.next_id;
            let wrs: Vec<_> = rest.iter().map(|(op, signaled)| self.request(op, *signaled)).collect();
            // Those that are not put now get the same tags again.
            self.next_id = id;
            let mut batch = self.pair.near.sq.batch();
            let mut pushed = 0;
            for wr in &wrs {
                // SAFETY: as in `post`.
                match unsafe { T::put(&mut batch, wr) } {
                    Ok(()) => pushed += 1,
                    Err(PostError::Full { .. }) => break,
                    Err(error) => panic!("{wr:?}: {error}"),
                }
            }
            if pushed == 0 {
                drop(batch);
                self.make_room(&wrs[0]);
                continue;
            }
            batch.ring_doorbell();
            self.ring();
            for ((op, _), wr) in rest.iter().zip(&wrs).take(pushed) {
                self.next_id += 1;
                self.record(op, wr);
            }
            rest = &rest[pushed..];
        }
    }

    /// A doorbell was rung: lets the device look, as one would that sees the store.
    fn ring(&mut self) {
        self.counts.doorbells += 1;
        assert!(self.pair.near.device().step(), "the device saw no doorbell");
    }

    fn make_room(&mut self, wr: &Wr) {
        let signaled = self.posted.iter().any(|posted| posted.signaled);
        assert!(signaled, "no room for {wr:?}, and nothing will complete");
        let before = self.counts.completed;
        for _ in 0..MAX_ROUNDS {
            self.round();
            if self.counts.completed != before {
                return;
            }
        }
        panic!("nothing completes: {:?}", self.counts);
    }

    /// Lets everything posted arrive and complete, and looks at everything. Requests behind the last signalled one are
    /// taken for complete when the devices have nothing left to do.
    pub(crate) fn settle(&mut self) {
        let mut rounds = 0;
        while self.round() {
            rounds += 1;
            assert!(rounds < MAX_ROUNDS, "no end: {:?}", self.counts);
        }
        assert!(!self.posted.iter().any(|posted| posted.signaled), "a completion is missing: {:?}", self.counts);
        assert!(self.arrivals.is_empty(), "{} messages did not arrive: {:?}", self.arrivals.len(), self.counts);
        assert!(self.window.to_vec(..WINDOW) == self.window_bytes, "the window differs: {:?}", self.counts);
        assert_eq!(self.pair.complaints(), []);
    }

    /// Settles, and checks that nothing is left over in any queue.
    pub(crate) fn finish(mut self) -> Counts {
        self.post(&Op::Nop, true);
        self.settle();
        assert!(self.posted.is_empty());
        assert_eq!(self.pair.near.sq.free(), self.pair.near.sq.capacity());
        assert_eq!(self.pair.near.rq.posted(), 0);
        assert_eq!(self.pair.far.rq.posted() as usize, self.receives.len());
        assert_eq!((self.pair.near.cq.poll_with(64, |_| ()), self.pair.far.cq.poll_with(64, |_| ())), (0, 0));
        assert_eq!((self.pair.near.device().next_event(), self.pair.far.device().next_event()), (None, None));
        self.counts
    }

    /// One step of everything; false if there is nothing left to do.
    fn round(&mut self) -> bool {
        let stepped = self.pair.step();
        let polled = self.poll();
        self.post_receives();
        stepped || polled || wait_for_timer(&[self.pair.near.device(), self.pair.far.device()])
    }

    /// Polls both ends, by `poll_with` and by `poll` in turn.
    fn poll(&mut self) -> bool {
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for (end, dones) in [(&mut self.pair.near, &mut near), (&mut self.pair.far, &mut far)] {
            if self.counts.completed % 2 == 0 || end.cq.capacity() == 1 {
                end.cq.poll_with(3, |cqe| dones.push(Done::new(&cqe)));
            } else {
                // The copy of `poll` lacks the first half of a 128-byte CQE, so `poll_with` reads it there.
                end.cq.poll_with(1, |cqe| {
                    dones.push(match cqe.format() {
                        CqeFormat::Inline64 => Done::new(&cqe),
                        _ => Done::new(&cqe.copy()),
                    });
                });
            }
        }
        let any = !near.is_empty() || !far.is_empty();
        for done in near {
            self.completed(&done);
        }
        for done in far {
            self.arrived(&done);
        }
        any
    }

    /// Posts every free slot, in uneven pieces.
    fn post_receives(&mut self) {
        while self.pair.far.rq.posted() < self.pair.far.rq.capacity() {
            let slot = self.free_slots.pop().expect("a slot for each receive");
            let tag = 0x2000_0000_0000 + self.next_id * 64 + slot as u64;
            self.mailbox.write(slot * SLOT, &[FILL; SLOT]);
            let first = self.next_id as usize % 40;
            let cuts = [0, first, first, first + 1, MAX_MESSAGE].map(|cut| slot * SLOT + cut);
            let sges: Vec<_> = cuts.windows(2).map(|cut| self.mailbox.sge(cut[0]..cut[1])).collect();
            // SAFETY: the mailbox belongs to the device, which outlives the queue; the slot is looked at when it has
            // completed.
            unsafe { self.pair.far.rq.post_unchecked(WrId(tag), &sges) }.expect("room for a receive");
            assert_eq!(self.receives.insert(tag, slot), None);
        }
    }
}
