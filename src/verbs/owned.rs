//! A queue and the verbs object under it, kept together.

use core::ops::{Deref, DerefMut};

/// A queue of this crate over a verbs object: it derefs to the queue, and keeps the object, and everything that object
/// needs, alive. `H` is the object's handle, to be cloned for the calls that set things up.
///
/// Whatever order an application drops its queues, buffers, channels and devices in, they are destroyed in the order
/// verbs asks for: each holds what it was made from.
#[derive(Debug)]
pub struct Owned<Q, H> {
    // Dropped first: the queue's rings belong to the object.
    queue: Q,
    handle: H,
}

impl<Q, H> Owned<Q, H> {
    pub(crate) fn new(queue: Q, handle: H) -> Self {
        Self { queue, handle }
    }

    /// The object under the queue.
    #[must_use]
    pub fn handle(&self) -> &H {
        &self.handle
    }
}

impl<Q, H> Deref for Owned<Q, H> {
    type Target = Q;

    #[inline]
    fn deref(&self) -> &Q {
        &self.queue
    }
}

impl<Q, H> DerefMut for Owned<Q, H> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Q {
        &mut self.queue
    }
}
