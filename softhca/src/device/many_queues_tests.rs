//! The cost of work on a device with few queues and with many, as counts: accesses to memory and visits of QPs. Times
//! are in `docs/performance/device.md`.

use super::*;
use crate::config::{DoorbellSource, Limits};
use crate::context::{Access, CqContext, MkeyContext, QpAttr, QpContext, QpState, ReceiveSource, SqContext, Transport};
use crate::memory::{ArrayMemory, DmaFault};
use crate::uar::{BLUEFLAME_HALF_BYTES, BLUEFLAME_OFFSET, CQ_DOORBELL};
use crate::wire::Address;
use crate::wire::in_process::Fabric;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

const BASE: u64 = 0x7f00_0000_0000;
const LID: u16 = 7;
const FIRST_QPN: u32 = 0x100;
/// Bytes of a QP's send ring, of 16 WQEBBs.
const RING: usize = 16 * 64;
/// Bytes of a CQ's ring and record.
const CQ_BYTES: usize = 0x1_0000;
const CQ_LOG: u8 = 9;

/// Memory that counts the accesses to it.
struct Counted {
    memory: ArrayMemory,
    count: Arc<AtomicUsize>,
}

impl Counted {
    fn counted(&self) -> &ArrayMemory {
        self.count.fetch_add(1, Ordering::Relaxed);
        &self.memory
    }
}

impl HostMemory for Counted {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: an array, which stays.
        unsafe { self.memory.map(addr, len) }
    }

    fn unmap(&mut self, addr: u64, len: usize) {
        self.memory.unmap(addr, len);
    }

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.counted().read(addr, out)
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.counted().write(addr, data)
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        self.counted().load_be32(addr)
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        self.counted().fetch_update_u64(addr, f)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.counted().write_last_byte_last(addr, data)
    }
}

/// Work that was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    steps: usize,
    accesses: usize,
    visits: usize,
}

/// A device with many QPs, all on one UAR page, each connected to its neighbour; QPs 0 and 1 are neighbours.
struct Many {
    device: Device,
    memory: ArrayMemory,
    count: Arc<AtomicUsize>,
    pd: u32,
    uar: u32,
    /// Two: the first one is that of all QPs but the last, which has the second.
    cqs: [u32; 2],
    posted: Vec<u16>,
    /// The half of the first register that is rung next, and whether halves are used in turn.
    half: usize,
    takes_turns: bool,
    now: Duration,
}

impl Many {
    fn new(queues: usize) -> Self {
        Self::with_driver(queues, true)
    }

    /// Makes the bench with a driver that uses the halves of a register in turn, or does not.
    fn with_driver(queues: usize, takes_turns: bool) -> Self {
        let memory = ArrayMemory::filled(BASE, 2 * CQ_BYTES + queues * (RING + 64), 0);
        let count = Arc::new(AtomicUsize::new(0));
        let config = DeviceConfig {
            qpn_first: FIRST_QPN,
            qpn_count: 1 << 16,
            doorbells: DoorbellSource::RungRecords,
            limits: Limits { max_objects: 1 << 16, ..Limits::default() },
            ..DeviceConfig::with_port(PortConfig::infiniband(LID))
        };
        let qpns = config.qpn_first..config.qpn_first + config.qpn_count;
        let gids = config.ports[0].gids.clone();
        let wire = Fabric::new().attach(Address { lids: vec![LID], gids, qpns }).unwrap();
        let host = Counted { memory: memory.clone(), count: count.clone() };
        let mut device = Device::new(config, Box::new(host), Box::new(wire)).unwrap();
        let (pd, uar) = (device.alloc_pd().unwrap(), device.alloc_uar().unwrap());
        let cqs = [0, 1].map(|at| {
            let buf = BASE + at * CQ_BYTES as u64;
            let dbr = buf + CQ_BYTES as u64 - 64;
            device.create_cq(CqContext { ignore_overrun: true, ..CqContext::new(buf, CQ_LOG, dbr, uar) }).unwrap()
        });
        let posted = vec![0; queues];
        let (half, now) = (0, Duration::from_millis(1));
        let mut many = Self { device, memory, count, pd, uar, cqs, posted, half, takes_turns, now };
        (0..queues).for_each(|at| many.create_qp(at));
        (0..queues).for_each(|at| many.connect(at, FIRST_QPN + (at as u32 ^ 1)));
        // The first doorbells tell how the driver uses the register.
        for at in [0, 0] {
            many.post(at);
            many.run();
        }
        many
    }

    /// Where QP `at` has its ring, in the array.
    fn ring(&self, at: usize) -> usize {
        2 * CQ_BYTES + at * RING
    }

    fn record(&self, at: usize) -> usize {
        2 * CQ_BYTES + self.posted.len() * RING + at * 64
    }

    fn create_qp(&mut self, at: usize) {
        let cqn = self.cqs[usize::from(at + 1 == self.posted.len())];
        let sq = SqContext { buf: BASE + self.ring(at) as u64, log_size: 4, ..SqContext::default() };
        let context = QpContext {
            pd: self.pd,
            send_cqn: cqn,
            recv_cqn: cqn,
            sq: Some(sq),
            rq: ReceiveSource::None,
            dbr: BASE + self.record(at) as u64,
            uar: self.uar,
            ..QpContext::new(Transport::Rc)
        };
        assert_eq!(self.device.create_qp(context), Ok(FIRST_QPN + at as u32));
    }

    fn connect(&mut self, at: usize, peer: u32) {
        let none = QpAttr::default();
        let access = Access { remote_write: true, ..Access::default() };
        let path = Path { dlid: LID, ..path() };
        for attr in [
            QpAttr { state: Some(QpState::Init), pkey_index: Some(0), port: Some(1), access: Some(access), ..none },
            QpAttr {
                state: Some(QpState::Rtr),
                path: Some(path),
                path_mtu: Some(1024),
                dest_qpn: Some(peer),
                rq_psn: Some(0),
                max_dest_rd_atomic: Some(1),
                min_rnr_timer: Some(1),
                ..none
            },
            QpAttr {
                state: Some(QpState::Rts),
                sq_psn: Some(0),
                max_rd_atomic: Some(1),
                retry_cnt: Some(1),
                rnr_retry: Some(1),
                timeout: Some(14),
                ..none
            },
        ] {
            self.device.modify_qp(FIRST_QPN + at as u32, &attr).unwrap();
        }
    }

    /// Writes a WRITE of no bytes to the ring, and its index to the record.
    fn announce(&mut self, at: usize) {
        let index = self.posted[at];
        let qpn = FIRST_QPN + at as u32;
        let mut wqe = [0; 32];
        wqe[..4].copy_from_slice(&(u32::from(index) << 8 | 0x08).to_be_bytes());
        wqe[4..8].copy_from_slice(&(qpn << 8 | 2).to_be_bytes());
        wqe[11] = 8;
        self.memory.put(self.ring(at) + usize::from(index % 16) * 64, &wqe);
        self.posted[at] += 1;
        self.memory.put(self.record(at) + 4, &u32::from(self.posted[at]).to_be_bytes());
    }

    /// Stores to the first BlueFlame register, whose QPN and DS are `word`.
    fn store(&mut self, at: usize, word: u32) {
        let page = self.device.uar(self.uar).unwrap().addr();
        // SAFETY: a word of the page, which others access by atomics only, and which lives as long as the device.
        unsafe { AtomicU32::from_ptr(page.as_ptr().add(at + 4).cast()) }.store(word.to_be(), Ordering::Release);
    }

    fn post(&mut self, at: usize) {
        self.announce(at);
        self.store(BLUEFLAME_OFFSET + self.half * BLUEFLAME_HALF_BYTES, (FIRST_QPN + at as u32) << 8 | 2);
        self.half ^= usize::from(self.takes_turns);
    }

    /// Writes the arm word of CQ `at`, and rings the register.
    fn arm(&mut self, at: usize, word: u32) {
        self.memory.put((at + 1) * CQ_BYTES - 60, &word.to_be_bytes());
        self.store(CQ_DOORBELL, self.cqs[at]);
    }

    /// What `work` costs.
    fn cost(&mut self, work: impl FnOnce(&mut Self) -> Work) -> Work {
        let before = self.count.load(Ordering::Relaxed);
        let done = work(self);
        Work { accesses: self.count.load(Ordering::Relaxed) - before, ..done }
    }

    fn step(&mut self, work: &mut Work) -> bool {
        self.now += Duration::from_micros(1);
        let worked = self.device.step(self.now);
        work.steps += 1;
        work.visits += self.device.qps.count_busy();
        worked
    }

    /// Steps the device until nothing is left to do.
    fn run(&mut self) -> Work {
        let mut work = Work::default();
        while self.step(&mut work) {
            assert!(work.steps < 10_000, "no end");
        }
        work
    }

    /// The send WQEs completed so far.
    fn completed(&self) -> u64 {
        self.device.sends_completed()
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.device.next_event()).collect()
    }
}

fn path() -> Path {
    Path { dlid: 0, sl: 0, src_path_bits: 0, grh: None, dmac: [0; 6] }
}

/// The cost of each kind of work on a device with `queues` QPs.
fn costs(queues: usize) -> [(&'static str, Work); 5] {
    let mut many = Many::new(queues);
    let idle = many.cost(|many| {
        let mut work = Work::default();
        assert!(!many.step(&mut work), "it is idle");
        work
    });
    let write = many.cost(|many| {
        many.post(0);
        many.run()
    });
    let burst = many.cost(|many| {
        many.post(1);
        let mut work = Work::default();
        many.step(&mut work);
        many.post(1);
        many.run()
    });
    let key = many.cost(|many| {
        let (pd, now) = (many.pd, many.now);
        many.device.begin(now);
        let context = MkeyContext { pd, iova: 0, addr: BASE, len: 64, access: Access::default() };
        let key = many.device.create_mkey(context).unwrap();
        many.device.begin(now);
        many.device.destroy_mkey(key).unwrap();
        Work::default()
    });
    let queue = many.cost(|many| {
        let last = many.posted.len() - 1;
        many.device.destroy_qp(FIRST_QPN + last as u32).unwrap();
        let context = *many.device.qp_context(FIRST_QPN).unwrap();
        many.device.create_qp(context).unwrap();
        many.run()
    });
    [("idle", idle), ("write", write), ("burst", burst), ("key", key), ("queue", queue)]
}

#[test]
fn work_costs_no_more_with_more_queues() {
    let few = costs(2);
    assert_eq!(few[0].1, Work { steps: 1, accesses: 0, visits: 0 }, "an idle device touches nothing");
    assert_eq!(costs(1500), few);
}

/// 700 requests wait for answers that never come.
#[test]
fn requests_on_their_way_cost_nothing() {
    let mut many = Many::new(1400);
    let done = many.completed();
    for at in (0..1400).step_by(2) {
        many.device
            .modify_qp(FIRST_QPN + at as u32 + 1, &QpAttr { state: Some(QpState::Reset), ..QpAttr::default() })
            .unwrap();
        many.post(at);
    }
    many.run();
    assert_eq!(many.device.qps.count_busy(), 0);
    let deadline = many.device.next_deadline().expect("their timers");
    let idle = many.cost(|many| {
        let mut work = Work::default();
        many.step(&mut work);
        work
    });
    assert_eq!(idle, Work { steps: 1, accesses: 0, visits: 0 });
    // After the last repetition, each has failed.
    assert!(deadline > many.now);
    for _ in 0..20 {
        many.now += Duration::from_secs(1);
        many.run();
    }
    assert_eq!(many.completed() - done, 700);
}

/// A store replaces earlier ones in the same half before the device looks.
#[test]
fn doorbells_that_others_have_replaced_are_found() {
    for takes_turns in [false, true] {
        let mut many = Many::with_driver(300, takes_turns);
        let done = many.completed();
        (0..300).for_each(|at| many.post(at));
        assert!(many.run().steps > 300 / 32, "some records in each step");
        assert_eq!(many.completed() - done, 300);
        // Before a command, all of them.
        (0..300).for_each(|at| many.post(at));
        let now = many.now;
        many.device.begin(now);
        assert!((0..300).all(|at| many.device.query_qp(FIRST_QPN + at).unwrap().sw_sq_wqebb_counter == many.posted[at as usize]));
    }
}

#[test]
fn a_record_without_a_doorbell_is_not_read() {
    let mut many = Many::new(4);
    let done = many.completed();
    many.announce(2);
    many.run();
    assert_eq!(many.completed(), done);
    many.post(2);
    many.run();
    assert_eq!(many.completed(), done + 2, "it announces both");
}

/// Two CQs are armed between two steps: the register has the second one only.
#[test]
fn arm_doorbells_that_others_have_replaced_are_found() {
    let mut many = Many::new(4);
    let event = |many: &Many, at: usize| Event::Completion { cqn: many.cqs[at] };
    // The CQE comes after the arming.
    many.arm(0, 0x1000_0000 | 2);
    many.arm(1, 0x1000_0000);
    many.run();
    [0, 3].into_iter().for_each(|at| many.post(at));
    many.run();
    assert_eq!(many.events(), [event(&many, 0), event(&many, 1)]);
    // It comes before: a caller that steps a sink has no time to poll, others have 50 ms.
    [0, 3].into_iter().for_each(|at| many.post(at));
    many.run();
    assert_eq!(many.events(), []);
    many.arm(0, 0x2000_0000 | 3);
    many.arm(1, 0x2000_0000 | 1);
    many.run();
    many.now += Duration::from_millis(60);
    many.run();
    assert_eq!(many.events(), [event(&many, 0), event(&many, 1)]);
    assert!(many.device.resources.unarmed.len() == 2);
}

/// The answer waits in the wire while the device is not stepped.
#[test]
fn a_device_that_is_late_loses_no_packets() {
    let mut many = Many::new(400);
    let done = many.completed();
    (0..400).for_each(|at| many.post(at));
    while many.completed() - done < 400 {
        // Longer than the timers, which run out after 67 ms.
        many.now += Duration::from_millis(200);
        many.device.step(many.now);
        many.now += Duration::from_millis(200);
        many.device.begin(many.now);
    }
    let info = |at: usize| many.device.query_qp(FIRST_QPN + at as u32).unwrap();
    assert!((0..400).all(|at| info(at).state == QpState::Rts));
}
