//! Protection domains.

use super::request::Request;
use crate::abi::UHW_OUT;
use crate::context::registry::{self, Shared, own_pid};
use crate::context::{self, Context, Rank};
use crate::device::Hca;
use crate::process::Errno;
use softhca::device::Device;
use softhca::error::Object;
use std::sync::Arc;

/// A protection domain.
pub(crate) struct Pd {
    /// The device's number for it.
    pub(crate) number: u32,
}

impl context::Object for Pd {
    fn rank(&self) -> Rank {
        Rank::Pd
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.destroy(Object::Pd, self.number, |device| device.free_pd(self.number))
    }
}

/// `ALLOC_PD`.
pub(crate) fn alloc_pd(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let _: u64 = request.core_in()?;
    let number = context.hca.create(context.user(), Object::Pd, Device::alloc_pd)?;
    let pd_handle = context.insert(Arc::new(Pd { number }));
    let own = Shared { pid: own_pid(), ..Shared::default() };
    context.registry.publish(registry::DOMAIN, pd_handle, &own);
    request.put_optional(UHW_OUT, &number)?;
    request.core_out(&pd_handle)
}

/// `PD_QUERY` of the mlx5 driver: 0x1000 handle, 0x1001 number.
pub(crate) fn query_pd(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let pd = import_pd(context, request.handle(0x1000)?)?;
    request.put(0x1001, &pd.number)
}

/// The domain that `handle` names, also if another process has made it: a region of that one's can be used in it.
pub(crate) fn import_pd(context: &Context, handle: u32) -> Result<Arc<Pd>, Errno> {
    context.import(registry::DOMAIN, handle, |_| {
        let number = context.hca.create(context.user(), Object::Pd, Device::alloc_pd)?;
        Ok(Arc::new(Pd { number }))
    })
}

/// Frees a domain, which no other process finds from now on.
pub(super) fn free(context: &Context, handle: u32) -> Result<(), Errno> {
    context.destroy::<Pd>(handle)?;
    context.registry.withdraw(registry::DOMAIN, handle, own_pid());
    Ok(())
}
