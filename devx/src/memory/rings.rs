//! Memory of many rings in few registrations.

use core::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::gaps::Gaps;
use super::umem::Umem;
use crate::cmd::UmemId;
use crate::context::Context;
use crate::error::Error;

/// Where the rings and doorbell records of many queues lie: memory registered in large chunks. Cheap to clone; the memory stays as
/// long as a queue in it.
///
/// ```text
///   Rings ── chunk: one UMEM on huge pages        ┌──────┬──────┬──────┬─────────┬──────┬───────
///     │                                           │ ring │ ring │ ring │ records │ ring │ free
///     ├── ThreadRings (thread 1) ── its records ──┼──────┴──────┴──────┴────^────┘
///     └── ThreadRings (thread 2) ── its records   └ 8 bytes each, packed: no other thread's lie on these cache lines
/// ```
///
/// Queues are made in a [`ThreadRings`](super::ThreadRings) over it, one for each thread.
///
/// With verbs each queue pair is a registration of its own, and its record a cache line. Here 10,000 queue pairs are one
/// registration if the first chunk is large enough ([`RingsBuilder::chunk_bytes`]).
#[derive(Clone, Debug)]
pub struct Rings {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    context: Context,
    chunk_bytes: usize,
    chunks: Mutex<Vec<Chunk>>,
}

#[derive(Debug)]
struct Chunk {
    umem: Arc<Umem>,
    gaps: Gaps,
}

/// How the memory of rings is to be registered.
#[derive(Clone, Copy, Debug)]
pub struct RingsBuilder<'a> {
    context: &'a Context,
    chunk_bytes: usize,
}

/// How much memory rings and records take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingsUse {
    /// Registrations.
    pub registrations: usize,
    /// Bytes registered.
    pub registered: usize,
    /// Bytes of them that rings, and pages of records, take.
    pub taken: usize,
}

/// Rings begin at multiples of a send WQEBB at least, which is also the unit of `page_offset` in pages of 4096 bytes.
pub(super) const RING_ALIGN: usize = 64;

/// Bytes of the pages in which contexts count (`MLX5_ADAPTER_PAGE_SHIFT`).
pub(super) const PAGE: usize = 4096;

impl Rings {
    /// Begins to say how memory is registered. By default in chunks of 2 MiB.
    #[must_use]
    pub fn builder(context: &Context) -> RingsBuilder<'_> {
        RingsBuilder { context, chunk_bytes: 2 << 20 }
    }

    /// Memory in chunks of the usual size.
    ///
    /// # Errors
    /// [`Error::Call`]: no memory, or too much of it locked.
    pub fn new(context: &Context) -> Result<Self, Error> {
        Self::builder(context).build()
    }

    /// The device the memory is registered with.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.shared.context
    }

    /// How much memory there is, and how much of it is in use.
    #[must_use]
    pub fn in_use(&self) -> RingsUse {
        self.shared.lock().iter().fold(RingsUse::default(), |all, chunk| RingsUse {
            registrations: all.registrations + 1,
            registered: all.registered + chunk.umem.len(),
            taken: all.taken + chunk.umem.len() - chunk.gaps.free(),
        })
    }

    /// Takes zeroed memory; registers another chunk if there is no room.
    pub(super) fn take(&self, bytes: usize, align: usize) -> Result<Space, Error> {
        let mut chunks = self.shared.lock();
        let found = chunks.iter_mut().find_map(|chunk| Some((chunk.gaps.take(bytes, align)?, Arc::clone(&chunk.umem))));
        let (offset, umem) = match found {
            Some(found) => found,
            None => {
                let mut chunk = Chunk::new(&self.shared.context, self.shared.chunk_bytes.max(bytes))?;
                let umem = Arc::clone(&chunk.umem);
                let offset = chunk.gaps.take(bytes, align).unwrap_or_default();
                chunks.push(chunk);
                (offset, umem)
            }
        };
        let space = Space { umem, offset, bytes, shared: Arc::clone(&self.shared) };
        // SAFETY: inside of the chunk, and nobody else has it: it was free.
        unsafe { space.start().write_bytes(0, bytes) };
        Ok(space)
    }
}

impl RingsBuilder<'_> {
    /// Bytes that are registered at a time. A ring that is longer gets a registration of its own.
    #[must_use]
    pub fn chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = bytes;
        self
    }

    /// Registers the first chunk.
    ///
    /// # Errors
    /// [`Error::Call`]: no memory, or too much of it locked.
    pub fn build(self) -> Result<Rings, Error> {
        let first = Chunk::new(self.context, self.chunk_bytes)?;
        let shared =
            Shared { context: self.context.clone(), chunk_bytes: self.chunk_bytes, chunks: Mutex::new(vec![first]) };
        Ok(Rings { shared: Arc::new(shared) })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Chunk>> {
        // Nothing panics while it holds the lock, and the chunks are valid after every step.
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chunk {
    fn new(context: &Context, bytes: usize) -> Result<Self, Error> {
        let umem = Arc::new(Umem::new(context, bytes)?);
        Ok(Self { gaps: Gaps::new(umem.len()), umem })
    }
}

/// A part of the memory: a ring, or a page of records. Given back when dropped.
#[derive(Debug)]
pub(crate) struct Space {
    umem: Arc<Umem>,
    offset: usize,
    bytes: usize,
    shared: Arc<Shared>,
}

impl Space {
    /// Where it begins.
    pub(crate) fn start(&self) -> NonNull<u8> {
        // SAFETY: inside of the registered memory.
        unsafe { self.umem.start().add(self.offset) }
    }

    /// The device that the memory is registered with.
    pub(crate) fn context(&self) -> &Context {
        &self.shared.context
    }

    /// The memory that it is a part of.
    pub(crate) fn umem(&self) -> UmemId {
        self.umem.id()
    }

    /// Where it begins in that memory.
    pub(crate) fn offset(&self) -> u64 {
        self.offset as u64
    }

    /// Where it begins, as contexts of queues say it: the offset of its page of 4096 bytes, and from there in units of 64 bytes
    /// (`*_umem_offset` and `page_offset`, with a `log_page_size` of 0).
    pub(crate) fn page(&self) -> (u64, u8) {
        ((self.offset / PAGE * PAGE) as u64, (self.offset % PAGE / 64) as u8)
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let mut chunks = self.shared.lock();
        if let Some(chunk) = chunks.iter_mut().find(|chunk| Arc::ptr_eq(&chunk.umem, &self.umem)) {
            chunk.gaps.give(self.offset, self.bytes);
        }
    }
}
