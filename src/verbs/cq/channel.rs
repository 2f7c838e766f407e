//! Completion channels: sleeping until a completion queue has a completion.

use core::ptr::NonNull;
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

use blueflame_sys as sys;

use crate::verbs::device::open::Context;
use crate::verbs::error::{non_null, zero};
use crate::verbs::event::event;
use crate::verbs::{Device, Error, wait};

/// A completion channel (`ibv_comp_channel`): a file descriptor that becomes readable when an armed completion queue
/// gets the CQE it was armed for. Cheap to clone; any number of completion queues may share one.
///
/// To lose no completion, keep this order: arm, poll until empty, only then wait. After the event, tell the queue, arm,
/// and poll.
#[doc(alias("ibv_comp_channel", "ibv_create_comp_channel"))]
#[derive(Clone, Debug)]
pub struct CompletionChannel {
    pub(crate) handle: Arc<ChannelHandle>,
}

#[derive(Debug)]
pub(crate) struct ChannelHandle {
    raw: NonNull<sys::ibv_comp_channel>,
    /// `None`: it is another library's to destroy.
    context: Option<Arc<Context>>,
}

// SAFETY: a file descriptor, and per queue a count of acknowledged events that libibverbs locks. Any thread may wait,
// and several at once may. libmlx5 counts a queue's events without a lock (`mlx5_cq_event`, `arm_sn`); only its own
// arming reads that count, which no queue of this crate uses.
unsafe impl Send for ChannelHandle {}
// SAFETY: any number of threads may use the descriptor at once, and libibverbs locks the count.
unsafe impl Sync for ChannelHandle {}

impl ChannelHandle {
    pub(crate) fn raw(&self) -> *mut sys::ibv_comp_channel {
        self.raw.as_ptr()
    }
}

impl Drop for ChannelHandle {
    fn drop(&mut self) {
        if self.context.is_some() {
            // SAFETY: from `ibv_create_comp_channel`; the completion queues of it held this object and are gone.
            unsafe { sys::ibv_destroy_comp_channel(self.raw.as_ptr()) };
        }
    }
}

/// An armed completion queue has a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqEvent {
    /// The value that the queue was made with ([`crate::verbs::CqBuilder::context`]); of a queue that another library
    /// made, its `cq_context`.
    #[doc(alias = "cq_context")]
    pub context: usize,
}

impl Device {
    /// Makes a completion channel.
    ///
    /// # Errors
    /// A failed call.
    pub fn completion_channel(&self) -> Result<CompletionChannel, Error> {
        // SAFETY: the context is open.
        let raw = non_null("ibv_create_comp_channel", unsafe { sys::ibv_create_comp_channel(self.context.raw()) })?;
        event!(DEBUG, "completion channel made", device = self.name());
        Ok(CompletionChannel { handle: Arc::new(ChannelHandle { raw, context: Some(Arc::clone(&self.context)) }) })
    }
}

impl CompletionChannel {
    /// # Safety
    /// As [`adopt_channel`](crate::verbs::adopt::adopt_channel).
    pub(in crate::verbs) unsafe fn adopt(raw: NonNull<sys::ibv_comp_channel>) -> Self {
        Self { handle: Arc::new(ChannelHandle { raw, context: None }) }
    }

    /// The raw channel; alive as long as `self`: for completion queues of other libraries.
    ///
    /// Let one thread at a time take events from a channel with such queues. libmlx5 counts a queue's events without a
    /// lock (rdma-core `providers/mlx5/cq.c`, `mlx5_cq_event`), and its own arming reads the count.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_comp_channel {
        self.handle.raw()
    }

    /// Sleeps until an event comes, and takes it.
    ///
    /// # Errors
    /// A failed call. The errno is `EAGAIN` if the caller has made the descriptor non-blocking and there is no event.
    #[doc(alias = "ibv_get_cq_event")]
    pub fn wait(&self) -> Result<CqEvent, Error> {
        let mut cq = core::ptr::null_mut();
        let mut context = core::ptr::null_mut();
        loop {
            // SAFETY: the channel is alive; the call writes both pointers when it succeeds.
            let returned = unsafe { sys::ibv_get_cq_event(self.handle.raw(), &raw mut cq, &raw mut context) };
            match zero("ibv_get_cq_event", returned) {
                Ok(()) => break,
                // A signal came before an event did.
                Err(error) if error.errno == libc::EINTR => {}
                Err(error) => return Err(error.into()),
            }
        }
        // Acknowledge at once: destroying a queue waits until its events are acknowledged. The queue's own index tells
        // which completions are new.
        // SAFETY: the queue that the event is of; it cannot be gone, for its destruction waits for this call.
        unsafe { sys::ibv_ack_cq_events(cq, 1) };
        Ok(CqEvent { context: context.expose_provenance() })
    }

    /// [Waits](Self::wait) at most `timeout` (zero: not at all; rounded up to milliseconds). `None` when it is over.
    ///
    /// When several threads take events from one channel, another thread may take the waiting event first; then this
    /// call waits for the next.
    ///
    /// # Errors
    /// A failed call.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<Option<CqEvent>, Error> {
        if wait::readable(self.as_fd(), timeout)? { self.wait().map(Some) } else { Ok(None) }
    }
}

impl AsFd for CompletionChannel {
    /// Readable when there is an event: for `poll`, `epoll` and event loops.
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel lives as long as `self` is borrowed, and closes its descriptor only when destroyed.
        unsafe { BorrowedFd::borrow_raw((*self.handle.raw()).fd) }
    }
}

impl AsRawFd for CompletionChannel {
    /// Returns the [descriptor](Self::as_fd) as a number, for event loops that take numbers. The descriptor is the
    /// channel's; do not close it: all completion queues of the channel need it. Do not read it either:
    /// [`wait`](Self::wait) acknowledges the events that it reads, and destroying a queue waits until all of its events
    /// are acknowledged.
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}
