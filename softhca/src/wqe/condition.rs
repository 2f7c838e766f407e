//! Conditions that end the wait of a WQE: a value, compared with the clock or with a word of memory.

use std::time::Duration;

use crate::context::TimestampFormat;

/// How the WQE's value is compared with the clock, or with a word of memory (DPDK `drivers/common/mlx5/mlx5_prm.h`,
/// `MLX5_WAIT_COND_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// It always holds.
    Always,
    /// The value equals what the device reads.
    Equal,
    /// It is more.
    Bigger,
    /// It is less.
    Smaller,
    /// It is ahead: numbers start again at 0 past the mask.
    ///
    /// For a word of memory, NVIDIA's post-wait-on-data-wqe (`include/post_wod_wqe.h`) calls the cyclic comparisons
    /// signed. Both readings agree if the two numbers are less than half of the range apart and have the same sign.
    CyclicBigger,
    /// It is behind.
    CyclicSmaller,
}

/// Seconds that the clock is compared by; then it starts again at 0 (`MLX5_TS_MASK_SECS` of DPDK's
/// `drivers/net/mlx5/mlx5.h`).
const COMPARED_SECONDS: u64 = 8;

/// Ticks of this device's clock where it runs freely (`cmd_hca_cap.device_frequency_khz`).
const TICKS_PER_SECOND: u64 = 1_000_000_000;

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// How the two are compared.
    pub comparison: Comparison,
    /// It waits until the comparison does not hold.
    pub inverted: bool,
    /// Value to compare with the clock or the word.
    pub value: u64,
    /// Which bits of both.
    pub mask: u64,
}

impl Condition {
    /// Whether the device's comparison, of a clock of this format, has all bits of the mask. Otherwise it never holds.
    ///
    /// A clock of real time compares three bits of seconds: with a mask of all ones "the wait never satisfies"
    /// (NVIDIA's daqiri `src/engines/ibverbs/daqiri_ibverbs_engine.cpp`, `initialize`, at `rt_timemask`). For a
    /// free-running clock, no source shows a wider mask than DPDK's to work either. DPDK's mask has the ticks of eight
    /// seconds, rounded up to a power of two (`drivers/net/mlx5/mlx5_txq.c`, `mlx5_txq_dynf_timestamp_set`).
    #[must_use]
    pub fn is_compared(&self, format: TimestampFormat) -> bool {
        let end = match format {
            TimestampFormat::RealTime => COMPARED_SECONDS << 32,
            TimestampFormat::FreeRunning => (COMPARED_SECONDS * TICKS_PER_SECOND).next_power_of_two(),
        };
        self.mask < end
    }

    /// Whether the wait is over when the clock shows `shown`, or the word has it.
    #[must_use]
    pub fn is_over(&self, shown: u64) -> bool {
        let (value, shown) = (self.value & self.mask, shown & self.mask);
        let half = self.mask / 2 + 1;
        // How far it is past the value, around the mask's end.
        let past = shown.wrapping_sub(value) & self.mask;
        let holds = match self.comparison {
            Comparison::Always => true,
            Comparison::Equal => value == shown,
            Comparison::Bigger => value > shown,
            Comparison::Smaller => value < shown,
            Comparison::CyclicBigger => past >= half,
            Comparison::CyclicSmaller => past != 0 && past < half,
        };
        holds != self.inverted
    }

    /// How long after `clock`, which has this format, it is over, if it is not: a tick where that is not easily told.
    #[must_use]
    pub fn time_left(&self, clock: u64, format: TimestampFormat) -> Duration {
        let past = clock.wrapping_sub(self.value) & self.mask;
        if self.comparison != Comparison::CyclicSmaller || self.inverted || past != 0 && past <= self.mask / 2 {
            return Duration::from_nanos(1);
        }
        let (value, shown) = (self.value & self.mask, clock & self.mask);
        let left = match format {
            TimestampFormat::FreeRunning => Duration::from_nanos(value.wrapping_sub(shown) & self.mask),
            TimestampFormat::RealTime => {
                let time = |clock: u64| Duration::new(clock >> 32, 0) + Duration::from_nanos(clock & 0xffff_ffff);
                let around = if value < shown { Duration::from_secs((self.mask >> 32) + 1) } else { Duration::ZERO };
                (time(value) + around).saturating_sub(time(shown))
            }
        };
        left + Duration::from_nanos(1)
    }
}
