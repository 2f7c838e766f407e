//! The crate's docs name every public `unsafe` function, in the section "What is safe".
//!
//! Only this check belongs here. Each function's docs hold its own contract; clippy asks for the section "Safety".

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Functions of one file, as `Type::name`, or `name` without a type.
#[derive(Default)]
struct Functions {
    safe: BTreeSet<String>,
    unsafe_: BTreeSet<String>,
}

/// The names that the crate hands on with `pub use`, and the files whose modules are public.
#[derive(Default)]
struct Public {
    names: BTreeSet<String>,
    modules: BTreeSet<PathBuf>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn tokens(file: &Path) -> Vec<TokenTree> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    tokens.into_iter().collect()
}

fn is(token: Option<&TokenTree>, word: &str) -> bool {
    token.is_some_and(|token| token.to_string() == word)
}

/// Whether the item at `at` has one of these attributes, without spaces.
fn has_attribute(tokens: &[TokenTree], at: usize, wanted: &str) -> bool {
    let mut at = at;
    while at >= 2 && is(tokens.get(at - 2), "#") {
        if tokens[at - 1].to_string().replace(' ', "") == format!("[{wanted}]") {
            return true;
        }
        at -= 2;
    }
    false
}

fn names(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => drop(found.insert(word.to_string())),
            TokenTree::Group(group) => names(group.stream(), found),
            _ => {}
        }
    }
}

impl Public {
    /// Takes in the module of `file`, whose children are in `folder`.
    fn read(&mut self, file: &Path, folder: &Path) {
        self.scan_names(&tokens(file), folder);
    }

    fn scan_names(&mut self, tokens: &[TokenTree], folder: &Path) {
        for (at, token) in tokens.iter().enumerate() {
            if !matches!(token, TokenTree::Ident(word) if word == "pub") || has_attribute(tokens, at, "doc(hidden)") {
                continue;
            }
            match (tokens.get(at + 1).map(ToString::to_string).as_deref(), tokens.get(at + 3)) {
                (Some("use"), _) => {
                    let rest = tokens[at + 2..].iter().take_while(|token| !is(Some(token), ";"));
                    names(rest.cloned().collect(), &mut self.names);
                }
                (Some("mod"), Some(TokenTree::Group(body))) => {
                    let body: Vec<TokenTree> = body.stream().into_iter().collect();
                    self.scan_names(&body, &folder.join(tokens[at + 2].to_string()));
                }
                (Some("mod"), _) => {
                    let name = tokens[at + 2].to_string();
                    let flat = folder.join(&name).with_extension("rs");
                    let child = if flat.exists() { flat } else { folder.join(&name).join("mod.rs") };
                    self.read(&child, &folder.join(&name));
                    self.modules.insert(child);
                }
                _ => {}
            }
        }
    }

    /// The public functions of `file`.
    fn functions(&self, file: &Path, found: &mut Functions) {
        self.scan(tokens(file), None, self.modules.contains(file), found);
    }

    /// Takes in the functions of `tokens`, which are methods of `of`.
    fn scan(&self, tokens: Vec<TokenTree>, of: Option<&str>, is_module: bool, found: &mut Functions) {
        let mut at = 0;
        while at < tokens.len() {
            let word = tokens[at].to_string();
            if word == "mod" && has_attribute(&tokens, at, "cfg(test)") {
                return;
            }
            if word == "impl" && of.is_none() {
                let end = (at..tokens.len()).find(|&at| is_body(&tokens[at])).unwrap_or(tokens.len() - 1);
                if let (Some(name), TokenTree::Group(body)) = (implementer(&tokens[at + 1..end]), &tokens[end]) {
                    self.scan(body.stream().into_iter().collect(), Some(&name), is_module, found);
                }
                at = end;
            } else if word == "pub" && !matches!(tokens.get(at + 1), Some(TokenTree::Group(_))) {
                let head: Vec<String> = tokens[at + 1..].iter().take(4).map(ToString::to_string).collect();
                if let Some(place) = head.iter().position(|word| word == "fn")
                    && head[..place].iter().all(|word| ["const", "unsafe"].contains(&word.as_str()))
                    && !has_attribute(&tokens, at, "doc(hidden)")
                {
                    let name = tokens[at + 2 + place].to_string();
                    let is_public = is_module || self.names.contains(of.unwrap_or(&name));
                    let set = if head[..place].iter().any(|word| word == "unsafe") {
                        &mut found.unsafe_
                    } else {
                        &mut found.safe
                    };
                    if is_public {
                        set.insert(of.map_or(name.clone(), |of| format!("{of}::{name}")));
                    }
                }
            }
            at += 1;
        }
    }
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// The type that an `impl` of these tokens is for. `None` for a trait's, whose functions the trait declares.
fn implementer(tokens: &[TokenTree]) -> Option<String> {
    let mut depth = 0;
    let mut name = None;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
            TokenTree::Ident(word) if depth == 0 && word == "for" => return None,
            TokenTree::Ident(word) if depth == 0 && word == "where" => break,
            TokenTree::Ident(word) if depth == 0 => name = Some(word.to_string()),
            _ => {}
        }
    }
    name
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.extension() {
            _ if path.is_dir() => files(&path, found),
            Some(extension) if extension == "rs" => found.push(path),
            _ => {}
        }
    }
}

fn functions() -> Functions {
    let source = root().join("src");
    let mut public = Public::default();
    public.read(&source.join("lib.rs"), &source);
    let mut found = Vec::new();
    files(&source, &mut found);
    let mut functions = Functions::default();
    found.iter().for_each(|file| public.functions(file, &mut functions));
    functions
}

/// The code names in the section "What is safe".
fn named() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("src/lib.rs")).expect("the crate's docs");
    let (_, section) = text.split_once("//! # What is safe").expect("the section");
    let section = section.split("\n//! # ").next().expect("its text");
    section.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_docs_name_every_unsafe_function() {
    let (functions, named) = (functions(), named());
    assert!(functions.unsafe_.len() > 30, "{:?}", functions.unsafe_);
    let last = |function: &str| function.rsplit("::").next().unwrap_or_default().to_owned();
    let safe: BTreeSet<String> = functions.safe.iter().map(|function| last(function)).collect();
    // A name alone stands for every function of this name, unless one of them is safe.
    let is_named = |function: &&String| {
        let name = last(function);
        !named.contains(*function) && (safe.contains(&name) || !named.contains(&name))
    };
    let missing: Vec<_> = functions.unsafe_.iter().filter(is_named).collect();
    assert!(missing.is_empty(), "the section \"What is safe\" of src/lib.rs lacks {missing:#?}");
}

#[test]
fn functions_are_found_in_sources() {
    let source = "pub unsafe fn a() {} pub(crate) unsafe fn b() {} pub const fn c() {}
        impl<T: From<u8>> Queue<T> where T: Copy { #[inline] pub const unsafe fn d() {} #[doc(hidden)] pub unsafe fn e() {} }
        impl Drop for Queue<u8> { fn drop(&mut self) {} } impl Hidden { pub unsafe fn f() {} }
        #[cfg(test)] mod tests { pub unsafe fn g() {} }";
    let tokens: TokenStream = source.parse().expect("Rust");
    let public = Public { names: ["a", "b", "c", "Queue"].map(str::to_owned).into(), modules: BTreeSet::new() };
    let mut found = Functions::default();
    public.scan(tokens.into_iter().collect(), None, false, &mut found);
    assert_eq!(found.unsafe_, ["Queue::d", "a"].map(str::to_owned).into());
    assert_eq!(found.safe, ["c"].map(str::to_owned).into());
}
