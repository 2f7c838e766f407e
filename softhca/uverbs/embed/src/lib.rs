//! [`shared_object!`] embeds the shared object that Cargo builds of a package's library into a program of the same
//! package: `cargo install` installs programs only, and no program can depend on a `cdylib`.
//!
//! A library with `crate-type = ["cdylib", "rlib"]` is one call of the compiler: the shared object lies beside the
//! rlib, under the same name, and is there before any program of the package is compiled. Where the rlib is, Cargo
//! tells the compiler (`--extern NAME=PATH`), whose process this macro runs in.

use proc_macro::{Literal, TokenStream, TokenTree};
use std::path::{Path, PathBuf};

/// The bytes of the shared object of this package's library, whose name is given as a string:
/// `shared_object!("my_library")` is a `&'static [u8]`. It is empty where nothing is built: in `cargo check`, clippy,
/// and editors.
#[proc_macro]
pub fn shared_object(name: TokenStream) -> TokenStream {
    let name = name.to_string();
    match library(std::env::args(), name.trim_matches('"')).and_then(|library| object_beside(&library)) {
        Some(object) => {
            let path = TokenTree::from(Literal::string(&object.to_string_lossy()));
            format!("::core::include_bytes!({path})").parse().expect("an expression")
        }
        None => "&[]".parse().expect("an expression"),
    }
}

/// The rlib of library `name` that a compiler which was called with these arguments links.
fn library(arguments: impl Iterator<Item = String>, name: &str) -> Option<PathBuf> {
    let path = |argument: String| {
        let (before, path) = argument.split_once('=')?;
        // Cargo may put options before the name (`priv:NAME=PATH`).
        (before.rsplit(':').next() == Some(name)).then(|| PathBuf::from(path))
    };
    let mut found = arguments.filter_map(path);
    found.find(|path| path.extension().is_some_and(|extension| extension == "rlib"))
}

/// The shared object that was built together with `library`.
fn object_beside(library: &Path) -> Option<PathBuf> {
    // A relative path would be one from the source file.
    let object = std::path::absolute(library.with_extension("so")).ok()?;
    object.exists().then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(arguments: &[&str]) -> Option<PathBuf> {
        library(arguments.iter().map(|&argument| argument.to_owned()), "mine")
    }

    #[test]
    fn the_library_is_the_one_that_the_compiler_links() {
        let path = Some(PathBuf::from("/t/deps/libmine-12.rlib"));
        assert_eq!(
            found(&["rustc", "--extern", "other=/t/deps/libmine.rlib", "--extern", "mine=/t/deps/libmine-12.rlib"]),
            path
        );
        assert_eq!(found(&["--extern", "priv:mine=/t/deps/libmine-12.rlib"]), path);
        assert_eq!(found(&["--extern", "mine=/a:b=c/libmine.rlib"]), Some(PathBuf::from("/a:b=c/libmine.rlib")));
        assert_eq!(found(&["--extern", "mine=/t/deps/libmine-12.rmeta"]), None, "nothing is built");
        assert_eq!(found(&["--extern", "mine_too=/t/deps/libmine_too.rlib"]), None);
    }
}
