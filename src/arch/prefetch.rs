//! Fetching a cache line ahead of its use.

/// Asks the CPU to fetch the line at `place` into its first-level cache, owned, for a later store.
///
/// A hint: it orders nothing, changes nothing and cannot fault, for any address. x86-64: `prefetchw`, which older
/// CPUs ignore (Intel SDM vol. 2, PREFETCHW). AArch64: `prfm pstl1keep`. Elsewhere: nothing.
#[inline(always)]
pub fn prefetch_write<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which neither faults nor changes memory, registers or flags.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint, which neither faults nor changes memory, registers or flags.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}

/// Asks the CPU to fetch the line at `place` into its first-level cache, for a later load.
///
/// A hint like [`prefetch_write`]. x86-64: `prefetcht0`. AArch64: `prfm pldl1keep`. Elsewhere: nothing.
#[inline(always)]
pub fn prefetch_read<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which neither faults nor changes memory, registers or flags; SSE is part of x86-64.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint, which neither faults nor changes memory, registers or flags.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}
