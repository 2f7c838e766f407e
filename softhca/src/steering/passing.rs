//! A frame on its way through the tables of a direction, and what their rules have made of it.

use super::key::Key;
use super::registers::Registers;
use crate::ethernet::Headers;

/// A frame on its way.
#[derive(Debug)]
pub(crate) struct Passing<'a> {
    /// As it came.
    came: (&'a [u8], Headers),
    /// As rules have rewritten it: the versions that copies for TIRs have, and the last one.
    rewritten: Vec<(Vec<u8>, Headers)>,
    /// How many of them copies have.
    kept: usize,
    /// A version that is still being rewritten. Its headers are those before.
    open: Option<Vec<u8>>,
    pub(super) registers: Registers,
    sqn: u32,
    pub(super) key: Key,
}

impl<'a> Passing<'a> {
    /// A frame of send queue `sqn`, whose WQE gave it `metadata`; of a received one, both are 0.
    pub(crate) fn new(bytes: &'a [u8], headers: Headers, sqn: u32, metadata: u32) -> Self {
        let registers = Registers { a: metadata, ..Registers::default() };
        let key = Key::of(&headers, sqn).with_registers(&registers);
        Self { came: (bytes, headers), rewritten: Vec::new(), kept: 0, open: None, registers, sqn, key }
    }

    /// The frame as it is now, and its headers.
    pub(crate) fn frame(&self) -> (&[u8], &Headers) {
        let (bytes, headers) = self.version(self.rewritten.len());
        (self.open.as_deref().unwrap_or(bytes), headers)
    }

    /// Keeps the frame as it is now for a copy; the number for [`Self::version`].
    pub(super) fn keep(&mut self) -> usize {
        self.kept = self.rewritten.len();
        self.kept
    }

    /// The version with this number; 0: as the frame came.
    pub(crate) fn version(&self, number: usize) -> (&[u8], &Headers) {
        match number.checked_sub(1).and_then(|place| self.rewritten.get(place)) {
            Some((bytes, headers)) => (bytes, headers),
            None => (self.came.0, &self.came.1),
        }
    }

    /// The bytes as they are now, if any rule has rewritten them.
    pub(crate) fn into_rewritten(mut self) -> Option<(Vec<u8>, Headers)> {
        self.rewritten.pop()
    }

    /// Changes bytes of its headers, which stay where they are until [`Self::modified`].
    pub(super) fn rewrite(&mut self, change: impl FnOnce(&mut [u8], &Headers)) {
        let mut bytes = self.open.take().unwrap_or_else(|| self.frame().0.to_vec());
        change(&mut bytes, self.frame().1);
        self.open = Some(bytes);
    }

    /// The actions of one rule have been carried out: later rules match the outcome.
    pub(super) fn modified(&mut self) {
        if let Some(bytes) = self.open.take() {
            // No rewriting shortens a frame, so it still has headers.
            let headers = Headers::of(&bytes).unwrap_or_else(|| self.frame().1.clone());
            self.rewritten.truncate(self.kept);
            self.rewritten.push((bytes, headers));
        }
        self.key = Key::of(self.frame().1, self.sqn).with_registers(&self.registers);
    }
}
