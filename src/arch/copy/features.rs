//! The instructions that this CPU, its operating system and the program's target support.
use super::routine::{CopyRoutine, CopyUnavailable};

/// Whether this CPU has the routine's instructions.
///
/// # Errors
/// If it does not.
pub(super) fn check(routine: CopyRoutine) -> Result<(), CopyUnavailable> {
    if available(routine) { Ok(()) } else { Err(CopyUnavailable { routine }) }
}

/// Whether the routine's instructions can be executed.
#[cfg(target_arch = "x86_64")]
pub(super) fn available(routine: CopyRoutine) -> bool {
    match routine {
        CopyRoutine::Words => true,
        CopyRoutine::Sse => vectors(),
        CopyRoutine::Avx => vectors() && x86::avx(),
        CopyRoutine::Avx512 => vectors() && x86::avx512(),
        CopyRoutine::Movdir64b => x86::movdir64b(),
        CopyRoutine::Neon | CopyRoutine::St64b => false,
    }
}

/// Whether the routine's instructions can be executed.
#[cfg(target_arch = "aarch64")]
pub(super) fn available(routine: CopyRoutine) -> bool {
    match routine {
        CopyRoutine::Words => true,
        CopyRoutine::Neon => vectors(),
        CopyRoutine::St64b => ls64(),
        CopyRoutine::Sse | CopyRoutine::Avx | CopyRoutine::Avx512 | CopyRoutine::Movdir64b => false,
    }
}

/// Whether the routine's instructions can be executed.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn available(routine: CopyRoutine) -> bool {
    routine == CopyRoutine::Words
}

/// Whether the program may use vector registers. A kernel or a bare-metal program may have to leave them alone. It is
/// then compiled for a target without them.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn vectors() -> bool {
    cfg!(any(target_feature = "sse2", target_feature = "neon"))
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Bits of CPUID (Intel SDM vol. 2, CPUID) and XCR0 (vol. 1, 13.3).
    use core::arch::asm;
    use core::arch::x86_64::{__cpuid_count, CpuidResult};

    /// Leaf 1, ecx: the operating system has enabled XGETBV.
    const OSXSAVE: u32 = 1 << 27;
    /// Leaf 1, ecx.
    const AVX: u32 = 1 << 28;
    /// Leaf 7, ebx.
    const AVX512F: u32 = 1 << 16;
    /// Leaf 7, ebx.
    const AVX512DQ: u32 = 1 << 17;
    /// Leaf 7, ecx.
    const MOVDIR64B: u32 = 1 << 28;
    /// XCR0: the operating system keeps xmm and the upper halves of ymm.
    const YMM_STATE: u32 = 0b0110;
    /// XCR0: the same, and mask registers, the upper halves of zmm0 to 15, and zmm16 to 31.
    const ZMM_STATE: u32 = 0b1110_0110;

    /// A leaf of CPUID, in its first part.
    // Rust 1.85 has it as an `unsafe fn`, newer Rust as a safe one.
    #[allow(unused_unsafe)]
    fn cpuid(leaf: u32) -> CpuidResult {
        // SAFETY: the module is compiled only for x86-64, where every CPU has the instruction.
        unsafe { __cpuid_count(leaf, 0) }
    }

    /// The leaf with features beyond the first; zeros if there is none.
    fn leaf7() -> CpuidResult {
        if cpuid(0).eax >= 7 { cpuid(7) } else { CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 } }
    }

    /// Whether the operating system keeps these registers when it switches threads.
    fn keeps(state: u32) -> bool {
        if cpuid(1).ecx & OSXSAVE == 0 {
            return false;
        }
        let xcr0: u32;
        // SAFETY: OSXSAVE says that programs may execute XGETBV; register 0 always exists. It changes eax and edx only.
        unsafe {
            asm!("xgetbv", in("ecx") 0, out("eax") xcr0, out("edx") _, options(nomem, nostack, preserves_flags));
        }
        xcr0 & state == state
    }

    pub(super) fn avx() -> bool {
        cpuid(1).ecx & AVX != 0 && keeps(YMM_STATE)
    }

    pub(super) fn avx512() -> bool {
        let wanted = AVX512F | AVX512DQ;
        leaf7().ebx & wanted == wanted && keeps(ZMM_STATE)
    }

    pub(super) fn movdir64b() -> bool {
        leaf7().ecx & MOVDIR64B != 0
    }
}

/// FEAT_LS64, as Linux reports it: programs cannot read the CPU's own register, and the kernel must have enabled the
/// instruction for them. The query needs the C library, so it is absent without `std`.
#[cfg(target_arch = "aarch64")]
fn ls64() -> bool {
    #[cfg(all(feature = "std", any(target_os = "linux", target_os = "android")))]
    {
        use core::ffi::c_ulong;
        /// Key of the third word of CPU features in the auxiliary vector.
        const AT_HWCAP3: c_ulong = 29;
        /// Bit in it (Linux `arch/arm64/include/uapi/asm/hwcap.h`).
        const HWCAP3_LS64: c_ulong = 1 << 3;
        // SAFETY: the C library's declaration, of a function that takes any key and answers 0 to those it does not
        // know.
        unsafe extern "C" {
            safe fn getauxval(key: c_ulong) -> c_ulong;
        }
        getauxval(AT_HWCAP3) & HWCAP3_LS64 != 0
    }
    #[cfg(not(all(feature = "std", any(target_os = "linux", target_os = "android"))))]
    false
}
