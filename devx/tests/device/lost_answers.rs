//! Commands that the device carries out, and whose answers get lost: a handled signal does that to libmlx5's VFIO driver.
//!
//! Lost answers belong here, refused commands in `failing_steps`.

use std::ffi::{c_int, c_void};

use blueflame::cq::setup::ReceiverError;
use blueflame::transport;
use blueflame_devx::Error;
use blueflame_devx::cmd::{Opcode, QpcState, Status};
use blueflame_devx::object::{Cq, Uar};

use crate::end::connected;
use crate::ground::ground;
use crate::kernel::{function, refuse_command};

/// The answer to this thread's `nth` command from now on gets lost.
fn lose_answer(nth: u64) {
    let lose = function(c"softhca_lose_answer");
    // SAFETY: the preloaded object's function of this name is of this type.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(u64, c_int)>(lose)(nth, libc::EINTR) };
}

/// Whether the error is that of a lost answer.
fn is_lost(error: &Error, of: Opcode) -> bool {
    matches!(error, Error::Command(command)
        if (command.opcode, command.status, command.errno) == (of, Status::OK, libc::EINTR))
}

/// The device begins at index 0, where old requests are, and the queues do not.
#[test]
fn a_reset_whose_answer_got_lost_is_repeated() {
    let ground = ground();
    let (mut a, _b) = connected::<transport::Rc>(&ground);
    lose_answer(1);
    let error = a.pair.reset(&mut [&mut a.cq], |_| ()).expect_err("no answer");
    assert!(is_lost(&error, Opcode::QP_2RST), "{error:?}");
    assert_eq!(a.pair.qp.state(), Ok(QpcState::RST));
    let unknown = Err(Error::ResetUnknown { qpn: a.pair.qp.qpn() });
    assert_eq!(a.pair.qp.to_init(&ground.path), unknown);
    a.pair.reset(&mut [&mut a.cq], |_| ()).expect("RESET");
    a.pair.qp.to_init(&ground.path).expect("INIT");
}

/// The device may write to the new ring.
#[test]
fn a_ring_stays_taken_if_the_answer_got_lost() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let make = |cqes| ground.rings.completion_queue(uar.page(), cqes).build().expect("a completion queue");
    // Memory for rings comes in large pieces, which stay.
    drop((make(8), make(64)));
    let taken = || ground.rings.rings().in_use().taken;
    let before = taken();
    let mut cq = make(8);
    let with = taken();
    lose_answer(1);
    let error = Cq::resize(&mut cq, &ground.rings, 64).expect_err("no answer");
    assert!(is_lost(&error, Opcode::MODIFY_CQ), "{error:?}");
    assert!(taken() >= with + 64 * 64, "the device's ring is free");
    drop(cq);
    assert_eq!(taken(), before);
}

/// The device may have the new queue, and write to its ring.
#[test]
fn what_a_lost_queue_uses_stays_taken() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let make = |cqes| ground.rings.completion_queue(uar.page(), cqes).build();
    // Memory for rings comes in large pieces, which stay.
    drop((make(8).expect("a completion queue"), make(64).expect("a completion queue")));
    let taken = || ground.rings.rings().in_use().taken;
    let before = taken();
    lose_answer(1);
    let error = make(64).expect_err("no answer");
    assert!(is_lost(&error, Opcode::CREATE_CQ), "{error:?}");
    assert!(taken() >= before + 64 * 64, "the device's ring is free");

    // If the kernel refuses, there is no queue.
    let before = taken();
    refuse_command(1, libc::EPERM);
    make(64).expect_err("refused");
    assert_eq!(taken(), before);
}

/// The device may have the new receiver.
#[test]
fn a_lost_receiver_counts() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let make = |uar| ground.pd.queue_pair::<transport::Rc>(&ground.rings, &cq, &cq).build_on(uar).map(drop);
    let [first, second] = [(); 2].map(|()| Uar::new(&ground.context).expect("a register"));
    // The context keeps the device's answers.
    make(first).expect("a queue pair");
    lose_answer(1);
    let error = make(second).expect_err("no answer");
    assert!(is_lost(&error, Opcode::CREATE_QP), "{error:?}");
    let refused = ground.pd.recv_queue::<blueflame::WrId>(&ground.rings, &cq, 16, 1).map(drop);
    let there = ReceiverError { flow_tags: true, receivers: 1 };
    assert!(matches!(&refused, Err(Error::Receivers { error, .. }) if *error == there), "{refused:?}");
}
