//! The sum of the Internet protocols (RFC 1071).

/// Adds the 16-bit words of `bytes`, an odd last byte padded with 0 (RFC 1071).
pub(crate) fn add(sum: u64, bytes: &[u8]) -> u64 {
    let words = bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u64::from(low)));
    sum + words.sum::<u64>()
}

/// The checksum of a sum: its one's complement, with the carries added back in.
pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
