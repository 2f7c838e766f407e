//! Chooses the copy routine that suits a register: measures posts, and asks the device which copies it took.
use core::array;

use crate::arch::copy::{BlockCopy, CopyRoutine, CopyUnavailable, CopyVisitor};
use crate::cq::mode::PollMode;
use crate::cq::{CompletionQueue, CqeError, CqeView, Source};
use crate::db::Register;
use crate::queue::outcome::CompleteError;
use crate::queue::send::queue::SendQueue;
use crate::setup::SetupError;
use crate::transport::Transport;
use crate::types::{WQEBB_BYTES, WQEBB_DS, Wqebbs, WrId};
use crate::wqe::{self, sign};

/// The number of copy routines.
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
    /// # use blueflame::SetupError;
    /// # fn choose(sq: &mut SendQueue<transport::Rc>, cq: &mut CompletionQueue) -> Result<CopyRoutine, SetupError> {
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
    /// Nothing has been posted after [`SetupError::OutOfRange`] (the register has no BlueFlame buffer, or the ring or
    /// the completion queue holds one entry only), [`SetupError::CopyUnavailable`] and [`SetupError::Outstanding`].
    /// After [`SetupError::ProbeTimeout`] and [`SetupError::ProbeCompletion`], NOPs may be outstanding.
    pub fn probe<M: PollMode>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        routines: impl IntoIterator<Item = CopyRoutine>,
        mut clock: impl FnMut() -> u64,
        mut wait: impl FnMut() -> bool,
    ) -> Result<Probe, SetupError> {
        let (ring, cqes) = (self.capacity(), cq.capacity());
        let nops = NOPS.min(u32::from(ring.0)).min(cqes);
        SetupError::check_range(
            "bytes of a BlueFlame half to probe",
            self.register.size() as u64,
            WQEBB_BYTES as u64,
            2048,
        )?;
        SetupError::check_range("WQEBBs of a send ring to probe", ring.0.into(), 2, 1 << 15)?;
        SetupError::check_range("CQEs of a completion queue for a probe", cqes.into(), 2, 1 << 23)?;
        let mut wanted = [false; ROUTINES];
        for routine in routines {
            routine.check().map_err(unavailable)?;
            wanted[routine as usize] = true;
        }
        if self.free() != ring {
            let outstanding = ring.0 - self.free().0;
            return Err(SetupError::Outstanding { what: "send queue to probe", outstanding });
        }
        let mut rounds = [[None; ROUTINES]; ROUNDS];
        let mut taken = [0; ROUTINES];
        for round in &mut rounds {
            for routine in CopyRoutine::ALL.into_iter().filter(|&routine| wanted[routine as usize]) {
                let slice = Slice { queue: self, nops, clock: &mut clock };
                round[routine as usize] = Some(routine.dispatch(slice).map_err(unavailable)?);
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
    fn nop<C: BlockCopy>(&mut self, routine: C, signaled: bool) {
        let pi = self.pi;
        let mut register: [C::Held; WQEBB_DS] = wqe::nop().signaled(WrId(0)).compose(self.ring.first_word(pi), false);
        if const { T::SIGNS } {
            sign(&mut register);
        }
        // SAFETY: there is room, as the slice fits the ring; a NOP names no memory, and the register has a size of at
        // least 64 bytes: `probe` has checked both.
        unsafe {
            let nop = wqe::nop().signaled_if(signaled, WrId(0));
            let _: [C::Held; WQEBB_DS] = self.ring.put::<T, _, _, _, WQEBB_DS>(pi, &nop);
            self.publish(pi.add(Wqebbs(1)));
            self.register.ring_doorbell(|half| half.with_copy(routine).copy_held(&register));
        }
    }

    /// Takes back a slice's NOPs. Says how many of them, but for the last, have completed by themselves.
    fn await_slice<M: PollMode>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        wait: &mut impl FnMut() -> bool,
    ) -> Result<u32, SetupError> {
        let mut completed = 0;
        while self.free() != self.capacity() {
            match cq.poll() {
                Some(cqe) => {
                    self.complete(&cqe).map_err(|error| ended(&cqe, &error))?;
                    completed += 1;
                }
                None if wait() => {}
                None => {
                    return Err(SetupError::ProbeTimeout { outstanding: self.capacity().0 - self.free().0 });
                }
            }
        }
        Ok(completed - 1)
    }
}

/// The error for a routine that this CPU lacks.
fn unavailable(CopyUnavailable { routine }: CopyUnavailable) -> SetupError {
    SetupError::CopyUnavailable { routine: routine.name(), needs: routine.needs() }
}

/// The error for a completion that is not the success of a NOP.
fn ended<S: Source, D>(cqe: &CqeView<S>, error: &CompleteError<D>) -> SetupError {
    let syndrome = match error {
        CompleteError::Failed { error: CqeError::Completion(error) | CqeError::Aborted(error), .. } => {
            Some(error.syndrome.value())
        }
        _ => None,
    };
    SetupError::ProbeCompletion {
        opcode: cqe.op_own().opcode(),
        syndrome,
        qpn: cqe.qpn().get(),
        wqe_counter: cqe.wqe_counter(),
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
        let mut nop = |signaled| queue.nop(copy, signaled);
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
    /// not from the ring. If it is zero for all routines, copies gain nothing here, and 8-byte doorbells cost less
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
