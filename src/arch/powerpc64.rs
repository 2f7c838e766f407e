//! 64-bit PowerPC, both byte orders.
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// `sync` (`hwsync`) orders all accesses, of every storage class (Power ISA, book II, 4.6.3). The store after the
/// barrier may be to cache-inhibited memory, which `lwsync` does not order.
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: `sync`.
#[inline(always)]
pub fn to_device() {
    // SAFETY: `sync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("sync", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// `lwsync` orders loads from ordinary memory among themselves.
/// rdma-core `util/udma_barrier.h`, `udma_from_device_barrier`: `lwsync`.
#[inline(always)]
pub fn from_device() {
    // SAFETY: `lwsync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("lwsync", options(nostack, preserves_flags)) }
}

/// Does what [`from_device`] does, by the full `sync`, which also orders cache-inhibited accesses.
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: `sync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("sync", options(nostack, preserves_flags)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO. Implies
/// [`to_device`].
///
/// `sync` orders stores to ordinary memory before stores to cache-inhibited memory.
/// rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `sync`.
#[inline(always)]
pub fn mmio_wc_start() {
    // SAFETY: `sync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("sync", options(nostack, preserves_flags)) }
}

/// Drains the CPU's write buffers to the device now, and keeps later stores from combining with the drained ones.
///
/// `sync` ends combining and orders the store before all that follows.
/// rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `sync`.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: `sync` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("sync", options(nostack, preserves_flags)) }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// Same as [`mmio_flush_writes`]: we do not know when a full buffer leaves by itself here. UCX
/// (`src/ucs/arch/ppc64/cpu.h`) has nothing there.
#[inline(always)]
pub fn mmio_wc_hint() {
    mmio_flush_writes();
}
