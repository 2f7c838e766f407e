//! A queue of received frames, cyclic or striding.

use blueflame::cq::mode::PollMode;
use blueflame::flow::Flow;
use blueflame::queue::striding::Strides;
use blueflame::verbs::ethernet::{FlowRule, FrameReceiver, OwnedStridingWq, OwnedWq};
use blueflame::verbs::{Access, Buffer, Cq, Owned, Pool, ProtectionDomain};
use blueflame::{CompleteError, CompletionQueue, WrId};

use crate::Failure;

/// Completions of one poll, at most.
pub const BURST: usize = 64;
/// Bytes of a receive's buffer, and of a stride: any frame of a port with an MTU of 1500.
const BUFFER: usize = 2048;
/// log2 of the strides of a buffer, and of a stride's bytes.
const STRIDES: (u8, u8) = (9, 11);

/// Where frames are received to.
#[derive(Debug)]
enum Ring {
    /// A buffer for each frame. The memory goes after the queue.
    Cyclic { rq: OwnedWq, memory: Buffer, free: Vec<WrId> },
    /// Many frames in one buffer.
    Striding(OwnedStridingWq),
}

/// The frames of one flow.
#[derive(Debug)]
pub struct Frames<M: PollMode> {
    _rule: FlowRule,
    cq: Owned<CompletionQueue<M>, Cq>,
    ring: Ring,
    /// The bytes of one frame.
    copy: Vec<u8>,
}

/// Completions that a queue of `frames` receives needs.
#[must_use]
pub fn completions(frames: u32, striding: bool) -> u32 {
    if striding { wqes(frames) << STRIDES.0 } else { frames }
}

/// Receives of a striding queue for `frames` frames: two at least, so that one is posted while the other is filled.
fn wqes(frames: u32) -> u32 {
    frames.div_ceil(1 << STRIDES.0).max(2)
}

impl<M: PollMode> Frames<M> {
    /// Receives the frames of a flow from now on, with receives for `frames` frames. Of each frame, `copied` bytes are
    /// read.
    ///
    /// # Errors
    /// A failed call: without `CAP_NET_RAW`, for example.
    pub fn new(
        pd: &ProtectionDomain,
        cq: Owned<CompletionQueue<M>, Cq>,
        (frames, striding): (u32, bool),
        flow: &Flow,
        copied: usize,
    ) -> Result<Self, Failure> {
        let buffer = |bytes| Pool::new(pd, bytes, Access::LOCAL_WRITE)?.take(bytes);
        let mut ring = if striding {
            let strides = Strides::new(STRIDES.0, STRIDES.1)?;
            let memory = buffer(2 * wqes(frames) as usize * strides.wqe_bytes() as usize)?.strided(strides)?;
            Ring::Striding(pd.work_queue(&cq).receives(wqes(frames)).striding(memory).build()?)
        } else {
            let memory = buffer(frames as usize * BUFFER)?;
            let free = (0..u64::from(frames)).map(WrId).collect();
            Ring::Cyclic { rq: pd.work_queue(&cq).receives(frames).build()?, memory, free }
        };
        ring.refill()?;
        let handle = match &ring {
            Ring::Cyclic { rq, .. } => rq.handle(),
            Ring::Striding(rq) => rq.handle(),
        };
        let rule = FrameReceiver::direct(pd, handle)?.steer(flow)?;
        Ok(Self { _rule: rule, cq, ring, copy: vec![0; copied] })
    }

    /// Gives the frames that have come to `take`: the bytes that are read, and the length. Returns how many there were.
    ///
    /// # Errors
    /// That of `take`; a completion with an error.
    pub fn poll(&mut self, mut take: impl FnMut(&[u8], usize)) -> Result<usize, Failure> {
        let Self { cq, ring, copy, .. } = self;
        let mut frames = 0;
        // ANCHOR: poll
        let polled = cq.try_poll_with(BURST, |cqe| {
            let (read, len) = match ring {
                Ring::Striding(rq) => {
                    let frame = rq.receive(&cqe)?;
                    cqe.check()?;
                    let Some(frame) = frame else { return Ok(()) };
                    (frame.read(0, copy), frame.len())
                }
                Ring::Cyclic { rq, memory, free } => {
                    let received = rq.complete(&cqe).inspect_err(|error| {
                        // The buffer is ours again all the same.
                        if let CompleteError::Failed { done: slot, .. } = error {
                            free.push(*slot);
                        }
                    })?;
                    let (slot, len) = (received.buffer, received.bytes as usize);
                    let read = copy.len().min(len);
                    memory.read(slot.0 as usize * BUFFER, &mut copy[..read]);
                    free.push(slot);
                    (read, len)
                }
            };
            frames += 1;
            take(&copy[..read], len);
            Ok::<_, Failure>(())
        });
        // After an error as well: the device needs buffers.
        ring.refill()?;
        polled?;
        // ANCHOR_END: poll
        Ok(frames)
    }
}

impl Ring {
    /// Posts the free buffers, by one doorbell.
    fn refill(&mut self) -> Result<(), Failure> {
        match self {
            Self::Striding(rq) => _ = rq.refill(),
            Self::Cyclic { rq, memory, free } if !free.is_empty() => {
                let mut batch = rq.batch();
                for slot in free.drain(..) {
                    let start = slot.0 as usize * BUFFER;
                    // SAFETY: the buffer is this receive's alone until it completes; the memory goes after the queue.
                    unsafe { batch.push_unchecked(slot, &[memory.sge_of(start..start + BUFFER)])? };
                }
                batch.ring_doorbell();
            }
            Self::Cyclic { .. } => {}
        }
        Ok(())
    }
}
