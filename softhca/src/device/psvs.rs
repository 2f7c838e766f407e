//! A device's signature values.

use super::Device;
use crate::error::Error;
use crate::resources::Psv;

impl Device {
    /// Makes `count` signature values of a protection domain; returns their numbers.
    ///
    /// # Errors
    /// [`Error::NoSuch`] PD; [`Error::Exhausted`]: none is made then.
    pub fn create_psvs(&mut self, pd: u32, count: usize) -> Result<Vec<u32>, Error> {
        self.resources.pds.find(pd)?;
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            match self.resources.psvs.reserve() {
                Ok(number) => {
                    self.resources.psvs.insert(number, Psv { pd, value: None });
                    numbers.push(number);
                }
                Err(error) => {
                    for number in numbers {
                        self.resources.psvs.remove(number);
                    }
                    return Err(error);
                }
            }
        }
        self.resources.pds.find_mut(pd)?.users += count as u32;
        Ok(numbers)
    }

    /// Destroys a signature value. Keys that name it give access to nothing.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn destroy_psv(&mut self, number: u32) -> Result<(), Error> {
        let Psv { pd, .. } = *self.resources.psvs.find(number)?;
        self.resources.psvs.remove(number);
        self.release_pd(pd);
        Ok(())
    }
}
