//! The header of masked atomics, of this device's own making: NVIDIA has not published how they look on the wire.

/// The operation of a masked atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masked {
    /// Compares some bits, and if they are as there, stores some bits.
    Swap {
        /// Value to compare with.
        compare: u128,
        /// Bits of it that count.
        compare_mask: u128,
        /// Value to store.
        swap: u128,
        /// Bits of it that are stored.
        swap_mask: u128,
    },
    /// Adds fields.
    Add {
        /// Value to add.
        add: u128,
        /// The highest bit of each field: nothing is carried out of it.
        boundary: u128,
    },
}

impl Masked {
    /// The new value for `old`. For a smaller word the low bits count.
    #[must_use]
    pub const fn apply(self, old: u128) -> u128 {
        match self {
            Self::Swap { compare, compare_mask, .. } if (old ^ compare) & compare_mask != 0 => old,
            Self::Swap { swap, swap_mask, .. } => old & !swap_mask | swap & swap_mask,
            // The highest bits are left out of the addition, so that it carries into them and not out of them.
            Self::Add { add, boundary } => (old & !boundary).wrapping_add(add & !boundary) ^ (old ^ add) & boundary,
        }
    }
}

/// How many bytes a masked atomic works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 4.
    Four,
    /// 8.
    Eight,
    /// 16.
    Sixteen,
}

impl Width {
    /// Its bytes.
    #[must_use]
    pub const fn bytes(self) -> u8 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
            Self::Sixteen => 16,
        }
    }
}

/// Masked atomic request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedAtomicEth {
    /// Remote address.
    pub addr: u64,
    /// Remote key.
    pub rkey: u32,
    /// Bytes of the word there.
    pub width: Width,
    /// The operation on it.
    pub masked: Masked,
}

/// In the second byte of the word after the key.
const SWAP: u8 = 1;

impl ExtendedAtomicEth {
    /// Address, key, the word's bytes, kind, and four operands of 16 bytes.
    pub(super) const BYTES: usize = 80;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let (kind, words) = match self.masked {
            Masked::Swap { compare, compare_mask, swap, swap_mask } => (SWAP, [swap, compare, swap_mask, compare_mask]),
            Masked::Add { add, boundary } => (0, [add, boundary, 0, 0]),
        };
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.addr.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.rkey.to_be_bytes());
        (bytes[12], bytes[13]) = (self.width.bytes(), kind);
        for (to, word) in bytes[16..].chunks_exact_mut(16).zip(words) {
            to.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    /// Decodes a packet from a sender of this kind. Any bytes from another sender decode to some request.
    pub(super) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let word =
            |at: usize, len: usize| bytes[at..at + len].iter().fold(0, |word, &byte| word << 8 | u128::from(byte));
        let operand = |n: usize| word(16 + 16 * n, 16);
        let masked = if bytes[13] == SWAP {
            Masked::Swap { swap: operand(0), compare: operand(1), swap_mask: operand(2), compare_mask: operand(3) }
        } else {
            Masked::Add { add: operand(0), boundary: operand(1) }
        };
        let width = match bytes[12] {
            4 => Width::Four,
            16 => Width::Sixteen,
            _ => Width::Eight,
        };
        Self { addr: word(0, 8) as u64, rkey: word(8, 4) as u32, width, masked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The adder of the description of masked atomics, bit by bit.
    fn ripple(old: u128, add: u128, boundary: u128) -> u128 {
        let (mut sum, mut carry) = (0, 0);
        for bit in 0..128 {
            let column = (old >> bit & 1) + (add >> bit & 1) + carry;
            sum |= (column & 1) << bit;
            carry = if boundary >> bit & 1 == 1 { 0 } else { column >> 1 };
        }
        sum
    }

    #[test]
    fn special_cases_are_what_programs_use_them_for() {
        let (old, operand) = (0xfedc_ba98_ffff_fff8_u128 << 60, 0x0123_4567_89ab_cdef_u128 << 60);
        assert_eq!(Masked::Add { add: operand, boundary: 0 }.apply(old), old.wrapping_add(operand));
        assert_eq!(Masked::Add { add: operand, boundary: u128::MAX }.apply(old), old ^ operand);
        let swap = |swap, swap_mask| Masked::Swap { compare: 7, compare_mask: 0, swap, swap_mask }.apply(old);
        assert_eq!(swap(operand, u128::MAX), operand);
        assert_eq!(swap(operand, operand), old | operand);
        assert_eq!(swap(operand, !operand), old & operand);
        let old = old >> 60;
        let compared = Masked::Swap { compare: 0xf8, compare_mask: 0xff, swap: 0, swap_mask: 0xf };
        assert_eq!([old, old + 1].map(|old| compared.apply(old)), [old & !0xf, old + 1]);
    }

    proptest! {
        #[test]
        fn fields_are_added_bit_by_bit([old, add, boundary]: [u128; 3]) {
            prop_assert_eq!(Masked::Add { add, boundary }.apply(old), ripple(old, add, boundary));
        }

        #[test]
        fn the_header_comes_as_it_was_sent([addr, _]: [u64; 2], rkey: u32, [a, b, c, d]: [u128; 4], width in 0..3_usize, swaps: bool) {
            let masked = if swaps {
                Masked::Swap { compare: a, compare_mask: b, swap: c, swap_mask: d }
            } else {
                Masked::Add { add: a, boundary: b }
            };
            let header = ExtendedAtomicEth { addr, rkey, width: [Width::Four, Width::Eight, Width::Sixteen][width], masked };
            prop_assert_eq!(ExtendedAtomicEth::from_bytes(header.to_bytes()), header);
        }
    }
}
