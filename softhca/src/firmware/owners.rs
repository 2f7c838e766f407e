//! Owners of objects. A driver gives each of its users a number (`CREATE_UCTX`), and commands on a user's behalf carry
//! it. So one user cannot name another's objects, although the numbers of objects are easily guessed.

use super::status::{Refusal, Status};
use crate::error::Object;
use std::collections::{BTreeMap, HashMap};

/// A user's number; 0 is the driver itself, which may name everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(pub u16);

/// The driver itself.
pub const DRIVER: Uid = Uid(0);

/// Owner of objects that every user may use, and only the driver may change. The driver makes the objects that its
/// users share with this number, which no user has (Linux `MLX5_SHARED_RESOURCE_UID`).
pub(crate) const SHARED: Uid = Uid(0xffff);

/// A user may send Ethernet frames of its own making (`MLX5_UCTX_CAP_RAW_TX`).
pub(crate) const RAW_TX: u32 = 1;

/// Users, and the maker of each object.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// Additional rights of each user ([`RAW_TX`]), by number.
    users: BTreeMap<Uid, u32>,
    /// Objects that are not the driver's.
    by_object: HashMap<(Object, u32), Uid>,
}

impl Owners {
    /// Refuses a number that no user has.
    pub(super) fn check_uid(&self, uid: Uid) -> Result<(), Refusal> {
        if uid == DRIVER || uid == SHARED || self.users.contains_key(&uid) {
            return Ok(());
        }
        Err(Refusal::resource(format!("no user {}", uid.0)))
    }

    /// Adds a user with these additional rights; returns its number.
    pub(super) fn add_user(&mut self, caps: u32) -> Option<Uid> {
        let uid = (1..u16::MAX).map(Uid).find(|uid| !self.users.contains_key(uid))?;
        self.users.insert(uid, caps);
        Some(uid)
    }

    /// Refuses a user who may not do this.
    pub(super) fn check_cap(&self, uid: Uid, cap: u32) -> Result<(), Refusal> {
        match self.users.get(&uid) {
            Some(caps) if caps & cap != cap => {
                Err(Refusal::parameter(format!("user {} was not given {cap:#x}", uid.0)))
            }
            _ => Ok(()),
        }
    }

    /// Sets the owner of a new object.
    pub(super) fn add(&mut self, kind: Object, number: u32, uid: Uid) {
        if uid != DRIVER {
            self.by_object.insert((kind, number), uid);
        }
    }

    /// Forgets a user; refused while objects are its.
    pub(super) fn remove_user(&mut self, uid: Uid) -> Result<(), Refusal> {
        let objects = self.by_object.values().filter(|&&owner| owner == uid).count();
        if objects != 0 {
            return Err(Refusal::new(Status::ResourceBusy, format!("user {} has {objects} objects", uid.0)));
        }
        if self.users.remove(&uid).is_some() { Ok(()) } else { Err(Refusal::resource(format!("no user {}", uid.0))) }
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, kind: Object, number: u32) {
        self.by_object.remove(&(kind, number));
    }

    /// How many users there are, and how many objects of theirs, by kind.
    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::from([("user".to_owned(), self.users.len())]);
        for (kind, _) in self.by_object.keys() {
            *counts.entry(kind.to_string()).or_default() += 1;
        }
        counts
    }

    /// Refuses an object that belongs to another user, to all, or to the driver.
    pub(super) fn check(&self, kind: Object, number: u32, uid: Uid) -> Result<(), Refusal> {
        self.check_one_of(&[uid], kind, number, uid)
    }

    /// Refuses an object that belongs to another user, or to the driver.
    pub(super) fn check_use(&self, kind: Object, number: u32, uid: Uid) -> Result<(), Refusal> {
        self.check_one_of(&[uid, SHARED], kind, number, uid)
    }

    fn check_one_of(&self, owners: &[Uid], kind: Object, number: u32, uid: Uid) -> Result<(), Refusal> {
        let owner = self.by_object.get(&(kind, number)).copied().unwrap_or(DRIVER);
        if uid == DRIVER || owners.contains(&owner) {
            return Ok(());
        }
        Err(Refusal::resource(format!("{kind} {number:#x} is not of user {}", uid.0)))
    }
}
