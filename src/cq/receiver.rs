//! The receivers of each completion queue, counted. Knows identities of completion queues, and no queue.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::id::CqId;

/// The receivers of each completion queue that has any, counted.
static RECEIVERS: Mutex<BTreeMap<u32, Count>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy, Debug)]
enum Count {
    /// A count of receivers, distinguished by the number in the completion.
    Numbered(u64),
    /// One receiver, whose completions carry flow tags.
    FlowTagged,
}

fn receivers() -> MutexGuard<'static, BTreeMap<u32, Count>> {
    // Nothing panics while it holds the lock, and the map is valid after every step.
    RECEIVERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An object whose receives complete to a completion queue: a queue pair, a target, a receive queue of frames. It
/// counts from [`new`](Self::new) until this is dropped.
///
/// A completion of a received frame has a flow tag in place of the number: the tag of the frame's rule, 0 without one
/// (rdma-core `providers/mlx5/cq.c`, `mlx5_cq_read_flow_tag`; Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`,
/// `mlx5e_build_rx_skb`: the `sop_drop_qpn` of the CQE). So the completion does not identify its receiver, and a
/// receiver of frames must be the only receiver of its completion queue. Drivers make them so: DPDK
/// `drivers/net/mlx5/mlx5_devx.c`, `mlx5_rxq_create_devx_cq_resources`, for each receive queue; Linux `en_main.c`,
/// `mlx5e_open_queues`. Sends of any number of queues may complete there.
///
/// `verbs` and DevX make one of these for each object before they make the object. The caller of
/// [`RecvQueue::from_parts`](crate::queue::RecvQueue::from_parts) vouches for the same.
///
/// ```
/// # use blueflame::CompletionQueue;
/// use blueflame::cq::setup::{Receiver, ReceiverError};
///
/// # fn receive(cq: &CompletionQueue) {
/// let frames = Receiver::new(cq.id(), true).expect("no other receives there");
/// assert_eq!(Receiver::new(cq.id(), false).unwrap_err(), ReceiverError { flow_tags: false, receivers: 1 });
/// drop(frames);
/// let pair = Receiver::new(cq.id(), false).expect("again");
/// # }
/// ```
#[derive(Debug)]
#[must_use = "it counts until it is dropped"]
pub struct Receiver {
    cq: CqId,
    flow_tags: bool,
}

impl Receiver {
    /// Counts one more receiver of `cq`, whose completions carry `flow_tags`, or its number.
    ///
    /// # Errors
    /// [`ReceiverError`] if a receiver of frames would not be the only receiver there.
    pub fn new(cq: CqId, flow_tags: bool) -> Result<Self, ReceiverError> {
        // No queue of this crate: its completions retire nothing.
        if cq != CqId::NONE {
            let mut receivers = receivers();
            let count = receivers.entry(cq.get()).or_insert(Count::Numbered(0));
            *count = match (*count, flow_tags) {
                (Count::Numbered(0), true) => Count::FlowTagged,
                (Count::Numbered(others), false) => Count::Numbered(others + 1),
                (Count::Numbered(others), true) => return Err(ReceiverError { flow_tags, receivers: others }),
                (Count::FlowTagged, _) => return Err(ReceiverError { flow_tags, receivers: 1 }),
            };
        }
        Ok(Self { cq, flow_tags })
    }

    /// The completion queue.
    #[must_use]
    pub const fn cq(&self) -> CqId {
        self.cq
    }

    /// Whether its completions carry flow tags in place of its number.
    #[must_use]
    pub const fn flow_tags(&self) -> bool {
        self.flow_tags
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut receivers = receivers();
        match receivers.get_mut(&self.cq.get()) {
            Some(Count::Numbered(others @ 2..)) => *others -= 1,
            Some(_) => _ = receivers.remove(&self.cq.get()),
            None => {}
        }
    }
}

/// One more receiver, which a completion queue cannot have: a receiver of frames must be its only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverError {
    /// Whether the refused receiver is for frames. If not, one of the existing receivers is.
    pub flow_tags: bool,
    /// How many receivers the completion queue has. The limit is 0 for a receiver of frames.
    pub receivers: u64,
}

impl fmt::Display for ReceiverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { flow_tags: true, receivers } => write!(f, "it has {receivers} receivers, and a receiver of frames")?,
            Self { flow_tags: false, .. } => f.write_str("it has a receiver of frames, which")?,
        }
        f.write_str(" must be the only one: completions of frames carry flow tags in place of numbers")
    }
}

impl core::error::Error for ReceiverError {}

#[cfg(test)]
mod tests {
    use std::mem;
    use std::string::ToString;

    use super::*;

    fn fresh() -> CqId {
        CqId::new().expect("fewer than 2^32")
    }

    #[test]
    fn a_receiver_of_frames_is_alone() {
        let cq = fresh();
        let frames = Receiver::new(cq, true).expect("the first");
        assert!(frames.flow_tags() && frames.cq() == cq);
        for flow_tags in [false, true] {
            let error = Receiver::new(cq, flow_tags).expect_err("not alone");
            assert_eq!(error, ReceiverError { flow_tags, receivers: 1 });
        }
        let elsewhere = Receiver::new(fresh(), true).expect("on another");
        drop(frames);
        drop((Receiver::new(cq, true).expect("again"), elsewhere));
    }

    #[test]
    fn others_are_many_and_keep_frames_away() {
        let cq = fresh();
        let mut many: Vec<_> = (0..3).map(|_| Receiver::new(cq, false).expect("one more")).collect();
        while !many.is_empty() {
            let receivers = many.len() as u64;
            let error = Receiver::new(cq, true).expect_err("others are there");
            assert_eq!(error, ReceiverError { flow_tags: true, receivers });
            assert!(error.to_string().contains(&receivers.to_string()), "{error}");
            many.pop();
        }
        drop(Receiver::new(cq, true).expect("the others are gone"));
        assert!(!receivers().contains_key(&cq.get()), "nothing is kept");
    }

    #[test]
    fn no_count_of_forgotten_receivers_lets_frames_in() {
        let cq = fresh();
        receivers().insert(cq.get(), Count::Numbered(u32::MAX.into()));
        mem::forget(Receiver::new(cq, false).expect("one more"));
        let error = Receiver::new(cq, true).expect_err("others are there");
        assert_eq!(error, ReceiverError { flow_tags: true, receivers: 1 << 32 });
    }

    #[test]
    fn queues_of_others_are_not_counted() {
        let [frames, pair] = [true, false].map(|flow_tags| Receiver::new(CqId::NONE, flow_tags).expect("no queue"));
        drop((frames, pair));
        assert!(!receivers().contains_key(&CqId::NONE.get()));
    }
}
