use core::ptr::NonNull;

use volatile::VolatilePtr;

use crate::types::{CqCi, Cqn};

/// Word of the doorbell record that holds the consumer index (rdma-core `providers/mlx5/mlx5.h`, `MLX5_CQ_SET_CI`).
pub(super) const RECORD_CI: usize = 0;

/// A completion queue's raw parts, as `mlx5dv_init_obj` (`mlx5dv_cq`), DevX or the software device give them.
///
/// A plain description. [`CompletionQueue::from_parts`](super::CompletionQueue::from_parts) checks it as far as
/// possible; its "Safety" section lists the conditions that it cannot check.
#[doc(alias = "mlx5dv_cq")]
#[derive(Clone, Copy, Debug)]
pub struct CqParts {
    /// The first CQE (`mlx5dv_cq::buf`), aligned to `cqe_size`. CQEs that the device has not written have opcode 0xf.
    pub buf: NonNull<u8>,
    /// How many CQEs the queue holds (`mlx5dv_cq::cqe_cnt`): a power of two, at most 2^23.
    pub cqe_cnt: u32,
    /// Bytes in one CQE (`mlx5dv_cq::cqe_size`): 64 or 128.
    pub cqe_size: u32,
    /// The doorbell record (`mlx5dv_cq::dbrec`), two words, 8-byte aligned: consumer index, then arm.
    pub dbrec: NonNull<u32>,
    /// The UAR page that arming writes to, at offset 0x20 (`mlx5dv_cq::cq_uar`), 8-byte aligned.
    pub cq_uar: NonNull<u8>,
    /// The completion queue's number, 24 bits.
    pub cqn: Cqn,
    /// The consumer index to begin at: 0 for a queue that was never polled. Arm requests are numbered from 0, so the
    /// queue must not have raised an event yet. Otherwise the first requests pass for old ones.
    pub ci: CqCi,
}

impl CqParts {
    /// These parts, with the consumer index that the doorbell record has: where a program has left the queue. It may
    /// have seen the completions from there on, too, because a queue stores the index after each completion that it has
    /// lent ([`CompletionQueue::poll_with`](super::CompletionQueue::poll_with)), or after each call
    /// ([`OncePerCall`](crate::cq::mode::OncePerCall)). A queue with compressed completions cannot go on so.
    ///
    /// # Safety
    /// [`dbrec`](Self::dbrec) is the record, two words valid for reads and aligned to 8 bytes. Nothing writes it
    /// meanwhile.
    #[must_use]
    pub unsafe fn recorded(self) -> Self {
        // SAFETY: the caller promises the record.
        let word = unsafe { VolatilePtr::new(self.dbrec.add(RECORD_CI)) };
        Self { ci: CqCi::truncate(u32::from_be(word.read())), ..self }
    }
}
