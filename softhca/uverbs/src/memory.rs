//! Protection domains and memory regions.

use crate::abi::{AllocPdResp, RegMr, RegMrResp, UHW_OUT, access};
use crate::abi_mlx5::PdResp;
use crate::context::Context;
use crate::errno::Errno;
use crate::hca::{Hca, Pinned};
use crate::ioctl::Request;
use softhca::context::{Access, MkeyContext};
use std::sync::Arc;

/// A protection domain.
pub(crate) struct Pd {
    /// The device's number for it.
    pub(crate) number: u32,
}

impl Pd {
    pub(crate) fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.command(|device| device.free_pd(self.number))
    }
}

/// A memory region.
pub(crate) struct Mr {
    key: u32,
    iova: u64,
    len: u64,
    _pinned: Pinned,
    /// Keeps the domain busy.
    _pd: Arc<Pd>,
}

impl Mr {
    pub(crate) fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.command(|device| device.destroy_mkey(self.key))
    }
}

/// `ALLOC_PD`.
pub(crate) fn alloc_pd(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let _: u64 = request.core_in()?;
    let number = context.hca.command(|device| device.alloc_pd())?;
    let pd_handle = context.insert(Arc::new(Pd { number }));
    request.put_optional(UHW_OUT, &PdResp { pdn: number })?;
    request.core_out(&AllocPdResp { pd_handle })
}

/// `PD_QUERY` of the mlx5 driver: 0x1000 handle, 0x1001 number.
pub(crate) fn query_pd(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let pd: Arc<Pd> = context.get(request.handle(0x1000)?)?;
    request.put(0x1001, &pd.number)
}

fn free_pd(context: &Context, handle: u32) -> Result<(), Errno> {
    context.destroy(handle, |pd: &Arc<Pd>| pd.release(&context.hca)).map(drop)
}

/// `PD_DESTROY`: 0 handle.
pub(crate) fn destroy_pd(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    free_pd(context, request.handle(0)?)
}

/// `DEALLOC_PD`.
pub(crate) fn write_dealloc_pd(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    free_pd(context, request.core_in()?)
}

/// The device's rights from the ABI's flags, by the kernel's rules: `EINVAL` for unknown flags, and for remote writes
/// and atomics to memory that may not be written locally.
pub(crate) fn access_from_abi(flags: u32) -> Result<Access, Errno> {
    let known = access::LOCAL_WRITE
        | access::REMOTE_WRITE
        | access::REMOTE_READ
        | access::REMOTE_ATOMIC
        | access::MW_BIND
        | access::ZERO_BASED
        | access::HUGETLB
        | access::OPTIONAL;
    let remote_change = flags & (access::REMOTE_WRITE | access::REMOTE_ATOMIC) != 0;
    if flags & !known != 0 || remote_change && flags & access::LOCAL_WRITE == 0 {
        return Err(Errno::EINVAL);
    }
    Ok(Access {
        local_write: flags & access::LOCAL_WRITE != 0,
        remote_write: flags & access::REMOTE_WRITE != 0,
        remote_read: flags & access::REMOTE_READ != 0,
        remote_atomic: flags & access::REMOTE_ATOMIC != 0,
    })
}

/// `REG_MR`.
pub(crate) fn reg_mr(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: RegMr = request.core_in()?;
    // The region and the address that peers use for it must agree on the offset into a page.
    if wanted.length == 0 || wanted.start & 0xfff != wanted.hca_va & 0xfff {
        return Err(Errno::EINVAL);
    }
    let access = access_from_abi(wanted.access_flags)?;
    let pd: Arc<Pd> = context.get(wanted.pd_handle).map_err(|_| Errno::EINVAL)?;
    let hca = &context.hca;
    let pinned = Pinned::new(hca, wanted.start, wanted.length)?;
    let key = hca.command(|device| {
        device.create_mkey(MkeyContext {
            pd: pd.number,
            iova: wanted.hca_va,
            addr: wanted.start,
            len: wanted.length,
            access,
        })
    })?;
    let mr = Mr { key, iova: wanted.hca_va, len: wanted.length, _pinned: pinned, _pd: pd };
    let mr_handle = context.insert(Arc::new(mr));
    request.core_out(&RegMrResp { mr_handle, lkey: key, rkey: key })
}

fn dereg_mr(context: &Context, handle: u32) -> Result<(), Errno> {
    context.destroy(handle, |mr: &Arc<Mr>| mr.release(&context.hca)).map(drop)
}

/// `MR_DESTROY`: 0 handle.
pub(crate) fn destroy_mr(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    dereg_mr(context, request.handle(0)?)
}

/// `DEREG_MR`.
pub(crate) fn write_dereg_mr(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    dereg_mr(context, request.core_in()?)
}

/// `QUERY_MR`: 0 handle, 1 lkey, 2 rkey, 3 length, 4 IOVA.
pub(crate) fn query_mr(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let mr: Arc<Mr> = context.get(request.handle(0)?)?;
    request.put(1, &mr.key)?;
    request.put(2, &mr.key)?;
    request.put(3, &mr.len)?;
    request.put_optional(4, &mr.iova)
}
