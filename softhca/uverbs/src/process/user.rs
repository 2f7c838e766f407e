//! Memory of the program, reached as a kernel reaches it: a bad pointer is an error, not a crash.

use super::errno::Errno;
use zerocopy::IntoBytes;

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
    whole(copied, out.len())
}

/// Copies to the memory of process `pid` at `addr`.
pub(crate) fn write_of(pid: libc::pid_t, addr: u64, data: &[u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    let remote = libc::iovec { iov_base: addr as *mut libc::c_void, iov_len: data.len() };
    // SAFETY: the local vector is only read from; the kernel checks the remote one. That the program gave the address
    // of memory of its own for it, an output buffer or registered memory, is the contract of ioctl, and of verbs.
    let copied = unsafe { libc::process_vm_writev(pid, &local, 1, &remote, 1, 0) };
    whole(copied, data.len())
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
    }

    #[test]
    fn short_structures_are_filled_with_zeros() {
        let bytes = 0x1122_3344_5566_7788_u64.to_le_bytes();
        let value: [u8; 8] = read_prefix(bytes.as_ptr() as u64, 3).unwrap();
        assert_eq!(value, [0x88, 0x77, 0x66, 0, 0, 0, 0, 0]);
    }
}
