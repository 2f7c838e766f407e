//! The routines of x86-64.
mod instructions;

#[cfg(target_feature = "sse2")]
use super::super::mmio_copy64_packed;
use super::{BlockCopy, CopyRoutine, CopyUnavailable, Packed, sealed};

#[cfg(target_feature = "sse2")]
routines! {
    /// Four stores of 16 bytes. Needs SSE2, which every x86-64 CPU has, and a program that may use it.
    Sse, instructions::copy_sse, mmio_copy64_packed, line sse_line;

    /// Two stores of 32 bytes. Needs AVX. Costs `vzeroupper`, and callers that keep values in vector registers those.
    Avx, instructions::copy_avx, avx_packed;

    /// One store of 64 bytes. Needs AVX-512F and AVX-512DQ. Nothing promises one bus write; and on some Intel CPUs the
    /// wide registers lower the clock.
    Avx512, instructions::copy_avx512, avx512_packed;
}

routines! {
    /// One direct store of 64 bytes. Needs MOVDIR64B: Intel since Tiger Lake and Sapphire Rapids, AMD since Zen 5.
    ///
    /// The 64 bytes arrive as one write, leave at once, and combine with no store that follows (Intel SDM vol. 2,
    /// MOVDIR64B), even if the register is not mapped write-combining, as happens in virtual machines. rdma-core uses
    /// it for another vendor's device (`providers/ionic/ionic_verbs.c`), Linux for Intel's own (`iosubmit_cmds512`).
    ///
    /// Its source is memory. A WQE that is copied [out of the ring](BlockCopy::copy_line) is stored directly from there: its
    /// words were stored before the doorbell's first barrier. A block in registers goes to the stack first, and the load
    /// waits until those stores are in the cache. With a wide load and store in place of MOVDIR64B, on a Zen 4, a doorbell
    /// takes 7.6 ns from the ring, 9.2 ns by way of the stack, and 4.6 ns if the block is put together in one register
    /// and stored to the stack at once, so that the load gets it from that store. The last takes AVX-512, which some
    /// servers with MOVDIR64B lack (Sierra Forest), and has not been worth a second routine.
    ///
    /// On ordinary memory it writes the line back, throws it out of the cache and writes past it. Against the software
    /// device, and in benchmarks without a NIC, it costs over a hundred nanoseconds (178 a post on a Sapphire Rapids, in a C
    /// program) and says nothing about a register.
    ///
    /// No machine with this instruction has run this crate: what is checked is the assembly (`tests/arch_asm.rs`).
    Movdir64b, movdir64b, movdir64b_packed, line instructions::copy_movdir64b;
}

/// Only compiled where every CPU of the target has it.
#[cfg(target_feature = "sse2")]
impl Default for Sse {
    fn default() -> Self {
        Self(())
    }
}

/// # Safety
/// As for [`BlockCopy::copy_line`].
#[inline(always)]
#[cfg(target_feature = "sse2")]
unsafe fn sse_line(dst: *mut u64, line: *const u64) {
    // By words, as they were stored: a wider load could not be forwarded from the stores. Volatile, so that the compiler does
    // not make one wide load of two.
    let word = |i| {
        // SAFETY: eight words from `line` on, for which the caller vouches.
        unsafe { line.add(i).read_volatile() }
    };
    let block = core::array::from_fn(|i| Packed::new([word(2 * i), word(2 * i + 1)]));
    // SAFETY: the caller's promise.
    unsafe { mmio_copy64_packed(dst, block) }
}

/// # Safety
/// As for [`instructions::copy_avx`].
#[inline(always)]
#[cfg(target_feature = "sse2")]
unsafe fn avx_packed(dst: *mut u64, block: [Packed; 4]) {
    // SAFETY: the caller's promise.
    unsafe { instructions::copy_avx_packed(dst, block.map(Packed::register)) }
}

/// # Safety
/// As for [`instructions::copy_avx512`].
#[inline(always)]
#[cfg(target_feature = "sse2")]
unsafe fn avx512_packed(dst: *mut u64, block: [Packed; 4]) {
    // SAFETY: the caller's promise.
    unsafe { instructions::copy_avx512_packed(dst, block.map(Packed::register)) }
}

/// A source for MOVDIR64B. One cache line: a source across two of them takes two loads.
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
unsafe fn movdir64b_packed(dst: *mut u64, block: [Packed; 4]) {
    let line = Line(block);
    // SAFETY: the caller vouches for `dst` and for the instruction; the source is 64 bytes of ours.
    unsafe { instructions::copy_movdir64b(dst, (&raw const line.0).cast()) }
}
