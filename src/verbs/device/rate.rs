//! Rates of frames that leave (packet pacing).

use blueflame_sys as sys;

use crate::verbs::Error;

/// How fast a send queue of frames sends ("packet pacing").
///
/// ```
/// use blueflame::verbs::device::RateLimit;
///
/// // 500 Mbit/s, in bursts of at most three frames of 1514 bytes.
/// let _ = RateLimit::kilobits(500_000).burst(3 * 1514).typical_frame(1514);
/// ```
#[doc(alias("ibv_qp_rate_limit_attr", "set_pp_rate_limit_context"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    kilobits: u32,
    max_burst: u32,
    typical_frame: u16,
}

impl RateLimit {
    /// `kbit/s`, each of 1000 bits. The queue sends no faster.
    #[must_use]
    pub const fn kilobits(rate: u32) -> Self {
        Self { kilobits: rate, max_burst: 0, typical_frame: 0 }
    }

    /// The most bytes that leave one behind the other, at the speed of the port. The default, 0, is the device's own.
    #[must_use]
    pub const fn burst(self, bytes: u32) -> Self {
        Self { max_burst: bytes, ..self }
    }

    /// The bytes of most frames, by which the device reckons the gaps between bursts. The default, 0, is the MTU of the
    /// port (`ibv_modify_qp_rate_limit(3)`).
    #[must_use]
    pub const fn typical_frame(self, bytes: u16) -> Self {
        Self { typical_frame: bytes, ..self }
    }

    /// kbit/s.
    #[must_use]
    pub const fn rate(&self) -> u32 {
        self.kilobits
    }

    /// The most bytes of a burst; 0: as the device chooses.
    #[must_use]
    pub const fn max_burst(&self) -> u32 {
        self.max_burst
    }

    /// The bytes of most frames; 0: the MTU of the port.
    #[must_use]
    pub const fn typical(&self) -> u16 {
        self.typical_frame
    }
}

/// The rates that a device has for send queues of frames.
#[doc(alias("ibv_packet_pacing_caps", "mlx5_packet_pacing_caps"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    /// The least rate, in kbit/s.
    pub min: u32,
    /// The highest rate, in kbit/s.
    pub max: u32,
}

impl RateLimits {
    /// Whether the device has this rate.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn check(&self, limit: RateLimit) -> Result<(), Error> {
        let (value, min, max) = (limit.kilobits.into(), u64::from(self.min).max(1), self.max.into());
        if (min..=max).contains(&value) {
            return Ok(());
        }
        Err(Error::OutOfRange { what: "rate of a send queue, in kbit/s", value, min, max })
    }

    /// The rates of raw packet queue pairs; `None` if there are none.
    pub(super) fn of(caps: &sys::ibv_packet_pacing_caps) -> Option<Self> {
        let raw = caps.supported_qpts & 1 << sys::IBV_QPT_RAW_PACKET != 0;
        (raw && caps.qp_rate_limit_max != 0)
            .then_some(Self { min: caps.qp_rate_limit_min, max: caps.qp_rate_limit_max })
    }
}
