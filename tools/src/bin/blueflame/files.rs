//! Files that options name. `-` is standard output.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Whether an option names standard output.
pub(crate) fn is_stdout(file: Option<&PathBuf>) -> bool {
    file.is_some_and(|file| file == Path::new("-"))
}

/// Writes a file, or to standard output.
///
/// # Errors
/// The file cannot be written, with its name; or standard output is closed.
pub(crate) fn put(file: &Path, text: &str) -> io::Result<()> {
    if file == Path::new("-") {
        return io::stdout().lock().write_all(text.as_bytes());
    }
    fs::write(file, text).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}
