//! Which objects this crate's queues drive, in this process: two queues over one ring would write over each other's
//! entries.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Error;
use crate::cq::CqId;
use crate::cq::setup::{Reservations, Room};
use crate::types::Cqn;

/// Addresses of the `ibv_qp`s, `ibv_cq`s and `ibv_srq`s that have a queue of this crate.
static TAKEN: Mutex<BTreeMap<usize, Known>> = Mutex::new(BTreeMap::new());

/// The facts that queue pairs need about an object when they have only its address.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    Nothing,
    /// A completion queue: the identity of the queue over it, and its room.
    Cq {
        id: CqId,
        cqn: Cqn,
        room: Room,
    },
    /// A shared receive queue: the places that its receives need.
    Srq(Arc<Reservations>),
}

fn taken() -> MutexGuard<'static, BTreeMap<usize, Known>> {
    // Nothing panics while it holds the lock, and the map is valid after every step.
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An object that has a queue of this crate, until this is dropped.
#[derive(Debug)]
pub(crate) struct InUse(usize);

impl InUse {
    /// Takes the object at `address`, the `number`-th of its kind.
    ///
    /// # Errors
    /// [`Error::Taken`].
    pub(crate) fn new(object: &'static str, number: u32, address: usize) -> Result<Self, Error> {
        let mut taken = taken();
        if taken.contains_key(&address) {
            return Err(Error::Taken { object, number });
        }
        taken.insert(address, Known::Nothing);
        Ok(Self(address))
    }

    /// Adds what queue pairs must know of the object taken.
    pub(crate) fn describe(&self, known: Known) {
        taken().insert(self.0, known);
    }

    /// The identity of this crate's queue over the `ibv_cq` at `address`; [`CqId::NONE`] without one.
    pub(crate) fn cq(address: usize) -> CqId {
        if let Known::Cq { id, .. } = Self::known(address) { id } else { CqId::NONE }
    }

    /// Looks up the object at `address`.
    pub(crate) fn known(address: usize) -> Known {
        taken().get(&address).cloned().unwrap_or(Known::Nothing)
    }

    /// Whether the object at `address` has a queue of this crate.
    pub(crate) fn is(address: usize) -> bool {
        taken().contains_key(&address)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        taken().remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_taken_once_at_a_time() {
        // An address where nothing is.
        let first = InUse::new("queue pair", 7, 3).expect("free");
        let error = InUse::new("queue pair", 7, 3).expect_err("taken");
        assert_eq!(error, Error::Taken { object: "queue pair", number: 7 });
        assert!(error.to_string().contains("queue pair 0x7"), "{error}");
        assert!(InUse::is(3));
        drop(first);
        assert!(!InUse::is(3));
        drop(InUse::new("queue pair", 7, 3).expect("free again"));
    }
}
