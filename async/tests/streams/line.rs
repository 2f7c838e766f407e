//! A queue pair that is connected to itself, and its completion queue.

use std::cell::{Cell, RefCell, RefMut};
use std::rc::Rc;
use std::time::{Duration, Instant};

use blueflame::queue::Owned;
use blueflame::types::Rkey;
use blueflame::verbs::{Access, Buffer, CompletionChannel, Device, OwnedCq, Pool, Qp, sys};
use blueflame::{Remote, SendQueue, WrId, transport, wqe};

/// The send queue, and where its WRITEs go.
#[derive(Clone)]
pub(crate) struct Sends {
    sq: Rc<RefCell<Owned<SendQueue<transport::Rc>, Qp>>>,
    inbox: Rc<Buffer>,
    /// Requests so far, each of which completes.
    posted: Rc<Cell<u32>>,
    ring: Ring,
}

/// The ring of a completion queue, which the device writes to.
#[derive(Clone, Copy)]
struct Ring {
    start: *const u8,
    cqes: u32,
    cqe_bytes: u32,
}

impl Ring {
    fn of(parts: &sys::mlx5dv_cq) -> Self {
        Self { start: parts.buf.cast(), cqes: parts.cqe_cnt, cqe_bytes: parts.cqe_size }
    }

    /// Whether the completion with this number, from 0, has been written.
    fn has(self, number: u32) -> bool {
        let at = (number % self.cqes + 1) * self.cqe_bytes - 1;
        // SAFETY: the last byte of a CQE, of a queue that the case keeps.
        let op_own = unsafe { self.start.wrapping_add(at as usize).read_volatile() };
        op_own >> 4 != 0xf && u32::from(op_own & 1) == (number / self.cqes) & 1
    }
}

pub(crate) struct Line {
    pub(crate) device: Device,
    pub(crate) cq: OwnedCq,
    pub(crate) channel: CompletionChannel,
    pub(crate) sends: Sends,
}

impl Line {
    /// With a completion queue for `cqes` completions, of this context.
    pub(crate) fn new(device: &str, cqes: u32, context: usize) -> Self {
        let device = Device::open(device)
            .unwrap_or_else(|error| panic!("{error}\nrun these tests by ./run test, or under softhca-run --devices 3"));
        let pd = device.protection_domain().expect("a PD");
        let channel = device.completion_channel().expect("a channel");
        let cq = device.completion_queue(cqes).channel(&channel).context(context).build().expect("a CQ");
        cq.handle().oversubscribe();
        let ring = Ring::of(&parts(&cq));
        let builder = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(cqes.max(8)).no_receives().inline(64);
        let mut pair = builder.build().expect("a queue pair");
        let path = device.path(1, None).expect("a path");
        let itself = pair.qp.endpoint(&path);
        pair.qp.to_init(&path).expect("INIT");
        pair.connect(&path, &itself, &itself).expect("RTS");
        let inbox = Pool::new(&pd, 4096, Access::ALL).expect("a pool").take(64).expect("some of it");
        let (sq, inbox) = (Rc::new(RefCell::new(pair.sq)), Rc::new(inbox));
        let sends = Sends { sq, inbox, posted: Rc::default(), ring };
        Self { device, cq, channel, sends }
    }
}

/// The parts of a completion queue as libmlx5 hands them over.
fn parts(cq: &OwnedCq) -> sys::mlx5dv_cq {
    let mut parts = sys::mlx5dv_cq::ZERO;
    let pair = sys::mlx5dv_pair::<sys::ibv_cq, _> { r#in: cq.handle().as_raw(), out: &raw mut parts };
    let mut object = sys::mlx5dv_obj { cq: pair, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the queue is alive; the call fills in a local.
    assert_eq!(unsafe { sys::mlx5dv_init_obj(&raw mut object, sys::MLX5DV_OBJ_CQ) }, 0);
    parts
}

/// Where the driver stores its requests for events: the second word of a completion queue's doorbell record (PRM,
/// "CQ DoorBell Record").
pub(crate) struct ArmWord(*const u32);

impl ArmWord {
    pub(crate) fn of(cq: &OwnedCq) -> Self {
        Self(parts(cq).dbrec.wrapping_add(1))
    }

    /// The number of the last request, modulo 4: the device ignores one with the number of the event before.
    pub(crate) fn number(&self) -> u32 {
        // SAFETY: the record of a queue that the case keeps; a word.
        u32::from_be(unsafe { self.0.read_volatile() }) >> 28 & 3
    }
}

impl Sends {
    /// WRITEs some bytes. The completion has this tag.
    pub(crate) fn post(&self, tag: u64) {
        let bytes = tag.to_le_bytes();
        let request = wqe::write(self.inbox.remote()).inline(&bytes).signaled(WrId(tag));
        self.borrow_mut().post(&request).expect("room");
        self.posted.set(self.posted.get() + 1);
    }

    /// Waits until the device has written the completion of each request.
    pub(crate) fn settle(&self) {
        let begin = Instant::now();
        while self.posted.get().checked_sub(1).is_some_and(|last| !self.ring.has(last)) {
            assert!(begin.elapsed() < Duration::from_secs(60), "the device does nothing");
            std::thread::yield_now();
        }
    }

    /// WRITEs where it has no right to.
    pub(crate) fn post_refused(&self, tag: u64) {
        let nowhere = Remote { rkey: Rkey(!self.inbox.rkey().0), ..self.inbox.remote() };
        self.borrow_mut().post(&wqe::write(nowhere).inline(b"no").signaled(WrId(tag))).expect("room");
        self.posted.set(self.posted.get() + 1);
    }

    pub(crate) fn borrow_mut(&self) -> RefMut<'_, Owned<SendQueue<transport::Rc>, Qp>> {
        self.sq.borrow_mut()
    }
}
