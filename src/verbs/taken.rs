//! Which objects this crate's queues drive, in this process: two queues over one ring would write over each other's
//! entries.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Error;
use crate::cq::CqId;

/// Addresses of the `ibv_qp`s, `ibv_cq`s and `ibv_srq`s that have a queue of this crate, and the identities of
/// completion queues.
static TAKEN: Mutex<BTreeMap<usize, CqId>> = Mutex::new(BTreeMap::new());

fn taken() -> MutexGuard<'static, BTreeMap<usize, CqId>> {
    // Nothing panics while it holds the lock, and the map is valid after every step.
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An object that has a queue of this crate, until this is dropped.
#[derive(Debug)]
pub(crate) struct Taken(usize);

impl Taken {
    /// Takes the object at `address`, the `number`-th of its kind.
    ///
    /// # Errors
    /// [`Error::Taken`].
    pub(crate) fn new(object: &'static str, number: u32, address: usize) -> Result<Self, Error> {
        let mut taken = taken();
        if taken.contains_key(&address) {
            return Err(Error::Taken { object, number });
        }
        taken.insert(address, CqId::NONE);
        Ok(Self(address))
    }

    /// The queue over the completion queue taken is this one.
    pub(crate) fn identify(&self, cq: CqId) {
        taken().insert(self.0, cq);
    }

    /// The identity of this crate's queue over the `ibv_cq` at `address`; [`CqId::NONE`] without one.
    pub(crate) fn cq(address: usize) -> CqId {
        taken().get(&address).copied().unwrap_or(CqId::NONE)
    }

    /// Whether the object at `address` has a queue of this crate.
    pub(crate) fn is(address: usize) -> bool {
        taken().contains_key(&address)
    }
}

impl Drop for Taken {
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
        let first = Taken::new("queue pair", 7, 3).expect("free");
        let error = Taken::new("queue pair", 7, 3).expect_err("taken");
        assert_eq!(error, Error::Taken { object: "queue pair", number: 7 });
        assert!(error.to_string().contains("queue pair 0x7"), "{error}");
        assert!(Taken::is(3));
        drop(first);
        assert!(!Taken::is(3));
        drop(Taken::new("queue pair", 7, 3).expect("free again"));
    }
}
