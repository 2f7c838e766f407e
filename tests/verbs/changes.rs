//! Completion queues that change in use: size, and moderation of their events.
//!
//! Changes belong here, traffic in `messages.rs`.

use std::ptr::NonNull;
use std::time::{Duration, Instant};

use blueflame::cq::Notify;
use blueflame::cq::mode::{NoOverrun, OncePerCall};
use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::verbs::adopt::adopt_cq;
use blueflame::verbs::{Error, QueuePair};
use blueflame::wqe;

use crate::end::{End, connect, connected};
use crate::on_device::{device, wait_for};

#[test]
fn a_queue_grows_and_shrinks_under_traffic() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, b) = connected::<Rc>(&device, &pd);
    a.cq.handle().oversubscribe();
    let mut next = 0;
    for (round, room) in [64, 15, 200, 1, 31, 1000, 64].into_iter().enumerate() {
        let waiting = (round % 3) as u64;
        for id in next..next + waiting {
            a.post(&wqe::write(b.buffer.remote()).inline(&id.to_ne_bytes()).signaled(WrId(id)));
        }
        // While requests are on their way.
        if waiting < room.into() {
            a.cq.resize(room).expect("resized");
            assert_eq!(a.cq.capacity(), (room + 1).next_power_of_two());
        }
        for id in next..next + waiting {
            assert_eq!(a.completion().1, WrId(id));
        }
        next += waiting;
        // As many as the ring has, and more.
        for id in next..next + 40 {
            a.post(&wqe::write(b.buffer.remote()).inline(&id.to_ne_bytes()).signaled(WrId(id)));
            assert_eq!(a.completion().1, WrId(id));
        }
        next += 40;
    }
}

#[test]
fn a_queue_that_cannot_change_says_so_and_goes_on() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, b) = connected::<Rc>(&device, &pd);
    let max = device.attr().max_cqe;
    for cqes in [0, max + 1] {
        let error = a.cq.resize(cqes).expect_err("out of range");
        assert_eq!(error, Error::OutOfRange { what: "CQEs", value: cqes.into(), min: 1, max: max.into() });
    }
    for id in 0..6 {
        a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(id)));
    }
    // Until the last has come: nothing has been polled, so it is the sixth of the ring, of 64 bytes each.
    let op_own = std::ptr::with_exposed_provenance::<u8>(a.cq.ring_addr() + 5 * 64 + 63);
    // SAFETY: in the ring, which is there as long as the queue.
    wait_for("six completions", || (unsafe { op_own.read_volatile() } >> 4 != 15).then_some(()));
    a.cq.handle().oversubscribe();
    let error = a.cq.resize(2).expect_err("six completions, four CQEs");
    assert!(matches!(error, Error::Call(call) if call.call == "RESIZE_CQ"), "{error}");
    for id in 0..6 {
        assert_eq!(a.completion().1, WrId(id));
    }
    // Another queue's ring is nobody's to move.
    let mut other = device.completion_queue(4).build().expect("a CQ");
    std::mem::swap(&mut *a.cq, &mut *other);
    let error = a.cq.resize(100).expect_err("of another handle");
    assert_eq!(error, Error::MixedUp { object: "completion queue" });
    std::mem::swap(&mut *a.cq, &mut *other);
    a.cq.resize(100).expect("whole again");
    // SAFETY: alive as long as the adopted queue; it is never polled.
    let mut adopted = unsafe { adopt_cq_of(&device) };
    assert!(matches!(adopted.0.resize(100), Err(Error::Unsupported { .. })));
    drop(adopted.0);
    // SAFETY: made below, and destroyed once. The queue that had adopted it is gone.
    assert_eq!(unsafe { blueflame_sys::ibv_destroy_cq(adopted.1.as_ptr()) }, 0);
}

/// # Safety
/// The caller drops the adopting value first, and destroys the queue then.
unsafe fn adopt_cq_of(
    device: &blueflame::verbs::Device,
) -> (blueflame::verbs::OwnedCq, NonNull<blueflame_sys::ibv_cq>) {
    let null = std::ptr::null_mut();
    // SAFETY: the context is open.
    let raw = unsafe { blueflame_sys::ibv_create_cq(device.as_raw(), 8, null, null.cast(), 0) };
    let raw = NonNull::new(raw).expect("a CQ");
    // SAFETY: new; the caller's promise.
    (unsafe { adopt_cq(raw) }.expect("adopted"), raw)
}

#[test]
fn each_mode_of_polling_can_be_resized() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    // SAFETY: at most 16 completions wait.
    let cq = unsafe { device.completion_queue(64).ignore_overrun() }.build().expect("a CQ");
    let pair = pd.queue_pair::<Rc>(&cq, &cq).sends(16).no_receives().inline(64).build().expect("a QP");
    let mut a = End::new(&pd, cq, pair);
    let peer = device.completion_queue(64).build().expect("a CQ");
    let pair = pd.queue_pair::<Rc>(&peer, &peer).sends(16).no_receives().build().expect("a QP");
    let mut b = End::new(&pd, peer, pair);
    connect(&device, &mut a.pair, &mut b.pair);
    let End { cq, pair: QueuePair { mut sq, .. }, .. } = a;
    let mut seen = Vec::new();
    // SAFETY: at most 16 completions wait.
    let mut cq = unsafe { cq.with_mode_unchecked::<NoOverrun>() };
    for id in 0..100 {
        if id % 20 == 10 {
            cq.resize(20 + id).expect("resized");
        }
        sq.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(id.into()))).expect("room");
        while seen.len() <= id as usize {
            cq.poll_with(4, |cqe| seen.push(sq.retire(&cqe).expect("outstanding").wr_id.0));
        }
    }
    let mut cq = cq.with_mode::<OncePerCall>();
    cq.resize(500).expect("resized");
    sq.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(100))).expect("room");
    while seen.len() <= 100 {
        cq.poll_with(4, |cqe| seen.push(sq.retire(&cqe).expect("outstanding").wr_id.0));
    }
    assert_eq!(seen, (0..=100).collect::<Vec<u64>>());
}

#[test]
fn events_wait_for_completions_or_a_time() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let channel = device.completion_channel().expect("a channel");
    let cq = device.completion_queue(64).channel(&channel).build().expect("a CQ");
    let pair = pd.queue_pair::<Rc>(&cq, &cq).sends(16).no_receives().inline(64).build().expect("a QP");
    let mut a = End::new(&pd, cq, pair);
    let mut b = crate::end::end::<Rc>(&device, &pd);
    connect(&device, &mut a.pair, &mut b.pair);
    let error = a.cq.handle().set_moderation(1, 4096).expect_err("the field has 12 bits");
    assert_eq!(error, Error::OutOfRange { what: "microseconds of moderation", value: 4096, min: 0, max: 4095 });
    // More completions than there are: an event comes when its time has passed since the one before, and no sooner.
    a.cq.handle().set_moderation(100, 4095).expect("moderated");
    let begun = Instant::now();
    for id in 0..=2 {
        a.cq.resize(if id == 1 { 200 } else { 20 }).expect("resized");
        a.cq.arm(Notify::Any);
        a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(id)));
        channel.wait().expect("an event");
        a.cq.event_received();
        assert_eq!(a.completion().1, WrId(id));
    }
    let waited = begun.elapsed();
    assert!(waited >= 2 * Duration::from_micros(4095), "{waited:?}");
    // A queue that moves stays armed.
    a.cq.handle().set_moderation(0, 0).expect("not moderated");
    a.cq.arm(Notify::Any);
    a.cq.resize(100).expect("resized");
    a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(9)));
    channel.wait().expect("an event");
    a.cq.event_received();
    assert_eq!(a.completion().1, WrId(9));
    // The count equals the two requests: the second completion raises the event.
    a.cq.handle().set_moderation(2, 4095).expect("moderated");
    a.cq.arm(Notify::Any);
    for id in 3..=4 {
        a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(id)));
    }
    channel.wait().expect("an event");
    assert_eq!((a.completion().1, a.completion().1), (WrId(3), WrId(4)));
}
