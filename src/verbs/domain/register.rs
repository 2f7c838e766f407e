//! Which queues of this process have which doorbell register.
//!
//! `mlx5dv` reports a register's address, and not whether something else uses it. Two queues that copy WQEs into one
//! register without a lock corrupt each other's requests silently. So this crate looks up every register by its address
//! before it makes a queue on it. Either one queue has the register alone, or all queues on the register take one lock.
//!
//! A register without BlueFlame takes 8-byte doorbells only. Each is one store, so any number of queues ring it with no
//! lock. Where write combining does not work, as in many virtual machines, libmlx5 gives all thread domains of a
//! context one such register (rdma-core `providers/mlx5/verbs.c`, `mlx5_alloc_td`, `nc_uar`, which has no lock there,
//! either).
//!
//! The table does not see queue pairs of the same context that libmlx5 itself posts to. Such a queue pair never has a
//! thread domain's register (`mlx5_attach_dedicated_uar`); it may have the register of other queue pairs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::db::{RegisterParts, SharedRegister};
use crate::setup::SetupError;
use crate::verbs::Error;

/// Which queues have a register.
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

/// One queue's right to ring a register without a lock, until this is dropped. Either the queue has the register alone,
/// or the register takes 8-byte doorbells only.
#[derive(Debug)]
pub(crate) struct Claim {
    address: usize,
    alone: bool,
}

impl Claim {
    /// Claims the register.
    ///
    /// # Errors
    /// If it has BlueFlame and is in use, alone or shared.
    pub(crate) fn new(parts: RegisterParts) -> Result<Self, Error> {
        let address = parts.reg.addr().get();
        if parts.size == 0 {
            return Ok(Self { address, alone: false });
        }
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
        Ok(Self { address, alone: true })
    }

    /// The register's address.
    pub(crate) fn address(&self) -> usize {
        self.address
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.alone {
            users().remove(&self.address);
        }
    }
}

/// The lock of a register that several queues ring: the one that its queues have already, or a new one.
///
/// # Errors
/// If one queue has it alone, or the parts are invalid.
///
/// # Safety
/// The conditions of [`SharedRegister::from_parts`], except that other queues which got their lock here may store
/// there.
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

/// libmlx5 has handed out an invalid register.
pub(crate) fn bad_register(error: SetupError) -> Error {
    Error::Parts { object: "doorbell register", why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use core::ptr::NonNull;

    use super::*;

    /// Memory in place of a register; never rung.
    #[repr(align(512))]
    struct Page([u8; 512]);

    fn parts(page: &mut Page, size: u32) -> RegisterParts {
        RegisterParts { reg: NonNull::from(&mut page.0).cast(), size }
    }

    #[test]
    fn one_register_has_one_owner() {
        let mut page = Page([0; 512]);
        let parts = parts(&mut page, 256);
        let claim = Claim::new(parts).expect("free");
        let twice = Error::RegisterHandedOutTwice { register: parts.reg.addr().get() };
        assert_eq!(Claim::new(parts).expect_err("taken"), twice);
        // SAFETY: never rung.
        assert_eq!(unsafe { shared(parts) }.expect_err("nor may others share it"), twice);
        drop(claim);
        drop(Claim::new(parts).expect("free again"));
    }

    #[test]
    fn without_blueflame_all_have_it() {
        let mut page = Page([0; 512]);
        let parts = parts(&mut page, 0);
        let (first, second) = (Claim::new(parts).expect("free"), Claim::new(parts).expect("for all"));
        // SAFETY: never rung.
        let locked = unsafe { shared(parts) }.expect("a lock does no harm");
        drop((first, second));
        drop(Claim::new(parts).expect("beside the lock"));
        drop(locked);
    }

    #[test]
    fn queues_on_one_register_share_one_lock() {
        let mut page = Page([0; 512]);
        let parts = parts(&mut page, 256);
        // SAFETY: never rung.
        let (first, second) = unsafe { (shared(parts).expect("free"), shared(parts).expect("shared")) };
        assert!(Arc::ptr_eq(&first, &second));
        drop(first);
        assert!(Claim::new(parts).is_err(), "one still has it");
        drop(second);
        assert!(Claim::new(parts).is_ok());
    }
}
