//! A device's keys of encryption.

use super::Device;
use super::check::value;
use crate::crypto::{Dek, DekInfo, Engine};
use crate::error::Error;

impl Device {
    /// Makes a key of encryption: both halves of an AES-XTS key. Returns its number.
    ///
    /// # Errors
    /// [`Error::NoSuch`] PD; [`Error::BadValue`] for a key of other bytes than its size; [`Error::Exhausted`].
    pub(crate) fn create_dek(&mut self, info: DekInfo, key: &[u8]) -> Result<u32, Error> {
        let engine = Engine::new(info.size, key);
        value("bytes of a key of encryption", key.len() as u64, engine.is_some(), "as many as its size has")?;
        let pd = self.resources.pds.find_mut(info.pd)?;
        let number = self.resources.deks.reserve()?;
        pd.users += 1;
        if let Some(engine) = engine {
            self.resources.deks.insert(number, Dek { info, engine });
        }
        Ok(number)
    }

    /// Returns the reported part of an encryption key.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub(crate) fn query_dek(&self, number: u32) -> Result<DekInfo, Error> {
        Ok(self.resources.deks.find(number)?.info)
    }

    /// Destroys a key of encryption. Memory keys that name it give access to nothing.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub(crate) fn destroy_dek(&mut self, number: u32) -> Result<(), Error> {
        let pd = self.resources.deks.find(number)?.info.pd;
        self.resources.deks.remove(number);
        self.release_pd(pd);
        Ok(())
    }
}
