//! Which parts of a stretch of memory are free. Handles numbers only, no memory.

use std::collections::BTreeMap;

/// The free parts of a stretch: first fit, the lowest place first, neighbours joined.
#[derive(Debug)]
pub(super) struct Gaps {
    /// Length by beginning.
    free: BTreeMap<usize, usize>,
}

impl Gaps {
    /// All of `len` is free.
    pub(super) fn new(len: usize) -> Self {
        Self { free: BTreeMap::from([(0, len)]) }
    }

    /// Takes `len` at a multiple of `align`, a power of two; `None` if there is no room.
    pub(super) fn take(&mut self, len: usize, align: usize) -> Option<usize> {
        let fits = |(&start, &free): (&usize, &usize)| {
            let place = start.checked_next_multiple_of(align)?;
            (place.checked_add(len)? <= start + free).then_some((start, free, place))
        };
        let (start, free, place) = self.free.iter().find_map(fits)?;
        self.free.remove(&start);
        if place > start {
            self.free.insert(start, place - start);
        }
        if place + len < start + free {
            self.free.insert(place + len, start + free - place - len);
        }
        Some(place)
    }

    /// Gives back a part that was taken.
    pub(super) fn give(&mut self, mut place: usize, mut len: usize) {
        let below = self.free.range(..place).next_back().map(|(&before, &free)| (before, free));
        if let Some((before, free)) = below.filter(|&(before, free)| before + free == place) {
            self.free.remove(&before);
            (place, len) = (before, free + len);
        }
        if let Some(free) = self.free.remove(&(place + len)) {
            len += free;
        }
        self.free.insert(place, len);
    }

    /// The length of the longest free part.
    pub(super) fn largest(&self) -> usize {
        self.free.values().copied().max().unwrap_or(0)
    }

    /// How much is free, in all parts.
    pub(super) fn free(&self) -> usize {
        self.free.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lowest_place_that_fits() {
        let mut gaps = Gaps::new(1024);
        assert_eq!(gaps.take(8, 8), Some(0));
        assert_eq!(gaps.take(64, 64), Some(64));
        assert_eq!(gaps.take(56, 8), Some(8), "before the aligned one");
        assert_eq!(gaps.take(1024, 1), None);
        gaps.give(0, 8);
        assert_eq!(gaps.take(8, 8), Some(0));
        assert_eq!(gaps.free(), 1024 - 128);
    }

    proptest! {
        /// Parts never overlap, stay inside, and in the end all is one gap again.
        #[test]
        fn parts_never_overlap(steps in prop::collection::vec((1..500_usize, 0..9_u32, any::<prop::sample::Index>(), any::<bool>()), 1..80)) {
            let mut gaps = Gaps::new(8192);
            let mut held: Vec<(usize, usize)> = Vec::new();
            for (len, align, which, back) in steps {
                if let Some(place) = gaps.take(len, 1 << align) {
                    prop_assert!(place % (1 << align) == 0 && place + len <= 8192);
                    prop_assert!(held.iter().all(|&(other, bytes)| place + len <= other || other + bytes <= place));
                    held.push((place, len));
                }
                if back && !held.is_empty() {
                    let (place, len) = held.swap_remove(which.index(held.len()));
                    gaps.give(place, len);
                }
                prop_assert_eq!(gaps.free() + held.iter().map(|&(_, len)| len).sum::<usize>(), 8192);
            }
            for (place, len) in held {
                gaps.give(place, len);
            }
            prop_assert_eq!(gaps.free, BTreeMap::from([(0, 8192)]));
        }
    }
}
