//! Registered memory: what the device may read and write, and how long.
//!
//! A registration pins memory, and tells the device's translation tables about it, which takes microseconds to
//! milliseconds: do it at start ([`super::Pool`]), not in the I/O path.
//!
//! # Why there is no `&[u8]`
//!
//! The device writes registered memory behind the compiler's back, whenever a peer with the rkey likes. A Rust reference
//! promises that nothing else does. So [`Buffer`] never forms a reference to its memory: it copies in and out, and leaves
//! it to `unsafe` methods of the caller who knows that nothing is in flight to say otherwise. What a copy reads while the
//! device writes is unspecified bytes, as it is for every driver.

use core::fmt;
use core::mem::ManuallyDrop;
use core::num::{NonZeroU64, NonZeroUsize};
use core::ops::{BitOr, Range};
use core::ptr::NonNull;
use std::sync::Arc;

use rdma_sys as sys;

use super::error::{in_range, non_null};
use super::event::event;
use super::pd::PdHandle;
use super::{Error, ProtectionDomain};
use crate::memory_polling::PolledMemory;
use crate::queue::DeviceBuffer;
use crate::shared_copy::{copy_in, copy_out};
use crate::types::{Lkey, Rkey};
use crate::wqe::{Remote, Sge};

/// What a registration permits (`ibv_access_flags`). Combine with `|`. Reading by the own device is always permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access(u32);

impl Access {
    /// The device may read the memory for sends, nothing else.
    pub const LOCAL_READ: Self = Self(0);
    /// The device may write it: receives, results of READs and atomics.
    pub const LOCAL_WRITE: Self = Self(sys::ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0);
    /// Peers may READ it.
    pub const REMOTE_READ: Self = Self(sys::ibv_access_flags::IBV_ACCESS_REMOTE_READ.0);
    /// Peers may WRITE it (includes [`Self::LOCAL_WRITE`], which IBTA vol. 1, 10.6.3.1 demands).
    pub const REMOTE_WRITE: Self = Self(sys::ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0 | Self::LOCAL_WRITE.0);
    /// Peers may do atomics on it (includes [`Self::LOCAL_WRITE`]).
    pub const REMOTE_ATOMIC: Self = Self(sys::ibv_access_flags::IBV_ACCESS_REMOTE_ATOMIC.0 | Self::LOCAL_WRITE.0);
    /// Writes of the device may overtake each other on PCIe: more bandwidth on machines whose root complex gains by it.
    /// The last byte of a message may then be there before the first: do not poll on memory, wait for the completion.
    /// Ignored by kernels and devices that do not know it.
    pub const RELAXED_ORDERING: Self = Self(sys::ibv_access_flags::IBV_ACCESS_RELAXED_ORDERING.0);
    /// Pages are pinned when the device touches them, not when they are registered; the device must support it.
    pub const ON_DEMAND: Self = Self(sys::ibv_access_flags::IBV_ACCESS_ON_DEMAND.0);

    /// Everything local and remote, in strict order.
    pub const ALL: Self =
        Self(Self::LOCAL_WRITE.0 | Self::REMOTE_READ.0 | Self::REMOTE_WRITE.0 | Self::REMOTE_ATOMIC.0);

    /// The `ibv_access_flags`.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl BitOr for Access {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Memory that can be registered: it stays where it is and is accessible through no reference while it is registered.
///
/// # Safety
/// [`Self::range`] always gives the same range, which is valid for reads and writes from when the value is made until it
/// is dropped, moved or not. During that time nobody else reads or writes it through a Rust reference, nor by pointer at the
/// same time as a [`Buffer`] of it does; the buffers of a second registration of the same memory count as somebody else.
pub unsafe trait Memory: Send + 'static {
    /// The first byte and the number of bytes.
    fn range(&mut self) -> (NonNull<u8>, usize);
}

// SAFETY: a map stays where it is until it is dropped, and only its owner can borrow from it; the owner is the
// registration, which does not.
unsafe impl Memory for memmap2::MmapMut {
    fn range(&mut self) -> (NonNull<u8>, usize) {
        (NonNull::new(self.as_mut_ptr()).unwrap_or(NonNull::dangling()), self.len())
    }
}

/// Memory of the caller's, by address: a framework's huge pages, shared memory, the stack of a `'static` thread.
#[derive(Debug)]
pub struct RawMemory {
    start: NonNull<u8>,
    len: usize,
}

impl RawMemory {
    /// Takes charge of `len` bytes at `start`.
    ///
    /// # Safety
    /// The memory is valid for reads and writes until every [`Buffer`] of the registration is dropped, and until then
    /// nobody else accesses it through a Rust reference, nor by pointer at the same time as such a buffer does: who
    /// registers the same memory twice keeps the two apart. It may belong to any allocator and is not freed.
    #[must_use]
    pub const unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len }
    }
}

// SAFETY: an address and a length; what they stand for is in the contract of `new`.
unsafe impl Send for RawMemory {}

// SAFETY: the contract of `new`.
unsafe impl Memory for RawMemory {
    fn range(&mut self) -> (NonNull<u8>, usize) {
        (self.start, self.len)
    }
}

/// A memory region (`ibv_mr`) with the memory under it. First the device loses access, then the memory goes, then the
/// domain.
struct Registration {
    mr: NonNull<sys::ibv_mr>,
    lkey: Lkey,
    rkey: Rkey,
    memory: ManuallyDrop<Box<dyn Memory>>,
    _pd: Arc<PdHandle>,
}

// SAFETY: the region is only looked at (keys) and freed (once, by the last owner); libibverbs allows both from any thread.
unsafe impl Send for Registration {}
// SAFETY: shared use reads two plain numbers.
unsafe impl Sync for Registration {}

impl Registration {
    /// The kernel's number of it, for events. (Not a key: on mlx5 both keys are one, and who knows it can access the memory.)
    #[cfg(feature = "tracing")]
    fn number(&self) -> u32 {
        // SAFETY: not deregistered; written once.
        unsafe { (*self.mr.as_ptr()).handle }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        #[cfg(feature = "tracing")]
        let number = self.number();
        // SAFETY: from `ibv_reg_mr_iova2`, deregistered once.
        let returned = unsafe { sys::ibv_dereg_mr(self.mr.as_ptr()) };
        // The key is invalid for the device from here on: a request that still names it fails instead of touching the
        // memory. Unless the kernel refused (a memory window is bound to the region): then the device may still write the
        // memory, and leaking it is the only safe thing left.
        if returned != 0 {
            event!(WARN, "memory cannot be deregistered: it is leaked", number, errno = returned);
        } else {
            event!(DEBUG, "memory deregistered", number);
            // SAFETY: dropped here only, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}

/// A range of registered memory that nobody else has: pieces of registered memory do not overlap.
///
/// The registration lives as long as any of its pieces. Dropping the last one takes the memory away from the device
/// before it is freed, so a request still in flight then fails; it cannot touch memory that is no longer there.
///
/// It can be cut into pieces and not be copied:
///
/// ```compile_fail,E0599
/// fn twice(buffer: blueflame::verbs::Buffer) -> [blueflame::verbs::Buffer; 2] {
///     [buffer.clone(), buffer]
/// }
/// ```
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
    registration: Arc<Registration>,
}

// SAFETY: the piece is this value's alone, as a `Box<[u8]>` would be.
unsafe impl Send for Buffer {}
// SAFETY: `&self` copies out only; writers need `&mut self`, and the device is no Rust thread (see the module).
unsafe impl Sync for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("addr", &format_args!("{:#x}", self.addr()))
            .field("len", &self.len)
            .field("lkey", &self.lkey())
            .field("rkey", &self.rkey())
            .finish()
    }
}

// SAFETY: the box keeps the piece and its registration, and this piece's memory is nobody else's; a tag that is not turned
// back leaks the box.
unsafe impl DeviceBuffer for Box<Buffer> {
    fn sge(&self) -> Sge {
        Buffer::sge(self)
    }

    fn into_tag(self) -> NonZeroU64 {
        let address = NonNull::from(Box::leak(self)).expose_provenance().get() as u64;
        // SAFETY: an address of a value is not zero.
        unsafe { NonZeroU64::new_unchecked(address) }
    }

    unsafe fn from_tag(tag: NonZeroU64) -> Self {
        // SAFETY: the address of a box that `into_tag` has leaked, and nobody else's.
        unsafe { Box::from_raw(core::ptr::with_exposed_provenance_mut(tag.get() as usize)) }
    }
}

impl ProtectionDomain {
    /// Registers `memory` for what `access` permits.
    ///
    /// # Errors
    /// Memory of no bytes, or a failed call; [`super::CallError::hint`] knows the usual one, the locked-memory limit.
    pub fn register(&self, memory: impl Memory, access: Access) -> Result<Buffer, Error> {
        // Boxed before the range is asked for: the range must be that of the value where it stays.
        let mut memory: Box<dyn Memory> = Box::new(memory);
        let (start, len) = memory.range();
        in_range("bytes of memory to register", len as u64, 1..=isize::MAX as u64)?;
        let addr = start.as_ptr();
        // SAFETY: the domain is alive; `Memory` vouches for the range as long as `memory`, which the registration keeps.
        let mr = unsafe {
            sys::ibv_reg_mr_iova2(self.handle.raw(), addr.cast(), len, addr.expose_provenance() as u64, access.bits())
        };
        let mr = non_null("ibv_reg_mr_iova2", mr)?;
        // SAFETY: the library filled it in and does not change it.
        let (lkey, rkey) = unsafe { (Lkey((*mr.as_ptr()).lkey), Rkey((*mr.as_ptr()).rkey)) };
        let registration =
            Arc::new(Registration { mr, lkey, rkey, memory: ManuallyDrop::new(memory), _pd: Arc::clone(&self.handle) });
        event!(DEBUG, "memory registered", number = registration.number(), bytes = len, access = access.bits());
        Ok(Buffer { start, len, registration })
    }
}

impl Buffer {
    /// Address of the first byte, as data and remote address segments name it.
    #[must_use]
    pub fn addr(&self) -> u64 {
        self.start.as_ptr().addr() as u64
    }

    /// Bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a buffer has at least one byte")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The key by which this side's requests name the memory.
    #[must_use]
    pub fn lkey(&self) -> Lkey {
        self.registration.lkey
    }

    /// The key by which the peer's requests name the memory.
    #[must_use]
    pub fn rkey(&self) -> Rkey {
        self.registration.rkey
    }

    /// The whole buffer as a scatter/gather entry. Posting refuses one longer than an entry can name.
    #[must_use]
    pub fn sge(&self) -> Sge {
        self.sge_of(0..self.len)
    }

    /// A range of the buffer as a scatter/gather entry.
    ///
    /// # Panics
    /// If the range leaves the buffer, as indexing a slice would.
    #[must_use]
    pub fn sge_of(&self, range: Range<usize>) -> Sge {
        let addr = self.at(range.clone()).as_ptr().addr() as u64;
        Sge { addr, length: u32::try_from(range.len()).unwrap_or(u32::MAX), lkey: self.lkey() }
    }

    /// The buffer as a place for the peer's requests: tell it this, and it may do what the registration permits.
    #[must_use]
    pub fn remote(&self) -> Remote {
        Remote { addr: self.addr(), rkey: self.rkey() }
    }

    /// The first byte.
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.start
    }

    /// Cuts the buffer in two: the first `at` bytes, and the rest. `None` unless both have a byte at least.
    #[must_use]
    pub fn split_at(mut self, at: usize) -> Option<(Self, Self)> {
        if at == 0 || at >= self.len {
            return None;
        }
        Some((self.carve(at), self))
    }

    /// Cuts the buffer into pieces of `len` bytes; a shorter rest is given up.
    ///
    /// # Panics
    /// If `len` is zero.
    #[must_use]
    pub fn chunks(mut self, len: usize) -> Vec<Self> {
        assert!(len > 0, "pieces of no bytes");
        (0..self.len / len).map(|_| self.carve(len)).collect()
    }

    /// Copies `data` to `offset`.
    ///
    /// # Panics
    /// If it does not fit, as indexing a slice would.
    pub fn write(&mut self, offset: usize, data: &[u8]) {
        let to = self.at(offset..offset.saturating_add(data.len()));
        // SAFETY: `at` has checked the range; `data` is a reference, and no reference to registered memory exists, so the
        // two do not overlap.
        unsafe { copy_in(data, to.as_ptr()) };
    }

    /// Copies from `offset` into `out`. Each byte is loaded once: what `out` says after a check it still says when used,
    /// whatever the device writes meanwhile.
    ///
    /// # Panics
    /// If the range leaves the buffer, as indexing a slice would.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        let from = self.at(offset..offset.saturating_add(out.len()));
        // SAFETY: as in `write`.
        unsafe { copy_out(from.as_ptr(), out) };
    }

    /// A range of the buffer as a place where a peer WRITEs messages, the last byte of each a flag: to poll for it.
    ///
    /// The registration must not have [`Access::RELAXED_ORDERING`]; [`memory_polling`](crate::memory_polling) has the rule.
    ///
    /// # Panics
    /// If the range is empty, or leaves the buffer, as indexing a slice would.
    #[must_use]
    pub fn polled(&self, range: Range<usize>) -> PolledMemory<'_> {
        let len = NonZeroUsize::new(range.len()).expect("a range with a byte for the flag");
        // SAFETY: registered memory of this piece, to which no reference exists; `write` and `fill` need `&mut self`.
        unsafe { PolledMemory::from_raw(self.at(range), len) }
    }

    /// Sets every byte to `value`.
    pub fn fill(&mut self, value: u8) {
        // SAFETY: the whole of this piece.
        unsafe { self.start.as_ptr().write_bytes(value, self.len) };
    }

    /// The bytes as a slice.
    ///
    /// # Safety
    /// As long as the slice lives, the device does not write them: no receive, READ or atomic result of this side, and no
    /// WRITE or atomic of a peer that has the rkey, is in flight to this buffer.
    #[must_use]
    pub unsafe fn as_slice(&self) -> &[u8] {
        // SAFETY: valid memory of this piece alone; the caller vouches for the device.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The bytes as a slice to write to.
    ///
    /// # Safety
    /// As [`Self::as_slice`], and the device does not read them either: no send, WRITE or READ response is in flight.
    #[must_use]
    pub unsafe fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: valid memory of this piece alone, borrowed for writing; the caller vouches for the device.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Cuts off the first `len` bytes (the buffer has at least as many) and returns them. It may leave no bytes.
    pub(crate) fn carve(&mut self, len: usize) -> Self {
        let front = Self { start: self.at(0..len), len, registration: Arc::clone(&self.registration) };
        self.start = self.at(len..self.len);
        self.len -= len;
        front
    }

    /// The first `len` bytes (the buffer has at least as many), without the rest.
    pub(crate) fn truncated(self, len: usize) -> Self {
        debug_assert!(len <= self.len);
        Self { len: len.min(self.len), ..self }
    }

    /// Where a range begins.
    fn at(&self, range: Range<usize>) -> NonNull<u8> {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "bytes {}..{} of a buffer of {}",
            range.start,
            range.end,
            self.len
        );
        // SAFETY: at most one past the end of this piece.
        unsafe { self.start.add(range.start) }
    }
}
