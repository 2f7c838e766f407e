//! Who has which doorbell register, in this process.
//!
//! `mlx5dv` hands out the register's address and not whether something else uses it. Two queues that copy WQEs into one
//! register without a lock corrupt each other's requests silently, so every register is looked up here by its address before
//! a queue is made of it: a register is either one queue's own, or shared by queues that take one lock.
//!
//! What cannot be seen from here is a queue pair of the same context that libmlx5 itself posts to. A thread domain's
//! register is never given to those (`mlx5_attach_dedicated_uar`); the registers of other queue pairs may be.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Error;
use crate::db::{RegisterError, RegisterParts, SharedRegister};

/// Who has a register.
enum User {
    /// One queue, which holds the [`Claim`].
    One,
    /// The queues that hold this lock, while there are any.
    Many(Weak<SharedRegister>),
}

/// The registers in use, by address.
static USERS: Mutex<BTreeMap<usize, User>> = Mutex::new(BTreeMap::new());

fn users() -> MutexGuard<'static, BTreeMap<usize, User>> {
    // Nothing panics while it holds the lock, and the map is valid after every step.
    USERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A register that one queue has alone, until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim(usize);

impl Claim {
    /// Claims the register at `address`.
    ///
    /// # Errors
    /// If it is in use, alone or shared.
    pub(crate) fn new(address: usize) -> Result<Self, Error> {
        match users().entry(address) {
            Entry::Vacant(entry) => {
                entry.insert(User::One);
            }
            Entry::Occupied(mut entry) => match entry.get() {
                User::Many(lock) if lock.strong_count() == 0 => {
                    entry.insert(User::One);
                }
                _ => return Err(Error::RegisterHandedOutTwice { register: address }),
            },
        }
        Ok(Self(address))
    }
}

impl Claim {
    /// The register's address.
    pub(crate) fn address(&self) -> usize {
        self.0
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        users().remove(&self.0);
    }
}

/// The lock of a register that several queues ring: that of the queues which have it already, or a new one.
///
/// # Errors
/// If one queue has it alone, or the parts cannot be a register.
///
/// # Safety
/// As [`SharedRegister::from_parts`], except that other queues which got their lock here may store there.
pub(crate) unsafe fn shared(parts: RegisterParts) -> Result<Arc<SharedRegister>, Error> {
    let address = parts.reg.addr().get();
    let mut users = users();
    match users.get(&address) {
        Some(User::One) => return Err(Error::RegisterHandedOutTwice { register: address }),
        Some(User::Many(lock)) => {
            if let Some(lock) = lock.upgrade() {
                return Ok(lock);
            }
        }
        None => {}
    }
    // SAFETY: the caller vouches for the address; every other queue of this crate on it would have been found above.
    let lock = Arc::new(unsafe { SharedRegister::from_parts(parts) }.map_err(bad_register)?);
    users.insert(address, User::Many(Arc::downgrade(&lock)));
    Ok(lock)
}

/// A register that libmlx5 hands out and cannot be one.
pub(crate) fn bad_register(error: RegisterError) -> Error {
    Error::Parts { object: "doorbell register", why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use core::ptr::NonNull;

    use super::*;

    /// Memory in place of a register; never rung.
    #[repr(align(512))]
    struct Page([u8; 512]);

    fn parts(page: &mut Page) -> RegisterParts {
        RegisterParts { reg: NonNull::from(&mut page.0).cast(), size: 256 }
    }

    #[test]
    fn one_register_has_one_owner() {
        let mut page = Page([0; 512]);
        let parts = parts(&mut page);
        let address = parts.reg.addr().get();
        let claim = Claim::new(address).expect("free");
        let twice = Error::RegisterHandedOutTwice { register: address };
        assert_eq!(Claim::new(address).expect_err("taken"), twice);
        // SAFETY: never rung.
        assert_eq!(unsafe { shared(parts) }.expect_err("nor may others share it"), twice);
        drop(claim);
        drop(Claim::new(address).expect("free again"));
    }

    #[test]
    fn queues_on_one_register_share_one_lock() {
        let mut page = Page([0; 512]);
        let parts = parts(&mut page);
        // SAFETY: never rung.
        let (first, second) = unsafe { (shared(parts).expect("free"), shared(parts).expect("shared")) };
        assert!(Arc::ptr_eq(&first, &second));
        drop(first);
        assert!(Claim::new(parts.reg.addr().get()).is_err(), "one still has it");
        drop(second);
        assert!(Claim::new(parts.reg.addr().get()).is_ok());
    }
}
