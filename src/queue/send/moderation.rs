//! Which requests ask for a completion. Knows no queue.
use core::fmt;

use crate::types::Wqebbs;

/// Decides which requests ask for a completion: every `n`-th, and earlier if the queue could otherwise fill up with
/// unsignalled requests. Such a queue could never retire anything.
///
/// ```
/// # use blueflame::{db::Register, queue::{Moderation, PostError, SendQueue}, transport, types::{Wqebbs, WrId}, wqe};
/// fn burst<R: Register>(sq: &mut SendQueue<transport::Rc, R>, moderation: &mut Moderation) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     for n in 0..64 {
///         let signal = moderation.next(Wqebbs(1));
///         batch.push(&wqe::send().signaled_if(signal, WrId(n)))?;
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

/// Invalid moderation settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModerationError {
    /// `every` is zero.
    Never,
    /// The largest request does not fit the depth.
    Largest {
        /// WQEBBs of the largest request; zero is none.
        largest: Wqebbs,
        /// WQEBBs that may be outstanding.
        depth: Wqebbs,
    },
}

impl fmt::Display for ModerationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Never => f.write_str("a completion every 0 requests, at least 1 is needed"),
            Self::Largest { largest, depth } => {
                write!(f, "largest request of {} WQEBBs, must be 1 to the depth's {}", largest.0, depth.0)
            }
        }
    }
}

impl core::error::Error for ModerationError {}

impl Moderation {
    /// Signals every `every`-th request on a queue that takes `depth` WQEBBs at a time
    /// ([`SendQueue::depth`](crate::queue::SendQueue::depth)) and whose requests take at most `largest`.
    ///
    /// # Errors
    /// `every` is zero, or `largest` is zero or larger than the depth.
    pub const fn new(every: u16, depth: Wqebbs, largest: Wqebbs) -> Result<Self, ModerationError> {
        if every == 0 {
            return Err(ModerationError::Never);
        }
        if largest.0 == 0 || largest.0 > depth.0 {
            return Err(ModerationError::Largest { largest, depth });
        }
        Ok(Self { every, room: depth.0 - largest.0, requests: 0, wqebbs: 0 })
    }

    /// Whether the next request, of `size` WQEBBs, must be signalled. Call it once for each request that is then
    /// posted.
    #[inline]
    #[must_use]
    pub const fn next(&mut self, size: Wqebbs) -> bool {
        self.requests += 1;
        self.wqebbs = self.wqebbs.saturating_add(size.0);
        // Unsignalled requests at the queue's end must leave room for one of the largest size. If that does not fit, a
        // request before them is signalled and will make room.
        let signal = self.requests >= self.every || self.wqebbs > self.room;
        if signal {
            self.requests = 0;
            self.wqebbs = 0;
        }
        signal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_nth() {
        let mut moderation = Moderation::new(4, Wqebbs(64), Wqebbs(1)).expect("possible");
        let signals: [bool; 9] = core::array::from_fn(|_| moderation.next(Wqebbs(1)));
        assert_eq!(signals, [false, false, false, true, false, false, false, true, false]);
    }

    #[test]
    fn impossible_is_named() {
        assert_eq!(Moderation::new(0, Wqebbs(4), Wqebbs(1)).err(), Some(ModerationError::Never));
        for largest in [Wqebbs(0), Wqebbs(5)] {
            let refused = Moderation::new(1, Wqebbs(4), largest).err();
            assert_eq!(refused, Some(ModerationError::Largest { largest, depth: Wqebbs(4) }));
        }
    }

    proptest! {
        /// Whenever a request does not fit, something outstanding is signalled, so that waiting helps.
        #[test]
        fn never_stuck(
            every in 1_u16..100,
            ring in (0_u32..7).prop_map(|log| 1_u16 << log),
            sizes in prop::collection::vec(1_u16..17, 1..200),
        ) {
            let largest = sizes.iter().map(|&size| size.min(ring)).max().unwrap_or(1);
            let mut moderation = Moderation::new(every, Wqebbs(ring), Wqebbs(largest)).expect("possible");
            // WQEBBs outstanding up to the last signalled request, and after it.
            let (mut signaled, mut tail) = (0, 0);
            for size in sizes.into_iter().map(|size| size.min(ring)) {
                if signaled + tail + size > ring {
                    prop_assert!(signaled > 0, "full of unsignalled requests");
                    signaled = 0;
                }
                prop_assert!(tail + size <= ring);
                tail += size;
                if moderation.next(Wqebbs(size)) {
                    signaled += tail;
                    tail = 0;
                }
            }
        }
    }
}
