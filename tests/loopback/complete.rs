//! Completions taken by one call: a success gives back its request, and so does every error of the right queue.
//!
//! The outcomes of `complete` belong here, those of `retire` alone in `retire.rs`, buffers that come back with it in
//! `owning.rs` and `owning_frames.rs`.
use blueflame::cq::error::KnownSyndrome;
use blueflame::cq::{CqeError, Side, Syndrome, WcStatus};
use blueflame::queue::{Done, Received};
use blueflame::types::Wqebbs;
use blueflame::{CompleteError, RecvQueue, RetireError, Rkey, WrId, transport, wqe};
use blueflame_testkit::{ConnectOptions, Device, End, Pair, Receives, Shape, connect, connected_pair};
use softhca::context::{QpAttr, QpState};

fn own(receives: &mut Receives) -> &mut RecvQueue {
    match receives {
        Receives::Own(queue) => queue,
        _ => panic!("no receive queue of its own"),
    }
}

/// The queue's return value for a success.
fn received(buffer: u64, bytes: u32, imm: Option<u32>) -> Received<WrId> {
    // A connected queue pair: the source has no meaning.
    Received { buffer: WrId(buffer), bytes, imm, source: blueflame::Qpn::truncate(0) }
}

#[test]
fn a_success_gives_back_its_request_and_tells_of_the_message() {
    let mut pair = connected_pair::<transport::Rc>().expect("a pair");
    let mailbox = pair.far.buffer(64).expect("memory");
    for n in 0..3 {
        // SAFETY: the buffer lives as long as the device, and nobody looks at it.
        unsafe { pair.far.rq.post_unchecked(WrId(10 + n), &[mailbox.sge(..)]) }.expect("room");
    }
    let Pair { near, .. } = &mut pair;
    near.sq.post(&wqe::send().inline(b"hello").wr_id(WrId(1))).expect("room");
    near.sq.post(&wqe::send().imm(0).signaled(WrId(2))).expect("room");
    near.sq.post(&wqe::write(mailbox.remote()).imm(0x8000_0001).inline(b"by a WRITE").signaled(WrId(3))).expect("room");
    pair.run_until_idle().expect("an end");
    let Pair { near, far } = &mut pair;
    let mut sent = Vec::new();
    near.cq.poll_with(4, |cqe| sent.push(near.sq.complete(&cqe)));
    // The first one asked for no completion: the second takes it along.
    let done = |wr_id, freed| Ok(Done { wr_id: WrId(wr_id), frames: 1, freed: Wqebbs(freed) });
    assert_eq!(sent, [done(2, 2), done(3, 1)]);
    let mut seen = Vec::new();
    far.cq.poll_with(4, |cqe| {
        seen.push(far.rq.complete(&cqe).map(|message| Received { source: blueflame::Qpn::truncate(0), ..message }));
    });
    let expected = [received(10, 5, None), received(11, 0, Some(0)), received(12, 10, Some(0x8000_0001))];
    assert_eq!(seen, expected.map(Ok));
}

#[test]
fn a_datagram_names_its_sender() {
    let mut pair = connected_pair::<transport::Ud>().expect("a pair");
    let mailbox = pair.far.buffer(64).expect("memory");
    // SAFETY: the buffer lives as long as the device, and nobody looks at it.
    unsafe { pair.far.rq.post_unchecked(WrId(4), &[mailbox.sge(..)]) }.expect("room");
    let to = pair.far.address();
    pair.near.sq.post(&wqe::send().to(to).imm(9).inline(b"hello")).expect("room");
    pair.run_until_idle().expect("an end");
    let source = pair.near.qpn();
    let datagram = pair.far.rq.complete(&pair.far.cq.poll().expect("a datagram"));
    // Behind the 40 bytes of a GRH.
    assert_eq!(datagram, Ok(Received { buffer: WrId(4), bytes: 45, imm: Some(9), source }));
}

/// The first request fails by itself, the others are flushed.
#[test]
fn requests_and_receives_come_back_from_a_queue_pair_in_error() {
    let hca = Device::standalone().expect("a device");
    let shape = Shape { recv_wqes: 4, ..Shape::SMALL };
    let mut ends = [(); 2].map(|()| End::<transport::Rc>::new(&hca, &shape).expect("an end"));
    connect(&ends[0], &ends[1], &ConnectOptions::default()).expect("connected");
    let mailbox = hca.buffer(64).expect("memory");
    let [near, _far] = &mut ends;
    for n in 0..4 {
        // SAFETY: the buffer lives as long as the device, and nobody looks at it.
        unsafe { near.rq.post_unchecked(WrId(20 + n), &[mailbox.sge(..)]) }.expect("room");
    }
    let mut nowhere = mailbox.remote();
    nowhere.rkey = Rkey(nowhere.rkey.0 ^ 0x100);
    near.sq.post(&wqe::write(nowhere).inline(b"no such key").signaled(WrId(1))).expect("room");
    near.sq.post(&wqe::nop().wr_id(WrId(2))).expect("room");
    near.sq.post(&wqe::nop().signaled(WrId(3))).expect("room");
    hca.run_until_idle().expect("an end");

    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    let End { cq, sq, rq, .. } = near;
    cq.poll_with(16, |cqe| {
        if cqe.side() == Some(Side::Responder) {
            let Err(CompleteError::Failed { done, error }) = rq.complete(&cqe) else { panic!("it was flushed") };
            receives.push((done.0, status(error)));
        } else {
            let Err(CompleteError::Failed { done, error }) = sq.complete(&cqe) else { panic!("none succeeded") };
            sends.push((done.wr_id.0, status(error)));
        }
    });
    let flushed = WcStatus::WrFlushErr;
    assert_eq!(sends, [(1, WcStatus::RemAccessErr), (2, flushed), (3, flushed)]);
    assert_eq!(receives, [20, 21, 22, 23].map(|wr_id| (wr_id, flushed)));
    assert_eq!((sq.free(), own(rq).posted()), (sq.depth(), 0), "all room is back");
}

fn status(error: CqeError) -> WcStatus {
    let CqeError::Completion(error) = error else { panic!("{error}") };
    error.status()
}

/// A shared receive queue gets back the receive that a queue pair in error had taken.
#[test]
fn a_flushed_receive_of_a_shared_queue_is_free_again() {
    let mut pair = Pair::<transport::Rc>::builder()
        .shape(Shape { shared_recv: true, ..Shape::default() })
        .connect()
        .expect("a pair");
    let mailbox = pair.far.buffer(64).expect("memory");
    // SAFETY: the buffer lives as long as the device, and nobody looks at it.
    unsafe { pair.far.rq.post_unchecked(WrId(5), &[mailbox.sge(..1)]) }.expect("room");
    pair.near.sq.post(&wqe::send().inline(b"too long for it").signaled(WrId(1))).expect("room");
    pair.run_until_idle().expect("an end");
    let Pair { near, far } = &mut pair;
    let taken = far.rq.complete(&far.cq.poll().expect("its completion"));
    let Err(CompleteError::Failed { done: WrId(5), error }) = taken else { panic!("{taken:?}") };
    assert_eq!((status(error), far.rq.posted()), (WcStatus::LocLenErr, 0));
    let sent = near.sq.complete(&near.cq.poll().expect("its completion"));
    let Err(error @ CompleteError::Failed { done: Done { wr_id: WrId(1), .. }, .. }) = sent else { panic!("{sent:?}") };
    // The text is the error's own.
    let CompleteError::Failed { error: CqeError::Completion(why), .. } = error else { panic!("{error}") };
    assert_eq!(why.syndrome, Syndrome::Known(KnownSyndrome::RemoteInvalReq));
    assert_eq!(error.to_string(), why.to_string());
}

/// The request succeeded, and is retired: its data is taken from the completion.
#[test]
fn a_message_in_its_completion_gives_back_its_receive() {
    let shape = Shape { scatter_to_cqe: 32, ..Shape::default() };
    let mut pair = Pair::<transport::Rc>::builder().shape(shape).connect().expect("a pair");
    let mailbox = pair.far.buffer(64).expect("memory");
    // SAFETY: the buffer lives as long as the device, and nobody looks at it.
    unsafe { pair.far.rq.post_unchecked(WrId(6), &[mailbox.sge(..)]) }.expect("room");
    pair.near.sq.post(&wqe::send().inline(b"hello")).expect("room");
    pair.run_until_idle().expect("an end");
    let far = &mut pair.far;
    let posted = far.rq.posted();
    let qpn = far.qpn();
    let cqe = far.cq.poll().expect("a message");
    let error = CqeError::DataInCqe { side: Side::Responder, qpn };
    assert_eq!(far.rq.complete(&cqe), Err(CompleteError::Failed { done: WrId(6), error }));
    assert_eq!(far.rq.posted(), posted - 1);
    let mut message = [0; 5];
    assert_eq!((cqe.copy_inline(&mut message), &message), (Ok(5), b"hello"));
}

/// Successes and errors of other queues: nothing comes back, and the queue keeps its requests.
#[test]
fn a_foreign_completion_leaves_a_queue_as_it_is() {
    let hca = Device::standalone().expect("a device");
    let shape = Shape { recv_wqes: 4, ..Shape::SMALL };
    let mut ends = [(); 2].map(|()| End::<transport::Rc>::new(&hca, &shape).expect("an end"));
    connect(&ends[0], &ends[1], &ConnectOptions::default()).expect("connected");
    let mailbox = hca.buffer(64).expect("memory");
    for end in &mut ends {
        // SAFETY: the buffer lives as long as the device, and nobody looks at it.
        unsafe { end.rq.post_unchecked(WrId(1), &[mailbox.sge(..)]) }.expect("room");
    }
    let [near, far] = &mut ends;
    near.sq.post(&wqe::nop().signaled(WrId(7))).expect("room");
    hca.run_until_idle().expect("an end");
    // The next request and the receive are flushed.
    hca.modify_qp(near.qpn(), &QpAttr { state: Some(QpState::Err), ..QpAttr::default() }).expect("ERR");
    near.sq.post(&wqe::nop().signaled(WrId(8))).expect("room");
    hca.run_until_idle().expect("an end");
    far.sq.post(&wqe::nop().signaled(WrId(9))).expect("room");

    let (near_cq, far_cq) = (near.cq.id(), far.cq.id());
    let elsewhere = RetireError::WrongCompletionQueue { completion: near_cq, queue: far_cq };
    let (free, posted) = (far.sq.free(), far.rq.posted());
    let mut outcomes = Vec::new();
    let End { cq, sq, rq, .. } = near;
    cq.poll_with(4, |cqe| {
        if cqe.side() == Some(Side::Responder) {
            assert_eq!(far.rq.complete(&cqe), Err(CompleteError::Foreign(elsewhere)));
            let wrong_side = sq.complete(&cqe);
            assert!(matches!(wrong_side, Err(CompleteError::Foreign(RetireError::WrongSide { .. }))), "{wrong_side:?}");
            outcomes.push(rq.complete(&cqe).is_ok());
        } else {
            assert_eq!(far.sq.complete(&cqe), Err(CompleteError::Foreign(elsewhere)));
            let wrong_side = rq.complete(&cqe);
            assert!(matches!(wrong_side, Err(CompleteError::Foreign(RetireError::WrongSide { .. }))), "{wrong_side:?}");
            outcomes.push(sq.complete(&cqe).is_ok());
            let again = sq.complete(&cqe);
            assert!(matches!(again, Err(CompleteError::Foreign(RetireError::NotOutstanding { .. }))), "{again:?}");
        }
    });
    outcomes.sort_unstable();
    assert_eq!(outcomes, [false, false, true], "one success and two flushed");
    assert_eq!((far.sq.free(), far.rq.posted()), (free, posted), "nothing came back");
    assert_eq!(CompleteError::<WrId>::from(elsewhere).to_string(), elsewhere.to_string());
}

#[test]
fn a_completion_that_cannot_be_expanded_is_foreign() {
    let mut pair = connected_pair::<transport::Rc>().expect("a pair");
    pair.near.sq.post(&wqe::nop().signaled(WrId(1))).expect("room");
    pair.run_until_idle().expect("an end");
    // SAFETY: the last byte of the first CQE, which the device has written, and nobody has polled.
    unsafe { pair.near.cq_parts().buf.add(63).write(0x0c) };
    let End { cq, sq, .. } = &mut pair.near;
    assert_eq!(sq.complete(&cq.poll().expect("a completion")), Err(CompleteError::Foreign(RetireError::Compressed)));
    assert_ne!(sq.free(), sq.depth(), "the request is outstanding");
    assert_eq!(RetireError::Compressed.to_string(), CqeError::Compressed.to_string());
}
