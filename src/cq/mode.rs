//! How a completion queue is polled, chosen by type.
use core::marker::PhantomData;

use super::compressed::{Expand, Expander, MiniFormat};
use crate::sealed::Sealed;

/// How to poll: the barrier after the owner bit, when to tell the device the consumer index, and how far ahead to
/// prefetch.
pub trait PollMode: Sealed {
    /// Whether the owner bit is followed by [`from_device_conservative`](crate::arch::from_device_conservative) rather
    /// than [`from_device`](crate::arch::from_device).
    const CONSERVATIVE: bool;
    /// When the consumer index is stored in the doorbell record.
    const PUBLISH: Publish;
    /// How many CQEs ahead of the one at hand the CPU is asked to fetch; 0 not to.
    const AHEAD: usize;
    /// State for expanding compressed completions: `()`, if the device compresses none.
    type Compression: Expand;
}

/// When the device is told how far it may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publish {
    /// After each completion, before the next is lent.
    Each,
    /// Once at the end of a poll call.
    Call,
    /// By [`publish`](super::CompletionQueue::publish) only: [`NoOverrun`], and modes built on it without
    /// [`OncePerCall`].
    Never,
}

/// The choice for all but special cases: the light barrier, and a consumer-index store after each completion. So
/// requests that a closure posts in the completion's place cannot overrun the queue. See
/// [`CompletionQueue`](super::CompletionQueue#room).
#[derive(Clone, Copy, Debug)]
pub enum Standard {}

/// As mode `M`, with one consumer-index store per poll call: `cq.with_mode::<OncePerCall>()`. The queue must have room
/// for as many more completions as one call of [`poll_with`](super::CompletionQueue::poll_with) may take, unless its
/// closures post nothing.
#[derive(Clone, Copy, Debug)]
pub struct OncePerCall<M: PollMode = Standard>(PhantomData<M>);

impl<M: PollMode> Sealed for OncePerCall<M> {}
impl<M: PollMode> PollMode for OncePerCall<M> {
    const CONSERVATIVE: bool = M::CONSERVATIVE;
    const PUBLISH: Publish = Publish::Call;
    const AHEAD: usize = M::AHEAD;
    type Compression = M::Compression;
}

/// rdma-core's barrier (`lfence` on x86) after each owner bit. For queue memory that is not ordinary write-back memory,
/// or where the argument at [`from_device`](crate::arch::from_device) is not accepted.
#[derive(Clone, Copy, Debug)]
pub enum Conservative {}

/// No consumer-index store, for a queue that cannot overrun.
///
/// The device compares the record's consumer index with its producer index to detect overrun. A queue may do without if
/// it was created to ignore overruns (`IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN`, `oi` in the PRM's CQ context). In addition,
/// the queues that complete to it must never have more completions outstanding than it has entries. UCX polls this way.
/// Because of these conditions, choosing this mode is `unsafe`
/// ([`with_mode_unchecked`](super::CompletionQueue::with_mode_unchecked)), and so is making such a queue.
#[derive(Clone, Copy, Debug)]
pub enum NoOverrun {}

/// As mode `M`; and at each CQE it takes, it prefetches the one `AHEAD` places further on
/// ([`prefetch_read`](crate::arch::prefetch_read)): `cq.with_mode::<Prefetch>()`. For bursts of completions that
/// another cache still holds.
///
/// Bursts in another core's cache gain up to a half. Deep rings gain nothing, because the CPU prefetches them already
/// (`docs/performance/measurements.md`, "Polling"). It is not the standard: the device's write takes away a line that
/// was prefetched too early. Where completions come one by one, prefetching is wasted work. Past the ring's end it
/// fetches the memory behind the ring, which is harmless and useless.
#[derive(Clone, Copy, Debug)]
pub struct Prefetch<M: PollMode = Standard, const AHEAD: usize = 8>(PhantomData<M>);

impl<M: PollMode, const AHEAD: usize> Sealed for Prefetch<M, AHEAD> {}
impl<M: PollMode, const AHEAD: usize> PollMode for Prefetch<M, AHEAD> {
    const CONSERVATIVE: bool = M::CONSERVATIVE;
    const PUBLISH: Publish = M::PUBLISH;
    const AHEAD: usize = AHEAD;
    type Compression = M::Compression;
}

/// Polls like mode `M`, for a queue whose device compresses completions:
/// [`CompletionQueue::compressed`](super::CompletionQueue::compressed). Mini-CQEs have format `F`. Sessions lie in the
/// ring by the [enhanced layout](super::compressed::ENHANCED) or the basic one. Both must match the settings that the
/// queue was made with.
///
/// The driver gives places back to the device once the whole session is polled (like DPDK,
/// `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_poll_len`), so the queue needs room for the completions of one more session.
/// Completions that the device compresses wrongly are lost: they are lent as
/// [`CqeError::Compressed`](super::CqeError::Compressed).
#[derive(Clone, Copy, Debug)]
pub struct Compressed<F: MiniFormat, const ENHANCED: bool = false, M: PollMode<Compression = ()> = Standard>(
    PhantomData<(F, M)>,
);

impl<F: MiniFormat, const ENHANCED: bool, M: PollMode<Compression = ()>> Sealed for Compressed<F, ENHANCED, M> {}
impl<F: MiniFormat, const ENHANCED: bool, M: PollMode<Compression = ()>> PollMode for Compressed<F, ENHANCED, M> {
    const CONSERVATIVE: bool = M::CONSERVATIVE;
    const PUBLISH: Publish = M::PUBLISH;
    const AHEAD: usize = M::AHEAD;
    type Compression = Expander<F, ENHANCED>;
}

impl Sealed for Standard {}
impl PollMode for Standard {
    const CONSERVATIVE: bool = false;
    const PUBLISH: Publish = Publish::Each;
    const AHEAD: usize = 0;
    type Compression = ();
}

impl Sealed for Conservative {}
impl PollMode for Conservative {
    const CONSERVATIVE: bool = true;
    const PUBLISH: Publish = Publish::Each;
    const AHEAD: usize = 0;
    type Compression = ();
}

impl Sealed for NoOverrun {}
impl PollMode for NoOverrun {
    const CONSERVATIVE: bool = false;
    const PUBLISH: Publish = Publish::Never;
    const AHEAD: usize = 0;
    type Compression = ();
}
