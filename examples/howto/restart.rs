//! Queues that survive the program that posts. A keeper has the device, and the memory of the queues. A poster, another
//! process, imports the device, maps the memory and the doorbell register, and sends numbered messages. The keeper
//! kills it now and then, and starts the next one, which goes on where it was. Each message arrives once.
//!
//! The receiver is in the keeper, to count the messages. It could be any peer: it does not see the restarts.

use std::env;
use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use blueflame::CompletionQueue;
use blueflame::cq::setup::CqParts;
use blueflame::db::ExclusiveRegister;
use blueflame::queue::send::SqParts;
use blueflame::queue::{SendQueue, Shadow};
use blueflame::transport::Rc;
use blueflame::types::{CqCi, Cqn, Qpn, SqPi};
use blueflame::verbs::{Access, BufferPool, Path};
use blueflame::{WrId, wqe};
use blueflame_devx::cmd::{QpcState, QueryQpIn, ServiceType};
use blueflame_devx::memory::{Rings, ThreadRings, Umem};
use blueflame_devx::object::{Pd, Uar};
use blueflame_devx::{Context, Object};
use howto::Failure;

/// Messages that arrive in all, posters that are killed, and requests under way at a time.
const MESSAGES: u64 = 20_000;
const KILLS: u64 = 6;
const DEPTH: u32 = 64;
/// Bytes that keeper and posters share: rings and records, then the number of the next message.
const RINGS: usize = 1 << 16;
const SHARED: usize = RINGS + 4096;
/// Receives of the receiver, of 8 bytes each.
const RECEIVES: u32 = 256;
/// No message needs this long.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> Result<(), Failure> {
    if env::args().nth(1).as_deref() == Some("poster") { poster() } else { keeper() }
}

/// The shared memory, mapped.
fn map(memory: &File) -> Result<NonNull<u8>, Failure> {
    let (protection, fd) = (libc::PROT_READ | libc::PROT_WRITE, memory.as_raw_fd());
    // SAFETY: a new mapping of the file, at an address that the kernel chooses.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), SHARED, protection, libc::MAP_SHARED, fd, 0) };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error().into());
    }
    Ok(NonNull::new(at.cast()).ok_or("mmap")?)
}

/// A descriptor that a program started from here inherits.
fn inherited(fd: impl AsFd) -> io::Result<OwnedFd> {
    // SAFETY: a plain call; the descriptor is new.
    match unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_DUPFD, 3) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: nobody else has it.
        new => Ok(unsafe { OwnedFd::from_raw_fd(new) }),
    }
}

/// The keeper tells a poster this: the numbers of the objects, and the places of the queues in the shared memory. Each
/// number has 8 bytes.
#[derive(Clone, Copy, Default)]
struct Told {
    qpn: u64,
    cqn: u64,
    ring: u64,
    wqebbs: u64,
    record: u64,
    cqes: u64,
    cqe_cnt: u64,
    cq_record: u64,
    max_inline: u64,
    max_sge: u64,
}

impl Told {
    const NUMBERS: usize = 10;

    fn numbers(self) -> [u64; Self::NUMBERS] {
        let Self { qpn, cqn, ring, wqebbs, record, cqes, cqe_cnt, cq_record, max_inline, max_sge } = self;
        [qpn, cqn, ring, wqebbs, record, cqes, cqe_cnt, cq_record, max_inline, max_sge]
    }

    fn of(
        [qpn, cqn, ring, wqebbs, record, cqes, cqe_cnt, cq_record, max_inline, max_sge]: [u64; Self::NUMBERS],
    ) -> Self {
        Self { qpn, cqn, ring, wqebbs, record, cqes, cqe_cnt, cq_record, max_inline, max_sge }
    }
}

fn send_bytes(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(bytes)
}

fn receive_number(from: &mut impl Read) -> io::Result<u64> {
    let mut number = [0; 8];
    from.read_exact(&mut number)?;
    Ok(u64::from_le_bytes(number))
}

fn receive_bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(receive_number(from)?).unwrap_or(0).min(4096)];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The parcel for each poster.
struct Parcel {
    cmd_fd: OwnedFd,
    memory: OwnedFd,
    told: Told,
    register: Vec<u8>,
    /// Empty if libmlx5 is older than rdma-core 65.
    qp: Vec<u8>,
}

impl Parcel {
    /// Starts a poster, which inherits the two descriptors.
    fn start(&self) -> Result<Child, Failure> {
        let fds = [&self.cmd_fd, &self.memory].map(|fd| fd.as_raw_fd().to_string());
        let mut child = Command::new(env::current_exe()?).arg("poster").args(fds).stdin(Stdio::piped()).spawn()?;
        let mut to = child.stdin.take().ok_or("no pipe")?;
        for number in self.told.numbers() {
            to.write_all(&number.to_le_bytes())?;
        }
        send_bytes(&mut to, &self.register)?;
        send_bytes(&mut to, &self.qp)?;
        Ok(child)
    }
}

fn keeper() -> Result<(), Failure> {
    let context = Context::open_first()?;
    // ANCHOR: keep
    // SAFETY: the name is a string, and the descriptor is new.
    let memory = unsafe { File::from_raw_fd(libc::memfd_create(c"queues".as_ptr(), libc::MFD_CLOEXEC)) };
    memory.set_len(SHARED as u64)?;
    let shared = map(&memory)?;
    // SAFETY: mapped as long as this process runs; only the queues, here and in the posters, use this part.
    let rings = ThreadRings::new(&Rings::over(unsafe { Umem::over(&context, shared, RINGS) }?));
    let verbs_pd = context.device().protection_domain()?;
    let pd = Pd::of_verbs(&context, &verbs_pd)?;
    let uar = Uar::new(&context)?;
    let register = uar.export();
    // Made here, and used only by the posters.
    let sends = rings.completion_queue(uar.page(), DEPTH).build()?;
    let sender = pd.raw_queue_pair(ServiceType::RC, &rings, &sends, &sends).sends(DEPTH).receives(0).build_on(uar)?;
    // ANCHOR_END: keep
    let offset = |at: NonNull<c_void>| (at.addr().get() - shared.addr().get()) as u64;
    let cq = sends.handle().parts();
    let told = Told {
        qpn: sender.sq.qpn.get().into(),
        cqn: cq.cqn.get().into(),
        ring: offset(sender.sq.ring.cast()),
        wqebbs: sender.sq.wqebbs.into(),
        record: offset(sender.sq.dbrec.cast()),
        cqes: offset(cq.buf.cast()),
        cqe_cnt: cq.cqe_cnt.into(),
        cq_record: offset(cq.dbrec.cast()),
        max_inline: sender.sq.max_inline.into(),
        max_sge: sender.sq.max_sge.into(),
    };
    let qp = sender.qp.object().export().unwrap_or_default();
    let (cmd_fd, memory) = (inherited(context.device().cmd_fd())?, inherited(&memory)?);
    let parcel = Parcel { cmd_fd, memory, told, register, qp };

    // The receiver, with queues of its own.
    let own = ThreadRings::new(&Rings::new(&context)?);
    let own_uar = Uar::new(&context)?;
    let mut cq = own.completion_queue(own_uar.page(), RECEIVES + 1).build()?;
    let mut receiver = pd.queue_pair::<Rc>(&own, &cq, &cq).sends(1).receives(RECEIVES).build_on(own_uar)?;
    let pool = BufferPool::new(&verbs_pd, 8, Access::LOCAL_WRITE)?;
    let path = Path { rnr_retry: 7, ..context.device().path(1, None)? };
    let [at_sender, at_receiver] = [&sender.qp, &receiver.qp].map(|qp| qp.endpoint(&path));
    receiver.qp.to_init(&path)?;
    sender.qp.to_init(&path)?;
    for _ in 0..RECEIVES {
        receiver.rq.post(pool.take()?)?;
    }
    receiver.connect(&path, &at_receiver, &at_sender)?;
    sender.connect(&path, &at_sender, &at_receiver)?;

    let (mut arrived, mut killed, mut poster) = (0, 0, parcel.start()?);
    let mut last = Instant::now();
    while arrived < MESSAGES {
        let before = arrived;
        while let Some(cqe) = cq.poll() {
            let received = receiver.rq.complete(&cqe)?;
            let buffer = received.buffer;
            let mut number = [0; 8];
            buffer.read(&mut number);
            if u64::from_le_bytes(number) != arrived {
                return Err(format!("message {} has arrived in place of {arrived}", u64::from_le_bytes(number)).into());
            }
            arrived += 1;
            receiver.rq.post(buffer)?;
        }
        if arrived != before {
            last = Instant::now();
        } else if last.elapsed() > PATIENCE {
            return Err(format!("message {arrived} has not arrived").into());
        } else {
            thread::yield_now();
        }
        // At another point of its work each time.
        if killed < KILLS && arrived > (killed + 1) * MESSAGES / (KILLS + 2) {
            poster.kill()?;
            poster.wait()?;
            killed += 1;
            poster = parcel.start()?;
        }
    }
    if !poster.wait()?.success() {
        return Err("the last poster has failed".into());
    }
    println!("{MESSAGES} messages have arrived once each; {KILLS} posters were killed");
    Ok(())
}

fn poster() -> Result<(), Failure> {
    let mut arguments = env::args().skip(2).map(|argument| argument.parse());
    let mut descriptor = || -> Result<OwnedFd, Failure> {
        let fd = arguments.next().ok_or("no descriptor")??;
        // SAFETY: inherited for this, and taken once.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    };
    let (cmd_fd, memory) = (descriptor()?, File::from(descriptor()?));
    let mut from = io::stdin().lock();
    let mut numbers = [0; Told::NUMBERS];
    for number in &mut numbers {
        *number = receive_number(&mut from)?;
    }
    let (told, register, qp) = (Told::of(numbers), receive_bytes(&mut from)?, receive_bytes(&mut from)?);
    let qpn = Qpn::truncate(told.qpn as u32);

    // ANCHOR: resume
    let context = Context::import(cmd_fd)?;
    let shared = map(&memory)?;
    // SAFETY: offsets in the mapping, from the keeper.
    let at = |offset: u64| unsafe { shared.add(offset as usize) };
    // SAFETY: exported by the keeper, which keeps it. The poster before is gone, and nobody else rings.
    let uar = unsafe { Uar::import(&context, &register) }?;
    let parts = CqParts {
        buf: at(told.cqes),
        cqe_cnt: told.cqe_cnt as u32,
        cqe_size: 64,
        dbrec: at(told.cq_record).cast(),
        cq_uar: uar.page().base(),
        cqn: Cqn::truncate(told.cqn as u32),
        ci: CqCi::truncate(0), // comes from the record
    };
    // SAFETY: the keeper has made the queue for posters. The one before is gone.
    let mut cq = unsafe { CompletionQueue::from_parts(parts.recorded())? };
    let shadow = Shadow::new(told.wqebbs as u32);
    let parts = SqParts {
        ring: at(told.ring),
        wqebbs: told.wqebbs as u32,
        dbrec: at(told.record).cast(),
        qpn,
        cq: cq.id(),
        max_inline: told.max_inline as u32,
        max_sge: told.max_sge as u32,
        signal_all: false,
        pi: SqPi(0), // comes from the record
        shadow: shadow.start(),
    };
    // Each request is one WQEBB and has a completion in `cq`, so all before its consumer index have completed.
    let oldest = SqPi(cq.consumer_index().get() as u16);
    // SAFETY: as for the completion queue. Outstanding requests name no memory. `uar` lives longer than the queue.
    let mut sq = unsafe {
        let register = ExclusiveRegister::from_parts(uar.parts())?;
        SendQueue::<Rc>::resume(parts.recorded(), register, oldest)?
    };
    // ANCHOR_END: resume
    if !qp.is_empty() {
        // ANCHOR: query
        let mut inbox = QueryQpIn::new();
        inbox.set_qpn(qpn);
        // SAFETY: exported by the keeper, which destroys it last.
        let qp = unsafe { Object::import(&context, &qp) }?;
        let state = qp.query(&inbox)?.qpc().state();
        // ANCHOR_END: query
        if state != QpcState::RTS {
            return Err(format!("the queue pair is in state {state:?}").into());
        }
    }

    // ANCHOR: post
    // How many messages were posted: at least as many as the file says, and the record has the rest.
    // SAFETY: an aligned word of the mapping, which one poster at a time uses.
    let posted = unsafe { AtomicU64::from_ptr(at(RINGS as u64).cast().as_ptr()) };
    let mut next = posted.load(Ordering::Relaxed);
    next += u64::from(sq.pi().0.wrapping_sub(next as u16));
    let mut last = Instant::now();
    while next < MESSAGES || sq.free().0 != sq.depth().0 {
        if next < MESSAGES && sq.free().0 > 0 {
            // A program that is killed before the record has the request has not posted it; the next one does.
            sq.post(&wqe::send().inline(&next.to_le_bytes()).signaled(WrId(next)))?;
            next += 1;
            posted.store(next, Ordering::Relaxed);
        }
        while let Some(cqe) = cq.poll() {
            sq.complete(&cqe)?;
            last = Instant::now();
        }
        if last.elapsed() > PATIENCE {
            return Err("a request does not complete".into());
        }
    }
    // ANCHOR_END: post
    Ok(())
}
