//! The firmware's resources that each object needs: memory that it lies in, domains that it names. They stay as long
//! as the object does.

use crate::error::Object;
use std::collections::HashMap;

/// A resource that an object needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// User memory of this number.
    Umem(u32),
    /// A page list of the mailbox, which the device reaches at this address.
    Pages(u64),
    /// The transport domain of this number.
    TransportDomain(u32),
}

/// The resources of all objects.
#[derive(Debug, Default)]
pub(super) struct Holds {
    by_object: HashMap<(Object, u32), Vec<Hold>>,
}

impl Holds {
    /// Adds these to the resources of an object.
    pub(super) fn add(&mut self, kind: Object, number: u32, holds: Vec<Hold>) {
        if !holds.is_empty() {
            self.by_object.entry((kind, number)).or_default().extend(holds);
        }
    }

    /// Removes the resources of an object, and returns them.
    pub(super) fn remove(&mut self, kind: Object, number: u32) -> Vec<Hold> {
        self.by_object.remove(&(kind, number)).unwrap_or_default()
    }
}
