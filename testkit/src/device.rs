//! A software mlx5 in this process, and the network between several.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use blueflame::{Lkey, Qpn, Rkey};
use parking_lot::{Mutex, MutexGuard};
use softhca::complaint::Complaint;
use softhca::config::{DeviceConfig, DoorbellSource, LinkLayer, PortConfig};
use softhca::context::{Access, QpAttr, QpState};
use softhca::embedded::{
    self, ConnectOptions, CqOptions, CqParts, EmbeddedDevice, Endpoint, QpOptions, QpParts, SrqParts,
};
use softhca::ethernet::SentFrame;
use softhca::event::Event;
use softhca::faults::Faults;
use softhca::notify::Notify;
use softhca::runner::Runner;
use softhca::script::Script;
use softhca::wire::Address;
use softhca::wire::in_process::Fabric;

use crate::buffer::Buffer;
use crate::error::Error;

/// The network that connects the devices of one process. Clones are the same network.
#[derive(Clone, Debug, Default)]
pub struct Network(Fabric);

impl Network {
    /// A network without devices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A device on this network.
    ///
    /// # Errors
    /// [`Error::Address`] if another device has its LID or GID; [`Error::Faults`]; [`Error::Thread`];
    /// [`Error::Device`].
    pub fn device(&self, options: DeviceOptions) -> Result<Device, Error> {
        let DeviceOptions { mut config, faults, threaded } = options;
        config.srq_faults = faults.srq;
        if threaded {
            config.doorbells = DoorbellSource::Records;
        }
        let wire = self.0.attach(Address {
            lids: config.ports.iter().filter(|p| p.link == LinkLayer::InfiniBand).map(|p| p.lid).collect(),
            gids: config.ports.iter().flat_map(|p| p.gids.iter().copied()).collect(),
            qpns: config.qpn_first..config.qpn_first + config.qpn_count,
        })?;
        let notify = threaded.then(|| wire.notify());
        let wire = faults.inject(Box::new(wire))?;
        Device::new(EmbeddedDevice::new(config, wire)?, notify)
    }
}

/// How a [`Device`] is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Ports, limits, range of queue pair numbers.
    pub config: DeviceConfig,
    /// The faults to inject. They can be parsed from text: `"drop=10,dup=5,seed=1".parse()?`, per mille of packets.
    pub faults: Faults,
    /// The device works on a thread of its own, as real ones do, and is not stepped.
    pub threaded: bool,
}

impl DeviceOptions {
    /// A device with one InfiniBand port of this LID, stepped by the caller, without faults.
    #[must_use]
    pub fn infiniband(lid: u16) -> Self {
        Self::with_port(PortConfig::infiniband(lid))
    }

    /// A device with one RoCE port, whose GID ends in `interface_id`, stepped by the caller, without faults.
    #[must_use]
    pub fn ethernet(interface_id: u16) -> Self {
        Self::with_port(PortConfig::ethernet(interface_id))
    }

    /// A device with any port, stepped by the caller, without faults.
    #[must_use]
    pub fn with_port(port: PortConfig) -> Self {
        Self { config: DeviceConfig::with_port(port), faults: Faults::default(), threaded: false }
    }

    /// With faults.
    #[must_use]
    pub fn faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// On a thread of its own.
    #[must_use]
    pub fn threaded(self) -> Self {
        Self { threaded: true, ..self }
    }
}

/// A software mlx5 device. Clones are the same device; it lives as long as any of them, and as any queue or buffer of
/// it.
///
/// Nothing runs by itself, unless the device has a thread of its own: call [`step`](Self::step) or
/// [`run_until_idle`](Self::run_until_idle). The device's clock moves only when nothing else is left to do, so every
/// run is the same.
#[derive(Clone)]
pub struct Device(Arc<Shared>);

struct Shared {
    /// Before the device, so that its thread ends first.
    runner: Option<Runner>,
    hca: Arc<Mutex<EmbeddedDevice>>,
    /// Events that the thread took.
    events: Arc<Mutex<VecDeque<Event>>>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("threaded", &self.0.runner.is_some()).finish_non_exhaustive()
    }
}

impl Device {
    /// A device with one InfiniBand port, on a network of its own: its queue pairs can talk to each other.
    ///
    /// # Errors
    /// [`Error::Device`] if the system has no memory.
    pub fn standalone() -> Result<Self, Error> {
        Network::new().device(DeviceOptions::infiniband(1))
    }

    /// Two devices with InfiniBand ports, of LIDs 1 and 2, on one network.
    ///
    /// # Errors
    /// [`Error::Device`] if the system has no memory.
    pub fn pair() -> Result<(Self, Self), Error> {
        let network = Network::new();
        Ok((network.device(DeviceOptions::infiniband(1))?, network.device(DeviceOptions::infiniband(2))?))
    }

    fn new(hca: EmbeddedDevice, thread: Option<Notify>) -> Result<Self, Error> {
        let (hca, events) = (Arc::new(Mutex::new(hca)), Arc::<Mutex<VecDeque<_>>>::default());
        let runner = thread.map(|notify| {
            let events = Arc::clone(&events);
            Runner::start(Arc::clone(&hca), notify, None, move |event| events.lock().push_back(event))
        });
        Ok(Self(Arc::new(Shared { runner: runner.transpose().map_err(Error::Thread)?, hca, events })))
    }

    pub(crate) fn hca(&self) -> MutexGuard<'_, EmbeddedDevice> {
        self.0.hca.lock()
    }

    /// `len` bytes of registered memory, zeroed, with every access right.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has no key left.
    pub fn buffer(&self, len: usize) -> Result<Buffer, Error> {
        Ok(Buffer::new(self.hca().buffer(len)?))
    }

    /// Memory that is registered with these access rights.
    ///
    /// # Errors
    /// [`Error::Device`], also for rights that contradict each other.
    pub fn buffer_with(&self, len: usize, access: Access) -> Result<Buffer, Error> {
        Ok(Buffer::new(self.hca().buffer_with(len, access)?))
    }

    /// Registers memory of the caller; gives its keys, for requests of this side and for peers.
    ///
    /// # Errors
    /// [`Error::Device`], also for rights that contradict each other.
    ///
    /// # Safety
    /// As for [`EmbeddedDevice::register`]. The memory stays valid until [`deregister`](Self::deregister) or the
    /// device's end. Nobody holds a reference to it while the device works.
    pub unsafe fn register(&self, ptr: NonNull<u8>, len: usize, access: Access) -> Result<(Lkey, Rkey), Error> {
        // SAFETY: the caller promises that the memory stays valid until `deregister`, and no reference to it.
        let key = unsafe { self.hca().register(ptr, len, access) }?;
        Ok((Lkey(key), Rkey(key)))
    }

    /// Ends the device's use of a buffer, or of memory that was [registered](Self::register).
    ///
    /// # Errors
    /// [`Error::Device`] for keys that do not exist.
    pub fn deregister(&self, key: Rkey) -> Result<(), Error> {
        Ok(self.hca().deregister(key.0)?)
    }

    /// Does a bounded amount of work. Returns true if there was any. If the device has a thread of its own, returns
    /// false.
    pub fn step(&self) -> bool {
        self.0.runner.is_none() && self.hca().step()
    }

    /// Steps until nothing is left to do, moving the clock on to each timer.
    ///
    /// # Errors
    /// [`Error::NoEnd`]; [`Error::OnThread`].
    pub fn run_until_idle(&self) -> Result<(), Error> {
        run_until_idle(&[self])
    }

    /// The device's clock. It has no meaning if the device has a thread of its own.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.hca().now()
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.hca().advance(by);
    }

    /// When the earliest timer is due.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        self.look(|device| device.next_deadline())
    }

    /// The oldest event that was not taken yet: an asynchronous event of verbs, or an event of an armed completion
    /// queue.
    #[must_use]
    pub fn next_event(&self) -> Option<Event> {
        match self.0.runner {
            Some(_) => self.0.events.lock().pop_front(),
            None => self.hca().next_event(),
        }
    }

    /// Errors that the device found and a real one would not report: a doorbell that names another queue, a completion
    /// queue that overran. End a test with `assert_eq!(device.complaints(), [])`.
    #[must_use]
    pub fn complaints(&self) -> Vec<Complaint> {
        self.hca().complaints()
    }

    /// The Ethernet frames that raw packet queues have sent since the last call.
    #[must_use]
    pub fn take_frames(&self) -> Vec<SentFrame> {
        self.hca().take_frames()
    }

    /// Inspects the device itself: the state of a queue pair, a key, the configuration. `f` must not call this device.
    pub fn look<R>(&self, f: impl FnOnce(&softhca::device::Device) -> R) -> R {
        f(self.hca().device())
    }

    /// The endpoint where the peer reaches a queue pair.
    #[must_use]
    pub fn endpoint(&self, qpn: Qpn) -> Endpoint {
        self.hca().endpoint(qpn.get())
    }

    /// Connects a queue pair made from its [parts](Self::create_qp) with its peer.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn connect_qp(&self, qpn: Qpn, peer: &Endpoint, options: &ConnectOptions) -> Result<(), Error> {
        Ok(self.hca().connect_to(qpn.get(), peer, options)?)
    }

    /// Changes a queue pair, for instance its state, to test how a program handles an error.
    ///
    /// # Errors
    /// [`Error::Reset`] for the state RESET; [`Error::Device`].
    pub fn modify_qp(&self, qpn: Qpn, attr: &QpAttr) -> Result<(), Error> {
        if attr.state == Some(QpState::Reset) {
            return Err(Error::Reset(qpn));
        }
        Ok(self.hca().modify_qp(qpn.get(), attr)?)
    }

    /// Moves a queue pair to RESET. The device then counts requests from 0.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Before it is connected again, its own queues are reset, too ([`SendQueue::reset`](blueflame::SendQueue::reset)
    /// and [`RecvQueue::reset`](blueflame::RecvQueue::reset)), or nothing more is posted to them and their records are
    /// zero. Otherwise the device executes old requests again, over memory that was given back.
    pub unsafe fn reset_qp(&self, qpn: Qpn) -> Result<(), Error> {
        Ok(self.hca().modify_qp(qpn.get(), &QpAttr { state: Some(QpState::Reset), ..QpAttr::default() })?)
    }

    /// Destroys a queue pair. To its peer, the program with the queue pair has died.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn destroy_qp(&self, qpn: Qpn) -> Result<(), Error> {
        Ok(self.hca().destroy_qp(qpn.get())?)
    }

    /// Requests an event when fewer receives than `limit` are posted to a shared receive queue.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn modify_srq_limit(&self, srqn: u32, limit: u16) -> Result<(), Error> {
        Ok(self.hca().modify_srq_limit(srqn, limit)?)
    }

    /// Plugs the cable of a port (1 is the first) in or out.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn set_port_up(&self, port: u8, up: bool) -> Result<(), Error> {
        Ok(self.hca().set_port_up(port, up)?)
    }

    /// Gives the device a [script](softhca::script): failing requests, late events, flapping ports, receivers that are
    /// not ready, a stalled or failed device. Its times count from the device's next step. Bad networks of a script have
    /// no effect here: [`DeviceOptions::faults`] has them.
    pub fn set_script(&self, script: Script) {
        self.hca().set_script(script);
    }

    /// Raw parts of a new completion queue, for tests that look at its bytes. They are valid as long as the device
    /// lives.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn create_cq(&self, options: CqOptions) -> Result<CqParts, Error> {
        Ok(self.hca().create_cq(options)?)
    }

    /// Raw parts of a new queue pair, in the reset state.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn create_qp(&self, options: QpOptions) -> Result<QpParts, Error> {
        Ok(self.hca().create_qp(options)?)
    }

    /// Raw parts of a new shared receive queue.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn create_srq(&self, wqes: u32, max_sge: u32) -> Result<SrqParts, Error> {
        Ok(self.hca().create_srq(wqes, max_sge)?)
    }
}

/// All devices of a list, each once, locked in an order that is the same for all callers.
fn locked<'a>(devices: &[&'a Device]) -> Vec<MutexGuard<'a, EmbeddedDevice>> {
    let mut devices: Vec<_> = devices.iter().map(|device| &device.0.hca).collect();
    devices.sort_by_key(|hca| Arc::as_ptr(hca).addr());
    devices.dedup_by_key(|hca| Arc::as_ptr(hca).addr());
    devices.into_iter().map(|hca| hca.lock()).collect()
}

/// Steps all devices until none has anything left to do. When nothing else happens, moves their clocks to the next
/// timer; from then on, all clocks are the same.
///
/// # Errors
/// [`Error::NoEnd`]; [`Error::OnThread`] if one has a thread of its own.
pub fn run_until_idle(devices: &[&Device]) -> Result<(), Error> {
    if devices.iter().any(|device| device.0.runner.is_some()) {
        return Err(Error::OnThread);
    }
    let mut devices = locked(devices);
    let mut devices: Vec<_> = devices.iter_mut().map(|device| &mut **device).collect();
    if embedded::run_until_idle(&mut devices) { Ok(()) } else { Err(Error::NoEnd) }
}

/// Moves the clocks of all devices on to the next timer of any device. Returns false if no timer runs.
pub fn wait_for_timer(devices: &[&Device]) -> bool {
    let mut devices = locked(devices);
    let Some(deadline) = devices.iter().filter_map(|hca| hca.device().next_deadline()).min() else { return false };
    for hca in &mut devices {
        let by = deadline.saturating_sub(hca.now());
        hca.advance(by);
    }
    true
}
