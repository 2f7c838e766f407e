//! Signatures behind blocks of data: their kinds and their computation (rdma-core `providers/mlx5/wqe.h`, `struct
//! mlx5_bsf`).
//!
//! A signature is a number of 64 bits here, as in signature values (PSVs) and CQEs. That of a T10-DIF has guard,
//! application tag and reference tag, from the highest bit on. A CRC of 32 bits is in the upper half. Bit n of a mask
//! stands for byte n of the number, from the lowest one on. In memory, T10-DIFs have their highest byte first (T10
//! SBC-3), CRCs their lowest. SPDK reads CRC32C in this order (`module/accel/mlx5/accel_mlx5.c`,
//! `accel_mlx5_crc_task_complete`); no public source shows it for the other CRCs.

use crc::{Algorithm, CRC_16_T10_DIF, CRC_32_ISCSI, CRC_32_ISO_HDLC, CRC_64_NVME, Crc};

/// Kind of a T10-DIF's guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// CRC of T10 SBC-3.
    Crc,
    /// Checksum of IP.
    Checksum,
}

/// Which blocks are not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// None.
    Never,
    /// With an application tag of ones.
    AppTag,
    /// With both tags of ones.
    BothTags,
}

/// Which CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrcKind {
    /// Of Ethernet and FC-PH.
    Crc32,
    /// Of iSCSI.
    Crc32c,
    /// Of XP10: NVMe has the same polynomial.
    Crc64,
}

/// The signature behind a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// T10-DIF.
    Dif {
        /// Its guard.
        guard: Guard,
        /// Application tag.
        app_tag: u16,
        /// Bits of it that count.
        app_mask: u16,
        /// Reference tag of the first block.
        ref_tag: u32,
        /// It counts blocks.
        increment: bool,
        /// Blocks that are not checked.
        escape: Escape,
    },
    /// CRC.
    Crc(CrcKind),
}

/// Data on one side: in memory, or on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Bytes of a block without its signature.
    pub block: u32,
    /// Number of the signature value.
    pub psv: u32,
    /// The signature behind each block.
    pub signature: Signature,
    /// A guard or CRC begins with ones, and not with zeros.
    pub ones: bool,
    /// Whatever the signature value has, it begins anew.
    pub begins_anew: bool,
}

/// Signatures of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureFormat {
    /// In memory.
    pub memory: Option<Domain>,
    /// On the wire.
    pub wire: Option<Domain>,
    /// Bytes of signatures that are checked.
    pub check: u8,
    /// Bytes that are copied: both sides have blocks of the same structure.
    pub copy: u8,
}

impl Signature {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> u32 {
        match self {
            Self::Crc(CrcKind::Crc32 | CrcKind::Crc32c) => 4,
            Self::Dif { .. } | Self::Crc(CrcKind::Crc64) => 8,
        }
    }

    /// The number that these bytes are.
    pub(crate) fn read(&self, bytes: &[u8]) -> u64 {
        let big = |bytes: &mut dyn Iterator<Item = &u8>| bytes.fold(0, |number, &byte| number << 8 | u64::from(byte));
        match self {
            Self::Dif { .. } => big(&mut bytes.iter()),
            Self::Crc(CrcKind::Crc64) => big(&mut bytes.iter().rev()),
            Self::Crc(_) => big(&mut bytes.iter().rev()) << 32,
        }
    }

    /// The bytes of a number, of which the first [`Self::bytes`] count.
    pub(crate) fn write(&self, number: u64) -> [u8; 8] {
        match self {
            Self::Dif { .. } => number.to_be_bytes(),
            Self::Crc(CrcKind::Crc64) => number.to_le_bytes(),
            Self::Crc(_) => (number >> 32).to_le_bytes(),
        }
    }
}

impl Domain {
    /// Bytes of a block with its signature.
    pub(crate) fn stride(&self) -> u64 {
        u64::from(self.block) + u64::from(self.signature.bytes())
    }

    /// Required initial content of its signature value.
    pub(crate) fn initial(&self) -> u64 {
        match self.signature {
            Signature::Dif { app_tag, ref_tag, .. } => {
                let guard: u64 = if self.ones { 0xffff } else { 0 };
                guard << 48 | u64::from(app_tag) << 32 | u64::from(ref_tag)
            }
            _ if !self.ones => 0,
            Signature::Crc(CrcKind::Crc64) => u64::MAX,
            Signature::Crc(_) => u64::from(u32::MAX) << 32,
        }
    }

    /// The signature of block `index`, counted from the key's first address.
    pub(crate) fn of(&self, index: u64, data: &[u8]) -> u64 {
        match self.signature {
            Signature::Dif { guard, app_tag, ref_tag, increment, .. } => {
                let guard = match guard {
                    Guard::Crc => u64::from(crc16(self.ones, data)),
                    Guard::Checksum => u64::from(checksum(self.ones, data)),
                };
                let ref_tag = ref_tag.wrapping_add(if increment { index as u32 } else { 0 });
                guard << 48 | u64::from(app_tag) << 32 | u64::from(ref_tag)
            }
            Signature::Crc(CrcKind::Crc32) => u64::from(crc32(&CRC_32_ISO_HDLC, self.ones, data)) << 32,
            Signature::Crc(CrcKind::Crc32c) => u64::from(crc32(&CRC_32_ISCSI, self.ones, data)) << 32,
            Signature::Crc(CrcKind::Crc64) => crc64(self.ones, data),
        }
    }

    /// Compares a signature that was `found` with the one `made` of the data: the differing bytes of those in `check`.
    /// The whole block is exempt if its tags say so (T10 SBC-3).
    pub(crate) fn difference(&self, found: u64, made: u64, check: u8) -> u64 {
        let mut mask = byte_mask(check);
        if let Signature::Dif { escape, app_mask, .. } = self.signature {
            let tags = (found >> 32 & 0xffff == 0xffff, found & 0xffff_ffff == 0xffff_ffff);
            let exempt = match escape {
                Escape::Never => false,
                Escape::AppTag => tags.0,
                Escape::BothTags => tags == (true, true),
            };
            if exempt {
                return 0;
            }
            mask &= !(0xffff << 32) | u64::from(app_mask) << 32;
        }
        (found ^ made) & mask
    }
}

/// The bits of these bytes.
pub(crate) fn byte_mask(bytes: u8) -> u64 {
    (0..8).filter(|n| bytes >> n & 1 != 0).fold(0, |mask, n| mask | 0xff << (8 * n))
}

fn crc16(ones: bool, data: &[u8]) -> u16 {
    static ZEROS: Crc<u16> = Crc::<u16>::new(&CRC_16_T10_DIF);
    static ONES: Crc<u16> = Crc::<u16>::new(&Algorithm { init: 0xffff, ..CRC_16_T10_DIF });
    if ones { ONES.checksum(data) } else { ZEROS.checksum(data) }
}

fn crc32(algorithm: &'static Algorithm<u32>, ones: bool, data: &[u8]) -> u32 {
    let crc = if algorithm.poly == CRC_32_ISCSI.poly { &CRC32C } else { &CRC32 };
    static CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
    static CRC32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
    let mut digest = crc.digest_with_initial(if ones { u32::MAX } else { 0 });
    digest.update(data);
    digest.finalize()
}

fn crc64(ones: bool, data: &[u8]) -> u64 {
    static CRC: Crc<u64> = Crc::<u64>::new(&CRC_64_NVME);
    let mut digest = CRC.digest_with_initial(if ones { u64::MAX } else { 0 });
    digest.update(data);
    digest.finalize()
}

/// The checksum of IP (RFC 1071). Blocks have an even number of bytes.
fn checksum(ones: bool, data: &[u8]) -> u16 {
    let words = data.chunks(2).map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |&low| u32::from(low)));
    let mut sum: u32 = words.sum::<u32>() + if ones { 0xffff } else { 0 };
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIF: Signature = Signature::Dif {
        guard: Guard::Crc,
        app_tag: 0x1122,
        app_mask: 0xffff,
        ref_tag: 0xffff_ffff,
        increment: true,
        escape: Escape::AppTag,
    };

    fn domain(signature: Signature, ones: bool) -> Domain {
        Domain { block: 512, psv: 1, signature, ones, begins_anew: false }
    }

    /// Check values of the catalogue of CRCs for "123456789" (<https://reveng.sourceforge.io/crc-catalogue/all.htm>):
    /// CRC-16/T10-DIF, CRC-32/ISO-HDLC, CRC-32/ISCSI, CRC-64/NVME.
    #[test]
    fn crcs_are_those_of_the_catalogue() {
        let data = b"123456789";
        assert_eq!(domain(DIF, false).of(0, data), 0xd0db_1122_ffff_ffff);
        let crc = |kind| domain(Signature::Crc(kind), true).of(7, data);
        assert_eq!(crc(CrcKind::Crc32), 0xcbf4_3926 << 32);
        assert_eq!(crc(CrcKind::Crc32c), 0xe306_9283 << 32);
        assert_eq!(crc(CrcKind::Crc64), 0xae8b_1486_0a79_9888);
    }

    /// The example of RFC 1071, 3.
    #[test]
    fn the_checksum_is_that_of_ip() {
        let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(false, &data), !0xddf2);
        assert_eq!(checksum(true, &data), !0xddf2, "ones are the other zero");
        assert_eq!([checksum(false, &[0; 8]), checksum(true, &[0; 8])], [0xffff, 0]);
    }

    #[test]
    fn what_a_crc_begins_with_counts() {
        for kind in [CrcKind::Crc32, CrcKind::Crc32c, CrcKind::Crc64] {
            let [zeros, ones] = [false, true].map(|ones| domain(Signature::Crc(kind), ones).of(0, b"abc"));
            assert_ne!(zeros, ones, "{kind:?}");
        }
        assert_ne!(crc16(false, b"abc"), crc16(true, b"abc"));
    }

    #[test]
    fn tags_count_and_exempt() {
        let dif = domain(DIF, false);
        assert_eq!(dif.of(1, b"") & 0xffff_ffff, 0, "the reference tag wraps");
        let made = dif.of(0, b"123456789");
        assert_eq!(dif.difference(made, made, 0xff), 0);
        assert_eq!(dif.difference(made ^ 1, made, 0xff), 1);
        assert_eq!(dif.difference(made ^ 1, made, 0xf0), 0, "not checked");
        assert_eq!(dif.difference(made ^ 1 << 63, made, 0x80), 1 << 63);
        let exempt = made | 0xffff << 32;
        assert_eq!(dif.difference(exempt ^ 1, made, 0xff), 0);
    }

    #[test]
    fn signatures_lie_in_memory_as_they_are_read() {
        let number = 0x0102_0304_0506_0708;
        assert_eq!(DIF.write(number), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Signature::Crc(CrcKind::Crc32c).write(number)[..4], [4, 3, 2, 1]);
        assert_eq!(Signature::Crc(CrcKind::Crc64).write(number), [8, 7, 6, 5, 4, 3, 2, 1]);
        for signature in [DIF, Signature::Crc(CrcKind::Crc64)] {
            assert_eq!(signature.read(&signature.write(number)), number);
        }
        assert_eq!(Signature::Crc(CrcKind::Crc32).read(&[4, 3, 2, 1]), 0x0102_0304 << 32);
    }
}
