//! Which requests ask for a completion. Knows no queue.
use crate::setup::SetupError;
use crate::types::Wqebbs;

/// Decides which requests ask for a completion: every `n`-th, and earlier if the queue could otherwise fill up with
/// unsignalled requests. Such a queue could never retire anything.
///
/// ```
/// # use blueflame::{db::Register, queue::{Moderation, PostError, SendQueue}, transport, types::{Wqebbs, WrId}, wqe};
/// fn burst<R: Register>(sq: &mut SendQueue<transport::Rc, R>, moderation: &mut Moderation) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     for n in 0..64 {
///         moderation.post(Wqebbs(1), |signal| batch.push(&wqe::send().signaled_if(signal, WrId(n))))?;
///     }
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Moderation {
    every: u16,
    /// The most WQEBBs that may be unsignalled at a time.
    room: u16,
    requests: u16,
    wqebbs: u16,
}

impl Moderation {
    /// Signals every `every`-th request on a queue that takes `depth` WQEBBs at a time
    /// ([`SendQueue::depth`](crate::queue::SendQueue::depth)) and whose requests take at most `largest`.
    ///
    /// # Errors
    /// [`SetupError::OutOfRange`]: `every` is zero, or `largest` is zero or larger than the depth.
    pub const fn new(every: u16, depth: Wqebbs, largest: Wqebbs) -> Result<Self, SetupError> {
        if let Err(error) = SetupError::check_range("requests a completion", every as u64, 1, u16::MAX as u64) {
            return Err(error);
        }
        let what = "WQEBBs of the largest request";
        if let Err(error) = SetupError::check_range(what, largest.0 as u64, 1, depth.0 as u64) {
            return Err(error);
        }
        Ok(Self { every, room: depth.0 - largest.0, requests: 0, wqebbs: 0 })
    }

    /// Posts a request of `size` WQEBBs by `post`, which is told whether the request must be signalled, and returns what
    /// `post` does. A request that `post` refuses does not count, so its signal is not lost. (A batch that is dropped
    /// without a doorbell loses the requests that were counted. Clone this value before such a batch.)
    ///
    /// # Errors
    /// Those of `post`.
    #[inline(always)]
    pub fn post<E>(&mut self, size: Wqebbs, post: impl FnOnce(bool) -> Result<(), E>) -> Result<(), E> {
        let requests = self.requests + 1;
        let wqebbs = self.wqebbs.saturating_add(size.0);
        // Unsignalled requests at the queue's end must leave room for one of the largest size. If that does not fit, a
        // request before them is signalled and will make room.
        let signal = requests >= self.every || wqebbs > self.room;
        post(signal)?;
        (self.requests, self.wqebbs) = if signal { (0, 0) } else { (requests, wqebbs) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;

    use super::*;
    use proptest::prelude::*;

    /// A request that is posted: whether it is signalled.
    fn posted(moderation: &mut Moderation, size: u16) -> bool {
        let mut signaled = false;
        let posted = moderation.post(Wqebbs(size), |signal| {
            signaled = signal;
            Ok::<_, Infallible>(())
        });
        posted.map_or_else(|never| match never {}, |()| signaled)
    }

    #[test]
    fn every_nth() {
        let mut moderation = Moderation::new(4, Wqebbs(64), Wqebbs(1)).expect("possible");
        let signals: [bool; 9] = core::array::from_fn(|_| posted(&mut moderation, 1));
        assert_eq!(signals, [false, false, false, true, false, false, false, true, false]);
    }

    #[test]
    fn impossible_is_named() {
        let never = SetupError::OutOfRange { what: "requests a completion", value: 0, min: 1, max: 65535 };
        assert_eq!(Moderation::new(0, Wqebbs(4), Wqebbs(1)).err(), Some(never));
        for largest in [0, 5] {
            let refused = Moderation::new(1, Wqebbs(4), Wqebbs(largest)).err();
            let what = "WQEBBs of the largest request";
            assert_eq!(refused, Some(SetupError::OutOfRange { what, value: largest.into(), min: 1, max: 4 }));
        }
    }

    proptest! {
        /// Whenever a request does not fit, something outstanding is signalled, so that waiting helps. The caller may
        /// try again and again meanwhile.
        #[test]
        fn never_stuck(
            every in 1_u16..100,
            ring in (0_u32..7).prop_map(|log| 1_u16 << log),
            requests in prop::collection::vec((1_u16..17, 0_u16..100), 1..200),
        ) {
            let sizes = requests.iter().map(|&(size, _)| size.min(ring));
            let largest = sizes.clone().max().unwrap_or(1);
            let mut moderation = Moderation::new(every, Wqebbs(ring), Wqebbs(largest)).expect("possible");
            // WQEBBs outstanding up to the last signalled request, and after it.
            let (mut signaled, mut tail) = (0, 0);
            for (size, tries) in sizes.zip(requests.iter().map(|&(_, tries)| tries)) {
                if signaled + tail + size > ring {
                    for _ in 0..tries {
                        prop_assert_eq!(moderation.post(Wqebbs(size), |_| Err("full")), Err("full"));
                    }
                    prop_assert!(signaled > 0, "full of unsignalled requests");
                    signaled = 0;
                }
                prop_assert!(tail + size <= ring);
                tail += size;
                if posted(&mut moderation, size) {
                    signaled += tail;
                    tail = 0;
                }
            }
        }
    }
}
