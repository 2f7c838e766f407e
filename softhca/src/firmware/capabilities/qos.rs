//! Features for the pace of sends (`MLX5_CAP_QOS`).

use super::row::{capability_set, has_clock_queues, is_ethernet};
use crate::resources::{KILOBITS, RATES};

capability_set! {
    /// Rates of send queues of frames.
    qos_cap: 0x100 bytes, set 0xc, if is_ethernet;
    PACKET_PACING: 0x0, 1 = |_| 1;
    PACKET_PACING_BURST_BOUND: 0x5, 1 = |_| 1;
    PACKET_PACING_TYPICAL_SIZE: 0x6, 1 = |_| 1;
    // A driver may say for which user a rate is.
    PACKET_PACING_UID: 0xb, 1 = |_| 1;
    // Rates of WQEs.
    WQE_RATE_PP: 0x20, 1 = |c| has_clock_queues(c).into();
    PACKET_PACING_MAX_RATE: 0x40, 32 = |_| (*KILOBITS.end()).into();
    PACKET_PACING_MIN_RATE: 0x60, 32 = |_| (*KILOBITS.start()).into();
    PACKET_PACING_RATE_TABLE_SIZE: 0x90, 16 = |_| RATES.into();
}
