//! What memory each object lies in. It stays reachable as long as the object is there.

use crate::error::Object;
use std::collections::HashMap;

/// Memory that an object lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// User memory of this number.
    Umem(u32),
    /// A page list of the mailbox, which the device reaches at this address.
    Pages(u64),
}

/// The memory of all objects.
#[derive(Debug, Default)]
pub(super) struct Holds {
    by_object: HashMap<(Object, u32), Vec<Hold>>,
}

impl Holds {
    /// An object lies in this memory, too.
    pub(super) fn add(&mut self, kind: Object, number: u32, holds: Vec<Hold>) {
        if !holds.is_empty() {
            self.by_object.entry((kind, number)).or_default().extend(holds);
        }
    }

    /// An object lies nowhere any more: the memory that it lay in.
    pub(super) fn remove(&mut self, kind: Object, number: u32) -> Vec<Hold> {
        self.by_object.remove(&(kind, number)).unwrap_or_default()
    }
}
