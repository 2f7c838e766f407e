//! The known differences. One line each:
//!
//! ```text
//! 0.0(5)   1 0..4          handles are numbers of the kernel's own
//! 0.0(5)   result          ...
//! mmap     only kernel     ...
//! ```
//!
//! The call, by the beginning of its name up to a word's end; what of it; and why, from the third column on.

use crate::differences::{Difference, Side, What};
use anyhow::{Context, Result, bail};
use std::fmt;
use std::ops::Range;

/// A known difference.
#[derive(Clone, Debug)]
pub(crate) struct Explained {
    call: String,
    what: Known,
    why: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    Result,
    Only(Side),
    Bytes(u32, Range<usize>),
}

/// The list. Lines that begin with `#` and empty lines are not of it.
pub(crate) fn read(text: &str) -> Result<Vec<Explained>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| row(line).with_context(|| format!("not a difference: {line}"))).collect()
}

fn row(line: &str) -> Result<Explained> {
    let mut words = line.split_whitespace();
    let mut word = || words.next().context("too few words");
    let call = word()?.to_owned();
    let what = match word()? {
        "result" => Known::Result,
        "only" => Known::Only(match word()? {
            "kernel" => Side::Kernel,
            "object" => Side::Object,
            other => bail!("only {other}: kernel or object"),
        }),
        attribute => {
            let (start, end) = word()?.split_once("..").context("a range of bytes")?;
            Known::Bytes(attribute.parse()?, start.parse()?..end.parse()?)
        }
    };
    let why = words.collect::<Vec<_>>().join(" ");
    if why.is_empty() {
        bail!("no reason");
    }
    Ok(Explained { call, what, why })
}

impl Explained {
    /// Whether it is this difference.
    pub(crate) fn covers(&self, difference: &Difference) -> bool {
        let rest = difference.call.strip_prefix(&self.call);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            && match (&self.what, &difference.what) {
                (Known::Result, What::Result(..)) => true,
                (Known::Only(side), What::OnlyOn(other)) => side == other,
                (Known::Bytes(attribute, range), What::Bytes(other, bytes, ..)) => {
                    attribute == other && range.start <= bytes.start && bytes.end <= range.end
                }
                _ => false,
            }
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}: {}", self.call, self.what, self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(call: &str, range: Range<usize>) -> Difference {
        Difference { call: call.into(), what: What::Bytes(1, range, vec![], vec![]) }
    }

    #[test]
    fn an_explanation_covers_its_own_bytes_of_its_own_call() {
        let list = read("# why\n\n0.0(5)  1 4..8  handles\nmmap only kernel pages\n").expect("a list");
        assert!(list[0].covers(&bytes("0.0(5) [0:8]", 4..8)));
        assert!(list[0].covers(&bytes("0.0(5) [0:8]", 5..6)));
        assert!(!list[0].covers(&bytes("0.0(5) [0:8]", 4..9)));
        assert!(!list[0].covers(&bytes("0.0(50) [0:8]", 4..8)));
        let only = |side| Difference { call: "mmap 0 4096 1".into(), what: What::OnlyOn(side) };
        assert!(list[1].covers(&only(Side::Kernel)));
        assert!(!list[1].covers(&only(Side::Object)));
        for bad in ["0.0(5)", "0.0(5) 1 4", "0.0(5) 1 4..8", "x only both y", "x result"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
