//! The Internet checksum (RFC 1071), and its update when few words change (RFC 1624). Knows no header.

/// A ones' complement sum of 16-bit words, in this machine's byte order. Words may be added in any byte order and width
/// (RFC 1071, section 2, B and C).
///
/// A sum is zero only if all words are zero. So an updated sum equals the sum that is computed anew, unless that is
/// zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum(u16);

impl Sum {
    /// The sum of no words.
    pub(super) const ZERO: Self = Self(0);

    /// The sum of bytes that begin at an even place; an odd last byte is the first half of a word.
    #[inline(always)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut last = [0; 4];
        let (mut rest, mut wide) = (bytes, 0);
        while let Some((word, after)) = rest.split_first_chunk() {
            wide += u64::from(u32::from_ne_bytes(*word));
            rest = after;
        }
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        wide += u64::from(u32::from_ne_bytes(last));
        fold(wide)
    }

    /// The sum of one word.
    #[inline(always)]
    pub(super) const fn word(word: u16) -> Self {
        Self(word.to_be())
    }

    /// Both sums together.
    #[inline(always)]
    pub(super) const fn and(self, other: Self) -> Self {
        fold_u32(self.0 as u32 + other.0 as u32)
    }

    /// The sum once words have changed.
    #[inline(always)]
    pub(super) const fn changed(self, Change(change): Change) -> Self {
        // Without overflow: a change is less than 2^33.
        fold(self.0 as u64 + change)
    }

    /// The checksum of these words, in this machine's byte order: the complement, which fills the sum up to 0xffff.
    #[inline(always)]
    pub(super) const fn checksum(self) -> u16 {
        !self.0
    }
}

/// The addition to a sum when some of its words change (RFC 1624, equation 3).
#[derive(Clone, Copy)]
pub(super) struct Change(u64);

impl Change {
    /// Of words whose sum was `old` and becomes `new`.
    #[inline(always)]
    pub(super) const fn of_sums(old: Sum, new: Sum) -> Self {
        Self(!old.0 as u64 + new.0 as u64)
    }

    /// Of one word.
    #[inline(always)]
    pub(super) const fn of_word(old: u16, new: u16) -> Self {
        Self::of_sums(Sum::word(old), Sum::word(new))
    }

    /// Of bytes that begin at an even place.
    #[inline(always)]
    pub(super) fn of<const M: usize>(old: &[u8; M], new: &[u8; M]) -> Self {
        if M <= 4 {
            // One word of 32 bits.
            let [old, new] = [old, new].map(|bytes| {
                let mut word = [0; 4];
                word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                u32::from_ne_bytes(word)
            });
            Self(u64::from(!old) + u64::from(new))
        } else {
            Self::of_sums(Sum::of(old), Sum::of(new))
        }
    }

    /// Of the same bytes, one place later.
    #[inline(always)]
    pub(super) const fn one_place_later(self) -> Self {
        // Less than 2^33 before, and less than 2^41 afterwards.
        Self(self.0 << 8)
    }
}

/// The sum of the 16-bit words of a wide one.
#[inline(always)]
const fn fold(wide: u64) -> Sum {
    // The upper half of `halves` has the sum of both halves, and its carry.
    let halves = wide.wrapping_add(wide.rotate_left(32));
    fold_u32((halves >> 32) as u32)
}

#[inline(always)]
const fn fold_u32(word: u32) -> Sum {
    let halves = word.wrapping_add(word.rotate_left(16));
    Sum((halves >> 16) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071, section 3: the sum of the example is ddf2.
    #[test]
    fn the_example_of_the_rfc() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::of(&bytes), Sum::word(0xddf2));
        assert_eq!(Sum::of(&bytes).checksum(), 0x220d_u16.to_be());
    }

    /// RFC 1624, section 4: the checksum dd2f becomes 0000, not ffff, when 5555 becomes 3285.
    #[test]
    fn the_example_of_the_update() {
        let before = Sum::word(!0xdd2f);
        assert_eq!(before.changed(Change::of_word(0x5555, 0x3285)).checksum(), 0);
    }

    /// Changes of each length, at even and at odd places, with all zeros and all ones among them.
    #[test]
    fn changed_sums_are_those_computed_anew() {
        fn change<const M: usize>(at: usize, fill: [u8; M], before: &[u8; 40]) {
            let mut after = *before;
            after[at..at + M].copy_from_slice(&fill);
            let old: [u8; M] = core::array::from_fn(|n| before[at + n]);
            let change = Change::of(&old, &fill);
            let change = if at % 2 == 0 { change } else { change.one_place_later() };
            assert_eq!(Sum::of(before).changed(change), Sum::of(&after), "{fill:x?} at {at} of {before:x?}");
        }
        for before in [[0xff; 40], core::array::from_fn(|n| n as u8 + 1), core::array::from_fn(|n| 255 - n as u8)] {
            for at in 0..23 {
                for byte in [0, 1, 0x80, 0xff] {
                    change(at, [byte], &before);
                    change(at, [byte, !byte], &before);
                    change(at, [byte; 3], &before);
                    change(at, [!byte, byte, byte, byte], &before);
                    change(at, [byte; 5], &before);
                    change(at, [byte; 17], &before);
                }
            }
        }
    }

    /// Word by word, with the carry put in at once, against lengths with and without rests.
    #[test]
    fn sums_are_those_of_single_words() {
        let bytes: [u8; 300] = core::array::from_fn(|n| (n * 89 + n / 7) as u8 | 0x80);
        for len in 0..bytes.len() {
            let words = bytes[..len].chunks(2).map(|pair| u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
            let slow = words.fold(0_u32, |sum, word| {
                let sum = sum + u32::from(word);
                (sum & 0xffff) + (sum >> 16)
            });
            assert_eq!(Sum::of(&bytes[..len]), Sum::word(slow as u16), "{len}");
        }
    }
}
