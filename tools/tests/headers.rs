//! Each file with tests begins with the tests that belong there, and the place of those that do not.
//!
//! Only headers of tests belong here. `pages.rs` checks the files that pages name.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of packages. Tests are in folders `tests` below them.
const PACKAGES: [&str; 11] =
    ["async", "benches", "decode", "devx", "examples", "fuzz/targets", "softhca", "src", "testkit", "tests", "tools"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Rust files below `folder`, in folders named `tests`.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        let is_below_tests = path.components().any(|part| part.as_os_str() == "tests");
        match path.extension() {
            _ if path.is_dir() && path.ends_with("target") => {}
            _ if path.is_dir() => files(&path, found),
            Some(extension) if extension == "rs" && is_below_tests => found.push(path),
            _ => {}
        }
    }
}

/// The text of the file's header, in one line.
fn header(source: &str) -> String {
    let lines = source.lines().skip_while(|line| !line.starts_with("//!"));
    let lines = lines.map_while(|line| line.strip_prefix("//!"));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Whether a file has tests, and its header does not say which.
fn lacks(source: &str) -> bool {
    let has_tests = source.lines().any(|line| line.trim() == "#[test]");
    has_tests && !["belong here", "belongs here", "Here belong"].iter().any(|words| header(source).contains(words))
}

#[test]
fn each_file_with_tests_says_which_belong_there() {
    let mut found = Vec::new();
    PACKAGES.iter().for_each(|folder| files(&root().join(folder), &mut found));
    assert!(found.len() > 250, "only {} files were found", found.len());
    let text = |file: &PathBuf| fs::read_to_string(file).expect("UTF-8");
    let missing: Vec<_> = found.iter().filter(|file| lacks(&text(file))).collect();
    assert!(missing.is_empty(), "no \"… belongs here, … in `file`\" at the start of {missing:#?}");
}

#[test]
fn a_header_without_its_tests_is_found() {
    let test = "\n#[test]\nfn a() {}\n";
    assert!(lacks(&format!("//! Queues.{test}")));
    assert!(lacks(&format!("//! Queues.\n\n// Queues belong here.{test}")));
    assert!(!lacks(&format!("#![cfg(unix)]\n//! Queues.\n//!\n//! Queues belong here, rings in `rings.rs`.{test}")));
    assert!(!lacks("//! A helper.\n\nfn a() {}\n"));
}
