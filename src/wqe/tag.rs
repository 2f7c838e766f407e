//! Requests of tag matching: buffers with tags on the list that the device compares messages with. Knows no queue and no list.
//!
//! They go to a command queue: the send queue of a reliable connection to itself whose receives are those of the list's shared receive
//! queue. [`TagMatching`](crate::queue::TagMatching) has one, and gives out the entries' numbers; these are for those who keep them
//! themselves.
use super::be::Be16;
use super::error::EncodeError;
use super::limits::{Limits, MAX_SGE_BYTES};
use super::operations::{TagAppend, TagRemove, TagSync};
use super::payload::{Empty, Payload, Sge};
use super::request::Request;
use super::sealed::Sealed;
use super::seg::DataSeg;
use super::sink::Sink;
use super::tag_seg::{TmSeg, TmTagSeg, tm};
use crate::types::{Lkey, TagIndex};

/// The key of an entry without memory (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_INVALID_LKEY`).
const INVALID_LKEY: Lkey = Lkey(0x100);

/// Where the data of a message with the tag goes.
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
        // As libmlx5 has it (`set_data_ptr_seg_end`): a message of that tag has no bytes.
        let Sge { addr, length, lkey } = self.0;
        let segment = if length == 0 { DataSeg::new(0, INVALID_LKEY, 0) } else { DataSeg::new(length, lkey, addr) };
        sink.ds(segment.into());
    }
}

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
    /// Asks the list for a completion (`IBV_OPS_SIGNALED`), which comes to the completion queue of the shared receive queue, and does
    /// not say which request it is of: they come in the order of the requests.
    /// [`signaled`](Request::signaled) asks the command queue for one, too, which libmlx5 never does.
    #[inline]
    pub fn reported(self) -> Self {
        self.with_operation(|mut operation| {
            operation.segment_mut().flags |= tm::CQE_REQ;
            operation
        })
    }

    /// Tells the device how many unexpected messages software has seen so far, modulo 2^16 (`IBV_OPS_TM_SYNC`). Once it is as many as
    /// the device has seen, messages are compared with the entries appended since, too.
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

/// Appends a buffer to the list (`IBV_WR_TAG_ADD`): the next message whose tag is `tag` in the bits of `mask` goes there. Bits of `tag`
/// beside the mask match none.
///
/// The entry is the one that the append before has named as `next`, the first one of a new list entry 0; `next` is the entry of the append
/// after this. A `buffer` of no bytes is for messages of none.
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
#[inline]
pub const fn tag_append(tag: u64, mask: u64, next: TagIndex, buffer: Sge) -> Request<TagAppend, TagBuffer> {
    let operation = TagAppend { segment: TmSeg::new(tm::APPEND, next.0), operands: TmTagSeg::new(tag, mask) };
    Request::new(operation, TagBuffer(buffer))
}

/// Takes an entry off the list again (`IBV_WR_TAG_DEL`), unless a message has come for it: its completion says which.
#[inline]
pub const fn tag_remove(index: TagIndex) -> Request<TagRemove> {
    Request::new(TagRemove { segment: TmSeg::new(tm::REMOVE, index.0), operands: TmTagSeg::new(0, 0) }, Empty)
}

/// Leaves the list as it is (`IBV_WR_TAG_SYNC`): what it is for is [`Request::unexpected`].
#[inline]
pub const fn tag_sync() -> Request<TagSync> {
    Request::new(TagSync { segment: TmSeg::new(tm::NOP, 0), operands: TmTagSeg::new(0, 0) }, Empty)
}
