//! The floor of frames; see [`floor`](super::floor). Layouts are those of Linux' `struct mlx5_wqe_eth_seg`
//! (`include/linux/mlx5/qp.h`) and of DPDK's `drivers/net/mlx5/mlx5_tx.h`.
use std::ptr::NonNull;

use blueflame::arch::Wide;

use super::floor::{FloorSq, INLINE, SIGNALED, WQEBB_WORDS, Wqe, join};
use super::frames::{FRAME_BYTES, HEADER_BYTES, MSS};
use super::{MESSAGES, Message};

/// Words of a 16-byte unit.
const UNIT_WORDS: usize = 2;
/// Units in front of frames: control and Ethernet segment.
const HEAD_UNITS: usize = 2;
/// Units of an inline frame, behind its length.
const INLINE_UNITS: usize = (4 + FRAME_BYTES) / 16;
/// Units of a WQE of one inline frame.
pub(crate) const FRAME_UNITS: usize = HEAD_UNITS + INLINE_UNITS;
/// Units of a large send.
pub(crate) const LARGE_UNITS: usize = HEAD_UNITS + (HEADER_BYTES - 2).div_ceil(16) + 1;

const SEND: u32 = 0x0a;
const TSO: u32 = 0x0e;
/// `MLX5_OPCODE_ENHANCED_MPSW`.
const SESSION: u32 = 0x29;
/// Both checksums (`MLX5_ETH_WQE_L3_CSUM`, `MLX5_ETH_WQE_L4_CSUM`), in the Ethernet segment's second 32 bits.
const CHECKSUMS: u32 = 0xc0 << 24;

/// The data segment of a frame in registered memory.
#[inline(always)]
fn pointer(m: &Message) -> [u64; UNIT_WORDS] {
    [join(m.bytes.to_be(), m.lkey.to_be()), m.local.to_be()]
}

/// Stores a unit.
///
/// # Safety
/// `place` is one of the ring.
#[inline(always)]
unsafe fn store(place: NonNull<u64>, [first, second]: [u64; UNIT_WORDS]) {
    // SAFETY: the caller promises a place of the ring, whose units have two words.
    unsafe {
        place.write(first);
        place.add(1).write(second);
    }
}

/// Stores an inline frame behind its length.
///
/// # Safety
/// `place` is one of the ring, and has as many units behind it as an inline frame.
#[inline(always)]
unsafe fn store_inline(place: NonNull<u64>, frame: &[u8; FRAME_BYTES]) {
    let place = place.cast::<u8>();
    // SAFETY: the caller promises a place of the ring with room for the frame, which is not in the ring.
    unsafe {
        place.cast().write((INLINE | FRAME_BYTES as u32).to_be());
        place.add(4).copy_from_nonoverlapping(NonNull::from(frame).cast(), FRAME_BYTES);
    }
}

impl FloorSq {
    /// Control and Ethernet segment of a signalled WQE of `units` units.
    #[inline(always)]
    fn head(&self, opcode: u32, units: usize) -> [[u64; UNIT_WORDS]; HEAD_UNITS] {
        let qpn_ds = self.qpn_ds & !0xff_u32.to_be() | (units as u32).to_be();
        let control = [join(((self.pi & 0xffff) << 8 | opcode).to_be(), qpn_ds), join(SIGNALED.to_be(), 0)];
        [control, [join(0, CHECKSUMS.to_be()), 0]]
    }

    /// A frame in registered memory.
    #[inline(always)]
    pub(crate) fn frame(&self, m: &Message) -> Wqe {
        let [control, ethernet] = self.head(SEND, HEAD_UNITS + 1);
        [control, ethernet, pointer(m)]
    }

    /// Stores an inline frame of two WQEBBs to the ring; its first word.
    #[inline(always)]
    pub(crate) fn put_inline_frame(&mut self, frame: &[u8; FRAME_BYTES]) -> u64 {
        let head = self.head(SEND, HEAD_UNITS + INLINE_UNITS);
        let place = self.place(0);
        // SAFETY: the ring holds a whole number of pairs of WQEBBs, and all WQEs are pairs.
        unsafe {
            store(place, head[0]);
            store(place.add(UNIT_WORDS), head[1]);
            store_inline(place.add(HEAD_UNITS * UNIT_WORDS), frame);
        }
        self.pi = self.pi.wrapping_add(2);
        head[0][0]
    }

    /// The WQE of an inline frame in CPU registers.
    #[inline(always)]
    pub(crate) fn inline_frame(&self, frame: &[u8; FRAME_BYTES]) -> [Wide; FRAME_UNITS] {
        let [control, ethernet] = self.head(SEND, FRAME_UNITS);
        let [a, b, c, d, rest @ ..] = *frame;
        let first = [join((INLINE | FRAME_BYTES as u32).to_be(), u32::from_ne_bytes([a, b, c, d])), word(&rest, 0)];
        let unit = |n: usize| [word(&rest, 16 * n - 8), word(&rest, 16 * n)];
        [control, ethernet, first, unit(1), unit(2), unit(3)].map(Wide::new)
    }

    /// A signalled WQE of `U` units with a frame in its Ethernet segment, to be patched: all but the index, and without
    /// checksums by the device.
    pub(crate) fn prepared_frame<const N: usize, const U: usize>(&self, frame: &[u8; N]) -> [Wide; U] {
        let qpn_ds = self.qpn_ds & !0xff_u32.to_be() | (U as u32).to_be();
        in_segment(Wide::new([join(SEND.to_be(), qpn_ds), join(SIGNALED.to_be(), 0)]), frame)
    }

    /// Such a WQE of which the control segment was composed before, with another frame.
    #[inline(always)]
    pub(crate) fn patched_frame(
        &self,
        prepared: &[Wide; FRAME_UNITS],
        frame: &[u8; FRAME_BYTES],
    ) -> [Wide; FRAME_UNITS] {
        in_segment(prepared[0].or(self.index()), frame)
    }

    /// The place of a WQE's `n`th unit, around the ring's end.
    #[inline(always)]
    fn place(&self, n: usize) -> NonNull<u64> {
        let words = (self.mask as usize + 1) * WQEBB_WORDS;
        let word = self.pi as usize * WQEBB_WORDS + n * UNIT_WORDS;
        // SAFETY: inside of the ring, whose words are a power of two.
        unsafe { self.ring.add(word & (words - 1)) }
    }

    /// Whether a WQE of `units` units does not go around the ring's end.
    #[inline(always)]
    fn is_straight(&self, units: usize) -> bool {
        (self.pi & self.mask) as usize * WQEBB_WORDS + units * UNIT_WORDS <= (self.mask as usize + 1) * WQEBB_WORDS
    }

    /// Stores a WQE of frames in registered memory, which are the next `N` messages; its first word.
    #[inline(always)]
    pub(crate) fn put_pointers<const N: usize>(&mut self, first: u64) -> u64 {
        let units = HEAD_UNITS + N;
        let head = self.head(SESSION, units);
        let put = |place: &dyn Fn(usize) -> NonNull<u64>| {
            // SAFETY: places of the ring.
            unsafe {
                store(place(0), head[0]);
                store(place(1), head[1]);
                for n in 0..N {
                    store(place(HEAD_UNITS + n), pointer(MESSAGES.get(first + n as u64)));
                }
            }
        };
        if self.is_straight(units) {
            let start = self.place(0);
            // SAFETY: inside of the ring, as just checked.
            put(&|n| unsafe { start.add(n * UNIT_WORDS) });
        } else {
            put(&|n| self.place(n));
        }
        self.pi = self.pi.wrapping_add(units.div_ceil(4) as u32);
        head[0][0]
    }

    /// Stores a WQE of `N` inline frames, by number; its first word.
    #[inline(always)]
    pub(crate) fn put_inline<const N: usize>(&mut self, frame: impl Fn(usize) -> &'static [u8; FRAME_BYTES]) -> u64 {
        let units = HEAD_UNITS + N * INLINE_UNITS;
        let head = self.head(SESSION, units);
        let start = self.place(0);
        if self.is_straight(units) {
            // SAFETY: inside of the ring, as just checked.
            unsafe {
                store(start, head[0]);
                store(start.add(UNIT_WORDS), head[1]);
                for n in 0..N {
                    store_inline(start.add((HEAD_UNITS + n * INLINE_UNITS) * UNIT_WORDS), frame(n));
                }
            }
        } else {
            // SAFETY: places of the ring; the head is one WQEBB's.
            unsafe {
                store(start, head[0]);
                store(start.add(UNIT_WORDS), head[1]);
                for n in 0..N {
                    self.put_around(HEAD_UNITS + n * INLINE_UNITS, frame(n));
                }
            }
        }
        self.pi = self.pi.wrapping_add(units.div_ceil(4) as u32);
        head[0][0]
    }

    /// Stores an inline frame from the WQE's `n`th unit on, unit by unit.
    #[cold]
    #[inline(never)]
    fn put_around(&self, n: usize, frame: &[u8; FRAME_BYTES]) {
        let mut bytes = [0; 4 + FRAME_BYTES];
        bytes[..4].copy_from_slice(&(INLINE | FRAME_BYTES as u32).to_be_bytes());
        bytes[4..].copy_from_slice(frame);
        for (unit, part) in bytes.chunks_exact(16).enumerate() {
            // SAFETY: a place of the ring.
            unsafe { store(self.place(n + unit), [word(part, 0), word(part, 8)]) };
        }
    }

    /// A large send of two WQEBBs.
    #[inline(always)]
    pub(crate) fn large(&self, headers: &[u8; HEADER_BYTES], m: &Message) -> [Wide; LARGE_UNITS] {
        let [control, _] = self.head(TSO, LARGE_UNITS);
        let [first, second, ..] = *headers;
        let start = u32::from_be_bytes([0, HEADER_BYTES as u8, first, second]);
        let ethernet = [join(0, (CHECKSUMS | u32::from(MSS)).to_be()), join(0, start.to_be())];
        let [.., a, b, c, d] = *headers;
        let rest = |unit: usize| [word(headers, 2 + 16 * unit), word(headers, 10 + 16 * unit)];
        let last = [join(u32::from_ne_bytes([a, b, c, d]), 0), 0];
        [control, ethernet, rest(0), rest(1), rest(2), last, pointer(m)].map(Wide::new)
    }
}

/// Eight bytes, in memory order.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// A control segment, and a frame in the Ethernet segment behind it.
#[inline(always)]
fn in_segment<const N: usize, const U: usize>(control: Wide, frame: &[u8; N]) -> [Wide; U] {
    let start = u32::from_be_bytes([0, N as u8, frame[0], frame[1]]);
    let mut wqe = [Wide::new([0; 2]); U];
    wqe[0] = control;
    wqe[1] = Wide::new([0, join(0, start.to_be())]);
    for (n, unit) in wqe[HEAD_UNITS..].iter_mut().enumerate() {
        *unit = after_start(frame, n);
    }
    wqe
}

/// A frame's `n`th 16 bytes behind the two that the Ethernet segment begins with; zeros behind its end.
#[inline(always)]
fn after_start<const N: usize>(frame: &[u8; N], n: usize) -> Wide {
    let at = 2 + 16 * n;
    if at + 16 <= N {
        return Wide::new([word(frame, at), word(frame, at + 8)]);
    }
    // The frame's last word, moved down to its last bytes: no memory in between.
    let (last, missing) = (u64::from_le(word(frame, N - 8)), at + 16 - N);
    if missing < 8 {
        Wide::new([word(frame, at), (last >> (8 * missing)).to_le()])
    } else {
        Wide::new([(last >> (8 * (missing - 8))).to_le(), 0])
    }
}
