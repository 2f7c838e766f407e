//! A frame in units of 16 bytes, in which a post reads it. Knows no header.
//!
//! A CPU can serve a load from a store that has not reached the cache yet, if this one store has all of the load's
//! bytes. Otherwise the load waits for the cache, longer than the rest of a post takes. So a change of a few bytes stores
//! all 16 bytes around them, aligned.

use crate::arch::Wide;
use crate::arch::ds::take8;
use crate::wqe::HEADERS_BEFORE_DS;

/// Bytes of a lane.
const BYTES: usize = size_of::<Wide>();
/// Bytes in front of the frame, so that its lanes are aligned.
const BEFORE: usize = BYTES - HEADERS_BEFORE_DS;

/// The bytes of a frame.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct Lanes<const N: usize> {
    before: [u8; BEFORE],
    pub(super) bytes: [u8; N],
}

impl<const N: usize> Lanes<N> {
    pub(super) const ZERO: Self = Self { before: [0; BEFORE], bytes: [0; N] };

    /// Replaces the bytes from `at` on. Bytes beyond the frame's end are lost.
    #[inline(always)]
    pub(super) fn put(&mut self, at: usize, new: &[u8]) {
        let new = new.get(..N.saturating_sub(at)).unwrap_or(new);
        let (Some(first), Some(last)) = (new.first_chunk(), new.last_chunk()) else {
            return self.put_some(at, up_to_sixteen(new), new.len());
        };
        // Whole lanes, and both ends, which can overlap them.
        let before_lane = HEADERS_BEFORE_DS.wrapping_sub(at) % BYTES;
        if before_lane != 0 {
            self.put_some(at, u128::from_le_bytes(*first), BYTES);
        }
        let (mut lane, mut rest) = (at + before_lane, new.get(before_lane..).unwrap_or_default());
        while let (Some((sixteen, after)), Some(place)) = (rest.split_first_chunk(), self.lane_mut(lane)) {
            *place = *sixteen;
            (lane, rest) = (lane + BYTES, after);
        }
        if !rest.is_empty() {
            self.put_some(at + new.len() - BYTES, u128::from_le_bytes(*last), BYTES);
        }
    }

    /// Replaces `len` bytes, up to 16, from `at` on, by those of a number that begins with its lowest.
    #[inline(always)]
    fn put_some(&mut self, at: usize, new: u128, len: usize) {
        let mask = if len == 0 { 0 } else { u128::MAX >> ((BYTES - len) * 8) };
        // The first bytes are in the WQE's Ethernet segment.
        let Some(behind) = at.checked_sub(HEADERS_BEFORE_DS) else {
            return self.put_each(at, mask, new);
        };
        let within = behind % BYTES;
        let first = at - within;
        self.put_lane(first, mask << (within * 8), new << (within * 8));
        if within + len > BYTES {
            let shift = (BYTES - within) * 8;
            self.put_lane(first + BYTES, mask >> shift, new >> shift);
        }
    }

    /// Replaces the bytes of `mask` in the 16 from `first` on.
    #[inline(always)]
    fn put_lane(&mut self, first: usize, mask: u128, new: u128) {
        if let Some(lane) = self.lane_mut(first) {
            let [keep, new] = [!mask, new].map(|bits| Wide::from_bytes(bits.to_le_bytes()));
            *lane = Wide::from_bytes(*lane).and(keep).or(new).to_bytes();
        } else {
            self.put_each(first, mask, new);
        }
    }

    #[inline(always)]
    fn lane_mut(&mut self, first: usize) -> Option<&mut [u8; BYTES]> {
        self.bytes.get_mut(first..)?.first_chunk_mut()
    }

    /// Writes byte by byte: at the frame's start, and at its end.
    #[inline(always)]
    fn put_each(&mut self, first: usize, mask: u128, new: u128) {
        let bytes = mask.to_le_bytes().into_iter().zip(new.to_le_bytes());
        for (place, (mask, new)) in self.bytes.iter_mut().skip(first).zip(bytes) {
            *place = *place & !mask | new;
        }
    }
}

/// Up to 16 bytes as a number that begins with its lowest.
#[inline(always)]
fn up_to_sixteen(mut bytes: &[u8]) -> u128 {
    let [first, second] = [take8(&mut bytes), take8(&mut bytes)].map(|word| u128::from(u64::from_le(word)));
    first | second << 64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At each place, with each length, against a plain copy.
    #[test]
    fn only_the_named_bytes_change() {
        let new: [u8; 40] = core::array::from_fn(|n| !(n as u8));
        for at in 0..70 {
            for len in 0..=new.len() {
                let mut frame = Lanes { bytes: core::array::from_fn(|n| n as u8), ..Lanes::<67>::ZERO };
                let mut expected = frame.bytes;
                expected.iter_mut().skip(at).zip(&new[..len]).for_each(|(to, from)| *to = *from);
                frame.put(at, &new[..len]);
                assert_eq!(frame.bytes, expected, "{len} bytes at {at}");
            }
        }
    }
}
