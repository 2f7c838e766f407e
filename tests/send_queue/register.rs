//! The half of the register that rings, through queues of both register types.
//!
//! Halves of registers belong here, the order of stores in `tests/golden_asm`.
use blueflame::db::SharedRegister;
use blueflame::queue::SendQueue;
use blueflame::types::{Qpn, SqPi, WrId};
use blueflame::{transport, wqe};

use crate::rig::{HALF, OLD, QPN, Rig, Setup};

#[test]
fn every_doorbell_takes_the_other_half() {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue::<transport::Rc>();
    for n in 0..8_u8 {
        rig.clear_page();
        if n % 2 == 0 {
            sq.post(&wqe::nop()).expect("posted");
        } else {
            let mut batch = sq.batch();
            batch.push(&wqe::nop()).expect("put");
            batch.ring_doorbell();
        }
        let half = if n % 2 == 0 { 0 } else { HALF };
        let page = rig.page();
        assert_eq!(page[half..half + 8], [0, 0, n, 0, 0xc0, 0xff, 0xee, 1]);
        let others = page.iter().enumerate().filter(|(at, _)| !(half..half + 8).contains(at));
        assert!(others.map(|(_, &byte)| byte).all(|byte| byte == OLD));
    }
}

#[test]
fn a_staged_request_goes_to_the_register_whole() {
    for bytes in [8_usize, 60, 200] {
        let rig = Rig::new(Setup::default());
        let mut sq = rig.queue::<transport::Rc>();
        let data = vec![0x11; bytes];
        let staged = sq.stage(&wqe::send().inline_slice(&data)).expect("room");
        staged.ring_doorbell();
        let wqebbs = (16 + 4 + bytes).div_ceil(64) * 64;
        let (page, ring) = (rig.page(), rig.ring());
        assert_eq!(page[..16 + 4 + bytes], ring[..16 + 4 + bytes], "{bytes} bytes");
        assert!(page[wqebbs..].iter().all(|&byte| byte == OLD), "{bytes} bytes");
    }
}

#[test]
fn batches_dropped_or_empty_do_not_ring() {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue::<transport::Rc>();
    let mut batch = sq.batch();
    batch.push(&wqe::nop()).expect("put");
    drop(batch);
    sq.batch().ring_doorbell();
    assert_eq!(sq.pi(), SqPi(0));
    assert_eq!(rig.dbrec(), [[OLD; 4]; 2]);
    assert_eq!(rig.page(), [OLD; 4096]);
}

#[test]
fn queues_share_one_register() {
    let (first, second) = (Rig::new(Setup::default()), Rig::new(Setup::default()));
    // SAFETY: the first rig's page lives longer than the queues, and only this value stores there.
    let register = unsafe { SharedRegister::from_parts(first.register_parts()) }.expect("a register");
    let mut other = second.parts();
    other.qpn = Qpn::new(QPN + 1).expect("24 bits");
    // SAFETY: the rigs live longer than the queues; no device looks.
    let mut queues = unsafe {
        [
            SendQueue::<transport::Rc, _>::from_parts(first.parts(), &register).expect("a queue"),
            SendQueue::<transport::Rc, _>::from_parts(other, &register).expect("a queue"),
        ]
    };
    for sq in &mut queues {
        sq.post(&wqe::send().inline(b"hello").signaled(WrId(1))).expect("posted");
    }
    let page = first.page();
    assert_eq!(page[..32], first.ring()[..32]);
    assert_eq!(page[HALF..HALF + 32], second.ring()[..32]);
    assert_eq!(page[HALF + 7 - 1], 0xef, "the second queue's number");
    assert_eq!(second.page(), [OLD; 4096]);
}
