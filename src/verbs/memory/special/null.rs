//! A region without memory.

use core::fmt;

use blueflame_sys as sys;

use crate::types::Lkey;
use crate::verbs::access::Access;
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::Error;
use crate::verbs::memory::registration::Registration;
use crate::wqe::Sge;

/// A region without memory (`ibv_alloc_null_mr(3)`). What a receive or a READ scatters to it is dropped, and what a
/// request gathers from it is zeros. The device moves no data over PCIe for it. For example, leave out the header of
/// each message that you receive, or send padding.
///
/// ```no_run
/// # use blueflame::verbs::{Buffer, ProtectionDomain};
/// # use blueflame::{RecvQueue, WrId};
/// # fn post(pd: &ProtectionDomain, rq: &mut RecvQueue, payload: &Buffer) -> Result<(), Box<dyn std::error::Error>> {
/// let nothing = pd.null_region()?;
/// // The first 64 bytes of the message are dropped.
/// // SAFETY: the buffer and the region live until the completion has come.
/// unsafe { rq.post_unchecked(WrId(1), &[nothing.sge(64), payload.sge()])? };
/// # Ok(())
/// # }
/// ```
#[doc(alias("ibv_alloc_null_mr", "dump_fill_mkey"))]
pub struct NullRegion {
    registration: Registration<()>,
}

impl ProtectionDomain {
    /// Makes a region without memory. Peers have no key of it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device has no such key (`dump_fill_mkey`), or the kernel does not tell it.
    pub fn null_region(&self) -> Result<NullRegion, Error> {
        // SAFETY: the domain is alive, and kept by the region, which no other code frees.
        let made = unsafe {
            let mr = sys::ibv_alloc_null_mr(self.as_raw());
            Registration::over("ibv_alloc_null_mr", mr, Access::LOCAL_WRITE, (), &self.handle)
        };
        let registration = made.map_err(|error| error.unsupported("regions without memory (ibv_alloc_null_mr)"))?;
        Ok(NullRegion { registration })
    }
}

impl fmt::Debug for NullRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NullRegion").field("lkey", &self.lkey()).finish_non_exhaustive()
    }
}

impl NullRegion {
    /// The key of the region: for this side's requests, in any protection domain.
    #[must_use]
    pub fn lkey(&self) -> Lkey {
        self.registration.lkey
    }

    /// `length` bytes of nothing, as a scatter/gather entry.
    #[must_use]
    pub fn sge(&self, length: u32) -> Sge {
        Sge { addr: 0, length, lkey: self.lkey() }
    }
}
