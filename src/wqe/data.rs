//! The data of a request: entries that name registered memory, or bytes copied into the WQE; and a place in the peer's
//! memory. Types record the data that a request may still get, and how many bytes and entries it has. The module does
//! not depend on requests.
use crate::arch::ds::DsWords;
use crate::sealed::Sealed;
use crate::types::{DS_BYTES, Lkey, Rkey};
use crate::wqe::limits::MAX_SGE_BYTES;
use crate::wqe::seg::{DataSeg, InlineSeg, RaddrSeg};

/// A scatter/gather entry: a range of this side's registered memory (`struct ibv_sge`).
#[doc(alias = "ibv_sge")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sge {
    /// Address in the address space of the key, usually the virtual address.
    pub addr: u64,
    /// Bytes, at most [`MAX_SGE_BYTES`]. An entry of zero bytes is left out of the WQE, as libmlx5 does.
    pub length: u32,
    /// The memory region's local key.
    pub lkey: Lkey,
}

impl Sge {
    /// Its data segment.
    #[inline(always)]
    pub(crate) fn words(self) -> DsWords {
        DataSeg::new(self.length, self.lkey, self.addr).into()
    }

    /// Whether it has more bytes than one entry can name.
    #[inline(always)]
    pub(crate) const fn is_too_long(self) -> bool {
        self.length > MAX_SGE_BYTES
    }
}

/// A place in the peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Remote {
    /// Address in the address space of the key.
    pub addr: u64,
    /// The peer's key of that memory.
    pub rkey: Rkey,
}

impl Remote {
    /// The place `offset` bytes further; wraps at 2^64 like the device's arithmetic.
    #[inline]
    #[must_use]
    pub const fn at(self, offset: u64) -> Self {
        Self { addr: self.addr.wrapping_add(offset), rkey: self.rkey }
    }
}

impl From<Remote> for RaddrSeg {
    #[inline(always)]
    fn from(remote: Remote) -> Self {
        Self::new(remote.addr, remote.rkey)
    }
}

/// DS of an inline segment of `bytes` bytes. No bytes, no segment.
#[inline(always)]
pub(crate) const fn inline_ds(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { (size_of::<InlineSeg>() + bytes).div_ceil(DS_BYTES) }
}

/// The data that a request has, or may still be given: a type parameter of [`Request`](crate::wqe::Request).
pub trait Data: Sealed + Copy {
    /// Bytes of inline data; `None` if only the value tells.
    const BYTES: Option<usize>;

    /// Scatter/gather entries; `None` if only the value tells.
    const ENTRIES: Option<usize>;

    /// DS of both.
    #[doc(hidden)]
    const DS: Option<usize> = match (Self::BYTES, Self::ENTRIES) {
        (Some(bytes), Some(entries)) => Some(inline_ds(bytes) + entries),
        _ => None,
    };

    /// Whether it was given as bytes to be copied into the WQE, and nothing else.
    #[doc(hidden)]
    const IS_INLINE: bool = false;

    /// Whether it names memory of this side that is no entry of a list.
    #[doc(hidden)]
    const NAMES: bool = false;
}

/// Data that names no memory of this side: inline data, or none. Posting it is safe.
#[diagnostic::on_unimplemented(
    message = "the request names registered memory (`{Self}`), which the device uses until the request has completed",
    label = "post it by the `_unchecked` call, whose caller vouches for that memory"
)]
pub trait NoLocalMemory: Data {}

/// States without data of their own.
macro_rules! without_data {
    ($($(#[$doc:meta])* $state:ident, $names:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $state(());

        impl Sealed for $state {}
        impl Data for $state {
            const BYTES: Option<usize> = Some(0);
            const ENTRIES: Option<usize> = Some(0);
            const NAMES: bool = $names;
        }
    )*};
}

without_data! {
    /// No data, and no place for any.
    Nothing, false;
    /// No data yet: a message or a WRITE of zero bytes.
    ToCarry, false;
    /// No memory yet: a READ of zero bytes.
    ToScatter, false;
    /// Memory that is no entry: of a copy, of a window, or behind a key.
    Named, true;
    /// The memory behind a key stays as it is. Posting this can grant peers rights to that memory.
    SameList, true;
}

impl NoLocalMemory for Nothing {}
impl NoLocalMemory for ToCarry {}
impl NoLocalMemory for ToScatter {}

/// No memory yet for the old value of an atomic operation, which has `BYTES` bytes (rdma-core `providers/mlx5/qp.c`,
/// `MLX5_ATOMIC_SIZE`, for 8).
#[derive(Clone, Copy, Debug)]
pub struct ToFetch<const BYTES: u32>(());

impl<const BYTES: u32> Sealed for ToFetch<BYTES> {}
impl<const BYTES: u32> Data for ToFetch<BYTES> {
    const BYTES: Option<usize> = Some(0);
    const ENTRIES: Option<usize> = Some(0);
}
impl<const BYTES: u32> NoLocalMemory for ToFetch<BYTES> {}

/// `BYTES` inline bytes, and `ENTRIES` entries behind them.
#[derive(Clone, Copy, Debug)]
pub struct Given<const BYTES: usize, const ENTRIES: usize>(());

impl<const BYTES: usize, const ENTRIES: usize> Sealed for Given<BYTES, ENTRIES> {}
impl<const BYTES: usize, const ENTRIES: usize> Data for Given<BYTES, ENTRIES> {
    const BYTES: Option<usize> = Some(BYTES);
    const ENTRIES: Option<usize> = Some(ENTRIES);
    const IS_INLINE: bool = BYTES != 0 && ENTRIES == 0;
}
impl<const BYTES: usize> NoLocalMemory for Given<BYTES, 0> {}

/// Inline bytes of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Bytes(());

impl Sealed for Bytes {}
impl Data for Bytes {
    const BYTES: Option<usize> = None;
    const ENTRIES: Option<usize> = Some(0);
    const IS_INLINE: bool = true;
}
impl NoLocalMemory for Bytes {}

/// Entries of a slice, and inline bytes before them if there are any.
#[derive(Clone, Copy, Debug)]
pub struct Entries(());

impl Sealed for Entries {}
impl Data for Entries {
    const BYTES: Option<usize> = None;
    const ENTRIES: Option<usize> = None;
}

/// Lists behind a key.
macro_rules! lists {
    ($($(#[$doc:meta])* $list:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $list(());

        impl Sealed for $list {}
        impl Data for $list {
            const BYTES: Option<usize> = Some(0);
            const ENTRIES: Option<usize> = None;
            const NAMES: bool = true;
        }
    )*};
}

lists! {
    /// A list behind a key, and formats if there are any.
    List
    /// A list in memory behind a key. It has no formats.
    ListAt
}
