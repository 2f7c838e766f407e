//! One DS, 16 bytes of a WQE, on its way to the ring: as two words, or in one wide CPU register. Knows no
//! segment.
use core::ptr::NonNull;

use crate::arch::Wide;
use crate::wqe::words::be::join;
use crate::wqe::words::bytes::{take4, take8};

/// One DS as two words in memory order: storing the words produces the wire's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DsWords(pub [u64; 2]);

impl DsWords {
    pub(crate) const ZERO: Self = Self([0; 2]);

    /// Four 32-bit parts, in memory order, and each part's bytes in memory order.
    #[inline]
    pub(crate) const fn from_halves([a, b, c, d]: [u32; 4]) -> Self {
        Self([join(a, b), join(c, d)])
    }
}

/// The form in which a CPU holds one DS until it is stored: [`DsWords`] or [`Wide`].
pub(crate) trait HeldDs: Copy {
    /// Two words in memory order.
    fn new(words: DsWords) -> Self;

    /// Four bytes in memory order, and up to twelve off the front of `rest`, with zeros after its end.
    fn headed(head: u32, rest: &mut &[u8]) -> Self;

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
    unsafe fn store(self, place: NonNull<u64>) {
        let Self([first, second]) = self;
        // SAFETY: the caller's.
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
    unsafe fn store(self, place: NonNull<u64>) {
        // SAFETY: the caller's.
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
