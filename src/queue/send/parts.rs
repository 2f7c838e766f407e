//! The raw parts of a send queue. It does not depend on their origin.
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::arch::ds::{DsWords, HeldDs};
use crate::cq::CqId;
use crate::types::{Qpn, SqPi, Wqebbs, WrId};

layout! {
    /// The queue's record of one WQE until it completes, in private memory that the device cannot reach.
    ///
    /// The ring says the same, but a device (or a bug in one) can write to the ring.
    ///
    /// It is two words without padding, so that one instruction stores it. Its size is a power of two, so that one
    /// masked index gives the places of a WQE and of its record.
    #[derive(Clone, Copy, Debug)]
    #[repr(C, align(16))]
    pub struct WqeRecord[16] {
        /// The application's identifier, handed back with the completion.
        0 => pub(crate) wr_id: WrId,
        /// Bits 15:0: the WQEBBs of the WQE that starts at this place. Bits 31:16: the frames of that WQE after the
        /// first. Zero if no WQE starts here: the place is unused, or inside a longer WQE.
        8 => pub(crate) size_and_frames: u64,
    }
}

impl WqeRecord {
    /// The record of a WQE of several frames.
    #[inline(always)]
    pub(crate) const fn of_frames(wr_id: WrId, wqebbs: Wqebbs, frames: u16) -> Self {
        Self { wr_id, size_and_frames: (frames as u64 - 1) << 16 | wqebbs.0 as u64 }
    }

    /// Frames of the WQE; 1 for a request that is no frame.
    #[inline(always)]
    pub(crate) const fn frames(self) -> u16 {
        (self.size_and_frames >> 16) as u16 + 1
    }

    /// Stores the record in the form of its WQE: by one store of 16 bytes, or by words.
    ///
    /// # Safety
    /// `place` must be a record valid for writes.
    #[inline(always)]
    pub(crate) unsafe fn store<D: HeldDs>(self, place: NonNull<Self>) {
        // SAFETY: the caller promises a record that can be written; the record's alignment is its size.
        unsafe { D::new(DsWords([self.wr_id.0, self.size_and_frames])).store(place.cast()) }
    }
}

/// A send queue's raw parts, as `mlx5dv_init_obj`, DevX or the software device give them.
///
/// [`SendQueue::from_parts`](crate::queue::SendQueue) checks them as far as possible; its "Safety" section lists the
/// conditions that you vouch for.
#[doc(alias = "mlx5dv_qp")]
#[derive(Clone, Copy, Debug)]
pub struct SqParts {
    /// The ring's first WQEBB (`mlx5dv_qp::sq.buf`), 64-byte aligned.
    pub ring: NonNull<u8>,
    /// The ring's size in WQEBBs (`mlx5dv_qp::sq.wqe_cnt`): a power of two, 1 to 32768.
    pub wqebbs: u32,
    /// The doorbell record's first word (`mlx5dv_qp::dbrec`), 4-byte aligned. Word 0 belongs to the receive queue,
    /// word 1 is the send queue's (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_RCV_DBR`, `MLX5_SND_DBR`).
    pub dbrec: NonNull<u32>,
    /// The queue pair's number, 24 bits.
    pub qpn: Qpn,
    /// The completion queue that requests complete to: [`CompletionQueue::id`](crate::CompletionQueue::id). Completions
    /// of others retire nothing. [`CqId::NONE`] if it is no queue of this crate.
    pub cq: CqId,
    /// The most bytes one request may carry inline (`ibv_qp_cap::max_inline_data` as granted).
    pub max_inline: u32,
    /// The most scatter/gather entries of one request (`ibv_qp_cap::max_send_sge` as granted).
    pub max_sge: u32,
    /// Whether every request completes with a CQE even if it does not ask for one (`ibv_qp_init_attr::sq_sig_all`).
    pub signal_all: bool,
    /// The producer index the device expects next: 0 for a queue pair that has not sent since RESET.
    pub pi: SqPi,
    /// Private memory of at least `wqebbs` records; its contents do not matter. See [`WqeRecord`].
    pub shadow: NonNull<MaybeUninit<WqeRecord>>,
}
