//! The routines of AArch64.
mod instructions;

use super::{BlockCopy, CopyRoutine, CopyUnavailable, Packed, sealed};

#[cfg(target_feature = "neon")]
routines! {
    /// One store instruction of 64 bytes from four vector registers. Needs Advanced SIMD, which every AArch64 CPU that runs
    /// Linux has, and a program that may use it.
    ///
    /// The default, because consecutive stores of 8 bytes do not combine reliably on Grace and other recent CPUs: Linux'
    /// test for write combining, 254 chances of which one must succeed, failed with them in 3 of 10 boots on some systems,
    /// and never with one store of 64 bytes, which it has used since (commit fd8c821, "net/mlx5: Improve write-combining
    /// test reliability for ARM64 Grace CPUs", `drivers/net/ethernet/mellanox/mlx5/core/wc.c`). rdma-core copies by
    /// `vst4q_u64` (`util/mmio.h`), which compilers make `st4`: the same four registers, interleaved by words as the load
    /// before it has taken them apart. UCX is back to four stores of 16 bytes since it saw no gain from one of 64 on Grace and a
    /// loss on Fujitsu's CPU (openucx/ucx PR 11342).
    ///
    /// A WQEBB is composed before the doorbell's first barrier, `dsb st`, which lets nothing after it begin. One that is copied
    /// out of the ring is loaded after it, when the stores to the ring are complete and need no forwarding.
    Neon, neon, neon_packed, wqebb instructions::copy_neon_wqebb;
}

routines! {
    /// One single-copy atomic store of 64 bytes. Needs FEAT_LS64, and Linux to say so (`HWCAP3_LS64`).
    ///
    /// Linux vouches for the CPU only (`Documentation/arch/arm64/elf_hwcaps.rst`, HWCAP3_LS64): memory must take such stores, too.
    /// A mapped UAR does where the system's interconnect does; ordinary cached memory does not, nor do registers of the
    /// software device: there the store is refused with a fault, which ends the program by SIGBUS. So it is never a default.
    /// rdma-core uses it for mlx5 where Linux announces it, since release 63 (`util/mmio.h`, commit 24361103d).
    ///
    /// No machine with this instruction has run this crate: what is checked is the encoding (`tests/arch_asm.rs`).
    St64b, instructions::copy_st64b, st64b_packed;
}

/// Only compiled where every CPU of the target has it.
#[cfg(target_feature = "neon")]
impl Default for Neon {
    fn default() -> Self {
        Self(())
    }
}

/// # Safety
/// As for [`instructions::copy_neon`].
#[inline(always)]
#[cfg(target_feature = "neon")]
unsafe fn neon(dst: *mut u64, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    // SAFETY: the caller's promise.
    unsafe { neon_packed(dst, [[a, b], [c, d], [e, f], [g, h]].map(Packed::new)) }
}

/// # Safety
/// As for [`instructions::copy_neon`].
#[inline(always)]
#[cfg(target_feature = "neon")]
unsafe fn neon_packed(dst: *mut u64, block: [Packed; 4]) {
    // SAFETY: the caller's promise.
    unsafe { instructions::copy_neon(dst, block.map(Packed::register)) }
}

/// # Safety
/// As for [`instructions::copy_st64b`].
#[inline(always)]
unsafe fn st64b_packed(dst: *mut u64, block: [Packed; 4]) {
    let [[a, b], [c, d], [e, f], [g, h]] = block.map(Packed::words);
    // SAFETY: the caller's promise.
    unsafe { instructions::copy_st64b(dst, &[a, b, c, d, e, f, g, h]) }
}
