//! The common part of indirect memory keys whose data has a format: signatures, or encryption. The keys begin free, and
//! requests set the memory behind them.

use blueflame::types::Qpn;
use blueflame::wqe::data::SameList;
use blueflame::wqe::operations::ConfigureKey;
use blueflame::wqe::{self, Request};
use blueflame::{Remote, Rkey, Sge};

use crate::check::in_range;
use crate::cmd::{AccessMode, CreateMkeyIn, CreateMkeyOut};
use crate::context::Object;
use crate::error::Error;
use crate::object::pd::Pd;

/// Octwords of a format.
const FORMAT_OCTWORDS: u32 = 4;
/// Any queue pair of the protection domain may use the key.
const ANY_QP: u32 = 0xff_ffff;
/// Most entries: the counter of requests has 16 bits, and counts in fours.
const MAX_ENTRIES: u64 = 0xfffc;

/// A key with room for one format. It gives access to nothing at first.
#[derive(Debug)]
pub(super) struct FormattedKey {
    _object: Object,
    key: u32,
    entries: u16,
}

impl FormattedKey {
    /// Makes one with room for a list of `entries`; `encrypts` selects the format of encryption.
    pub(in crate::object) fn new(pd: &Pd, entries: u16, encrypts: bool) -> Result<Self, Error> {
        in_range("entries of an indirect memory key", u64::from(entries), 1..=MAX_ENTRIES)?;
        let entries = entries.next_multiple_of(4);
        let mut inbox = CreateMkeyIn::new();
        let context = inbox.memory_key_mkey_entry_mut();
        context
            .set_access_mode(AccessMode::KLMS)
            .set_free(true)
            .set_umr_en(true)
            .set_lr(true)
            .set_qpn(Qpn::truncate(ANY_QP))
            .set_pd(pd.pdn())
            .set_translations_octword_size(entries.into())
            .set_crypto_en(encrypts.into())
            .set_bsf_en(true)
            .set_bsf_octword_size(FORMAT_OCTWORDS);
        let (object, out): (_, CreateMkeyOut) = pd.context().make(&inbox, pd.clone())?;
        Ok(Self { _object: object, key: out.mkey_index() << 8, entries })
    }

    pub(super) fn rkey(&self) -> Rkey {
        Rkey(self.key)
    }

    pub(in crate::object) fn configure(&self) -> Request<'static, ConfigureKey, SameList> {
        wqe::configure_key(self.rkey(), self.entries)
    }

    pub(in crate::object) fn remote(&self, offset: u64) -> Remote {
        Remote { addr: offset, rkey: self.rkey() }
    }

    pub(in crate::object) fn sge(&self, offset: u64, length: u32) -> Sge {
        Sge { addr: offset, length, lkey: blueflame::Lkey(self.key) }
    }
}
