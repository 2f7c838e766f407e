//! Rings of 1 to 8 WQEBBs, which wrap thousands of times, with every operation and size.
//!
//! Ends of rings belong here, operations one by one in `operations.rs`.

use blueflame::transport;
use blueflame_testkit::Shape;

use crate::traffic::Traffic;
use blueflame_testkit::ops::{Carry, Op, Tail, connected, fixed, moderated, reliable};

fn tiny(sq_wqebbs: u32) -> Shape {
    Shape { sq_wqebbs, recv_wqes: 2, cqes: sq_wqebbs.max(2), ..Shape::SMALL }
}

/// Each request alone, each signalled.
#[test]
fn reliable_requests_one_by_one() {
    for sq_wqebbs in [1, 2, 4, 8] {
        let shape = tiny(sq_wqebbs);
        let mut traffic = Traffic::<transport::Rc>::new(&shape, 256);
        for op in fixed(&reliable(&shape), 4000) {
            traffic.post(&op, true);
        }
        let counts = traffic.finish();
        assert_eq!(counts.completed, counts.posted);
        assert!(counts.posted >= 4000 && counts.arrived > 1500, "{counts:?}");
    }
}

#[test]
fn unreliable_requests_one_by_one() {
    for sq_wqebbs in [1, 2, 4, 8] {
        // An unreliable connection loses what finds no receive buffer, so there is one for each request on its way.
        let shape = Shape { recv_wqes: 4 * sq_wqebbs, cqes: 4 * sq_wqebbs, ..tiny(sq_wqebbs) };
        let mut traffic = Traffic::<transport::Uc>::new(&shape, 256);
        for op in fixed(&connected(&shape), 2000) {
            traffic.post(&op, true);
            traffic.settle();
        }
        assert_eq!(traffic.finish().completed, 2001);
    }
}

/// Several requests with one doorbell, completions moderated.
#[test]
fn batches_with_moderated_completions() {
    for sq_wqebbs in [1, 2, 4, 8, 64] {
        for signal_every in [1, 3, 16] {
            let shape = tiny(sq_wqebbs);
            let mut traffic = Traffic::<transport::Rc>::new(&shape, 1024);
            let ops = moderated(signal_every, &shape, fixed(&reliable(&shape), 1000)).expect("a moderation");
            for some in ops.chunks(25) {
                traffic.post_batches(some);
            }
            traffic.settle();
            assert!(traffic.counts.doorbells < traffic.counts.posted || sq_wqebbs == 1);
            traffic.finish();
        }
    }
}

/// Every inline length from nothing to the limit, at every position of the ring in turn.
#[test]
fn every_inline_length_at_every_position() {
    let shape = Shape { sq_wqebbs: 16, max_inline: 956, ..Shape::SMALL };
    let mut traffic = Traffic::<transport::Rc>::new(&shape, 4096);
    for len in 0..=956 {
        traffic.post(&Op::Send(Carry::Inline(len), Tail::None), true);
        traffic.post(&Op::Write(len, Carry::Inline(len), None), true);
    }
    traffic.finish();

    let shape = Shape { max_inline: 60, ..shape };
    let mut traffic = Traffic::<transport::Rc>::new(&shape, 4096);
    for len in (0..=60).cycle().take(61 * 17) {
        traffic.post(&Op::Send(Carry::Inline(len), Tail::Imm(len as u32)), len % 2 == 0);
    }
    traffic.finish();
}

/// Every number of pieces from none to the limit, at every position in turn.
#[test]
fn every_gather_list_at_every_position() {
    let shape = Shape { sq_wqebbs: 16, max_sge: 61, ..Shape::SMALL };
    let mut traffic = Traffic::<transport::Rc>::new(&shape, 512);
    for count in (0..=61).chain(0..=61).chain(0..=61) {
        let lens: Vec<_> = (0..count).map(|i| (i * 7) % 25).collect();
        traffic.post(&Op::Write(count, Carry::Gather(lens.clone()), None), true);
        traffic.post(&Op::Read(count, lens), true);
    }
    traffic.finish();
}

/// Both counters of WQEBBs and of receives pass 2^16, that of the completion queue 2^16 CQEs.
#[test]
fn indices_past_sixteen_bits() {
    let shape = Shape { sq_wqebbs: 64, recv_wqes: 32, cqes: 64, ..Shape::SMALL };
    let mut traffic = Traffic::<transport::Rc>::new(&shape, 4096);
    let op = Op::Send(Carry::Inline(8), Tail::None);
    let batch = vec![(op, true); 32];
    for _ in 0..70_000 / 32 {
        traffic.post_batches(&batch);
    }
    let counts = traffic.finish();
    assert!(counts.arrived > 1 << 16, "{counts:?}");
}
