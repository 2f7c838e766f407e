//! Mini-CQEs of frames, one behind the other, for a queue that takes them without expanding each.
use super::mini::{ARRAY, MiniFormat, flow_tag, frame};
use crate::cq::cqe::packet::Verdicts;
use crate::cq::cqe::view::CqeView;
use crate::cq::layout::OpOwn;
use crate::cq::source::{InQueue, Source};

/// Completions of one session that are next, and differ by their mini-CQEs alone. At least one.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub(super) part: Part,
    /// The fields that they share.
    pub(super) title: InQueue<'a>,
    /// The first stride, if mini-CQEs have none.
    pub(super) stride: Option<u16>,
    /// The array with the first one.
    pub(super) array: InQueue<'a>,
}

/// A part of a session, up to its end.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The number of the first completion in the session.
    pub(super) at: u32,
    /// How many the session has.
    pub(super) end: u32,
    /// The last byte of each.
    pub(super) op_own: OpOwn,
}

impl Part {
    /// How many completions.
    #[inline(always)]
    pub(crate) const fn len(self) -> u32 {
        self.end - self.at
    }

    /// The part as numbers, which a function gets in registers.
    #[inline(always)]
    pub(in crate::cq) const fn split(self) -> (u64, u8) {
        ((self.at as u64) << 32 | self.end as u64, self.op_own.0)
    }

    #[inline(always)]
    pub(in crate::cq) const fn join((numbers, op_own): (u64, u8)) -> Self {
        Self { at: (numbers >> 32) as u32, end: numbers as u32, op_own: OpOwn(op_own) }
    }
}

/// Mini-CQEs of one array, each as a number that is loaded once.
#[derive(Clone, Copy)]
pub(crate) struct Minis<'a> {
    array: InQueue<'a>,
    /// Their numbers in the array.
    from: usize,
    to: usize,
}

impl Iterator for Minis<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if self.from == self.to {
            return None;
        }
        let mini = self.array.be64(self.from * size_of::<u64>());
        self.from += 1;
        Some(mini)
    }
}

/// A frame's completion.
#[derive(Clone, Copy)]
pub struct MiniFrame {
    /// Its first stride. Without one, it is the stride behind the one before.
    pub(crate) first: Option<u16>,
    /// Strides and bytes.
    pub(crate) word: u32,
    /// The flow's tag.
    pub(crate) flow_tag: u32,
    /// The byte that tells of its tunnel. Only the title has it (DPDK `drivers/net/mlx5/mlx5_rx.c`,
    /// `rxq_cq_to_pkt_type`, which reads `pkt_info` there for mini-CQEs of any format).
    pub(crate) packet_info: u8,
    /// The verdicts about its headers.
    pub(crate) verdicts: Verdicts,
}

/// The values that all frames of a run share, read from the title once.
#[derive(Clone, Copy)]
pub struct Shared {
    flow_tag: u32,
    packet_info: u8,
    verdicts: Verdicts,
}

impl Shared {
    #[inline(always)]
    pub(crate) fn of(title: &CqeView<InQueue<'_>>) -> Self {
        Self { flow_tag: title.flow_tag(), packet_info: title.packet_info(), verdicts: title.verdicts() }
    }
}

impl<'a> Run<'a> {
    /// The part of a session that they are.
    #[inline(always)]
    pub(crate) const fn part(self) -> Part {
        self.part
    }

    /// The mini-CQEs from completion `n` on, as far as they are in one array: `most` at most. It is the first one, or the
    /// first of an array, which `array` gives.
    #[inline(always)]
    pub(in crate::cq) fn minis(self, n: u32, most: u32, array: impl FnOnce() -> InQueue<'a>) -> Minis<'a> {
        let from = ((self.part.at + n) % ARRAY) as usize;
        let to = from + most as usize;
        Minis {
            array: if n == 0 { self.array } else { array() },
            from,
            to: if to < ARRAY as usize { to } else { ARRAY as usize },
        }
    }

    /// The fields that they share, and the last byte of each.
    #[inline(always)]
    pub(in crate::cq) const fn title(self) -> (InQueue<'a>, OpOwn) {
        (self.title, self.part.op_own)
    }

    /// The first stride, if mini-CQEs have none.
    #[inline(always)]
    pub(crate) const fn stride(self) -> Option<u16> {
        self.stride
    }
}

impl MiniFrame {
    #[inline(always)]
    pub(super) fn new<F: MiniFormat>(mini: u64, shared: Shared) -> Self {
        let mini = ((mini >> 32) as u32, mini as u32);
        let (first, word) = frame::<F>(mini);
        let verdicts = shared.verdicts;
        Self {
            first,
            word,
            flow_tag: flow_tag::<F>(mini).unwrap_or(shared.flow_tag),
            packet_info: shared.packet_info,
            verdicts: if F::HEADED { verdicts.with_headers((mini.0 >> 24) as u8) } else { verdicts },
        }
    }
}
