//! Programs that load libibverbs and libmlx5 in other ways than by name at their start.
//!
//! Ways of loading the libraries belong here, paths of the preloaded object in `launcher`.

use crate::program::launch;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The libraries of this system, and the names of their copies, which are as long.
const COPIES: [(&str, &str); 2] = [("libibverbs.so.1", "libibverbs-b.so"), ("libmlx5.so.1", "libmlx5-b.so")];

fn cc(arguments: &[&str]) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let compiled = Command::new(&compiler).args(["-Wall", "-Wextra", "-O1"]).args(arguments).status();
    assert!(compiled.is_ok_and(|status| status.success()), "{compiler} {arguments:?}");
}

/// The file of a library of this system.
fn library(name: &str) -> PathBuf {
    let found = Command::new("cc").arg(format!("-print-file-name={name}")).output().expect("cc starts");
    PathBuf::from(String::from_utf8(found.stdout).expect("UTF-8").trim()).canonicalize().expect(name)
}

/// Copies the libraries under other names, as tools that bundle libraries into wheels do. They find one another by
/// these names.
fn copy_libraries(directory: &Path) {
    for (name, copy) in COPIES {
        let mut bytes = std::fs::read(library(name)).expect(name);
        for (name, copy) in COPIES {
            for at in 0..bytes.len() - name.len() {
                if bytes[at..].starts_with(name.as_bytes()) {
                    bytes[at..at + name.len()].copy_from_slice(copy.as_bytes());
                }
            }
        }
        std::fs::write(directory.join(copy), bytes).expect(copy);
    }
}

#[test]
fn libraries_of_a_plugin_open_devices() {
    let directory = tempfile::tempdir().expect("a directory");
    copy_libraries(directory.path());
    let at = |name: &str| directory.path().join(name).display().to_string();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/loading.c");
    let (plugin, here) = (at("plugin.so"), at(""));
    let libraries = COPIES.map(|(_, copy)| format!("-l:{copy}"));
    let of_plugin = ["-DPLUGIN", "-shared", "-fPIC", "-o", &plugin, source, "-L", &here, "-Wl,-rpath,$ORIGIN"];
    cc(&[&of_plugin[..], &libraries.each_ref().map(String::as_str)].concat());
    let programs = [("alone", &[][..]), ("others", &["-DOTHERS", "-libverbs", "-lmlx5"]), ("deep", &["-DDEEP"])];
    for (program, options) in programs {
        let program = at(program);
        cc(&[&["-o", &program, source, "-Wl,--enable-new-dtags,-rpath,$ORIGIN"], options].concat());
        let ended = launch(&[], &[&program, "plugin.so"], Duration::from_secs(60));
        assert_eq!(ended, (Some(0), String::new()), "{program}");
    }
}
