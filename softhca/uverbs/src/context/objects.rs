//! The objects of a context, by handle. Knows no kind of them.

use crate::device::Hca;
use crate::device::resources::{Counted, Resources};
use crate::process::Errno;
use crate::process::kind::AnyKind;
use softhca_settings::Resource;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The order in which objects are released when their file is closed: users before the objects that they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Made by a command.
    Devx,
    /// A flow.
    Flow,
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
    _counted: Option<Counted>,
}

/// All objects of a context.
pub(super) struct Objects {
    by_handle: BTreeMap<u32, Entry>,
    resources: Arc<Resources>,
    first: u32,
    /// No handle before it is free.
    lowest: u32,
}

impl Objects {
    /// None; the first gets the handle `first`. All are counted among `resources`.
    pub(super) fn new(first: u32, resources: Arc<Resources>) -> Self {
        Self { by_handle: BTreeMap::new(), resources, first, lowest: first }
    }

    /// The first of all handles.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Gives `object` a handle: the lowest that is free, as the kernel does (`idr_add_uobj`).
    pub(super) fn insert(&mut self, object: Arc<dyn Object>) -> u32 {
        let mut handle = self.lowest;
        while self.by_handle.contains_key(&handle) {
            handle = handle.wrapping_add(1);
        }
        self.lowest = handle.wrapping_add(1);
        self.put(handle, object);
        handle
    }

    /// Has `handle` name `object`.
    pub(super) fn put(&mut self, handle: u32, object: Arc<dyn Object>) {
        let counted = object.rank().resource().map(|kind| self.resources.count(kind));
        self.by_handle.insert(handle, Entry { object, _counted: counted });
    }

    /// The object of this kind that `handle` names.
    pub(super) fn get<T: Object>(&self, handle: u32) -> Result<Arc<T>, Errno> {
        downcast(self.get_any(handle)?).ok_or(Errno::EINVAL)
    }

    /// The object that `handle` names, of any kind.
    pub(super) fn get_any(&self, handle: u32) -> Result<Arc<dyn Object>, Errno> {
        self.by_handle.get(&handle).map(|entry| entry.object.clone()).ok_or(Errno::ENOENT)
    }

    /// All of a kind.
    pub(super) fn all<T: Object>(&self) -> impl Iterator<Item = Arc<T>> {
        self.by_handle.values().filter_map(|entry| downcast(entry.object.clone()))
    }

    /// Takes the object of this kind that `handle` names out; `EBUSY` if others refer to it.
    pub(super) fn take<T: Object>(&mut self, handle: u32) -> Result<Arc<T>, Errno> {
        let object = self.get(handle)?;
        // The table's, and this.
        if Arc::strong_count(&object) > 2 {
            return Err(Errno::EBUSY);
        }
        self.by_handle.remove(&handle);
        // Not those of another process.
        if handle >= self.first {
            self.lowest = self.lowest.min(handle);
        }
        Ok(object)
    }

    /// Takes all out, in the order in which they are to be released.
    pub(super) fn take_all(&mut self) -> Vec<Arc<dyn Object>> {
        let entries = std::mem::take(&mut self.by_handle).into_values();
        let mut objects: Vec<_> = entries.map(|entry| entry.object).collect();
        // Of a kind, the newest first.
        objects.reverse();
        objects.sort_by_key(|object| object.rank());
        objects
    }
}
