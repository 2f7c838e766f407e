//! The Internet checksum (RFC 1071), and its update when few words change (RFC 1624). Knows no header.

/// A ones' complement sum of 16-bit words in network order. It is zero only if all words are zero, so a sum that was
/// updated equals the sum that is computed anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum(u16);

impl Sum {
    /// The sum of no words.
    pub(super) const ZERO: Self = Self(0);

    /// The sum of bytes that begin at an even place; an odd last byte is the first half of a word.
    #[inline(always)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        // Words of this machine's byte order, and of 32 bits: neither changes the sum, but for its byte order (RFC
        // 1071, section 2, B and C).
        let (mut rest, mut last) = (bytes, [0; 4]);
        let mut wide = 0_u64;
        while let Some((word, after)) = rest.split_first_chunk() {
            wide += u64::from(u32::from_ne_bytes(*word));
            rest = after;
        }
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        wide += u64::from(u32::from_ne_bytes(last));
        let halves = (wide >> 32) + (wide & 0xffff_ffff);
        let folded = (halves >> 32) + (halves >> 16 & 0xffff) + (halves & 0xffff);
        let folded = (folded >> 16) + (folded & 0xffff);
        Self(u16::from_be((folded >> 16) as u16 + folded as u16))
    }

    /// Both sums together.
    #[inline(always)]
    pub(super) const fn and(self, other: Self) -> Self {
        let (sum, carry) = self.0.overflowing_add(other.0);
        // Without overflow: if there is a carry, the sum is at most 0xfffe.
        Self(sum.wrapping_add(carry as u16))
    }

    /// The sum once words of the sum `old` are words of the sum `new` (RFC 1624, equation 3).
    #[inline(always)]
    pub(super) const fn replaced(self, old: Self, new: Self) -> Self {
        self.and(Self(!old.0)).and(new)
    }

    /// The sum of the same bytes, one place later.
    #[inline(always)]
    pub(super) const fn one_place_later(self) -> Self {
        Self(self.0.swap_bytes())
    }

    /// The sum of one word.
    #[inline(always)]
    pub(super) const fn word(word: u16) -> Self {
        Self(word)
    }

    /// The checksum of these words: the complement, which fills the sum up to 0xffff.
    #[inline(always)]
    pub(super) const fn checksum(self) -> u16 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071, section 3: the sum of the example is ddf2.
    #[test]
    fn the_example_of_the_rfc() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::of(&bytes), Sum(0xddf2));
        assert_eq!(Sum::of(&bytes).checksum(), 0x220d);
        // An odd place: the sum with its bytes swapped.
        let later = [0x00, 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::of(&later), Sum::of(&bytes).one_place_later());
    }

    /// RFC 1624, section 4: the checksum dd2f becomes 0000, not ffff, when 5555 becomes 3285.
    #[test]
    fn the_example_of_the_update() {
        let before = Sum(!0xdd2f);
        assert_eq!(before.replaced(Sum::word(0x5555), Sum::word(0x3285)).checksum(), 0x0000);
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
            assert_eq!(Sum::of(&bytes[..len]), Sum(slow as u16), "{len}");
        }
    }
}
