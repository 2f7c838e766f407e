//! Formats of the data behind memory keys, signatures and encryption, chosen by any bytes, with the values that the
//! device must read.

use blueflame::types::{Dek, Psv};
use blueflame::wqe::formats::{BlockSignature, BlockSize, Crc, CrcKind, Escape, Guard, Seed};
use blueflame::wqe::formats::{BlockSignatureKind, SignatureBytes, SignedBlocks, T10Dif};
use blueflame::wqe::formats::{DataUnits, EncryptedSide, Encryption, SignatureOrder};
use softhca::wqe as device;

use super::request::Request;

/// Sizes of blocks, with their bytes, and with the number that a request of encryption has for them.
const BLOCKS: [(BlockSize, u16, u8); 5] = [
    (BlockSize::B512, 512, 1),
    (BlockSize::B520, 520, 2),
    (BlockSize::B4048, 4048, 6),
    (BlockSize::B4096, 4096, 3),
    (BlockSize::B4160, 4160, 4),
];

impl Request {
    /// Signatures, and the values that the device must read from them.
    pub(super) fn signature(&self) -> (BlockSignature, device::SignatureFormat) {
        let bits = self.addr;
        let bit = |n: u32| bits >> n & 1 != 0;
        let side = |shift: u32, psv: u32| {
            let bit = |n: u32| bit(shift + n);
            let (size, block, _) = BLOCKS[(bits >> shift & 7) as usize % BLOCKS.len()];
            let (seed, ones) = if bit(3) { (Seed::Ones, true) } else { (Seed::Zeros, false) };
            let (app_tag, ref_tag, increment) = (self.imm as u16, self.rkey, bit(6));
            let (escape, exempt) = match (bit(7), bit(8)) {
                (false, _) => (Escape::Never, device::Escape::Never),
                (_, false) => (Escape::AppTag, device::Escape::AppTag),
                _ => (Escape::AppAndRefTag, device::Escape::BothTags),
            };
            let crc = |kind| BlockSignatureKind::Crc(Crc { kind, seed });
            let (signature, read) = match bits >> (shift + 4) & 3 {
                0 => (crc(CrcKind::Crc32), device::Signature::Crc(device::CrcKind::Crc32)),
                1 => (crc(CrcKind::Crc32c), device::Signature::Crc(device::CrcKind::Crc32c)),
                2 => (crc(CrcKind::Crc64Xp10), device::Signature::Crc(device::CrcKind::Crc64)),
                _ => {
                    let (guard, kind) = match bit(9) {
                        true => (Guard::Crc, device::Guard::Crc),
                        false => (Guard::IpChecksum, device::Guard::Checksum),
                    };
                    let dif = T10Dif { guard, seed, app_tag, ref_tag, increment, escape };
                    let app_mask = 0xffff;
                    let read =
                        device::Signature::Dif { guard: kind, app_tag, app_mask, ref_tag, increment, escape: exempt };
                    (BlockSignatureKind::T10Dif(dif), read)
                }
            };
            let psv = Psv::truncate(psv).get();
            (
                SignedBlocks { size, signature },
                device::Domain { block: block.into(), psv, signature: read, ones, begins_anew: false },
            )
        };
        let ((memory, own), (wire, other)) = (side(0, self.imm), side(10, self.rkey));
        let check = (bits >> 24) as u8;
        let (asked, own, other) = match bits >> 20 & 3 {
            0 => (BlockSignature::in_memory(memory), Some(own), None),
            1 => (BlockSignature::on_wire(wire), None, Some(other)),
            _ => (BlockSignature::on_both(memory, wire), Some(own), Some(other)),
        };
        let asked = asked.check(SignatureBytes(check));
        let copied = (bits >> 32) as u8;
        let (asked, copy) = match asked.copy(SignatureBytes(copied)) {
            Ok(asked) => (asked, copied),
            Err(_) => (asked, 0),
        };
        (asked, device::SignatureFormat { memory: own, wire: other, check, copy })
    }

    /// Encryption, and the values that the device must read from it.
    pub(super) fn encryption(&self) -> (Encryption, device::EncryptionFormat) {
        let bit = |n: u32| self.addr >> n & 1 != 0;
        let (side, order, read) = match (bit(41), bit(42)) {
            (false, false) => (EncryptedSide::Wire, SignatureOrder::BeforeCrypto, device::Order::WireSignature),
            (true, true) => (EncryptedSide::Memory, SignatureOrder::AfterCrypto, device::Order::MemorySignature),
            (false, true) => (EncryptedSide::Wire, SignatureOrder::AfterCrypto, device::Order::RawWire),
            (true, false) => (EncryptedSide::Memory, SignatureOrder::BeforeCrypto, device::Order::RawMemory),
        };
        let units = if bit(43) { DataUnits::One } else { DataUnits::Many };
        let (unit, _, selector) = BLOCKS[(self.addr >> 44 & 7) as usize % BLOCKS.len()];
        let (first_unit, dek) = (u128::from_le_bytes(self.operands), Dek::truncate(self.imm));
        let [keytag @ .., _, _, _, _, _, _, _, _] = self.operands;
        let asked = Encryption { dek, keytag, side, unit, first_unit, units, order };
        let mut first = self.operands;
        if units == DataUnits::Many {
            first.reverse();
        }
        let unit = device::Unit::of_selector(selector).expect("a selector");
        (asked, device::EncryptionFormat { dek: dek.get(), order: read, unit, first, tag: keytag })
    }

    /// Whether a key with these signatures would have them of encrypted data on both sides.
    pub(super) fn signs_encrypted_twice(&self) -> bool {
        let ((signature, _), (encryption, _)) = (self.signature(), self.encryption());
        let raw = (encryption.side == EncryptedSide::Wire) == (encryption.order == SignatureOrder::AfterCrypto);
        raw && signature.memory().is_some() && signature.wire().is_some()
    }

    /// Bytes of the one data unit that a key has; `None` if it has many.
    pub(super) fn only_unit(&self) -> Option<u64> {
        let (asked, _) = self.encryption();
        (asked.units == DataUnits::One).then(|| asked.unit.bytes().into())
    }
}
