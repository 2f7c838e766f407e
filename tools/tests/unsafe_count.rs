//! The table of `docs/evidence/safety.md` counts the `unsafe` of each room. The lints that ask for an argument for each
//! are on in each package.
//!
//! Only counts of `unsafe` belong here, its public functions in `unsafe_calls.rs`. After a change:
//! `BLESS=1 ./run test tools/tests/unsafe_count.rs`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/evidence/safety.md";
/// The line before the table, and the line after it.
const BEGIN: &str = "| room | blocks | functions | implementations and traits | foreign blocks |\n";
/// The rooms. A file belongs to the first of these paths that it lies in, so folders come before those around them.
const ROOMS: &[&str] = &[
    "src/arch",
    "src/cq",
    "src/db",
    "src/queue",
    "src/verbs",
    "src/wqe",
    "src",
    "async/src",
    "devx/src",
    "decode/src",
    "sys/src",
    "testkit/src",
    "softhca/src",
    "softhca/uverbs/settings",
    "softhca/uverbs/embed",
    "softhca/uverbs",
    "softhca/vfio-user",
    "tools/src",
    "tools/demo",
    "tools/frame_peer",
];
/// The lints that ask for arguments, in the manifest of the workspace.
const LINTS: [&str; 3] = ["undocumented_unsafe_blocks", "missing_safety_doc", "unsafe_op_in_unsafe_fn"];

/// Uses of `unsafe`, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    blocks: usize,
    functions: usize,
    implementations: usize,
    foreign: usize,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Counts {
    /// Takes in a source, without its tests.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if is_tests(&tokens[at..]) {
                // The attribute, `mod`, the name, and the body or a semicolon.
                at += 5;
                continue;
            }
            if let TokenTree::Group(group) = &tokens[at] {
                self.scan(group.stream());
            }
            if tokens[at].to_string() == "unsafe" {
                self.count(&tokens[at + 1..]);
            }
            at += 1;
        }
    }

    /// Counts one use, by the tokens behind `unsafe`.
    fn count(&mut self, rest: &[TokenTree]) {
        let word = |at: usize| rest.get(at).map(ToString::to_string).unwrap_or_default();
        match (rest.first(), word(0).as_str()) {
            (Some(TokenTree::Group(group)), _) if group.delimiter() == Delimiter::Brace => self.blocks += 1,
            (_, "impl" | "trait") => self.implementations += 1,
            // Types of functions have no name.
            (_, "fn") => self.functions += usize::from(is_name(rest.get(1))),
            (_, "extern") if word(2) == "fn" => self.functions += usize::from(is_name(rest.get(3))),
            (_, "extern") => self.foreign += 1,
            // An attribute: `#[unsafe(no_mangle)]`.
            _ => {}
        }
    }
}

/// Whether a token is a name, or the variable of a macro in its place.
fn is_name(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Ident(_) | TokenTree::Punct(_)))
}

/// Whether tokens begin with `#[cfg(test)] mod`.
fn is_tests(tokens: &[TokenTree]) -> bool {
    let word = |at: usize| tokens.get(at).map(|token| token.to_string().replace(' ', "")).unwrap_or_default();
    let attribute = word(1);
    word(0) == "#" && attribute.starts_with("[cfg(") && attribute.contains("test") && word(2) == "mod"
}

/// Rust files below a folder, without tests, benchmarks and built files.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        if name == "tests" || name.ends_with("_tests") || name == "target" || name == "benches" {
            continue;
        }
        match path.extension() {
            _ if path.is_dir() => files(&path, found),
            Some(extension) if extension == "rs" => found.push(path),
            _ => {}
        }
    }
}

/// The counts of each room.
fn rooms() -> Vec<(&'static str, Counts)> {
    let mut rooms: Vec<_> = ROOMS.iter().map(|room| (*room, Counts::default())).collect();
    let mut sources = Vec::new();
    for top in ["src", "async/src", "devx/src", "decode/src", "sys/src", "testkit/src", "softhca", "tools"] {
        files(&root().join(top), &mut sources);
    }
    for file in sources {
        let path = file.strip_prefix(root()).expect("below the root");
        let room = rooms.iter_mut().find(|(room, _)| path.starts_with(room));
        let (_, counts) = room.unwrap_or_else(|| panic!("{} is in no room", path.display()));
        counts.scan(text(&file).parse().unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    }
    rooms
}

fn table(rooms: &[(&str, Counts)]) -> String {
    let mut table = format!("{BEGIN}|---|---|---|---|---|\n");
    for (room, Counts { blocks, functions, implementations, foreign }) in rooms {
        writeln!(table, "| `{room}` | {blocks} | {functions} | {implementations} | {foreign} |").expect("a string");
    }
    table
}

#[test]
fn the_page_counts_each_room() {
    let path = root().join(PAGE);
    let page = text(&path);
    let (before, rest) = page.split_once(BEGIN).expect("the table");
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    let now = format!("{before}{}{}{after}", table(&rooms()), if after.is_empty() { "" } else { "\n" });
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, now).expect("the page can be written");
        return;
    }
    assert!(page == now, "{PAGE} has other counts: BLESS=1 ./run test tools/tests/unsafe_count.rs\n{now}");
}

#[test]
fn each_kind_is_counted_and_tests_are_not() {
    let source = r#"
        unsafe impl Send for A {}
        unsafe trait B {}
        pub unsafe fn c() { unsafe { d() } }
        unsafe extern "C" fn e() {}
        type F = unsafe extern "C" fn(u8) -> unsafe fn();
        unsafe extern "C" { fn f(); }
        macro_rules! g { () => { unsafe { h() } } }
        #[unsafe(no_mangle)] extern "C" fn i() {}
        // unsafe { comment() }
        const J: &str = "unsafe { text }";
        #[cfg(test)] mod tests { fn k() { unsafe { l() } } }
        #[cfg(all(test, feature = "std"))] mod more;
        fn m() { unsafe { n() } }
    "#;
    let mut counts = Counts::default();
    counts.scan(source.parse().expect("Rust"));
    assert_eq!(counts, Counts { blocks: 3, functions: 2, implementations: 2, foreign: 1 });
}

#[test]
fn each_package_asks_for_arguments() {
    let workspace = text(&root().join("Cargo.toml"));
    for lint in LINTS {
        assert!(workspace.contains(&format!("\n{lint} = \"warn\"\n")), "{lint}: `./run test` makes it an error");
    }
    let (_, rest) = workspace.split_once("members = [").expect("members");
    let (members, _) = rest.split_once(']').expect("their end");
    let members = members.split('"').skip(1).step_by(2).chain(["."]);
    let asks = |manifest: &str| {
        manifest.contains("[lints]\nworkspace = true") || LINTS.iter().all(|lint| manifest.contains(lint))
    };
    let lacking: Vec<_> = members.filter(|member| !asks(&text(&root().join(member).join("Cargo.toml")))).collect();
    assert!(lacking.is_empty(), "no lints of `unsafe`: {lacking:?}");
}
