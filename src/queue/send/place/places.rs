//! The places of requests in the ring, and composed requests on their way there, each with its record. Knows requests
//! by their size only.
use core::ptr::NonNull;

use crate::queue::send::parts::WqeRecord;
use crate::queue::send::place::short::composed_ds;
use crate::queue::send::place::wqebb_place::{Index, WqebbPlace};
use crate::transport::Transport;
use crate::types::{Ds, SqPi, Wqebbs};
use crate::wqe::{Composed, Control, HeldDs, WQEBB_DS, WorkRequest};

/// A send queue's ring and shadow, and the parts of a control segment that are the queue's.
///
/// # Safety
/// The ring is a send queue's, which `from_parts`' caller vouches for, and so is the shadow. The mask is theirs: it
/// selects places inside of both.
pub(in crate::queue) unsafe trait Places: Sized {
    /// The send ring.
    fn ring(&self) -> NonNull<u64>;
    /// The records of its WQEBBs.
    fn shadow(&self) -> NonNull<WqeRecord>;
    /// Selects a [`WqebbPlace`].
    fn mask(&self) -> u32;
    /// The control segment's parts at an index.
    fn control(&self, pi: Index) -> Control;

    /// Where the WQEBB of an index is: always inside of the ring, and its record inside of the shadow.
    #[inline(always)]
    fn place(&self, pi: Index) -> WqebbPlace {
        WqebbPlace::new(pi, self.mask())
    }

    /// The first word of a WQEBB of the ring.
    #[inline(always)]
    fn wqebb(&self, place: WqebbPlace) -> NonNull<u64> {
        // SAFETY: a place is inside of the ring that `from_parts`' caller vouches for.
        unsafe { self.ring().byte_add(place.ring_offset()) }
    }

    /// The record of the WQE that starts at a place.
    #[inline(always)]
    fn record(&self, place: WqebbPlace) -> NonNull<WqeRecord> {
        // SAFETY: there are as many records as places.
        unsafe { self.shadow().byte_add(place.shadow_offset()) }
    }

    /// Composes a request in CPU registers, and stores it at `pi`.
    ///
    /// # Safety
    /// There is room for one WQEBB at `pi`, the request is short (`is_short`), and the queue's limits cover its needs.
    #[inline(always)]
    unsafe fn put_short<T: Transport, D: HeldDs, W: WorkRequest<T>>(&mut self, pi: Index, request: &W) -> Composed<D> {
        let ds = const { composed_ds::<T, W>() };
        let mut wqe = Composed::new();
        request.encode(&self.control(pi), ds, &mut wqe);
        if const { T::SIGNS } {
            wqe.sign_whole();
        }
        // SAFETY: the caller's.
        unsafe { self.put(pi, &wqe, ds, WqeRecord { wr_id: request.id(), wqebbs: 1 }) };
        wqe
    }

    /// Composes a request of two WQEBBs in CPU registers, and stores it at `pi` and behind, around the ring's end if
    /// need be.
    ///
    /// # Safety
    /// There is room for two WQEBBs at `pi`, and the queue takes the request (`takes_pair`).
    #[inline(always)]
    unsafe fn put_pair<T: Transport, D: HeldDs, W: WorkRequest<T>>(
        &mut self,
        pi: Index,
        request: &W,
    ) -> [Composed<D>; 2] {
        let ds = const { composed_ds::<T, W>() };
        let mut wqe = Composed::<D, { 2 * WQEBB_DS }>::new();
        request.encode(&self.control(pi), ds, &mut wqe);
        if const { T::SIGNS } {
            wqe.sign_whole();
        }
        let [first, second] = wqe.pair();
        let record = WqeRecord { wr_id: request.id(), wqebbs: 2 };
        // SAFETY: the caller's, of both WQEBBs. No WQE starts in the second.
        unsafe {
            self.put(pi, &first, Ds(WQEBB_DS as u8), record);
            self.put(pi.add(Wqebbs(1)), &second, Ds(ds.0 - WQEBB_DS as u8), WqeRecord { wqebbs: 0, ..record });
        }
        [first, second]
    }

    /// Stores the `ds` of one WQEBB, and its record, at `pi`. Bytes past the WQE's end are left alone, as libmlx5
    /// leaves them.
    ///
    /// # Safety
    /// There is room for it at `pi`.
    #[inline(always)]
    unsafe fn put<D: HeldDs>(&mut self, pi: Index, wqebb: &Composed<D>, ds: Ds, record: WqeRecord) {
        let place = self.place(pi);
        // SAFETY: a WQEBB of the ring that is free, and its record in the shadow: `from_parts`' caller vouches for
        // both.
        unsafe {
            // The record first, which waits for nothing: the doorbell's barrier waits for both.
            record.store::<D>(self.record(place));
            wqebb.store(self.wqebb(place), usize::from(ds.0));
        }
    }
}

/// A copy of a send queue's places.
///
/// A copy stays in CPU registers while many requests are put. Each store to the ring could change the queue itself, as
/// far as the compiler knows.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct CopiedPlaces {
    ring: NonNull<u64>,
    shadow: NonNull<WqeRecord>,
    mask: u32,
    /// The control segment's parts at index 0.
    control: Control,
}

impl CopiedPlaces {
    #[inline(always)]
    pub(in crate::queue) fn of(queue: &impl Places) -> Self {
        let control = queue.control(Index::new(SqPi(0)));
        Self { ring: queue.ring(), shadow: queue.shadow(), mask: queue.mask(), control }
    }
}

// SAFETY: copied from places of one queue.
unsafe impl Places for CopiedPlaces {
    #[inline(always)]
    fn ring(&self) -> NonNull<u64> {
        self.ring
    }

    #[inline(always)]
    fn shadow(&self) -> NonNull<WqeRecord> {
        self.shadow
    }

    #[inline(always)]
    fn mask(&self) -> u32 {
        self.mask
    }

    #[inline(always)]
    fn control(&self, pi: Index) -> Control {
        Control { index: pi.bits(), ..self.control }
    }
}
