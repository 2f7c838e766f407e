//! Opening and closing XRC domains of a device.

use super::hca::Hca;
use super::xrc_domains::{Claim, Domain, Inode};
use crate::process::{Errno, lock};
use softhca::device::Device;
use softhca::error::Object;
use softhca::firmware::DRIVER;
use std::sync::{Arc, Mutex};

impl Hca {
    /// Opens the domain of `inode`, or makes one. `create` permits that, and `exclusive` permits nothing else.
    pub(crate) fn open_domain(
        &self,
        inode: Option<Inode>,
        (create, exclusive): (bool, bool),
    ) -> Result<Arc<Domain>, Errno> {
        let Some(inode) = inode else { return self.new_domain(None, None) };
        let mut domains = lock(&self.domains.0);
        if let Some((domain, opened)) = domains.iter_mut().find(|(domain, _)| domain.inode == Some(inode)) {
            if exclusive {
                return Err(Errno::EINVAL);
            }
            *opened += 1;
            return Ok(domain.clone());
        }
        // A sink shares nothing.
        let directory = (!self.settings.sink).then_some(&self.settings.fabric);
        let claim = directory.map(|directory| Claim::take(directory, self.index, inode, create, exclusive));
        if claim.is_none() && !create {
            return Err(Errno::EAGAIN);
        }
        let domain = self.new_domain(Some(inode), claim.transpose()?)?;
        domains.push((domain.clone(), 1));
        Ok(domain)
    }

    /// The driver's own, as in `mlx5_ib_alloc_xrcd`: commands of users cannot name it.
    fn new_domain(&self, inode: Option<Inode>, claim: Option<Claim>) -> Result<Arc<Domain>, Errno> {
        let number = self.create(DRIVER, Object::Xrcd, Device::alloc_xrcd)?;
        Ok(Arc::new(Domain { number, inode, targets: Mutex::default(), _claim: claim }))
    }

    /// Closes it. After the last close the device forgets it, unless something belongs to it.
    pub(crate) fn close_domain(&self, domain: &Arc<Domain>) -> Result<(), Errno> {
        let mut domains = lock(&self.domains.0);
        let place = domains.iter().position(|(known, _)| Arc::ptr_eq(known, domain));
        match place.and_then(|place| domains.get_mut(place)) {
            Some((_, opened)) if *opened > 1 => {
                *opened -= 1;
                return Ok(());
            }
            _ => {}
        }
        self.destroy(Object::Xrcd, domain.number, |device| device.free_xrcd(domain.number))?;
        if let Some(place) = place {
            domains.remove(place);
        }
        Ok(())
    }
}
