//! Expands a session (a title and its mini-CQEs) into single completions.
use crate::hint::cold_path;
use core::marker::PhantomData;
use core::mem::offset_of;
use core::ptr::NonNull;

use super::layout::Compression;
use super::mini::{ARRAY, BLOCK, MiniFormat, Words, mini, put_request};
use super::run::{MiniFrame, Part, Run, Shared};
use super::step::{Expand, NextCqe, RingAt};
use crate::cq::layout::{Cqe64, CqeFormat, OpOwn, Tail};
use crate::cq::ring::{Place, Ring};
use crate::cq::source::{InQueue, Source};
use crate::sealed::Sealed;
use crate::types::CqCi;

/// A title, and the mini-CQEs that are left of a session.
#[derive(Clone, Debug)]
pub struct Expander<F: MiniFormat, const ENHANCED: bool> {
    /// The title; while a completion is lent, that completion.
    title: Words,
    /// A copy of the mini-CQEs, the next one among them, so that polled places can be given back.
    minis: Words,
    /// The next mini-CQE of the session.
    at: u32,
    /// How many the session has.
    end: u32,
    /// [`wqe_counter`](crate::cq::CqeView::wqe_counter) of the first mini-CQE, if the indices are consecutive.
    counter: u16,
    /// The last byte of each completion of the session.
    op_own: OpOwn,
    /// The number of the pass over the ring.
    iteration: u8,
    /// The index of a CQE whose title was taken out of the ring (enhanced layout).
    barred: u32,
    /// Whether there is a title: for the next compressed CQE (enhanced layout), or for the session.
    titled: bool,
    format: PhantomData<fn() -> F>,
}

impl<F: MiniFormat, const ENHANCED: bool> Expander<F, ENHANCED> {
    /// The last four bytes of the next CQE, if it is software's.
    ///
    /// # Safety
    ///
    /// The place is in the ring, of its current pass, whose number is known.
    #[inline(always)]
    unsafe fn tail(&self, at: &RingAt<'_>) -> Option<Tail> {
        if ENHANCED {
            // SAFETY: the caller promises a place in the ring, of the pass with this number.
            return unsafe { at.ring.tail_of_pass(at.next, self.iteration) };
        }
        // SAFETY: the caller promises a place in the ring.
        unsafe { at.ring.tail(at.next) }
    }

    /// Begins the session whose CQE `tail` is at the next place.
    #[inline(always)]
    fn open(&mut self, at: &RingAt<'_>, tail: Tail) {
        self.at = 0;
        // SAFETY: the place is in the ring, and the CQE software's.
        let here = unsafe { at.ring.fields(at.next) };
        if ENHANCED {
            let count = u32::from(tail.op_own().opcode()) + 1;
            self.minis.0 = here.words();
            self.end = count;
            let possible = count <= BLOCK && count <= at.ring.cqe_cnt();
            if !self.titled || !possible {
                cold_path();
                self.spoil(self.minis, if possible { count } else { 1 });
            }
            return;
        }
        self.title.0 = here.words();
        self.counter = tail.wqe_counter();
        self.op_own = OpOwn(tail.op_own().0 & !FORMAT);
        self.end = self.title.byte_cnt();
        self.titled = self.op_own.is_success() && self.end >= 2 && self.end <= at.ring.cqe_cnt();
        if self.titled {
            // The array is behind the title: the session has two places at least.
            self.minis.0 = at.ring.behind(at.next).words();
        } else {
            cold_path();
            let possible = self.end >= 2 && self.end <= at.ring.cqe_cnt();
            self.spoil(self.title, if possible { self.end } else { 1 });
        }
    }

    /// Marks an impossible session: its `lost` completions are errors.
    #[cold]
    fn spoil(&mut self, title: Words, lost: u32) {
        self.title = title;
        self.titled = false;
        self.op_own = COMPRESSED;
        self.end = lost;
    }

    /// The next completion of the session, whose place is the next one.
    #[inline(always)]
    fn expand(&mut self, at: &RingAt<'_>) -> Tail {
        let n = self.at;
        self.at += 1;
        if n != 0 {
            if !ENHANCED && n % ARRAY == 0 && self.titled {
                // SAFETY: the place is in the ring, and the CQE software's, as all of the session.
                self.minis.0 = unsafe { at.ring.fields(at.next) }.words();
            }
            // SAFETY: the place is in the ring, and the CQE software's, as all of the session; its content is copied.
            unsafe { at.ring.mark_empty(at.next, self.iteration) };
        }
        if !self.titled {
            cold_path();
            return Tail::expanded(0, self.op_own);
        }
        let mini = mini(&self.minis, n);
        let counter = if self.op_own.opcode() == 0 {
            put_request(&mut self.title, mini)
        } else {
            if n != 0 || ENHANCED {
                self.title.forget_packet(F::HASHED);
            }
            F::put(&mut self.title, mini);
            if F::COUNTER {
                mini.0 as u16
            } else if F::TELLS_STRIDES {
                let first = self.counter;
                self.counter = first.wrapping_add(strides(&self.title));
                first
            } else {
                self.counter.wrapping_add(n as u16)
            }
        };
        if ENHANCED && !F::TELLS_STRIDES && self.at == self.end {
            self.counter = self.counter.wrapping_add(self.end as u16);
        }
        Tail::expanded(counter, self.op_own)
    }

    /// Makes the title that of the completions behind the frame that ends at stride `next`, as
    /// [`expand`](Self::expand) does.
    #[inline(always)]
    fn leave_title(&mut self, next: u16) {
        self.title.forget_packet(F::HASHED);
        if !F::COUNTER {
            self.counter = next;
        }
    }

    /// Called after the queue has gone on to a place.
    #[inline(always)]
    fn count_pass(&mut self, ring: &Ring, next: Place) {
        if ENHANCED && next.is_first_of(ring) {
            cold_path();
            self.iteration = self.iteration.wrapping_add(1);
        }
    }

    /// The number of the pass in which the CQE with index `index` comes.
    fn iteration_of(&self, at: &RingAt<'_>, index: CqCi) -> u8 {
        let ahead = index.get().wrapping_sub(at.next.ci()) & CqCi::MAX;
        let slot = at.next.ci() & (at.ring.cqe_cnt() - 1);
        self.iteration.wrapping_add(((slot + ahead) / at.ring.cqe_cnt()) as u8)
    }
}

/// The bits of a CQE's last byte that have the format (and the owner).
const FORMAT: u8 = 0xd;
/// The last byte of a completion that cannot be expanded: of a receive, compressed.
const COMPRESSED: OpOwn = OpOwn(2 << 4 | 3 << 2);

impl<F: MiniFormat, const ENHANCED: bool> Sealed for Expander<F, ENHANCED> {}
impl<F: MiniFormat, const ENHANCED: bool> Expand for Expander<F, ENHANCED> {
    const COMPRESSION: Compression = Compression::of(ENHANCED);
    const TELLS_STRIDES: bool = F::TELLS_STRIDES;
    const COUNTS_STRIDES: bool = !F::TAGGED;
    const MLX5DV: Option<u8> = F::MLX5DV;

    fn new(at: &RingAt<'_>) -> Self {
        Self {
            title: Words::default(),
            minis: Words::default(),
            at: 0,
            end: 0,
            counter: 0,
            op_own: COMPRESSED,
            iteration: (at.next.ci() / at.ring.cqe_cnt()) as u8,
            barred: u32::MAX,
            titled: false,
            format: PhantomData,
        }
    }

    fn owns(&self, at: RingAt<'_>, index: CqCi) -> bool {
        if ENHANCED {
            // SAFETY: a place of this ring.
            return unsafe { at.ring.tail_of_pass(at.ring.place(index), self.iteration_of(&at, index)) }.is_some();
        }
        at.ring.tail_at(index).is_software_owned()
    }

    #[inline(always)]
    fn is_idle(&self, at: RingAt<'_>) -> bool {
        // SAFETY: the place is in the ring, of its pass.
        self.at == self.end && unsafe { self.tail(&at) }.is_none()
    }

    fn copied(&self, at: RingAt<'_>, index: CqCi) {
        if ENHANCED {
            // SAFETY: the caller has just written it.
            unsafe { at.ring.number(at.ring.place(index), self.iteration_of(&at, index)) };
        }
    }

    fn flatten(&mut self, at: RingAt<'_>, barrier: impl Fn()) {
        let (mut trial, mut ring, mut next) = (self.clone(), at.ring.clone(), at.next);
        for _ in 0..ring.cqe_cnt() {
            let Some(found) = trial.find_next(RingAt { ring: &ring, next }, &barrier) else { break };
            let here = next;
            if !found.in_ring {
                if !trial.titled {
                    // Lost completions cannot be written out. Their session stays.
                    break;
                }
                // SAFETY: the place is software's, as one of a session; its content is copied.
                unsafe { ring.store(here, &trial.title.0, found.tail, trial.iteration) };
                // Each completion has its own place now.
                (self.at, self.end) = (0, 0);
            }
            // SAFETY: the place is this ring's, which is a copy that only this loop advances.
            unsafe { ring.advance(&mut next) };
            trial.advance(&found, here, RingAt { ring: &ring, next });
        }
    }

    fn skip(&mut self, at: RingAt<'_>, index: CqCi, barred: Option<CqCi>) {
        self.iteration = self.iteration_of(&at, index);
        if let Some(barred) = barred {
            self.titled &= barred.get() != index.get();
            self.barred = barred.get();
        }
    }

    fn kept(&self) -> u32 {
        if self.at == self.end { 0 } else { self.at }
    }

    #[inline(always)]
    fn find_next(&mut self, at: RingAt<'_>, barrier: impl FnOnce()) -> Option<NextCqe> {
        if self.at == self.end {
            // SAFETY: the place is in the ring, of its pass.
            let tail = unsafe { self.tail(&at) }?;
            barrier();
            if !is_compressed(tail) {
                return Some(NextCqe { tail, in_ring: true });
            }
            self.open(&at, tail);
        }
        Some(NextCqe { tail: self.expand(&at), in_ring: false })
    }

    #[inline(always)]
    fn advance(&mut self, found: &NextCqe, here: Place, at: RingAt<'_>) {
        if !ENHANCED {
            return;
        }
        self.count_pass(at.ring, at.next);
        if found.in_ring {
            // The next CQE may be compressed, with this one as its title.
            // SAFETY: the place is in the ring, of its pass.
            let next = unsafe { self.tail(&at) };
            self.titled = found.tail.op_own().is_success() && next.is_none_or(is_compressed);
            self.titled &= at.next.ci() != self.barred;
            if self.titled {
                // SAFETY: the CQE is still software's.
                self.title.0 = unsafe { at.ring.fields(here) }.words();
                self.op_own = found.tail.op_own();
                let span = if F::COUNTER || !F::TELLS_STRIDES { 1 } else { strides(&self.title) };
                self.counter = found.tail.wqe_counter().wrapping_add(span);
            }
        }
    }

    #[inline(always)]
    fn lend<'a>(&mut self, found: &NextCqe, ring: &Ring, here: Place) -> InQueue<'a> {
        if found.in_ring {
            // SAFETY: the place is in the ring, and the CQE software's until its index is told to the device.
            return unsafe { ring.fields(here) };
        }
        // SAFETY: 64 bytes, aligned to as many, that change only when the next completion is looked for.
        unsafe { InQueue::new(NonNull::from(&mut self.title).cast(), false) }
    }

    #[inline(always)]
    fn run<'a>(&mut self, at: RingAt<'_>, barrier: impl FnOnce()) -> Option<Run<'a>> {
        if !F::TELLS_STRIDES {
            return None;
        }
        if self.at == self.end && !ENHANCED {
            // SAFETY: the place is in the ring, of its pass.
            let tail = unsafe { at.ring.any_tail(at.next) };
            if !tail.is_session_of_frames() {
                return None;
            }
            barrier();
            // SAFETY: the place is in the ring, and the CQE software's.
            let title = unsafe { at.ring.fields(at.next) }.narrow();
            let (end, op_own) = (title.be32(offset_of!(Cqe64, byte_cnt)), OpOwn(tail.op_own().0 & !FORMAT));
            if end < 2 || end > at.ring.cqe_cnt() {
                return None;
            }
            let stride = (!F::COUNTER).then_some(tail.wqe_counter());
            return Some(Run { title, part: Part { at: 0, end, op_own }, stride, array: at.ring.behind(at.next) });
        }
        // SAFETY: the place is in the ring; the CQE is looked at if it is software's.
        let mut array = unsafe { at.ring.fields(at.next) }.narrow();
        let (mut number, mut end) = (self.at, self.end);
        if self.at == self.end {
            // SAFETY: the place is in the ring, of its pass.
            let tail = unsafe { self.tail(&at) }?;
            if !is_compressed(tail) {
                return None;
            }
            barrier();
            (number, end) = (0, u32::from(tail.op_own().opcode()) + 1);
            if end > BLOCK || end > at.ring.cqe_cnt() {
                return None;
            }
        } else if number % ARRAY != 0 {
            // SAFETY: 64 bytes, aligned to as many, that change only when the next completion is looked for.
            array = unsafe { InQueue::new(NonNull::from(&mut self.minis).cast(), false) };
        }
        if !self.titled || !Tail::expanded(0, self.op_own).is_frame() {
            cold_path();
            return None;
        }
        let stride = (!F::COUNTER).then_some(self.counter);
        // SAFETY: 64 bytes, aligned to as many, that change only when the next completion is looked for.
        let title = unsafe { InQueue::new(NonNull::from(&mut self.title).cast(), false) };
        Some(Run { title, part: Part { at: number, end, op_own: self.op_own }, stride, array })
    }

    #[inline(always)]
    fn mini(mini: u64, shared: Shared) -> MiniFrame {
        MiniFrame::new::<F>(mini, shared)
    }

    #[inline(always)]
    fn end_run(&mut self, (ring, place): (&mut Ring, &mut Place), part: Part, next: u16) -> bool {
        // SAFETY: the places are in the ring, and the CQEs software's, as all of the session. All were taken. The place
        // is the only one there is.
        if !unsafe { ring.give_back_marked(place, part.len(), self.iteration) } {
            return false;
        }
        // Of a session that was taken at once, this value has nothing: both are equal already.
        self.at = self.end;
        if ENHANCED {
            self.leave_title(next);
        }
        true
    }

    fn leave_run(&mut self, (ring, place): (&mut Ring, &mut Place), part: Part, done: u32, next: u16) {
        let number = part.at + done;
        let is_new = part.at == 0 && !ENHANCED;
        let within = number % ARRAY;
        // Where the session goes on within an array that was not copied.
        if within != 0 && within <= done {
            let is_behind = is_new && within == done;
            let array = if is_behind { ring.behind(*place) } else { ring.ahead(*place, done - within) };
            self.minis.0 = array.words();
        }
        if is_new {
            // SAFETY: the place is in the ring, and the CQE software's: the session's title.
            self.title.0 = unsafe { ring.fields(*place) }.words();
            (self.titled, self.op_own) = (true, part.op_own);
        }
        (self.at, self.end) = (number, part.end);
        self.leave_title(next);
        for n in 0..done {
            // SAFETY: the places are in the ring, and the CQEs software's, as all of the session; the content that is
            // still needed was copied. The place is the only one there is. The session's first place stays, as in
            // `expand`: `holds` begins there.
            unsafe {
                if part.at + n != 0 {
                    ring.mark_empty(*place, self.iteration);
                }
                ring.advance(place);
            }
            self.count_pass(ring, *place);
        }
    }
}

/// The strides of a completion of a striding receive queue (Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_decompress_cqe`, adds them up likewise).
#[inline(always)]
fn strides(cqe: &Words) -> u16 {
    (cqe.byte_cnt() >> 16) as u16 & 0x3fff
}

/// Whether a CQE is more than one completion, or none.
#[inline(always)]
fn is_compressed(tail: Tail) -> bool {
    matches!(tail.op_own().format(), CqeFormat::Compressed)
}

#[cfg(test)]
mod tests {
    use core::ptr::NonNull;
    use std::boxed::Box;

    use super::*;
    use crate::cq::compressed::{BASIC, Hash};

    #[repr(C, align(64))]
    struct Cqes([[u8; 64]; 4]);

    /// A weak CPU may have loaded the rest of a title before its owner bit. It is right behind the barrier.
    #[test]
    fn a_session_is_as_long_as_its_title_says_behind_the_barrier() {
        let unwritten = {
            let mut cqe = [0; 64];
            cqe[63] = 0xf1;
            cqe
        };
        let cqes = NonNull::from(Box::leak(Box::new(Cqes([unwritten; 4]))));
        let byte = |cqe: usize, at: usize| cqes.cast::<u8>().as_ptr().wrapping_add(cqe * 64 + at);
        // SAFETY: all in `cqes`, of which no reference is left.
        let write = |cqe, at, value| unsafe { byte(cqe, at).write(value) };
        // A title of completions of receives, which said 4 in the last pass, with its owner bit.
        write(0, 47, 4);
        write(0, 63, 0x2c);
        // SAFETY: four CQEs, aligned.
        let (ring, next) = unsafe { Ring::new(cqes.cast(), 4, 64, CqCi::truncate(0)) };
        let at = || RingAt { ring: &ring, next };
        Expander::<Hash, BASIC>::new(&at()).flatten(at(), || write(0, 47, 2));
        // SAFETY: all in `cqes`, of which no reference is left.
        let owners: [u8; 4] = core::array::from_fn(|cqe| unsafe { byte(cqe, 63).read() });
        assert_eq!(owners, [0x20, 0x20, 0xf1, 0xf1]);
        // SAFETY: of `Box::leak` above.
        drop(unsafe { Box::from_raw(cqes.as_ptr()) });
    }
}
