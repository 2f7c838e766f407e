//! Queues that go on where another one, of a program that has ended, was left.
//!
//! Memory without a device belongs here, a program that is killed in `examples/howto/restart.rs`.

use blueflame::SetupError;
use blueflame::db::ExclusiveRegister;
use blueflame::queue::{Done, PostError, RetireError, SendQueue};
use blueflame::transport;
use blueflame::types::{SqPi, Wqebbs, WrId};
use blueflame::wqe;

use crate::rig::{OLD, Rig, Setup};

type Queue = SendQueue<transport::Rc>;

/// The queue that the next program makes of the memory. Requests from `oldest` on may be outstanding.
fn resumed(rig: &Rig, oldest: u16) -> Result<Queue, SetupError> {
    // SAFETY: the rig's memory, whose earlier queue is gone; no device looks.
    unsafe {
        let register = ExclusiveRegister::from_parts(rig.register_parts())?;
        SendQueue::resume(rig.parts().recorded(), register, SqPi(oldest))
    }
}

#[test]
fn a_queue_goes_on_after_the_last_request_that_was_published() {
    let rig = Rig::new(Setup { wqebbs: 8, pi: 0xfffd, ..Setup::default() });
    let mut before = rig.queue::<transport::Rc>();
    before.post(&wqe::nop().wr_id(WrId(1))).expect("posted");
    before.post(&wqe::send().inline(&[7; 100]).signaled(WrId(2))).expect("posted");
    before.post(&wqe::nop().signaled(WrId(3))).expect("posted");
    // In the ring, but not in the record: the next program has the place.
    let mut batch = before.batch();
    batch.push(&wqe::nop().signaled(WrId(4))).expect("room");
    let posted = rig.ring();
    rig.clear_page();

    let mut sq = resumed(&rig, 0xfffd).expect("a ring in use");
    assert_eq!((sq.pi(), sq.free()), (SqPi(1), Wqebbs(4)));
    assert_eq!(rig.ring(), posted, "nothing is written there");
    // The first 8 bytes of the last WQE, by hand: NOP at index 0, the queue pair's number, 1 DS.
    assert_eq!(rig.page()[..8], [0, 0, 0, 0, 0xc0, 0xff, 0xee, 1]);
    // SAFETY: no device looks.
    let mut retire = |counter| unsafe { sq.retire_index(counter) };
    assert_eq!(retire(0xffff), Err(RetireError::InsideWqe { wqe_counter: 0xffff }));
    assert_eq!(retire(0xfffe), Ok(Done { wr_id: WrId(0xfffe), frames: 1, freed: Wqebbs(3) }));
    assert_eq!(retire(0), Ok(Done { wr_id: WrId(0), frames: 1, freed: Wqebbs(1) }));
    sq.post(&wqe::nop().signaled(WrId(5))).expect("posted");
    assert_eq!(sq.pi(), SqPi(2));
    // SAFETY: no device looks.
    let done = unsafe { sq.retire_index(1) };
    assert_eq!(done, Ok(Done { wr_id: WrId(5), frames: 1, freed: Wqebbs(1) }));
}

#[test]
fn a_queue_with_nothing_outstanding_does_not_ring() {
    let rig = Rig::new(Setup { pi: 3, ..Setup::default() });
    rig.queue::<transport::Rc>().post(&wqe::nop()).expect("posted");
    rig.clear_page();
    let sq = resumed(&rig, 4).expect("a ring");
    assert_eq!(sq.free(), Wqebbs(8));
    assert_eq!(rig.page(), [OLD; 4096]);
}

#[test]
fn a_full_queue_is_full_for_the_next_program() {
    let rig = Rig::new(Setup { wqebbs: 4, ..Setup::default() });
    let mut before = rig.queue::<transport::Rc>();
    (0..4).for_each(|_| before.post(&wqe::nop()).expect("posted"));
    let mut sq = resumed(&rig, 0).expect("a ring in use");
    assert_eq!(sq.post(&wqe::nop()), Err(PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) }));
    let what = "outstanding WQEBBs of a send queue";
    let refused = resumed(&rig, 0xffff).map(drop);
    assert_eq!(refused, Err(SetupError::OutOfRange { what, value: 5, min: 0, max: 4 }));
    assert!(matches!(resumed(&rig, 5), Err(SetupError::OutOfRange { value: 0xffff, .. })), "after the end");
}

/// The bytes of a ring are anybody's: each byte of what tells the size and the place is damaged in turn.
#[test]
fn a_ring_without_the_requests_is_refused() {
    let rig = Rig::new(Setup { pi: 0x0102, ..Setup::default() });
    let mut before = rig.queue::<transport::Rc>();
    before.post(&wqe::nop()).expect("posted");
    before.post(&wqe::send().inline(&[7; 100])).expect("posted");
    for (at, damage) in [(1, 1), (2, 1), (4, 1), (5, 1), (6, 1), (7, 0x3f), (7, 1)] {
        // NOP: index 0x0102 at bytes 1 and 2, the number from byte 4, 1 DS at byte 7.
        change(&rig, 2 * 64 + at, damage);
        let refused = resumed(&rig, 0x0102);
        assert!(matches!(refused, Err(SetupError::NotAWqe { index: 0x0102, .. })), "byte {at}: {refused:?}");
        change(&rig, 2 * 64 + at, damage);
    }
    // In the middle of a request.
    let inside = resumed(&rig, 0x0104).expect_err("the second WQEBB of a WQE").to_string();
    assert!(inside.starts_with("no WQE of the queue pair begins at index 260: 0x"), "{inside}");
    // From 8 DS, two WQEBBs, to 9: longer than what was posted.
    change(&rig, 3 * 64 + 7, 8 ^ 9);
    let longer = resumed(&rig, 0x0102);
    assert!(matches!(longer, Err(SetupError::NotAWqe { index: 0x0103, .. })), "{longer:?}");
}

/// Flips bits of a byte of the ring.
fn change(rig: &Rig, at: usize, bits: u8) {
    // SAFETY: inside of the ring, which the rig has; no queue writes there meanwhile.
    unsafe {
        let byte = rig.parts().ring.add(at);
        byte.write(byte.read() ^ bits);
    }
}
