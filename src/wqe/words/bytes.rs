//! Bytes of any length as words in memory order, by loads that overlap. Knows nothing of WQEs.

/// Takes up to 8 bytes off the front, in memory order, with zeros after the last byte.
#[inline(always)]
pub(crate) fn take8(rest: &mut &[u8]) -> u64 {
    if let Some((bytes, tail)) = rest.split_first_chunk::<8>() {
        *rest = tail;
        u64::from_ne_bytes(*bytes)
    } else {
        short(core::mem::take(rest))
    }
}

/// Takes up to 4 bytes off the front, in memory order, with zeros after the last byte.
#[inline(always)]
pub(in crate::wqe) fn take4(rest: &mut &[u8]) -> u32 {
    if let Some((bytes, tail)) = rest.split_first_chunk::<4>() {
        *rest = tail;
        u32::from_ne_bytes(*bytes)
    } else {
        // Fewer than 4 bytes: in memory order they are the first half of the word.
        let bytes = short(core::mem::take(rest)).to_ne_bytes();
        u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

/// Fewer than 8 bytes as a word in memory order, with zeros after the last byte. It uses overlapping loads, because
/// the compiler would turn a loop over bytes into a call of `memcpy`.
#[inline]
fn short(bytes: &[u8]) -> u64 {
    let little = if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let shift = (bytes.len() as u32).wrapping_sub(4) * 8;
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)).wrapping_shl(shift)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<2>(), bytes.last()) {
        let shift = (bytes.len() as u32).wrapping_sub(1) * 8;
        u64::from(u16::from_le_bytes(*first)) | u64::from(*last).wrapping_shl(shift)
    } else {
        bytes.first().map_or(0, |&byte| u64::from(byte))
    };
    little.to_le()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pieces_keep_memory_order() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        for len in 0..8 {
            let mut expected = [0; 8];
            expected[..len].copy_from_slice(&bytes[..len]);
            assert_eq!(short(&bytes[..len]).to_ne_bytes(), expected, "{len}");
            let mut rest = &bytes[..len];
            assert_eq!(take4(&mut rest).to_ne_bytes(), expected[..4], "{len}");
            assert_eq!(rest.len(), len.saturating_sub(4));
        }
        let mut rest = &bytes[..];
        assert_eq!(take8(&mut rest).to_ne_bytes(), bytes[..8]);
        assert_eq!(rest, [9]);
    }
}
