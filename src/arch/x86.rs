//! 32-bit x86. The memory model is that of x86-64, but `lfence` and `sfence` may be missing (they need SSE2 and SSE).
//! So a locked read-modify-write of the stack does their work, as in rdma-core.
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// A compiler barrier: the CPU keeps ordinary stores in order. The x86-64 file names the source.
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: compiler barrier.
#[inline(always)]
pub fn to_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// A compiler barrier: the CPU performs loads from write-back memory in program order. The x86-64 file has the full
/// argument. rdma-core has `lock addl` here: [`from_device_conservative`].
#[inline(always)]
pub fn from_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// Same as [`from_device`], by rdma-core's instruction: `lock addl $0, (%esp)` (`util/udma_barrier.h`,
/// `udma_from_device_barrier`).
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: adds zero to the word on top of the stack, which keeps its value; nothing is pushed; flags are not
    // promised.
    unsafe { asm!("lock add dword ptr [esp], 0", options(nostack)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO. Implies
/// [`to_device`].
///
/// A locked instruction drains the store buffer and the write-combining buffers (Intel SDM vol. 3,
/// "Buffering of Write Combining Memory Locations").
/// rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `lock addl $0, (%esp)`.
#[inline(always)]
pub fn mmio_wc_start() {
    // SAFETY: adds zero to the word on top of the stack, which keeps its value; nothing is pushed; flags are not
    // promised.
    unsafe { asm!("lock add dword ptr [esp], 0", options(nostack)) }
}

/// Drains the write-combining buffers to the device now, and keeps later stores from combining with the drained ones.
///
/// rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `lock addl $0, (%esp)`.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: adds zero to the word on top of the stack, which keeps its value; nothing is pushed; flags are not
    // promised.
    unsafe { asm!("lock add dword ptr [esp], 0", options(nostack)) }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// A compiler barrier, as on x86-64.
#[inline(always)]
pub fn mmio_wc_hint() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}
