//! Completion queue contexts.

/// Start of a CQ's moderation period (CQC.cq_period_mode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeriodStart {
    /// The last event: so the first CQE after a pause raises its event at once.
    #[default]
    Event,
    /// The last CQE: so the event comes in the first pause of that length, or once there are enough CQEs.
    Cqe,
}

/// Content of a receive's mini-CQE besides the byte count (CQC.mini_cqe_res_format and mini_cqe_res_format_ext; DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_CQE_RESP_FORMAT_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MiniFormat {
    /// The hash of a frame.
    Hash,
    /// The checksum of a frame.
    Checksum,
    /// The tag of a frame's flow, and the WQE's counter.
    FlowTag,
    /// The checksum of a frame, and the WQE's counter.
    ChecksumStride,
    /// The kinds of a frame's headers, and the WQE's counter.
    Headers,
}

/// How a CQ compresses similar completions (CQC.cqe_comp_en).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqCompression {
    /// Which of their fields each keeps.
    pub format: MiniFormat,
    /// Their CQEs have the number of the pass over the ring, and mini-CQEs follow a CQE as any other
    /// (CQC.cqe_compression_layout).
    pub enhanced: bool,
}

/// Completion queue context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CqContext {
    /// Host address of the ring.
    pub buf: u64,
    /// log2 of the number of CQEs.
    pub log_size: u8,
    /// Bytes per CQE: 64 or 128.
    pub cqe_bytes: u32,
    /// Host address of the doorbell record: two big-endian words (consumer index, arm).
    pub dbr: u64,
    /// UAR page on which the CQ is armed.
    pub uar: u32,
    /// Overwrite CQEs that have not been consumed instead of raising an error (CQC.oi).
    pub ignore_overrun: bool,
    /// Every CQE is written to the first place, so that the latest one is always there (CQC.cc).
    pub collapsed: bool,
    /// How completions are compressed, if they are.
    pub compression: Option<CqCompression>,
}

impl CqContext {
    /// A queue of CQEs of 64 bytes, with no option.
    #[must_use]
    pub const fn new(buf: u64, log_size: u8, dbr: u64, uar: u32) -> Self {
        let (ignore_overrun, collapsed, compression) = (false, false, None);
        Self { buf, log_size, cqe_bytes: 64, dbr, uar, ignore_overrun, collapsed, compression }
    }
}
