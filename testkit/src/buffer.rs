//! Registered memory.

use std::num::NonZeroU64;
use std::ops::{Bound, RangeBounds};
use std::ptr::NonNull;

use blueflame::queue::owning::DeviceBuffer;
use blueflame::{Lkey, Remote, Rkey, Sge};
use softhca::embedded;

/// Memory that is registered with a device: [`End::buffer`](crate::End::buffer).
///
/// The device writes to it in any step, so its bytes are copied in and out and never borrowed.
///
/// [`OwningSendQueue`](blueflame::queue::OwningSendQueue) and similar queues take boxed buffers. With them, posting
/// needs no `unsafe`.
#[derive(Debug)]
pub struct Buffer(embedded::Buffer);

impl Buffer {
    pub(crate) fn new(buffer: embedded::Buffer) -> Self {
        Self(buffer)
    }

    /// The address of the first byte, aligned to a page.
    #[must_use]
    pub fn addr(&self) -> u64 {
        self.0.addr()
    }

    /// The first byte.
    #[must_use]
    pub fn ptr(&self) -> NonNull<u8> {
        self.0.ptr()
    }

    /// Bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a buffer has at least one byte")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The key for requests of this side.
    #[must_use]
    pub fn lkey(&self) -> Lkey {
        Lkey(self.0.lkey())
    }

    /// The key for peers.
    #[must_use]
    pub fn rkey(&self) -> Rkey {
        Rkey(self.0.rkey())
    }

    /// A part of the memory, as this side names it.
    ///
    /// # Panics
    /// If the range is not inside of the buffer, as slices do.
    #[must_use]
    pub fn sge(&self, range: impl RangeBounds<usize>) -> Sge {
        let (at, len) = self.range(range);
        Sge { addr: self.addr() + at as u64, length: len as u32, lkey: self.lkey() }
    }

    /// A part of the memory, if the buffer is divided into parts of `bytes` bytes: for receives of equal size.
    ///
    /// # Panics
    /// If the part is not inside of the buffer.
    #[must_use]
    pub fn slot(&self, index: usize, bytes: usize) -> Sge {
        self.sge(index * bytes..(index + 1) * bytes)
    }

    /// The first byte, as a peer names it; [`Remote::at`] gives the others.
    #[must_use]
    pub fn remote(&self) -> Remote {
        Remote { addr: self.addr(), rkey: self.rkey() }
    }

    /// Copies `data` to byte `at`.
    ///
    /// # Panics
    /// If it does not fit.
    pub fn write(&mut self, at: usize, data: &[u8]) {
        self.0.write(at, data);
    }

    /// Copies from byte `at`.
    ///
    /// # Panics
    /// If the buffer is shorter.
    pub fn read(&self, at: usize, out: &mut [u8]) {
        self.0.read(at, out);
    }

    /// A copy of a part of the memory.
    ///
    /// # Panics
    /// If the range is not inside of the buffer, as slices do.
    #[must_use]
    pub fn to_vec(&self, range: impl RangeBounds<usize>) -> Vec<u8> {
        let (at, len) = self.range(range);
        self.0.to_vec(at, len)
    }

    /// Begin and length.
    fn range(&self, range: impl RangeBounds<usize>) -> (usize, usize) {
        let begin = match range.start_bound() {
            Bound::Included(&begin) => begin,
            Bound::Excluded(&before) => before + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last + 1,
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len(),
        };
        assert!(begin <= end && end <= self.len(), "{begin}..{end} of a buffer of {} bytes", self.len());
        (begin, end - begin)
    }
}

// SAFETY: the box keeps the buffer, and the buffer its memory. Its contents are reached through the buffer alone, which
// nobody has meanwhile. If somebody deregisters its key, the device refuses the request; the memory stays.
unsafe impl DeviceBuffer for Box<Buffer> {
    fn sge(&self) -> Sge {
        Buffer::sge(self, ..)
    }

    fn into_wr_id(self) -> NonZeroU64 {
        let addr = Box::into_raw(self).expose_provenance() as u64;
        NonZeroU64::new(addr).expect("the address of a box is not zero")
    }

    unsafe fn from_wr_id(wr_id: NonZeroU64) -> Self {
        // SAFETY: the caller promises a pointer that `into_wr_id` made of a box, used once.
        unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut(wr_id.get() as usize)) }
    }
}
