//! A device's memory keys.

use super::Device;
use super::check::value;
use crate::context::MkeyContext;
use crate::error::{Error, Object};
use crate::memory::mkey::Mkey;

impl Device {
    /// Creates a memory key; it serves as lkey and as rkey.
    ///
    /// # Errors
    /// [`Error::NoSuch`] PD; [`Error::BadValue`] for a region that wraps around the address space, and for remote write
    /// or atomic access without local write (IBTA vol. 1, 10.6.3.1); [`Error::Exhausted`].
    pub fn create_mkey(&mut self, context: MkeyContext) -> Result<u32, Error> {
        check_mkey(&context)?;
        let pd = self.pds.find_mut(context.pd)?;
        let index = self.resources.mkeys.reserve()?;
        pd.users += 1;
        self.variant = self.variant.wrapping_add(1);
        let key = index << 8 | u32::from(self.variant);
        self.resources.mkeys.insert(index, Mkey { key, context });
        Ok(key)
    }

    /// What a memory key was created from, less what an invalidation took from it.
    #[must_use]
    pub fn mkey(&self, key: u32) -> Option<&MkeyContext> {
        self.resources.mkeys.get(key >> 8).filter(|m| m.key == key).map(|m| &m.context)
    }

    /// Creates the memory key `key`.
    ///
    /// # Errors
    /// As [`Self::create_mkey`]; [`Error::BadValue`] for a key whose index is in use, or is none.
    pub fn create_mkey_as(&mut self, key: u32, context: MkeyContext) -> Result<(), Error> {
        check_mkey(&context)?;
        value("key", key.into(), self.resources.mkeys.is_free(key >> 8), "with a free index")?;
        self.pds.find_mut(context.pd)?.users += 1;
        self.resources.mkeys.insert(key >> 8, Mkey { key, context });
        Ok(())
    }

    /// Changes the region, the protection domain or the rights of a memory key.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; as [`Self::create_mkey`].
    pub fn modify_mkey(&mut self, key: u32, context: MkeyContext) -> Result<(), Error> {
        check_mkey(&context)?;
        let missing = Error::NoSuch { object: Object::Mkey, number: key };
        let before = self.mkey(key).ok_or(missing)?.pd;
        self.pds.find_mut(context.pd)?.users += 1;
        self.resources.mkeys.insert(key >> 8, Mkey { key, context });
        self.release_pd(before);
        Ok(())
    }

    /// Destroys a memory key. Uses of it fail from now on.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn destroy_mkey(&mut self, key: u32) -> Result<(), Error> {
        let missing = Error::NoSuch { object: Object::Mkey, number: key };
        let pd = self.mkey(key).ok_or(missing)?.pd;
        self.resources.mkeys.remove(key >> 8);
        self.release_pd(pd);
        Ok(())
    }
}

/// Checks what must hold for any memory key.
fn check_mkey(context: &MkeyContext) -> Result<(), Error> {
    let access = context.access;
    let writes = access.remote_write || access.remote_atomic;
    value("remote access", writes.into(), access.local_write || !writes, "with local write only")?;
    value("region", context.len, context.addr.checked_add(context.len).is_some(), "inside of the address space")
}
