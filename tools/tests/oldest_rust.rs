//! Packages that promise an older Rust use nothing that only a newer one compiles, as far as a glance at the source tells:
//! let chains, of Rust 1.88. Clippy knows about functions of the standard library.
//!
//! Only the language belongs here. `scripts/msrv` compiles the packages with the oldest Rust.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.extension() {
            _ if path.is_dir() => files(&path, found),
            Some(extension) if extension == "rs" => found.push(path),
            _ => {}
        }
    }
}

/// Whether `let` follows `&&`, or `&&` the `let` of a condition, before its block.
fn has_let_chain(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token: &TokenTree| token.to_string() == text);
    let is_and = |at: usize| is(at, "&") && is(at + 1, "&");
    let is_block =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    (0..tokens.len()).any(|at| match &tokens[at] {
        TokenTree::Group(group) => has_let_chain(group.stream()),
        _ if is_and(at) => is(at + 2, "let"),
        _ if (is(at, "if") || is(at, "while")) && is(at + 1, "let") => {
            let end = tokens[at..].iter().position(is_block).map_or(tokens.len(), |length| at + length);
            let value = (at..end).find(|&at| is(at, "=")).unwrap_or(end);
            (value + 2..end).any(is_and)
        }
        _ => false,
    })
}

#[test]
fn let_chains_are_found() {
    let found = |source: &str| has_let_chain(source.parse().expect("tokens"));
    assert!(found("fn f() { if a && let Some(b) = c {} }"));
    assert!(found("fn f() { if let Some(b) = c && a {} }"));
    assert!(!found("fn f() { if let Some(b) = &&c { a && b } }"));
    assert!(!found("fn f() { if a && b { let c = &&d; } }"));
}

#[test]
fn packages_have_no_let_chains() {
    let mut sources = Vec::new();
    // The packages whose `rust-version` is the workspace's.
    for folder in
        ["src", "async/src", "sys/src", "devx/src", "decode/src", "testkit/src", "softhca/src", "softhca/uverbs/src"]
    {
        files(&root().join(folder), &mut sources);
    }
    for folder in ["softhca/uverbs/settings/src", "softhca/uverbs/embed/src", "softhca/vfio-user/src"] {
        files(&root().join(folder), &mut sources);
    }
    assert!(sources.len() > 500, "{} sources", sources.len());
    let source = |path: &PathBuf| std::fs::read_to_string(path).expect("a source");
    let found: Vec<_> = sources.iter().filter(|path| has_let_chain(source(path).parse().expect("tokens"))).collect();
    assert!(found.is_empty(), "let chains need Rust 1.88: {found:#?}");
}
