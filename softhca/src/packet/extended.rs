//! The header of masked atomics, of this device's own making: NVIDIA has not published how they look on the wire.

/// What a masked atomic does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masked {
    /// Compares some bits, and if they are as there, stores some bits.
    Swap {
        /// Value to compare with.
        compare: u64,
        /// Bits of it that count.
        compare_mask: u64,
        /// Value to store.
        swap: u64,
        /// Bits of it that are stored.
        swap_mask: u64,
    },
    /// Adds fields.
    Add {
        /// What to add.
        add: u64,
        /// The highest bit of each field: nothing is carried out of it.
        boundary: u64,
    },
}

impl Masked {
    /// What becomes of `old`.
    #[must_use]
    pub const fn apply(self, old: u64) -> u64 {
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
}

impl Width {
    /// Its bytes.
    #[must_use]
    pub const fn bytes(self) -> u8 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
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
    /// What to do to it.
    pub masked: Masked,
}

/// In the second byte of the word after the key.
const SWAP: u8 = 1;

impl ExtendedAtomicEth {
    /// Address, key, log2 of the bytes, kind, and four words.
    pub(super) const BYTES: usize = 48;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let (kind, words) = match self.masked {
            Masked::Swap { compare, compare_mask, swap, swap_mask } => (SWAP, [swap, compare, swap_mask, compare_mask]),
            Masked::Add { add, boundary } => (0, [add, boundary, 0, 0]),
        };
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.addr.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.rkey.to_be_bytes());
        (bytes[12], bytes[13]) = (self.width.bytes(), kind);
        for (to, word) in bytes[16..].chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    /// Of a packet whose sender is of this kind. Of another, whatever it says is one of these, too.
    pub(super) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let word = |at: usize| bytes[at..at + 8].iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let masked = if bytes[13] == SWAP {
            Masked::Swap { swap: word(16), compare: word(24), swap_mask: word(32), compare_mask: word(40) }
        } else {
            Masked::Add { add: word(16), boundary: word(24) }
        };
        let width = if bytes[12] == Width::Four.bytes() { Width::Four } else { Width::Eight };
        Self { addr: word(0), rkey: word(4) as u32, width, masked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The adder of the description of masked atomics, bit by bit.
    fn ripple(old: u64, add: u64, boundary: u64) -> u64 {
        let (mut sum, mut carry) = (0, 0);
        for bit in 0..64 {
            let column = (old >> bit & 1) + (add >> bit & 1) + carry;
            sum |= (column & 1) << bit;
            carry = if boundary >> bit & 1 == 1 { 0 } else { column >> 1 };
        }
        sum
    }

    #[test]
    fn special_cases_are_what_programs_use_them_for() {
        let (old, operand) = (0xfedc_ba98_ffff_fff8, 0x0123_4567_89ab_cdef);
        assert_eq!(Masked::Add { add: operand, boundary: 0 }.apply(old), old.wrapping_add(operand));
        assert_eq!(Masked::Add { add: operand, boundary: u64::MAX }.apply(old), old ^ operand);
        let swap = |swap, swap_mask| Masked::Swap { compare: 7, compare_mask: 0, swap, swap_mask }.apply(old);
        assert_eq!(swap(operand, u64::MAX), operand);
        assert_eq!(swap(operand, operand), old | operand);
        assert_eq!(swap(operand, !operand), old & operand);
        let compared = Masked::Swap { compare: 0xf8, compare_mask: 0xff, swap: 0, swap_mask: 0xf };
        assert_eq!([old, old + 1].map(|old| compared.apply(old)), [old & !0xf, old + 1]);
    }

    proptest! {
        #[test]
        fn fields_are_added_bit_by_bit([old, add, boundary]: [u64; 3]) {
            prop_assert_eq!(Masked::Add { add, boundary }.apply(old), ripple(old, add, boundary));
        }
    }
}
