//! Memory of another process, by its number: how a borrower of a responder reaches the owner's memory.
//!
//! The process may end, or start another program, at any moment, and its number may be given to a new one. So each
//! device has a page at a random address, its landing. Each access begins there: a write stores to a word of it, a read
//! reads a random number. The kernel looks the process up once for the whole access, and copies in order. Where there
//! is no landing, nothing is written, and the device forgets the bytes that it has read.
//!
//! The kernel's conditions are those of ptrace(2) (process_vm_readv(2)): the same user, and no lost privileges. Where it
//! refuses, requests go by packets. Yama adds that only parents reach their children, unless these let others, too. A
//! process that has a device does. So the processes of its user reach its memory, as they do on a machine without Yama.

use std::{io, num::NonZeroU32, ptr::NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::memory::page_bytes;
use crate::wire::loan::MOST;

/// Most pieces of memory of this process in one access, besides that for the landing.
const PIECES: usize = 2 * MOST;

/// Offset in the landing of the word that writers store to. The random number is at its start.
const WORD: u64 = 64;

/// Where processes seldom have anything: bit 45 of an address is set, and no higher one. A kernel with smaller addresses
/// chooses others.
const REGION: u64 = 1 << 45;

/// The landing of a device.
#[derive(Debug)]
pub(super) struct Landing {
    page: NonNull<u8>,
    number: u64,
}

// SAFETY: the page is the device's own, and nobody makes a reference to it.
unsafe impl Send for Landing {}
// SAFETY: as above; it is not accessed after it was made but by the kernel, for peers.
unsafe impl Sync for Landing {}

impl Landing {
    /// A page at a random address.
    pub(super) fn new() -> io::Result<Self> {
        let [place, number] = random()?;
        let bytes = page_bytes();
        let hint = (REGION | place & (REGION - 1)) & !(bytes as u64 - 1);
        let hint = usize::try_from(hint).unwrap_or(0);
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: without MAP_FIXED, a new mapping replaces nothing.
        let page = unsafe { mmap_anonymous(std::ptr::without_provenance_mut(hint), bytes, rights, MapFlags::PRIVATE) }?;
        let page = NonNull::new(page.cast::<u8>()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        // SAFETY: a page of ours that nobody knows yet; pages are aligned.
        unsafe { page.cast::<u64>().write(number) };
        // Kernels without Yama refuse it, and need no leave.
        // SAFETY: changes no memory.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
        Ok(Self { page, number })
    }

    /// As peers know it.
    pub(super) fn place(&self) -> Place {
        Place { address: self.page.as_ptr().expose_provenance() as u64, number: self.number }
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        // SAFETY: our mapping, which only the kernel uses, for peers that then find nothing.
        let _ = unsafe { munmap(self.page.as_ptr().cast(), page_bytes()) };
    }
}

/// A landing, as its address and its random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its address.
    pub(super) address: u64,
    /// The random number.
    pub(super) number: u64,
}

/// Two random numbers.
fn random() -> io::Result<[u64; 2]> {
    let mut numbers = [0_u64; 2];
    let bytes = size_of_val(&numbers);
    // SAFETY: the kernel writes at most `bytes` bytes to `numbers`.
    let got = unsafe { libc::syscall(libc::SYS_getrandom, numbers.as_mut_ptr(), bytes, libc::GRND_NONBLOCK) };
    if got == bytes as libc::c_long { Ok(numbers) } else { Err(io::Error::last_os_error()) }
}

/// Another process, whose device has a landing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    pub(super) number: NonZeroU32,
    pub(super) landing: Place,
}

/// A piece of memory of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) address: u64,
    pub(super) len: usize,
}

/// The kernel does not let this process reach the other one, or it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

impl Process {
    /// Copies `local` memory of this process, addresses and lengths, to `there`, or from there; how many bytes, in order.
    pub(super) fn copy(&self, write: bool, local: &[(u64, usize)], there: &[Piece]) -> Result<usize, Refused> {
        let mut landed = 0_u64;
        let len: usize = there.iter().map(|piece| piece.len).sum();
        let mut here = [EMPTY; PIECES + 1];
        here[0] = libc::iovec { iov_base: (&raw mut landed).cast(), iov_len: size_of_val(&landed) };
        // Of more requests than are granted, or with more pieces than there is room for, the rest is not reached.
        let mut left = len;
        let mut count = 1;
        for (to, &(address, bytes)) in here[1..].iter_mut().zip(local) {
            let bytes = bytes.min(left);
            if bytes == 0 {
                break;
            }
            *to = vector(address, bytes);
            left -= bytes;
            count += 1;
        }
        let mut remote = [EMPTY; MOST + 1];
        remote[0] = vector(self.landing.address + if write { WORD } else { 0 }, size_of_val(&landed));
        remote[1..].iter_mut().zip(there).for_each(|(to, piece)| *to = vector(piece.address, piece.len));
        let (here, there, no_flags) = (&here[..count], &remote[..=there.len()], 0 as libc::c_ulong);
        let call = if write { libc::SYS_process_vm_writev } else { libc::SYS_process_vm_readv };
        let number = self.number.get() as libc::c_long;
        // SAFETY: the kernel reads the two lists, which are as long as it is told. It writes to
        // `landed`, and to memory that the driver of this device has named for it. It checks all memory as it copies.
        let copied =
            unsafe { libc::syscall(call, number, here.as_ptr(), here.len(), there.as_ptr(), there.len(), no_flags) };
        let copied = match usize::try_from(copied) {
            Ok(copied) => copied.saturating_sub(size_of_val(&landed)),
            // No memory is there, at the landing or here.
            Err(_) if io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT) => 0,
            Err(_) => return Err(Refused),
        };
        if !write && copied > 0 && landed != self.landing.number { Err(Refused) } else { Ok(copied) }
    }
}

const EMPTY: libc::iovec = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };

/// Addresses are of 64 bits in shared memory. One that a process cannot have becomes one where nothing is.
fn vector(address: u64, len: usize) -> libc::iovec {
    let base = usize::try_from(address).unwrap_or(0);
    libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(base), iov_len: len }
}
