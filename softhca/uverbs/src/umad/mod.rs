//! Management datagrams from user space: `/dev/infiniband/umadN`, a file for each port, answered as a kernel and its
//! subnet do.
//!
//! ```text
//!  program -- libibumad --write--> `interpose` -- [file] -- [route] -- [sma]: nodes, ports, tables
//!                 ^                                  |        |------- [pma]: counters
//!                 '------read------------------------'        '------- [sa]: tables of the manager
//! ```
//!
//! The ports of all devices of the launcher answer, in whatever process the question is asked: their facts are those
//! that the launcher writes into sysfs. On Ethernet ports there is no QP 0, hence no subnet management.
//!
//! A program cannot answer requests: its agents get answers only. Datagrams do not cross the wire, so a bad network
//! loses none of them, and a capture has none.

mod abi;
mod agent;
mod file;
mod groups;
mod mad;
mod pma;
mod route;
mod sa;
mod sma;
mod subnet;
mod timer;

pub(crate) use file::UmadFile;
pub(crate) use groups::LOCKS;

use crate::launch::settings;
use crate::process::{Errno, fds};
use softhca_settings::{port_at, port_index};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::Arc;
use subnet::Port;

/// The number of the file that `path` names: `/dev/infiniband/umadN` for an N that exists.
pub(crate) fn index(path: &[u8]) -> Option<u32> {
    let number = path.strip_prefix(b"/dev/infiniband/umad")?;
    let number: u32 = std::str::from_utf8(number).ok()?.parse().ok()?;
    port_at(settings()?, number).map(|_| number)
}

/// Opens file `index` with these flags; gives its descriptor.
pub(crate) fn open(index: u32, flags: i32) -> Result<RawFd, Errno> {
    let settings = settings().ok_or(Errno::ENOENT)?;
    let (device, number) = port_at(settings, index).ok_or(Errno::ENXIO)?;
    let (file, program) = UmadFile::new(Port { device, number }, settings.clone(), flags)?;
    fds::insert(program.as_raw_fd(), file)?;
    Ok(program.into_raw_fd())
}

/// The file that `fd` is open for.
pub(crate) fn find(fd: RawFd) -> Option<Arc<UmadFile>> {
    if fds::is_ours(fd) { fds::get_as(fd) } else { None }
}

/// Whether `request` of `ioctl` has the letter of these files. Linux answers others for each file, or refuses them.
pub(crate) fn is_request(request: u64) -> bool {
    request >> 8 & 0xff == abi::LETTER.into()
}

/// The number of the file that `fd` is open for.
pub(crate) fn index_of(fd: RawFd) -> Option<u32> {
    let Port { device, number } = find(fd)?.port;
    settings().map(|settings| port_index(settings, device, number))
}

/// Three devices of two ports, on no network.
#[cfg(test)]
pub(crate) fn test_settings(link: &str) -> softhca_settings::Settings {
    let set = |name: &str| match name {
        "SOFTHCA_DEVICES" => Some("3"),
        "SOFTHCA_PORTS" => Some("2"),
        "SOFTHCA_LINK" => Some(link),
        "SOFTHCA_GENERATION" => Some("connectx5"),
        "SOFTHCA_INLINE_HEADERS" => Some("none"),
        "SOFTHCA_MEMLOCK" => Some("linux"),
        "SOFTHCA_CLOCK" => Some("free-running"),
        "SOFTHCA_FABRIC" => Some("/nowhere"),
        _ => None,
    };
    let settings = softhca_settings::Settings::from_env(|name| set(name).map(Into::into));
    settings.expect("settings").expect("devices")
}
