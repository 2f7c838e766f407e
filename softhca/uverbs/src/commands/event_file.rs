//! Event files: completion channels, and the file for asynchronous events.

use super::request::Request;
use crate::abi::{AsyncEvent, CompEvent};
use crate::context::Context;
use crate::device::EventPipe;
use crate::process::{Errno, fds};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;

/// Gives the program its end, known as an event file of `context` from now on.
fn hand_over(context: &Context, pipe: EventPipe, program: OwnedFd) -> Result<(Arc<EventPipe>, RawFd), Errno> {
    let pipe = Arc::new(pipe);
    context.event_files.add(&pipe);
    let fd = program.as_raw_fd();
    fds::insert(fd, pipe.clone())?;
    Ok((pipe, program.into_raw_fd()))
}

/// `CREATE_COMP_CHANNEL`.
pub(crate) fn create_channel(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let _: u64 = request.core_in()?;
    let (pipe, program) = EventPipe::new(size_of::<CompEvent>())?;
    let (_, fd) = hand_over(context, pipe, program)?;
    request.core_out(&fd)
}

/// `ASYNC_EVENT_ALLOC`: 0 descriptor.
pub(crate) fn alloc_async(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let (pipe, program) = EventPipe::new(size_of::<AsyncEvent>())?;
    let (pipe, fd) = hand_over(context, pipe, program)?;
    context.offer_async_events(pipe);
    // Descriptors are not negative.
    request.put_handle(0, fd as u32)
}

/// The event file that a descriptor in attribute `id` names, if the attribute is there. One of another open device is
/// none here (Linux `drivers/infiniband/core/rdma_core.c`, `lookup_get_fd_uobject`).
pub(super) fn named(context: &Context, request: &Request, id: u16) -> Result<Option<Arc<EventPipe>>, Errno> {
    let Some(fd) = request.optional_handle(id) else { return Ok(None) };
    let pipe = RawFd::try_from(fd).ok().and_then(fds::get_as).filter(|pipe| context.event_files.has(pipe));
    pipe.map(Some).ok_or(Errno::EBADF)
}
