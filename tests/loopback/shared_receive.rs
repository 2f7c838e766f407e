//! Shared receives that are given back in another order than that of their posts, as with several queue pairs.
//!
//! Shared queues belong here, own ones in `out_of_order.rs`.

use blueflame::cq::CqeError;
use blueflame::queue::{RetireError, SharedRecvQueue};
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use blueflame_testkit::{
    ConnectOptions, Device, DeviceOptions, End, Faults, Network, Receives, Shape, connect, run_until_idle,
};
use softhca::config::SrqFaults;

#[test]
fn retired_out_of_order() {
    let (a, b) = Device::pair().expect("two devices");
    let shape = Shape { shared_recv: true, recv_wqes: 8, ..Shape::SMALL };
    let [mut near, mut far] = [&a, &b].map(|device| End::<transport::Rc>::new(device, &shape).expect("an end"));
    connect(&near, &far, &ConnectOptions::default()).expect("a connection");
    let mailbox = b.buffer(7 * 64).expect("memory");
    let mut free: Vec<u64> = (0..7).collect();
    for round in 0..500_u64 {
        for slot in free.drain(..) {
            // SAFETY: the slot is free, and the device, which owns it, outlives the queue.
            unsafe { far.rq.post_unchecked(WrId(slot), &[mailbox.slot(slot as usize, 64)]) }.expect("room");
        }
        let messages: Vec<[u8; 8]> = (0..=round % 7).map(|n| (round * 10 + n).to_be_bytes()).collect();
        for message in &messages {
            near.sq.post(&wqe::send().inline(message).signaled(WrId(round))).expect("room");
            a.step();
        }
        run_until_idle(&[&a, &b]).expect("an end");
        near.cq.poll_with(8, |cqe| {
            near.sq.retire(&cqe).expect("outstanding");
        });
        let mut arrived = Vec::new();
        far.cq.poll_with(8, |cqe| arrived.push(cqe.wqe_counter()));
        assert_eq!(arrived.len(), messages.len());
        let mut arrived: Vec<_> = arrived.into_iter().zip(messages).collect();
        let by = round as usize / 3 % arrived.len();
        arrived.rotate_left(by);
        if round % 2 == 0 {
            arrived.reverse();
        }
        for (index, message) in arrived {
            // SAFETY: the index of a completion of the queue, given here once.
            let slot = unsafe { far.rq.retire_index(index) }.expect("a posted receive").0;
            assert_eq!(mailbox.to_vec(slot as usize * 64..slot as usize * 64 + 8), message, "round {round}");
            free.push(slot);
        }
    }
}

fn shared(receives: &mut Receives) -> &mut SharedRecvQueue {
    match receives {
        Receives::Shared(queue) => queue,
        _ => panic!("no shared receive queue"),
    }
}

/// Two devices with an end each. The second one aborts receives, as `srq` says.
fn aborting(srq: SrqFaults) -> ([Device; 2], [End<transport::Rc>; 2]) {
    let (network, faults) = (Network::new(), Faults { srq, ..Faults::default() });
    let options = [DeviceOptions::infiniband(1), DeviceOptions::infiniband(2).faults(faults)];
    let devices = options.map(|options| network.device(options).expect("a device"));
    let shape = Shape { shared_recv: true, recv_wqes: 8, ..Shape::SMALL };
    let ends = [0, 1].map(|n: usize| End::new(&devices[n], &shape).expect("an end"));
    connect(&ends[0], &ends[1], &ConnectOptions::default()).expect("a connection");
    (devices, ends)
}

/// Reposting tells the device, without a later post: the doorbell record counts one more.
#[test]
fn a_receive_that_is_posted_again_rings_the_doorbell() {
    let ([a, b], [mut near, mut far]) = aborting(SrqFaults { page: 1000, sequence: 0 });
    let mailbox = b.buffer(64).expect("memory");
    // SAFETY: the device, which owns the memory, outlives the queue.
    unsafe { far.rq.post_unchecked(WrId(5), &[mailbox.sge(..)]) }.expect("room");
    let queue = shared(&mut far.rq);
    let record = b.look(|device| device.query_srq(queue.srqn().get()).expect("a queue").context.dbr);
    let posted = || {
        let mut word = [0; 4];
        b.look(|device| device.read_memory(record, &mut word)).expect("the record");
        u32::from_be_bytes(word)
    };
    assert_eq!(posted(), 1);
    near.sq.post(&wqe::send().inline(b"aborted")).expect("room");
    while a.step() || b.step() {}
    let cqe = far.cq.poll().expect("a receive that failed");
    // SAFETY: a completion of this queue, polled once; the buffer is the device's again.
    assert_eq!(unsafe { queue.repost(&cqe) }, Ok(WrId(5)));
    assert_eq!(posted(), 2);
}

/// Receives that met a page fault, or were out of sequence, are posted again, also when the queue is full: no message
/// and no buffer gets lost, and the connection lives.
#[test]
fn aborted_receives_are_posted_again() {
    let ([a, b], [mut near, mut far]) = aborting(SrqFaults { page: 350, sequence: 150 });
    let capacity = u64::from(far.rq.capacity());
    let mailbox = b.buffer(capacity as usize * 64).expect("memory");
    for slot in 0..capacity {
        // SAFETY: the device, which owns the memory, outlives the queue.
        unsafe { far.rq.post_unchecked(WrId(slot), &[mailbox.slot(slot as usize, 64)]) }.expect("room");
    }
    let (mut aborted, mut vendors) = (0, Vec::new());
    for round in 0..300_u64 {
        near.sq.post(&wqe::send().inline(&round.to_be_bytes()).signaled(WrId(round))).expect("room");
        a.step();
        run_until_idle(&[&a, &b]).expect("an end");
        near.cq.poll_with(8, |cqe| {
            assert!(cqe.check().is_ok());
            near.sq.retire(&cqe).expect("outstanding");
        });
        let mut free = Vec::new();
        far.cq.poll_with(8, |cqe| match cqe.check() {
            Ok(_) => {
                let not_aborted = RetireError::NotAborted { wqe_counter: cqe.wqe_counter() };
                // SAFETY: a completion of this queue, polled once; nothing changes here.
                assert_eq!(unsafe { shared(&mut far.rq).repost(&cqe) }, Err(not_aborted));
                free.push(far.rq.retire(&cqe).expect("a posted receive").0);
            }
            Err(CqeError::Aborted(error)) => {
                aborted += 1;
                vendors.push(error.vendor_err_synd);
                let queue = shared(&mut far.rq);
                let posted = queue.posted();
                // SAFETY: a completion of this queue, polled once; the buffers are the device's again.
                unsafe { queue.repost(&cqe) }.expect("a posted receive");
                assert_eq!(queue.posted(), posted);
                // SAFETY: it is refused.
                assert!(matches!(unsafe { queue.repost(&cqe) }, Err(RetireError::NotPosted { .. })), "once");
            }
            Err(error) => panic!("{error}"),
        });
        assert_eq!(free.len(), 1, "each message arrives once");
        for slot in free {
            assert_eq!(mailbox.to_vec(slot as usize * 64..slot as usize * 64 + 8), round.to_be_bytes());
            // SAFETY: the device, which owns the memory, outlives the queue; the slot is free.
            unsafe { far.rq.post_unchecked(WrId(slot), &[mailbox.slot(slot as usize, 64)]) }.expect("room");
        }
        assert_eq!(u64::from(far.rq.posted()), capacity, "no buffer is lost");
    }
    // Of the receives begun half fail, and as many more are begun.
    assert!((290..=300).contains(&aborted), "{aborted}");
    assert!(vendors.contains(&0x93) && vendors.contains(&0x99));
}
