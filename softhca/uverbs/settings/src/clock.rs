//! The clocks that queues can have in their timestamps.

/// Clocks of timestamps (`MLX5_TIMESTAMP_FORMAT_CAP_*`). InfiniBand ports have the one that runs freely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum), value(rename_all = "kebab"))]
pub enum Clock {
    /// Ticks of the device's own clock.
    FreeRunning,
    /// Real time alone (`REAL_TIME_CLOCK_ENABLE` of a ConnectX-6 Dx or later).
    RealTime,
    /// Real time by default, ticks on request.
    Both,
}

impl Clock {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::FreeRunning, Self::RealTime, Self::Both];

    /// `free-running`, `real-time` or `both`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FreeRunning => "free-running",
            Self::RealTime => "real-time",
            Self::Both => "both",
        }
    }
}
