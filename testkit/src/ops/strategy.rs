//! Random requests that fit a ring, for proptest.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{Carry, MAX_MESSAGE, Op, Tail, ring_ds};
use crate::shape::Shape;

/// Lengths of a message's pieces, at most `room` of them.
fn pieces(shape: &Shape, room: usize) -> impl Strategy<Value = Vec<usize>> + use<> {
    let most = room.min(shape.max_sge as usize);
    let short = prop::collection::vec(prop_oneof![1 => Just(0_usize), 4 => 1_usize..60], 0..=most);
    let long = prop::collection::vec(1_usize..=MAX_MESSAGE / most.clamp(1, 2), 0..=most.min(2));
    prop_oneof![2 => short, 1 => long]
}

/// A message behind `head` DS of control and operands.
fn carry(shape: &Shape, head: usize) -> impl Strategy<Value = Carry> + use<> {
    let room = ring_ds(shape) - head;
    let longest = (room * 16 - 4).min(shape.max_inline as usize);
    prop_oneof![
        // Lengths that fit one WQEBB of any ring.
        2 => (0..=longest.min(60 - 16 * (head - 1))).prop_map(Carry::Inline),
        1 => (0..=longest).prop_map(Carry::Inline),
        2 => pieces(shape, room).prop_map(Carry::Gather),
    ]
}

/// Requests that every connected transport has: NOP, SEND and WRITE, with and without immediate data.
pub fn connected(shape: &Shape) -> impl Strategy<Value = Op> + use<> {
    let tail = prop_oneof![Just(Tail::None), any::<u32>().prop_map(Tail::Imm)];
    prop_oneof![
        1 => Just(Op::Nop),
        4 => (carry(shape, 1), tail).prop_map(|(carry, tail)| Op::Send(carry, tail)),
        4 => (any::<usize>(), carry(shape, 2), any::<Option<u32>>())
            .prop_map(|(place, carry, imm)| Op::Write(place, carry, imm)),
    ]
}

/// All requests that a reliable connection has.
pub fn reliable(shape: &Shape) -> impl Strategy<Value = Op> + use<> {
    prop_oneof![
        6 => connected(shape),
        1 => carry(shape, 1).prop_map(|carry| Op::Send(carry, Tail::Invalidate)),
        3 => (any::<usize>(), pieces(shape, ring_ds(shape) - 2)).prop_map(|(place, lens)| Op::Read(place, lens)),
        1 => (0_usize..4, any::<bool>(), any::<u64>()).prop_map(|(word, hit, new)| Op::CompareSwap(word, hit, new)),
        1 => (0_usize..4, any::<u64>()).prop_map(|(word, add)| Op::FetchAdd(word, add)),
    ]
}

/// `count` values of a strategy, the same in every run: for tests that need many requests without a search.
///
/// # Panics
/// If the strategy refuses its own values.
pub fn fixed<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("no value is refused").current()).collect()
}
