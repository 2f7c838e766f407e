//! Mini-CQEs of frames, one behind the other, for a queue that takes them without expanding each.
use core::ptr::NonNull;

use super::mini::{MiniFormat, WORDS, Words, flow_tag, frame};
use crate::cq::cqe::packet::Verdicts;
use crate::cq::cqe::view::CqeView;
use crate::cq::source::InQueue;

/// Completions of one session that are next, and differ by their mini-CQEs alone. At least one.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The first of the mini-CQEs.
    first: NonNull<[u32; WORDS]>,
    /// How many.
    len: u32,
    /// The first stride, if mini-CQEs have none.
    stride: u16,
}

/// A frame's completion.
#[derive(Clone, Copy)]
pub struct MiniFrame {
    /// Its first stride.
    pub(crate) first: u16,
    /// Strides and bytes.
    pub(crate) word: u32,
    /// The flow's tag.
    pub(crate) flow_tag: u32,
    /// The verdicts about its headers.
    pub(crate) verdicts: Verdicts,
}

/// The values that all frames of a run share, read from the title once.
#[derive(Clone, Copy)]
pub struct Shared {
    flow_tag: u32,
    verdicts: Verdicts,
}

impl Shared {
    #[inline(always)]
    pub(crate) fn of(title: &CqeView<InQueue<'_>>) -> Self {
        Self { flow_tag: title.flow_tag(), verdicts: title.verdicts() }
    }
}

impl Run {
    /// `len` mini-CQEs from number `n` of an array on.
    ///
    /// # Safety
    /// The array has so many.
    #[inline(always)]
    pub(super) unsafe fn new(minis: &Words, n: u32, len: u32, stride: u16) -> Self {
        // SAFETY: the caller's.
        let first = unsafe { NonNull::from(&minis.0).cast::<[u32; WORDS]>().add(n as usize) };
        Self { first, len, stride }
    }

    /// How many completions.
    #[inline(always)]
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    /// The first stride, if mini-CQEs have none.
    #[inline(always)]
    pub(crate) const fn stride(&self) -> u16 {
        self.stride
    }

    /// Completion `n`. Its first stride is `next`, if mini-CQEs have none.
    ///
    /// # Safety
    /// `n` is less than the length. The completion queue has looked for no completion since the run was found.
    #[inline(always)]
    pub(crate) unsafe fn at<F: MiniFormat>(&self, n: u32, shared: Shared, next: u16) -> MiniFrame {
        // SAFETY: the caller's: the mini-CQEs are the queue's private copy.
        let mini = unsafe { self.first.add(n as usize).read() }.map(u32::from_be);
        let (first, word) = frame::<F>((mini[0], mini[1]));
        MiniFrame {
            first: first.unwrap_or(next),
            word,
            flow_tag: flow_tag::<F>((mini[0], mini[1])).unwrap_or(shared.flow_tag),
            verdicts: if F::HEADED { shared.verdicts.with_headers((mini[0] >> 24) as u8) } else { shared.verdicts },
        }
    }
}
