//! Sessions: several frames in one WQE. Knows frames by their size only.
use core::ptr::NonNull;

use crate::arch::Wide;
use crate::arch::ds::{DsWords, HeldDs as _};
use crate::db::Register;
use crate::queue::send::batch::SendBatch;
use crate::queue::send::error::PostError;
use crate::queue::send::parts::WqeRecord;
use crate::queue::send::place::WqeInRing;
use crate::transport::RawPacket;
use crate::types::{DS_BYTES, Ds, WQEBB_DS, Wqebbs};
use crate::wqe::data::ToCarry;
use crate::wqe::limits::MAX_SGE_BYTES;
use crate::wqe::operations::Frame;
use crate::wqe::seg::InlineSeg;
use crate::wqe::{EncodeError, MULTI_PACKET_HEAD_DS, MultiPacket, Request, RingCursor, Sge, each_ds, inline_ds};

/// 64-bit words of a DS.
const DS_WORDS: usize = DS_BYTES / size_of::<u64>();

impl<'q, R: Register> SendBatch<'q, RawPacket<0>, R> {
    /// Begins a WQE of several frames. `head` has their common options: the checksums, the offsets of headers, the
    /// metadata, when the WQE completes, and the `wr_id` of the first frame.
    ///
    /// # Errors
    /// [`PostError::NoMultiPacket`] if the device or the queue has no such WQEs, [`EncodeError::NoOffload`] for another
    /// offload, [`PostError::Full`], [`PostError::NotReadyToSend`].
    #[inline(always)]
    pub fn session(&mut self, head: &Request<'static, Frame>) -> Result<Session<'_, 'q, R>, PostError> {
        let (sq, pi) = (&*self.sq, self.pi);
        if !sq.limits.offloads.multi_packet {
            return Err(PostError::no_multi_packet());
        }
        head.check_offloads(&sq.limits)?;
        sq.check_room_for_one(pi)?;
        let place = sq.ring.place(pi);
        let limit = (usize::from(sq.free_from(pi).0) * WQEBB_DS).min(usize::from(Ds::MAX));
        let straight = (usize::from(sq.capacity().0) - place.number()) * WQEBB_DS;
        let here = limit.min(straight);
        let start = sq.ring.wqebb(place);
        // SAFETY: the ring has `straight` DS from `start` on, at least `here`, which is more than those of the head: at
        // least one WQEBB is free.
        let (next, stop) = unsafe { (start.add(MULTI_PACKET_HEAD_DS * DS_WORDS), start.add(here * DS_WORDS)) };
        let room = Room { next, stop, behind: limit - here };
        Ok(Session { head: head.of_several(), room, limit, frames: 0, batch: self })
    }
}

/// One WQE of several frames under construction, in a batch ("enhanced multi-packet WQE", opcode 0x29).
///
/// Each frame is either copied into the WQE ([`inline`](Self::inline)) or fetched from registered memory
/// ([`gather_unchecked`](Self::gather_unchecked)). You choose for each frame: which is faster depends on the device.
/// [`close`](Self::close) ends the WQE; a session that is dropped puts nothing into the batch.
///
/// ```
/// # use blueflame::{SendQueue, db::Register, queue::PostError, types::WrId, wqe};
/// use blueflame::transport::RawPacket;
///
/// fn send<R: Register>(sq: &mut SendQueue<RawPacket<0>, R>, frames: &[[u8; 60]]) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     for (chunk, n) in frames.chunks(8).zip(0..) {
///         let head = wqe::frame().l3_checksum().l4_checksum().signaled(WrId(8 * n));
///         let mut session = batch.session(&head)?;
///         for frame in chunk {
///             session.inline(frame)?;
///         }
///         session.close();
///     }
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
///
/// # Identifiers
/// The WQE completes once, for all its frames. Their `wr_id`s follow one another: the first frame has that of the head,
/// the next frame that number plus one. [`Done::wr_ids`](crate::queue::Done::wr_ids) gives them all back.
///
/// # Limits
/// A WQE has at most [`Ds::MAX`] DS. The head takes 2 of them. A frame by pointer takes 1, so 61 of them fit; an inline
/// frame takes `(4 + bytes) / 16`, rounded up. The queue's [limits](crate::SendQueue::limits) do not count here. DPDK
/// closes a WQE at 60 DS and at 32 frames (`drivers/net/mlx5/mlx5_defs.h`, `MLX5_EMPW_MAX_PACKETS`), Linux' XDP at 60
/// DS (`en/xdp.h`, `MLX5E_XDP_MPW_MAX_NUM_DS`). Fewer frames in a WQE complete earlier.
///
/// # Closing
/// All frames of a WQE have the same options. Close the WQE before a frame with other options, a frame of several
/// pieces of memory, a large send, or a wait (DPDK `mlx5_tx.h`, `mlx5_tx_able_to_empw`, `mlx5_tx_match_empw`).
///
/// A device that needs headers inline has no place for them in such a WQE, so the queue is one of
/// [`RawPacket<0>`]:
///
/// ```compile_fail,E0599
/// # use blueflame::{queue::SendBatch, db::Register, transport::RawPacket, wqe};
/// fn begin<R: Register>(batch: &mut SendBatch<'_, RawPacket, R>) {
///     let _ = batch.session(&wqe::frame());
/// }
/// ```
///
/// A large send has a WQE of its own:
///
/// ```compile_fail,E0308
/// # use blueflame::{queue::SendBatch, db::Register, transport::RawPacket, wqe};
/// # use blueflame::wqe::{Request, operations::LargeSend};
/// fn begin<R: Register>(batch: &mut SendBatch<'_, RawPacket<0>, R>, head: Request<'static, LargeSend<54>>) {
///     let _ = batch.session(&head);
/// }
/// ```
///
/// A batch is not rung beside its session:
///
/// ```compile_fail,E0505
/// # use blueflame::{queue::SendBatch, db::Register, transport::RawPacket, wqe};
/// fn early<R: Register>(mut batch: SendBatch<'_, RawPacket<0>, R>) {
///     let session = batch.session(&wqe::frame());
///     batch.ring_doorbell();
///     drop(session);
/// }
/// ```
#[doc(alias("MLX5_OPCODE_ENHANCED_MPSW", "eMPW", "mpwqe"))]
#[derive(Debug)]
#[must_use = "a session that is dropped without `close` sends nothing"]
pub struct Session<'b, 'q, R: Register> {
    batch: &'b mut SendBatch<'q, RawPacket<0>, R>,
    head: Request<'static, MultiPacket, ToCarry>,
    room: Room,
    /// DS that the WQE may have.
    limit: usize,
    frames: u16,
}

/// The free DS behind the frames. A copy of it is passed by value, so that it stays in CPU registers.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// The place of the next DS; `stop` if nothing is left before the ring's end.
    next: NonNull<u64>,
    /// The end of the DS that lie one after the other.
    stop: NonNull<u64>,
    /// Further DS, at the ring's start. If there are any, `stop` is the ring's end.
    behind: usize,
}

impl Room {
    /// DS up to `stop`.
    #[inline(always)]
    fn straight(self) -> usize {
        (self.stop.addr().get() - self.next.addr().get()) / DS_BYTES
    }

    /// Whether a frame of `ds` ends before `stop`. Where addresses have 32 bits, their sum with the bytes of a slice has
    /// more.
    #[inline(always)]
    fn fits(self, ds: usize) -> bool {
        let end = self.next.addr().get() as u64 + (ds * DS_BYTES) as u64;
        end <= self.stop.addr().get() as u64
    }

    /// All DS.
    #[inline(always)]
    fn left(self) -> usize {
        self.straight() + self.behind
    }

    /// The room at the ring's start, if there is any. All before is used.
    ///
    /// # Safety
    /// `ring` is the ring's start.
    #[cold]
    unsafe fn behind(self, ring: NonNull<u64>) -> Option<Self> {
        // SAFETY: there are so many DS in the ring.
        let stop = unsafe { ring.add(self.behind * DS_WORDS) };
        (self.behind != 0).then_some(Self { next: ring, stop, behind: 0 })
    }

    /// Writes the bytes of a frame of `ds` that goes around the ring's end. `None` if there is no room for it.
    ///
    /// # Safety
    /// `ring` is the ring's start, and all DS of the room are free.
    #[cold]
    #[inline(never)]
    unsafe fn around(self, ring: NonNull<u64>, frame: &[u8], ds: usize) -> Option<Self> {
        let behind = ds.wrapping_sub(self.straight());
        if behind > self.behind {
            return None;
        }
        // SAFETY: there are DS behind, so `stop` is the ring's end; the frame's DS are free.
        let mut cursor = unsafe { RingCursor::resume(ring, self.stop, self.next) };
        each_ds_of(frame, |ds| cursor.ds(ds));
        // SAFETY: both are in the ring, at most `behind` DS past its start.
        let (next, stop) = unsafe { (ring.add(behind * DS_WORDS), ring.add(self.behind * DS_WORDS)) };
        Some(Self { next, stop, behind: 0 })
    }
}

/// Passes on the DS of a frame given by its bytes.
#[inline(always)]
fn each_ds_of(frame: &[u8], mut put: impl FnMut(DsWords)) {
    let mut rest = frame;
    put(DsWords::headed(InlineSeg::of(frame.len()).byte_count.to_bits(), &mut rest));
    each_ds(rest, put);
}

impl<R: Register> Session<'_, '_, R> {
    /// Adds a frame and copies its bytes, from the destination's address to the last byte of data.
    ///
    /// # Errors
    /// [`EncodeError::EmptyFrame`]. [`EncodeError::WqeTooLong`] or [`PostError::Full`]: the WQE has no room for it, or
    /// the ring. The frames before it stay in the session.
    #[inline(always)]
    pub fn inline(&mut self, frame: &[u8]) -> Result<(), PostError> {
        if frame.is_empty() {
            return Err(PostError::Encode(EncodeError::empty_frame()));
        }
        let ds = inline_ds(frame.len());
        if self.room.fits(ds) {
            each_ds_of(frame, |ds| {
                // SAFETY: `fits` has found `ds` free DS in the ring, which `from_parts`' caller vouches for.
                unsafe {
                    ds.store(self.room.next);
                    self.room.next = self.room.next.add(DS_WORDS);
                }
            });
        } else {
            // SAFETY: the room's DS are free since `session` has looked, and the ring is the queue's.
            match unsafe { self.room.around(self.batch.sq.ring.start, frame, ds) } {
                Some(room) => self.room = room,
                None => return Err(self.full(ds)),
            }
        }
        self.frames += 1;
        Ok(())
    }

    /// Adds a frame that the device fetches from registered memory, from the destination's address to the last byte of
    /// data.
    ///
    /// # Errors
    /// As for [`inline`](Self::inline); [`EncodeError::SgeTooLong`].
    ///
    /// # Safety
    /// The conditions of [`post_unchecked`](crate::SendQueue::post_unchecked), from the time the batch is rung.
    #[inline(always)]
    pub unsafe fn gather_unchecked(&mut self, frame: Sge) -> Result<(), PostError> {
        // One comparison for both ends: zero wraps to the largest value.
        if frame.length.wrapping_sub(1) >= MAX_SGE_BYTES {
            return Err(PostError::Encode(EncodeError::frame_size(frame.length)));
        }
        if self.room.next == self.room.stop {
            // SAFETY: the ring is the queue's.
            match unsafe { self.room.behind(self.batch.sq.ring.start) } {
                Some(room) => self.room = room,
                None => return Err(self.full(1)),
            }
        }
        // SAFETY: a free DS of the ring, which `from_parts`' caller vouches for: `next` and `stop` are whole DS apart.
        unsafe {
            frame.words().store(self.room.next);
            self.room.next = self.room.next.add(DS_WORDS);
        }
        self.frames += 1;
        Ok(())
    }

    /// The error for a frame of `ds` that has no room.
    #[inline(always)]
    fn full(&self, ds: usize) -> PostError {
        PostError::session_full(self.limit, self.limit - self.room.left() + ds)
    }

    /// Frames in the session.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.frames as usize
    }

    /// Whether the session has no frame.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.frames == 0
    }

    /// DS that frames can still take.
    #[inline]
    #[must_use]
    pub fn free(&self) -> Ds {
        // At most 61.
        Ds(self.room.left() as u8)
    }

    /// Ends the WQE; the batch has it now. A session without frames adds nothing to the batch.
    #[inline(always)]
    pub fn close(self) {
        self.finish();
    }

    /// Ends the WQE; the WQEBBs that it takes.
    #[inline(always)]
    pub(in crate::queue) fn finish(self) -> Wqebbs {
        let Self { batch, head, room, limit, frames } = self;
        if frames == 0 {
            return Wqebbs(0);
        }
        let ds = Ds((limit - room.left()) as u8);
        let (pi, wqebbs) = (batch.pi, ds.wqebbs());
        let ring = batch.sq.ring;
        let [control, segment] = head.compose_head(ring.first_word(pi), ring.signal_all, ds);
        let place = ring.place(pi);
        // SAFETY: the start of a WQEBB of the ring that is free, since `session` has looked.
        unsafe {
            let wqebb = ring.wqebb(place);
            control.store(wqebb);
            segment.store(wqebb.add(DS_WORDS));
        }
        let record = WqeRecord::of_frames(head.id(), wqebbs, frames);
        // SAFETY: one of the shadow, which `from_parts`' caller vouches for.
        unsafe { record.store::<Wide>(ring.record(place)) };
        for n in 1..wqebbs.0 {
            let place = ring.record(ring.place(pi.add(Wqebbs(n))));
            // SAFETY: one of the shadow, which `from_parts`' caller promises. No WQE starts in the other WQEBBs.
            unsafe { WqeRecord { size_and_frames: 0, ..record }.store::<Wide>(place) };
        }
        // DPDK and Linux ring such WQEs by 8 bytes; no public driver copies them to BlueFlame.
        batch.last = WqeInRing::without_blueflame(control.first_word());
        batch.pi = pi.add(wqebbs);
        batch.requests += usize::from(frames);
        wqebbs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the end of a memory of 32 bits, where the sum of address and bytes would wrap.
    #[test]
    fn no_frame_fits_beyond_the_last_address() {
        let at =
            |ds: u32| NonNull::without_provenance((0u32.wrapping_sub(ds * 16) as usize).try_into().expect("not 0"));
        let room = Room { next: at(3), stop: at(1), behind: 0 };
        assert_eq!(
            [0, 2, 3, 4, i32::MAX as usize / DS_BYTES].map(|ds| room.fits(ds)),
            [true, true, false, false, false]
        );
    }
}
