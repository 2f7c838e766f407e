//! The pattern of the messages: it makes a wrong byte show.

use crate::Failure;

/// The byte with which the C tool fills its buffer.
const C_FILL: u8 = 0x7b;
/// Bytes per page of the C tool's machine: where its `-c` marks the message.
const C_PAGE: usize = 4096;

/// Writes message `k`.
pub(super) fn fill_pattern(k: u32, message: &mut [u8]) {
    for (word, chunk) in message.chunks_mut(8).enumerate() {
        // Weyl sequences with a multiplication: every bit depends on place and message.
        let mixed = (word as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ u64::from(k + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        chunk.copy_from_slice(&mixed.to_le_bytes()[..chunk.len()]);
    }
    message.iter_mut().step_by(C_PAGE).for_each(|first| *first = 0);
}

/// Whether this is the first message of a C client: its fill byte, and with `-c` a zero at the start of each page.
pub(super) fn is_c_fill(message: &[u8]) -> bool {
    let fill = |(place, &byte): (usize, &u8)| byte == C_FILL || (place % C_PAGE == 0 && byte == 0);
    // A message of one byte has room for the mark only; a lone zero counts as this crate's pattern.
    message.iter().enumerate().all(fill) && message != [0]
}

/// Compares the `k`-th message with pattern `pattern`, which is put together in `expected`.
pub(super) fn compare(k: u32, pattern: u32, message: &[u8], expected: &mut [u8]) -> Result<(), Failure> {
    fill_pattern(pattern, expected);
    match message.iter().zip(&*expected).position(|(is, should)| is != should) {
        None => Ok(()),
        Some(place) => Err(Failure::Data(format!(
            "message {k}, byte {place}: {:#04x} in place of {:#04x}",
            message[place], expected[place]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_bytes_are_found_and_c_fills_known() {
        let (mut message, mut scratch) = (vec![0; 5000], vec![0; 5000]);
        fill_pattern(7, &mut message);
        assert!(compare(0, 7, &message, &mut scratch).is_ok());
        assert!(compare(0, 8, &message, &mut scratch).is_err());
        assert_eq!((message[0], message[C_PAGE]), (0, 0));
        assert!(!is_c_fill(&message));
        message[4999] ^= 1;
        assert!(compare(0, 7, &message, &mut scratch).is_err());
        message.fill(C_FILL);
        assert!(is_c_fill(&message));
        (message[0], message[C_PAGE]) = (0, 0);
        assert!(is_c_fill(&message));
        message[1] = 0;
        assert!(!is_c_fill(&message));
    }
}
