//! Receives that the device completes in any order. Each gives back its own `wr_id`, and its place once all older ones
//! are done.
//!
//! Own receive queues belong here, shared ones in `shared_receive.rs`.

use blueflame::{RecvError, WrId, transport, wqe};
use blueflame_testkit::{ConnectOptions, Pair, Shape};

const SLOT: usize = 64;

fn pair(shape: Shape) -> Pair<transport::Rc> {
    let options = ConnectOptions { out_of_order: true, ..ConnectOptions::default() };
    Pair::builder().shape(shape).options(options).connect().expect("a connected pair")
}

/// Sends messages, which are on their way when this returns.
fn send(pair: &mut Pair<transport::Rc>, messages: impl Iterator<Item = u64>) {
    for n in messages {
        pair.near.sq.post(&wqe::send().inline(&n.to_be_bytes()).signaled(WrId(n))).expect("room");
        // The register keeps only the latest doorbell.
        pair.near.device().step();
    }
}

/// Lets them arrive, and retires the sends.
fn settle(pair: &mut Pair<transport::Rc>) {
    pair.run_until_idle().expect("an end");
    pair.near.cq.poll_with(64, |cqe| {
        pair.near.sq.retire(&cqe).expect("outstanding");
    });
}

#[test]
fn each_receive_gives_back_its_own_tag() {
    let mut pair = pair(Shape { sq_wqebbs: 16, recv_wqes: 16, cqes: 32, ..Shape::SMALL });
    let capacity = pair.far.rq.capacity();
    let mailbox = pair.far.buffer(capacity as usize * SLOT).expect("memory");
    let mut free: Vec<u64> = (0..u64::from(capacity)).collect();
    let (mut sent, mut overtaken) = (0_u64, 0);
    // Past the wrap of the 16-bit index.
    while sent < 70_000 {
        for slot in free.drain(..) {
            // SAFETY: the slot is free, and the device, which owns it, outlives the queue.
            unsafe { pair.far.rq.post_unchecked(WrId(slot), &[mailbox.slot(slot as usize, SLOT)]) }.expect("room");
        }
        // All of them, so that no WQE which is done waits for an older one when the next are posted.
        let burst = sent..sent + u64::from(capacity);
        send(&mut pair, burst.clone());
        settle(&mut pair);
        let mut arrived = Vec::new();
        pair.far.cq.poll_with(64, |cqe| {
            assert!(cqe.check().is_ok());
            let slot = pair.far.rq.retire(&cqe).expect("outstanding").0;
            assert!(pair.far.rq.retire(&cqe).is_err(), "once");
            let at = slot as usize * SLOT;
            arrived.push(u64::from_be_bytes(mailbox.to_vec(at..at + 8).try_into().expect("8 bytes")));
            free.push(slot);
        });
        overtaken += u32::from(!arrived.is_sorted());
        arrived.sort_unstable();
        assert_eq!(arrived, Vec::from_iter(burst.clone()), "each message once, in the slot that its tag names");
        sent = burst.end;
    }
    assert!(overtaken > 1000, "the device kept the order");
}

#[test]
fn a_place_is_free_when_all_older_receives_are_done() {
    let mut pair = pair(Shape { recv_wqes: 8, ..Shape::SMALL });
    let mailbox = pair.far.buffer(SLOT).expect("memory");
    let place = mailbox.slot(0, SLOT);
    // The ring by the book: WQEs posted, the oldest that is not done, and those behind it that are.
    let (mut posted, mut oldest, mut done) = (0_u32, 0_u32, Vec::new());
    let mut refused = 0;
    for _ in 0..300 {
        while posted - oldest < 8 {
            // SAFETY: the device, which owns the memory, outlives the queue.
            unsafe { pair.far.rq.post_unchecked(WrId(0), &[place]) }.expect("room");
            posted += 1;
        }
        send(&mut pair, 0..8 - done.len() as u64);
        settle(&mut pair);
        pair.far.cq.poll_with(64, |cqe| {
            pair.far.rq.retire(&cqe).expect("outstanding");
            done.push(cqe.wqe_counter());
            while let Some(at) = done.iter().position(|&index| index == oldest as u16) {
                done.swap_remove(at);
                oldest += 1;
            }
            // SAFETY: the device, which owns the memory, outlives the queue.
            match unsafe { pair.far.rq.post_unchecked(WrId(0), &[place]) } {
                Ok(()) => posted += 1,
                Err(error) => {
                    assert_eq!((error, posted - oldest), (RecvError::Full(8), 8));
                    refused += 1;
                }
            }
        });
    }
    assert!(refused > 300, "the device kept the order");
}
