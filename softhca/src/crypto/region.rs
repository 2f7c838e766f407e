//! A memory key's encryption of its region: the encryption key, the direction, and the length of the data units.
//!
//! The units are counted from the region's beginning: the number of one depends on where it is, and not on the request
//! that reaches it. So a READ that is repeated from its middle, after a lost packet, gets the same bytes as at first.
//!
//! In a unit each block of 16 bytes is apart from the others. One block differs: if a unit's length is no multiple of
//! 16, its last block forms one piece with the block before it (IEEE Std 1619, "ciphertext stealing").

use super::engine::{BLOCK, Engine, Work};
use std::ops::Range;

/// How much data has one number (`bs_pointer` of the crypto BSF).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit(u16);

impl Unit {
    /// The unit with this selector (rdma-core `providers/mlx5/qp.c`, `bs_to_bs_selector`); `None` for others.
    #[must_use]
    pub fn of_selector(selector: u8) -> Option<Self> {
        Some(Self(match selector {
            1 => 512,
            2 => 520,
            3 => 4096,
            4 => 4160,
            6 => 4048,
            _ => return None,
        }))
    }

    /// Its bytes.
    pub(crate) fn bytes(self) -> u64 {
        self.0.into()
    }

    /// Bytes of blocks that are apart from each other, from its beginning.
    fn plain(self) -> u64 {
        let rest = self.bytes() % BLOCK as u64;
        if rest == 0 { self.bytes() } else { self.bytes() - rest - BLOCK as u64 }
    }

    /// Where the piece begins that byte `at` of a region is in.
    pub(crate) fn begin(self, at: u64) -> u64 {
        let within = at % self.bytes();
        at - within + (within / BLOCK as u64 * BLOCK as u64).min(self.plain())
    }

    /// Where the last piece ends that is before byte `at` of a region or ends there: where the piece begins that the
    /// byte is in.
    fn end(self, at: u64) -> u64 {
        let begin = self.begin(at);
        if begin == at { at } else { begin }
    }

    /// The whole pieces that bytes of a region are in.
    pub(crate) fn around(self, bytes: Range<u64>) -> Range<u64> {
        let begin = self.begin(bytes.start);
        let last = self.begin(bytes.end);
        if last == bytes.end {
            return begin..last;
        }
        // An address just before the region is a byte close to 2^64 of it. Its access fails later.
        let unit = last - last % self.bytes();
        let block = last.saturating_add(BLOCK as u64);
        begin..if last - unit < self.plain() { block } else { unit.saturating_add(self.bytes()) }
    }

    /// Whether an access may end at byte `at` of a region (man page `mlx5dv_wr_set_mkey_crypto`).
    pub(crate) fn may_end(self, at: u64) -> bool {
        let within = at % self.bytes();
        within == 0 || within % (BLOCK as u64) == 0 && within <= self.bytes() - BLOCK as u64
    }
}

/// When signatures are checked and made, of data that is going out (`MLX5_ENCRYPTION_ORDER_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Before the data is encrypted: the encrypted data on the wire includes the wire's signature.
    WireSignature,
    /// After the data is decrypted: the encrypted data in memory includes the memory's signature.
    MemorySignature,
    /// After the data is encrypted: the wire's signature covers the encrypted data.
    RawWire,
    /// Before the data is decrypted: the memory's signature covers the encrypted data.
    RawMemory,
}

impl Order {
    /// As a BSF has it.
    pub(crate) fn of_number(number: u8) -> Option<Self> {
        [Self::WireSignature, Self::MemorySignature, Self::RawWire, Self::RawMemory].get(usize::from(number)).copied()
    }

    /// Signatures are between memory and the encryption, and not between that and the wire.
    pub(crate) fn is_behind_signatures(self) -> bool {
        matches!(self, Self::WireSignature | Self::RawMemory)
    }

    /// The work on data that leaves memory; the inverse applies to data that arrives.
    pub(crate) fn on_tx(self) -> Work {
        match self {
            Self::WireSignature | Self::RawWire => Work::Encrypt,
            Self::MemorySignature | Self::RawMemory => Work::Decrypt,
        }
    }
}

/// The encryption that a request asks for (`struct mlx5_crypto_bsf`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncryptionFormat {
    /// Number of the key of encryption.
    pub dek: u32,
    /// Which way, and where among signatures.
    pub order: Order,
    /// Data units.
    pub unit: Unit,
    /// Number of the first data unit: its byte order depends on the device.
    pub first: [u8; 16],
    /// Required tag of the encryption key, if that key has a tag.
    pub tag: [u8; 8],
}

/// A memory key's encryption of its region (crypto BSF).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Properties {
    /// Number of the key of encryption.
    pub(crate) dek: u32,
    /// Which way, and where among signatures.
    pub(crate) order: Order,
    /// Data units.
    pub(crate) unit: Unit,
    /// Number of the first data unit.
    pub(crate) first: u128,
    /// There is one data unit only.
    pub(crate) one: bool,
}

impl Properties {
    /// Works on the bytes of a region from `at` on: whole pieces of units.
    pub(crate) fn apply(&self, engine: &Engine, work: Work, at: u64, data: &mut [u8]) {
        let unit = self.unit.bytes();
        let (mut at, mut rest) = (at, data);
        let mut whole = Vec::new();
        while !rest.is_empty() {
            let (number, within) = (at / unit, at % unit);
            let len = rest.len().min((unit - within) as usize);
            let (here, after) = rest.split_at_mut(len);
            // The bytes before it do not matter to it.
            whole.clear();
            whole.resize(within as usize, 0);
            whole.extend_from_slice(here);
            engine.apply(work, &mut whole, self.first.wrapping_add(number.into()));
            here.copy_from_slice(&whole[within as usize..]);
            (at, rest) = (at + len as u64, after);
        }
    }

    /// Whether there can be an access from byte `start` to byte `end` of a region. A READ may be the rest of one.
    pub(crate) fn may_access(&self, (start, end): (u64, u64), is_rest: bool) -> bool {
        let begins = is_rest || start % self.unit.bytes() == 0;
        begins && self.unit.may_end(end) && (!self.one || end <= self.unit.bytes())
    }

    /// How many bytes of `data` from `at` on, the beginning of a piece, are whole pieces.
    pub(crate) fn whole(&self, at: u64, len: usize) -> usize {
        (self.unit.end(at + len as u64) - at) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::KeySize;

    const SELECTORS: [u8; 5] = [1, 2, 3, 4, 6];

    fn properties(selector: u8) -> Properties {
        let unit = Unit::of_selector(selector).expect("a unit");
        Properties { dek: 1, order: Order::RawWire, unit, first: u128::MAX - 1, one: false }
    }

    #[test]
    fn parts_in_any_order_are_what_the_whole_is() {
        let engine = Engine::new(KeySize::Bits128, &(0..32).collect::<Vec<u8>>()).expect("a key");
        for properties in SELECTORS.map(properties) {
            let unit = properties.unit.bytes() as usize;
            let plain: Vec<u8> = (0..3 * unit).map(|n| (n * 7 + n / 256) as u8).collect();
            let mut whole = plain.clone();
            for (number, part) in whole.chunks_exact_mut(unit).enumerate() {
                engine.apply(Work::Encrypt, part, (u128::MAX - 1).wrapping_add(number as u128));
            }
            for (from, to) in [(0, 3 * unit), (3, 5), (unit - 9, unit - 8), (unit - 25, unit + 17), (unit, 2 * unit)] {
                let pieces = properties.unit.around(from as u64..to as u64);
                let at = pieces.start as usize..pieces.end as usize;
                assert!(at.start <= from && to <= at.end && at.end - to < 24 && from - at.start < 24, "{at:?}");
                let mut part = plain[at.clone()].to_vec();
                properties.apply(&engine, Work::Encrypt, pieces.start, &mut part);
                assert_eq!(part, whole[at.clone()], "{unit}: {from} to {to}");
                properties.apply(&engine, Work::Decrypt, pieces.start, &mut part);
                assert_eq!(part, plain[at]);
            }
        }
    }

    #[test]
    fn one_unit_is_the_limit_of_some_devices() {
        let one = Properties { one: true, ..properties(1) };
        assert!(one.may_access((0, 512), false) && one.may_access((0, 496), false));
        assert!(!one.may_access((0, 1024), false) && !one.may_access((512, 1024), false));
        let many = properties(1);
        assert!(many.may_access((512, 1024), false) && !many.may_access((16, 512), false));
        assert!(many.may_access((16, 512), true) && !many.may_access((16, 511), true));
    }

    #[test]
    fn pieces_are_blocks_and_the_end_of_a_unit() {
        let [even, odd] = [1, 2].map(|selector| Unit::of_selector(selector).expect("a unit"));
        assert_eq!((even.around(0..1), even.around(15..17), even.around(496..512)), (0..16, 0..32, 496..512));
        assert_eq!((odd.around(495..496), odd.around(496..497), odd.around(519..521)), (480..496, 496..520, 496..536));
        assert_eq!([0, 495, 496, 519, 520, 521].map(|at| odd.end(at)), [0, 480, 496, 496, 520, 520]);
        assert_eq!(properties(2).whole(480, 39), 16);
        assert_eq!(properties(2).whole(480, 40), 40);
    }

    /// Examples of the man page.
    #[test]
    fn accesses_end_where_the_man_page_says() {
        let [even, odd] = [1, 2].map(|selector| Unit::of_selector(selector).expect("a unit"));
        assert!(even.may_end(512) && even.may_end(128) && !even.may_end(47));
        assert!(odd.may_end(520) && odd.may_end(496) && !odd.may_end(512));
        assert!(odd.may_end(0) && odd.may_end(1040) && !odd.may_end(1039));
    }
}
