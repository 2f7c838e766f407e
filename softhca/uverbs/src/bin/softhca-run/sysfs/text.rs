//! Files with a line of text.

use std::fs;
use std::io;
use std::path::Path;

/// Groups of four hexadecimal digits, as GUIDs and GIDs are written.
pub(super) fn quads(bytes: &[u8]) -> String {
    let groups: Vec<String> = bytes.chunks(2).map(|pair| format!("{:02x}{:02x}", pair[0], pair[1])).collect();
    groups.join(":")
}

/// Writes the file `name` with a line, `value`, and makes its directory if it is not there.
pub(crate) fn put(directory: &Path, name: &str, value: &str) -> io::Result<()> {
    let file = directory.join(name);
    let written = fs::create_dir_all(directory).and_then(|()| fs::write(&file, format!("{value}\n")));
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}
