//! Memory of the program, reached as a kernel reaches it: a bad pointer is an error, not a crash.
//!
//! A system may lack the calls for it: qemu-user has none, and a container may forbid them. Then the memory of this
//! process goes through a pipe. The kernel checks a pipe's buffers as well.

use super::errno::Errno;
use super::real;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use zerocopy::IntoBytes;

/// Bytes that an empty pipe takes at once (`PIPE_BUF` of pipe(7)).
const PIPE_BYTES: usize = 4096;

/// Copies from the program's memory at `addr`.
pub(crate) fn read(addr: u64, out: &mut [u8]) -> Result<(), Errno> {
    read_of(own_pid(), addr, out)
}

/// Copies to the program's memory at `addr`.
pub(crate) fn write(addr: u64, data: &[u8]) -> Result<(), Errno> {
    write_of(own_pid(), addr, data)
}

/// The process that this is.
pub(crate) fn own_pid() -> libc::pid_t {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getpid() }
}

/// Copies from the memory of process `pid` at `addr`.
pub(crate) fn read_of(pid: libc::pid_t, addr: u64, out: &mut [u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: out.as_mut_ptr().cast(), iov_len: out.len() };
    let remote = libc::iovec { iov_base: addr as *mut libc::c_void, iov_len: out.len() };
    // SAFETY: the local vector is `out`, borrowed mutably; the kernel checks the remote one.
    let copied = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
    if is_refused(copied, pid) {
        return read_by_pipe(addr, out);
    }
    whole(copied, out.len())
}

/// Copies to the memory of process `pid` at `addr`.
pub(crate) fn write_of(pid: libc::pid_t, addr: u64, data: &[u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    let remote = libc::iovec { iov_base: addr as *mut libc::c_void, iov_len: data.len() };
    // SAFETY: the local vector is only read from; the kernel checks the remote one. That the program gave the address
    // of memory of its own for it, an output buffer or registered memory, is the contract of ioctl, and of verbs.
    let copied = unsafe { libc::process_vm_writev(pid, &local, 1, &remote, 1, 0) };
    if is_refused(copied, pid) {
        return write_by_pipe(addr, data);
    }
    whole(copied, data.len())
}

/// Whether the system has refused the call itself, for memory that a pipe reaches as well.
fn is_refused(copied: isize, pid: libc::pid_t) -> bool {
    copied < 0 && pid == own_pid() && [Errno::ENOSYS, Errno::EPERM].contains(&Errno::last())
}

/// A pipe: the end to read from, and the end to write to.
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let mut ends = [0; 2];
    // SAFETY: the call writes two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(Errno::last());
    }
    // SAFETY: descriptors that the call has just made.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Copies from this process' memory at `addr`.
fn read_by_pipe(addr: u64, out: &mut [u8]) -> Result<(), Errno> {
    let (read_end, write_end) = pipe()?;
    let mut addr = addr;
    for part in out.chunks_mut(PIPE_BYTES) {
        // SAFETY: the kernel checks the address, and only reads there.
        let sent = unsafe { real::write(write_end.as_raw_fd(), addr as *const libc::c_void, part.len()) };
        whole(sent, part.len())?;
        // SAFETY: the bytes of `part`, borrowed mutably.
        let received = unsafe { real::read(read_end.as_raw_fd(), part.as_mut_ptr().cast(), part.len()) };
        whole(received, part.len())?;
        addr = addr.wrapping_add(part.len() as u64);
    }
    Ok(())
}

/// Copies to this process' memory at `addr`.
fn write_by_pipe(addr: u64, data: &[u8]) -> Result<(), Errno> {
    let (read_end, write_end) = pipe()?;
    let mut addr = addr;
    for part in data.chunks(PIPE_BYTES) {
        // SAFETY: the bytes of `part`.
        let sent = unsafe { real::write(write_end.as_raw_fd(), part.as_ptr().cast(), part.len()) };
        whole(sent, part.len())?;
        // SAFETY: the kernel checks the address; the program gave it for this, as in `write_of`.
        let received = unsafe { real::read(read_end.as_raw_fd(), addr as *mut libc::c_void, part.len()) };
        whole(received, part.len())?;
        addr = addr.wrapping_add(part.len() as u64);
    }
    Ok(())
}

fn whole(copied: isize, len: usize) -> Result<(), Errno> {
    if usize::try_from(copied) == Ok(len) { Ok(()) } else { Err(Errno::EFAULT) }
}

/// Reads a structure of which the program may know only the first `len` bytes: the rest is zero.
pub(crate) fn read_prefix<T: zerocopy::FromBytes + IntoBytes>(addr: u64, len: usize) -> Result<T, Errno> {
    let mut value = T::new_zeroed();
    let bytes = value.as_mut_bytes();
    let len = len.min(bytes.len());
    read(addr, &mut bytes[..len])?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_pointers_are_errors() {
        let mut byte = [0];
        assert_eq!(read(8, &mut byte), Err(Errno::EFAULT));
        assert_eq!(write(8, &byte), Err(Errno::EFAULT));
        assert_eq!(read_by_pipe(8, &mut byte), Err(Errno::EFAULT));
        assert_eq!(write_by_pipe(8, &byte), Err(Errno::EFAULT));
        let constant = b"constant".as_ptr() as u64;
        assert_eq!(write(constant, b"variable"), Err(Errno::EFAULT));
        assert_eq!(write_by_pipe(constant, b"variable"), Err(Errno::EFAULT));
    }

    #[test]
    fn a_pipe_copies_any_length() {
        let data: Vec<u8> = (0..3 * PIPE_BYTES + 5).map(|index| (index % 251) as u8).collect();
        for len in [0, 1, PIPE_BYTES, PIPE_BYTES + 1, data.len()] {
            let mut out = vec![0; len];
            assert_eq!(read_by_pipe(data.as_ptr() as u64, &mut out), Ok(()));
            assert_eq!(out, data[..len]);
            let to = std::cell::UnsafeCell::new(vec![0_u8; len + 1]);
            // SAFETY: a local; nothing else refers to it.
            let at = unsafe { (*to.get()).as_mut_ptr() } as u64;
            assert_eq!(write_by_pipe(at, &data[..len]), Ok(()));
            let to = to.into_inner();
            assert_eq!((&to[..len], to[len]), (&data[..len], 0));
        }
    }

    #[test]
    fn short_structures_are_filled_with_zeros() {
        let bytes = 0x1122_3344_5566_7788_u64.to_le_bytes();
        let value: [u8; 8] = read_prefix(bytes.as_ptr() as u64, 3).unwrap();
        assert_eq!(value, [0x88, 0x77, 0x66, 0, 0, 0, 0, 0]);
    }
}
