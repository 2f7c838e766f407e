//! Checks the pages of the repository. Every link of every page leads to a file and to a heading. Every page of `docs`
//! is in the book's table of contents, and its code is compiled. A test runs each program that a page tells the reader
//! to run.
//!
//! A block of code after the comment `<!-- PATH:ANCHOR -->` has that part of a program. After a change of the program:
//! `BLESS=1 cargo test -p blueflame-tools --test book`.
//!
//! Pages belong here, the programs that they show in `examples`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A page, and its parts.
#[derive(Default)]
struct Page {
    /// Relative links, as they are written.
    links: Vec<String>,
    /// The names by which links reach its headings.
    headings: BTreeSet<String>,
    /// `path:anchor` of each part of a program, and the block that shows it.
    shown: Vec<(String, String)>,
    /// Whether the page has Rust that is no part of a program.
    own_rust: bool,
    /// `NAME` of each `./run example NAME`.
    programs: BTreeSet<String>,
}

impl Page {
    fn read(text: &str) -> Self {
        let mut page = Self::default();
        // The block at hand: whether it is Rust, and its text.
        let mut block: Option<(bool, String)> = None;
        let mut part = None;
        for line in text.lines() {
            let word = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
            // Options of the device may come first.
            let name = |rest: &str| word(if rest.starts_with('-') { rest.split_once(" -- ")?.1 } else { rest });
            let named = line.split("./run example ").skip(1).filter_map(name);
            page.programs.extend(named.filter(|name| !name.is_empty() && name != "NAME"));
            let trimmed = line.trim_start();
            if let Some(info) = trimmed.strip_prefix("```") {
                block = match block {
                    None => Some((info.starts_with("rust"), String::new())),
                    Some((rust, text)) => {
                        match part.take() {
                            Some(part) => page.shown.push((part, text)),
                            None => page.own_rust |= rust,
                        }
                        None
                    }
                };
            } else if let Some((_, text)) = &mut block {
                text.push_str(line);
                text.push('\n');
            } else {
                part = named_part(line);
                page.read_prose(line);
            }
        }
        page
    }

    fn read_prose(&mut self, line: &str) {
        let hashes = line.len() - line.trim_start_matches('#').len();
        if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
            let name = slug(line[hashes..].trim());
            let numbered = (1..).map(|n| format!("{name}-{n}"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !self.headings.contains(name));
            self.headings.extend(free);
        }
        // Code contains no links.
        let prose: String = line.split('`').step_by(2).collect();
        let inline = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        let defined = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
        let relative = |target: &&str| !target.contains("://") && !target.starts_with("mailto:");
        self.links.extend(inline.chain(defined).filter(relative).map(str::to_owned));
    }
}

/// `path:anchor` of the comment that names a part of a program.
fn named_part(line: &str) -> Option<String> {
    let name = line.trim().strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    (name.contains(':') && !name.contains(' ')).then(|| name.to_owned())
}

/// The name that GitHub and mdBook give a heading.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A repository's pages and sources.
struct Tree {
    root: PathBuf,
    /// By path from the root.
    pages: BTreeMap<PathBuf, Page>,
    /// Sources that have documentation tests of pages, or run programs.
    sources: Vec<String>,
}

impl Tree {
    fn read(root: &Path) -> Self {
        let mut tree = Self { root: root.to_owned(), pages: BTreeMap::new(), sources: Vec::new() };
        tree.read_folder(Path::new(""));
        tree
    }

    fn read_folder(&mut self, folder: &Path) {
        for entry in fs::read_dir(self.root.join(folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name();
            let path = folder.join(&name);
            let hidden = name.to_string_lossy().starts_with('.');
            if entry.file_type().expect("a type").is_dir() {
                if !hidden && !["target", "corpus", "artifacts"].iter().any(|skipped| name == *skipped) {
                    self.read_folder(&path);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = self.text(&path).expect("a page");
                self.pages.insert(path, Page::read(&text));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = self.text(&path).unwrap_or_default();
                if text.contains("cfg(doctest)") || text.contains("CARGO_BIN_EXE_") {
                    self.sources.push(text);
                }
            }
        }
    }

    fn text(&self, path: &Path) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    /// All faults, a line each.
    fn complaints(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (path, page) in &self.pages {
            let mut complain = |what: &str, why: &str| found.push(format!("{}: {what}: {why}", path.display()));
            for link in &page.links {
                if let Err(why) = self.follow(path, link) {
                    complain(link, why);
                }
            }
            for (part, block) in &page.shown {
                match self.part(path, page, part) {
                    Err(why) => complain(part, why),
                    Ok(text) if text != *block => complain(part, "the page shows other code"),
                    Ok(_) => {}
                }
            }
            for name in &page.programs {
                let program = format!("\"CARGO_BIN_EXE_{name}\"");
                // The test there has all programs of the folder.
                let is_howto = self.root.join(format!("examples/howto/{name}.rs")).exists();
                if !is_howto && !self.sources.iter().any(|source| source.contains(&program)) {
                    complain(&format!("./run example {name}"), "no test runs it");
                }
            }
            let in_book = path.starts_with("docs");
            let compiled = format!("{}\")]", path.display());
            if in_book && page.own_rust && !self.sources.iter().any(|source| source.contains(&compiled)) {
                complain("a block of Rust", "nothing compiles it: show a part of a program, or test the page");
            }
            let listed = self.pages.get(Path::new("docs/SUMMARY.md")).map_or(0, |summary| {
                summary.links.iter().filter(|&link| *path == Path::new("docs").join(link)).count()
            });
            if in_book && !path.ends_with("SUMMARY.md") && listed != 1 {
                complain("docs/SUMMARY.md", &format!("lists the page {listed} times"));
            }
        }
        found
    }

    /// Where a link of `page` leads.
    fn follow(&self, page: &Path, link: &str) -> Result<(), &'static str> {
        let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
        let target = if file.is_empty() { page.to_owned() } else { beside(page, file) };
        if !self.root.join(&target).exists() {
            return Err("no such file");
        }
        match (heading, self.pages.get(&target)) {
            (Some(heading), Some(page)) if !page.headings.contains(heading) => Err("no such heading"),
            _ => Ok(()),
        }
    }

    /// The part of a program that `page` shows, as it is now. The page also links the program.
    fn part(&self, path: &Path, page: &Page, part: &str) -> Result<String, &'static str> {
        let (file, anchor) = part.split_once(':').unwrap_or((part, ""));
        let text = self.text(&beside(path, file)).ok_or("no such file")?;
        // Comments of Rust, and of Python.
        let mark = |line: &str, mark: &str| {
            let line = line.trim_start();
            line.strip_prefix("// ").or(line.strip_prefix("# ")).is_some_and(|words| words.starts_with(mark))
        };
        let (begin, end) = (format!("ANCHOR: {anchor}"), format!("ANCHOR_END: {anchor}"));
        let is = |line: &str, whole: &str| mark(line, whole) && line.ends_with(whole);
        let lines = text.lines().skip_while(|line| !is(line, &begin)).skip(1);
        let lines: Vec<&str> = lines.take_while(|line| !is(line, &end)).filter(|line| !mark(line, "ANCHOR")).collect();
        let indent =
            lines.iter().filter(|line| !line.is_empty()).map(|line| line.len() - line.trim_start().len()).min();
        let indent = indent.filter(|_| text.lines().any(|line| is(line, &end))).ok_or("no such anchor")?;
        if !page.links.iter().any(|link| link == file) {
            return Err("the page does not link the program");
        }
        Ok(lines.iter().map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect())
    }

    /// Writes into each page the parts of programs as they are now.
    fn bless(&self) {
        for (path, page) in &self.pages {
            let mut text = self.text(path).expect("a page");
            for (part, block) in &page.shown {
                let Ok(now) = self.part(path, page, part) else { continue };
                let comment = format!("<!-- {part} -->\n");
                let (before, after) = text.split_once(&comment).expect("the comment that was read");
                let (fence, after) = after.split_once('\n').expect("the block's beginning");
                let after = after.strip_prefix(block.as_str()).expect("the block that was read");
                text = format!("{before}{comment}{fence}\n{now}{after}");
            }
            fs::write(self.root.join(path), text).expect("the page can be written");
        }
    }
}

/// The path from the root of what `page` calls `file`.
fn beside(page: &Path, file: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => _ = path.pop(),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn every_page_leads_somewhere() {
    let mut tree = Tree::read(root());
    if std::env::var_os("BLESS").is_some() {
        tree.bless();
        tree = Tree::read(root());
    }
    assert!(tree.pages.len() > 30, "pages of the repository: {:?}", tree.pages.keys());
    let complaints = tree.complaints();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn what_is_wrong_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    };
    write("program.rs", "// ANCHOR: part\nfn main() {}\n// ANCHOR_END: part\n// ANCHOR: empty\n// ANCHOR_END: empty\n");
    write("tests.rs", "run(env!(\"CARGO_BIN_EXE_there\"));");
    write("docs/SUMMARY.md", "- [Good](howto/good.md)\n- [Bad](bad.md)\n- [Twice](twice.md) [again](twice.md)\n");
    write("docs/twice.md", "# Twice\n\n# Twice\n");
    write("docs/lost.md", "");
    write(
        "docs/howto/good.md",
        "# Good `code`, it's\n[p](../../program.rs) [h](#good-code-its) [t](../twice.md#twice-1) [w](https://x/y)\n\
         `[no](link)` ./run example there, ./run example --link x -- there\n\
         <!-- ../../program.rs:part -->\n```rust,ignore\nfn main() {}\n```\n",
    );
    write(
        "docs/bad.md",
        "[a](../program.rs) [b](gone.md) [c](howto/good.md#gone)\n[d]: gone.rs\n./run example --link x -- gone\n\
         ```rust\nfn copied() {}\n```\n<!-- ../program.rs:gone -->\n```rust\n```\n<!-- ../program.rs:empty -->\n```rust\n```\n\
         <!-- ../gone.rs:part -->\n```rust\n```\n<!-- ../tests.rs:part -->\n```rust\n```\n\
         <!-- ../program.rs:part -->\n```rust\nfn old() {}\n```\n",
    );
    write("docs/unlinked.md", "<!-- ../program.rs:part -->\n```rust,ignore\nfn main() {}\n```\n");
    let expected = [
        "docs/bad.md: gone.md: no such file",
        "docs/bad.md: howto/good.md#gone: no such heading",
        "docs/bad.md: gone.rs: no such file",
        "docs/bad.md: ../program.rs:gone: no such anchor",
        "docs/bad.md: ../program.rs:empty: no such anchor",
        "docs/bad.md: ../gone.rs:part: no such file",
        "docs/bad.md: ../tests.rs:part: no such anchor",
        "docs/bad.md: ../program.rs:part: the page shows other code",
        "docs/bad.md: ./run example gone: no test runs it",
        "docs/bad.md: a block of Rust: nothing compiles it: show a part of a program, or test the page",
        "docs/lost.md: docs/SUMMARY.md: lists the page 0 times",
        "docs/twice.md: docs/SUMMARY.md: lists the page 2 times",
        "docs/unlinked.md: ../program.rs:part: the page does not link the program",
        "docs/unlinked.md: docs/SUMMARY.md: lists the page 0 times",
    ];
    assert_eq!(Tree::read(folder.path()).complaints(), expected);
}
