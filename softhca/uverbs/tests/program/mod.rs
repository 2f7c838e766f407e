//! One program on a device: compiled, if it is one of our own in C, and launched.
//!
//! Pairs of programs belong in `pair`.

use std::time::Duration;

use crate::pair::{Device, launch_on};

/// The C program `name`, compiled; it is there as long as the directory.
pub(crate) fn compiled(name: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory for the program");
    let program = directory.path().join(name).display().to_string();
    let source = &format!("{}/tests/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let arguments = ["-Wall", "-Wextra", "-O1", "-o", &program, source, "-libverbs", "-lmlx5", "-lrdmacm", "-lpthread"];
    let compiled = std::process::Command::new(&compiler).args(arguments).status();
    assert!(compiled.is_ok_and(|status| status.success()), "{compiler} {arguments:?}");
    (directory, program)
}

/// Runs one program on a device with these options; its exit code, `None` after `patience`, and output.
pub(crate) fn launch(options: &[&str], command: &[&str], patience: Duration) -> (Option<i32>, String) {
    launch_on(&Device::new(options), command, patience)
}
