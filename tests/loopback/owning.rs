//! Queues that own the buffers of their requests.
//!
//! Ownership of buffers belongs here, random safe programs in `tests/ownership.rs`.
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use blueflame::cq::{CqeError, WcStatus};
use blueflame::queue::owning::{DeviceBuffer, Refused};
use blueflame::queue::{Owned, OwningSendQueue, PostError, RecvError, RecvQueue, RetireError, SendQueue};
use blueflame::transport::PlainRecv;
use blueflame::types::{Wqebbs, WrId};
use blueflame::wqe::{self, EncodeError};
use blueflame::{CompleteError, CompletionQueue, Qpn, Sge, transport};
use blueflame_testkit::{Buffer, ConnectOptions, Device, End, Handle, Receives, Shape, connect};
use softhca::context::{QpAttr, QpState};

pub(crate) const BYTES: usize = 64;

/// The pages that queues have. A dropped queue leaks its own on purpose: here LeakSanitizer finds them.
static WITH_QUEUES: Mutex<Vec<NonZeroU64>> = Mutex::new(Vec::new());

/// A buffer that is counted while it exists.
pub(crate) struct Page {
    buffer: Buffer,
    live: Arc<AtomicUsize>,
}

impl Page {
    /// Full of this byte.
    pub(crate) fn new(hca: &Device, live: &Arc<AtomicUsize>, byte: u8) -> Box<Self> {
        let mut buffer = hca.buffer(BYTES).expect("memory");
        buffer.write(0, &[byte; BYTES]);
        live.fetch_add(1, Relaxed);
        Box::new(Self { buffer, live: Arc::clone(live) })
    }

    /// The first byte.
    #[cfg(feature = "std")]
    pub(crate) fn first(&self) -> u8 {
        self.buffer.to_vec(..1)[0]
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Relaxed);
    }
}

// SAFETY: the box keeps the buffer, which nobody else has; the device keeps the memory for good.
unsafe impl DeviceBuffer for Box<Page> {
    fn sge(&self) -> Sge {
        self.buffer.sge(..BYTES)
    }

    fn into_wr_id(self) -> NonZeroU64 {
        let page = Box::into_raw(self).expose_provenance() as u64;
        let tag = NonZeroU64::new(page).expect("an address");
        WITH_QUEUES.lock().expect("no panic").push(tag);
        tag
    }

    unsafe fn from_wr_id(tag: NonZeroU64) -> Self {
        WITH_QUEUES.lock().expect("no panic").retain(|with| *with != tag);
        // SAFETY: of `into_wr_id`, used once.
        unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut(tag.get() as usize)) }
    }
}

struct Side {
    sq: OwningSendQueue<Owned<SendQueue<transport::Rc>, Handle>, Box<Page>>,
    rq: Owned<RecvQueue<PlainRecv, Box<Page>>, Handle>,
    cq: Owned<CompletionQueue, Handle>,
    qpn: Qpn,
    /// The CQEs, 64 bytes each.
    cqes: *mut [u8; 64],
}

impl Side {
    fn new(end: End<transport::Rc>) -> Self {
        let (qpn, cqes) = (end.qpn(), end.cq_parts().buf.as_ptr().cast());
        let End { sq, rq, cq, .. } = end;
        let Receives::Own(rq) = rq else { panic!("no receive queue") };
        let (sq, rq) = (OwningSendQueue::new(sq), rq.posting());
        Self { sq: sq.expect("new"), rq: rq.expect("new"), cq, qpn, cqes }
    }
}

struct Lab {
    hca: Device,
    near: Side,
    far: Side,
    live: Arc<AtomicUsize>,
}

impl Lab {
    fn new() -> Self {
        let hca = Device::standalone().expect("a device");
        let [near, far] = [(); 2].map(|()| End::new(&hca, &Shape::SMALL).expect("an end"));
        connect(&near, &far, &ConnectOptions::default()).expect("connected");
        let (near, far) = (Side::new(near), Side::new(far));
        Self { hca, near, far, live: Arc::default() }
    }

    fn page(&mut self, byte: u8) -> Box<Page> {
        Page::new(&self.hca, &self.live, byte)
    }
}

#[test]
fn buffers_come_back_with_their_completions() {
    let mut lab = Lab::new();
    let (message, room, place) = (lab.page(7), lab.page(0), lab.page(0));
    let source = room.buffer.remote();
    lab.far.rq.post(room).expect("room");
    lab.near.sq.gather(wqe::send(), message, 48).expect("room");
    lab.near.sq.read(wqe::read(source), place, 64).expect("room");
    // The tag of a request without a buffer is not taken for one.
    lab.near.sq.post(wqe::read(source).wr_id(WrId(u64::MAX))).expect("room");
    lab.hca.run_until_idle().expect("an end");

    let mut expected = [0; BYTES];
    expected[..48].fill(7);
    let arrived = lab.far.cq.poll().expect("a message");
    let foreign = lab.near.sq.complete(&arrived);
    let Err(CompleteError::Foreign(RetireError::WrongSide { .. })) = foreign else { panic!("it is not the sender's") };
    let received = lab.far.rq.complete(&arrived).expect("posted");
    assert_eq!((received.bytes, received.imm), (48, None));
    let room = received.buffer;
    assert_eq!(room.buffer.to_vec(..BYTES), expected);

    let sent = lab.near.cq.poll().expect("a completion");
    let message = lab.near.sq.complete(&sent).expect("outstanding").expect("a buffer");
    assert!(matches!(lab.near.sq.complete(&sent), Err(CompleteError::Foreign(_))), "once");
    assert_eq!(message.buffer.to_vec(..BYTES), [7; BYTES]);
    let read = lab.near.cq.poll().expect("a completion");
    let place = lab.near.sq.complete(&read).expect("outstanding").expect("a buffer");
    assert_eq!(place.buffer.to_vec(..BYTES), expected);
    let empty = lab.near.cq.poll().expect("a completion");
    assert!(lab.near.sq.complete(&empty).expect("outstanding").is_none());
    assert_eq!(lab.live.load(Relaxed), 3);
    drop((message, room, place));
    assert_eq!(lab.live.load(Relaxed), 0);
}

#[test]
fn receives_that_complete_out_of_order_give_back_their_own_buffers() {
    let mut lab = Lab::new();
    for byte in 1..=3 {
        let (room, message) = (lab.page(0), lab.page(byte));
        lab.far.rq.post(room).expect("room");
        lab.near.sq.gather(wqe::send(), message, BYTES as u32).expect("room");
    }
    lab.hca.run_until_idle().expect("an end");
    // The third message completes first: so a device may do it with a queue pair for out-of-order data placement.
    // SAFETY: the first CQEs of the ring, which the device has written, and nobody has polled.
    unsafe { lab.far.cqes.swap(lab.far.cqes.add(2)) };

    for (byte, left) in [(3, 2), (2, 1), (1, 0)] {
        let cqe = lab.far.cq.poll().expect("a message");
        let room = lab.far.rq.retire(&cqe).expect("posted");
        assert_eq!(room.buffer.to_vec(..BYTES), [byte; BYTES]);
        assert_eq!(lab.far.rq.posted(), left);
        let wqe_counter = cqe.wqe_counter();
        let again = match left {
            0 => RetireError::NotOutstanding { wqe_counter, oldest: 3, next: 3 },
            _ => RetireError::CompletedTwice { wqe_counter },
        };
        assert_eq!(lab.far.rq.retire(&cqe).err(), Some(again), "once");
    }
    assert_eq!(lab.live.load(Relaxed), 3, "the senders'");
}

#[test]
fn what_is_refused_comes_back_at_once() {
    let mut lab = Lab::new();
    let page = lab.page(1);
    let Err(Refused { error, buffer }) = lab.near.sq.gather(wqe::send(), page, 65) else { panic!("64 bytes only") };
    assert_eq!(error, PostError::Encode(EncodeError::SgeTooLong { bytes: 65, limit: 64 }));
    let mut page = buffer;
    let room = lab.near.sq.queue().free();
    for _ in 0..room.0 {
        lab.near.sq.gather(wqe::send(), page, 1).expect("room");
        page = lab.page(2);
    }
    let refused = lab.near.sq.gather(wqe::send(), page, 1).expect_err("full");
    assert_eq!(refused.error, PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) });
    let mut page = refused.buffer;
    for _ in 0..4 {
        lab.near.rq.post(page).expect("room");
        page = lab.page(3);
    }
    let refused = lab.near.rq.post(page).expect_err("full");
    assert_eq!(refused.error, RecvError::Full(4));
    assert_eq!(lab.live.load(Relaxed), usize::from(room.0) + 5);
}

#[test]
fn an_error_gives_back_all_and_a_dropped_queue_none() {
    let mut lab = Lab::new();
    for n in 0..3 {
        let (sent, received) = (lab.page(n), lab.page(n));
        lab.near.rq.post(received).expect("room");
        lab.near.sq.gather(wqe::send(), sent, 1).expect("room");
    }
    assert_eq!(lab.live.load(Relaxed), 6);
    let error = QpAttr { state: Some(QpState::Err), ..QpAttr::default() };
    lab.hca.modify_qp(lab.near.qpn, &error).expect("ERR");
    lab.hca.run_until_idle().expect("an end");
    let Lab { near, .. } = &mut lab;
    let mut back = 0;
    near.cq.poll_with(16, |cqe| {
        let (buffer, error) = match near.sq.complete(&cqe) {
            Err(CompleteError::Failed { done, error }) => (done.expect("each has one"), error),
            Err(CompleteError::Foreign(_)) => match near.rq.complete(&cqe) {
                Err(CompleteError::Failed { done, error }) => (done, error),
                _ => panic!("of one of them, and flushed"),
            },
            Ok(_) => panic!("nothing was sent"),
        };
        let CqeError::Completion(error) = error else { panic!("{error}") };
        assert_eq!(error.status(), WcStatus::WrFlushErr);
        drop(buffer);
        back += 1;
    });
    assert_eq!((back, lab.live.load(Relaxed)), (6, 0));

    // A queue with something outstanding gives its buffers to nobody, and is taken by no other.
    let page = lab.page(1);
    lab.far.sq.gather(wqe::send(), page, 1).expect("room");
    let queue = lab.far.sq.into_inner();
    assert!(OwningSendQueue::<_, Box<Page>>::new(queue).is_err());
    assert_eq!(lab.live.load(Relaxed), 1, "leaked: the device may still read it");
}
