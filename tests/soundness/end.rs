//! Queue pairs that are connected to themselves, and completion queues that one can wait for.

use std::time::Duration;

use blueflame::cq::Notify;
use blueflame::db::ExclusiveRegister;
use blueflame::types::{Psn, WrId};
use blueflame::verbs::{
    Access, Buffer, CompletionChannel, Device, Error, OwnedCq, Path, Pool, ProtectionDomain, QueuePair,
};
use blueflame::{transport, wqe};

pub(crate) type Pair = QueuePair<transport::Rc, ExclusiveRegister, Box<Buffer>>;

/// A device, and the objects under its queue pairs.
pub(crate) struct Host {
    pub(crate) device: Device,
    pub(crate) pd: ProtectionDomain,
    pub(crate) path: Path,
    pool: Pool,
}

impl Host {
    pub(crate) fn new(name: &str) -> Self {
        let device = Device::open(name)
            .unwrap_or_else(|error| panic!("{error}\nrun these tests by ./run test, or under softhca-run --reuse-qpn"));
        let pd = device.protection_domain().expect("a PD");
        let path = device.path(1, None).expect("a path");
        let pool = Pool::new(&pd, 1 << 14, Access::ALL).expect("a pool");
        Self { device, pd, path, pool }
    }

    /// 64 bytes that hold `text`.
    pub(crate) fn buffer(&mut self, text: &str) -> Box<Buffer> {
        let mut buffer = self.pool.take(64).expect("room");
        buffer.write(0, text.as_bytes());
        Box::new(buffer)
    }

    pub(crate) fn pair(&self, cq: &OwnedCq) -> Result<Pair, Error> {
        self.pd.queue_pair(cq, cq).sends(8).receives(8).inline(28).build()
    }

    /// Goes to RTS, connected to itself.
    pub(crate) fn connect(&self, pair: &mut Pair) {
        let itself = pair.qp.endpoint_with(&self.path, Psn::truncate(1));
        pair.qp.to_init(&self.path).expect("INIT");
        pair.connect(&self.path, &itself, &itself).expect("connect");
    }

    /// A pair in RTS.
    pub(crate) fn connected(&self, cq: &OwnedCq) -> Pair {
        let mut pair = self.pair(cq).expect("a queue pair");
        self.connect(&mut pair);
        pair
    }
}

/// A completion queue, and how to wait for it.
pub(crate) struct Completions {
    pub(crate) cq: OwnedCq,
    channel: CompletionChannel,
}

impl Completions {
    pub(crate) fn new(host: &Host) -> Self {
        let channel = host.device.completion_channel().expect("a channel");
        let cq = host.device.completion_queue(64).channel(&channel).build().expect("a completion queue");
        Self { cq, channel }
    }

    /// Posts, and waits until the first completion of it lies in the queue.
    pub(crate) fn after(&mut self, post: impl FnOnce()) {
        self.cq.arm(Notify::Any);
        post();
        self.wait();
    }

    /// Waits for the event that was asked for.
    pub(crate) fn wait(&mut self) {
        assert!(self.channel.wait_timeout(Duration::from_secs(20)).expect("asked").is_some(), "no completion");
        self.cq.event_received();
    }
}

/// Posts a request that completes.
pub(crate) fn nop(pair: &mut Pair, tag: u64) {
    pair.sq.post(&wqe::nop().signaled(WrId(tag))).expect("room");
}

/// The contents of a buffer, up to the first zero.
pub(crate) fn text(buffer: &Buffer) -> String {
    let mut bytes = [0; 64];
    buffer.read(0, &mut bytes);
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
