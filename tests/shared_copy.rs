//! A copy out of memory that others store to loads each byte once, even if the compiler sees both the copy and the use
//! of its result, as under link-time optimisation.
//!
//! A program of one file is compiled with all optimisations and stepped, instruction by instruction. The memory changes
//! between any two instructions. If the program hands on other bytes than it has checked, it has loaded them twice.
//!
//! The loads of a copy belong here. The instructions of copy routines belong in `tests/arch_asm.rs`.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[expect(dead_code, reason = "only the compiler's name is needed")]
mod assembly;

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt;

/// Bytes of the program's record.
const RECORD: u64 = 256;

/// `rdi` at the next breakpoint. `step` is called between instructions; without it the program just runs.
fn breakpoint(child: Pid, mut step: Option<&mut dyn FnMut(u64)>) -> u64 {
    let mut steps = 0;
    loop {
        let before = ptrace::getregs(child).unwrap().rip;
        let is_breakpoint = ptrace::read(child, before as ptrace::AddressType).unwrap() & 0xff == 0xcc;
        if step.is_some() {
            ptrace::step(child, None).unwrap();
        } else {
            ptrace::cont(child, None).unwrap();
        }
        match waitpid(child, None).unwrap() {
            WaitStatus::Stopped(_, Signal::SIGTRAP) if is_breakpoint || step.is_none() => {
                return ptrace::getregs(child).unwrap().rdi;
            }
            WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
            other => panic!("{other:?}"),
        }
        steps += 1;
        if let Some(step) = &mut step {
            step(steps);
        }
    }
}

/// Compiles the program, which copies from `shared` to the slice `out` by `call` of the source `copy`, and steps it.
/// Returns whether the program used the bytes that it had checked.
fn looks_once(name: &str, copy: &str, call: &str) -> bool {
    let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("shared_copy_{name}"));
    std::fs::create_dir_all(&work).unwrap();
    let adapter = format!("pub unsafe fn to_local(shared: *const u8, out: &mut [u8]) {{ unsafe {{ {call} }} }}\n");
    std::fs::write(work.join("copy.rs"), format!("{copy}\n{adapter}")).unwrap();
    std::fs::write(work.join("program.rs"), include_str!("shared_copy/program.rs")).unwrap();
    let program = work.join("program");
    let compiled = Command::new(assembly::rustc())
        .args(["--edition=2024", "-Copt-level=3", "-Ccodegen-units=1", "--cap-lints=allow", "-o"])
        .args([&program, &work.join("program.rs")])
        .status();
    assert!(compiled.unwrap().success());
    let mut command = Command::new(&program);
    // SAFETY: between fork and exec it makes one system call and allocates nothing.
    unsafe { command.pre_exec(|| ptrace::traceme().map_err(Into::into)) };
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_raw(child.id() as i32);
    assert!(matches!(waitpid(pid, None), Ok(WaitStatus::Stopped(_, Signal::SIGTRAP))), "stopped at its start");
    let record = breakpoint(pid, None);
    let mut change = |steps: u64| {
        for word in (record..record + RECORD).step_by(8) {
            ptrace::write(pid, word as ptrace::AddressType, steps as i64).unwrap();
        }
    };
    let same = breakpoint(pid, Some(&mut change));
    ptrace::cont(pid, None).unwrap();
    child.wait().unwrap();
    same == 1
}

fn source(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn registered_memory_is_looked_at_once() {
    assert!(looks_once("blueflame", &source("src/shared_copy.rs"), "copy_out(shared, out)"));
}

#[test]
fn the_device_looks_at_host_memory_once() {
    assert!(looks_once(
        "softhca",
        &source("softhca/src/memory/shared_copy.rs"),
        "copy_out(shared, out.as_mut_ptr(), out.len())"
    ));
}

/// The check of the check.
#[test]
fn a_plain_copy_looks_twice() {
    let call = "core::ptr::copy_nonoverlapping(shared, out.as_mut_ptr(), out.len())";
    assert!(!looks_once("plain", "", call));
}

/// These copies are the only access to shared memory.
#[test]
fn shared_memory_is_copied_no_other_way() {
    for path in [
        "src/verbs/memory/buffer.rs",
        "src/verbs/memory/pieces.rs",
        "src/queue/owning/pooled.rs",
        "softhca/src/memory/process.rs",
        "softhca/src/wire/shm/memory.rs",
        "softhca/src/embedded/memory.rs",
    ] {
        let text = source(path);
        assert!(text.contains("copy_in(") && text.contains("copy_out("), "{path}");
        for other in ["ptr::copy", "copy_nonoverlapping", "copy_from_nonoverlapping", "copy_to_nonoverlapping"] {
            assert!(!text.contains(other), "{path}: {other}");
        }
    }
}
