//! Received frames: lent for a moment, or kept. Knows no queue.
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;

use crate::cq::cqe::{L3Header, Verdicts, outside_of_tunnel};
use crate::queue::striding::memory::BufferState;
use crate::shared_copy::copy_out;

/// Bits of a flow tag.
const TAG_BITS: u32 = 24;

/// The bytes of a received frame, and the fields of its completion that go with them.
///
/// They are read by copying, as those of all memory that the device reaches: each byte is loaded once.
/// [`as_slice`](Self::as_slice) saves the copy, for callers that trust the device.
pub struct FrameBytes {
    start: NonNull<u8>,
    /// The flow tag, of 24 bits, and above it the byte of the completion that tells of a tunnel.
    tag: u32,
    len: u16,
    verdicts: Verdicts,
}

impl fmt::Debug for FrameBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameBytes")
            .field("len", &self.len)
            .field("flow_tag", &self.flow_tag())
            .field("tunnel", &self.tunnel())
            .field("verdicts", &self.verdicts)
            .finish_non_exhaustive()
    }
}

impl FrameBytes {
    /// The frame at `start`, of a completion's word, with its flow tag and the byte that tells of its tunnel.
    ///
    /// # Safety
    /// The bytes that the word counts are readable as long as the value is reachable, and no Rust code writes them.
    #[inline(always)]
    pub(super) unsafe fn new(start: NonNull<u8>, word: u32, (tag, info): (u32, u8), verdicts: Verdicts) -> Self {
        Self { start, tag: u32::from(info) << TAG_BITS | tag, len: word as u16, verdicts }
    }

    /// Bytes, 1 to 65535. The queue refuses a frame of no bytes
    /// ([`RetireError::NoBytes`](crate::RetireError::NoBytes)).
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "the queue refuses empty frames")]
    pub fn len(&self) -> usize {
        self.len.into()
    }

    /// The tag of the rule that delivered it, 24 bits; 0 without one.
    #[inline]
    #[must_use]
    pub fn flow_tag(&self) -> u32 {
        self.tag & ((1 << TAG_BITS) - 1)
    }

    /// The IP header outside of its tunnel, as [`CqeView::tunnel`](crate::cq::CqeView::tunnel) has it. The
    /// [`verdicts`](Self::verdicts) are then about the headers inside.
    #[inline]
    #[must_use]
    pub fn tunnel(&self) -> Option<L3Header> {
        outside_of_tunnel((self.tag >> TAG_BITS) as u8)
    }

    /// The device's verdicts about its headers.
    #[inline]
    #[must_use]
    pub fn verdicts(&self) -> Verdicts {
        self.verdicts
    }

    /// Copies from its byte `offset` on to `out`: as much as there is. Returns how much.
    #[inline]
    pub fn read(&self, offset: usize, out: &mut [u8]) -> usize {
        let offset = offset.min(self.len());
        let bytes = out.len().min(self.len() - offset);
        let out = out.get_mut(..bytes).unwrap_or_default();
        // SAFETY: `new` promises the bytes, to which no `&mut` exists; `out` is one, so it lies elsewhere.
        unsafe { copy_out(self.start.as_ptr().add(offset), out) };
        bytes
    }

    /// The first byte.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.start
    }

    /// The bytes in place.
    ///
    /// # Safety
    /// The device does not write them as long as the slice lives. A device that follows the PRM does not: it has
    /// completed the frame, and the buffer is posted again after the frame was dropped. This crate cannot check that:
    /// only a broken device would do otherwise.
    #[inline]
    #[must_use]
    pub unsafe fn as_slice(&self) -> &[u8] {
        // SAFETY: `new` promises the bytes; the caller vouches for the device.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len()) }
    }
}

/// A frame in a buffer of a [queue](super::StridingRecvQueue), which it borrows.
///
/// Neither the queue nor the buffer changes while it lives:
///
/// ```compile_fail,E0499
/// # use blueflame::cq::Cqe;
/// # use blueflame::queue::striding::StridingRecvQueue;
/// fn two(queue: &mut StridingRecvQueue, first: Cqe<'_>, second: Cqe<'_>) {
///     let a = queue.receive(&first);
///     let b = queue.receive(&second);
///     drop((a, b));
/// }
/// ```
#[must_use = "keep the frame, or read it"]
pub struct LentFrame<'a> {
    bytes: FrameBytes,
    state: NonNull<BufferState>,
    /// How many frames of the buffer were kept.
    kept: &'a mut u32,
}

impl fmt::Debug for LentFrame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.fmt(f)
    }
}

impl<'a> LentFrame<'a> {
    /// # Safety
    /// `state` is the state of the buffer in which the bytes are. The buffer is posted, and is closed with `kept` as
    /// the number of frames that were kept of it. The bytes are not kept by another value.
    #[inline(always)]
    pub(super) unsafe fn new(bytes: FrameBytes, (state, kept): (NonNull<BufferState>, &'a mut u32)) -> Self {
        Self { bytes, state, kept }
    }

    /// The frame, to be lent later.
    #[inline(always)]
    pub(super) fn into_bytes(self) -> FrameBytes {
        self.bytes
    }

    /// Keeps the frame: its bytes stay as they are until it is dropped.
    #[inline(always)]
    #[must_use]
    pub fn keep(self) -> Frame {
        *self.kept += 1;
        Frame { bytes: self.bytes, state: self.state }
    }
}

impl Deref for LentFrame<'_> {
    type Target = FrameBytes;

    #[inline(always)]
    fn deref(&self) -> &FrameBytes {
        &self.bytes
    }
}

/// A received frame that was kept: a handle of 24 bytes on 64-bit CPUs, made with no allocation.
///
/// It keeps its buffer from being posted again. Dropping it is one atomic subtraction, on any thread. The last frame of
/// a buffer also puts the buffer into the list of free ones. It keeps the memory itself, even after the queue is gone.
///
/// A kept frame is not copied. Share it as `Arc<Frame>`:
///
/// ```compile_fail,E0599
/// fn twice(frame: blueflame::queue::striding::Frame) -> [blueflame::queue::striding::Frame; 2] {
///     [frame.clone(), frame]
/// }
/// ```
///
/// Other threads may have it:
///
/// ```
/// fn hand_over(frames: Vec<blueflame::queue::striding::Frame>) {
///     std::thread::spawn(move || frames.iter().map(|frame| frame.len()).sum::<usize>());
/// }
/// ```
pub struct Frame {
    bytes: FrameBytes,
    state: NonNull<BufferState>,
}

// SAFETY: the bytes stay as they are and are only read; the count is atomic.
unsafe impl Send for Frame {}
// SAFETY: `&self` only reads; the bytes stay as they are, and the count is atomic.
unsafe impl Sync for Frame {}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.fmt(f)
    }
}

impl Deref for Frame {
    type Target = FrameBytes;

    #[inline(always)]
    fn deref(&self) -> &FrameBytes {
        &self.bytes
    }
}

impl Drop for Frame {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `keep` has counted it; it is dropped once.
        unsafe { BufferState::give_back(self.state) };
    }
}
