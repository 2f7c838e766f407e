//! Requests of tag matching: buffers with tags on the list that the device compares messages with. The requests depend
//! on no queue and no list.
//!
//! They go to a command queue. This is the send queue of a reliable connection to itself, which receives from the
//! list's shared receive queue. [`TagMatching`](crate::queue::TagMatching) has one, and assigns the entries' numbers.
//! Use these requests if you assign the numbers yourself.
use crate::arch::ds::DsWords;
use crate::layout::Be16;
use crate::types::{Lkey, TagIndex};
use crate::wqe::data::{Given, Named, Sge};
use crate::wqe::request::Request;
use crate::wqe::seg::DataSeg;
use crate::wqe::seg::{TmSeg, TmTagSeg, tm};
use crate::wqe::table::{TagAppend, TagRemove, TagSync};

/// The key of an entry without memory (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_INVALID_LKEY`).
const INVALID_LKEY: Lkey = Lkey(0x100);

macro_rules! tag_operations {
    ($($op:ident)*) => {$(
        impl<D> Request<'_, $op, D> {
            /// Asks for a completion from the list (`IBV_OPS_SIGNALED`). It goes to the completion queue of the shared
            /// receive queue. It does not name its request: these completions come in the order of the requests.
            /// [`signaled`](Request::signaled) asks for another completion, from the command queue; libmlx5 never does
            /// that.
            #[inline(always)]
            pub fn reported(self) -> Self {
                self.flagged(TmSeg { flags: tm::CQE_REQ, ..TmSeg::new(0, 0) })
            }

            /// Reports to the device how many unexpected messages software has seen so far, modulo 2^16
            /// (`IBV_OPS_TM_SYNC`). Once the number equals the device's own count, the device also compares messages
            /// with the entries appended since.
            #[inline(always)]
            pub fn unexpected(self, count: u16) -> Self {
                self.flagged(TmSeg { flags: tm::SW_CNT, sw_cnt: Be16::new(count), ..TmSeg::new(0, 0) })
            }
        }
    )*};
}

tag_operations!(TagAppend TagRemove TagSync);

impl<O, D> Request<'_, O, D> {
    /// Adds bits to the segment.
    #[inline(always)]
    fn flagged(self, bits: TmSeg) -> Self {
        let DsWords([first, second]) = bits.into();
        self.change(|untyped| {
            let [DsWords(segment), ..] = &mut untyped.segments;
            *segment = [segment[0] | first, segment[1] | second];
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
#[inline(always)]
pub fn tag_append(tag: u64, mask: u64, next: TagIndex, buffer: Sge) -> Request<'static, TagAppend, Given<0, 1>> {
    let Sge { addr, length, lkey } = buffer;
    // A message of that tag has no bytes. libmlx5 writes this entry as well (`set_data_ptr_seg_end`).
    let entry = if length == 0 { DataSeg::new(0, INVALID_LKEY, 0) } else { DataSeg::new(length, lkey, addr) };
    let (segment, operands) = (TmSeg::new(tm::APPEND, next.0), TmTagSeg::new(tag, mask));
    Request::new([segment.into(), operands.into(), entry.into()]).change(|untyped| {
        untyped.is_odd = buffer.is_too_long();
        untyped.payload = length.into();
    })
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
#[inline(always)]
pub fn tag_remove(index: TagIndex) -> Request<'static, TagRemove, Named> {
    Request::new([TmSeg::new(tm::REMOVE, index.0).into(), TmTagSeg::new(0, 0).into()])
}

/// Leaves the list as it is (`IBV_WR_TAG_SYNC`). Its purpose is to carry [`Request::unexpected`]. Posting it is `unsafe`
/// for the reason of [`tag_remove`].
#[doc(alias("IBV_WR_TAG_SYNC", "ibv_post_srq_ops"))]
#[inline(always)]
pub fn tag_sync() -> Request<'static, TagSync, Named> {
    Request::new([TmSeg::new(tm::NOP, 0).into(), TmTagSeg::new(0, 0).into()])
}
