//! Support for requests about other queues, about the clock and about a word of memory, and the mode of that clock.

use std::num::NonZeroU32;

use blueflame::wqe::cross_channel::DeviceClock;

use crate::cmd::{AccessRegisterIn, AccessRegisterOut, RegisterAccess, RegisterId, RegisterMtutc, TimeStampMode};
use crate::context::Context;
use crate::error::Error;
use crate::mailbox::{List, Structure};
use crate::support::ask::has;

/// Thousands of ticks a second of a clock that counts nanoseconds.
const GIGAHERTZ: u32 = 1_000_000;

impl Context {
    /// Whether queues can wait for the completions of others, and start others
    /// ([`wait_for_completion`](blueflame::wqe::wait_for_completion),
    /// [`SendQueue::enable`](blueflame::SendQueue::enable)).
    ///
    /// # Errors
    /// [`Error::Capability`] if not, or [`Error::Command`].
    pub fn cross_channel(&self) -> Result<(), Error> {
        has("cmd_hca_cap.cd", self.general()?.cd())
    }

    /// Whether queues can wait for the clock ([`wait_until`](blueflame::wqe::cross_channel::ClockReading::wait_until)).
    ///
    /// # Errors
    /// [`Error::Capability`] if not, or [`Error::Command`].
    pub fn wait_on_time(&self) -> Result<(), Error> {
        has("cmd_hca_cap.wait_on_time", self.general()?.wait_on_time())
    }

    /// Whether queues can wait for a word of memory ([`wait_for_word`](blueflame::wqe::wait_for_word)).
    ///
    /// # Errors
    /// [`Error::Capability`] if not, or [`Error::Command`].
    pub fn wait_on_data(&self) -> Result<(), Error> {
        has("cmd_hca_cap.wait_on_data", self.general()?.wait_on_data())
    }

    /// The clock that queues wait for. Its mode is the device's own, independent of the queues' timestamps, and is read
    /// from register `MTUTC`. If the program cannot read the register, this method assumes real time for a clock of
    /// nanoseconds, as DPDK does (`drivers/net/mlx5/mlx5.c`, `mlx5_rt_timestamp_config`; `drivers/net/mlx5/mlx5_txq.c`,
    /// `mlx5_txq_dynf_timestamp_set`).
    ///
    /// # Errors
    /// [`Error::Command`]: the query of the capabilities failed.
    pub fn clock(&self) -> Result<DeviceClock, Error> {
        let general = self.general()?;
        let khz = general.device_frequency_khz();
        let mode = if general.access_register_user() { self.time_stamp_mode() } else { None };
        let is_real_time = mode.map_or(khz == GIGAHERTZ, |mode| mode == TimeStampMode::REAL_TIME);
        let free_running = NonZeroU32::new(khz).filter(|_| !is_real_time).map(DeviceClock::free_running);
        Ok(free_running.unwrap_or(DeviceClock::REAL_TIME))
    }

    /// The mode in register `MTUTC`; `None` if the device refuses to read it.
    fn time_stamp_mode(&self) -> Option<TimeStampMode> {
        let mut inbox = AccessRegisterIn::new();
        inbox.set_op_mod(RegisterAccess::READ).set_register_id(RegisterId::MTUTC);
        let mut answer = List::<AccessRegisterOut, RegisterMtutc>::zeroed(1);
        // SAFETY: it reads a register, which changes nothing and names no memory.
        unsafe { self.execute_raw(inbox.as_bytes(), answer.as_bytes_mut()) }.ok()?;
        answer.iter().next().map(|register| register.time_stamp_mode())
    }
}
