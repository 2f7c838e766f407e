//! A value of which some bits count.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A value, and the bits of it that a frame must have. A plain value converts to one whose bits all count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Masked<T> {
    /// The value. Bits outside of the mask do not count.
    pub value: T,
    /// The bits that count are ones.
    pub mask: T,
}

impl<T> Masked<T> {
    /// The bits of `value` where `mask` has ones.
    pub const fn new(value: T, mask: T) -> Self {
        Self { value, mask }
    }
}

impl Masked<IpAddr> {
    /// The first `bits` bits of an address: a subnet. With 0 bits, any address of its family. More bits than the
    /// address has count as all of them.
    #[must_use]
    pub fn prefix(address: IpAddr, bits: u8) -> Self {
        let mask = match address {
            IpAddr::V4(_) => {
                Ipv4Addr::from_bits(u32::MAX.checked_shl(32_u32.saturating_sub(bits.into())).unwrap_or(0)).into()
            }
            IpAddr::V6(_) => {
                Ipv6Addr::from_bits(u128::MAX.checked_shl(128_u32.saturating_sub(bits.into())).unwrap_or(0)).into()
            }
        };
        Self::new(address, mask)
    }
}

impl From<u16> for Masked<u16> {
    fn from(value: u16) -> Self {
        Self::new(value, u16::MAX)
    }
}

impl From<u8> for Masked<u8> {
    fn from(value: u8) -> Self {
        Self::new(value, u8::MAX)
    }
}

impl From<[u8; 6]> for Masked<[u8; 6]> {
    fn from(value: [u8; 6]) -> Self {
        Self::new(value, [u8::MAX; 6])
    }
}

impl From<IpAddr> for Masked<IpAddr> {
    fn from(value: IpAddr) -> Self {
        Self::prefix(value, u8::MAX)
    }
}

impl From<Ipv4Addr> for Masked<IpAddr> {
    fn from(value: Ipv4Addr) -> Self {
        IpAddr::from(value).into()
    }
}

impl From<Ipv6Addr> for Masked<IpAddr> {
    fn from(value: Ipv6Addr) -> Self {
        IpAddr::from(value).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_as_long_as_asked_for() {
        let mask = |address: &str, bits| Masked::prefix(address.parse().expect("an address"), bits).mask;
        let ip = |address: &str| -> IpAddr { address.parse().expect("an address") };
        assert_eq!(mask("10.1.0.0", 0), ip("0.0.0.0"));
        assert_eq!(mask("10.1.0.0", 1), ip("128.0.0.0"));
        assert_eq!(mask("10.1.0.0", 16), ip("255.255.0.0"));
        assert_eq!([32, 33, 255].map(|bits| mask("10.1.0.0", bits)), [ip("255.255.255.255"); 3]);
        assert_eq!(mask("fe80::", 0), ip("::"));
        assert_eq!(mask("fe80::", 10), ip("ffc0::"));
        assert_eq!([128, 129].map(|bits| mask("fe80::", bits)), [ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"); 2]);
    }
}
