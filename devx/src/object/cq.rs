//! Completion queues.

use core::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blueflame::SetupError;
use blueflame::cq::compressed::{Compression, MiniFormat};
use blueflame::cq::mode::{Compressed, PollMode, Standard};
use blueflame::cq::setup::{CqParts, Reservation, Room, RoomError, mark_unwritten};
use blueflame::cq::{CompletionQueue, CqId};
use blueflame::queue::Owned;
use blueflame::types::{CqCi, Cqn};

use super::uar::DoorbellPage;
use crate::check::in_range;
use crate::cmd::{Cqc, CqeSize, CreateCqIn, ModifyCqIn, QueryCqIn};
use crate::context::{Context, Object, Under};
use crate::error::Error;
use crate::mailbox::Structure;
use crate::memory::{Space, ThreadRings};
use crate::support::ask::{at_least, has};

/// Handle of a completion queue, for everything except polling. Cheap to clone. Builders of queues take the [queue
/// itself](super::AnyCq).
#[derive(Clone, Debug)]
pub struct Cq {
    handle: Arc<Handle>,
}

/// A completion queue of this crate.
pub type OwnedCq<M = Standard> = Owned<CompletionQueue<M>, Cq>;

pub(super) const OBJECT: &str = "completion queue";

/// The largest `cqc.cq_period`, in microseconds.
const MAX_PERIOD: u16 = 0xfff;

/// Fields of a context that MODIFY_CQ changes (Linux `include/linux/mlx5/cq.h`, `MLX5_CQ_MODIFY_*`).
const MODIFY_PERIOD: u32 = 1 << 0;
const MODIFY_COUNT: u32 = 1 << 1;

/// The operation of MODIFY_CQ that moves a queue to another ring, and the fields that describe the ring: size, offset
/// in the first page, page size (Linux `include/linux/mlx5/cq.h`, `MLX5_MODIFY_CQ_MASK_*`;
/// `drivers/infiniband/hw/mlx5/cq.c`, `mlx5_ib_resize_cq`).
const RESIZE: u16 = 1;
const RESIZE_ALL: u32 = 7;

/// The bytes of `create_cq_in` that say in which memory the ring lies.
const PLACE: Range<usize> = 0x50..0x60;

/// The most CQEs that a caller may request. With the CQEs of compression sessions, the ring has at most 2^24.
const MAX_CQES: u64 = (1 << 23) - 1;

#[derive(Debug)]
struct Handle {
    object: Object,
    cqn: Cqn,
    id: CqId,
    room: Room,
    /// Each completion replaces the one before.
    collapsed: bool,
    /// Resizing moves the ring. The object also keeps this place.
    lies: Arc<Mutex<Lies>>,
}

/// Where a completion queue lies. Builders of queue pairs search the ring, and another thread may move it.
#[derive(Debug)]
struct Lies {
    parts: CqParts,
    ring: Space,
    /// Rings of failed resizes: the device may write there.
    unsure: Vec<Space>,
}

// SAFETY: the parts are addresses, which this value does not follow.
unsafe impl Send for Lies {}
// SAFETY: the parts are addresses, which this value does not follow.
unsafe impl Sync for Lies {}

impl Under for Lies {
    fn check(&self, context: &Context) -> Result<(), Error> {
        self.ring.check(context)
    }
}

/// An object that was made, and where it lies.
pub(super) struct Made {
    object: Object,
    pub(super) parts: CqParts,
    lies: Arc<Mutex<Lies>>,
}

impl Cq {
    /// The handle of the queue `id` over an object, where `room` completions fit.
    pub(super) fn new(made: Made, id: CqId, room: u32, collapsed: bool) -> Self {
        let Made { object, parts, lies } = made;
        Self { handle: Arc::new(Handle { object, cqn: parts.cqn, id, room: Room::new(room), collapsed, lies }) }
    }

    /// The completion queue's number.
    #[must_use]
    pub fn cqn(&self) -> Cqn {
        self.handle.cqn
    }

    /// The identity of the queue over it.
    pub(super) fn id(&self) -> CqId {
        self.handle.id
    }

    /// Reserves places for `completions` of an object that is about to be made. The only place of a collapsed queue is
    /// for all of one send queue's.
    ///
    /// # Errors
    /// [`Error::CqRoom`], [`Error::CollapsedInUse`].
    pub(super) fn reserve(&self, completions: u32) -> Result<Reservation, Error> {
        if self.is_collapsed() {
            let reserved = self.room().reserve(completions.min(1));
            return reserved.map_err(|_| Error::CollapsedInUse { cqn: self.cqn() });
        }
        self.room().reserve(completions).map_err(|error| self.too_small(error))
    }

    /// Whether each completion replaces the one before.
    pub(super) fn is_collapsed(&self) -> bool {
        self.handle.collapsed
    }

    /// The error of a queue that is too small.
    pub(super) fn too_small(&self, error: RoomError) -> Error {
        Error::CqRoom { cqn: self.cqn(), error }
    }

    pub(super) fn room(&self) -> &Room {
        &self.handle.room
    }

    /// From now on, lets queues complete here that may together have more completions waiting than fit
    /// ([`Error::CqRoom`]). The program must then see to it that no more wait at a time, also when a queue pair fails
    /// and all of its requests complete. [`oversubscribe`](blueflame::verbs::Cq::oversubscribe) of verbs says what
    /// happens otherwise. A [collapsed](super::OwnedCollapsed) queue stays for one send queue.
    pub fn oversubscribe(&self) {
        if !self.is_collapsed() {
            self.room().oversubscribe();
        }
    }

    /// The object: for commands, and events.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.handle.object
    }

    /// The raw parts, for reading only: a queue over them exists already.
    #[must_use]
    pub fn parts(&self) -> CqParts {
        self.lies().parts
    }

    /// Queries the context.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Cqc, Error> {
        let mut inbox = QueryCqIn::new();
        inbox.set_cqn(self.cqn());
        Ok(self.object().query(&inbox)?.cq_context().clone())
    }

    /// Changes the moderation of events (MODIFY_CQ). From now on, an event waits for this many completions since the
    /// previous event, or for this many microseconds (4095 at most). If either number is 0, `softhca` does not hold
    /// events back. No public source describes a NIC in this case. [`CqBuilder::moderation`] sets the initial
    /// moderation.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::Command`].
    pub fn set_moderation(&self, completions: u16, microseconds: u16) -> Result<(), Error> {
        in_range("microseconds of moderation", microseconds, 0..=MAX_PERIOD.into())?;
        has("cmd_hca_cap.cq_moderation", self.object().context().general()?.cq_moderation())?;
        let mut inbox = ModifyCqIn::new();
        inbox.set_cqn(self.cqn()).set_modify_field_select_resize_field_select(MODIFY_PERIOD | MODIFY_COUNT);
        inbox.cq_context_mut().set_cq_max_count(completions).set_cq_period(microseconds);
        self.object().change(&inbox).map(drop)
    }

    fn lies(&self) -> MutexGuard<'_, Lies> {
        // Nothing panics while it holds the lock.
        self.handle.lies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the room of `queue` to at least `cqes` completions, more or fewer, while queue pairs complete there
    /// (MODIFY_CQ), but not to fewer than its queues may have waiting. Unpolled completions stay. The new ring comes
    /// from `rings`.
    ///
    /// A queue whose device compresses completions cannot be resized; its type prevents that.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::CqRoom`], [`Error::Capability`], [`Error::ForeignDevice`], no memory for the
    /// ring, or [`Error::Command`], for instance if more completions wait than the new ring holds. Nothing has changed
    /// then, unless the answer got lost (a status of OK): the device may have moved, and no completion arrives any
    /// more. [`Error::Parts`] if the queue does not belong to its handle (they were swapped), or if the device did not
    /// move to the new ring properly: completions are lost.
    pub fn resize<M: PollMode<Compression = ()>>(
        queue: &mut OwnedCq<M>,
        rings: &ThreadRings,
        cqes: u32,
    ) -> Result<(), Error> {
        if !queue.is_whole() {
            return Err(parts_error("it is the queue of another handle".to_owned()));
        }
        let cq = queue.handle().clone();
        in_range("CQEs", cqes, 1..=MAX_CQES)?;
        let general = cq.object().context().general()?;
        has("cmd_hca_cap.cq_resize", general.cq_resize())?;
        let cqes = places(cqes);
        at_least("cmd_hca_cap.log_max_cq_sz", general.log_max_cq_sz(), cqes.trailing_zeros())?;
        if cqes == queue.capacity() {
            return Ok(());
        }
        // A smaller room counts before the device moves, a larger one after. One place stays free.
        let was = queue.room();
        let resize = |room| cq.room().resize(room).map_err(|error| cq.too_small(error));
        resize(was.min(cqes - 1))?;
        let moved = Self::change_ring(queue, &cq, rings, cqes);
        // The room of whichever ring the queue is in now.
        resize(queue.room())?;
        moved
    }

    /// Moves the queue to a new ring of `cqes` CQEs.
    fn change_ring<M: PollMode<Compression = ()>>(
        queue: &mut OwnedCq<M>,
        cq: &Self,
        rings: &ThreadRings,
        cqes: u32,
    ) -> Result<(), Error> {
        let mut lies = cq.lies();
        let cqe_bytes = lies.parts.cqe_size;
        let ring = rings.ring(cqes as usize * cqe_bytes as usize, cqe_bytes as usize)?;
        // SAFETY: the ring is ours, and the device does not have it yet.
        unsafe { mark_unwritten(ring.start(), cqes, cqe_bytes) };
        // The headers give the place of the memory's number and offset only in the command that creates a queue. Both
        // commands have `cq_umem_valid` in one place, and Linux sets it in both (`devx_set_umem_valid`).
        let mut place = CreateCqIn::new();
        place.set_cq_umem_valid(true).set_cq_umem_id(ring.umem()).set_cq_umem_offset(ring.offset());
        let mut inbox = ModifyCqIn::new();
        inbox.as_bytes_mut()[PLACE].copy_from_slice(&place.as_bytes()[PLACE]);
        inbox.set_cqn(cq.cqn()).set_op_mod(RESIZE).set_modify_field_select_resize_field_select(RESIZE_ALL);
        let size = if cqe_bytes == 128 { CqeSize::BYTES_128 } else { CqeSize::BYTES_64 };
        inbox.cq_context_mut().set_cqe_sz(size).set_log_cq_size(cqes.trailing_zeros() as u8);
        if let Err(error) = cq.object().change_to(&inbox, &ring) {
            if matches!(&error, Error::Command(command) if command.may_be_done()) {
                lies.unsure.push(ring);
            }
            return Err(error);
        }
        let buf = ring.start();
        let old = std::mem::replace(&mut lies.ring, ring);
        // SAFETY: the queue is whole. The new ring begins at a multiple of a CQE, was marked, and the device writes
        // there from now on, as the command says. The handle has it already, and has the old one until the queue has
        // left it for good.
        let carried = unsafe { queue.change_ring(|queue: &mut CompletionQueue<M>| queue.carry_over(buf, cqes)) };
        if let Ok(_) | Err(SetupError::RingNotEnded { .. } | SetupError::RingTooSmall { .. }) = carried {
            lies.parts = CqParts { buf, cqe_cnt: cqes, ..lies.parts };
        }
        let Err(error) = carried else { return Ok(()) };
        // The device may write to either ring.
        lies.unsure.push(old);
        Err(parts_error(error.to_string()))
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }
}

pub(super) fn parts_error(why: String) -> Error {
    Error::Parts { object: OBJECT, why }
}

/// The places of a ring for at least `cqes` completions: one of them stays free.
fn places(cqes: u32) -> u32 {
    (cqes + 1).next_power_of_two()
}

/// How the device compresses completions: layout and format.
#[derive(Clone, Copy, Debug, Default)]
struct CqeCompression {
    layout: Compression,
    format: u8,
    format_ext: u8,
}

/// Builder of a completion queue, with the mode in which it is polled.
#[derive(Clone, Copy, Debug)]
pub struct CqBuilder<'a, M = Standard> {
    rings: &'a ThreadRings,
    page: &'a DoorbellPage,
    cqes: u32,
    cqe_bytes: u16,
    vector: u32,
    ignore_overrun: bool,
    moderation: (u16, u16),
    compression: CqeCompression,
    mode: PhantomData<fn() -> M>,
}

impl ThreadRings {
    /// Begins a completion queue with room for at least `cqes` completions, armed through `page`. It must hold all
    /// completions that can wait in it unpolled: a queue that overruns is lost, with all its queue pairs. So a queue
    /// for which there is no room is not made ([`Error::CqRoom`]), unless the completion queue is
    /// [oversubscribed](Cq::oversubscribe). Unsignalled requests count as well: they complete when their queue pair
    /// goes to the error state. [`completion_queue`](blueflame::verbs::Device::completion_queue) of verbs says what to
    /// count.
    #[must_use]
    pub fn completion_queue<'a>(&'a self, page: &'a DoorbellPage, cqes: u32) -> CqBuilder<'a> {
        CqBuilder {
            rings: self,
            page,
            cqes,
            cqe_bytes: 64,
            vector: 0,
            ignore_overrun: false,
            moderation: (0, 0),
            compression: CqeCompression::default(),
            mode: PhantomData,
        }
    }
}

impl<'a> CqBuilder<'a> {
    /// The device compresses similar completions, in mini-CQEs of format `F` in the enhanced layout or the
    /// [basic](blueflame::cq::compressed::BASIC) one. The queue is polled in the mode [`Compressed`]. Fields that
    /// differ and are not in `F`, such as timestamps, are lost.
    #[must_use]
    pub fn compressed<F: MiniFormat, const ENHANCED: bool>(self) -> CqBuilder<'a, Compressed<F, ENHANCED>> {
        let Self { rings, page, cqes, cqe_bytes, vector, ignore_overrun, moderation, .. } = self;
        let layout = Compression::of(ENHANCED);
        let compression = CqeCompression { layout, format: F::FORMAT, format_ext: F::FORMAT_EXT };
        CqBuilder { rings, page, cqes, cqe_bytes, vector, ignore_overrun, moderation, compression, mode: PhantomData }
    }
}

impl<M: PollMode> CqBuilder<'_, M> {
    /// Bytes per CQE, 64 (the default) or 128.
    #[must_use]
    pub fn cqe_bytes(mut self, bytes: u16) -> Self {
        self.cqe_bytes = bytes;
        self
    }

    /// The device's completion interrupt for its events. Default 0.
    #[must_use]
    pub fn comp_vector(mut self, vector: u32) -> Self {
        self.vector = vector;
        self
    }

    /// The device does not check whether the queue overruns. For the mode
    /// [`NoOverrun`](blueflame::cq::mode::NoOverrun). Off by default.
    ///
    /// # Safety
    /// There are never more completions outstanding than the queue has places, as
    /// [`ignore_overrun`](blueflame::verbs::CqBuilder::ignore_overrun) of verbs says.
    #[must_use]
    pub unsafe fn ignore_overrun(mut self) -> Self {
        self.ignore_overrun = true;
        self
    }

    /// An event waits for this many completions since the previous event, or for this many microseconds (4095 at most).
    /// The default is 0 and 0: events do not wait.
    #[must_use]
    pub fn moderation(mut self, completions: u16, microseconds: u16) -> Self {
        self.moderation = (completions, microseconds);
        self
    }

    /// Makes the queue.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::ForeignDevice`], [`Error::Command`], or no memory for the
    /// ring.
    pub fn build(self) -> Result<OwnedCq<M>, Error> {
        let context = self.rings.rings().context();
        in_range("CQEs", self.cqes, 1..=MAX_CQES)?;
        in_range("microseconds of moderation", self.moderation.1, 0..=MAX_PERIOD.into())?;
        // The mode gives places back by sessions.
        let more = match self.compression.layout {
            Compression::None => 0,
            Compression::Basic | Compression::Enhanced => context.general()?.cqe_compression_max_num().into(),
        };
        let made = self.make(places(self.cqes + more), false)?;
        // SAFETY: the device was told of this ring, record and page, which the object keeps; nobody else polls it.
        let queue =
            unsafe { CompletionQueue::from_parts(made.parts) }.map_err(|error| parts_error(error.to_string()))?;
        // SAFETY: the command has asked for the compression of `M`.
        let queue = unsafe { queue.made_for::<M>() };
        let cq = Cq::new(made, queue.id(), queue.room(), false);
        // SAFETY: the handle keeps the completion queue; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, cq, CompletionQueue::ring_addr) })
    }

    /// Makes the object, with a ring of `cqes` CQEs, which are marked as never written.
    pub(super) fn make(&self, cqes: u32, collapsed: bool) -> Result<Made, Error> {
        let context = self.rings.rings().context();
        let size = match self.cqe_bytes {
            64 => CqeSize::BYTES_64,
            128 => CqeSize::BYTES_128,
            bytes => return Err(Error::OutOfRange { what: "bytes per CQE", value: bytes.into(), min: 64, max: 128 }),
        };
        self.check(context, cqes)?;
        let eqn = context.event_queue(self.vector)?;

        let ring = self.rings.ring(cqes as usize * usize::from(self.cqe_bytes), self.cqe_bytes.into())?;
        let record = self.rings.record()?;
        // SAFETY: the ring is ours, and the device does not have it yet.
        unsafe { mark_unwritten(ring.start(), cqes, self.cqe_bytes.into()) };

        let mut inbox = CreateCqIn::new();
        inbox.set_cq_umem_valid(true).set_cq_umem_id(ring.umem()).set_cq_umem_offset(ring.offset());
        let context_of = inbox.cq_context_mut();
        context_of
            .set_cqe_sz(size)
            .set_cc(collapsed)
            .set_oi(self.ignore_overrun)
            .set_cqe_comp_en(self.compression.layout != Compression::None)
            .set_cqe_compression_layout((self.compression.layout == Compression::Enhanced).into())
            .set_mini_cqe_res_format(self.compression.format)
            .set_mini_cqe_res_format_ext(self.compression.format_ext)
            .set_log_cq_size(cqes.trailing_zeros() as u8)
            .set_uar_page(self.page.id())
            .set_cq_max_count(self.moderation.0)
            .set_cq_period(self.moderation.1)
            .set_c_eqn_or_apu_element(eqn.0)
            .set_dbr_umem_valid(true)
            .set_dbr_umem_id(record.umem())
            .set_dbr_addr(record.offset());
        let parts = CqParts {
            buf: ring.start(),
            cqe_cnt: cqes,
            cqe_size: self.cqe_bytes.into(),
            dbrec: record.start(),
            cq_uar: self.page.base(),
            cqn: Cqn::truncate(0),
            ci: CqCi::truncate(0),
        };
        let lies = Arc::new(Mutex::new(Lies { parts, ring, unsure: Vec::new() }));
        let (object, out) = context.make(&inbox, (Arc::clone(&lies), record, self.page.clone()))?;
        let parts = CqParts { cqn: out.cqn(), ..parts };
        lies.lock().unwrap_or_else(PoisonError::into_inner).parts = parts;
        Ok(Made { object, parts, lies })
    }

    /// Checks the configuration against the device's capabilities.
    fn check(&self, context: &Context, cqes: u32) -> Result<(), Error> {
        let general = context.general()?;
        at_least("cmd_hca_cap.log_max_cq_sz", general.log_max_cq_sz(), cqes.trailing_zeros())?;
        if self.ignore_overrun {
            has("cmd_hca_cap.cq_oi", general.cq_oi())?;
        }
        if self.compression.layout != Compression::None {
            let has_size = match self.cqe_bytes {
                128 => general.cqe_compression_128(),
                _ => general.cqe_compression(),
            };
            has("cmd_hca_cap.cqe_compression (of CQEs of this size)", has_size)?;
            match (self.compression.format, self.compression.format_ext) {
                (_, 1) => has("cmd_hca_cap.mini_cqe_resp_l3_l4_tag", general.mini_cqe_resp_l3_l4_tag())?,
                (2, _) => has("cmd_hca_cap.mini_cqe_resp_flow_tag", general.mini_cqe_resp_flow_tag())?,
                (3, _) => has("cmd_hca_cap.mini_cqe_resp_stride_index", general.mini_cqe_resp_stride_index())?,
                _ => {}
            }
            if self.compression.layout == Compression::Enhanced {
                has("cmd_hca_cap.enhanced_cqe_compression", general.enhanced_cqe_compression())?;
            }
        }
        if self.moderation != (0, 0) {
            has("cmd_hca_cap.cq_moderation", general.cq_moderation())?;
        }
        Ok(())
    }
}
