//! Events that programs have asked for, by the kind of object that they are of and its number, or of no object
//! (`struct mlx5_devx_event_table`).

use super::record_file::RecordFile;
use crate::process::Errno;
use softhca::error::Object;
use softhca::event::{EQE_BYTES, Event};
use std::collections::HashMap;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// Which events: their number, the kind of object, and which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Topic {
    /// Number of the event (`MLX5_EVENT_TYPE_*`).
    pub(crate) event: u16,
    /// Kind of queue.
    pub(crate) kind: u16,
    /// The object, if the event is of one.
    pub(crate) object: Option<u32>,
}

/// Kinds of queues (`MLX5_EVENT_QUEUE_TYPE_*`).
pub(crate) mod queue_kind {
    /// QPs, and all objects that are none of the others.
    pub(crate) const OTHER: u16 = 0;
    /// Receive queues, also those that others share.
    pub(crate) const RECEIVE: u16 = 1;
    /// Send queues.
    pub(crate) const SEND: u16 = 2;
    /// DC targets.
    pub(crate) const DC_TARGET: u16 = 6;
}

/// Where the kind of queue is in an entry (`struct mlx5_eqe_qp_srq`, type).
const QUEUE_KIND: usize = 52;

/// How the program hears of it.
pub(crate) enum Receiver {
    /// By a record, which begins with this number.
    Record(u64),
    /// By another file, an eventfd.
    Redirected(EventFd),
}

/// A file that counts events, which the program has made.
pub(crate) struct EventFd(std::fs::File);

impl EventFd {
    /// The program's descriptor `fd`, held on to: `EBADF` if it is none, `EINVAL` if it is another file's.
    pub(crate) fn of(fd: i32) -> Result<Self, Errno> {
        // SAFETY: plain call.
        let own = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
        if own < 0 {
            return Err(Errno::EBADF);
        }
        // SAFETY: a descriptor that the call has just made, so nobody else has it.
        let own = unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(own) };
        let link = std::fs::read_link(format!("/proc/self/fd/{}", own.as_raw_fd()));
        if link.is_ok_and(|link| link.as_os_str() == "anon_inode:[eventfd]") {
            Ok(Self(own.into()))
        } else {
            Err(Errno::EINVAL)
        }
    }

    fn signal(&self) {
        // The program decides how high it may count, and whether writing blocks.
        let mut ready = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
        // SAFETY: one entry, a local.
        if unsafe { libc::poll(&mut ready, 1, 0) } == 1 {
            let _ = (&self.0).write(&1_u64.to_ne_bytes());
        }
    }
}

struct Subscription {
    /// Tells it from all others.
    source: u64,
    /// The object with which it goes; 0 for none.
    owner: u64,
    file: Arc<RecordFile>,
    receiver: Receiver,
}

/// All that programs have asked for of a device.
#[derive(Default)]
pub(super) struct Subscriptions {
    by_topic: HashMap<Topic, Vec<Subscription>>,
    last_source: u64,
}

impl Subscriptions {
    /// From now on, events of `topic` go to `file`, or where `receiver` says, as long as there is the object that is known here
    /// as `owner`, if it is not 0.
    pub(super) fn add(&mut self, topic: Topic, owner: u64, file: &Arc<RecordFile>, receiver: Receiver) {
        self.forget_ended();
        self.last_source += 1;
        let subscription = Subscription { source: self.last_source, owner, file: file.clone(), receiver };
        self.by_topic.entry(topic).or_default().push(subscription);
    }

    /// The object is gone.
    pub(super) fn forget(&mut self, owner: u64) {
        self.retain(|subscription| subscription.owner != owner);
    }

    /// Forgets what nobody can read any more.
    fn forget_ended(&mut self) {
        self.retain(|subscription| !subscription.file.has_ended());
    }

    fn retain(&mut self, stays: impl Fn(&Subscription) -> bool) {
        self.by_topic.retain(|_, all| {
            all.retain(&stays);
            !all.is_empty()
        });
    }

    /// Tells whoever has asked for it of `event`.
    pub(super) fn deliver(&self, event: &Event) {
        if self.by_topic.is_empty() {
            return;
        }
        let topic =
            |kind| Topic { event: event.number().into(), kind, object: event.object().map(|(_, number)| number) };
        let mut entry = event.entry();
        let kinds: &[u16] = match event.object() {
            // One space of numbers serves shared receive queues of all kinds, of which RMPs alone are receive queues to a driver.
            Some((Object::Srq, _)) => &[queue_kind::OTHER, queue_kind::RECEIVE],
            Some((Object::Dct, _)) => return self.tell(topic(queue_kind::DC_TARGET), &entry),
            _ => &[queue_kind::OTHER],
        };
        for &kind in kinds {
            entry[QUEUE_KIND] = kind as u8;
            self.tell(topic(kind), &entry);
        }
    }

    fn tell(&self, topic: Topic, entry: &[u8; EQE_BYTES]) {
        for Subscription { source, file, receiver, .. } in self.by_topic.get(&topic).into_iter().flatten() {
            match receiver {
                Receiver::Record(cookie) => file.event(*source, *cookie, entry),
                Receiver::Redirected(_) if file.has_ended() => {}
                Receiver::Redirected(eventfd) => eventfd.signal(),
            }
        }
    }
}
