//! Encryption of the data behind a memory key (AES-XTS): the settings in a request. Knows no request.
use crate::layout::Be32;
use crate::types::Dek;
use crate::wqe::error::EncodeError;
use crate::wqe::formats::signature::BlockSize;
use crate::wqe::seg::{CryptoBsfSeg, bsf};

/// Where data is encrypted (`encrypt_on_tx`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncryptedSide {
    /// On the wire: the device encrypts data that leaves memory, and decrypts data that arrives.
    Wire,
    /// In memory: the device decrypts data that leaves memory, and encrypts data that arrives.
    Memory,
}

/// The order of signatures and encryption for data that leaves memory (`MLX5DV_SIGNATURE_CRYPTO_ORDER_*`). For data
/// that arrives the order is reversed. The man page `mlx5dv_wr_set_mkey_crypto`(3) has a table of the resulting data
/// in memory and on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureOrder {
    /// Signatures before encryption or decryption.
    #[default]
    BeforeCrypto,
    /// Signatures after encryption or decryption.
    AfterCrypto,
}

/// How many data units the device encrypts for one memory key (`MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_*`). It also decides
/// the byte order of the units' numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataUnits {
    /// One: a memory key has at most the bytes of one unit (`AES_XTS_SINGLE_BLOCK`).
    One,
    /// Many: the unit number counts up (`AES_XTS_MULTI_BLOCK`).
    Many,
}

/// How the data behind a memory key is encrypted: AES-XTS (IEEE Std 1619; `struct mlx5dv_crypto_attr`).
#[doc(alias = "mlx5dv_crypto_attr")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// Encryption key, of the same protection domain.
    pub dek: Dek,
    /// The encryption key's tag, if it was made with one; otherwise zeros.
    pub keytag: [u8; 8],
    /// Where data is encrypted.
    pub side: EncryptedSide,
    /// Bytes of a data unit.
    pub unit: BlockSize,
    /// Number of the first data unit (`initial_tweak`), often that of a storage block.
    pub first_unit: u128,
    /// The device's capability.
    pub units: DataUnits,
    /// The order of signatures and encryption, if there are signatures.
    pub order: SignatureOrder,
}

impl Encryption {
    /// `MLX5_ENCRYPTION_ORDER_*`.
    const fn number(&self) -> u8 {
        match (self.side, self.order) {
            (EncryptedSide::Wire, SignatureOrder::BeforeCrypto) => 0,
            (EncryptedSide::Memory, SignatureOrder::AfterCrypto) => 1,
            (EncryptedSide::Wire, SignatureOrder::AfterCrypto) => 2,
            (EncryptedSide::Memory, SignatureOrder::BeforeCrypto) => 3,
        }
    }

    /// Whether signatures cover encrypted data.
    pub(super) const fn signs_encrypted(&self) -> bool {
        self.number() >= 2
    }

    /// The segment, as one of formats of this size.
    pub(super) fn segment(&self, size: u8) -> CryptoBsfSeg {
        CryptoBsfSeg {
            bsf_size_type: size | bsf::CRYPTO,
            enc_order: self.number(),
            rsvd0: 0,
            enc_standard: 0,
            raw_data_size: Be32::new(u32::MAX),
            bs_pointer: self.unit.selector(),
            rsvd1: [0; 7],
            xts_init_tweak: match self.units {
                DataUnits::One => self.first_unit.to_le_bytes(),
                DataUnits::Many => self.first_unit.to_be_bytes(),
            },
            rsvd_dek_ptr: Be32::new(self.dek.get()),
            rsvd2: [0; 4],
            keytag: self.keytag,
            rsvd3: [0; 16],
        }
    }

    /// Returns an error unless a memory key can have `bytes` bytes.
    #[inline(always)]
    pub(super) fn check_bytes(&self, bytes: u64) -> Result<(), EncodeError> {
        match self.units {
            DataUnits::One if bytes > self.unit.bytes().into() => {
                Err(EncodeError::data_unit_too_short(bytes, self.unit.bytes()))
            }
            _ => Ok(()),
        }
    }
}
