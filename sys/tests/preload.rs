//! A preloaded object whose function stands before libibverbs': it is called, and finds libibverbs' function as the next
//! one, although this program is not linked with the library.
//!
//! Interposition belongs here, symbols and their versions in `symbols.rs`.

#![cfg(not(feature = "link"))]

use std::process::Command;

/// The variable that makes the second test call a function.
const CALLS: &str = "BLUEFLAME_SYS_CALLS";

/// `ibv_free_device_list` of a null pointer is no call that libibverbs permits, so this one is not passed on.
const OBJECT: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
struct ibv_device;
void ibv_free_device_list(struct ibv_device **list) {
    (void)list;
    puts(dlsym(RTLD_NEXT, "ibv_free_device_list") ? "preloaded, before another" : "preloaded, before none");
    fflush(stdout);
}
"#;

#[test]
fn a_preloaded_function_is_called_and_finds_the_next() {
    let dir = tempfile::tempdir().expect("a directory");
    let (c, object) = (dir.path().join("preload.c"), dir.path().join("preload.so"));
    std::fs::write(&c, OBJECT).expect("the object's source");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let compiled = Command::new(&compiler).args(["-shared", "-fPIC", "-o"]).arg(&object).arg(&c).output();
    let compiled = compiled.expect("a C compiler (cc, or CC)");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "a_function_is_called", "--nocapture"])
        .env("LD_PRELOAD", &object)
        .env(CALLS, "1")
        .output()
        .expect("this program, again");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("preloaded, before another"), "{printed}");
}

#[test]
fn a_function_is_called() {
    if std::env::var_os(CALLS).is_some() {
        // SAFETY: the preloaded function, which looks at nothing.
        unsafe { blueflame_sys::ibv_free_device_list(std::ptr::null_mut()) };
    }
}
