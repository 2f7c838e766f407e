//! Masked atomics ("extended" ones): of 4, 8 or 16 bytes, on some bits or on fields. Knows no queue.
//!
//! The only public driver that posts 16-byte atomics is the libmlx5 of MLNX_OFED 4 (`src/qp.c`, `set_ext_atomic_seg`):
//! - A compare and swap has the value to swap in, the value to compare with, and their masks. A fetch and add has the
//!   value to add and the boundaries.
//! - Each of these is as long as the operand. It consists of words of eight bytes in network order, the first word
//!   first.
//! - The opcode modifier is 8 plus log2 of the bytes, less 2.
//!
//! MLNX_OFED 4's kernel (`ext_atomic_caps`) says that the old value comes in network order for all sizes but 8, and
//! that fields have at most 64 bits. No public source says which word of the operand is the high half. Here it is the
//! first one, as in network order. The peer's memory has the number in its CPU's order, as with 4 and 8 bytes. UCX,
//! DOCA and today's libmlx5 have no 16-byte atomics. Devices may have larger ones, which are not here.
use core::fmt;

use crate::layout::{Be32, Be64, Be128};
use crate::sealed::Sealed;
use crate::wqe::data::{Data, Remote, ToFetch};
use crate::wqe::operation::Operation;
use crate::wqe::request::Request;
use crate::wqe::seg::{AtomicSeg, Masked128Seg, MaskedAdd32Seg, MaskedSwap32Seg, RaddrSeg};
use crate::wqe::table::{
    MaskedCompareSwap32, MaskedCompareSwap64, MaskedCompareSwap128, MaskedFetchAdd32, MaskedFetchAdd64,
    MaskedFetchAdd128,
};

/// A word, and the bits of it that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masked<W> {
    /// The word.
    pub value: W,
    /// Mask of the bits that count.
    pub mask: W,
}

impl<W: AtomicWord> Masked<W> {
    /// All bits.
    #[must_use]
    pub const fn all(value: W) -> Self {
        Self { value, mask: W::ALL }
    }
}

/// A word that extended atomics work on: [`u32`], [`u64`] or [`u128`]. It lies in the peer's memory in its CPU's
/// order, aligned to its size.
pub trait AtomicWord: Sealed + Copy + fmt::Debug {
    /// All bits set.
    const ALL: Self;
    /// The compare and swap.
    type CompareSwap: Operation;
    /// The fetch and add.
    type FetchAdd: Operation;
    /// The room for the old value.
    type Fetched: Data;

    #[doc(hidden)]
    fn compare_swap(
        remote: Remote,
        compare: Masked<Self>,
        swap: Masked<Self>,
    ) -> Request<'static, Self::CompareSwap, Self::Fetched>;
    #[doc(hidden)]
    fn fetch_add(remote: Remote, add: Self, boundary: Self) -> Request<'static, Self::FetchAdd, Self::Fetched>;
}

impl Sealed for u32 {}
impl AtomicWord for u32 {
    const ALL: Self = Self::MAX;
    type CompareSwap = MaskedCompareSwap32;
    type FetchAdd = MaskedFetchAdd32;
    type Fetched = ToFetch<4>;

    #[inline(always)]
    fn compare_swap(
        remote: Remote,
        compare: Masked<Self>,
        swap: Masked<Self>,
    ) -> Request<'static, MaskedCompareSwap32, ToFetch<4>> {
        let operands = MaskedSwap32Seg {
            swap: Be32::new(swap.value),
            compare: Be32::new(compare.value),
            swap_mask: Be32::new(swap.mask),
            compare_mask: Be32::new(compare.mask),
        };
        Request::new([RaddrSeg::from(remote).into(), operands.into()])
    }

    #[inline(always)]
    fn fetch_add(remote: Remote, add: Self, boundary: Self) -> Request<'static, MaskedFetchAdd32, ToFetch<4>> {
        let operands =
            MaskedAdd32Seg { add: Be32::new(add), boundary: Be32::new(boundary), reserved: [Be32::new(0); 2] };
        Request::new([RaddrSeg::from(remote).into(), operands.into()])
    }
}

impl Sealed for u64 {}
impl AtomicWord for u64 {
    const ALL: Self = Self::MAX;
    type CompareSwap = MaskedCompareSwap64;
    type FetchAdd = MaskedFetchAdd64;
    type Fetched = ToFetch<8>;

    #[inline(always)]
    fn compare_swap(
        remote: Remote,
        compare: Masked<Self>,
        swap: Masked<Self>,
    ) -> Request<'static, MaskedCompareSwap64, ToFetch<8>> {
        let pair = |swap, compare| AtomicSeg { swap_add: Be64::new(swap), compare: Be64::new(compare) }.into();
        Request::new([RaddrSeg::from(remote).into(), pair(swap.value, compare.value), pair(swap.mask, compare.mask)])
    }

    #[inline(always)]
    fn fetch_add(remote: Remote, add: Self, boundary: Self) -> Request<'static, MaskedFetchAdd64, ToFetch<8>> {
        let operands = AtomicSeg { swap_add: Be64::new(add), compare: Be64::new(boundary) };
        Request::new([RaddrSeg::from(remote).into(), operands.into()])
    }
}

impl Sealed for u128 {}
impl AtomicWord for u128 {
    const ALL: Self = Self::MAX;
    type CompareSwap = MaskedCompareSwap128;
    type FetchAdd = MaskedFetchAdd128;
    type Fetched = ToFetch<16>;

    #[inline(always)]
    fn compare_swap(
        remote: Remote,
        compare: Masked<Self>,
        swap: Masked<Self>,
    ) -> Request<'static, MaskedCompareSwap128, ToFetch<16>> {
        Request::new([
            RaddrSeg::from(remote).into(),
            operand(swap.value).into(),
            operand(compare.value).into(),
            operand(swap.mask).into(),
            operand(compare.mask).into(),
        ])
    }

    #[inline(always)]
    fn fetch_add(remote: Remote, add: Self, boundary: Self) -> Request<'static, MaskedFetchAdd128, ToFetch<16>> {
        Request::new([RaddrSeg::from(remote).into(), operand(add).into(), operand(boundary).into()])
    }
}

#[inline]
const fn operand(value: u128) -> Masked128Seg {
    Masked128Seg { operand: Be128::new(value) }
}

/// Compares the bits at `remote` that the mask of `compare` selects. If they equal those of its value, stores the bits
/// of `swap` that the mask of `swap` selects. Ask for the old value with [`Request::result`]. If the mask of `compare`
/// is zero, it compares nothing and always swaps.
///
/// Devices without "extended atomics" of that size (`atomic_caps.atomic_operations`, `atomic_size_qp`) fail the
/// request. Verbs do not report them. `Context::extended_atomics` of `blueflame-devx` asks, and names the missing
/// capability. The peer's queue pair must also accept them: one that the kernel makes does where the device has them.
///
/// ```
/// use blueflame::wqe;
/// use blueflame::wqe::atomics::Masked;
/// use blueflame::{Lkey, Remote, Rkey};
///
/// let lock = Remote { addr: 0x1000, rkey: Rkey(7) };
/// // Takes bit 3 of a word of 32 locks, if nobody has it. What was there comes as four bytes in network order.
/// let take = Masked { value: 1_u32 << 3, mask: 1 << 3 };
/// let _ = wqe::masked_compare_swap(lock, Masked { value: 0, ..take }, take).result(0x7000, Lkey(9));
/// ```
#[doc(alias = "MLX5_OPCODE_ATOMIC_MASKED_CS")]
#[inline(always)]
pub fn masked_compare_swap<W: AtomicWord>(
    remote: Remote,
    compare: Masked<W>,
    swap: Masked<W>,
) -> Request<'static, W::CompareSwap, W::Fetched> {
    W::compare_swap(remote, compare, swap)
}

/// Adds the fields of `add` to those at `remote`. Ask for the old value with [`Request::result`]. Each bit of
/// `boundary` is the highest bit of a field, and its carry is dropped. A `boundary` of 0 means one field. All ones
/// mean fields of one bit: an exclusive or.
///
/// Fields have at most 64 bits, says the driver of 16-byte atomics (`max_fa_bit_boundary`). The result of a larger
/// field is not public. With bit 63 of a 16-byte `boundary` set, nothing is carried from the low half to the high one.
///
/// Devices and queue pairs must support it, as for [`masked_compare_swap`].
///
/// ```
/// # use blueflame::{Lkey, Remote, Rkey, wqe};
/// # let counters = Remote { addr: 0x1000, rkey: Rkey(7) };
/// // Four counters of 16 bits: one more of the first, and two of the third.
/// let _ = wqe::masked_fetch_add(counters, 0x0000_0002_0000_0001_u64, 0x8000_8000_8000_8000).result(0x7000, Lkey(9));
/// ```
#[doc(alias = "MLX5_OPCODE_ATOMIC_MASKED_FA")]
#[inline(always)]
pub fn masked_fetch_add<W: AtomicWord>(
    remote: Remote,
    add: W,
    boundary: W,
) -> Request<'static, W::FetchAdd, W::Fetched> {
    W::fetch_add(remote, add, boundary)
}
