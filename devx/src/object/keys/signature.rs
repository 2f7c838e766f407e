//! Indirect memory keys whose data has signatures: a key, and the two signature values that its format names.

use blueflame::cq::cqe::SignatureError;
use blueflame::types::Psv as PsvNumber;
use blueflame::wqe::Request;
use blueflame::wqe::data::SameList;
use blueflame::wqe::formats::Psvs;
use blueflame::wqe::operations::ConfigureKey;
use blueflame::{Lkey, Remote, Rkey, Sge};

use super::formatted::FormattedKey;
use crate::error::Error;
use crate::object::pd::Pd;
use crate::object::simple::Psv;
use crate::support::ask::has;

/// An indirect memory key to which requests give signatures ([`Request::formats`]). `mlx5dv_create_mkey` makes the
/// same key with `MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE`. It gives access to nothing at first.
///
/// ```no_run
/// # use blueflame::wqe::formats::{BlockSignature, Formats};
/// # use blueflame::wqe::Fence;
/// # use blueflame::wqe::keys::KeyRights;
/// # use blueflame::{PostError, Remote, SendQueue, Sge, WrId, transport, wqe};
/// # use blueflame_devx::object::SignatureKey;
/// /// Writes data to the peer, of whatever signatures in memory and on the wire, where it has `bytes`.
/// fn write(
///     sq: &mut SendQueue<transport::Rc>, key: &mut SignatureKey, signature: BlockSignature, data: Sge, bytes: u32, to: Remote,
/// ) -> Result<(), PostError> {
///     let (list, formats) = ([data], Formats::signature(signature, key.psvs()));
///     let configure = key.configure().rights(KeyRights::NONE).list(&list).formats(&formats);
///     let mut batch = sq.batch();
///     // SAFETY: the memory stays registered, and unchanged until it is written.
///     unsafe { batch.push_unchecked(&configure)? };
///     for set_psv in signature.set_psvs(key.psvs()) {
///         batch.push(&set_psv)?;
///     }
///     // SAFETY: the memory behind the key stays registered, and unchanged until it is written.
///     unsafe { batch.push_unchecked(&wqe::write(to).gather([key.sge(0, bytes)]).fence(Fence::Small).signaled(WrId(1)))? };
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct SignatureKey {
    key: FormattedKey,
    memory: Psv,
    wire: Psv,
    /// Errors reported so far, plus 1.
    errors: u32,
    /// The device does not know this number yet.
    news: bool,
}

impl SignatureKey {
    /// Makes one with room for a list of `entries`, 1 to 65532.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::Capability`] if the device has no signatures; [`Error::Command`].
    pub fn new(pd: &Pd, entries: u16) -> Result<Self, Error> {
        let general = pd.context().general()?;
        has("cmd_hca_cap.sho", general.sho())?;
        has("cmd_hca_cap.sigerr_domain_and_sig_type", general.sigerr_domain_and_sig_type())?;
        let (memory, wire) = (Psv::new(pd)?, Psv::new(pd)?);
        let key = FormattedKey::new(pd, entries, false)?;
        Ok(Self { key, memory, wire, errors: 1, news: true })
    }

    /// Its number, by which peers' requests name it.
    #[must_use]
    pub fn rkey(&self) -> Rkey {
        self.key.rkey()
    }

    /// Its number, by which this side's requests name it: the same.
    #[must_use]
    pub fn lkey(&self) -> Lkey {
        Lkey(self.key.rkey().0)
    }

    /// Its signature values.
    #[must_use]
    pub fn psvs(&self) -> Psvs {
        let number = |psv: &Psv| PsvNumber::truncate(psv.index());
        Psvs { memory: number(&self.memory), wire: number(&self.wire) }
    }

    /// A request that sets the memory behind the key, its access rights, and its signatures.
    /// [`configure_key`](blueflame::wqe::configure_key) lists the conditions that its poster must meet. If the number
    /// of errors reported is new to the device, the request tells it. Then
    /// [`set_psvs`](blueflame::wqe::formats::BlockSignature::set_psvs) must follow, even if the signatures stay the
    /// same.
    pub fn configure(&mut self) -> Request<'static, ConfigureKey, SameList> {
        let configure = self.key.configure();
        if std::mem::take(&mut self.news) { configure.signature_errors(self.errors) } else { configure }
    }

    /// Whether an error is this key's. Errors come as completions; a [collapsed](blueflame::cq::CollapsedQueue) queue
    /// loses them. If it is, it counts as reported: the device reports the next error after the
    /// next request of [`configure`](Self::configure).
    pub fn is_told(&mut self, error: &SignatureError) -> bool {
        let own = error.key == self.rkey();
        self.errors = self.errors.wrapping_add(own.into());
        self.news |= own;
        own
    }

    /// Byte `offset` of the memory behind the key, counted in bytes on the wire, for peers' requests.
    #[must_use]
    pub fn remote(&self, offset: u64) -> Remote {
        self.key.remote(offset)
    }

    /// Bytes of the memory behind the key, counted in bytes on the wire, for this side's requests.
    #[must_use]
    pub fn sge(&self, offset: u64, length: u32) -> Sge {
        self.key.sge(offset, length)
    }
}
