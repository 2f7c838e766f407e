//! The objects of a context, by handle. The module does not depend on their kinds.

use crate::device::Hca;
use crate::device::resources::{Counted, Resources};
use crate::process::Errno;
use crate::process::kind::AnyKind;
use softhca_settings::Resource;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The order in which objects are released when their file is closed: users before the objects that they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Made by a command.
    Devx,
    /// A flow.
    Flow,
    /// An action of flows.
    FlowAction,
    /// A matcher of flows.
    Matcher,
    /// Counters of flows.
    Counters,
    /// An address handle.
    Ah,
    /// A queue pair.
    Qp,
    /// A table of work queues.
    WqTable,
    /// A work queue.
    Wq,
    /// A shared receive queue.
    Srq,
    /// A completion queue.
    Cq,
    /// An XRC domain.
    Xrcd,
    /// A memory window.
    Mw,
    /// A memory region.
    Mr,
    /// A DMA handle.
    DmaHandle,
    /// A protection domain.
    Pd,
    /// Device memory.
    DeviceMemory,
    /// A rate of send queues.
    Rate,
    /// A UAR page.
    Uar,
    /// User memory of commands.
    Umem,
}

impl Rank {
    /// The resource that objects of this rank are, if Linux counts them.
    fn resource(self) -> Option<Resource> {
        match self {
            Self::Qp => Some(Resource::Qp),
            Self::Srq => Some(Resource::Srq),
            Self::Cq => Some(Resource::Cq),
            Self::Mr => Some(Resource::Mr),
            Self::Pd => Some(Resource::Pd),
            _ => None,
        }
    }
}

/// The identity of an object in commands. Its number alone is not enough: each kind has its own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommandId {
    /// Opcode of the command that makes such objects.
    pub(crate) creator: u16,
    /// The kind of object, if the command makes objects of many kinds.
    pub(crate) kind: u16,
    /// Number.
    pub(crate) number: u32,
}

impl CommandId {
    /// Object `number`, as `creator` makes them.
    pub(crate) fn new(creator: u16, number: u32) -> Self {
        Self { creator, kind: 0, number }
    }
}

/// An object that a handle names.
pub(crate) trait Object: AnyKind {
    /// When it is released.
    fn rank(&self) -> Rank;
    /// Lets the device forget it.
    fn release(&self, hca: &Hca) -> Result<(), Errno>;
    /// Whether commands call it `id`. Most objects have no name for commands.
    fn is_named(&self, id: CommandId) -> bool {
        let _ = id;
        false
    }
}

/// `object` as the kind that it is.
fn downcast<T: Object>(object: Arc<dyn Object>) -> Option<Arc<T>> {
    object.into_any().downcast().ok()
}

/// An object, and the count of it.
struct Entry {
    object: Arc<dyn Object>,
    /// It is being destroyed: nothing finds it, and its handle is not free.
    is_ending: bool,
    _counted: Option<Counted>,
}

/// All objects of a context.
pub(super) struct Objects {
    by_handle: BTreeMap<u32, Entry>,
    resources: Arc<Resources>,
    first: u32,
    /// The handles from here on have never been given out.
    untouched: u32,
    /// Those before it that are free.
    free: BTreeSet<u32>,
}

impl Objects {
    /// None; the first gets the handle `first`. All are counted among `resources`.
    pub(super) fn new(first: u32, resources: Arc<Resources>) -> Self {
        Self { by_handle: BTreeMap::new(), resources, first, untouched: first, free: BTreeSet::new() }
    }

    /// The first of all handles.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Gives `object` a handle: the lowest that is free, as the kernel does (`idr_add_uobj`).
    pub(super) fn insert(&mut self, object: Arc<dyn Object>) -> u32 {
        let handle = self.free.pop_first().unwrap_or_else(|| {
            let handle = self.untouched;
            self.untouched = handle.wrapping_add(1);
            handle
        });
        self.put(handle, object);
        handle
    }

    /// Has `handle` name `object`.
    pub(super) fn put(&mut self, handle: u32, object: Arc<dyn Object>) {
        let counted = object.rank().resource().map(|kind| self.resources.count(kind));
        self.by_handle.insert(handle, Entry { object, is_ending: false, _counted: counted });
    }

    /// The object of this kind that `handle` names.
    pub(super) fn get<T: Object>(&self, handle: u32) -> Result<Arc<T>, Errno> {
        downcast(self.get_any(handle)?).ok_or(Errno::EINVAL)
    }

    /// The object that `handle` names, of any kind. `EBUSY` if it is being destroyed, as by the kernel
    /// (`uverbs_try_lock_object`).
    pub(super) fn get_any(&self, handle: u32) -> Result<Arc<dyn Object>, Errno> {
        match self.by_handle.get(&handle).ok_or(Errno::ENOENT)? {
            entry if entry.is_ending => Err(Errno::EBUSY),
            entry => Ok(entry.object.clone()),
        }
    }

    /// All of a kind.
    pub(super) fn all<T: Object>(&self) -> impl Iterator<Item = Arc<T>> {
        let there = self.by_handle.values().filter(|entry| !entry.is_ending);
        there.filter_map(|entry| downcast(entry.object.clone()))
    }

    /// Begins the destruction of the object of this kind that `handle` names; `EBUSY` if others refer to it.
    pub(super) fn begin_end<T: Object>(&mut self, handle: u32) -> Result<Arc<T>, Errno> {
        let object = self.get(handle)?;
        // The table's, and this.
        if Arc::strong_count(&object) > 2 {
            return Err(Errno::EBUSY);
        }
        self.set_ending(handle, true);
        Ok(object)
    }

    fn set_ending(&mut self, handle: u32, is_ending: bool) {
        if let Some(entry) = self.by_handle.get_mut(&handle) {
            entry.is_ending = is_ending;
        }
    }

    /// The object that `handle` names stays.
    pub(super) fn keep(&mut self, handle: u32) {
        self.set_ending(handle, false);
    }

    /// The object that `handle` names is gone.
    pub(super) fn end(&mut self, handle: u32) {
        let was_there = self.by_handle.remove(&handle).is_some();
        // Not those of another process.
        if was_there && handle >= self.first {
            self.free.insert(handle);
        }
    }

    /// Takes all out that nobody destroys, in the order in which they are to be released.
    pub(super) fn take_all(&mut self) -> Vec<Arc<dyn Object>> {
        let entries = std::mem::take(&mut self.by_handle).into_values();
        let mut objects: Vec<_> = entries.filter(|entry| !entry.is_ending).map(|entry| entry.object).collect();
        // Of a kind, the newest first.
        objects.reverse();
        objects.sort_by_key(|object| object.rank());
        objects
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::umad::test_settings;

    struct Domain;

    impl Object for Domain {
        fn rank(&self) -> Rank {
            Rank::Pd
        }

        fn release(&self, _: &Hca) -> Result<(), Errno> {
            Ok(())
        }
    }

    #[test]
    fn a_handle_is_not_free_before_its_object_is_gone() {
        let resources = Arc::new(Resources::new(&test_settings("infiniband"), 0));
        let mut objects = Objects::new(5, resources);
        assert_eq!(objects.insert(Arc::new(Domain)), 5);
        let going = objects.begin_end::<Domain>(5).unwrap();
        // A device that refuses takes its time; another thread makes an object meanwhile.
        assert_eq!(objects.insert(Arc::new(Domain)), 6);
        assert_eq!(objects.get::<Domain>(5).err(), Some(Errno::EBUSY));
        assert_eq!(objects.begin_end::<Domain>(5).err(), Some(Errno::EBUSY));
        assert_eq!(objects.all::<Domain>().count(), 1);
        objects.keep(5);
        drop(going);
        assert!(objects.get::<Domain>(5).is_ok());
        objects.begin_end::<Domain>(5).unwrap();
        objects.end(5);
        assert_eq!(objects.get::<Domain>(5).err(), Some(Errno::ENOENT));
        assert_eq!(objects.insert(Arc::new(Domain)), 5);
    }
}
