//! A list of tagged buffers that the device compares messages with, and the events of these buffers.
//!
//! ```text
//!   append, remove, sync                                     message
//!         |                                                     |
//!         v                                                     v
//!   command queue ──> list: tag, mask, buffer <── does a tag match? ── no ──> buffer of the shared receive queue
//!         |                        |                                                       |
//!         v                        v yes                                                   v
//!   Appended, Removed, Synced   Matched: the data is in the entry's buffer            Unexpected
//! ```
//!
//! Two lists, one order. An unexpected message may belong to a buffer that is appended later. So software compares each
//! new tag with the messages that it has, before it appends the buffer. The device compares messages with new entries
//! when it knows that software has seen all unexpected ones: each operation has the count (rdma-core
//! `Documentation/tag_matching.md`).
use crate::cq::cqe::{ListOperation, TagCqe, TagMatch};
use crate::cq::{CqeError, CqeOpcode, CqeView, Side, Source};
use crate::db::Register;
use crate::queue::owned::Owned;
use crate::queue::recv::shared::{SharedRecvQueue, SrqBatch};
use crate::queue::send::queue::SendQueue;
use crate::queue::tags::entries::{Entries, TagRecord};
use crate::queue::tags::error::TagError;
use crate::setup::SetupError;
use crate::tagged::TagHeader;
use crate::transport::Rc;
use crate::types::{TagIndex, WrId};
use crate::wqe::{self, Sge};

/// An event of a list of tags, reported by a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagEvent {
    /// A buffer is on the list.
    Appended {
        /// The `wr_id` of the buffer.
        wr_id: WrId,
        /// The entry of the buffer in the list.
        entry: TagIndex,
        /// Whether messages are compared with it. If not, the device has seen an unexpected message that software had
        /// not seen when it appended the buffer. The buffer waits for [`sync`](TagMatching::sync), or the next
        /// operation, after the completion of that message.
        in_step: bool,
    },
    /// A buffer was to be removed.
    Removed {
        /// The `wr_id` of the buffer.
        wr_id: WrId,
        /// The entry of the buffer in the list.
        entry: TagIndex,
        /// Whether it is off the list, and yours again. If not, a message had come for it: [`TagEvent::Matched`]
        /// reports the message, now or earlier.
        removed: bool,
    },
    /// The device has taken the count of unexpected messages.
    Synced {
        /// Whether the device has seen no more than this count.
        in_step: bool,
    },
    /// A message has matched a buffer, or the data of a matched message has arrived.
    Matched {
        /// The `wr_id` of the buffer.
        wr_id: WrId,
        /// The entry of the buffer in the list.
        entry: TagIndex,
        /// The header of the message, in the event of its match. An event that reports data alone has no header.
        header: Option<TagHeader>,
        /// Bytes of data in the buffer, if `complete`. A queue pair that was made to put data into CQEs may have put
        /// them there ([`copy_inline`](CqeView::copy_inline)).
        bytes: u32,
        /// Whether the buffer is yours again.
        complete: bool,
        /// Whether this is a rendezvous that the device does not fetch. The buffer then has the message's headers, and
        /// the data is yours to read.
        incomplete: bool,
    },
    /// The queue pair of a matched message has failed, and the device has given the message up. No event of this
    /// message follows.
    Canceled {
        /// The `wr_id` of the buffer. The buffer is yours again, with any contents.
        wr_id: WrId,
        /// The entry of the buffer in the list.
        entry: TagIndex,
    },
    /// A message has matched no buffer. It is in this buffer of the shared receive queue, with its header in front.
    /// Compare each tag that you append later with this message: operations posted from now on tell the device that you
    /// know of the message.
    Unexpected {
        /// The `wr_id` of the buffer.
        wr_id: WrId,
        /// Bytes in the buffer, with those of the header.
        bytes: u32,
    },
    /// A message without a tag, or the report that a rendezvous is finished ([`TagKind`](crate::tagged::TagKind)). It
    /// is in a buffer of the shared receive queue.
    NoTag {
        /// The `wr_id` of the buffer.
        wr_id: WrId,
        /// Bytes in the buffer, with those of the header.
        bytes: u32,
    },
    /// A buffer of the shared receive queue has come back with an error of the queue pair that had taken it.
    Failed {
        /// The `wr_id` of the buffer.
        wr_id: WrId,
        /// The error.
        error: CqeError,
    },
}

/// A list of tagged buffers, its command queue `C`, and the shared receive queue `S` whose messages are compared with
/// it.
///
/// Each operation completes, in the order of posting; every completion of the queue's goes to
/// [`complete`](Self::complete). Nothing is allocated: `E` is memory for as many records as there are tags and one
/// more, of a `Vec` or an array.
///
/// ```
/// use blueflame::cq::{CompletionQueue, Cqe};
/// use blueflame::queue::{Owned, SendQueue, SharedRecvQueue, TagMatching};
/// use blueflame::queue::tags::{TagError, TagEvent, TagRecord};
/// use blueflame::{Sge, WrId, transport};
///
/// type List<S, C> =
///     TagMatching<Owned<SharedRecvQueue, S>, Owned<SendQueue<transport::Rc>, C>, Vec<TagRecord>>;
///
/// /// Expects a message with this tag, all bits of it.
/// fn expect<S, C>(list: &mut List<S, C>, tag: u64, page: Sge) -> Result<(), TagError> {
///     // SAFETY: the page stays registered, and nobody else's, until a completion gives it back.
///     unsafe { list.append_unchecked(tag, u64::MAX, page, WrId(tag)) }.map(drop)
/// }
///
/// fn poll<S, C>(cq: &mut CompletionQueue, list: &mut List<S, C>) -> Option<WrId> {
///     let mut done = None;
///     cq.poll_with(1, |cqe| {
///         // SAFETY: nothing else completes on this queue, and each completion is polled once.
///         if let Ok(TagEvent::Matched { wr_id, complete: true, .. }) = unsafe { list.complete(&cqe) } {
///             done = Some(wr_id);
///         }
///     });
///     done
/// }
/// ```
#[doc(alias("ibv_tm_cap", "IBV_SRQT_TM"))]
#[derive(Debug)]
pub struct TagMatching<S, C, E> {
    receives: S,
    commands: C,
    entries: Entries<E>,
    /// Unexpected messages whose completions were seen, modulo 2^16.
    seen: u16,
    /// Unexpected messages that the device was told of, modulo 2^16.
    told: u16,
}

/// A shared receive queue and the object under it.
type Receives<H> = Owned<SharedRecvQueue, H>;

/// A command queue and the object under it.
type Commands<R, H> = Owned<SendQueue<Rc, R>, H>;

/// The error that prevented a list, and the parts it was to be made of.
type NoList<S, R, C, E> = (SetupError, (Receives<S>, Commands<R, C>, E));

/// The kind of an operation, in the tag of its request: the command queue has no other requests. The low 16 bits are
/// its entry, or the count.
const APPEND: u64 = 1 << 16;
const REMOVE: u64 = 2 << 16;
const SYNC: u64 = 3 << 16;

/// The most unexpected messages that the device is not told of: `MLX5_TM_MAX_SYNC_DIFF` (rdma-core
/// `providers/mlx5/cq.c`).
const MOST_UNTOLD: u16 = 0x3fff;

impl<S, C, R, E> TagMatching<Receives<S>, Commands<R, C>, E>
where
    R: Register,
    E: AsRef<[TagRecord]> + AsMut<[TagRecord]>,
{
    /// The list of the shared receive queue `receives`, empty, for as many tags as there are `records`, less one.
    ///
    /// A device whose list has fewer entries fails requests.
    ///
    /// # Errors
    /// [`SetupError`], with the three parts.
    ///
    /// # Safety
    /// `commands` is the send queue of a connection to itself, whose receives come from `receives`. No other queue
    /// changes the list of `receives`, because the completions of a list do not name their requests.
    #[expect(clippy::result_large_err, reason = "the queues go back")]
    pub unsafe fn new(
        receives: Receives<S>,
        commands: Commands<R, C>,
        mut records: E,
    ) -> Result<Self, NoList<S, R, C, E>> {
        let (free, depth, len) = (commands.free(), commands.depth(), records.as_mut().len());
        let error = if free != depth {
            SetupError::Outstanding { what: "command queue of a list of tags", outstanding: depth.0 - free.0 }
        } else if !(2..=Entries::<E>::MOST).contains(&len) {
            let (what, max) = ("records of a list of tags", Entries::<E>::MOST as u64);
            SetupError::OutOfRange { what, value: len as u64, min: 2, max }
        } else {
            return Ok(Self { receives, commands, entries: Entries::new(records), seen: 0, told: 0 });
        };
        Err((error, (receives, commands, records)))
    }

    /// Appends a buffer: the next message whose tag is `tag` in the bits of `mask` goes there. `tag` has no bits
    /// outside `mask`. It tells the device of all unexpected messages that [`complete`](Self::complete) has reported:
    /// compare the tag with these first.
    ///
    /// # Errors
    /// [`TagError::OutsideMask`], [`TagError::ListFull`], [`TagError::Post`]; nothing is written then.
    ///
    /// # Safety
    /// The device may write to the memory of `buffer` until [`TagEvent::Matched`] says that it is complete, or
    /// [`TagEvent::Removed`] that it is removed. During that time the memory stays registered, and nothing else reads,
    /// writes, frees or reuses it.
    #[inline]
    pub unsafe fn append_unchecked(
        &mut self,
        tag: u64,
        mask: u64,
        buffer: Sge,
        wr_id: WrId,
    ) -> Result<TagIndex, TagError> {
        if tag & !mask != 0 {
            return Err(TagError::OutsideMask { tag, mask });
        }
        let Some((entry, next)) = self.entries.next() else {
            return Err(TagError::ListFull { tags: self.entries.tags() });
        };
        let request = wqe::tag_append(tag, mask, next, buffer).reported().unexpected(self.seen);
        // SAFETY: the caller promises that the memory of `buffer` is the device's until an event gives it back.
        unsafe { self.commands.post_unchecked(&request.wr_id(operation(APPEND, entry)))? };
        self.entries.take((entry, next), wr_id, self.seen);
        self.told = self.seen;
        Ok(entry)
    }

    /// Takes a buffer off the list again, unless a message comes first: [`TagEvent::Removed`] says which.
    ///
    /// # Errors
    /// [`TagError::NotListed`], [`TagError::Post`]; nothing is written then.
    #[inline]
    pub fn remove(&mut self, entry: TagIndex) -> Result<(), TagError> {
        if !self.entries.is_removable(entry) {
            return Err(TagError::NotListed { entry });
        }
        let request = wqe::tag_remove(entry).reported().unexpected(self.seen);
        // SAFETY: of this list's own command queue, and counted.
        unsafe { self.commands.post_unchecked(&request.wr_id(operation(REMOVE, entry)))? };
        self.entries.remove(entry);
        self.told = self.seen;
        Ok(())
    }

    /// Tells the device how many unexpected messages [`complete`](Self::complete) has reported, and does nothing else.
    ///
    /// # Errors
    /// [`TagError::Post`]; nothing is written then.
    #[inline]
    pub fn sync(&mut self) -> Result<(), TagError> {
        let request = wqe::tag_sync().reported().unexpected(self.seen);
        // SAFETY: of this list's own command queue, and counted.
        unsafe { self.commands.post_unchecked(&request.wr_id(WrId(SYNC | u64::from(self.seen))))? };
        self.told = self.seen;
        Ok(())
    }

    /// True when too many unexpected messages are unreported to the device. Call [`sync`](Self::sync), or post any
    /// other operation.
    #[inline]
    #[must_use]
    pub fn must_sync(&self) -> bool {
        self.untold() > MOST_UNTOLD
    }

    /// Unexpected messages that [`complete`](Self::complete) has reported, but the device has not been told of.
    #[inline]
    #[must_use]
    pub fn untold(&self) -> u16 {
        self.seen.wrapping_sub(self.told)
    }

    /// Starts a batch of buffers for messages that match nothing.
    #[inline]
    pub fn receives(&mut self) -> SrqBatch<'_> {
        self.receives.batch()
    }

    /// Tags on the list, those among them that were posted and not done.
    #[must_use]
    pub fn len(&self) -> u16 {
        self.entries.taken()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tags that the list takes.
    #[must_use]
    pub const fn capacity(&self) -> u16 {
        self.entries.tags()
    }

    /// The command queue, to look at.
    #[must_use]
    pub const fn commands(&self) -> &Commands<R, C> {
        &self.commands
    }

    /// The shared receive queue, to look at, and to make queue pairs with.
    #[must_use]
    pub const fn shared_receives(&self) -> &Receives<S> {
        &self.receives
    }

    /// The event that a completion reports, of the list, of its command queue, or of a message.
    ///
    /// # Errors
    /// [`TagError::NotOfTags`], [`TagError::UnknownOperation`], [`TagError::NotPosted`], [`TagError::NotListed`],
    /// [`TagError::Receive`], [`TagError::Command`]; the list is unchanged then. The device's writes are not trusted:
    /// entries and operations must be ones that were posted.
    ///
    /// # Safety
    /// The completion belongs to this list's command queue, or to a queue pair that receives from its shared receive
    /// queue, and was not given before. No other queue changes the list, because its completions look the same. A
    /// foreign one would hand back a buffer that the device may still write.
    #[inline]
    pub unsafe fn complete<Q: Source>(&mut self, cqe: &CqeView<Q>) -> Result<TagEvent, TagError> {
        match cqe.tag_matching() {
            Some(TagCqe::Match(found)) => self.matched(found, cqe.byte_len()),
            Some(TagCqe::Canceled(entry)) => {
                let wr_id = self.entries.message(entry, true, true);
                Ok(TagEvent::Canceled { wr_id: wr_id.ok_or(TagError::NotListed { entry })?, entry })
            }
            Some(TagCqe::Unexpected) => {
                // SAFETY: the caller promises a completion of this list's queues, which was not given before.
                let event = TagEvent::Unexpected { wr_id: unsafe { self.retire(cqe)? }, bytes: cqe.byte_len() };
                self.seen = self.seen.wrapping_add(1);
                Ok(event)
            }
            // SAFETY: the caller promises a completion of this list's queues, which was not given before.
            Some(TagCqe::NoTag) => Ok(TagEvent::NoTag { wr_id: unsafe { self.retire(cqe)? }, bytes: cqe.byte_len() }),
            // SAFETY: a completion of the command queue: the caller promises that no other queue changes the list.
            Some(TagCqe::List { operation, phase }) => unsafe { self.done(operation, phase) },
            Some(TagCqe::Unknown(number)) => Err(TagError::UnknownOperation(number)),
            // SAFETY: the caller promises a completion of this list's queues, which was not given before.
            None => unsafe { self.other(cqe) },
        }
    }

    fn matched(&mut self, found: TagMatch, bytes: u32) -> Result<TagEvent, TagError> {
        let TagMatch { entry, header, complete, incomplete } = found;
        let wr_id = self.entries.message(entry, header.is_some(), complete);
        let wr_id = wr_id.ok_or(TagError::NotListed { entry })?;
        Ok(TagEvent::Matched { wr_id, entry, header, bytes, complete, incomplete })
    }

    /// Puts a buffer of the shared receive queue back.
    ///
    /// # Safety
    /// As [`complete`](Self::complete), of a completion of a receive.
    unsafe fn retire<Q: Source>(&mut self, cqe: &CqeView<Q>) -> Result<WrId, TagError> {
        // SAFETY: the caller promises a completion of a receive of the shared queue, which was not given before.
        Ok(unsafe { self.receives.retire(cqe) }?)
    }

    /// An operation on the list is done: the oldest one.
    ///
    /// # Safety
    /// A completion of the command queue, as [`complete`](Self::complete) asks for, says so.
    unsafe fn done(&mut self, told: ListOperation, phase: u16) -> Result<TagEvent, TagError> {
        let not_posted = TagError::NotPosted { operation: name(told) };
        let (index, WrId(posted)) = self.commands.oldest_request().ok_or(not_posted)?;
        let entry = TagIndex(posted as u16);
        let event = match (posted & !0xffff, told) {
            (APPEND, ListOperation::Append) => {
                let (wr_id, told) = self.entries.appended(entry).ok_or(not_posted)?;
                TagEvent::Appended { wr_id, entry, in_step: told == phase }
            }
            (REMOVE, ListOperation::Remove { removed }) => {
                let wr_id = self.entries.removed(entry, removed).ok_or(TagError::NotListed { entry })?;
                TagEvent::Removed { wr_id, entry, removed }
            }
            (SYNC, ListOperation::Sync) => TagEvent::Synced { in_step: phase == posted as u16 },
            _ => return Err(not_posted),
        };
        // SAFETY: the device says that the oldest request is done, by a completion that the caller vouches for.
        let retired = unsafe { self.commands.retire_index(index.0) };
        retired.map_err(|_| not_posted)?;
        Ok(event)
    }

    /// # Safety
    /// As [`complete`](Self::complete).
    #[cold]
    unsafe fn other<Q: Source>(&mut self, cqe: &CqeView<Q>) -> Result<TagEvent, TagError> {
        let opcode = cqe.opcode();
        match cqe.check() {
            Err(CqeError::Completion(error)) if error.side == Side::Requester => {
                let is_ours = error.qpn == self.commands.qpn();
                Err(if is_ours { TagError::Command(error) } else { TagError::NotOfTags { opcode } })
            }
            Err(error @ (CqeError::Completion(_) | CqeError::Aborted(_))) if opcode == CqeOpcode::RespErr => {
                // SAFETY: the caller promises a completion of this list's queues, which was not given before.
                Ok(TagEvent::Failed { wr_id: unsafe { self.retire(cqe)? }, error })
            }
            _ => Err(TagError::NotOfTags { opcode }),
        }
    }
}

/// The tag of an operation's request.
const fn operation(kind: u64, entry: TagIndex) -> WrId {
    WrId(kind | entry.0 as u64)
}

/// The operation's name in libmlx5.
const fn name(operation: ListOperation) -> &'static str {
    match operation {
        ListOperation::Append => "MLX5_CQE_APP_OP_TM_APPEND",
        ListOperation::Remove { .. } => "MLX5_CQE_APP_OP_TM_REMOVE",
        ListOperation::Sync => "MLX5_CQE_APP_OP_TM_NOOP",
    }
}
