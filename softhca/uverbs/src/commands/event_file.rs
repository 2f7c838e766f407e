//! Event files: completion channels, and the file for asynchronous events.

use super::request::Request;
use crate::abi::{AsyncEvent, CompEvent, CreateCompChannelResp};
use crate::context::Context;
use crate::device::EventPipe;
use crate::process::{Errno, fds};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;

/// Gives the program its end, known as an event file from now on.
fn hand_over(pipe: EventPipe, program: OwnedFd) -> Result<(Arc<EventPipe>, RawFd), Errno> {
    let pipe = Arc::new(pipe);
    let fd = program.as_raw_fd();
    fds::insert(fd, pipe.clone())?;
    Ok((pipe, program.into_raw_fd()))
}

/// `CREATE_COMP_CHANNEL`.
pub(crate) fn create_channel(_: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let _: u64 = request.core_in()?;
    let (pipe, program) = EventPipe::new(size_of::<CompEvent>())?;
    let (_, fd) = hand_over(pipe, program)?;
    request.core_out(&CreateCompChannelResp { fd })
}

/// `ASYNC_EVENT_ALLOC`: 0 descriptor.
pub(crate) fn alloc_async(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let (pipe, program) = EventPipe::new(size_of::<AsyncEvent>())?;
    let (pipe, fd) = hand_over(pipe, program)?;
    context.offer_async_events(pipe);
    // Descriptors are not negative.
    request.put_handle(0, fd as u32)
}

/// The event file that a descriptor in attribute `id` names, if the attribute is there.
pub(super) fn named(request: &Request, id: u16) -> Result<Option<Arc<EventPipe>>, Errno> {
    let Some(fd) = request.optional_handle(id) else { return Ok(None) };
    RawFd::try_from(fd).ok().and_then(fds::get_as).map(Some).ok_or(Errno::EBADF)
}
