//! Faults to inject into a device and its network, as text: for a launcher's option, and for tests.

use std::str::FromStr;

use crate::config::SrqFaults;
use crate::wire::fault::{FaultConfig, FaultConfigError};

/// Faults of the network and of receives from SRQs.
///
/// As text: a [`FaultConfig`] with two more rates, each per mille: `drop=10,odp=20,psn=5,seed=1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Faults of packets.
    pub network: FaultConfig,
    /// Faults of receives from SRQs: `odp` is [`SrqFaults::page`], `psn` is [`SrqFaults::sequence`].
    pub srq: SrqFaults,
}

impl FromStr for Faults {
    type Err = FaultConfigError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut srq, mut network) = (SrqFaults::default(), Vec::new());
        for part in text.split(',') {
            let rate = match part.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some(("odp", value)) => (&mut srq.page, value),
                Some(("psn", value)) => (&mut srq.sequence, value),
                _ => {
                    network.push(part);
                    continue;
                }
            };
            *rate.0 = rate.1.parse().map_err(|_| FaultConfigError::Number(part.to_owned()))?;
        }
        match srq.page.saturating_add(srq.sequence) {
            0..=1000 => Ok(Self { network: network.join(",").parse()?, srq }),
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
        assert_eq!(found, Faults { network, srq: SrqFaults { page: 20, sequence: 5 } });
        assert_eq!("".parse(), Ok(Faults::default()));
        let fault = |text: &str| text.parse::<Faults>().unwrap_err();
        assert_eq!(fault("odp=x"), FaultConfigError::Number("odp=x".into()));
        assert_eq!(fault("odp=900,psn=101"), FaultConfigError::Sum(1001));
        assert_eq!(fault("page=1"), FaultConfigError::Name("page".into()));
        assert_eq!(fault("odp"), FaultConfigError::NoValue("odp".into()));
    }
}
