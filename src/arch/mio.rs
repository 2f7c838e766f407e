//! Register stores on s390x: PCI instructions (z15 and later) reach device memory; ordinary stores do not.
//!
//! A bit of the auxiliary vector says whether the machine has these instructions. This crate has no C library and
//! cannot read it. The instructions must also not write to a register that is ordinary memory (the software device,
//! tests). So ordinary stores are the default, and a program with a real device enables the instructions. If the
//! program forgets, its first doorbell faults.
use core::sync::atomic::{AtomicBool, Ordering};

use super::pci::{pci_store, pci_store_block};

static PCI_INSTRUCTIONS: AtomicBool = AtomicBool::new(false);

/// Whether register stores use the PCI instructions.
#[inline(always)]
pub(crate) fn pci_instructions() -> bool {
    PCI_INSTRUCTIONS.load(Ordering::Relaxed)
}

/// Makes every later register store of this process use the PCI instructions (`pcistgi`, `pcistbi`, `pciwb`).
///
/// Call it once, before the first doorbell, when `getauxval(AT_HWCAP)` has `HWCAP_S390_PCI_MIO` (rdma-core
/// `util/mmio.c`, `check_mio_supported`). Machines without the instructions need a system call for each doorbell; this
/// crate does not have it.
///
/// # Safety
///
/// The machine and its kernel have the unprivileged PCI instructions, and every register that this process rings from
/// now on is device memory. A rehearsal's register is none, so no rehearsal exists.
pub unsafe fn enable_pci_instructions() {
    PCI_INSTRUCTIONS.store(true, Ordering::Relaxed);
}

/// Writes one 8-byte doorbell to a device register: one 8-byte PCI store.
///
/// `value_in_memory_order` is the register's bytes as a native `u64`: for a big-endian register, `value.to_be()`.
///
/// # Safety
///
/// `dst` is 8-byte aligned and valid for an 8-byte write, by PCI instructions if those are enabled. That write may
/// make a device act on the work that the doorbell names.
#[inline(always)]
pub unsafe fn mmio_write64(dst: *mut u64, value_in_memory_order: u64) {
    if pci_instructions() {
        // SAFETY: enabling them vouched for the instructions and for every register being device memory.
        unsafe { pci_store(dst, value_in_memory_order) }
    } else {
        // SAFETY: the caller vouches for 8 aligned, writable bytes.
        unsafe { dst.write_volatile(value_in_memory_order) }
    }
}

/// Writes one 64-byte block to a BlueFlame register: one PCI block store.
///
/// # Safety
///
/// `dst` is 64-byte aligned and valid for a 64-byte write, by PCI instructions if those are enabled; that write may
/// make a device execute the block as a WQE.
#[inline(always)]
pub unsafe fn mmio_copy64(dst: *mut u64, words: &[u64; 8]) {
    if pci_instructions() {
        // SAFETY: enabling them vouched for the instructions and for every register being device memory; a 64-byte
        // aligned block crosses no 4096-byte boundary, and `words` is 64 readable bytes.
        unsafe { pci_store_block(dst, words.as_ptr()) }
    } else {
        for (i, word) in words.iter().enumerate() {
            // SAFETY: `i` is at most 7, within the 64 bytes that the caller vouches for.
            unsafe { dst.add(i).write_volatile(*word) };
        }
    }
}
