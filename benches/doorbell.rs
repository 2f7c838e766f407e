//! The doorbell alone: record, barriers and register, with requests that are in the ring already; see `common`.
mod common;

use blueflame::arch;
use blueflame::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor, Words};
use blueflame::db::register::{Half, Stored};
use blueflame::db::{DoorbellFence, DoorbellRecord, ExclusiveRegister, FlushMode, OneFence, Register, TwoFences};

use common::MESSAGES;
use common::contest::{Bench, Contestant, Group, Player, Queues, Timed};
use common::floor::{Floor, FloorSq, Wqe};
use common::floor_cq::FloorCq;
use common::ours::exclusive;
use common::rig::{ENTRIES, Rig, SMALL};

fn main() {
    let mut bench = Bench::new("doorbell");
    let group = Group::new("doorbell", Timed::Post, 1, ENTRIES)
        .case("floor 8 bytes two fences", "", by_hand(|sq, wqe| sq.eight::<true>(wqe[0][0])))
        .case("floor 8 bytes one fence", "floor 8 bytes two fences", by_hand(|sq, wqe| sq.eight::<false>(wqe[0][0])))
        .case("8 bytes two fences", "floor 8 bytes two fences", ring::<TwoFences, _>(Words, eight))
        .case("8 bytes one fence", "floor 8 bytes one fence", ring::<OneFence, _>(Words, eight))
        .case("8 bytes doorbell fence", "floor 8 bytes two fences", ring::<DoorbellFence, _>(Words, eight))
        .case("floor 64 bytes two fences", "", by_hand(|sq, wqe| sq.copy::<true>(wqe)))
        .case("floor 64 bytes one fence", "floor 64 bytes two fences", by_hand(|sq, wqe| sq.copy::<false>(wqe)))
        .case("64 bytes two fences", "floor 64 bytes two fences", ring::<TwoFences, _>(Words, line))
        .case("64 bytes doorbell fence", "floor 64 bytes one fence", ring::<DoorbellFence, _>(Words, line))
        .case("64 bytes one fence", "floor 64 bytes one fence", ring::<OneFence, _>(Words, line));
    // Where ST64B takes the memory of a register, the software device's is not of that kind.
    CopyRoutine::available()
        .filter(|routine| !matches!(routine, CopyRoutine::Words | CopyRoutine::St64b))
        .fold(group, |group, routine| routine.dispatch(Copies(group)).expect("available"))
        .measure(&mut bench);
    bench.finish();
}

/// Adds the cases of a copy routine.
struct Copies<'a>(Group<'a>);

impl<'a> CopyVisitor for Copies<'a> {
    type Output = Group<'a>;

    fn run<C: BlockCopy>(self, copy: C) -> Group<'a> {
        let name = |fences| format!("64 bytes by {} {fences}", C::ROUTINE).leak();
        self.0.case(name("two fences"), "floor 64 bytes two fences", ring::<TwoFences, _>(copy, line)).case(
            name("one fence"),
            "floor 64 bytes one fence",
            ring::<OneFence, _>(copy, line),
        )
    }
}

/// Puts requests into the ring.
fn fill(sq: &mut FloorSq, first: u64, count: usize) {
    for n in first..first + count as u64 {
        let wqe = sq.inline(MESSAGES.get(n), true);
        sq.put(&wqe);
    }
    sq.take_back(count);
}

/// Records and rings for message after message.
fn by_hand(mut ring: impl FnMut(&mut FloorSq, &Wqe)) -> impl Contestant {
    let post = move |floor: &mut Floor, first, count| {
        for n in first..first + count as u64 {
            let wqe = floor.sq.inline(MESSAGES.get(n), true);
            floor.sq.advance();
            floor.sq.record();
            ring(&mut floor.sq, &wqe);
        }
    };
    let poll = |floor: &mut Floor, count| floor.cq.poll::<1>(count, FloorCq::fields);
    Player::new(Floor::new(SMALL), post, poll).prepared(|floor, first, count| fill(&mut floor.sq, first, count))
}

/// The crate's record and register; requests are put by a floor.
struct Rings<F: FlushMode, C: BlockCopy> {
    floor: Floor,
    record: DoorbellRecord,
    register: ExclusiveRegister<F, C>,
}

impl<F: FlushMode, C: BlockCopy> Queues for Rings<F, C> {
    fn rigs(&self) -> Vec<&Rig> {
        self.floor.rigs()
    }
}

fn ring<F: FlushMode, C: BlockCopy>(copy: C, store: impl Fn(Half<'_, C>, &Wqe) -> Stored) -> impl Contestant {
    let floor = Floor::new(SMALL);
    // SAFETY: the record stays as long as the rig, and the floor does not store to it.
    let record = unsafe { DoorbellRecord::send(floor.rig.record()) };
    let register = exclusive(&floor.rig).with_mode().with_copy(copy);
    let post = move |doorbell: &mut Rings<F, C>, first, count| {
        let Rings { floor, record, register } = doorbell;
        for n in first..first + count as u64 {
            let wqe = floor.sq.inline(MESSAGES.get(n), true);
            floor.sq.advance();
            arch::to_device();
            // SAFETY: the request is in the ring.
            unsafe { record.store(floor.sq.pi()) };
            register.ring_doorbell(|half| store(half, &wqe));
        }
    };
    let poll = |doorbell: &mut Rings<F, C>, count| doorbell.floor.cq.poll::<1>(count, FloorCq::fields);
    Player::new(Rings { floor, record, register }, post, poll)
        .prepared(|doorbell, first, count| fill(&mut doorbell.floor.sq, first, count))
}

fn eight<C: BlockCopy>(half: Half<'_, C>, wqe: &Wqe) -> Stored {
    // SAFETY: the request is in the ring, and names no memory of this side.
    unsafe { half.write(wqe[0][0]) }
}

fn line<C: BlockCopy>(half: Half<'_, C>, wqe: &Wqe) -> Stored {
    let [[a, b], [c, d], [e, f]] = *wqe;
    // SAFETY: the request is in the ring, and names no memory of this side; a half has 256 bytes.
    unsafe { half.copy(&[a, b, c, d, e, f, 0, 0]) }
}
