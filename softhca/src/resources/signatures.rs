//! Memory keys whose data has formats, signatures or encryption: access through them, the values that signatures begin
//! with, and errors.

use std::ops::Range;

use super::Resources;
use crate::context::{QpContext, TimestampFormat};
use crate::cq::{Completion, SignatureError};
use crate::crypto::{Engine, Properties};
use crate::memory::keys::fault::PsvFault;
use crate::memory::keys::mkey::{Accessor, KeyFault, Mkey};
use crate::memory::{Encrypted, Encryption, KeyMemory, Mismatch, Need, Signed};

/// A signature value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Psv {
    /// Protection domain.
    pub(crate) pd: u32,
    /// Its value, if it was set.
    pub(crate) value: Option<u64>,
}

/// Most errors that wait to be told: a step finds few.
const MAX_WAITING: usize = 1024;

/// The memory behind a key, as one accessor sees it.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    resources: &'a Resources,
    by: Accessor,
    mkey: &'a Mkey,
    need: Need,
}

impl Seen<'_> {
    /// The key's first address.
    fn first(&self) -> u64 {
        self.mkey.context.iova
    }

    /// A signature is wrong. Drivers are told of the first one only, until they say that they know.
    fn found(&self, mismatch: Mismatch) {
        let mut waiting = self.resources.signature_errors.borrow_mut();
        if !self.mkey.signatures.told.replace(true) && waiting.len() < MAX_WAITING {
            waiting.push(SignatureError { key: self.mkey.key, mismatch });
        }
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
        self.mkey.outside(self.first().wrapping_add(at), len)
    }
}

/// Memory behind a key with signatures, as the wire has it.
struct Wire<'a> {
    seen: Seen<'a>,
    signed: &'a Signed,
}

impl KeyMemory for Wire<'_> {
    type Fault = KeyFault;

    fn bytes(&self) -> u64 {
        self.seen.bytes()
    }

    fn read(&self, at: u64, out: &mut [u8]) -> Result<(), KeyFault> {
        self.signed.read(&self.seen, at, out, &mut |mismatch| self.seen.found(mismatch))
    }

    fn write(&self, at: u64, data: &[u8]) -> Result<(), KeyFault> {
        self.signed.write(&self.seen, at, data, &mut |mismatch| self.seen.found(mismatch))
    }

    fn outside(&self, at: u64, len: u64) -> KeyFault {
        self.seen.outside(at, len)
    }
}

/// A key's formats, and the memory behind them.
pub(super) struct Formatted<'a> {
    seen: Seen<'a>,
    signed: Option<&'a Signed>,
    encryption: Option<(&'a Encryption, Properties, &'a Engine)>,
}

impl Formatted<'_> {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), KeyFault> {
        let (seen, at) = (self.seen, addr.wrapping_sub(self.seen.first()));
        let found = &mut |mismatch| seen.found(mismatch);
        match (self.signed, self.encryption) {
            (None, None) => seen.read(at, out),
            (Some(signed), None) => Wire { seen, signed }.read(at, out),
            (None, Some((state, properties, engine))) => Encrypted::new(seen, state, properties, engine).read(at, out),
            (Some(signed), Some((state, properties, engine))) if properties.order.is_behind_signatures() => {
                Encrypted::new(Wire { seen, signed }, state, properties, engine).read(at, out)
            }
            (Some(signed), Some((state, properties, engine))) => {
                signed.read(&Encrypted::new(seen, state, properties, engine), at, out, found)
            }
        }
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), KeyFault> {
        let (seen, at) = (self.seen, addr.wrapping_sub(self.seen.first()));
        let found = &mut |mismatch| seen.found(mismatch);
        match (self.signed, self.encryption) {
            (None, None) => seen.write(at, data),
            (Some(signed), None) => Wire { seen, signed }.write(at, data),
            (None, Some((state, properties, engine))) => {
                Encrypted::new(seen, state, properties, engine).write(at, data)
            }
            (Some(signed), Some((state, properties, engine))) if properties.order.is_behind_signatures() => {
                Encrypted::new(Wire { seen, signed }, state, properties, engine).write(at, data)
            }
            (Some(signed), Some((state, properties, engine))) => {
                signed.write(&Encrypted::new(seen, state, properties, engine), at, data, found)
            }
        }
    }

    /// Whether an access begins and ends where data units let it.
    pub(super) fn check_units(&self, addr: u64, len: u64) -> Result<(), KeyFault> {
        let at = addr.wrapping_sub(self.seen.first());
        let key = self.seen.mkey.key;
        match self.encryption {
            Some((_, properties, _)) if self.signed.is_none() || properties.order.is_behind_signatures() => {
                let end = at.checked_add(len).ok_or_else(|| self.seen.outside(at, len))?;
                let is_rest = self.seen.need == Need::RemoteRead;
                let what = "an access that does not begin and end where its data units let it";
                properties.may_access((at, end), is_rest).then_some(()).ok_or(KeyFault::Encryption { key, what })
            }
            _ => Ok(()),
        }
    }

    /// The addresses of memory behind an access, and how many bytes.
    pub(super) fn behind(&self, addr: u64, len: u64) -> Result<(u64, u64), KeyFault> {
        self.check_units(addr, len)?;
        let Some(signed) = self.signed else { return Ok((addr, len)) };
        let first = self.seen.first();
        let (start, end) = signed.range(&self.seen, addr.wrapping_sub(first), len)?;
        Ok((first.wrapping_add(start), end - start))
    }
}

impl Resources {
    /// The formats of `key`, if it has any, and its memory, after all checks that are not of addresses.
    pub(super) fn formatted(&self, by: Accessor, key: u32, need: Need) -> Result<Option<Formatted<'_>>, KeyFault> {
        let found = self.mkeys.get(key >> 8).filter(|mkey| mkey.key == key);
        let Some(mkey) = found.filter(|mkey| mkey.is_formatted()) else { return Ok(None) };
        mkey.offset(&by, mkey.context.iova, 0, need)?;
        let signed = mkey.signatures.format.as_ref();
        for domain in signed.into_iter().flat_map(Signed::domains) {
            let psv = self.psvs.get(domain.psv).filter(|psv| psv.pd == mkey.context.pd);
            let (found, expected) = (psv.and_then(|psv| psv.value), domain.initial());
            let begins = if domain.begins_anew { psv.is_some() } else { found == Some(expected) };
            if !begins {
                return Err(KeyFault::SignatureValue { key, psv: domain.psv, found, expected });
            }
        }
        let encryption = match &mkey.encryption {
            None => None,
            Some(encryption) => {
                let without = KeyFault::Encryption { key, what: "nothing says how it encrypts" };
                let properties = encryption.properties.ok_or(without)?;
                let gone = KeyFault::Encryption { key, what: "its key of encryption is gone" };
                let dek = self.deks.get(properties.dek).filter(|dek| dek.info.pd == mkey.context.pd).ok_or(gone)?;
                Some((encryption, properties, &dek.engine))
            }
        };
        if need == Need::RemoteAtomic {
            return Err(KeyFault::Signed(key));
        }
        Ok(Some(Formatted { seen: Seen { resources: self, by, mkey, need }, signed, encryption }))
    }

    /// Reads the memory behind a key for an accessor.
    pub(super) fn read_by(
        &self,
        (by, key, need): (Accessor, u32, Need),
        addr: u64,
        out: &mut [u8],
    ) -> Result<(), KeyFault> {
        let len = out.len();
        let mut read = |spot, part: Range<usize>| self.read_spot(spot, &mut out[part]);
        match self.find_mkey(key) {
            Ok(mkey) if !mkey.is_formatted() => self.for_spots_of((by, mkey, need), addr, len, &mut read),
            _ => match self.formatted(by, key, need)? {
                Some(formatted) => formatted.read(addr, out),
                None => self.for_spots((by, key, need), addr, len, read),
            },
        }
    }

    /// Writes to the memory behind a key for an accessor.
    pub(super) fn write_by(
        &self,
        (by, key, need): (Accessor, u32, Need),
        addr: u64,
        data: &[u8],
    ) -> Result<(), KeyFault> {
        let mut write = |spot, part: Range<usize>| self.write_spot(spot, &data[part]);
        match self.find_mkey(key) {
            Ok(mkey) if !mkey.is_formatted() => self.for_spots_of((by, mkey, need), addr, data.len(), &mut write),
            _ => match self.formatted(by, key, need)? {
                Some(formatted) => formatted.write(addr, data),
                None => self.for_spots((by, key, need), addr, data.len(), write),
            },
        }
    }

    /// Writes CQEs of the signature errors that have been found since the last call, which were those of QP `qpn`, to
    /// its CQ.
    pub(crate) fn report_signature_errors(&mut self, cqn: u32, qpn: u32) {
        if self.signature_errors.get_mut().is_empty() {
            return;
        }
        for error in std::mem::take(self.signature_errors.get_mut()) {
            log::info!("QP {qpn:#x}: {error:x?}");
            self.complete(cqn, TimestampFormat::FreeRunning, Completion::Signature { qpn, error });
        }
    }

    /// Sets a signature value for a QP.
    ///
    /// # Errors
    /// [`PsvFault`] if it does not exist, or belongs to another protection domain.
    pub(crate) fn set_psv(&mut self, qp: &QpContext, psv: u32, value: u64) -> Result<(), PsvFault> {
        let pd = qp.pd;
        let found = self.psvs.get_mut(psv).filter(|psv| psv.pd == pd).ok_or(PsvFault { psv, pd })?;
        found.value = Some(value);
        Ok(())
    }
}
