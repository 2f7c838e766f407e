//! The page of environment variables names each variable that the sources read, and no other.
//!
//! Only checks of `docs/environment.md` belong here. `softhca-run` has its options, so its `SOFTHCA_` variables are not
//! on the page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/environment.md";
/// Folders with Rust sources.
const SOURCES: [&str; 11] =
    ["async", "benches", "decode", "devx", "examples", "fuzz/targets", "softhca", "src", "testkit", "tests", "tools"];
/// The text before the name where a source reads a variable. The name is a literal, or a constant of the same file.
/// `switch` is the parameter of `policy_of` in `src/verbs/domain/register.rs`.
const READERS: [&str; 4] = ["var(", "var_os(", "getenv(", "switch("];
/// Variables that a library reads for the programs here: proptest, anstream.
const READ_BY_LIBRARIES: [&str; 4] = ["PROPTEST_CASES", "PROPTEST_RNG_SEED", "PROPTEST_RNG_ALGORITHM", "NO_COLOR"];
/// Where a distribution has libmlx5.
const LIBRARIES: [&str; 3] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The capitals, digits and underscores that `text` begins with, if `end` follows.
fn name<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let len = text.find(|c: char| !matches!(c, 'A'..='Z' | '0'..='9' | '_')).unwrap_or(text.len());
    (len > 1 && text[len..].starts_with(end)).then(|| &text[..len])
}

/// The value of a constant string of this file.
fn constant<'a>(source: &'a str, identifier: &str) -> Option<&'a str> {
    let (_, rest) = source.split_once(&format!("const {identifier}: "))?;
    let (_, value) = rest.lines().next()?.split_once('"')?;
    name(value, "\"")
}

/// The variables that a source reads, without those that it sets for its own children, cargo's and the launcher's.
fn read_by(source: &str) -> BTreeSet<&str> {
    // A module's own tests come last.
    let code = source.split("\n#[cfg(test)]").next().unwrap_or(source);
    let mut read = BTreeSet::new();
    for reader in READERS {
        for (_, argument) in code.match_indices(reader).map(|(at, _)| code[at..].split_at(reader.len())) {
            let found = match argument.strip_prefix('"') {
                Some(literal) => name(literal, "\""),
                None => name(argument, ")").filter(|constant| !code.contains(&format!("({constant}, "))),
            };
            read.extend(
                found.and_then(|found| if argument.starts_with('"') { Some(found) } else { constant(code, found) }),
            );
        }
    }
    // C's strings in capitals are names of variables that libc's `getenv` reads.
    read.extend(code.split("c\"").skip(1).filter_map(|literal| name(literal, "\"")));
    read.retain(|name| !["CARGO", "RUSTC", "SOFTHCA_"].iter().any(|prefix| name.starts_with(prefix)));
    read
}

/// The first two cells of each row of the page's tables: a variable, and its readers.
fn rows(page: &str) -> Vec<(&str, &str)> {
    let cells = page.lines().filter(|line| line.starts_with("| `")).map(|row| row.split('|').map(str::trim));
    cells
        .map(|mut cells| (cells.nth(1).expect("a variable").trim_matches('`'), cells.next().expect("readers")))
        .collect()
}

#[test]
fn every_variable_that_a_source_reads_is_on_the_page() {
    let page = text(PAGE);
    let mut missing = BTreeSet::new();
    for file in SOURCES.iter().flat_map(|folder| rust_files(&root().join(folder))) {
        let source = fs::read_to_string(&file).expect("UTF-8");
        let names = read_by(&source).into_iter().filter(|name| !page.contains(&format!("`{name}`")));
        missing.extend(names.map(|name| format!("{name}, which {} reads", file.display())));
    }
    assert!(missing.is_empty(), "{PAGE} lacks {missing:#?}");
}

#[test]
fn every_variable_on_the_page_is_read() {
    let sources = SOURCES.iter().flat_map(|folder| rust_files(&root().join(folder)));
    let sources: Vec<String> = sources.map(|file| fs::read_to_string(file).expect("UTF-8")).collect();
    let read: BTreeSet<&str> = sources.iter().flat_map(|source| read_by(source)).collect();
    let libmlx5 = LIBRARIES.iter().find_map(|folder| fs::read(format!("{folder}/libmlx5.so.1")).ok());
    let libmlx5 = libmlx5.expect("libmlx5 is installed");
    let page = text(PAGE);
    let rows = rows(&page);
    assert!(rows.len() > 8, "{rows:?}");
    for (variable, readers) in rows {
        let libraries = libmlx5.windows(variable.len() + 1).any(|bytes| bytes == format!("{variable}\0").as_bytes());
        assert_eq!(readers.contains("libmlx5"), libraries, "{variable}: does libmlx5 read it?");
        let known = read.contains(variable) || READ_BY_LIBRARIES.contains(&variable);
        assert!(readers == "libmlx5" || known, "{variable}: no source reads it");
    }
}

#[test]
fn names_are_found_in_sources() {
    let source = "const NAME: &str = \"B_NAME\";\nfn a() { env::var(\"A_1\"); env::var_os(NAME); var(OTHER); \
        signatures(c\"C_2\") }\n\
                  fn b() { var_os(\"SOFTHCA_X\"); var(name) }\n#[cfg(test)]\nmod tests { var(\"D\") }";
    assert_eq!(read_by(source), BTreeSet::from(["A_1", "B_NAME", "C_2"]));
    // A variable between a test and its own child.
    assert_eq!(
        read_by("const IN: &str = \"INSIDE\";\nfn a() { var_os(IN); command.env(IN, \"1\"); }"),
        BTreeSet::new()
    );
}
