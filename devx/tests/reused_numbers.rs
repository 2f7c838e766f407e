//! Numbers of send queues that the device gives out again, while completions of the queue before lie in a completion
//! queue.
//!
//! Numbers of send queues belong here. Numbers of queue pairs belong in `tests/reused_numbers.rs` of the workspace.
//!
//! Needs a port of Ethernet and a device that gives numbers out again at once, and no other test beside:
//!
//! ```text
//! softhca-run --reuse-qpn --link ethernet -- --test-threads=1
//! ```

use std::time::{Duration, Instant};

use blueflame::transport::MIN_INLINE_HEADERS;
use blueflame::types::WrId;
use blueflame::{RetireError, wqe};
use blueflame_devx::memory::{Rings, ThreadRings};
use blueflame_devx::object::{OwnedCq, OwnedSq, Pd, Tis, TransportDomain, Uar};
use blueflame_devx::{Context, Error};

/// A frame to nobody: addresses of the range for documentation (RFC 7042, 2.1.2), an EtherType for experiments.
const HEADERS: [u8; 18] = [0, 0, 0x5e, 0, 0x53, 1, 0, 0, 0x5e, 0, 0x53, 2, 0x81, 0, 0, 1, 0x88, 0xb5];

struct Ground {
    pd: Pd,
    rings: ThreadRings,
    tis: Tis,
    cq: OwnedCq,
}

impl Ground {
    fn new() -> Self {
        let context = Context::open_first().expect("run this by ./run test, or under softhca-run");
        let rings = ThreadRings::new(&Rings::new(&context).expect("memory"));
        let domain = TransportDomain::new(&context).expect("ALLOC_TRANSPORT_DOMAIN");
        let tis = Tis::new(&domain, 0).expect("a port of Ethernet");
        let uar = Uar::new(&context).expect("a register");
        let cq = rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
        Self { pd: Pd::new(&context).expect("a PD"), rings, tis, cq }
    }

    fn send_queue(&self) -> Result<OwnedSq<MIN_INLINE_HEADERS>, Error> {
        let uar = Uar::new(self.pd.context())?;
        self.pd.send_queue(&self.rings, &self.cq, &self.tis, uar, 16)
    }

    /// Waits until a completion with the queue's number lies in the completion queue, where it stays.
    fn complete(&self, sq: &mut OwnedSq<MIN_INLINE_HEADERS>, tag: u64) {
        sq.post(&wqe::frame().inline_headers(&HEADERS).inline(&[0x5a; 46]).signaled(WrId(tag))).expect("room");
        let begin = Instant::now();
        while !self.cq.holds(sq.qpn()) {
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_completion_of_an_earlier_send_queue_retires_nothing_of_the_next() {
    let mut ground = Ground::new();
    let mut first = ground.send_queue().expect("a send queue");
    let number = first.handle().sqn();
    ground.complete(&mut first, 1);
    drop(first);
    let mut next = ground.send_queue().expect("a send queue");
    // It is posted to and not done when the old completion is polled.
    assert_ne!(next.handle().sqn(), number, "completions of that number are left");
    ground.complete(&mut next, 2);
    let mut retired = Vec::new();
    ground.cq.poll_with(2, |cqe| retired.push(next.retire(&cqe).map(|done| done.wr_id)));
    assert!(matches!(retired[..], [Err(RetireError::WrongQueuePair { .. }), Ok(WrId(2))]), "{retired:?}");
    drop(next);
    // Nothing is left: the number may be given out again, if the device does.
    let again = ground.send_queue().expect("a send queue").handle().sqn();
    assert_eq!(again, number, "run under softhca-run --reuse-qpn");
}

#[test]
fn numbers_that_all_have_something_left_are_an_error() {
    let mut ground = Ground::new();
    let mut queues: Vec<_> = (0..20).map(|_| ground.send_queue().expect("a send queue")).collect();
    for queue in &mut queues {
        ground.complete(queue, 4);
    }
    let numbers: Vec<_> = queues.iter().map(|queue| queue.qpn()).collect();
    drop(queues);
    let error = ground.send_queue().expect_err("of each number there is a completion");
    let Error::StaleCompletions { number, cqn } = error else { panic!("{error}") };
    assert!(numbers.contains(&number) && cqn == ground.cq.handle().cqn(), "{error}");
    assert!(error.to_string().contains("poll it"), "{error}");
    while ground.cq.poll().is_some() {}
    assert!(numbers.contains(&ground.send_queue().expect("all was polled").qpn()));
}
