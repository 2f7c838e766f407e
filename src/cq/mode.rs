//! How a completion queue is polled: named choices, made by type.

/// Keeps [`PollMode`] closed: each mode is an argument, written down.
pub trait Sealed {}

/// A way to poll: the barrier after the owner bit, and whether the device is told the consumer index.
pub trait PollMode: Sealed {
    /// Whether the owner bit is followed by [`from_device_conservative`](crate::arch::from_device_conservative) rather than
    /// [`from_device`](crate::arch::from_device).
    const CONSERVATIVE: bool;
    /// Whether each poll call that found completions stores the consumer index in the doorbell record.
    const PUBLISH: bool;
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

impl Sealed for Standard {}
impl PollMode for Standard {
    const CONSERVATIVE: bool = false;
    const PUBLISH: bool = true;
}

impl Sealed for Conservative {}
impl PollMode for Conservative {
    const CONSERVATIVE: bool = true;
    const PUBLISH: bool = true;
}

impl Sealed for NoOverrun {}
impl PollMode for NoOverrun {
    const CONSERVATIVE: bool = false;
    const PUBLISH: bool = false;
}
