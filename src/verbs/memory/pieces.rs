//! Regions so large that registering them takes long: in pieces, by several threads at once.

use core::fmt;
use core::iter::FusedIterator;
use core::num::NonZeroUsize;
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::buffer::{checked_range, register_range};
use super::registration::Registration;
use super::rights;
use super::source::Memory;
use crate::shared_copy::{copy_in, copy_out};
use crate::types::{Lkey, Rkey};
use crate::verbs::Access;
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::{Error, in_range};
use crate::wqe::{Remote, Sge};

/// How a large region is cut up and registered ([`ProtectionDomain::register_in_pieces`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPieces {
    /// log2 of the bytes of a piece, 12 to 40. A request that names memory of two pieces needs two entries, so pieces
    /// should be much larger than requests.
    pub log_piece_bytes: u8,
    /// Threads that register; at most one for each piece. They end when the call returns.
    pub threads: NonZeroUsize,
}

/// Pieces of 1 GiB, and a thread for each CPU that this process may use.
impl Default for InPieces {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { log_piece_bytes: 30, threads }
    }
}

/// Memory that all pieces keep: the last piece drops it. A piece that could not be deregistered keeps the memory for
/// ever.
struct Held(#[expect(dead_code, reason = "it is there to be dropped")] Box<dyn Memory>);

// SAFETY: nothing is done with it but to drop it, in one thread.
unsafe impl Sync for Held {}

/// A piece's region.
type Piece = Registration<Arc<Held>>;

/// A large region of memory of this process, registered in pieces that have keys of their own. A shift and a load find
/// the key of a byte.
///
/// ```no_run
/// use blueflame::verbs::{Access, ProtectionDomain};
/// use blueflame::verbs::memory::{InPieces, Pages};
///
/// # fn register(pd: &ProtectionDomain) -> Result<(), Box<dyn std::error::Error>> {
/// let (memory, _) = Pages::map(64 << 30)?;
/// let cache = pd.register_in_pieces(memory, Access::REMOTE_READ, InPieces::default())?;
/// // What to gather: one entry, or two where a piece ends inside.
/// for entry in cache.sges(5 << 30..(5 << 30) + 4096) {
///     println!("{entry:?}");
/// }
/// # Ok(())
/// # }
/// ```
pub struct HugeBuffer {
    start: NonNull<u8>,
    len: usize,
    log_piece_bytes: u8,
    access: Access,
    keys: Box<[(Lkey, Rkey)]>,
    pieces: Vec<Piece>,
    threads: NonZeroUsize,
}

// SAFETY: the memory is this value's alone, as that of a `Buffer`.
unsafe impl Send for HugeBuffer {}
// SAFETY: `&self` copies out only; writers need `&mut self`, and the device is no Rust thread.
unsafe impl Sync for HugeBuffer {}

impl fmt::Debug for HugeBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HugeBuffer")
            .field("addr", &format_args!("{:#x}", self.addr()))
            .field("len", &self.len)
            .field("pieces", &self.keys.len())
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

/// Does `work` for 0, 1, … `count` - 1 on `threads` threads, including this one. Ends early once `work` says no.
fn share(count: usize, threads: NonZeroUsize, work: impl Fn(usize) -> bool + Sync) {
    let (next, go_on) = (AtomicUsize::new(0), AtomicBool::new(true));
    let run = || {
        while go_on.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            if !work(index) {
                go_on.store(false, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.get().min(count) {
            // If the machine has no thread left, the existing threads do the work.
            let _ = std::thread::Builder::new().name("register".into()).spawn_scoped(scope, run);
        }
        run();
    });
}

impl ProtectionDomain {
    /// Registers `memory` in pieces, by several threads. One call pins all pages on one CPU. In an emulated guest that
    /// took 0.5 to 0.8 µs per touched page of 4 KiB (`docs/performance/registration.md`); at this rate, a terabyte
    /// takes minutes.
    ///
    /// Either all pieces are registered or none: after an error, the registered pieces are deregistered, and the memory
    /// is dropped.
    ///
    /// # Errors
    /// The errors of [`register`](Self::register); if several pieces failed, the error of the piece at the lowest
    /// address. [`Error::OutOfRange`] for the size of pieces.
    pub fn register_in_pieces(&self, memory: impl Memory, access: Access, how: InPieces) -> Result<HugeBuffer, Error> {
        in_range("log2 of the bytes of a piece", how.log_piece_bytes.into(), 12..=40)?;
        let mut memory: Box<dyn Memory> = Box::new(memory);
        let (start, len) = checked_range(memory.as_mut())?;
        rights::check(&self.handle.context, access)?;
        let held = Arc::new(Held(memory));
        // Where addresses have 32 bits, no memory is longer than a piece of 2^31 bytes.
        let log_piece_bytes = how.log_piece_bytes.min(usize::BITS as u8 - 1);
        let piece_bytes = 1_usize << log_piece_bytes;
        let done: Vec<OnceLock<Piece>> = (0..len.div_ceil(piece_bytes)).map(|_| OnceLock::new()).collect();
        let failed = Mutex::new(None::<(usize, Error)>);
        let first = Start(start);
        share(done.len(), how.threads, |index| {
            let offset = index << log_piece_bytes;
            // SAFETY: inside the memory, which each piece keeps.
            let registered = unsafe {
                let at = first.get().add(offset);
                register_range(self, at, piece_bytes.min(len - offset), access, Arc::clone(&held))
            };
            match registered {
                Ok(piece) => done[index].set(piece).is_ok(),
                Err(error) => {
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    if failed.as_ref().is_none_or(|(other, _)| index < *other) {
                        *failed = Some((index, error));
                    }
                    false
                }
            }
        });
        drop(held);
        let pieces: Vec<_> = done.into_iter().filter_map(OnceLock::into_inner).collect();
        if let Some((_, error)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            drop_all(pieces, how.threads);
            return Err(error);
        }
        let keys = pieces.iter().map(|piece| (piece.lkey, piece.rkey)).collect();
        Ok(HugeBuffer { start, len, log_piece_bytes, access, keys, pieces, threads: how.threads })
    }
}

/// An address that threads are told.
#[derive(Clone, Copy)]
struct Start(NonNull<u8>);

// SAFETY: a number, until it is used.
unsafe impl Sync for Start {}

impl Start {
    fn get(&self) -> NonNull<u8> {
        self.0
    }
}

/// Deregisters pieces, which takes as long as registering them.
fn drop_all(pieces: Vec<Piece>, threads: NonZeroUsize) {
    let count = pieces.len();
    let pieces: Vec<_> = pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect();
    share(count, threads, |index| {
        drop(pieces[index].lock().unwrap_or_else(PoisonError::into_inner).take());
        true
    });
}

impl Drop for HugeBuffer {
    fn drop(&mut self) {
        drop_all(core::mem::take(&mut self.pieces), self.threads);
    }
}

impl HugeBuffer {
    /// Address of the first byte.
    #[must_use]
    pub fn addr(&self) -> u64 {
        self.start.as_ptr().addr() as u64
    }

    /// Bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a region has at least one byte")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// What it permits.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Pieces.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.keys.len()
    }

    /// The keys of the byte at `offset`; `None` past the end.
    #[inline]
    #[must_use]
    pub fn keys_at(&self, offset: usize) -> Option<(Lkey, Rkey)> {
        self.keys.get(offset >> self.log_piece_bytes).copied()
    }

    /// The byte at `offset` as a place for the peer's requests, and how many bytes from there on have the same key;
    /// `None` past the end.
    #[inline]
    #[must_use]
    pub fn remote_at(&self, offset: usize) -> Option<(Remote, usize)> {
        let left = self.left_at(offset)?;
        let (_, rkey) = self.keys_at(offset)?;
        Some((Remote { addr: self.addr() + offset as u64, rkey }, left))
    }

    /// Bytes from `offset` to the end of the piece.
    #[inline]
    fn left_at(&self, offset: usize) -> Option<usize> {
        let in_all = self.len.checked_sub(offset).filter(|&left| left > 0)?;
        let piece_bytes = 1_usize << self.log_piece_bytes;
        Some(in_all.min(piece_bytes - (offset & (piece_bytes - 1))))
    }

    /// A range as scatter/gather entries, one for each piece (and 2^30 bytes) that it lies in. Bytes past the end are
    /// left out.
    #[inline]
    #[must_use]
    pub fn sges(&self, range: Range<usize>) -> Sges<'_> {
        Sges { of: self, range }
    }

    /// Copies `data` to `offset`.
    ///
    /// # Panics
    /// If the range leaves the region, as indexing a slice would.
    pub fn write(&mut self, offset: usize, data: &[u8]) {
        let to = self.at(offset, data.len());
        // SAFETY: `at` has checked the range; no reference to registered memory exists.
        unsafe { copy_in(data, to.as_ptr()) };
    }

    /// Copies from `offset` into `out`, each byte loaded once.
    ///
    /// # Panics
    /// If the range leaves the region, as indexing a slice would.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        let from = self.at(offset, out.len());
        // SAFETY: as in `write`.
        unsafe { copy_out(from.as_ptr(), out) };
    }

    fn at(&self, offset: usize, len: usize) -> NonNull<u8> {
        let inside = offset <= self.len && len <= self.len - offset;
        assert!(inside, "{len} bytes at {offset} of a region of {}", self.len);
        // SAFETY: inside, or at its end.
        unsafe { self.start.add(offset) }
    }
}

/// Entries of a range of a [`HugeBuffer`].
#[derive(Clone, Debug)]
pub struct Sges<'a> {
    of: &'a HugeBuffer,
    range: Range<usize>,
}

/// Bytes of an entry, whose length has 31 bits.
const ENTRY_BYTES: usize = 1 << 30;

impl Iterator for Sges<'_> {
    type Item = Sge;

    #[inline]
    fn next(&mut self) -> Option<Sge> {
        let wanted = self.range.end.checked_sub(self.range.start).filter(|&bytes| bytes > 0)?;
        let offset = self.range.start;
        let bytes = self.of.left_at(offset)?.min(wanted).min(ENTRY_BYTES);
        let (lkey, _) = self.of.keys_at(offset)?;
        self.range.start += bytes;
        Some(Sge { addr: self.of.addr() + offset as u64, length: bytes as u32, lkey })
    }
}

impl FusedIterator for Sges<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_shared_and_ends_early() {
        let threads = NonZeroUsize::new(3).expect("three");
        let times: Vec<_> = (0..100).map(|_| AtomicUsize::new(0)).collect();
        share(times.len(), threads, |index| {
            times[index].fetch_add(1, Ordering::Relaxed);
            true
        });
        assert!(times.iter().all(|times| times.load(Ordering::Relaxed) == 1), "each once");
        let done = AtomicUsize::new(0);
        share(1000, NonZeroUsize::MIN, |index| {
            done.fetch_add(1, Ordering::Relaxed);
            index < 7
        });
        assert_eq!(done.into_inner(), 8, "0 to 7, which said no");
        share(0, threads, |_| unreachable!("nothing to do"));
    }
}
