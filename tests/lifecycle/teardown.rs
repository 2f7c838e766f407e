//! The end of connections under load: no request is lost, none is reported twice.
//!
//! Draining, resetting and destroying belong here, objects that cannot be destroyed in `tests/verbs/leaks.rs`.

use std::collections::VecDeque;

use blueflame::cq::Cqe;
use blueflame::queue::PostError;
use blueflame::types::{Psn, Qpn, Wqebbs, WrId};
use blueflame::verbs::{Device, Drained, Error, QpState};
use blueflame::{transport, wqe};
use blueflame_sys as sys;

use crate::end::{DEPTH, End, connect, connected};
use crate::on_device::{device, wait_for};

/// Drains an end. The tags of sends and receives that completions named, in their order, and the WQEBBs the marker
/// freed.
fn drain(end: &mut End<transport::Rc>) -> (Vec<u64>, Vec<u64>, u16) {
    let (mut sends, mut receives, mut marker) = (Vec::new(), Vec::new(), 0);
    let mut drain = end.pair.drain().expect("ERR");
    wait_for("drain", || {
        end.cq.poll_with(4, |cqe| match drain.take(&cqe).expect("a completion") {
            Some(Drained::Send(done)) => sends.push(done.wr_id.0),
            Some(Drained::Receive(tag)) => receives.push(tag.0),
            Some(Drained::Marker(Wqebbs(freed))) => marker = freed,
            other => panic!("{other:?}"),
        });
        drain.is_done().then_some(())
    });
    assert!(end.cq.poll().is_none(), "more completions than requests");
    (sends, receives, marker)
}

#[test]
fn a_drain_ends_where_unsignalled_requests_had_succeeded() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    // A queue full of requests of which none will ever complete by itself; the last one is known to have been executed.
    let target = b.buffer.remote();
    for n in 0..u64::from(DEPTH) {
        let number = (n + 1).to_le_bytes();
        let write = wqe::write(target).inline(&number).wr_id(WrId(n));
        a.pair.sq.post(&write).expect("room");
    }
    let mut bytes = [0; 8];
    wait_for("the last write", || {
        b.buffer.read(0, &mut bytes);
        (u64::from_le_bytes(bytes) == u64::from(DEPTH)).then_some(())
    });
    b.post_receive(7);
    assert_eq!(drain(&mut b), (vec![], vec![7], 0), "nothing was sent, so that there is no marker");
    let (sends, receives, marker) = drain(&mut a);
    // The last acknowledgement may not have come: then some are flushed.
    assert!(sends.len() <= DEPTH as usize && receives.is_empty(), "{sends:?} {receives:?}");
    assert!(marker >= 1, "the marker completed");
    assert_eq!(a.pair.sq.free(), a.pair.sq.depth());
    assert_eq!(drain(&mut a), (vec![], vec![], 0), "and at once, when nothing is outstanding");
}

/// One life of a connection, as the receiver saw it: the numbers that arrived.
fn life(
    path: &blueflame::verbs::Path,
    psn: u32,
    a: &mut End<transport::Rc>,
    b: &mut End<transport::Rc>,
    sent: &mut u64,
) -> Vec<u64> {
    connect(path, psn, a, b);
    let (mut arrived, mut outstanding) = (Vec::new(), VecDeque::new());
    let messages = 3 * u64::from(DEPTH);
    for n in 0..u64::from(DEPTH) {
        b.post_receive(n);
    }
    let mut left = messages;
    // Until some are acknowledged, and a whole depth is in flight: every eighth request is signalled.
    while left > 0 {
        let number = sent.to_le_bytes();
        let request = wqe::send().imm(*sent as u32).inline(&number);
        match a.pair.sq.post(&request.signaled_if(*sent % 8 == 7, WrId(*sent))) {
            Ok(()) => {
                outstanding.push_back(*sent);
                *sent += 1;
                left -= 1;
            }
            Err(PostError::Full { .. }) => wait_for("room", || {
                let cqe = a.cq.poll()?;
                cqe.check().unwrap_or_else(|error| panic!("{error}"));
                let done = a.pair.sq.retire(&cqe).expect("outstanding");
                outstanding.drain(..usize::from(done.freed.0));
                Some(())
            }),
            Err(error) => panic!("{error}"),
        }
        // Ends with receives unpolled in the completion queue.
        if left > u64::from(DEPTH) {
            while let Some(cqe) = b.cq.poll() {
                cqe.check().unwrap_or_else(|error| panic!("{error}"));
                let tag = b.pair.rq.retire(&cqe).expect("posted");
                arrived.push(u64::from(cqe.imm().expect("immediate data")));
                b.post_receive(tag.0);
            }
        }
    }
    // The end, in the middle of it all.
    let mut accounted = 0;
    {
        let mut drain = a.pair.drain().expect("ERR");
        wait_for("sender's drain", || {
            a.cq.poll_with(8, |cqe| match drain.take(&cqe).expect("a completion") {
                Some(Drained::Send(done)) => {
                    accounted += usize::from(done.freed.0);
                    assert_eq!(done.wr_id.0, outstanding[accounted - 1]);
                }
                Some(Drained::Marker(Wqebbs(freed))) => accounted += usize::from(freed) - 1,
                other => panic!("{other:?}"),
            });
            drain.is_done().then_some(())
        });
    }
    assert_eq!(accounted, outstanding.len(), "every request is accounted for, once");
    let mut receives = 0;
    {
        let mut drain = b.pair.drain().expect("ERR");
        wait_for("receiver's drain", || {
            b.cq.poll_with(8, |cqe| {
                assert!(matches!(drain.take(&cqe), Ok(Some(Drained::Receive(_)))));
                receives += 1;
                if cqe.check().is_ok() {
                    arrived.push(u64::from(cqe.imm().expect("immediate data")));
                }
            });
            drain.is_done().then_some(())
        });
    }
    assert_eq!(receives, DEPTH, "every receive is accounted for, once");
    arrived
}

/// Under `./run test`, once more with a bad network and once more in strict mode.
#[test]
fn a_connection_is_torn_down_under_load_and_made_anew() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let (mut a, mut b) = (End::new(&device, &pd), End::new(&device, &pd));
    let mut sent = 0;
    for round in 0..12 {
        let first = sent;
        let arrived = life(&path, 0x1000 * (round + 1), &mut a, &mut b, &mut sent);
        // In order from the first on, each once, none of an earlier life: a prefix of this life's messages.
        let expected: Vec<u64> = (first..first + arrived.len() as u64).collect();
        assert_eq!(arrived, expected, "round {round}");
        assert!(first + arrived.len() as u64 <= sent);
        for end in [&mut a, &mut b] {
            let none = |cqe: Cqe<'_>| panic!("not accounted for: {cqe:?}");
            end.pair.reset(&mut [&mut end.cq], none).expect("RESET");
            assert_eq!(end.pair.qp.state(), Ok(QpState::Reset));
            assert_eq!(end.nop(0, false), Err(PostError::NotReadyToSend));
        }
    }
}

#[test]
fn a_reset_forgets_what_was_not_polled() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    for round in 0..5_u64 {
        // Another queue pair completes to the same queue, and loses nothing.
        let mut other =
            pd.queue_pair::<transport::Rc>(&a.cq, &a.cq).sends(2).receives::<WrId>(2).build().expect("a queue pair");
        let path = device.path(1, None).expect("a path");
        let itself = other.qp.endpoint_with(&path, Psn::truncate(3));
        other.qp.to_init(&path).expect("INIT");
        other.connect(&path, &itself, &itself).expect("connect");
        let target = b.buffer.remote();
        for n in 0..6 {
            let data = [round as u8; 8];
            let write = wqe::write(target).inline(&data).signaled(WrId(n));
            a.pair.sq.post(&write).expect("room");
            if n == 2 {
                other.sq.post(&blueflame::wqe::nop().signaled(WrId(100 + round))).expect("room");
            }
        }
        wait_for("the writes", || {
            let mut byte = [0xff];
            b.buffer.read(0, &mut byte);
            (byte[0] == round as u8).then_some(())
        });
        let mut forgotten = Vec::new();
        a.pair.reset(&mut [&mut a.cq], |cqe| forgotten.push((cqe.qpn(), cqe.wqe_counter()))).expect("RESET");
        assert!(forgotten.len() <= 6 && forgotten.iter().all(|&(qpn, _)| qpn == a.pair.qp.qpn()), "{forgotten:?}");
        let last = wait_for("the other's completion", || a.cq.poll().map(|cqe| (cqe.qpn(), cqe.check().is_ok())));
        assert_eq!(last, (other.qp.qpn(), true));
        assert!(a.cq.poll().is_none(), "a completion of before the reset");
        b.pair.reset(&mut [&mut b.cq], |_| ()).expect("RESET");
        connect(&path, 0x100 + round as u32, &mut a, &mut b);
    }
}

#[test]
fn a_reset_names_what_it_lacks() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    assert_eq!(a.pair.reset(&mut [&mut b.cq], |_| ()), Err(Error::CqNotGiven { which: "sends" }));
    assert_eq!(a.pair.qp.state(), Ok(QpState::ReadyToSend), "nothing has changed");
    core::mem::swap(&mut *a.pair.sq, &mut *b.pair.sq);
    assert_eq!(a.pair.reset(&mut [&mut a.cq], |_| ()), Err(Error::MixedUp { object: "send queue" }));
    assert_eq!(a.pair.drain().err(), Some(Error::MixedUp { object: "send queue" }));
    core::mem::swap(&mut *a.pair.sq, &mut *b.pair.sq);
    core::mem::swap(&mut a.pair.rq, &mut b.pair.rq);
    assert_eq!(a.pair.reset(&mut [&mut a.cq], |_| ()), Err(Error::MixedUp { object: "receive queue" }));
    core::mem::swap(&mut a.pair.rq, &mut b.pair.rq);
    a.pair.reset(&mut [&mut a.cq], |_| ()).expect("RESET");
}

/// `ibv_modify_qp` to RESET by the raw pointer: what `Qp::as_raw` says not to do.
fn reset_behind(end: &End<transport::Rc>) {
    let mut attr = sys::ibv_qp_attr::ZERO;
    attr.qp_state = sys::IBV_QPS_RESET;
    // SAFETY: the queue pair is alive.
    let returned = unsafe { sys::ibv_modify_qp(end.pair.qp.as_raw(), &raw mut attr, 1) };
    assert_eq!(returned, 0);
}

#[test]
fn a_reset_behind_the_queues_replays_nothing() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    let path = device.path(1, None).expect("a path");
    b.post_receive(1);
    a.pair.sq.post(&wqe::send().imm(1).inline(b"an order").signaled(WrId(1))).expect("room");
    wait_for("the order", || b.cq.poll().map(drop));
    reset_behind(&a);
    let error = Error::ResetElsewhere { qpn: a.pair.qp.qpn() };
    let (at_a, at_b) =
        (a.pair.qp.endpoint_with(&path, Psn::truncate(5)), b.pair.qp.endpoint_with(&path, Psn::truncate(6)));
    a.pair.qp.to_init(&path).expect("INIT");
    assert_eq!(a.pair.connect(&path, &at_a, &at_b), Err(error.clone()));
    assert_eq!(a.pair.qp.state(), Ok(QpState::ReadyToReceive), "the device was told nothing");
    assert!(error.to_string().contains("QueuePair::reset"), "{error}");
    // The way out.
    for end in [&mut a, &mut b] {
        end.pair.reset(&mut [&mut end.cq], |_| ()).expect("RESET");
    }
    connect(&path, 0x77, &mut a, &mut b);
    b.post_receive(2);
    a.pair.sq.post(&wqe::send().imm(2).inline(b"order two").signaled(WrId(2))).expect("room");
    let second = wait_for("the second order", || b.cq.poll().map(|cqe| (cqe.check().is_ok(), cqe.imm())));
    assert_eq!(second, (true, Some(2)), "and not the first one once more");
}

#[test]
fn a_shared_queue_gets_back_what_a_reset_forgets() {
    let device: Device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut srq = pd.shared_recv_queue(8, 1).expect("an SRQ");
    let mut cq = device.completion_queue(255).build().expect("a CQ");
    let mut a = End::<transport::Rc>::new(&device, &pd);
    let handle = srq.handle().clone();
    let builder = pd.queue_pair::<transport::Rc>(&cq, &cq).shared_recv_queue(&handle);
    assert_eq!(builder.recv_completions(), 0, "they are counted once for all its queue pairs");
    let mut b = builder.build().expect("a queue pair");
    let path = device.path(1, None).expect("a path");
    let (at_a, at_b) = (a.pair.qp.endpoint_with(&path, Psn::truncate(1)), b.qp.endpoint_with(&path, Psn::truncate(2)));
    b.qp.to_init(&path).expect("INIT");
    a.connect(&path, 1, &at_b);
    b.connect(&path, &at_b, &at_a).expect("connect");
    for tag in 0..4 {
        // SAFETY: nobody looks at the buffer.
        unsafe { srq.post_unchecked(WrId(tag), &[a.buffer.sge()]) }.expect("room");
    }
    for n in 0..3_u8 {
        a.pair.sq.post(&wqe::send().inline(&[n; 8]).signaled(WrId(n.into()))).expect("room");
        wait_for("completion", || a.cq.poll().map(drop));
    }
    let qpn: Qpn = b.qp.qpn();
    let mut tags = Vec::new();
    b.reset(&mut [&mut cq], |cqe| {
        assert_eq!(cqe.qpn(), qpn);
        // SAFETY: the queue pair receives from there; each completion is forgotten once.
        tags.push(unsafe { srq.retire(&cqe) }.expect("posted").0);
    })
    .expect("RESET");
    tags.sort_unstable();
    assert_eq!((tags, srq.posted()), (vec![0, 1, 2], 1));
}
