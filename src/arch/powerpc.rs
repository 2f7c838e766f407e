//! 32-bit PowerPC. `sync` everywhere: 32-bit implementations need not have `lwsync`.
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// `sync` orders all accesses, of every storage class (Power ISA, book II, 4.6.3).
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: `sync`.
#[inline(always)]
pub fn to_device() {
    // SAFETY: `sync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("sync", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// rdma-core `util/udma_barrier.h`, `udma_from_device_barrier`: `sync`.
#[inline(always)]
pub fn from_device() {
    // SAFETY: `sync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("sync", options(nostack, preserves_flags)) }
}

/// Same as [`from_device`], which already uses rdma-core's instruction.
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: `sync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("sync", options(nostack, preserves_flags)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO. Implies
/// [`to_device`].
///
/// rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `sync`.
#[inline(always)]
pub fn mmio_wc_start() {
    // SAFETY: `sync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("sync", options(nostack, preserves_flags)) }
}

/// Drains the CPU's write buffers to the device now, and keeps later stores from combining with the drained ones.
///
/// rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `sync`.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: `sync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("sync", options(nostack, preserves_flags)) }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// It equals [`mmio_flush_writes`]: we do not know when a full buffer leaves by itself here, and UCX does not say.
#[inline(always)]
pub fn mmio_wc_hint() {
    mmio_flush_writes();
}
