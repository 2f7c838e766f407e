//! A PCI function as this process has it: the function behind a lock, the thread that steps it, and the parts for a
//! program that opens the device.

use super::bar::Bar;
use super::irqs::Irqs;
use super::space::{AddressSpace, Attachment};
use crate::device::{Clock, Network, device_config, ports};
use crate::launch::{report, settings};
use crate::process::{Errno, lock};
use crate::strict::{self, Trapped};
use parking_lot::Mutex as FunctionMutex;
use softhca::config::DoorbellSource;
use softhca::device::Device;
use softhca::event::Event;
use softhca::pci::Function;
use softhca::runner::{Runner, Step};
use softhca::uar::UAR_PAGE_BYTES;
use softhca_settings::Mishaps;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The command register of the configuration space, and its bits that the kernel sets.
const COMMAND: usize = 4;
const DECODE_MEMORY: u8 = 1 << 1;
const MASTER: u8 = 1 << 2;

/// How often registers are shown that change by themselves.
const SHOW_EVERY: Duration = Duration::from_millis(1);

/// A function.
pub(super) struct Endpoint {
    core: Arc<FunctionMutex<Core>>,
    pub(super) bar: Arc<Bar>,
    pub(super) irqs: Irqs,
    memory: Attachment,
    pub(super) trapped: &'static Trapped,
    /// Stops the thread when dropped, which it never is: a function lives as long as the process.
    runner: Runner,
}

/// The thread steps this.
struct Core {
    function: Function,
    mishaps: Mishaps,
    bar: Arc<Bar>,
    trapped: &'static Trapped,
    shown: Duration,
    zero: Instant,
}

/// The functions that were opened, by their numbers.
pub(super) static ENDPOINTS: Mutex<Vec<(u32, Arc<Endpoint>)>> = Mutex::new(Vec::new());

impl Endpoint {
    /// Function `index`, made when it is first asked for.
    pub(super) fn get(index: u32) -> Result<Arc<Self>, Errno> {
        let mut endpoints = lock(&ENDPOINTS);
        if let Some((_, endpoint)) = endpoints.iter().find(|(known, _)| *known == index) {
            return Ok(endpoint.clone());
        }
        let endpoint = Self::new(index).map(Arc::new).inspect_err(|error| {
            log::error!("{} cannot be opened: {error:?}", softhca_settings::pci_function(index));
        })?;
        endpoints.push((index, endpoint.clone()));
        Ok(endpoint)
    }

    fn new(index: u32) -> Result<Self, Errno> {
        strict::take_over()?;
        let settings = settings().ok_or(Errno::ENODEV)?;
        let ports = ports(settings, index);
        let network = Network::join(settings, index, &ports)?;
        let clock = Clock::new(settings.clock != softhca_settings::Clock::FreeRunning);
        let config = device_config(settings, index, ports, &network, DoorbellSource::Calls, clock.wall_at_zero());
        let Network { wire, notify, .. } = network;
        let (memory, irqs) = (Attachment::default(), Irqs::default());
        let mut device = Device::new(config, Box::new(memory.clone()), wire).map_err(|error| {
            log::error!("{error}");
            Errno::EIO
        })?;
        // As VFIO maps all registers (`vfio_pci_core_mmap`).
        device.set_all_non_cached();
        let function = Function::new(device, Box::new(irqs.clone()));
        // Functions are never freed: handlers that ring them last as long as the process.
        let trapped: &'static Trapped = Box::leak(Box::new(Trapped::one_by_one(notify.clone())));
        let bar = Arc::new(Bar::new()?);
        let mishaps = Mishaps::new(&settings.fabric, index, settings.cables());
        let core = Core { function, mishaps, bar: bar.clone(), trapped, shown: Duration::ZERO, zero: clock.zero };
        let core = Arc::new(FunctionMutex::new(core));
        let runner = Runner::start(core.clone(), notify, Some(trapped.queue().clone()), drop).map_err(|error| {
            log::error!("the function's thread does not start: {error}");
            Errno(error.raw_os_error().unwrap_or(libc::EAGAIN))
        })?;
        Ok(Self { core, bar, irqs, memory, trapped, runner })
    }

    /// Has the function do something, and shows the changes.
    fn with<T>(&self, run: impl FnOnce(&mut Function) -> T) -> T {
        let mut core = self.core.lock();
        let result = run(&mut core.function);
        core.show();
        drop(core);
        self.runner.wake();
        result
    }

    /// A program gets the device, whose group is in the container with these addresses. As the kernel does
    /// (`vfio_pci_core_enable`), this resets the function, has it decode its memory, and keeps it from mastering the
    /// bus.
    pub(super) fn open(&self, space: &Arc<AddressSpace>) {
        self.memory.attach(Some(space.clone()));
        self.with(|function| {
            function.reset();
            function.write_config(COMMAND, &[DECODE_MEMORY, 0]);
        });
    }

    /// The program has closed it.
    pub(super) fn close(&self) {
        self.irqs.disable_all();
        // From here on, the function reads nothing and does nothing.
        self.with(Function::reset);
        self.memory.attach(None);
    }

    /// `VFIO_DEVICE_RESET`: the kernel restores the configuration space afterwards.
    pub(super) fn reset(&self) {
        self.with(|function| {
            let mut command = [0; 2];
            function.read_config(COMMAND, &mut command);
            function.reset();
            function.write_config(COMMAND, &[command[0] & (DECODE_MEMORY | MASTER), 0]);
        });
    }

    /// Reads the configuration space.
    pub(super) fn read_config(&self, at: usize, out: &mut [u8]) {
        self.core.lock().function.read_config(at, out);
    }

    /// Writes to the configuration space.
    pub(super) fn write_config(&self, at: usize, bytes: &[u8]) {
        self.with(|function| function.write_config(at, bytes));
    }

    /// Reads BAR 0.
    pub(super) fn read(&self, at: u64, out: &mut [u8]) {
        self.core.lock().function.read(at, out);
    }

    /// Writes to BAR 0.
    pub(super) fn write(&self, at: u64, bytes: &[u8]) {
        self.with(|function| function.write(at, bytes));
    }
}

impl Core {
    fn show(&mut self) {
        self.bar.show(&mut self.function);
    }
}

impl Step for Core {
    /// A store of a thread, which goes on when this is done.
    fn doorbell(&mut self, page: u32, offset: usize, stored: &[u8]) {
        self.function.write(u64::from(page) * UAR_PAGE_BYTES as u64 + offset as u64, stored);
        self.show();
        self.trapped.one_is_done();
    }

    fn zero(&self) -> Option<Instant> {
        Some(self.zero)
    }

    fn step(&mut self, now: Duration) -> bool {
        self.mishaps.befall(now, self.function.device());
        let worked = self.function.step(now);
        if now - self.shown >= SHOW_EVERY {
            self.shown = now;
            self.show();
        }
        for complaint in self.function.device().complaints() {
            report::complaint(&complaint.to_string());
        }
        for refused in strict::take_refused() {
            log::warn!("{refused}");
            report::complaint(&refused);
        }
        worked
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.function.next_deadline()
    }

    fn next_event(&mut self) -> Option<Event> {
        self.function.next_event()
    }
}
