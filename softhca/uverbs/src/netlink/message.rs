//! Netlink messages: requests taken apart, answers put together.

use super::abi::{
    ATTR_HEADER_BYTES, FIRST_TYPE, HEADER_BYTES, NLA_F_NESTED, NLA_TYPE_MASK, NLMSG_DONE, NLMSG_ERROR, flag,
};
use crate::process::Errno;

/// Messages and attributes begin at multiples of this many bytes (`NLMSG_ALIGNTO`, `NLA_ALIGNTO`).
const ALIGNMENT: usize = 4;

/// A message of the program's.
pub(super) struct Request<'a> {
    header: &'a [u8],
    /// Its type.
    pub(super) kind: u16,
    flags: u16,
    sequence: u32,
    attributes: &'a [u8],
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Takes a part of `bytes` off, by its length in its first bytes, and the room after it. `None` if there is no whole
/// one.
fn split<'a>(bytes: &mut &'a [u8], length: Option<usize>, least: usize) -> Option<&'a [u8]> {
    let length = length.filter(|length| *length >= least)?;
    let part = bytes.get(..length)?;
    *bytes = bytes.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
    Some(part)
}

/// The messages in `bytes`. Linux drops the rest after one whose length is wrong.
pub(super) fn requests(mut bytes: &[u8]) -> impl Iterator<Item = Request<'_>> {
    std::iter::from_fn(move || {
        let length = word(bytes, 0).and_then(|length| usize::try_from(length).ok());
        let message = split(&mut bytes, length, HEADER_BYTES)?;
        Some(Request {
            header: &message[..HEADER_BYTES],
            kind: half(message, 4)?,
            flags: half(message, 6)?,
            sequence: word(message, 8)?,
            attributes: &message[HEADER_BYTES..],
        })
    })
}

impl<'a> Request<'a> {
    /// Whether a kernel looks at its command: it acknowledges other messages, and does nothing.
    pub(super) fn is_for_the_kernel(&self) -> bool {
        self.flags & flag::REQUEST != 0 && self.kind >= FIRST_TYPE
    }

    /// Whether it asks for all there are.
    pub(super) fn is_dump(&self) -> bool {
        self.flags & flag::DUMP != 0
    }

    pub(super) fn wants_ack(&self) -> bool {
        self.flags & flag::ACK != 0
    }

    /// The value of its last attribute of this type; `None` if there is none.
    fn attribute(&self, wanted: u16) -> Result<Option<&'a [u8]>, Errno> {
        let mut rest = self.attributes;
        let mut found = None;
        while rest.len() >= ATTR_HEADER_BYTES {
            let length = half(rest, 0).map(usize::from);
            let attribute = split(&mut rest, length, ATTR_HEADER_BYTES).ok_or(Errno::EINVAL)?;
            if half(attribute, 2).is_some_and(|kind| kind & NLA_TYPE_MASK == wanted) {
                found = Some(&attribute[ATTR_HEADER_BYTES..]);
            }
        }
        Ok(found)
    }

    /// The number in its attribute of this type.
    pub(super) fn number(&self, wanted: u16) -> Result<Option<u32>, Errno> {
        self.attribute(wanted)?.map(|value| word(value, 0).ok_or(Errno::EINVAL)).transpose()
    }

    /// The text in its attribute of this type, to its first zero byte.
    pub(super) fn text(&self, wanted: u16) -> Result<Option<&'a [u8]>, Errno> {
        let text = |value: &'a [u8]| value.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(self.attribute(wanted)?.map(text))
    }
}

/// An answer that is being put together.
pub(super) struct Answer(Vec<u8>);

impl Answer {
    /// One of type `kind` to `request`, for the socket at `port`.
    pub(super) fn new(request: &Request<'_>, port: u32, kind: u16, flags: u16) -> Self {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes[8..12].copy_from_slice(&request.sequence.to_ne_bytes());
        bytes[12..].copy_from_slice(&port.to_ne_bytes());
        Self(bytes)
    }

    /// Puts an attribute at the end.
    pub(super) fn put(mut self, kind: u16, value: &[u8]) -> Self {
        // Attributes of ours are short: device names, and a summary of seven entries.
        let length = (ATTR_HEADER_BYTES + value.len()) as u16;
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(ALIGNMENT), 0);
        self
    }

    pub(super) fn put_u8(self, kind: u16, value: u8) -> Self {
        self.put(kind, &[value])
    }

    pub(super) fn put_u32(self, kind: u16, value: u32) -> Self {
        self.put(kind, &value.to_ne_bytes())
    }

    pub(super) fn put_u64(self, kind: u16, value: u64) -> Self {
        self.put(kind, &value.to_ne_bytes())
    }

    /// Puts a text, and the zero byte that ends it.
    pub(super) fn put_text(self, kind: u16, text: &str) -> Self {
        self.put(kind, &[text.as_bytes(), &[0]].concat())
    }

    /// Puts an attribute of the attributes that `fill` puts.
    pub(super) fn put_nested(self, kind: u16, fill: impl FnOnce(Self) -> Self) -> Self {
        let inner = fill(Self(Vec::new()));
        self.put(kind | NLA_F_NESTED, &inner.0)
    }

    /// The message.
    pub(super) fn end(mut self) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0
    }
}

/// The end of the answers to a request for all there are.
pub(super) fn done(request: &Request<'_>, port: u32) -> Vec<u8> {
    let mut answer = Answer::new(request, port, NLMSG_DONE, flag::MULTI);
    answer.0.extend(0_i32.to_ne_bytes());
    answer.end()
}

/// The acknowledgement of a request: `error` is 0, or the number of an error.
pub(super) fn ack(request: &Request<'_>, port: u32, error: i32) -> Vec<u8> {
    let mut answer = Answer::new(request, port, NLMSG_ERROR, flag::CAPPED);
    answer.0.extend((-error).to_ne_bytes());
    answer.0.extend(request.header);
    answer.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request by hand: type 0x1401, an acknowledgement wanted, sequence number 7, attribute 1 = 2.
    const REQUEST: [u8; 24] = [24, 0, 0, 0, 1, 0x14, 5, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 1, 0, 2, 0, 0, 0];

    #[test]
    fn a_request_is_taken_apart() {
        let request = requests(&REQUEST).next().unwrap();
        assert!(request.is_for_the_kernel() && request.wants_ack() && !request.is_dump());
        assert_eq!((request.kind, request.number(1), request.number(2)), (0x1401, Ok(Some(2)), Ok(None)));
        assert_eq!(requests(&[REQUEST, REQUEST].concat()).count(), 2);
        let error = [36, 0, 0, 0, 2, 0, 0, 1, 7, 0, 0, 0, 9, 0, 0, 0, 0xea, 0xff, 0xff, 0xff];
        assert_eq!(ack(&request, 9, libc::EINVAL), [&error[..], &REQUEST[..16]].concat());
        assert_eq!(done(&request, 9), [20, 0, 0, 0, 3, 0, 2, 0, 7, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn wrong_lengths_end_a_message_or_are_errors() {
        for length in [0, 15, 25, 255] {
            let mut bytes = REQUEST;
            bytes[0] = length;
            assert_eq!(requests(&bytes).count(), 0, "{length}");
        }
        for length in 0..REQUEST.len() {
            assert_eq!(requests(&REQUEST[..length]).count(), 0, "{length}");
        }
        for length in [0, 3, 9] {
            let mut bytes = REQUEST;
            bytes[16] = length;
            assert_eq!(requests(&bytes).next().unwrap().number(1), Err(Errno::EINVAL), "{length}");
        }
        // Two bytes are no number.
        let mut short = REQUEST;
        short[16] = 6;
        assert_eq!(requests(&short).next().unwrap().number(1), Err(Errno::EINVAL));
    }

    #[test]
    fn attributes_are_padded_and_nested() {
        let request = requests(&REQUEST).next().unwrap();
        let answer = Answer::new(&request, 9, 0x1401, 0).put_text(2, "abcd").put_nested(15, |in_it| in_it.put_u8(3, 4));
        let expected = [9, 0, 2, 0, b'a', b'b', b'c', b'd', 0, 0, 0, 0, 12, 0, 15, 0x80, 5, 0, 3, 0, 4, 0, 0, 0];
        assert_eq!(answer.end()[16..], expected);
    }
}
