//! Stores that make up one doorbell: eight bytes, or a BlueFlame copy.

/// Offset of the first BlueFlame register in a page (`MLX5_BF_OFFSET`).
const BLUEFLAME: usize = 0x800;
/// Bytes of half a BlueFlame register.
pub(super) const HALF_BYTES: usize = 0x100;
/// Bytes of a doorbell.
const DOORBELL_BYTES: usize = 8;
/// Bytes of a WQE's building block, of which a copy is a multiple.
const WQEBB_BYTES: usize = 64;

/// The stores to a half of a BlueFlame register, or to a doorbell elsewhere in the page.
pub(super) struct Burst {
    /// Offset of the half, or of the 256 bytes that the doorbell is in.
    base: usize,
    bytes: [u8; HALF_BYTES],
    /// Which of them were stored.
    stored: [bool; HALF_BYTES],
}

impl Burst {
    /// The burst that begins with a store of `bytes` at `offset`, which does not leave its 256 bytes.
    pub(super) fn new(offset: usize, bytes: &[u8]) -> Self {
        let base = offset & !(HALF_BYTES - 1);
        let mut burst = Self { base, bytes: [0; HALF_BYTES], stored: [false; HALF_BYTES] };
        burst.add(offset, bytes);
        burst
    }

    /// Takes a store in; `false` if it does not belong here: it is elsewhere, or begins the next doorbell.
    pub(super) fn add(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let Some(at) = offset.checked_sub(self.base) else { return false };
        let place = at..at + bytes.len();
        let Some(stored) = self.stored.get_mut(place.clone()) else { return false };
        if stored.contains(&true) {
            return false;
        }
        stored.fill(true);
        self.bytes[place].copy_from_slice(bytes);
        true
    }

    /// Whether nothing can follow: a copy of as many bytes as the WQE in it has, or a doorbell that is no copy. Eight
    /// bytes of a BlueFlame register may be either.
    pub(super) fn is_complete(&self) -> bool {
        if self.base < BLUEFLAME {
            return self.stored.iter().filter(|&&stored| stored).count() >= DOORBELL_BYTES;
        }
        // The WQE's length in units of 16 bytes, in the first doubleword but one (ctrl segment, qpn_ds).
        let ds = usize::from(self.bytes[7] & 0x3f);
        let len = (ds * 16).next_multiple_of(WQEBB_BYTES).clamp(WQEBB_BYTES, HALF_BYTES);
        self.stored[..len].iter().all(|&stored| stored)
    }

    /// The stored bytes, by runs: offset in the page, and bytes.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut at = 0;
        self.stored.chunk_by(|one, next| one == next).filter_map(move |run| {
            let first = at;
            at += run.len();
            run[0].then(|| (self.base + first, &self.bytes[first..at]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A control segment of a WQE of `ds` units.
    fn wqe(ds: u8, len: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
        bytes[7] = ds;
        bytes
    }

    #[test]
    fn a_copy_is_complete_with_its_last_byte() {
        for (ds, len) in [(2, 64), (4, 64), (5, 128), (16, 256)] {
            for width in [1, 4, 8, 16, 64] {
                let bytes = wqe(ds, len);
                let mut stores = bytes.chunks(width).enumerate().map(|(i, store)| (0x900 + i * width, store));
                let (offset, first) = stores.next().unwrap();
                let mut burst = Burst::new(offset, first);
                for (offset, store) in stores {
                    assert!(!burst.is_complete(), "ds {ds}, stores of {width}");
                    assert!(burst.add(offset, store));
                }
                assert!(burst.is_complete(), "ds {ds}, stores of {width}");
                assert_eq!(burst.runs().collect::<Vec<_>>(), [(0x900, &bytes[..])]);
            }
        }
    }

    #[test]
    fn eight_bytes_are_complete_only_where_nothing_can_follow() {
        let mut arm = Burst::new(0x20, &[1; 4]);
        assert!(!arm.is_complete());
        assert!(arm.add(0x24, &[2; 4]));
        assert!(arm.is_complete());
        assert_eq!(arm.runs().collect::<Vec<_>>(), [(0x20, &[1, 1, 1, 1, 2, 2, 2, 2][..])]);
        assert!(!Burst::new(0x800, &[0, 0, 0, 0, 0, 0, 0, 3]).is_complete());
    }

    #[test]
    fn what_does_not_belong_is_refused() {
        let mut burst = Burst::new(0x800, &[0; 4]);
        assert!(!burst.add(0x900, &[0; 4]), "the other half");
        assert!(!burst.add(0x20, &[0; 4]), "before");
        assert!(!burst.add(0x802, &[0; 4]), "a byte again");
        assert!(!burst.add(0x8fc, &[0; 8]), "into the other half");
        assert!(burst.add(0x840, &[9; 4]));
        assert_eq!(burst.runs().collect::<Vec<_>>(), [(0x800, &[0; 4][..]), (0x840, &[9; 4][..])]);
    }
}
