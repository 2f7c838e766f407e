//! A bad network on purpose: it drops, duplicates, reorders and delays the frames of a device, the same way for the
//! same seed.

use std::{
    ops::RangeInclusive,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use fastrand::Rng;
use thiserror::Error;

use super::frame::Frame;
use super::port::{Fate, Wire};
use crate::config::GidType;
use crate::packet::Packet;

/// For how many ticks a reordered frame lets others pass. A tick is one call of the wire, `send` or `recv`; so time
/// passes while the device is polled, and does not depend on a clock.
const REORDER_TICKS: RangeInclusive<u64> = 1..=8;
/// For how many ticks a delayed frame stays away.
const DELAY_TICKS: RangeInclusive<u64> = 16..=256;

/// Rates of faults, per mille of frames; their sum is at most 1000. A frame suffers one fault at most.
///
/// Written as `drop=10,dup=5,reorder=5,delay=3,ecn=2,seed=1`, in any order, each optional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultConfig {
    /// The frame vanishes.
    pub drop: u16,
    /// It is sent twice.
    pub duplicate: u16,
    /// Later frames overtake it: it waits for 1 to 8 calls of the wire.
    pub reorder: u16,
    /// It waits for 16 to 256 calls of the wire.
    pub delay: u16,
    /// A router on the way is congested and marks it, if the sender permits marks (an ECN field that is not 0; RFC
    /// 3168, 5). Other frames pass as they are.
    pub ecn: u16,
    /// Where the random numbers start.
    pub seed: u64,
}

/// Why a string is not a [`FaultConfig`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FaultConfigError {
    /// Not `name=value`.
    #[error("`{0}` is not name=value")]
    NoValue(String),
    /// No such name.
    #[error("`{0}` is none of drop, dup, reorder, delay, ecn, odp, psn, place, latency, jitter, rate, seed")]
    Name(String),
    /// Not a number, or too large.
    #[error("`{0}` is not a number in range")]
    Number(String),
    /// More than all frames.
    #[error("rates add up to {0} per mille: the limit is 1000")]
    Sum(u32),
}

impl FromStr for FaultConfig {
    type Err = FaultConfigError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut config = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| FaultConfigError::NoValue(part.to_owned()))?;
            let fault = |_| FaultConfigError::Number(part.to_owned());
            let rate = match name.trim() {
                "drop" => &mut config.drop,
                "dup" => &mut config.duplicate,
                "reorder" => &mut config.reorder,
                "delay" => &mut config.delay,
                "ecn" => &mut config.ecn,
                "seed" => {
                    config.seed = value.trim().parse().map_err(fault)?;
                    continue;
                }
                other => return Err(FaultConfigError::Name(other.to_owned())),
            };
            *rate = value.trim().parse().map_err(fault)?;
        }
        config.check()?;
        Ok(config)
    }
}

impl FaultConfig {
    pub(crate) fn check(&self) -> Result<(), FaultConfigError> {
        let sum = [self.drop, self.duplicate, self.reorder, self.delay, self.ecn].map(u32::from).iter().sum();
        if sum > 1000 { Err(FaultConfigError::Sum(sum)) } else { Ok(()) }
    }
}

/// Counts of a [`FaultInjector`] so far, in frames.
#[derive(Debug, Default)]
pub struct FaultStats {
    passed: AtomicUsize,
    dropped: AtomicUsize,
    duplicated: AtomicUsize,
    reordered: AtomicUsize,
    delayed: AtomicUsize,
    marked: AtomicUsize,
}

impl FaultStats {
    /// Frames left alone.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.passed.load(Ordering::Relaxed)
    }

    /// Frames that vanished.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Frames sent twice.
    #[must_use]
    pub fn duplicated(&self) -> usize {
        self.duplicated.load(Ordering::Relaxed)
    }

    /// Frames that others could overtake.
    #[must_use]
    pub fn reordered(&self) -> usize {
        self.reordered.load(Ordering::Relaxed)
    }

    /// Frames that stayed away.
    #[must_use]
    pub fn delayed(&self) -> usize {
        self.delayed.load(Ordering::Relaxed)
    }

    /// Frames that a router has marked.
    #[must_use]
    pub fn marked(&self) -> usize {
        self.marked.load(Ordering::Relaxed)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draw {
    Pass,
    Drop,
    Duplicate,
    Reorder,
    Delay,
    Mark,
}

/// A wire that drops, duplicates, reorders and delays the frames that it sends. It leaves received frames alone.
#[derive(Debug)]
pub struct FaultInjector<W> {
    wire: W,
    config: FaultConfig,
    rng: Rng,
    /// Calls so far.
    tick: u64,
    /// Drawn for a frame that the wire then gave back.
    drawn: Option<Draw>,
    /// Delayed frames, each with the tick at which it goes on.
    held: Vec<(u64, Frame, Fate)>,
    /// Due, but the wire has not taken them yet; they go before anything else to their QPs.
    due: Vec<(Frame, Fate)>,
    stats: Arc<FaultStats>,
}

impl<W: Wire> FaultInjector<W> {
    /// A wire that sends through `wire`, with these faults.
    ///
    /// # Errors
    /// [`FaultConfigError::Sum`] if the rates add up to more than 1000.
    pub fn new(wire: W, config: FaultConfig) -> Result<Self, FaultConfigError> {
        config.check()?;
        let rng = Rng::with_seed(config.seed);
        let stats = Arc::default();
        Ok(Self { wire, config, rng, tick: 0, drawn: None, held: Vec::new(), due: Vec::new(), stats })
    }

    /// From now on, frames suffer these faults. Random numbers go on.
    pub(crate) fn change(&mut self, config: FaultConfig) {
        self.config = config;
    }

    /// The wire behind it.
    pub(crate) fn inner_mut(&mut self) -> &mut W {
        &mut self.wire
    }

    /// Counts of its faults. The handle stays readable when the wire belongs to a device.
    #[must_use]
    pub fn stats(&self) -> Arc<FaultStats> {
        Arc::clone(&self.stats)
    }

    fn draw(&mut self) -> Draw {
        let FaultConfig { drop, duplicate, reorder, delay, ecn, .. } = self.config;
        let mut number = self.rng.u16(0..1000);
        for (rate, fate) in [
            (drop, Draw::Drop),
            (duplicate, Draw::Duplicate),
            (reorder, Draw::Reorder),
            (delay, Draw::Delay),
            (ecn, Draw::Mark),
        ] {
            if number < rate {
                return fate;
            }
            number -= rate;
        }
        Draw::Pass
    }

    fn hold(&mut self, frame: Frame, ticks: RangeInclusive<u64>, fate: Fate) {
        let due = self.tick + self.rng.u64(ticks);
        self.held.push((due, frame, fate));
    }

    /// Lets a tick pass and sends the frames that are due, as long as the wire takes them.
    fn pass_time(&mut self) {
        self.tick += 1;
        let tick = self.tick;
        if self.held.iter().any(|(due, ..)| *due <= tick) {
            let (due, held): (Vec<_>, _) =
                std::mem::take(&mut self.held).into_iter().partition(|(due, ..)| *due <= tick);
            self.held = held;
            self.due.extend(due.into_iter().map(|(_, frame, fate)| (frame, fate)));
        }
        let wire = &mut self.wire;
        let send = |(frame, fate)| {
            wire.note(&frame, fate);
            wire.send(frame).err().map(|frame| (frame, fate))
        };
        self.due = self.due.drain(..).filter_map(send).collect();
    }

    /// Whether a frame for the same QP waits for the wire.
    fn is_held_up(&self, frame: &Frame) -> bool {
        let to =
            |frame: &Frame| (frame.route.dlid, frame.route.grh.map(|grh| grh.dgid), Packet::dest_qp(&frame.packet));
        self.due.iter().any(|(due, _)| to(due) == to(frame))
    }
}

/// Marks a frame as a congested router does; `false` if the sender does not permit it.
fn mark(frame: &mut Frame) -> bool {
    const ECN: u8 = 3;
    match &mut frame.route.grh {
        Some(grh) if grh.kind == GidType::RoceV2 && grh.traffic_class & ECN != 0 => {
            grh.traffic_class |= ECN;
            true
        }
        _ => false,
    }
}

/// Ethernet frames pass without a fault: rates are for packets of the transport, which has answers to them.
impl<W: Wire> Wire for FaultInjector<W> {
    fn send(&mut self, mut frame: Frame) -> Result<(), Frame> {
        self.pass_time();
        if self.is_held_up(&frame) {
            return Err(frame);
        }
        let fate = self.drawn.take().unwrap_or_else(|| self.draw());
        let stats = Arc::clone(&self.stats);
        let count = match fate {
            Draw::Drop => {
                self.wire.note(&frame, Fate::Dropped);
                &stats.dropped
            }
            Draw::Reorder => {
                self.hold(frame, REORDER_TICKS, Fate::Overtaken);
                &stats.reordered
            }
            Draw::Delay => {
                self.hold(frame, DELAY_TICKS, Fate::Delayed);
                &stats.delayed
            }
            Draw::Mark if mark(&mut frame) => {
                self.wire.note(&frame, Fate::Marked);
                if let Err(back) = self.wire.send(frame) {
                    // It keeps its mark.
                    self.drawn = Some(Draw::Pass);
                    stats.marked.fetch_add(1, Ordering::Relaxed);
                    return Err(back);
                }
                &stats.marked
            }
            Draw::Pass | Draw::Duplicate | Draw::Mark => {
                let copy = (fate == Draw::Duplicate).then(|| frame.clone());
                if let Err(back) = self.wire.send(frame) {
                    self.drawn = Some(fate);
                    return Err(back);
                }
                match copy {
                    Some(copy) => {
                        self.wire.note(&copy, Fate::Repeated);
                        if let Err(back) = self.wire.send(copy) {
                            self.due.push((back, Fate::Repeated));
                        }
                        &stats.duplicated
                    }
                    None => &stats.passed,
                }
            }
        };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        self.pass_time();
        self.wire.recv()
    }

    fn is_holding(&self) -> bool {
        !self.held.is_empty() || !self.due.is_empty() || self.wire.is_holding()
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
    use crate::wire::{
        Address,
        in_process::{Fabric, InProcessWire, QUEUE_FRAMES},
        test_frames::numbered,
    };

    fn injector(config: &str) -> FaultInjector<InProcessWire> {
        let wire = Fabric::new().attach(Address { lids: vec![1], gids: vec![], qpns: 0x40..0x80 }).unwrap();
        FaultInjector::new(wire, config.parse().unwrap()).unwrap()
    }

    /// Sends `count` numbered frames and gives the numbers in the order in which they arrive.
    fn run(wire: &mut FaultInjector<InProcessWire>, count: u32) -> Vec<u32> {
        let mut arrived = Vec::new();
        for psn in 0..count {
            wire.send(numbered(1, 0x40, 8, psn)).unwrap();
            while let Some(frame) = wire.recv() {
                arrived.push(frame);
            }
        }
        for _ in 0..1000 {
            arrived.extend(wire.recv());
        }
        let number = |frame: &Frame| u32::from_be_bytes([0, frame.packet[9], frame.packet[10], frame.packet[11]]);
        arrived.iter().map(number).collect()
    }

    #[test]
    fn without_rates_nothing_happens() {
        let mut wire = injector("");
        assert_eq!(run(&mut wire, 1000), (0..1000).collect::<Vec<_>>());
        assert_eq!(wire.stats().passed(), 1000);
    }

    #[test]
    fn rates_are_kept_and_everything_is_accounted_for() {
        let mut wire = injector("drop=100,dup=50,reorder=50,delay=30,seed=1");
        let arrived = run(&mut wire, 20_000);
        let stats = wire.stats();
        let near = |count: usize, expected: usize| assert!(count.abs_diff(expected) < expected / 5, "{stats:?}");
        near(stats.dropped(), 2000);
        near(stats.duplicated(), 1000);
        near(stats.reordered(), 1000);
        near(stats.delayed(), 600);
        let sum = stats.passed() + stats.dropped() + stats.duplicated() + stats.reordered() + stats.delayed();
        assert_eq!(sum, 20_000);
        assert_eq!(arrived.len(), 20_000 - stats.dropped() + stats.duplicated());
        let mut distinct = arrived;
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 20_000 - stats.dropped());
    }

    #[test]
    fn reordering_and_delay_change_the_order_only() {
        for config in ["reorder=100,seed=3", "delay=100,seed=3"] {
            let mut arrived = run(&mut injector(config), 2000);
            assert!(!arrived.is_sorted(), "{config}");
            arrived.sort_unstable();
            assert_eq!(arrived, (0..2000).collect::<Vec<_>>(), "{config}");
        }
    }

    #[test]
    fn the_seed_decides() {
        let outcome = |seed| run(&mut injector(&format!("drop=100,dup=50,reorder=50,delay=30,seed={seed}")), 2000);
        assert_eq!(outcome(1), outcome(1));
        assert_ne!(outcome(1), outcome(2));
    }

    #[test]
    fn a_full_wire_loses_and_repeats_nothing() {
        let mut wire = injector("dup=1000");
        let mut taken = 0;
        while wire.send(numbered(1, 0x40, 8, taken)).is_ok() {
            taken += 1;
        }
        assert_eq!(taken as usize, QUEUE_FRAMES / 2);
        assert!(wire.send(numbered(1, 0x40, 8, taken)).is_err());
        assert!(wire.recv().is_some());
        wire.send(numbered(1, 0x40, 8, taken)).unwrap();
        let rest = std::iter::from_fn(|| wire.recv()).count();
        assert_eq!(rest, QUEUE_FRAMES + 1);
        assert_eq!(wire.stats().duplicated(), taken as usize + 1);
    }

    #[test]
    fn a_full_receiver_does_not_hold_up_others() {
        let fabric = Fabric::new();
        let address = |lid, qpns| Address { lids: vec![lid], gids: vec![], qpns };
        let own = fabric.attach(address(1, 0x40..0x80)).unwrap();
        let mut full = fabric.attach(address(2, 0x80..0xc0)).unwrap();
        let mut wire = FaultInjector::new(own, "dup=1000".parse().unwrap()).unwrap();
        // One before, so that in the end the second copy finds no room.
        full.send(numbered(2, 0x80, 8, 0)).unwrap();
        while wire.send(numbered(2, 0x80, 8, 0)).is_ok() {}
        assert!(wire.is_holding());
        wire.send(numbered(1, 0x40, 8, 1)).unwrap();
        assert_eq!(wire.recv(), Some(numbered(1, 0x40, 8, 1)));
    }

    #[test]
    fn bad_strings_are_refused() {
        let fault = |text: &str| text.parse::<FaultConfig>().unwrap_err();
        assert_eq!(fault("drop"), FaultConfigError::NoValue("drop".into()));
        assert_eq!(fault("lose=1"), FaultConfigError::Name("lose".into()));
        assert_eq!(fault("dup=-1"), FaultConfigError::Number("dup=-1".into()));
        assert_eq!(fault("drop=900,delay=101"), FaultConfigError::Sum(1001));
        let good = FaultConfig { drop: 10, duplicate: 5, reorder: 5, delay: 3, ecn: 2, seed: 1 };
        assert_eq!("drop=10,dup=5,reorder=5,delay=3,ecn=2,seed=1".parse(), Ok(good));
    }
}
