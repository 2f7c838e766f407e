//! The rates of a device's send queues, as a kernel driver hands them out (Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/rl.c`): users of the same rate share an entry of the device's table.

use crate::process::Errno;
use softhca::device::Rate;

/// An entry in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    rate: Rate,
    users: u32,
    /// It is not shared.
    dedicated: bool,
}

/// The entries, from index 1 on: index 0 stands for no limit.
#[derive(Debug, Default)]
pub(super) struct RateTable(Vec<Option<Entry>>);

impl RateTable {
    /// The index of a rate, and whether the device must be told of it (`mlx5_rl_add_rate_raw`).
    pub(super) fn add(&mut self, rate: Rate, dedicated: bool, size: usize) -> Result<(u16, bool), Errno> {
        self.0.resize(size.saturating_sub(1), None);
        let shared = |entry: &Option<Entry>| entry.is_some_and(|entry| !entry.dedicated && entry.rate == rate);
        if let Some(at) = self.0.iter().position(shared).filter(|_| !dedicated) {
            if let Some(entry) = &mut self.0[at] {
                entry.users += 1;
                return Ok((at as u16 + 1, false));
            }
        }
        let at = self.0.iter().position(Option::is_none).ok_or(Errno::ENOSPC)?;
        self.0[at] = Some(Entry { rate, users: 1, dedicated });
        Ok((at as u16 + 1, true))
    }

    /// Drops one user of an index. `true` if it was the last one, so that the device must forget it.
    pub(super) fn remove(&mut self, index: u16) -> bool {
        let Some(place) = usize::from(index).checked_sub(1).and_then(|at| self.0.get_mut(at)) else { return false };
        let Some(entry) = place else { return false };
        entry.users -= 1;
        let last = entry.users == 0;
        if last {
            *place = None;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use softhca::device::RateMode;

    fn rate(kilobits: u32) -> Rate {
        Rate { limit: kilobits, mode: RateMode::Data, burst: 0, typical: 0 }
    }

    #[test]
    fn equal_rates_share_an_entry_unless_it_is_dedicated() {
        let mut table = RateTable::default();
        assert_eq!(table.add(rate(5), false, 4), Ok((1, true)));
        assert_eq!(table.add(rate(5), false, 4), Ok((1, false)));
        assert_eq!(table.add(rate(5), true, 4), Ok((2, true)));
        assert_eq!(table.add(rate(6), false, 4), Ok((3, true)));
        assert_eq!(table.add(rate(7), false, 4), Err(Errno::ENOSPC));
        assert_eq!(
            [table.remove(1), table.remove(1), table.remove(1), table.remove(0), table.remove(9)],
            [false, true, false, false, false]
        );
        assert_eq!(table.add(rate(7), false, 4), Ok((1, true)));
    }
}
