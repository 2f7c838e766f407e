//! Stores that make up one doorbell: eight bytes, or a BlueFlame copy.

/// Offset of the first BlueFlame register in a page (`MLX5_BF_OFFSET`).
const BLUEFLAME: usize = 0x800;
/// Bytes of half a BlueFlame register.
const HALF_BYTES: usize = 0x100;
/// Words of half a BlueFlame register.
const HALF_WORDS: usize = HALF_BYTES / 4;
/// Bytes of a doorbell.
const DOORBELL_BYTES: usize = 8;
/// Bytes of a WQE's building block, of which a copy is a multiple.
const WQEBB_BYTES: usize = 64;

/// What was stored to a half of a BlueFlame register, or to a doorbell elsewhere in the page.
pub(super) struct Burst {
    /// Offset of the half, or of the 256 bytes that the doorbell is in.
    base: usize,
    bytes: [u8; HALF_BYTES],
    /// Which words were stored.
    words: u64,
}

impl Burst {
    pub(super) fn new(offset: usize, stored: [u8; 4]) -> Self {
        let mut burst = Self { base: offset & !(HALF_BYTES - 1), bytes: [0; HALF_BYTES], words: 0 };
        burst.add(offset, stored);
        burst
    }

    /// Takes a word in; `false` if it does not belong here: it is elsewhere, or begins the next doorbell.
    pub(super) fn add(&mut self, offset: usize, stored: [u8; 4]) -> bool {
        let Some(at) = offset.checked_sub(self.base).filter(|&at| at < HALF_BYTES) else { return false };
        let bit = 1 << (at / 4);
        if self.words & bit != 0 {
            return false;
        }
        self.words |= bit;
        for (to, from) in self.bytes[at..].iter_mut().zip(stored) {
            *to = from;
        }
        true
    }

    /// Whether nothing can follow: a copy of as many bytes as the WQE in it has, or a doorbell that is no copy. Eight
    /// bytes of a BlueFlame register may be either.
    pub(super) fn is_complete(&self) -> bool {
        if self.base < BLUEFLAME {
            return self.words.count_ones() as usize * 4 >= DOORBELL_BYTES;
        }
        // The WQE's length in units of 16 bytes, in the first doubleword but one (ctrl segment, qpn_ds).
        let ds = usize::from(self.bytes[7] & 0x3f);
        let len = (ds * 16).next_multiple_of(WQEBB_BYTES).clamp(WQEBB_BYTES, HALF_BYTES);
        let wanted = if len == HALF_BYTES { u64::MAX } else { (1 << (len / 4)) - 1 };
        self.words & wanted == wanted
    }

    /// What was stored, by runs: offset in the page, and bytes.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut word = 0;
        std::iter::from_fn(move || {
            let stored = |word: usize| word < HALF_WORDS && self.words >> word & 1 != 0;
            while word < HALF_WORDS && !stored(word) {
                word += 1;
            }
            let first = word;
            while stored(word) {
                word += 1;
            }
            (word > first).then(|| (self.base + first * 4, &self.bytes[first * 4..word * 4]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(burst: &mut Burst, offset: usize, bytes: &[u8]) -> bool {
        bytes.chunks_exact(4).enumerate().all(|(i, word)| burst.add(offset + i * 4, word.try_into().unwrap()))
    }

    /// A control segment of a WQE of `ds` units.
    fn wqe(ds: u8, len: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
        bytes[7] = ds;
        bytes
    }

    #[test]
    fn a_copy_is_complete_with_its_last_word() {
        for (ds, len) in [(2, 64), (4, 64), (5, 128), (16, 256)] {
            let bytes = wqe(ds, len);
            let mut burst = Burst::new(0x900, bytes[..4].try_into().unwrap());
            assert!(store(&mut burst, 0x904, &bytes[4..len - 4]));
            assert!(!burst.is_complete(), "ds {ds}");
            assert!(store(&mut burst, 0x900 + len - 4, &bytes[len - 4..]));
            assert!(burst.is_complete(), "ds {ds}");
            assert_eq!(burst.runs().collect::<Vec<_>>(), [(0x900, &bytes[..])]);
        }
    }

    #[test]
    fn eight_bytes_are_complete_only_where_nothing_can_follow() {
        let mut arm = Burst::new(0x20, [1; 4]);
        assert!(!arm.is_complete());
        assert!(arm.add(0x24, [2; 4]));
        assert!(arm.is_complete());
        assert_eq!(arm.runs().collect::<Vec<_>>(), [(0x20, &[1, 1, 1, 1, 2, 2, 2, 2][..])]);
        let mut doorbell = Burst::new(0x800, [0; 4]);
        assert!(doorbell.add(0x804, [0, 0, 0, 3]));
        assert!(!doorbell.is_complete());
    }

    #[test]
    fn what_does_not_belong_is_refused() {
        let mut burst = Burst::new(0x800, [0; 4]);
        assert!(!burst.add(0x900, [0; 4]), "the other half");
        assert!(!burst.add(0x20, [0; 4]), "before");
        assert!(!burst.add(0x800, [0; 4]), "the same word again");
        assert!(burst.add(0x840, [9; 4]));
        assert_eq!(burst.runs().collect::<Vec<_>>(), [(0x800, &[0; 4][..]), (0x840, &[9; 4][..])]);
    }
}
