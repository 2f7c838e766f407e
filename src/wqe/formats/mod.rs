//! Formats of data behind a memory key: signatures of blocks (T10-DIF, CRC) and encryption (AES-XTS).
pub(super) mod encryption;
pub(super) mod signature;

pub use encryption::{DataUnits, EncryptedSide, Encryption, SignatureOrder};
pub use signature::{
    BlockSignature, BlockSignatureKind, BlockSize, Crc, CrcKind, DifferentBlocks, Escape, Guard, Psvs, Seed,
    SignatureBytes, SignedBlocks, T10Dif,
};

use crate::wqe::cursor::RingCursor;
use crate::wqe::error::EncodeError;
use crate::wqe::seg::bsf;

/// The device's work on data that passes through a key ([`Request::formats`](crate::wqe::Request::formats); BSF): block
/// signatures, encryption, or both.
#[derive(Clone, Copy, Debug)]
pub struct Formats {
    signatures: Option<(BlockSignature, Psvs)>,
    encryption: Option<Encryption>,
}

/// DS of one format.
const FORMAT_DS: usize = 4;

impl Formats {
    /// X of [`BlockSignature::set_psvs`] must follow.
    ///
    /// Addresses and lengths by the key count bytes on the wire. Its list counts bytes in memory.
    ///
    /// ```
    /// # use blueflame::{PostError, Remote, Rkey, SendQueue, Sge, WrId, transport};
    /// use blueflame::wqe::{self, Fence};
    /// use blueflame::wqe::formats::{BlockSignature, BlockSize, Escape, Formats, Guard, Psvs, Seed};
    /// use blueflame::wqe::keys::KeyRights;
    /// use blueflame::wqe::formats::{BlockSignatureKind, SignedBlocks, T10Dif};
    ///
    /// /// Writes 8 blocks of 512 bytes to the peer, with a T10-DIF behind each that is not in memory.
    /// fn write(sq: &mut SendQueue<transport::Rc>, key: Rkey, psvs: Psvs, data: Sge, to: Remote) -> Result<(), PostError> {
    ///     let dif = T10Dif {
    ///         guard: Guard::Crc,
    ///         seed: Seed::Zeros,
    ///         app_tag: 0,
    ///         ref_tag: 100,
    ///         increment: true,
    ///         escape: Escape::Never,
    ///     };
    ///     let blocks = SignedBlocks { size: BlockSize::B512, signature: BlockSignatureKind::T10Dif(dif) };
    ///     let signature = BlockSignature::on_wire(blocks);
    ///     let configure = wqe::configure_key(key, 4).rights(KeyRights::NONE).signature_errors(1);
    ///     let source = Sge { addr: 0, length: 8 * (512 + 8), lkey: blueflame::Lkey(key.0) };
    ///     let mut batch = sq.batch();
    ///     // SAFETY: the memory stays registered, and unchanged until it is written.
    ///     unsafe { batch.push_unchecked(&configure.list(&[data]).formats(&Formats::signature(signature, psvs)))? };
    ///     for set_psv in signature.set_psvs(psvs) {
    ///         batch.push(&set_psv)?;
    ///     }
    ///     // SAFETY: the memory behind the key stays registered, and unchanged until it is written.
    ///     unsafe { batch.push_unchecked(&wqe::write(to).gather([source]).fence(Fence::Small).signaled(WrId(1)))? };
    ///     batch.ring_doorbell();
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias = "mlx5dv_wr_set_mkey_sig_block")]
    #[must_use]
    pub const fn signature(signature: BlockSignature, psvs: Psvs) -> Self {
        Self { signatures: Some((signature, psvs)), encryption: None }
    }

    /// The device encrypts and decrypts (`mlx5dv_wr_set_mkey_crypto`). The key must be made for encryption.
    ///
    /// A message begins at the start of a data unit. It ends on a unit boundary, or at least 16 bytes before one,
    /// 16-byte aligned (man page `mlx5dv_wr_set_mkey_crypto`).
    ///
    /// ```
    /// # use blueflame::{PostError, Remote, Rkey, SendQueue, Sge, WrId, transport, types::Dek};
    /// use blueflame::wqe::{self, Fence};
    /// use blueflame::wqe::formats::{BlockSize, DataUnits, EncryptedSide, Encryption, Formats, SignatureOrder};
    /// use blueflame::wqe::keys::KeyRights;
    ///
    /// /// Writes 8 blocks of 512 bytes, that of number `block` and the following, to the peer, who cannot read them.
    /// fn write(
    ///     sq: &mut SendQueue<transport::Rc>, key: Rkey, dek: Dek, block: u64, data: Sge, to: Remote,
    /// ) -> Result<(), PostError> {
    ///     let encryption = Encryption {
    ///         dek,
    ///         keytag: [0; 8],
    ///         side: EncryptedSide::Wire,
    ///         unit: BlockSize::B512,
    ///         first_unit: block.into(),
    ///         units: DataUnits::Many,
    ///         order: SignatureOrder::default(),
    ///     };
    ///     let (list, formats) = ([data], Formats::encryption(encryption));
    ///     let configure = wqe::configure_key(key, 4).rights(KeyRights::NONE).list(&list).formats(&formats);
    ///     let source = Sge { addr: 0, length: 8 * 512, lkey: blueflame::Lkey(key.0) };
    ///     let mut batch = sq.batch();
    ///     // SAFETY: the memory stays registered, and unchanged until it is written.
    ///     unsafe {
    ///         batch.push_unchecked(&configure)?;
    ///         batch.push_unchecked(&wqe::write(to).gather([source]).fence(Fence::Small).signaled(WrId(1)))?;
    ///     }
    ///     batch.ring_doorbell();
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias = "mlx5dv_wr_set_mkey_crypto")]
    #[must_use]
    pub const fn encryption(encryption: Encryption) -> Self {
        Self { signatures: None, encryption: Some(encryption) }
    }

    /// Adds encryption. The key must be made for both.
    #[must_use]
    pub const fn and_encryption(self, encryption: Encryption) -> Self {
        Self { encryption: Some(encryption), ..self }
    }

    /// DS of all.
    pub(in crate::wqe) fn ds(&self) -> usize {
        (usize::from(self.signatures.is_some()) + usize::from(self.encryption.is_some())) * FORMAT_DS
    }

    /// Returns an error unless a key with `bytes` bytes can have these formats.
    pub(in crate::wqe) fn check(&self, bytes: u64) -> Result<(), EncodeError> {
        let Some(encryption) = &self.encryption else { return Ok(()) };
        match &self.signatures {
            Some((signature, _)) if encryption.signs_encrypted() && signature.are_on_both_sides() => {
                Err(EncodeError::encrypted_signatures())
            }
            _ => encryption.check_bytes(bytes),
        }
    }

    /// Writes them.
    pub(in crate::wqe) fn encode(&self, ring: &mut RingCursor) {
        let both = self.signatures.is_some() && self.encryption.is_some();
        let size = if both { bsf::SIG_AND_CRYPTO } else { bsf::WITH_INLINE };
        if let Some((signature, psvs)) = self.signatures {
            <[_; FORMAT_DS]>::from(signature.segment(psvs, size)).into_iter().for_each(|ds| ring.ds(ds));
        }
        if let Some(encryption) = self.encryption {
            <[_; FORMAT_DS]>::from(encryption.segment(size)).into_iter().for_each(|ds| ring.ds(ds));
        }
    }
}
