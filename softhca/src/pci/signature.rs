//! Signatures of commands: a byte that makes the exclusive or of all bytes 0xff.

/// The exclusive or of all bytes.
pub(super) fn xor(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum ^ byte)
}

/// The signature that goes to byte `at` of `bytes`.
pub(super) fn sign(bytes: &mut [u8], at: usize) {
    bytes[at] = 0;
    bytes[at] = !xor(bytes);
}

/// Whether the signature in `bytes` is right.
pub(super) fn is_signed(bytes: &[u8]) -> bool {
    xor(bytes) == 0xff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_makes_the_sum_all_ones() {
        let mut bytes = [1, 2, 4, 0x55];
        sign(&mut bytes, 3);
        assert_eq!(bytes, [1, 2, 4, 0xf8]);
        assert!(is_signed(&bytes));
        bytes[0] = 0;
        assert!(!is_signed(&bytes));
    }
}
