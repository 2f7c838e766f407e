//! Commands on objects of the process that has opened the device file, sent by others that have it: what they need of
//! imported objects (`mlx5dv_devx_obj_import`, `mlx5dv_devx_umem_import`). To import is no command: libmlx5 only notes
//! the handle.

use super::mailboxes::{self, Mailboxes};
use super::objects::{self, DevxObject};
use super::umem::Umem;
use crate::abi::object;
use crate::commands::request::Request;
use crate::commands::uar;
use crate::context::calls::{Answer, Call, call};
use crate::context::{Context, Object};
use crate::process::Errno;
use std::sync::Arc;

/// The object's kind, and the method.
pub(super) const DESTROY: (u16, u16) = (object::MLX5_DEVX_OBJ, 0x1001);
pub(super) const MODIFY: (u16, u16) = (object::MLX5_DEVX_OBJ, 0x1002);
pub(super) const QUERY: (u16, u16) = (object::MLX5_DEVX_OBJ, 0x1003);
pub(super) const DEREGISTER: (u16, u16) = (object::MLX5_DEVX_UMEM, 0x1001);
const FREE_UAR: (u16, u16) = (object::MLX5_UAR, 0x1001);

/// Carries out what another process asks for.
pub(crate) fn serve(context: &Arc<Context>, call: Call) -> Answer {
    let Call { method, handle, input, output_len } = call;
    let mut output = Vec::new();
    let result = context.hca.is_here().and_then(|()| match method {
        DESTROY => context.destroy::<DevxObject>(handle).map(drop),
        DEREGISTER => context.destroy::<Umem>(handle).map(drop),
        FREE_UAR => uar::free(context, handle),
        MODIFY | QUERY => {
            let mut mailboxes = Mailboxes::of(context, || Ok(input), output_len)?;
            let result = objects::execute(context, handle, &mut mailboxes, method == MODIFY);
            if mailboxes::has_output(&result) {
                output = mailboxes.output;
            }
            result
        }
        _ => Err(Errno::EOPNOTSUPP),
    });
    (output, result)
}

/// Destroys the object that attribute 0x1000 names, in the process that has it.
pub(super) fn destroy<T: Object>(context: &Arc<Context>, request: &Request, method: (u16, u16)) -> Result<(), Errno> {
    let handle = request.handle(0x1000)?;
    if !context.is_makers(handle) {
        return context.destroy::<T>(handle).map(drop);
    }
    call(context, &Call { method, handle, input: Vec::new(), output_len: 0 })?.1
}

/// `UAR_OBJ_DESTROY`: 0x1000 handle.
pub(crate) fn free_uar(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let handle = request.handle(0x1000)?;
    if !context.is_makers(handle) {
        return uar::free(context, handle);
    }
    call(context, &Call { method: FREE_UAR, handle, input: Vec::new(), output_len: 0 })?.1
}

/// Has the process that has object `handle` carry out the command in attribute 0x1001, whose output attribute 0x1002
/// takes.
pub(super) fn execute(context: &Context, request: &Request, handle: u32, method: (u16, u16)) -> Result<(), Errno> {
    let call_it = Call { method, handle, input: request.array(0x1001)?, output_len: request.len(0x1002) };
    let (output, result) = call(context, &call_it)?;
    if mailboxes::has_output(&result) {
        request.put_bytes(0x1002, &output)?;
    }
    result
}
