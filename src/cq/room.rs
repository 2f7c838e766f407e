//! The places of a completion queue, and how many of them its queues may need at a time. Knows no queue.

use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::vec::Vec;

/// The room of a completion queue: how many completions fit, and how many the queues that complete there may have
/// waiting unpolled. Cheap to clone; clones share one count.
///
/// A completion queue that gets more completions than fit goes into error, and takes its queue pairs along. So `verbs`
/// and DevX give each of theirs a room, and [reserve](Self::reserve) places for each object before they make it. The
/// caller of [`SendQueue::from_parts`](crate::queue::SendQueue::from_parts) sees to the same.
///
/// ```
/// use blueflame::cq::setup::{Room, RoomError};
///
/// let room = Room::new(127);
/// let pair = room.reserve(65).expect("127 are free");
/// assert_eq!(room.reserve(65).unwrap_err(), RoomError { room: 127, reserved: 65, completions: 65 });
/// drop(pair);
/// let pair = room.reserve(127).expect("all are free again");
/// # drop(pair);
/// ```
#[derive(Clone, Debug)]
pub struct Room(Arc<Mutex<Places>>);

#[derive(Debug)]
struct Places {
    /// Completions that fit.
    room: u32,
    /// Completions that may wait.
    reserved: u64,
    /// Whether more may be reserved than fit.
    oversubscribed: bool,
}

impl Places {
    fn check(&self, room: u32, completions: u32) -> Result<(), RoomError> {
        if self.oversubscribed || self.reserved + u64::from(completions) <= room.into() {
            return Ok(());
        }
        Err(RoomError { room, reserved: self.reserved, completions })
    }
}

impl Room {
    /// The room of a completion queue where `room` completions fit ([`CompletionQueue::room`]).
    ///
    /// [`CompletionQueue::room`]: crate::cq::CompletionQueue::room
    #[must_use]
    pub fn new(room: u32) -> Self {
        Self(Arc::new(Mutex::new(Places { room, reserved: 0, oversubscribed: false })))
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        // Nothing panics while it holds the lock, and the numbers are valid after every step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves places for the most `completions` that an object can have waiting at a time.
    ///
    /// # Errors
    /// [`RoomError`] if `completions` do not fit beside those of the other objects, unless the room is
    /// [oversubscribed](Self::oversubscribe).
    pub fn reserve(&self, completions: u32) -> Result<Reservation, RoomError> {
        let mut places = self.places();
        places.check(places.room, completions)?;
        places.reserved += u64::from(completions);
        Ok(Reservation { room: self.clone(), completions })
    }

    /// From now on, `room` completions fit: the completion queue is to be resized, or has been.
    ///
    /// # Errors
    /// [`RoomError`] if more are reserved, with nothing changed.
    pub fn resize(&self, room: u32) -> Result<(), RoomError> {
        let mut places = self.places();
        places.check(room, 0)?;
        places.room = room;
        Ok(())
    }

    /// Lets any number of completions be reserved from now on.
    pub fn oversubscribe(&self) {
        self.places().oversubscribed = true;
    }
}

/// Places of a completion queue for the completions of one object, until this is dropped. It must outlive the object.
#[derive(Debug)]
#[must_use = "the places are given back when it is dropped"]
pub struct Reservation {
    room: Room,
    completions: u32,
}

impl Reservation {
    /// The most completions that the object may have waiting; `None` if the room is
    /// [oversubscribed](Room::oversubscribe).
    #[must_use]
    pub fn limit(&self) -> Option<u32> {
        (!self.room.places().oversubscribed).then_some(self.completions)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.room.places().reserved -= u64::from(self.completions);
    }
}

/// The places that a shared receive queue needs: each of its receives completes on the completion queue of one of its
/// queue pairs. All its queue pairs of one completion queue share one reservation.
#[derive(Debug)]
pub struct Reservations {
    completions: u32,
    present: Mutex<Vec<Weak<Reservation>>>,
}

impl Reservations {
    /// The places of a shared receive queue of `receives` receives.
    #[must_use]
    pub const fn new(receives: u32) -> Self {
        Self { completions: receives, present: Mutex::new(Vec::new()) }
    }

    /// The reservation on the completion queue with this room: the present one, or a new one.
    ///
    /// # Errors
    /// As for [`Room::reserve`].
    pub fn on(&self, room: &Room) -> Result<Arc<Reservation>, RoomError> {
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        present.retain(|reservation| reservation.strong_count() != 0);
        let here = |reservation: &Arc<Reservation>| Arc::ptr_eq(&reservation.room.0, &room.0);
        if let Some(reservation) = present.iter().filter_map(Weak::upgrade).find(here) {
            return Ok(reservation);
        }
        let reservation = Arc::new(room.reserve(self.completions)?);
        present.push(Arc::downgrade(&reservation));
        Ok(reservation)
    }
}

/// A completion queue is too small for the queues that complete there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomError {
    /// Completions that fit.
    pub room: u32,
    /// Completions for which places are reserved already.
    pub reserved: u64,
    /// Completions of the refused object; 0 if it is a new size that is refused.
    pub completions: u32,
}

impl fmt::Display for RoomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { room, reserved, completions } = *self;
        let sum = reserved + u64::from(completions);
        write!(f, "room for {room} completions, but {sum} may wait there unpolled")?;
        if completions != 0 && reserved != 0 {
            write!(f, ": {completions} of the new queue, and {reserved} of those that it has")?;
        }
        Ok(())
    }
}

impl core::error::Error for RoomError {}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn places_are_reserved_once_and_given_back() {
        let room = Room::new(100);
        let first = room.reserve(60).expect("free");
        let error = room.clone().reserve(41).expect_err("a clone has the same places");
        assert_eq!(error, RoomError { room: 100, reserved: 60, completions: 41 });
        let text = "room for 100 completions, but 101 may wait there unpolled: 41 of the new queue, and 60 of those \
                    that it has";
        assert_eq!(error.to_string(), text);
        let second = room.reserve(40).expect("the rest");
        assert_eq!((first.limit(), second.limit()), (Some(60), Some(40)));
        drop(first);
        drop(room.reserve(60).expect("given back"));
        let error = room.reserve(61).expect_err("40 are reserved");
        assert_eq!(error.reserved, 40);
    }

    #[test]
    fn a_sum_past_32_bits_is_refused() {
        let room = Room::new(u32::MAX);
        let all = room.reserve(u32::MAX).expect("free");
        let error = room.reserve(u32::MAX).expect_err("twice as many");
        assert!(error.to_string().contains("8589934590 may wait"), "{error}");
        drop(all);
    }

    #[test]
    fn a_smaller_room_keeps_what_is_reserved() {
        let room = Room::new(100);
        let held = room.reserve(60).expect("free");
        let error = room.resize(59).expect_err("60 are reserved");
        assert_eq!(error, RoomError { room: 59, reserved: 60, completions: 0 });
        assert_eq!(error.to_string(), "room for 59 completions, but 60 may wait there unpolled");
        drop(room.reserve(40).expect("as before"));
        room.resize(60).expect("all that are reserved");
        let error = room.reserve(1).expect_err("full");
        assert_eq!(error, RoomError { room: 60, reserved: 60, completions: 1 });
        room.resize(61).expect("larger");
        drop((room.reserve(1).expect("one more"), held));
    }

    #[test]
    fn an_oversubscribed_room_refuses_nothing() {
        let room = Room::new(1);
        let one = room.reserve(1).expect("free");
        room.clone().oversubscribe();
        assert_eq!(one.limit(), None);
        let many = [room.reserve(1000).expect("any number"), room.reserve(u32::MAX).expect("any number")];
        room.resize(0).expect("any size");
        drop(many);
    }

    #[test]
    fn shared_receives_are_reserved_once_for_each_completion_queue() {
        let (here, there) = (Room::new(10), Room::new(10));
        let shared = Reservations::new(10);
        let first = shared.on(&here).expect("free");
        let second = shared.on(&here).expect("the same places");
        assert!(Arc::ptr_eq(&first, &second));
        let elsewhere = shared.on(&there).expect("free there, too");
        drop(first);
        assert!(here.reserve(1).is_err(), "the second user is left");
        drop(second);
        drop(here.reserve(10).expect("nobody is left"));
        let error = Reservations::new(11).on(&here).expect_err("too many");
        assert_eq!(error, RoomError { room: 10, reserved: 0, completions: 11 });
        drop(elsewhere);
    }
}
