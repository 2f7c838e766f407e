//! Encryption of memory keys' regions by AES-XTS (IEEE Std 1619): encryption keys, and their use by memory keys. They
//! know no host memory, and no queue.

mod dek;
mod engine;
mod region;

pub(crate) use dek::{Dek, DekInfo};
#[cfg(test)]
pub(crate) use engine::Work;
pub(crate) use engine::{Engine, KeySize};
pub(crate) use region::Properties;
pub use region::{EncryptionFormat, Order, Unit};

use crate::config::Generation;

/// Most keys of encryption, as log2.
pub(crate) const LOG_MAX_DEKS: u8 = 12;

/// A device of this generation encrypts.
pub(crate) fn is_there(generation: Generation) -> bool {
    generation >= Generation::ConnectX6Dx
}

/// An access may cover several data units; their numbers are big endian in requests then
/// (`aes_xts_multi_block_be_tweak`).
pub(crate) fn has_many_units(generation: Generation) -> bool {
    generation >= Generation::ConnectX7
}
