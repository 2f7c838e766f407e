//! A port: a raw packet queue pair that sends frames, and a work queue that receives them.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use blueflame::flow::Flow;
use blueflame::queue::{Owned, OwningSendQueue, Received, SendQueue};
use blueflame::transport::RawPacket;
use blueflame::verbs::ethernet::{FlowRule, FrameReceiver, OwnedWq};
use blueflame::verbs::{Access, Buffer, Device, OwnedCq, Pool, Qp};
use blueflame::wqe;

/// Requests that a queue has room for. The other side has at least as many receives.
pub(crate) const ROOM: u32 = 256;
/// Bytes of a buffer: the longest frame that the software device's wire takes.
const BUFFER: usize = 16 << 10;

/// A port of a device.
#[derive(Debug)]
pub(crate) struct Port {
    /// Dropped first, before the queue that it leads to.
    _rule: FlowRule,
    _receiver: FrameReceiver,
    sq: OwningSendQueue<Owned<SendQueue<RawPacket<0>>, Qp>, Box<Buffer>>,
    rq: OwnedWq<Box<Buffer>>,
    sends: OwnedCq,
    receives: OwnedCq,
    free: Vec<Buffer>,
}

impl Port {
    /// Opens port 1 of the device `name`, to receive frames to `station`.
    pub(crate) fn open(name: &str, station: [u8; 6]) -> Result<Self> {
        let device = Device::options().open(name).with_context(|| format!("cannot open {name}"))?;
        let pd = device.protection_domain()?;
        let receives = device.completion_queue(ROOM).build()?;
        let mut rq = pd.work_queue(&receives).receives(ROOM).build().context("no work queue")?;
        let receiver = FrameReceiver::direct(&pd, rq.handle())?;
        let mut pool = Pool::new(&pd, 2 * ROOM as usize * BUFFER, Access::LOCAL_WRITE)?;
        let mut free = pool.take(pool.capacity())?.chunks(BUFFER);
        for buffer in free.drain(ROOM as usize..) {
            rq.post(Box::new(buffer))?;
        }
        let rule = receiver.steer(&Flow::mac(station))?;
        let sends = device.completion_queue(ROOM).build()?;
        let mut pair = pd.queue_pair::<RawPacket<0>>(&sends, &sends).sends(ROOM).no_receives().build()?;
        pair.activate(&device.port(1)?)?;
        let sq = OwningSendQueue::new(pair.sq).map_err(|_| anyhow!("sends are outstanding"))?;
        Ok(Self { _rule: rule, _receiver: receiver, sq, rq, sends, receives, free })
    }

    /// Sends a frame. Waits for room, if there is none.
    pub(crate) fn send(&mut self, frame: &[u8]) -> Result<()> {
        ensure!(frame.len() <= BUFFER, "a frame of {} bytes: the limit is {BUFFER}", frame.len());
        let patience = Patience::new(Patience::SEND);
        let mut buffer = loop {
            if let Some(buffer) = self.free.pop() {
                break buffer;
            }
            if let Some(cqe) = self.sends.poll() {
                self.free.extend(self.sq.complete(&cqe)?.map(|buffer| *buffer));
            } else {
                patience.check("no frame leaves")?;
            }
        };
        buffer.write(0, frame);
        self.sq.gather(wqe::frame(), Box::new(buffer), frame.len() as u32).map_err(|refused| refused.error)?;
        Ok(())
    }

    /// The next frame that has arrived.
    pub(crate) fn receive(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(cqe) = self.receives.poll() else { return Ok(None) };
        let Received { buffer, bytes, .. } = self.rq.complete(&cqe)?;
        let frame = buffer.to_vec(0..bytes as usize);
        self.rq.post(buffer)?;
        Ok(Some(frame))
    }
}

/// How long something may take that should take no time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    begin: Instant,
    limit: Duration,
}

impl Patience {
    /// How long a send may take.
    const SEND: u64 = 10;

    pub(crate) fn new(seconds: u64) -> Self {
        Self { begin: Instant::now(), limit: Duration::from_secs(seconds) }
    }

    /// Gives others the CPU.
    pub(crate) fn check(self, complaint: &str) -> Result<()> {
        if self.begin.elapsed() > self.limit {
            bail!("{complaint}: {} seconds", self.limit.as_secs());
        }
        std::thread::yield_now();
        Ok(())
    }
}
