//! 32-bit Arm, version 7 and later (`dmb` and `dsb` do not exist before). rdma-core does not support 32-bit Arm. The
//! instructions are those of Linux (`arch/arm/include/asm/barrier.h`: `dma_wmb`, `dma_rmb`, `wmb`).
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// `dmb oshst`: stores before it are observed by the outer shareable domain, where devices are, before stores after it.
/// Linux `dma_wmb`.
#[inline(always)]
pub fn to_device() {
    // SAFETY: `dmb oshst` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dmb oshst", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// `dmb osh`: version 7 has no barrier for loads alone. Linux `dma_rmb`.
#[inline(always)]
pub fn from_device() {
    // SAFETY: `dmb osh` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dmb osh", options(nostack, preserves_flags)) }
}

/// Does what [`from_device`] does, and waits for all earlier accesses to complete: `dsb sy`, the full barrier of Linux
/// (`rmb`).
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: `dsb sy` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dsb sy", options(nostack, preserves_flags)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO. Implies
/// [`to_device`].
///
/// `dsb st`: earlier stores complete before the store to device memory starts. Linux `wmb`.
#[inline(always)]
pub fn mmio_wc_start() {
    // SAFETY: `dsb st` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dsb st", options(nostack, preserves_flags)) }
}

/// Drains the CPU's write buffers to the device now, and keeps later stores from combining with the drained ones.
///
/// `dsb st`: the stores are complete before anything after it runs. Linux `wmb`.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: `dsb st` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dsb st", options(nostack, preserves_flags)) }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// It equals [`mmio_flush_writes`]: we do not know when a full buffer leaves by itself here, and UCX does not say.
#[inline(always)]
pub fn mmio_wc_hint() {
    mmio_flush_writes();
}
