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
    use crate::memory::keys::mkey::Accessor;
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

    #[test]
    fn a_read_is_repeated_whole_or_from_a_packet_on() {
        let (first, mtu) = (Psn::new(0xff_fffe), 256);
        let read = |addr, len| Reth { addr, rkey: 1, len };
        let mut answered = Answered::default();
        let by = Accessor::from(1);
        answered.note(first.previous(), Content::Atomic(Found { original: 0, width: Width::Eight }), 2);
        answered.note(first, Content::Read { by, left: read(0x1000, 600) }, 2);
        for (after, addr, len, known) in [
            (0, 0x1000, 600, true),
            (2, 0x1200, 88, true),
            (0, 0x1000, 601, false),
            (0, 0x1100, 600, false),
            (1, 0x1000, 344, false),
            (3, 0x1300, 0, false),
        ] {
            assert_eq!(answered.includes(first.plus(after), &read(addr, len), mtu), known, "{after} {addr:#x} {len}");
        }
        assert!(!answered.includes(first.previous(), &read(0x1000, 600), mtu));
        for later in [3, 4] {
            answered.note(first.plus(later), Content::Read { by, left: read(0x2000, 8) }, 2);
        }
        assert!(!answered.includes(first, &read(0x1000, 600), mtu), "forgotten");
    }
}
