//! Activation of a queue pair: it keeps posted receives, and refuses missing queues.
//!
//! Activations belong here, resets and drains in `ends.rs`.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use blueflame::cq::setup::Whose;
use blueflame::types::WrId;
use blueflame::verbs::{Access, Error, Pool, QpState};
use blueflame::wqe;
use blueflame_sys as sys;

use crate::lab::Lab;
use crate::{Frames, HEADERS, device, frame};

const ELSEWHERE: Error = Error::MixedUp { object: "receive queue" };

/// libmlx5 stores a count of zero on the way to RTR, and only the queue can store its own again.
#[test]
fn a_receive_queue_that_is_elsewhere_is_missed() {
    let device = device();
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let mut pool = Pool::new(&pd, 1 << 16, Access::LOCAL_WRITE).expect("a pool");
    let cqs = [(); 2].map(|()| device.completion_queue(64).build().expect("a CQ"));

    let [mut a, mut b] = cqs.each_ref().map(|cq| {
        let builder = pd.queue_pair::<Frames>(cq, cq).sends(16).receives(16).inline(100);
        builder.build().expect("a raw packet queue pair: is it permitted?")
    });
    a.rq.post(Box::new(pool.take(2048).expect("room"))).expect("room");
    std::mem::swap(&mut a.rq, &mut b.rq);
    assert_eq!([a.activate(&port), b.activate(&port)], [Err(ELSEWHERE), Err(ELSEWHERE)]);
    assert_eq!(a.qp.state(), Ok(QpState::Reset));
    std::mem::swap(&mut a.rq, &mut b.rq);
    std::mem::swap(&mut a.sq, &mut b.sq);
    assert_eq!(a.activate(&port), Err(Error::MixedUp { object: "send queue" }));
    std::mem::swap(&mut a.sq, &mut b.sq);
    a.activate(&port).expect("ready to send");
}

/// The receives that are posted already are the live queue's.
#[test]
fn a_second_activation_changes_nothing() {
    let mut lab = Lab::new();
    let rule = lab.rule();
    lab.post(1);
    let again = lab.receiver.activate(&lab.port);
    assert_eq!(again, Err(Error::WrongState { is: QpState::ReadyToSend, to: QpState::Init }));
    lab.deliver(false);
    assert_eq!(lab.received(), (Ok(()), WrId(1)));
    drop(rule);
}

/// The device's receive queue is ready in INIT already. A frame that it received there would count beyond the zero that
/// libmlx5 stores on the way to RTR.
#[test]
fn a_frame_on_the_way_to_ready_takes_no_receive() {
    let mut lab = Lab::new();
    let rule = lab.rule();
    lab.receiver.reset(&mut [&mut lab.cq], |_| ()).expect("RESET");
    for tag in 0..2 {
        lab.post(tag);
    }
    let sender = lab.pd.queue_pair::<Frames>(&lab.none, &lab.none).sends(16).no_receives().inline(100);
    let mut other = sender.build().expect("a sender");
    other.activate(&lab.port).expect("ready to send");
    let frame = frame(lab.station, 3);
    let was_in_init = Rc::new(Cell::new(false));
    let is_in_init = Rc::clone(&was_in_init);
    AFTER_INIT.set(Some(Box::new(move || {
        let (headers, rest) = frame.split_first_chunk::<HEADERS>().expect("so many");
        other.sq.post(&wqe::frame().inline_headers(headers).inline_slice(rest)).expect("room");
        // Long enough for the frame to arrive.
        thread::sleep(Duration::from_millis(100));
        is_in_init.set(true);
    })));
    lab.receiver.activate(&lab.port).expect("ready to send");
    assert!(was_in_init.get());
    assert!(!lab.cq.holds(Whose::Receives), "received before RTR");
    lab.deliver(false);
    assert_eq!(lab.received(), (Ok(()), WrId(0)));
    drop(rule);
}

thread_local! {
    /// Called by this thread when a queue pair has come to INIT.
    static AFTER_INIT: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
}

/// Stands before libibverbs' function of this name.
// SAFETY: as that function, which it calls.
#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_modify_qp(qp: *mut sys::ibv_qp, attr: *mut sys::ibv_qp_attr, mask: c_int) -> c_int {
    type Modify = unsafe extern "C" fn(*mut sys::ibv_qp, *mut sys::ibv_qp_attr, c_int) -> c_int;
    // SAFETY: looks a name up among the loaded objects.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"ibv_modify_qp".as_ptr()) };
    assert!(!next.is_null(), "no libibverbs");
    // SAFETY: libibverbs' function has this type. The caller promises valid arguments, so `attr` can also be read.
    let (returned, to) =
        unsafe { (std::mem::transmute::<*mut c_void, Modify>(next)(qp, attr, mask), (*attr).qp_state) };
    if to == sys::IBV_QPS_INIT && returned == 0 {
        if let Some(f) = AFTER_INIT.take() {
            f();
        }
    }
    returned
}
