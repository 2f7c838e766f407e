//! The cable of a device, as the launcher's option `--wire` names it.

use std::fmt::{self, Display, Formatter};
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// How packets reach other devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WireKind {
    /// By memory that processes of a user share, in the directory of `--fabric`.
    #[default]
    Shm,
    /// By UDP sockets at these addresses of the host; at all of them if there are none.
    Udp(Vec<IpAddr>),
    /// Frames through the host's TAP device of this name.
    Tap(String),
    /// Frames through the host's network interface of this name.
    Raw(String),
    /// Frames over the Unix socket at this path, in the form of QEMU.
    Socket(PathBuf),
}

/// A text that names no wire.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadWire {
    /// No such kind.
    #[error("`{0}` is none of shm, udp[:ADDRESS,…], tap:NAME, raw:NAME and socket:PATH")]
    Kind(String),
    /// Not an IP address.
    #[error("`{0}` is no IP address")]
    Address(String),
}

impl WireKind {
    /// Whether it reaches other hosts and machines. Then it carries Ethernet alone, and serves one device.
    #[must_use]
    pub fn leaves_the_host(&self) -> bool {
        *self != Self::Shm
    }

    /// Whether the host's routes lead to other devices: its addresses are theirs.
    #[must_use]
    pub fn has_host_addresses(&self) -> bool {
        matches!(self, Self::Udp(_) | Self::Raw(_))
    }
}

impl Display for WireKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shm => write!(f, "shm"),
            Self::Tap(name) => write!(f, "tap:{name}"),
            Self::Raw(name) => write!(f, "raw:{name}"),
            // It was made from text.
            Self::Socket(path) => write!(f, "socket:{}", path.display()),
            Self::Udp(addresses) => {
                write!(f, "udp")?;
                (0..)
                    .zip(addresses)
                    .try_for_each(|(number, address)| write!(f, "{}{address}", if number == 0 { ':' } else { ',' }))
            }
        }
    }
}

impl FromStr for WireKind {
    type Err = BadWire;

    fn from_str(text: &str) -> Result<Self, BadWire> {
        let (kind, rest) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        let address = |text: &str| text.parse().map_err(|_| BadWire::Address(text.to_owned()));
        match (kind, rest) {
            ("shm", None) => Ok(Self::Shm),
            ("udp", None) => Ok(Self::Udp(Vec::new())),
            ("udp", Some(addresses)) => addresses.split(',').map(address).collect::<Result<_, _>>().map(Self::Udp),
            ("tap", Some(name)) if !name.is_empty() => Ok(Self::Tap(name.to_owned())),
            ("raw", Some(name)) if !name.is_empty() => Ok(Self::Raw(name.to_owned())),
            ("socket", Some(path)) if !path.is_empty() => Ok(Self::Socket(path.into())),
            _ => Err(BadWire::Kind(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_are_read_as_they_are_written() {
        for text in ["shm", "udp", "udp:127.0.0.1", "udp:10.0.0.1,fe80::1,::1", "tap:t0", "raw:eth0", "socket:/a:b"] {
            assert_eq!(text.parse::<WireKind>().unwrap().to_string(), text);
        }
        assert_eq!("udp:::1".parse(), Ok(WireKind::Udp(vec!["::1".parse().unwrap()])));
    }

    #[test]
    fn other_texts_are_named() {
        let bad = |text: &str| text.parse::<WireKind>().unwrap_err();
        for text in ["", "shm:x", "tcp", "UDP", "tap", "raw:", "socket:"] {
            assert_eq!(bad(text), BadWire::Kind(text.to_owned()));
        }
        assert_eq!(bad("udp:"), BadWire::Address(String::new()));
        assert_eq!(bad("udp:localhost"), BadWire::Address("localhost".to_owned()));
    }
}
