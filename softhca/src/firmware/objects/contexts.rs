//! Contexts of objects: they have values that the device itself does not act on, and that drivers will query.

use crate::error::Object;
use std::collections::HashMap;

/// Contexts as they were created, and as they were modified since; by kind and number.
#[derive(Debug, Default)]
pub(crate) struct Contexts(HashMap<(Object, u32), Vec<u8>>);

impl Contexts {
    /// Keeps the context of a new object.
    pub(crate) fn add(&mut self, kind: Object, number: u32, context: &[u8]) {
        self.0.insert((kind, number), context.to_vec());
    }

    /// The context of an object, to change it.
    pub(crate) fn get_mut(&mut self, kind: Object, number: u32) -> &mut [u8] {
        self.0.get_mut(&(kind, number)).map_or(&mut [], |context| context)
    }

    /// The context of an object; empty if none was kept.
    pub(crate) fn get(&self, kind: Object, number: u32) -> Vec<u8> {
        self.0.get(&(kind, number)).cloned().unwrap_or_default()
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, kind: Object, number: u32) {
        self.0.remove(&(kind, number));
    }
}
