//! The routines of x86-64.
mod instructions;

use super::super::Wide;
#[cfg(target_feature = "sse2")]
use super::super::mmio_copy64_wide;
use super::block::{BlockCopy, routines};
use super::features;
use super::routine::{CopyRoutine, CopyUnavailable};

#[cfg(target_feature = "sse2")]
routines! {
    /// Four stores of 16 bytes. Needs SSE2, which every x86-64 CPU has, and a program that may use it.
    Sse, instructions::copy_sse, mmio_copy64_wide, wqebb sse_wqebb;

    /// Two stores of 32 bytes. Needs AVX. It runs `vzeroupper`, so callers lose the vector registers' contents.
    Avx, instructions::copy_avx, avx_wide;

    /// One store of 64 bytes. Needs AVX-512F and AVX-512DQ. Intel does not promise one bus write, and on some Intel
    /// CPUs the wide registers lower the clock.
    Avx512, instructions::copy_avx512, avx512_wide;
}

routines! {
    /// One direct store of 64 bytes. Needs MOVDIR64B: Intel since Tiger Lake and Sapphire Rapids, AMD since Zen 5.
    ///
    /// The 64 bytes arrive as one write and do not combine with later stores; their buffer may leave at once, but
    /// nothing bounds when (Intel SDM vol. 2, MOVDIR64B: "eligible for immediate eviction"). This holds even if the
    /// register is not mapped write-combining, as happens in virtual machines. rdma-core uses it for another vendor's
    /// device (`providers/ionic/ionic_verbs.c`), Linux for Intel's own (`iosubmit_cmds512`).
    ///
    /// Its source is memory. It copies a WQE [out of the ring](BlockCopy::copy_wqebb) directly, because the words were
    /// stored before the doorbell's first barrier. A WQEBB in registers goes to the stack first, and the load waits
    /// until those stores are in the cache. It would be faster to compose it in one register and store that to the
    /// stack at once. But this takes AVX-512, which some servers with MOVDIR64B lack, such as Sierra Forest; it is not
    /// worth a second routine.
    ///
    /// On ordinary memory it writes the line back, evicts it from the cache and writes past it. So it is slow against
    /// the software device, and in benchmarks without a NIC. That says nothing about a register.
    ///
    /// No machine with this instruction has run this crate; only the assembly is checked (`tests/arch_asm.rs`).
    Movdir64b, movdir64b, movdir64b_wide, wqebb instructions::copy_movdir64b;
}

/// Only compiled where every CPU of the target has it.
#[cfg(target_feature = "sse2")]
impl Default for Sse {
    fn default() -> Self {
        Self(())
    }
}

/// # Safety
/// As for [`BlockCopy::copy_wqebb`].
#[inline(always)]
#[cfg(target_feature = "sse2")]
unsafe fn sse_wqebb(dst: *mut u64, wqebb: *const u64) {
    // By words, the width they were stored with: the CPU cannot forward narrow stores to a wider load. Volatile, so
    // that the compiler does not merge two loads.
    let word = |i| {
        // SAFETY: eight words from `wqebb` on, for which the caller vouches.
        unsafe { wqebb.add(i).read_volatile() }
    };
    let block = core::array::from_fn(|i| Wide::new([word(2 * i), word(2 * i + 1)]));
    // SAFETY: the caller promises 64 aligned, writable bytes at `dst`, and that the device may execute the block.
    unsafe { mmio_copy64_wide(dst, block) }
}

/// # Safety
/// As for [`instructions::copy_avx`].
#[inline(always)]
#[cfg(target_feature = "sse2")]
unsafe fn avx_wide(dst: *mut u64, block: [Wide; 4]) {
    // SAFETY: the caller promises 64 aligned, writable bytes at `dst`, and a CPU with AVX.
    unsafe { instructions::copy_avx_wide(dst, block.map(Wide::register)) }
}

/// # Safety
/// As for [`instructions::copy_avx512`].
#[inline(always)]
#[cfg(target_feature = "sse2")]
unsafe fn avx512_wide(dst: *mut u64, block: [Wide; 4]) {
    // SAFETY: the caller promises 64 aligned, writable bytes at `dst`, and a CPU with AVX-512F and AVX-512DQ.
    unsafe { instructions::copy_avx512_wide(dst, block.map(Wide::register)) }
}

/// A source for MOVDIR64B, in one cache line: a source across two lines takes two loads.
#[repr(align(64))]
struct Line<T>(T);

/// # Safety
/// `dst` is 64-byte aligned and valid for a 64-byte write. The CPU has MOVDIR64B.
#[inline(always)]
unsafe fn movdir64b(dst: *mut u64, words: &[u64; 8]) {
    let line = Line(*words);
    // SAFETY: the caller vouches for `dst` and for the instruction; the source is 64 bytes of ours.
    unsafe { instructions::copy_movdir64b(dst, (&raw const line.0).cast()) }
}

/// # Safety
/// As for [`movdir64b`].
#[inline(always)]
unsafe fn movdir64b_wide(dst: *mut u64, block: [Wide; 4]) {
    let line = Line(block);
    // SAFETY: the caller vouches for `dst` and for the instruction; the source is 64 bytes of ours.
    unsafe { instructions::copy_movdir64b(dst, (&raw const line.0).cast()) }
}
