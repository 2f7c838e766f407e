//! The software device and where its events go: to the event files of the program, the complaints to the launcher.

use super::clock::Clock;
use super::counters_file::CountersFile;
use super::events::{Backlog, EventPipe, Source};
use super::queues_file::QueuesFile;
use super::subscriptions::Subscriptions;
use crate::abi::async_event;
use crate::launch::report;
use crate::strict::{self, Trapped};
use softhca::complaint::Complaint;
use softhca::device::Device;
use softhca::event::{Event, QpEvent};
use softhca::firmware::Firmware;
use softhca::gsi::Mad;
use softhca::runner::Step;
use softhca_settings::Mishaps;
use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// What raises events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// A CQ: completions.
    Completion(u32),
    /// A CQ: errors.
    Cq(u32),
    /// A QP.
    Qp(u32),
    /// An SRQ.
    Srq(u32),
    /// A work queue.
    Wq(u32),
    /// The receive queue of a QP for raw packets, whose errors are the QP's.
    RawQueue(u32),
}

thread_local! {
    /// Whether this thread polls or yields, and steps a device meanwhile: a handler of a signal may ask.
    pub(super) static STEPS_BY_POLL: Cell<bool> = const { Cell::new(false) };
}

/// What each step looks at, with the device's lock held, for as long as this returns `true`.
pub(crate) type Look = Box<dyn FnMut() -> bool + Send>;

/// The device with the state of its events, behind one lock. An event is in its pipe before a program can see that the
/// object which raised it is gone.
pub(super) struct Stepped {
    pub(super) device: Device,
    /// Its name, `mlx5_N`.
    name: String,
    /// Carries out commands that come as mailboxes.
    pub(super) firmware: Firmware,
    /// The programs' subscriptions to events, in the device's form.
    pub(super) subscriptions: Subscriptions,
    /// Several know of a target that they share.
    sources: HashMap<Origin, Vec<Arc<Source>>>,
    /// Where the events of ports and of the device itself go: to all that have it open.
    listeners: Vec<Weak<EventPipe>>,
    /// Event files that wait for room. Each step looks for it.
    backlog: Backlog,
    /// For calls of other processes.
    looks: Vec<Look>,
    mishaps: Mishaps,
    trapped: &'static Trapped,
    pub(super) clock: Clock,
    /// The counters that the launcher shows in sysfs.
    counters: Option<CountersFile>,
    /// The queues that `blueflame top` shows.
    queues: Option<QueuesFile>,
    /// Steps with work that threads of the program made when they polled or yielded.
    pub(super) steps_by_polls: u64,
}

/// The receiver of management datagrams that arrive at any device; without one they are dropped.
static TAKES_MADS: OnceLock<fn(&Mad)> = OnceLock::new();

/// From now on, `take` gets the management datagrams that arrive. To be called once.
pub(crate) fn take_mads(take: fn(&Mad)) {
    let _ = TAKES_MADS.set(take);
}

impl Stepped {
    pub(super) fn new(
        (device, name): (Device, String),
        mishaps: Mishaps,
        trapped: &'static Trapped,
        clock: Clock,
        (counters, queues): (Option<CountersFile>, Option<QueuesFile>),
    ) -> Self {
        let firmware = Firmware::new();
        Self {
            device,
            name,
            firmware,
            subscriptions: Subscriptions::default(),
            sources: HashMap::new(),
            listeners: Vec::new(),
            backlog: Backlog::default(),
            looks: Vec::new(),
            mishaps,
            trapped,
            clock,
            counters,
            queues,
            steps_by_polls: 0,
        }
    }

    /// From now on, `origin`'s events go to `source`, too.
    pub(super) fn know(&mut self, origin: Origin, source: &Arc<Source>) {
        self.sources.entry(origin).or_default().push(source.clone());
    }

    /// From now on, `origin`'s events go to `source` no more.
    pub(super) fn forget(&mut self, origin: Origin, source: &Arc<Source>) {
        if let Entry::Occupied(mut sources) = self.sources.entry(origin) {
            sources.get_mut().retain(|known| !Arc::ptr_eq(known, source));
            if sources.get().is_empty() {
                sources.remove();
            }
        }
    }

    /// Begins what doorbells have asked for up to now.
    pub(super) fn begin(&mut self) {
        let now = self.clock.now();
        // Before there are CQEs of this time.
        self.clock.show(now);
        self.device.begin(now);
        self.deliver_all();
    }

    /// Has the packets leave that the device has made up to now, as a NIC has done before its program ends. Waits no
    /// longer than `patience` for peers that have no room, and for packets that a slow network holds.
    pub(super) fn send_rest(&mut self, patience: Duration) {
        let end = self.clock.now() + patience;
        self.begin();
        while !self.device.send_waiting(self.clock.now()) && self.clock.now() < end {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// The process ends: its counts stay, and it says whether it has left an error unread.
    pub(super) fn tell_rest(&mut self) {
        if let Some(counters) = &mut self.counters {
            counters.publish(&self.device);
        }
        if self.device.has_unread_errors() {
            report::unread_error(&self.name);
        }
    }

    /// Raises an event at all sources of `origin`.
    fn raise(&mut self, origin: Origin, raise: impl Fn(&Source, &mut Backlog)) {
        let sources = self.sources.get(&origin).into_iter().flatten();
        sources.for_each(|source| raise(source, &mut self.backlog));
    }

    /// From now on, events that are no queue's go to `pipe`, too, as long as it is open.
    pub(super) fn listen(&mut self, pipe: &Arc<EventPipe>) {
        self.listeners.retain(|pipe| pipe.strong_count() > 0);
        self.listeners.push(Arc::downgrade(pipe));
    }

    /// From now on, each step looks.
    pub(super) fn watch(&mut self, look: Look) {
        self.looks.push(look);
    }

    fn deliver(&mut self, event: Event) {
        let (origin, event_type) = match event {
            Event::Completion { cqn } => return self.raise(Origin::Completion(cqn), Source::completion),
            Event::CqError { cqn, .. } => (Origin::Cq(cqn), async_event::CQ_ERR),
            Event::SrqLimit { srqn, .. } => (Origin::Srq(srqn), async_event::SRQ_LIMIT_REACHED),
            Event::SrqError { srqn, .. } => (Origin::Srq(srqn), async_event::SRQ_ERR),
            Event::Port { port, up: true } => return self.tell_all(port, async_event::PORT_ACTIVE),
            Event::Port { port, up: false } => return self.tell_all(port, async_event::PORT_ERR),
            Event::DeviceFatal => return self.tell_all(0, async_event::DEVICE_FATAL),
            Event::RqError { rqn } => {
                self.raise(Origin::Wq(rqn), |source, backlog| source.asynchronous(async_event::WQ_FATAL, backlog));
                (Origin::RawQueue(rqn), async_event::QP_FATAL)
            }
            // The kernel's driver keeps them to itself.
            Event::Dct { .. } | Event::SqError { .. } | Event::CommandDone { .. } | Event::PageRequest { .. } => return,
            Event::Qp { qpn, kind } => {
                let event_type = match kind {
                    QpEvent::CommunicationEstablished => async_event::COMM_EST,
                    QpEvent::SqDrained => async_event::SQ_DRAINED,
                    QpEvent::Fatal => async_event::QP_FATAL,
                    QpEvent::RequestError => async_event::QP_REQ_ERR,
                    QpEvent::AccessError => async_event::QP_ACCESS_ERR,
                    QpEvent::LastWqeReached => async_event::QP_LAST_WQE_REACHED,
                };
                (Origin::Qp(qpn), event_type)
            }
        };
        log::debug!("asynchronous event: {event:?}");
        self.raise(origin, |source, backlog| source.asynchronous(event_type, backlog));
    }

    /// An event that is no queue's.
    fn tell_all(&mut self, port: u8, event_type: u32) {
        for pipe in self.listeners.iter().filter_map(Weak::upgrade) {
            pipe.unaffiliated(port, event_type, &mut self.backlog);
        }
    }

    /// A program that has not read the events of a CQ cannot have counted them: new streams over a queue, of which each
    /// finds its completion before it would sleep.
    fn is_excused(&self, complaint: &Complaint) -> bool {
        let Complaint::ArmUncounted { cqn, .. } = *complaint else { return false };
        self.sources.get(&Origin::Completion(cqn)).into_iter().flatten().any(|source| source.has_unread())
    }

    pub(super) fn deliver_all(&mut self) {
        while let Some(event) = self.device.next_event() {
            self.subscriptions.deliver(&event);
            self.deliver(event);
        }
        while let Some(mad) = self.device.take_mad() {
            if let Some(take) = TAKES_MADS.get() {
                take(&mad);
            }
        }
        for happening in self.device.happenings() {
            report::happening(&self.name, &happening.to_string());
        }
        for explanation in self.device.explanations() {
            report::explanation(&self.name, &explanation.to_string());
        }
        for complaint in self.device.complaints() {
            if !self.is_excused(&complaint) {
                report::complaint(&complaint.to_string());
            }
        }
        for refused in strict::take_refused() {
            log::warn!("{refused}");
            report::complaint(&refused);
        }
    }
}

impl Step for Stepped {
    fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        self.device.doorbell(uar, offset, stored);
        self.trapped.one_is_done();
    }

    fn zero(&self) -> Option<Instant> {
        Some(self.clock.zero)
    }

    fn step(&mut self, now: Duration) -> bool {
        // Before there are CQEs of this time.
        self.clock.show(now);
        self.mishaps.befall(now, &mut self.device);
        let worked = self.device.step(now);
        // Programs may have read since the last step.
        self.backlog.flush();
        self.deliver_all();
        self.looks.retain_mut(|look| look());
        if let Some(counters) = &mut self.counters {
            counters.after_step(&self.device, worked, now);
        }
        if let Some(queues) = &mut self.queues {
            queues.after_step(&self.device, now);
        }
        worked
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.device.next_deadline()
    }

    fn next_event(&mut self) -> Option<Event> {
        // Already delivered, under the lock.
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::dma::UserMemory;
    use super::*;
    use softhca::config::DeviceConfig;
    use softhca::notify::Notify;
    use softhca::wire::Address;
    use softhca::wire::in_process::Fabric;
    use softhca_settings::{Link, plain_port};
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::thread;

    /// A device of one port, which nobody else steps.
    fn stepped() -> Stepped {
        let wire = Fabric::new().attach(Address { lids: Vec::new(), gids: Vec::new(), qpns: 2..3 }).unwrap();
        let config = DeviceConfig::with_port(plain_port(Link::Infiniband, 0, 1));
        let memory = UserMemory::new(Default::default(), None);
        let device = Device::new(config, Box::new(memory), Box::new(wire)).unwrap();
        let trapped = Box::leak(Box::new(Trapped::never(Notify::new())));
        let mishaps = Mishaps::new("/nowhere".as_ref(), 0, 1);
        Stepped::new((device, "mlx5_0".into()), mishaps, trapped, Clock::new(false), (None, None))
    }

    /// Has a program read `len` bytes, and steps the device until it has them.
    fn read(stepped: &mut Stepped, program: OwnedFd, len: usize) -> Vec<u8> {
        let reader = thread::spawn(move || {
            let mut bytes = vec![0; len];
            File::from(program).read_exact(&mut bytes).map(|()| bytes)
        });
        let deadline = Instant::now() + Duration::from_secs(10);
        while !reader.is_finished() {
            assert!(Instant::now() < deadline, "the program waits for ever");
            let now = stepped.clock.now();
            stepped.step(now);
            thread::sleep(Duration::from_millis(1));
        }
        reader.join().unwrap().unwrap()
    }

    /// A program that has read a full file, and waits for more, causes no event that would move the rest.
    #[test]
    fn events_that_a_file_has_no_room_for_come_when_it_was_read() {
        const EVENTS: u32 = 20_000;
        let mut stepped = stepped();
        let (pipe, program) = EventPipe::new(8).unwrap();
        let pipe = Arc::new(pipe);
        for cqn in 0..EVENTS {
            stepped.know(Origin::Completion(cqn), &Source::new(Some(pipe.clone()), cqn.into()));
            stepped.deliver(Event::Completion { cqn });
        }
        let all: Vec<u8> = (0..EVENTS).flat_map(|cqn| u64::from(cqn).to_ne_bytes()).collect();
        assert!(read(&mut stepped, program, all.len()) == all);

        let (pipe, program) = EventPipe::new(16).unwrap();
        let pipe = Arc::new(pipe);
        stepped.listen(&pipe);
        for _ in 0..EVENTS {
            stepped.deliver(Event::Port { port: 1, up: true });
        }
        let events = read(&mut stepped, program, EVENTS as usize * 16);
        assert!(events.chunks_exact(16).all(|event| event[..12] == [1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]));
    }

    /// Threads destroy and create at the same time, and numbers may be used again at once.
    #[test]
    fn an_object_keeps_its_events_when_the_one_before_it_with_its_number_goes() {
        let mut stepped = stepped();
        let (pipe, program) = EventPipe::new(8).unwrap();
        let pipe = Arc::new(pipe);
        let (origin, [old, new]) = (Origin::Completion(7), [1, 2].map(|user| Source::new(Some(pipe.clone()), user)));
        stepped.know(origin, &old);
        stepped.know(origin, &new);
        stepped.forget(origin, &old);
        stepped.deliver(Event::Completion { cqn: 7 });
        assert_eq!(read(&mut stepped, program, 8), 2_u64.to_ne_bytes());
        stepped.forget(origin, &new);
        assert!(stepped.sources.is_empty());
    }
}
