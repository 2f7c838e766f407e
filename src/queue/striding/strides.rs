//! How a WQE is divided into strides. Knows no queue.
use crate::setup::SetupError;

/// The strides of each WQE of a striding receive queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    log_count: u8,
    log_bytes: u8,
    shifted: bool,
}

/// The strides that a device can have. All are log2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "mlx5dv_striding_rq_caps")]
pub struct StridesLimits {
    /// The least strides of a WQE.
    pub min_log_count: u8,
    /// The most strides of a WQE.
    pub max_log_count: u8,
    /// The least bytes of a stride.
    pub min_log_bytes: u8,
    /// The most bytes of a stride.
    pub max_log_bytes: u8,
}

/// log2 of the least bytes of a WQE, all strides together (DPDK `drivers/common/mlx5/mlx5_prm.h`,
/// `MLX5_MPRQ_LOG_MIN_STRIDE_WQE_SIZE`).
const MIN_LOG_WQE_BYTES: u8 = 14;

impl StridesLimits {
    /// Whether a device with these limits has such strides.
    ///
    /// # Errors
    /// [`SetupError`] names the value that is out of range.
    pub const fn check(self, strides: Strides) -> Result<(), SetupError> {
        let Strides { log_count, log_bytes, .. } = strides;
        let Self { min_log_count, max_log_count, min_log_bytes, max_log_bytes } = self;
        let checked = SetupError::check_range(
            "log2 of the strides of a WQE",
            log_count as u64,
            min_log_count as u64,
            max_log_count as u64,
        );
        if checked.is_err() {
            return checked;
        }
        let checked = SetupError::check_range(
            "log2 of the bytes of a stride",
            log_bytes as u64,
            min_log_bytes as u64,
            max_log_bytes as u64,
        );
        if checked.is_err() {
            return checked;
        }
        let (log, most) = (log_count + log_bytes, max_log_count + max_log_bytes);
        SetupError::check_range("log2 of the bytes of a WQE", log as u64, MIN_LOG_WQE_BYTES as u64, most as u64)
    }
}

impl Strides {
    /// The limits of all devices. Devices without the extended range have 2^9 strides at least (Linux
    /// `include/linux/mlx5/device.h`, `MLX5_MIN_SINGLE_WQE_LOG_NUM_STRIDES`, `MLX5_EXT_MIN_SINGLE_WQE_LOG_NUM_STRIDES`,
    /// `MLX5_MIN_SINGLE_STRIDE_LOG_NUM_BYTES`, `MLX5_MAX_SINGLE_STRIDE_LOG_NUM_BYTES`).
    ///
    /// Devices have up to 2^16 strides. But a filler CQE counts strides by 14 bits (DPDK
    /// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_MPRQ_STRIDE_NUM_MASK`; Linux reads 15), so a queue here has 2^14 at
    /// most.
    pub const LIMITS: StridesLimits =
        StridesLimits { min_log_count: 3, max_log_count: 14, min_log_bytes: 6, max_log_bytes: 13 };

    /// WQEs of 2^`log_count` strides, each of 2^`log_bytes` bytes. A WQE has 2^14 bytes at least.
    ///
    /// # Errors
    /// [`SetupError`] names the value that is out of range.
    pub const fn new(log_count: u8, log_bytes: u8) -> Result<Self, SetupError> {
        let strides = Self { log_count, log_bytes, shifted: false };
        match Self::LIMITS.check(strides) {
            Ok(()) => Ok(strides),
            Err(error) => Err(error),
        }
    }

    /// The device writes two zero bytes before each frame, so that the IP header behind the 14 bytes of Ethernet is
    /// aligned (`two_byte_shift_en`). The frame's length does not count them.
    #[must_use]
    pub const fn two_byte_shift(self, on: bool) -> Self {
        Self { shifted: on, ..self }
    }

    /// log2 of the strides of a WQE.
    #[must_use]
    pub const fn log_count(self) -> u8 {
        self.log_count
    }

    /// log2 of the bytes of a stride.
    #[must_use]
    pub const fn log_bytes(self) -> u8 {
        self.log_bytes
    }

    /// Whether two zero bytes are before each frame.
    #[must_use]
    pub const fn is_shifted(self) -> bool {
        self.shifted
    }

    /// Strides of a WQE.
    #[must_use]
    pub const fn count(self) -> u32 {
        1 << self.log_count
    }

    /// Bytes of a WQE's buffer, 2^14 to 2^27.
    #[must_use]
    pub const fn wqe_bytes(self) -> u32 {
        1 << (self.log_count + self.log_bytes)
    }

    /// Bytes before each frame: 0 or 2.
    #[must_use]
    pub const fn shift_bytes(self) -> u32 {
        if self.shifted { 2 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn limits_are_checked_and_named() {
        let strides = Strides::new(9, 6).expect("the least without the extended range");
        assert_eq!((strides.count(), strides.wqe_bytes(), strides.shift_bytes()), (512, 1 << 15, 0));
        assert_eq!(strides.two_byte_shift(true).shift_bytes(), 2);
        for (log_count, log_bytes, text) in [
            (2, 13, "log2 of the strides of a WQE: 2 asked for, 3 to 14 possible"),
            (15, 6, "log2 of the strides of a WQE: 15 asked for, 3 to 14 possible"),
            (9, 5, "log2 of the bytes of a stride: 5 asked for, 6 to 13 possible"),
            (9, 14, "log2 of the bytes of a stride: 14 asked for, 6 to 13 possible"),
            (3, 10, "log2 of the bytes of a WQE: 13 asked for, 14 to 27 possible"),
        ] {
            assert_eq!(Strides::new(log_count, log_bytes).map_err(|error| error.to_string()), Err(text.into()));
        }
        assert_eq!(Strides::new(14, 13).expect("the most").wqe_bytes(), 1 << 27);
        let older = StridesLimits { min_log_count: 9, ..Strides::LIMITS };
        let few = Strides::new(8, 6).expect("the extended range");
        let what = "log2 of the strides of a WQE";
        assert_eq!(older.check(few), Err(SetupError::OutOfRange { what, value: 8, min: 9, max: 14 }));
    }
}
