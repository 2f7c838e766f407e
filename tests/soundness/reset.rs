//! RESET with queues of others, or without all of the pair's own.
//!
//! Resets belong here, held completions in `held.rs`.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use blueflame::queue::OwningSendQueue;
use blueflame::transport::Rc;
use blueflame::types::Psn;
use blueflame::verbs::{Access, BufferPool, Drained, Error};
use blueflame::{WrId, wqe};

use crate::end::{Completions, Host, Pair, nop, text};

#[test]
fn a_receive_queue_in_other_hands_is_missed() {
    let mut host = Host::new("mlx5_0");
    let mut completions = Completions::new(&host);
    let (mut pair, mut other) = (host.connected(&completions.cq), host.pair(&completions.cq).expect("a queue pair"));
    mem::swap(&mut pair.rq, &mut other.rq);
    let rq = &mut other.rq;
    rq.post(host.buffer("")).expect("room");
    completions.after(|| pair.sq.post(&wqe::send().inline(b"first").signaled(WrId(1))).expect("room"));
    let mut first = None;
    while first.is_none() {
        completions.cq.poll_with(2, |cqe| first = rq.retire(&cqe).ok().or(first.take()));
    }
    let mut first = first.expect("a message");
    assert_eq!(text(&first), "first");
    first.write(0, b"mine again\0");

    let error = pair.reset(&mut [&mut completions.cq], |_| ()).err();
    if error.is_none() {
        // The device begins anew at index 0, where the old request still is: posting another one has it executed.
        host.connect(&mut pair);
        rq.post(host.buffer("")).expect("room");
        completions.after(|| pair.sq.post(&wqe::send().inline(b"second").signaled(WrId(2))).expect("room"));
    }
    assert_eq!(text(&first), "mine again", "a message has overwritten a buffer that was handed back");
    assert_eq!(error, Some(Error::MixedUp { object: "receive queue" }));
    assert_eq!(pair.drain().err(), Some(Error::MixedUp { object: "receive queue" }));
    // Once it is back, all is well.
    mem::swap(&mut pair.rq, &mut other.rq);
    pair.reset(&mut [&mut completions.cq], |_| ()).expect("RESET");
}

/// A drain hands them to the program, and a reset drops them.
#[test]
fn buffers_of_a_queue_pair_that_ends_come_back() {
    let mut host = Host::new("mlx5_0");
    let mut completions = Completions::new(&host);
    let mut pair = host.connected(&completions.cq);
    for text in ["a", "b"] {
        pair.rq.post(host.buffer(text)).expect("room");
    }
    let (mut back, mut drain) = (Vec::new(), pair.drain().expect("ERR"));
    while !drain.is_done() {
        completions.cq.poll_with(2, |cqe| match drain.take(&cqe).expect("its own") {
            Some(Drained::Receive(buffer)) => back.push(text(&buffer)),
            other => panic!("nothing was sent, but {other:?}"),
        });
    }
    assert_eq!(back, ["a", "b"]);

    let pool = BufferPool::new(&host.pd, 64, Access::LOCAL_WRITE).expect("a pool");
    let builder = host.pd.queue_pair::<Rc>(&completions.cq, &completions.cq);
    let mut pair = builder.sends(8).receives(4).build().expect("a queue pair");
    for _ in 0..3 {
        pair.rq.post(pool.take().expect("a buffer")).expect("room");
    }
    assert_eq!(pool.taken(), 3);
    pair.reset(&mut [&mut completions.cq], |_| ()).expect("RESET");
    assert_eq!((pair.rq.posted(), pool.taken()), (0, 0));
}

#[test]
fn exchanged_completion_queues_are_refused() {
    let mut host = Host::new("mlx5_0");
    let (mut a, mut b) = (Completions::new(&host), Completions::new(&host));
    let mut pair = host.connected(&a.cq);
    a.after(|| nop(&mut pair, 1));
    mem::swap(&mut *a.cq, &mut *b.cq);
    let error = pair.reset(&mut [&mut a.cq], |_| ()).err();
    mem::swap(&mut *a.cq, &mut *b.cq);
    if error.is_none() {
        host.connect(&mut pair);
        let mut sq = OwningSendQueue::new(pair.sq).expect("nothing is posted");
        // No receive is posted, so it waits.
        sq.gather(wqe::send(), host.buffer("as posted"), 64).expect("room");
        let stale = a.cq.poll().expect("a completion of the connection before");
        assert!(sq.retire(&stale).is_err(), "a completion of the connection before has handed a buffer back");
        return;
    }
    assert_eq!(error, Some(Error::MixedUp { object: "completion queue" }));
    pair.reset(&mut [&mut a.cq], |_| ()).expect("RESET");
    assert!(a.cq.poll().is_none(), "nothing is left");
}

#[test]
fn a_reset_whose_closure_panics_has_reset_everything() {
    let mut host = Host::new("mlx5_0");
    let (mut sends, mut receives) = (Completions::new(&host), Completions::new(&host));
    let builder = host.pd.queue_pair(&sends.cq, &receives.cq);
    let mut pair: Pair = builder.sends(8).receives(8).inline(28).build().expect("a queue pair");
    host.connect(&mut pair);
    pair.rq.post(host.buffer("")).expect("room");
    receives.after(|| pair.sq.post(&wqe::send().inline(b"first").signaled(WrId(1))).expect("room"));
    let mut first = receives.cq.poll().and_then(|cqe| pair.rq.retire(&cqe).ok()).expect("a message");
    first.write(0, b"mine again\0");
    // A completion of each queue is left: a send, and a receive whose buffer stays with the queue.
    pair.rq.post(host.buffer("")).expect("room");
    receives.after(|| pair.sq.post(&wqe::send().inline(b"second").signaled(WrId(2))).expect("room"));
    let panics = || pair.reset(&mut [&mut sends.cq, &mut receives.cq], |_| panic!("of the closure"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert!(sends.cq.poll().is_none() && receives.cq.poll().is_none(), "nothing is left");

    // The device begins anew at index 0, where the old requests still are.
    let mut peers = Completions::new(&host);
    let mut peer = host.pair(&peers.cq).expect("a queue pair");
    let [here, there] = [&pair.qp, &peer.qp].map(|qp| qp.endpoint_with(&host.path, Psn::truncate(1)));
    pair.qp.to_init(&host.path).expect("INIT");
    pair.qp.to_rtr(&host.path, &there).expect("RTR");
    peer.qp.to_init(&host.path).expect("INIT");
    peer.connect(&host.path, &there, &here).expect("connect");
    pair.rq.post(host.buffer("")).expect("room");
    peers.after(|| peer.sq.post(&wqe::send().inline(b"third").signaled(WrId(1))).expect("room"));
    assert_eq!(text(&first), "mine again", "a message has overwritten a buffer that was handed back");
    let third = receives.cq.poll().and_then(|cqe| pair.rq.retire(&cqe).ok()).expect("a message");
    assert_eq!(text(&third), "third");
}
