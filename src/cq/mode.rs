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
    /// Whether each poll call that found completions stores the consumer index in the doorbell record.
    const PUBLISH: bool;
    /// How many CQEs ahead of the one at hand the CPU is asked to fetch; 0 not to.
    const AHEAD: usize;
}

/// The choice for all but special cases: the light barrier, and one consumer-index store per poll call.
#[derive(Clone, Copy, Debug)]
pub enum Standard {}

/// rdma-core's barrier (`lfence` on x86) after each owner bit. For queue memory that is not ordinary write-back memory,
/// or where the argument at [`from_device`](crate::arch::from_device) is not accepted.
#[derive(Clone, Copy, Debug)]
pub enum Conservative {}

/// No consumer-index store, for a queue that cannot overrun.
///
/// The device compares the record's consumer index with its producer index to detect overrun; a queue may do without if
/// it was created to ignore overruns (`IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN`, `oi` in the PRM's CQ context) and the queues that
/// complete to it can never have more completions outstanding than it has entries. UCX polls this way.
#[derive(Clone, Copy, Debug)]
pub enum NoOverrun {}

/// Another mode, that asks for the CQE `AHEAD` places further on ([`prefetch_read`](crate::arch::prefetch_read)) at each one it takes:
/// `CompletionQueue::<Prefetch>::from_parts(…)`. For bursts of completions that another cache still holds.
///
/// Measured on an AMD EPYC (Zen 4) VM, CQEs written by another core, `drain(16)` reading three fields of each; ns per
/// completion, medians of 1000 rounds in turns (no NIC was involved):
///
/// | | CQEs in a ring | none | 1 ahead | 4 | 8 |
/// |---|---|---|---|---|---|
/// | in the other core's cache | 64 | 18.8 | 17.2 | 13.8 | 11.3 |
/// | | 256 | 17.3 | 12.1 to 15.1 | 12.9 | 9.6 |
/// | mostly evicted to the shared cache | 1024 | 3.43 | 3.35 | 3.22 | 3.13 |
/// | all, and in order: the CPU's own prefetcher is there | 4096 | 2.49 | 2.47 | 2.51 | 2.49 |
/// | in the first-level cache already | 256 | 1.17 | 1.13 | 1.14 | 1.15 |
///
/// With one completion a call, it costs up to 6 % where nothing is to be fetched. It is not the standard because a line
/// fetched before the device has written it must be taken away again by that write: for queues where completions come one
/// by one, that is work for nothing. Past the ring's end it asks for what follows the ring.
#[derive(Clone, Copy, Debug)]
pub struct Prefetch<M: PollMode = Standard, const AHEAD: usize = 8>(PhantomData<M>);

impl<M: PollMode, const AHEAD: usize> Sealed for Prefetch<M, AHEAD> {}
impl<M: PollMode, const AHEAD: usize> PollMode for Prefetch<M, AHEAD> {
    const CONSERVATIVE: bool = M::CONSERVATIVE;
    const PUBLISH: bool = M::PUBLISH;
    const AHEAD: usize = AHEAD;
}

impl Sealed for Standard {}
impl PollMode for Standard {
    const CONSERVATIVE: bool = false;
    const PUBLISH: bool = true;
    const AHEAD: usize = 0;
}

impl Sealed for Conservative {}
impl PollMode for Conservative {
    const CONSERVATIVE: bool = true;
    const PUBLISH: bool = true;
    const AHEAD: usize = 0;
}

impl Sealed for NoOverrun {}
impl PollMode for NoOverrun {
    const CONSERVATIVE: bool = false;
    const PUBLISH: bool = false;
    const AHEAD: usize = 0;
}
