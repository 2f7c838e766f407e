//! One DS, 16 bytes of a WQE, in one CPU register.
use core::ptr::NonNull;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sixteen {
    use core::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cvtsi128_si64, _mm_or_si128, _mm_set_epi64x, _mm_slli_si128, _mm_unpackhi_epi64,
    };

    pub(super) type Sixteen = __m128i;

    #[inline(always)]
    pub(super) fn new([first, second]: [u64; 2]) -> Sixteen {
        // SAFETY: the module is compiled only where every CPU of the target has SSE2.
        unsafe { _mm_set_epi64x(second as i64, first as i64) }
    }

    #[inline(always)]
    pub(super) fn or(a: Sixteen, b: Sixteen) -> Sixteen {
        // SAFETY: the module is compiled only where every CPU of the target has SSE2.
        unsafe { _mm_or_si128(a, b) }
    }

    #[inline(always)]
    pub(super) fn and(a: Sixteen, b: Sixteen) -> Sixteen {
        // SAFETY: the module is compiled only where every CPU of the target has SSE2.
        unsafe { _mm_and_si128(a, b) }
    }

    #[inline(always)]
    pub(super) fn first_word(a: Sixteen) -> u64 {
        // SAFETY: the module is compiled only where every CPU of the target has SSE2.
        (unsafe { _mm_cvtsi128_si64(a) }) as u64
    }

    #[inline(always)]
    pub(super) fn words(a: Sixteen) -> [u64; 2] {
        // SAFETY: the module is compiled only where every CPU of the target has SSE2.
        let second = unsafe { _mm_unpackhi_epi64(a, a) };
        [first_word(a), first_word(second)]
    }

    #[inline(always)]
    pub(super) fn four_bytes_up(a: Sixteen) -> Sixteen {
        // SAFETY: the module is compiled only where every CPU of the target has SSE2.
        unsafe { _mm_slli_si128::<4>(a) }
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod sixteen {
    use core::arch::aarch64::{
        uint64x2_t, vandq_u64, vcombine_u64, vcreate_u64, vdupq_n_u8, vextq_u8, vgetq_lane_u64, vorrq_u64,
        vreinterpretq_u8_u64, vreinterpretq_u64_u8,
    };

    pub(super) type Sixteen = uint64x2_t;

    #[inline(always)]
    pub(super) fn new([first, second]: [u64; 2]) -> Sixteen {
        // SAFETY: the module is compiled only where every CPU of the target has Advanced SIMD; as below.
        unsafe { vcombine_u64(vcreate_u64(first), vcreate_u64(second)) }
    }

    #[inline(always)]
    pub(super) fn or(a: Sixteen, b: Sixteen) -> Sixteen {
        // SAFETY: the module is compiled only where every CPU of the target has Advanced SIMD.
        unsafe { vorrq_u64(a, b) }
    }

    #[inline(always)]
    pub(super) fn and(a: Sixteen, b: Sixteen) -> Sixteen {
        // SAFETY: the module is compiled only where every CPU of the target has Advanced SIMD.
        unsafe { vandq_u64(a, b) }
    }

    #[inline(always)]
    pub(super) fn first_word(a: Sixteen) -> u64 {
        // SAFETY: the module is compiled only where every CPU of the target has Advanced SIMD.
        unsafe { vgetq_lane_u64::<0>(a) }
    }

    #[inline(always)]
    pub(super) fn words(a: Sixteen) -> [u64; 2] {
        // SAFETY: the module is compiled only where every CPU of the target has Advanced SIMD.
        [first_word(a), unsafe { vgetq_lane_u64::<1>(a) }]
    }

    #[inline(always)]
    pub(super) fn four_bytes_up(a: Sixteen) -> Sixteen {
        // SAFETY: the module is compiled only where every CPU of the target has Advanced SIMD.
        unsafe { vreinterpretq_u64_u8(vextq_u8::<12>(vdupq_n_u8(0), vreinterpretq_u8_u64(a))) }
    }
}

/// For other CPUs.
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
)))]
mod sixteen {
    pub(super) type Sixteen = [u64; 2];

    #[inline(always)]
    pub(super) fn new(words: [u64; 2]) -> Sixteen {
        words
    }

    #[inline(always)]
    pub(super) fn or([a, b]: Sixteen, [c, d]: Sixteen) -> Sixteen {
        [a | c, b | d]
    }

    #[inline(always)]
    pub(super) fn and([a, b]: Sixteen, [c, d]: Sixteen) -> Sixteen {
        [a & c, b & d]
    }

    #[inline(always)]
    pub(super) fn first_word([first, _]: Sixteen) -> u64 {
        first
    }

    #[inline(always)]
    pub(super) fn words(words: Sixteen) -> [u64; 2] {
        words
    }

    #[inline(always)]
    pub(super) fn four_bytes_up([first, second]: Sixteen) -> Sixteen {
        if cfg!(target_endian = "little") {
            [first << 32, second << 32 | first >> 32]
        } else {
            [first >> 32, second >> 32 | first << 32]
        }
    }
}

/// Sixteen bytes in memory order, in one register where the CPU has registers of that width (x86-64: SSE2; AArch64:
/// Advanced SIMD), otherwise in two.
///
/// A WQE that is stored twice, to the ring and to the device, then takes half as many stores. That is worth the
/// instructions that combine two words. A WQE that is stored once, to the ring alone, is cheaper word by word.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Wide(sixteen::Sixteen);

impl Wide {
    /// Two words in memory order.
    #[inline(always)]
    #[must_use]
    pub fn new(words: [u64; 2]) -> Self {
        Self(sixteen::new(words))
    }

    /// The bits set in either.
    #[inline(always)]
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(sixteen::or(self.0, other.0))
    }

    /// The bits set in both.
    #[inline(always)]
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(sixteen::and(self.0, other.0))
    }

    /// Sixteen bytes.
    #[inline(always)]
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        // SAFETY: as many bytes, of which any are a value.
        unsafe { core::mem::transmute(bytes) }
    }

    /// The bytes.
    #[inline(always)]
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        // SAFETY: as many bytes, all of them initialised.
        unsafe { core::mem::transmute(self) }
    }

    /// The bytes moved to addresses four higher. The last four are lost; the first four become zero.
    #[inline(always)]
    #[must_use]
    pub fn four_bytes_up(self) -> Self {
        Self(sixteen::four_bytes_up(self.0))
    }

    /// Loads the bytes from ordinary memory.
    ///
    /// # Safety
    /// `place` must be 16-byte aligned and valid for a read of 16 bytes.
    #[inline(always)]
    #[must_use]
    pub unsafe fn load(place: NonNull<u64>) -> Self {
        // SAFETY: the caller promises 16 readable bytes, 16-byte aligned; any bytes are a value of the type.
        unsafe { place.cast::<Self>().read() }
    }

    /// Stores the bytes to ordinary memory.
    ///
    /// # Safety
    /// `place` must be 16-byte aligned and valid for a write of 16 bytes.
    #[inline(always)]
    pub unsafe fn store(self, place: NonNull<u64>) {
        // SAFETY: the caller promises 16 writable bytes, 16-byte aligned; the type is its bytes.
        unsafe { place.cast::<Self>().write(self) }
    }

    /// Stores the bytes to a device register, as [`mmio_write64`](super::mmio_write64) stores eight.
    ///
    /// # Safety
    /// `place` must be 16-byte aligned and valid for a write of 16 bytes, on which a device may act.
    #[inline(always)]
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    pub unsafe fn mmio_store(self, place: *mut u64) {
        // SAFETY: the caller promises 16 writable, aligned bytes, on which a device may act. A volatile store of a
        // register's width is one instruction, in program order.
        unsafe { place.cast::<Self>().write_volatile(self) }
    }

    /// The first word, in memory order.
    #[inline(always)]
    #[must_use]
    pub fn first_word(self) -> u64 {
        sixteen::first_word(self.0)
    }

    /// The register's contents.
    #[inline(always)]
    #[cfg(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon")
    ))]
    pub(super) const fn register(self) -> sixteen::Sixteen {
        self.0
    }

    /// The words, in memory order.
    #[inline(always)]
    #[must_use]
    pub fn words(self) -> [u64; 2] {
        sixteen::words(self.0)
    }
}

/// Writes one WQEBB to a BlueFlame register, 16 bytes at a time where the CPU has registers of that width, otherwise as
/// [`mmio_copy64`](super::mmio_copy64).
///
/// # Safety
/// As for [`mmio_copy64`](super::mmio_copy64).
#[inline(always)]
pub unsafe fn mmio_copy64_wide(dst: *mut u64, block: [Wide; 4]) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    for (i, sixteen) in block.into_iter().enumerate() {
        // SAFETY: `i` is at most 3, so this is within the 64 bytes that the caller vouches for, 16-byte aligned as they
        // are.
        unsafe { sixteen.mmio_store(dst.add(2 * i)) };
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        let [[a, b], [c, d], [e, f], [g, h]] = block.map(Wide::words);
        // SAFETY: the caller promises 64 aligned, writable bytes at `dst`, and that the device may execute the block.
        unsafe { super::mmio_copy64(dst, &[a, b, c, d, e, f, g, h]) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_keeps_memory_order() {
        let bytes: [u8; 16] = core::array::from_fn(|i| i as u8 + 1);
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        let wide = Wide::new([word(0), word(8)]);
        let stored = |wide: Wide| {
            #[repr(align(16))]
            struct Place([u8; 16]);
            let mut place = Place([0xa5; 16]);
            // SAFETY: sixteen aligned bytes.
            unsafe { wide.store(NonNull::from(&mut place.0).cast()) };
            place.0
        };
        assert_eq!(stored(wide), bytes);
        assert_eq!(wide.to_bytes(), bytes);
        assert_eq!(stored(Wide::from_bytes(bytes)), bytes);
        let mut up = [0; 16];
        up[4..].copy_from_slice(&bytes[..12]);
        assert_eq!(stored(wide.four_bytes_up()), up);
        let or: [u8; 16] = core::array::from_fn(|i| up[i] | bytes[i]);
        assert_eq!(stored(wide.or(wide.four_bytes_up())), or);
        let and: [u8; 16] = core::array::from_fn(|i| up[i] & bytes[i]);
        assert_eq!(stored(wide.and(wide.four_bytes_up())), and);
    }
}
