//! Indirect memory keys: a region that is pieces of other keys' regions, in a row (KLM and KSM lists), or in turn.

use super::strided::{Found, REPEAT, Strided};
use crate::context::KeyPiece;

/// Pieces, and where each begins in the region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyList {
    /// Each piece has a length of its own (KLM). `ends` are the offsets at which they end, so that one is found fast.
    /// The end of a strided block's bytes is in `ends` at the block's first entry; the other entries of the block have
    /// the same end.
    Own { pieces: Vec<KeyPiece>, ends: Vec<u64>, blocks: Vec<Strided> },
    /// All have this length, as log2 of bytes (KSM).
    Equal { pieces: Vec<KeyPiece>, log_bytes: u8 },
}

impl KeyList {
    /// Pieces of any length. Those without bytes hold nothing: lists are often padded with them.
    pub(crate) fn own(pieces: Vec<KeyPiece>) -> Self {
        let (mut ends, mut blocks, mut end) = (Vec::with_capacity(pieces.len()), Vec::new(), 0_u64);
        while let Some(piece) = pieces.get(ends.len()) {
            let mut entries = 1;
            let mut bytes = piece.len;
            if piece.key == REPEAT {
                let block = Strided::new(&pieces, ends.len());
                (entries, bytes) = (block.entries(), block.bytes());
                blocks.push(block);
            }
            end = end.saturating_add(bytes);
            ends.resize(ends.len() + entries, end);
        }
        Self::Own { pieces, ends, blocks }
    }

    /// The fault of one of its strided blocks, if there is one.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Own { pieces, blocks, .. } => blocks.iter().find_map(|block| block.fault(pieces)),
            Self::Equal { .. } => None,
        }
    }

    /// Writes pieces from number `at` on. Unwritten pieces before `at` have no bytes, or name key 0, which does not
    /// exist.
    pub(crate) fn put(&mut self, at: usize, new: Vec<KeyPiece>) {
        let (Self::Own { pieces, .. } | Self::Equal { pieces, .. }) = self;
        let end = at + new.len();
        if pieces.len() < end {
            pieces.resize(end, KeyPiece { key: 0, addr: 0, len: 0 });
        }
        pieces[at..end].copy_from_slice(&new);
        if let Self::Own { pieces, .. } = self {
            *self = Self::own(std::mem::take(pieces));
        }
    }

    /// Pieces there are.
    pub(crate) fn len(&self) -> usize {
        let (Self::Own { pieces, .. } | Self::Equal { pieces, .. }) = self;
        pieces.len()
    }

    /// Bytes that the list has room for.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Own { ends, .. } => ends.last().copied().unwrap_or(0),
            Self::Equal { pieces, log_bytes } => (pieces.len() as u64).saturating_mul(1 << (log_bytes & 63)),
        }
    }

    /// Where byte `offset` of the region is.
    pub(crate) fn find(&self, offset: u64) -> Option<Found> {
        let (piece, within, len) = match self {
            Self::Own { pieces, ends, blocks } => {
                let index = ends.partition_point(|&end| end <= offset);
                let piece = pieces.get(index)?;
                let within = offset - index.checked_sub(1).map_or(0, |before| ends[before]);
                if piece.key == REPEAT {
                    let block = blocks.binary_search_by_key(&index, Strided::first).ok()?;
                    return blocks[block].find(pieces, within);
                }
                (piece, within, piece.len)
            }
            Self::Equal { pieces, log_bytes } => {
                let bytes = 1_u64 << (log_bytes & 63);
                (pieces.get(usize::try_from(offset / bytes).ok()?)?, offset % bytes, bytes)
            }
        };
        Some(Found { key: piece.key, addr: piece.addr.wrapping_add(within), left: len - within })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(key: u32, addr: u64, len: u64) -> KeyPiece {
        KeyPiece { key, addr, len }
    }

    #[test]
    fn pieces_of_their_own_length_are_found_by_offset() {
        let list = KeyList::own(vec![piece(1, 0x100, 3), piece(9, 0, 0), piece(2, 0x200, 5), piece(9, 0, 0)]);
        assert_eq!(list.bytes(), 8);
        assert_eq!(list.find(0), Some(Found { key: 1, addr: 0x100, left: 3 }));
        assert_eq!(list.find(2), Some(Found { key: 1, addr: 0x102, left: 1 }));
        assert_eq!(list.find(3), Some(Found { key: 2, addr: 0x200, left: 5 }));
        assert_eq!(list.find(7), Some(Found { key: 2, addr: 0x204, left: 1 }));
        assert_eq!(list.find(8), None);
    }

    #[test]
    fn strided_blocks_are_among_pieces() {
        let block = piece(REPEAT, 2 << 32 | 1, 2);
        let list = KeyList::own(vec![piece(1, 0x100, 3), block, piece(2, 0x200, 8 << 16 | 2), piece(3, 0x300, 1)]);
        assert_eq!((list.bytes(), list.fault()), (8, None));
        let found = |offset| list.find(offset).map(|found| (found.key, found.addr, found.left));
        assert_eq!(found(2), Some((1, 0x102, 1)));
        assert_eq!(found(4), Some((2, 0x201, 1)));
        assert_eq!(found(5), Some((2, 0x208, 2)));
        assert_eq!(found(7), Some((3, 0x300, 1)));
        assert_eq!(found(8), None);
    }

    #[test]
    fn pieces_are_written_anywhere() {
        let mut list = KeyList::own(vec![piece(1, 0x100, 3)]);
        list.put(2, vec![piece(2, 0x200, 5), piece(3, 0x300, 1)]);
        assert_eq!((list.len(), list.bytes()), (4, 9));
        assert_eq!(list.find(3), Some(Found { key: 2, addr: 0x200, left: 5 }));
        list.put(1, vec![piece(9, 0, 2)]);
        assert_eq!(list.find(3), Some(Found { key: 9, addr: 0, left: 2 }));
        assert_eq!(list.find(10), Some(Found { key: 3, addr: 0x300, left: 1 }));
        let mut equal = KeyList::Equal { pieces: vec![], log_bytes: 4 };
        equal.put(1, vec![piece(2, 0x20, 0)]);
        assert_eq!((equal.find(0).map(|found| found.key), equal.find(16).map(|found| found.key)), (Some(0), Some(2)));
    }

    #[test]
    fn pieces_of_one_length_are_found_by_offset() {
        let pieces = vec![piece(1, 0x100, 0), piece(2, u64::MAX, 0)];
        let list = KeyList::Equal { pieces, log_bytes: 4 };
        assert_eq!(list.bytes(), 32);
        assert_eq!(list.find(15), Some(Found { key: 1, addr: 0x10f, left: 1 }));
        assert_eq!(list.find(17), Some(Found { key: 2, addr: 0, left: 15 }));
        assert_eq!(list.find(32), None);
        assert_eq!(list.find(u64::MAX), None);
    }
}
