//! A slow or distant link: packets take their time, by the device's clock. In a test the clock is virtual, so a link
//! around the world costs no real time, and each run is the same.
//!
//! ```text
//! sent ── waits for those before it ── bytes / rate ── latency + jitter ── at the other end
//! ```
//!
//! Packets and frames stay in order, as in a queue.

use std::collections::VecDeque;
use std::time::Duration;

use fastrand::Rng;

use super::cable::{self, Dropped};
use super::frame::Frame;
use super::port::{Fate, Wire};

/// Most packets and frames on their way. Past it, a packet comes back to its sender, and a frame is lost.
pub const ON_THE_WAY: usize = 4096;

/// The time that a link takes. The default is a link without delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTiming {
    /// From one end to the other, in microseconds.
    pub latency: u32,
    /// The most that is added to the latency, in microseconds.
    pub jitter: u32,
    /// Megabits per second; 0 is no limit.
    pub rate: u32,
}

impl LinkTiming {
    /// How long `bytes` take to leave.
    fn time_of(&self, bytes: usize) -> Duration {
        match self.rate {
            0 => Duration::ZERO,
            // A megabit per second is a bit per microsecond.
            rate => Duration::from_nanos(bytes as u64 * 8 * 1000 / u64::from(rate)),
        }
    }
}

#[derive(Debug)]
enum Content {
    Packet(Frame, Option<Fate>),
    Ethernet(Vec<u8>),
}

/// A wire whose packets arrive later: [`LinkTiming`].
#[derive(Debug)]
pub struct SlowLink<W> {
    wire: W,
    timing: LinkTiming,
    rng: Rng,
    now: Duration,
    /// The last byte of the latest packet leaves then.
    free_at: Duration,
    /// In order, each with the time at which it arrives.
    on_the_way: VecDeque<(Duration, Content)>,
    /// Of the next packet.
    fate: Option<Fate>,
    /// Frames that were lost since they were last counted.
    lost: u64,
}

impl<W: Wire> SlowLink<W> {
    /// A link with this timing in front of `wire`. `seed` decides on the jitter.
    pub fn new(wire: W, timing: LinkTiming, seed: u64) -> Self {
        let (now, free_at) = (Duration::ZERO, Duration::ZERO);
        Self { wire, timing, rng: Rng::with_seed(seed), now, free_at, on_the_way: VecDeque::new(), fate: None, lost: 0 }
    }

    /// From now on, the link takes these times. Packets on their way keep theirs.
    pub(crate) fn change(&mut self, timing: LinkTiming) {
        self.timing = timing;
    }

    fn put(&mut self, bytes: usize, content: Content) {
        self.free_at = self.free_at.max(self.now) + self.timing.time_of(bytes);
        let way = self.timing.latency.saturating_add(self.rng.u32(0..=self.timing.jitter));
        let due = self.free_at + Duration::from_micros(way.into());
        let due = self.on_the_way.back().map_or(due, |(before, _)| due.max(*before));
        self.on_the_way.push_back((due, content));
    }
}

impl<W: Wire> Wire for SlowLink<W> {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        if self.on_the_way.len() >= ON_THE_WAY {
            return Err(frame);
        }
        let fate = self.fate.take();
        self.put(cable::octets(&frame.route, frame.packet.len()), Content::Packet(frame, fate));
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        self.wire.recv()
    }

    fn note(&mut self, frame: &Frame, fate: Fate) {
        match fate {
            // It never is on the way.
            Fate::Dropped => self.wire.note(frame, fate),
            _ => self.fate = Some(fate),
        }
    }

    fn send_ethernet(&mut self, frame: &[u8]) {
        if self.on_the_way.len() < ON_THE_WAY {
            self.put(frame.len(), Content::Ethernet(frame.to_vec()));
        } else {
            self.lost += 1;
        }
    }

    fn next_dropped(&mut self) -> Option<(Dropped, u64)> {
        match std::mem::take(&mut self.lost) {
            0 => self.wire.next_dropped(),
            lost => Some((Dropped::NoRoomThere, lost)),
        }
    }

    fn advance(&mut self, now: Duration) -> bool {
        self.now = now;
        let mut worked = self.wire.advance(now);
        while self.on_the_way.front().is_some_and(|(due, _)| *due <= now) {
            let Some((due, content)) = self.on_the_way.pop_front() else { break };
            match content {
                Content::Ethernet(frame) => self.wire.send_ethernet(&frame),
                Content::Packet(frame, fate) => {
                    if let Some(fate) = fate {
                        self.wire.note(&frame, fate);
                    }
                    if let Err(frame) = self.wire.send(frame) {
                        self.on_the_way.push_front((due, Content::Packet(frame, fate)));
                        break;
                    }
                }
            }
            worked = true;
        }
        worked
    }

    fn next_deadline(&self) -> Option<Duration> {
        let own = self.on_the_way.front().map(|(due, _)| *due).filter(|due| *due > self.now);
        own.into_iter().chain(self.wire.next_deadline()).min()
    }

    fn is_holding(&self) -> bool {
        let is_late = self.on_the_way.front().is_some_and(|(due, _)| *due <= self.now);
        is_late || self.wire.is_holding()
    }

    fn behind(&self) -> Option<&dyn Wire> {
        Some(&self.wire)
    }

    fn behind_mut(&mut self) -> Option<&mut dyn Wire> {
        Some(&mut self.wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::in_process::{Fabric, InProcessWire, QUEUE_FRAMES};
    use crate::wire::{Address, test_frames::numbered};

    /// Bytes of a packet on the cable: LRH, BTH, payload and ICRC.
    const PACKET: usize = 8 + 12 + 976 + 4;

    fn link(timing: LinkTiming) -> SlowLink<InProcessWire> {
        let wire = Fabric::new().attach(Address { lids: vec![1], gids: vec![], qpns: 0x40..0x80 }).unwrap();
        SlowLink::new(wire, timing, 7)
    }

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// The times at which packets arrive that were all sent at 0, in microseconds.
    fn arrivals(timing: LinkTiming, packets: u32) -> Vec<u64> {
        let mut link = link(timing);
        for psn in 0..packets {
            link.send(numbered(1, 0x41, 976, psn)).unwrap();
        }
        let mut found = Vec::new();
        while let Some(due) = link.next_deadline() {
            assert!(link.recv().is_none());
            assert!(link.advance(due) && !link.is_holding());
            while let Some(frame) = link.recv() {
                assert_eq!(frame, numbered(1, 0x41, 976, found.len() as u32));
                found.push(due.as_micros() as u64);
            }
        }
        found
    }

    #[test]
    fn packets_take_the_time_of_their_bytes_and_of_the_way() {
        assert_eq!(PACKET, 1000);
        let timing = LinkTiming { latency: 50_000, jitter: 0, rate: 1000 };
        assert_eq!(arrivals(timing, 3), [50_008, 50_016, 50_024]);
        assert_eq!(arrivals(LinkTiming { rate: 0, ..timing }, 3), [50_000; 3]);
    }

    #[test]
    fn jitter_keeps_the_order_and_depends_on_the_seed_alone() {
        let timing = LinkTiming { latency: 100, jitter: 50, rate: 0 };
        let found = arrivals(timing, 200);
        assert!(found.is_sorted() && found.iter().all(|at| (100..=150).contains(at)));
        assert!(found[0] < found[199] && found.len() == 200);
        assert_eq!(arrivals(timing, 200), found);
    }

    #[test]
    fn a_link_without_delay_passes_packets_at_the_next_step() {
        let mut link = link(LinkTiming::default());
        link.send(numbered(1, 0x41, 4, 0)).unwrap();
        assert!(link.is_holding() && link.next_deadline().is_none());
        assert!(link.advance(Duration::ZERO) && link.recv().is_some());
    }

    #[test]
    fn packets_wait_for_a_full_receiver_and_senders_for_the_link() {
        let mut link = link(LinkTiming { latency: 1, ..LinkTiming::default() });
        for _ in 0..ON_THE_WAY {
            link.send(numbered(1, 0x41, 4, 0)).unwrap();
        }
        assert!(link.send(numbered(1, 0x41, 4, 0)).is_err());
        link.advance(micros(1));
        assert!(link.is_holding());
        assert_eq!(std::iter::from_fn(|| link.recv()).count(), QUEUE_FRAMES);
        link.advance(micros(2));
        assert_eq!(std::iter::from_fn(|| link.recv()).count(), QUEUE_FRAMES);
        link.send(numbered(1, 0x41, 4, 0)).unwrap();
    }

    #[test]
    fn frames_are_delayed_too() {
        let fabric = Fabric::new();
        let attach = |lid| fabric.attach(Address { lids: vec![lid], gids: vec![], qpns: 0x40..0x80 }).unwrap();
        let (wire, mut far) = (attach(1), attach(2));
        let mut near = SlowLink::new(wire, LinkTiming { latency: 5, ..LinkTiming::default() }, 0);
        near.send_ethernet(&[1; 60]);
        near.advance(micros(4));
        assert_eq!(far.recv_ethernet(), None);
        near.advance(micros(5));
        assert_eq!(far.recv_ethernet(), Some(vec![1; 60]));
    }

    #[test]
    fn each_frame_that_is_lost_counts() {
        let mut link = link(LinkTiming { latency: 1, ..LinkTiming::default() });
        for _ in 0..ON_THE_WAY + 7 {
            link.send_ethernet(&[1; 60]);
        }
        assert_eq!((link.next_dropped(), link.next_dropped()), (Some((Dropped::NoRoomThere, 7)), None));
    }
}
