//! RISC-V, 64 bit. `fence` names the kinds it orders: memory reads and writes (`r`, `w`) and device input and output
//! (`i`, `o`) (RISC-V ISA manual, volume I, "FENCE").
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// `fence ow, ow`: stores to memory and devices before stores to memory and devices.
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: `fence ow,ow`.
#[inline(always)]
pub fn to_device() {
    // SAFETY: `fence ow, ow` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("fence ow, ow", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// `fence ir, ir`: loads from memory and devices before loads from memory and devices.
/// rdma-core `util/udma_barrier.h`, `udma_from_device_barrier`: `fence ir,ir`.
#[inline(always)]
pub fn from_device() {
    // SAFETY: `fence ir, ir` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("fence ir, ir", options(nostack, preserves_flags)) }
}

/// Same as [`from_device`], which already uses rdma-core's instruction.
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: `fence ir, ir` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("fence ir, ir", options(nostack, preserves_flags)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO. Implies
/// [`to_device`].
///
/// rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `fence ow,ow`.
#[inline(always)]
pub fn mmio_wc_start() {
    // SAFETY: `fence ow, ow` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("fence ow, ow", options(nostack, preserves_flags)) }
}

/// Drains the CPU's write buffers to the device now, and keeps later stores from combining with the drained ones.
///
/// rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `fence ow,ow`. RISC-V has no instruction that hurries a write
/// out; the fence only orders.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: `fence ow, ow` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("fence ow, ow", options(nostack, preserves_flags)) }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// Same as [`mmio_flush_writes`]: we do not know when a full buffer leaves by itself here. UCX
/// (`src/ucs/arch/rv64/cpu.h`) also has a fence there.
#[inline(always)]
pub fn mmio_wc_hint() {
    mmio_flush_writes();
}
