//! Queues of frames that own the buffers of their sessions.
//!
//! Sessions with buffers belong here, requests of one buffer in `owning.rs`.
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use blueflame::queue::{Owned, OwningFrameQueue, PostError, RetireError, SendQueue};
use blueflame::transport::RawPacket;
use blueflame::types::{Ds, Wqebbs, WrId};
use blueflame::wqe::{self, EncodeError};
use blueflame::{CompleteError, CompletionQueue, Qpn};
use blueflame_testkit::{Device, End, Handle};
use softhca::context::{QpAttr, QpState};

use crate::frames::end;
use crate::owning::{BYTES, Page};

type Queue = OwningFrameQueue<Owned<SendQueue<RawPacket<0>>, Handle>, Box<Page>>;

struct Lab {
    hca: Device,
    sq: Queue,
    cq: Owned<CompletionQueue, Handle>,
    qpn: Qpn,
    /// The CQEs, 64 bytes each.
    cqes: *mut [u8; 64],
    live: Arc<AtomicUsize>,
}

impl Lab {
    fn new() -> Self {
        let (hca, end) = end::<RawPacket<0>>(16);
        let (qpn, cqes) = (end.qpn(), end.cq_parts().buf.as_ptr().cast());
        let End { sq, cq, .. } = end;
        Self { hca, sq: OwningFrameQueue::new(sq).expect("new"), cq, qpn, cqes, live: Arc::default() }
    }

    fn live(&self) -> usize {
        self.live.load(Relaxed)
    }

    /// The first bytes of the buffers that come back with the next completion, and whether their frames were sent.
    fn back(&mut self) -> (Vec<u8>, bool) {
        let cqe = self.cq.poll().expect("a completion");
        let mut back = Vec::new();
        let (done, sent) = match self.sq.complete(&cqe, |page| back.push(page.first())) {
            Ok(done) => (done, true),
            Err(CompleteError::Failed { done, .. }) => (done, false),
            Err(CompleteError::Foreign(error)) => panic!("{error}"),
        };
        assert!(back.len() <= usize::from(done.frames));
        assert!(self.sq.complete(&cqe, |_| panic!("once")).is_err());
        (back, sent)
    }
}

#[test]
fn a_queue_with_something_outstanding_is_refused() {
    let (_hca, mut end) = end::<RawPacket<0>>(16);
    end.sq.post(&wqe::frame().inline(&[1; 60])).expect("room");
    let refused = Queue::new(end.sq).expect_err("its buffers are not of this type");
    assert_eq!(refused.free(), Wqebbs(14));
}

/// At every place of the ring, with sessions of all lengths, some frames inline.
#[test]
fn buffers_come_back_with_the_completion_of_their_wqe() {
    let mut lab = Lab::new();
    for round in 0..120_usize {
        let [first, second] = [1 + round % 13, round % 7];
        let mut expected = [Vec::new(), Vec::new()];
        let mut sent = Vec::new();
        let mut batch = lab.sq.batch();
        let mut byte = round as u8;
        for (frames, expected) in [first, second].into_iter().zip(&mut expected) {
            let mut session = batch.session(&wqe::frame().wr_id(WrId(7))).expect("room");
            for n in 0..frames {
                byte = byte.wrapping_add(1);
                if (round + n) % 4 == 0 {
                    session.inline(&[byte; 20]).expect("room");
                } else {
                    session.gather(Page::new(&lab.hca, &lab.live, byte), 20).expect("room");
                    expected.push(byte);
                }
                sent.push([byte; 20].to_vec());
            }
            session.close();
        }
        batch.ring_doorbell();
        assert_eq!(lab.live(), expected.concat().len());
        lab.hca.run_until_idle().expect("an end");
        assert_eq!(lab.hca.complaints(), []);
        assert_eq!(lab.hca.take_frames().into_iter().map(|frame| frame.bytes).collect::<Vec<_>>(), sent);
        for (frames, expected) in [first, second].into_iter().zip(expected) {
            if frames > 0 {
                assert_eq!(lab.back(), (expected, true), "round {round}");
            }
        }
        assert_eq!((lab.live(), lab.cq.poll().is_none()), (0, true));
    }
}

#[test]
fn what_is_not_sent_comes_back_at_once() {
    let mut lab = Lab::new();
    let page = |byte| Page::new(&lab.hca, &lab.live, byte);
    let mut batch = lab.sq.batch();
    let mut session = batch.session(&wqe::frame()).expect("room");
    let refused = session.gather(page(1), 65).expect_err("64 bytes only");
    assert_eq!(refused.error, PostError::Encode(EncodeError::SgeTooLong { bytes: 65, limit: 64 }));
    assert_eq!((refused.buffer.first(), session.len(), session.is_empty()), (1, 0, true));
    assert_eq!(session.gather(page(2), 0).expect_err("no frame").error, PostError::Encode(EncodeError::EmptyFrame));
    // The next session takes the place of a dropped one.
    session.gather(page(3), 60).expect("room");
    assert!(!session.is_empty());
    drop(session);
    // One that is closed, with a wrap of its places: the ring has 16 WQEBBs.
    let mut full = 0;
    let error = loop {
        let mut session = match batch.session(&wqe::frame()) {
            Ok(session) => session,
            Err(error) => break error,
        };
        while session.gather(page(4), 60).is_ok() {
            full += 1;
        }
        session.close();
    };
    assert_eq!((error, full), (PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) }, 61));
    drop(refused);
    assert_eq!(lab.live.load(Relaxed), 61);
    drop(batch);
    assert_eq!(lab.live(), 0);
    lab.hca.run_until_idle().expect("an end");
    assert!(lab.hca.take_frames().is_empty() && lab.cq.poll().is_none());
}

/// More sessions than one in a batch, each of more WQEBBs than one.
#[test]
fn a_dropped_batch_gives_back_the_buffers_of_all_its_sessions() {
    let mut lab = Lab::new();
    let mut batch = lab.sq.batch();
    for session_frames in [7, 1, 13] {
        let mut session = batch.session(&wqe::frame()).expect("room");
        for _ in 0..session_frames {
            session.gather(Page::new(&lab.hca, &lab.live, 1), 60).expect("room");
        }
        session.close();
    }
    assert_eq!(lab.live.load(Relaxed), 21);
    drop(batch);
    assert_eq!(lab.live(), 0);
}

/// The longest WQE, which is the whole ring.
#[test]
fn every_frame_of_the_longest_session_gives_back_its_own_buffer() {
    let mut lab = Lab::new();
    for round in 0..2 {
        let mut batch = lab.sq.batch();
        let mut session = batch.session(&wqe::frame()).expect("room");
        let mut bytes = Vec::new();
        while session.free() != Ds(0) {
            bytes.push(round * 100 + bytes.len() as u8);
            let page = Page::new(&lab.hca, &lab.live, round * 100 + bytes.len() as u8 - 1);
            session.gather(page, 60).expect("room");
        }
        assert_eq!(bytes.len(), 61);
        session.close();
        batch.ring_doorbell();
        lab.hca.run_until_idle().expect("an end");
        assert_eq!((lab.back(), lab.live()), ((bytes, true), 0));
    }
}

#[test]
fn an_error_gives_back_all_and_a_dropped_queue_none() {
    let mut lab = Lab::new();
    let error = QpAttr { state: Some(QpState::Err), ..QpAttr::default() };
    lab.hca.modify_qp(lab.qpn, &error).expect("ERR");
    let post = |lab: &mut Lab, byte| {
        let mut batch = lab.sq.batch();
        let mut session = batch.session(&wqe::frame()).expect("room");
        for _ in 0..3 {
            session.gather(Page::new(&lab.hca, &lab.live, byte), BYTES as u32).expect("room");
        }
        session.close();
        batch.ring_doorbell();
    };
    post(&mut lab, 1);
    post(&mut lab, 2);
    lab.hca.run_until_idle().expect("an end");
    assert_eq!((lab.back(), lab.back(), lab.live()), ((vec![1; 3], false), (vec![2; 3], false), 0));
    // A completion inside of a WQE, as a hostile device may write it, gives back nothing.
    post(&mut lab, 3);
    post(&mut lab, 4);
    lab.hca.run_until_idle().expect("an end");
    // SAFETY: the third CQE of the ring, which the device has written, and nobody has polled.
    unsafe { (*lab.cqes.add(2))[61] += 1 };
    let cqe = lab.cq.poll().expect("a completion");
    let index = cqe.wqe_counter();
    let inside = lab.sq.complete(&cqe, |_| panic!("no WQE starts there"));
    assert_eq!(inside, Err(CompleteError::Foreign(RetireError::InsideWqe { wqe_counter: index })));
    assert_eq!(lab.back(), (vec![4; 3], false));
    drop(lab.sq);
    assert_eq!(lab.live.load(Relaxed), 3, "leaked: the device has not said that it is done");
}
