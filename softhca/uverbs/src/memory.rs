//! Protection domains, and what of a region of memory is permitted.

use crate::abi::{AllocPdResp, UHW_OUT, access};
use crate::abi_mlx5::PdResp;
use crate::context::Context;
use crate::errno::Errno;
use crate::hca::Hca;
use crate::ioctl::Request;
use crate::registry::{self, Shared};
use crate::user;
use softhca::context::Access;
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

/// `ALLOC_PD`.
pub(crate) fn alloc_pd(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let _: u64 = request.core_in()?;
    let number = context.hca.command(|device| device.alloc_pd())?;
    let pd_handle = context.insert(Arc::new(Pd { number }));
    let own = Shared { pid: own_pid(), ..Shared::default() };
    context.registry.publish(registry::DOMAIN, pd_handle, &own);
    request.put_optional(UHW_OUT, &PdResp { pdn: number })?;
    request.core_out(&AllocPdResp { pd_handle })
}

/// `PD_QUERY` of the mlx5 driver: 0x1000 handle, 0x1001 number.
pub(crate) fn query_pd(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let pd = import_pd(context, request.handle(0x1000)?)?;
    request.put(0x1001, &pd.number)
}

/// The domain that `handle` names, also if another process has made it: a region of that one's can be used in it.
pub(crate) fn import_pd(context: &Context, handle: u32) -> Result<Arc<Pd>, Errno> {
    context.import(registry::DOMAIN, handle, |_| {
        let number = context.hca.command(|device| device.alloc_pd())?;
        Ok(Arc::new(Pd { number }))
    })
}

/// This process, as the registry has it.
pub(crate) fn own_pid() -> u64 {
    user::own_pid().cast_unsigned().into()
}

fn free_pd(context: &Context, handle: u32) -> Result<(), Errno> {
    context.destroy(handle, |pd: &Arc<Pd>| pd.release(&context.hca))?;
    context.registry.withdraw(registry::DOMAIN, handle, own_pid());
    Ok(())
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
/// and atomics to memory that may not be written locally; `EOPNOTSUPP` for what other devices can do.
pub(crate) fn access_from_abi(flags: u32) -> Result<Access, Errno> {
    let known = access::LOCAL_WRITE
        | access::REMOTE_WRITE
        | access::REMOTE_READ
        | access::REMOTE_ATOMIC
        | access::MW_BIND
        | access::ZERO_BASED
        | access::ON_DEMAND
        | access::HUGETLB
        | access::FLUSH
        | access::OPTIONAL;
    let remote_change = flags & (access::REMOTE_WRITE | access::REMOTE_ATOMIC) != 0;
    if flags & !known != 0 || remote_change && flags & access::LOCAL_WRITE == 0 {
        return Err(Errno::EINVAL);
    }
    if flags & access::FLUSH != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    Ok(Access {
        local_write: flags & access::LOCAL_WRITE != 0,
        remote_write: flags & access::REMOTE_WRITE != 0,
        remote_read: flags & access::REMOTE_READ != 0,
        remote_atomic: flags & access::REMOTE_ATOMIC != 0,
    })
}
