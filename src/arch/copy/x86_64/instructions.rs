//! The copies of x86-64. Each is one `asm!` block that names its instructions, so they do not depend on the caller's
//! target features. Each takes the words from general registers. If the words were stored one by one a moment ago, the
//! CPU cannot forward them to a wide load, which then waits until they have reached the cache.
use core::arch::asm;
#[cfg(target_feature = "sse2")]
use core::arch::x86_64::__m128i;

/// Four stores of 16 bytes.
///
/// # Safety
/// `dst` is 64-byte aligned and valid for a 64-byte write. The CPU and its operating system have SSE2.
#[inline(always)]
#[cfg(target_feature = "sse2")]
pub(super) unsafe fn copy_sse(dst: *mut u64, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    // SAFETY: the caller vouches for the 64 bytes at `dst` and for the instructions; nothing else is stored to, and the
    // registers that change are named.
    unsafe {
        asm!(
            "movq xmm0, {a}",
            "movq xmm4, {b}",
            "movq xmm1, {c}",
            "movq xmm5, {d}",
            "movq xmm2, {e}",
            "movq xmm6, {f}",
            "movq xmm3, {g}",
            "movq xmm7, {h}",
            "punpcklqdq xmm0, xmm4",
            "punpcklqdq xmm1, xmm5",
            "punpcklqdq xmm2, xmm6",
            "punpcklqdq xmm3, xmm7",
            "movaps [{dst}], xmm0",
            "movaps [{dst} + 16], xmm1",
            "movaps [{dst} + 32], xmm2",
            "movaps [{dst} + 48], xmm3",
            dst = in(reg) dst,
            a = in(reg) a, b = in(reg) b, c = in(reg) c, d = in(reg) d,
            e = in(reg) e, f = in(reg) f, g = in(reg) g, h = in(reg) h,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            options(nostack, preserves_flags)
        );
    }
}

/// Two stores of 32 bytes.
///
/// It ends with `vzeroupper`. Code compiled for plain x86-64 is full of SSE instructions. While the upper half of any
/// vector register is in use, these instructions wait for unneeded registers, or save them at great cost (Intel
/// optimization manual, "Mixing AVX code with SSE code"). `vzeroupper` clears the upper half of all sixteen registers.
/// The clobber list therefore names them all: a caller compiled for AVX keeps nothing in them across this.
///
/// # Safety
/// `dst` is 64-byte aligned and valid for a 64-byte write. The CPU and its operating system have AVX.
#[inline(always)]
#[cfg(target_feature = "sse2")]
pub(super) unsafe fn copy_avx(dst: *mut u64, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    // SAFETY: the caller vouches for the 64 bytes at `dst` and for the instructions; nothing else is stored to, and the
    // registers that change are named.
    unsafe {
        asm!(
            "vmovq xmm0, {a}",
            "vmovq xmm1, {c}",
            "vmovq xmm2, {e}",
            "vmovq xmm3, {g}",
            "vpinsrq xmm0, xmm0, {b}, 1",
            "vpinsrq xmm1, xmm1, {d}, 1",
            "vpinsrq xmm2, xmm2, {f}, 1",
            "vpinsrq xmm3, xmm3, {h}, 1",
            "vinsertf128 ymm0, ymm0, xmm1, 1",
            "vinsertf128 ymm2, ymm2, xmm3, 1",
            "vmovaps [{dst}], ymm0",
            "vmovaps [{dst} + 32], ymm2",
            "vzeroupper",
            dst = in(reg) dst,
            a = in(reg) a, b = in(reg) b, c = in(reg) c, d = in(reg) d,
            e = in(reg) e, f = in(reg) f, g = in(reg) g, h = in(reg) h,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack, preserves_flags)
        );
    }
}

/// Copies a block from registers of sixteen bytes, like [`copy_avx`].
///
/// # Safety
/// As for [`copy_avx`].
#[inline(always)]
#[cfg(target_feature = "sse2")]
pub(super) unsafe fn copy_avx_wide(dst: *mut u64, block: [__m128i; 4]) {
    let [a, b, c, d] = block;
    // SAFETY: the caller vouches for the 64 bytes at `dst` and for the instructions; nothing else is stored to, and the
    // registers that change are named.
    unsafe {
        asm!(
            "vinsertf128 ymm0, ymm0, xmm1, 1",
            "vinsertf128 ymm2, ymm2, xmm3, 1",
            "vmovaps [{dst}], ymm0",
            "vmovaps [{dst} + 32], ymm2",
            "vzeroupper",
            dst = in(reg) dst,
            inout("xmm0") a => _, inout("xmm1") b => _, inout("xmm2") c => _, inout("xmm3") d => _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack, preserves_flags)
        );
    }
}

/// One store of 64 bytes.
///
/// It uses registers 16 to 19, which only AVX-512 has. SSE instructions cannot name them, so no `vzeroupper` is needed
/// after.
///
/// # Safety
/// `dst` is 64-byte aligned and valid for a 64-byte write. The CPU and its operating system have AVX-512F and
/// AVX-512DQ.
#[inline(always)]
#[cfg(target_feature = "sse2")]
pub(super) unsafe fn copy_avx512(dst: *mut u64, words: &[u64; 8]) {
    let [a, b, c, d, e, f, g, h] = *words;
    // SAFETY: the caller vouches for the 64 bytes at `dst` and for the instructions; nothing else is stored to, and the
    // registers that change are named.
    unsafe {
        asm!(
            "vmovq xmm16, {a}",
            "vmovq xmm17, {c}",
            "vmovq xmm18, {e}",
            "vmovq xmm19, {g}",
            "vpinsrq xmm16, xmm16, {b}, 1",
            "vpinsrq xmm17, xmm17, {d}, 1",
            "vpinsrq xmm18, xmm18, {f}, 1",
            "vpinsrq xmm19, xmm19, {h}, 1",
            "vinserti32x4 zmm16, zmm16, xmm17, 1",
            "vinserti32x4 zmm18, zmm18, xmm19, 1",
            "vinserti64x4 zmm16, zmm16, ymm18, 1",
            "vmovdqa64 [{dst}], zmm16",
            dst = in(reg) dst,
            a = in(reg) a, b = in(reg) b, c = in(reg) c, d = in(reg) d,
            e = in(reg) e, f = in(reg) f, g = in(reg) g, h = in(reg) h,
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("xmm19") _,
            options(nostack, preserves_flags)
        );
    }
}

/// Copies a block from registers of sixteen bytes, like [`copy_avx512`].
///
/// # Safety
/// As for [`copy_avx512`].
#[inline(always)]
#[cfg(target_feature = "sse2")]
pub(super) unsafe fn copy_avx512_wide(dst: *mut u64, block: [__m128i; 4]) {
    let [a, b, c, d] = block;
    // SAFETY: the caller vouches for the 64 bytes at `dst` and for the instructions; nothing else is stored to, and the
    // registers that change are named.
    unsafe {
        asm!(
            "vinserti32x4 zmm16, {a:z}, {b}, 1",
            "vinserti32x4 zmm17, {c:z}, {d}, 1",
            "vinserti64x4 zmm16, zmm16, ymm17, 1",
            "vmovdqa64 [{dst}], zmm16",
            dst = in(reg) dst,
            a = in(xmm_reg) a, b = in(xmm_reg) b, c = in(xmm_reg) c, d = in(xmm_reg) d,
            out("xmm16") _, out("xmm17") _,
            options(nostack, preserves_flags)
        );
    }
}

/// One direct store of 64 bytes, from memory: the instruction has no other source.
///
/// # Safety
/// `dst` is 64-byte aligned and valid for a 64-byte write, `src` is valid for a 64-byte read. The CPU has MOVDIR64B.
#[inline(always)]
pub(super) unsafe fn copy_movdir64b(dst: *mut u64, src: *const u64) {
    // SAFETY: the caller vouches for both addresses and for the instruction, which changes no register and no flag.
    unsafe {
        asm!("movdir64b {dst}, [{src}]", dst = in(reg) dst, src = in(reg) src, options(nostack, preserves_flags));
    }
}
