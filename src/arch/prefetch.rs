//! Asking for a cache line ahead of the store to it.

/// Asks for the line at `place` to be brought into this CPU's first-level cache, owned, for a store that comes later.
///
/// A hint: it orders nothing, changes nothing and cannot fault, whatever the address. x86-64: `prefetchw`, which CPUs that do
/// not know it ignore (Intel SDM vol. 2, PREFETCHW); aarch64: `prfm pstl1keep`; elsewhere nothing.
#[inline(always)]
pub fn prefetch_write<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which neither faults nor changes memory, registers or flags.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}
