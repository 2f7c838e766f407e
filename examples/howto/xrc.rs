//! XRC: one connection reaches several shared receive queues of the peer, and each request names one.
//!
//! ```text
//!   initiator ── one connection ──> target ──┬── first worker's shared receive queue
//!                                            └── second worker's
//! ```
//!
//! With reliable connections, two workers would take two connections.

use blueflame::transport::XrcInitiator;
use blueflame::verbs::{Buffer, Device, OwnedCq, OwnedSrq, ProtectionDomain, QueuePair, XrcDomain};
use blueflame::{WrId, wqe};
use howto::Failure;

/// A receiver: often a process of its own. It has no connection, only receives.
struct Worker {
    srq: OwnedSrq,
    cq: OwnedCq,
    buffer: Buffer,
}

impl Worker {
    fn new(pd: &ProtectionDomain, domain: &XrcDomain) -> Result<Self, Failure> {
        // ANCHOR: worker
        let cq = pd.device().completion_queue(16).build()?;
        let mut srq = pd.xrc_shared_recv_queue(domain, cq.handle(), 16, 1)?;
        // ANCHOR_END: worker
        let buffer = howto::buffer(pd, 64)?;
        // SAFETY: the worker keeps the buffer as long as the queue, and reads it after the completion.
        unsafe { srq.post_unchecked(WrId(0), &[buffer.sge()])? };
        Ok(Self { srq, cq, buffer })
    }

    /// The next message.
    fn message(&mut self) -> Result<String, Failure> {
        let Self { srq, cq, buffer } = self;
        // SAFETY: only receives of this queue complete here, and each completion is polled once.
        let received = howto::completion(cq, |cqe| unsafe { srq.complete(cqe) })?;
        Ok(String::from_utf8(buffer.to_vec(0..received.bytes as usize))?)
    }
}

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let path = device.path(1, None)?;
    let pd = device.protection_domain()?;

    // ANCHOR: domain
    // Between processes: `xrc_domain_of` a file that all of them open.
    let domain = device.xrc_domain()?;
    let target = domain.target()?;
    // ANCHOR_END: domain
    let mut workers = [Worker::new(&pd, &domain)?, Worker::new(&pd, &domain)?];

    // ANCHOR: initiator
    let mut cq = device.completion_queue(32).build()?;
    let mut pair = pd.queue_pair::<XrcInitiator>(&cq, &cq).sends(16).inline(64).build()?;
    let (here, there) = (pair.qp.endpoint(&path), target.endpoint(&path));
    target.qp().to_init(&path)?;
    target.connect(&path, &there, &here)?;
    pair.connect(&path, &here, &there)?;
    // ANCHOR_END: initiator
    let QueuePair { mut sq, .. } = pair;

    let texts = ["to the first worker", "to the second worker"];
    // ANCHOR: send
    for (worker, text) in workers.iter().zip(texts) {
        // The peer has told this number, like a remote key.
        let srqn = worker.srq.handle().srqn();
        sq.post(&wqe::send().to(srqn).inline_slice(text.as_bytes()).signaled(WrId(1)))?;
    }
    // ANCHOR_END: send
    for (worker, text) in workers.iter_mut().zip(texts) {
        howto::completion(&mut cq, |cqe| sq.complete(cqe))?;
        assert_eq!(worker.message()?, text);
    }
    println!("one connection has reached 2 shared receive queues");
    Ok(())
}
