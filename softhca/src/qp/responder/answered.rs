//! The READs and atomics executed last, for a peer that repeats requests.

use std::collections::VecDeque;

use super::replies::{Content, Found};
use crate::packet::Reth;
use crate::qp::psn::{HALF, Psn};

/// First PSNs and answers, oldest first. The peer has `max_dest_rd_atomic` READs and atomics outstanding at most, so it no
/// longer repeats a request before older ones.
#[derive(Debug, Default)]
pub(super) struct Answered(VecDeque<(Psn, Content)>);

impl Answered {
    /// The request with PSN `psn` has been executed. The last `most` are remembered.
    pub(super) fn note(&mut self, psn: Psn, content: Content, most: usize) {
        if self.0.len() >= most {
            self.0.pop_front();
        }
        self.0.push_back((psn, content));
    }

    /// Forgets requests so old that their PSNs will soon be those of new ones. `expected` comes after all of them.
    pub(super) fn forget_old(&mut self, expected: Psn) {
        while self.0.front().is_some_and(|answered| expected.after(answered.0) >= HALF) {
            self.0.pop_front();
        }
    }

    /// The word that the atomic with PSN `psn` found.
    pub(super) fn found(&self, psn: Psn) -> Option<Found> {
        match self.0.iter().rev().find(|answered| answered.0 == psn)?.1 {
            Content::Atomic(found) => Some(found),
            Content::Read { .. } => None,
        }
    }

    /// Whether a READ with PSN `psn` is one of these, from some packet on.
    pub(super) fn includes(&self, psn: Psn, reth: &Reth, mtu: u32) -> bool {
        self.0.iter().any(|&(first, content)| match content {
            Content::Read { left: whole, .. } => {
                let skipped = u64::from(psn.after(first)) * u64::from(mtu);
                whole.addr.wrapping_add(skipped) == reth.addr && u64::from(whole.len) == skipped + u64::from(reth.len)
            }
            Content::Atomic(_) => false,
        })
    }

    /// The READ or atomic that came next after `psn`. All PSNs are before `expected`.
    pub(super) fn next_after(&self, psn: Psn, expected: Psn) -> Option<(Psn, Content)> {
        self.0.iter().find(|answered| expected.after(answered.0) < expected.after(psn)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Width;

    #[test]
    fn psns_that_come_round_again_are_new() {
        let (first, found) = (Psn::new(7), Found { original: 0, width: Width::Eight });
        let mut answered = Answered::default();
        answered.note(first, Content::Atomic(found), 1);
        answered.forget_old(first.plus(HALF - 1));
        assert!(answered.next_after(first.previous(), first.plus(HALF - 1)).is_some());
        assert!(answered.next_after(first, first.plus(HALF - 1)).is_none());
        answered.forget_old(first.plus(HALF));
        assert!(answered.found(first).is_none());
    }
}
