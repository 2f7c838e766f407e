//! The result of a check: its observations, or the reason of its failure.

use std::error::Error;
use std::fmt;

use serde::Serialize;

/// Why a check failed.
pub(crate) type Failure = Box<dyn Error>;

/// The observations of a check that passed.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The observation, which is equal on all machines.
    pub(crate) text: String,
    /// Values of this machine and this run.
    pub(crate) figures: Vec<Figure>,
}

/// A value of this machine and this run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl Seen {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), figures: Vec::new() }
    }

    pub(crate) fn figure(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.figures.push(Figure { name: name.into(), value: value.to_string() });
        self
    }
}

/// Fails with a text unless `is`.
pub(crate) fn ensure(is: bool, why: impl FnOnce() -> String) -> Result<(), Failure> {
    if is { Ok(()) } else { Err(why().into()) }
}

/// Something has not come within the patience. A busy machine makes it late, too.
#[derive(Debug)]
pub(crate) struct TooLate(pub(crate) String);

impl fmt::Display for TooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for TooLate {}

/// Fails with a text unless something is in time.
pub(crate) fn in_time(is: bool, why: impl FnOnce() -> String) -> Result<(), Failure> {
    if is { Ok(()) } else { Err(TooLate(why()).into()) }
}

/// Compares bytes that arrived with those that were sent. `what` names them.
pub(crate) fn same(what: &str, sent: &[u8], arrived: &[u8]) -> Result<(), Failure> {
    if sent == arrived {
        return Ok(());
    }
    if sent.len() != arrived.len() {
        return Err(format!("{what}: {} bytes were sent, and {} arrived", sent.len(), arrived.len()).into());
    }
    let wrong: Vec<usize> = (0..sent.len()).filter(|&at| sent[at] != arrived[at]).collect();
    let first = wrong.first().copied().unwrap_or_default();
    Err(format!(
        "{what}: {} of {} bytes differ, first byte {first}: {:#04x} was sent, {:#04x} arrived",
        wrong.len(),
        sent.len(),
        sent[first],
        arrived[first]
    )
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_byte_is_named() {
        assert!(same("message", b"abc", b"abc").is_ok());
        let text = same("message", b"abc", b"aXc").expect_err("differs").to_string();
        assert_eq!(text, "message: 1 of 3 bytes differ, first byte 1: 0x62 was sent, 0x58 arrived");
        assert!(same("message", b"abc", b"ab").expect_err("shorter").to_string().contains("3 bytes were sent, and 2"));
    }
}
