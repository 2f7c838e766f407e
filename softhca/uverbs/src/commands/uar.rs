//! UAR pages that programs allocate by themselves.

use super::request::Request;
use crate::context::allocated::UarPage;
use crate::context::registry::{self, Shared, own_pid};
use crate::context::{Context, mapping};
use crate::process::Errno;
use softhca::uar::UAR_PAGE_BYTES;
use std::sync::Arc;

/// `UAR_OBJ_ALLOC`: 0x1000 handle, 0x1001 type, 0x1002 mmap offset, 0x1003 length, 0x1004 page.
pub(crate) fn alloc(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    // `enum mlx5_ib_uapi_uar_alloc_type`; the memory behind it is cached either way.
    const WITH_BLUEFLAME: u64 = 0;
    const NON_CACHED: u64 = 1;
    let kind = request.input(0x1001)?;
    match kind {
        WITH_BLUEFLAME if context.hca.settings.no_write_combining => return Err(Errno::EOPNOTSUPP),
        WITH_BLUEFLAME | NON_CACHED => {}
        _ => return Err(Errno::EOPNOTSUPP),
    }
    let (page, at) = mapping::allocate(context, kind == NON_CACHED)?;
    let (index, place) = (page.index, page.place());
    let handle = context.insert(Arc::new(page));
    context.registry.publish(registry::UAR, place, &Shared { pid: own_pid(), ..Shared::default() });
    request.put(0x1002, &at)?;
    request.put(0x1003, &(UAR_PAGE_BYTES as u64))?;
    request.put(0x1004, &index)?;
    request.put_handle(0x1000, handle)
}

/// Frees a page, which no other process maps from now on.
pub(super) fn free(context: &Arc<Context>, handle: u32) -> Result<(), Errno> {
    let page = context.destroy::<UarPage>(handle)?;
    context.registry.withdraw(registry::UAR, page.place(), own_pid());
    Ok(())
}
