//! s390x. The CPU keeps stores in order and loads in order (z/Architecture Principles of Operation, SA22-7832, chapter
//! 5, "Storage-Operand Consistency"). So towards memory a compiler barrier is enough. Ordinary stores do not reach
//! device memory at all; PCI instructions do, see `mio.rs`.
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// A compiler barrier. rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: compiler barrier.
#[inline(always)]
pub fn to_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// A compiler barrier. rdma-core `util/udma_barrier.h`, `udma_from_device_barrier`: compiler barrier.
#[inline(always)]
pub fn from_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// Same as [`from_device`], by a serializing instruction that the architecture does not require here: `bcr 15, 0`.
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: `bcr 15, 0` branches nowhere; it serializes and changes no register, flag or memory.
    unsafe { asm!("bcr 15, 0", options(nostack, preserves_flags)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to a device register. Implies [`to_device`].
///
/// rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `pciwb`, PCI write barrier, when the PCI instructions are in use
/// (see `enable_pci_instructions`), else a compiler barrier.
#[inline(always)]
pub fn mmio_wc_start() {
    mmio_flush_writes();
}

/// Sends buffered stores to the device now, and keeps later stores from combining with them.
///
/// rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `pciwb` (`util/s390_mmio_insn.h`: `.insn rre,0xb9d50000,0,0`).
#[inline(always)]
pub fn mmio_flush_writes() {
    to_device();
    if super::mio::pci_instructions() {
        // SAFETY: `pciwb` waits for this CPU's PCI stores; it has no operands and changes no register, flag or memory.
        // The caller of `enable_pci_instructions` vouched that the machine has it.
        unsafe { asm!(".insn rre,0xb9d50000,0,0", options(nostack, preserves_flags)) }
    }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// It equals [`mmio_flush_writes`]: we do not know when a full buffer leaves by itself here, and UCX does not say.
#[inline(always)]
pub fn mmio_wc_hint() {
    mmio_flush_writes();
}
