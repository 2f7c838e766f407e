//! The WQEBBs that may be outstanding at a time: fewer than the ring's, none, and again from the start.
//!
//! Depths belong here, wraps of the ring in `properties.rs`.
use blueflame::SetupError;
use blueflame::queue::{Done, PostError, RetireError, SendQueue};
use blueflame::types::{SqPi, Wqebbs, WrId};
use blueflame::{transport, wqe};

use crate::rig::{Rig, Setup};

const FULL: PostError = PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) };

fn retire(sq: &mut SendQueue<transport::Rc>, counter: u16) -> Result<Done, RetireError> {
    // SAFETY: no device looks.
    unsafe { sq.retire_index(counter) }
}

#[test]
fn a_depth_bounds_what_is_outstanding_and_moves_with_what_is_retired() {
    // So that indices wrap, and the depth ends elsewhere in the ring each time.
    let rig = Rig::new(Setup { wqebbs: 8, pi: 0xfffd, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    sq.set_depth(Wqebbs(5)).expect("less than the ring");
    for round in 0..9_u16 {
        let first = sq.pi();
        for n in 0..5 {
            assert_eq!(sq.free(), Wqebbs(5 - n));
            sq.post(&wqe::nop().wr_id(WrId(u64::from(n)))).expect("within the depth");
        }
        let before = (rig.ring(), rig.dbrec(), rig.page());
        assert_eq!(sq.post(&wqe::nop()), Err(FULL));
        assert_eq!(sq.stage(&wqe::nop()).err(), Some(FULL));
        assert_eq!(sq.batch().push(&wqe::nop()), Err(FULL));
        let prepared = sq.prepare::<_, _, 0, 0>(&wqe::nop()).expect("within the limits");
        assert_eq!(sq.post(&prepared), Err(FULL));
        assert_eq!(sq.post_erased(&wqe::nop().erased()), Err(FULL));
        assert_eq!(sq.batch().push_erased(&wqe::nop().erased()), Err(FULL));
        assert_eq!((rig.ring(), rig.dbrec(), rig.page()), before, "nothing is written, nothing is rung");
        let done = round % 5 + 1;
        let last = first.add(Wqebbs(done - 1));
        let retired = Done { wr_id: WrId(u64::from(done - 1)), frames: 1, freed: Wqebbs(done) };
        assert_eq!(retire(&mut sq, last.0), Ok(retired));
        assert_eq!(sq.free(), Wqebbs(done));
        if done < 5 {
            retire(&mut sq, first.add(Wqebbs(4)).0).expect("the rest");
        }
    }
}

#[test]
fn longer_requests_take_as_many_of_the_depth_as_they_have_wqebbs() {
    let rig = Rig::new(Setup { wqebbs: 16, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    sq.set_depth(Wqebbs(4)).expect("less than the ring");
    let larger = PostError::LargerThanDepth { needed: Wqebbs(5), depth: Wqebbs(4) };
    assert_eq!(sq.post(&wqe::send().inline(&[0; 300])), Err(larger));
    sq.post(&wqe::send().inline(&[0; 100])).expect("two of four");
    sq.post(&wqe::nop()).expect("a third");
    let full = PostError::Full { needed: Wqebbs(2), free: Wqebbs(1) };
    assert_eq!(sq.post(&wqe::send().inline(&[0; 100])), Err(full));
    sq.post(&wqe::nop()).expect("the last");
}

#[test]
fn depths_that_cannot_be_are_named() {
    let rig = Rig::new(Setup { wqebbs: 8, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    let what = "depth in WQEBBs, limited by the ring";
    let error = SetupError::OutOfRange { what, value: 9, min: 0, max: 8 };
    assert_eq!(sq.set_depth(Wqebbs(9)), Err(error));
    for _ in 0..3 {
        sq.post(&wqe::nop()).expect("room");
    }
    let what = "depth in WQEBBs, limited by those outstanding";
    let error = SetupError::OutOfRange { what, value: 2, min: 3, max: 8 };
    assert_eq!(sq.set_depth(Wqebbs(2)), Err(error));
    assert_eq!((sq.depth(), sq.free()), (Wqebbs(8), Wqebbs(5)), "as it was");
    sq.set_depth(Wqebbs(3)).expect("as much as is outstanding");
    assert_eq!(sq.free(), Wqebbs(0));
}

#[test]
fn a_closed_queue_says_why_and_rings_nothing() {
    let rig = Rig::new(Setup { wqebbs: 8, pi: 7, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    sq.set_depth(Wqebbs(0)).expect("nothing is outstanding");
    let before = (rig.ring(), rig.dbrec(), rig.page());
    assert_eq!(sq.post(&wqe::nop()), Err(PostError::NotReadyToSend));
    assert_eq!(sq.post(&wqe::send().inline(&[0; 100])), Err(PostError::NotReadyToSend));
    assert_eq!(sq.stage(&wqe::nop()).err(), Some(PostError::NotReadyToSend));
    assert_eq!(sq.batch().push(&wqe::nop()), Err(PostError::NotReadyToSend));
    let prepared = sq.prepare::<_, _, 0, 0>(&wqe::nop()).expect("within the limits");
    assert_eq!(sq.post(&prepared), Err(PostError::NotReadyToSend));
    assert_eq!(sq.post_erased(&wqe::nop().erased()), Err(PostError::NotReadyToSend));
    assert_eq!((rig.ring(), rig.dbrec(), rig.page()), before);
    assert!(retire(&mut sq, 6).is_err() && retire(&mut sq, 7).is_err(), "nothing is outstanding");
    sq.set_depth(Wqebbs(8)).expect("the ring");
    sq.post(&wqe::nop()).expect("opened");
}

#[test]
fn a_reset_queue_begins_at_zero_and_knows_nothing_of_before() {
    let rig = Rig::new(Setup { wqebbs: 8, pi: 0x1230, ..Setup::default() });
    let mut sq = rig.queue::<transport::Rc>();
    for n in 0..5 {
        sq.post(&wqe::nop().wr_id(WrId(n))).expect("room");
    }
    // SAFETY: there is no queue pair, no device, and no CQE.
    unsafe { sq.reset() };
    assert_eq!((sq.pi(), sq.depth(), rig.dbrec()[1]), (SqPi(0), Wqebbs(0), [0; 4]));
    sq.set_depth(Wqebbs(8)).expect("the ring");
    assert!((0..=u16::MAX).all(|counter| retire(&mut sq, counter).is_err()), "nothing of before is outstanding");
    sq.post(&wqe::nop().signaled(WrId(9))).expect("room");
    assert_eq!(rig.dbrec()[1], [0, 0, 0, 1]);
    assert_eq!(retire(&mut sq, 0), Ok(Done { wr_id: WrId(9), frames: 1, freed: Wqebbs(1) }));
}
