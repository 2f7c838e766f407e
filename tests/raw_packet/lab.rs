//! A sender and a receiver of frames, for the tests of their ends and of rules.

use std::sync::atomic::{AtomicU8, Ordering};

use blueflame::cq::WcStatus;
use blueflame::cq::setup::Whose;
use blueflame::types::WrId;
use blueflame::verbs::device::Port;
use blueflame::verbs::ethernet::FlowRule;
use blueflame::verbs::{Access, Buffer, OwnedCq, Pool, ProtectionDomain, QueuePair};
use blueflame::wqe;

use crate::on_device::wait_for;
use crate::{Frames, HEADERS, completion, device, frame, pair, rule};

/// A sender, and a receiver on a completion queue where the sender's requests complete, too. Frames come with the
/// sender's number as tag.
pub(crate) struct Lab {
    /// Nobody else's: tests run side by side, and rules of another test must not match.
    pub(crate) station: [u8; 6],
    pub(crate) port: Port,
    pub(crate) pd: ProtectionDomain,
    pub(crate) buffer: Buffer,
    pub(crate) cq: OwnedCq,
    pub(crate) sender: QueuePair<Frames>,
    pub(crate) receiver: QueuePair<Frames>,
    /// Where the sender would receive.
    pub(crate) none: OwnedCq,
}

impl Lab {
    pub(crate) fn new() -> Self {
        static LABS: AtomicU8 = AtomicU8::new(2);
        let station = [2, 0, 0x5e, 0, 0x53, LABS.fetch_add(1, Ordering::Relaxed)];
        let device = device();
        let port = device.port(1).expect("port 1");
        let pd = device.protection_domain().expect("a PD");
        let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
        let [cq, none] = [(); 2].map(|()| device.completion_queue(512).build().expect("a CQ"));
        let mut sender = pd.queue_pair(&cq, &none).sends(16).receives(16).inline(100).build().expect("a sender");
        let mut receiver = pair(&pd, &cq);
        for pair in [&mut sender, &mut receiver] {
            pair.activate(&port).expect("ready to send");
        }
        Self { station, port, pd, buffer, cq, sender, receiver, none }
    }

    pub(crate) fn post(&mut self, tag: u64) {
        let rq = &mut self.receiver.rq;
        // SAFETY: the buffer lives as long as the queue, and nobody looks at it.
        unsafe { rq.post_unchecked(WrId(tag), &[self.buffer.sge()]) }.expect("room");
    }

    /// Sends a frame, and waits until the completion of its receive lies in the queue. That of the send is there, too,
    /// if `sent`.
    pub(crate) fn deliver(&mut self, sent: bool) {
        let frame = frame(self.station, 7);
        let (headers, rest) = frame.split_first_chunk::<HEADERS>().expect("so many");
        let request = wqe::frame().inline_headers(headers).inline_slice(rest);
        let posted = match sent {
            true => self.sender.sq.post(&request.signaled(WrId(1))),
            false => self.sender.sq.post(&request),
        };
        posted.expect("room");
        let sends = Whose::Sends(self.sender.qp.qpn());
        wait_for("the completions", || {
            (self.cq.holds(Whose::Receives) && (!sent || self.cq.holds(sends))).then_some(())
        });
    }

    pub(crate) fn rule(&self) -> FlowRule {
        rule(&self.receiver, self.station, Some(self.sender.qp.qpn().get()))
    }

    pub(crate) fn received(&mut self) -> (Result<(), WcStatus>, WrId) {
        let rq = &mut self.receiver.rq;
        completion(&mut self.cq, |cqe| rq.retire(cqe))
    }
}
