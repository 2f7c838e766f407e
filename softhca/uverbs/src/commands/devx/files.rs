//! Files of answers and of events: their making, and naming them.

use crate::commands::request::Request;
use crate::context::Context;
use crate::device::{RecordFile, RecordKind};
use crate::process::{Errno, fds};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::Arc;

/// Makes a file, whose descriptor goes to attribute 0x1000.
pub(super) fn alloc(context: &Context, request: &Request, kind: RecordKind) -> Result<(), Errno> {
    let (file, program) = RecordFile::new(kind)?;
    // Descriptors are not negative.
    request.put_handle(0x1000, program.as_raw_fd() as u32)?;
    context.record_files.add(&file);
    fds::insert(program.as_raw_fd(), file)?;
    // The program's from now on.
    let _ = program.into_raw_fd();
    Ok(())
}

/// The file of one of these kinds that the descriptor in attribute `id` names: `EBADF` if it is none of this context.
pub(super) fn named(
    context: &Context,
    request: &Request,
    id: u16,
    kinds: &[RecordKind],
) -> Result<Arc<RecordFile>, Errno> {
    let fd = RawFd::try_from(request.handle(id)?).map_err(|_| Errno::EBADF)?;
    let file: Arc<RecordFile> = fds::get_as(fd).ok_or(Errno::EBADF)?;
    if kinds.contains(&file.kind) && context.record_files.has(&file) { Ok(file) } else { Err(Errno::EBADF) }
}
