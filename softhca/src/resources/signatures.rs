//! Memory keys whose data has signatures: access through them, the values they begin with, and errors.

use super::Resources;
use crate::context::{QpContext, TimestampFormat};
use crate::cq::{Completion, SignatureError};
use crate::memory::mkey::{Accessor, KeyFault, Mkey};
use crate::memory::{KeyMemory, Mismatch, Need, Signed};
use thiserror::Error;

/// A signature value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Psv {
    /// Protection domain.
    pub(crate) pd: u32,
    /// What it was set to.
    pub(crate) value: Option<u64>,
}

/// Most errors that wait to be told: a step finds few.
const MAX_WAITING: usize = 1024;

/// Why a signature value was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("signature value {psv:#x}: none of PD {pd:#x}")]
pub(crate) struct PsvFault {
    /// Its number.
    psv: u32,
    /// The queue's protection domain.
    pd: u32,
}

/// The memory behind a key, for who asks.
pub(super) struct Seen<'a> {
    resources: &'a Resources,
    by: Accessor,
    mkey: &'a Mkey,
    need: Need,
}

impl Seen<'_> {
    /// The key's first address.
    pub(super) fn first(&self) -> u64 {
        self.mkey.context.iova
    }
}

impl KeyMemory for Seen<'_> {
    type Fault = KeyFault;

    fn bytes(&self) -> u64 {
        self.mkey.context.len
    }

    fn read(&self, at: u64, out: &mut [u8]) -> Result<(), KeyFault> {
        let addr = self.first().wrapping_add(at);
        let len = out.len();
        self.resources.for_spots_of((self.by, self.mkey, self.need), addr, len, &mut |spot, part| {
            self.resources.read_spot(spot, &mut out[part])
        })
    }

    fn write(&self, at: u64, data: &[u8]) -> Result<(), KeyFault> {
        let addr = self.first().wrapping_add(at);
        self.resources.for_spots_of((self.by, self.mkey, self.need), addr, data.len(), &mut |spot, part| {
            self.resources.write_spot(spot, &data[part])
        })
    }

    fn outside(&self, at: u64, len: u64) -> KeyFault {
        KeyFault::OutOfBounds { key: self.mkey.key, addr: self.first().wrapping_add(at), len }
    }
}

impl Resources {
    /// The signatures of `key`, if it has any, and its memory, after all checks that are not of addresses.
    pub(super) fn signed(&self, by: Accessor, key: u32, need: Need) -> Result<Option<(Seen<'_>, &Signed)>, KeyFault> {
        let found = self.mkeys.get(key >> 8).filter(|mkey| mkey.key == key);
        let Some((mkey, signed)) = found.and_then(|mkey| Some((mkey, mkey.signatures.format.as_ref()?))) else {
            return Ok(None);
        };
        mkey.offset(&by, mkey.context.iova, 0, need)?;
        for domain in signed.domains() {
            let psv = self.psvs.get(domain.psv).filter(|psv| psv.pd == mkey.context.pd);
            let (found, expected) = (psv.and_then(|psv| psv.value), domain.initial());
            if found != Some(expected) {
                return Err(KeyFault::SignatureValue { key, psv: domain.psv, found, expected });
            }
        }
        if need == Need::RemoteAtomic {
            return Err(KeyFault::Signed(key));
        }
        Ok(Some((Seen { resources: self, by, mkey, need }, signed)))
    }

    /// Reads what is behind a key for who asks.
    pub(super) fn read_by(
        &self,
        (by, key, need): (Accessor, u32, Need),
        addr: u64,
        out: &mut [u8],
    ) -> Result<(), KeyFault> {
        match self.signed(by, key, need)? {
            Some((seen, signed)) => {
                let at = addr.wrapping_sub(seen.first());
                signed.read(&seen, at, out, &mut |mismatch| self.found(seen.mkey, mismatch))
            }
            None => self.for_spots((by, key, need), addr, out.len(), |spot, part| self.read_spot(spot, &mut out[part])),
        }
    }

    /// Writes to what is behind a key for who asks.
    pub(super) fn write_by(
        &self,
        (by, key, need): (Accessor, u32, Need),
        addr: u64,
        data: &[u8],
    ) -> Result<(), KeyFault> {
        match self.signed(by, key, need)? {
            Some((seen, signed)) => {
                let at = addr.wrapping_sub(seen.first());
                signed.write(&seen, at, data, &mut |mismatch| self.found(seen.mkey, mismatch))
            }
            None => self.for_spots((by, key, need), addr, data.len(), |spot, part| self.write_spot(spot, &data[part])),
        }
    }

    /// A signature is wrong. Drivers are told of the first one only, until they say that they know.
    fn found(&self, mkey: &Mkey, mismatch: Mismatch) {
        let mut waiting = self.signature_errors.borrow_mut();
        if !mkey.signatures.told.replace(true) && waiting.len() < MAX_WAITING {
            waiting.push(SignatureError { key: mkey.key, mismatch });
        }
    }

    /// Writes CQEs of the signature errors that have been found since the last call, which were those of QP `qpn`, to its CQ.
    /// `true` if there were any.
    pub(crate) fn report_signature_errors(&mut self, cqn: u32, qpn: u32) -> bool {
        let waiting = std::mem::take(self.signature_errors.get_mut());
        for error in &waiting {
            log::info!("QP {qpn:#x}: {error:x?}");
            self.complete(cqn, TimestampFormat::FreeRunning, &Completion::Signature { qpn, error: *error });
        }
        !waiting.is_empty()
    }

    /// Sets a signature value for a QP.
    ///
    /// # Errors
    /// [`PsvFault`] if it does not exist, or is of another protection domain.
    pub(crate) fn set_psv(&mut self, qp: &QpContext, psv: u32, value: u64) -> Result<(), PsvFault> {
        let pd = qp.pd;
        let found = self.psvs.get_mut(psv).filter(|psv| psv.pd == pd).ok_or(PsvFault { psv, pd })?;
        found.value = Some(value);
        Ok(())
    }
}
