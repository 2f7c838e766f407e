//! Listings: a function's instructions with everything left out that changes without them.
use std::fmt::{self, Display, Formatter};

use crate::assembly::{body, is_instruction, single_spaces};

/// A function's code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listing {
    pub(crate) name: String,
    pub(crate) lines: Vec<Line>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// Where jumps go: numbers in the order of appearance.
    Label(usize),
    Instruction {
        mnemonic: String,
        operands: String,
    },
}

impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(number) => write!(f, "{}:", label_name(*number)),
            Self::Instruction { mnemonic, operands } if operands.is_empty() => write!(f, "    {mnemonic}"),
            Self::Instruction { mnemonic, operands } => write!(f, "    {mnemonic} {operands}"),
        }
    }
}

impl Display for Listing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.name)?;
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// How operands name a label.
pub(crate) fn label_name(number: usize) -> String {
    format!("L{number}")
}

/// The functions that have symbols of their own names, and those of the crate that `setup_` functions call.
pub(crate) fn listings(assembly: &str, comment: &str) -> Vec<Listing> {
    let names = assembly.lines().filter_map(|line| line.trim().strip_prefix(".globl")).map(str::trim);
    let mut names: Vec<&str> = names.filter(|name| !name.starts_with('_')).collect();
    names.sort_unstable();
    let setup: Vec<&str> = names.iter().filter(|name| name.starts_with("setup_")).copied().collect();
    for function in setup {
        let called = body(assembly, function).flat_map(words).map(|(word, _)| word);
        let of_the_crate = called.filter(|word| word.starts_with("_R") && symbol(word).contains("blueflame"));
        for name in of_the_crate.filter(|name| assembly.contains(&format!("\n{name}:"))) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.into_iter().map(|name| listing(assembly, name, comment)).collect()
}

pub(crate) fn listing(assembly: &str, name: &str, comment: &str) -> Listing {
    // The compiler can merge equal functions into one.
    let alias = format!("{name} = ");
    let code = assembly.lines().find_map(|line| line.trim().strip_prefix(&alias)).unwrap_or(name);
    // A comment can end a line.
    let text: Vec<&str> = body(assembly, code)
        .map(|line| line.split(comment).next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty() && (is_instruction(line) || line.ends_with(':')))
        .collect();
    let jumped_to =
        |label: &str| text.iter().any(|line| is_instruction(line) && words(line).any(|(word, _)| word == label));
    let labels: Vec<&str> =
        text.iter().filter_map(|line| line.strip_suffix(':')).filter(|label| jumped_to(label)).collect();
    let number = |label: &str| labels.iter().position(|known| *known == label).map(|index| index + 1);
    let lines = text.iter().filter_map(|line| {
        if let Some(label) = line.strip_suffix(':') {
            return number(label).map(Line::Label);
        }
        let line = single_spaces(line);
        let (mnemonic, operands) = line.split_once(' ').unwrap_or((&line, ""));
        let operands = words(operands).map(|(word, rest)| match number(word) {
            Some(number) => label_name(number) + rest,
            None => symbol(word) + rest,
        });
        Some(Line::Instruction { mnemonic: mnemonic.to_owned(), operands: operands.collect() })
    });
    Listing { name: symbol(name), lines: lines.collect() }
}

/// The names and numbers of a line, each with the text up to the next.
fn words(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (word, tail) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        let (between, tail) = tail.split_at(tail.find(is_part).unwrap_or(tail.len()));
        rest = tail;
        Some((word, between))
    })
}

/// A symbol as the source has it, without the compiler's hashes and counters.
pub(crate) fn symbol(word: &str) -> String {
    if let Some(constant) = word.strip_prefix(".LCPI") {
        return format!(".LCPI{}", constant.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    if word.starts_with(".Lanon.") {
        return ".Lanon".to_owned();
    }
    format!("{:#}", rustc_demangle::demangle(word))
}
