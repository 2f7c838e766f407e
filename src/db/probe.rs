use core::array;
use core::fmt;
use core::hint::black_box;

use super::exclusive::ExclusiveRegister;
use super::mode::{FlushMode, TwoFences};
use super::parts::Halves;
use super::register::Register;
use crate::arch::copy::{BlockCopy, CopyRoutine, CopyUnavailable, CopyVisitor};
use crate::types::WQEBB_BYTES;

/// Copy routines that there are.
const ROUTINES: usize = CopyRoutine::ALL.len();
/// Slices of each routine, in turns.
const ROUNDS: usize = 65;
/// Doorbells in a slice.
const DOORBELLS: u32 = 64;
/// A routine must save one part in so many, to be picked instead of the one that is the default: less is noise.
const MARGIN: u64 = 16;

impl<F: FlushMode, C: BlockCopy> ExclusiveRegister<F, C> {
    /// Measures copy routines on this register and picks one: for start-up, some milliseconds long.
    ///
    /// Each routine of `routines` rings some thousand doorbells with `block`, both fences around each, in slices that take
    /// turns with those of the others. `clock` says what time it is, in any unit: nanoseconds since the start, or a cycle counter.
    ///
    /// What is measured is how long a doorbell holds the CPU up, the flush included, which waits for the buses on the way.
    /// Whether the device got a block in one piece cannot be seen from here. On a real register the measurement is
    /// about that register; on ordinary memory it is about composing the block only, and meaningless for MOVDIR64B, whose
    /// cost there is that of throwing the line out of the cache. The block comes in words here, as in a post; a template's
    /// is in wide registers, where the wider routines need not compose it. A program built without optimizations
    /// measures its build.
    ///
    /// ```
    /// use std::time::Instant;
    /// use blueflame::arch::copy::CopyRoutine;
    /// # use blueflame::db::{ExclusiveRegister, RegisterParts};
    /// # #[repr(align(512))]
    /// # struct Page([u8; 512]);
    /// # let mut page = Page([0; 512]);
    /// # let parts = RegisterParts { reg: std::ptr::NonNull::from(&mut page.0).cast(), size: 256 };
    /// # // SAFETY: memory of this function, which nothing else uses.
    /// # let mut register = unsafe { ExclusiveRegister::from_parts(parts)? };
    /// let start = Instant::now();
    /// let candidates = CopyRoutine::available()
    ///     .filter(|routine| !matches!(routine, CopyRoutine::Movdir64b | CopyRoutine::St64b));
    /// // SAFETY: the register is memory that no device looks at, and no candidate needs another kind of memory.
    /// let probe = unsafe { register.probe(&[0; 8], candidates, || start.elapsed().as_nanos() as u64)? };
    /// for (routine, nanoseconds) in probe.costs() {
    ///     println!("{routine:<10} {nanoseconds:.1} ns a doorbell");
    /// }
    /// let routine = probe.pick();
    /// # assert!(CopyRoutine::available().any(|known| known == routine));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A register without BlueFlame, or a routine that this CPU lacks; nothing has been stored then.
    ///
    /// # Safety
    /// Storing `block` to the register, some ten thousand times, does no harm. Two cases are known to be such:
    ///
    /// - The register is memory that no device looks at.
    /// - `block` is the WQEBB of a NOP that this register's queue pair has executed already, as its completion has
    ///   shown, and nothing is outstanding or posted meanwhile. Copies of WQEs that were executed before the copy came
    ///   are part of normal operation: the device may have learned of them from the doorbell record, when an earlier
    ///   doorbell woke it. It looks at the record, and finds nothing new. Linux tests write combining with NOPs, too, on
    ///   a queue of its own (`drivers/net/ethernet/mellanox/mlx5/core/wc.c`); this crate has done it with the software
    ///   device only.
    ///
    /// And the memory behind the register takes the stores of all `routines`, which is a question for
    /// [`CopyRoutine::St64b`] only.
    pub unsafe fn probe(
        &mut self,
        block: &[u64; 8],
        routines: impl IntoIterator<Item = CopyRoutine>,
        mut clock: impl FnMut() -> u64,
    ) -> Result<Probe, ProbeError> {
        if self.size() < WQEBB_BYTES {
            return Err(ProbeError::NoBlueFlame);
        }
        let mut wanted = [false; ROUTINES];
        for routine in routines {
            routine.check().map_err(ProbeError::Unavailable)?;
            wanted[routine as usize] = true;
        }
        let mut rounds = [[None; ROUTINES]; ROUNDS];
        for round in &mut rounds {
            for routine in CopyRoutine::ALL.into_iter().filter(|&routine| wanted[routine as usize]) {
                let slice = Slice { halves: &mut self.halves, block, clock: &mut clock };
                round[routine as usize] = Some(routine.dispatch(slice).map_err(ProbeError::Unavailable)?);
            }
        }
        let costs = array::from_fn(|routine| {
            let mut ticks = rounds.map(|round| round[routine]);
            ticks.sort_unstable();
            ticks[ROUNDS / 2]
        });
        Ok(Probe { costs })
    }
}

/// Doorbells by one routine.
struct Slice<'a, K> {
    halves: &'a mut Halves,
    block: &'a [u64; 8],
    clock: &'a mut K,
}

impl<K: FnMut() -> u64> CopyVisitor for Slice<'_, K> {
    type Output = u64;

    fn run<C: BlockCopy>(self, copy: C) -> u64 {
        let Self { halves, block, clock } = self;
        let mut register = ExclusiveRegister::<TwoFences, C>::new(*halves, copy);
        let mut ring = || {
            let block = *black_box(block);
            // SAFETY: `probe` has checked the size, and its caller vouches for what the block does.
            register.ring(|half| unsafe { half.copy(&block) });
        };
        // Not timed: it pays for what the slice before has left behind.
        ring();
        let start = clock();
        (0..DOORBELLS).for_each(|_| ring());
        let ticks = clock().wrapping_sub(start);
        *halves = register.halves;
        ticks
    }
}

/// What [`ExclusiveRegister::probe`] measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Ticks of a slice, by routine.
    costs: [Option<u64>; ROUTINES],
}

impl Probe {
    /// What one doorbell costs by each routine that was measured, in the clock's unit: medians.
    pub fn costs(&self) -> impl Iterator<Item = (CopyRoutine, f64)> {
        let cost = |(routine, ticks): (_, Option<u64>)| Some((routine, ticks? as f64 / f64::from(DOORBELLS)));
        CopyRoutine::ALL.into_iter().zip(self.costs).filter_map(cost)
    }

    /// The routine to take: the cheapest one, or the [default](CopyRoutine::default_for_cpu) if that is not dearer by more
    /// than a sixteenth, or nothing was measured.
    #[must_use]
    pub fn pick(&self) -> CopyRoutine {
        let default = CopyRoutine::default_for_cpu();
        let measured =
            CopyRoutine::ALL.into_iter().zip(self.costs).filter_map(|(routine, ticks)| Some((routine, ticks?)));
        match (measured.min_by_key(|&(_, ticks)| ticks), self.costs[default as usize]) {
            (Some((_, least)), Some(usual)) if usual.saturating_sub(least) <= usual / MARGIN => default,
            (Some((cheapest, _)), _) => cheapest,
            (None, _) => default,
        }
    }
}

/// Why nothing was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeError {
    /// The register takes 8-byte doorbells only: there is no copy to choose.
    NoBlueFlame,
    /// A routine that this CPU lacks.
    Unavailable(CopyUnavailable),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBlueFlame => f.write_str("the register has no BlueFlame buffer, so no copy can be measured"),
            Self::Unavailable(which) => which.fmt(f),
        }
    }
}

impl core::error::Error for ProbeError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(costs: &[(CopyRoutine, u64)]) -> Probe {
        let mut probe = Probe { costs: [None; ROUTINES] };
        for &(routine, ticks) in costs {
            probe.costs[routine as usize] = Some(ticks);
        }
        probe
    }

    #[test]
    fn all_routines_have_their_place() {
        for (place, routine) in CopyRoutine::ALL.into_iter().enumerate() {
            assert_eq!(routine as usize, place);
        }
    }

    #[test]
    fn the_default_yields_to_what_is_clearly_cheaper() {
        let usual = CopyRoutine::default_for_cpu();
        let other = if usual == CopyRoutine::Words { CopyRoutine::Sse } else { CopyRoutine::Words };
        assert_eq!(probe(&[]).pick(), usual);
        assert_eq!(probe(&[(usual, 1600), (other, 1500)]).pick(), usual);
        assert_eq!(probe(&[(usual, 1600), (other, 1499)]).pick(), other);
        assert_eq!(probe(&[(usual, 1600), (other, 1601)]).pick(), usual);
        assert_eq!(probe(&[(other, 1601)]).pick(), other);
        assert!(probe(&[(other, 64), (usual, 128)]).costs().all(|cost| cost == (usual, 2.0) || cost == (other, 1.0)));
    }
}
