//! A device's XRC domains, and the SRQs that belong to them.

use super::check::value;
use super::{Device, Xrcd};
use crate::context::{SrqContext, XrcContext};
use crate::error::{Error, Object};
use crate::recv::Srq;

impl Device {
    /// Allocates an XRC domain; returns its number.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn alloc_xrcd(&mut self) -> Result<u32, Error> {
        let xrcd = self.xrcds.reserve()?;
        self.xrcds.insert(xrcd, Xrcd { users: 0 });
        Ok(xrcd)
    }

    /// Frees an XRC domain.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] while SRQs or targets belong to it.
    pub fn free_xrcd(&mut self, xrcd: u32) -> Result<(), Error> {
        self.xrcds.remove_unused(xrcd, |domain| domain.users).map(drop)
    }

    /// Refuses a number that is not an XRC domain's.
    pub(crate) fn check_xrcd(&self, xrcd: u32) -> Result<(), Error> {
        self.xrcds.find(xrcd).map(drop)
    }

    /// Creates an SRQ of an XRC domain, as [`Self::create_srq`] does; returns its number, by which peers name it.
    ///
    /// # Errors
    /// Those of [`Self::create_srq`]; [`Error::NoSuch`] for an XRC domain or CQ that does not exist.
    pub fn create_xrc_srq(&mut self, context: SrqContext, xrc: XrcContext) -> Result<u32, Error> {
        let uidx = xrc.uidx.unwrap_or(0);
        value("user index", uidx.into(), uidx < 1 << 24, "24 bits")?;
        self.check_xrcd(xrc.xrcd)?;
        self.resources.cqs.find(xrc.cqn)?;
        let srqn = self.add_srq(Srq::new(context, Some(xrc)))?;
        self.count_xrc(xrc, |users| *users += 1);
        Ok(srqn)
    }

    /// Cleans up after SRQ `srqn` of an XRC domain, which is gone.
    pub(super) fn end_xrc_srq(&mut self, srqn: u32, xrc: XrcContext) {
        self.count_xrc(xrc, |users| *users -= 1);
        self.qps.iter_mut().for_each(|(_, qp)| qp.forget_srq(srqn));
    }

    /// Applies `count` to the use counts of the domain and the CQ that an SRQ of an XRC domain refers to.
    fn count_xrc(&mut self, xrc: XrcContext, count: impl Fn(&mut u32)) {
        let domain = self.xrcds.get_mut(xrc.xrcd).map(|domain| &mut domain.users);
        let cq = self.resources.cqs.get_mut(xrc.cqn).map(|cq| &mut cq.users);
        [domain, cq].into_iter().flatten().for_each(count);
    }

    /// Refuses an SRQ that QPs of other services than XRC cannot take receives from.
    pub(super) fn check_plain_srq(&self, srqn: u32) -> Result<(), Error> {
        match self.resources.srqs.find(srqn)?.xrc() {
            None => Ok(()),
            // For such a QP there is no such SRQ.
            Some(_) => Err(Error::NoSuch { object: Object::Srq, number: srqn }),
        }
    }
}
