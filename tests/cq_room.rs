//! Completion queues that are too small for the queues that complete there: those queues are not made.
//!
//! The room of completion queues of verbs belongs here, of those made by DevX in
//! `devx/tests/device/completion_queues.rs`.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run -- --skip frames
//! softhca-run --link ethernet -- frames
//! ```

#![cfg(feature = "verbs")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::ptr::{NonNull, null_mut};
use std::time::{Duration, Instant};

use blueflame::SetupError;
use blueflame::cq::setup::RoomError;
use blueflame::queue::striding::Strides;
use blueflame::queue::tags::TagListSizes;
use blueflame::transport::{Dci, RawPacket, Rc, XrcInitiator};
use blueflame::types::{DcKey, Psn, Wqebbs, WrId};
use blueflame::verbs::adopt::{adopt_cq, adopt_qp};
use blueflame::verbs::async_event::AsyncEvent;
use blueflame::verbs::memory::Pages;
use blueflame::verbs::{Access, Device, Error, OwnedCq, Pool, ProtectionDomain, QueuePair};
use blueflame::wqe;
use blueflame_sys as sys;

use on_device::device;

fn parts() -> (Device, ProtectionDomain) {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    (device, pd)
}

/// The numbers of the refusal: room, completions that wait already, and those of the refused queue.
fn refused<T>(cq: &OwnedCq, made: Result<T, Error>) -> (u32, u64, u32) {
    match made.map(|_| ()) {
        Err(Error::CqRoom { cqn, error: RoomError { room, reserved, completions } }) => {
            assert_eq!(cqn, cq.handle().cqn());
            (room, reserved, completions)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn requests_that_do_not_fit_are_not_made() {
    let (device, pd) = parts();
    let cq = device.completion_queue(4).build().expect("a CQ");
    assert_eq!((cq.capacity(), cq.room()), (8, 7));
    let made = pd.queue_pair::<Rc>(&cq, &cq).sends(64).no_receives().build();
    let text = made.as_ref().expect_err("too many").to_string();
    assert!(text.ends_with(
        "has room for 7 completions, but 65 may wait there unpolled; make it larger, or oversubscribe it if fewer ever \
         wait"
    ));
    assert_eq!(refused(&cq, made), (7, 0, 65));
    // Receives count, on the queue that they complete on.
    let large = device.completion_queue(64).build().expect("a CQ");
    let made = pd.queue_pair::<Rc>(&large, &cq).sends(4).receives::<WrId>(8).build();
    assert_eq!(refused(&cq, made), (7, 0, 8));
    let made = pd.queue_pair::<Rc>(&cq, &large).sends(7).receives::<WrId>(64).build();
    assert_eq!(refused(&cq, made), (7, 0, 8));
    drop(pd.queue_pair::<Rc>(&cq, &cq).sends(3).receives::<WrId>(3).build().expect("7 completions"));
}

#[test]
fn queue_pairs_fill_a_completion_queue_to_its_last_place() {
    let (device, pd) = parts();
    let cq = device.completion_queue(100).build().expect("a CQ");
    assert_eq!(cq.room(), 127);
    let build = |sends, receives| {
        let builder = pd.queue_pair::<Rc>(&cq, &cq).sends(sends).receives::<WrId>(receives);
        (builder.send_completions() + builder.recv_completions(), builder.build())
    };
    let (first, second) = (build(30, 32), build(31, 32));
    assert_eq!(first.0 + second.0, 127);
    let (first, second) = (first.1.expect("there is room"), second.1.expect("as many as fit"));
    assert_eq!(refused(&cq, build(1, 0).1), (127, 127, 2));
    // A queue pair keeps its places as long as any part of it.
    let QueuePair { qp, sq, rq } = first;
    drop((qp, sq));
    assert_eq!(refused(&cq, build(1, 0).1), (127, 127, 2));
    drop(rq);
    drop(build(30, 32).1.expect("its places are free again"));
    drop(second);
    drop(build(62, 64).1.expect("all are free again"));
}

#[test]
fn shared_receives_count_once_for_each_completion_queue() {
    let (device, pd) = parts();
    let srq = pd.shared_recv_queue(60, 1).expect("an SRQ");
    assert_eq!(srq.capacity(), 63);
    let sends = device.completion_queue(64).build().expect("a CQ");
    let [here, there] = [100, 20].map(|cqes| device.completion_queue(cqes).build().expect("a CQ"));
    let build = |cq: &OwnedCq| pd.queue_pair::<Rc>(&sends, cq).sends(1).shared_recv_queue(srq.handle()).build();
    let pairs: Vec<_> = (0..8).map(|_| build(&here).expect("the same receives")).collect();
    assert_eq!(refused(&there, build(&there)), (31, 0, 63));
    let made = pd.queue_pair::<Rc>(&sends, &here).sends(1).receives::<WrId>(65).build();
    assert_eq!(refused(&here, made), (127, 63, 65));
    drop(pairs);
    drop(pd.queue_pair::<Rc>(&sends, &here).sends(1).receives::<WrId>(127).build().expect("all places"));
}

#[test]
fn targets_initiators_and_lists_count() {
    let (device, pd) = parts();
    let path = device.path(1, None).expect("a path");
    let small = device.completion_queue(4).build().expect("a CQ");
    let made = pd.queue_pair::<XrcInitiator>(&small, &small).sends(7).build();
    assert_eq!(refused(&small, made), (7, 0, 8));
    // The completion queue of receives gets none.
    drop(pd.queue_pair::<XrcInitiator>(&small, &small).sends(6).build().expect("7 completions"));
    let made = pd.queue_pair::<Dci>(&small, &small).sends(7).build();
    assert_eq!(refused(&small, made), (7, 0, 8));
    let srq = pd.shared_recv_queue(8, 1).expect("an SRQ");
    let made = pd.target(&small, srq.handle()).build(&path, DcKey(1));
    assert_eq!(refused(&small, made), (7, 0, 15));
    let domain = device.xrc_domain().expect("an XRC domain");
    assert_eq!(refused(&small, pd.xrc_shared_recv_queue(&domain, small.handle(), 8, 1)), (7, 0, 15));
    let xrc = pd.xrc_shared_recv_queue(&domain, small.handle(), 7, 1).expect("7 receives");
    assert_eq!(refused(&small, pd.queue_pair::<Dci>(&small, &small).sends(2).build()), (7, 7, 3));
    drop(xrc);
    let sizes = TagListSizes { tags: 8, receives: 33, ..TagListSizes::DEFAULT };
    // Two for each tag, and the buffers.
    assert_eq!(refused(&small, pd.tag_matching(&small, &path, &sizes)), (7, 0, 2 * 8 + 63));
    let exact = device.completion_queue(sizes.completions()).build().expect("a CQ");
    drop(pd.tag_matching(&exact, &path, &sizes).expect("as many as it says"));
}

#[test]
fn a_completion_queue_is_not_made_smaller_than_its_queues_need() {
    let (device, pd) = parts();
    let mut cq = device.completion_queue(100).build().expect("a CQ");
    let pair = |cq: &OwnedCq| pd.queue_pair::<Rc>(cq, cq).sends(62).no_receives().build();
    let first = pair(&cq).expect("there is room");
    let shrunk = cq.resize(30);
    assert_eq!(refused(&cq, shrunk), (31, 63, 0));
    assert_eq!(cq.room(), 127);
    cq.resize(63).expect("as many as it needs");
    assert_eq!(refused(&cq, pair(&cq)), (63, 63, 63));
    cq.resize(126).expect("a larger one");
    let second = pair(&cq).expect("there is room again");
    assert_eq!(refused(&cq, pair(&cq)), (127, 126, 63));
    drop((first, second));
    cq.resize(4).expect("nothing completes there");
    assert_eq!(refused(&cq, pair(&cq)), (7, 0, 63));
}

#[test]
fn a_queue_takes_no_more_than_it_has_places_for() {
    let (device, pd) = parts();
    let build = |cq: &OwnedCq| pd.queue_pair::<Rc>(cq, cq).sends(8).receives(5).build().expect("a queue pair");
    let cq = device.completion_queue(14).build().expect("a CQ");
    let mut pair = build(&cq);
    let ring = pair.sq.capacity();
    assert!(ring.0 > 9, "a ring of {ring:?} proves nothing");
    // One for the drain.
    pair.sq.set_depth(Wqebbs(9)).expect("as many as were reserved");
    let what = "depth in WQEBBs, limited by the completion queue";
    let error = SetupError::OutOfRange { what, value: 10, min: 0, max: 9 };
    assert_eq!(pair.sq.set_depth(Wqebbs(10)), Err(error));
    assert_eq!(pair.sq.depth(), Wqebbs(9));
    let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(64).expect("64 bytes");
    let receives = &mut pair.rq;
    assert!(receives.capacity() > 5);
    receives.set_depth(8);
    // SAFETY: the queue pair receives nothing in RESET.
    let posted = (0..8).take_while(|&n| unsafe { receives.post_unchecked(WrId(n), &[buffer.sge()]) }.is_ok()).count();
    assert_eq!(posted, 5);
    // Where the program answers for the sum, the ring is the limit.
    let cq = device.completion_queue(4).build().expect("a CQ");
    cq.handle().oversubscribe();
    build(&cq).sq.set_depth(ring).expect("the whole ring");
}

/// A queue pair with requests past the room, connected to itself. The test shows the effect of an overrun as well.
#[test]
fn an_oversubscribed_completion_queue_can_overrun() {
    let (device, pd) = parts();
    let events = device.async_events();
    let path = device.path(1, None).expect("a path");
    let cq = device.completion_queue(4).context(77).build().expect("a CQ");
    cq.handle().oversubscribe();
    let mut pair = pd.queue_pair::<Rc>(&cq, &cq).sends(64).no_receives().inline(8).build().expect("no sum is checked");
    let memory = Pool::new(&pd, 4096, Access::ALL).expect("a pool").take(64).expect("64 bytes");
    let itself = pair.qp.endpoint_with(&path, Psn::truncate(5));
    pair.qp.to_init(&path).expect("INIT");
    pair.connect(&path, &itself, &itself).expect("RTS");
    for n in 0..64 {
        pair.sq.post(&wqe::write(memory.remote()).inline(b"12345678").signaled(WrId(n))).expect("room");
    }
    let begin = Instant::now();
    loop {
        match events.wait_timeout(Duration::from_millis(100)).expect("events") {
            Some(AsyncEvent::CqError { context: 77, .. }) => break,
            Some(other) => println!("{other:?}"),
            None => assert!(begin.elapsed() < Duration::from_secs(20), "no event"),
        }
    }
}

#[test]
fn adopted_queues_count() {
    let (device, pd) = parts();
    // SAFETY: the context is open; a completion queue without channel or context.
    let raw_cq = NonNull::new(unsafe { sys::ibv_create_cq(device.as_raw(), 4, null_mut(), null_mut(), 0) });
    let raw_cq = raw_cq.expect("a CQ");
    let mut attr = sys::ibv_qp_init_attr::ZERO;
    (attr.send_cq, attr.recv_cq) = (raw_cq.as_ptr(), raw_cq.as_ptr());
    attr.qp_type = sys::IBV_QPT_RC;
    attr.cap =
        sys::ibv_qp_cap { max_send_wr: 32, max_recv_wr: 8, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };
    // SAFETY: the domain and the queue are alive.
    let raw_qp = NonNull::new(unsafe { sys::ibv_create_qp(pd.as_raw(), &raw mut attr) }).expect("a QP");
    {
        // SAFETY: alive to the end of the test; nobody else posts, polls or rings.
        let cq = unsafe { adopt_cq(raw_cq) }.expect("a CQ");
        // SAFETY: alive to the end of the test; nobody else posts, polls or rings.
        let adopt = || unsafe { adopt_qp::<Rc>(raw_qp) };
        let (room, reserved, completions) = refused(&cq, adopt());
        assert_eq!((room, reserved), (7, 0));
        assert!(completions > 32, "{completions}");
        // Queues of this crate there count as well.
        let own = pd.queue_pair::<Rc>(&cq, &cq).sends(3).no_receives().build().expect("4 completions");
        assert_eq!(refused(&cq, adopt()).1, 4);
        cq.handle().oversubscribe();
        drop((adopt().expect("the caller answers for the sum"), own));
    }
    // SAFETY: the adopting queues and handles are gone, and left both to their owner.
    unsafe {
        assert_eq!(sys::ibv_destroy_qp(raw_qp.as_ptr()), 0);
        assert_eq!(sys::ibv_destroy_cq(raw_cq.as_ptr()), 0);
    }
}

#[test]
fn frames_count() {
    let (device, pd) = parts();
    let cq = device.completion_queue(100).build().expect("a CQ");
    assert_eq!(refused(&cq, pd.work_queue(&cq).receives(128).build::<WrId>()), (127, 0, 128));
    let work = pd.work_queue(&cq).receives(100).build::<WrId>().expect("100 receives");
    // Sends of others may complete there.
    let sends = |n| pd.queue_pair::<RawPacket>(&cq, &cq).sends(n).no_receives().build();
    assert_eq!(refused(&cq, sends(27)), (127, 100, 28));
    drop((sends(26).expect("as many as fit"), work));
    // A striding queue has a completion of each stride that is posted.
    let strides = Strides::new(9, 6).expect("on every device");
    let memory = || {
        let (pages, _) = Pages::map(4 * strides.wqe_bytes() as usize).expect("memory");
        pd.register(pages, Access::LOCAL_WRITE).expect("memory").strided(strides).expect("strides")
    };
    let refusal = refused(&cq, pd.work_queue(&cq).receives(8).striding(memory()).build());
    assert_eq!(refusal, (127, 0, 4 * 512));
    let large = device.completion_queue(4 * 512).build().expect("a CQ");
    let mut queue = pd.work_queue(&large).receives(3).striding(memory()).build().expect("three at a time");
    queue.set_depth(4);
    assert_eq!(queue.depth(), 3);
    drop(queue);
    drop(pd.work_queue(&large).receives(8).striding(memory()).build().expect("all four buffers"));
}
