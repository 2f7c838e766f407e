//! A sender, and a striding queue on the same port.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::on_device::{device, wait_for};
use blueflame::cq::CompletionQueue;
use blueflame::cq::mode::{PollMode, Standard};
use blueflame::flow::Flow;
use blueflame::queue::striding::{Frame, FrameBytes, LentFrame, Strides};
use blueflame::transport::RawPacket;
use blueflame::verbs::ethernet::{FlowRule, FrameReceiver, OwnedStridingWq};
use blueflame::verbs::memory::Pages;
use blueflame::verbs::{Access, Buffer, Cq, Device, Owned, OwnedCq, ProtectionDomain, QueuePair};
use blueflame::{WrId, wqe};

const STATION: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 1];
/// Bytes of the longest frame.
pub(crate) const LONGEST: usize = 9000;
/// Frames that are sent at a time, at most.
pub(crate) const BURST: usize = 32;

/// Bytes in which frames begin at different places.
static PATTERN: [u8; LONGEST + 256] = {
    let mut bytes = [0; LONGEST + 256];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = (at * 7 + at / 256) as u8;
        at += 1;
    }
    bytes
};

/// The bytes of frame `number`: Ethernet's header, the number, and bytes that both decide.
pub(crate) fn bytes(number: u32, len: usize) -> Vec<u8> {
    let mut bytes = [&STATION[..], &[2, 0, 0x5e, 0, 0x53, 9, 0x88, 0xb5]].concat();
    bytes.extend(number.to_be_bytes());
    let begin = (number * 31) as usize % 256;
    bytes.extend(&PATTERN[begin..][bytes.len()..len]);
    bytes
}

/// The number of a frame, which has the bytes that it must have.
pub(crate) fn checked(frame: &FrameBytes) -> u32 {
    let mut read = vec![0; frame.len()];
    assert_eq!(frame.read(0, &mut read), frame.len());
    let number = u32::from_be_bytes(*read[14..].first_chunk().expect("a number"));
    assert!(read == bytes(number, frame.len()), "frame {number} of {} bytes has changed", frame.len());
    number
}

/// Sends frames.
pub(crate) struct Sender {
    cq: OwnedCq,
    pair: QueuePair<RawPacket>,
    memory: Buffer,
}

impl Sender {
    pub(crate) fn new(device: &Device, pd: &ProtectionDomain) -> Self {
        let cq = device.completion_queue(4 * BURST as u32 + 1).build().expect("a CQ");
        let builder = pd.queue_pair::<RawPacket>(&cq, &cq).sends(4 * BURST as u32).no_receives().inline(64);
        let mut pair = builder.build().expect("a raw packet queue pair: is it permitted?");
        pair.activate(&device.port(1).expect("port 1")).expect("ready to send");
        let (pages, _) = Pages::map(BURST * (LONGEST + 60)).expect("memory");
        Self { cq, pair, memory: pd.register(pages, Access::LOCAL_READ).expect("registered") }
    }

    /// Sends frames by one doorbell, and waits until they have left.
    pub(crate) fn send(&mut self, frames: &[(u32, usize)]) {
        self.send_bytes(frames.iter().map(|&(number, len)| bytes(number, len)));
    }

    /// As [`send`](Self::send), of the bytes of frames.
    pub(crate) fn send_bytes<F: AsRef<[u8]>>(&mut self, frames: impl ExactSizeIterator<Item = F>) {
        let (mut batch, count) = (self.pair.sq.batch(), frames.len());
        for (n, frame) in frames.enumerate() {
            let at = n * (LONGEST + 60);
            let (headers, rest) = frame.as_ref().split_first_chunk::<18>().expect("so many");
            self.memory.write(at, rest);
            let rest = self.memory.sge_of(at..at + rest.len());
            let frame = wqe::frame().inline_headers(headers).gather([rest]);
            let last = n + 1 == count;
            // SAFETY: the memory is this sender's, and is written again when the frames have left.
            let pushed = unsafe {
                if last { batch.push_unchecked(&frame.signaled(WrId(1))) } else { batch.push_unchecked(&frame) }
            };
            pushed.expect("room");
        }
        batch.ring_doorbell();
        wait_for("a completion", || {
            let cqe = self.cq.poll()?;
            cqe.check().expect("a success");
            Some(self.pair.sq.retire(&cqe).expect("outstanding"))
        });
    }
}

/// The port has one laboratory at a time.
static PORT: Mutex<()> = Mutex::new(());

pub(crate) fn port() -> MutexGuard<'static, ()> {
    PORT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A sender, and a queue that gets its frames.
pub(crate) struct Lab<M: PollMode = Standard> {
    pub(crate) pd: ProtectionDomain,
    pub(crate) sender: Sender,
    _rule: FlowRule,
    pub(crate) cq: Owned<CompletionQueue<M>, Cq>,
    pub(crate) rq: OwnedStridingWq,
    pub(crate) next: u32,
    /// Completions without a frame, so far.
    pub(crate) empty: usize,
    _port: MutexGuard<'static, ()>,
}

/// How many WQEs may be posted, and how many buffers there are.
pub(crate) type Sizes = (u32, u32);

/// The memory of `buffers` buffers.
pub(crate) fn memory(pd: &ProtectionDomain, buffers: u32, strides: Strides) -> Buffer {
    let (pages, _) = Pages::map(buffers as usize * strides.wqe_bytes() as usize).expect("memory");
    pd.register(pages, Access::LOCAL_WRITE).expect("registered")
}

impl Lab {
    pub(crate) fn new(sizes: Sizes, strides: Strides) -> Self {
        Self::with(sizes, strides, |device, cqes| device.completion_queue(cqes).build().expect("a CQ"))
    }
}

impl<M: PollMode> Lab<M> {
    pub(crate) fn with(
        (receives, buffers): Sizes,
        strides: Strides,
        cq: impl FnOnce(&Device, u32) -> Owned<CompletionQueue<M>, Cq>,
    ) -> Self {
        let port = port();
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let sender = Sender::new(&device, &pd);
        let cq = cq(&device, receives * strides.count());
        let memory = memory(&pd, buffers, strides).strided(strides).expect("long enough");
        let rq = pd.work_queue(&cq).receives(receives).striding(memory).build().expect("a striding queue");
        let receiver = FrameReceiver::direct(&pd, rq.handle()).expect("a receiver");
        let rule = receiver.steer(&Flow::mac(STATION).flow_tag(0x1234)).expect("a rule");
        Self { pd, sender, _rule: rule, cq, rq, next: 0, empty: 0, _port: port }
    }

    /// Sends frames of these lengths, at most half a WQE long, and gives each to `f`, which may keep it. It sends as
    /// many at a time as the posted buffers have room for.
    pub(crate) fn exchange(&mut self, lens: &[usize], mut f: impl FnMut(LentFrame<'_>)) {
        let mut rest = lens;
        while !rest.is_empty() {
            let strides = self.rq.memory().strides();
            // The WQE that is being filled has no room for sure, and up to half of each other stays empty.
            let room = self.rq.posted().saturating_sub(1) as usize * strides.wqe_bytes() as usize / 2;
            let mut bytes = 0;
            let fits = |&len: &usize| {
                bytes += (len + 2).next_multiple_of(1 << strides.log_bytes());
                bytes <= room
            };
            let (now, later) = rest.split_at(rest.iter().copied().take_while(fits).count());
            assert!(!now.is_empty(), "{} WQEs are posted: no room for {} bytes", self.rq.posted(), rest[0]);
            self.exchange_all(now, &mut f);
            rest = later;
        }
    }

    fn exchange_all(&mut self, lens: &[usize], mut f: impl FnMut(LentFrame<'_>)) {
        let sent: Vec<_> = lens.iter().enumerate().map(|(n, &len)| (self.next + n as u32, len)).collect();
        self.next += lens.len() as u32;
        self.sender.send(&sent);
        let mut left = &sent[..];
        let (cq, rq, empty) = (&mut self.cq, &mut self.rq, &mut self.empty);
        // Both ways in turn.
        let mut with_completions = self.next % 2 == 0;
        wait_for("a completion", || {
            let mut take = |frame: LentFrame<'_>| {
                let (&(number, len), rest) = left.split_first().expect("no more frames than sent");
                assert_eq!((checked(&frame), frame.len(), frame.flow_tag()), (number, len, 0x1234));
                f(frame);
                left = rest;
            };
            if with_completions {
                cq.poll_with(7, |cqe| {
                    cqe.check().expect("a success");
                    match rq.receive(&cqe).expect("the next strides") {
                        Some(frame) => take(frame),
                        None => *empty += 1,
                    }
                });
            } else {
                let mut frames = 0;
                let polled = rq.poll_with(cq, 7, |frame| {
                    take(frame);
                    frames += 1;
                });
                *empty += polled.expect("the next strides") - frames;
            }
            with_completions = !with_completions;
            rq.refill();
            left.is_empty().then_some(())
        });
    }

    /// Sends frames of these lengths, and keeps all.
    pub(crate) fn keep(&mut self, lens: &[usize]) -> Vec<Frame> {
        let mut kept = Vec::new();
        self.exchange(lens, |frame| kept.push(frame.keep()));
        kept
    }
}
