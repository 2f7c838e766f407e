//! One end of a connection, and the objects under it.

use std::ops::{Deref, DerefMut};

use crate::on_device::wait_for;
use blueflame::cq::{CqeError, Side, WcStatus};
use blueflame::db::Register;
use blueflame::transport::Transport;
use blueflame::types::{Psn, WrId};
use blueflame::verbs::{Access, Buffer, Device, OwnedCq, Pool, ProtectionDomain, QueuePair, VerbsTransport};
use blueflame::wqe::data::Data;
use blueflame::wqe::{Request, SupportedOn};

/// One end of a connection, with memory of its own.
pub(crate) struct End<T: Transport, R: Register = blueflame::db::ExclusiveRegister> {
    pub(crate) pair: QueuePair<T, R>,
    pub(crate) cq: OwnedCq,
    pub(crate) buffer: Buffer,
}

impl<T: Transport, R: Register> Deref for End<T, R> {
    type Target = QueuePair<T, R>;

    fn deref(&self) -> &QueuePair<T, R> {
        &self.pair
    }
}

impl<T: Transport, R: Register> DerefMut for End<T, R> {
    fn deref_mut(&mut self) -> &mut QueuePair<T, R> {
        &mut self.pair
    }
}

impl<T: VerbsTransport, R: Register> End<T, R> {
    pub(crate) fn new(pd: &ProtectionDomain, cq: OwnedCq, pair: QueuePair<T, R>) -> Self {
        let mut pool = Pool::new(pd, 1 << 16, Access::ALL).expect("a pool");
        Self { pair, cq, buffer: pool.take(1 << 16).expect("all of it") }
    }

    pub(crate) fn post<O: SupportedOn<T>, D: Data>(&mut self, request: &Request<'_, O, D>) {
        // SAFETY: requests of these tests name the ends' buffers, which live as long as the queues, and are looked at
        // when the completion has come.
        unsafe { self.pair.sq.post_unchecked(request) }.expect("post");
    }

    pub(crate) fn post_receive(&mut self, tag: u64) {
        let sge = [self.buffer.sge()];
        // SAFETY: the end's buffer lives as long as the queue, and is looked at when the completion has come.
        unsafe { self.pair.rq.post_unchecked(WrId(tag), &sge) }.expect("post a receive");
    }

    /// The next completion, which must be good: its queue, its tag, its bytes.
    pub(crate) fn completion(&mut self) -> (Side, WrId, u32) {
        wait_for("a completion", || {
            let cqe = self.cq.poll()?;
            let side = cqe.check().unwrap_or_else(|error| panic!("{error}"));
            let tag = match side {
                Side::Requester => self.pair.sq.retire(&cqe).expect("outstanding").wr_id,
                Side::Responder => self.pair.rq.retire(&cqe).expect("posted"),
            };
            Some((side, tag, cqe.byte_len()))
        })
    }

    /// How the next completion of this end's sends failed. The queue pair is in the error state then.
    pub(crate) fn failure(&mut self) -> WcStatus {
        wait_for("a failure", || {
            let cqe = self.cq.poll()?;
            let Err(CqeError::Completion(error)) = cqe.check() else { panic!("{:?}", cqe.check()) };
            self.pair.sq.retire(&cqe).expect("outstanding");
            Some(error.status())
        })
    }

    pub(crate) fn bytes(&self, len: usize) -> Vec<u8> {
        self.buffer.to_vec(0..len)
    }
}

pub(crate) fn end<T: VerbsTransport>(device: &Device, pd: &ProtectionDomain) -> End<T> {
    let cq = device.completion_queue(64).build().expect("a completion queue");
    let pair = pd.queue_pair(&cq, &cq).sends(16).receives(16).inline(64).build().expect("a queue pair");
    End::new(pd, cq, pair)
}

pub(crate) fn connect<T: VerbsTransport, A: Register, B: Register>(
    device: &Device,
    a: &mut QueuePair<T, A>,
    b: &mut QueuePair<T, B>,
) {
    let path = device.path(1, None).expect("a path");
    let (at_a, at_b) =
        (a.qp.endpoint_with(&path, Psn::truncate(0x123)), b.qp.endpoint_with(&path, Psn::truncate(0xff_fff0)));
    for qp in [&a.qp, &b.qp] {
        qp.to_init(&path).expect("INIT");
    }
    a.connect(&path, &at_a, &at_b).expect("connect");
    b.connect(&path, &at_b, &at_a).expect("connect");
}

pub(crate) fn connected<T: VerbsTransport>(device: &Device, pd: &ProtectionDomain) -> (End<T>, End<T>) {
    let (mut a, mut b) = (end(device, pd), end(device, pd));
    connect(device, &mut a.pair, &mut b.pair);
    (a, b)
}
