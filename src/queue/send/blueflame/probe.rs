//! Chooses the copy routine that suits a register: measures posts, and asks the device which copies it took.
use core::array;
use core::fmt;

use crate::arch::Wide;
use crate::arch::copy::{BlockCopy, CopyRoutine, CopyUnavailable, CopyVisitor};
use crate::cq::mode::PollMode;
use crate::cq::{CompletionQueue, CqeError};
use crate::db::Register;
use crate::queue::complete::CompleteError;
use crate::queue::retire::RetireError;
use crate::queue::send::blueflame::copy::CopiedDs;
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::{WQEBB_BYTES, Wqebbs, WrId};
use crate::wqe::{self, DsWords, WQEBB_DS, sign};

/// Copy routines that there are.
const ROUTINES: usize = CopyRoutine::ALL.len();
/// Slices of each routine, in turns.
const ROUNDS: usize = 65;
/// The most NOPs in a slice.
const NOPS: u32 = 64;
/// Differences up to 1/16 are noise. A routine is picked only if it is faster than the default by more. Shares of
/// copies that the device took count as different only if they differ by more.
const MARGIN: u64 = 16;

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Measures copy routines on this queue's register, for [`Probe::pick`] to choose one: at start-up, before anything
    /// is posted. Takes some milliseconds, and some ten thousand NOPs.
    ///
    /// Each routine posts slices of up to 64 NOPs, in turns with the others. It posts a NOP as [`post`](Self::post)
    /// posts a request of one WQEBB. It composes the NOP in the form that the routine takes, stores it to the ring,
    /// publishes it, and copies it between the barriers of the register's mode. The probe times this, except for the
    /// slice's first NOP, which pays for leftovers of the slice before. A program built without optimizations measures
    /// its build.
    ///
    /// The NOP in the ring asks for no completion, except the last of a slice; the copy in the register does. So a
    /// completion of any other NOP proves that the device took the copy and fetched nothing. Software has no other
    /// proof. Linux uses the same test to find out whether write combining works
    /// (`drivers/net/ethernet/mellanox/mlx5/core/wc.c`, `mlx5_wc_post_nop`). [`Probe::taken`] has the shares.
    ///
    /// `cq` is the completion queue of this queue's requests, and nothing else completes to it meanwhile. `clock`
    /// returns the time in any unit: nanoseconds since the start, or a cycle counter. The probe calls `wait` while it
    /// waits for a completion, and goes on if `wait` returns true. In `wait`, a program gives up after some time, or
    /// steps a software device.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use blueflame::arch::copy::CopyRoutine;
    /// # use blueflame::transport;
    /// # use blueflame::cq::CompletionQueue;
    /// # use blueflame::db::Register;
    /// # use blueflame::queue::SendQueue;
    /// # use blueflame::queue::send::ProbeError;
    /// # fn choose(sq: &mut SendQueue<transport::Rc>, cq: &mut CompletionQueue) -> Result<CopyRoutine, ProbeError> {
    /// let start = Instant::now();
    /// let routines = CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b);
    /// let nanoseconds = || start.elapsed().as_nanos() as u64;
    /// let probe = sq.probe(cq, routines, nanoseconds, || start.elapsed() < Duration::from_secs(1))?;
    /// for ((routine, nanoseconds), (_, share)) in probe.costs().zip(probe.taken()) {
    ///     println!("{routine:<10} {nanoseconds:.1} ns a post, {:.0} % taken from the register", 100.0 * share);
    /// }
    /// # Ok(probe.pick())
    /// # }
    /// ```
    ///
    /// [`CopyRoutine::St64b`] faults on memory that does not take such stores. On ordinary memory in place of a
    /// register, `Movdir64b` also evicts the line from the cache, which it never does on a register.
    ///
    /// # Errors
    /// See [`ProbeError`]. Up to [`ProbeError::Outstanding`] nothing has been posted; after the others, NOPs may be
    /// outstanding.
    pub fn probe<M: PollMode>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        routines: impl IntoIterator<Item = CopyRoutine>,
        mut clock: impl FnMut() -> u64,
        mut wait: impl FnMut() -> bool,
    ) -> Result<Probe, ProbeError> {
        let (ring, cqes) = (self.capacity(), cq.capacity());
        let nops = NOPS.min(u32::from(ring.0)).min(cqes);
        if self.register.size() < WQEBB_BYTES {
            return Err(ProbeError::NoBlueFlame);
        }
        if nops < 2 {
            return Err(ProbeError::TooSmall { ring, cqes });
        }
        let mut wanted = [false; ROUTINES];
        for routine in routines {
            routine.check().map_err(ProbeError::Unavailable)?;
            wanted[routine as usize] = true;
        }
        if self.free() != ring {
            return Err(ProbeError::Outstanding);
        }
        let mut rounds = [[None; ROUTINES]; ROUNDS];
        let mut taken = [0; ROUTINES];
        for round in &mut rounds {
            for routine in CopyRoutine::ALL.into_iter().filter(|&routine| wanted[routine as usize]) {
                let slice = Slice { queue: self, nops, clock: &mut clock };
                round[routine as usize] = Some(routine.dispatch(slice).map_err(ProbeError::Unavailable)?);
                taken[routine as usize] += self.await_slice(cq, &mut wait)?;
            }
        }
        let measured = array::from_fn(|routine| {
            let mut ticks = rounds.map(|round| round[routine]);
            ticks.sort_unstable();
            ticks[ROUNDS / 2].map(|ticks| Measured { ticks, taken: taken[routine] })
        });
        Ok(Probe { measured, nops })
    }

    /// Posts a NOP by a routine. The ring's asks for a completion if `signaled`, the register's does.
    #[inline(always)]
    fn nop<D: CopiedDs>(&mut self, routine: impl BlockCopy, signaled: bool) {
        let pi = self.pi;
        let mut register: [D; WQEBB_DS] = wqe::nop().signaled(WrId(0)).compose(self.places.first_word(pi), false);
        if const { T::SIGNS } {
            sign(&mut register);
        }
        // SAFETY: there is room, as the slice fits the ring; a NOP names no memory, and the register has a size of at
        // least 64 bytes: `probe` has checked both.
        unsafe {
            let nop = wqe::nop().signaled_if(signaled, WrId(0));
            let _: [D; WQEBB_DS] = self.places.put::<T, _, _, _, WQEBB_DS>(pi, &nop);
            self.publish(pi.add(Wqebbs(1)));
            self.register.ring_doorbell(|half| half.copy_by(|_, dst| D::copy(register, routine, dst)));
        }
    }

    /// Takes back a slice's NOPs. Says how many of them, but for the last, have completed by themselves.
    fn await_slice<M: PollMode>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        wait: &mut impl FnMut() -> bool,
    ) -> Result<u32, ProbeError> {
        let mut completed = 0;
        while self.free() != self.capacity() {
            match cq.poll() {
                Some(cqe) => {
                    self.complete(&cqe).map_err(|error| match error {
                        CompleteError::Failed { error, .. } => ProbeError::Failed(error),
                        CompleteError::Foreign(error) => ProbeError::Retire(error),
                    })?;
                    completed += 1;
                }
                None if wait() => {}
                None => return Err(ProbeError::NoCompletion),
            }
        }
        Ok(completed - 1)
    }
}

/// NOPs by one routine.
struct Slice<'a, T: Transport, R: Register, K> {
    queue: &'a mut SendQueue<T, R>,
    nops: u32,
    clock: &'a mut K,
}

impl<T: Transport, R: Register, K: FnMut() -> u64> CopyVisitor for Slice<'_, T, R, K> {
    type Output = u64;

    fn run<C: BlockCopy>(self, copy: C) -> u64 {
        let Self { queue, nops, clock } = self;
        let mut nop = |signaled| {
            // As `post` chooses.
            if const { C::WIDE } {
                queue.nop::<Wide>(copy, signaled);
            } else {
                queue.nop::<DsWords>(copy, signaled);
            }
        };
        nop(false);
        let start = clock();
        (2..=nops).for_each(|n| nop(n == nops));
        clock().wrapping_sub(start)
    }
}

/// What [`SendQueue::probe`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// By routine.
    measured: [Option<Measured>; ROUTINES],
    /// In a slice.
    nops: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Measured {
    /// A slice's: the median.
    ticks: u64,
    /// Copies that the device is known to have taken, in all slices.
    taken: u32,
}

impl Probe {
    /// The cost of one post by each routine that was measured, in the clock's unit: medians.
    pub fn costs(&self) -> impl Iterator<Item = (CopyRoutine, f64)> {
        let timed = f64::from(self.nops - 1);
        self.measured().map(move |(routine, found)| (routine, found.ticks as f64 / timed))
    }

    /// The share of each routine's copies, from 0 to 1, that the device is known to have taken from the register and
    /// not from the ring. If it is zero for all routines, copies are of no use here, and 8-byte doorbells cost less
    /// ([`BlueFlamePolicy::Never`](crate::queue::BlueFlamePolicy::Never)).
    pub fn taken(&self) -> impl Iterator<Item = (CopyRoutine, f64)> {
        let known = f64::from(self.nops - 1) * ROUNDS as f64;
        self.measured().map(move |(routine, found)| (routine, f64::from(found.taken) / known))
    }

    /// The best routine. Candidates are the routines whose copies the device takes most often (within 1/16). The
    /// fastest candidate wins, unless the [default](CopyRoutine::default_for_cpu) is a candidate and within 1/16 of the
    /// fastest. The default, if nothing was measured.
    #[must_use]
    pub fn pick(&self) -> CopyRoutine {
        let default = CopyRoutine::default_for_cpu();
        let most = self.measured().map(|(_, found)| u64::from(found.taken)).max().unwrap_or(0);
        let suits = |&(_, found): &(_, Measured)| u64::from(found.taken) >= most - most / MARGIN;
        let usual = self.measured().filter(suits).find(|&(routine, _)| routine == default);
        match (self.measured().filter(suits).min_by_key(|&(_, found)| found.ticks), usual) {
            (Some((_, least)), Some((_, usual))) if usual.ticks.saturating_sub(least.ticks) <= usual.ticks / MARGIN => {
                default
            }
            (Some((cheapest, _)), _) => cheapest,
            (None, _) => default,
        }
    }

    fn measured(&self) -> impl Iterator<Item = (CopyRoutine, Measured)> {
        CopyRoutine::ALL.into_iter().zip(self.measured).filter_map(|(routine, found)| Some((routine, found?)))
    }
}

/// Why nothing was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeError {
    /// The register takes 8-byte doorbells only: there is no copy to choose.
    NoBlueFlame,
    /// The ring or the completion queue holds one entry only.
    TooSmall {
        /// WQEBBs of the ring.
        ring: Wqebbs,
        /// CQEs of the completion queue.
        cqes: u32,
    },
    /// A routine that this CPU lacks.
    Unavailable(CopyUnavailable),
    /// Requests are outstanding.
    Outstanding,
    /// The device did not complete the NOPs for as long as the caller would wait.
    NoCompletion,
    /// A NOP failed.
    Failed(CqeError),
    /// A completion that is not of these NOPs: the completion queue is another one, or not this queue's alone.
    Retire(RetireError),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBlueFlame => f.write_str("the register has no BlueFlame buffer, so no copy can be measured"),
            Self::TooSmall { ring, cqes } => {
                write!(f, "{} WQEBBs and {cqes} CQEs: copies are measured with two of each at least", ring.0)
            }
            Self::Unavailable(which) => which.fmt(f),
            Self::Outstanding => f.write_str("requests are outstanding: copies are measured on an idle queue"),
            Self::NoCompletion => f.write_str("the device has not completed the NOPs"),
            Self::Failed(why) => write!(f, "a NOP failed: {why}"),
            Self::Retire(why) => write!(f, "a completion of another request than these NOPs: {why}"),
        }
    }
}

impl core::error::Error for ProbeError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(found: &[(CopyRoutine, u64, u32)]) -> Probe {
        let mut probe = Probe { measured: [None; ROUTINES], nops: 65 };
        for &(routine, ticks, taken) in found {
            probe.measured[routine as usize] = Some(Measured { ticks, taken });
        }
        probe
    }

    /// The default, and a routine that is not.
    fn two() -> (CopyRoutine, CopyRoutine) {
        let usual = CopyRoutine::default_for_cpu();
        (usual, if usual == CopyRoutine::Words { CopyRoutine::Sse } else { CopyRoutine::Words })
    }

    #[test]
    fn all_routines_have_their_place() {
        for (place, routine) in CopyRoutine::ALL.into_iter().enumerate() {
            assert_eq!(routine as usize, place);
        }
    }

    #[test]
    fn the_default_yields_to_what_is_clearly_cheaper() {
        let (usual, other) = two();
        assert_eq!(probe(&[]).pick(), usual);
        assert_eq!(probe(&[(usual, 1600, 0), (other, 1500, 0)]).pick(), usual);
        assert_eq!(probe(&[(usual, 1600, 0), (other, 1499, 0)]).pick(), other);
        assert_eq!(probe(&[(usual, 1600, 0), (other, 1601, 0)]).pick(), usual);
        assert_eq!(probe(&[(other, 1601, 0)]).pick(), other);
        let costs = probe(&[(other, 64, 0), (usual, 128, 0)]);
        assert!(costs.costs().all(|cost| cost == (usual, 2.0) || cost == (other, 1.0)));
    }

    #[test]
    fn what_the_device_takes_goes_before_what_is_cheap() {
        let (usual, other) = two();
        let all = 64 * ROUNDS as u32;
        assert_eq!(probe(&[(usual, 1600, 0), (other, 9000, all)]).pick(), other);
        assert_eq!(probe(&[(usual, 1600, all - all / 16), (other, 1700, all)]).pick(), usual);
        assert_eq!(probe(&[(usual, 1600, all - all / 8), (other, 1700, all)]).pick(), other);
        assert_eq!(probe(&[(usual, 1600, all), (other, 100, all / 2)]).pick(), usual);
        assert!(probe(&[(other, 1, all / 2)]).taken().eq([(other, 0.5)]));
    }
}
