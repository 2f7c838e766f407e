//! The target: one thread, one completion queue, one shared receive queue, and a queue pair for each initiator.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use blueflame::cq::{CqeView, Side, Source};
use blueflame::queue::PostError;
use blueflame::verbs::{Access, AsyncEvents, Buffer, Drained, OwnedCq, OwnedSrq, POOL_ALIGN, Path, Pool, QueuePair};
use blueflame::wqe::Fence;
use blueflame::{Qpn, WrId, transport, wqe};
use common::{Failure, prepared};
use serde::Serialize;

use crate::Options;
use crate::command::{BLOCKS, Command};

type Pair = QueuePair<transport::Rc>;

const NO_CONNECTOR: &str = "the thread that connects initiators has ended";
/// Requests for a command, twice: a completion may lag behind the answer that the initiator has seen.
const SENDS: u32 = 4;
/// How long the kernel may take to tell that a queue pair has left the shared receive queue.
const PATIENCE: Duration = Duration::from_secs(5);

/// What other threads tell the target, and are told.
#[derive(Default)]
pub(crate) struct Control {
    pub(crate) stop: AtomicBool,
    /// Initiators that came, gone ones included.
    pub(crate) connected: AtomicU32,
}

/// An initiator that died.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Death {
    pub(crate) number: u32,
    /// Requests towards it that did not succeed.
    pub(crate) flushed: usize,
    /// Until its queue pair could be connected again.
    pub(crate) freed_after_ms: f64,
    /// Commands of the others, from then until an initiator of the same number came.
    pub(crate) others_meanwhile: Option<u64>,
    #[serde(skip)]
    commands_before: u64,
}

/// A connected initiator.
struct Session {
    number: u32,
    pair: Pair,
    /// Ends when the initiator does.
    stream: TcpStream,
    /// Commands for which the send queue has had no room.
    waiting: VecDeque<Command>,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Alive,
    /// Has said good-bye.
    Done,
    Dead,
}

pub(crate) struct Target {
    cq: OwnedCq,
    service: Service,
    events: AsyncEvents,
    /// Where queue pairs go that have no initiator.
    spare: Sender<Pair>,
}

/// Everything but the completion queue, whose completions it handles.
struct Service {
    srq: OwnedSrq,
    receives: Vec<Buffer>,
    disk: Buffer,
    block: usize,
    sessions: Vec<Session>,
    arriving: Receiver<Session>,
    arrived: u32,
    /// Commands completed.
    commands: u64,
    deaths: Vec<Death>,
}

impl Target {
    /// A target that takes initiators from `listener`.
    pub(crate) fn new(options: &Options, listener: TcpListener) -> Result<Self, Failure> {
        let (device, path) = options.setup.open()?;
        let (pairs, depth, block) = (options.qp, options.tx_depth, options.size as usize);
        let pd = device.protection_domain()?;
        // Peers may not access any of it: they name their own memory, and the target reads and writes that.
        let bytes = (pairs * BLOCKS) as usize * block;
        let mut pool = Pool::new(&pd, bytes + (pairs * depth) as usize * POOL_ALIGN, Access::LOCAL_WRITE)?;
        let disk = pool.take(bytes)?;
        let receives = (0..pairs * depth).map(|_| pool.take(Command::BYTES)).collect::<Result<Vec<_>, _>>()?;
        let mut srq = pd.shared_recv_queue(pairs * depth, 1)?;
        for (n, buffer) in receives.iter().enumerate() {
            // SAFETY: the buffer is read when its receive has completed, and lives as long as the queue.
            unsafe { srq.post(WrId(n as u64), &[buffer.sge()])? };
        }
        let cq = device.completion_queue(pairs * (SENDS * depth + 1) + srq.capacity()).build()?;
        let (spare, spares) = channel();
        for _ in 0..pairs {
            let pair = pd.queue_pair(cq.handle(), cq.handle()).shared_recv_queue(srq.handle()).sends(SENDS * depth);
            spare.send(pair.build()?).map_err(|_| NO_CONNECTOR)?;
        }
        let (sender, arriving) = channel();
        thread::spawn(move || connect(&listener, &path, &spares, &sender));
        let (sessions, deaths) = (Vec::new(), Vec::new());
        let service = Service { srq, receives, disk, block, sessions, arriving, arrived: 0, commands: 0, deaths };
        Ok(Self { cq, service, events: device.async_events(), spare })
    }

    /// Serves until told to stop. Who died meanwhile.
    pub(crate) fn serve(mut self, control: &Control) -> Result<Vec<Death>, Failure> {
        for round in 0_u64.. {
            let idle = self.cq.poll_with(16, |cqe| self.service.complete(&cqe))? == 0;
            if !idle && round % 256 != 0 {
                continue;
            }
            // The time to look around.
            if control.stop.load(Relaxed) {
                break;
            }
            while let Ok(session) = self.service.arriving.try_recv() {
                self.service.welcome(session);
            }
            control.connected.store(self.service.arrived, Relaxed);
            while let Some(place) = self.service.sessions.iter_mut().position(|one| one.look() != State::Alive) {
                self.leave(place)?;
            }
            thread::yield_now();
        }
        Ok(self.service.deaths)
    }

    /// Ends a session while the others go on: its queue pair is as new then, and what it had of the shared queue is back.
    fn leave(&mut self, place: usize) -> Result<(), Failure> {
        let Self { cq, service, events, spare } = self;
        let begin = Instant::now();
        let Session { number, mut pair, state, .. } = service.sessions.swap_remove(place);
        // From here on the queue pair takes no more receives from the shared queue.
        events.leave_shared_queue(&pair.qp, PATIENCE, |_| ())?;
        let mut flushed = 0;
        let mut drain = pair.drain()?;
        while !drain.is_done() {
            cq.poll_with(16, |cqe| {
                match drain.take(&cqe)? {
                    Some(Drained::Shared) => drop(service.receive(&cqe)?),
                    Some(Drained::Send(_)) => flushed += usize::from(cqe.check().is_err()),
                    Some(_) => {}
                    None => service.complete(&cqe)?,
                }
                Ok::<_, Failure>(())
            })?;
        }
        let mut last = Ok(None);
        pair.reset(&mut [cq], |cqe| last = service.receive(&cqe))?;
        last?;
        spare.send(pair).map_err(|_| NO_CONNECTOR)?;
        if state == State::Dead {
            let freed_after_ms = begin.elapsed().as_secs_f64() * 1e3;
            let commands_before = service.commands;
            service.deaths.push(Death { number, flushed, freed_after_ms, others_meanwhile: None, commands_before });
        }
        Ok(())
    }
}

impl Service {
    /// Handles a completion of any session.
    fn complete<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<(), Failure> {
        if cqe.side() == Some(Side::Responder) {
            // Flushed receives have no command.
            let Some(bytes) = self.receive(cqe)? else { return Ok(()) };
            let session = self.session(cqe.qpn())?;
            match Command::from_bytes(&bytes) {
                Some(command) => session.waiting.push_back(command),
                None => session.state = State::Dead,
            }
        } else {
            let session = self.session(cqe.qpn())?;
            session.pair.sq.retire(cqe)?;
            match cqe.check() {
                Ok(_) => self.commands += 1,
                // The first error moves the queue pair to the error state, and the rest is flushed.
                Err(_) => session.state = State::Dead,
            }
        }
        self.answer(cqe.qpn())
    }

    /// Takes a receive back and posts it again; the command in it, if there is one.
    fn receive<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Option<[u8; Command::BYTES]>, Failure> {
        let tag = self.srq.retire(cqe)?;
        let buffer = &self.receives[tag.0 as usize];
        let mut bytes = [0; Command::BYTES];
        buffer.read(0, &mut bytes);
        // SAFETY: as when it was first posted; the command has been copied.
        unsafe { self.srq.post(tag, &[buffer.sge()])? };
        Ok((cqe.check().is_ok() && cqe.byte_len() as usize == Command::BYTES).then_some(bytes))
    }

    /// Executes a session's commands as far as its send queue has room: the block, and behind it the answer.
    fn answer(&mut self, qpn: Qpn) -> Result<(), Failure> {
        let (block, blocks) = (self.block, self.disk.len() / self.block);
        let place = self.place(qpn)?;
        let Session { pair, waiting, state, .. } = &mut self.sessions[place];
        while let (Some(&command), State::Alive) = (waiting.front(), *state) {
            if command.block as usize >= blocks {
                *state = State::Dead;
                break;
            }
            let data = [self.disk.sge_of(command.block as usize * block..(command.block as usize + 1) * block)];
            let answer = wqe::send().imm(command.tag.into()).signaled(WrId(0));
            let mut batch = pair.sq.batch();
            // SAFETY: the disk lives as long as the queue, and nobody but the device reads and writes it.
            let posted = unsafe {
                if command.write {
                    let fetch = wqe::read(command.memory).scatter(data);
                    batch.push_unchecked(&fetch).and_then(|()| batch.push(&answer.fence(Fence::SmallAndReads)))
                } else {
                    let bring = wqe::write(command.memory).gather(data);
                    batch.push_unchecked(&bring).and_then(|()| batch.push(&answer))
                }
            };
            match posted {
                Ok(()) => batch.ring_doorbell(),
                // The next completion makes room.
                Err(PostError::Full { .. }) => break,
                Err(error) => return Err(error.into()),
            }
            waiting.pop_front();
        }
        Ok(())
    }

    fn session(&mut self, qpn: Qpn) -> Result<&mut Session, Failure> {
        let place = self.place(qpn)?;
        Ok(&mut self.sessions[place])
    }

    /// Where a queue pair's session is. An initiator may send before the thread that connected it has told of it.
    fn place(&mut self, qpn: Qpn) -> Result<usize, Failure> {
        loop {
            if let Some(place) = self.sessions.iter().position(|one| one.pair.qp.qpn() == qpn) {
                return Ok(place);
            }
            let session = self.arriving.recv_timeout(PATIENCE)?;
            self.welcome(session);
        }
    }

    fn welcome(&mut self, session: Session) {
        let successor_of = |death: &&mut Death| death.number == session.number && death.others_meanwhile.is_none();
        if let Some(death) = self.deaths.iter_mut().find(successor_of) {
            death.others_meanwhile = Some(self.commands - death.commands_before);
        }
        self.sessions.push(session);
        self.arrived += 1;
    }
}

impl Session {
    /// Whether the initiator is still there: a killed one says nothing by RDMA, but the kernel closes its TCP connection.
    fn look(&mut self) -> State {
        if self.state == State::Alive {
            self.state = match self.stream.peek(&mut [0]) {
                Ok(0) => State::Dead,
                Ok(_) => State::Done,
                Err(error) if error.kind() == ErrorKind::WouldBlock => State::Alive,
                Err(_) => State::Dead,
            };
        }
        self.state
    }
}

/// Connects initiators as they come, on a thread of its own: those that are served do not wait for it.
fn connect(listener: &TcpListener, path: &Path, spares: &Receiver<Pair>, connected: &Sender<Session>) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream.map_err(Failure::from).and_then(prepared) else { continue };
        let Ok(mut pair) = spares.recv() else { return };
        let peer = pair.sq.connect_over(&mut stream, path, &[]);
        let number = peer.map_err(Failure::from).and_then(|peer| Ok(u32::from_be_bytes(peer.data[..].try_into()?)));
        let number = number.and_then(|number| stream.set_nonblocking(true).map(|()| number).map_err(Failure::from));
        if let Err(error) = &number {
            eprintln!("storage_target: an initiator that did not connect: {error}");
        }
        // The queue pair of one that did not is made as new, too.
        let state = if number.is_ok() { State::Alive } else { State::Done };
        let session = Session { number: number.unwrap_or(0), pair, stream, waiting: VecDeque::new(), state };
        if connected.send(session).is_err() {
            return;
        }
    }
}
