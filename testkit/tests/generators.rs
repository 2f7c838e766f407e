//! Queues accept generated requests, and perform them as described.
//!
//! Random requests belong here. Pairs of queues belong in `pairs.rs`.

use arbitrary::{Arbitrary, Unstructured};
use blueflame::transport;
use blueflame_testkit::ops::{self, MAX_MESSAGE, Memory, Op};
use blueflame_testkit::request::Service;
use blueflame_testkit::{Pair, Shape};
use proptest::prelude::*;

/// Posts each alone; each must be taken and succeed, with the WQEBBs that it says it takes.
fn run<T: Service>(shape: &Shape, ops: &[Op]) {
    let mut pair = Pair::<T>::builder().shape(*shape).connect().expect("a pair");
    let (source, landing) =
        (pair.near.buffer(MAX_MESSAGE).expect("memory"), pair.near.buffer(MAX_MESSAGE).expect("memory"));
    let (target, mailbox) =
        (pair.far.buffer(2 * MAX_MESSAGE).expect("memory"), pair.far.buffer(MAX_MESSAGE).expect("memory"));
    for (id, op) in ops.iter().enumerate() {
        let invalidate = pair.far.buffer(8).expect("memory").rkey();
        let memory = Memory { source: (&source, 0), landing: (&landing, 0), target: &target, invalidate };
        if pair.far.rq.posted() == 0 {
            // SAFETY: nobody looks at the mailbox.
            unsafe { pair.far.rq.post_unchecked(blueflame::WrId(0), &[mailbox.sge(..)]) }.expect("room");
        }
        let before = pair.near.sq.pi();
        // SAFETY: nobody looks at the memory.
        unsafe { pair.near.post(&op.wr(id as u64, &memory)) }.unwrap_or_else(|error| panic!("{op:?}: {error}"));
        assert_eq!(pair.near.sq.pi().since(before).0, op.wqebbs(), "{op:?}");
        pair.run_until_idle().expect("an end");
        let cqe = pair.near.cq.poll().expect("a completion");
        let done = pair.near.sq.complete(&cqe).unwrap_or_else(|error| panic!("{op:?}: {error}"));
        assert_eq!(done.wr_id.0, id as u64);
        while let Some(cqe) = pair.far.cq.poll() {
            pair.far.rq.complete(&cqe).unwrap_or_else(|error| panic!("{op:?}: {error}"));
        }
        assert_eq!(pair.complaints(), []);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn of_proptest(ops in prop::collection::vec(ops::reliable(&Shape::default()), 1..20)) {
        run::<transport::Rc>(&Shape::default(), &ops);
    }

    #[test]
    fn of_arbitrary(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut u = Unstructured::new(&bytes);
        let mut ops = Vec::new();
        while !u.is_empty() {
            ops.push(Op::arbitrary(&mut u).expect("a request"));
        }
        run::<transport::Rc>(&Shape::default(), &ops);
    }
}

#[test]
fn of_small_rings() {
    for sq_wqebbs in [1, 2, 8] {
        let shape = Shape { sq_wqebbs, ..Shape::SMALL };
        run::<transport::Rc>(&shape, &ops::fixed(&ops::reliable(&shape), 200));
        run::<transport::Uc>(&shape, &ops::fixed(&ops::connected(&shape), 200));
    }
}

#[test]
fn moderation_leaves_room() {
    let shape = Shape { sq_wqebbs: 8, ..Shape::SMALL };
    let ops = ops::moderated(3, &shape, ops::fixed(&ops::reliable(&shape), 200)).expect("a ring for them");
    let largest = ops.iter().map(|(op, _)| op.wqebbs()).max().expect("some");
    let mut outstanding = 0;
    for (op, signaled) in &ops {
        outstanding += op.wqebbs();
        assert!(outstanding <= 8);
        if *signaled {
            outstanding = 0;
        }
    }
    assert!(largest > 1);
    assert!(ops::moderated(3, &Shape { sq_wqebbs: 1, ..shape }, vec![Op::Read(0, vec![1; 20])]).is_err());
}
