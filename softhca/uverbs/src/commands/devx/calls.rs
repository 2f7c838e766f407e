//! Commands on objects of the process that has opened the device file, as other processes that have it send them: what
//! they need of imported objects (`mlx5dv_devx_obj_import`, `mlx5dv_devx_umem_import`). To import is no command: libmlx5
//! only notes the handle.

use super::mailboxes;
use crate::abi::object;
use crate::commands::request::Request;
use crate::context::Context;
use crate::context::calls::Call;
use crate::process::Errno;

/// The object's kind, and the method.
pub(super) const DESTROY: (u16, u16) = (object::MLX5_DEVX_OBJ, 0x1001);
pub(super) const MODIFY: (u16, u16) = (object::MLX5_DEVX_OBJ, 0x1002);
pub(super) const QUERY: (u16, u16) = (object::MLX5_DEVX_OBJ, 0x1003);
pub(super) const DEREGISTER: (u16, u16) = (object::MLX5_DEVX_UMEM, 0x1001);
pub(super) const FREE_UAR: (u16, u16) = (object::MLX5_UAR, 0x1001);

/// Destroys the object that attribute 0x1000 names, in the process that has it: in this one, `here` does it.
pub(super) fn destroy(
    context: &Context,
    request: &Request,
    method: (u16, u16),
    here: impl FnOnce(u32) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let handle = request.handle(0x1000)?;
    if !context.is_makers(handle) {
        return here(handle);
    }
    context.call(&Call { method, handle, input: Vec::new(), output_len: 0 })?.1
}

/// Has the process that has object `handle` carry out the command in attribute 0x1001, whose output attribute 0x1002
/// takes.
pub(super) fn execute(context: &Context, request: &Request, handle: u32, method: (u16, u16)) -> Result<(), Errno> {
    let call = Call { method, handle, input: request.array(0x1001)?, output_len: request.len(0x1002) };
    let (output, result) = context.call(&call)?;
    if mailboxes::has_output(&result) {
        request.put_bytes(0x1002, &output)?;
    }
    result
}
