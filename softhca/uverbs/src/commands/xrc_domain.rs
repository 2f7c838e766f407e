//! XRC domains.

use super::request::Request;
use crate::abi::OpenXrcd;
use crate::context::{self, Context, Rank};
use crate::device::{Domain, Hca, Inode, Origin, Source};
use crate::process::{Errno, lock};
use softhca::error::Object;
use std::sync::Arc;

/// An XRC domain, as a program has opened it. SRQs and targets made by this handle keep it busy.
pub(crate) struct Xrcd {
    pub(super) domain: Arc<Domain>,
}

impl context::Object for Xrcd {
    fn rank(&self) -> Rank {
        Rank::Xrcd
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.close_domain(&self.domain)
    }
}

impl Xrcd {
    /// A target of it is closed. The last close destroys it.
    pub(super) fn close_target(&self, hca: &Hca, qpn: u32, events: &Arc<Source>) -> Result<(), Errno> {
        let mut targets = lock(&self.domain.targets);
        match targets.get_mut(&qpn) {
            Some(opened) if *opened > 1 => *opened -= 1,
            _ => {
                hca.destroy(Object::Qp, qpn, |device| device.destroy_qp(qpn))?;
                targets.remove(&qpn);
            }
        }
        hca.forget(Origin::Qp(qpn), events);
        Ok(())
    }
}

/// `OPEN_XRCD`.
pub(crate) fn open(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: OpenXrcd = request.core_in()?;
    // No file.
    let inode = (wanted.fd != -1).then(|| Inode::of(wanted.fd)).transpose()?;
    let flag = |flag: i32| wanted.oflags & flag as u32 != 0;
    let domain = context.hca.open_domain(inode, (flag(libc::O_CREAT), flag(libc::O_EXCL)))?;
    request.core_out(&context.insert(Arc::new(Xrcd { domain })))
}
