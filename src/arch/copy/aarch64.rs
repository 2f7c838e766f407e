//! The routines of AArch64.
mod instructions;

use super::super::Wide;
use super::block::{BlockCopy, routines};
use super::features;
use super::routine::{CopyRoutine, CopyUnavailable};

#[cfg(target_feature = "neon")]
routines! {
    /// One store instruction of 64 bytes from four vector registers. Needs Advanced SIMD, which every AArch64 CPU that
    /// runs Linux has, and a program that may use it.
    ///
    /// It is the default, because consecutive stores of 8 bytes do not combine reliably on Grace and other recent
    /// CPUs. Linux' test for write combining tries 254 times and needs one success. With 8-byte stores it failed in 3
    /// of 10 boots on some systems. With one store of 64 bytes it never failed, and Linux has used that since (commit
    /// fd8c821, "net/mlx5: Improve write-combining test reliability for ARM64 Grace CPUs",
    /// `drivers/net/ethernet/mellanox/mlx5/core/wc.c`).
    ///
    /// rdma-core copies by `vst4q_u64` (`util/mmio.h`), which compilers turn into `st4`. It stores the same four
    /// registers, interleaved by words; the load before it has separated them in the same way. UCX returned to four
    /// stores of 16 bytes after it measured no gain from one store of 64 on Grace, and a loss on Fujitsu's CPU
    /// (openucx/ucx PR 11342).
    ///
    /// A WQEBB in registers is composed before the doorbell's first barrier, `dsb st`; nothing after that barrier
    /// begins before it completes. A WQEBB from the ring is loaded after the barrier, when the stores to the ring are
    /// complete and need no forwarding.
    Neon, neon, neon_wide, wqebb instructions::copy_neon_wqebb;
}

routines! {
    /// One single-copy atomic store of 64 bytes. Needs FEAT_LS64, and Linux to say so (`HWCAP3_LS64`).
    ///
    /// Linux vouches for the CPU only (`Documentation/arch/arm64/elf_hwcaps.rst`, HWCAP3_LS64); the memory must also
    /// take such stores. A mapped UAR takes them where the system's interconnect does. Ordinary cached memory does
    /// not, nor do the registers of the software device: the store faults, and SIGBUS ends the program. So `St64b` is
    /// never a default. rdma-core uses it for mlx5 where Linux announces it, since release 63 (`util/mmio.h`, commit
    /// 24361103d).
    ///
    /// No machine with this instruction has run this crate. `tests/arch_asm.rs` checks its encoding; in a unit test, a
    /// signal handler executes it as the Arm ARM says.
    St64b, instructions::copy_st64b, st64b_wide;
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
    // SAFETY: the caller promises 64 aligned, writable bytes at `dst`, and a CPU with Advanced SIMD.
    unsafe { neon_wide(dst, [[a, b], [c, d], [e, f], [g, h]].map(Wide::new)) }
}

/// # Safety
/// As for [`instructions::copy_neon`].
#[inline(always)]
#[cfg(target_feature = "neon")]
unsafe fn neon_wide(dst: *mut u64, block: [Wide; 4]) {
    // SAFETY: the caller promises 64 aligned, writable bytes at `dst`, and a CPU with Advanced SIMD.
    unsafe { instructions::copy_neon(dst, block.map(Wide::register)) }
}

/// # Safety
/// As for [`instructions::copy_st64b`].
#[inline(always)]
unsafe fn st64b_wide(dst: *mut u64, block: [Wide; 4]) {
    let [[a, b], [c, d], [e, f], [g, h]] = block.map(Wide::words);
    // SAFETY: the caller promises 64 aligned bytes at `dst` that take such stores, and a CPU with FEAT_LS64.
    unsafe { instructions::copy_st64b(dst, &[a, b, c, d, e, f, g, h]) }
}

#[cfg(test)]
mod tests;
