//! Requests of tag matching: buffers with tags on the list that the device compares messages with. Knows no queue and
//! no list.
//!
//! They go to a command queue. This is the send queue of a reliable connection to itself, whose receives are those of
//! the list's shared receive queue. [`TagMatching`](crate::queue::TagMatching) has one, and assigns the entries'
//! numbers. Use these requests if you assign the numbers yourself.
use crate::types::{Lkey, TagIndex};
use crate::wqe::error::EncodeError;
use crate::wqe::limits::{Limits, MAX_SGE_BYTES};
use crate::wqe::operations::table::{TagAppend, TagRemove, TagSync};
use crate::wqe::payload::{Payload, Sge, without_segments};
use crate::wqe::request::Request;
use crate::wqe::sealed::Sealed;
use crate::wqe::seg::DataSeg;
use crate::wqe::sink::Sink;
use crate::wqe::tags::seg::{TmSeg, TmTagSeg, tm};
use crate::wqe::words::be::Be16;

/// The key of an entry without memory (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_INVALID_LKEY`).
const INVALID_LKEY: Lkey = Lkey(0x100);

/// The buffer for the data of a message with the tag.
#[derive(Clone, Copy, Debug)]
pub struct TagBuffer(Sge);

impl Sealed for TagBuffer {}
impl Payload for TagBuffer {
    const MAX_DS: Option<usize> = Some(1);
    const INLINE: bool = false;
    const NEEDS: Limits = Limits { max_sge: 1, ..Limits::NONE };

    #[inline(always)]
    fn ds(&self, limits: &Limits) -> Result<usize, EncodeError> {
        if limits.max_sge == 0 {
            return Err(EncodeError::too_many_sges(1, 0));
        }
        if self.has_static_size() { Ok(1) } else { Err(EncodeError::sge_too_long(self.0.length)) }
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        self.0.length <= MAX_SGE_BYTES
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        // As in libmlx5 (`set_data_ptr_seg_end`): a message of that tag has no bytes.
        let Sge { addr, length, lkey } = self.0;
        let segment = if length == 0 { DataSeg::new(0, INVALID_LKEY, 0) } else { DataSeg::new(length, lkey, addr) };
        sink.ds(segment.into());
    }
}

/// Ends a request about entries that are on the list. Posting it changes which memory the list's owner gets back, so it
/// counts as memory that the request names.
#[derive(Clone, Copy, Debug)]
pub struct Listed;

without_segments!(Listed);

/// An operation on a list of tags.
pub trait TagOperation: Sealed + Copy {
    /// Its segment.
    #[doc(hidden)]
    fn segment_mut(&mut self) -> &mut TmSeg;
}

macro_rules! tag_operations {
    ($($op:ident)*) => {$(
        impl TagOperation for $op {
            #[inline]
            fn segment_mut(&mut self) -> &mut TmSeg {
                &mut self.segment
            }
        }
    )*};
}

tag_operations!(TagAppend TagRemove TagSync);

impl<O: TagOperation, P> Request<O, P> {
    /// Asks for a completion from the list (`IBV_OPS_SIGNALED`). It goes to the completion queue of the shared receive
    /// queue. It does not name its request: these completions come in the order of the requests.
    /// [`signaled`](Request::signaled) asks for another completion, from the command queue; libmlx5 never does that.
    #[inline]
    pub fn reported(self) -> Self {
        self.with_operation(|mut operation| {
            operation.segment_mut().flags |= tm::CQE_REQ;
            operation
        })
    }

    /// Reports to the device how many unexpected messages software has seen so far, modulo 2^16 (`IBV_OPS_TM_SYNC`).
    /// Once the number equals the device's own count, the device also compares messages with the entries appended
    /// since.
    #[inline]
    pub fn unexpected(self, count: u16) -> Self {
        self.with_operation(|mut operation| {
            let segment = operation.segment_mut();
            segment.flags |= tm::SW_CNT;
            segment.sw_cnt = Be16::new(count);
            operation
        })
    }
}

/// Appends a buffer to the list (`IBV_WR_TAG_ADD`). The next message whose tag equals `tag` in the bits of `mask` goes
/// there. If `tag` has bits outside the mask, no message matches.
///
/// The entry is the one that the previous append named as `next`; the first append to a new list takes entry 0. `next`
/// names the entry of the following append. A `buffer` of no bytes is for messages without data.
///
/// ```
/// use blueflame::types::TagIndex;
/// use blueflame::{PostError, SendQueue, Sge, transport, wqe};
///
/// fn expect(commands: &mut SendQueue<transport::Rc>, tag: u64, page: Sge, next: TagIndex) -> Result<(), PostError> {
///     // SAFETY: the page stays registered, and nobody else uses it, until a completion says that it is done, or removed.
///     unsafe { commands.post_unchecked(&wqe::tag_append(tag, u64::MAX, next, page).reported().unexpected(0)) }
/// }
/// ```
/// ```compile_fail,E0277
/// # use blueflame::types::TagIndex;
/// # use blueflame::{SendQueue, Sge, transport, wqe};
/// # fn expect(commands: &mut SendQueue<transport::Rc>, page: Sge, next: TagIndex) {
/// let _ = commands.post(&wqe::tag_append(7, u64::MAX, next, page)); // it names memory
/// # }
/// ```
#[doc(alias("IBV_WR_TAG_ADD", "ibv_post_srq_ops"))]
#[inline]
pub const fn tag_append(tag: u64, mask: u64, next: TagIndex, buffer: Sge) -> Request<TagAppend, TagBuffer> {
    let operation = TagAppend { segment: TmSeg::new(tm::APPEND, next.0), operands: TmTagSeg::new(tag, mask) };
    Request::new(operation, TagBuffer(buffer))
}

/// Removes an entry from the list (`IBV_WR_TAG_DEL`), unless a message has matched it; its completion says which of
/// the two.
///
/// Posting it is `unsafe`. The completions of the list do not name their requests. So the owner of the list counts the
/// requests of its own command queue, and no other queue may change the list.
///
/// ```compile_fail,E0277
/// # use blueflame::types::TagIndex;
/// # use blueflame::{SendQueue, transport, wqe};
/// # fn remove(any: &mut SendQueue<transport::Rc>, entry: TagIndex) {
/// let _ = any.post(&wqe::tag_remove(entry).reported()); // its owner would take the completion for that of its own
/// # }
/// ```
#[doc(alias("IBV_WR_TAG_DEL", "ibv_post_srq_ops"))]
#[inline]
pub const fn tag_remove(index: TagIndex) -> Request<TagRemove, Listed> {
    Request::new(TagRemove { segment: TmSeg::new(tm::REMOVE, index.0), operands: TmTagSeg::new(0, 0) }, Listed)
}

/// Leaves the list as it is (`IBV_WR_TAG_SYNC`). Its purpose is to carry [`Request::unexpected`]. Posting it is `unsafe`
/// for the reason of [`tag_remove`].
#[doc(alias("IBV_WR_TAG_SYNC", "ibv_post_srq_ops"))]
#[inline]
pub const fn tag_sync() -> Request<TagSync, Listed> {
    Request::new(TagSync { segment: TmSeg::new(tm::NOP, 0), operands: TmTagSeg::new(0, 0) }, Listed)
}
