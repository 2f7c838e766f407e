//! The pages about claims and parts name files, tests and commands. All of these exist, and claims are short.
//!
//! Here belong checks of the names in pages. `book.rs` checks links and code. A table that a program makes or compares
//! has its check beside that program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Most words of a claim.
const CLAIM_WORDS: usize = 25;
/// The page of claims, and the folder of the pages that hold their evidence.
const CLAIMS: &str = "docs/proved.md";
const EVIDENCE: &str = "docs/evidence";
/// Pages and folders that cite only paths of this repository. Other pages also cite files of other projects.
const OWN_PATHS: &[&str] = &[
    CLAIMS,
    EVIDENCE,
    "CONTRIBUTING.md",
    "docs/architecture.md",
    "docs/environment.md",
    "docs/firmware.md",
    "docs/performance.md",
    "docs/performance",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A page: its path from the repository's root, and its text without blocks of code.
struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut code = false;
        let lines = text.lines().filter(|line| {
            let fence = line.trim_start().starts_with("```");
            code ^= fence;
            !code && !fence
        });
        Self { path: path.to_owned(), text: lines.collect::<Vec<_>>().join("\n") }
    }

    /// All that is between two backticks on one line.
    fn spans(&self) -> impl Iterator<Item = &str> {
        self.text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
    }

    /// The targets of links.
    fn links(&self) -> impl Iterator<Item = &str> {
        self.text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
    }
}

/// The Markdown files of a folder and of its folders, or the one file that is named.
fn pages(path: &str) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut left = vec![PathBuf::from(path)];
    while let Some(path) = left.pop() {
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(Page::read(&path));
        } else if root().join(&path).is_dir() {
            let entries = fs::read_dir(root().join(&path)).expect("a folder");
            left.extend(entries.map(|entry| path.join(entry.expect("an entry").file_name())));
        }
    }
    assert!(!pages.is_empty(), "{path} has no pages");
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    pages
}

/// A complaint about a file or test that a span names, if it names one: `FOLDER/FILE`, or `FOLDER/FILE::TEST`.
fn missing(span: &str) -> Option<String> {
    let (path, test) = span.split_once("::").map_or((span, None), |(path, test)| (path, Some(test)));
    let first = path.split_once('/')?.0;
    let is_ours = !first.is_empty() && first != "target" && root().join(first).is_dir();
    if !is_ours || path.contains([' ', '<', '*', '{']) {
        return None;
    }
    let file = root().join(path);
    if !file.exists() {
        return Some(format!("no {path}"));
    }
    let test = test?;
    let text = fs::read_to_string(&file).unwrap_or_default();
    let found =
        text.match_indices(&format!("fn {test}")).any(|(at, name)| text[at + name.len()..].starts_with(['(', '<']));
    (!found).then(|| format!("no {test} in {path}"))
}

/// A complaint about an unknown command of `./run`.
fn unknown_command(span: &str) -> Option<String> {
    let name = span.strip_prefix("./run ")?.split(' ').next()?;
    let known = root().join("scripts/help").join(name).exists() || name.starts_with('-') || name == "help";
    (!known).then(|| format!("no ./run {name}"))
}

#[test]
fn named_files_tests_and_commands_exist() {
    let mut wrong = Vec::new();
    for page in OWN_PATHS.iter().flat_map(|path| pages(path)) {
        let found = page.spans().filter_map(|span| missing(span).or_else(|| unknown_command(span)));
        wrong.extend(found.map(|complaint| format!("{}: {complaint}", page.path.display())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A row of a table of claims: the first cell, and all of the row.
fn claims(page: &Page) -> Vec<(&str, &str)> {
    let rows = page.text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| claim "));
    rows.map(|row| (row.split('|').nth(1).unwrap_or("").trim(), row)).collect()
}

#[test]
fn claims_are_short_and_lead_to_their_evidence() {
    let page = Page::read(Path::new(CLAIMS));
    let claims = claims(&page);
    assert!(claims.len() > 20, "{} claims", claims.len());
    for (claim, row) in &claims {
        // A link counts as its words.
        let words = claim.split("](").map(|part| part.rsplit(')').next().unwrap_or(part)).collect::<Vec<_>>().join(" ");
        let count = words.split_whitespace().count();
        assert!(count <= CLAIM_WORDS, "{count} words: {claim}");
        assert!(row.contains("](evidence/"), "no evidence: {claim}");
    }
    let linked: BTreeSet<&str> = page.links().filter_map(|link| link.split('#').next()).collect();
    for evidence in pages(EVIDENCE) {
        let name = evidence.path.strip_prefix("docs").expect("below docs").to_str().expect("UTF-8");
        assert!(linked.contains(name), "{CLAIMS} does not link {name}");
    }
}

#[test]
fn what_is_missing_is_told() {
    for good in
        ["tools/tests/pages.rs", "tools/tests/pages.rs::missing", "tools", "ibv_poll_cq", "src/<CPU>/x", "/dev/x"]
    {
        assert_eq!(missing(good), None, "{good}");
    }
    for bad in ["tools/tests/no.rs", "tools/tests/pages.rs::miss", "tools/tests/no.rs::missing"] {
        assert!(missing(bad).is_some(), "{bad}");
    }
    assert_eq!(unknown_command("./run test --long"), None);
    assert!(unknown_command("./run nothing").is_some());
}
