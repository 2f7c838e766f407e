//! The states in which queues take requests.
//!
//! States belong here, the end of a queue pair in `teardown.rs`.

use blueflame::queue::{PostError, RecvError};
use blueflame::types::{Psn, Wqebbs, WrId};
use blueflame::verbs::{Error, QpState};
use blueflame::{Remote, transport, wqe};

use crate::end::{DEPTH, End, connected};
use crate::on_device::{device, wait_for};

#[test]
fn queues_take_what_was_asked_for_and_no_more() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, _b) = connected::<transport::Rc>(&device, &pd);
    let ring = a.pair.sq.capacity();
    assert!(u32::from(ring.0) > DEPTH, "libmlx5 makes rings longer than asked for: {ring:?}");
    for n in 0..DEPTH {
        a.nop(n.into(), n == DEPTH - 1).expect("asked for");
        a.post_receive(n.into());
    }
    let full = PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) };
    assert_eq!(a.nop(99, true), Err(full));
    let sge = [a.buffer.sge()];
    // SAFETY: refused.
    let refused = unsafe { a.pair.rq.post_unchecked(WrId(99), &sge) };
    assert_eq!(refused, Err(RecvError::Full(DEPTH)));
    // And again, when all is retired.
    let freed = wait_for("completion", || a.cq.poll().map(|last| a.pair.sq.retire(&last).expect("outstanding").freed));
    assert_eq!(freed, Wqebbs(DEPTH as u16));
    for n in 0..DEPTH {
        a.nop(n.into(), true).expect("asked for");
    }
    assert_eq!(a.nop(99, true), Err(full));
}

#[test]
fn a_queue_holds_one_request_of_the_size_asked_for() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(255).build().expect("a CQ");
    let builder = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(1).inline(200);
    // Control segment, remote address, and 204 bytes inline: 15 units of 16 bytes.
    assert_eq!(builder.send_completions(), 4 + 1);
    let mut pair = builder.build().expect("a queue pair");
    let path = device.path(1, None).expect("a path");
    let itself = pair.qp.endpoint_with(&path, Psn::truncate(1));
    pair.qp.to_init(&path).expect("INIT");
    pair.connect(&path, &itself, &itself).expect("connect");
    assert_eq!(pair.sq.depth(), Wqebbs(4));
    pair.sq.post(&wqe::send().inline(&[1; 200]).signaled(WrId(1))).expect("fits");
    let full = PostError::Full { needed: Wqebbs(4), free: Wqebbs(0) };
    assert_eq!(pair.sq.post(&wqe::send().inline(&[1; 200])), Err(full));
}

#[test]
fn nothing_is_posted_before_the_queue_pair_is_ready_to_send() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, b) = (End::<transport::Rc>::new(&device, &pd), End::<transport::Rc>::new(&device, &pd));
    let path = device.path(1, None).expect("a path");
    let (at_a, at_b) =
        (a.pair.qp.endpoint_with(&path, Psn::truncate(1)), b.pair.qp.endpoint_with(&path, Psn::truncate(2)));
    let refused = |a: &mut End<transport::Rc>, state| {
        assert_eq!(a.pair.qp.state(), Ok(state));
        assert_eq!(a.nop(1, true), Err(PostError::NotReadyToSend), "{state}");
        let write = wqe::write(Remote { addr: 0, rkey: blueflame::types::Rkey(0) }).inline(&[0; 8]);
        assert_eq!(a.pair.sq.batch().push(&write), Err(PostError::NotReadyToSend));
        assert_eq!(a.pair.sq.stage(&write).err(), Some(PostError::NotReadyToSend));
        assert_eq!(a.pair.refresh(), Ok(state), "which is no state to open it in");
        assert_eq!(a.nop(1, true), Err(PostError::NotReadyToSend), "{state}");
    };
    refused(&mut a, QpState::Reset);
    a.pair.qp.to_init(&path).expect("INIT");
    refused(&mut a, QpState::Init);
    a.pair.qp.to_rtr(&path, &at_b).expect("RTR");
    refused(&mut a, QpState::ReadyToReceive);
    a.pair.to_rts(&path, at_a.psn).expect("RTS");
    a.nop(1, true).expect("ready to send");
    assert!(wait_for("completion", || a.cq.poll().map(|cqe| cqe.check().is_ok())));
}

#[test]
fn each_state_follows_the_one_before() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut a = End::<transport::Rc>::new(&device, &pd);
    let path = device.path(1, None).expect("a path");
    let itself = a.pair.qp.endpoint_with(&path, Psn::truncate(1));
    let wrong = |is, to| Err(Error::WrongState { is, to });
    assert_eq!(a.pair.qp.to_rtr(&path, &itself), wrong(QpState::Reset, QpState::ReadyToReceive));
    assert_eq!(a.pair.to_rts(&path, itself.psn), wrong(QpState::Reset, QpState::ReadyToSend));
    assert_eq!(a.pair.qp.to_error(), wrong(QpState::Reset, QpState::Error));
    assert_eq!(a.pair.drain().err(), wrong(QpState::Reset, QpState::Error).err());
    a.pair.qp.to_init(&path).expect("INIT");
    assert_eq!(a.pair.to_rts(&path, itself.psn), wrong(QpState::Init, QpState::ReadyToSend));
    a.pair.connect(&path, &itself, &itself).expect("connect");
    assert_eq!(a.pair.qp.to_init(&path), wrong(QpState::ReadyToSend, QpState::Init));
    let text = Error::WrongState { is: QpState::Reset, to: QpState::ReadyToReceive }.to_string();
    assert_eq!(
        text,
        "the queue pair is in RESET and cannot go to RTR, which it reaches from INIT: call Qp::to_init first"
    );
}

/// The queue pair's state and its send queue belong together.
#[test]
fn no_queue_pair_connects_with_the_send_queue_of_another() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = (End::<transport::Rc>::new(&device, &pd), End::<transport::Rc>::new(&device, &pd));
    let path = device.path(1, None).expect("a path");
    let itself = a.pair.qp.endpoint_with(&path, Psn::truncate(1));
    std::mem::swap(&mut a.pair.sq, &mut b.pair.sq);
    let mixed_up = Error::MixedUp { object: "send queue" };
    assert_eq!(a.pair.connect(&path, &itself, &itself), Err(mixed_up.clone()));
    assert_eq!(a.pair.to_rts(&path, itself.psn), Err(mixed_up.clone()));
    assert_eq!(a.pair.refresh(), Err(mixed_up));
    assert_eq!([a.pair.qp.state(), b.pair.qp.state()], [Ok(QpState::Reset), Ok(QpState::Reset)]);
    std::mem::swap(&mut a.pair.sq, &mut b.pair.sq);
    a.pair.connect(&path, &itself, &itself).expect("connect");
}

#[test]
fn the_device_is_asked_only_about_ports_that_it_has() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut a = End::<transport::Rc>::new(&device, &pd);
    let good = device.path(1, None).expect("a path");
    let itself = a.pair.qp.endpoint_with(&good, Psn::truncate(1));
    for number in [0, device.attr().ports + 1, 255] {
        let mut path = good.clone();
        path.port.number = number;
        let error = Error::NoPort { port: number, ports: device.attr().ports };
        assert_eq!(a.pair.qp.to_init(&path), Err(error.clone()));
        assert_eq!(a.pair.connect(&path, &itself, &itself), Err(error));
    }
}
