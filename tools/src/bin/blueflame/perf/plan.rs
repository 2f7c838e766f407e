//! The plan of a run: the operation, the figure in question, the transport, and how they go together.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The operation that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// SEND into a receive of the peer
    Send,
    /// RDMA WRITE into memory of the peer
    Write,
    /// RDMA READ of memory of the peer
    Read,
    /// An atomic on 8 bytes of the peer (-A)
    Atomic,
    /// An Ethernet frame
    Frame,
}

/// The figure in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Figure {
    /// Time of each message, one on its way at a time
    Lat,
    /// Bytes a second, with many messages on their way
    Bw,
    /// Messages a second, small ones, and the CPU time of posting each
    Rate,
}

/// The transport. The names are perftest's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Service {
    /// Reliable connection
    #[value(name = "RC", alias = "rc")]
    Rc,
    /// Unreliable connection
    #[value(name = "UC", alias = "uc")]
    Uc,
    /// Datagrams
    #[value(name = "UD", alias = "ud")]
    Ud,
    /// Dynamic connections
    #[value(name = "DC", alias = "dc")]
    Dc,
    /// Extended reliable connections
    #[value(name = "XRC", alias = "xrc")]
    Xrc,
    /// Ethernet frames
    #[value(name = "RawEth", alias = "raw", alias = "raweth")]
    Raw,
}

/// The atomic operation. The names are perftest's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Atomic {
    /// Compare and swap
    #[value(name = "CMP_AND_SWAP")]
    CompareSwap,
    /// Fetch and add
    #[value(name = "FETCH_AND_ADD")]
    FetchAdd,
}

/// The name that the command line has for a value.
pub(crate) fn name<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Limits of the numbers in a plan. They also bound a peer's wishes: a server takes its client's plan.
///
/// Queue pairs: perftest's `MAX_QP_NUM`.
const QUEUES: RangeInclusive<u64> = 1..=16_384;
const THREADS: RangeInclusive<u64> = 1..=1024;
/// Messages of a queue: few enough that those of all queues, warm-up included, have a number of 64 bits.
const MESSAGES: RangeInclusive<u64> = 1..=1 << 48;
/// Runs of one meeting.
const SIZES: RangeInclusive<u64> = 1..=64;
/// Bytes of the messages of all queue pairs together, outgoing and incoming: 16 GiB.
const MEMORY: RangeInclusive<u64> = 0..=16 << 30;
/// Messages a second. Slower and faster ones have no time between two messages that is a number of nanoseconds.
const RATES: RangeInclusive<f64> = 0.001..=1e12;
/// Times of options.
pub(super) const LONGEST: Duration = Duration::from_secs(1_000_000);
pub(super) const TOO_LONG: &str = "not from 0 to 1000000 seconds";

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Limit {
    /// After this many messages of each queue.
    Messages(u64),
    /// After so long.
    Time(Duration),
}

/// A run. Both ends need the same one; ends that are both this tool compare theirs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) verb: Verb,
    pub(crate) figure: Figure,
    pub(crate) service: Service,
    pub(crate) atomic: Atomic,
    /// Bytes of a message, one run each.
    pub(crate) sizes: Vec<usize>,
    pub(crate) limit: Limit,
    /// Messages of each queue that are not measured, at the beginning.
    pub(crate) warm_up: u64,
    /// Time at either end of a limit of time that is not measured.
    pub(crate) margin: Duration,
    pub(crate) queues: usize,
    pub(crate) threads: usize,
    pub(crate) both_ways: bool,
    /// Messages a second of all queues together.
    pub(crate) rate: Option<f64>,
    pub(crate) tx_depth: u32,
    pub(crate) rx_depth: u32,
    pub(crate) post_list: u32,
    pub(crate) cq_mod: u32,
    pub(crate) inline: usize,
}

/// Why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Impossible {
    /// The transport does not have the operation.
    Pair(Verb, Service),
    /// The size does not fit.
    Size(Verb, usize),
    /// A number out of its range.
    Range { what: &'static str, value: u64, range: RangeInclusive<u64> },
    /// Queues cannot be divided among threads.
    Queues { queues: usize, threads: usize },
    /// An option that the figure or the operation does not have.
    Option(&'static str, &'static str),
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pair(verb, service) => {
                let has: Vec<_> = Service::value_variants().iter().filter(|service| service.has(*verb)).collect();
                let has = has.into_iter().map(name).collect::<Vec<_>>().join(", ");
                write!(f, "{} has no {}: choose -c {has}", name(service), name(verb))
            }
            Self::Size(Verb::Atomic, size) => write!(f, "an atomic has 8 bytes, not {size}"),
            Self::Size(Verb::Frame, size) => write!(f, "a frame has 60 to 1514 bytes, not {size}"),
            Self::Size(_, size) => write!(f, "a message cannot have {size} bytes"),
            Self::Range { what, value, range } => {
                write!(f, "{what}: {value} is not from {} to {}", range.start(), range.end())
            }
            Self::Queues { queues, threads } => write!(f, "{threads} threads cannot share {queues} queues evenly"),
            Self::Option(option, why) => write!(f, "{option}: {why}"),
        }
    }
}

impl std::error::Error for Impossible {}

impl Service {
    /// Whether the transport has the operation.
    pub(crate) const fn has(self, verb: Verb) -> bool {
        match self {
            Self::Rc | Self::Dc | Self::Xrc => !matches!(verb, Verb::Frame),
            Self::Uc => matches!(verb, Verb::Send | Verb::Write),
            Self::Ud => matches!(verb, Verb::Send),
            Self::Raw => matches!(verb, Verb::Frame),
        }
    }
}

impl Plan {
    /// Checks that its numbers are possible, and go together, whether they come from the command line or from a peer.
    ///
    /// # Errors
    /// [`Impossible`] names the first that does not.
    pub(crate) fn check(&self) -> Result<(), Impossible> {
        let within = |what, value, range: RangeInclusive<u64>| match range.contains(&value) {
            true => Ok(()),
            false => Err(Impossible::Range { what, value, range }),
        };
        let option = |wrong: bool, name, why| if wrong { Err(Impossible::Option(name, why)) } else { Ok(()) };
        if !self.service.has(self.verb) {
            return Err(Impossible::Pair(self.verb, self.service));
        }
        for &size in &self.sizes {
            let fits = match self.verb {
                Verb::Atomic => size == 8,
                Verb::Frame => (60..=1514).contains(&size),
                _ => (1..=1 << 30).contains(&size),
            };
            if !fits {
                return Err(Impossible::Size(self.verb, size));
            }
        }
        within("number of sizes", self.sizes.len() as u64, SIZES)?;
        // Memory polling takes the mark of a longer message for one that has not come.
        option(!self.sizes.is_sorted_by(|a, b| a < b), "-s", "sizes that do not grow")?;
        within("-q", self.queues as u64, QUEUES)?;
        within("--threads", self.threads as u64, THREADS)?;
        let bytes = (2 * self.queues as u64).saturating_mul(self.largest() as u64);
        within("bytes of the messages of all queues (-s, -q)", bytes, MEMORY)?;
        if let Limit::Messages(messages) = self.limit {
            within("-n", messages, MESSAGES)?;
        }
        within("--warm-up", self.warm_up, 0..=*MESSAGES.end())?;
        within("-t", self.tx_depth.into(), 1..=8192)?;
        within("-r", self.rx_depth.into(), 2..=16_384)?;
        within("-l", self.post_list.into(), 1..=8192)?;
        within("-Q", self.cq_mod.into(), 1..=u32::MAX.into())?;
        let is_long = |time| time > LONGEST;
        option(is_long(self.margin) || matches!(self.limit, Limit::Time(time) if is_long(time)), "-D", TOO_LONG)?;
        if !self.queues.is_multiple_of(self.threads) {
            return Err(Impossible::Queues { queues: self.queues, threads: self.threads });
        }
        let is_lat = self.figure == Figure::Lat;
        let per_thread = self.queues / self.threads;
        option(is_lat && per_thread > 1, "-q", "a thread has one queue, where latency is measured")?;
        option(is_lat && self.both_ways, "-b", "latency has no other direction")?;
        option(self.verb == Verb::Frame && self.queues > 1, "-q", "frames have one queue")?;
        option(self.verb == Verb::Frame && self.both_ways, "-b", "frames go one way")?;
        option(self.both_ways && self.warm_up > 0, "--warm-up", "not with -b: use -D and --margin")?;
        option(self.post_list > self.tx_depth, "-l", "more than -t")?;
        option(self.rate.is_some_and(|rate| !RATES.contains(&rate)), "--rate", "not from 0.001 to 10^12")?;
        let too_long = matches!(self.limit, Limit::Time(time) if time <= 2 * self.margin);
        option(too_long, "--margin", "-D leaves no time between two margins")
    }

    /// Whether the peer's CPU takes part in each message.
    pub(crate) const fn is_received(&self) -> bool {
        matches!(self.verb, Verb::Send | Verb::Frame)
    }

    /// Whether both ends send in turns. Then the time of a message is half of that there and back.
    pub(crate) fn takes_turns(&self) -> bool {
        self.figure == Figure::Lat && !matches!(self.verb, Verb::Read | Verb::Atomic)
    }

    /// Whether each end has an initiator and a target for each connection, as perftest counts them.
    pub(crate) fn has_two_sides(&self) -> bool {
        matches!(self.service, Service::Dc | Service::Xrc) && (self.figure == Figure::Lat || self.both_ways)
    }

    /// The largest message.
    pub(crate) fn largest(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    /// The names of operation, figure and transport.
    pub(crate) fn names(&self) -> [String; 3] {
        [name(&self.verb), name(&self.figure), name(&self.service)]
    }

    /// The name of the run: `send bw over RC`.
    pub(crate) fn title(&self) -> String {
        let [verb, figure, service] = self.names();
        format!("{verb} {figure} over {service}")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A plan for tests.
    pub(crate) fn plan(verb: Verb, figure: Figure, service: Service) -> Plan {
        Plan {
            verb,
            figure,
            service,
            atomic: Atomic::FetchAdd,
            sizes: vec![if verb == Verb::Frame { 60 } else { 8 }],
            limit: Limit::Messages(1000),
            warm_up: 0,
            margin: Duration::ZERO,
            queues: 1,
            threads: 1,
            both_ways: false,
            rate: None,
            tx_depth: 128,
            rx_depth: 512,
            post_list: 1,
            cq_mod: 64,
            inline: 0,
        }
    }

    #[test]
    fn transports_have_their_operations_only() {
        use Service::*;
        for (verb, has) in [
            (Verb::Send, &[Rc, Uc, Ud, Dc, Xrc][..]),
            (Verb::Write, &[Rc, Uc, Dc, Xrc]),
            (Verb::Read, &[Rc, Dc, Xrc]),
            (Verb::Atomic, &[Rc, Dc, Xrc]),
            (Verb::Frame, &[Raw]),
        ] {
            for &service in Service::value_variants() {
                for &figure in Figure::value_variants() {
                    let checked = plan(verb, figure, service).check();
                    let expected = if has.contains(&service) { Ok(()) } else { Err(Impossible::Pair(verb, service)) };
                    assert_eq!(checked, expected, "{verb:?} {figure:?} {service:?}");
                }
            }
        }
        let text = Impossible::Pair(Verb::Read, Uc).to_string();
        assert_eq!(text, "UC has no read: choose -c RC, DC, XRC");
    }

    #[test]
    fn sizes_and_counts_are_checked() {
        let good = plan(Verb::Send, Figure::Lat, Service::Rc);
        let bad = |change: fn(&mut Plan)| {
            let mut plan = good.clone();
            change(&mut plan);
            plan.check().expect_err("impossible")
        };
        assert_eq!(bad(|p| p.sizes = vec![8, 0]), Impossible::Size(Verb::Send, 0));
        assert_eq!(bad(|p| (p.queues, p.threads) = (3, 2)), Impossible::Queues { queues: 3, threads: 2 });
        let range = |change: fn(&mut Plan), text: &str| assert_eq!(bad(change).to_string(), text);
        range(|p| p.threads = 0, "--threads: 0 is not from 1 to 1024");
        range(|p| p.threads = 1025, "--threads: 1025 is not from 1 to 1024");
        range(|p| p.queues = 0, "-q: 0 is not from 1 to 16384");
        range(|p| p.queues = usize::MAX, "-q: 18446744073709551615 is not from 1 to 16384");
        range(|p| p.sizes = Vec::new(), "number of sizes: 0 is not from 1 to 64");
        range(|p| p.sizes = (1..66).collect(), "number of sizes: 65 is not from 1 to 64");
        range(|p| p.limit = Limit::Messages(0), "-n: 0 is not from 1 to 281474976710656");
        range(|p| p.warm_up = u64::MAX, "--warm-up: 18446744073709551615 is not from 0 to 281474976710656");
        range(|p| p.tx_depth = 8193, "-t: 8193 is not from 1 to 8192");
        range(|p| p.rx_depth = 1, "-r: 1 is not from 2 to 16384");
        range(|p| p.post_list = 0, "-l: 0 is not from 1 to 8192");
        range(|p| p.cq_mod = 0, "-Q: 0 is not from 1 to 4294967295");
        range(
            |p| (p.figure, p.queues, p.sizes) = (Figure::Bw, 16, vec![1 << 30]),
            "bytes of the messages of all queues (-s, -q): 34359738368 is not from 0 to 17179869184",
        );
        let option = |change: fn(&mut Plan), option: &str| {
            assert!(matches!(bad(change), Impossible::Option(name, _) if name == option), "{option}");
        };
        option(|p| p.queues = 2, "-q");
        option(|p| p.both_ways = true, "-b");
        option(|p| p.post_list = 129, "-l");
        option(|p| p.rate = Some(0.0), "--rate");
        option(|p| p.rate = Some(f64::NAN), "--rate");
        option(|p| p.sizes = vec![8, 8], "-s");
        option(|p| p.margin = Duration::MAX, "-D");
        option(|p| p.limit = Limit::Time(Duration::from_secs(1_000_001)), "-D");
        option(|p| (p.limit, p.margin) = (Limit::Time(Duration::from_secs(4)), Duration::from_secs(2)), "--margin");
    }
}
