//! One DS, 16 bytes of a WQE, as a CPU holds it until it is stored; and bytes of any length as words in memory order.
use core::ptr::NonNull;

use super::Wide;

/// Two 4-byte halves, in memory order, as one word.
#[inline]
pub(crate) const fn join(first: u32, second: u32) -> u64 {
    if cfg!(target_endian = "little") {
        (second as u64) << 32 | first as u64
    } else {
        (first as u64) << 32 | second as u64
    }
}

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
fn take4(rest: &mut &[u8]) -> u32 {
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

/// One DS as two words in memory order: storing the words produces the wire's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DsWords(pub [u64; 2]);

impl DsWords {
    pub(crate) const ZERO: Self = Self([0; 2]);

    /// The first 16 of these bytes.
    #[inline(always)]
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let word = |bytes: &[u8]| u64::from_ne_bytes(*bytes.first_chunk().unwrap_or(&[0; 8]));
        Self([word(bytes), word(bytes.get(8..).unwrap_or_default())])
    }

    /// Four 32-bit parts, in memory order, and each part's bytes in memory order.
    #[inline]
    pub(crate) const fn from_halves([a, b, c, d]: [u32; 4]) -> Self {
        Self([join(a, b), join(c, d)])
    }
}

/// The form in which a CPU holds one DS until it is stored: [`DsWords`] or [`Wide`].
pub trait HeldDs: Copy {
    /// Two words in memory order.
    fn new(words: DsWords) -> Self;

    /// Four bytes in memory order, and up to twelve off the front of `rest`, with zeros after its end.
    fn headed(head: u32, rest: &mut &[u8]) -> Self;

    /// Loads it from ordinary memory.
    ///
    /// # Safety
    /// `place` must be 16-byte aligned and valid for a read of 16 bytes.
    unsafe fn load(place: NonNull<u64>) -> Self;

    /// Stores it to ordinary memory.
    ///
    /// # Safety
    /// `place` must be 16-byte aligned and valid for a write of 16 bytes.
    unsafe fn store(self, place: NonNull<u64>);

    /// The first word, in memory order.
    fn first_word(self) -> u64;

    /// The bits set in either.
    fn or(self, other: Self) -> Self;

    /// Both words, in memory order.
    fn words(self) -> DsWords;
}

impl HeldDs for DsWords {
    #[inline(always)]
    fn new(words: DsWords) -> Self {
        words
    }

    #[inline(always)]
    fn headed(head: u32, rest: &mut &[u8]) -> Self {
        let first = take4(rest);
        Self([join(head, first), take8(rest)])
    }

    #[inline(always)]
    unsafe fn load(place: NonNull<u64>) -> Self {
        // SAFETY: two words, for which the caller vouches.
        unsafe { Self([place.read(), place.add(1).read()]) }
    }

    #[inline(always)]
    unsafe fn store(self, place: NonNull<u64>) {
        let Self([first, second]) = self;
        // SAFETY: the caller promises 16 writable, aligned bytes: the two words.
        unsafe {
            place.write(first);
            place.add(1).write(second);
        }
    }

    #[inline(always)]
    fn first_word(self) -> u64 {
        self.0[0]
    }

    #[inline(always)]
    fn or(self, Self([c, d]): Self) -> Self {
        let Self([a, b]) = self;
        Self([a | c, b | d])
    }

    #[inline(always)]
    fn words(self) -> DsWords {
        self
    }
}

impl HeldDs for Wide {
    #[inline(always)]
    fn new(DsWords(words): DsWords) -> Self {
        Self::new(words)
    }

    #[inline(always)]
    fn headed(head: u32, rest: &mut &[u8]) -> Self {
        let bytes = Self::new([take8(rest), join(take4(rest), 0)]);
        bytes.four_bytes_up().or(Self::new([join(head, 0), 0]))
    }

    #[inline(always)]
    unsafe fn load(place: NonNull<u64>) -> Self {
        // SAFETY: 16 aligned bytes, for which the caller vouches.
        unsafe { Self::load(place) }
    }

    #[inline(always)]
    unsafe fn store(self, place: NonNull<u64>) {
        // SAFETY: the caller promises 16 writable bytes, 16-byte aligned.
        unsafe { Self::store(self, place) }
    }

    #[inline(always)]
    fn first_word(self) -> u64 {
        Self::first_word(self)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self::or(self, other)
    }

    #[inline(always)]
    fn words(self) -> DsWords {
        DsWords(Self::words(self))
    }
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
