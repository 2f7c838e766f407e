//! Code that teaches completes a request by one call. `check()?` leaves a function before or without the retirement of
//! a request that failed, whose `wr_id`, buffer and place in the ring are lost then.
//!
//! Checks of how pages, examples and docs take completions belong here, the outcomes of `complete` in
//! `tests/loopback/complete.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders whose whole text teaches.
const WHOLE: [&str; 4] = ["README.md", "docs", "examples", "testkit/examples"];
/// Folders whose doc comments teach.
const DOC_COMMENTS: [&str; 4] = ["src", "async/src", "devx/src", "testkit/src"];
/// The halves of `complete`, as code that has no whitespace calls them.
const HALVES: [&str; 3] = ["check()?", "check().map_err(", ".retire("];
/// How often a file may have one of them.
const EXCEPTIONS: [(&str, &str, usize); 4] = [
    // `StridingRecvQueue::receive` has taken the strides back, and returns no frame for an error.
    ("docs/howto/packet-rate.md", "check()?", 1),
    ("docs/howto/striding.md", "check()?", 1),
    ("examples/common/frames.rs", "check()?", 1),
    ("examples/howto/striding.rs", "check()?", 1),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Pages and sources at a path from the root.
fn files(path: &Path, found: &mut Vec<PathBuf>) {
    let whole = root().join(path);
    if !whole.is_dir() {
        found.extend(path.extension().is_some_and(|it| it == "md" || it == "rs").then(|| path.to_owned()));
        return;
    }
    for entry in fs::read_dir(&whole).unwrap_or_else(|error| panic!("{}: {error}", path.display())) {
        files(&path.join(entry.expect("an entry").file_name()), found);
    }
}

/// The text of the doc comments, without their marks.
fn doc_comments(source: &str) -> String {
    let marked = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(|text| format!("{text}\n"))
    };
    source.lines().filter_map(marked).collect()
}

/// How often a text has each half.
fn halves(text: &str) -> [usize; HALVES.len()] {
    let text: String = text.split_whitespace().collect();
    HALVES.map(|half| text.matches(half).count())
}

#[test]
fn a_completion_is_one_call_wherever_it_is_taught() {
    let mut texts = Vec::new();
    let mut read = |folders: &[&str], part: fn(&str) -> String| {
        for folder in folders {
            let mut found = Vec::new();
            files(Path::new(folder), &mut found);
            assert!(!found.is_empty(), "{folder}");
            texts.extend(found.into_iter().map(|file| {
                let text = fs::read_to_string(root().join(&file)).expect("it is there");
                (file.display().to_string(), part(&text))
            }));
        }
    };
    read(&WHOLE, str::to_owned);
    read(&DOC_COMMENTS, doc_comments);
    let mut wrong = Vec::new();
    for (file, text) in &texts {
        for (half, count) in HALVES.iter().zip(halves(text)) {
            let exception = EXCEPTIONS.iter().find(|(named, of, _)| named == file && of == half);
            let allowed = exception.map_or(0, |&(.., allowed)| allowed);
            if count != allowed {
                wrong.push(format!("{file}: {count} times `{half}`, not {allowed}: use `complete`, or list the file"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let completing = texts.iter().filter(|(_, text)| text.contains(".complete(")).count();
    assert!(completing > 40, "{completing} files complete something");
    let gone = EXCEPTIONS.iter().find(|(named, ..)| !texts.iter().any(|(file, _)| file == named));
    assert_eq!(gone, None, "an exception of no file");
}

#[test]
fn halves_are_found_on_one_line_or_several() {
    assert_eq!(halves("let done = sq.retire(&cqe)?;\ncqe\n    .check()?;"), [1, 0, 1]);
    assert_eq!(halves("cqe.check().map_err(explain)?"), [0, 1, 0]);
    assert_eq!(halves("sq.complete(&cqe)?; if let Err(error) = cqe.check() {}"), [0, 0, 0]);
    assert_eq!(doc_comments("/// a\n    //! b\n// c\nlet d = 0; /// e"), " a\n b\n");
}
