//! The headers of messages that have tags (rdma-core `libibverbs/tm_types.h`, `Documentation/tag_matching.md`).

use crate::wqe::Remote;

/// Bytes of the header that begins a message with a tag (`struct ibv_tmh`): operation, three reserved bytes, four
/// bytes for the receiver's program, and the tag.
pub(crate) const HEADER_BYTES: usize = 16;
/// Bytes of the longest message that announces another: that header, one that says where the other lies
/// (`struct ibv_rvh`), and what programs add (`MLX5_TM_MAX_RNDV_MSG_SIZE`).
const MAX_ANNOUNCEMENT: usize = 64;
/// Bytes of both headers.
pub(crate) const ANNOUNCEMENT_BYTES: usize = 32;

/// `enum ibv_tmh_op`: only `RENDEZVOUS` and `EAGER` messages have a tag.
const RENDEZVOUS: u8 = 1;
pub(crate) const FINISHED: u8 = 2;
const EAGER: u8 = 3;

/// A message with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged {
    /// The tag.
    pub(crate) tag: u64,
    /// The header.
    pub(crate) header: [u8; HEADER_BYTES],
    /// The announcement, if the data is not in the message.
    pub(crate) announced: Option<Announcement>,
}

/// A message whose data is still with the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Announcement {
    /// Where.
    pub(crate) remote: Remote,
    /// Bytes.
    pub(crate) len: u32,
    /// Both headers.
    pub(crate) headers: [u8; ANNOUNCEMENT_BYTES],
}

/// The kind of a message, by its first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// It has no tag.
    NoTag,
    /// It has one.
    Tagged(Tagged),
    /// It has one, and is no announcement as there must be: software's business.
    Malformed,
}

impl MessageKind {
    /// The kind of a message, by the payload of its first packet. `is_whole`: there are no others.
    pub(crate) fn of(payload: &[u8], is_whole: bool) -> Self {
        let Some(&header) = payload.first_chunk::<HEADER_BYTES>() else { return Self::NoTag };
        let tag = u64::from_be_bytes(*header.last_chunk().expect("16 bytes"));
        match header[0] {
            EAGER => Self::Tagged(Tagged { tag, header, announced: None }),
            RENDEZVOUS => match payload.first_chunk::<ANNOUNCEMENT_BYTES>() {
                Some(&headers) if is_whole && payload.len() <= MAX_ANNOUNCEMENT => {
                    let word = |at: usize| {
                        u32::from_be_bytes([headers[at], headers[at + 1], headers[at + 2], headers[at + 3]])
                    };
                    let addr = u64::from(word(16)) << 32 | u64::from(word(20));
                    let announced = Announcement { remote: Remote { addr, rkey: word(24) }, len: word(28), headers };
                    Self::Tagged(Tagged { tag, header, announced: Some(announced) })
                }
                _ => Self::Malformed,
            },
            _ => Self::NoTag,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_tm_types_has_them() {
        let mut message = [0; 70];
        message[0] = 3;
        message[4..16].copy_from_slice(&[1, 2, 3, 4, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7]);
        message[16..32]
            .copy_from_slice(&[0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xc0, 0xc1, 0xc2, 0xc3, 0, 1, 2, 3]);
        let (tag, header) = (0xa0a1_a2a3_a4a5_a6a7, *message.first_chunk().unwrap());
        let eager = MessageKind::Tagged(Tagged { tag, header, announced: None });
        assert_eq!(MessageKind::of(&message, false), eager);
        assert_eq!(MessageKind::of(&message[..16], true), eager);
        assert_eq!(MessageKind::of(&message[..15], true), MessageKind::NoTag);
        message[0] = 1;
        let headers = *message.first_chunk().unwrap();
        let remote = Remote { addr: 0xb0b1_b2b3_b4b5_b6b7, rkey: 0xc0c1_c2c3 };
        let announced = Some(Announcement { remote, len: 0x0001_0203, headers });
        let header = *message.first_chunk().unwrap();
        assert_eq!(MessageKind::of(&message[..64], true), MessageKind::Tagged(Tagged { tag, header, announced }));
        for (bytes, is_whole) in [(65, true), (31, true), (16, true), (64, false)] {
            assert_eq!(MessageKind::of(&message[..bytes], is_whole), MessageKind::Malformed, "{bytes}");
        }
        for operation in [0, 2, 4, 255] {
            message[0] = operation;
            assert_eq!(MessageKind::of(&message, true), MessageKind::NoTag);
        }
        assert_eq!(MessageKind::of(&[], true), MessageKind::NoTag);
    }
}
