//! Assembly as rustc writes it.
use std::ffi::OsString;

/// The compiler that cargo uses.
pub(crate) fn rustc() -> OsString {
    std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// The lines of a function, trimmed: labels, directives, comments and instructions.
///
/// # Panics
/// If there is no such function.
pub(crate) fn body<'a>(assembly: &'a str, function: &str) -> impl Iterator<Item = &'a str> {
    let label = format!("{function}:");
    let dotted = format!(".{function}:");
    // PTX, whose functions are in braces.
    let declared = format!(".visible .func {function}(");
    let begins = move |line: &str| line == label || line == dotted || line.starts_with(&declared);
    let mut lines = assembly.lines().skip_while(move |line| !begins(line));
    assert!(lines.next().is_some(), "no function {function} in\n{assembly}");
    lines
        .map(str::trim)
        .take_while(|line| !line.starts_with(".size") && !line.starts_with(".Lfunc_end") && *line != "}")
        .filter(|line| !line.is_empty())
}

/// Whether a line of a [`body`] is an instruction, which may be one by number (`.insn`, `.inst`).
pub(crate) fn is_instruction(line: &str) -> bool {
    !line.ends_with(':')
        && !line.starts_with(['#', '@', '!', '/', '{', ')'])
        && (!line.starts_with('.') || line.starts_with(".ins"))
}

/// A line with single spaces.
pub(crate) fn single_spaces(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
