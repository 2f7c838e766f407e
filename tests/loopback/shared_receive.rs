//! Shared receives that are given back in another order than they were posted in, as with several queue pairs.

use blueflame::types::WrId;
use blueflame::wqe::{Rc, Send};
use softhca::embedded::{ConnectOptions, EmbeddedDevice, connect, run_until_idle};

use crate::common::{End, Shape, sge};

#[test]
fn retired_out_of_order() {
    let (mut a, mut b) = EmbeddedDevice::pair().expect("two devices");
    let shape = Shape { shared_recv: true, recv_wqes: 8, ..Shape::default() };
    let (mut near, mut far) = (End::<Rc>::new(&mut a, &shape), End::<Rc>::new(&mut b, &shape));
    connect((&mut a, near.qpn), (&mut b, far.qpn), &ConnectOptions::default()).expect("a connection");
    let mailbox = b.buffer(7 * 64).expect("memory");
    let mut free: Vec<u64> = (0..7).collect();
    for round in 0..500_u64 {
        for slot in free.drain(..) {
            // SAFETY: the slot is free, and the device, which owns it, outlives the queue.
            unsafe { far.rq.post(slot, &[sge(&mailbox, slot as usize * 64, 64)]) }.expect("room");
        }
        let messages: Vec<[u8; 8]> = (0..=round % 7).map(|n| (round * 10 + n).to_be_bytes()).collect();
        for message in &messages {
            near.sq.post(&Send::new().inline(message).signaled(WrId(round))).expect("room");
            a.step();
        }
        assert!(run_until_idle(&mut [&mut a, &mut b]));
        near.cq.drain(8, |cqe| {
            near.sq.retire(&cqe).expect("outstanding");
        });
        let mut arrived = Vec::new();
        far.cq.drain(8, |cqe| arrived.push(cqe.wqe_counter()));
        assert_eq!(arrived.len(), messages.len());
        let mut arrived: Vec<_> = arrived.into_iter().zip(messages).collect();
        let by = round as usize / 3 % arrived.len();
        arrived.rotate_left(by);
        if round.is_multiple_of(2) {
            arrived.reverse();
        }
        for (index, message) in arrived {
            let slot = far.rq.retire_index(index);
            assert_eq!(mailbox.to_vec(slot as usize * 64, 8), message, "round {round}");
            free.push(slot);
        }
    }
}
