//! A dma-buf to try with: of memory of this process. In a program, a GPU's driver exports it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `struct udmabuf_create` (Linux `include/uapi/linux/udmabuf.h`).
#[repr(C)]
struct UdmabufCreate {
    memfd: u32,
    flags: u32,
    offset: u64,
    size: u64,
}

/// `UDMABUF_CREATE`: `_IOW('u', 0x42, struct udmabuf_create)`.
const UDMABUF_CREATE: libc::c_ulong = 0x4018_7542;
/// `UDMABUF_FLAGS_CLOEXEC`.
const CLOEXEC: u32 = 1;

/// A dma-buf of `bytes` bytes, whole pages, and the file by which this process reads and writes that memory.
///
/// Without `/dev/udmabuf`, the first is that file once more: the software device takes it in place of a dma-buf, and a
/// NIC refuses it.
///
/// # Errors
/// A failed call.
pub fn dmabuf(bytes: u64) -> io::Result<(OwnedFd, File)> {
    // SAFETY: the name is a string.
    let memory = unsafe { libc::memfd_create(c"dmabuf".as_ptr(), libc::MFD_ALLOW_SEALING | libc::MFD_CLOEXEC) };
    if memory < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor, which nothing else has.
    let memory = unsafe { File::from_raw_fd(memory) };
    memory.set_len(bytes)?;
    let Ok(device) = OpenOptions::new().read(true).write(true).open("/dev/udmabuf") else {
        return Ok((memory.try_clone()?.into(), memory));
    };
    let create = UdmabufCreate { memfd: memory.as_raw_fd() as u32, flags: CLOEXEC, offset: 0, size: bytes };
    // SAFETY: both descriptors are open, and the structure is the one that the call takes.
    let dmabuf = unsafe {
        libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK);
        libc::ioctl(device.as_raw_fd(), UDMABUF_CREATE, &raw const create)
    };
    if dmabuf < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor, which nothing else has.
    Ok((unsafe { OwnedFd::from_raw_fd(dmabuf) }, memory))
}
