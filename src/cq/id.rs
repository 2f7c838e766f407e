//! Which completion queue a completion comes from.
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::setup::SetupError;
use crate::types::Qpn;

/// A completion queue's identity: no other [`CompletionQueue`](super::CompletionQueue) of the process has, had or will
/// have it.
///
/// Each queue gets one when it is made of its parts, and keeps it in other modes and when it is resized. The number
/// (CQN) would not do: each device counts for itself and gives numbers out again. Nor would the ring's address, which
/// resizing changes.
///
/// A send or receive queue knows the identity of the queue it completes to. Only completions of that queue retire its
/// requests.
// In the upper half of a word, where `Origin` has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CqId(u64);

/// The identity given out last. 32 bits: some CPUs lack wider atomic operations.
static LAST: AtomicU32 = AtomicU32::new(0);

impl CqId {
    /// The identity of no queue of this crate: nothing retires by its completions.
    pub const NONE: Self = Self(0);

    /// The identity of no queue, for send queues that no device reads.
    pub(crate) const REHEARSAL: Self = Self((u32::MAX as u64) << 32);

    /// One that was never given out.
    ///
    /// # Errors
    /// [`SetupError::NoIdentity`] after 2^32 - 2 queues.
    pub(super) fn new() -> Result<Self, SetupError> {
        let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
            // The last one is that of rehearsals.
            last.checked_add(1).filter(|&next| next != Self::REHEARSAL.get())
        });
        last.map_or(Err(SetupError::NoIdentity), |last| Ok(Self((u64::from(last) + 1) << 32)))
    }

    /// How many queues were made up to this one.
    #[must_use]
    pub const fn get(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl fmt::Debug for CqId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CqId").field(&self.get()).finish()
    }
}

/// Whose a completion is: the completion queue that lent it, and the number in the CQE. A queue makes its own once and
/// compares it with each completion's.
///
/// The identity is the upper half. The lower one is the CQE's word in memory order, so no byte is swapped. One
/// comparison covers both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin(u64);

impl Origin {
    /// The bits that tell queues apart: all but the request's opcode, which shares the CQE's word.
    pub(crate) const NUMBERED: u64 = Self::ANY_NUMBER | Qpn::MAX.to_be() as u64;
    /// The bits that tell queues apart where the CQE has a flow tag in place of the number.
    pub(crate) const ANY_NUMBER: u64 = (u32::MAX as u64) << 32;

    pub(crate) const fn new(cq: CqId, qpn: Qpn) -> Self {
        Self::of(cq, qpn.get().to_be())
    }

    /// `word` is the CQE's, in memory order.
    #[inline(always)]
    pub(super) const fn of(CqId(cq): CqId, word: u32) -> Self {
        Self(cq | word as u64)
    }

    /// Whether both are the same in these bits.
    #[inline(always)]
    pub(super) const fn is(self, other: Self, bits: u64) -> bool {
        (self.0 ^ other.0) & bits == 0
    }

    /// The number.
    pub(crate) const fn qpn(self) -> Qpn {
        Qpn::truncate(u32::from_be(self.0 as u32))
    }

    /// The completion queue.
    #[inline(always)]
    pub(crate) const fn cq(self) -> CqId {
        CqId(self.0 & Self::ANY_NUMBER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_given_out_once() {
        let [first, second] = [CqId::new(), CqId::new()].map(|id| id.expect("fewer than 2^32"));
        assert!(first != second && second.get() > first.get() && first != CqId::NONE);
    }

    #[test]
    fn an_origin_is_queue_and_number() {
        let (cq, other) = (CqId(1 << 32), CqId(u64::MAX << 32));
        let qpn = Qpn::truncate(0x12_3456);
        let origin = Origin::new(cq, qpn);
        assert_eq!((origin.cq(), origin.qpn()), (cq, qpn));
        assert_eq!((Origin::new(other, qpn).cq(), Origin::new(other, qpn).qpn()), (other, qpn));
        // The opcode beside the number is not part of it.
        let word = |number: u32| Origin::of(cq, (0xab00_0000 | number).to_be());
        assert!(word(0x12_3456).is(origin, Origin::NUMBERED));
        for bit in 0..24 {
            assert!(!word(0x12_3456 ^ 1 << bit).is(origin, Origin::NUMBERED), "bit {bit}");
            assert!(word(0x12_3456 ^ 1 << bit).is(origin, Origin::ANY_NUMBER), "bit {bit}");
        }
        for bit in 32..64 {
            let foreign = Origin::new(CqId(1 << 32 ^ 1 << bit), qpn);
            assert!(!foreign.is(origin, Origin::NUMBERED) && !foreign.is(origin, Origin::ANY_NUMBER), "bit {bit}");
        }
    }
}
