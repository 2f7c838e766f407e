//! The identification of an IPv4 packet, from its invariant CRC.
//!
//! A CRC is linear: if a packet differs from another one in its identification alone, then the difference of their CRCs
//! depends on nothing but the identification and the number of bytes behind it. So a receiver that takes the
//! identification for 0 can compute the true one.

/// The polynomial of Ethernet's CRC, lowest bit first.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The effect of each byte on the CRC, as in every implementation by bytes.
const FORWARD: [u32; 256] = forward();
/// The byte whose effect has this highest byte: each value occurs once.
const BYTE_OF: [u8; 256] = byte_of();

const fn forward() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = if crc & 1 != 0 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

const fn byte_of() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[(FORWARD[byte] >> 24) as usize] = byte as u8;
        byte += 1;
    }
    table
}

/// Undoes a step of the CRC over a byte of 0.
const fn back(crc: u32) -> u32 {
    let byte = BYTE_OF[(crc >> 24) as usize];
    (crc ^ FORWARD[byte as usize]) << 8 | byte as u32
}

/// The identification of a packet whose CRC differs by `difference` from that with the identification 0, with `behind`
/// bytes after it. `None` if no identification explains the difference.
pub(super) fn of(difference: u32, behind: usize) -> Option<u16> {
    const BYTES: usize = 2;
    let state = (0..behind + BYTES).fold(difference, |crc, _| back(crc));
    u16::try_from(state).ok().map(u16::swap_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_from_the_crc_of_any_packet() {
        for (identification, behind) in [(0, 0), (1, 0), (0x1234, 3), (0x718c, 70), (0xffff, 4200)] {
            let crc = |identification: u16| {
                let mut crc = crc32fast::Hasher::new();
                crc.update(b"header");
                crc.update(&identification.to_be_bytes());
                crc.update(&vec![0xa5; behind]);
                crc.finalize()
            };
            assert_eq!(of(crc(identification) ^ crc(0), behind), Some(identification));
        }
    }

    #[test]
    fn other_differences_have_none() {
        let found = (0..1000_u32).filter(|n| of(n.wrapping_mul(0x9e37_79b1) | 1 << 20, 64).is_some()).count();
        // One in 65536 would be.
        assert!(found <= 2, "{found}");
    }
}
