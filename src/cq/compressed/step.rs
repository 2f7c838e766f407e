//! The step of polling that finds the next completion, and how it is for a device that compresses none.
use core::fmt;

use super::layout::Compression;
use super::mini::ChecksumStride;
use super::run::{MiniFrame, Part, Run, Shared};
use crate::cq::layout::Tail;
use crate::cq::ring::{Place, Ring};
use crate::cq::source::InQueue;
use crate::sealed::Sealed;
use crate::types::CqCi;

/// The step of polling that finds the next completion. `()` finds one completion in each CQE. [`Expander`] also finds
/// the completions of compressed CQEs, and keeps the title and the mini-CQEs that are left.
pub trait Expand: Sealed + fmt::Debug + Send + Sized {
    /// The layout of completions in the ring.
    const COMPRESSION: Compression;
    /// Whether CQEs can be compressed.
    const COMPRESSED: bool = !matches!(Self::COMPRESSION, Compression::None);
    /// Whether completions of a striding receive queue name their strides.
    const TELLS_STRIDES: bool;
    /// Whether mini-CQEs of frames count their strides.
    #[doc(hidden)]
    const COUNTS_STRIDES: bool;
    /// The name of the format in mlx5dv ([`MiniFormat::MLX5DV`](super::MiniFormat::MLX5DV)); `None` without one, and if
    /// no CQEs are compressed.
    #[doc(hidden)]
    const MLX5DV: Option<u8>;

    /// For a queue from which nothing was polled.
    #[doc(hidden)]
    fn new(at: &RingAt<'_>) -> Self;

    /// Whether software owns the CQE with index `index`, at most a ring's length after the next one.
    fn owns(&self, ring: RingAt<'_>, index: CqCi) -> bool;

    /// Whether no completion is there: neither in the ring nor left of a session.
    fn is_idle(&self, at: RingAt<'_>) -> bool;

    /// Records that a CQE was copied to the place with index `index`, from a place of the same kind.
    fn copied(&self, ring: RingAt<'_>, index: CqCi);

    /// Replaces unpolled sessions in the ring by their completions, a CQE each. `barrier` comes between the load of an
    /// owner bit and the loads of the rest.
    fn flatten(&mut self, ring: RingAt<'_>, barrier: impl Fn());

    /// Prepares polling to continue at index `index`. A compressed CQE at index `barred` has lost its title.
    fn skip(&mut self, ring: RingAt<'_>, index: CqCi, barred: Option<CqCi>);

    /// The distance, in CQEs, from the oldest one still needed to the next to come.
    fn kept(&self) -> u32;

    /// Finds the next completion. Only where the device compresses completions: [`COMPRESSED`](Self::COMPRESSED).
    fn find_next(&mut self, at: RingAt<'_>, barrier: impl FnOnce()) -> Option<NextCqe>;

    /// Updates the state after the completion at `here` was polled. The device may not reuse that place yet.
    fn advance(&mut self, found: &NextCqe, here: Place, at: RingAt<'_>);

    /// The fields of the completion at `here`, valid until the next call of [`find_next`](Self::find_next).
    fn lend<'a>(&mut self, found: &NextCqe, ring: &Ring, here: Place) -> InQueue<'a>;

    /// The completions of frames in strides that are next, in one session. Nothing changes before
    /// [`end_run`](Self::end_run) or [`leave_run`](Self::leave_run).
    #[doc(hidden)]
    fn run<'a>(&mut self, at: RingAt<'_>, barrier: impl FnOnce()) -> Option<Run<'a>>;

    /// The completion of a mini-CQE.
    #[doc(hidden)]
    fn mini(mini: u64, shared: Shared) -> MiniFrame;

    /// Goes on behind all completions of a run. The next stride is `next`. `false`, with nothing done, if the ring's last
    /// CQE is among them.
    #[doc(hidden)]
    fn end_run(&mut self, at: (&mut Ring, &mut Place), part: Part, next: u16) -> bool;

    /// Goes on behind `done` completions of a run, one at least, and keeps the rest of the session. The next stride is
    /// `next`.
    #[doc(hidden)]
    fn leave_run(&mut self, at: (&mut Ring, &mut Place), part: Part, done: u32, next: u16);
}

/// A ring and the next CQE of it.
#[derive(Debug)]
pub struct RingAt<'a> {
    pub(in crate::cq) ring: &'a Ring,
    pub(in crate::cq) next: Place,
}

/// The next completion, before its fields are read.
#[derive(Debug)]
pub struct NextCqe {
    /// The last four bytes of the CQE.
    pub(in crate::cq) tail: Tail,
    /// Whether the completion is a whole CQE in the ring. Otherwise a mini-CQE describes it.
    pub(super) in_ring: bool,
}

impl Sealed for () {}
impl Expand for () {
    const COMPRESSION: Compression = Compression::None;
    const TELLS_STRIDES: bool = true;
    const COUNTS_STRIDES: bool = true;
    const MLX5DV: Option<u8> = None;

    fn new(_at: &RingAt<'_>) -> Self {}

    fn owns(&self, at: RingAt<'_>, index: CqCi) -> bool {
        at.ring.tail_at(index).is_software_owned()
    }

    #[inline(always)]
    fn is_idle(&self, at: RingAt<'_>) -> bool {
        // SAFETY: the place is in the ring, of its pass.
        unsafe { at.ring.tail(at.next) }.is_none()
    }

    fn copied(&self, _ring: RingAt<'_>, _index: CqCi) {}

    fn flatten(&mut self, _ring: RingAt<'_>, _barrier: impl Fn()) {}

    fn skip(&mut self, _ring: RingAt<'_>, _index: CqCi, _barred: Option<CqCi>) {}

    fn kept(&self) -> u32 {
        0
    }

    fn find_next(&mut self, _at: RingAt<'_>, _barrier: impl FnOnce()) -> Option<NextCqe> {
        None
    }

    fn advance(&mut self, _found: &NextCqe, _here: Place, _at: RingAt<'_>) {}

    fn lend<'a>(&mut self, _found: &NextCqe, ring: &Ring, here: Place) -> InQueue<'a> {
        // SAFETY: the place is in the ring, and the CQE software's.
        unsafe { ring.fields(here) }
    }

    fn run<'a>(&mut self, _at: RingAt<'_>, _barrier: impl FnOnce()) -> Option<Run<'a>> {
        None
    }

    fn mini(mini: u64, shared: Shared) -> MiniFrame {
        MiniFrame::new::<ChecksumStride>(mini, shared)
    }

    fn end_run(&mut self, _at: (&mut Ring, &mut Place), _part: Part, _next: u16) -> bool {
        true
    }

    fn leave_run(&mut self, _at: (&mut Ring, &mut Place), _part: Part, _done: u32, _next: u16) {}
}
