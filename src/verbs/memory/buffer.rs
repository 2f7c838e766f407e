//! Buffers: registered memory of this process.

use core::fmt;
use core::num::{NonZeroU64, NonZeroUsize};
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use super::dma_handle::DmaHandle;
use super::registration::Registration;
use super::rights;
use super::source::Memory;
use crate::memory_polling::{InOrder, PolledMemory};
use crate::queue::owning::DeviceBuffer;
use crate::shared_copy::{copy_in, copy_out};
use crate::types::{Lkey, Rkey};
use crate::verbs::Access;
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::{Error, in_range};
use crate::wqe::{Remote, Sge};

/// The memory under a registration.
pub(super) struct Under {
    pub(super) memory: Box<dyn Memory>,
    /// Other memory that the device may know as well, after a change whose outcome is unknown.
    pub(super) other: Option<Box<dyn Memory>>,
    /// The handle that it is registered with.
    pub(super) dma_handle: Option<DmaHandle>,
}

/// A registration of memory of this process.
pub(super) type OfMemory = Registration<Under>;

/// A range of registered memory that no other value has: pieces of registered memory do not overlap.
///
/// The registration lives as long as any of its pieces. Dropping the last one takes the memory away from the device
/// before it is freed, so a request still in flight then fails; it cannot touch memory that is no longer there.
///
/// It can be cut into pieces, but not copied:
///
/// ```compile_fail,E0599
/// fn twice(buffer: blueflame::verbs::Buffer) -> [blueflame::verbs::Buffer; 2] {
///     [buffer.clone(), buffer]
/// }
/// ```
#[doc(alias("ibv_mr", "ibv_reg_mr"))]
pub struct Buffer {
    pub(super) start: NonNull<u8>,
    pub(super) len: usize,
    pub(super) registration: Arc<OfMemory>,
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

// SAFETY: the box keeps the piece and its registration, and this piece's memory is nobody else's; an identifier that is
// not turned back leaks the box.
unsafe impl DeviceBuffer for Box<Buffer> {
    fn sge(&self) -> Sge {
        Buffer::sge(self)
    }

    fn into_wr_id(self) -> NonZeroU64 {
        let address = Box::into_raw(self).expose_provenance() as u64;
        // SAFETY: an address of a value is not zero.
        unsafe { NonZeroU64::new_unchecked(address) }
    }

    unsafe fn from_wr_id(wr_id: NonZeroU64) -> Self {
        // SAFETY: the address of a box that `into_wr_id` has leaked, and nobody else's.
        unsafe { Box::from_raw(core::ptr::with_exposed_provenance_mut(wr_id.get() as usize)) }
    }
}

impl ProtectionDomain {
    /// Registers `memory` for what `access` permits.
    ///
    /// # Errors
    /// Memory of no bytes; [`Error::Unsupported`] for [`Access::ON_DEMAND`] on a device that cannot; or a failed call,
    /// of which [`CallError::hint`](crate::verbs::CallError::hint) knows the usual one, the locked-memory limit.
    #[doc(alias("ibv_reg_mr", "ibv_reg_mr_iova2"))]
    pub fn register(&self, memory: impl Memory, access: Access) -> Result<Buffer, Error> {
        // Boxed before the range is asked for: the range must be that of the value where it stays.
        let mut memory: Box<dyn Memory> = Box::new(memory);
        let (start, len) = checked_range(memory.as_mut())?;
        rights::check(&self.handle.context, access)?;
        let under = Under { memory, other: None, dma_handle: None };
        // SAFETY: `Memory` vouches for the range as long as `memory`, which the registration keeps.
        let registration = unsafe { register_range(self, start, len, access, under) }?;
        Ok(Buffer { start, len, registration: Arc::new(registration) })
    }

    /// Registers `memory` for what `access` permits, with the hints of a DMA handle.
    ///
    /// # Errors
    /// As [`Self::register`]; [`Error::AccessExcess`] for [`Access::ON_DEMAND`], which Linux does not combine with a
    /// handle; [`Error::ForeignDevice`].
    #[doc(alias = "ibv_reg_mr_ex")]
    pub fn register_with_dma_handle(
        &self,
        memory: impl Memory,
        access: Access,
        dma_handle: &DmaHandle,
    ) -> Result<Buffer, Error> {
        rights::refuse(access, Access::ON_DEMAND)?;
        self.handle.context.check("memory region", [dma_handle.into()])?;
        // Boxed before the range is asked for, as in `register`.
        let mut memory: Box<dyn Memory> = Box::new(memory);
        let (start, len) = checked_range(memory.as_mut())?;
        // The device makes pointers of it.
        let _ = start.as_ptr().expose_provenance();
        let mut attr = sys::ibv_mr_init_attr {
            length: len,
            access: access.bits() as i32,
            comp_mask: sys::IBV_REG_MR_MASK_ADDR | sys::IBV_REG_MR_MASK_DMAH,
            addr: start.as_ptr().cast(),
            dmah: dma_handle.as_raw(),
            ..sys::ibv_mr_init_attr::ZERO
        };
        let under = Under { memory, other: None, dma_handle: Some(dma_handle.clone()) };
        // SAFETY: domain and handle are alive and of one device; the attributes live until the call returns, and
        // `Memory` vouches for the range as long as `memory`, which the registration keeps. The call returns a new
        // region, or null.
        let registration = unsafe {
            let mr = sys::ibv_reg_mr_ex(self.as_raw(), &raw mut attr);
            Registration::over("ibv_reg_mr_ex", mr, access, under, &self.handle)
        }?;
        Ok(Buffer { start, len, registration: Arc::new(registration) })
    }
}

/// The range of `memory`.
pub(super) fn checked_range(memory: &mut dyn Memory) -> Result<(NonNull<u8>, usize), Error> {
    let (start, len) = memory.range();
    in_range("bytes of memory to register", len as u64, 1..=isize::MAX as u64)?;
    Ok((start, len))
}

/// Registers memory of this process, which peers name by its addresses.
///
/// # Safety
/// The range is valid as long as `under` is kept.
pub(super) unsafe fn register_range<M>(
    pd: &ProtectionDomain,
    start: NonNull<u8>,
    len: usize,
    access: Access,
    under: M,
) -> Result<Registration<M>, Error> {
    let addr = start.as_ptr();
    // SAFETY: the domain is alive; the caller vouches for the range. The call returns a new region, or null.
    unsafe {
        let mr = sys::ibv_reg_mr_iova2(pd.as_raw(), addr.cast(), len, addr.expose_provenance() as u64, access.bits());
        Registration::over("ibv_reg_mr_iova2", mr, access, under, &pd.handle)
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

    /// The rights of the registration.
    #[must_use]
    pub fn access(&self) -> Access {
        self.registration.access
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

    /// Returns the scatter/gather entry of a range that may leave the buffer, such as a length that a peer has sent.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the end of the range and the buffer's end.
    pub fn try_sge_of(&self, range: Range<usize>) -> Result<Sge, Error> {
        in_range("end of a range in a buffer", range.end as u64, range.start as u64..=self.len as u64)?;
        Ok(self.sge_of(range))
    }

    /// The buffer as a place for the peer's requests: tell the peer this, and the peer may use every right of the
    /// registration.
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

    /// Cuts the buffer into pieces of `len` bytes, and drops a shorter rest.
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
        // SAFETY: `at` has checked the range; `data` is a reference, and no reference to registered memory exists, so
        // the two do not overlap.
        unsafe { copy_in(data, to.as_ptr()) };
    }

    /// Copies from `offset` into `out`. Each byte is loaded once: a value in `out` that passed a check is the value
    /// that you use, even if the device writes to the buffer meanwhile.
    ///
    /// # Panics
    /// If the range leaves the buffer, as indexing a slice would.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        let from = self.at(offset..offset.saturating_add(out.len()));
        // SAFETY: as in `write`.
        unsafe { copy_out(from.as_ptr(), out) };
    }

    /// A copy of a part of the buffer. It allocates: on the data path, use [`read`](Self::read).
    ///
    /// # Panics
    /// If the range leaves the buffer, as indexing a slice would.
    #[must_use]
    pub fn to_vec(&self, range: Range<usize>) -> Vec<u8> {
        let (from, mut bytes) = (self.at(range.clone()), vec![0; range.len()]);
        // SAFETY: as in `write`: `at` has checked the range, which is as long as the copy.
        unsafe { copy_out(from.as_ptr(), &mut bytes) };
        bytes
    }

    /// A part of the buffer, without a copy: the data of a retired receive.
    ///
    /// Nothing changes it while it is borrowed. Receives and READs of this side own their buffer
    /// ([`RecvQueue::post`](crate::RecvQueue::post)), or are `unsafe` calls. Peers have no right to write it.
    ///
    /// # Errors
    /// [`Error::PeersMayWrite`] for a registration with [`Access::REMOTE_WRITE`], [`Access::REMOTE_ATOMIC`] or
    /// [`Access::MW_BIND`]: use [`read`](Self::read). [`Error::OutOfRange`] as for [`try_sge_of`](Self::try_sge_of).
    pub fn bytes(&self, range: Range<usize>) -> Result<&[u8], Error> {
        const PEERS: [Access; 3] = [Access::REMOTE_WRITE, Access::REMOTE_ATOMIC, Access::MW_BIND];
        if PEERS.into_iter().any(|right| self.access().contains(right)) {
            return Err(Error::PeersMayWrite { access: self.access() });
        }
        in_range("end of a range in a buffer", range.end as u64, range.start as u64..=self.len as u64)?;
        let len = range.len();
        // SAFETY: memory of this piece alone, valid and initialized as `Memory` vouches; `at` checks the range again.
        // Writers of this process need `&mut self`. No peer may write: that would take a right that the registration
        // lacks, and rights change only with the buffer at hand (`Buffer::reregister`). Requests of this side that let
        // the device write take the buffer (`DeviceBuffer`), or are `unsafe` calls, whose callers leave it alone.
        Ok(unsafe { core::slice::from_raw_parts(self.at(range).as_ptr(), len) })
    }

    /// A range of the buffer where a peer WRITEs messages that end in a flag byte, for polling. The peer writes by a queue
    /// pair that has an [order](crate::verbs::Qp::writes_in_order).
    ///
    /// # Panics
    /// If the range is empty, or leaves the buffer, as indexing a slice would. If the registration has
    /// [`Access::RELAXED_ORDERING`]: the flag may arrive before the message ([`memory_polling`](crate::memory_polling)
    /// has the rule).
    #[must_use]
    pub fn polled(&self, range: Range<usize>, _: InOrder) -> PolledMemory<'_> {
        let len = NonZeroUsize::new(range.len()).expect("a range with a byte for the flag");
        assert!(!self.access().contains(Access::RELAXED_ORDERING), "a flag is polled in memory of relaxed ordering");
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
    /// As long as the slice lives, the device does not write its bytes. Nothing is in flight to this buffer: no
    /// receive, READ or atomic result of this side, and no WRITE or atomic of a peer that has the rkey.
    #[must_use]
    pub unsafe fn as_slice(&self) -> &[u8] {
        // SAFETY: valid memory of this piece alone; the caller vouches for the device.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The bytes as a slice to write to.
    ///
    /// # Safety
    /// The conditions of [`Self::as_slice`], and the device does not read them either: no send, WRITE or READ response
    /// is in flight.
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
    pub(super) fn at(&self, range: Range<usize>) -> NonNull<u8> {
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
