//! Infers from the two halves of a BlueFlame register which queues were rung there. Queues share registers, and a later
//! store replaces an earlier one in the same half before the device has seen it.
//!
//! Drivers use the halves in turn (rdma-core `providers/mlx5/qp.c`, `post_send_db`; UCX
//! `src/uct/ib/mlx5/ib_mlx5.inl`, `uct_ib_mlx5_bf_post`). So a store can have been replaced only if the other half was
//! stored to as well.

/// One register.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns {
    /// For each half: the driver has used the other one since this one was last taken. A driver that does not take
    /// turns, as DPDK (`drivers/common/mlx5/mlx5_common.h`, `mlx5_doorbell_ring`), never does.
    after_other: [bool; 2],
}

/// The stores that were taken from a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// The contents of each half.
    pub(super) halves: [Option<u32>; 2],
    /// There may have been other stores, which these have replaced.
    pub(super) may_miss: bool,
}

impl Turns {
    /// Takes the contents of the two halves; `half` takes one out.
    ///
    /// Required: if a half had one store, and the other half none, that store is the only one since the last look.
    ///
    /// ```text
    /// driver       device
    ///              look at 0: empty
    /// store A, 0
    /// store B, 1
    /// store C, 0                        // replaces A
    ///              look at 1: B
    ///              look at 0: C         // without this look, A would seem not to exist
    /// ```
    pub(super) fn take(&mut self, mut half: impl FnMut(usize) -> Option<u32>) -> Taken {
        let first = half(0);
        let second = half(1);
        let first = if first.is_none() && second.is_some() { half(0) } else { first };
        let halves = [first, second];
        let [was_first, was_second] = halves.map(|half| half.is_some());
        let may_miss = match (was_first, was_second) {
            (false, false) => return Taken { halves, may_miss: false },
            (true, false) => !self.after_other[0],
            (false, true) => !self.after_other[1],
            (true, true) => true,
        };
        self.after_other = [was_second, was_first];
        Taken { halves, may_miss }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A register, whose halves take turns or do not.
    #[derive(Default)]
    struct Driver {
        halves: [Option<u32>; 2],
        next: usize,
        takes_turns: bool,
    }

    impl Driver {
        fn store(&mut self, number: u32) {
            self.halves[self.next] = Some(number);
            self.next ^= usize::from(self.takes_turns);
        }
    }

    #[test]
    fn no_store_is_replaced_in_silence() {
        for takes_turns in [false, true] {
            // Each number is how many stores come between two looks.
            for counts in [[1, 1, 1, 1, 1], [2, 1, 1, 3, 1], [3, 1, 2, 1, 1], [1, 2, 0, 1, 4], [5, 0, 1, 1, 2]] {
                let mut driver = Driver { takes_turns, ..Driver::default() };
                let mut turns = Turns::default();
                for (look, count) in counts.into_iter().enumerate() {
                    (0..count).for_each(|number| driver.store(number));
                    let Taken { halves, may_miss } = turns.take(|half| driver.halves[half].take());
                    let named = halves.iter().flatten().count();
                    assert!(may_miss || named == count as usize, "{counts:?} at {look}: {halves:?}");
                    // The first look does not know the driver yet.
                    let is_sure = takes_turns && count == 1 && look > 0;
                    assert!(!is_sure || !may_miss, "{counts:?} at {look}");
                }
            }
        }
    }

    #[test]
    fn stores_between_the_looks_at_both_halves_are_seen() {
        let mut driver = Driver { takes_turns: true, ..Driver::default() };
        let mut turns = Turns { after_other: [true; 2] };
        let mut is_first = true;
        let taken = turns.take(|half| {
            let found = driver.halves[half].take();
            if std::mem::take(&mut is_first) {
                (10..13).for_each(|number| driver.store(number));
            }
            found
        });
        assert_eq!(taken, Taken { halves: [Some(12), Some(11)], may_miss: true });
    }

    /// UCX stores a copy twice on some CPUs.
    #[test]
    fn a_repeated_store_hides_no_other() {
        let mut driver = Driver { takes_turns: true, ..Driver::default() };
        let mut turns = Turns::default();
        let mut take = |driver: &mut Driver| turns.take(|half| driver.halves[half].take());
        driver.store(1);
        take(&mut driver);
        driver.halves[0] = Some(1);
        assert!(take(&mut driver).may_miss, "who knows");
        driver.store(2);
        assert_eq!(take(&mut driver), Taken { halves: [None, Some(2)], may_miss: false });
    }
}
