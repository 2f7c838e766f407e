//! Each statement of SECURITY.md names tests, and these exist.
//!
//! Only checks of SECURITY.md belong here. `book.rs` checks that links lead to files, `pages.rs` the names in other
//! pages.

use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "SECURITY.md";
/// Where the fuzz targets are, their programs, and the test that runs their seeds.
const TARGETS: &str = "fuzz/targets/src";
const PROGRAMS: &str = "fuzz/fuzz_targets";
const SEEDS: &str = "tests/fuzz_seeds/main.rs";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// The lines of a section, up to the next heading.
fn section<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = page.lines().skip_while(|line| line.trim_start_matches('#').trim() != heading).skip(1);
    lines.take_while(|line| !line.starts_with('#')).collect()
}

/// The promise of each row of the table, and its tests.
fn promises(page: &str) -> Vec<(&str, &str)> {
    let rows = section(page, "Promises").into_iter().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split(" | ");
        (cells.next().unwrap_or("").trim(), cells.next().unwrap_or("").trim())
    })
    .collect()
}

/// The items of a list, a line each.
fn items(lines: &[&str]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in lines {
        match (line.strip_prefix("- "), items.last_mut()) {
            (Some(first), _) => items.push(first.to_owned()),
            (None, Some(item)) if line.starts_with("  ") => item.push_str(&format!(" {}", line.trim())),
            _ => {}
        }
    }
    items
}

/// The targets of links.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    prose.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next())
}

/// Code that is no link's text.
fn spans(prose: &str) -> impl Iterator<Item = &str> {
    let mut parts = prose.split('`');
    let mut before = parts.next().unwrap_or("");
    std::iter::from_fn(move || {
        loop {
            let (span, after) = (parts.next()?, parts.next()?);
            let is_link = before.ends_with('[') && after.starts_with("](");
            before = after;
            if !is_link {
                return Some(span);
            }
        }
    })
}

/// A file with the files of its program that are below its folder, or that it names as modules (`#[path = …]`).
fn whole(path: &Path) -> String {
    let Some(folder) = path.parent() else { return text(path) };
    let mut all = text(path);
    let is_root = path.ends_with("main.rs") || path.ends_with("mod.rs");
    let program = folder.join("main.rs");
    if is_root {
        let mut left = vec![root().join(folder)];
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                all += &fs::read_to_string(&path).expect("UTF-8");
            }
        }
        let named = all.split("#[path = \"").skip(1).filter_map(|rest| rest.split('"').next());
        let modules: Vec<String> = named.map(|module| text(&folder.join(module))).collect();
        all.extend(modules);
    } else if root().join(&program).exists() {
        // A module of a program whose first file has the tests.
        all += &text(&program);
    }
    all
}

/// Whether a file has tests: its own, examples that must not compile, or a fuzz target that a test runs.
fn has_tests(path: &Path) -> bool {
    let source = whole(path);
    if let Ok(target) = path.strip_prefix(TARGETS) {
        let first = target.components().next().expect("a file").as_os_str();
        let name = Path::new(first).file_stem().expect("a name").to_string_lossy();
        let is_run = text(Path::new(SEEDS)).contains(&format!("check(\"{name}\""));
        return is_run && root().join(PROGRAMS).join(format!("{name}.rs")).exists();
    }
    source.contains("#[test]") || source.contains("compile_fail")
}

/// Faults of the tests that a statement names.
fn complaints(statement: &str) -> Vec<String> {
    let mut found = Vec::new();
    let files: Vec<&Path> = links(statement).map(Path::new).collect();
    let mut named = files.len();
    let sources: String = files.iter().map(|file| whole(file)).collect();
    for file in files {
        if !has_tests(file) {
            found.push(format!("no test in {}", file.display()));
        }
    }
    for span in spans(statement) {
        // Longer than names of attributes. Functions of libibverbs are no tests.
        let is_name = !span.starts_with("ibv_") && span.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let is_function = is_name && span.matches('_').count() > 2;
        if span.contains('/') {
            named += 1;
            if !root().join(span).exists() {
                found.push(format!("no {span}"));
            }
        } else if is_function && !sources.contains(&format!("fn {span}(")) {
            found.push(format!("no {span} in the files that are linked"));
        }
    }
    if named == 0 {
        found.push("no test is named".to_owned());
    }
    found
}

#[test]
fn each_statement_names_tests_that_exist() {
    let page = text(Path::new(PAGE));
    let promises = promises(&page);
    assert!(promises.len() > 12, "{promises:?}");
    let conditions = items(&section(&page, "Fork and signals"));
    assert!(conditions.len() > 2, "{conditions:?}");
    let statements = promises.iter().map(|(_, tests)| *tests).chain(conditions.iter().map(String::as_str));
    let wrong: Vec<_> =
        statements.flat_map(|tests| complaints(tests).into_iter().map(move |why| format!("{tests}: {why}"))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn tests_that_are_missing_are_told() {
    let good = [
        "[`tests/ownership.rs`](tests/ownership.rs)",
        "fuzz target [`decode`](fuzz/targets/src/decode.rs)",
        "[`ownership`](fuzz/targets/src/ownership/mod.rs)",
        "the `compile_fail` example of [`queue_pair`](src/verbs/qp/builder.rs)",
        "`a_receiver_of_frames_is_the_only_receiver` in [`tests/raw_packet/receivers.rs`](tests/raw_packet/receivers.rs)",
        "`softhca/uverbs/tests/forked.c`",
    ];
    for tests in good {
        assert_eq!(complaints(tests), [""; 0], "{tests}");
    }
    let bad = [
        ("", "no test is named"),
        ("[`README`](README.md)", "no test in README.md"),
        ("[`memory`](fuzz/targets/src/memory.rs)", "no test in fuzz/targets/src/memory.rs"),
        ("[`gone`](tests/gone.rs)", "no test in tests/gone.rs"),
        ("`a_test_that_is_gone` in [`x`](tests/ownership.rs)", "no a_test_that_is_gone in the files that are linked"),
        ("`softhca/uverbs/tests/gone.c`", "no softhca/uverbs/tests/gone.c"),
    ];
    for (tests, why) in bad {
        assert_eq!(complaints(tests), [why], "{tests}");
    }
}
