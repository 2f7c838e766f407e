//! Numbers in a context that mean something by themselves.

/// `qpc.rq_type`: a receive ring of its own.
pub(super) const OWN_RQ: u64 = 0;
/// `qpc.rq_type`: a shared one, of whatever kind.
pub(super) const SHARED_RQ: u64 = 1;
/// `qpc.rq_type`: none (`MLX5_ZERO_LEN_RQ`).
pub(super) const NO_RQ: u64 = 3;
/// `qpc.log_rq_stride` plus this is log2 of bytes.
pub(super) const LOG_STRIDE_UNIT: u64 = 4;
/// `qpc.pm_state`: there is no other path, or none that would ever be taken (`MLX5_QPC_PM_STATE_*`). There are no
/// alternate paths, so the two are the same.
pub(super) const MIGRATED: u64 = 3;
/// As [`MIGRATED`].
pub(super) const ARMED: u64 = 0;
