//! Two processes, a device with a thread of its own in each, joined by shared memory: RDMA WRITEs from program to
//! program, which both poll as verbs programs do. The WQEs and CQEs are built and read here, by hand.
#![cfg(target_os = "linux")]

use std::{
    env, fs,
    path::Path as FilePath,
    process::{Child, Command},
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
    process_memory::ProcessMemory,
    runner::Runner,
    wire::{
        Wire,
        fault::{FaultConfig, FaultInjector},
        shm::ShmWire,
    },
};

const LID: u16 = 1;
const LIMIT: Duration = Duration::from_secs(60);

// Layout of the one block of memory that a program gives to its device; offsets in bytes.
const BLOCK: usize = 1 << 20;
const CQ: usize = 0;
const CQ_LOG: u8 = 6;
const SQ: usize = 64 << 10;
const SQ_LOG: u8 = 6;
const CQ_RECORD: usize = 128 << 10;
const QP_RECORD: usize = CQ_RECORD + 64;
/// Where the peer writes the number of the round.
const MAILBOX: usize = CQ_RECORD + 4096;
const DATA: usize = 512 << 10;
const MESSAGE: usize = 64 << 10;

/// What the peer must know.
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
    _runner: Runner,
}

impl Program {
    fn start(directory: &FilePath, name: &str, peer: &str, faults: &str) -> Self {
        let wire = ShmWire::join(directory, &[LID], &[]).unwrap();
        let notify = wire.notify();
        let qpns = wire.qpns();
        let wire: Box<dyn Wire> = match faults {
            "" => Box::new(wire),
            faults => Box::new(FaultInjector::new(wire, faults.parse::<FaultConfig>().unwrap()).unwrap()),
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
        let cq = CqContext {
            buf: addr + CQ as u64,
            log_size: CQ_LOG,
            cqe_bytes: 64,
            dbr: addr + CQ_RECORD as u64,
            uar,
            ignore_overrun: false,
        };
        let cqn = device.create_cq(cq).unwrap();
        let qp = QpContext {
            transport: Transport::Rc,
            pd,
            send_cqn: cqn,
            recv_cqn: cqn,
            sq: Some(SqContext { buf: addr + SQ as u64, log_size: SQ_LOG, inline_headers: InlineHeaders::None }),
            rq: ReceiveSource::None,
            dbr: addr + QP_RECORD as u64,
            uar,
            uidx: 0,
            signal_all: false,
            scatter_to_cqe_req: 0,
            scatter_to_cqe_res: 0,
        };
        let own = Endpoint { qpn: device.create_qp(qp).unwrap(), addr, key };
        own.publish(directory, name);
        let peer = Endpoint::of_peer(directory, peer);
        connect(&mut device, own.qpn, peer.qpn, access);
        let runner = Runner::start(Arc::new(Mutex::new(device)), notify, None, |_| {}).unwrap();
        Self { block, peer, own, posted: 0, consumed: 0, _runner: runner }
    }

    fn word<T>(&self, at: usize) -> &T {
        assert!(at + size_of::<T>() <= BLOCK && at.is_multiple_of(align_of::<T>()));
        // SAFETY: inside of the block and aligned (checked); `T` is one of the atomics, valid for any bytes.
        unsafe { &*self.block.add(at).cast() }
    }

    /// Posts one WQEBB: control, remote address, and a third segment with what follows it.
    fn write(&mut self, offset: usize, third: [u8; 16], len: usize, signaled: bool) {
        const RDMA_WRITE: u32 = 0x08;
        let mut wqe = [0; 64];
        wqe[..4].copy_from_slice(&(u32::from(self.posted) << 8 | RDMA_WRITE).to_be_bytes());
        wqe[4..8].copy_from_slice(&((self.own.qpn << 8) | ((32 + len) as u32 / 16)).to_be_bytes());
        wqe[11] = if signaled { 0x08 } else { 0 };
        wqe[16..24].copy_from_slice(&(self.peer.addr + offset as u64).to_be_bytes());
        wqe[24..28].copy_from_slice(&self.peer.key.to_be_bytes());
        wqe[32..48].copy_from_slice(&third);
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
        let mut third = [0; 16];
        third[..4].copy_from_slice(&(MESSAGE as u32).to_be_bytes());
        third[4..8].copy_from_slice(&self.own.key.to_be_bytes());
        third[8..].copy_from_slice(&(self.own.addr + DATA as u64).to_be_bytes());
        self.write(DATA, third, 16, true);
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

fn connect(device: &mut Device, own: u32, peer: u32, access: Access) {
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
        // 4.096 us * 2^12 = 17 ms.
        timeout: Some(12),
        retry_cnt: Some(7),
        rnr_retry: Some(7),
        ..none
    };
    for attr in [init, rtr, rts] {
        device.modify_qp(own, &attr).unwrap();
    }
}

/// What the word with this index of a message holds.
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
/// A request of so many is signaled: the send ring must not be overrun.
const SIGNAL: u64 = 16;

/// The other program. Not a test of its own.
#[test]
fn answer() {
    let (Some(directory), Ok(faults), Ok(rounds)) = (env::var_os(DIRECTORY), env::var(FAULTS), env::var(ROUNDS)) else {
        return;
    };
    let rounds: u64 = rounds.parse().unwrap();
    let mut program = Program::start(FilePath::new(&directory), "b", "a", &faults);
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
}

/// Ping-pong, then 64 KiB messages. Gives the median and the 99th percentile of the time one way, and bytes per
/// second.
fn exchange(faults: &str, rounds: u64, messages: u32) -> (Duration, Duration, f64) {
    let directory = tempfile::Builder::new().tempdir_in("/dev/shm").unwrap();
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "answer"])
        .env(DIRECTORY, directory.path())
        .env(FAULTS, faults)
        .env(ROUNDS, rounds.to_string())
        .spawn();
    let mut other = Other(child.unwrap());
    let mut program = Program::start(directory.path(), "a", "b", faults);
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
    assert!(other.0.wait().unwrap().success());
    times.sort();
    (times[times.len() / 2], times[times.len() * 99 / 100], rate)
}

#[test]
fn programs_that_poll_reach_each_other() {
    let (median, p99, rate) = exchange("", 2000, 2000);
    eprintln!("8-byte WRITE one way: median {median:?}, p99 {p99:?}; 64 KiB WRITEs: {:.2} GB/s", rate / 1e9);
    // Polling programs that starve the devices' threads would need about 10 ms.
    assert!(median < Duration::from_millis(3), "{median:?}");
}

#[test]
fn a_bad_network_costs_time_but_no_data() {
    let (median, p99, rate) = exchange("drop=10,dup=10,reorder=10,delay=5,seed=42", 300, 100);
    eprintln!("bad network: median {median:?}, p99 {p99:?}; {:.3} GB/s", rate / 1e9);
}
