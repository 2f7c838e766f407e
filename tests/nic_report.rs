//! The conclusions of the benchmark for NIC owners, from findings that no device here can give.
//!
//! Conclusions of `benches/nic` belong here. Measurements belong in `benches`.
//!
//! Not under the address sanitizer: it reaches no memory of a device.

#[path = "../benches/nic/register.rs"]
mod register;
#[path = "../benches/nic/verdict.rs"]
mod verdict;

use register::Mapping;
use verdict::{Copies, Verdict};

fn copies(routine: &str, needs_combining: bool, taken: u32) -> Copies<'_> {
    Copies { routine, needs_combining, taken, made: 64 }
}

fn verdict(half_bytes: usize, ordinary: Option<&str>, copies: &[Copies<'_>]) -> (&'static str, String) {
    match Verdict::new(half_bytes, ordinary, copies) {
        Verdict::Works { because } => ("works", because),
        Verdict::DoesNotWork { because } => ("does not", because),
        Verdict::Unknown { because } => ("unknown", because),
    }
}

#[test]
fn a_copy_that_was_taken_shows_write_combining() {
    let (word, why) = verdict(256, None, &[copies("8x8", true, 0), copies("sse", true, 3)]);
    assert_eq!(word, "works");
    assert!(why.contains("3 of 64 copies by sse") && !why.contains("8x8"), "{why}");
}

#[test]
fn single_stores_of_a_whole_block_show_nothing_of_combining() {
    let (word, why) = verdict(256, None, &[copies("8x8", true, 0), copies("movdir64b", false, 64)]);
    assert_eq!(word, "does not");
    assert!(why.contains("64 of 64 copies by movdir64b"), "{why}");
    assert_eq!(verdict(256, None, &[copies("movdir64b", false, 64)]).0, "unknown");
    assert_eq!(verdict(256, None, &[copies("8x8", true, 0)]).0, "does not");
}

#[test]
fn nothing_is_claimed_of_memory_or_without_blueflame() {
    let (word, why) = verdict(256, Some("/memfd:x"), &[copies("8x8", true, 64)]);
    assert_eq!(word, "unknown");
    assert!(why.contains("/memfd:x") && why.contains("software device"), "{why}");
    assert_eq!(verdict(0, None, &[]).0, "unknown");
}

#[test]
fn mappings_are_found_by_address() {
    let smaps = "\
55d0a000-55d0b000 rw-p 00000000 00:00 0                          [heap]
Size:                  4 kB
VmFlags: rd wr mr mw me ac sd
7f001000-7f002000 -w-s 00204000 00:05 1052               /dev/infiniband/uverbs0
Size:                  4 kB
VmFlags: wr sh mr mw me ms pf io de dd
7f002000-7f003000 rw-s 00000000 00:01 77                 /memfd:mlx5 UAR (deleted)
Size:                  4 kB
VmFlags: rd wr sh mr mw me ms sd
7f003000-7f004000 -w-s 00204000 00:05 1052               /dev/infiniband/uverbs1
Size:                  4 kB
";
    let found = |address| Mapping::find(smaps, address).map(|mapping| (mapping.file, mapping.device));
    assert_eq!(found(0x7f00_1800), Some(("/dev/infiniband/uverbs0".into(), true)));
    assert_eq!(found(0x7f00_2fff), Some(("/memfd:mlx5 UAR (deleted)".into(), false)));
    assert_eq!(found(0x7f00_3000), Some(("/dev/infiniband/uverbs1".into(), true)), "by its name, without flags");
    assert_eq!(found(0x55d0_a000), Some(("[heap]".into(), false)));
    assert_eq!(found(0x7f00_4000), None);
    assert!(!Mapping::of((&raw const smaps).addr()).expect("a local variable is mapped").device);
}
