//! The bytes that routines store, the routines that this CPU offers, and the effect on the caller's registers.
use std::format;
use std::string::ToString;
use std::vec::Vec;

use super::*;
use crate::arch::ds::{DsWords, HeldDs as _};

/// The routines that can be tried on ordinary memory: ST64B faults there.
fn on_memory() -> impl Iterator<Item = CopyRoutine> {
    CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b)
}

const OLD: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// A page, so that blocks lie at every offset that a register's halves can have.
#[repr(align(4096))]
struct Page([u64; 512]);

/// A block whose bytes all differ.
fn block() -> [u64; 8] {
    core::array::from_fn(|i| u64::from_be_bytes(core::array::from_fn(|j| (8 * i + j) as u8 | 0x40)))
}

/// Where a block comes from.
enum From {
    Words,
    Held,
    /// Word of a page.
    Memory(usize),
}

/// The page after a copy to word `at`.
struct Stored {
    at: usize,
    from: From,
}

impl CopyVisitor for Stored {
    type Output = Page;

    fn run<C: BlockCopy>(self, copy: C) -> Page {
        let mut page = Page([OLD; 512]);
        // SAFETY: a multiple of eight words inside of the page.
        let dst = unsafe { page.0.as_mut_ptr().add(self.at) };
        match self.from {
            // SAFETY: 64 aligned bytes of the page.
            From::Words => unsafe { copy.copy(dst, &block()) },
            From::Held => {
                let held = core::array::from_fn(|i| C::Held::new(DsWords([block()[2 * i], block()[2 * i + 1]])));
                // SAFETY: 64 aligned bytes of the page.
                unsafe { copy.copy_held(dst, held) }
            }
            From::Memory(offset) => {
                let mut lines = Page([0; 512]);
                lines.0[offset..offset + 8].copy_from_slice(&block());
                // SAFETY: 64 aligned bytes of the page, and 64 of another page as the source.
                unsafe { copy.copy_wqebb(dst, core::hint::black_box(&lines).0[offset..].as_ptr()) }
            }
        }
        // Only a fence orders direct stores with loads of the same CPU.
        crate::arch::mmio_flush_writes();
        core::hint::black_box(&mut page);
        page
    }
}

fn check(routine: CopyRoutine, stored: Stored) {
    let at = stored.at;
    let page = routine.dispatch(stored).expect("available");
    let mut expected = Page([OLD; 512]);
    expected.0[at..at + 8].copy_from_slice(&block());
    assert!(page.0 == expected.0, "{routine} at word {at}");
}

#[test]
fn a_copy_is_64_bytes_and_no_more() {
    for routine in on_memory() {
        for at in (0..512).step_by(8) {
            check(routine, Stored { at, from: From::Words });
            check(routine, Stored { at, from: From::Held });
        }
    }
}

#[test]
fn a_line_may_lie_anywhere_in_memory() {
    for routine in on_memory() {
        for offset in 0..16 {
            check(routine, Stored { at: 256, from: From::Memory(offset) });
        }
    }
}

/// A visitor that must not run.
struct Never;
impl CopyVisitor for Never {
    type Output = ();

    fn run<C: BlockCopy>(self, _: C) {
        panic!("{} runs", C::ROUTINE);
    }
}

#[test]
fn what_the_cpu_lacks_is_refused_by_name() {
    let available: Vec<_> = CopyRoutine::available().collect();
    assert_eq!(available[0], CopyRoutine::Words);
    assert!(available.contains(&CopyRoutine::default_for_cpu()));
    let features = ["", "SSE2", "AVX", "AVX-512DQ", "MOVDIR64B", "Advanced SIMD", "FEAT_LS64"];
    let mut refused = 0;
    for (routine, feature) in CopyRoutine::ALL.into_iter().zip(features) {
        assert_eq!(routine.check().is_ok(), available.contains(&routine));
        if !available.contains(&routine) {
            refused += 1;
            let error = routine.dispatch(Never).expect_err("unavailable");
            assert_eq!(error, routine.check().expect_err("unavailable"));
            let text = error.to_string();
            assert!(text.contains(&format!("routine {routine} ")) && text.contains(feature), "{text}");
        }
    }
    assert!(refused >= 2, "no CPU has the routines of two architectures");
}

#[test]
fn names_are_read_back() {
    for routine in CopyRoutine::ALL {
        assert_eq!(routine.to_string().parse(), Ok(routine));
    }
    for name in ["", "SSE", "8x8 ", "avx2"] {
        let error = name.parse::<CopyRoutine>().expect_err("no such name");
        assert_eq!(error.to_string(), "no such copy routine; there are 8x8 sse avx avx512 movdir64b neon st64b");
    }
}

#[cfg(feature = "std")]
#[test]
fn the_variable_is_read() {
    use std::ffi::OsString;
    let read = |value: Option<&str>| CopyRoutine::from_variable(value.map(OsString::from));
    assert_eq!(read(None), Ok(None));
    assert_eq!(read(Some("")), Ok(None));
    assert_eq!(read(Some("movdir64b")), Ok(Some(CopyRoutine::Movdir64b)));
    let error = read(Some("fast")).expect_err("no such name");
    assert!(
        error.to_string().starts_with("BLUEFLAME_COPY is \"fast\": no such copy routine; there are 8x8 "),
        "{error}"
    );
}

/// Compares with the standard library's own detection, and with Linux' where the library has none.
#[cfg(target_arch = "x86_64")]
#[test]
fn features_are_those_that_others_see() {
    assert!(features::available(CopyRoutine::Sse));
    assert_eq!(features::available(CopyRoutine::Avx), std::is_x86_feature_detected!("avx"));
    let avx512 = std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512dq");
    assert_eq!(features::available(CopyRoutine::Avx512), avx512);
    if let Ok(cpus) = std::fs::read_to_string("/proc/cpuinfo") {
        let flags = cpus.lines().find(|line| line.starts_with("flags")).expect("a list of flags");
        let listed = flags.split_whitespace().any(|flag| flag == "movdir64b");
        assert_eq!(features::available(CopyRoutine::Movdir64b), listed);
    }
}

#[cfg(target_arch = "aarch64")]
#[test]
fn neon_is_there_and_the_default() {
    assert!(features::available(CopyRoutine::Neon));
    assert_eq!(<DefaultCopy as BlockCopy>::ROUTINE, CopyRoutine::Neon);
    assert_eq!(<DefaultSharedCopy as BlockCopy>::ROUTINE, CopyRoutine::Neon);
}
