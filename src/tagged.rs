//! The headers of tagged messages, which the device compares with a receiver's list of tags. Knows no queue.
//!
//! A tagged message is a SEND that begins with a [`TagHeader`]. At the other end is a shared receive queue with a list
//! of tagged buffers ([`TagMatching`](crate::queue::TagMatching)). If the device finds the tag in the list, it places
//! the data behind the header into that entry's buffer. Otherwise it places the whole message, with its header, into
//! one of the queue's own buffers.
//!
//! ```text
//!   eager        tag header | data
//!   rendezvous   tag header | rendezvous header | what software at the other end may want to know
//!   finished     tag header | rendezvous header, as they came, but for the kind
//! ```
//!
//! Large data is not sent: the receiver reads it. A [`RendezvousHeader`] says where it is. The sender keeps it there
//! until the answer arrives, [`TagKind::Finished`]. The device answers if the message matched; otherwise software
//! answers after it has read the data itself. (rdma-core `libibverbs/tm_types.h`, `Documentation/tag_matching.md`.)

use crate::types::Rkey;

/// The kind of a tagged message (`enum ibv_tmh_op`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagKind {
    /// The message has no tag (`IBV_TMH_NO_TAG`). The application defines everything after the first byte.
    NoTag,
    /// The message says where the data is (`IBV_TMH_RNDV`).
    Rendezvous,
    /// The receiver has fetched the data (`IBV_TMH_FIN`).
    Finished,
    /// The message contains the data (`IBV_TMH_EAGER`).
    Eager,
    /// None of these.
    Unknown(u8),
}

impl TagKind {
    /// Decodes the header's first byte.
    #[inline]
    #[must_use]
    pub const fn new(byte: u8) -> Self {
        match byte {
            0 => Self::NoTag,
            1 => Self::Rendezvous,
            2 => Self::Finished,
            3 => Self::Eager,
            other => Self::Unknown(other),
        }
    }

    /// The header's first byte.
    #[inline]
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::NoTag => 0,
            Self::Rendezvous => 1,
            Self::Finished => 2,
            Self::Eager => 3,
            Self::Unknown(other) => other,
        }
    }
}

/// The first 16 bytes of a tagged message (`struct ibv_tmh`).
///
/// ```text
///   0  kind (8), 0 (24)
///   4  the application's (32)
///   8  tag (64)
/// ```
///
/// ```
/// use blueflame::tagged::{TagHeader, TagKind};
/// use blueflame::{PostError, SendQueue, WrId, transport, wqe};
///
/// fn tell(sq: &mut SendQueue<transport::Rc>, tag: u64, order: &[u8; 32]) -> Result<(), PostError> {
///     let mut message = [0; TagHeader::BYTES + 32];
///     message[..TagHeader::BYTES].copy_from_slice(&TagHeader::eager(tag).to_bytes());
///     message[TagHeader::BYTES..].copy_from_slice(order);
///     sq.post(&wqe::send().inline(&message).signaled(WrId(1)))
/// }
///
/// /// Of an unexpected message: its tag, and its data.
/// fn read(message: &[u8]) -> Option<(u64, &[u8])> {
///     let (header, data) = TagHeader::split(message)?;
///     (header.kind == TagKind::Eager).then_some((header.tag, data))
/// }
/// let mut message = TagHeader::eager(7).to_bytes().to_vec();
/// message.extend(b"data");
/// assert_eq!(read(&message), Some((7, b"data".as_slice())));
/// assert_eq!(read(&message[..15]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagHeader {
    /// The kind of message.
    pub kind: TagKind,
    /// A number from the sender: completions carry it ([`TagMatch::header`](crate::cq::cqe::TagMatch::header)).
    pub app_ctx: u32,
    /// The tag by which the receiver finds the message's buffer.
    pub tag: u64,
}

impl TagHeader {
    /// Bytes of the header.
    pub const BYTES: usize = 16;

    /// The header of a message that contains its data.
    #[inline]
    #[must_use]
    pub const fn eager(tag: u64) -> Self {
        Self { kind: TagKind::Eager, app_ctx: 0, tag }
    }

    /// The header of a message whose data the receiver reads.
    #[inline]
    #[must_use]
    pub const fn rendezvous(tag: u64) -> Self {
        Self { kind: TagKind::Rendezvous, app_ctx: 0, tag }
    }

    /// The header of a message that always goes to software, without a comparison of tags.
    #[inline]
    #[must_use]
    pub const fn no_tag() -> Self {
        Self { kind: TagKind::NoTag, app_ctx: 0, tag: 0 }
    }

    /// Sets the application's number.
    #[inline]
    #[must_use]
    pub const fn app_ctx(self, app_ctx: u32) -> Self {
        Self { app_ctx, ..self }
    }

    /// The answer to a rendezvous: the received header with its kind changed. The received [`RendezvousHeader`]
    /// follows it unchanged.
    #[inline]
    #[must_use]
    pub const fn finished(self) -> Self {
        Self { kind: TagKind::Finished, ..self }
    }

    /// Encodes the header as in the message.
    #[inline]
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let [a, b, c, d] = self.app_ctx.to_be_bytes();
        let [e, f, g, h, i, j, k, l] = self.tag.to_be_bytes();
        [self.kind.byte(), 0, 0, 0, a, b, c, d, e, f, g, h, i, j, k, l]
    }

    /// Decodes the message's first bytes. Bytes that must be zero are ignored.
    #[inline]
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [kind, _, _, _, a, b, c, d, e, f, g, h, i, j, k, l] = bytes;
        let (app_ctx, tag) = (u32::from_be_bytes([a, b, c, d]), u64::from_be_bytes([e, f, g, h, i, j, k, l]));
        Self { kind: TagKind::new(kind), app_ctx, tag }
    }

    /// A message's header, and the bytes after it; `None` if the message is too short.
    #[inline]
    #[must_use]
    pub fn split(message: &[u8]) -> Option<(Self, &[u8])> {
        let (header, rest) = message.split_first_chunk()?;
        Some((Self::from_bytes(*header), rest))
    }
}

/// Where the data of a rendezvous is (`struct ibv_rvh`): the 16 bytes behind the [`TagHeader`].
///
/// ```text
///   0  address (64)
///   8  rkey
///  12  bytes (32)
/// ```
///
/// ```
/// use blueflame::Rkey;
/// use blueflame::tagged::{RendezvousHeader, TagHeader};
///
/// let data = RendezvousHeader { addr: 0x7000, rkey: Rkey(5), bytes: 1 << 20 };
/// let mut message = [0; 32];
/// message[..16].copy_from_slice(&TagHeader::rendezvous(7).to_bytes());
/// message[16..].copy_from_slice(&data.to_bytes());
/// let (_, rest) = TagHeader::split(&message).expect("a header");
/// assert_eq!(RendezvousHeader::split(rest), Some((data, [].as_slice())));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RendezvousHeader {
    /// Address in the address space of the key.
    pub addr: u64,
    /// The sender's key of that memory.
    pub rkey: Rkey,
    /// Bytes of data.
    pub bytes: u32,
}

impl RendezvousHeader {
    /// Bytes of the header.
    pub const BYTES: usize = 16;

    /// Encodes the header as in the message.
    #[inline]
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let [a, b, c, d, e, f, g, h] = self.addr.to_be_bytes();
        let [i, j, k, l] = self.rkey.0.to_be_bytes();
        let [m, n, o, p] = self.bytes.to_be_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }

    /// Decodes the bytes after the [`TagHeader`].
    #[inline]
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
        let addr = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        let rkey = Rkey(u32::from_be_bytes([i, j, k, l]));
        Self { addr, rkey, bytes: u32::from_be_bytes([m, n, o, p]) }
    }

    /// The header, and the bytes after it; `None` if `rest` is too short.
    #[inline]
    #[must_use]
    pub fn split(rest: &[u8]) -> Option<(Self, &[u8])> {
        let (header, rest) = rest.split_first_chunk()?;
        Some((Self::from_bytes(*header), rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// rdma-core `libibverbs/tm_types.h`, big endian; `tests/test_tag_matching.py` has the offsets.
    #[test]
    fn headers_are_as_in_tm_types() {
        let header = TagHeader::rendezvous(0x0102_0304_0506_0708).app_ctx(0x1112_1314);
        let bytes = [1, 0, 0, 0, 0x11, 0x12, 0x13, 0x14, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!((header.to_bytes(), TagHeader::from_bytes(bytes)), (bytes, header));
        let bytes = [2, 0, 0, 0, 0x11, 0x12, 0x13, 0x14, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!((header.finished().to_bytes(), TagHeader::from_bytes(bytes)), (bytes, header.finished()));
        let header = RendezvousHeader { addr: 0x0102_0304_0506_0708, rkey: Rkey(0x1112_1314), bytes: 0x2122_2324 };
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24];
        assert_eq!((header.to_bytes(), RendezvousHeader::from_bytes(bytes)), (bytes, header));
        for byte in 0..=u8::MAX {
            assert_eq!(TagKind::new(byte).byte(), byte);
        }
        assert_eq!([TagKind::NoTag, TagKind::Eager].map(TagKind::byte), [0, 3]);
    }
}
