//! How a completion queue is polled: named choices, made by type.
use core::marker::PhantomData;

/// Keeps [`PollMode`] closed: each mode is an argument, written down.
pub trait Sealed {}

/// A way to poll: the barrier after the owner bit, whether the device is told the consumer index, and how far ahead CQEs are
/// fetched.
pub trait PollMode: Sealed {
    /// Whether the owner bit is followed by [`from_device_conservative`](crate::arch::from_device_conservative) rather than
    /// [`from_device`](crate::arch::from_device).
    const CONSERVATIVE: bool;
    /// When the consumer index is stored in the doorbell record.
    const PUBLISH: Publish;
    /// How many CQEs ahead of the one at hand the CPU is asked to fetch; 0 not to.
    const AHEAD: usize;
}

/// A mode that tells the device the consumer index by itself, so that the device knows before it would overrun the queue: every
/// mode but [`NoOverrun`], and those that are made of it without [`OncePerCall`].
pub trait Publishing: PollMode {}

impl Publishing for Standard {}
impl Publishing for Conservative {}
impl<M: PollMode> Publishing for OncePerCall<M> {}
impl<M: Publishing, const AHEAD: usize> Publishing for Prefetch<M, AHEAD> {}

/// When the device is told how far it may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publish {
    /// After each completion, before the next is lent.
    Each,
    /// Once at the end of a poll call.
    Call,
    /// By [`publish`](super::CompletionQueue::publish) only.
    Never,
}

/// The choice for all but special cases: the light barrier, and a consumer-index store after each completion, so that what a
/// closure posts in its place cannot overrun the queue. See [`CompletionQueue`](super::CompletionQueue#room).
#[derive(Clone, Copy, Debug)]
pub enum Standard {}

/// As another mode, with one consumer-index store per poll call: `cq.with_mode::<OncePerCall>()`. The queue must have room for as many more completions as a call of [`poll_with`](super::CompletionQueue::poll_with) may take, unless its
/// closures post nothing.
#[derive(Clone, Copy, Debug)]
pub struct OncePerCall<M: PollMode = Standard>(PhantomData<M>);

impl<M: PollMode> Sealed for OncePerCall<M> {}
impl<M: PollMode> PollMode for OncePerCall<M> {
    const CONSERVATIVE: bool = M::CONSERVATIVE;
    const PUBLISH: Publish = Publish::Call;
    const AHEAD: usize = M::AHEAD;
}

/// rdma-core's barrier (`lfence` on x86) after each owner bit. For queue memory that is not ordinary write-back memory,
/// or where the argument at [`from_device`](crate::arch::from_device) is not accepted.
#[derive(Clone, Copy, Debug)]
pub enum Conservative {}

/// No consumer-index store, for a queue that cannot overrun.
///
/// The device compares the record's consumer index with its producer index to detect overrun; a queue may do without if
/// it was created to ignore overruns (`IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN`, `oi` in the PRM's CQ context) and the queues that
/// complete to it can never have more completions outstanding than it has entries. UCX polls this way. So the way to it is
/// `unsafe`: [`with_mode_unchecked`](super::CompletionQueue::with_mode_unchecked).
#[derive(Clone, Copy, Debug)]
pub enum NoOverrun {}

/// Another mode, that asks for the CQE `AHEAD` places further on ([`prefetch_read`](crate::arch::prefetch_read)) at each one it takes:
/// `cq.with_mode::<Prefetch>()`. For bursts of completions that another cache still holds.
///
/// Measured on an AMD EPYC (Zen 4) VM, CQEs written by a thread on another core, three fields read of each: time against the
/// same call without prefetching, medians over hundreds of rounds in turns, of several runs. No NIC was involved.
///
/// | where the CQEs are | in a ring of | poll_with(16), 1 ahead | 4 ahead | 8 ahead | poll_with(1), 4 ahead |
/// |---|---|---|---|---|---|
/// | the other core's cache | 64 | 0.86 to 0.92 | 0.68 to 0.75 | 0.56 to 0.60 | 0.72 to 0.74 |
/// | | 256 | 0.70 to 0.91 | 0.65 to 0.75 | 0.50 to 0.56 | 0.70 |
/// | partly there, partly in the shared cache | 1024 | 0.89 to 0.97 | 0.94 | 0.82 to 0.91 | 0.94 to 1.03 |
/// | the shared cache, read in order | 4096, 32768 | 1.0 | 1.0 | 1.0 | 1.0 to 1.08 |
/// | the own first-level cache | 256 | 0.83 to 0.97 | 1.0 | 0.84 to 1.0 | 1.05 to 1.09 |
///
/// It is not the standard because deep rings gain nothing, the CPU's own prefetcher being there already, and because a line
/// fetched before the device has written it is taken away again by that write: where completions come one by one, that is
/// work for nothing. Past the ring's end it asks for what follows the ring, which is harmless and of no use.
///
/// The send queue's record of a completion's request is not worth asking for in the same way: 1.0 on rings of 4096 and
/// 32768, and 1.2 to 1.4 where CQEs are in another core's cache, as it takes their place among the outstanding misses.
#[derive(Clone, Copy, Debug)]
pub struct Prefetch<M: PollMode = Standard, const AHEAD: usize = 8>(PhantomData<M>);

impl<M: PollMode, const AHEAD: usize> Sealed for Prefetch<M, AHEAD> {}
impl<M: PollMode, const AHEAD: usize> PollMode for Prefetch<M, AHEAD> {
    const CONSERVATIVE: bool = M::CONSERVATIVE;
    const PUBLISH: Publish = M::PUBLISH;
    const AHEAD: usize = AHEAD;
}

impl Sealed for Standard {}
impl PollMode for Standard {
    const CONSERVATIVE: bool = false;
    const PUBLISH: Publish = Publish::Each;
    const AHEAD: usize = 0;
}

impl Sealed for Conservative {}
impl PollMode for Conservative {
    const CONSERVATIVE: bool = true;
    const PUBLISH: Publish = Publish::Each;
    const AHEAD: usize = 0;
}

impl Sealed for NoOverrun {}
impl PollMode for NoOverrun {
    const CONSERVATIVE: bool = false;
    const PUBLISH: Publish = Publish::Never;
    const AHEAD: usize = 0;
}
