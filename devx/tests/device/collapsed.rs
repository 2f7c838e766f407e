//! Completion queues that keep the latest completion alone.
//!
//! Collapsed queues belong here, others in `completion_queues.rs`.

use std::time::{Duration, Instant};

use blueflame::cq::{CqeError, Syndrome};
use blueflame::queue::Done;
use blueflame::transport::Rc;
use blueflame::types::{Rkey, Wqebbs, WrId};
use blueflame::{CompleteError, Remote, wqe};
use blueflame_devx::Error;
use blueflame_devx::object::{OwnedCollapsed, QpBuilder, QueuePair, Uar};

use crate::end::{End, Ground, connect};
use crate::ground::ground;

type Pair = QueuePair<Rc>;

/// Begins a queue pair of 16 requests whose sends complete on `cq`.
fn sends<'a>(ground: &'a Ground, cq: &'a OwnedCollapsed) -> QpBuilder<'a, Rc> {
    ground.pd.queue_pair::<Rc>(&ground.rings, cq, cq).sends(16).inline(16).no_receives()
}

/// A queue pair on a collapsed queue, connected with `peer`.
fn collapsed(ground: &Ground, peer: &mut End<Rc>) -> (Pair, OwnedCollapsed) {
    // ANCHOR: make
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.collapsed_queue(uar.page()).expect("a completion queue");
    let mut pair = sends(ground, &cq).build_on(uar).expect("a queue pair");
    // ANCHOR_END: make
    connect(ground, &mut pair, peer);
    (pair, cq)
}

/// Waits for the next completion that is seen.
fn next(pair: &mut Pair, cq: &mut OwnedCollapsed) -> Result<Done, CompleteError<Done>> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(cqe) = cq.poll() {
            return pair.sq.complete(&cqe);
        }
        assert!(Instant::now() < deadline, "no completion");
    }
}

/// Waits until `last` has completed. Returns how many completions were seen.
fn complete(pair: &mut Pair, cq: &mut OwnedCollapsed, last: WrId) -> u64 {
    let mut seen = 1;
    while next(pair, cq).expect("a success").wr_id != last {
        seen += 1;
    }
    seen
}

#[test]
fn the_latest_completion_takes_all_before_it_back() {
    let ground = ground();
    let mut peer = End::<Rc>::new(&ground);
    let (mut pair, mut cq) = collapsed(&ground, &mut peer);
    assert!(cq.poll().is_none(), "nothing was posted");
    let place = peer.buffer.remote();
    let mut seen = 0;
    // Past the 16 bits of the index, and past the end of the ring many times.
    for round in 0..70_000_u64 / 16 {
        let mut burst = pair.sq.batch_of(16).expect("all of the ring is free");
        let bytes = round.to_ne_bytes();
        burst.fill(|n| wqe::write(place).inline(&bytes).signaled(WrId(round * 16 + n as u64))).expect("room");
        burst.ring_doorbell();
        // Late on purpose, now and then: others replace the first ones.
        if round % 64 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        seen += complete(&mut pair, &mut cq, WrId(round * 16 + 15));
        assert_eq!(pair.sq.free(), Wqebbs(16), "{round}");
        assert!(cq.poll().is_none(), "it is seen once");
    }
    assert_eq!(peer.bytes(8), (70_000_u64 / 16 - 1).to_ne_bytes());
    assert!(seen < 70_000, "no completion was replaced before it was seen");
}

#[test]
fn a_failed_request_is_told_or_its_flushed_followers() {
    let ground = ground();
    let mut peer = End::<Rc>::new(&ground);
    let (mut pair, mut cq) = collapsed(&ground, &mut peer);
    let wrong = Remote { rkey: Rkey(!peer.buffer.remote().rkey.0), ..peer.buffer.remote() };
    pair.sq.post(&wqe::write(wrong).inline(&[1]).signaled(WrId(0))).expect("room");
    let Err(CompleteError::Failed { done, error: CqeError::Completion(error) }) = next(&mut pair, &mut cq) else {
        panic!("the key is wrong");
    };
    assert_eq!((done.wr_id, error.syndrome), (WrId(0), Syndrome::new(0x13)));
    // Each is flushed, signalled or not.
    for n in 1..=4 {
        pair.sq.post(&wqe::write(wrong).inline(&[1]).signaled_if(n == 4, WrId(n))).expect("room");
    }
    let mut last = WrId(0);
    while last != WrId(4) {
        let Err(CompleteError::Failed { done, error: CqeError::Completion(error) }) = next(&mut pair, &mut cq) else {
            panic!("the queue pair is in the error state");
        };
        assert_eq!(error.syndrome, Syndrome::new(0x05));
        last = done.wr_id;
    }
    assert_eq!(pair.sq.free(), Wqebbs(16));
}

#[test]
fn one_send_queue_at_a_time_completes_there() {
    let ground = ground();
    let mut peer = End::<Rc>::new(&ground);
    let (mut pair, mut cq) = collapsed(&ground, &mut peer);
    let cqn = cq.handle().cqn();
    cq.handle().oversubscribe();
    let second = sends(&ground, &cq).build();
    assert!(matches!(second, Err(Error::CollapsedInUse { cqn: named }) if named == cqn));
    // Nothing receives there: neither beside the sends nor alone.
    let both = ground.pd.queue_pair::<Rc>(&ground.rings, &cq, &cq).build();
    let alone = ground.pd.queue_pair::<Rc>(&ground.rings, &peer.cq, &cq).build();
    for refused in [both, alone] {
        assert!(matches!(refused, Err(Error::CollapsedReceives { cqn: named }) if named == cqn));
    }
    // The next queue pair's first completion has the same index, and maybe the same number.
    for round in 0..4_u64 {
        pair.sq.post(&wqe::write(peer.buffer.remote()).inline(&[round as u8]).signaled(WrId(round))).expect("room");
        // Polled or not, a reset forgets it.
        let polled = round % 2 == 0;
        if polled {
            complete(&mut pair, &mut cq, WrId(round));
        }
        while peer.bytes(1) != [round as u8] || !cq.is_used() {}
        let mut forgotten = 0;
        peer.pair.reset(&mut [&mut peer.cq], |_| ()).expect("RESET");
        pair.reset(&mut [&mut cq], |_| forgotten += 1).expect("RESET");
        assert_eq!(forgotten, u32::from(!polled));
        assert!(!cq.is_used() && cq.poll().is_none());
        drop(pair);
        pair = sends(&ground, &cq).build().expect("the first is gone");
        connect(&ground, &mut pair, &mut peer);
    }
    pair.sq.post(&wqe::write(peer.buffer.remote()).inline(&[9]).signaled(WrId(9))).expect("room");
    complete(&mut pair, &mut cq, WrId(9));
    // Not reset: the completion stays, and might pass for the next queue pair's.
    drop(pair);
    let next = sends(&ground, &cq).build();
    assert!(matches!(next, Err(Error::CollapsedInUse { cqn: named }) if named == cqn));
}
