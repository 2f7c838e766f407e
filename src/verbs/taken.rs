//! Which objects this crate's queues drive, in this process: two queues over one ring would write over each other's entries.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Error;

/// Addresses of the `ibv_qp`s, `ibv_cq`s and `ibv_srq`s that have a queue of this crate.
static TAKEN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

fn taken() -> MutexGuard<'static, BTreeSet<usize>> {
    // Nothing panics while it holds the lock, and the set is valid after every step.
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
        if taken().insert(address) { Ok(Self(address)) } else { Err(Error::Taken { object, number }) }
    }

    /// Whether the object at `address` has a queue of this crate.
    pub(crate) fn is(address: usize) -> bool {
        taken().contains(&address)
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
