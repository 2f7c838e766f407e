//! Two processes (and a third that is stopped), a device with a thread of its own in each, joined by shared memory:
//! RDMA WRITEs from program to program, which both poll as verbs programs do. The WQEs and CQEs are built and read
//! here, by hand.
//!
//! Devices of several processes belong here. Devices of one process belong in `engine`.

#![cfg(target_os = "linux")]

use std::{
    env, fs, io,
    path::Path as FilePath,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use softhca::{
    config::{DeviceConfig, DoorbellSource, PortConfig},
    context::*,
    device::Device,
    memory::ProcessMemory,
    runner::Runner,
    wire::{
        Wire,
        fault::{FaultConfig, FaultInjector, FaultStats},
        shm::ShmWire,
    },
};

const LID: u16 = 1;
const LIMIT: Duration = Duration::from_secs(60);
/// Longer than any test: receivers that do not read are waited for.
const FOREVER: Duration = Duration::from_secs(3600);
/// The acknowledgement timeout that never runs out.
const WITHOUT_END: u8 = 0;

// Layout of the one block of memory that a program gives to its device; offsets in bytes.
const BLOCK: usize = 1 << 20;
const CQ: usize = 0;
const CQ_LOG: u8 = 6;
const SQ: usize = 64 << 10;
const SQ_LOG: u8 = 6;
const CQ_RECORD: usize = 128 << 10;
const QP_RECORD: usize = CQ_RECORD + 64;
/// Queue pairs to a process that is stopped, each with more in flight than a third of a ring of the fabric.
const QUEUES: usize = 3;
const MORE_SQ: usize = 96 << 10;
const MORE_SQ_LOG: u8 = 3;
/// Where the peer writes the number of the round.
const MAILBOX: usize = CQ_RECORD + 4096;
const DATA: usize = 512 << 10;
const MESSAGE: usize = 64 << 10;

/// The numbers that the peer must know.
#[derive(Clone, Copy, Debug)]
struct Endpoint {
    qpn: u32,
    addr: u64,
    key: u32,
}

impl Endpoint {
    fn publish(self, directory: &FilePath, name: &str) {
        let draft = directory.join(format!("{name}.draft"));
        fs::write(&draft, format!("{} {} {}", self.qpn, self.addr, self.key)).unwrap();
        fs::rename(draft, directory.join(name)).unwrap();
    }

    fn of_peer(directory: &FilePath, name: &str) -> Self {
        let start = Instant::now();
        let text = loop {
            match fs::read_to_string(directory.join(name)) {
                Ok(text) => break text,
                Err(_) => assert!(start.elapsed() < LIMIT, "no {name}"),
            }
            thread::sleep(Duration::from_millis(1));
        };
        let mut numbers = text.split(' ').map(|number| number.parse::<u64>().unwrap());
        let mut next = || numbers.next().unwrap();
        Self { qpn: next() as u32, addr: next(), key: next() as u32 }
    }
}

struct Program {
    block: *mut u8,
    peer: Endpoint,
    own: Endpoint,
    /// WQEBBs posted.
    posted: u16,
    /// CQEs consumed.
    consumed: u32,
    /// The network's treatment of our packets.
    faults: Option<Arc<FaultStats>>,
    _runner: Runner,
}

impl Program {
    fn start(directory: &FilePath, name: &str, peer: &str, faults: &str, stopped: Option<&str>) -> Self {
        let wire = ShmWire::join(directory, &[LID], &[]).unwrap().with_head_of_queue_life(FOREVER);
        let notify = wire.notify();
        let qpns = wire.qpns();
        let (wire, stats): (Box<dyn Wire>, _) = match faults {
            "" => (Box::new(wire), None),
            faults => {
                let injector = FaultInjector::new(wire, faults.parse::<FaultConfig>().unwrap()).unwrap();
                let stats = injector.stats();
                (Box::new(injector), Some(stats))
            }
        };
        let config = DeviceConfig {
            qpn_first: qpns.start,
            qpn_count: qpns.end - qpns.start,
            doorbells: DoorbellSource::Records,
            ..DeviceConfig::with_port(PortConfig::infiniband(LID))
        };
        let mut device = Device::new(config, Box::new(ProcessMemory::new()), wire).unwrap();
        // Lives as long as the process, as the device's thread may.
        let layout = std::alloc::Layout::from_size_align(BLOCK, 4096).unwrap();
        // SAFETY: the layout has a size.
        let block = unsafe { std::alloc::alloc_zeroed(layout) };
        let addr = block as u64;
        // SAFETY: never freed, and from now on reached through raw pointers and atomics only.
        unsafe { device.memory().map(addr, BLOCK) }.unwrap();
        for cqe in 1..=1 << CQ_LOG {
            // SAFETY: inside of the block, which nobody else uses yet. Opcode 15: invalid.
            unsafe { block.add(CQ + cqe * 64 - 1).write(0xf0) };
        }
        let pd = device.alloc_pd().unwrap();
        let uar = device.alloc_uar().unwrap();
        let access = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };
        let key = device.create_mkey(MkeyContext { pd, iova: addr, addr, len: BLOCK as u64, access }).unwrap();
        let cq = CqContext::new(addr + CQ as u64, CQ_LOG, addr + CQ_RECORD as u64, uar);
        let cqn = device.create_cq(cq).unwrap();
        let qp = QpContext {
            pd,
            send_cqn: cqn,
            recv_cqn: cqn,
            sq: Some(SqContext { buf: addr + SQ as u64, log_size: SQ_LOG, ..SqContext::default() }),
            dbr: addr + QP_RECORD as u64,
            uar,
            ..QpContext::new(Transport::Rc)
        };
        let own = Endpoint { qpn: device.create_qp(qp).unwrap(), addr, key };
        own.publish(directory, name);
        let peer = Endpoint::of_peer(directory, peer);
        // Where nothing is lost an acknowledgement may take its time: a machine can be busy with other things.
        // 4.096 us * 2^16 = 268 ms.
        let timeout = if faults.is_empty() { WITHOUT_END } else { 16 };
        connect(&mut device, own.qpn, peer.qpn, access, timeout);
        if let Some(stopped) = stopped {
            let stopped = Endpoint::of_peer(directory, stopped);
            for queue in 0..QUEUES {
                let buf = addr + (MORE_SQ + queue * 4096) as u64;
                let sq = SqContext { buf, log_size: MORE_SQ_LOG, ..qp.sq.unwrap() };
                let record = QP_RECORD + 64 * (queue + 1);
                let context = QpContext { sq: Some(sq), dbr: addr + record as u64, ..qp };
                let qpn = device.create_qp(context).unwrap();
                connect(&mut device, qpn, stopped.qpn, access, WITHOUT_END);
                for index in 0..1 << MORE_SQ_LOG {
                    let from = Endpoint { qpn, addr, key };
                    let wqe = write_wqe(index, from, (0, 0), bulk_segment(from), 16, false);
                    let at = MORE_SQ + queue * 4096 + usize::from(index) * 64;
                    // SAFETY: inside of the block; the device does not run yet.
                    unsafe { block.add(at).copy_from_nonoverlapping(wqe.as_ptr(), 64) };
                }
                let posted = (1_u32 << MORE_SQ_LOG).to_be_bytes();
                // SAFETY: inside of the block; the device does not run yet.
                unsafe { block.add(record + 4).copy_from_nonoverlapping(posted.as_ptr(), 4) };
            }
        }
        let runner = Runner::start(Arc::new(Mutex::new(device)), notify, None, |_| {}).unwrap();
        Self { block, peer, own, posted: 0, consumed: 0, faults: stats, _runner: runner }
    }

    fn word<T>(&self, at: usize) -> &T {
        assert!(at + size_of::<T>() <= BLOCK && at % align_of::<T>() == 0);
        // SAFETY: inside of the block and aligned (checked); `T` is one of the atomics, valid for any bytes.
        unsafe { &*self.block.add(at).cast() }
    }

    /// Posts one WQEBB. Its third segment, and the bytes behind that, are the caller's.
    fn write(&mut self, offset: usize, third: [u8; 16], len: usize, signaled: bool) {
        let to = (self.peer.addr + offset as u64, self.peer.key);
        let wqe = write_wqe(self.posted, self.own, to, third, len, signaled);
        let at = SQ + (usize::from(self.posted) % (1 << SQ_LOG)) * 64;
        // SAFETY: inside of the block; the device does not read the slot before the record names it.
        unsafe { self.block.add(at).copy_from_nonoverlapping(wqe.as_ptr(), 64) };
        self.posted = self.posted.wrapping_add(1);
        self.word::<AtomicU32>(QP_RECORD + 4).store(u32::from(self.posted).to_be(), Ordering::Release);
    }

    /// An inline WRITE of the round's number to the peer's mailbox.
    fn ping(&mut self, round: u64, signaled: bool) {
        let mut third = [0; 16];
        third[..4].copy_from_slice(&(8_u32 | 1 << 31).to_be_bytes());
        third[4..12].copy_from_slice(&round.to_ne_bytes());
        self.write(MAILBOX, third, 16, signaled);
    }

    /// A WRITE of our data to the peer's, from registered memory.
    fn bulk(&mut self) {
        self.write(DATA, bulk_segment(self.own), 16, true);
    }

    fn await_round(&self, round: u64) {
        let start = Instant::now();
        while self.word::<AtomicU64>(MAILBOX).load(Ordering::Acquire) != round {
            assert!(start.elapsed() < LIMIT, "round {round}");
            std::hint::spin_loop();
        }
    }

    /// Waits for a CQE, which must report success.
    fn complete(&mut self) {
        let index = self.consumed % (1 << CQ_LOG);
        let owner = (self.consumed >> CQ_LOG & 1) as u8;
        let start = Instant::now();
        let op_own = loop {
            let op_own = self.word::<AtomicU8>(CQ + index as usize * 64 + 63).load(Ordering::Acquire);
            if op_own & 1 == owner && op_own >> 4 != 15 {
                break op_own;
            }
            assert!(start.elapsed() < LIMIT, "completion {}", self.consumed);
            std::hint::spin_loop();
        };
        assert_eq!(op_own >> 4, 0, "a completed request");
        self.consumed += 1;
        self.word::<AtomicU32>(CQ_RECORD).store((self.consumed & 0xff_ffff).to_be(), Ordering::Release);
    }

    fn data(&self) -> &[AtomicU64] {
        // SAFETY: inside of the block and aligned; valid for any bytes.
        unsafe { std::slice::from_raw_parts(self.block.add(DATA).cast(), MESSAGE / 8) }
    }
}

/// A WRITE of one WQEBB. It has control, remote address and a third segment. `len` counts the third and all behind it.
fn write_wqe(index: u16, from: Endpoint, to: (u64, u32), third: [u8; 16], len: usize, signaled: bool) -> [u8; 64] {
    const RDMA_WRITE: u32 = 0x08;
    let mut wqe = [0; 64];
    wqe[..4].copy_from_slice(&(u32::from(index) << 8 | RDMA_WRITE).to_be_bytes());
    wqe[4..8].copy_from_slice(&((from.qpn << 8) | ((32 + len) as u32 / 16)).to_be_bytes());
    wqe[11] = if signaled { 0x08 } else { 0 };
    wqe[16..24].copy_from_slice(&to.0.to_be_bytes());
    wqe[24..28].copy_from_slice(&to.1.to_be_bytes());
    wqe[32..48].copy_from_slice(&third);
    wqe
}

/// A data segment of all our data.
fn bulk_segment(own: Endpoint) -> [u8; 16] {
    let mut segment = [0; 16];
    segment[..4].copy_from_slice(&(MESSAGE as u32).to_be_bytes());
    segment[4..8].copy_from_slice(&own.key.to_be_bytes());
    segment[8..].copy_from_slice(&(own.addr + DATA as u64).to_be_bytes());
    segment
}

fn connect(device: &mut Device, own: u32, peer: u32, access: Access, timeout: u8) {
    let none = QpAttr::default();
    let path = Path { dlid: LID, sl: 0, src_path_bits: 0, grh: None, dmac: [0; 6] };
    let init = QpAttr { state: Some(QpState::Init), pkey_index: Some(0), port: Some(1), access: Some(access), ..none };
    let rtr = QpAttr {
        state: Some(QpState::Rtr),
        path: Some(path),
        path_mtu: Some(4096),
        dest_qpn: Some(peer),
        rq_psn: Some(7),
        max_dest_rd_atomic: Some(1),
        min_rnr_timer: Some(12),
        ..none
    };
    let rts = QpAttr {
        state: Some(QpState::Rts),
        sq_psn: Some(7),
        max_rd_atomic: Some(1),
        timeout: Some(timeout),
        retry_cnt: Some(7),
        rnr_retry: Some(7),
        ..none
    };
    for attr in [init, rtr, rts] {
        device.modify_qp(own, &attr).unwrap();
    }
}

/// The word with this index in a message.
fn pattern(index: usize) -> u64 {
    (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The other process; dropped early, by a panic, it is killed.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        // Fails if it has ended, as it should have.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const DIRECTORY: &str = "SOFTHCA_TEST_DIRECTORY";
const FAULTS: &str = "SOFTHCA_TEST_FAULTS";
const ROUNDS: &str = "SOFTHCA_TEST_ROUNDS";
/// In place of rounds: the process stops.
const STOPPED: &str = "stopped";
/// One in this many requests is signaled, so that the send ring does not overrun.
const SIGNAL: u64 = 16;

/// The other program. Not a test of its own.
#[test]
fn answer() {
    let (Some(directory), Ok(faults), Ok(rounds)) = (env::var_os(DIRECTORY), env::var(FAULTS), env::var(ROUNDS)) else {
        return;
    };
    if rounds == STOPPED {
        // A device that is there and does nothing.
        let wire = ShmWire::join(FilePath::new(&directory), &[LID], &[]).unwrap();
        Endpoint { qpn: wire.qpns().start, addr: 0, key: 0 }.publish(FilePath::new(&directory), "c");
        // SAFETY: stops this process, until it is killed.
        unsafe { libc::raise(libc::SIGSTOP) };
        return;
    }
    let rounds: u64 = rounds.parse().unwrap();
    let mut program = Program::start(FilePath::new(&directory), "b", "a", &faults, None);
    for round in 1..=rounds {
        program.await_round(round);
        program.ping(round, round % SIGNAL == 0);
        if round % SIGNAL == 0 {
            program.complete();
        }
    }
    // The data comes before the next number.
    program.await_round(rounds + 1);
    for (index, word) in program.data().iter().enumerate() {
        assert_eq!(word.load(Ordering::Relaxed), pattern(index));
    }
    program.ping(rounds + 1, true);
    program.complete();
    // The network may lose the last acknowledgement. The device repeats it for as long as it is there.
    io::copy(&mut io::stdin(), &mut io::sink()).unwrap();
}

/// The other process, in the role that `rounds` says.
fn other(directory: &FilePath, faults: &str, rounds: &str) -> Other {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "answer"]).env(DIRECTORY, directory).env(FAULTS, faults).env(ROUNDS, rounds);
    Other(command.stdin(Stdio::piped()).spawn().unwrap())
}

/// Ping-pong, then 64 KiB messages. Gives the median and the 99th percentile of the time one way, bytes per second, and
/// the network's treatment of this side's packets.
fn exchange(faults: &str, rounds: u64, messages: u32, stopped: bool) -> Outcome {
    let directory = tempfile::Builder::new().tempdir_in("/dev/shm").unwrap();
    let _stopped = stopped.then(|| other(directory.path(), "", STOPPED));
    let mut other = other(directory.path(), faults, &rounds.to_string());
    let mut program = Program::start(directory.path(), "a", "b", faults, stopped.then_some("c"));
    let mut times = Vec::new();
    for round in 1..=rounds {
        let start = Instant::now();
        program.ping(round, round % SIGNAL == 0);
        program.await_round(round);
        times.push(start.elapsed() / 2);
        if round % SIGNAL == 0 {
            program.complete();
        }
    }
    for (index, word) in program.data().iter().enumerate() {
        word.store(pattern(index), Ordering::Relaxed);
    }
    let start = Instant::now();
    for message in 0..messages {
        program.bulk();
        if message >= 32 {
            program.complete();
        }
    }
    for _ in 0..messages.min(32) {
        program.complete();
    }
    let rate = f64::from(messages) * MESSAGE as f64 / start.elapsed().as_secs_f64();
    program.ping(rounds + 1, true);
    program.complete();
    program.await_round(rounds + 1);
    // It leaves at the end of its input, which `wait` closes.
    assert!(other.0.wait().unwrap().success());
    times.sort();
    Outcome { median: times[times.len() / 2], p99: times[times.len() * 99 / 100], rate, faults: program.faults.take() }
}

struct Outcome {
    median: Duration,
    p99: Duration,
    rate: f64,
    faults: Option<Arc<FaultStats>>,
}

#[test]
fn programs_that_poll_reach_each_other() {
    let Outcome { median, p99, rate, .. } = exchange("", 2000, 500, false);
    eprintln!("8-byte WRITE one way: median {median:?}, p99 {p99:?}; 64 KiB WRITEs: {:.2} GB/s", rate / 1e9);
}

#[test]
fn a_bad_network_costs_time_but_no_data() {
    let Outcome { median, p99, rate, faults } = exchange("drop=10,dup=10,reorder=10,delay=5,seed=42", 150, 100, false);
    eprintln!("bad network: median {median:?}, p99 {p99:?}; {:.3} GB/s", rate / 1e9);
    let faults = faults.unwrap();
    // The seed decides what happens to the n-th frame, and far more than this are sent.
    let kinds = [faults.dropped(), faults.duplicated(), faults.reordered(), faults.delayed()];
    assert!(kinds.iter().all(|&count| count > 0) && faults.passed() > 1000, "{faults:?}");
}

/// One process is stopped, with more on its way to it than the network holds: the other two do not notice.
#[test]
fn a_stopped_process_holds_up_nobody_else() {
    exchange("", 200, 200, true);
}
