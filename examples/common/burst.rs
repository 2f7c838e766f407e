//! A queue pair that sends bursts of frames: each in a WQE of its own, or several in one.

use std::time::{Duration, Instant};

use blueflame::transport::RawPacket;
use blueflame::verbs::{Access, Buffer, OwnedCq, Pool, ProtectionDomain, QueuePair};
use blueflame::{WrId, wqe};

use crate::Failure;

/// Frames that may be outstanding.
const OUTSTANDING: u64 = 256;
/// How long the device may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How frames lie in WQEs.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Layout {
    /// Frames of a multi-packet WQE; 0: one WQE for each frame
    #[arg(long, default_value_t = 0)]
    pub session: usize,
    /// The device fetches frames from memory; without it, they are in the WQE
    #[arg(long)]
    pub gather: bool,
}

/// Sends frames. The memory goes after the queue.
#[derive(Debug)]
pub struct FrameSender {
    pair: QueuePair<RawPacket<0>>,
    cq: OwnedCq,
    memory: Buffer,
    layout: Layout,
    /// Frames that were sent, and those of them that have left.
    pub sent: u64,
    done: u64,
}

impl FrameSender {
    /// A sender of frames of up to `bytes` bytes. The memory has `frame`, which [`Layout::gather`] sends.
    ///
    /// # Errors
    /// A failed call; a device that needs headers inline (ConnectX-4).
    pub fn new(pd: &ProtectionDomain, port: u8, layout: Layout, frame: &[u8]) -> Result<Self, Failure> {
        let device = pd.device();
        if !device.attr().multi_packet {
            return Err("the device has no multi-packet WQEs: ConnectX-5 and later have them".into());
        }
        let cq = device.completion_queue(OUTSTANDING as u32).build()?;
        // Each frame takes several WQEBBs, and no more than `OUTSTANDING` frames are outstanding.
        cq.handle().oversubscribe();
        // Control and Ethernet segment, and the frame with its length, or a pointer.
        let inline = if layout.gather { 0 } else { frame.len() as u32 };
        let wqebbs = (36 + inline).max(48).div_ceil(64);
        let builder = pd.queue_pair::<RawPacket<0>>(&cq, &cq).no_receives().inline(inline);
        let mut pair = builder.sends(OUTSTANDING as u32 * wqebbs).build()?;
        pair.activate(&device.port(port)?)?;
        let mut memory = Pool::new(pd, frame.len(), Access::LOCAL_READ)?.take(frame.len())?;
        memory.write(0, frame);
        Ok(Self { pair, cq, memory, layout, sent: 0, done: 0 })
    }

    /// Waits until there is room for `frames` frames.
    ///
    /// # Errors
    /// A completion with an error, or none for ten seconds.
    pub fn wait(&mut self, frames: u64) -> Result<(), Failure> {
        let Self { pair, cq, done, .. } = self;
        let begin = Instant::now();
        loop {
            cq.try_poll_with(16, |cqe| {
                let left = pair.sq.complete(&cqe)?;
                *done = left.wr_id.0 + u64::from(left.frames);
                Ok::<_, Failure>(())
            })?;
            if self.sent - *done + frames <= OUTSTANDING {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err(Failure::Silence(PATIENCE));
            }
            std::thread::yield_now();
        }
    }

    /// Waits until all frames have left.
    ///
    /// # Errors
    /// As for [`wait`](Self::wait).
    pub fn drain(&mut self) -> Result<(), Failure> {
        self.wait(OUTSTANDING)
    }

    /// Sends a burst by one doorbell: there is room.
    ///
    /// # Errors
    /// A frame that does not fit into the WQE.
    pub fn send(&mut self, frames: &[&[u8]]) -> Result<usize, Failure> {
        let Layout { session, gather } = self.layout;
        let place = self.memory.sge_of(0..self.memory.len());
        let last = self.sent + frames.len() as u64 - 1;
        let mut batch = self.pair.sq.batch();
        // ANCHOR: send
        for frames in frames.chunks(session.max(1)) {
            // The `wr_id` of a frame is its number. A session completes for all its frames.
            if session > 0 {
                let mut session = batch.session(&wqe::frame().signaled(WrId(self.sent)))?;
                for frame in frames {
                    if gather {
                        // SAFETY: the memory is written by nothing, and goes after the queue.
                        unsafe { session.gather_unchecked(place)? };
                    } else {
                        session.inline(frame)?;
                    }
                }
                session.close();
            } else if gather {
                let request = wqe::frame().gather([place]).signaled_if(self.sent == last, WrId(self.sent));
                // SAFETY: the memory is written by nothing, and goes after the queue.
                unsafe { batch.push_unchecked(&request)? };
            } else {
                batch.push(&wqe::frame().inline_slice(frames[0]).signaled_if(self.sent == last, WrId(self.sent)))?;
            }
            self.sent += frames.len() as u64;
        }
        batch.ring_doorbell();
        // ANCHOR_END: send
        Ok(frames.len())
    }
}
