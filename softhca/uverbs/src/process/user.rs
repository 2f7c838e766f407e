//! Memory of the program, reached as a kernel reaches it: a bad pointer is an error, not a crash.
//!
//! A system may lack the calls for it: qemu-user has none, and a container may forbid them. Then the memory of this
//! process goes through a pipe. The kernel checks a pipe's buffers as well.

use super::errno::Errno;
use super::real;
use rustix::pipe::{PipeFlags, pipe_with};
use std::os::fd::AsRawFd;
use zerocopy::IntoBytes;

/// Bytes that an empty pipe takes at once (`PIPE_BUF` of pipe(7)).
const PIPE_BYTES: usize = 4096;

/// The process that this is.
pub(crate) fn own_pid() -> libc::pid_t {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getpid() }
}

/// Whether the system lacks the calls, as qemu-user does.
pub(crate) fn lacks_calls() -> bool {
    // SAFETY: vectors without parts; nothing is copied.
    let copied = unsafe { libc::process_vm_readv(own_pid(), std::ptr::null(), 0, std::ptr::null(), 0, 0) };
    copied < 0 && Errno::last() == Errno::ENOSYS
}

/// Copies from the program's memory at `addr`.
pub(crate) fn read(addr: u64, out: &mut [u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: out.as_mut_ptr().cast(), iov_len: out.len() };
    let remote = libc::iovec { iov_base: addr as *mut libc::c_void, iov_len: out.len() };
    // SAFETY: the local vector is `out`, borrowed mutably; the kernel checks the remote one.
    let copied = unsafe { libc::process_vm_readv(own_pid(), &local, 1, &remote, 1, 0) };
    if is_refused(copied) {
        // SAFETY: to `out`, borrowed mutably.
        return unsafe { copy_by_pipe(addr, out.as_mut_ptr() as u64, out.len()) };
    }
    whole(copied, out.len())
}

/// Copies to the program's memory at `addr`.
pub(crate) fn write(addr: u64, data: &[u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    let remote = libc::iovec { iov_base: addr as *mut libc::c_void, iov_len: data.len() };
    // SAFETY: the local vector is only read from; the kernel checks the remote one. That the program gave the address
    // of memory of its own for it, an output buffer or registered memory, is the contract of ioctl, and of verbs.
    let copied = unsafe { libc::process_vm_writev(own_pid(), &local, 1, &remote, 1, 0) };
    if is_refused(copied) {
        // SAFETY: the program gave the address for this, as above.
        return unsafe { copy_by_pipe(data.as_ptr() as u64, addr, data.len()) };
    }
    whole(copied, data.len())
}

/// Whether the system has refused the call itself, for memory that a pipe reaches as well.
fn is_refused(copied: isize) -> bool {
    copied < 0 && [Errno::ENOSYS, Errno::EPERM].contains(&Errno::last())
}

/// Copies bytes within this process. The kernel checks both addresses.
///
/// # Safety
/// If there is memory at `to`, the caller may write to it.
unsafe fn copy_by_pipe(from: u64, to: u64, len: usize) -> Result<(), Errno> {
    let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
    for start in (0..len).step_by(PIPE_BYTES) {
        let part = PIPE_BYTES.min(len - start);
        let [from, to] = [from, to].map(|addr| addr.wrapping_add(start as u64));
        // SAFETY: the kernel only reads at the address.
        let sent = unsafe { real::write(write_end.as_raw_fd(), from as *const libc::c_void, part) };
        whole(sent, part)?;
        // SAFETY: the caller promises that it may write to the memory at `to`, if there is any.
        let received = unsafe { real::read(read_end.as_raw_fd(), to as *mut libc::c_void, part) };
        whole(received, part)?;
    }
    Ok(())
}

/// Whether a call has copied all of `len` bytes.
pub(crate) fn whole(copied: isize, len: usize) -> Result<(), Errno> {
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
        let (own, constant) = ((&raw mut byte) as u64, b"constant".as_ptr() as u64);
        assert_eq!(write(constant, b"variable"), Err(Errno::EFAULT));
        for (from, to) in [(8, own), (own, 8), (own, constant)] {
            // SAFETY: to a byte of this test's, or to no memory that can be written.
            assert_eq!(unsafe { copy_by_pipe(from, to, 1) }, Err(Errno::EFAULT));
        }
    }

    #[test]
    fn a_pipe_copies_any_length() {
        let data: Vec<u8> = (0..3 * PIPE_BYTES + 5).map(|index| (index % 251) as u8).collect();
        for len in [0, 1, PIPE_BYTES, PIPE_BYTES + 1, data.len()] {
            let mut out = vec![0; len + 1];
            // SAFETY: to `out`, which nothing else uses.
            assert_eq!(unsafe { copy_by_pipe(data.as_ptr() as u64, out.as_mut_ptr() as u64, len) }, Ok(()));
            assert_eq!((&out[..len], out[len]), (&data[..len], 0));
        }
    }

    #[test]
    fn short_structures_are_filled_with_zeros() {
        let bytes = 0x1122_3344_5566_7788_u64.to_le_bytes();
        let value: [u8; 8] = read_prefix(bytes.as_ptr() as u64, 3).unwrap();
        assert_eq!(value, [0x88, 0x77, 0x66, 0, 0, 0, 0, 0]);
    }
}
