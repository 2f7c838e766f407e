//! Path MTUs, as the ABI (`enum ib_mtu`) and the device say them.

use crate::process::Errno;

/// Bytes of `enum ib_mtu`: 1 is 256, 5 is 4096.
pub(super) fn from_abi(mtu: u8) -> Result<u32, Errno> {
    if (1..=5).contains(&mtu) { Ok(128 << mtu) } else { Err(Errno::EINVAL) }
}

/// `enum ib_mtu` of this many bytes, of which there are at least 256.
pub(super) fn to_abi(bytes: u32) -> u8 {
    bytes.ilog2().saturating_sub(7) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mtus_survive_the_round_trip() {
        for abi in 1..=5 {
            assert_eq!(to_abi(from_abi(abi).unwrap()), abi);
        }
        assert_eq!([from_abi(0), from_abi(6)], [Err(Errno::EINVAL); 2]);
    }
}
