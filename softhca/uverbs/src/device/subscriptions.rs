//! Events that programs have asked for, by the kind and number of their object, or without an object
//! (`struct mlx5_devx_event_table`).

use super::record_file::RecordFile;
use crate::process::EventFd;
use softhca::error::Object;
use softhca::event::{EQE_BYTES, Event};
use std::collections::HashMap;
use std::sync::Arc;

/// Which events: their number, the kind of object, and which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Topic {
    /// Number of the event (`MLX5_EVENT_TYPE_*`).
    pub(crate) event: u16,
    /// Kind of queue.
    pub(crate) kind: u16,
    /// The object, if the event belongs to one.
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
    /// From now on, events of `topic` go to `file`, or where `receiver` says, as long as there is the object that is
    /// known here as `owner`, if it is not 0.
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

    /// Delivers `event` to its subscribers.
    pub(super) fn deliver(&self, event: &Event) {
        if self.by_topic.is_empty() {
            return;
        }
        let entry = event.entry();
        // As Linux' `get_event_obj_type`: who takes events of DC targets does not look at the entry.
        let kind = match event.object() {
            Some((Object::Dct, _)) => queue_kind::DC_TARGET,
            _ => entry[QUEUE_KIND].into(),
        };
        let object = event.object().map(|(_, number)| number);
        self.tell(Topic { event: event.number().into(), kind, object }, &entry);
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

#[cfg(test)]
mod tests {
    use super::super::record_file::{RecordKind, Taken};
    use super::*;
    use softhca::event::{DctEvent, QpEvent};

    /// The events so far, by the program's numbers, and the kinds of queues.
    fn read(file: &RecordFile) -> Vec<(u64, u8)> {
        let mut all = Vec::new();
        let mut record = [0_u8; 8 + EQE_BYTES];
        while let Ok(Taken::Bytes(_)) = file.take(record.as_mut_ptr() as u64, record.len()) {
            let (cookie, entry) = record.split_at(8);
            all.push((u64::from_ne_bytes(cookie.try_into().unwrap()), entry[QUEUE_KIND]));
        }
        all
    }

    #[test]
    fn events_go_to_whoever_has_asked_for_that_object_of_that_kind() {
        let (file, _program) = RecordFile::new(RecordKind::Events).unwrap();
        let mut subscriptions = Subscriptions::default();
        let mut ask = |event, kind, object, cookie| {
            subscriptions.add(Topic { event, kind, object }, cookie, &file, Receiver::Record(cookie));
        };
        ask(0x14, queue_kind::RECEIVE, Some(7), 1);
        ask(0x14, queue_kind::OTHER, Some(7), 2);
        ask(0x14, queue_kind::RECEIVE, Some(8), 3);
        ask(0x13, queue_kind::OTHER, Some(7), 4);
        ask(0x1c, queue_kind::DC_TARGET, Some(7), 5);
        ask(0x09, queue_kind::OTHER, None, 6);
        ask(0x00, queue_kind::OTHER, Some(7), 7);
        let raised = |event| {
            subscriptions.deliver(&event);
            read(&file)
        };
        assert_eq!(raised(Event::SrqLimit { srqn: 7, is_pool: true }), [(1, 1)]);
        assert_eq!(raised(Event::SrqLimit { srqn: 7, is_pool: false }), [(2, 0)]);
        assert_eq!(raised(Event::Qp { qpn: 7, kind: QpEvent::LastWqeReached }), [(4, 0)]);
        assert_eq!(raised(Event::Qp { qpn: 7, kind: QpEvent::Fatal }), []);
        assert_eq!(raised(Event::Qp { qpn: 8, kind: QpEvent::LastWqeReached }), []);
        assert_eq!(raised(Event::Dct { dctn: 7, kind: DctEvent::Drained }), [(5, 0)]);
        assert_eq!(raised(Event::Port { port: 1, up: false }), [(6, 0)]);
        assert_eq!(raised(Event::Completion { cqn: 7 }), [(7, 0)]);
        subscriptions.forget(7);
        subscriptions.deliver(&Event::Completion { cqn: 7 });
        assert_eq!(read(&file), []);
        file.end();
        let (other, _program) = RecordFile::new(RecordKind::Events).unwrap();
        subscriptions.add(Topic { event: 9, kind: queue_kind::OTHER, object: None }, 0, &other, Receiver::Record(1));
        assert_eq!(subscriptions.by_topic.len(), 1, "what nobody can read is forgotten");
    }
}
