//! The copies of AArch64: one `asm!` block each, with the words in registers.
use core::arch::asm;

/// One store instruction of 64 bytes, from four vector registers.
///
/// # Safety
/// `dst` is 64-byte aligned and valid for a 64-byte write. The CPU and its operating system have Advanced SIMD.
#[inline(always)]
#[cfg(target_feature = "neon")]
pub(super) unsafe fn copy_neon(dst: *mut u64, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    // SAFETY: the caller vouches for the 64 bytes at `dst` and for the instructions; nothing else is stored to, and the
    // registers that change are named.
    unsafe {
        asm!(
            "fmov d0, {a}",
            "fmov d1, {c}",
            "fmov d2, {e}",
            "fmov d3, {g}",
            "mov v0.d[1], {b}",
            "mov v1.d[1], {d}",
            "mov v2.d[1], {f}",
            "mov v3.d[1], {h}",
            "st1 {{v0.2d, v1.2d, v2.2d, v3.2d}}, [{dst}]",
            dst = in(reg) dst,
            a = in(reg) a, b = in(reg) b, c = in(reg) c, d = in(reg) d,
            e = in(reg) e, f = in(reg) f, g = in(reg) g, h = in(reg) h,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            options(nostack, preserves_flags)
        );
    }
}

/// One single-copy atomic store of 64 bytes, from x0 to x7: `st64b x0, [x8]` (Arm ARM DDI 0487, C6.2, ST64B), as a number,
/// since assemblers know the name only with the extension named.
///
/// # Safety
/// `dst` is 64-byte aligned and valid for a 64-byte write, in memory that takes such stores. The CPU has FEAT_LS64, open to
/// this program.
#[inline(always)]
pub(super) unsafe fn copy_st64b(dst: *mut u64, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    // SAFETY: the caller vouches for the 64 bytes at `dst` and for the instruction, which changes no register and no flag.
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
