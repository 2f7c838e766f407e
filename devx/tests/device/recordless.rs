//! Send queues without a doorbell record: the doorbell alone says how far the ring is filled.
//!
//! Queues without a record belong here, all others in `messages.rs`.

use std::time::{Duration, Instant};

use blueflame::db::RecordlessRegister;
use blueflame::transport::{self, Rc};
use blueflame::types::WrId;
use blueflame::wqe;
use blueflame_devx::Error;
use blueflame_devx::object::{OwnedCq, QueuePair, Uar};

use crate::end::{End, Ground, connect};
use crate::ground::ground;

/// A queue pair without a record, connected with `peer`; `None` if the device has none.
fn connected(ground: &Ground, peer: &mut End<Rc>) -> Option<(QueuePair<Rc, RecordlessRegister>, OwnedCq)> {
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 64).build().expect("a completion queue");
    let Ground { pd, rings, .. } = ground;
    if let Err(missing) = ground.context.recordless_sends() {
        let name = "cmd_hca_cap_2.send_dbr_mode_no_dbr_ext";
        assert!(matches!(missing, Error::Capability { name: named, .. } if named == name), "{missing}");
        let refused = pd.queue_pair::<Rc>(rings, &cq, &cq).build_recordless();
        assert!(matches!(refused, Err(Error::Capability { name: named, .. }) if named == name));
        return None;
    }
    // ANCHOR: make
    let builder = pd.queue_pair::<transport::Rc>(rings, &cq, &cq).sends(16).inline(100).no_receives();
    let mut pair = builder.build_recordless().expect("the device has such queues");
    // ANCHOR_END: make
    connect(ground, &mut pair, peer);
    Some((pair, cq))
}

/// Waits for the request `last`.
fn complete(pair: &mut QueuePair<Rc, RecordlessRegister>, cq: &mut OwnedCq, last: WrId) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut done = None;
    while done != Some(last) {
        cq.poll_with(16, |cqe| done = Some(pair.sq.complete(&cqe).expect("a success").wr_id));
        assert!(Instant::now() < deadline, "{last:?} does not complete; {done:?} has");
    }
}

#[test]
fn every_way_to_post_needs_the_doorbell_alone() {
    let ground = ground();
    let mut peer = End::<Rc>::new(&ground);
    let Some((mut pair, mut cq)) = connected(&ground, &mut peer) else { return };
    let place = peer.buffer.remote();
    // Past the end of the ring many times.
    for round in 0..300_u64 {
        let (bytes, last) = ((round + 1).to_ne_bytes(), WrId(round));
        let write = wqe::write(place).inline(&bytes);
        match round % 5 {
            0 => pair.sq.post(&write.signaled(last)).expect("room"),
            1 => {
                let mut batch = pair.sq.batch();
                batch.push(&wqe::write(place.at(100)).inline(&[0; 3])).expect("room");
                batch.push(&write.signaled(last)).expect("room");
                batch.ring_doorbell();
            }
            2 => pair.sq.stage(&write.signaled(last)).expect("room").ring_doorbell(),
            3 => {
                let mut burst = pair.sq.batch_of(3).expect("room");
                burst.fill(|n| write.signaled_if(n == 2, last)).expect("room");
                burst.ring_doorbell();
            }
            // Of two WQEBBs.
            _ => {
                let long = [bytes; 12];
                let long = wqe::write(place).inline_slice(long.as_flattened());
                pair.sq.post(&long.signaled(last)).expect("room");
            }
        }
        complete(&mut pair, &mut cq, last);
        assert_eq!(peer.bytes(8), bytes, "{round}");
    }
}

#[test]
fn the_doorbell_counts_past_its_16_bits() {
    let ground = ground();
    let mut peer = End::<Rc>::new(&ground);
    let Some((mut pair, mut cq)) = connected(&ground, &mut peer) else { return };
    let place = peer.buffer.remote();
    for round in 0..70_000_u64 / 16 {
        let mut burst = pair.sq.batch_of(16).expect("room");
        let bytes = round.to_ne_bytes();
        burst.fill(|n| wqe::write(place).inline(&bytes).signaled_if(n == 15, WrId(round))).expect("room");
        burst.ring_doorbell();
        complete(&mut pair, &mut cq, WrId(round));
    }
    assert_eq!(peer.bytes(8), (70_000_u64 / 16 - 1).to_ne_bytes());
}

#[test]
fn after_a_reset_it_counts_from_zero() {
    let ground = ground();
    let mut peer = End::<Rc>::new(&ground);
    let Some((mut pair, mut cq)) = connected(&ground, &mut peer) else { return };
    for round in 0..3_u64 {
        pair.sq.post(&wqe::write(peer.buffer.remote()).inline(&[round as u8 + 1]).signaled(WrId(round))).expect("room");
        complete(&mut pair, &mut cq, WrId(round));
        assert_eq!(peer.bytes(1), [round as u8 + 1]);
        peer.pair.reset(&mut [&mut peer.cq], |_| ()).expect("RESET");
        pair.reset(&mut [&mut cq], |_| ()).expect("RESET");
        connect(&ground, &mut pair, &mut peer);
    }
}
