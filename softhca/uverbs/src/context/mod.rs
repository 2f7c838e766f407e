//! Open device files: their objects and UAR pages, and the information that processes with the same file exchange.
//! Knows no command.

pub(crate) mod allocated;
pub(crate) mod calls;
pub(crate) mod device_file;
pub(crate) mod device_memory;
pub(crate) mod mapping;
mod objects;
pub(crate) mod offset;
pub(crate) mod registry;
pub(crate) mod uars;

pub(crate) use objects::{CommandId, Object, Rank};

use crate::abi::mailbox::destroyer;
use crate::abi::mlx5::AllocUcontextResp;
use crate::device::resources::Counted;
use crate::device::{ClockPages, EventPipe, Hca, Pinned, RecordFile};
use crate::process::fds::Own;
use crate::process::{Errno, Locked, identity, lock, page_bytes, user};
use allocated::Allocated;
use calls::{Answer, Call, Callers};
use device_memory::DeviceMemory;
use objects::Objects;
use registry::{Registry, Shared};
use softhca::firmware::Uid;
use softhca::uar::UarMemory;
use softhca_settings::Resource;
use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use uars::StaticUars;

/// Files that belong to a device file, and to no other.
pub(crate) struct Adopted<T>(Mutex<Vec<Weak<T>>>);

impl<T> Default for Adopted<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Adopted<T> {
    /// `file` belongs to it.
    pub(crate) fn add(&self, file: &Arc<T>) {
        let mut files = lock(&self.0);
        files.retain(|file| file.strong_count() > 0);
        files.push(Arc::downgrade(file));
    }

    /// Whether `file` belongs to it.
    pub(crate) fn has(&self, file: &Arc<T>) -> bool {
        lock(&self.0).iter().any(|one| std::ptr::eq(one.as_ptr(), Arc::as_ptr(file)))
    }
}

/// An open device file (`struct ib_uverbs_file`).
pub(crate) struct Context {
    /// The device.
    pub(crate) hca: Arc<Hca>,
    _own: Own,
    _counted: Counted,
    /// The file of the program's descriptor, from which it maps its UAR pages.
    pub(crate) file: UarMemory,
    /// The objects as other processes with the same file see them.
    pub(crate) registry: Arc<Registry>,
    /// Where other processes with the file ask for commands, if it is this process that has opened it.
    callers: OnceLock<Arc<Callers>>,
    objects: Mutex<Objects>,
    /// Pinned pages of doorbell records, of which each holds many and counts once.
    records: Mutex<HashMap<u64, Weak<Locked>>>,
    /// The answer of `GET_CONTEXT`, for processes that import the context.
    pub(crate) answer: OnceLock<AllocUcontextResp>,
    /// UAR pages that came with the context, once it has been set up, in static mode.
    pub(crate) static_uars: OnceLock<Arc<StaticUars>>,
    /// UAR pages that were allocated one by one.
    pub(crate) allocated: Arc<Allocated>,
    device_memory: Arc<DeviceMemory>,
    /// Where its clock is read, once it has been set up.
    clock: OnceLock<Arc<ClockPages>>,
    /// Where asynchronous events go.
    default_events: OnceLock<Arc<EventPipe>>,
    /// Files of answers and events that belong to this one.
    pub(crate) record_files: Adopted<RecordFile>,
    /// Files of events that belong to this one.
    pub(crate) event_files: Adopted<EventPipe>,
    /// The transport domain of queues of frames, once there was any.
    transport_domain: Mutex<Option<u32>>,
    /// The device's user that the context is, if it was set up as one; else 0.
    user: AtomicU16,
    /// How many queue pairs and targets have got a port of the bond.
    lag_ports: AtomicU8,
}

/// Mark of handles that a process has given out which was passed the file.
const IMPORTED: u32 = 1 << 31;

/// Tells the few processes that have a file apart.
fn pid_of_15_bits() -> u32 {
    user::own_pid() as u32 & 0x7fff
}

impl Context {
    /// The port of the bond for the next queue pair: 2 and 1 in turns, as Linux gives them (`drivers/infiniband/hw/mlx5/qp.c`,
    /// `get_tx_affinity_rr`). 0 without a bond.
    pub(crate) fn next_lag_port(&self) -> u8 {
        if !self.hca.settings.bond {
            return 0;
        }
        self.lag_ports.fetch_add(1, Ordering::Relaxed).wrapping_add(1) % 2 + 1
    }

    /// A new open file; `imported` if another process has opened it.
    pub(crate) fn new(hca: Arc<Hca>, file: UarMemory, imported: bool) -> Result<Self, Errno> {
        let registry = Arc::new(Registry::of(&file)?);
        let imported_from = if imported { Some(registry.answered().ok_or(Errno::EINVAL)?) } else { None };
        let is_user = imported_from.is_some_and(|(_, is_user)| is_user);
        let answer = imported_from.map_or_else(OnceLock::new, |(answer, _)| answer.into());
        // Handles of one file are those of all its processes: each gives out its own.
        let first = if imported { IMPORTED | pid_of_15_bits() << 16 } else { 0 };
        let context = Self {
            _own: Own::new(&file.fd()),
            _counted: hca.resources.count(Resource::Context),
            file,
            registry,
            callers: OnceLock::new(),
            objects: Mutex::new(Objects::new(first, hca.resources.clone())),
            hca,
            records: Mutex::default(),
            answer,
            static_uars: OnceLock::new(),
            allocated: Arc::default(),
            device_memory: Arc::default(),
            clock: OnceLock::new(),
            default_events: OnceLock::new(),
            record_files: Adopted::default(),
            event_files: Adopted::default(),
            transport_domain: Mutex::default(),
            user: AtomicU16::new(0),
            lag_ports: AtomicU8::new(0),
        };
        context.hca.count_contexts(1);
        if is_user {
            context.become_user()?;
        }
        Ok(context)
    }

    /// Whose the objects of the context are: the driver's, if it is no user.
    pub(crate) fn user(&self) -> Uid {
        Uid(self.user.load(Ordering::Relaxed))
    }

    /// Makes the context a user of the device, who may send commands.
    pub(crate) fn become_user(&self) -> Result<(), Errno> {
        self.user.store(self.hca.create_user()?.0, Ordering::Relaxed);
        Ok(())
    }

    /// Whether another process has opened the file.
    pub(crate) fn is_imported(&self) -> bool {
        lock(&self.objects).first() & IMPORTED != 0
    }

    /// Whether `handle` is that of an object in the process that has opened the file.
    pub(crate) fn is_makers(&self, handle: u32) -> bool {
        self.is_imported() && handle & IMPORTED == 0 && self.get_any(handle).is_err()
    }

    /// From now on, other processes with the file may ask for commands on objects of this one. `serve` carries them
    /// out.
    pub(crate) fn serve(self: &Arc<Self>, serve: fn(&Arc<Self>, Call) -> Answer) {
        let Some(file) = identity(self.file.fd().as_raw_fd()) else { return };
        let context = Arc::downgrade(self);
        let callers = Arc::new(Callers::new(self.registry.clone(), file, move |call| match context.upgrade() {
            Some(context) => serve(&context, call),
            None => (Vec::new(), Err(Errno::ENODEV)),
        }));
        if self.callers.set(callers.clone()).is_ok() {
            self.hca.watch(Box::new(move || callers.look()));
        }
    }

    /// Makes `call`, on an object of the process that has opened the file. `EIO` if that does not answer.
    pub(crate) fn call(&self, call: &Call) -> Result<Answer, Errno> {
        calls::call(&self.registry, self.file.fd().as_fd(), call)
    }

    /// The transport domain of queues of frames.
    pub(crate) fn transport_domain(&self) -> Result<u32, Errno> {
        let mut domain = lock(&self.transport_domain);
        let number = domain.map_or_else(|| self.hca.create_transport_domain(self.user()), Ok)?;
        *domain = Some(number);
        Ok(number)
    }

    /// Takes back what [`Self::become_user`] did.
    pub(crate) fn end_user(&self) {
        let user = self.user.swap(0, Ordering::Relaxed);
        if user != 0 {
            self.hca.destroy_user(Uid(user));
        }
    }

    /// The file's UAR pages from here on belong to this process: those of different ones must not meet.
    pub(crate) fn first_uar(&self) -> u64 {
        if !self.is_imported() { 0 } else { u64::from(pid_of_15_bits()) << 16 }
    }

    /// Allocates device memory in the file. It is the memory of the process that has opened the file.
    pub(crate) fn allocate_device_memory(
        &self,
        length: u64,
        log_alignment: u32,
    ) -> Result<device_memory::Piece, Errno> {
        if self.is_imported() {
            return Err(Errno::ENOMEM);
        }
        self.device_memory.allocate(&self.file, length, log_alignment)
    }

    /// Shows the device's clock in the file. A file that another process has opened shows that process' clock, which is
    /// the same.
    pub(crate) fn show_clock(&self) -> Result<(), Errno> {
        let places = [offset::CORE_CLOCK, offset::CLOCK_INFO].map(|page| offset::encode(page, 0));
        let pages = Arc::new(ClockPages::of(&self.file, places)?);
        self.hca.show_clock(&pages);
        let _ = self.clock.set(pages);
        Ok(())
    }

    /// The object that another process has made as `handle`, made again by `make` unless it has been already.
    pub(crate) fn import<T: Object>(
        &self,
        kind: u32,
        handle: u32,
        make: impl FnOnce(&Shared) -> Result<Arc<T>, Errno>,
    ) -> Result<Arc<T>, Errno> {
        if let Ok(object) = self.get(handle) {
            return Ok(object);
        }
        let object = make(&self.registry.find(kind, handle, registry::own_pid())?)?;
        lock(&self.objects).put(handle, object.clone());
        Ok(object)
    }

    /// Pins the doorbell record of `len` bytes at `address`.
    pub(crate) fn pin_record(&self, address: u64, len: u64) -> Result<Pinned, Errno> {
        let page = address / page_bytes();
        let locked = {
            let mut records = lock(&self.records);
            records.retain(|_, locked| locked.strong_count() > 0);
            match records.get(&page).and_then(Weak::upgrade) {
                Some(locked) => locked,
                None => {
                    let locked = Arc::new(self.hca.lock_pages(address, len)?);
                    records.insert(page, Arc::downgrade(&locked));
                    locked
                }
            }
        };
        Pinned::counted(&self.hca, address, len, locked, false)
    }

    /// Makes `pipe` the file for asynchronous events of objects that name none, and of no object, if it is the first.
    pub(crate) fn offer_async_events(&self, pipe: Arc<EventPipe>) {
        if self.default_events.set(pipe.clone()).is_ok() {
            self.hca.listen(&pipe);
        }
    }

    /// Where the asynchronous events of a new object go: to the file that was named for it, or to the default one.
    pub(crate) fn async_events(&self, named: Option<Arc<EventPipe>>) -> Option<Arc<EventPipe>> {
        named.or_else(|| self.default_events.get().cloned())
    }

    /// Gives `object` a handle.
    pub(crate) fn insert<T: Object>(&self, object: Arc<T>) -> u32 {
        lock(&self.objects).insert(object)
    }

    /// The object that `handle` names.
    pub(crate) fn get<T: Object>(&self, handle: u32) -> Result<Arc<T>, Errno> {
        lock(&self.objects).get(handle)
    }

    /// The object that `handle` names, of any kind.
    pub(crate) fn get_any(&self, handle: u32) -> Result<Arc<dyn Object>, Errno> {
        lock(&self.objects).get_any(handle)
    }

    /// The first result of `find` over all objects of its kind.
    pub(crate) fn find<T: Object, R>(&self, find: impl FnMut(Arc<T>) -> Option<R>) -> Option<R> {
        lock(&self.objects).all().find_map(find)
    }

    /// Destroys the object that `handle` names. An object that others refer to stays, and the error is `EBUSY`.
    pub(crate) fn destroy<T: Object>(&self, handle: u32) -> Result<Arc<T>, Errno> {
        let object: Arc<T> = lock(&self.objects).begin_end(handle)?;
        let released = object.release(&self.hca);
        let mut objects = lock(&self.objects);
        match released {
            Ok(()) => objects.end(handle),
            Err(_) => objects.keep(handle),
        }
        released.map(|()| object)
    }

    /// Destroys all objects, users before the objects that they use. It repeats this while it helps, because objects
    /// made by commands may use any others.
    fn release(&self) {
        if let Some(callers) = self.callers.get() {
            callers.end();
        }
        lock(&self.record_files.0).iter().filter_map(Weak::upgrade).for_each(|file| file.end());
        let mut objects = lock(&self.objects).take_all();
        loop {
            let before = objects.len();
            objects.retain(|object| object.release(&self.hca).is_err());
            if objects.is_empty() || objects.len() == before {
                break;
            }
        }
        if !objects.is_empty() {
            log::warn!("closing the device: {} objects stay", objects.len());
        }
        if let Some(domain) = lock(&self.transport_domain).take() {
            let ended = self.hca.carry_out_on(self.user(), destroyer::TRANSPORT_DOMAIN, domain);
            if let Err(error) = ended {
                log::warn!("closing the device: transport domain {domain:#x} stays: {error:?}");
            }
        }
        if let Some(uars) = self.static_uars.get() {
            uars.release(&self.hca);
        }
        self.end_user();
        self.hca.count_contexts(-1);
    }
}
