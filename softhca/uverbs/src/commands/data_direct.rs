//! Data Direct: a second PCI function of a ConnectX-8, by which it reaches registered memory of other devices (Linux
//! `drivers/infiniband/hw/mlx5/data_direct.c`). Here, both functions reach the same memory in the same way.

use super::request::Request;
use crate::context::Context;
use crate::process::{Errno, page_bytes};
use softhca_settings::{data_direct_function, pci_path};
use std::sync::Arc;

/// `MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH`: 0x1000 the path, without `/sys`, with a zero at its end.
pub(crate) fn path(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    const PATH: u16 = 0x1000;
    if !context.hca.capabilities.data_direct {
        return Err(Errno::ENODEV);
    }
    let mut path = pci_path(&data_direct_function(context.hca.index)).into_bytes();
    path.push(0);
    if path.len() > request.len(PATH) { Err(Errno::ENOSPC) } else { request.put_start(PATH, &path) }
}

/// Checks the driver's own flags for a region of a file that begins at the address `iova` (mlx5_ib `mr.c`,
/// `mlx5_ib_reg_user_mr_dmabuf`, `reg_user_mr_dmabuf_by_data_direct`).
pub(super) fn check(context: &Context, request: &Request, iova: u64) -> Result<(), Errno> {
    /// `MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS`.
    const FLAGS: u16 = 0x1000;
    /// `MLX5_IB_UAPI_REG_DMABUF_ACCESS_DATA_DIRECT`.
    const DATA_DIRECT: u32 = 1;
    let flags: u32 = request.optional(FLAGS)?.unwrap_or(0);
    if flags & !DATA_DIRECT != 0 {
        return Err(Errno::EINVAL);
    }
    if flags == 0 {
        return Ok(());
    }
    if iova % page_bytes() != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    if context.hca.capabilities.data_direct { Ok(()) } else { Err(Errno::EINVAL) }
}
