//! Domains of extended reliable connections.

use core::ptr::NonNull;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use blueflame_sys as sys;

use crate::verbs::device::open::Context;
use crate::verbs::error::non_null;
use crate::verbs::event::event;
use crate::verbs::{Device, Error};

/// An XRC domain (`ibv_xrcd`): [targets](crate::verbs::XrcTarget) deliver only to shared receive queues in the same
/// domain ([`xrc_shared_recv_queue`](crate::verbs::ProtectionDomain::xrc_shared_recv_queue)). Cheap to clone.
#[doc(alias("ibv_xrcd", "ibv_open_xrcd"))]
#[derive(Clone, Debug)]
pub struct XrcDomain {
    pub(in crate::verbs) handle: Arc<XrcdHandle>,
}

/// The domain that everything in it keeps alive.
#[derive(Debug)]
pub(in crate::verbs) struct XrcdHandle {
    raw: NonNull<sys::ibv_xrcd>,
    context: Arc<Context>,
}

impl XrcdHandle {
    pub(in crate::verbs) fn context(&self) -> &Context {
        &self.context
    }
}

// SAFETY: libibverbs locks the state that its calls share; a domain may be used from any thread and from several.
unsafe impl Send for XrcdHandle {}
// SAFETY: libibverbs locks the state that its calls share, so several threads may use a domain at once.
unsafe impl Sync for XrcdHandle {}

impl Drop for XrcdHandle {
    fn drop(&mut self) {
        event!(DEBUG, "XRC domain closed");
        // SAFETY: from `ibv_open_xrcd` on this context; everything made in it held this object and is gone.
        unsafe { sys::ibv_close_xrcd(self.raw.as_ptr()) };
    }
}

impl Device {
    /// An XRC domain of this process alone.
    ///
    /// # Errors
    /// [`Error::Unsupported`], or a failed call.
    pub fn xrc_domain(&self) -> Result<XrcDomain, Error> {
        self.open_xrcd(-1)
    }

    /// The XRC domain of a file; it is created if it does not exist. All processes that name the same file (its inode)
    /// get the same domain. The file may be closed afterwards.
    ///
    /// # Errors
    /// [`Error::Unsupported`], or a failed call.
    pub fn xrc_domain_of(&self, file: &impl AsFd) -> Result<XrcDomain, Error> {
        self.open_xrcd(file.as_fd().as_raw_fd())
    }

    fn open_xrcd(&self, fd: i32) -> Result<XrcDomain, Error> {
        if !self.attr().xrc {
            return Err(Error::Unsupported { what: "XRC" });
        }
        let mut attr = sys::ibv_xrcd_init_attr {
            comp_mask: sys::IBV_XRCD_INIT_ATTR_FD | sys::IBV_XRCD_INIT_ATTR_OFLAGS,
            fd,
            oflags: libc::O_CREAT,
        };
        // SAFETY: the context is open; the descriptor is borrowed, or none.
        let raw = non_null("ibv_open_xrcd", unsafe { sys::ibv_open_xrcd(self.as_raw(), &raw mut attr) })?;
        event!(DEBUG, "XRC domain opened", device = self.name(), of_a_file = fd >= 0);
        Ok(XrcDomain { handle: Arc::new(XrcdHandle { raw, context: Arc::clone(&self.context) }) })
    }
}

impl XrcDomain {
    pub(in crate::verbs) fn device(&self) -> &Context {
        &self.handle.context
    }

    /// The raw domain, for calls this crate does not wrap; alive as long as `self` or anything in it.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_xrcd {
        self.handle.raw.as_ptr()
    }
}
