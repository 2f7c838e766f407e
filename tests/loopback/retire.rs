//! Completions given to the wrong queue: it takes nothing back.
//!
//! Wrong completions of a device belong here, those written by hand in `tests/send_queue/retire.rs`.
use blueflame::cq::{CqeOpcode, Side};
use blueflame::queue::RetireError;
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use blueflame_testkit::{ConnectOptions, Device, End, Receives, Shape, connect, run_until_idle};

#[test]
fn a_completion_is_taken_by_its_own_queue_once() {
    let hca = Device::standalone().expect("a device");
    let shape = Shape { recv_wqes: 4, ..Shape::SMALL };
    let mut ends = [(); 2].map(|()| End::<transport::Rc>::new(&hca, &shape).expect("an end"));
    connect(&ends[0], &ends[1], &ConnectOptions::default()).expect("connected");
    let mailbox = hca.buffer(256).expect("memory");
    // Four requests and four receives are outstanding at either end, of the same indices. One completes at each.
    for end in &mut ends {
        for n in 0..4 {
            // SAFETY: the memory lives as long as the device.
            unsafe { end.rq.post_unchecked(WrId(n), &[mailbox.slot(n as usize, 64)]) }.expect("room");
        }
    }
    let [near, far] = &mut ends;
    near.sq.post(&wqe::send().inline(b"a message").signaled(WrId(7))).expect("room");
    hca.run_until_idle().expect("an end");
    // Outstanding from here on: nobody lets the device work.
    for _ in 0..3 {
        near.sq.post(&wqe::send().signaled(WrId(8))).expect("room");
        far.sq.post(&wqe::send().signaled(WrId(9))).expect("room");
    }
    let (near_cq, far_cq) = (near.cq.id(), far.cq.id());
    let (Receives::Own(near_rq), Receives::Own(far_rq)) = (&mut near.rq, &mut far.rq) else { panic!("no queue") };

    let sent = near.cq.poll().expect("a completion");
    let (near_free, far_free) = (near.sq.free(), far.sq.free());
    let wrong_side = RetireError::WrongSide { opcode: CqeOpcode::Req, queue: Side::Responder };
    assert_eq!(near_rq.retire(&sent), Err(wrong_side));
    assert_eq!(
        far.sq.retire(&sent),
        Err(RetireError::WrongCompletionQueue { completion: near_cq, queue: far_cq }),
        "of the same index"
    );

    let received = far.cq.poll().expect("a message");
    let wrong_side = RetireError::WrongSide { opcode: CqeOpcode::RespSend, queue: Side::Requester };
    assert_eq!(far.sq.retire(&received), Err(wrong_side), "of the same queue pair and index");
    assert_eq!(
        near_rq.retire(&received),
        Err(RetireError::WrongCompletionQueue { completion: far_cq, queue: near_cq })
    );
    assert_eq!((near.sq.free(), far.sq.free()), (near_free, far_free), "nothing came back");
    assert_eq!((near_rq.posted(), far_rq.posted()), (4, 4));

    assert_eq!(near.sq.retire(&sent).expect("outstanding").wr_id, WrId(7));
    assert_eq!(near.sq.retire(&sent), Err(RetireError::NotOutstanding { wqe_counter: 0, oldest: 1, next: 4 }));
    assert_eq!(far_rq.retire(&received), Ok(WrId(0)));
    assert_eq!(far_rq.retire(&received), Err(RetireError::NotOutstanding { wqe_counter: 0, oldest: 1, next: 4 }));
}

/// Two queue pairs on one completion queue: nothing but the number tells whose a completion is.
#[test]
fn a_completion_is_not_taken_by_another_queue_of_the_same_completion_queue() {
    let (here, there) = Device::pair().expect("two devices");
    let (shape, options) = (Shape { recv_wqes: 4, ..Shape::SMALL }, ConnectOptions::default());
    let mut server = End::<transport::Rc>::new(&here, &shape).expect("an end");
    let mut sibling = server.sibling(&shape).expect("a queue pair");
    let mut clients = [(); 2].map(|()| End::<transport::Rc>::new(&there, &shape).expect("an end"));
    for (near, far) in [server.endpoint(), sibling.endpoint()].into_iter().zip(&clients) {
        far.connect(&near, &options).expect("connected");
    }
    server.connect(&clients[0].endpoint(), &options).expect("connected");
    sibling.connect(&clients[1].endpoint(), &options).expect("connected");
    let (own, other) = (server.qpn(), sibling.qpn());
    assert_ne!(own, other);
    let mailbox = server.buffer(256).expect("memory");
    // A receive of the same index is outstanding at either.
    for (n, rq) in [&mut server.rq, &mut sibling.rq].into_iter().enumerate() {
        // SAFETY: the memory lives as long as the device.
        unsafe { rq.post_unchecked(WrId(n as u64), &[mailbox.slot(n, 64)]) }.expect("room");
    }
    clients[0].sq.post(&wqe::send().inline(b"to the first")).expect("room");
    run_until_idle(&[&here, &there]).expect("an end");
    {
        let received = server.cq.poll().expect("a message");
        let posted = sibling.rq.posted();
        assert_eq!(sibling.rq.retire(&received), Err(RetireError::WrongQueuePair { completion: own, queue: other }));
        assert_eq!(sibling.rq.posted(), posted, "nothing came back");
        assert_eq!(server.rq.retire(&received), Ok(WrId(0)));
    }
    let page = clients[0].buffer(64).expect("memory");
    server.sq.post(&wqe::write(page.remote()).inline(b"from the first").signaled(WrId(7))).expect("room");
    run_until_idle(&[&here, &there]).expect("an end");
    // Outstanding from here on: nobody lets the devices work.
    sibling.sq.post(&wqe::nop().signaled(WrId(8))).expect("room");
    let sent = server.cq.poll().expect("a completion");
    let free = sibling.sq.free();
    assert_eq!(sibling.sq.retire(&sent), Err(RetireError::WrongQueuePair { completion: own, queue: other }));
    assert_eq!(sibling.sq.free(), free, "nothing came back");
    assert_eq!(server.sq.retire(&sent).expect("outstanding").wr_id, WrId(7));
}
