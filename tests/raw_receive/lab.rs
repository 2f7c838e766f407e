//! A sender, and receivers of frames on the same port.

use std::sync::{Mutex, MutexGuard, PoisonError};

use blueflame::transport::RawPacket;
use blueflame::verbs::ethernet::{FrameReceiver, OwnedWq, Wq};
use blueflame::verbs::{Access, Buffer, Device, OwnedCq, Pool, ProtectionDomain, QueuePair};
use blueflame::{WrId, wqe};

use crate::frames::Frame;
use crate::on_device::{device, wait_for};

const RECEIVES: u32 = 16;

/// A frame, and the fields of its completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) bytes: Vec<u8>,
    pub(crate) tag: u32,
    pub(crate) hash: Option<(u32, u8)>,
    pub(crate) vlan: Option<u16>,
}

/// A work queue whose receives are posted again as they complete.
pub(crate) struct Queue {
    pub(crate) cq: OwnedCq,
    pub(crate) rq: OwnedWq<Box<Buffer>>,
    pub(crate) wq: Wq,
}

impl Queue {
    pub(crate) fn over(pd: &ProtectionDomain, cq: OwnedCq, wq: OwnedWq) -> Self {
        let handle = wq.handle().clone();
        let mut rq = wq.posting().expect("nothing is posted");
        let buffers = Pool::new(pd, 2048 * RECEIVES as usize, Access::LOCAL_WRITE).expect("a pool");
        for buffer in all_of(buffers).chunks(2048) {
            rq.post(Box::new(buffer)).expect("room");
        }
        Self { cq, rq, wq: handle }
    }

    pub(crate) fn new(device: &Device, pd: &ProtectionDomain) -> Self {
        let cq = device.completion_queue(512).build().expect("a CQ");
        let wq = pd.work_queue(&cq).receives(RECEIVES).build().expect("a work queue");
        Self::over(pd, cq, wq)
    }

    /// The next frame, if there is one.
    pub(crate) fn poll(&mut self) -> Option<Received> {
        let cqe = self.cq.poll()?;
        cqe.check().expect("a success");
        let buffer = self.rq.retire(&cqe).expect("outstanding");
        let received = Received {
            bytes: buffer.to_vec(0..cqe.byte_len() as usize),
            tag: cqe.flow_tag(),
            hash: cqe.rx_hash().map(|hash| (hash.value, hash.kind)),
            vlan: cqe.vlan(),
        };
        self.rq.post(buffer).expect("room");
        Some(received)
    }
}

fn all_of(mut pool: Pool) -> Buffer {
    pool.take(pool.capacity()).expect("all of it")
}

/// Sends frames.
pub(crate) struct Sender {
    cq: OwnedCq,
    pair: QueuePair<RawPacket>,
}

impl Sender {
    pub(crate) fn new(device: &Device, pd: &ProtectionDomain) -> Self {
        let cq = device.completion_queue(512).build().expect("a CQ");
        let builder = pd.queue_pair::<RawPacket>(&cq, &cq).sends(16).no_receives().inline(128);
        let mut pair = builder.build().expect("a raw packet queue pair: is it permitted?");
        pair.activate(&device.port(1).expect("port 1")).expect("ready to send");
        Self { cq, pair }
    }

    /// Sends a frame, and waits until it has left.
    pub(crate) fn send(&mut self, frame: &Frame) {
        self.send_bytes(&frame.bytes());
    }

    /// As [`send`](Self::send), of a frame's bytes.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let (headers, rest) = bytes.split_first_chunk::<18>().expect("so many");
        let sq = &mut self.pair.sq;
        sq.post(&wqe::frame().inline_headers(headers).inline_slice(rest).signaled(WrId(1))).expect("room");
        wait_for("a completion", || {
            let cqe = self.cq.poll()?;
            cqe.check().expect("a success");
            Some(sq.retire(&cqe).expect("outstanding"))
        });
    }
}

/// The port has one laboratory at a time: a rule for all frames would get those of other tests.
static PORT: Mutex<()> = Mutex::new(());

/// A sender, and receivers that have one queue each.
pub(crate) struct Lab {
    pub(crate) device: Device,
    pub(crate) pd: ProtectionDomain,
    pub(crate) sender: Sender,
    pub(crate) queues: Vec<Queue>,
    pub(crate) receivers: Vec<FrameReceiver>,
    _port: MutexGuard<'static, ()>,
}

impl Lab {
    pub(crate) fn new(receivers: usize) -> Self {
        let port = PORT.lock().unwrap_or_else(PoisonError::into_inner);
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let sender = Sender::new(&device, &pd);
        let queues: Vec<_> = (0..receivers).map(|_| Queue::new(&device, &pd)).collect();
        let receivers = queues.iter().map(|queue| FrameReceiver::direct(&pd, &queue.wq).expect("a receiver")).collect();
        Self { device, pd, sender, queues, receivers, _port: port }
    }

    /// Sends a frame that `count` queues get. Returns their numbers in order, and the frame as it arrived.
    pub(crate) fn who_gets(&mut self, frame: &Frame, count: usize) -> (Vec<usize>, Received) {
        self.sender.send(frame);
        let mut got = Vec::new();
        wait_for("a completion", || {
            for (number, queue) in self.queues.iter_mut().enumerate() {
                got.extend(queue.poll().map(|received| (number, received)));
            }
            (got.len() >= count).then_some(())
        });
        got.sort_by_key(|(number, _)| *number);
        let (numbers, mut received): (Vec<_>, Vec<_>) = got.into_iter().unzip();
        (numbers, received.pop().expect("one at least"))
    }
}
