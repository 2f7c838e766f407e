//! LoongArch, 64 bit. `dbar 0` is the full barrier: it waits for all earlier loads and stores (LoongArch reference
//! manual, volume 1, 2.2.8.1). Newer cores have lighter hints; rdma-core uses none of them.
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: `dbar 0`.
#[inline(always)]
pub fn to_device() {
    // SAFETY: `dbar 0` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dbar 0", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// rdma-core `util/udma_barrier.h`, `udma_from_device_barrier`: `dbar 0`.
#[inline(always)]
pub fn from_device() {
    // SAFETY: `dbar 0` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dbar 0", options(nostack, preserves_flags)) }
}

/// Same as [`from_device`], which already uses rdma-core's instruction.
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: `dbar 0` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dbar 0", options(nostack, preserves_flags)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO. Implies
/// [`to_device`].
///
/// rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `dbar 0`.
#[inline(always)]
pub fn mmio_wc_start() {
    // SAFETY: `dbar 0` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dbar 0", options(nostack, preserves_flags)) }
}

/// Drains the CPU's write buffers to the device now, and keeps later stores from combining with the drained ones.
///
/// rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `dbar 0`.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: `dbar 0` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dbar 0", options(nostack, preserves_flags)) }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// It equals [`mmio_flush_writes`]: we do not know when a full buffer leaves by itself here, and UCX does not say.
#[inline(always)]
pub fn mmio_wc_hint() {
    mmio_flush_writes();
}
