//! Encryption of data behind memory keys: keys of encryption, and the memory keys whose requests name them.

use std::fmt;

use blueflame::types::Dek as DekNumber;
use blueflame::wqe::Request;
use blueflame::wqe::data::SameList;
use blueflame::wqe::formats::DataUnits;
use blueflame::wqe::operations::ConfigureKey;
use blueflame::{Remote, Rkey, Sge};

use super::formatted::FormattedKey;
use crate::cmd::EncryptionKeyObj;
use crate::context::Context;
use crate::error::Error;
use crate::mailbox::Structure;
use crate::object::general::GeneralObject;
use crate::object::pd::Pd;
use crate::support::ask::has;

impl Context {
    /// How many data units the device encrypts with one memory key
    /// ([`Encryption::units`](blueflame::wqe::formats::Encryption::units)).
    ///
    /// # Errors
    /// [`Error::Capability`] if the device does not encrypt; [`Error::Command`].
    pub fn encryption(&self) -> Result<DataUnits, Error> {
        let general = self.general()?;
        let (one, many) = (general.aes_xts_single_block_le_tweak(), general.aes_xts_multi_block_be_tweak());
        has("cmd_hca_cap.crypto", general.crypto())?;
        has("cmd_hca_cap.aes_xts_single_block_le_tweak or aes_xts_multi_block_be_tweak", one || many)?;
        Ok(if many { DataUnits::Many } else { DataUnits::One })
    }
}

/// Both halves of an AES-XTS key, one behind the other: the half that encrypts data, then the half that encrypts the
/// numbers of data units (IEEE Std 1619).
#[derive(Clone, Copy)]
pub enum XtsKey {
    /// Halves of 128 bits.
    Aes128([u8; 32]),
    /// Halves of 256 bits.
    Aes256([u8; 64]),
}

impl fmt::Debug for XtsKey {
    /// Omits the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aes128(_) => "Aes128",
            Self::Aes256(_) => "Aes256",
        })
    }
}

/// A key of encryption (DEK), in plain text, as `mlx5dv_dek_create` makes it. The device never gives the key back.
#[derive(Debug)]
pub struct Dek {
    object: GeneralObject<EncryptionKeyObj>,
}

/// For AES-XTS (`MLX5_ENCRYPTION_KEY_OBJ_KEY_PURPOSE_AES_XTS`).
const AES_XTS: u8 = 3;
/// States of a key (`MLX5_ENCRYPTION_KEY_OBJ_STATE_*`).
const READY: u8 = 0;

impl Dek {
    /// Makes a key (CREATE_GENERAL_OBJECT). If it has a keytag, requests must give the same one
    /// ([`Encryption::keytag`](blueflame::wqe::formats::Encryption::keytag)).
    ///
    /// # Errors
    /// [`Error::Capability`], [`Error::Command`].
    pub fn new(pd: &Pd, key: &XtsKey, keytag: Option<[u8; 8]>) -> Result<Self, Error> {
        let (size, key): (u8, &[u8]) = match key {
            XtsKey::Aes128(key) => (0, key),
            XtsKey::Aes256(key) => (1, key),
        };
        let mut body = EncryptionKeyObj::zeroed();
        body.set_key_size(size).set_key_purpose(AES_XTS).set_has_keytag(keytag.is_some()).set_pd(pd.pdn());
        // The tag follows the key (man page `mlx5dv_dek_create`(3)).
        let bytes = body.key_mut();
        bytes[..key.len()].copy_from_slice(key);
        if let Some(keytag) = keytag {
            bytes[key.len()..][..keytag.len()].copy_from_slice(&keytag);
        }
        Ok(Self { object: GeneralObject::over(pd.context(), &body, pd.clone())? })
    }

    /// The number that identifies it in requests.
    #[must_use]
    pub fn number(&self) -> DekNumber {
        DekNumber::truncate(self.object.id())
    }

    /// Whether the device can use it now (QUERY_GENERAL_OBJECT).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn is_ready(&self) -> Result<bool, Error> {
        Ok(self.object.query()?.state() == READY)
    }
}

/// An indirect memory key that requests can set to encrypt ([`Request::formats`]). `mlx5dv_create_mkey` makes the
/// same key with `MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO`. It gives access to nothing at first.
#[derive(Debug)]
pub struct EncryptingKey(FormattedKey);

impl EncryptingKey {
    /// Makes one with room for a list of `entries`, 1 to 65532.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::Capability`] if the device does not encrypt; [`Error::Command`].
    pub fn new(pd: &Pd, entries: u16) -> Result<Self, Error> {
        pd.context().encryption()?;
        Ok(Self(FormattedKey::new(pd, entries, true)?))
    }

    /// Its number, by which peers' requests name it.
    #[must_use]
    pub fn rkey(&self) -> Rkey {
        self.0.rkey()
    }

    /// A request that sets the memory behind the key, its access rights, and its encryption.
    /// [`configure_key`](blueflame::wqe::configure_key) lists the conditions that its poster must meet.
    pub fn configure(&self) -> Request<'static, ConfigureKey, SameList> {
        self.0.configure()
    }

    /// Byte `offset` of the memory behind the key, for peers' requests.
    #[must_use]
    pub fn remote(&self, offset: u64) -> Remote {
        self.0.remote(offset)
    }

    /// Bytes of the memory behind the key, for this side's requests.
    #[must_use]
    pub fn sge(&self, offset: u64, length: u32) -> Sge {
        self.0.sge(offset, length)
    }
}
