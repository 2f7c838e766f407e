//! The calls of the data path on queues as their users have them, for each maker of queues: compiled to be compared,
//! and never run.
use blueflame::cq::CompletionQueue;
use blueflame::db::{ExclusiveRegister, OneFence, Register, SharedRegister, ThreadRegister};
use blueflame::queue::{Owned, PostError, RecvError, RecvQueue, RetireError, Done, SendQueue};
use blueflame::types::WrId;
use blueflame::{Remote, Sge, transport, wqe};

use crate::hot::{Completed, PreparedWrite, inlined};

type ThreadSend = SendQueue<transport::Rc, std::rc::Rc<ThreadRegister>>;
type SharedSend = SendQueue<transport::Rc, std::sync::Arc<SharedRegister>>;

/// An RDMA WRITE of 8 bytes, inline, by whatever register.
#[inline(always)]
fn post_by<R: Register>(
    sq: &mut SendQueue<transport::Rc, R>,
    to: Remote,
    data: &[u8; 8],
    id: WrId,
) -> Result<(), PostError> {
    sq.post(&wqe::write(to).inline(data).signaled(id))
}

/// Declares, in a module, the functions that take queues of a maker: those of `hot`, and those whose registers are
/// another type there. Their symbols begin with the module's name.
macro_rules! made_by {
    ($maker:ident, $Owned:ident, $Qp:ty, $Cq:ty, {
        $(fn $name:ident = $body:path; ($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*
    }) => {
        pub mod $maker {
            use super::*;
            type Send<R = ExclusiveRegister> = $Owned<SendQueue<transport::Rc, R>, $Qp>;
            type ThreadSendQueue = $Owned<ThreadSend, $Qp>;
            type SharedSendQueue = $Owned<SharedSend, $Qp>;
            type Receive = $Owned<RecvQueue, $Qp>;
            type Completion = $Owned<CompletionQueue, $Cq>;
            $(
                #[inline(never)]
                #[unsafe(export_name = concat!(stringify!($maker), "_", stringify!($name)))]
                pub fn $name($($argument: $type),*) -> $result { $body($($argument),*) }
            )*
        }
    };
}

macro_rules! makers {
    ($($maker:ident: $Owned:ident, $Qp:ty, $Cq:ty;)*) => {$(
        made_by! { $maker, $Owned, $Qp, $Cq, {
            fn post = inlined::post_two_fences; (sq: &mut Send, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError>;
            fn post_one_fence = inlined::post_one_fence; (sq: &mut Send<ExclusiveRegister<OneFence>>, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError>;
            fn post_thread = post_by; (sq: &mut ThreadSendQueue, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError>;
            fn post_shared = post_by; (sq: &mut SharedSendQueue, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError>;
            fn post_entry = inlined::post_entry; (sq: &mut Send, to: Remote, from: Sge, id: WrId) -> Result<(), PostError>;
            fn post_slice = inlined::post_slice; (sq: &mut Send, to: Remote, data: &[u8], id: WrId) -> Result<(), PostError>;
            fn prepared = inlined::prepared_two_fences; (sq: &mut Send, write: &PreparedWrite, data: &[u8; 8]) -> Result<(), PostError>;
            fn batch = inlined::batch; (sq: &mut Send, to: Remote, data: &[[u8; 8]]) -> Result<(), PostError>;
            fn retire_send = inlined::retire_send; (sq: &mut Send, counter: u16) -> Result<Done, RetireError>;
            fn post_receive = inlined::post_receive; (rq: &mut Receive, into: &[Sge], id: WrId) -> Result<(), RecvError>;
            fn retire_receive = inlined::retire_receive; (rq: &mut Receive, counter: u16) -> Result<WrId, RetireError>;
            fn poll = inlined::poll_sixteen; (cq: &mut Completion, done: &mut Completed) -> usize;
            fn poll_and_retire = inlined::poll_and_retire; (cq: &mut Completion, sq: &mut Send, tags: &mut u64) -> usize;
        } }
    )*};
}

/// A queue by itself, over parts that somebody else has made.
type Bare<Q, H> = <(Q, H) as First>::Queue;

/// The first of two types.
pub trait First {
    /// It.
    type Queue;
}

impl<Q, H> First for (Q, H) {
    type Queue = Q;
}

makers! {
    bare: Bare, (), ();
    verbs: Owned, blueflame::verbs::Qp, blueflame::verbs::Cq;
    devx: Owned, blueflame_devx::object::Qp, blueflame_devx::object::Cq;
}

/// One function takes queues of both makers: they have one type, so they share the code.
pub fn one_type(
    verbs: &mut blueflame::verbs::QueuePair<transport::Rc>,
    devx: &mut blueflame_devx::object::QueuePair<transport::Rc>,
) -> [*mut SendQueue<transport::Rc>; 2] {
    [&raw mut *verbs.sq, &raw mut *devx.sq]
}
