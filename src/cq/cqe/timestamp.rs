//! The timestamp of a completion: cycles of a free-running clock, or the time.

/// Converts cycles of a device's free-running clock to nanoseconds: at `last_cycles`, the time was `nsec`.
///
/// The kernel publishes it in a page, which `verbs::device::Clock` reads. It is right for about the page's update
/// period (`verbs::device::Clock::update_period`). Read it again that often, and before the stamps to convert are older
/// than that.
///
/// ```
/// use blueflame::cq::cqe::ClockInfo;
///
/// // A clock of 1 GHz, which showed 5,000 when it was 12:00.
/// let noon = 1_700_000_000_000_000_000;
/// let info = ClockInfo { nsec: noon, last_cycles: 5_000, frac: 0, mult: 1 << 20, shift: 20, mask: (1 << 41) - 1 };
/// assert_eq!(info.nanoseconds(5_300), noon + 300);
/// assert_eq!(info.nanoseconds(4_900), noon - 100);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockInfo {
    /// The time at `last_cycles`, nanoseconds of the kernel's clock of the device: since 1970, as a rule.
    pub nsec: u64,
    /// The clock's value at that time.
    pub last_cycles: u64,
    /// The fraction that `nsec` leaves out, in units of a nanosecond divided by `1 << shift`.
    pub frac: u64,
    /// Nanoseconds of `1 << shift` cycles.
    pub mult: u32,
    /// log2 of the cycles that have `mult` nanoseconds, up to 63.
    pub shift: u32,
    /// The bits of the clock that the kernel calculates with: the low ones.
    pub mask: u64,
}

impl ClockInfo {
    /// The time of `stamp`, [`timestamp`](crate::cq::CqeView::timestamp) of a completion: nanoseconds as in
    /// [`nsec`](Self::nsec).
    ///
    /// A stamp may be from before the page was written, or from after; the nearer of both is meant. Senseless numbers
    /// give a senseless time. Same as `mlx5dv_ts_to_ns` (rdma-core `providers/mlx5/mlx5dv.h`).
    #[inline]
    #[must_use]
    pub const fn nanoseconds(&self, stamp: u64) -> u64 {
        let after = stamp.wrapping_sub(self.last_cycles) & self.mask;
        if after <= self.mask / 2 {
            let parts = after.wrapping_mul(self.mult as u64).wrapping_add(self.frac);
            self.nsec.wrapping_add(shifted(parts, self.shift))
        } else {
            let before = self.last_cycles.wrapping_sub(stamp) & self.mask;
            let parts = before.wrapping_mul(self.mult as u64).wrapping_sub(self.frac);
            self.nsec.wrapping_sub(shifted(parts, self.shift))
        }
    }
}

/// `parts >> shift`, and nothing of it by 64 or more.
const fn shifted(parts: u64, shift: u32) -> u64 {
    match parts.checked_shr(shift) {
        Some(nanoseconds) => nanoseconds,
        None => 0,
    }
}

/// Nanoseconds since 1970 of a real-time timestamp: bits 63:32 are seconds, bits 31:0 nanoseconds (Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/en/txrx.h` and `lib/clock.h`, `REAL_TIME_TO_NS`; DPDK
/// `drivers/net/mlx5/mlx5_rxtx.h`, `mlx5_txpp_convert_rx_ts`).
///
/// libmlx5 hands such a stamp out as it is (`ibv_wc_read_completion_wallclock_ns`), seconds and all.
///
/// ```
/// assert_eq!(blueflame::cq::cqe::real_time_nanoseconds(2 << 32 | 7), 2_000_000_007);
/// ```
#[doc(alias = "ibv_wc_read_completion_wallclock_ns")]
#[inline]
#[must_use]
pub const fn real_time_nanoseconds(stamp: u64) -> u64 {
    // At most (2^32 - 1) * 10^9 + 2^32 - 1, less than 2^62.
    (stamp >> 32) * 1_000_000_000 + (stamp & 0xffff_ffff)
}
