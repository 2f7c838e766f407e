//! x86-64. Stores to ordinary memory become visible in program order, and loads are performed in program order (Intel
//! SDM vol. 3, "Memory Ordering in P6 and More Recent Processor Families"). So towards a coherent PCIe device a
//! compiler barrier is enough. Write-combining memory does not follow those rules and needs `sfence`. The manual is
//! cited by the titles of its sections, whose numbers differ between editions.
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// A compiler barrier: the CPU keeps ordinary stores in order. It does not cover non-temporal stores of the
/// application, which must issue its own `sfence` first, as with libibverbs.
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: compiler barrier.
#[inline(always)]
pub fn to_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// A compiler barrier, where rdma-core has `lfence`. The argument has three steps. The device writes the data and then
/// the completion's bytes, and PCIe keeps that order (posted writes do not pass one another). The coherent memory
/// system makes the bytes visible in that order. The CPU performs loads from write-back memory in program order: if
/// the line of an early load changes before the load retires, the CPU replays it (Intel SDM as above; AMD APM
/// vol. 2, 7.1). So once the owner bit has been seen, no later load can return older bytes. `lfence` would only add a
/// wait for all earlier loads to finish. UCX (`ucs_memory_cpu_load_fence` on x86) and DPDK (`rte_io_rmb`) rely on the
/// same argument.
///
/// The argument does not hold for queue memory mapped write-combining, or for non-temporal loads from it. There, use
/// [`from_device_conservative`].
#[inline(always)]
pub fn from_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// Same as [`from_device`], by rdma-core's instruction: `lfence` (`util/udma_barrier.h`, `udma_from_device_barrier`).
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: `lfence` (SSE2, part of x86-64) only orders; it changes no register, flag or memory.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO.
///
/// `sfence`: a store to write-combining memory may otherwise leave the CPU before an earlier store to ordinary memory
/// (the doorbell record) is visible. It implies [`to_device`].
/// rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `sfence`.
#[inline(always)]
pub fn mmio_wc_start() {
    // SAFETY: `sfence` only orders; it changes no register, flag or memory.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) }
}

/// Drains the write-combining buffers to the device now, and keeps later stores from combining with the drained ones.
///
/// `sfence` drains the buffers. Without it nothing bounds how long a doorbell stays in the CPU, and the stores of two
/// CPUs taking turns on one register can reach the device in the wrong order. rdma-core `util/udma_barrier.h`,
/// `mmio_flush_writes`: `sfence`.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: `sfence` only orders; it changes no register, flag or memory.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// A compiler barrier: a full buffer leaves without being asked, at a time that the CPU chooses (Intel SDM vol. 3,
/// "Buffering of Write Combining Memory Locations"). UCX `src/ucs/arch/x86_64/cpu.h`,
/// `ucs_memory_bus_cacheline_wc_flush`: nothing.
#[inline(always)]
pub fn mmio_wc_hint() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}
