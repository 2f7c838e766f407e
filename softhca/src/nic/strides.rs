//! Strides: the equal parts of a WQE that takes several frames. A frame begins with a stride and may go on in the next
//! ones, but not in another WQE. It must never know a queue.

use crate::config::Generation;
use crate::cq::TakenStrides;
use std::ops::RangeInclusive;

/// log2 of the bytes of a stride (Linux `include/linux/mlx5/device.h`, `MLX5_MIN_SINGLE_STRIDE_LOG_NUM_BYTES`).
pub(crate) const LOG_STRIDE_BYTES: RangeInclusive<u8> = 6..=13;
/// log2 of the bytes of a WQE's strides, at least (DPDK `MLX5_MPRQ_LOG_MIN_STRIDE_WQE_SIZE`).
pub(crate) const LOG_MIN_WQE_BYTES: u8 = 14;
/// Bytes that a frame is shifted by, so that its IP header is aligned.
const SHIFT: usize = 2;

/// Whether WQEs may have fewer than 2^9 strides (`cmd_hca_cap.ext_stride_num_range`). No public source says since
/// when.
pub(crate) fn has_extended_range(generation: Generation) -> bool {
    generation >= Generation::ConnectX6Dx
}

/// log2 of the strides of a WQE (the same header, `MLX5_MIN_SINGLE_WQE_LOG_NUM_STRIDES` and
/// `MLX5_EXT_MIN_SINGLE_WQE_LOG_NUM_STRIDES`).
pub(crate) fn log_counts(generation: Generation) -> RangeInclusive<u8> {
    if has_extended_range(generation) { 3..=16 } else { 9..=16 }
}

/// The strides of a queue's WQEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strides {
    /// log2 of the strides of a WQE, and of the bytes of one.
    pub(crate) log_count: u8,
    pub(crate) log_bytes: u8,
    /// Two zeros are before each frame (`two_byte_shift_en`).
    pub(crate) shifted: bool,
}

impl Strides {
    /// Of a WQE.
    pub(super) fn count(self) -> u32 {
        1 << self.log_count
    }

    /// Bytes of all of a WQE.
    pub(super) fn wqe_bytes(self) -> u64 {
        1 << (self.log_count + self.log_bytes)
    }

    /// Offset of a stride.
    pub(super) fn offset(self, stride: u32) -> u64 {
        u64::from(stride) << self.log_bytes
    }

    /// Strides that a frame of `len` bytes takes.
    fn needed(self, len: usize) -> u32 {
        let bytes = len + self.padding().len();
        (bytes.div_ceil(1 << self.log_bytes)).max(1) as u32
    }

    /// The bytes before each frame.
    pub(super) fn padding(self) -> &'static [u8] {
        if self.shifted { &[0; SHIFT] } else { &[] }
    }
}

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Into these strides.
    Here(TakenStrides),
    /// Not into the ones that are left: these stay empty.
    Next(TakenStrides),
    /// Into no WQE.
    Nowhere,
}

/// How far a WQE is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Running number of the WQE.
    wqe: u16,
    used: u32,
    strides: Strides,
}

impl Progress {
    /// An unused WQE.
    pub(super) fn new(wqe: u16, strides: Strides) -> Self {
        Self { wqe, used: 0, strides }
    }

    /// The strides that are left.
    pub(super) fn left(&self) -> TakenStrides {
        self.next(self.strides.count() - self.used)
    }

    /// Nothing is left.
    pub(super) fn is_over(&self) -> bool {
        self.used == self.strides.count()
    }

    /// Finds the place of a frame of `len` bytes, and takes it.
    pub(super) fn place(&mut self, len: usize) -> Fit {
        let needed = self.strides.needed(len);
        if needed > self.strides.count() {
            return Fit::Nowhere;
        }
        if needed > self.strides.count() - self.used {
            return Fit::Next(self.left());
        }
        let taken = self.next(needed);
        self.used += needed;
        Fit::Here(taken)
    }

    /// Lets the latest frame have `len` bytes, if the strides behind it are enough, and returns its place.
    pub(super) fn extend(&mut self, latest: TakenStrides, len: usize) -> Option<TakenStrides> {
        let end = u32::from(latest.first) + self.strides.needed(len);
        (end <= self.strides.count()).then(|| {
            self.used = end;
            TakenStrides { count: (end - u32::from(latest.first)).min(u16::MAX.into()) as u16, ..latest }
        })
    }

    /// The next `count` strides, as a CQE names them. Those of a whole WQE may be one more than 16 bits can count.
    fn next(&self, count: u32) -> TakenStrides {
        TakenStrides { wqe: self.wqe, first: self.used as u16, count: count.min(u16::MAX.into()) as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strides(log_count: u8, shifted: bool) -> Strides {
        Strides { log_count, log_bytes: 6, shifted }
    }

    #[test]
    fn frames_lie_behind_each_other_until_one_does_not_fit() {
        let mut progress = Progress::new(7, strides(3, false));
        let mut here = |len: usize| match progress.place(len) {
            Fit::Here(taken) => (taken.first, taken.count),
            other => panic!("{other:?}"),
        };
        assert_eq!([64, 65, 1, 128].map(&mut here), [(0, 1), (1, 2), (3, 1), (4, 2)]);
        let rest = TakenStrides { wqe: 7, first: 6, count: 2 };
        assert_eq!((progress.place(129), progress.left(), progress.is_over()), (Fit::Next(rest), rest, false));
        // A shorter one still fits, to the end.
        assert_eq!((progress.place(128), progress.is_over()), (Fit::Here(rest), true));
        assert_eq!(progress.place(513), Fit::Nowhere);
        assert!(matches!(progress.place(512), Fit::Next(TakenStrides { count: 0, .. })));
    }

    #[test]
    fn a_frame_grows_to_the_end_of_its_wqe() {
        let mut progress = Progress::new(7, strides(3, true));
        let Fit::Here(taken) = progress.place(100) else { panic!("no place") };
        assert_eq!((taken.first, taken.count), (0, 2));
        let Fit::Here(taken) = progress.place(62) else { panic!("no place") };
        let grown = |first, count| Some(TakenStrides { wqe: 7, first, count });
        // Six strides are left, less two bytes.
        let cases = [(62, grown(2, 1), 5), (63, grown(2, 2), 4), (382, grown(2, 6), 0), (383, None, 0)];
        for (len, place, left) in cases {
            assert_eq!((progress.extend(taken, len), progress.left().count), (place, left), "{len}");
        }
        assert!(progress.is_over());
    }

    #[test]
    fn two_bytes_before_a_frame_count() {
        let of = |len: usize, shifted: bool| strides(3, shifted).needed(len);
        assert_eq!([62, 63, 64, 126, 127].map(|len| of(len, true)), [1, 2, 2, 2, 3]);
        assert_eq!([62, 63, 64, 126, 127].map(|len| of(len, false)), [1, 1, 1, 2, 2]);
        assert_eq!([strides(3, true).padding(), strides(3, false).padding()], [&[0, 0][..], &[]]);
    }

    #[test]
    fn the_most_strides_fit_into_the_fields() {
        let most = Progress::new(0, strides(16, false));
        assert_eq!(most.left(), TakenStrides { wqe: 0, first: 0, count: u16::MAX });
        assert_eq!((strides(16, false).wqe_bytes(), strides(16, false).offset(65535)), (1 << 22, 65535 << 6));
    }
}
