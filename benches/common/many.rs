//! Many queues of one thread, used in turn.
use std::ptr::NonNull;

use blueflame::db::{FlushMode, Register, ThreadRegister};
use blueflame::queue::{SendQueue, Staged};
use blueflame::transport;

use super::contest::{Player, Poll, Queues, Work};
use super::floor::{Floor, WideWqe};
use super::floor_cq::FloorCq;
use super::libmlx5::Theirs;
use super::ours::Ours;
use super::rig::Rig;

/// Queues, and whose turn it is.
pub(crate) struct Many<Q> {
    queues: Vec<Q>,
    turn: usize,
}

impl<Q: Queues> Queues for Many<Q> {
    fn rigs(&self) -> Vec<&Rig> {
        self.queues.iter().flat_map(Queues::rigs).collect()
    }
}

impl<Q> Many<Q> {
    /// The queue whose turn it is.
    #[inline(always)]
    fn next(&mut self) -> &mut Q {
        let turn = self.turn;
        self.turn = if turn + 1 == self.queues.len() { 0 } else { turn + 1 };
        &mut self.queues[turn]
    }
}

/// A queue in somebody's hands, to be polled.
pub(crate) trait Polled {
    /// Takes `count` completions; see [`Contestant::poll`](super::contest::Contestant::poll).
    fn poll(&mut self, count: usize) -> u64;
}

impl Polled for Floor {
    fn poll(&mut self, count: usize) -> u64 {
        self.cq.poll::<1>(count, FloorCq::fields)
    }
}

impl<R: Register> Polled for Ours<R> {
    fn poll(&mut self, count: usize) -> u64 {
        self.poll_tags::<1>(count)
    }
}

impl Polled for Theirs {
    fn poll(&mut self, count: usize) -> u64 {
        self.poll_cq::<1>(count)
    }
}

/// Posts each message to the next queue.
pub(crate) fn in_turn<Q: Queues + Polled>(
    queues: Vec<Q>,
    mut post: impl FnMut(&mut Q, u64),
) -> Player<Many<Q>, impl Work<Many<Q>>, impl Poll<Many<Q>>> {
    Player::new(
        Many { queues, turn: 0 },
        move |many: &mut Many<Q>, first, count| {
            for n in first..first + count as u64 {
                post(many.next(), n);
            }
        },
        poll_all,
    )
}

/// A slice has equally many messages for each queue.
fn poll_all<Q: Polled>(many: &mut Many<Q>, count: usize) -> u64 {
    let each = count / many.queues.len();
    many.queues.iter_mut().map(|queue| queue.poll(each)).sum()
}

/// The register of queues of one thread.
pub(crate) fn thread_register<F: FlushMode>(rig: &Rig) -> &'static ThreadRegister<F> {
    // SAFETY: mapped as long as any queue on it lives; the queues that the crate made on it are not used.
    Box::leak(Box::new(unsafe { ThreadRegister::from_parts(rig.register()) }.expect("a register")))
}

type OnThread<F> = Ours<&'static ThreadRegister<F>>;

/// Queues of this crate on one register.
pub(crate) fn of_one_thread<F: FlushMode>(rigs: Vec<Rig>) -> Vec<OnThread<F>> {
    let register = thread_register(&rigs[0]);
    rigs.into_iter().map(|rig| Ours::over(rig, |_| register)).collect()
}

/// Floors on queues.
pub(crate) fn floors(rigs: Vec<Rig>) -> Vec<Floor> {
    rigs.into_iter().map(Floor::over).collect()
}

/// Queues of which each has a request that only needs its doorbell.
pub(crate) struct Loaded<F: FlushMode> {
    /// Before the queues that they borrow from. Fired from the last one on.
    staged: Vec<Staged<'static, transport::Rc, &'static ThreadRegister<F>>>,
    queues: Vec<OnThread<F>>,
}

impl<F: FlushMode> Queues for Loaded<F> {
    fn rigs(&self) -> Vec<&Rig> {
        self.queues.iter().flat_map(Queues::rigs).collect()
    }
}

/// Rings staged requests, one on each queue, staged by `stage` before.
pub(crate) fn staged<F: FlushMode>(
    rigs: Vec<Rig>,
    stage: impl for<'q> Fn(
        &'q mut SendQueue<transport::Rc, &'static ThreadRegister<F>>,
        u64,
    ) -> Staged<'q, transport::Rc, &'static ThreadRegister<F>>
    + 'static,
) -> Player<Loaded<F>, impl Work<Loaded<F>>, impl Poll<Loaded<F>>> {
    let loaded = Loaded { staged: Vec::new(), queues: of_one_thread(rigs) };
    Player::new(
        loaded,
        |loaded: &mut Loaded<F>, _, count| {
            let rest = loaded.staged.len() - count;
            loaded.staged.drain(rest..).for_each(Staged::ring_doorbell);
        },
        |loaded: &mut Loaded<F>, count| {
            let each = count / loaded.queues.len();
            loaded.queues.iter_mut().map(|queue| queue.poll(each)).sum()
        },
    )
    .prepared(move |loaded, first, _| {
        for (n, queue) in (first..).zip(&mut loaded.queues) {
            // SAFETY: the queue stays where it is and is not used, nor dropped, before the staged request is rung.
            let sq = unsafe { NonNull::from(&mut queue.sq).as_mut() };
            loaded.staged.push(stage(sq, n));
        }
    })
}

/// Floors of which each has a request in the ring.
pub(crate) struct LoadedFloors {
    loaded: Vec<WideWqe>,
    floors: Vec<Floor>,
}

impl Queues for LoadedFloors {
    fn rigs(&self) -> Vec<&Rig> {
        self.floors.iter().flat_map(Queues::rigs).collect()
    }
}

/// Records and rings by BlueFlame for requests, one on each queue, made by `make` before.
pub(crate) fn staged_floor<const FLUSH: bool>(
    rigs: Vec<Rig>,
    make: impl Fn(&Floor, u64) -> WideWqe + 'static,
) -> Player<LoadedFloors, impl Work<LoadedFloors>, impl Poll<LoadedFloors>> {
    let loaded = LoadedFloors { loaded: Vec::new(), floors: floors(rigs) };
    Player::new(
        loaded,
        |loaded: &mut LoadedFloors, _, count| {
            let rest = loaded.loaded.len() - count;
            for (wqe, floor) in loaded.loaded.drain(rest..).zip(&mut loaded.floors[rest..]) {
                floor.sq.advance();
                floor.sq.record();
                floor.sq.copy_wide::<FLUSH, _>(&wqe);
            }
        },
        |loaded: &mut LoadedFloors, count| {
            let each = count / loaded.floors.len();
            loaded.floors.iter_mut().map(|floor| floor.poll(each)).sum()
        },
    )
    .prepared(move |loaded, first, _| {
        for (n, floor) in (first..).zip(&mut loaded.floors) {
            let wqe = make(floor, n);
            floor.sq.put_wide(&wqe);
            floor.sq.take_back(1);
            loaded.loaded.push(wqe);
        }
    })
}
