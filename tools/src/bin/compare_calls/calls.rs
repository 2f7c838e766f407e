//! Calls, as they were written down.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The call and its arguments: calls of one name can be compared.
    pub(crate) name: String,
    /// Its result, or its error.
    pub(crate) result: String,
    /// The bytes that the call has written, by attribute; [`RESPONSE`] for calls without attributes.
    pub(crate) written: BTreeMap<u32, Vec<u8>>,
}

/// Stands for an attribute where there is none.
pub(crate) const RESPONSE: u32 = 0;

/// The calls of a log, in order.
pub(crate) fn parse(log: &str) -> Result<Vec<Call>> {
    log.lines()
        .filter(|line| !line.starts_with("program "))
        .map(|line| call(line).with_context(|| format!("not a call: {line}")))
        .collect()
}

fn call(line: &str) -> Result<Call> {
    let (what, result) = line.rsplit_once(" = ").context("no result")?;
    let (result, bytes) = result.split_once(" -> ").or_else(|| result.split_once(' ')).unwrap_or((result, ""));
    let result = result.to_owned();
    let mut written = BTreeMap::new();
    if !bytes.is_empty() {
        written.insert(RESPONSE, hex(bytes)?);
    }
    let Some(what) = what.strip_prefix("ioctl ") else {
        return Ok(Call { name: what.to_owned(), result, written });
    };
    let (method, attributes) = what.split_once(" [").context("no attributes")?;
    let attributes = attributes.strip_suffix(']').context("no end of the attributes")?;
    let mut name = method.to_owned();
    let mut shape = Vec::new();
    for attribute in attributes.split(' ').filter(|attribute| !attribute.is_empty()) {
        let (shown, bytes) = attribute.split_once('*').unwrap_or((attribute, ""));
        let (number, rest) = shown.split_once(':').context("no length")?;
        let number = number.parse()?;
        if let Some((_, command)) = rest.split_once('(') {
            // The command of an INVOKE_WRITE is its method.
            name = format!("{method}({}", command);
        } else {
            shape.push(shown.to_owned());
        }
        if !bytes.is_empty() {
            written.insert(number, hex(bytes)?);
        }
    }
    Ok(Call { name: format!("{name} [{}]", shape.join(" ")), result, written })
}

fn hex(text: &str) -> Result<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        bail!("half a byte");
    }
    (0..text.len())
        .step_by(2)
        .map(|at| Ok(u8::from_str_radix(text.get(at..at + 2).context("not hexadecimal")?, 16)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_each_kind() {
        let log = "program x\nopen uverbs = 0\nioctl 0.0 [2:8(5) 0:8 1:4*01ff] = 0\nread 16 = 4 00010203\n\
                   write 0x3 24 = 24 -> 0a\nioctl 16.0 [] = EINVAL\n";
        let calls = parse(log).expect("calls");
        let shown: Vec<_> = calls.iter().map(|call| (call.name.as_str(), call.result.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("open uverbs", "0"),
                ("0.0(5) [0:8 1:4]", "0"),
                ("read 16", "4"),
                ("write 0x3 24", "24"),
                ("16.0 []", "EINVAL")
            ]
        );
        assert_eq!(calls[1].written, BTreeMap::from([(1, vec![1, 0xff])]));
        assert_eq!(calls[2].written, BTreeMap::from([(RESPONSE, vec![0, 1, 2, 3])]));
        assert_eq!(calls[3].written, BTreeMap::from([(RESPONSE, vec![10])]));
        assert!(parse("ioctl 1.2 [").is_err());
    }
}
