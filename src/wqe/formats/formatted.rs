//! A key's list with formats behind it (BSF): signatures, encryption. Knows no format and no request.
use crate::wqe::error::EncodeError;
use crate::wqe::keys::list::{Interleaved, Pieces, Strided, Unchanged};
use crate::wqe::limits::Limits;
use crate::wqe::payload::{EntryList, Payload, Sge};
use crate::wqe::sealed::Sealed;
use crate::wqe::sink::Sink;

/// Segments that describe the format of a key's data.
pub trait Formats: Sealed + Copy {
    /// DS of all of them.
    const DS: usize;

    /// Whether a key with so many bytes can have these formats.
    fn check(&self, _bytes: u64) -> Result<(), EncodeError> {
        Ok(())
    }

    /// Writes them.
    fn encode<S: Sink>(&self, sink: &mut S);
}

/// The memory part of a key's request: a list in the WQE, or none. (No public driver puts formats behind a list in
/// memory.)
pub trait KeyList: Payload {
    /// Bytes behind the key; 0 if the request does not set them.
    fn bytes(&self) -> u64;
}

impl KeyList for Unchanged {
    fn bytes(&self) -> u64 {
        0
    }
}

impl<L: EntryList<Sge>> KeyList for Pieces<L> {
    fn bytes(&self) -> u64 {
        self.list.entries().iter().map(|sge| u64::from(sge.length)).sum()
    }
}

impl<L: EntryList<Strided>> KeyList for Interleaved<L> {
    fn bytes(&self) -> u64 {
        Self::bytes(self)
    }
}

/// A list with formats behind it.
#[derive(Clone, Copy, Debug)]
pub struct Formatted<P, F> {
    pub(in crate::wqe) list: P,
    pub(in crate::wqe) formats: F,
}

impl<P, F> Sealed for Formatted<P, F> {}
impl<P: KeyList, F: Formats> Payload for Formatted<P, F> {
    const MAX_DS: Option<usize> = match P::MAX_DS {
        Some(ds) => Some(ds + F::DS),
        None => None,
    };
    const INLINE: bool = false;
    const NEEDS: Limits = Limits::NONE;

    #[inline(always)]
    fn ds(&self, limits: &Limits) -> Result<usize, EncodeError> {
        let bytes = self.list.bytes();
        if bytes > u32::MAX.into() {
            return Err(EncodeError::formatted_too_long(bytes));
        }
        self.formats.check(bytes)?;
        Ok(self.list.ds(limits)? + F::DS)
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        // It is longer than a WQEBB, so a static size would gain nothing.
        false
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        self.list.encode(sink);
        self.formats.encode(sink);
    }
}
