//! The target: one thread, one completion queue, one shared receive queue, and a queue pair for each initiator.

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use blueflame::verbs::async_event::AsyncEvents;
use blueflame::verbs::memory::POOL_ALIGN;
use blueflame::verbs::{Access, Drained, OwnedCq, Pool};
use blueflame::{ByQpn, WrId};
use common::Failure;

use crate::command::{BLOCKS, Command};
use crate::options::Options;
use crate::service::{Death, Service};
use crate::session::{Pair, Session, State, connect};

const NO_CONNECTOR: &str = "the thread that connects initiators has ended";
/// Requests for a command, twice: a completion may lag behind the answer that the initiator has seen.
const SENDS: u32 = 4;
/// How long the kernel may take to tell that a queue pair has left the shared receive queue.
const PATIENCE: Duration = Duration::from_secs(5);

/// State shared between the target and other threads.
#[derive(Default)]
pub(crate) struct Control {
    pub(crate) stop: AtomicBool,
    /// Initiators that came, gone ones included.
    pub(crate) connected: AtomicU32,
}

pub(crate) struct Target {
    cq: OwnedCq,
    service: Service,
    events: AsyncEvents,
    /// Takes back queue pairs without an initiator.
    spare: Sender<Pair>,
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
            unsafe { srq.post_unchecked(WrId(n as u64), &[buffer.sge()])? };
        }
        let cq = device.completion_queue(pairs * (SENDS * depth + 1) + srq.capacity()).build()?;
        let (spare, spares) = channel();
        for _ in 0..pairs {
            let pair = pd.queue_pair(&cq, &cq).shared_recv_queue(srq.handle()).sends(SENDS * depth);
            spare.send(pair.build()?).map_err(|_| NO_CONNECTOR)?;
        }
        let (sender, arriving) = channel();
        thread::spawn(move || connect(&listener, &path, &spares, &sender));
        let (sessions, deaths) = (ByQpn::new(), Vec::new());
        let service = Service { srq, receives, disk, block, sessions, arriving, arrived: 0, commands: 0, deaths };
        Ok(Self { cq, service, events: device.async_events(), spare })
    }

    /// Serves until told to stop. Returns the initiators that died meanwhile.
    pub(crate) fn serve(mut self, control: &Control) -> Result<Vec<Death>, Failure> {
        for round in 0_u64.. {
            let idle = self.cq.try_poll_with(16, |cqe| self.service.complete(&cqe))? == 0;
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
            while let Some(session) = self.service.ended() {
                self.leave(session)?;
            }
            thread::yield_now();
        }
        Ok(self.service.deaths)
    }

    /// Ends a session while the others go on. Afterwards its queue pair is as new, and the shared queue has its
    /// receives back.
    fn leave(&mut self, session: Session) -> Result<(), Failure> {
        let Self { cq, service, events, spare } = self;
        let begin = Instant::now();
        let Session { number, mut pair, state, .. } = session;
        // From here on the queue pair takes no more receives from the shared queue.
        events.leave_shared_queue(&pair.qp, PATIENCE, |_| ())?;
        let mut flushed = 0;
        let mut drain = pair.drain()?;
        while !drain.is_done() {
            cq.try_poll_with(16, |cqe| {
                match drain.take(&cqe)? {
                    Some(Drained::Shared) => drop(service.receive(&cqe)?),
                    Some(Drained::Send(_)) => flushed += usize::from(cqe.check().is_err()),
                    Some(_) => {}
                    None => service.complete(&cqe)?,
                }
                Ok::<_, Failure>(())
            })?;
        }
        let mut taken_back = Ok(());
        pair.reset(&mut [cq], |cqe| {
            if taken_back.is_ok() {
                taken_back = service.receive(&cqe).map(drop);
            }
        })?;
        taken_back?;
        spare.send(pair).map_err(|_| NO_CONNECTOR)?;
        if state == State::Dead {
            let freed_after_ms = begin.elapsed().as_secs_f64() * 1e3;
            let commands_before = service.commands;
            service.deaths.push(Death { number, flushed, freed_after_ms, others_meanwhile: None, commands_before });
        }
        Ok(())
    }
}
