//! Strided blocks of indirect keys' lists: entries that repeat, each a stride further every time
//! (Linux `include/linux/mlx5/qp.h`, `struct mlx5_stride_block_ctrl_seg`, `mlx5_stride_block_entry`).

use crate::context::KeyPiece;

/// The key of a list's entry that is no piece but begins a strided block (`MLX5_STRIDE_BLOCK_OP`). No key has this
/// number.
pub(crate) const REPEAT: u32 = 0x400;

/// A piece of which an access needs a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Key of the piece.
    pub(crate) key: u32,
    /// First address of the part, as users of that key name it.
    pub(crate) addr: u64,
    /// Bytes from there to the end of the piece; at least 1.
    pub(crate) left: u64,
}

/// A block: its place in the list, and the content of its entries.
///
/// The first entry has the bytes of a turn (32), [`REPEAT`] (32), the number of turns (32), 0 (16), and the number of
/// entries that follow (16). The others have the stride (16), the bytes of a turn (16), key (32) and address (64).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strided {
    /// Number of its first entry.
    first: usize,
    /// Where each of its others ends in a turn.
    ends: Vec<u64>,
    /// Turns.
    repeat: u64,
}

impl Strided {
    /// The block that begins with entry `first`, with as many of its entries as there are.
    pub(crate) fn new(pieces: &[KeyPiece], first: usize) -> Self {
        let head = pieces[first].addr;
        let entries = pieces[first + 1..].iter().take(usize::from(head as u16));
        let ends = entries.scan(0, |end, entry| {
            *end += bytes(entry);
            Some(*end)
        });
        Self { first, ends: ends.collect(), repeat: head >> 32 }
    }

    /// The fault of the block, if there is one.
    pub(crate) fn fault(&self, pieces: &[KeyPiece]) -> Option<&'static str> {
        let KeyPiece { addr, len, .. } = pieces[self.first];
        if addr >> 16 & 0xffff != 0 {
            Some("a strided block with reserved bits")
        } else if usize::from(addr as u16) != self.ends.len() {
            Some("a strided block of more entries than its list has")
        } else if len != self.turn() {
            Some("a strided block whose entries do not have the bytes that it says")
        } else {
            None
        }
    }

    /// Number of its first entry.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// How many it has, with the first.
    pub(crate) fn entries(&self) -> usize {
        1 + self.ends.len()
    }

    /// Bytes of all turns.
    pub(crate) fn bytes(&self) -> u64 {
        self.turn().saturating_mul(self.repeat)
    }

    /// Where byte `offset` of it is.
    pub(crate) fn find(&self, pieces: &[KeyPiece], offset: u64) -> Option<Found> {
        let (turn, within) = (offset.checked_div(self.turn())?, offset % self.turn());
        let index = self.ends.partition_point(|&end| end <= within);
        let entry = pieces.get(self.first + 1 + index)?;
        let within = within - index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let stride = entry.len >> 16;
        let addr = entry.addr.wrapping_add(turn.wrapping_mul(stride)).wrapping_add(within);
        Some(Found { key: entry.key, addr, left: bytes(entry) - within })
    }

    fn turn(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }
}

/// Bytes that an entry has of each turn.
fn bytes(entry: &KeyPiece) -> u64 {
    entry.len & 0xffff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(bytes: u64, repeat: u64, entries: u64) -> KeyPiece {
        KeyPiece { key: REPEAT, addr: repeat << 32 | entries, len: bytes }
    }

    fn entry(key: u32, addr: u64, stride: u64, bytes: u64) -> KeyPiece {
        KeyPiece { key, addr, len: stride << 16 | bytes }
    }

    #[test]
    fn entries_take_turns() {
        let pieces = [head(5, 3, 2), entry(1, 0x100, 0x10, 3), entry(2, 0x200, 2, 2)];
        let block = Strided::new(&pieces, 0);
        assert_eq!((block.bytes(), block.entries(), block.fault(&pieces)), (15, 3, None));
        let places: Vec<_> =
            (0..15).map(|n| block.find(&pieces, n).unwrap()).map(|f| (f.key, f.addr, f.left)).collect();
        let turn = |n: u64| {
            let (one, two) = (0x100 + 0x10 * n, 0x200 + 2 * n);
            [(1, one, 3), (1, one + 1, 2), (1, one + 2, 1), (2, two, 2), (2, two + 1, 1)]
        };
        assert_eq!(places, (0..3).flat_map(turn).collect::<Vec<_>>());
    }

    #[test]
    fn what_a_block_cannot_be_is_a_fault_and_finds_nothing_else() {
        let short = [head(5, 3, 3), entry(1, 0x100, 3, 3), entry(2, 0x200, 2, 2)];
        assert!(Strided::new(&short, 0).fault(&short).unwrap().contains("more entries"));
        let other = [head(6, 3, 1), entry(1, 0x100, 3, 3)];
        assert!(Strided::new(&other, 0).fault(&other).unwrap().contains("bytes"));
        assert_eq!(Strided::new(&other, 0).bytes(), 9);
        let reserved = [head(0, 3, 1 << 16)];
        let block = Strided::new(&reserved, 0);
        assert!(block.fault(&reserved).unwrap().contains("reserved"));
        assert_eq!((block.bytes(), block.find(&reserved, 0)), (0, None));
        let whole = [head(0xffff, 0xffff_ffff, 1), entry(1, u64::MAX, 0xffff, 0xffff)];
        let found = Strided::new(&whole, 0).find(&whole, 0xffff * 0xffff_fffe + 1);
        assert_eq!(found, Some(Found { key: 1, addr: 0xffff * 0xffff_fffe, left: 0xfffe }));
    }
}
