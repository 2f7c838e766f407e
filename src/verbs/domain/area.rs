//! An allocator of mapped memory, for doorbell records and rings.

use core::ptr::NonNull;
use std::collections::BTreeMap;

use memmap2::{Advice, MmapMut};

use crate::verbs::CallError;
use crate::verbs::error::failed;

/// Mappings begin at a multiple of it on every system; pages may be larger.
const PAGE_BYTES: usize = 4096;

/// Maps at least the given number of bytes, zeroed.
type Map = fn(usize) -> Result<MmapMut, CallError>;

/// Hands out pieces of memory, first fit from the lowest address, so that they lie close together. The area maps chunks
/// when it needs them, and unmaps them only when it is dropped. It reuses returned memory for later pieces.
///
/// For setup: allocating searches the gaps.
#[derive(Debug)]
pub(in crate::verbs) struct Area {
    map: Map,
    chunk_bytes: usize,
    chunks: Vec<MmapMut>,
    /// Gaps: address and bytes. Neighbours are joined.
    gaps: BTreeMap<usize, usize>,
    /// Pieces handed out: address and bytes.
    pieces: BTreeMap<usize, usize>,
}

impl Area {
    /// Nothing yet; `map` will be asked for `chunk_bytes` at a time, or more for larger pieces.
    pub(in crate::verbs) fn new(chunk_bytes: usize, map: Map) -> Self {
        Self { map, chunk_bytes, chunks: Vec::new(), gaps: BTreeMap::new(), pieces: BTreeMap::new() }
    }

    /// A zeroed piece of `bytes` at a multiple of `align`, a power of two.
    pub(in crate::verbs) fn allocate(&mut self, bytes: usize, align: usize) -> Result<NonNull<u8>, CallError> {
        let place = match self.place(bytes, align) {
            Some(place) => place,
            None => {
                // A chunk begins at a page, which may lie before a multiple of `align`: libmlx5 aligns a ring to a
                // sixty-fourth of its bytes (rdma-core `providers/mlx5/verbs.c`, `mlx5_set_custom_qp_alignment`).
                self.grow(bytes + align.saturating_sub(PAGE_BYTES))?;
                self.place(bytes, align).ok_or_else(no_room)?
            }
        };
        let piece = NonNull::new(core::ptr::with_exposed_provenance_mut::<u8>(place)).ok_or_else(no_room)?;
        // SAFETY: the bytes are inside a chunk of this area and part of no other piece.
        unsafe { piece.write_bytes(0, bytes) };
        Ok(piece)
    }

    /// Takes a piece out of the first gap that has room.
    fn place(&mut self, bytes: usize, align: usize) -> Option<usize> {
        let (gap, len, place) = self.gaps.iter().find_map(|(&gap, &len)| {
            let place = gap.next_multiple_of(align);
            (place - gap + bytes <= len).then_some((gap, len, place))
        })?;
        self.gaps.remove(&gap);
        for (start, end) in [(gap, place), (place + bytes, gap + len)] {
            if start < end {
                self.gaps.insert(start, end - start);
            }
        }
        self.pieces.insert(place, bytes);
        Some(place)
    }

    fn grow(&mut self, bytes: usize) -> Result<(), CallError> {
        let mut chunk = (self.map)(bytes.max(self.chunk_bytes))?;
        // After a fork, the process that writes a page first gets a copy of it, and the device goes on using the
        // original. So children do not get these pages (nor libmlx5's own, `ibv_dontfork_range`), and this process
        // keeps the originals.
        chunk.advise(Advice::DontFork).map_err(|error| failed("madvise", &error))?;
        self.gaps.insert(chunk.as_mut_ptr().expose_provenance(), chunk.len());
        self.chunks.push(chunk);
        Ok(())
    }

    /// Takes a piece back; an address that is no piece's is ignored.
    pub(in crate::verbs) fn free(&mut self, piece: usize) {
        let Some(mut bytes) = self.pieces.remove(&piece) else { return };
        let mut start = piece;
        // Chunks may lie side by side; a piece must not reach from one into the next.
        let inside = |boundary| self.chunks.iter().all(|chunk| chunk.as_ptr().addr() != boundary);
        if inside(start + bytes) {
            bytes += self.gaps.remove(&(start + bytes)).unwrap_or(0);
        }
        match self.gaps.range(..start).next_back() {
            Some((&before, &len)) if before + len == start && inside(start) => {
                start = before;
                bytes += len;
            }
            _ => {}
        }
        self.gaps.insert(start, bytes);
    }
}

/// An invalid mapping: at address zero, or too small.
fn no_room() -> CallError {
    CallError { call: "mmap", errno: libc::ENOMEM }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(bytes: usize) -> Result<MmapMut, CallError> {
        MmapMut::map_anon(bytes).map_err(|error| failed("mmap", &error))
    }

    fn area() -> Area {
        Area::new(4096, pages)
    }

    fn take(area: &mut Area, bytes: usize, align: usize) -> usize {
        let piece = area.allocate(bytes, align).expect("room");
        // SAFETY: a piece of so many bytes.
        assert!((0..bytes).all(|i| unsafe { piece.add(i).read() } == 0), "not zeroed");
        // SAFETY: a piece of so many bytes, which nothing else uses.
        unsafe { piece.write_bytes(0xa5, bytes) };
        piece.addr().get()
    }

    #[test]
    fn pieces_are_dense_aligned_and_zeroed() {
        let mut area = area();
        let first = take(&mut area, 8, 8);
        assert_eq!(first % 4096, 0);
        assert_eq!(
            (1..512).map(|_| take(&mut area, 8, 8)).collect::<Vec<_>>(),
            (1..512).map(|i| first + 8 * i).collect::<Vec<_>>()
        );
        area.free(first + 80);
        assert_eq!(take(&mut area, 8, 8), first + 80, "the lowest place");
        assert_eq!(area.chunks.len(), 1);
        take(&mut area, 8, 8);
        assert_eq!(area.chunks.len(), 2, "the first is full");
        let aligned = take(&mut area, 100, 256);
        assert_eq!(aligned % 256, 0);
        assert_eq!(take(&mut area, 8192, 4096) % 4096, 0, "larger than a chunk");
    }

    /// libmlx5 asks for a sixty-fourth of a ring's bytes.
    #[test]
    fn alignments_beyond_a_page_find_room() {
        let mut area = area();
        // Mappings lie side by side, so that they begin at different multiples of a page.
        for pages in 256..272 {
            assert_eq!(take(&mut area, pages * 4096, 1 << 15) % (1 << 15), 0, "{pages} pages");
        }
    }

    #[test]
    fn what_is_freed_in_any_order_becomes_one_gap_again() {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let mut area = area();
            let pieces = [100, 8, 640, 3348].map(|bytes| take(&mut area, bytes, 4));
            assert!(area.gaps.is_empty());
            for i in order {
                area.free(pieces[i]);
            }
            area.free(pieces[0] + 1);
            assert_eq!(area.gaps.into_iter().collect::<Vec<_>>(), [(pieces[0], 4096)]);
            assert!(area.pieces.is_empty());
        }
    }

    proptest::proptest! {
        /// Pieces taken and given back at random never overlap, and in the end each chunk is one gap.
        #[test]
        fn pieces_never_overlap(steps in proptest::collection::vec((0..9000_usize, 0..13_u32, 0..4_usize), 1..80)) {
            let mut area = area();
            let mut held: Vec<(usize, usize)> = Vec::new();
            for (bytes, align, back) in steps {
                let place = take(&mut area, bytes + 1, 1 << align);
                proptest::prop_assert!(place % (1 << align) == 0);
                let apart = |&(other, len): &(usize, usize)| place + bytes < other || other + len <= place;
                proptest::prop_assert!(held.iter().all(apart));
                held.push((place, bytes + 1));
                if back != 0 {
                    area.free(held.swap_remove(held.len() / 2 % back.min(held.len())).0);
                }
            }
            for (place, _) in held {
                area.free(place);
            }
            let chunks = area.chunks.iter().map(|chunk| (chunk.as_ptr().addr(), chunk.len())).collect();
            proptest::prop_assert_eq!(&area.gaps, &chunks);
            proptest::prop_assert!(area.pieces.is_empty());
        }
    }
}
