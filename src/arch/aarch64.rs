//! AArch64: loads and stores of different addresses are unordered, so each barrier is an instruction. `osh` (outer
//! shareable) is the domain that holds PCIe devices; `dmb` orders, `dsb` also waits for completion (Arm ARM DDI 0487,
//! B2.3.12 and K13.4).
use core::arch::asm;

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// `dmb oshst`: stores before it are observed by the outer shareable domain before stores after it.
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: `dmb oshst` (`dsb st` up to release 54, changed by commit
/// 1ec72764ad83: Armv8 is other-multi-copy atomic, so a wait for completion adds nothing to an order between stores to
/// memory). UCX `ucs_memory_cpu_store_fence`: `dmb ishst`.
#[inline(always)]
pub fn to_device() {
    // SAFETY: `dmb oshst` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dmb oshst", options(nostack, preserves_flags)) }
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// `dmb oshld`: loads before it are performed before loads and stores after it.
/// rdma-core `util/udma_barrier.h`, `udma_from_device_barrier`: `dmb oshld` (`dsb ld` up to release 54).
/// UCX `ucs_memory_cpu_load_fence`: `dmb ishld`.
#[inline(always)]
pub fn from_device() {
    // SAFETY: `dmb oshld` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dmb oshld", options(nostack, preserves_flags)) }
}

/// Same as [`from_device`], by `dsb ld`: rdma-core's instruction up to release 54. It also waits for the earlier loads
/// to finish.
#[inline(always)]
pub fn from_device_conservative() {
    // SAFETY: `dsb ld` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dsb ld", options(nostack, preserves_flags)) }
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO. Implies
/// [`to_device`].
///
/// `dsb st`, not `dmb`: the next store goes to device memory (Normal-NC or Device-GRE). It must not start before the
/// earlier stores have completed. rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `dsb st`. UCX has the lighter `dmb
/// oshst` (`ucs_memory_bus_store_fence`). It follows Linux commit 22ec71615d82, which made `dmb oshst` the barrier
/// before stores to devices.
#[inline(always)]
pub fn mmio_wc_start() {
    // SAFETY: `dsb st` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dsb st", options(nostack, preserves_flags)) }
}

/// Drains the CPU's write buffers to the device now, and keeps later stores from combining with the drained ones.
///
/// `dsb st` ends gathering: stores before it are complete before anything after it runs.
/// rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `dsb st`.
#[inline(always)]
pub fn mmio_flush_writes() {
    // SAFETY: `dsb st` only orders memory accesses; it changes no register, flag or memory.
    unsafe { asm!("dsb st", options(nostack, preserves_flags)) }
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// `dgh`, the data gathering hint (Arm ARM DDI 0487, C6.2, DGH; FEAT_DGH): the CPU gains nothing by keeping earlier
/// stores back to merge them with later ones. CPUs without FEAT_DGH execute it as a `nop`. It orders nothing. The code
/// gives the instruction by number, because assemblers accept the name only with the extension enabled. UCX
/// `src/ucs/arch/aarch64/cpu.h`, `ucs_memory_bus_cacheline_wc_flush`: `hint #6`.
#[inline(always)]
pub fn mmio_wc_hint() {
    // SAFETY: a hint; it changes no register, flag or memory.
    unsafe { asm!("hint #6", options(nostack, preserves_flags)) }
}

/// Writes one 64-byte block to a BlueFlame register: eight stores from registers, with nothing between them.
///
/// The eight stores are one block of assembly, because a compiler interleaves loads with the stores. Recent CPUs then
/// merge less than one copy in 10,000 into one 64-byte write on the bus (Linux commit ead79118dae6, "arm64/io: Provide
/// a WC friendly __iowriteXX_copy()"). Even without interleaved loads, some CPUs merge unreliably. So
/// [`Neon`](super::copy::Neon) is the usual routine here, and this one is the fallback for programs that must not use
/// vector registers. The caller orders it: bracket it with [`mmio_wc_start`] and [`mmio_flush_writes`].
///
/// # Safety
///
/// `dst` is 64-byte aligned and valid for a 64-byte write; that write may make a device execute the block as a WQE.
#[inline(always)]
pub unsafe fn mmio_copy64(dst: *mut u64, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    // SAFETY: the caller vouches for the 64 bytes at `dst`; the instructions store there and touch nothing else.
    unsafe {
        asm!(
            "str {a}, [{dst}]",
            "str {b}, [{dst}, #8]",
            "str {c}, [{dst}, #16]",
            "str {d}, [{dst}, #24]",
            "str {e}, [{dst}, #32]",
            "str {f}, [{dst}, #40]",
            "str {g}, [{dst}, #48]",
            "str {h}, [{dst}, #56]",
            dst = in(reg) dst,
            a = in(reg) a,
            b = in(reg) b,
            c = in(reg) c,
            d = in(reg) d,
            e = in(reg) e,
            f = in(reg) f,
            g = in(reg) g,
            h = in(reg) h,
            options(nostack, preserves_flags)
        );
    }
}
