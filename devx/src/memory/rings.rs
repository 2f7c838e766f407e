//! Memory of many rings in few registrations.

use core::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blueflame::verbs::CallError;

use super::gaps::Gaps;
use super::umem::{PAGE, Umem};
use crate::cmd::UmemId;
use crate::context::Context;
use crate::error::Error;

/// Memory for the rings and doorbell records of many queues, registered in large chunks. Cheap to clone. The memory
/// stays registered as long as a queue in it lives.
///
/// ```text
///   Rings ── chunk: one UMEM on huge pages        ┌──────┬──────┬──────┬─────────┬──────┬───────
///     │                                           │ ring │ ring │ ring │ records │ ring │ free
///     ├── ThreadRings (thread 1) ── its records ──┼──────┴──────┴──────┴────^────┘
///     └── ThreadRings (thread 2) ── its records   └ 8 bytes each, dense: no other thread's lie on these cache lines
/// ```
///
/// Make queues in a [`ThreadRings`](super::ThreadRings) over it, one for each thread.
///
/// If the kernel does not state the size of the device's pages of a chunk ([`Umem::page_bytes`]), rings cannot begin at
/// every offset in it. Each ring is then registered once more by itself, in whole pages. The VFIO driver behaves this
/// way.
///
/// With verbs, each queue pair is a registration of its own, and its record takes a cache line. Here 10,000 queue pairs
/// are one registration if the first chunk is large enough ([`RingsBuilder::chunk_bytes`]).
#[derive(Clone, Debug)]
pub struct Rings {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    context: Context,
    /// Bytes of further chunks; `None`: there are none.
    chunk_bytes: Option<usize>,
    chunks: Mutex<Vec<Chunk>>,
}

#[derive(Debug)]
struct Chunk {
    umem: Arc<Umem>,
    gaps: Gaps,
    /// Rings in it that are registered by themselves.
    alone: usize,
}

/// How to register the memory of rings.
#[derive(Clone, Copy, Debug)]
pub struct RingsBuilder<'a> {
    context: &'a Context,
    chunk_bytes: usize,
}

/// How much memory rings and records take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingsUse {
    /// Registrations: of chunks, and of rings that need their own.
    pub registrations: usize,
    /// Bytes of chunks.
    pub registered: usize,
    /// Bytes of the chunks that rings and pages of records take.
    pub taken: usize,
}

/// Rings begin at multiples of a send WQEBB at least, which is also 1/64 of a page: firmware permits no other offsets.
pub(super) const RING_ALIGN: usize = PAGE / 64;

impl Rings {
    /// Begins to configure the registration. The default is chunks of 2 MiB.
    #[must_use]
    pub fn builder(context: &Context) -> RingsBuilder<'_> {
        RingsBuilder { context, chunk_bytes: 2 << 20 }
    }

    /// Memory in chunks of the default size.
    ///
    /// # Errors
    /// [`Error::Call`]: no memory, or too much of it locked.
    pub fn new(context: &Context) -> Result<Self, Error> {
        Self::builder(context).build()
    }

    /// All rings and records lie in this memory, such as a dma-buf ([`Umem::of_dma_buf`]). When it is full, making a
    /// queue fails with [`Error::OutOfRange`].
    #[must_use]
    pub fn over(memory: Umem) -> Self {
        let (context, memory) = (memory.context().clone(), Arc::new(memory));
        let all = Chunk { gaps: Gaps::new(memory.len()), umem: memory, alone: 0 };
        Self { shared: Arc::new(Shared { context, chunk_bytes: None, chunks: Mutex::new(vec![all]) }) }
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
            registrations: all.registrations + 1 + chunk.alone,
            registered: all.registered + chunk.umem.len(),
            taken: all.taken + chunk.umem.len() - chunk.gaps.free(),
        })
    }

    /// Takes zeroed memory for a ring.
    pub(super) fn take_ring(&self, bytes: usize, align: usize) -> Result<Space, Error> {
        let space = self.take(bytes, align)?;
        if space.chunk.page_bytes().is_some() {
            return Ok(space);
        }
        drop(space);
        let page = host_page();
        let bytes = bytes.checked_next_multiple_of(page).ok_or_else(too_much)?;
        let mut space = self.take(bytes, align.max(page))?;
        // SAFETY: the space is a part of the chunk, which is mapped as long as the space has it; the registration ends
        // before.
        let own = unsafe { Umem::over(&self.shared.context, space.start(), bytes) }?;
        space.own = Some(own);
        self.shared.count_alone(&space.chunk);
        Ok(space)
    }

    /// Takes zeroed memory at a multiple of `align`; registers another chunk if there is no room.
    pub(super) fn take(&self, bytes: usize, align: usize) -> Result<Space, Error> {
        let mut chunks = self.shared.lock();
        let found = chunks.iter_mut().find_map(|chunk| Some((chunk.gaps.take(bytes, align)?, Arc::clone(&chunk.umem))));
        let (offset, chunk) = match found {
            Some(found) => found,
            None => {
                let largest = chunks.iter().map(|chunk| chunk.gaps.largest()).max().unwrap_or(0);
                let Some(chunk_bytes) = self.shared.chunk_bytes else {
                    let (what, value, max) =
                        ("bytes of a ring in memory of a fixed size", bytes as u64, largest as u64);
                    return Err(Error::OutOfRange { what, value, min: 0, max });
                };
                let mut chunk = Chunk::new(&self.shared.context, chunk_bytes.max(bytes))?;
                let umem = Arc::clone(&chunk.umem);
                let offset = chunk.gaps.take(bytes, align).unwrap_or_default();
                chunks.push(chunk);
                (offset, umem)
            }
        };
        let space = Space { own: None, chunk, offset, bytes, shared: Arc::clone(&self.shared) };
        // SAFETY: inside of the chunk, and nobody else has it: it was free.
        unsafe { space.start().write_bytes(0, bytes) };
        Ok(space)
    }
}

impl RingsBuilder<'_> {
    /// Bytes to register at a time. A longer ring gets a registration of its own.
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
        let (context, chunk_bytes) = (self.context.clone(), Some(self.chunk_bytes));
        Ok(Rings { shared: Arc::new(Shared { context, chunk_bytes, chunks: Mutex::new(vec![first]) }) })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Chunk>> {
        // Nothing panics while it holds the lock, and the chunks are valid after every step.
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more ring of a chunk that is registered by itself.
    fn count_alone(&self, chunk: &Arc<Umem>) {
        if let Some(chunk) = self.lock().iter_mut().find(|other| Arc::ptr_eq(&other.umem, chunk)) {
            chunk.alone += 1;
        }
    }
}

impl Chunk {
    fn new(context: &Context, bytes: usize) -> Result<Self, Error> {
        let umem = Arc::new(Umem::new(context, bytes)?);
        Ok(Self { gaps: Gaps::new(umem.len()), umem, alone: 0 })
    }
}

/// A part of the memory: a ring, or a page of records. Given back when dropped.
#[derive(Debug)]
pub(crate) struct Space {
    /// Its own registration, where the chunk's will not do.
    own: Option<Umem>,
    chunk: Arc<Umem>,
    /// Where it begins in the chunk.
    offset: usize,
    bytes: usize,
    shared: Arc<Shared>,
}

impl Space {
    /// Where it begins.
    pub(crate) fn start(&self) -> NonNull<u8> {
        // SAFETY: inside of the registered memory.
        unsafe { self.chunk.start().add(self.offset) }
    }

    /// The device that the memory is registered with.
    pub(crate) fn context(&self) -> &Context {
        &self.shared.context
    }

    /// The memory that commands find it in (`*_umem_id`).
    pub(crate) fn umem(&self) -> UmemId {
        self.own.as_ref().unwrap_or(&self.chunk).id()
    }

    /// Where it begins in that memory (`*_umem_offset`). `page_offset` and `log_page_size` stay 0: with a UMEM they are
    /// reserved (DOCA GPUNetIO `src/doca_verbs_qp.cpp` and `src/doca_verbs_cq.cpp`, where `log_page_size` is set).
    pub(crate) fn offset(&self) -> u64 {
        if self.own.is_some() { 0 } else { self.offset as u64 }
    }
}

/// Bytes of the host's pages, and at least those of the device's.
pub(crate) fn host_page() -> usize {
    // SAFETY: asks the C library for a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(PAGE).max(PAGE)
}

/// The error for a size beyond the address space.
fn too_much() -> Error {
    CallError { call: "mmap", errno: libc::ENOMEM }.into()
}

impl Drop for Space {
    fn drop(&mut self) {
        let alone = usize::from(self.own.is_some());
        if self.own.as_mut().is_some_and(|own| !own.end()) {
            // The device may still use the place: nothing else is put there, and the chunk stays.
            core::mem::forget(Arc::clone(&self.chunk));
            return;
        }
        let mut chunks = self.shared.lock();
        if let Some(chunk) = chunks.iter_mut().find(|chunk| Arc::ptr_eq(&chunk.umem, &self.chunk)) {
            chunk.gaps.give(self.offset, self.bytes);
            chunk.alone -= alone;
        }
    }
}
