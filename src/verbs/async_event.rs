//! Asynchronous events: the events of queues, ports and devices other than completions.

use core::ptr::NonNull;
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;
use std::time::Instant;

use blueflame_sys as sys;

use crate::types::{Qpn, Srqn};
use crate::verbs::device::open::Context;
use crate::verbs::error::zero;
use crate::verbs::{Device, Error, Qp, parts, wait};

/// Something that happened to a queue, a port or the device (IBTA vol. 1, 11.6.3; `ibv_get_async_event(3)`).
#[doc(alias("ibv_async_event", "ibv_event_type"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsyncEvent {
    /// To a queue pair.
    Qp {
        /// Its number.
        qpn: Qpn,
        /// What.
        kind: QpEvent,
    },
    /// A completion queue is in error, most often after an overrun: it takes no further CQEs, and is lost. The queue
    /// pairs that complete there are lost as well, each with a [`QpEvent::Fatal`].
    CqError {
        /// The value that it was made with ([`crate::verbs::CqBuilder::context`]).
        context: usize,
    },
    /// To a shared receive queue.
    Srq {
        /// Its number.
        srqn: Srqn,
        /// What.
        kind: SrqEvent,
    },
    /// To a port.
    Port {
        /// The port, from 1.
        port: u8,
        /// What.
        kind: PortEvent,
    },
    /// The device has failed: outstanding requests never complete. Close the device.
    DeviceFatal,
    /// Any other value of `ibv_event_type`.
    Other(u32),
}

/// Events of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QpEvent {
    /// An error that no completion can report. The queue pair is in the error state.
    Fatal,
    /// The peer sent an invalid request. The queue pair is in the error state.
    RequestError,
    /// The peer sent a request that it had no right to. The queue pair is in the error state.
    AccessError,
    /// A packet came for a queue pair that is ready to receive but not yet to send: the peer is connected.
    CommunicationEstablished,
    /// The send queue has drained, as it was told to.
    SendQueueDrained,
    /// A queue pair in the error state takes no further receives from its shared receive queue.
    LastWqeReached,
    /// The connection goes by its alternate path now.
    PathMigrated,
    /// The queue pair could not move to its alternate path.
    PathMigrationFailed,
}

/// Events of a shared receive queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SrqEvent {
    /// Fewer receives are posted than the limit of [`crate::verbs::Srq::arm_limit`]. The limit is disarmed.
    LimitReached,
    /// It is in error, and lost.
    Error,
}

/// Events of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortEvent {
    /// Its link is up.
    Active,
    /// Its link is down.
    Error,
    /// The subnet manager gave it another LID.
    LidChanged,
    /// Its table of partition keys has changed.
    PkeysChanged,
    /// Its table of GIDs has changed.
    GidsChanged,
    /// Another subnet manager is in charge.
    SubnetManagerChanged,
    /// The subnet manager asks clients to renew all subscriptions.
    ClientsReregister,
}

/// The asynchronous events of an open device, in order of arrival. Cheap to clone; only one clone gets each event.
///
/// Events wait in the kernel until they are taken. Events of a destroyed queue are discarded. A device without a kernel
/// driver has none of these events.
#[doc(alias = "ibv_get_async_event")]
#[derive(Clone, Debug)]
pub struct AsyncEvents {
    context: Arc<Context>,
}

impl Device {
    /// Its asynchronous events.
    #[must_use]
    pub fn async_events(&self) -> AsyncEvents {
        AsyncEvents { context: Arc::clone(&self.context) }
    }
}

impl AsyncEvents {
    /// Sleeps until an event comes, and takes it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on a device without a kernel driver, or a failed call. The errno is `EAGAIN` if the
    /// caller has made the descriptor non-blocking and there is no event.
    #[doc(alias("ibv_get_async_event", "ibv_ack_async_event"))]
    pub fn wait(&self) -> Result<AsyncEvent, Error> {
        self.descriptor().ok_or(NONE)?;
        let mut raw = sys::ibv_async_event { element: sys::ibv_async_event_element { port_num: 0 }, event_type: 0 };
        loop {
            // SAFETY: the context is open; the structure is laid out as the library's, and ours.
            let returned = unsafe { sys::ibv_get_async_event(self.context.raw(), &raw mut raw) };
            match zero("ibv_get_async_event", returned) {
                Ok(()) => break,
                // A signal came before an event did.
                Err(error) if error.errno == libc::EINTR => {}
                Err(error) => return Err(error.into()),
            }
        }
        // SAFETY: just taken. The object that it is of cannot be gone, for its destruction waits for the next call.
        let event = unsafe { decode(&raw) };
        if let AsyncEvent::Qp { qpn, kind: QpEvent::LastWqeReached } = event {
            // Before the event is acknowledged, so that no other queue pair has the number yet.
            self.context.left_shared_queue().entry(qpn).and_modify(|left| *left = true);
        }
        // Acknowledged at once: the event has numbers only, and destroying a queue waits until its events are
        // acknowledged.
        // SAFETY: taken above, and acknowledged once.
        unsafe { sys::ibv_ack_async_event(&raw mut raw) };
        Ok(event)
    }

    /// [Waits](Self::wait) at most `timeout` (zero: not at all; rounded up to milliseconds). `None` when it is over.
    ///
    /// When several threads take events, another thread may take the waiting event first; then this call waits for the
    /// next.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on a device without a kernel driver, or a failed call.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<Option<AsyncEvent>, Error> {
        if wait::readable(self.descriptor().ok_or(NONE)?, timeout)? { self.wait().map(Some) } else { Ok(None) }
    }

    /// Moves `qp`, which receives from a shared queue, to the error state. Waits until `qp` takes no further receives
    /// from there, for `timeout` at most. Other events go to `other`.
    ///
    /// Do this before you drop such a queue pair (IBTA vol. 1, 10.3.1). Afterwards poll its completion queues until
    /// they are empty, and give the completions to the shared queue: they include each receive that the queue pair has
    /// taken. If you drop the queue pair without this, those receives never become free again.
    ///
    /// The event comes once ([`QpEvent::LastWqeReached`]). If the queue pair was in the error state before, other code
    /// may have taken the event already, such as a call of this for another queue pair. This call then returns at once.
    /// Of a queue pair that was adopted, this call sees only an event that it takes itself.
    ///
    /// # Errors
    /// [`Error::StillReceiving`] after `timeout`, [`Error::ForeignDevice`] if these are not the events of its device,
    /// or a failed call.
    pub fn leave_shared_queue(
        &self,
        qp: &Qp,
        timeout: Duration,
        mut other: impl FnMut(AsyncEvent),
    ) -> Result<(), Error> {
        self.context.check("events of a device", [qp.into()])?;
        let (begin, qpn) = (Instant::now(), qp.qpn());
        qp.to_error()?;
        while self.context.left_shared_queue().get(&qpn) != Some(&true) {
            let left = timeout.saturating_sub(begin.elapsed());
            match self.wait_timeout(left.min(GLANCE))? {
                Some(AsyncEvent::Qp { qpn: of, kind: QpEvent::LastWqeReached }) if of == qpn => break,
                Some(event) => other(event),
                None if left.is_zero() => return Err(Error::StillReceiving { qpn, timeout }),
                None => {}
            }
        }
        Ok(())
    }

    /// The descriptor, if the device has one: a device without a kernel driver has -1 there (rdma-core
    /// `libibverbs/device.c`, `verbs_init_context`).
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the context is open as long as `self` is borrowed; written once.
        let fd = unsafe { (*self.context.raw()).async_fd };
        // SAFETY: the context's, which closes it only when it is closed itself.
        (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })
    }
}

/// How long to wait for an event before looking whether another thread has taken it.
const GLANCE: Duration = Duration::from_millis(10);

/// The error of a device without a kernel driver.
const NONE: Error = Error::Unsupported { what: "asynchronous events" };

impl AsFd for AsyncEvents {
    /// Readable when there is an event: for `poll`, `epoll` and event loops.
    ///
    /// # Panics
    /// On a device without a kernel driver.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor().expect("a device without a kernel driver has no asynchronous events")
    }
}

impl AsRawFd for AsyncEvents {
    /// Returns the [descriptor](Self::as_fd) as a number, for event loops that take numbers. The descriptor is the
    /// device's; do not close it. Do not read it either: destroying a queue waits until each event that was read is
    /// acknowledged.
    ///
    /// # Panics
    /// As `as_fd`.
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// The number of a shared receive queue, whose structure does not have it. (0 from a libmlx5 that cannot tell; this
/// crate makes no queue with one.)
///
/// # Safety
/// It is alive, and of libmlx5.
unsafe fn srqn_of(srq: *mut sys::ibv_srq) -> Srqn {
    // SAFETY: the caller promises that the shared receive queue is alive, and libmlx5's.
    let parts = NonNull::new(srq).and_then(|srq| unsafe { parts::of_srq(srq) }.ok());
    Srqn::truncate(parts.map_or(0, |parts| parts.srqn))
}

/// Decodes an event, with numbers in place of pointers.
///
/// # Safety
/// The library gave the event out, and it was not acknowledged.
unsafe fn decode(raw: &sys::ibv_async_event) -> AsyncEvent {
    // SAFETY: by the type of the event, which the caller vouches for, this member is the one that was written; so
    // below. The queue is alive until the event is acknowledged, and has its number, or its context, written once.
    let (qp, srq, cq) = unsafe {
        (
            |kind| AsyncEvent::Qp { qpn: Qpn::truncate((*raw.element.qp).qp_num), kind },
            |kind| AsyncEvent::Srq { srqn: srqn_of(raw.element.srq), kind },
            || AsyncEvent::CqError { context: (*raw.element.cq).cq_context.expose_provenance() },
        )
    };
    // SAFETY: the caller promises the type of the event, which says that this member was written. Ports are few.
    let port = |kind| AsyncEvent::Port { port: unsafe { raw.element.port_num } as u8, kind };
    match raw.event_type {
        sys::IBV_EVENT_CQ_ERR => cq(),
        sys::IBV_EVENT_QP_FATAL => qp(QpEvent::Fatal),
        sys::IBV_EVENT_QP_REQ_ERR => qp(QpEvent::RequestError),
        sys::IBV_EVENT_QP_ACCESS_ERR => qp(QpEvent::AccessError),
        sys::IBV_EVENT_COMM_EST => qp(QpEvent::CommunicationEstablished),
        sys::IBV_EVENT_SQ_DRAINED => qp(QpEvent::SendQueueDrained),
        sys::IBV_EVENT_PATH_MIG => qp(QpEvent::PathMigrated),
        sys::IBV_EVENT_PATH_MIG_ERR => qp(QpEvent::PathMigrationFailed),
        sys::IBV_EVENT_QP_LAST_WQE_REACHED => qp(QpEvent::LastWqeReached),
        sys::IBV_EVENT_SRQ_ERR => srq(SrqEvent::Error),
        sys::IBV_EVENT_SRQ_LIMIT_REACHED => srq(SrqEvent::LimitReached),
        sys::IBV_EVENT_PORT_ACTIVE => port(PortEvent::Active),
        sys::IBV_EVENT_PORT_ERR => port(PortEvent::Error),
        sys::IBV_EVENT_LID_CHANGE => port(PortEvent::LidChanged),
        sys::IBV_EVENT_PKEY_CHANGE => port(PortEvent::PkeysChanged),
        sys::IBV_EVENT_GID_CHANGE => port(PortEvent::GidsChanged),
        sys::IBV_EVENT_SM_CHANGE => port(PortEvent::SubnetManagerChanged),
        sys::IBV_EVENT_CLIENT_REREGISTER => port(PortEvent::ClientsReregister),
        sys::IBV_EVENT_DEVICE_FATAL => AsyncEvent::DeviceFatal,
        other => AsyncEvent::Other(other),
    }
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;
    use core::ptr;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A library may have more types than this crate knows.
        #[test]
        fn any_type_of_event_gives_a_value(event_type in prop_oneof![0_u32..32, any::<u32>()], number: u32) {
            // SAFETY: structures of C, of numbers and pointers, for which zero is a value.
            let (mut qp, mut cq) = unsafe {
                (MaybeUninit::<sys::ibv_qp>::zeroed().assume_init(), MaybeUninit::<sys::ibv_cq>::zeroed().assume_init())
            };
            qp.qp_num = number;
            cq.cq_context = ptr::without_provenance_mut(number as usize);
            let element = match event_type {
                sys::IBV_EVENT_CQ_ERR => sys::ibv_async_event_element { cq: &raw mut cq },
                // A queue that libmlx5 does not know.
                sys::IBV_EVENT_SRQ_ERR | sys::IBV_EVENT_SRQ_LIMIT_REACHED => {
                    sys::ibv_async_event_element { srq: ptr::null_mut() }
                }
                sys::IBV_EVENT_PORT_ACTIVE..=sys::IBV_EVENT_SM_CHANGE | sys::IBV_EVENT_CLIENT_REREGISTER | sys::IBV_EVENT_GID_CHANGE => {
                    sys::ibv_async_event_element { port_num: number as i32 }
                }
                _ => sys::ibv_async_event_element { qp: &raw mut qp },
            };
            // SAFETY: the member is the one of this type.
            let found = unsafe { decode(&sys::ibv_async_event { element, event_type }) };
            match found {
                AsyncEvent::Qp { qpn, .. } => prop_assert_eq!(qpn, Qpn::truncate(number)),
                AsyncEvent::CqError { context } => prop_assert_eq!(context, number as usize),
                AsyncEvent::Srq { srqn, .. } => prop_assert_eq!(srqn.get(), 0),
                AsyncEvent::Port { port, .. } => prop_assert_eq!(port, number as u8),
                AsyncEvent::DeviceFatal => prop_assert_eq!(event_type, sys::IBV_EVENT_DEVICE_FATAL),
                AsyncEvent::Other(other) => prop_assert!(other == event_type && event_type > sys::IBV_EVENT_GID_CHANGE),
            }
        }
    }
}
