//! No circles of imports: no file needs another file that needs it, by the names that it states. The same holds for the
//! files and folders in each folder. It holds for every target of the workspace: libraries, programs, tests, benchmarks,
//! examples and build scripts. The test asks cargo for them.
//!
//! A file needs whatever file defines a name that it states with a path: `use` of any shape, `crate::…`, `super::…`,
//! `child::…`, also inside macros. A name that a module hands on counts for the file that defines it. Declaring a
//! module needs nothing of it (`mod child;`), nor does handing on its names (`pub use child::…`). Calls of methods are
//! unseen. Tests inside files (`cfg(test)`) do not count.
//!
//! Imports between files belong here. Other rules of style belong to clippy and rustfmt.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A module, as the names from the crate's root to it.
type Module = Vec<String>;

/// A crate's modules and the names that they state.
#[derive(Default)]
struct Crate {
    /// All modules, also those inside of files, and the file that each is in.
    modules: BTreeMap<Module, PathBuf>,
    /// The folders that modules inside of files name for their children.
    folders: BTreeMap<Module, String>,
    /// The names that each module defines.
    defined: BTreeSet<(Module, String)>,
    /// The paths that each module imports, by their names in the module.
    imported: BTreeMap<(Module, String), Vec<String>>,
    /// Modules all of whose names a module imports.
    globs: Vec<(Module, Vec<String>)>,
    /// Paths, with the module that names them.
    paths: Vec<(Module, Vec<String>)>,
    /// Of those, paths of children's names that a module hands on.
    handed_on: BTreeSet<(Module, Vec<String>)>,
}

impl Crate {
    /// The crate whose root is `file`; `source` gives a file's text.
    fn read(file: &Path, source: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut found = Self::default();
        found.read_file(file, Module::new(), file.parent().unwrap_or(Path::new("")), source);
        found
    }

    fn read_file(&mut self, file: &Path, module: Module, children: &Path, source: &dyn Fn(&Path) -> Option<String>) {
        let text = source(file).unwrap_or_else(|| panic!("{} cannot be read", file.display()));
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.modules.insert(module.clone(), file.to_owned());
        let mut declared = Vec::new();
        self.scan(tokens, &module, file, &mut declared);
        for (child, given) in declared {
            // A module inside of the file has a folder for its children, by its name or by its path.
            let beside = file.parent().unwrap_or(Path::new(""));
            let inside = module.len() + 1..child.len();
            let children =
                inside.clone().fold(children.to_owned(), |folder, end| match self.folders.get(&child[..end]) {
                    Some(given) => beside.join(given),
                    None => folder.join(&child[end - 1]),
                });
            let name = child.last().expect("a child has a name");
            let flat = children.join(format!("{name}.rs"));
            let folder = children.join(name);
            let nested = folder.join("mod.rs");
            let (path, children) = match given {
                // A file at a place of its own has its children beside it.
                Some(path) => {
                    let path = if inside.is_empty() { beside } else { &children }.join(path);
                    let beside = path.parent().unwrap_or(Path::new("")).to_owned();
                    (path, beside)
                }
                None if source(&flat).is_some() => (flat, folder),
                None => (nested, folder),
            };
            self.read_file(&path, child, &children, source);
        }
    }

    /// Takes in `tokens`, which are in `module`; adds the modules that have files of their own to `declared`.
    fn scan(
        &mut self,
        tokens: TokenStream,
        module: &Module,
        file: &Path,
        declared: &mut Vec<(Module, Option<String>)>,
    ) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        let mut place = None;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    if let Some(TokenTree::Group(attribute)) = tokens.get(at + 1) {
                        let text = attribute.stream().to_string().replace(' ', "");
                        place =
                            text.strip_prefix("path=\"").map(|path| path.trim_end_matches('"').to_owned()).or(place);
                        if text == "cfg(test)" {
                            at = end_of_item(&tokens, at + 2);
                            continue;
                        }
                    }
                    at += 1;
                }
                TokenTree::Ident(word) if word == "use" => {
                    let end = (at..tokens.len()).find(|&at| is_punct(&tokens[at], ';')).unwrap_or(tokens.len());
                    let before = self.paths.len();
                    self.import(&tokens[at + 1..end], Vec::new(), module);
                    if is_public(&tokens[..at]) {
                        self.handed_on.extend(self.paths[before..].iter().cloned());
                    }
                    at = end;
                }
                // `pub(in crate::…)` needs nothing of that module.
                TokenTree::Ident(word) if word == "pub" => {
                    let scope = tokens.get(at + 1);
                    at += 1 + usize::from(matches!(scope, Some(TokenTree::Group(group)) if is_visibility(group)));
                }
                TokenTree::Ident(word) if word == "mod" && matches!(tokens.get(at + 1), Some(TokenTree::Ident(_))) => {
                    let child: Module = module.iter().cloned().chain([tokens[at + 1].to_string()]).collect();
                    if let Some(TokenTree::Group(body)) = tokens.get(at + 2) {
                        self.modules.insert(child.clone(), file.to_owned());
                        self.folders.extend(place.take().map(|path| (child.clone(), path)));
                        self.scan(body.stream(), &child, file, declared);
                    } else {
                        declared.push((child, place.take()));
                    }
                    at += 3;
                }
                TokenTree::Ident(word) => {
                    const DEFINING: &[&str] =
                        &["struct", "enum", "union", "trait", "fn", "const", "static", "type", "macro_rules"];
                    if DEFINING.iter().any(|&defining| word == defining) {
                        let name = tokens[at + 1..]
                            .iter()
                            .find(|token| matches!(token, TokenTree::Ident(name) if name != "mut"));
                        self.defined.extend(name.map(|name| (module.clone(), name.to_string())));
                    }
                    let (path, end) = path_at(&tokens, at);
                    if path.len() > 1 {
                        self.paths.push((module.clone(), path));
                    }
                    at = end;
                }
                TokenTree::Group(group) => {
                    self.scan(group.stream(), module, file, declared);
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Takes in a part of a `use` that follows `before`.
    fn import(&mut self, tokens: &[TokenTree], before: Vec<String>, module: &Module) {
        let mut path = before;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    let name = tokens.get(at + 1).map(ToString::to_string).unwrap_or_default();
                    self.imported.insert((module.clone(), name), path.clone());
                    self.paths.push((module.clone(), path));
                    return;
                }
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    let parts: Vec<TokenTree> = group.stream().into_iter().collect();
                    parts.split(|token| is_punct(token, ',')).for_each(|part| self.import(part, path.clone(), module));
                    return;
                }
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    self.globs.push((module.clone(), path.clone()));
                    self.paths.push((module.clone(), path));
                    return;
                }
                _ => {}
            }
            at += 1;
        }
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(name) = path.last().cloned() {
            self.imported.insert((module.clone(), name), path.clone());
            self.paths.push((module.clone(), path));
        }
    }

    /// Resolves `path`, written in `module`. If it names a module: that module and true; otherwise the module that
    /// defines the named item, and false. `None` for names from outside the crate. `depth` ends circular re-exports.
    fn home(&self, module: &Module, path: &[String], depth: u32) -> Option<(Module, bool)> {
        let (first, mut rest) = path.split_first()?;
        let mut now = match first.as_str() {
            "crate" => Module::new(),
            "self" => module.clone(),
            "super" => module.split_last()?.1.to_vec(),
            _ => {
                // Another crate's name, or a name of the language, belongs to no module of this crate.
                self.step(module, first, depth)?;
                rest = path;
                module.clone()
            }
        };
        for name in rest {
            match self.step(&now, name, depth) {
                _ if name == "super" => drop(now.pop()),
                Some((next, true)) => now = next,
                Some((next, false)) => return Some((next, false)),
                // An item that a macro defines, or a variant.
                None => return Some((now, false)),
            }
        }
        Some((now, true))
    }

    /// Resolves `name` in `module`: a child module and true, or the module that defines the item, and false.
    fn step(&self, module: &Module, name: &str, depth: u32) -> Option<(Module, bool)> {
        let child: Module = module.iter().cloned().chain([name.to_owned()]).collect();
        if self.modules.contains_key(&child) {
            return Some((child, true));
        }
        if self.defined.contains(&(module.clone(), name.to_owned())) {
            return Some((module.clone(), false));
        }
        let deeper = depth.checked_sub(1)?;
        if let Some(path) = self.imported.get(&(module.clone(), name.to_owned())) {
            return self.home(module, path, deeper);
        }
        let globs = self.globs.iter().filter(|(importer, _)| importer == module);
        globs
            .filter_map(|(_, path)| self.home(module, path, deeper))
            .find_map(|(other, _)| self.step(&other, name, deeper))
    }

    /// Which files each file needs, and by which path.
    fn arrows(&self) -> Arrows<'_> {
        let mut arrows = Arrows::new();
        let is_child = |module: &Module, name: &String| {
            self.modules.contains_key(&module.iter().chain([name]).cloned().collect::<Module>())
        };
        let needed =
            self.paths.iter().filter(|needed| !self.handed_on.contains(needed) || !is_child(&needed.0, &needed.1[0]));
        for (module, path) in needed {
            let from = &*self.modules[module];
            if let Some((home, _)) = self.home(module, path, 8) {
                let to = &*self.modules[&home];
                arrows.entry(from).or_default().entry(to).or_insert_with(|| path.join("::"));
            }
        }
        arrows
    }
}

/// Which places each place needs, and by which path.
type Arrows<'a> = BTreeMap<&'a Path, BTreeMap<&'a Path, String>>;

/// The arrows between the places of files; `place` tells where a file is.
fn between<'a>(files: &Arrows<'a>, place: &dyn Fn(&'a Path) -> &'a Path) -> Arrows<'a> {
    let mut arrows = Arrows::new();
    for (file, needed) in files {
        for (other, name) in needed {
            let (from, to) = (place(file), place(other));
            if from != to {
                arrows.entry(from).or_default().entry(to).or_insert_with(|| name.clone());
            }
        }
    }
    arrows
}

/// The circles of places that need each other, a line for each arrow among them.
fn circles(arrows: &Arrows<'_>) -> Vec<Vec<String>> {
    let reached = |from| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(file) = next.pop() {
            next.extend(arrows.get(file).into_iter().flat_map(BTreeMap::keys).filter(|&&to| reached.insert(to)));
        }
        reached
    };
    let reach: BTreeMap<&Path, BTreeSet<&Path>> = arrows.keys().map(|&from| (from, reached(from))).collect();
    let mut circles = BTreeSet::new();
    for (from, to) in &reach {
        let circle: BTreeSet<&Path> =
            to.iter().copied().filter(|other| reach.get(other).is_some_and(|back| back.contains(from))).collect();
        if !circle.is_empty() {
            circles.insert(circle);
        }
    }
    let lines = |circle: BTreeSet<&Path>| {
        let inside = circle.iter().flat_map(|from| arrows[from].iter().map(move |(to, name)| (from, to, name)));
        inside
            .filter(|(_, to, _)| circle.contains(*to))
            .map(|(from, to, name)| format!("{} -> {} ({name})", from.display(), to.display()))
            .collect()
    };
    circles.into_iter().map(lines).collect()
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Whether a group in parentheses behind `pub` restricts the use of an item. A tuple's field of a tuple type is no such
/// group.
fn is_visibility(group: &Group) -> bool {
    const SCOPES: [&str; 4] = ["in", "super", "crate", "self"];
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Parenthesis
        && matches!(first, Some(TokenTree::Ident(word)) if SCOPES.iter().any(|&scope| word == scope))
}

/// Whether these tokens end with `pub`, or `pub(…)`.
fn is_public(before: &[TokenTree]) -> bool {
    let is_pub = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "pub");
    match before {
        [.., word, TokenTree::Group(whom)] if whom.delimiter() == Delimiter::Parenthesis => is_pub(word),
        [.., word] => is_pub(word),
        [] => false,
    }
}

/// The path that begins at `at`, and where it ends.
fn path_at(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = vec![tokens[at].to_string()];
    at += 1;
    while let [colon, other, TokenTree::Ident(word), ..] = &tokens[at..]
        && is_punct(colon, ':')
        && is_punct(other, ':')
    {
        path.push(word.to_string());
        at += 3;
    }
    (path, at)
}

/// Where the item that begins at `at` ends: after its body, or its semicolon.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_punct(token, ';'),
    };
    (at..tokens.len()).find(|&at| ends(&tokens[at])).map_or(tokens.len(), |at| at + 1)
}

/// The root of this repository.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tools are in a folder")
}

/// The text of a file of this repository.
fn source(file: &Path) -> Option<String> {
    std::fs::read_to_string(repository().join(file)).ok()
}

/// The root files of all targets of the workspace, below the repository's root.
fn roots() -> BTreeSet<PathBuf> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let asked = Command::new(env!("CARGO")).args(arguments).current_dir(repository()).output().expect("cargo");
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&asked.stdout).expect("JSON");
    let items = |value: &serde_json::Value, name| value[name].as_array().expect("a list").clone();
    let targets = items(&metadata, "packages").into_iter().flat_map(|package| items(&package, "targets"));
    let files = targets.map(|target| PathBuf::from(target["src_path"].as_str().expect("a path")));
    files.map(|file| file.strip_prefix(repository()).expect("a file of the repository").to_owned()).collect()
}

/// The arrows between the files of each crate, by its root file.
fn crates() -> &'static BTreeMap<&'static Path, Arrows<'static>> {
    static CRATES: OnceLock<BTreeMap<PathBuf, Crate>> = OnceLock::new();
    static ARROWS: OnceLock<BTreeMap<&Path, Arrows<'_>>> = OnceLock::new();
    let read = |root: PathBuf| (root.clone(), Crate::read(&root, &source));
    let crates = CRATES.get_or_init(|| roots().into_iter().map(read).collect());
    ARROWS.get_or_init(|| crates.iter().map(|(root, files)| (&**root, files.arrows())).collect())
}

/// The circles between the places that `place` returns for a crate's files.
fn circles_of(files: &Arrows<'static>, place: &dyn Fn(&'static Path) -> &'static Path) -> Vec<String> {
    let text = |lines: Vec<String>| format!("a circle:\n  {}\n", lines.join("\n  "));
    circles(&between(files, place)).into_iter().map(text).collect()
}

/// Crates may share files, and so circles.
fn assert_none(circles: impl Iterator<Item = String>) {
    let circles = BTreeSet::from_iter(circles);
    assert!(circles.is_empty(), "{} circles\n{}", circles.len(), String::from_iter(circles));
}

#[test]
fn every_crate_is_read() {
    let roots = roots();
    let some = [
        "src/lib.rs",
        "devx/src/lib.rs",
        "softhca/uverbs/src/bin/softhca-run/main.rs",
        "tools/demo/src/main.rs",
        "tests/differential/main.rs",
        "devx/benches/setup/main.rs",
        "examples/storage_target/main.rs",
        "examples/common/lib.rs",
    ];
    for root in some.map(Path::new) {
        assert!(roots.contains(root), "{} is missing in {roots:?}", root.display());
    }
}

#[test]
fn no_file_needs_one_that_needs_it() {
    assert_none(crates().values().flat_map(|files| circles_of(files, &|file| file)));
}

/// The part at the top of the crate with this root file that contains `file`. A file that a crate takes from another
/// crate's folder is a part of its own.
fn part<'a>(root: &Path, file: &'a Path) -> &'a Path {
    let is_top = |part: &&Path| part.parent() == root.parent() && !part.ends_with("..");
    file.ancestors().find(is_top).unwrap_or(file)
}

/// The file or the folder in `folder` that contains `file`. A file elsewhere stands for itself.
fn within<'a>(folder: &Path, file: &'a Path) -> &'a Path {
    file.ancestors().find(|place| place.parent() == Some(folder) && !place.ends_with("..")).unwrap_or(file)
}

#[test]
fn in_no_folder_a_place_needs_one_that_needs_it() {
    assert_none(crates().values().flat_map(|files| {
        let folders = files.keys().flat_map(|file| file.ancestors().skip(1));
        // Not those beside the crate, from which it takes a file.
        let is_inside = |folder: &&Path| !folder.components().any(|part| part == Component::ParentDir);
        let folders: BTreeSet<&Path> = folders.filter(is_inside).collect();
        folders.into_iter().flat_map(move |folder| circles_of(files, &|file| within(folder, file)))
    }));
}

/// The modules of the data plane in the table of its docs, from the top to the bottom. A type stands for its module.
fn modules() -> Vec<String> {
    let text = source(Path::new("src/lib.rs")).expect("the crate's docs");
    let (_, section) = text.split_once("//! # The modules").expect("the section");
    let section = section.split("\n//! # ").next().expect("its text");
    let cells = section.lines().filter_map(|line| line.strip_prefix("//! | ")?.split(" | ").next());
    let names = cells.filter(|cell| cell.contains('`'));
    names.map(|cell| cell.trim_matches(&['[', ']', '`'][..]).to_lowercase()).collect()
}

/// The docs say that imports go from the bottom of the table of modules to its top.
#[test]
fn the_table_of_rooms_is_in_the_order_of_imports() {
    let (root, modules) = (Path::new("src/lib.rs"), modules());
    let files = Crate::read(root, &source);
    let name = |path: &Path| path.file_stem().expect("a name").to_string_lossy().replace('_', "");
    let row = |path: &Path| modules.iter().position(|module| module.replace('_', "") == name(path));
    let files = files.arrows();
    let arrows = between(&files, &|file| part(root, file));
    let mut found = 0;
    for (from, to) in arrows.iter().flat_map(|(from, to)| to.keys().map(move |to| (from, to))) {
        if let (Some(below), Some(above)) = (row(from), row(to)) {
            assert!(above < below, "{} imports {}, which is below it in {modules:?}", from.display(), to.display());
            found += 1;
        }
    }
    assert!(found > 20, "only {found} imports were found among {modules:?}");
}

/// The circles of a crate of these files.
fn planted(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let source =
        |file: &Path| files.iter().find(|(name, _)| Path::new(name) == file).map(|(_, text)| (*text).to_owned());
    let found = Crate::read(Path::new("lib.rs"), &source);
    circles(&found.arrows())
}

#[test]
fn a_planted_circle_is_found_however_it_is_written() {
    let mods = "mod a; mod b;";
    for (a, b, of_a, of_b) in [
        ("use crate::b::B; pub struct A;", "use crate::a::A; pub struct B;", "crate::b::B", "crate::a::A"),
        ("use super::{b::{self, B}}; pub struct A;", "fn f() { crate::a::g() }", "super::b", "crate::a::g"),
        ("fn f() -> super::b::B { B }", "macro_rules! m { () => { $crate::a::f() } }", "super::b::B", "crate::a::f"),
        (
            "pub mod inner { use super::super::b as c; }",
            "use crate::a::inner::*;",
            "super::super::b",
            "crate::a::inner",
        ),
    ] {
        let expected = [format!("a.rs -> b.rs ({of_a})"), format!("b.rs -> a.rs ({of_b})")];
        assert_eq!(planted(&[("lib.rs", mods), ("a.rs", a), ("b.rs", b)]), [expected]);
    }
}

#[test]
fn what_a_module_hands_on_counts_for_whoever_defines_it() {
    let hall = ("hall/mod.rs", "mod a; mod b; pub use a::A; pub use b::*;");
    let b = ("hall/b.rs", "pub struct B;");
    let lib = ("lib.rs", "mod hall;");
    assert!(planted(&[lib, hall, b, ("hall/a.rs", "use super::B; pub struct A;")]).is_empty());
    let circle = planted(&[
        lib,
        hall,
        ("hall/b.rs", "use crate::hall::A; pub struct B;"),
        ("hall/a.rs", "use super::B; pub struct A;"),
    ]);
    assert_eq!(circle, [["hall/a.rs -> hall/b.rs (super::B)", "hall/b.rs -> hall/a.rs (crate::hall::A)"]]);
    // A module's own definitions belong to it. Its children may need them unless the module needs its children.
    assert!(
        planted(&[
            lib,
            ("hall/mod.rs", "mod a; pub(crate) use a::A; struct Own;"),
            ("hall/a.rs", "use super::Own; pub struct A;")
        ])
        .is_empty()
    );
    let circle = planted(&[
        lib,
        ("hall/mod.rs", "mod a; use a::A; struct Own;"),
        ("hall/a.rs", "use super::Own; pub struct A;"),
    ]);
    assert_eq!(circle, [["hall/a.rs -> hall/mod.rs (super::Own)", "hall/mod.rs -> hall/a.rs (a::A)"]]);
    let circle = planted(&[("lib.rs", "mod a; pub struct Own; fn f() { a::g() }"), ("a.rs", "use crate::Own;")]);
    assert_eq!(circle, [["a.rs -> lib.rs (crate::Own)", "lib.rs -> a.rs (a::g)"]]);
}

#[test]
fn files_that_need_no_other_can_be_of_parts_that_do() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a/mod.rs", "mod low; mod high;"),
        ("a/low.rs", "pub struct Low;"),
        ("a/high.rs", "use crate::b::B;"),
        ("b.rs", "use crate::c; use crate::a::low::Low; pub struct B;"),
        ("c.rs", ""),
    ];
    let source =
        |file: &Path| files.iter().find(|(name, _)| Path::new(name) == file).map(|(_, text)| (*text).to_owned());
    let root = Path::new("lib.rs");
    let found = Crate::read(root, &source);
    let files = found.arrows();
    assert!(circles(&files).is_empty());
    let lines = circles(&between(&files, &|file| part(root, file)));
    assert_eq!(lines, [["a -> b.rs (crate::b::B)", "b.rs -> a (crate::a::low::Low)"]]);
}

#[test]
fn files_of_another_crates_folder_are_parts_of_their_own() {
    let root = Path::new("here/main.rs");
    for (file, its) in [
        ("here/a.rs", "here/a.rs"),
        ("here/a/b/c.rs", "here/a"),
        ("here/../there/low.rs", "here/../there/low.rs"),
        ("here/../../there/high/mod.rs", "here/../../there/high/mod.rs"),
    ] {
        assert_eq!(part(root, Path::new(file)), Path::new(its));
    }
}

#[test]
fn tests_text_and_other_crates_make_no_circle() {
    let a = "use crate::b::B; pub struct A; #[cfg(test)] mod tests { use super::*; } use std::b::C;";
    let b = "//! See [`crate::a::A`].\npub struct B; const T: &str = \"crate::a::A\"; #[cfg(test)] use crate::a::A;";
    assert!(planted(&[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", b)]).is_empty());
}
