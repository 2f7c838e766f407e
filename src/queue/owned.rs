//! A queue and the object under it, kept together.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

use super::buffer::Posted;
use super::recv::queue::RecvQueue;
use crate::cq::CompletionQueue;
use crate::cq::compressed::MiniFormat;
use crate::cq::mode::{Compressed, PollMode};
use crate::transport::RecvForm;

/// A queue of this crate together with the object under it. It derefs to the queue. It keeps the object alive, and
/// everything that the object needs. `H` is the object's handle; clone it for set-up calls. `verbs` makes such queues.
///
/// You may drop queues, buffers, channels and devices in any order. Each holds the objects that it was made from, so
/// they are destroyed in the order that verbs requires.
///
/// Safe code can move the queue out through `&mut`, for example by `core::mem::swap` of two of them. Its object is then
/// leaked when this value is dropped, for the queue may still be in use.
// The queue is at the address of the whole, so that calls are compiled to the same instructions as on a queue by
// itself.
#[repr(C)]
pub struct Owned<Q, H> {
    queue: ManuallyDrop<Q>,
    handle: ManuallyDrop<H>,
    /// The address of the ring that the object owns.
    ring: usize,
    /// Tells a queue's ring.
    ring_of: fn(&Q) -> usize,
}

impl<Q, H> Owned<Q, H> {
    /// `queue`, and the handle of the objects that it needs. `ring_of` returns the ring's address:
    /// [`SendQueue::ring_addr`](super::SendQueue::ring_addr) and its like.
    ///
    /// # Safety
    /// The promises made to the queue's `from_parts` hold as long as the handle lives. No other queue for which
    /// `ring_of` gives the same address exists at the same time.
    pub unsafe fn new(queue: Q, handle: H, ring_of: fn(&Q) -> usize) -> Self {
        Self { ring: ring_of(&queue), queue: ManuallyDrop::new(queue), handle: ManuallyDrop::new(handle), ring_of }
    }

    /// Whether the queue is still that of the object.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        (self.ring_of)(&self.queue) == self.ring
    }

    /// Has `f` move the queue to another ring of the object. The queue is still the object's ([`Self::is_whole`]).
    ///
    /// # Safety
    /// It was before. The ring to which `f` moves it is there as long as the handle.
    pub unsafe fn change_ring<R>(&mut self, f: impl FnOnce(&mut Q) -> R) -> R {
        let result = f(&mut self.queue);
        self.ring = (self.ring_of)(&self.queue);
        result
    }

    /// This object, with the queue that `f` returns.
    fn map<P>(self, f: impl FnOnce(Q) -> P, ring_of: fn(&P) -> usize) -> Owned<P, H> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, and neither field is used again. If `f` panics, the object is leaked.
        let (queue, handle) = unsafe { (ManuallyDrop::take(&mut this.queue), ManuallyDrop::take(&mut this.handle)) };
        let handle = ManuallyDrop::new(handle);
        Owned { queue: ManuallyDrop::new(f(queue)), handle, ring: this.ring, ring_of }
    }

    /// The object under the queue.
    #[must_use]
    pub fn handle(&self) -> &H {
        &self.handle
    }
}

impl<M: PollMode, H> Owned<CompletionQueue<M>, H> {
    /// [`CompletionQueue::with_mode`].
    #[must_use]
    pub fn with_mode<N: PollMode<Compression = M::Compression>>(self) -> Owned<CompletionQueue<N>, H> {
        self.map(CompletionQueue::with_mode, CompletionQueue::ring_addr)
    }

    /// [`CompletionQueue::with_mode_unchecked`].
    ///
    /// # Safety
    /// As there.
    #[must_use]
    pub unsafe fn with_mode_unchecked<N: PollMode<Compression = M::Compression>>(self) -> Owned<CompletionQueue<N>, H> {
        // SAFETY: the caller promises that the queue cannot overrun in a mode that does not tell the consumer index.
        self.map(|queue| unsafe { queue.with_mode_unchecked() }, CompletionQueue::ring_addr)
    }
}

impl<M: PollMode<Compression = ()>, H> Owned<CompletionQueue<M>, H> {
    /// [`CompletionQueue::compressed`].
    ///
    /// # Safety
    /// As there.
    #[must_use]
    pub unsafe fn compressed<F: MiniFormat, const ENHANCED: bool>(
        self,
    ) -> Owned<CompletionQueue<Compressed<F, ENHANCED, M>>, H> {
        // SAFETY: the caller promises that the queue was made for this format and layout, and that nothing was polled.
        self.map(|queue| unsafe { queue.compressed() }, CompletionQueue::ring_addr)
    }
}

impl<F: RecvForm, B, H> Owned<RecvQueue<F, B>, H> {
    /// [`RecvQueue::posting`].
    ///
    /// # Errors
    /// The queue, if something is posted to it.
    pub fn posting<C: Posted>(self) -> Result<Owned<RecvQueue<F, C>, H>, Self> {
        if self.posted() != 0 {
            return Err(self);
        }
        Ok(self.map(RecvQueue::converted, RecvQueue::ring_addr))
    }
}

impl<Q, H> Drop for Owned<Q, H> {
    fn drop(&mut self) {
        let whole = self.is_whole();
        // SAFETY: dropped here only, and not used again. Its ring is still there: it is that of the handle below, or of
        // one that was leaked, or is in another value together with this queue's own handle, which is then leaked.
        unsafe { ManuallyDrop::drop(&mut self.queue) };
        if whole {
            // SAFETY: dropped here only, and not used again. No queue lies over its ring any more: there was one.
            unsafe { ManuallyDrop::drop(&mut self.handle) };
        }
    }
}

impl<Q: fmt::Debug, H: fmt::Debug> fmt::Debug for Owned<Q, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned").field("queue", &*self.queue).field("handle", &*self.handle).finish()
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::vec::Vec;

    use super::*;

    /// A queue that is nothing but the address of its ring.
    struct Queue(usize);

    /// Says when it is dropped.
    struct Part<'a>(&'static str, &'a RefCell<Vec<&'static str>>);

    impl Drop for Part<'_> {
        fn drop(&mut self) {
            self.1.borrow_mut().push(self.0);
        }
    }

    #[test]
    fn the_queue_goes_before_the_object_under_it() {
        let dropped = RefCell::new(Vec::new());
        // SAFETY: a queue that is promised nothing.
        drop(unsafe { Owned::new(Part("queue", &dropped), Part("object", &dropped), |_| 1) });
        assert_eq!(*dropped.borrow(), ["queue", "object"]);
    }

    #[test]
    fn the_object_goes_with_its_own_queue_only() {
        let (a, b) = (Arc::new("object of a"), Arc::new("object of b"));
        // SAFETY: the queues are promised nothing, and their rings differ.
        let own = |ring, object: &Arc<_>| unsafe { Owned::new(Queue(ring), Arc::clone(object), |queue| queue.0) };
        let (mut owned_a, mut owned_b) = (own(1, &a), own(2, &b));
        core::mem::swap(&mut *owned_a, &mut *owned_b);
        drop(owned_a);
        assert_eq!(Arc::strong_count(&a), 2, "its queue is still in `owned_b`");
        *owned_b = Queue(2);
        drop(owned_b);
        assert_eq!(Arc::strong_count(&b), 1, "its own queue is back, and gone with it");
        drop(own(3, &b));
        assert_eq!(Arc::strong_count(&b), 1);
        // SAFETY: the count that was leaked with `owned_a`: LeakSanitizer looks.
        unsafe { Arc::decrement_strong_count(Arc::as_ptr(&a)) };
    }

    #[test]
    fn a_queue_of_another_type_keeps_its_object() {
        let object = Arc::new("object");
        // SAFETY: the queues are promised nothing, and their rings differ.
        let own = |ring| unsafe { Owned::new(Queue(ring), Arc::clone(&object), |queue| queue.0) };
        let mut mapped = own(1).map(|queue| (queue, "another type"), |queue| queue.0.0);
        assert_eq!((mapped.0.0, mapped.1, Arc::strong_count(&object)), (1, "another type", 2));
        let mut other = own(2).map(|queue| (queue, "another type"), |queue| queue.0.0);
        core::mem::swap(&mut *mapped, &mut *other);
        drop(mapped);
        assert_eq!(Arc::strong_count(&object), 3, "its queue is in `other`");
        drop(other);
        assert_eq!(Arc::strong_count(&object), 3, "its queue was in `mapped`");
        for _ in 0..2 {
            // SAFETY: the counts that were leaked with `mapped` and `other`, as above.
            unsafe { Arc::decrement_strong_count(Arc::as_ptr(&object)) };
        }
    }
}
