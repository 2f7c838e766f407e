//! The known differences. One line each:
//!
//! ```text
//! 0.0(5)   1 0..4              handles are numbers of the kernel's own
//! 0.0(5)   result              ...
//! mmap     only kernel         ...
//! 3.0      4097 0..4 new cq    which number a CQ gets is the device's choice
//! 3.5      4096 0..4 same cq   likewise
//! ```
//!
//! The call, by the beginning of its name up to a word's end; what of it; and why, from there on. Bytes that are `new`
//! or `same` are names ([`crate::names`]): of a thing that the call makes, or of one that there may have been before.

use crate::differences::{Difference, Side, What};
use crate::names::Place;
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
    /// Of a thing of this kind, which is new if the call makes it.
    Name(u32, Range<usize>, String, bool),
}

/// The list. Lines that begin with `#` and empty lines are not of it.
pub(crate) fn read(text: &str) -> Result<Vec<Explained>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| row(line).with_context(|| format!("not a difference: {line}"))).collect()
}

fn row(line: &str) -> Result<Explained> {
    let mut words = line.split_whitespace();
    let mut word = || words.next().context("too few words");
    let mut why = Vec::new();
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
            let (attribute, range) = (attribute.parse()?, start.parse()?..end.parse()?);
            let first = word()?;
            if let "new" | "same" = first {
                Known::Name(attribute, range, word()?.to_owned(), first == "new")
            } else {
                why.push(first);
                Known::Bytes(attribute, range)
            }
        }
    };
    why.extend(words);
    let why = why.join(" ");
    if why.is_empty() {
        bail!("no reason");
    }
    Ok(Explained { call, what, why })
}

impl Explained {
    fn is_of(&self, call: &str) -> bool {
        call.strip_prefix(&self.call).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    }

    /// Where answers to the call have a name, if it speaks of one.
    pub(crate) fn name(&self, call: &str) -> Option<Place<'_>> {
        match &self.what {
            Known::Name(attribute, range, kind, is_new) if self.is_of(call) => {
                Some(Place { attribute: *attribute, bytes: (range.start, range.end), kind, is_new: *is_new })
            }
            _ => None,
        }
    }

    /// Whether it is this difference.
    pub(crate) fn covers(&self, difference: &Difference) -> bool {
        self.is_of(&difference.call)
            && match (&self.what, &difference.what) {
                (Known::Result, What::Result(..)) => true,
                (Known::Only(side), What::OnlyOn(other)) => side == other,
                (Known::Bytes(attribute, range), What::Bytes(other, (start, end), _)) => {
                    attribute == other && range.start <= *start && *end <= range.end
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
        Difference { call: call.into(), what: What::Bytes(1, (range.start, range.end), [vec![], vec![]]) }
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
        let list = read("3.0 4097 0..4 new cq numbers\n3.5 1 4..8 same cq numbers\n").expect("a list");
        let cq = |attribute, bytes, is_new| Some(Place { attribute, bytes, kind: "cq", is_new });
        assert_eq!(list[0].name("3.0 [0:0]"), cq(4097, (0, 4), true));
        assert_eq!(list[1].name("3.5"), cq(1, (4, 8), false));
        assert_eq!(list[1].name("3.0 [0:0]"), None);
        for bad in [
            "0.0(5)",
            "3.0 4097 0..4 new",
            "3.0 4097 0..4 new cq",
            "0.0(5) 1 4",
            "0.0(5) 1 4..8",
            "x only both y",
            "x result",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
