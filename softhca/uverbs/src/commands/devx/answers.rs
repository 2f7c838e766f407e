//! Queries whose outputs come by a file: `MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD`.

use super::files;
use super::kinds::Use;
use super::mailboxes;
use super::objects::meant;
use crate::abi::mailbox::VHCA_TUNNEL_ID;
use crate::commands::request::Request;
use crate::context::Context;
use crate::device::RecordKind;
use crate::process::Errno;
use std::sync::Arc;

/// `DEVX_ASYNC_CMD_FD_ALLOC`: 0x1000 descriptor.
pub(crate) fn alloc(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    files::alloc(context, request, RecordKind::Answers)
}

/// `DEVX_OBJ_ASYNC_QUERY`: 0x1000 handle, 0x1001 input, 0x1002 file for the output, 0x1003 the program's name for it,
/// 0x1004 bytes of it. The device is fast, so the output is there at once.
pub(crate) fn query(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let input = mailboxes::input(context, request, 0x1001)?;
    if VHCA_TUNNEL_ID.get(&input) != 0 {
        return Err(Errno::EINVAL);
    }
    let len: u64 = request.input(0x1004)?;
    let len = u16::try_from(len).map_err(|_| Errno::EINVAL)?;
    let _object = meant(context, request.handle(0x1000)?, &input, Use::Query)?;
    let file = files::named(context, request, 0x1002, &[RecordKind::Answers])?;
    let cookie: u64 = request.input(0x1003)?;
    if context.hca.has_failed() {
        return Err(Errno(libc::ENXIO));
    }
    file.answer(cookie, len.into(), |output| {
        // Its status is in it.
        context.hca.execute(&input, output);
    })
}
