//! Contacts of a device with the others on its fabric: the devices that are present, and the rings they have handed
//! over.
//!
//! A NIC needs no file to meet another one. So two threads make and keep the contacts, as the process was when it joined:
//! with descriptors, a root and a working directory of their own ([`crate::thread::go_apart`]). Later limits of
//! descriptors, a `chroot` or a change of the user are the program's alone, and a forked child inherits nothing.
//!
//! ```text
//! the wire ── requests, one at a time ──> the thread that asks: reaches peers, looks for neighbours
//!     ^                                        │ connections
//!     └─────── senders, reports ─────── the thread that listens: lets senders in, sees when an end is gone
//! ```
//!
//! Both threads may not log: standard error is the program's. They report to the wire, which does.

use std::{
    collections::HashMap,
    io,
    os::fd::{AsRawFd, RawFd},
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::descriptor::Descriptor;
use super::ring::{Reader, Writer};
use super::slot::{Connection, Control, Directory, OwnSlot, Received, SLOTS};
use crate::config::Gid;
use crate::notify::{Notify, Waker};
use crate::thread::{go_apart, spawn, stay_apart};

/// How long a sender that has connected keeps its place of the [`SLOTS`] for sure, though it hands no ring over. After
/// that it has to make room if another one needs the place. While there is room it may take as long as it likes: it may
/// be stopped, or have no CPU.
pub(super) const ARRIVAL_LIFE: Duration = Duration::from_secs(1);
/// How long no further senders are let in if there is no descriptor for one.
const PAUSE: Duration = Duration::from_millis(10);
/// Events taken at once.
const EVENTS: usize = 16;

// Numbers in the set of awaited descriptors. Connections have those from `FIRST` on.
const LISTENING: u64 = 0;
const END: u64 = 1;
const FIRST: u64 = 2;

/// Requests of the wire.
enum Request {
    /// Does this.
    Do(Box<dyn FnOnce(&Asking) + Send>),
    /// A connection is no longer needed.
    Close(u64),
    /// The device leaves.
    End,
}

/// A receiver that was reached.
pub(super) struct Reached {
    pub(super) link: Link,
    /// The ring to it.
    pub(super) writer: Writer,
    /// How it is woken as soon as it has said so.
    pub(super) control: Arc<OnceLock<(Control, Waker)>>,
    /// The number of its process; 0 if this process cannot see it.
    pub(super) process: u32,
}

/// Reports to the wire.
#[derive(Debug)]
pub(super) enum News {
    /// A sender has handed its ring over.
    Sender(Link, Reader),
    /// Something went wrong.
    Warning(String),
}

/// A connection that the threads keep until this is dropped.
#[derive(Debug)]
pub(super) struct Link {
    number: u64,
    closed: Arc<AtomicBool>,
    requests: Sender<Request>,
}

impl Link {
    /// Its number: no later connection has it.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Tells when the other end is gone.
    pub(super) fn closed(&self) -> Arc<AtomicBool> {
        self.closed.clone()
    }

    /// Whether the other end is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // An error: the threads have ended.
        let _ = self.requests.send(Request::Close(self.number));
    }
}

/// The purpose of a connection.
#[derive(Debug)]
enum Purpose {
    /// A sender that has handed nothing over, and since when.
    Arriving(Instant),
    /// A sender.
    Sender,
    /// A receiver, and how it is woken when it has said so.
    Receiver(Arc<OnceLock<(Control, Waker)>>),
}

/// A connection.
#[derive(Debug)]
struct Kept {
    connection: Connection,
    purpose: Purpose,
    closed: Arc<AtomicBool>,
}

/// The connections, which both threads know.
#[derive(Debug)]
struct Connections {
    kept: HashMap<u64, Kept>,
    next: u64,
    awaited: Arc<Descriptor>,
}

impl Connections {
    /// From now on, the listening thread looks after this one. Its number.
    fn keep(&mut self, connection: Connection, purpose: Purpose, closed: Arc<AtomicBool>) -> io::Result<u64> {
        let number = self.next;
        self.next += 1;
        epoll::add(&*self.awaited, &connection, EventData::new_u64(number), EventFlags::IN | EventFlags::RDHUP)?;
        self.kept.insert(number, Kept { connection, purpose, closed });
        Ok(number)
    }

    /// How many places for senders are taken.
    fn senders(&self) -> usize {
        self.kept.values().filter(|kept| !matches!(kept.purpose, Purpose::Receiver(_))).count()
    }

    /// Ends the connection of the sender that has handed nothing over for longest; `false` if all that have handed
    /// nothing over have come within [`ARRIVAL_LIFE`].
    fn end_longest_mute(&mut self) -> bool {
        let mute = self.kept.iter().filter_map(|(number, kept)| match kept.purpose {
            Purpose::Arriving(since) if since.elapsed() >= ARRIVAL_LIFE => Some((since, *number)),
            _ => None,
        });
        let longest = mute.min();
        longest.is_some_and(|(_, number)| self.kept.remove(&number).is_some())
    }
}

/// The contacts of a device. The threads end when this is dropped.
#[derive(Debug)]
pub(super) struct Contacts {
    /// The slot that the device has taken.
    pub(super) number: u32,
    /// How it is woken.
    pub(super) notify: Notify,
    requests: Sender<Request>,
    news: Receiver<News>,
    /// Descriptors that the threads share with the process, if they have none of their own.
    shared: Option<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The process that started the threads: in a forked child there are none.
    pid: u32,
}

/// Descriptors of the process that the threads use: some for good, and those of connections.
#[derive(Debug)]
struct Shared {
    lasting: Vec<RawFd>,
    connections: Arc<Mutex<Connections>>,
}

/// The asking thread's first report. Descriptors of its own stay with it.
struct Begun {
    number: u32,
    notify: Notify,
    shared: Option<Shared>,
}

impl Contacts {
    /// Takes a slot of the fabric at `directory`; `None` if there is none.
    pub(super) fn new(directory: &Path) -> io::Result<Option<Self>> {
        let (requests, to_do) = channel();
        let (reports, news) = channel();
        let (begins, has_begun) = sync_channel(1);
        let (path, links) = (directory.to_path_buf(), requests.clone());
        let thread = spawn("softhca-fabric", move || ask(&path, &begins, &to_do, links, reports))?;
        let begun = has_begun.recv().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        let Some(Begun { number, notify, shared }) = begun else { return Ok(None) };
        let (thread, pid) = (Some(thread), std::process::id());
        Ok(Some(Self { number, notify, requests, news, shared, thread, pid }))
    }

    /// Connects to a slot's owner and hands it a ring; `None` if there is no owner.
    pub(super) fn reach(&self, slot: u32) -> io::Result<Option<Reached>> {
        self.ask(move |asking| asking.reach(slot))
    }

    /// Whether process `number` is stopped, by a signal or by a debugger.
    pub(super) fn is_stopped(&self, number: u32) -> bool {
        // States T and t (proc_pid_stat(5)), behind the name, which may have any characters.
        let state =
            |stat: &[u8]| stat.windows(2).rposition(|end| end == b") ").and_then(|at| stat.get(at + 2)).copied();
        let stat = self.ask(move |_| {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            Descriptor::from(open(format!("/proc/{number}/stat"), flags, Mode::empty())?).read_to_end()
        });
        stat.is_ok_and(|stat| matches!(state(&stat), Some(b'T' | b't')))
    }

    /// The slots that have an owner, or had one that was killed.
    pub(super) fn slots(&self) -> io::Result<Vec<u32>> {
        self.ask(|asking| asking.door.slot.directory.slots())
    }

    /// The slot that has this GID: `before`, or another one.
    pub(super) fn find(&self, gid: [u8; 16], before: Option<u32>) -> io::Result<Option<u32>> {
        self.ask(move |asking| {
            let directory = &asking.door.slot.directory;
            let has = |slot: &u32| directory.has_gid(*slot, &gid);
            match before.filter(has) {
                None => Ok(directory.slots()?.into_iter().find(has)),
                found => Ok(found),
            }
        })
    }

    /// Tells the others which GIDs the device has.
    pub(super) fn tell_gids(&self, gids: Vec<Gid>) -> io::Result<()> {
        self.ask(move |asking| asking.door.slot.tell_gids(&gids))
    }

    /// Lets in all senders that have handed their rings over by now: [`Self::news`] has them then.
    pub(super) fn let_in(&self) {
        // An error: nobody is let in any more, and that was reported.
        let _ = self.ask(|asking| {
            asking.door.let_in();
            Ok(())
        });
    }

    /// The next report.
    pub(super) fn news(&self) -> Option<News> {
        self.news.try_recv().ok()
    }

    /// Descriptors of the process that the threads use.
    pub(super) fn descriptors(&self) -> Vec<RawFd> {
        let Some(Shared { lasting, connections }) = &self.shared else { return Vec::new() };
        let connections = connections.lock();
        let kept = connections.kept.values().map(|kept| kept.connection.as_raw_fd());
        lasting.iter().copied().chain(kept).collect()
    }

    /// Has the asking thread do something, and waits for the result.
    fn ask<T: Send + 'static>(&self, run: impl FnOnce(&Asking) -> io::Result<T> + Send + 'static) -> io::Result<T> {
        let ended = || io::Error::other("the fabric's thread has ended");
        let (answer, answered) = sync_channel(1);
        // The caller waits for it.
        let request = Request::Do(Box::new(move |asking: &Asking| drop(answer.send(run(asking)))));
        self.requests.send(request).map_err(|_| ended())?;
        answered.recv().map_err(|_| ended())?
    }
}

impl Drop for Contacts {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.pid != std::process::id() {
            // A forked child: the thread was not copied, and must be neither joined nor detached.
            std::mem::forget(thread);
            return;
        }
        // An error: it has ended.
        let _ = self.requests.send(Request::End);
        let _ = thread.join();
    }
}

/// The thread that asks.
fn ask(
    path: &Path,
    begins: &SyncSender<io::Result<Option<Begun>>>,
    to_do: &Receiver<Request>,
    links: Sender<Request>,
    reports: Sender<News>,
) {
    let (asking, begun) = match Asking::begin(path, links, reports) {
        Ok(Some((asking, begun))) => (asking, begun),
        // The wire waits for this.
        Ok(None) => return drop(begins.send(Ok(None))),
        Err(error) => return drop(begins.send(Err(error))),
    };
    let _ = begins.send(Ok(Some(begun)));
    for request in to_do {
        match request {
            Request::Do(run) => run(&asking),
            Request::Close(number) => drop(asking.door.connections.lock().kept.remove(&number)),
            Request::End => break,
        }
    }
    let Asking { door, listener, end } = asking;
    door.slot.leave();
    // The other thread waits for this event.
    let _ = rustix::io::write(&end, &1_u64.to_ne_bytes());
    let _ = listener.join();
    door.connections.lock().kept.clear();
}

/// The asking thread's own state.
struct Asking {
    door: Arc<Door>,
    listener: JoinHandle<()>,
    /// Ends the listener.
    end: Descriptor,
}

impl Asking {
    /// Takes a slot and starts the thread that listens; `None` if no slot is free.
    fn begin(path: &Path, links: Sender<Request>, reports: Sender<News>) -> io::Result<Option<(Self, Begun)>> {
        let apart = go_apart();
        let mut directory = Directory::open(path)?;
        if apart.files {
            // Nothing of this thread is standard error to the functions that print there.
            directory.stand_in_for_standard_streams()?;
        }
        if apart.folders {
            directory.enter()?;
        }
        let Some(slot) = OwnSlot::take(directory)? else { return Ok(None) };
        let awaited = Arc::new(Descriptor::from(epoll::create(CreateFlags::CLOEXEC)?));
        let end = Descriptor::from(eventfd(0, EventfdFlags::CLOEXEC)?);
        epoll::add(&*awaited, &slot.socket, EventData::new_u64(LISTENING), EventFlags::IN)?;
        epoll::add(&*awaited, &end, EventData::new_u64(END), EventFlags::IN)?;
        let lasting = slot.descriptors().into_iter().chain([awaited.as_raw_fd(), end.as_raw_fd()]).collect();
        let connections = Connections { kept: HashMap::new(), next: FIRST, awaited: awaited.clone() };
        let connections = Arc::new(Mutex::new(connections));
        let shared = (!apart.files).then(|| Shared { lasting, connections: connections.clone() });
        let begun = Begun { number: slot.number, notify: slot.notify(), shared };
        let door = Arc::new(Door { slot, awaited, connections, links, reports });
        let shared_door = door.clone();
        // It shares the descriptors of this thread.
        let listener = spawn("softhca-listen", move || {
            stay_apart(apart.files);
            shared_door.listen();
        })?;
        Ok(Some((Self { door, listener, end }, begun)))
    }

    /// Connects to the owner of slot `to` and hands it a ring; `None` if there is no owner.
    fn reach(&self, to: u32) -> io::Result<Option<Reached>> {
        let Some(connection) = self.door.slot.directory.connect(to)? else { return Ok(None) };
        let (writer, memory) = Writer::create()?;
        connection.send([&memory])?;
        let process = connection.process();
        let (closed, control) = (Arc::new(AtomicBool::new(false)), Arc::new(OnceLock::new()));
        let purpose = Purpose::Receiver(control.clone());
        let number = self.door.connections.lock().keep(connection, purpose, closed.clone())?;
        let link = Link { number, closed, requests: self.door.links.clone() };
        Ok(Some(Reached { link, writer, control, process }))
    }
}

/// Where senders come in.
struct Door {
    slot: OwnSlot,
    awaited: Arc<Descriptor>,
    connections: Arc<Mutex<Connections>>,
    links: Sender<Request>,
    reports: Sender<News>,
}

impl Door {
    /// Lets senders in as they come, until the end.
    fn listen(&self) {
        let wakes = self.slot.notify();
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            events.clear();
            match epoll::wait(&*self.awaited, spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return self.warn(format!("senders cannot be let in: {error}")),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENING => {
                        if self.accept().is_err() {
                            std::thread::sleep(PAUSE);
                        }
                    }
                    END => return,
                    number => self.look_at(number),
                }
            }
            if !events.is_empty() {
                wakes.wake();
            }
        }
    }

    fn warn(&self, warning: String) {
        // An error: the wire is gone.
        let _ = self.reports.send(News::Warning(warning));
    }

    /// Lets in all senders that have handed their rings over by now.
    fn let_in(&self) {
        // As many as may wait in the socket (`OwnSlot::set_up`). An error was reported.
        for _ in 0..SLOTS {
            if !matches!(self.accept(), Ok(true)) {
                break;
            }
        }
        let arriving = |(number, kept): (&u64, &Kept)| matches!(kept.purpose, Purpose::Arriving(_)).then_some(*number);
        let arriving: Vec<u64> = self.connections.lock().kept.iter().filter_map(arriving).collect();
        arriving.into_iter().for_each(|number| self.look_at(number));
    }

    /// Accepts a sender, which then hands its ring over. Whether there was one.
    ///
    /// # Errors
    /// The sender still waits, and will for a while. It is reported.
    fn accept(&self) -> io::Result<bool> {
        // One thread's sender is among the connections before the other one looks.
        let mut connections = self.connections.lock();
        match self.slot.accept() {
            Ok(None) => Ok(false),
            Ok(Some(connection)) => {
                if connections.senders() >= SLOTS as usize && !self.make_room(&mut connections) {
                    self.warn(format!("a sender is not let in: there are {SLOTS}"));
                    return Ok(true);
                }
                let arriving = Purpose::Arriving(Instant::now());
                if let Err(error) = connections.keep(connection, arriving, Arc::default()) {
                    self.warn(format!("a sender cannot be let in: {error}"));
                }
                Ok(true)
            }
            // If there is no descriptor for it, a sender that makes room has one.
            Err(error) => {
                let lacks_descriptor = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error).map(Some);
                if lacks_descriptor.contains(&error.raw_os_error()) && self.make_room(&mut connections) {
                    return Ok(true);
                }
                self.warn(format!("a sender cannot be let in: {error}"));
                Err(error)
            }
        }
    }

    /// Whether a sender that hands no ring over has made room.
    fn make_room(&self, connections: &mut Connections) -> bool {
        let made = connections.end_longest_mute();
        if made {
            self.warn("a sender makes room for another one: it has handed over no ring".into());
        }
        made
    }

    /// Takes a message of a connection, or its end.
    fn look_at(&self, number: u64) {
        let mut connections = self.connections.lock();
        // The wire may have given it up meanwhile.
        let Some(kept) = connections.kept.get_mut(&number) else { return };
        let stays = match (kept.connection.receive(), &kept.purpose) {
            (Received::Nothing, _) => true,
            (Received::Memory(memory, None), Purpose::Arriving(_)) => {
                let reader = Reader::open(&memory);
                match reader.and_then(|reader| Ok((reader, self.slot.answer(&kept.connection)?))) {
                    Ok((reader, stays)) => {
                        kept.purpose = Purpose::Sender;
                        kept.closed.store(!stays, Ordering::Release);
                        let link = Link { number, closed: kept.closed.clone(), requests: self.links.clone() };
                        // An error: the wire is gone.
                        let _ = self.reports.send(News::Sender(link, reader));
                        stays
                    }
                    Err(error) => {
                        self.warn(format!("a sender is not let in: {error}"));
                        false
                    }
                }
            }
            (Received::Memory(own, Some(bell)), Purpose::Receiver(control)) => {
                let said = Control::of_peer(&own, &bell).map(|control| (control.clone(), control.waker()));
                match said.map(|said| control.set(said)) {
                    Ok(Ok(())) => true,
                    Ok(Err(_)) => {
                        self.warn("a receiver says what it should not".into());
                        false
                    }
                    Err(error) => {
                        self.warn(format!("a receiver's wake-up words: {error}"));
                        true
                    }
                }
            }
            (Received::Memory(..) | Received::Nonsense, _) => {
                self.warn("a neighbour says what it should not: it is of another version".into());
                false
            }
            (Received::Closed, _) => false,
        };
        if !stays {
            kept.closed.store(true, Ordering::Release);
            connections.kept.remove(&number);
        }
    }
}
