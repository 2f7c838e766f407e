//! The instructions of every barrier and every copy routine on every architecture, against a committed table.
//!
//! The test compiles the files of `src/arch` unchanged, without a standard library, for each target, and compares the
//! assembly with `arch_asm/expected.txt`. A missing or weaker barrier fails here, on any machine. After an intended
//! change, look at the difference and bless it: `BLESS=1 cargo test --test arch_asm`.
//!
//! A second check tests the compiler: it must not merge a store before a barrier with a store after it.
//!
//! The instructions of one barrier or copy routine belong here. The hot functions belong in `tests/golden_asm`.
//!
//! Not under the address sanitizer: it executes nothing of the crate.
//! Not on other CPUs: it compiles for each of them on any machine.

mod assembly;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use assembly::{body, is_instruction, rustc, single_spaces};

/// Target triple and the file of `src/arch` that serves it.
const TARGETS: [(&str, &str); 13] = [
    ("x86_64-unknown-linux-gnu", "x86_64"),
    ("i686-unknown-linux-gnu", "x86"),
    ("aarch64-unknown-linux-gnu", "aarch64"),
    ("armv7-unknown-linux-gnueabihf", "arm"),
    ("powerpc64le-unknown-linux-gnu", "powerpc64"),
    ("powerpc64-unknown-linux-gnu", "powerpc64"),
    ("powerpc-unknown-linux-gnu", "powerpc"),
    ("riscv64gc-unknown-linux-gnu", "riscv64"),
    ("s390x-unknown-linux-gnu", "s390x"),
    ("loongarch64-unknown-linux-gnu", "loongarch64"),
    ("mips64-unknown-linux-gnuabi64", "mips64"),
    ("sparc64-unknown-linux-gnu", "sparc64"),
    ("nvptx64-nvidia-cuda", "nvptx64"),
];

/// The names that every architecture exports.
const BARRIERS: [&str; 6] =
    ["to_device", "from_device", "from_device_conservative", "mmio_wc_start", "mmio_flush_writes", "mmio_wc_hint"];

/// The file of an architecture's copy routines. Most have none.
fn source_of_routines(arch: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/arch/copy/{arch}/instructions.rs"))
}

/// The copy routines of an architecture: the functions of its file, and the form of their block.
fn routines(arch: &str) -> Vec<(String, String)> {
    let source = std::fs::read_to_string(source_of_routines(arch)).unwrap_or_default();
    let heads = source.lines().filter_map(|line| line.strip_prefix("pub(super) unsafe fn "));
    let found = heads.map(|head| {
        let (name, parameters) = head.split_once('(').unwrap();
        let block = parameters.split_once(", ").and_then(|(_, block)| block.split_once(": ")?.1.strip_suffix(") {"));
        let block = block.unwrap_or_else(|| panic!("{name}: no destination and block"));
        // An array is of the architecture's vectors.
        let vectors = block.strip_prefix('[').map(|vectors| format!("[core::arch::{arch}::{vectors}"));
        let block = vectors.unwrap_or_else(|| block.to_owned());
        (name.to_owned(), block)
    });
    found.collect()
}

fn functions(arch: &str) -> String {
    let mut source = String::new();
    for name in BARRIERS {
        write!(
            source,
            "#[unsafe(no_mangle)] pub fn check_{name}() {{ barriers::{name}() }}
             #[unsafe(no_mangle)] pub unsafe fn order_{name}(p: *mut u64) {{
                 unsafe {{ *p = 1; barriers::{name}(); *p = 2 }} }}\n"
        )
        .unwrap();
    }
    for (name, block) in routines(arch) {
        write!(
            source,
            "#[unsafe(no_mangle)] pub unsafe fn check_{name}(p: *mut u64, b: {block}) {{
                 unsafe {{ routines::{name}(p, b) }} }}\n"
        )
        .unwrap();
    }
    source += "#[unsafe(no_mangle)] pub unsafe fn check_once(p: *mut u64) { unsafe { *p = 2 } }\n";
    source += match arch {
        "aarch64" => {
            "#[unsafe(no_mangle)] pub unsafe fn check_mmio_copy64(p: *mut u64, w: &[u64; 8]) {
                 unsafe { barriers::mmio_copy64(p, w) } }\n"
        }
        "s390x" => {
            "#[unsafe(no_mangle)] pub unsafe fn check_pci_store(p: *mut u64, v: u64) { unsafe { pci::pci_store(p, v) } }
             #[unsafe(no_mangle)] pub unsafe fn check_pci_store_block(p: *mut u64, s: *const u64) {
                 unsafe { pci::pci_store_block(p, s) } }\n"
        }
        _ => "",
    };
    source
}

/// Compiles one architecture's files for one target, its barriers from `barriers`; the assembly.
fn assembly(target: &str, arch: &str, barriers: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (input, output) = (work.join(format!("{target}.rs")), work.join(format!("{target}.s")));
    let module = |name: &str, path: &Path| format!("#[path = {:?}]\npub mod {name};\n", root.join(path));
    let mut source = include_str!("arch_asm/no_core.rs").to_owned();
    source += &module("barriers", barriers);
    if !routines(arch).is_empty() {
        source += &module("routines", &source_of_routines(arch));
    }
    if arch == "s390x" {
        source += &module("pci", "src/arch/pci.rs".as_ref());
    }
    source += &functions(arch);
    std::fs::write(&input, source).unwrap();
    let run = Command::new(rustc())
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["--edition", "2024", "--target", target, "-O", "-Cpanic=abort", "-Zmerge-functions=disabled"])
        // The first GPUs with fences of the memory model that Rust's is translated to.
        .args((arch == "nvptx64").then_some("-Ctarget-cpu=sm_70"))
        .args(["--emit", "asm", "-o"])
        .args([&output, &input])
        .output()
        .expect("rustc runs");
    assert!(run.status.success(), "{target}:\n{}", String::from_utf8_lossy(&run.stderr));
    std::fs::read_to_string(output).unwrap()
}

/// The instructions of a function, whitespace made single; without labels, directives and comments.
fn instructions(assembly: &str, function: &str) -> Vec<String> {
    // PTX ends each with a semicolon.
    let instructions = body(assembly, function).filter(|line| is_instruction(line));
    instructions.map(|line| single_spaces(line.trim_end_matches(';'))).collect()
}

fn source_of(arch: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/arch/{arch}.rs"))
}

/// The table's lines about one target, and further lines if the compiler merges stores around a barrier.
fn describe(target: &str, arch: &str, barriers: &Path) -> String {
    let assembly = assembly(target, arch, barriers);
    let mut text = String::new();
    let functions: Vec<_> = functions(arch)
        .split("fn check_")
        .skip(1)
        .map(|rest| rest.split('(').next().unwrap().to_owned())
        .filter(|name| name != "once")
        .collect();
    for name in functions {
        let code = instructions(&assembly, &format!("check_{name}"));
        writeln!(text, "{target} {name}: {}", code.join("; ")).unwrap();
    }
    let once = instructions(&assembly, "check_once").len();
    for name in BARRIERS {
        let barrier = instructions(&assembly, &format!("check_{name}"));
        // A function without a body consists of its return, one or two instructions.
        let returns = instructions(&assembly, "check_once").iter().filter(|line| barrier.contains(line)).count();
        let order = instructions(&assembly, &format!("order_{name}"));
        if order.len() <= once + barrier.len() - returns {
            writeln!(text, "{target} {name}: the compiler merged the stores around it: {order:?}").unwrap();
        }
    }
    text
}

#[test]
fn instructions_are_those_in_the_table() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arch_asm/expected.txt");
    let mut found =
        String::from("# target function: instructions, the return included. Blessed by tests/arch_asm.rs.\n");
    for (target, arch) in TARGETS {
        found += &describe(target, arch, &source_of(arch));
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&table, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&table).unwrap_or_default();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

/// Empties each barrier of each architecture. Run by `scripts/mutate-barriers`.
#[test]
#[ignore = "half a minute: scripts/mutate-barriers"]
fn no_mutant_of_an_instruction_lives() {
    let mut alive = 0;
    for (target, arch) in TARGETS {
        let source = std::fs::read_to_string(source_of(arch)).unwrap();
        let whole = describe(target, arch, &source_of(arch));
        for name in BARRIERS {
            let head = format!("pub fn {name}() {{\n");
            let (before, rest) = source.split_once(&head).unwrap_or_else(|| panic!("{arch} has no {name}"));
            let (_, after) = rest.split_once("\n}").unwrap();
            // Beside the mutant is nothing that it could refer to.
            let mutant = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("mutant_{target}.rs"));
            std::fs::write(&mutant, format!("{before}{head}}}{after}")).unwrap();
            let seen = describe(target, arch, &mutant) != whole;
            alive += usize::from(!seen);
            println!("{:<16} {target} {name}", if seen { "seen" } else { "ALIVE" });
        }
    }
    assert_eq!(alive, 0, "these go unseen");
}

#[test]
fn every_architecture_of_the_crate_is_checked() {
    let list = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/arch/mod.rs")).unwrap();
    let known: Vec<_> =
        list.lines().filter_map(|line| line.strip_prefix("architecture!(")?.split(',').next()).collect();
    assert_eq!(known.len(), 12);
    for arch in known {
        assert!(TARGETS.iter().any(|(_, file)| *file == arch), "{arch} is not in TARGETS");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn vector_registers_of_callers_survive() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arch_asm/callers.rs");
    let calls = std::fs::read_to_string(&source).unwrap();
    for (name, block) in routines("x86_64") {
        // A copy from memory needs no registers.
        let called = block.starts_with('*') || calls.contains(&format!("routines::{name}("));
        assert!(called, "tests/arch_asm/callers.rs does not call {name}");
    }
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("callers");
    let run = Command::new(rustc())
        .args(["--edition", "2024", "-O", "-Adead_code", "-o"])
        .args([&program, &source])
        .output()
        .expect("rustc runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let run = Command::new(program).output().expect("the program runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
