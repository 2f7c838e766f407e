//! x86-64. Stores to ordinary memory become visible in program order and loads are performed in program order (Intel
//! SDM vol. 3, 9.2.2), so towards a coherent PCIe device only the compiler must be held back. Write-combining memory is
//! outside those rules and needs `sfence`.
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// A compiler barrier: the CPU keeps ordinary stores in order. Stores that the application made with non-temporal
/// instructions are not covered; it must issue its own `sfence` first, as with libibverbs.
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: compiler barrier.
#[inline(always)]
pub fn to_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of what the device wrote earlier.
///
/// A compiler barrier, where rdma-core has `lfence`. The argument: the device writes a completion's bytes, and the data
/// before them, in an order that PCIe keeps (posted writes do not pass one another), the coherent memory system makes
/// them visible in that order, and the CPU performs loads from write-back memory in program order: a load that was
/// executed early is replayed if its line changed before it retires (Intel SDM vol. 3, 9.2.2; AMD APM vol. 2, 7.1). So
/// once the owner bit has been seen, no later load can return older bytes. `lfence` adds only the wait for all earlier loads
/// to finish. UCX (`ucs_memory_cpu_load_fence` on x86) and DPDK (`rte_io_rmb`) rely on the same argument. It does not hold
/// for queue memory mapped write-combining or for non-temporal loads from it: there, use [`from_device_conservative`].
#[inline(always)]
pub fn from_device() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// As [`from_device`], by the instruction rdma-core uses: `lfence` (`util/udma_barrier.h`, `udma_from_device_barrier`).
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

/// Sends what sits in write-combining buffers to the device now, and keeps later stores from combining with it.
///
/// `sfence` drains the buffers. Without it a doorbell can linger for microseconds, and two CPUs taking turns on one
/// register can reach the device in the wrong order. rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `sfence`.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: `sfence` only orders; it changes no register, flag or memory.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// A compiler barrier: a full buffer leaves without being asked, though the moment is the CPU's choice (Intel SDM vol. 3,
/// 12.3.1). UCX `src/ucs/arch/x86_64/cpu.h`, `ucs_memory_bus_cacheline_wc_flush`: nothing.
#[inline(always)]
pub fn mmio_wc_hint() {
    // SAFETY: an empty instruction sequence; it touches no register, flag or stack.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}
