//! A device as this process has it: the software device behind a lock, and the thread that steps it.

use super::capabilities::Capabilities;
use super::clock::{Clock, ClockPages};
use super::counters_file::CountersFile;
use super::dma::{UserMemory, Windows};
use super::events::{EventPipe, Source};
use super::flow_commands::FlowDirection;
use super::flow_tables::FlowTables;
use super::limits::{COMP_VECTORS, DEVICE_MEMORY_BYTES, FIRST_EQN};
use super::network::{Network, ports};
use super::polled::Polled;
use super::queues_file::QueuesFile;
use super::rates::RateTable;
use super::record_file::RecordFile;
use super::resources::Resources;
use super::steering_tags::SteeringTags;
use super::stepped::{Look, Origin, STEPS_BY_POLL, Stepped};
use super::subscriptions::{Receiver, Topic};
use super::xrc_domains::Domains;
use crate::launch::{chaos, report};
use crate::process::{Errno, Locked, forked, lock};
use crate::strict::{self, Trapped};
use parking_lot::{Mutex as DeviceMutex, MutexGuard as DeviceMutexGuard};
use softhca::config::{DeviceConfig, DoorbellSource, Limits, PortConfig};
use softhca::context::Path;
use softhca::device::Device;
use softhca::error::{Error, Object};
use softhca::firmware::Uid;
use softhca::gsi::MAD_BYTES;
use softhca::runner::{Runner, Step};
use softhca::uar::{UAR_PAGE_BYTES, UarMemory};
use softhca_settings::{Damage, Gid, Mishaps, Settings};
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// A device.
pub(crate) struct Hca {
    /// Its number: that of `mlx5_N`.
    pub(crate) index: u32,
    /// The launcher's settings.
    pub(crate) settings: Arc<Settings>,
    /// Memory that it reaches without its being pinned.
    pub(crate) windows: Windows,
    /// How many resources this process has of it.
    pub(crate) resources: Arc<Resources>,
    pub(super) core: Arc<DeviceMutex<Stepped>>,
    /// XRC domains that stand for files.
    pub(super) domains: Domains,
    /// Rules for frames, by direction.
    pub(super) flow_tables: Mutex<BTreeMap<FlowDirection, FlowTables>>,
    /// Rates of send queues.
    pub(super) rates: Mutex<RateTable>,
    /// Steering tags that memory keys name.
    pub(crate) steering_tags: Mutex<SteeringTags>,
    /// The abilities of the device.
    pub(crate) capabilities: Capabilities,
    /// On whose behalf contexts ask that are no users.
    pub(super) common_user: OnceLock<Option<Uid>>,
    /// How many contexts this process has open.
    pub(super) contexts: Mutex<usize>,
    trapped: &'static Trapped,
    /// The number that stands for QP 1 of this process; a device without a network has none.
    pub(crate) gsi_qpn: Option<u32>,
    /// QPNs of the device in this process.
    pub(crate) queue_numbers: u32,
    /// The process that opened it.
    process: u32,
    /// Stops the thread when dropped, which it never is: a device lives as long as the process. A sink has none.
    pub(super) runner: Option<Runner>,
    /// The device for threads that poll. Nobody polls a sink, or a device in strict mode.
    pub(crate) polled: Option<&'static Polled>,
}

extern "C" fn at_exit() {
    Hca::end_all();
}

/// How long the end of the process waits for a device that steps, and for packets that leave.
const PATIENCE_AT_EXIT: Duration = Duration::from_secs(1);

/// The process that opened the first device; 0 = none has.
static OPENER: AtomicU32 = AtomicU32::new(0);

/// The devices that were opened.
pub(super) static DEVICES: Mutex<Vec<Arc<Hca>>> = Mutex::new(Vec::new());

impl Hca {
    /// Counts the pages of `len` bytes at `address` as pinned, or explains why not.
    pub(crate) fn lock_pages(&self, address: u64, len: u64) -> Result<Locked, Errno> {
        Locked::new(self.settings.memlock, address, len).map_err(|reason| {
            report::explanation(&format!("mlx5_{}", self.index), &reason.to_string());
            reason.into()
        })
    }

    /// The process ends: the devices' packets leave, and their reports.
    pub(crate) fn end_all() {
        // A child of a program with devices has no device threads, and perhaps a lock that one of them had.
        if OPENER.load(Ordering::Acquire) != std::process::id() {
            return;
        }
        // A handler of a signal may call `exit`, and its thread may have one of these locks.
        let Some(devices) = forked::held_soon(&DEVICES) else { return };
        for hca in devices.iter().filter(|hca| hca.process == std::process::id()) {
            let patience = if STEPS_BY_POLL.get() { Duration::ZERO } else { PATIENCE_AT_EXIT };
            if let Some(mut core) = hca.core.try_lock_for(patience) {
                if hca.has_thread() {
                    core.send_rest(PATIENCE_AT_EXIT);
                }
                core.deliver_all();
                core.tell_rest();
            }
            hca.resources.end();
        }
        report::end();
    }

    /// Device `index`, made when it is first asked for. The child of a fork makes its own.
    pub(crate) fn get(index: u32, settings: &Arc<Settings>) -> Result<Arc<Self>, Errno> {
        let mut devices = lock(&DEVICES);
        // Copies of the parent's are not dropped: their network is the parent's.
        let (copies, own) = std::mem::take(&mut *devices).into_iter().partition(|hca| forked::is_copy(hca.process));
        *devices = own;
        Vec::into_iter(copies).for_each(std::mem::forget);
        if let Some(hca) = devices.iter().find(|hca| hca.index == index) {
            return Ok(hca.clone());
        }
        let hca = Self::new(index, settings.clone()).map(Arc::new).inspect_err(|error| {
            log::error!("mlx5_{index} cannot be opened: {error:?}");
        })?;
        if devices.is_empty() {
            OPENER.store(std::process::id(), Ordering::Release);
            // SAFETY: the function takes its data from statics, which last.
            unsafe { libc::atexit(at_exit) };
        }
        devices.push(hca.clone());
        Ok(hca)
    }

    fn new(index: u32, settings: Arc<Settings>) -> Result<Self, Errno> {
        // Accesses to memory that the program has unmapped raise signals.
        #[cfg(target_arch = "x86_64")]
        strict::take_over()?;
        let ports = ports(&settings, index);
        let network = Network::join(&settings, index, &ports)?;
        let doorbells = match &settings {
            settings if settings.strict => DoorbellSource::Calls,
            settings if settings.sink || settings.keep_registers => DoorbellSource::Records,
            _ => DoorbellSource::RungRecords,
        };
        let clock = Clock::new(settings.clock != softhca_settings::Clock::FreeRunning);
        let config = DeviceConfig {
            device_memory: DEVICE_MEMORY_BYTES,
            on_demand: true,
            ..device_config(&settings, index, ports, &network, doorbells, clock.wall_at_zero())
        };
        let Network { wire, gsi_qpn, notify, .. } = network;
        let windows = Windows::default();
        let queue_numbers = config.qpn_count;
        let damage = settings.damage.as_deref().map(str::parse::<Damage>).transpose().map_err(|error| {
            log::error!("{error}");
            Errno::EINVAL
        })?;
        let memory = UserMemory::new(windows.clone(), damage);
        let mut device = Device::new(config, Box::new(memory), wire).map_err(|error| refused(&error))?;
        if let Some(qpn) = gsi_qpn {
            device.open_gsi(qpn);
        }
        // Devices are never freed: handlers that ring them last as long as the process.
        let trapped = if settings.strict { Trapped::new } else { Trapped::never };
        let trapped: &'static Trapped = Box::leak(Box::new(trapped(notify.clone())));
        let counters = CountersFile::open(&settings, index).unwrap_or_else(|error| {
            log::warn!("sysfs shows no counters of mlx5_{index}: {error}");
            None
        });
        let queues = QueuesFile::new(&settings, index);
        let resources = Arc::new(Resources::new(&settings, index));
        let mishaps = Mishaps::new(&settings.fabric, index, settings.cables());
        if let Some(chaos) = chaos() {
            device.set_script(chaos.of_device(index));
        }
        let mut core = Stepped::new((device, format!("mlx5_{index}")), mishaps, trapped, clock, (counters, queues));
        // A cable that was pulled before raises no event.
        let now = core.clock.now();
        core.step(now);
        let capabilities = Capabilities::of(&mut core.firmware, &mut core.device);
        for vector in 0..COMP_VECTORS {
            core.firmware.declare_eq(&mut core.device, FIRST_EQN + vector).map_err(|error| refused(&error))?;
        }
        let core = Arc::new(DeviceMutex::new(core));
        let start = || {
            Runner::start(core.clone(), notify, Some(trapped.queue().clone()), drop).map_err(|error| {
                log::error!("the device's thread does not start: {error}");
                Errno(error.raw_os_error().unwrap_or(libc::EAGAIN))
            })
        };
        let runner = if settings.sink { None } else { Some(start()?) };
        // In strict mode, a store to a register waits for the device's thread. The handler of a signal may store while
        // its thread steps the device, and would wait for itself.
        let polled = runner.as_ref().filter(|_| !settings.strict).map(|runner| Polled::new(&core, runner));
        let process = std::process::id();
        Ok(Self {
            index,
            settings,
            windows,
            resources,
            core,
            domains: Domains::default(),
            flow_tables: Mutex::default(),
            rates: Mutex::default(),
            steering_tags: Mutex::default(),
            capabilities,
            common_user: OnceLock::new(),
            contexts: Mutex::default(),
            trapped,
            gsi_qpn,
            queue_numbers,
            process,
            runner,
            polled,
        })
    }

    /// The devices that were opened.
    pub(crate) fn opened() -> Vec<Arc<Self>> {
        lock(&DEVICES).clone()
    }

    /// Refuses in the child of a fork, if it is the parent that has the device.
    pub(crate) fn is_here(&self) -> Result<(), Errno> {
        forked::refuse_copies(self.process)
    }

    /// Has `run` work with the descriptors that the devices of this process have open, while they open and close none.
    /// A child of the program has no devices.
    pub(crate) fn hold_descriptors<T>(run: impl FnOnce(&[RawFd]) -> T) -> T {
        // Without a lock: in a child somebody else may have it for ever.
        if OPENER.load(Ordering::Acquire) != std::process::id() {
            return run(&[]);
        }
        let devices = lock(&DEVICES);
        let held: Vec<_> = devices.iter().map(|hca| hca.core.lock()).collect();
        run(&held.iter().flat_map(|stepped| stepped.device.descriptors()).collect::<Vec<_>>())
    }

    /// Steps a device that has no thread until nothing is left to do at the time it is now; gives the number of send
    /// WQEs that completed.
    pub(crate) fn step_until_idle(&self) -> u64 {
        let mut core = self.core.lock();
        let now = core.clock.now();
        let before = core.device.sends_completed();
        while core.step(now) {}
        core.device.sends_completed() - before
    }

    /// Steps with work that threads of the program made when they polled or yielded.
    pub(crate) fn steps_by_polls(&self) -> u64 {
        self.core.lock().steps_by_polls
    }

    /// Has the device do something that it can refuse.
    pub(crate) fn command<T>(&self, command: impl FnOnce(&mut Device) -> Result<T, Error>) -> Result<T, Errno> {
        command(&mut self.after_doorbells().device).map_err(|error| refused(&error))
    }

    /// The device as a command finds it: with the work begun that doorbells before the command have asked for.
    ///
    /// Stores to a NIC's registers arrive in order, doorbells before a command's (`cmd_work_handler` in Linux'
    /// `mlx5/core/cmd.c` rings it). The NIC begins a request in a microsecond or two, and firmware takes many for a
    /// command. So programs deregister memory right after they have posted an unsignalled SEND of it. The device's
    /// thread may sleep for longer than that.
    pub(super) fn after_doorbells(&self) -> DeviceMutexGuard<'_, Stepped> {
        let mut core = self.core.lock();
        // A sink begins nothing before it is stepped.
        if self.has_thread() {
            core.begin();
        }
        core
    }

    /// From now on, `pages` show the device's clock, as long as anybody else has them.
    pub(crate) fn show_clock(&self, pages: &Arc<ClockPages>) {
        self.core.lock().clock.add(pages);
    }

    /// Whether a thread steps the device; without one it does nothing by itself.
    pub(super) fn has_thread(&self) -> bool {
        self.runner.is_some()
    }

    /// Sends a management datagram to QP `qpn`, its kin at the end of `path`.
    pub(crate) fn send_mad(&self, port: u8, path: &Path, qpn: u32, mad: &[u8; MAD_BYTES]) -> Result<(), Errno> {
        self.command(|device| device.send_mad(port, path, qpn, mad))?;
        self.runner.iter().for_each(Runner::wake);
        Ok(())
    }

    /// The Ethernet address of the neighbour that has the GID `to`; `None` if nobody is known to have it now.
    pub(crate) fn neighbour(&self, from: Gid, to: Gid) -> Option<[u8; 6]> {
        self.core.lock().device.neighbour(from, to)
    }

    /// From now on, `origin`'s events go to `source`, too.
    pub(crate) fn know(&self, origin: Origin, source: &Arc<Source>) {
        self.core.lock().know(origin, source);
    }

    /// From now on, events that are no queue's go to `pipe`, too, as long as it is open.
    pub(crate) fn listen(&self, pipe: &Arc<EventPipe>) {
        self.core.lock().listen(pipe);
    }

    /// From now on, each step looks.
    pub(crate) fn watch(&self, look: Look) {
        self.core.lock().watch(look);
    }

    /// From now on, events of these topics go to `file`, or where `receiver` says, as long as there is the object that
    /// is known here as `owner`, if it is not 0.
    pub(crate) fn subscribe(&self, owner: u64, file: &Arc<RecordFile>, topics: Vec<(Topic, Receiver)>) {
        let mut core = self.core.lock();
        for (topic, receiver) in topics {
            core.subscriptions.add(topic, owner, file, receiver);
        }
    }

    /// The object that is known here as `owner` is gone.
    pub(crate) fn unsubscribe(&self, owner: u64) {
        self.core.lock().subscriptions.forget(owner);
    }

    /// Whether the link of port `port`, from 1, is up.
    pub(crate) fn port_is_up(&self, port: u8) -> bool {
        self.core.lock().device.port_is_up(port)
    }

    /// How many links of port `port`, from 1, are up. A bond has two, another port one.
    pub(crate) fn links_up(&self, port: u8) -> usize {
        let core = self.core.lock();
        match core.device.bonded_ports() {
            [] => core.device.port_is_up(port).into(),
            links => links.iter().filter(|link| link.is_up).count(),
        }
    }

    /// Packets that port `port`, from 1, has dropped for their P_Key, and for their Q_Key.
    pub(crate) fn key_violations(&self, port: u8) -> (u64, u64) {
        self.core.lock().device.key_violations(port)
    }

    /// Whether the device has stopped for good.
    pub(crate) fn has_failed(&self) -> bool {
        self.core.lock().device.has_failed()
    }

    /// Has the device do something that raises events, and delivers them.
    pub(crate) fn provoke(&self, command: impl FnOnce(&mut Device) -> Result<(), Error>) -> Result<(), Errno> {
        self.command(command)?;
        self.settle();
        Ok(())
    }

    /// From now on, `origin`'s events go to `source` no more. A new object may have the number already.
    pub(crate) fn forget(&self, origin: Origin, source: &Arc<Source>) {
        self.core.lock().forget(origin, source);
    }

    /// Delivers the device's reports.
    pub(crate) fn settle(&self) {
        self.core.lock().deliver_all();
    }

    /// Maps UAR page `page`, which must be in `file`, for the program: at `address` if that is not null, with these
    /// protection and flags. In strict mode it is watched.
    pub(crate) fn map_uar(
        &self,
        page: u32,
        file: &UarMemory,
        (address, protection, flags): (*mut libc::c_void, i32, i32),
    ) -> Result<*mut libc::c_void, Errno> {
        let mapped = {
            let core = self.core.lock();
            let uar = core.device.uar(page).ok_or(Errno::EINVAL)?;
            if uar.fd().as_raw_fd() != file.fd().as_raw_fd() {
                // Another context's.
                return Err(Errno::EINVAL);
            }
            let protection = if self.settings.strict { libc::PROT_NONE } else { protection };
            // SAFETY: the program asks for a mapping of one of our pages in place of the device's, and answers for the
            // memory that it replaces.
            unsafe {
                libc::mmap(
                    address,
                    UAR_PAGE_BYTES,
                    protection,
                    flags,
                    uar.fd().as_raw_fd(),
                    uar.offset() as libc::off_t,
                )
            }
        };
        if mapped == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        // A child that rings its copy of a queue would wait for ever: it rings the device of its parent, which reads
        // other memory.
        // SAFETY: the range was mapped above. If the kernel does not do it, a child gets the page.
        unsafe { libc::madvise(mapped, UAR_PAGE_BYTES, libc::MADV_DONTFORK) };
        if self.settings.strict {
            self.watch_uar(page, mapped as usize).inspect_err(|_| {
                // SAFETY: unmaps the mapping made above.
                unsafe { libc::munmap(mapped, UAR_PAGE_BYTES) };
            })?;
        } else {
            strict::know(self.trapped, mapped as usize, page);
        }
        Ok(mapped)
    }

    /// Watches the program's mapping of UAR page `page` at `address`. The device's own mapping is left alone.
    pub(crate) fn watch_uar(&self, page: u32, address: usize) -> Result<(), Errno> {
        let core = self.core.lock();
        let own = core.device.uar(page).ok_or(Errno::EINVAL)?.addr().as_ptr() as usize;
        if own == address {
            return Ok(());
        }
        // It is known before a store to it can raise a signal.
        strict::watch(self.trapped, address, UAR_PAGE_BYTES, page)?;
        let at = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: of a mapping of a UAR page, which is the device's business; it comes up in the signal handler.
        if unsafe { libc::mprotect(at, UAR_PAGE_BYTES, libc::PROT_NONE) } != 0 {
            strict::unwatch(address, UAR_PAGE_BYTES);
            return Err(Errno::last());
        }
        Ok(())
    }

    /// Frees UAR page `page`, which no mapping of the program's can ring from now on.
    pub(crate) fn free_uar(&self, page: u32) -> Result<(), Errno> {
        self.destroy(Object::Uar, page, |device| device.free_uar(page))?;
        strict::forget(self.trapped, page);
        Ok(())
    }

    /// Lets the device reach `len` bytes at `address`, which must be writable if `write` is set.
    ///
    /// # Safety
    /// The bytes are there until [`Self::unpin`].
    pub(super) unsafe fn pin(&self, address: u64, len: usize, write: bool) -> Result<(), Errno> {
        let mut core = self.core.lock();
        let memory = core.device.memory();
        // SAFETY: passed on to the caller.
        let pinned = unsafe { if write { memory.map_writable(address, len) } else { memory.map(address, len) } };
        pinned.map_err(|fault| {
            log::info!("{fault}");
            Errno::EFAULT
        })
    }

    /// Ends what [`Self::pin`] began.
    pub(super) fn unpin(&self, address: u64, len: usize) {
        self.core.lock().device.memory().unmap(address, len);
    }
}

/// The kernel's error number for a command that the device has refused.
pub(super) fn refused(error: &Error) -> Errno {
    log::info!("{error}");
    match error {
        Error::Busy { .. } => Errno::EBUSY,
        Error::Exhausted { .. } => Errno::ENOMEM,
        Error::NoSuch { .. }
        | Error::BadValue { .. }
        | Error::BadTransition { .. }
        | Error::BadQueueTransition { .. }
        | Error::MissingAttr { .. }
        | Error::UnexpectedAttr { .. } => Errno::EINVAL,
        Error::Unsupported(_) => Errno::EOPNOTSUPP,
        Error::Dma(_) => Errno::EFAULT,
        Error::System { errno, .. } => Errno(*errno),
    }
}

/// The configuration of device `index`. Its clock was 0 at the time `zero`, since 1970.
pub(crate) fn device_config(
    settings: &Settings,
    index: u32,
    ports: Vec<PortConfig>,
    network: &Network,
    doorbells: DoorbellSource,
    zero: Duration,
) -> DeviceConfig {
    DeviceConfig {
        qpn_first: network.qpns.start,
        qpn_count: network.qpns.end - network.qpns.start,
        generation: settings.generation.into(),
        node_guid: softhca_settings::node_guid(settings.number(index)),
        reuse_qpns: settings.reuse_qpn,
        ports,
        bonded: settings.bond,
        doorbells,
        limits: Limits { max_mkeys: settings.max_mr, ..Limits::default() },
        srq_faults: network.srq_faults,
        late_writes: network.late_writes,
        umr_registers: true,
        real_time: (settings.clock != softhca_settings::Clock::FreeRunning).then_some(zero),
        real_time_only: settings.clock == softhca_settings::Clock::RealTime,
        inline_headers: settings.inline_headers.into(),
        ece: 0,
        device_memory: 0,
        on_demand: false,
        sink: settings.sink,
    }
}
