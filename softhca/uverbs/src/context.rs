//! An open device file: its objects, by handle.

use crate::abi_mlx5::AllocUcontextResp;
use crate::ah::Ah;
use crate::cq::Cq;
use crate::errno::Errno;
use crate::events::{self, EventPipe};
use crate::hca::{Hca, Pinned};
use crate::ioctl::Request;
use crate::memlock::{Locked, page_bytes};
use crate::memory::Pd;
use crate::mr::Mr;
use crate::qp::Qp;
use crate::registry::{Registry, Shared};
use crate::srq::Srq;
use crate::uar::{StaticUars, UarPage};
use crate::user;
use softhca::uar::UarMemory;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Locks `mutex`, also after a panic of another holder: what the locks here protect is whole at any time.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An open device file (`struct ib_uverbs_file`).
pub(crate) struct Context {
    /// The device.
    pub(crate) hca: Arc<Hca>,
    /// What the program's descriptor is open for: it maps its UAR pages from there.
    pub(crate) file: UarMemory,
    /// What others who have the file open know of its objects.
    pub(crate) registry: Registry,
    objects: Mutex<Objects>,
    /// Pinned pages of doorbell records, of which each holds many and counts once.
    records: Mutex<HashMap<u64, Weak<Locked>>>,
    /// What `GET_CONTEXT` answered, for whoever imports the context.
    pub(crate) answer: OnceLock<AllocUcontextResp>,
    /// UAR pages that came with the context, once it has been set up, in static mode.
    pub(crate) static_uars: OnceLock<StaticUars>,
    /// Where asynchronous events go.
    default_events: OnceLock<Arc<EventPipe>>,
}

/// Mark of handles that a process has given out which was passed the file.
const IMPORTED: u32 = 1 << 31;

/// Tells the few processes that have a file apart.
fn pid_of_15_bits() -> u32 {
    user::own_pid().cast_unsigned() & 0x7fff
}

struct Objects {
    by_handle: BTreeMap<u32, Object>,
    next: u32,
}

/// Declares the kinds of objects that handles name.
macro_rules! kinds {
    ($($kind:ident),*) => {
        /// An object of any kind.
        pub(crate) enum Object { $($kind(Arc<$kind>),)* }

        $(impl Kind for $kind {
            fn of(object: &Object) -> Option<&Arc<Self>> {
                match object {
                    Object::$kind(object) => Some(object),
                    _ => None,
                }
            }

            fn into_object(this: Arc<Self>) -> Object {
                Object::$kind(this)
            }
        })*
    };
}

/// A kind of object.
pub(crate) trait Kind: Sized {
    /// `object` as this kind.
    fn of(object: &Object) -> Option<&Arc<Self>>;
    /// Any kind of object from this one.
    fn into_object(this: Arc<Self>) -> Object;

    /// The object of this kind that `handle` names among `objects`.
    fn named(objects: &BTreeMap<u32, Object>, handle: u32) -> Result<&Arc<Self>, Errno> {
        Self::of(objects.get(&handle).ok_or(Errno::ENOENT)?).ok_or(Errno::EINVAL)
    }
}

kinds!(Pd, Mr, Cq, Qp, Srq, Ah, UarPage);

impl Context {
    /// A new open file; `imported` if another process has opened it.
    pub(crate) fn new(hca: Arc<Hca>, file: UarMemory, imported: bool) -> Result<Self, Errno> {
        let registry = Registry::of(&file)?;
        let answer = if imported { registry.answered().ok_or(Errno::EINVAL)?.into() } else { OnceLock::new() };
        // Handles of one file are those of all its processes: each gives out its own.
        let next = if imported { IMPORTED | pid_of_15_bits() << 16 } else { 0 };
        Ok(Self {
            hca,
            file,
            registry,
            objects: Mutex::new(Objects { by_handle: BTreeMap::new(), next }),
            records: Mutex::default(),
            answer,
            static_uars: OnceLock::new(),
            default_events: OnceLock::new(),
        })
    }

    /// The file's UAR pages from here on belong to this process: those of different ones must not meet.
    pub(crate) fn first_uar(&self) -> u64 {
        if lock(&self.objects).next & IMPORTED == 0 { 0 } else { u64::from(pid_of_15_bits()) << 16 }
    }

    /// The object that another process has made as `handle`, made again by `make` unless it has been already.
    pub(crate) fn import<T: Kind>(
        &self,
        kind: u32,
        handle: u32,
        make: impl FnOnce(&Shared) -> Result<Arc<T>, Errno>,
    ) -> Result<Arc<T>, Errno> {
        if let Ok(object) = self.get(handle) {
            return Ok(object);
        }
        let object = make(&self.registry.find(kind, handle, user::own_pid().cast_unsigned().into())?)?;
        lock(&self.objects).by_handle.insert(handle, T::into_object(object.clone()));
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
                    let locked = Arc::new(Locked::new(self.hca.settings.memlock, address, len)?);
                    records.insert(page, Arc::downgrade(&locked));
                    locked
                }
            }
        };
        Pinned::counted(&self.hca, address, len, locked)
    }

    /// Makes `pipe` the file for asynchronous events of objects that name none, and of no object, if it is the first.
    pub(crate) fn offer_async_events(&self, pipe: Arc<EventPipe>) {
        if self.default_events.set(pipe.clone()).is_ok() {
            self.hca.listen(&pipe);
        }
    }

    /// Where the asynchronous events of a new object go: to the file in attribute `id`, or to the default one.
    pub(crate) fn async_events(&self, request: &Request, id: u16) -> Result<Option<Arc<EventPipe>>, Errno> {
        Ok(events::file(request, id)?.or_else(|| self.default_events.get().cloned()))
    }

    /// Gives `object` a handle.
    pub(crate) fn insert<T: Kind>(&self, object: Arc<T>) -> u32 {
        let mut objects = lock(&self.objects);
        let mut handle = objects.next;
        while objects.by_handle.contains_key(&handle) {
            handle = handle.wrapping_add(1);
        }
        objects.next = handle.wrapping_add(1);
        objects.by_handle.insert(handle, T::into_object(object));
        handle
    }

    /// The object that `handle` names.
    pub(crate) fn get<T: Kind>(&self, handle: u32) -> Result<Arc<T>, Errno> {
        T::named(&lock(&self.objects).by_handle, handle).cloned()
    }

    /// Address in this process of `len` bytes at `iova` of the region of `key`: see [`Mr::on_demand`].
    pub(crate) fn on_demand(&self, key: u32, iova: u64, len: u64) -> Option<Result<u64, Errno>> {
        let objects = lock(&self.objects);
        objects.by_handle.values().filter_map(Mr::of).find_map(|mr| mr.on_demand(key, iova, len))
    }

    /// Takes the object that `handle` names out, for good if `destroy` succeeds on it. An object that others refer to
    /// stays, and the error is `EBUSY`.
    pub(crate) fn destroy<T: Kind>(
        &self,
        handle: u32,
        destroy: impl FnOnce(&Arc<T>) -> Result<(), Errno>,
    ) -> Result<Arc<T>, Errno> {
        let object = {
            let mut objects = lock(&self.objects);
            let object = T::named(&objects.by_handle, handle)?;
            if Arc::strong_count(object) > 1 {
                return Err(Errno::EBUSY);
            }
            let object = object.clone();
            objects.by_handle.remove(&handle);
            object
        };
        match destroy(&object) {
            Ok(()) => Ok(object),
            Err(error) => {
                lock(&self.objects).by_handle.insert(handle, T::into_object(object));
                Err(error)
            }
        }
    }

    /// Destroys all objects, users before what they use.
    pub(crate) fn close(&self) {
        let objects = std::mem::take(&mut lock(&self.objects).by_handle);
        let rank = |object: &Object| match object {
            Object::Ah(_) => 0,
            Object::Qp(_) => 1,
            Object::Srq(_) => 2,
            Object::Cq(_) => 3,
            Object::Mr(_) => 4,
            Object::Pd(_) => 5,
            Object::UarPage(_) => 6,
        };
        let mut objects: Vec<Object> = objects.into_values().collect();
        objects.sort_by_key(rank);
        for object in objects {
            let result = match &object {
                Object::Ah(_) => Ok(()),
                Object::Qp(qp) => qp.release(&self.hca),
                Object::Srq(srq) => srq.release(&self.hca),
                Object::Cq(cq) => cq.release(&self.hca),
                Object::Mr(mr) => mr.release(&self.hca),
                Object::Pd(pd) => pd.release(&self.hca),
                Object::UarPage(page) => page.release(&self.hca),
            };
            if let Err(error) = result {
                log::warn!("closing the device: an object stays: {error:?}");
            }
        }
        if let Some(uars) = self.static_uars.get() {
            uars.release(&self.hca);
        }
    }
}
