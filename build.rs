//! Tells the crate whether the compiler has `core::hint::cold_path`, which Rust 1.95 stabilized. Older compilers build
//! the crate as well, without that hint. On PowerPC, they have no `asm!`, which the barriers are made of.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(has_cold_path)");
    if minor_version().is_some_and(|minor| minor >= 95) {
        println!("cargo::rustc-cfg=has_cold_path");
    } else if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch.starts_with("powerpc")) {
        println!("cargo::error=on PowerPC, blueflame needs Rust 1.95 or later");
    }
}

/// 95 of `rustc 1.95.0 (59807616e 2026-04-14)`.
fn minor_version() -> Option<u32> {
    let output = Command::new(std::env::var_os("RUSTC")?).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()?.split('.').nth(1)?.parse().ok()
}
