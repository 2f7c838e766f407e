//! The requests that BlueFlame carries: the policy, the register and the queue's limits in one struct. Knows no ring.
use crate::queue::send::place::{WqeInRing, composed_ds};
use crate::types::{Ds, WQEBB_BYTES, Wqebbs};
use crate::wqe::data::Data;
use crate::wqe::limits::FrameOffloads;
use crate::wqe::operations::Operation;
use crate::wqe::{Limits, Request};

/// When a doorbell of one request is the whole WQE, copied to BlueFlame, and not its first 8 bytes.
///
/// If it may be, the WQE must also have data or operands (more than one DS) and fit the register. A register of size
/// zero has no BlueFlame to copy to.
///
/// Queues of the feature `verbs` begin with the policy that libmlx5's environment variables select for libmlx5 itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlueFlamePolicy {
    /// Whenever it fits: saves the fetch of the WQE, not that of the data. libmlx5's default (rdma-core
    /// `providers/mlx5/mlx5.c`, `get_always_bf`).
    #[default]
    Prefer,
    /// For inline requests only: the device then needs no fetch at all. libmlx5 does this with
    /// `MLX5_POST_SEND_PREFER_BF=0`.
    Inline,
    /// Never. libmlx5 does this with `MLX5_SHUT_UP_BF=1` (rdma-core `providers/mlx5/qp.c`, `post_send_db`).
    Never,
}

/// The limits of a lone request that goes by BlueFlame.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct BlueFlameLimits {
    /// The limits of a request of one WQEBB: the queue's, or zero where the register or the policy excludes BlueFlame.
    /// So one comparison covers both the queue and BlueFlame.
    one_wqebb: Limits,
    /// Bytes that a WQE may have: an inline one, and any other. Zero where the policy excludes BlueFlame.
    wqe_bytes: [u32; 2],
}

impl BlueFlameLimits {
    /// For a register with `half` bytes in one half, and a queue of `limits`.
    pub(in crate::queue) fn new(policy: BlueFlamePolicy, half: usize, limits: Limits) -> Self {
        // At most 2048.
        let half = half as u32;
        let inline = if policy == BlueFlamePolicy::Never { 0 } else { half };
        let other = if policy == BlueFlamePolicy::Prefer { half } else { 0 };
        let allowed = |bytes, limit| if bytes >= WQEBB_BYTES as u32 { limit } else { 0 };
        let one_wqebb = Limits {
            max_inline: allowed(inline, limits.max_inline),
            max_sge: allowed(other, limits.max_sge),
            offloads: limits.offloads,
        };
        Self { one_wqebb, wqe_bytes: [inline, other] }
    }

    /// For a register with `half` bytes in one half: as many as before, or none.
    pub(in crate::queue) fn within(self, half: usize) -> Self {
        if half != 0 {
            return self;
        }
        Self { one_wqebb: Limits { max_inline: 0, max_sge: 0, ..self.one_wqebb }, wqe_bytes: [0; 2] }
    }

    /// For a queue that has other offloads now.
    pub(in crate::queue) fn set_offloads(&mut self, offloads: FrameOffloads) {
        self.one_wqebb.offloads = offloads;
    }

    /// Whether the queue takes a regular request of one WQEBB, and BlueFlame carries it.
    #[inline(always)]
    pub(in crate::queue) fn carry_one<O: Operation, D: Data>(&self) -> bool {
        let ds = const { composed_ds::<O, D>() };
        let has_data = const { !matches!(D::DS, Some(0)) };
        // A request without data needs nothing of `one_wqebb`.
        ds > Ds(1)
            && self.one_wqebb.cover(Request::<'static, O, D>::NEEDS)
            && (has_data || self.carry(ds, Request::<'static, O, D>::INLINE))
    }

    /// Whether BlueFlame carries a WQE of `ds`, `inline` if the device has nothing else to fetch.
    #[inline(always)]
    pub(in crate::queue) fn carry(&self, ds: Ds, inline: bool) -> bool {
        let [of_inline, of_other] = self.wqe_bytes;
        ds > Ds(1) && (if inline { of_inline } else { of_other }) as usize >= usize::from(ds.wqebbs().0) * WQEBB_BYTES
    }

    /// Whether BlueFlame carries a WQE in the ring that has one WQEBB.
    #[inline(always)]
    pub(in crate::queue) fn carry_one_in_ring(&self, wqe: WqeInRing) -> bool {
        wqe.wqebbs() == Wqebbs(1) && self.carry(wqe.ds(), wqe.is_inline())
    }
}
