//! The clock that a WAIT compares with, and how far ahead it reaches. Knows no queue.
use core::fmt;
use core::num::NonZeroU32;

use crate::layout::{Be32, Be64};
use crate::wqe::data::Nothing;
use crate::wqe::request::Request;
use crate::wqe::seg::CompletionMode;
use crate::wqe::seg::{WaitSeg, WaitValueSeg};
use crate::wqe::table::WaitTime;

/// `MLX5_WAIT_COND_CYCLIC_SMALLER` of DPDK: waits until the value is behind the clock, which may have wrapped.
const CYCLIC_SMALLER: u32 = 5;

/// Seconds after which the comparison wraps (DPDK `drivers/net/mlx5/mlx5.h`, `MLX5_TS_MASK_SECS`).
const SECONDS: u64 = 8;

/// The format of a device's clock. It belongs to the device (register `MTUTC`, `time_stamp_mode`): a queue whose
/// completions have other timestamps still waits by this clock. `Context::clock` of `blueflame-devx` asks for it.
///
/// The device compares the clock's low bits. For real time these are three bits of seconds and the nanoseconds, which
/// wrap after eight seconds. For ticks they count eight seconds, rounded up to a power of two of ticks (DPDK
/// `drivers/net/mlx5/mlx5_txq.c`, `mlx5_txq_dynf_timestamp_set`). With more bits a WAIT for real time never ends
/// (NVIDIA's daqiri `src/engines/ibverbs/daqiri_ibverbs_engine.cpp`, at `rt_timemask`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceClock {
    /// The bits that are compared; all below one.
    mask: u64,
    is_real_time: bool,
}

impl DeviceClock {
    /// Real time: seconds since 1970 in the upper half, nanoseconds in the lower.
    pub const REAL_TIME: Self = Self { mask: (SECONDS << 32) - 1, is_real_time: true };

    /// Ticks of a free-running clock, in thousands a second (`cmd_hca_cap.device_frequency_khz`).
    #[must_use]
    pub const fn free_running(khz: NonZeroU32) -> Self {
        let ticks = SECONDS * 1000 * khz.get() as u64;
        Self { mask: ticks.next_power_of_two() - 1, is_real_time: false }
    }

    /// The clock at its value `now`, read a moment ago. A completion's timestamp works if the queue's timestamps have
    /// the clock's format ([`CqeView::timestamp`](crate::cq::CqeView::timestamp)).
    #[must_use]
    pub const fn at(self, now: u64) -> ClockReading {
        ClockReading { clock: self, now }
    }

    /// The maximum distance of a WAIT's time from the clock, ahead or behind, in the clock's units: four seconds of real
    /// time, four to eight seconds of ticks. At a greater distance the device takes the future for the past.
    #[must_use]
    pub const fn reach(self) -> u64 {
        self.mask / 2
    }
}

/// A [`DeviceClock`] and its value a moment ago. Times to wait for are measured against that value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    clock: DeviceClock,
    now: u64,
}

impl ClockReading {
    /// Waits until the device's clock is past `time`. The requests behind this one do not begin before that.
    ///
    /// Devices that support it report it (`cmd_hca_cap.wait_on_time`, ConnectX-7 and later; `Context::wait_on_time` of
    /// `blueflame-devx` asks). Others fail the request.
    ///
    /// The device compares when the request's turn comes. If that is [`reach`](DeviceClock::reach) or more after
    /// `time`, the request waits until the comparison has wrapped. Therefore, post no time in the past behind
    /// requests that take seconds.
    ///
    /// It asks for no completion unless you request one, and has the mode
    /// [`OnFirstError`](crate::wqe::CompletionMode::OnFirstError). Give this mode to unsignalled frames behind it, too.
    /// With [`OnError`](crate::wqe::CompletionMode::OnError) a send queue of WAIT and SEND can stall (DPDK
    /// `drivers/net/mlx5/mlx5_tx.h`, `mlx5_tx_cseg_init`; daqiri, pull requests 272 and 275).
    ///
    /// ```
    /// use blueflame::wqe::{self, CompletionMode};
    /// use blueflame::wqe::cross_channel::ClockReading;
    /// use blueflame::{SendQueue, WrId, transport};
    ///
    /// /// Sends two frames when the clock is at `time`.
    /// fn send_at(
    ///     sq: &mut SendQueue<transport::RawPacket<0>>,
    ///     now: ClockReading,
    ///     time: u64,
    ///     frames: [&[u8; 60]; 2],
    /// ) -> Result<(), Box<dyn std::error::Error>> {
    ///     let wait = now.wait_until(time)?;
    ///     let [first, second] = frames.map(|frame| wqe::frame().inline(frame));
    ///     let mut batch = sq.batch();
    ///     batch.push(&wait)?;
    ///     batch.push(&first.completion(CompletionMode::OnFirstError))?;
    ///     batch.push(&second.signaled(WrId(1)))?;
    ///     batch.ring_doorbell();
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`WaitError::OutOfReach`]: more than [`reach`](DeviceClock::reach) from the reading, on either side.
    /// [`WaitError::Nanoseconds`]: not a valid real time.
    #[inline]
    pub fn wait_until(self, time: u64) -> Result<Request<'static, WaitTime, Nothing>, WaitError> {
        let Self { clock, now } = self;
        if clock.is_real_time {
            if let Some(error) = no_real_time(time) {
                return Err(error);
            }
            if let Some(error) = no_real_time(now) {
                return Err(error);
            }
        }
        // Seconds and nanoseconds subtract as one number: a borrow by the nanoseconds is one second.
        if (time.wrapping_sub(now) as i64).unsigned_abs() > clock.reach() {
            return Err(WaitError::out_of_reach(time, now, clock.reach()));
        }
        let segment = WaitSeg { operation: Be32::new(CYCLIC_SMALLER), lkey: Be32::new(0), va: Be64::new(0) };
        let operands = WaitValueSeg { value: Be64::new(time), mask: Be64::new(clock.mask) };
        Ok(Request::new([segment.into(), operands.into()]).completion(CompletionMode::OnFirstError))
    }
}

/// The error for a value that is not seconds and nanoseconds.
const fn no_real_time(value: u64) -> Option<WaitError> {
    if value as u32 >= NANOS { Some(WaitError::nanoseconds(value)) } else { None }
}

/// Nanoseconds of a second.
const NANOS: u32 = 1_000_000_000;

/// Why a device cannot wait for a time or a word. Nothing has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The time is too far from the reading, ahead or behind.
    OutOfReach {
        /// The time.
        time: u64,
        /// The clock's value at the reading.
        now: u64,
        /// The maximum distance between them: [`DeviceClock::reach`].
        limit: u64,
    },
    /// A real time whose lower half is a second or more.
    Nanoseconds {
        /// The time, or the reading.
        value: u64,
        /// The limit: nanoseconds must be less.
        limit: u32,
    },
    /// The [word](crate::wqe::wait_for_word) does not begin where words can.
    Misaligned {
        /// Its address.
        addr: u64,
        /// The address must be a multiple of this.
        alignment: u64,
    },
}

// Constructors are out of line: the checks are on the post path, but building the value is not.
impl WaitError {
    #[cold]
    const fn out_of_reach(time: u64, now: u64, limit: u64) -> Self {
        Self::OutOfReach { time, now, limit }
    }

    #[cold]
    const fn nanoseconds(value: u64) -> Self {
        Self::Nanoseconds { value, limit: NANOS }
    }

    #[cold]
    pub(super) const fn misaligned(addr: u64, alignment: u64) -> Self {
        Self::Misaligned { addr, alignment }
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutOfReach { time, now, limit } => {
                write!(f, "the time {time:#x} is further than {limit:#x} from the clock, which showed {now:#x}")
            }
            Self::Nanoseconds { value, limit } => {
                write!(
                    f,
                    "{value:#x} is not a real time: its nanoseconds are {}, and must be less than {limit}",
                    value as u32
                )
            }
            Self::Misaligned { addr, alignment } => {
                write!(f, "the word to wait for is at {addr:#x}, which is not a multiple of {alignment}")
            }
        }
    }
}

impl core::error::Error for WaitError {}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    const GIGAHERTZ: DeviceClock = DeviceClock::free_running(NonZeroU32::new(1_000_000).unwrap());

    #[test]
    fn masks_are_those_of_dpdk() {
        assert_eq!(DeviceClock::REAL_TIME.mask, 0x7_ffff_ffff);
        assert_eq!(GIGAHERTZ.mask, 0x1_ffff_ffff);
        // ConnectX-5 has 78.125 MHz: 625,000,000 ticks in eight seconds.
        assert_eq!(DeviceClock::free_running(NonZeroU32::new(78_125).unwrap()).mask, 0x3fff_ffff);
        assert_eq!(DeviceClock::free_running(NonZeroU32::new(156_250).unwrap()).mask, 0x7fff_ffff);
        assert_eq!(DeviceClock::free_running(NonZeroU32::MAX).mask, (1 << 45) - 1);
        assert_eq!(DeviceClock::free_running(NonZeroU32::MIN).mask, (1 << 13) - 1);
    }

    #[test]
    fn a_time_is_within_four_seconds() {
        for (clock, now, reach) in
            [(DeviceClock::REAL_TIME, 1_700_000_006 << 32 | 5, (4 << 32) - 1), (GIGAHERTZ, 7, (1 << 32) - 1)]
        {
            let reading = clock.at(now);
            assert_eq!(clock.reach(), reach);
            for time in [now, now.wrapping_add(1), now + 100_000_000] {
                assert!(reading.wait_until(time).is_ok(), "{time:#x}");
            }
            for time in [now.wrapping_add(reach + 1), now.wrapping_sub(reach + 1), now ^ 1 << 63] {
                let error = reading.wait_until(time).expect_err("too far");
                assert_eq!(error, WaitError::OutOfReach { time, now, limit: reach });
            }
        }
        assert!(GIGAHERTZ.at(7).wait_until(7 + (1 << 32) - 1).is_ok(), "the last that is");
        assert!(GIGAHERTZ.at(7).wait_until(7_u64.wrapping_sub((1 << 32) - 1)).is_ok(), "around the clock's end");
        let text = GIGAHERTZ.at(0x10).wait_until(1 << 40).expect_err("minutes").to_string();
        assert_eq!(text, "the time 0x10000000000 is further than 0xffffffff from the clock, which showed 0x10");
    }

    #[test]
    fn real_times_have_less_than_a_second_of_nanoseconds() {
        let second = 1_700_000_000_u64 << 32;
        let bad = second | 1_000_000_000;
        for error in
            [DeviceClock::REAL_TIME.at(second).wait_until(bad), DeviceClock::REAL_TIME.at(bad).wait_until(second)]
        {
            assert_eq!(error.expect_err("no time"), WaitError::Nanoseconds { value: bad, limit: 1_000_000_000 });
        }
        assert!(GIGAHERTZ.at(bad).wait_until(bad).is_ok(), "ticks are any number");
    }
}
