//! The connection manager: `/dev/infiniband/rdma_cm`, answered as a kernel does on Ethernet ports.
//!
//! ```text
//!  program -- librdmacm --write, poll--> `interpose` -- [commands] -- ids, conversations ([manager]) -- [thread]
//!                                            |                              |  ^
//!                                         [events]                      [mad]  |  QP 1 of the device, on its wire
//!                                                                           v  |
//!                                              ports of all processes: [ports]
//! ```
//!
//! Processes of a fabric together play one machine. Its addresses are the ports' GIDs ([`softhca_settings::find_gid`]);
//! the fabric's directory records which process listens on a port (`ports`). Messages have the formats of InfiniBand's
//! communication manager (`mad`), and are sent as datagrams from QP 1 to QP 1 (`softhca::gsi`). So they travel like
//! packets, and get lost like packets. If a process dies, the others find its place in the fabric empty, and go on as
//! if its kernel had said goodbye.
//!
//! This module knows devices, but not the commands of their files.
//!
//! There are no alternate paths, and nothing on InfiniBand ports, where IP addresses would need IPoIB interfaces.

mod abi;
mod address;
mod commands;
mod conversation;
mod establish;
mod events;
mod id;
mod mad;
mod manager;
mod multicast;
mod peer;
mod ports;
mod qp_attr;
mod query;
mod receive;
mod requests;
mod thread;

/// The locks of this module, for forks.
pub(crate) static LOCKS: [&dyn crate::process::forked::StaticLock; 2] = [&thread::PROCESS, &manager::MANAGER];

pub(crate) use events::EventFile;

use crate::launch::settings;
use crate::process::fds::OpenFile;
use crate::process::{Errno, fds, user};
use abi::{CmdHdr, command as number};
use commands::Call;
use std::os::fd::RawFd;
use std::sync::Arc;

/// Whether `path` names the device file. A device that the program steps has no network, so no connections.
pub(crate) fn is_path(path: &[u8]) -> bool {
    path == b"/dev/infiniband/rdma_cm" && settings().is_some_and(|settings| !settings.sink)
}

/// Opens the device file with these flags; gives its descriptor.
pub(crate) fn open(flags: i32) -> Result<RawFd, Errno> {
    thread::start()?;
    let file = Arc::new(EventFile::new(flags)?);
    let fd = file.fd();
    fds::insert(fd, file).inspect_err(|_| {
        // SAFETY: a descriptor that was opened above, and that nobody else knows of.
        unsafe { libc::close(fd) };
    })?;
    Ok(fd)
}

impl OpenFile for EventFile {
    fn close(self: Arc<Self>, _: RawFd) {
        manager::close(&self);
    }
}

/// How a write goes on. Holds nothing that must be dropped.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// The file is another one.
    NotOurs,
    /// All was taken.
    Done,
    /// An error.
    Failed(Errno),
    /// An event must be waited for: read from the descriptor, then call [`next_event`].
    Wait,
}

impl From<Result<(), Errno>> for Step {
    fn from(result: Result<(), Errno>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Done)
    }
}

/// Has `run` work on the command that a program writes to `fd`: its number and the rest.
fn with_call(fd: RawFd, address: u64, run: impl FnOnce(u32, &Call<'_>) -> Step) -> Step {
    let Some(file) = fds::get_as::<EventFile>(fd) else { return Step::NotOurs };
    let header: Result<CmdHdr, _> = file.permits().and_then(|()| user::read_prefix(address, size_of::<CmdHdr>()));
    let header = match header {
        Ok(header) => header,
        Err(error) => return Step::Failed(error),
    };
    let call = Call {
        file: &file,
        address: address + size_of::<CmdHdr>() as u64,
        len_in: header.len_in.into(),
        len_out: header.len_out.into(),
    };
    run(header.cmd, &call)
}

/// Carries out the command of `len` bytes at `address`, written to `fd`.
pub(crate) fn command(fd: RawFd, address: u64, len: usize) -> Step {
    with_call(fd, address, |number, call| {
        if len < size_of::<CmdHdr>() || call.len_in + size_of::<CmdHdr>() > len {
            return Step::Failed(Errno::EINVAL);
        }
        if number == number::GET_EVENT {
            return commands::event_fits(call).map_or_else(Step::Failed, |()| Step::Wait);
        }
        let result = commands::run(number, call);
        log::debug!("command {number}: {result:?}");
        // A deadline may have come nearer.
        thread::look();
        result.into()
    })
}

/// Gives the program the event that it has waited for.
pub(crate) fn next_event(fd: RawFd, address: u64) -> Step {
    with_call(fd, address, |_, call| commands::next_event(call).map_or(Step::Wait, Step::from))
}
