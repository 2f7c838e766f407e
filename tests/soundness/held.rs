//! Completions that are held while their number becomes that of another queue pair. On one completion queue that does
//! not compile: `ProtectionDomain::queue_pair` has the example.
//!
//! Held completions belong here, resets in `reset.rs`.

use blueflame::cq::{CqeView, Source};
use blueflame::queue::OwningSendQueue;
use blueflame::{RetireError, wqe};

use crate::end::{Completions, Host, Pair, nop, text};

/// Posts a buffer of which the device reads once there is a receive, tries to get it back by `held`, and writes to it
/// then. Returns the error, after a look at the received data.
fn steal<S: Source>(host: &mut Host, pair: Pair, to: &mut Completions, held: &CqeView<S>) -> Option<RetireError> {
    assert_eq!(pair.sq.pi().0, held.wqe_counter(), "what the test stands on");
    let mut sq = OwningSendQueue::new(pair.sq).expect("nothing is posted");
    sq.gather(wqe::send(), host.buffer("as posted"), 64).expect("room");
    let stolen = sq.retire(held);
    let error = match stolen {
        Ok(buffer) => {
            buffer.expect("every request has one").write(0, b"written since");
            None
        }
        Err(error) => Some(error),
    };
    let mut rq = pair.rq;
    to.after(|| rq.post(host.buffer("")).expect("room"));
    let mut received = None;
    to.cq.poll_with(2, |cqe| {
        if let Ok(buffer) = rq.retire(&cqe) {
            received = Some(text(&buffer));
        }
    });
    assert_eq!(received.as_deref(), Some("as posted"), "the device has read a buffer after it was handed back");
    error
}

#[test]
fn a_completion_of_another_completion_queue_retires_nothing() {
    let mut host = Host::new("mlx5_0");
    let (mut first, mut second) = (Completions::new(&host), Completions::new(&host));
    let mut old = host.connected(&first.cq);
    first.after(|| nop(&mut old, 1));
    let held = first.cq.poll().expect("there is one");
    drop(old);
    // A device with --reuse-qpn gives the number out again. On others, the completion belongs to another queue pair as
    // well.
    let next = host.connected(&second.cq);
    let reuses = std::env::var("SOFTHCA_REUSE_QPN").is_ok_and(|on| on == "1");
    assert!(!reuses || next.qp.qpn() == held.qpn(), "what the test stands on");
    let error = steal(&mut host, next, &mut second, &held);
    assert!(matches!(error, Some(RetireError::WrongCompletionQueue { .. })), "{error:?}");
}
