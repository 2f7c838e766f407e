//! Tells the crate whether the compiler has naked functions, which Rust 1.88 stabilized. Without them, libraries that a
//! program loads with `RTLD_DEEPBIND` find no device.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(has_naked_functions)");
    if minor_version().is_some_and(|minor| minor >= 88) {
        println!("cargo::rustc-cfg=has_naked_functions");
    }
}

/// 88 of `rustc 1.88.0 (6b00bc388 2025-06-23)`.
fn minor_version() -> Option<u32> {
    let output = Command::new(std::env::var_os("RUSTC")?).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()?.split('.').nth(1)?.parse().ok()
}
