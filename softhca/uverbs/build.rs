//! Tells the crate whether the compiler has naked functions, which Rust 1.88 stabilized. Without them, libraries that a
//! program loads with `RTLD_DEEPBIND` find no device, and a program's yields do none of its device's work.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(has_naked_functions)");
    if autocfg::new().probe_rustc_version(1, 88) {
        autocfg::emit("has_naked_functions");
    }
}
