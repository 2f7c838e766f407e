//! Owners of registers, queues and objects, and the states of objects.
//!
//! Owners belong here, random safe programs in `tests/ownership_verbs`.

use std::ptr::NonNull;

use blueflame::cq::{CqeError, Side, WcStatus};
use blueflame::transport;
use blueflame::types::{Psn, WrId};
use blueflame::verbs::adopt::{adopt_cq, adopt_qp};
use blueflame::verbs::{Error, QpState, QueuePair};
use blueflame::wqe;
use blueflame_sys as sys;

use crate::end::{End, connect, connected, end};
use crate::on_device::{device, wait_for};

#[test]
fn states_follow_each_other_and_errors_flush() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, b) = (end::<transport::Rc>(&device, &pd), end::<transport::Rc>(&device, &pd));
    let path = device.path(1, None).expect("a path");
    let (at_a, at_b) = (a.qp.endpoint_with(&path, Psn::truncate(1)), b.qp.endpoint_with(&path, Psn::truncate(2)));
    assert_eq!(a.qp.state(), Ok(QpState::Reset));
    assert!(a.to_rts(&path, at_a.psn).is_err(), "RESET to RTS");
    a.qp.to_init(&path).expect("INIT");
    assert_eq!(a.qp.state(), Ok(QpState::Init));
    a.qp.to_rtr(&path, &at_b).expect("RTR");
    assert_eq!(a.qp.state(), Ok(QpState::ReadyToReceive));
    a.to_rts(&path, at_a.psn).expect("RTS");
    assert_eq!(a.qp.state(), Ok(QpState::ReadyToSend));
    a.post_receive(77);
    a.qp.to_error().expect("ERR");
    assert_eq!(a.qp.state(), Ok(QpState::Error));
    let error = wait_for("the flushed receive", || a.cq.poll().map(|cqe| cqe.check().expect_err("flushed")));
    let CqeError::Completion(error) = error else { panic!("{error}") };
    assert_eq!((error.side, error.status()), (Side::Responder, WcStatus::WrFlushErr));
}

#[test]
fn every_queue_pair_has_its_own_register() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(24 * 257).build().expect("a CQ");
    let pairs: Vec<QueuePair<transport::Rc>> =
        (0..24).map(|_| pd.queue_pair(&cq, &cq).build().expect("a queue pair")).collect();
    let mut numbers: Vec<u32> = pairs.iter().map(|pair| pair.qp.qpn().get()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    // Had two the same register, building the second would have failed.
    assert_eq!(numbers.len(), 24);
    drop(pairs);
    let again: QueuePair<transport::Rc> = pd.queue_pair(&cq, &cq).build().expect("registers come back");
    drop(again);
}

#[test]
fn queues_on_shared_registers_work_from_two_threads() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let build = || {
                    let cq = device.completion_queue(257).build().expect("a CQ");
                    let builder = pd.queue_pair::<transport::Rc>(&cq, &cq).inline(64);
                    // SAFETY: nothing here posts by libibverbs.
                    let pair = unsafe { builder.build_shared() }.expect("a queue pair");
                    End::new(&pd, cq, pair)
                };
                let (mut a, mut b) = (build(), build());
                connect(&device, &mut a.pair, &mut b.pair);
                for round in 0..200 {
                    b.post_receive(round);
                    a.post(&wqe::send().inline(&round.to_le_bytes()).signaled(WrId(round)));
                    assert_eq!(b.completion(), (Side::Responder, WrId(round), 8));
                    a.completion();
                    assert_eq!(b.bytes(8), round.to_le_bytes());
                }
            });
        }
    });
}

#[test]
fn queues_move_to_other_threads_and_outlive_what_they_were_made_from() {
    let (mut a, mut b) = {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        connected::<transport::Rc>(&device, &pd)
    };
    let receiver = std::thread::spawn(move || {
        b.post_receive(1);
        assert_eq!(b.completion(), (Side::Responder, WrId(1), 5));
        let bytes = b.bytes(5);
        // In an order that would be wrong without the handles: the completion queue first.
        let End { pair: QueuePair { qp, sq, rq }, cq, buffer } = b;
        drop((cq, buffer, qp));
        drop((rq, sq));
        bytes
    });
    a.post(&wqe::send().inline(b"hello").signaled(WrId(1)));
    assert_eq!(a.completion().1, WrId(1));
    assert_eq!(receiver.join().expect("the receiver"), b"hello");
}

#[test]
fn objects_of_other_libraries_are_adopted() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    // As another library would make them: plain verbs.
    // SAFETY: the context is open; a completion queue without channel or context.
    let raw_cq = unsafe { sys::ibv_create_cq(device.as_raw(), 32, std::ptr::null_mut(), std::ptr::null_mut(), 0) };
    let raw_cq = NonNull::new(raw_cq).expect("a CQ");
    let mut attr = sys::ibv_qp_init_attr::ZERO;
    (attr.send_cq, attr.recv_cq) = (raw_cq.as_ptr(), raw_cq.as_ptr());
    attr.qp_type = sys::IBV_QPT_RC;
    attr.sq_sig_all = 1;
    attr.cap =
        sys::ibv_qp_cap { max_send_wr: 8, max_recv_wr: 8, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 32 };
    // SAFETY: the domain and the queue are alive.
    let raw_qp = NonNull::new(unsafe { sys::ibv_create_qp(pd.as_raw(), &raw mut attr) }).expect("a QP");

    // SAFETY: alive to the end of the test. Nothing else posts, polls or rings: it is the only queue pair that is not
    // in a thread domain of its own.
    let (cq, wrong) = unsafe { (adopt_cq(raw_cq).expect("adopt"), adopt_qp::<transport::Uc>(raw_qp)) };
    assert_eq!(wrong.err(), Some(Error::WrongTransport { is: "RC".into(), wanted: "UC" }));
    // SAFETY: alive to the end of the test; nothing else posts, polls or rings.
    let pair = unsafe { adopt_qp::<transport::Rc>(raw_qp) }.expect("adopt");
    // SAFETY: alive to the end of the test, and refused.
    let twice = unsafe { adopt_qp::<transport::Rc>(raw_qp) };
    assert!(matches!(twice, Err(Error::Taken { object: "queue pair", .. })), "the same one twice");

    let mut a = End::new(&pd, cq, pair);
    let mut b = end::<transport::Rc>(&device, &pd);
    connect(&device, &mut a.pair, &mut b.pair);
    b.post_receive(1);
    // Not signalled, but the queue pair signals all.
    a.post(&wqe::send().inline(b"adopted").wr_id(WrId(2)));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), 7));
    assert_eq!(a.completion().1, WrId(2));
    a.post_receive(3);
    // Longer than what would come in the CQE.
    b.post(&wqe::send().inline(&[7; 40]).signaled(WrId(4)));
    assert_eq!(a.completion(), (Side::Responder, WrId(3), 40));
    assert_eq!(b.completion().1, WrId(4));
    drop(a);
    // SAFETY: the adopting queues and handles are gone, and left both to their owner.
    unsafe {
        assert_eq!(sys::ibv_destroy_qp(raw_qp.as_ptr()), 0);
        assert_eq!(sys::ibv_destroy_cq(raw_cq.as_ptr()), 0);
    }
}
