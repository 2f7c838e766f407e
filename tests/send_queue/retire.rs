//! Completions that the queue must not believe, and parts that it must refuse.
//!
//! Hand-written completions belong here, those of a device in `tests/loopback/retire.rs`.
use std::error::Error;

use blueflame::SetupError;
use blueflame::db::ExclusiveRegister;
use blueflame::queue::send::WqeRecord;
use blueflame::queue::{Done, PostError, RetireError, SendQueue};
use blueflame::transport;
use blueflame::types::{Wqebbs, WrId};
use blueflame::wqe::{self, EncodeError};

use crate::rig::{Rig, Setup};

#[test]
fn every_counter_but_the_right_ones_is_an_error() {
    let rig = Rig::new(Setup { wqebbs: 8, pi: 0xfffe, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    assert_eq!(sq.ring_addr(), rig.parts().ring.addr().get());
    sq.post(&wqe::nop().wr_id(WrId(1))).expect("posted");
    sq.post(&wqe::send().inline(&[0; 100]).signaled(WrId(2))).expect("posted");
    sq.post(&wqe::nop().signaled(WrId(3))).expect("posted");
    // SAFETY: no device looks.
    let mut retire = |counter| unsafe { sq.retire_index(counter) };
    for counter in 0..=u16::MAX {
        let expected = match counter {
            0xfffe | 0xffff | 1 => continue,
            0 => RetireError::InsideWqe { wqe_counter: 0 },
            _ => RetireError::NotOutstanding { wqe_counter: counter, oldest: 0xfffe, next: 2 },
        };
        assert_eq!(retire(counter), Err(expected));
    }
    // The second takes the first along.
    assert_eq!(retire(0xffff), Ok(Done { wr_id: WrId(2), frames: 1, freed: Wqebbs(3) }));
    let again = RetireError::NotOutstanding { wqe_counter: 0xffff, oldest: 1, next: 2 };
    assert_eq!(retire(0xffff), Err(again), "reported twice");
    assert_eq!(retire(1), Ok(Done { wr_id: WrId(3), frames: 1, freed: Wqebbs(1) }));
    let error = retire(2).expect_err("nothing is outstanding");
    assert_eq!(error.to_string(), "completion of WQE 2, but nothing is outstanding");
    assert_eq!(sq.free(), Wqebbs(8));
}

#[test]
fn the_largest_ring_is_used_to_the_last_wqebb() {
    let rig = Rig::new(Setup { wqebbs: 1 << 15, pi: 0x8123, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    for n in 0..1_u64 << 15 {
        sq.post(&wqe::nop().wr_id(WrId(n))).expect("posted");
    }
    let full = sq.post(&wqe::nop());
    assert_eq!(full, Err(PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) }));
    let last = 0x8123_u16.wrapping_add(0x7fff);
    // SAFETY: no device looks.
    let retired = unsafe { sq.retire_index(last) };
    assert_eq!(retired, Ok(Done { wr_id: WrId(0x7fff), frames: 1, freed: Wqebbs(1 << 15) }));
}

#[test]
fn limits_are_named() {
    let rig = Rig::new(Setup { max_inline: 7, wqebbs: 1, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    let before = rig.ring();
    let refused = sq.post(&wqe::send().inline(b"12345678"));
    assert_eq!(refused, Err(PostError::Encode(EncodeError::InlineTooLong { bytes: 8, limit: 7 })));
    assert!(refused.is_err_and(|error| error.source().is_some()) && PostError::NotReadyToSend.source().is_none());
    let refused = sq.post_erased(&wqe::send().inline_slice(b"12345678").erased());
    assert_eq!(refused, Err(PostError::Encode(EncodeError::InlineTooLong { bytes: 8, limit: 7 })));
    assert_eq!(rig.ring(), before);

    let rig = Rig::new(Setup { max_inline: 4096, wqebbs: 32, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    let refused = sq.post(&wqe::send().inline(&[0; 1000]));
    assert_eq!(refused, Err(PostError::Encode(EncodeError::WqeTooLong { ds: 64, limit: 63 })));
    sq.post(&wqe::send().inline(&[0; 988])).expect("63 units are legal");
}

#[test]
fn impossible_parts_are_named() {
    let rig = Rig::new(Setup::default());
    let make = |parts| {
        // SAFETY: the page lives longer than the register.
        let register = unsafe { ExclusiveRegister::from_parts(rig.register_parts()) }.expect("a register");
        // SAFETY: the parts are refused before they are used, apart from the last.
        unsafe { SendQueue::<transport::Rc>::from_parts(parts, register) }.err()
    };
    for wqebbs in [0, 3, 1 << 16, u32::MAX] {
        let mut parts = rig.parts();
        parts.wqebbs = wqebbs;
        let what = "WQEBBs of a send ring";
        let (value, min, max) = (wqebbs.into(), 1, 1 << 15);
        assert_eq!(make(parts), Some(SetupError::NotPowerOfTwo { what, value, min, max }));
    }
    let mut parts = rig.parts();
    parts.ring = parts.ring.map_addr(|address| address | 8);
    let address = parts.ring.addr().get();
    assert_eq!(make(parts), Some(SetupError::Misaligned { what: "send ring", address, alignment: 64 }));
    let mut parts = rig.parts();
    parts.dbrec = parts.dbrec.map_addr(|address| address | 2);
    let address = parts.dbrec.addr().get();
    let what = "doorbell record of a send queue";
    assert_eq!(make(parts), Some(SetupError::Misaligned { what, address, alignment: 4 }));
    let mut parts = rig.parts();
    parts.shadow = parts.shadow.map_addr(|address| address | 8);
    let (address, alignment) = (parts.shadow.addr().get(), align_of::<WqeRecord>());
    let what = "private memory of a send queue";
    assert_eq!(make(parts), Some(SetupError::Misaligned { what, address, alignment }));
    assert_eq!(make(rig.parts()), None);
}

/// In a ring whose every WQEBB has begun a request before.
#[test]
fn no_earlier_request_begins_inside_of_a_request_of_two_wqebbs() {
    type Post = fn(&mut SendQueue<transport::Rc>) -> Result<(), PostError>;
    // The compiler knows the length, or does not: the two go different ways.
    let known: Post = |sq| sq.post(&wqe::send().inline(&[1; 100]).signaled(WrId(9)));
    let unknown: Post = |sq| sq.post(&wqe::send().inline_slice(&[1; 100]).signaled(WrId(9)));
    let batched: Post = |sq| {
        let mut batch = sq.batch();
        batch.push(&wqe::send().inline(&[1; 100]).signaled(WrId(9)))?;
        batch.ring_doorbell();
        Ok(())
    };
    let batched_unknown: Post = |sq| {
        let mut batch = sq.batch();
        batch.push(&wqe::send().inline_slice(&[1; 100]).signaled(WrId(9)))?;
        batch.ring_doorbell();
        Ok(())
    };
    let composed: Post = |sq| sq.post(&wqe::send().inline(&[1; 60]).signaled(WrId(9)));
    let prepared: Post = |sq| {
        let send = sq.prepare::<_, _, 60, 0>(&wqe::send().signaled(WrId(9)))?;
        sq.post(&send.inline(&[1; 60]))
    };
    for post in [known, unknown, batched, batched_unknown, composed, prepared] {
        let rig = Rig::new(Setup { wqebbs: 4, ..Setup::default() });
        let mut sq = rig.queue::<transport::Rc>();
        for n in 0..4 {
            sq.post(&wqe::nop().signaled(WrId(n))).expect("posted");
        }
        // SAFETY: no device looks.
        unsafe { sq.retire_index(3) }.expect("outstanding");
        post(&mut sq).expect("posted");
        // SAFETY: no device looks.
        let mut retire = |counter| unsafe { sq.retire_index(counter) };
        assert_eq!(retire(5), Err(RetireError::InsideWqe { wqe_counter: 5 }));
        assert_eq!(retire(4), Ok(Done { wr_id: WrId(9), frames: 1, freed: Wqebbs(2) }));
    }
}
