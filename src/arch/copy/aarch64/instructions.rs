//! The copies of AArch64: one `asm!` block each.
#[cfg(target_feature = "neon")]
use core::arch::aarch64::uint64x2_t;
use core::arch::asm;

/// One store instruction of 64 bytes, from four vector registers.
///
/// # Safety
/// `dst` is 64-byte aligned and valid for a 64-byte write. The CPU and its operating system have Advanced SIMD.
#[inline(always)]
#[cfg(target_feature = "neon")]
pub(super) unsafe fn copy_neon(dst: *mut u64, block: [uint64x2_t; 4]) {
    let [a, b, c, d] = block;
    // SAFETY: the caller vouches for the 64 bytes at `dst` and for the instruction, which changes no register and no
    // flag.
    unsafe {
        asm!(
            "st1 {{v0.2d, v1.2d, v2.2d, v3.2d}}, [{dst}]",
            dst = in(reg) dst,
            in("v0") a, in("v1") b, in("v2") c, in("v3") d,
            options(nostack, preserves_flags)
        );
    }
}

/// Copies a WQEBB from memory, like [`copy_neon`].
///
/// # Safety
/// The conditions of [`copy_neon`]; `wqebb` is 8-byte aligned and valid for a 64-byte read.
#[inline(always)]
#[cfg(target_feature = "neon")]
pub(super) unsafe fn copy_neon_wqebb(dst: *mut u64, wqebb: *const u64) {
    // SAFETY: the caller vouches for both places and for the instructions; the registers that change are named.
    unsafe {
        asm!(
            "ld1 {{v0.2d, v1.2d, v2.2d, v3.2d}}, [{wqebb}]",
            "st1 {{v0.2d, v1.2d, v2.2d, v3.2d}}, [{dst}]",
            wqebb = in(reg) wqebb,
            dst = in(reg) dst,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            options(nostack, preserves_flags)
        );
    }
}

/// One single-copy atomic store of 64 bytes, from x0 to x7: `st64b x0, [x8]` (Arm ARM DDI 0487, C6.2, ST64B). The code
/// gives the instruction by number, because assemblers accept the name only with the extension enabled.
///
/// # Safety
/// `dst` is 64-byte aligned and valid for a 64-byte write, in memory that takes such stores. The CPU has FEAT_LS64,
/// open to this program.
#[inline(always)]
pub(super) unsafe fn copy_st64b(dst: *mut u64, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    // SAFETY: the caller vouches for the 64 bytes at `dst` and for the instruction, which changes no register and no
    // flag.
    unsafe {
        asm!(
            ".inst 0xf83f9100",
            in("x0") a, in("x1") b, in("x2") c, in("x3") d,
            in("x4") e, in("x5") f, in("x6") g, in("x7") h,
            in("x8") dst,
            options(nostack, preserves_flags)
        );
    }
}
