//! A device as this process has it: the software device, the thread that steps it, and its events on their way to the
//! program.

use crate::abi::async_event;
use crate::cables::Cables;
use crate::context::lock;
use crate::device::MAX_QUEUES;
use crate::dma::{UserMemory, Windows};
use crate::errno::Errno;
use crate::events::{EventPipe, Source};
use crate::memlock::Locked;
use crate::uar::PAGE_BYTES;
use crate::{rdma_cm, report, strict};
use parking_lot::Mutex as DeviceMutex;
use softhca::config::{DeviceConfig, DoorbellSource, Gid, GidType, Limits, LinkLayer, PortConfig, SrqFaults};
use softhca::context::Path;
use softhca::device::Device;
use softhca::error::Error;
use softhca::event::{Event, QpEvent};
use softhca::faults::Faults;
use softhca::gsi::MAD_BYTES;
use softhca::notify::Notify;
use softhca::runner::{Runner, Step};
use softhca::uar::UarMemory;
use softhca::uar::{Doorbell, DoorbellQueue};
use softhca::wire::fault::FaultInjector;
use softhca::wire::in_process::Fabric;
use softhca::wire::shm::ShmWire;
use softhca::wire::{Address, Wire};
use softhca_settings::{self as settings, Link, Settings};
use std::collections::HashMap;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// Trapped doorbells that can wait for the device. A thread waits for its own, so there is one per thread.
const DOORBELLS: usize = 1024;

/// QPNs of a sink, which shares them with nobody: all that are not special and that libmlx5's table of QPs holds.
const SINK_QPNS: Range<u32> = 0x100..MAX_QUEUES;

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
}

/// The device with what its events need, behind one lock: an event is in its pipe before anybody can see that the
/// object which raised it is gone.
struct Core {
    device: Device,
    sources: HashMap<Origin, Arc<Source>>,
    /// Where the events of ports and of the device itself go: to all that have it open.
    listeners: Vec<Weak<EventPipe>>,
    cables: Cables,
    rung: Arc<Rung>,
}

/// How many trapped doorbells were handed to the device, and how many it has looked at.
#[derive(Default)]
struct Rung {
    pushed: AtomicU64,
    done: AtomicU64,
}

impl Core {
    fn deliver(&self, event: Event) {
        let (origin, event_type) = match event {
            Event::Completion { cqn } => {
                if let Some(source) = self.sources.get(&Origin::Completion(cqn)) {
                    source.completion();
                }
                return;
            }
            Event::CqError { cqn } => (Origin::Cq(cqn), async_event::CQ_ERR),
            Event::SrqLimit { srqn } => (Origin::Srq(srqn), async_event::SRQ_LIMIT_REACHED),
            Event::SrqError { srqn } => (Origin::Srq(srqn), async_event::SRQ_ERR),
            Event::Port { port, up: true } => return self.tell_all(port, async_event::PORT_ACTIVE),
            Event::Port { port, up: false } => return self.tell_all(port, async_event::PORT_ERR),
            Event::DeviceFatal => return self.tell_all(0, async_event::DEVICE_FATAL),
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
        if let Some(source) = self.sources.get(&origin) {
            source.asynchronous(event_type);
        }
    }

    /// An event that is no queue's.
    fn tell_all(&self, port: u8, event_type: u32) {
        for pipe in self.listeners.iter().filter_map(Weak::upgrade) {
            pipe.unaffiliated(port, event_type);
        }
    }

    fn deliver_all(&mut self) {
        while let Some(event) = self.device.next_event() {
            self.deliver(event);
        }
        while let Some(mad) = self.device.take_mad() {
            rdma_cm::arrived(&mad);
        }
        for complaint in self.device.complaints() {
            report::complaint(&complaint.to_string());
        }
        for refused in strict::take_refused() {
            log::warn!("{refused}");
            report::complaint(&refused);
        }
    }
}

impl Step for Core {
    fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        self.device.doorbell(uar, offset, stored);
        self.rung.done.fetch_add(1, Ordering::Release);
    }

    fn step(&mut self, now: Duration) -> bool {
        let Self { device, cables, .. } = self;
        cables.look(now, |port, up| {
            if let Err(error) = device.set_port_up(port, up) {
                log::error!("port {port}: {error}");
            }
        });
        let worked = device.step(now);
        self.deliver_all();
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

/// What watches a page of a device: gets the address of the program's mapping, and the page.
type Watch = fn(&Arc<Hca>, usize, u32) -> Result<(), Errno>;

/// A device.
pub(crate) struct Hca {
    /// Its number: that of `mlx5_N`.
    pub(crate) index: u32,
    /// The launcher's settings.
    pub(crate) settings: Arc<Settings>,
    /// Memory that it reaches without its being pinned.
    pub(crate) windows: Windows,
    core: Arc<DeviceMutex<Core>>,
    doorbells: Arc<DoorbellQueue>,
    rung: Arc<Rung>,
    gsi_qpn: Option<u32>,
    /// The process that opened it.
    process: u32,
    /// Stops the thread when dropped, which it never is: a device lives as long as the process. A sink has none.
    runner: Option<Runner>,
}

/// What the devices have to say at the end of a program that does not close them.
extern "C" fn at_exit() {
    for hca in Hca::opened() {
        // A child of a program with devices has no device threads, and perhaps a lock that one of them had.
        if hca.process == std::process::id() {
            hca.settle();
        }
    }
}

/// The devices that were opened.
static DEVICES: Mutex<Vec<Arc<Hca>>> = Mutex::new(Vec::new());

impl Hca {
    /// Device `index`, made when it is first asked for.
    pub(crate) fn get(index: u32, settings: &Arc<Settings>) -> Result<Arc<Self>, Errno> {
        let mut devices = lock(&DEVICES);
        if let Some(hca) = devices.iter().find(|hca| hca.index == index) {
            return Ok(hca.clone());
        }
        let hca = Self::new(index, settings.clone()).map(Arc::new).inspect_err(|error| {
            log::error!("mlx5_{index} cannot be opened: {error:?}");
        })?;
        if devices.is_empty() {
            // SAFETY: the function takes what it needs from statics, which last.
            unsafe { libc::atexit(at_exit) };
        }
        devices.push(hca.clone());
        Ok(hca)
    }

    fn new(index: u32, settings: Arc<Settings>) -> Result<Self, Errno> {
        let ports: Vec<PortConfig> = (1..=settings.ports).map(|port| port_config(&settings, index, port)).collect();
        let lids: Vec<u16> = ports.iter().map(|port| port.lid).filter(|&lid| lid != 0).collect();
        let mut gids: Vec<_> = ports.iter().flat_map(|port| port.gids.clone()).collect();
        gids.dedup();
        let Network { wire, qpns, gsi_qpn, notify, srq_faults } = Network::join(&settings, lids, gids)?;
        let config = DeviceConfig {
            qpn_first: qpns.start,
            qpn_count: qpns.end - qpns.start,
            reuse_qpns: settings.reuse_qpn,
            ports,
            doorbells: if settings.strict { DoorbellSource::Calls } else { DoorbellSource::Records },
            limits: Limits::default(),
            srq_faults,
            sink: settings.sink,
        };
        let windows = Windows::default();
        let mut device =
            Device::new(config, Box::new(UserMemory::new(windows.clone())), wire).map_err(|error| refused(&error))?;
        if let Some(qpn) = gsi_qpn {
            device.open_gsi(qpn);
        }
        let rung = Arc::new(Rung::default());
        let cables = Cables::new(&settings, index);
        let mut core = Core { device, sources: HashMap::new(), listeners: Vec::new(), cables, rung: rung.clone() };
        // What has been pulled before is not seen to happen.
        core.step(Duration::ZERO);
        let core = Arc::new(DeviceMutex::new(core));
        let doorbells = Arc::new(DoorbellQueue::new(DOORBELLS, notify.clone()));
        let start = || {
            Runner::start(core.clone(), notify, Some(doorbells.clone()), drop).map_err(|error| {
                log::error!("the device's thread does not start: {error}");
                Errno(error.raw_os_error().unwrap_or(libc::EAGAIN))
            })
        };
        let runner = if settings.sink { None } else { Some(start()?) };
        let process = std::process::id();
        Ok(Self { index, settings, windows, core, doorbells, rung, gsi_qpn, process, runner })
    }

    /// The devices that were opened.
    pub(crate) fn opened() -> Vec<Arc<Self>> {
        lock(&DEVICES).clone()
    }

    /// Steps a device that has no thread until nothing is left to do at the time `now`; gives the number of send WQEs
    /// that completed.
    pub(crate) fn step_until_idle(&self, now: Duration) -> u64 {
        let mut core = self.core.lock();
        let before = core.device.sends_completed();
        while core.step(now) {}
        core.device.sends_completed() - before
    }

    /// Has the device do something that it can refuse.
    pub(crate) fn command<T>(&self, command: impl FnOnce(&mut Device) -> Result<T, Error>) -> Result<T, Errno> {
        command(&mut self.core.lock().device).map_err(|error| refused(&error))
    }

    /// The number that stands for QP 1 of this process; a device without a network has none.
    pub(crate) fn gsi_qpn(&self) -> Option<u32> {
        self.gsi_qpn
    }

    /// Sends a management datagram to QP `qpn`, its kin at the end of `path`.
    pub(crate) fn send_mad(&self, port: u8, path: &Path, qpn: u32, mad: &[u8; MAD_BYTES]) -> Result<(), Errno> {
        self.command(|device| device.send_mad(port, path, qpn, mad))?;
        self.runner.iter().for_each(Runner::wake);
        Ok(())
    }

    /// From now on, `origin`'s events go to `source`.
    pub(crate) fn know(&self, origin: Origin, source: &Arc<Source>) {
        self.core.lock().sources.insert(origin, source.clone());
    }

    /// From now on, events that are no queue's go to `pipe`, too, as long as it is open.
    pub(crate) fn listen(&self, pipe: &Arc<EventPipe>) {
        let mut core = self.core.lock();
        core.listeners.retain(|pipe| pipe.strong_count() > 0);
        core.listeners.push(Arc::downgrade(pipe));
    }

    /// Whether the link of port `port`, from 1, is up.
    pub(crate) fn port_is_up(&self, port: u8) -> bool {
        self.core.lock().device.port_is_up(port)
    }

    /// Has the device do something that raises events, and delivers them.
    pub(crate) fn provoke(&self, command: impl FnOnce(&mut Device) -> Result<(), Error>) -> Result<(), Errno> {
        self.command(command)?;
        self.settle();
        Ok(())
    }

    /// `origins` are gone.
    pub(crate) fn forget(&self, origins: &[Origin]) {
        let mut core = self.core.lock();
        for origin in origins {
            core.sources.remove(origin);
        }
    }

    /// Delivers what the device has to say.
    pub(crate) fn settle(&self) {
        self.core.lock().deliver_all();
    }

    /// Maps UAR page `page`, which must be in `file`, for the program: at `address` if that is not null, with these
    /// protection and flags. In strict mode it is watched by `watch`.
    pub(crate) fn map_uar(
        self: &Arc<Self>,
        page: u32,
        file: &UarMemory,
        (address, protection, flags): (*mut libc::c_void, i32, i32),
        watch: Watch,
    ) -> Result<*mut libc::c_void, Errno> {
        let mapped = {
            let core = self.core.lock();
            let uar = core.device.uar(page).ok_or(Errno::EINVAL)?;
            if uar.fd().as_raw_fd() != file.fd().as_raw_fd() {
                // Another context's.
                return Err(Errno::EINVAL);
            }
            let protection = if self.settings.strict { libc::PROT_NONE } else { protection };
            // SAFETY: the program asks for a mapping of a page of ours, where it would have got one of the device's:
            // what that replaces is its own business.
            unsafe {
                libc::mmap(address, PAGE_BYTES, protection, flags, uar.fd().as_raw_fd(), uar.offset() as libc::off_t)
            }
        };
        if mapped == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        if self.settings.strict {
            self.watch_uar(page, mapped as usize, watch).inspect_err(|_| {
                // SAFETY: unmaps what was mapped above.
                unsafe { libc::munmap(mapped, PAGE_BYTES) };
            })?;
        }
        Ok(mapped)
    }

    /// Has `watch` watch the program's mapping of UAR page `page` at `address`. The device's own mapping is left alone.
    pub(crate) fn watch_uar(self: &Arc<Self>, page: u32, address: usize, watch: Watch) -> Result<(), Errno> {
        let core = self.core.lock();
        let own = core.device.uar(page).ok_or(Errno::EINVAL)?.addr().as_ptr() as usize;
        if own == address {
            return Ok(());
        }
        // It is known before a store to it can raise a signal.
        watch(self, address, page)?;
        let at = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: of a mapping of a UAR page, which is the device's business; it comes up in the signal handler.
        if unsafe { libc::mprotect(at, PAGE_BYTES, libc::PROT_NONE) } != 0 {
            strict::unwatch(address, PAGE_BYTES);
            return Err(Errno::last());
        }
        Ok(())
    }

    /// Hands the device a doorbell that was trapped, and waits until it has looked at it: as long as the thread stands
    /// still in its handler, ring and doorbell record are as they were at the store. May be called in a signal handler.
    pub(crate) fn ring(&self, page: u32, offset: usize, stored: &[u8]) {
        /// Longer than a device that works takes, however busy the machine is; then the thread goes on.
        const PATIENCE: Duration = Duration::from_secs(20);
        if self.process != std::process::id() {
            // A child of the program, which has no device.
            return;
        }
        let begin = Instant::now();
        // Offsets are below 4096, and no doorbell is longer than half a register.
        let Some(doorbell) = Doorbell::new(page, offset as u16, stored) else { return };
        self.rung.pushed.fetch_add(1, Ordering::Relaxed);
        while self.doorbells.push(doorbell).is_err() {
            if begin.elapsed() > PATIENCE {
                self.rung.pushed.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            // SAFETY: takes no arguments; allowed in signal handlers.
            unsafe { libc::sched_yield() };
        }
        // It looks at them in order: when it has looked at as many as there are now, ours is among them.
        let pushed = self.rung.pushed.load(Ordering::Relaxed);
        while self.rung.done.load(Ordering::Acquire) < pushed && begin.elapsed() < PATIENCE {
            // SAFETY: takes no arguments; allowed in signal handlers.
            unsafe { libc::sched_yield() };
        }
    }
}

/// How a device reaches others.
struct Network {
    wire: Box<dyn Wire>,
    /// QPNs by which the device is found.
    qpns: Range<u32>,
    /// The number of its QP 1.
    gsi_qpn: Option<u32>,
    /// Wakes the device's thread.
    notify: Notify,
    /// What receives from SRQs suffer.
    srq_faults: SrqFaults,
}

impl Network {
    fn join(settings: &Settings, lids: Vec<u16>, gids: Vec<Gid>) -> Result<Self, Errno> {
        let eio = |error: &dyn std::error::Error| {
            log::error!("{error}");
            Errno::EIO
        };
        if settings.sink {
            // One of its own: nobody else is there.
            let address = Address { lids, gids, qpns: SINK_QPNS };
            let wire = Fabric::new().attach(address).map_err(|error| eio(&error))?;
            let srq_faults = SrqFaults::default();
            return Ok(Self {
                notify: wire.notify(),
                wire: Box::new(wire),
                qpns: SINK_QPNS,
                gsi_qpn: None,
                srq_faults,
            });
        }
        let wire = ShmWire::join(&settings.fabric, &lids, &gids).map_err(|error| eio(&error))?;
        let (qpns, gsi_qpn, notify) = (wire.qpns(), Some(wire.gsi_qpn()), wire.notify());
        let bad = |error: softhca::wire::fault::FaultConfigError| {
            log::error!("faults: {error}");
            Errno::EINVAL
        };
        let faults: Option<Faults> = settings.faults.as_deref().map(str::parse).transpose().map_err(bad)?;
        let wire: Box<dyn Wire> = match faults {
            None => Box::new(wire),
            Some(Faults { mut network, .. }) => {
                // The ends of a connection must not lose the same packets in step.
                network.seed ^= u64::from(qpns.start);
                Box::new(FaultInjector::new(wire, network).map_err(bad)?)
            }
        };
        Ok(Self { wire, qpns, gsi_qpn, notify, srq_faults: faults.unwrap_or_default().srq })
    }
}

fn gid_type(kind: settings::GidType) -> GidType {
    match kind {
        settings::GidType::Ib => GidType::InfiniBand,
        settings::GidType::RoceV1 => GidType::RoceV1,
        settings::GidType::RoceV2 => GidType::RoceV2,
    }
}

fn port_config(settings: &Settings, index: u32, port: u32) -> PortConfig {
    PortConfig {
        lid: settings::lid(settings, index, port),
        gids: settings::gids(settings, index, port)
            .into_iter()
            .map(|(raw, kind)| Gid { raw, kind: gid_type(kind) })
            .collect(),
        pkeys: vec![settings::DEFAULT_PKEY],
        link: match settings.link {
            Link::Infiniband => LinkLayer::InfiniBand,
            Link::Ethernet => LinkLayer::Ethernet,
        },
        active_mtu: 4096,
    }
}

/// The kernel's error number for a command that the device has refused.
fn refused(error: &Error) -> Errno {
    log::info!("{error}");
    match error {
        Error::Busy { .. } => Errno::EBUSY,
        Error::Exhausted { .. } => Errno::ENOMEM,
        Error::NoSuch { .. }
        | Error::BadValue { .. }
        | Error::BadTransition { .. }
        | Error::MissingAttr { .. }
        | Error::UnexpectedAttr { .. } => Errno::EINVAL,
        Error::Unsupported(_) => Errno::EOPNOTSUPP,
        Error::Dma(_) => Errno::EFAULT,
        Error::System { errno, .. } => Errno(*errno),
    }
}

/// Memory that the device can reach as long as this lives.
pub(crate) struct Pinned {
    hca: Arc<Hca>,
    address: u64,
    len: usize,
    _locked: Arc<Locked>,
}

impl Pinned {
    /// Pins `len` bytes at `address`.
    pub(crate) fn new(hca: &Arc<Hca>, address: u64, len: u64) -> Result<Self, Errno> {
        let locked = Locked::new(hca.settings.memlock, address, len)?;
        Self::counted(hca, address, len, Arc::new(locked))
    }

    /// Pins `len` bytes at `address`, which `locked` counts.
    pub(crate) fn counted(hca: &Arc<Hca>, address: u64, len: u64, locked: Arc<Locked>) -> Result<Self, Errno> {
        let len = usize::try_from(len).map_err(|_| Errno::EFAULT)?;
        // SAFETY: the program registers memory of its own and, as with every RDMA device, keeps it until it has
        // destroyed the object: libmlx5 does so with rings and records, and verbs asks it of regions.
        unsafe { hca.core.lock().device.memory().map(address, len) }.map_err(|fault| {
            log::info!("{fault}");
            Errno::EFAULT
        })?;
        Ok(Self { hca: hca.clone(), address, len, _locked: locked })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.hca.core.lock().device.memory().unmap(self.address, self.len);
    }
}
