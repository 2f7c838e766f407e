//! Packet sequence numbers: 24 bits that wrap (IBTA vol. 1, 9.7.1).

use std::fmt;

/// Bits of a PSN.
const MASK: u32 = 0x00ff_ffff;

/// Half of the PSN space: a PSN at most this far behind another is its past, anything else its future.
pub(crate) const HALF: u32 = 1 << 23;

/// A packet sequence number. It wraps, so it has no order of its own: positions are compared as distances from a PSN
/// that is known to be behind.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Psn(u32);

impl Psn {
    /// The PSN made of the low 24 bits of `value`.
    pub(crate) const fn new(value: u32) -> Self {
        Self(value & MASK)
    }

    /// The number, 0 to 2^24 - 1.
    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    /// The PSN `count` packets later.
    pub(crate) const fn plus(self, count: u32) -> Self {
        Self::new(self.0.wrapping_add(count))
    }

    /// The PSN before this one.
    pub(crate) const fn previous(self) -> Self {
        Self::new(self.0.wrapping_sub(1))
    }

    /// How many packets after `base` this PSN is, 0 to 2^24 - 1; PSNs before `base` come out as large distances.
    pub(crate) const fn after(self, base: Self) -> u32 {
        self.0.wrapping_sub(base.0) & MASK
    }
}

impl fmt::Debug for Psn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#08x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_24_bits() {
        let last = Psn::new(0xff_ffff);
        assert_eq!(last.plus(1), Psn::new(0));
        assert_eq!(Psn::new(0).previous(), last);
        assert_eq!(Psn::new(3).after(Psn::new(0xff_fffe)), 5);
        assert_eq!(Psn::new(0xff_fffe).after(Psn::new(3)), (1 << 24) - 5);
        assert_eq!(Psn::new(0x0123_4567).get(), 0x23_4567);
    }
}
