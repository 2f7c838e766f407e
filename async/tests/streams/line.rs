//! A queue pair that is connected to itself, and its completion queue.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use blueflame::queue::Owned;
use blueflame::types::Rkey;
use blueflame::verbs::{Access, Buffer, CompletionChannel, Device, OwnedCq, Pool, Qp, sys};
use blueflame::{Remote, SendQueue, WrId, transport, wqe};

/// The send queue, and where its WRITEs go.
#[derive(Clone)]
pub(crate) struct Sends {
    sq: Rc<RefCell<Owned<SendQueue<transport::Rc>, Qp>>>,
    inbox: Rc<Buffer>,
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
        let builder = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(cqes.max(8)).no_receives().inline(64);
        let mut pair = builder.build().expect("a queue pair");
        let path = device.path(1, None).expect("a path");
        let itself = pair.qp.endpoint(&path);
        pair.qp.to_init(&path).expect("INIT");
        pair.connect(&path, &itself, &itself).expect("RTS");
        let inbox = Pool::new(&pd, 4096, Access::ALL).expect("a pool").take(64).expect("some of it");
        let sends = Sends { sq: Rc::new(RefCell::new(pair.sq)), inbox: Rc::new(inbox) };
        Self { device, cq, channel, sends }
    }
}

/// Where the driver stores its requests for events: the second word of a completion queue's doorbell record (PRM,
/// "CQ DoorBell Record").
pub(crate) struct ArmWord(*const u32);

impl ArmWord {
    pub(crate) fn of(cq: &OwnedCq) -> Self {
        let mut parts = sys::mlx5dv_cq::ZERO;
        let pair = sys::mlx5dv_pair::<sys::ibv_cq, _> { r#in: cq.handle().as_raw(), out: &raw mut parts };
        let mut object = sys::mlx5dv_obj { cq: pair, ..sys::mlx5dv_obj::ZERO };
        // SAFETY: the queue is alive; the call fills in a local.
        assert_eq!(unsafe { sys::mlx5dv_init_obj(&raw mut object, sys::MLX5DV_OBJ_CQ) }, 0);
        Self(parts.dbrec.wrapping_add(1))
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
    }

    /// WRITEs where it has no right to.
    pub(crate) fn post_refused(&self, tag: u64) {
        let nowhere = Remote { rkey: Rkey(!self.inbox.rkey().0), ..self.inbox.remote() };
        self.borrow_mut().post(&wqe::write(nowhere).inline(b"no").signaled(WrId(tag))).expect("room");
    }

    pub(crate) fn borrow_mut(&self) -> RefMut<'_, Owned<SendQueue<transport::Rc>, Qp>> {
        self.sq.borrow_mut()
    }
}
