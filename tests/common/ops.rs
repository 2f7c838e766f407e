//! Random requests that fit a ring.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::Shape;
use super::traffic::{Carry, MAX_MESSAGE, Op, Tail};

/// 16-byte units of a ring, at most what one WQE can have.
fn units(shape: &Shape) -> usize {
    (shape.sq_wqebbs as usize * 4).min(63)
}

/// Pieces of a message in at most `room` data segments.
fn pieces(shape: &Shape, room: usize) -> impl Strategy<Value = Vec<usize>> + use<> {
    let most = room.min(shape.max_sge as usize);
    let short = prop::collection::vec(prop_oneof![1 => Just(0_usize), 4 => 1_usize..60], 0..=most);
    let long = prop::collection::vec(1_usize..=MAX_MESSAGE / most.clamp(1, 2), 0..=most.min(2));
    prop_oneof![2 => short, 1 => long]
}

/// A message behind `head` units of control and operands.
fn carry(shape: &Shape, head: usize) -> impl Strategy<Value = Carry> + use<> {
    let room = units(shape) - head;
    let longest = (room * 16 - 4).min(shape.max_inline as usize);
    prop_oneof![
        // What fits one WQEBB, whatever the ring.
        2 => (0..=longest.min(60 - 16 * (head - 1))).prop_map(Carry::Inline),
        1 => (0..=longest).prop_map(Carry::Inline),
        2 => pieces(shape, room).prop_map(Carry::Gather),
    ]
}

/// What every connected transport has.
pub(crate) fn common(shape: &Shape) -> impl Strategy<Value = Op> + use<> {
    let tail = prop_oneof![Just(Tail::None), any::<u32>().prop_map(Tail::Imm)];
    prop_oneof![
        1 => Just(Op::Nop),
        4 => (carry(shape, 1), tail).prop_map(|(carry, tail)| Op::Send(carry, tail)),
        4 => (any::<usize>(), carry(shape, 2), any::<Option<u32>>())
            .prop_map(|(place, carry, imm)| Op::Write(place, carry, imm)),
    ]
}

/// Everything that a reliable connection has.
pub(crate) fn reliable(shape: &Shape) -> impl Strategy<Value = Op> + use<> {
    prop_oneof![
        6 => common(shape),
        1 => carry(shape, 1).prop_map(|carry| Op::Send(carry, Tail::Invalidate)),
        3 => (any::<usize>(), pieces(shape, units(shape) - 2)).prop_map(|(place, lens)| Op::Read(place, lens)),
        1 => (0_usize..4, any::<bool>(), any::<u64>()).prop_map(|(word, hit, new)| Op::CompareSwap(word, hit, new)),
        1 => (0_usize..4, any::<u64>()).prop_map(|(word, add)| Op::FetchAdd(word, add)),
    ]
}

/// `count` values of a strategy, the same in every run.
pub(crate) fn fixed<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("no value is refused").current()).collect()
}

/// Which of some requests ask for a completion: every `every`-th, and any that would leave no room for one of the largest.
pub(crate) fn every(every: u16, shape: &Shape, ops: Vec<Op>) -> Vec<(Op, bool)> {
    use blueflame::{queue::Moderation, types::Wqebbs};
    let ring = Wqebbs(shape.sq_wqebbs as u16);
    let sizes: Vec<_> = ops.iter().map(wqebbs).collect();
    let largest = sizes.iter().copied().max().unwrap_or(1);
    let mut moderation = Moderation::new(every, ring, Wqebbs(largest)).expect("a moderation");
    ops.into_iter().zip(sizes).map(|(op, size)| (op, moderation.next(Wqebbs(size)))).collect()
}

/// WQEBBs that a request takes.
fn wqebbs(op: &Op) -> u16 {
    let carried = |carry: &Carry| match carry {
        Carry::Inline(0) => 0,
        Carry::Inline(len) => (len + 4).div_ceil(16),
        Carry::Gather(lens) => lens.iter().filter(|&&len| len != 0).count(),
    };
    let units = match op {
        Op::Nop => 1,
        Op::Send(carry, _) => 1 + carried(carry),
        Op::Write(_, carry, _) => 2 + carried(carry),
        Op::Read(_, lens) => 2 + lens.iter().filter(|&&len| len != 0).count(),
        Op::CompareSwap(..) | Op::FetchAdd(..) => 4,
    };
    units.div_ceil(4) as u16
}
