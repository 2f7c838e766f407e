//! One end of a connection.

use blueflame::queue::PostError;
use blueflame::types::{Psn, WrId};
use blueflame::verbs::{
    Access, Buffer, Device, Endpoint, OwnedCq, Path, Pool, ProtectionDomain, QueuePair, VerbsTransport,
};
use blueflame::{transport, wqe};

/// Requests that each queue takes at a time.
pub(crate) const DEPTH: u32 = 16;

pub(crate) struct End<T: VerbsTransport = transport::Rc> {
    pub(crate) pair: QueuePair<T>,
    pub(crate) cq: OwnedCq,
    pub(crate) buffer: Buffer,
}

impl<T: VerbsTransport> End<T> {
    /// Goes to RTS, connected to whoever `remote` says when told where this end is.
    pub(crate) fn connect(&mut self, path: &Path, psn: u32, remote: &Endpoint) {
        let local = self.pair.qp.endpoint_with(path, Psn::truncate(psn));
        self.pair.qp.to_init(path).expect("INIT");
        self.pair.connect(path, &local, remote).expect("connect");
    }
}

impl<T: VerbsTransport> End<T> {
    pub(crate) fn new(device: &Device, pd: &ProtectionDomain) -> Self {
        // As large as is told before the queue pair is made, and not larger.
        let cq = device.completion_queue(2 * DEPTH + 1).build().expect("a completion queue");
        let builder = pd.queue_pair(&cq, &cq).sends(DEPTH).receives(DEPTH);
        assert_eq!((builder.send_completions(), builder.recv_completions()), (DEPTH + 1, DEPTH));
        let pair = builder.build().expect("a queue pair");
        let mut pool = Pool::new(pd, 1 << 12, Access::ALL).expect("a pool");
        Self { pair, cq, buffer: pool.take(1 << 12).expect("all of it") }
    }

    pub(crate) fn post_receive(&mut self, tag: u64) {
        let sge = [self.buffer.sge()];
        // SAFETY: the buffer lives as long as the queues, and is looked at when the receive has completed.
        unsafe { self.pair.rq.post_unchecked(WrId(tag), &sge) }.expect("post a receive");
    }

    pub(crate) fn nop(&mut self, tag: u64, signaled: bool) -> Result<(), PostError> {
        self.pair.sq.post(&wqe::nop().signaled_if(signaled, WrId(tag)))
    }
}

/// Connects two ends, whose packets begin with numbers that `psn` tells apart.
pub(crate) fn connect<T: VerbsTransport>(path: &Path, psn: u32, a: &mut End<T>, b: &mut End<T>) {
    let at_a = a.pair.qp.endpoint_with(path, Psn::truncate(psn));
    let at_b = b.pair.qp.endpoint_with(path, Psn::truncate(psn ^ 0x5555));
    a.connect(path, psn, &at_b);
    b.connect(path, psn ^ 0x5555, &at_a);
}

pub(crate) fn connected<T: VerbsTransport>(device: &Device, pd: &ProtectionDomain) -> (End<T>, End<T>) {
    let (mut a, mut b) = (End::new(device, pd), End::new(device, pd));
    connect(&device.path(1, None).expect("a path"), 0x123, &mut a, &mut b);
    (a, b)
}
