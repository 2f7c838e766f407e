//! The routines of AArch64.
mod instructions;

use super::{BlockCopy, CopyRoutine, CopyUnavailable, Packed, sealed};

#[cfg(target_feature = "neon")]
routines! {
    /// One store instruction of 64 bytes from four vector registers. Needs Advanced SIMD, and a program that may use it.
    ///
    /// rdma-core's choice (`util/mmio.h`, `vst4q_u64`), and Linux' for its test whether write combining works, since eight
    /// consecutive stores of 8 bytes do not combine reliably on Grace ("net/mlx5: Improve write-combining test reliability
    /// for ARM64 Grace CPUs", 2025). UCX has given it up again: no gain there, a loss on A64FX (openucx/ucx PR 11342).
    Neon, instructions::copy_neon, neon_packed;
}

routines! {
    /// One single-copy atomic store of 64 bytes. Needs FEAT_LS64, and Linux to say so (`HWCAP3_LS64`).
    ///
    /// Linux vouches for the CPU only (`Documentation/arch/arm64/elf_hwcaps.rst`): memory must take such stores, too.
    /// A mapped UAR does where the system's interconnect does; ordinary cached memory does not, nor do registers of the
    /// software device: there the store is refused with a fault, which ends the program by SIGBUS. So it is never a default.
    /// rdma-core uses it for mlx5 where Linux announces it (`util/mmio.h`).
    ///
    /// No machine with this instruction has run this crate: what is checked is the encoding (`tests/arch_asm.rs`).
    St64b, instructions::copy_st64b, st64b_packed;
}

#[inline(always)]
fn words(block: [Packed; 4]) -> [u64; 8] {
    let [[a, b], [c, d], [e, f], [g, h]] = block.map(Packed::words);
    [a, b, c, d, e, f, g, h]
}

/// # Safety
/// As for [`instructions::copy_neon`].
#[inline(always)]
#[cfg(target_feature = "neon")]
unsafe fn neon_packed(dst: *mut u64, block: [Packed; 4]) {
    // SAFETY: the caller's promise.
    unsafe { instructions::copy_neon(dst, &words(block)) }
}

/// # Safety
/// As for [`instructions::copy_st64b`].
#[inline(always)]
unsafe fn st64b_packed(dst: *mut u64, block: [Packed; 4]) {
    // SAFETY: the caller's promise.
    unsafe { instructions::copy_st64b(dst, &words(block)) }
}
