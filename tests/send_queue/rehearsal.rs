//! Rehearsals: queues of the same type that no device reads.
//!
//! Rehearsals belong here, the bytes of shots in `golden.rs`.
use std::sync::Mutex;

use blueflame::db::ExclusiveRegister;
use blueflame::queue::send::{NotARehearsal, RehearsalMemory};
use blueflame::queue::{BlueFlamePolicy, PostError, SendQueue};
use blueflame::types::{Rkey, Wqebbs, WrId};
use blueflame::{Remote, transport, wqe};

use crate::rig::{Rig, Setup};

type Queue = SendQueue<transport::Rc, ExclusiveRegister>;

const REMOTE: Remote = Remote { addr: 0x1000, rkey: Rkey(7) };

/// Memory for good. Its address stays in a `static`, so that the address sanitizer counts it as kept.
fn memory() -> &'static mut RehearsalMemory {
    static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let memory = Box::leak(Box::<RehearsalMemory>::default());
    KEPT.lock().expect("no panic").push(std::ptr::from_mut(memory).addr());
    memory
}

#[test]
fn a_rehearsal_stores_nothing_that_a_device_reads() {
    for bf_size in [0, 64, 256, 2048] {
        let rig = Rig::new(Setup { bf_size, ..Setup::default() });
        let mut sq = rig.queue::<transport::Rc>();
        sq.set_blueflame_policy(BlueFlamePolicy::Prefer);
        let before = (rig.ring(), rig.dbrec(), rig.page(), sq.pi(), sq.free());
        let mut rehearsal: Queue = sq.rehearsal(memory());
        let write = sq.prepare::<_, _, 200, 0>(&wqe::write(REMOTE).signaled(WrId(1))).expect("it fits");
        for n in 0..1000_u64 {
            rehearsal.post(&write.inline(&[n as u8; 200])).expect("room");
            rehearsal.post(&wqe::write(REMOTE).inline(&n.to_ne_bytes()).signaled(WrId(n))).expect("room");
            assert_eq!(rehearsal.end_rehearsal(), Ok(Wqebbs(5)), "four WQEBBs and one");
        }
        assert!((rig.ring(), rig.dbrec(), rig.page(), sq.pi(), sq.free()) == before, "register of {bf_size}");
    }
}

#[test]
fn a_rehearsal_has_the_limits_of_its_queue() {
    let rig = Rig::new(Setup { max_inline: 60, ..Setup::default() });
    let sq = rig.queue::<transport::Rc>();
    let mut rehearsal: Queue = sq.rehearsal(memory());
    assert_eq!(rehearsal.qpn(), sq.qpn());
    assert!(matches!(rehearsal.post(&wqe::write(REMOTE).inline(&[0; 61])), Err(PostError::Encode(_))));
    for _ in 0..rehearsal.capacity().0 {
        rehearsal.post(&wqe::nop()).expect("room");
    }
    let full = PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) };
    assert_eq!(rehearsal.post(&wqe::nop()), Err(full), "nothing completes by itself");
    assert_eq!(rehearsal.end_rehearsal(), Ok(rehearsal.capacity()));
    rehearsal.post(&wqe::nop()).expect("room again");
}

#[test]
fn a_rehearsal_keeps_its_depth() {
    let rig = Rig::new(Setup::default());
    let mut rehearsal: Queue = rig.queue::<transport::Rc>().rehearsal(memory());
    rehearsal.set_depth(Wqebbs(10)).expect("nothing is outstanding");
    rehearsal.post(&wqe::nop()).expect("room");
    assert_eq!(rehearsal.end_rehearsal(), Ok(Wqebbs(1)));
    assert_eq!(rehearsal.free(), Wqebbs(10));
    rehearsal.set_depth(Wqebbs(9)).expect("nothing is outstanding");
}

#[test]
fn the_requests_of_a_device_stay_outstanding() {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue::<transport::Rc>();
    sq.post(&wqe::nop()).expect("room");
    let free = sq.free();
    assert_eq!(sq.end_rehearsal(), Err(NotARehearsal));
    assert_eq!(sq.free(), free);
    // A queue knows by itself whether a device has it, wherever safe code moves it.
    let mut rehearsal: Queue = sq.rehearsal(memory());
    core::mem::swap(&mut sq, &mut rehearsal);
    assert_eq!(rehearsal.end_rehearsal(), Err(NotARehearsal));
    assert_eq!(sq.end_rehearsal(), Ok(Wqebbs(0)));
}
