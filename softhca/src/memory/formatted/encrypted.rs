//! Data on its way through a key that encrypts: data that leaves memory is transformed, and the inverse transforms
//! arriving data.
//!
//! Each packet reads its data again. Writes go by whole pieces of units: the beginning of a piece waits for the rest,
//! which must follow.

use super::signed::KeyMemory;
use crate::crypto::{Engine, Properties};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Most pieces of a key that wait for their rest.
const MAX_WAITING: usize = 1 << 10;

/// A key that encrypts, once it is told how (`mkc.crypto_en`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Encryption {
    /// How.
    pub(crate) properties: Option<Properties>,
    /// Beginnings of pieces, by where they end.
    waiting: RefCell<BTreeMap<u64, Vec<u8>>>,
}

impl Encryption {
    /// Sets the properties again. Waiting pieces are forgotten.
    pub(crate) fn set(&mut self, properties: Option<Properties>) {
        *self = Self { properties, waiting: RefCell::default() };
    }
}

/// The memory behind a key, with the encryption between it and its accessor.
pub(crate) struct Encrypted<'a, M> {
    below: M,
    encryption: &'a Encryption,
    properties: Properties,
    engine: &'a Engine,
}

impl<'a, M: KeyMemory> Encrypted<'a, M> {
    pub(crate) fn new(below: M, encryption: &'a Encryption, properties: Properties, engine: &'a Engine) -> Self {
        Self { below, encryption, properties, engine }
    }
}

impl<M: KeyMemory> KeyMemory for Encrypted<'_, M> {
    type Fault = M::Fault;

    fn bytes(&self) -> u64 {
        self.below.bytes()
    }

    fn outside(&self, at: u64, len: u64) -> M::Fault {
        self.below.outside(at, len)
    }

    fn read(&self, at: u64, out: &mut [u8]) -> Result<(), M::Fault> {
        let len = out.len() as u64;
        let end = at.checked_add(len).ok_or_else(|| self.outside(at, len))?;
        let pieces = self.properties.unit.around(at..end);
        let mut data = vec![0; (pieces.end - pieces.start) as usize];
        self.below.read(pieces.start, &mut data)?;
        self.properties.apply(self.engine, self.properties.order.on_tx(), pieces.start, &mut data);
        out.copy_from_slice(&data[(at - pieces.start) as usize..][..out.len()]);
        Ok(())
    }

    fn write(&self, at: u64, data: &[u8]) -> Result<(), M::Fault> {
        let len = data.len() as u64;
        let outside = || self.outside(at, len);
        let end = at.checked_add(len).ok_or_else(outside)?;
        let begin = self.properties.unit.begin(at);
        let mut waiting = self.encryption.waiting.borrow_mut();
        let mut pieces = match begin == at {
            true => Vec::new(),
            // Without it, the piece was not begun. All that wait begin where their pieces do.
            false => waiting.remove(&at).ok_or_else(outside)?,
        };
        pieces.extend_from_slice(data);
        let rest = pieces.split_off(self.properties.whole(begin, pieces.len()));
        if !rest.is_empty() {
            while waiting.len() >= MAX_WAITING {
                waiting.pop_first();
            }
            waiting.insert(end, rest);
        }
        if !pieces.is_empty() {
            self.properties.apply(self.engine, self.properties.order.on_tx().inverse(), begin, &mut pieces);
            self.below.write(begin, &pieces)?;
        }
        Ok(())
    }
}
