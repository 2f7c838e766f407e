//! 32-bit x86: the memory model of x86-64, but `lfence` and `sfence` cannot be taken for granted (SSE, SSE2), so a
//! locked read-modify-write of the stack does their work, as in rdma-core.
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// A compiler barrier: the CPU keeps ordinary stores in order (Intel SDM vol. 3, 9.2.2).
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: compiler barrier.
#[inline(always)]
pub fn to_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of what the device wrote earlier.
///
/// A compiler barrier: loads from write-back memory are performed in program order, as on x86-64, where the argument is
/// written out. rdma-core has `lock addl` here: [`from_device_conservative`].
#[inline(always)]
pub fn from_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// As [`from_device`], by the instruction rdma-core uses: `lock addl $0, (%esp)` (`util/udma_barrier.h`,
/// `udma_from_device_barrier`).
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: adds zero to the word on top of the stack, which keeps its value; nothing is pushed; flags are not promised.
    unsafe { asm!("lock add dword ptr [esp], 0", options(nostack)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO. Implies
/// [`to_device`].
///
/// A locked instruction drains the store buffer and the write-combining buffers (Intel SDM vol. 3, 12.3.1).
/// rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `lock addl $0, (%esp)`.
#[inline(always)]
pub fn mmio_wc_start() {
    // SAFETY: adds zero to the word on top of the stack, which keeps its value; nothing is pushed; flags are not promised.
    unsafe { asm!("lock add dword ptr [esp], 0", options(nostack)) }
}

/// Sends what sits in write-combining buffers to the device now, and keeps later stores from combining with it.
///
/// rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `lock addl $0, (%esp)`.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: adds zero to the word on top of the stack, which keeps its value; nothing is pushed; flags are not promised.
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
