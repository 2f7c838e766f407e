//! BAR 0 as a process maps it. Loads read memory that the object keeps equal to the registers. Stores are trapped, one
//! by one (`strict`), and reach the function before the next instruction of the thread.
//!
//! This works with several threads. The function has seen a store, and the memory shows its effect, before the storing
//! thread continues; its next load finds the effect. Registers that change by themselves (timer, health counter) are at
//! most a few milliseconds old. Trapped loads would be exact, but cost two signals a load, for any instruction that
//! reads memory.
//!
//! The file is sealed: only the object has a writable mapping of it. If the program asks the kernel for a writable
//! mapping by a system call of its own, the kernel refuses, so no store is lost.

use crate::process::fds::Own;
use crate::process::{Errno, Mapping, real};
use crate::strict::{self, Trapped};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use softhca::pci::{BAR_BYTES, Function};
use softhca::uar::UAR_PAGE_BYTES;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where the registers are that can be read: the initialization segment is in the first two pages.
const REGISTER_BYTES: usize = 2 * UAR_PAGE_BYTES;
/// Registers, from byte to byte; all others are zeros: identity, command queue, health; timer and health counter
/// (`struct mlx5_init_seg`).
const REGISTERS: [std::ops::Range<usize>; 2] = [0..0x240, 0x1000..0x1020];

/// The memory.
#[derive(Debug)]
pub(super) struct Bar {
    _own: Own,
    file: OwnedFd,
    /// Our mapping of the registers.
    registers: Mapping,
}

impl Bar {
    /// Memory of zeros.
    pub(super) fn new() -> Result<Self, Errno> {
        let file = memfd_create("softhca-vfio", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, BAR_BYTES)?;
        let registers = Mapping::of(file.as_raw_fd(), 0, REGISTER_BYTES)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL)?;
        Ok(Self { _own: Own::new(&file), file, registers })
    }

    /// Our descriptor for the memory.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Shows the registers of `function`.
    pub(super) fn show(&self, function: &mut Function) {
        for range in REGISTERS {
            let mut bytes = [0; REGISTERS[0].end];
            let bytes = &mut bytes[..range.len()];
            function.read(range.start as u64, bytes);
            for (index, word) in (range.start / 4..).zip(bytes.chunks_exact(4)) {
                let word = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
                // SAFETY: inside of the mapping, and aligned; whoever else has the memory only reads it.
                let place = unsafe { AtomicU32::from_ptr(self.registers.at().cast::<u32>().add(index)) };
                // Lines that do not change stay in the readers' caches.
                if place.load(Ordering::Relaxed) != word {
                    place.store(word, Ordering::Release);
                }
            }
        }
    }

    /// Maps `len` bytes at byte `at` for the program, at `address` if that is not null (`vfio_pci_core_mmap`). A store
    /// there rings `trapped`.
    pub(super) fn map(
        &self,
        trapped: &'static Trapped,
        address: *mut libc::c_void,
        len: usize,
        (protection, flags): (i32, i32),
        at: u64,
    ) -> Result<*mut libc::c_void, Errno> {
        let len = len.checked_next_multiple_of(UAR_PAGE_BYTES).ok_or(Errno::EINVAL)?;
        let end = at.checked_add(len as u64).ok_or(Errno::EINVAL)?;
        let shared = matches!(flags & libc::MAP_TYPE, libc::MAP_SHARED | libc::MAP_SHARED_VALIDATE);
        if !shared || end > BAR_BYTES || at % (UAR_PAGE_BYTES as u64) != 0 {
            return Err(Errno::EINVAL);
        }
        let can_store = protection & libc::PROT_WRITE != 0;
        let protection = protection & !libc::PROT_WRITE;
        // SAFETY: the program asks for a mapping, and answers for the mappings that it replaces, as with the kernel.
        let mapped = unsafe { real::mmap(address, len, protection, flags, self.file.as_raw_fd(), at as libc::off_t) };
        if mapped == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        if can_store {
            // There are fewer than 2^32 pages.
            let first = (at / UAR_PAGE_BYTES as u64) as u32;
            strict::watch(trapped, mapped as usize, len, first).inspect_err(|_| {
                // SAFETY: unmaps the mapping made above.
                unsafe { real::munmap(mapped, len) };
            })?;
        }
        Ok(mapped)
    }
}
