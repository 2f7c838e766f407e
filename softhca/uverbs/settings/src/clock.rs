//! The clocks that queues can have in their timestamps.

use crate::words::words;

words! {
    /// Clocks of timestamps (`MLX5_TIMESTAMP_FORMAT_CAP_*`). InfiniBand ports have the one that runs freely.
    #[cfg_attr(feature = "clap", derive(clap::ValueEnum), value(rename_all = "kebab"))]
    pub enum Clock {
        /// Ticks of the device's own clock.
        FreeRunning = "free-running",
        /// Real time alone (`REAL_TIME_CLOCK_ENABLE` of a ConnectX-6 Dx or later).
        RealTime = "real-time",
        /// Real time by default, ticks on request.
        Both = "both",
    }
}
