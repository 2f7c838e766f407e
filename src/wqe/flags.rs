//! The control segment's flags: fence, completion, solicited event.

/// The condition that a WQE waits for before the device starts it: bits 7:5 of the control segment's `fm_ce_se`.
///
/// The values are the PRM's fence modes (Linux `include/linux/mlx5/qp.h`, `MLX5_FENCE_MODE_*`; the first and the last
/// in rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE` and `MLX5_WQE_CTRL_FENCE`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Fence {
    /// Starts without waiting; requests still execute in the order they were posted.
    #[default]
    None = 0 << 5,
    /// Waits until the device has finished local work of earlier WQEs (memory key changes by UMR).
    Small = 1 << 5,
    /// Waits until every earlier READ and atomic of this queue has completed.
    Reads = 2 << 5,
    /// Waits until every earlier WQE of this queue has completed.
    Strong = 3 << 5,
    /// [`Small`](Self::Small) and [`Reads`](Self::Reads) together: what `IBV_SEND_FENCE` asks for.
    SmallAndReads = 4 << 5,
}

/// When a request completes with a CQE: bits 3:2 of the control segment's `fm_ce_se` (DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_COMP_*`).
///
/// No mode suppresses all error CQEs. Verbs have only the first and the last of these modes. (The field's fourth value
/// asks for an event queue entry as well.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CompletionMode {
    /// If it fails, or is flushed after another request failed.
    #[default]
    OnError = 0 << 2,
    /// If it fails, and no earlier request of the queue has failed. Once the queue has failed, later requests are
    /// dropped without a CQE; their place in the ring is free again when the queue is reset.
    OnFirstError = 1 << 2,
    /// In any case: what [`signaled`](super::Request::signaled) asks for.
    Always = 2 << 2,
}

/// The low bits of `fm_ce_se` (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_WQE_CTRL_*`).
pub(crate) mod bits {
    /// Write a CQE when the WQE completes, and not only when it fails: bits 3:2 = 2.
    pub(crate) const CQ_UPDATE: u8 = 2 << 2;
    /// Write a CQE on error only for the queue's first error: bits 3:2 = 1.
    pub(crate) const ONLY_FIRST_ERROR: u8 = 1 << 2;
    /// Ask the responder for a solicited event: bit 1.
    pub(crate) const SOLICITED: u8 = 1 << 1;
    /// The fence mode: bits 7:5.
    pub(crate) const FENCE: u8 = 7 << 5;
}
