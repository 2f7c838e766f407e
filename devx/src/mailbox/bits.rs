//! Numbers in big-endian bit fields. Bits are counted as in the PRM: bit 0 is the most significant bit of byte 0.

/// Reads `width` bits, 1 to 64, from bit `at` on. The caller's description guarantees that they are inside `bytes`;
/// missing bits read as 0.
#[inline]
#[must_use]
pub fn get(bytes: &[u8], at: usize, width: usize) -> u64 {
    let last = (at + width - 1) / 8;
    let touched = bytes.get(at / 8..=last).unwrap_or(&[]);
    // At most 9 bytes: 64 bits that begin inside of a byte.
    let all = touched.iter().fold(0_u128, |all, &byte| all << 8 | u128::from(byte));
    let below = last * 8 + 8 - (at + width);
    (all >> below) as u64 & mask(width)
}

/// Writes `width` bits from bit `at` on, and no other bit. Bits of `value` above the width are dropped, as are bits
/// outside of `bytes`.
#[inline]
pub fn set(bytes: &mut [u8], at: usize, width: usize, value: u64) {
    let last = (at + width - 1) / 8;
    let below = last * 8 + 8 - (at + width);
    let mut mask = u128::from(mask(width)) << below;
    let mut value = (u128::from(value) << below) & mask;
    for byte in bytes.get_mut(at / 8..=last).unwrap_or(&mut []).iter_mut().rev() {
        *byte = *byte & !(mask as u8) | value as u8;
        (mask, value) = (mask >> 8, value >> 8);
    }
}

/// Ones in the lowest `width` bits, 1 to 64.
const fn mask(width: usize) -> u64 {
    u64::MAX >> (64 - width)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bit_0_is_the_first_bytes_highest() {
        let mut bytes = [0; 4];
        set(&mut bytes, 0, 1, 1);
        set(&mut bytes, 4, 8, 0x5a);
        set(&mut bytes, 31, 1, 1);
        assert_eq!(bytes, [0x85, 0xa0, 0, 1]);
        assert_eq!(get(&bytes, 4, 8), 0x5a);
        assert_eq!((get(&bytes, 31, 1), get(&bytes, 0, 32)), (1, 0x85a0_0001), "the last bit");
        assert_eq!(get(&bytes, 24, 16), 0, "past the end");
        set(&mut bytes, 24, 16, 0xffff);
        assert_eq!(bytes, [0x85, 0xa0, 0, 1], "past the end");
    }

    proptest! {
        /// A field reads back as written, its neighbours keep their bits, and a model of one bit at a time agrees.
        #[test]
        fn a_field_and_nothing_but_the_field(
            before: [u8; 24],
            at in 0..128_usize,
            width in 1..=64_usize,
            value: u64,
        ) {
            let mut bytes = before;
            set(&mut bytes, at, width, value);
            prop_assert_eq!(get(&bytes, at, width), value & mask(width));
            let bit = |bytes: &[u8; 24], n: usize| bytes[n / 8] >> (7 - n % 8) & 1;
            for n in 0..192_usize {
                let expected = match n.checked_sub(at) {
                    Some(i) if i < width => (value >> (width - 1 - i) & 1) as u8,
                    _ => bit(&before, n),
                };
                prop_assert_eq!(bit(&bytes, n), expected, "bit {}", n);
            }
        }
    }
}
