//! Packets in one direction, to one queue pair: the requests among them that wait for an answer.

use super::names::{
    ACKNOWLEDGE, READ_REQUEST, READ_RESPONSE_FIRST, READ_RESPONSE_MIDDLE, Service, Syndrome, operation,
};
use super::packet::Address;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The packets of a flow have these in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) service: Service,
    pub(super) from: Address,
    pub(super) to: Address,
    pub(super) qpn: u32,
}

/// A request packet that waits for an answer.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    opcode: u8,
    first: u64,
    last: u64,
    sent: u32,
    dropped: u32,
    /// The requester has asked for an answer.
    needs_answer: bool,
}

/// The requests of a flow, by their PSNs.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The newest PSN, counted on over its 24 bits.
    newest: Option<i64>,
    waiting: BTreeMap<i64, Waiting>,
    /// Those of `waiting` that are READs.
    reads: BTreeSet<i64>,
    /// All up to this PSN were answered.
    answered: Option<i64>,
    /// When the latest one was sent.
    pub(super) latest: u64,
}

/// The number next to `near` whose low 24 bits are `psn`.
fn unwrap(near: i64, psn: u32) -> i64 {
    let distance = (psn.wrapping_sub(near as u32) << 8) as i32 >> 8;
    near + i64::from(distance)
}

/// A request that is sent once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again {
    /// Since it was sent first; `None` if it was answered.
    pub(super) after: Option<Duration>,
}

impl Requests {
    /// Takes a request packet. It may be sent again.
    pub(super) fn send(&mut self, time: u64, (opcode, psn): (u8, u32), asks: bool, is_dropped: bool) -> Option<Again> {
        self.latest = time;
        let number = self.newest.map_or(i64::from(psn), |newest| unwrap(newest, psn));
        // One that is neither waiting nor answered was lost before it came here.
        let is_again = self.answered.is_some_and(|answered| number <= answered);
        self.newest = Some(self.newest.map_or(number, |newest| newest.max(number)));
        // READs and atomics ask by themselves.
        let needs_answer = asks || matches!(opcode & 0x1f, READ_REQUEST | 0x13 | 0x14);
        let dropped = u32::from(is_dropped);
        match self.waiting.get_mut(&number) {
            Some(waiting) => {
                waiting.sent += 1;
                waiting.dropped += dropped;
                waiting.last = time;
                waiting.needs_answer |= needs_answer;
                Some(Again { after: Some(Duration::from_nanos(time.saturating_sub(waiting.first))) })
            }
            None => {
                let new = Waiting { opcode, first: time, last: time, sent: 1, dropped, needs_answer };
                self.waiting.insert(number, new);
                if opcode & 0x1f == READ_REQUEST {
                    self.reads.insert(number);
                }
                is_again.then_some(Again { after: None })
            }
        }
    }

    /// How far an answer with this PSN is from the requests: 0 if it is to one that waits. `None` if it can be to none.
    pub(super) fn distance(&self, psn: u32) -> Option<u64> {
        /// Farther than any window of requests.
        const FAR: u64 = 1 << 16;
        let number = unwrap(self.newest?, psn);
        if self.waiting.contains_key(&number) {
            return Some(0);
        }
        Some(number.abs_diff(self.newest?) + 1).filter(|&distance| distance < FAR)
    }

    /// Takes an answer: requests that it answers wait no more.
    pub(super) fn answer(&mut self, opcode: u8, psn: u32, syndrome: Option<Syndrome>) {
        let Some(newest) = self.newest else { return };
        let number = unwrap(newest, psn);
        let read = self.reads.range(..=number).next_back();
        let answered = match opcode & 0x1f {
            ACKNOWLEDGE => match syndrome {
                Some(Syndrome::Ack) => number,
                // A refused requester gives all its requests up.
                Some(Syndrome::Refused(_)) => i64::MAX,
                // The request itself waits on.
                _ => number - 1,
            },
            // The READ itself waits for the end of its answer.
            READ_RESPONSE_FIRST | READ_RESPONSE_MIDDLE => read.map_or(number, |at| at - 1),
            // The end of an answer.
            _ => number,
        };
        while let Some(first) = self.waiting.first_entry().filter(|first| *first.key() <= answered) {
            self.reads.remove(first.key());
            first.remove();
        }
        self.answered = self.answered.max(Some(answered.min(newest)));
    }

    /// The oldest request that was never answered, in words.
    pub(super) fn silence(&self) -> Option<String> {
        let (number, waiting) = self.waiting.iter().find(|(_, waiting)| waiting.needs_answer)?;
        let (psn, name) = (number & 0xff_ffff, operation(waiting.opcode));
        let times = match waiting.sent {
            1 => "sent once".to_owned(),
            sent => {
                let over = Duration::from_nanos(waiting.last.saturating_sub(waiting.first));
                format!("sent {sent} times in {over:.1?}")
            }
        };
        let dropped = match waiting.dropped {
            0 => String::new(),
            dropped => format!(", {dropped} of them dropped on purpose"),
        };
        Some(format!("PSN {psn} ({name}) was {times}{dropped}, and never answered"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEND_ONLY: u8 = 0x04;
    const READ: u8 = READ_REQUEST;

    #[test]
    fn answers_end_the_waiting_of_their_requests() {
        let mut requests = Requests::default();
        let send = |requests: &mut Requests, psn: u32| requests.send(psn.into(), (SEND_ONLY, psn), true, false);
        // Over the end of the numbers.
        for psn in [0xff_fffe, 0xff_ffff, 0, 1] {
            assert_eq!(send(&mut requests, psn), None);
        }
        assert_eq!(
            (requests.distance(0), requests.distance(2), requests.distance(0x80_0000)),
            (Some(0), Some(2), None)
        );
        requests.answer(ACKNOWLEDGE, 0, Some(Syndrome::Ack));
        assert!(requests.silence().unwrap().starts_with("PSN 1 (SEND Only) was sent once"));
        requests.answer(ACKNOWLEDGE, 1, Some(Syndrome::Rnr));
        assert!(requests.silence().is_some());
        assert_eq!(send(&mut requests, 1), Some(Again { after: Some(Duration::ZERO) }));
        assert_eq!(requests.silence().unwrap(), "PSN 1 (SEND Only) was sent 2 times in 0.0ns, and never answered");
        requests.answer(ACKNOWLEDGE, 1, Some(Syndrome::Ack));
        assert_eq!(requests.silence(), None);
        // One that a sniffer behind the loss has not seen before.
        assert_eq!(send(&mut requests, 5), None);
        assert_eq!(send(&mut requests, 4), None);
        // The acknowledgement was lost.
        assert_eq!(send(&mut requests, 1), Some(Again { after: None }));
    }

    #[test]
    fn a_read_waits_for_the_end_of_its_answer() {
        let mut requests = Requests::default();
        requests.send(0, (SEND_ONLY, 4), true, false);
        requests.send(1, (READ, 5), false, true);
        requests.answer(READ_RESPONSE_FIRST, 5, Some(Syndrome::Ack));
        requests.answer(READ_RESPONSE_MIDDLE, 6, None);
        let silence = requests.silence().unwrap();
        assert_eq!(
            silence,
            "PSN 5 (RDMA READ Request) was sent once, 1 of them dropped on purpose, and never answered"
        );
        requests.answer(0x0f, 7, Some(Syndrome::Ack));
        assert_eq!(requests.silence(), None);
    }
}
