//! A device's memory keys.

use super::Device;
use super::check::value;
use crate::context::{Backing, MkeyContext};
use crate::error::{Error, Object};
use crate::memory::KeyList;
use crate::memory::mkey::{Behind, Mkey};

/// Most pieces of an indirect key, as log2.
pub(crate) const MAX_PIECES_LOG: u8 = 16;

/// What a new memory key is made with, besides its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyOptions {
    /// What is behind it.
    pub backing: Backing,
    /// Lowest byte of the key, which the driver may choose; `None`: the device does.
    pub variant: Option<u8>,
    /// Peers may invalidate it, by SEND with invalidate.
    pub remote_invalidate: bool,
}

impl Device {
    /// Creates a memory key of host memory; it serves as lkey and as rkey.
    ///
    /// # Errors
    /// [`Error::NoSuch`] PD; [`Error::BadValue`] for a region that wraps around the address space, and for remote write
    /// or atomic access without local write (IBTA vol. 1, 10.6.3.1); [`Error::Exhausted`].
    pub fn create_mkey(&mut self, context: MkeyContext) -> Result<u32, Error> {
        self.create_mkey_with(context, KeyOptions { backing: Backing::Memory, variant: None, remote_invalidate: true })
    }

    /// Creates a memory key.
    ///
    /// # Errors
    /// As [`Self::create_mkey`]; [`Error::BadValue`] also for more than 2^16 pieces, and for pieces that have fewer bytes than
    /// the region. The pieces' own keys are looked for when they are used.
    pub fn create_mkey_with(&mut self, context: MkeyContext, options: KeyOptions) -> Result<u32, Error> {
        check_mkey(&context)?;
        let behind = behind(options.backing, context.len)?;
        let pd = self.pds.find_mut(context.pd)?;
        let index = self.resources.mkeys.reserve()?;
        pd.users += 1;
        self.variant = self.variant.wrapping_add(1);
        let key = index << 8 | u32::from(options.variant.unwrap_or(self.variant));
        let remote_invalidate = options.remote_invalidate;
        self.resources.mkeys.insert(index, Mkey { key, context, behind, remote_invalidate });
        Ok(key)
    }

    /// What a memory key was created from, less what an invalidation took from it.
    #[must_use]
    pub fn mkey(&self, key: u32) -> Option<&MkeyContext> {
        self.resources.mkeys.get(key >> 8).filter(|m| m.key == key).map(|m| &m.context)
    }

    /// Creates the memory key `key`, of host memory.
    ///
    /// # Errors
    /// As [`Self::create_mkey`]; [`Error::BadValue`] for a key whose index is in use, or is none.
    pub fn create_mkey_as(&mut self, key: u32, context: MkeyContext) -> Result<(), Error> {
        check_mkey(&context)?;
        value("key", key.into(), self.resources.mkeys.is_free(key >> 8), "with a free index")?;
        self.pds.find_mut(context.pd)?.users += 1;
        self.resources.mkeys.insert(key >> 8, of_memory(key, context));
        Ok(())
    }

    /// Changes the region, the protection domain or the rights of a memory key; there is host memory behind it then.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; as [`Self::create_mkey`].
    pub fn modify_mkey(&mut self, key: u32, context: MkeyContext) -> Result<(), Error> {
        check_mkey(&context)?;
        let missing = Error::NoSuch { object: Object::Mkey, number: key };
        let before = self.mkey(key).ok_or(missing)?.pd;
        self.pds.find_mut(context.pd)?.users += 1;
        self.resources.mkeys.insert(key >> 8, of_memory(key, context));
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

fn of_memory(key: u32, context: MkeyContext) -> Mkey {
    Mkey { key, context, behind: Behind::Memory, remote_invalidate: true }
}

/// What is behind a key, in the form in which it is looked up. It has at least `len` bytes.
fn behind(backing: Backing, len: u64) -> Result<Behind, Error> {
    let list = match backing {
        Backing::Memory => return Ok(Behind::Memory),
        Backing::Nothing => return Ok(Behind::Nothing),
        Backing::Pieces(pieces) => {
            value("pieces", pieces.len() as u64, pieces.len() <= 1 << MAX_PIECES_LOG, "up to 2^16")?;
            KeyList::own(pieces)
        }
        Backing::EqualPieces { log_bytes, pieces } => {
            value("pieces", pieces.len() as u64, pieces.len() <= 1 << MAX_PIECES_LOG, "up to 2^16")?;
            value("log2 of a piece's bytes", log_bytes.into(), log_bytes <= 31, "up to 31")?;
            KeyList::Equal { pieces, log_bytes }
        }
    };
    value("region", len, len <= list.bytes(), "no longer than its pieces")?;
    Ok(Behind::Pieces(list))
}

/// Checks what must hold for any memory key.
fn check_mkey(context: &MkeyContext) -> Result<(), Error> {
    let access = context.access;
    let writes = access.remote_write || access.remote_atomic;
    value("remote access", writes.into(), access.local_write || !writes, "with local write only")?;
    value("region", context.len, context.addr.checked_add(context.len).is_some(), "inside of the address space")
}
