//! The receiving end of a feed: one queue for the frames of both lines.

use std::time::{Duration, Instant};

use blueflame::flow::Flow;
use blueflame::packet;
use blueflame::verbs::correlation::{Correlation, Time};
use blueflame::verbs::device::Clock;
use blueflame::verbs::ethernet::{FlowRule, FrameReceiver, Interface, Membership, OwnedWq};
use blueflame::verbs::{Access, Buffer, Device, OwnedCq, Pool, ProtectionDomain};

use crate::{Failure, FeedOptions, feed};

/// Bytes of a receive buffer: any frame of a port with an MTU of 1500.
const BUFFER: usize = 2048;
/// How long the feed may be silent.
const PATIENCE: Duration = Duration::from_secs(10);
/// The device's clock and the system's drift apart: up to a nanosecond each microsecond.
const CORRELATE_EVERY: Duration = Duration::from_millis(20);

/// A packet of the feed.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// 0 for A, 1 for B.
    pub line: usize,
    /// The number of its message.
    pub number: u64,
    /// The price in it.
    pub price: u64,
    /// The device's clock when it came.
    pub stamp: u64,
    /// That time by the system's clock.
    pub time: Time,
}

/// Both lines of a feed.
#[derive(Debug)]
pub struct Lines {
    /// The rules end first, the memory last.
    _rules: Vec<(Membership, FlowRule)>,
    cq: OwnedCq,
    queue: OwnedWq<Box<Buffer>>,
    clock: Clock,
    now: Correlation,
    correlated: Instant,
    heard: Instant,
    deadline: Option<Instant>,
    /// The number after the last message's, once the publisher has ended the session.
    pub end: Option<u64>,
}

impl Lines {
    /// Receives the feed of these options from now on.
    ///
    /// # Errors
    /// A failed call: without `CAP_NET_RAW`, for example.
    pub fn new(
        device: &Device,
        pd: &ProtectionDomain,
        interface: &Interface,
        options: &FeedOptions,
    ) -> Result<Self, Failure> {
        let cq = device.completion_queue(options.rx_depth).free_running(true).build()?;
        let mut queue = pd.work_queue(&cq).receives(options.rx_depth).build()?;
        let receiver = FrameReceiver::direct(pd, queue.handle())?;
        let mut pool = Pool::new(pd, options.rx_depth as usize * BUFFER, Access::LOCAL_WRITE)?;
        for _ in 0..options.rx_depth {
            queue.post(Box::new(pool.take(BUFFER)?))?;
        }
        let mut rules = Vec::new();
        for (line, tag) in options.lines().into_iter().zip(1..) {
            // The kernel has the network send the group here; the rule has the device give it to this program.
            let membership = interface.join((*line.ip()).into())?;
            rules.push((membership, receiver.steer(&Flow::udp(*line.ip(), line.port()).flow_tag(tag))?));
        }
        let clock = device.clock()?;
        let now = clock.correlate(cq.handle())?;
        let heard = Instant::now();
        let deadline = options.duration.map(|seconds| heard + Duration::from_secs_f64(seconds));
        Ok(Self { _rules: rules, cq, queue, clock, now, correlated: heard, heard, deadline, end: None })
    }

    /// Whether there is more to come.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.end.is_none() && self.deadline.is_none_or(|deadline| Instant::now() < deadline)
    }

    /// The system's time of a timestamp.
    #[must_use]
    pub const fn time_of(&self, stamp: u64) -> Time {
        self.now.time_of(stamp)
    }

    /// Gives the packets that have come to `take`; how many frames there were.
    ///
    /// # Errors
    /// The error of `take`; a completion with an error; a frame that is no packet of the feed; silence.
    pub fn poll(&mut self, mut take: impl FnMut(Received) -> Result<(), Failure>) -> Result<usize, Failure> {
        let Self { cq, queue, now, end, .. } = self;
        let polled = cq.try_poll_with(64, |cqe| {
            let message = queue.complete(&cqe)?;
            let (line, stamp, bytes) = (cqe.flow_tag() as usize - 1, cqe.timestamp(), message.bytes as usize);
            let mut frame = [0; BUFFER];
            let frame = &mut frame[..bytes];
            message.buffer.read(0, frame);
            // The buffer goes back to the device, so that the queue never runs out of receives.
            queue.post(message.buffer)?;
            let payload = packet::parse(frame)?.payload;
            match feed::parse(payload) {
                Some((number, feed::END_OF_SESSION)) => *end = Some(number),
                Some((number, _)) => {
                    let price = feed::price_of(payload).ok_or_else(|| Failure::Data("no price".to_owned()))?;
                    take(Received { line, number, price, stamp, time: now.time_of(stamp) })?;
                }
                None => return Err(Failure::Data(format!("a packet of another feed: {payload:x?}"))),
            }
            Ok::<_, Failure>(())
        })?;
        if polled > 0 {
            self.heard = Instant::now();
            return Ok(polled);
        }
        if self.heard.elapsed() > PATIENCE && self.deadline.is_none() {
            return Err(Failure::Silence(PATIENCE));
        }
        if self.correlated.elapsed() > CORRELATE_EVERY {
            self.now = self.clock.correlate(self.cq.handle())?;
            self.correlated = Instant::now();
        }
        // A program that wants the lowest latency spins here, on a CPU of its own.
        std::thread::yield_now();
        Ok(0)
    }
}
