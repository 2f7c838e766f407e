//! Rates of send queues: a table that queues refer to by index. It must never know a queue.

use crate::error::Error;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Entries of the table, of which the first stands for no limit. Linux' driver says of a ConnectX-5: "127 rates are
/// supported, range: 0Mbps to 97656Mbps" (`drivers/net/ethernet/mellanox/mlx5/core/rl.c`, `mlx5_init_rl_table`).
pub(crate) const RATES: u16 = 128;
/// The possible rates, in kbit/s or WQEs a second.
pub(crate) const KILOBITS: RangeInclusive<u32> = 1..=100_000_000;

/// Unit of a rate (`set_pp_rate_limit_context.rate_mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RateMode {
    /// kbit/s of frames, without their check sequences.
    #[default]
    Data,
    /// WQEs a second, of any kind.
    Wqes,
}

/// How fast a send queue sends (PRM, `set_pp_rate_limit_context`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    /// How many of the unit.
    pub limit: u32,
    /// The unit.
    pub mode: RateMode,
    /// Most bytes that go out one behind the other; 0 stands for the shortest bursts, single frames.
    pub burst: u32,
    /// Bytes of the frames that are expected. This device counts the bytes of each frame, and needs no estimate.
    pub typical: u16,
}

impl Rate {
    /// The time that `bytes` bytes take, by a rate of data.
    pub(crate) fn time_of(&self, bytes: u64) -> Duration {
        // Bits and kilobits per second give milliseconds; a nanosecond is 10^-6 of one.
        Duration::from_nanos((bytes * 8).saturating_mul(1_000_000) / u64::from(self.limit.max(1)))
    }

    /// The time that a WQE takes, by a rate of WQEs.
    pub(crate) fn time_of_wqe(&self) -> Duration {
        Duration::from_nanos(1_000_000_000 / u64::from(self.limit.max(1)))
    }
}

/// The table.
#[derive(Debug, Default)]
pub(crate) struct Rates(BTreeMap<u16, Rate>);

impl Rates {
    /// Sets an entry, or removes it. Queues that refer to it follow at once.
    pub(crate) fn set(&mut self, index: u16, rate: Option<Rate>) -> Result<(), Error> {
        if index == 0 || index >= RATES {
            let permitted = "1 to the table's size";
            return Err(Error::BadValue { what: "index of a rate", value: index.into(), permitted });
        }
        match rate {
            None => drop(self.0.remove(&index)),
            // Linux holds rates of WQEs against the same bounds (`rl.c`, `mlx5_rl_add_rate_raw`).
            Some(rate) if !KILOBITS.contains(&rate.limit) => {
                let permitted = "those of packet_pacing_min_rate and packet_pacing_max_rate";
                return Err(Error::BadValue { what: "rate", value: rate.limit.into(), permitted });
            }
            Some(rate) => drop(self.0.insert(index, rate)),
        }
        Ok(())
    }

    /// The rate of an index. There is none for index 0, and for an entry that was removed.
    pub(crate) fn get(&self, index: u16) -> Option<Rate> {
        self.0.get(&index).copied()
    }

    /// Refuses the index of an entry that is not set.
    pub(crate) fn check(&self, index: u16) -> Result<(), Error> {
        if index != 0 && !self.0.contains_key(&index) {
            let permitted = "0, or that of a rate that was set";
            return Err(Error::BadValue { what: "index of a rate", value: index.into(), permitted });
        }
        Ok(())
    }
}
