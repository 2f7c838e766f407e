//! The scatter list of a receive WQE, as receive queues and shared ones both write it.
use core::fmt;
use core::mem::{MaybeUninit, align_of, size_of};
use core::ptr::NonNull;

use crate::arch::ds::DsWords;
use crate::setup::SetupError;
use crate::types::Lkey;
use crate::wqe::limits::MAX_SGE_BYTES;
use crate::wqe::seg::SignatureSeg;
use crate::wqe::{ByteXor, DataSeg, Sge};

/// Bytes of one scatter entry.
pub(in crate::queue) const SCATTER_BYTES: usize = size_of::<DataSeg>();

/// The number of WQEs of a receive queue, in errors.
pub(in crate::queue) const WQES: &str = "WQEs of a receive queue";
/// The bytes from one WQE of a receive queue to the next, in errors.
pub(in crate::queue) const STRIDE: &str = "bytes of a WQE of a receive queue";
/// The most bytes of a receive WQE.
const MAX_STRIDE: u32 = 4096;

/// The key that ends a scatter list shorter than the WQE (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_INVALID_LKEY`).
const TERMINATOR_LKEY: Lkey = Lkey(0x100);

/// Why a receive request was not posted. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecvError {
    /// The queue takes this many WQEs at a time, and all are in use. Where receives complete out of order, one that is
    /// done stays in use until all older ones are done. Zero: the queue pair's receives come from a shared queue, it
    /// has none, or the depth is zero.
    Full(u32),
    /// More scatter entries than a WQE holds.
    TooManySges {
        /// Entries given.
        given: usize,
        /// Entries a WQE holds.
        max: usize,
    },
    /// An entry longer than [`MAX_SGE_BYTES`]; its bytes.
    SgeTooLong(u32),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(0) => f.write_str("the queue takes no receive requests: it has no ring, or its depth is zero"),
            Self::Full(n) => write!(f, "all {n} receive requests that the queue takes are posted"),
            Self::TooManySges { given, max } => {
                write!(f, "{given} scatter entries, but a WQE of this queue holds {max}")
            }
            Self::SgeTooLong(n) => write!(f, "a scatter entry of {n} bytes, at most {MAX_SGE_BYTES} are possible"),
        }
    }
}

impl core::error::Error for RecvError {}

/// Whether `sges` can be written to a WQE of `max` entries.
#[inline(always)]
pub(in crate::queue) fn check(sges: &[Sge], max: usize) -> Result<(), RecvError> {
    if sges.len() > max {
        return Err(RecvError::TooManySges { given: sges.len(), max });
    }
    for sge in sges {
        if sge.length > MAX_SGE_BYTES {
            return Err(RecvError::SgeTooLong(sge.length));
        }
    }
    Ok(())
}

/// Writes `sges`, without those of length zero, and the terminator if there is room for one (rdma-core
/// `providers/mlx5/qp.c`, `mlx5_post_recv`). Bytes behind the terminator stay as they are.
///
/// # Safety
///
/// `list` is 16-byte aligned room for `max` entries, and `sges` passed [`check`] with that `max`.
#[inline(always)]
pub(in crate::queue) unsafe fn write(list: NonNull<u8>, sges: &[Sge], max: usize) {
    let mut n = 0;
    for sge in sges {
        if sge.length != 0 {
            // SAFETY: `n` counts entries of `sges` before this one, so it is less than `max`.
            unsafe { store(list.add(n * SCATTER_BYTES), DataSeg::new(sge.length, sge.lkey, sge.addr)) };
            n += 1;
        }
    }
    if n < max {
        // SAFETY: `n` is less than `max`.
        unsafe { store(list.add(n * SCATTER_BYTES), DataSeg::new(0, TERMINATOR_LKEY, 0)) };
    }
}

/// Writes a signature, and `sges` behind it as [`write`] does. Bytes behind these are zero then (rdma-core
/// `providers/mlx5/qp.c`, `mlx5_post_recv` and `set_sig_seg`). The signature also covers `numbers`.
///
/// # Safety
///
/// `wqe` is 16-byte aligned room for `max` entries and one more, and `sges` passed [`check`] with that `max`.
pub(in crate::queue) unsafe fn write_signed(wqe: NonNull<u8>, sges: &[Sge], max: usize, numbers: u64) {
    let mut sum = ByteXor::default().with_word(numbers);
    let mut n = 0;
    for sge in sges.iter().filter(|sge| sge.length != 0) {
        sum = sum.with(DataSeg::new(sge.length, sge.lkey, sge.addr).into());
        n += 1;
    }
    // As many units as entries were given. If an entry of zero bytes was among them, the end mark is one of these
    // units.
    if n < sges.len() {
        sum = sum.with(DataSeg::new(0, TERMINATOR_LKEY, 0).into());
    }
    // SAFETY: the caller promises room for `max` entries and one more, and that `sges` passed `check` with that `max`.
    unsafe {
        for unit in 0..=max {
            store_words(wqe.add(unit * SCATTER_BYTES), DsWords([0; 2]));
        }
        store_words(wqe, SignatureSeg::new(sum.signature()).into());
        write(wqe.add(SCATTER_BYTES), sges, max);
    }
}

/// # Safety
///
/// `place` is 16 writable bytes, 16-byte aligned.
#[inline(always)]
unsafe fn store(place: NonNull<u8>, seg: DataSeg) {
    // SAFETY: the caller promises 16 writable bytes at `place`, 16-byte aligned.
    unsafe { store_words(place, seg.into()) }
}

/// # Safety
///
/// As [`store`].
#[inline(always)]
pub(in crate::queue) unsafe fn store_words(place: NonNull<u8>, DsWords([first, second]): DsWords) {
    let words = place.cast::<u64>();
    // SAFETY: the two aligned words the caller vouches for. Volatile: the ring is device memory.
    unsafe {
        words.write_volatile(first);
        words.add(1).write_volatile(second);
    }
}

/// Checks the parts that all kinds of queue share. The private memory holds values of type `W`.
pub(in crate::queue) fn check_parts<W>(
    buf: NonNull<u8>,
    dbrec: NonNull<u32>,
    shadow: NonNull<MaybeUninit<W>>,
    stride: u32,
    min_stride: u32,
) -> Result<(), SetupError> {
    SetupError::check_power_of_two(STRIDE, stride, min_stride, MAX_STRIDE)?;
    SetupError::check_aligned("ring of a receive queue", buf.addr().get(), SCATTER_BYTES)?;
    SetupError::check_aligned("doorbell record of a receive queue", dbrec.addr().get(), align_of::<u32>())?;
    SetupError::check_aligned("private memory of a receive queue", shadow.addr().get(), align_of::<W>())
}
