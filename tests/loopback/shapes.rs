//! Queues of other shapes: CQEs of 128 bytes, data inside CQEs, shared receive queues, registers without BlueFlame.
//!
//! Shapes belong here, the usual one in `operations.rs`.

use blueflame::queue::BlueFlamePolicy;
use blueflame::transport;
use blueflame_testkit::{RegisterOptions, Shape};

use crate::traffic::{Counts, Traffic};
use blueflame_testkit::ops::{Op, fixed, moderated, reliable};

fn run(shape: &Shape) -> Counts {
    let mut traffic = Traffic::<transport::Rc>::new(shape, 1024);
    let ops = fixed(&reliable(shape), 1500);
    for (op, signaled) in moderated(2, shape, ops).expect("a moderation") {
        traffic.post(&op, signaled);
    }
    traffic.finish()
}

#[test]
fn wide_completions() {
    assert_eq!(run(&Shape { cqe_bytes: 128, ..Shape::SMALL }).in_cqe, 0);
}

#[test]
fn data_in_completions_of_64_bytes() {
    let counts = run(&Shape { scatter_to_cqe: 32, ..Shape::SMALL });
    assert!(counts.in_cqe > 100, "{counts:?}");
}

#[test]
fn data_in_completions_of_128_bytes() {
    let narrow = run(&Shape { scatter_to_cqe: 32, cqe_bytes: 128, ..Shape::SMALL });
    let wide = run(&Shape { scatter_to_cqe: 64, cqe_bytes: 128, ..Shape::SMALL });
    assert!(wide.in_cqe > narrow.in_cqe && narrow.in_cqe > 100, "{narrow:?} {wide:?}");
}

#[test]
fn shared_receive_queue() {
    run(&Shape { shared_recv: true, ..Shape::SMALL });
    run(&Shape { shared_recv: true, recv_wqes: 2, scatter_to_cqe: 32, ..Shape::SMALL });
}

#[test]
fn register_without_blueflame() {
    run(&Shape { register: RegisterOptions::OwnWithoutBlueFlame, ..Shape::SMALL });
}

#[test]
fn blueflame_for_inline_requests_only() {
    run(&Shape { policy: BlueFlamePolicy::Inline, ..Shape::SMALL });
    run(&Shape { policy: BlueFlamePolicy::Inline, sq_wqebbs: 2, ..Shape::SMALL });
}

/// Every request completes visibly, whether it asks or not.
#[test]
fn signal_all() {
    let shape = Shape { signal_all: true, ..Shape::SMALL };
    let mut traffic = Traffic::<transport::Rc>::new(&shape, 1024);
    for op in fixed(&reliable(&shape), 500) {
        traffic.post_unsignaled(&op);
    }
    traffic.post(&Op::Nop, true);
    let counts = traffic.finish();
    assert_eq!(counts.completed, counts.posted);
}
