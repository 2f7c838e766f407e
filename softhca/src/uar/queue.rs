//! A queue of doorbells, from the front end that saw the store to the thread that steps the device.
//!
//! A front end that traps stores to UAR pages sees them in a signal handler, where it may take no lock and allocate
//! nothing. So this is a bounded lock-free queue, and all its memory is allocated when it is made.

use crossbeam_queue::ArrayQueue;
use thiserror::Error;

use crate::notify::Notify;

/// The most bytes of one doorbell: half a BlueFlame register.
pub const MAX_DOORBELL: usize = 256;

/// One doorbell: one store to a UAR page, in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doorbell {
    /// Index of the UAR page.
    pub uar: u32,
    /// Byte offset in the page.
    pub offset: u16,
    len: u16,
    bytes: [u8; MAX_DOORBELL],
}

impl Doorbell {
    /// `None` if `stored` is longer than [`MAX_DOORBELL`].
    #[must_use]
    pub fn new(uar: u32, offset: u16, stored: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_DOORBELL];
        bytes.get_mut(..stored.len())?.copy_from_slice(stored);
        Some(Self { uar, offset, len: stored.len() as u16, bytes })
    }

    /// The stored bytes, in memory order.
    #[must_use]
    pub fn stored(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// The queue is full. The device thread empties it all the time, so trying again helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} doorbells are waiting already")]
pub struct DoorbellsFull(pub usize);

/// Doorbells that wait for the device, in the order of the stores.
#[derive(Debug)]
pub struct DoorbellQueue {
    queue: ArrayQueue<Doorbell>,
    notify: Notify,
}

impl DoorbellQueue {
    /// Room for `capacity` doorbells, at least one; `notify` wakes the device's thread.
    #[must_use]
    pub fn new(capacity: usize, notify: Notify) -> Self {
        Self { queue: ArrayQueue::new(capacity.max(1)), notify }
    }

    /// Hands a doorbell over and wakes the device's thread.
    ///
    /// May be called in a signal handler, by several threads: it allocates nothing and takes no lock. It may wait for
    /// another thread that is in the middle of a call of this queue. So a handler that calls this must not interrupt a
    /// thread that takes doorbells out (the runner's). It never does, because that thread does not store to trapped
    /// pages.
    ///
    /// # Errors
    /// [`DoorbellsFull`]: nothing was handed over.
    pub fn push(&self, doorbell: Doorbell) -> Result<(), DoorbellsFull> {
        let outcome = self.queue.push(doorbell).map_err(|_| DoorbellsFull(self.queue.capacity()));
        self.notify.wake();
        outcome
    }

    /// Takes the oldest out.
    #[must_use]
    pub fn pop(&self) -> Option<Doorbell> {
        self.queue.pop()
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    #[test]
    fn a_doorbell_keeps_its_bytes() {
        let doorbell = Doorbell::new(3, 0x800, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        assert_eq!((doorbell.uar, doorbell.offset, doorbell.stored()), (3, 0x800, &[1, 2, 3, 4, 5, 6, 7, 8][..]));
        assert_eq!(Doorbell::new(0, 0, &[0; 257]), None);
        assert_eq!(Doorbell::new(0, 0, &[7; 256]).unwrap().stored(), [7; 256]);
    }

    #[test]
    fn a_full_queue_says_so() {
        let queue = DoorbellQueue::new(2, Notify::new());
        let doorbell = Doorbell::new(0, 0x800, &[0; 8]).unwrap();
        queue.push(doorbell).unwrap();
        queue.push(doorbell).unwrap();
        assert_eq!(queue.push(doorbell), Err(DoorbellsFull(2)));
        assert_eq!(queue.pop(), Some(doorbell));
        queue.push(doorbell).unwrap();
    }

    #[test]
    fn each_threads_doorbells_arrive_in_order() {
        const EACH: u16 = 5000;
        let queue = Arc::new(DoorbellQueue::new(16, Notify::new()));
        let threads: Vec<_> = (0..3)
            .map(|uar| {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    for number in 0..EACH {
                        let doorbell = Doorbell::new(uar, number, &[uar as u8]).unwrap();
                        while queue.push(doorbell).is_err() {
                            thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        let mut next = [0; 3];
        while next != [EACH; 3] {
            let Some(doorbell) = queue.pop() else {
                thread::yield_now();
                continue;
            };
            assert_eq!(doorbell.offset, next[doorbell.uar as usize]);
            next[doorbell.uar as usize] += 1;
        }
        for thread in threads {
            thread.join().unwrap();
        }
    }
}
