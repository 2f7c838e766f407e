//! A completion queue of exactly the documented size, while the device completes requests before the closure that
//! posted them returns.
//!
//! Sizes of completion queues belong here, depths of send queues in `tests/send_queue/depth.rs`.
use blueflame::cq::Cqe;
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use blueflame_testkit::{Device, End, Shape};

/// Keeps `window` requests outstanding on a queue pair with `cqes` CQEs until 200 have completed. It posts from within
/// the closure, and lets the device work there.
fn churn(cqes: u32, window: u64, per_call: usize) {
    let hca = Device::standalone().expect("a device");
    let mut end = End::<transport::Rc>::new(&hca, &Shape { cqes, sq_wqebbs: 64, ..Shape::SMALL }).expect("an end");
    end.connect(&end.endpoint(), &Default::default()).expect("connected");
    for n in 0..window {
        end.sq.post(&wqe::nop().signaled(WrId(n))).expect("room");
    }
    hca.run_until_idle().expect("an end");
    let (mut done, mut posted) = (0, window);
    while done < 200 {
        let End { sq, cq, .. } = &mut end;
        let found = cq.poll_with(per_call, |cqe: Cqe<'_>| {
            assert_eq!(sq.retire(&cqe).expect("outstanding").wr_id, WrId(done), "{:?}", cqe.check());
            cqe.check().expect("success");
            done += 1;
            sq.post(&wqe::nop().signaled(WrId(posted))).expect("room");
            posted += 1;
            hca.run_until_idle().expect("an end");
        });
        assert_ne!(found, 0, "the queue has overrun after {done}");
    }
    let mut left = window;
    while let Some(cqe) = end.cq.poll() {
        cqe.check().expect("success");
        end.sq.retire(&cqe).expect("outstanding");
        left -= 1;
    }
    assert_eq!(left, 0);
}

#[test]
fn posting_from_within_the_closure_does_not_overrun() {
    for cqes in [2, 4, 16, 32] {
        for per_call in [1, 3, 16, 64] {
            churn(cqes, u64::from(cqes) - 1, per_call);
        }
    }
}
