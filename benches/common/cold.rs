//! Cold caches, TLBs and branch predictors, as other work of a program leaves them.
//!
//! Reading twice the bytes of the largest cache, a line of each page after another, evicts data, code and page tables,
//! and the entries of the TLBs. Thousands of conditional jumps in random directions take the places of other jumps in
//! the branch predictors, and their code takes the first-level instruction cache.
use std::hint::black_box;

use memmap2::{Advice, MmapMut};

const LINE: usize = 64;
const PAGE: usize = 4096;
/// Where the system does not say how large the caches are.
const USUAL_CACHE: usize = 32 << 20;
/// The most that is read.
const LARGEST: usize = 256 << 20;

/// Evicts.
pub(crate) struct Evictor {
    memory: MmapMut,
    bits: u64,
}

impl Evictor {
    pub(crate) fn new() -> Self {
        let bytes = (2 * largest_cache().unwrap_or(USUAL_CACHE)).min(LARGEST).next_multiple_of(PAGE);
        let mut memory = MmapMut::map_anon(bytes).expect("memory");
        // Small pages, for the TLBs. A kernel without huge pages refuses, and has none.
        let _ = memory.advise(Advice::NoHugePage);
        // Written once, since all pages that were only read are one page of zeros.
        memory.chunks_mut(PAGE).for_each(|page| page[0] = 1);
        Self { memory, bits: 0x9e37_79b9_7f4a_7c15 }
    }

    /// Leaves nothing of the caller in caches, TLBs and predictors.
    pub(crate) fn evict(&mut self) {
        for jumps in JUMPS.as_flattened() {
            self.bits = black_box(jumps)(self.bits);
        }
        // By lines and not by pages first, so that the CPU does not fetch ahead of the TLB.
        let mut sum = 0_u64;
        for line in (0..PAGE).step_by(LINE) {
            for page in (0..self.memory.len()).step_by(PAGE) {
                sum = sum.wrapping_add(u64::from(self.memory[page + line]));
            }
        }
        black_box(sum);
    }
}

/// Bytes of the largest cache of this CPU.
fn largest_cache() -> Option<usize> {
    let caches = std::fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    caches.filter_map(|cache| bytes(std::fs::read_to_string(cache.ok()?.path().join("size")).ok()?.trim())).max()
}

/// The bytes of a size as the kernel writes it: `32768K`.
fn bytes(size: &str) -> Option<usize> {
    match (size.strip_suffix('K'), size.strip_suffix('M')) {
        (Some(kibibytes), _) => kibibytes.parse::<usize>().ok()?.checked_mul(1 << 10),
        (_, Some(mebibytes)) => mebibytes.parse::<usize>().ok()?.checked_mul(1 << 20),
        _ => size.parse().ok(),
    }
}

/// Thirty-two conditional jumps in directions that nothing foretells; returns the next directions.
#[inline(never)]
fn jumps<const ROW: u64, const COLUMN: u64>(bits: u64) -> u64 {
    let mut next = bits ^ (ROW << 32 | COLUMN);
    macro_rules! jump {
        ($($bit:literal)*) => { $(
            if bits >> $bit & 1 == 1 {
                // Opaque, so that a jump it stays.
                next = black_box(next.rotate_left(5) ^ ROW);
            }
        )* };
    }
    jump!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    // Xorshift.
    next ^= next << 13;
    next ^= next >> 7;
    next ^ next << 17 | 1
}

macro_rules! table {
    ($($row:literal)*) => { [$(row!($row: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)),*] };
}
macro_rules! row {
    ($row:literal: $($column:literal)*) => { [$(jumps::<$row, $column>),*] };
}

type Jumps = fn(u64) -> u64;
/// They are more jumps than predictors remember.
static JUMPS: [[Jumps; 16]; 16] = table!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
