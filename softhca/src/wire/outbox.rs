//! Frames that wait for the wire, in a queue for each QP: a receiver without room holds up only the QPs that send to
//! it.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use super::frame::{Frame, Route};
use super::port::Wire;
use super::segment::Size;

/// A QP with this many waiting frames produces no further frames.
const QP_FRAMES: usize = 64;
/// Most empty queues whose memory is kept.
const SPARE: usize = 16;

/// A sender: its frames wait in one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sender {
    /// QPN, or number of a DCT.
    pub(crate) qpn: u32,
    /// Dynamic connections: which; 0 otherwise.
    pub(crate) connection: u32,
}

impl Sender {
    /// A QP with no dynamic connections.
    pub(crate) const fn qp(qpn: u32) -> Self {
        Self { qpn, connection: 0 }
    }
}

/// Frames that the QPs of a device have sent and the wire has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// None is empty.
    queues: BTreeMap<Sender, VecDeque<Frame>>,
    /// The turn begins after this sender.
    last: Option<Sender>,
    /// Queues that are empty again, for the memory that they have.
    spare: Vec<VecDeque<Frame>>,
}

impl Outbox {
    /// Appends a frame of `sender`'s.
    pub(crate) fn push(&mut self, sender: Sender, frame: Frame) {
        let Self { queues, spare, .. } = self;
        queues.entry(sender).or_insert_with(|| spare.pop().unwrap_or_default()).push_back(frame);
    }

    /// Whether `sender` may produce more.
    #[must_use]
    pub(crate) fn has_room(&self, sender: Sender) -> bool {
        self.queues.get(&sender).is_none_or(|queue| queue.len() < QP_FRAMES)
    }

    /// How many senders of this number have frames that wait.
    #[must_use]
    pub(crate) fn senders(&self, qpn: u32) -> usize {
        let [first, last] = [0, u32::MAX].map(|connection| Sender { qpn, connection });
        self.queues.range(first..=last).count()
    }

    /// Whether nothing waits.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Hands frames to the wire, of each QP in order and as far as their receivers have room. `true` if there were any.
    /// Each time another QP is the first, so that no QP finds the wire full for ever. `count` sees the sender of each,
    /// its route, and its size.
    pub(crate) fn flush(&mut self, wire: &mut dyn Wire, mut count: impl FnMut(Sender, &Route, Size)) -> bool {
        let mut sent = false;
        if self.queues.is_empty() {
            return sent;
        }
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let until = self.last.map_or(Bound::Excluded(Sender::qp(0)), Bound::Included);
        let (before, behind) = ((Bound::Unbounded, until), (after, Bound::Unbounded));
        self.last = self.queues.range(behind).chain(&self.queues).next().map(|(&sender, _)| sender);
        for range in [behind, before] {
            for (&sender, queue) in self.queues.range_mut(range) {
                while let Some(frame) = queue.pop_front() {
                    let (route, size) = (frame.route, Size::of(&frame));
                    if let Err(frame) = wire.send(frame) {
                        queue.push_front(frame);
                        break;
                    }
                    count(sender, &route, size);
                    sent = true;
                }
            }
        }
        let spare = &mut self.spare;
        self.queues.retain(|_, queue| {
            let is_empty = queue.is_empty();
            if is_empty && spare.len() < SPARE {
                spare.push(std::mem::take(queue));
            }
            !is_empty
        });
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::test_frames::numbered;

    /// Takes a given number of frames, and none for one QP.
    struct Narrow {
        room: usize,
        full: u32,
        took: Vec<(u32, u8)>,
    }

    impl Wire for Narrow {
        fn send(&mut self, frame: Frame) -> Result<(), Frame> {
            let qpn = crate::packet::Packet::dest_qp(&frame.packet).unwrap();
            if self.room == 0 || qpn == self.full {
                return Err(frame);
            }
            self.room -= 1;
            self.took.push((qpn, frame.packet[11]));
            Ok(())
        }

        fn recv(&mut self) -> Option<Frame> {
            None
        }
    }

    #[test]
    fn a_receiver_without_room_holds_up_its_own_senders_only() {
        let (mut outbox, mut wire) = (Outbox::default(), Narrow { room: 100, full: 0x41, took: vec![] });
        for psn in 0..3 {
            for (from, to) in [(1, 0x41), (2, 0x42)] {
                outbox.push(Sender::qp(from), numbered(1, to, 8, psn));
            }
        }
        assert!(outbox.flush(&mut wire, |_, _, _| {}));
        assert_eq!(wire.took, [(0x42, 0), (0x42, 1), (0x42, 2)]);
        assert!(!outbox.flush(&mut wire, |_, _, _| {}) && !outbox.is_empty());
        wire.full = 0;
        assert!(outbox.flush(&mut wire, |_, _, _| {}) && outbox.is_empty());
        assert_eq!(wire.took[3..], [(0x41, 0), (0x41, 1), (0x41, 2)]);
    }

    #[test]
    fn a_queue_has_an_end_and_each_has_its_turn() {
        let (mut outbox, mut wire) = (Outbox::default(), Narrow { room: 0, full: 0, took: vec![] });
        for qpn in [1, 2, 3] {
            let mut psn = 0;
            while outbox.has_room(Sender::qp(qpn)) {
                outbox.push(Sender::qp(qpn), numbered(1, 0x40 + qpn, 8, psn));
                psn += 1;
            }
            assert_eq!(psn as usize, QP_FRAMES);
        }
        for _ in 0..6 {
            wire.room = 1;
            outbox.flush(&mut wire, |_, _, _| {});
        }
        assert_eq!(wire.took, [(0x41, 0), (0x42, 0), (0x43, 0), (0x41, 1), (0x42, 1), (0x43, 1)]);
    }
}
