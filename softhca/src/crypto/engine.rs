//! AES-XTS over data units. The cipher and its mode are other people's (crates `aes` and `xts-mode`).

use aes::cipher::KeyInit;
use aes::{Aes128, Aes256};
use xts_mode::Xts128;

/// Bytes of a cipher's block.
pub(crate) const BLOCK: usize = 16;

/// Bits of each of both halves of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySize {
    /// AES-128.
    Bits128,
    /// AES-256.
    Bits256,
}

impl KeySize {
    /// Bytes of both halves.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::Bits128 => 32,
            Self::Bits256 => 64,
        }
    }
}

/// The work on data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Encrypt,
    Decrypt,
}

impl Work {
    /// The work that undoes it.
    pub(crate) const fn inverse(self) -> Self {
        match self {
            Self::Encrypt => Self::Decrypt,
            Self::Decrypt => Self::Encrypt,
        }
    }
}

/// A key, ready for use. It is never shown.
pub(crate) struct Engine(Cipher);

enum Cipher {
    Aes128(Box<Xts128<Aes128>>),
    Aes256(Box<Xts128<Aes256>>),
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

impl Engine {
    /// The key's first half encrypts data, the second one the number of the data unit. `None` if it does not have the
    /// bytes of that size.
    pub(crate) fn new(size: KeySize, key: &[u8]) -> Option<Self> {
        let (data, tweak) = key.split_at_checked(size.bytes() / 2)?;
        Some(Self(match size {
            KeySize::Bits128 => {
                let [data, tweak] = [data, tweak].map(Aes128::new_from_slice);
                Cipher::Aes128(Box::new(Xts128::new(data.ok()?, tweak.ok()?)))
            }
            KeySize::Bits256 => {
                let [data, tweak] = [data, tweak].map(Aes256::new_from_slice);
                Cipher::Aes256(Box::new(Xts128::new(data.ok()?, tweak.ok()?)))
            }
        }))
    }

    /// Works on a data unit with this number, or on its first blocks, whole ones. Shorter ones than a block stay as
    /// they are: there is no cipher text of those.
    pub(crate) fn apply(&self, work: Work, unit: &mut [u8], number: u128) {
        if unit.len() < BLOCK {
            return;
        }
        let tweak = number.to_le_bytes().into();
        match (&self.0, work) {
            (Cipher::Aes128(xts), Work::Encrypt) => xts.encrypt_sector(unit, tweak),
            (Cipher::Aes128(xts), Work::Decrypt) => xts.decrypt_sector(unit, tweak),
            (Cipher::Aes256(xts), Work::Encrypt) => xts.encrypt_sector(unit, tweak),
            (Cipher::Aes256(xts), Work::Decrypt) => xts.decrypt_sector(unit, tweak),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a text of hexadecimal digits.
    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
        digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    fn check(size: KeySize, key: &str, number: u128, plain: &[u8], cipher: &str) {
        let engine = Engine::new(size, &hex(key)).expect("a key");
        let mut data = plain.to_vec();
        engine.apply(Work::Encrypt, &mut data, number);
        assert_eq!(data, hex(cipher));
        engine.apply(Work::Decrypt, &mut data, number);
        assert_eq!(data, plain);
    }

    /// Vectors of IEEE Std 1619-2007, annex B.
    #[test]
    fn the_vectors_of_the_standard() {
        let zeros = "00".repeat(32);
        check(
            KeySize::Bits128,
            &zeros,
            0,
            &[0; 32],
            "917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e",
        );
        let two = format!("{}{}", "11".repeat(16), "22".repeat(16));
        let cipher = "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0";
        check(KeySize::Bits128, &two, 0x33_3333_3333, &[0x44; 32], cipher);
        let three = format!("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0{}", "22".repeat(16));
        let cipher = "af85336b597afc1a900b2eb21ec949d292df4c047e0b21532186a5971a227a89";
        check(KeySize::Bits128, &three, 0x33_3333_3333, &[0x44; 32], cipher);
        // 10: AES-256.
        let ten = "2718281828459045235360287471352662497757247093699959574966967627\
                   3141592653589793238462643383279502884197169399375105820974944592";
        let plain: Vec<u8> = (0..512).map(|n| n as u8).collect();
        let engine = Engine::new(KeySize::Bits256, &hex(ten)).expect("a key");
        let mut data = plain.clone();
        engine.apply(Work::Encrypt, &mut data, 0xff);
        assert_eq!(data[..16], hex("1c3b3a102f770386e4836c99e370cf9b"));
        assert_eq!(data[496..], hex("c4f36ffda9fcea70b9c6e693e148c151"));
        engine.apply(Work::Decrypt, &mut data, 0xff);
        assert_eq!(data, plain);
        // 15 to 17: units that do not end with a block.
        let stolen = "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0";
        let plain: Vec<u8> = (0..20).collect();
        for (len, cipher) in [
            (17, "6c1625db4671522d3d7599601de7ca09ed"),
            (18, "d069444b7a7e0cab09e24447d24deb1fedbf"),
            (19, "e5df1351c0544ba1350b3363cd8ef4beedbf9d"),
            (20, "9d84c813f719aa2c7be3f66171c7c5c2edbf9dac"),
        ] {
            check(KeySize::Bits128, stolen, 0x12_3456_789a, &plain[..len], cipher);
        }
    }

    #[test]
    fn keys_have_the_bytes_of_their_size() {
        for (size, bytes) in [(KeySize::Bits128, 32), (KeySize::Bits256, 64)] {
            for len in [0, bytes / 2, bytes - 1, bytes + 1] {
                assert!(Engine::new(size, &vec![7; len]).is_none(), "{len} bytes");
            }
            assert_eq!(format!("{:?}", Engine::new(size, &vec![7; bytes]).expect("a key")), "Engine");
        }
    }
}
