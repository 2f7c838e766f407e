//! Faults to inject into a device and its network, as text: for a launcher's option, and for tests.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::config::SrqFaults;
use crate::wire::Wire;
use crate::wire::fault::{FaultConfig, FaultConfigError, FaultInjector};
use crate::wire::slow::{LinkTiming, SlowLink};

/// Faults of the network and of receives from SRQs.
///
/// As text: a [`FaultConfig`] with two more rates, each per mille, and the timing of the link in microseconds and
/// megabits per second: `drop=10,odp=20,psn=5,latency=500,jitter=20,rate=1000,seed=1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Faults of packets.
    pub network: FaultConfig,
    /// The time that packets take.
    pub timing: LinkTiming,
    /// Faults of receives from SRQs: `odp` is [`SrqFaults::page`], `psn` is [`SrqFaults::sequence`].
    pub srq: SrqFaults,
    /// `place`: how many of a thousand packets of WRITEs are placed late ([`crate::config::LateWrites::rate`]).
    pub place: u16,
}

impl Faults {
    /// A wire through `wire` with the faults and the timing of the network.
    ///
    /// # Errors
    /// [`FaultConfigError::Sum`] if the rates add up to more than 1000.
    pub fn inject(&self, wire: Box<dyn Wire>) -> Result<Box<dyn Wire>, FaultConfigError> {
        let seed = self.network.seed;
        let wire = match self.timing == LinkTiming::default() {
            true => wire,
            false => Box::new(SlowLink::new(wire, self.timing, seed)),
        };
        Ok(match self.network == (FaultConfig { seed, ..FaultConfig::default() }) {
            true => wire,
            false => Box::new(FaultInjector::new(wire, self.network)?),
        })
    }
}

/// The words that it is read from, without those for nothing, and without the seed.
impl Display for Faults {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { network, timing, srq, place } = self;
        let rates = [
            ("drop", network.drop),
            ("dup", network.duplicate),
            ("reorder", network.reorder),
            ("delay", network.delay),
            ("ecn", network.ecn),
            ("odp", srq.page),
            ("psn", srq.sequence),
            ("place", *place),
        ];
        let times = [("latency", timing.latency), ("jitter", timing.jitter), ("rate", timing.rate)];
        let words = rates.map(|(name, rate)| (name, u32::from(rate))).into_iter().chain(times);
        let words: Vec<_> =
            words.filter(|(_, value)| *value > 0).map(|(name, value)| format!("{name}={value}")).collect();
        if words.is_empty() { write!(f, "no faults") } else { write!(f, "{}", words.join(",")) }
    }
}

impl FromStr for Faults {
    type Err = FaultConfigError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut srq, mut timing, mut network) = (SrqFaults::default(), LinkTiming::default(), Vec::new());
        let mut place = 0;
        for part in text.split(',') {
            let number = |value: &str| value.parse().map_err(|_| FaultConfigError::Number(part.to_owned()));
            let rate = match part.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some(("odp", value)) => (&mut srq.page, value),
                Some(("psn", value)) => (&mut srq.sequence, value),
                Some(("place", value)) => (&mut place, value),
                Some(("latency", value)) => {
                    timing.latency = number(value)?;
                    continue;
                }
                Some(("jitter", value)) => {
                    timing.jitter = number(value)?;
                    continue;
                }
                Some(("rate", value)) => {
                    timing.rate = number(value)?;
                    continue;
                }
                _ => {
                    network.push(part);
                    continue;
                }
            };
            *rate.0 = rate.1.parse().map_err(|_| FaultConfigError::Number(part.to_owned()))?;
        }
        match srq.page.saturating_add(srq.sequence).max(place) {
            0..=1000 => Ok(Self { network: network.join(",").parse()?, timing, srq, place }),
            sum => Err(FaultConfigError::Sum(sum.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_go_where_they_belong() {
        let found: Faults = "drop=3, odp=20 ,seed=7,psn=5".parse().unwrap();
        let network = FaultConfig { drop: 3, seed: 7, ..FaultConfig::default() };
        let srq = SrqFaults { page: 20, sequence: 5 };
        assert_eq!(found, Faults { network, srq, ..Faults::default() });
        assert_eq!(found.to_string(), "drop=3,odp=20,psn=5");
        assert_eq!(Faults::default().to_string(), "no faults");
        let timing = LinkTiming { latency: 500, jitter: 20, rate: 1000 };
        assert_eq!("latency=500,rate=1000,jitter=20".parse(), Ok(Faults { timing, ..Faults::default() }));
        let bad = "rate=-1".parse::<Faults>().unwrap_err();
        assert_eq!(bad, FaultConfigError::Number("rate=-1".into()));
        assert_eq!("".parse(), Ok(Faults::default()));
        assert_eq!("place=1000".parse(), Ok(Faults { place: 1000, ..Faults::default() }));
        let fault = |text: &str| text.parse::<Faults>().unwrap_err();
        assert_eq!(fault("odp=x"), FaultConfigError::Number("odp=x".into()));
        assert_eq!(fault("odp=900,psn=101"), FaultConfigError::Sum(1001));
        assert_eq!(fault("place=1001"), FaultConfigError::Sum(1001));
        assert_eq!(fault("page=1"), FaultConfigError::Name("page".into()));
        assert_eq!(fault("odp"), FaultConfigError::NoValue("odp".into()));
    }
}
