//! Formats of data behind a memory key: signatures of blocks (T10-DIF, CRC) and encryption (AES-XTS).
pub(super) mod encryption;
pub(super) mod formatted;
pub(super) mod seg;
pub(super) mod signature;

pub use encryption::{DataUnits, EncryptedSide, Encryption, SignatureOrder};
pub use signature::{
    BlockSignature, BlockSignatureKind, BlockSize, Crc, CrcKind, DifferentBlocks, Escape, Guard, Psvs, Seed,
    SignatureBytes, SignedBlocks, T10Dif,
};
