//! A network that loses, repeats, reorders and delays packets: messages arrive in order and once.
//!
//! The network's faults belong here, the program's in `failures.rs`.

use blueflame::{WrId, transport, wqe};
use blueflame_testkit::ops::{Op, connected, fixed, moderated, reliable};
use blueflame_testkit::{Pair, Shape, wait_for_timer};
use proptest::prelude::*;
use softhca::wire::fault::FaultConfig;

use crate::traffic::Traffic;

/// Few enough that no request fails by chance: seven retries in a row without progress.
fn faults() -> impl Strategy<Value = FaultConfig> {
    (0_u16..50, 0_u16..50, 0_u16..50, 0_u16..50, any::<u64>()).prop_map(|(drop, duplicate, reorder, delay, seed)| {
        FaultConfig { drop, duplicate, reorder, delay, seed, ..FaultConfig::default() }
    })
}

fn shapes() -> impl Strategy<Value = Shape> {
    (0_u32..5, 1_u32..6, any::<bool>(), prop_oneof![Just((64, 0)), Just((64, 32)), Just((128, 64))]).prop_map(
        |(log_wqebbs, recv_wqes, shared_recv, (cqe_bytes, scatter_to_cqe))| Shape {
            sq_wqebbs: 1 << log_wqebbs,
            recv_wqes: (recv_wqes + 1).next_power_of_two(),
            shared_recv,
            cqe_bytes,
            scatter_to_cqe,
            ..Shape::SMALL
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_in_order_and_once(
        (shape, ops) in shapes().prop_flat_map(|shape| {
            (Just(shape), prop::collection::vec((reliable(&shape), any::<bool>()), 1..80))
        }),
        faults in faults(),
        signal_every in 1_u16..6,
        path_mtu in prop_oneof![Just(256_u32), Just(1024), Just(4096)],
    ) {
        let mut traffic = Traffic::<transport::Rc>::over(faults, &shape, path_mtu);
        let (ops, batched): (Vec<_>, Vec<_>) = ops.into_iter().unzip();
        let ops = moderated(signal_every, &shape, ops).expect("a moderation");
        let mut from = 0;
        while from < ops.len() {
            // Runs of requests that go in a batch, and single ones.
            let run = batched[from..].iter().take_while(|&&batched| batched).count();
            if run == 0 {
                let (op, signaled) = &ops[from];
                traffic.post(op, *signaled);
            } else {
                traffic.post_batches(&ops[from..from + run]);
            }
            from += run.max(1);
        }
        traffic.finish();
    }
}

/// A long run, with a twentieth of all packets lost.
#[test]
fn thousands_of_requests() {
    let shape = Shape { sq_wqebbs: 4, recv_wqes: 4, ..Shape::SMALL };
    let faults = FaultConfig { drop: 50, duplicate: 30, reorder: 30, delay: 30, seed: 7, ..FaultConfig::default() };
    let mut traffic = Traffic::<transport::Rc>::over(faults, &shape, 512);
    for (op, signaled) in moderated(2, &shape, fixed(&reliable(&shape), 3000)).expect("a moderation") {
        traffic.post(&op, signaled);
    }
    traffic.finish();
}

/// Lost messages of an unreliable connection are not repeated. Messages arrive whole, in order and once.
#[test]
fn unreliable_connections_lose_whole_messages() {
    let shape = Shape { recv_wqes: 16, ..Shape::SMALL };
    let faults = "drop=60,dup=20,seed=3".parse().expect("faults");
    let pair = Pair::<transport::Uc>::builder().shape(shape).path_mtu(256).faults(faults).connect();
    let mut pair = pair.expect("a pair");
    let (mut source, mailbox) = (pair.near.buffer(1024).expect("memory"), pair.far.buffer(1024 * 16).expect("memory"));
    let mut arrived = Vec::new();
    let mut next_slot = 0;
    for n in 0..2000_u32 {
        let bytes: Vec<u8> = (0..600).map(|i| (n.wrapping_mul(97) + i) as u8).collect();
        source.write(0, &n.to_be_bytes());
        source.write(4, &bytes);
        while pair.far.rq.posted() < pair.far.rq.capacity() {
            // SAFETY: the slot is free, and the device, which owns it, outlives the queue.
            unsafe { pair.far.rq.post_unchecked(WrId(next_slot), &[mailbox.slot(next_slot as usize, 1024)]) }
                .expect("room");
            next_slot = (next_slot + 1) % 16;
        }
        let request = wqe::send().gather([source.sge(..604)]);
        // SAFETY: the source is written again when the request is complete.
        unsafe { pair.near.sq.post_unchecked(&request.signaled(WrId(u64::from(n)))) }.expect("room");
        while pair.step() || wait_for_timer(&[pair.near.device(), pair.far.device()]) {}
        let cqe = pair.near.cq.poll().expect("a completion");
        cqe.check().expect("an unreliable sender does not know");
        pair.near.sq.retire(&cqe).expect("outstanding");
        while let Some(cqe) = pair.far.cq.poll() {
            cqe.check().expect("a message");
            assert_eq!(cqe.byte_len(), 604);
            let slot = pair.far.rq.retire(&cqe).expect("a posted receive").0 as usize;
            let found = mailbox.to_vec(slot * 1024..slot * 1024 + 604);
            let number = u32::from_be_bytes(found[..4].try_into().expect("4 bytes"));
            let expected = (0..600).map(|i| (number.wrapping_mul(97) + i) as u8);
            assert!(found[4..].iter().copied().eq(expected), "message {number} is mixed up");
            arrived.push(number);
        }
    }
    assert!(arrived.is_sorted_by(|a, b| a < b), "out of order, or twice");
    assert!((1000..1990).contains(&arrived.len()), "{} of 2000 arrived", arrived.len());
    assert_eq!(pair.complaints(), []);
}

/// The injector injects the faults that the tests above count on.
#[test]
fn without_retries_a_bad_network_is_noticed() {
    let shape = Shape { recv_wqes: 16, ..Shape::SMALL };
    let faults = FaultConfig { drop: 200, seed: 1, ..FaultConfig::default() };
    let lossy = std::panic::catch_unwind(|| {
        let mut traffic = Traffic::<transport::Uc>::over(faults, &shape, 256);
        for op in fixed(&connected(&shape), 50).into_iter().filter(|op| matches!(op, Op::Send(..))) {
            traffic.post(&op, true);
        }
        traffic.settle();
    });
    assert!(lossy.is_err(), "a lost message must fail the model");
}
