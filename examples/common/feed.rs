//! A feed of numbered messages on two lines, A and B: the header of a packet, and the arbitration between the lines.

use std::ops::RangeInclusive;

/// Bytes of the header of a packet: MoldUDP64's, which Nasdaq's feeds have. Ten bytes of the session's name, the number
/// of the first message, how many messages follow. Numbers are big endian.
pub const HEADER: usize = 20;
/// The count of a packet that ends the session (MoldUDP64, "End of Session").
pub const END_OF_SESSION: u16 = 0xffff;
const SESSION: &[u8; 10] = b"blueflame ";

/// The header of a packet whose first message has this number.
#[must_use]
pub fn header(number: u64, count: u16) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..10].copy_from_slice(SESSION);
    header[10..18].copy_from_slice(&number.to_be_bytes());
    header[18..].copy_from_slice(&count.to_be_bytes());
    header
}

/// The first message's number, and the number of messages; `None` if the packet belongs to another session or feed.
#[must_use]
pub fn parse(packet: &[u8]) -> Option<(u64, u16)> {
    let header = packet.first_chunk::<HEADER>()?;
    let (number, count) = (header[10..18].try_into().ok()?, header[18..].try_into().ok()?);
    (header[..10] == *SESSION).then_some((u64::from_be_bytes(number), u16::from_be_bytes(count)))
}

/// Bytes of a message behind the header: a price.
pub const MESSAGE: usize = 8;

/// The price in the message of this number: somewhere from 0 to 1023.
#[must_use]
pub const fn price(number: u64) -> u64 {
    // A multiplicative hash: 2^64 divided by the golden ratio.
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54
}

/// The price in a packet.
#[must_use]
pub fn price_of(packet: &[u8]) -> Option<u64> {
    packet.get(HEADER..)?.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

/// How many numbers are looked at behind the latest: a copy that comes later than that counts for nothing.
const WINDOW: u64 = 1 << 16;

/// Takes each message from the line that has it first, and knows which messages no line had. Times are nanoseconds of
/// any clock, the same for both lines.
#[derive(Debug)]
pub struct Arbiter {
    /// The messages of the window that have come, at their number modulo the window.
    seen: Vec<Seen>,
    /// The first number that is not judged yet, and the one after the latest.
    oldest: u64,
    next: u64,
    /// How many messages each line had first.
    pub first: [u64; 2],
    lost: Vec<RangeInclusive<u64>>,
}

/// The first copy of a message. Numbers begin with 1.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    number: u64,
    line: usize,
    time: u64,
}

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No line had it before.
    New,
    /// The other line had it, this many nanoseconds before.
    Copy(u64),
    /// This line had it, or it is too old.
    Repeated,
}

impl Default for Arbiter {
    fn default() -> Self {
        Self { seen: vec![Seen::default(); WINDOW as usize], oldest: 0, next: 0, first: [0; 2], lost: Vec::new() }
    }
}

impl Arbiter {
    /// Takes in a message of line 0 or 1.
    pub fn take(&mut self, line: usize, number: u64, time: u64) -> Verdict {
        if self.next == 0 {
            (self.oldest, self.next) = (number, number);
        }
        if number == 0 || number < self.oldest {
            return Verdict::Repeated;
        }
        if number >= self.next {
            let next = number.saturating_add(1);
            self.judge(next.saturating_sub(WINDOW));
            self.next = next;
        }
        let seen = &mut self.seen[(number % WINDOW) as usize];
        if seen.number != number {
            *seen = Seen { number, line, time };
            self.first[line] += 1;
            Verdict::New
        } else if seen.line == line {
            Verdict::Repeated
        } else {
            Verdict::Copy(time.saturating_sub(seen.time))
        }
    }

    /// Ends the feed, whose last message has the number before `next`. Returns the ranges that no line had.
    #[must_use]
    pub fn finish(mut self, next: u64) -> Vec<RangeInclusive<u64>> {
        self.judge(self.next.max(next));
        self.lost
    }

    /// Notes which messages before `until` have not come.
    fn judge(&mut self, until: u64) {
        // At most a window: all numbers from `next` on have not come.
        for number in self.oldest..until.min(self.next) {
            if self.seen[(number % WINDOW) as usize].number != number {
                self.lose(number..=number);
            }
        }
        if self.next < until && self.next > 0 {
            self.lose(self.next..=until - 1);
        }
        self.oldest = self.oldest.max(until);
    }

    fn lose(&mut self, numbers: RangeInclusive<u64>) {
        match self.lost.last_mut() {
            Some(last) if last.end() + 1 == *numbers.start() => *last = *last.start()..=*numbers.end(),
            _ => self.lost.push(numbers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_written() {
        assert_eq!(parse(&header(0x0102_0304_0506_0708, 9)), Some((0x0102_0304_0506_0708, 9)));
        assert_eq!(header(0x0102_0304_0506_0708, 9)[10..], [1, 2, 3, 4, 5, 6, 7, 8, 0, 9]);
        assert_eq!((parse(&[0; HEADER]), parse(&header(1, 1)[1..])), (None, None));
    }

    #[test]
    fn the_first_copy_counts_and_gaps_of_both_lines_are_lost() {
        let mut arbiter = Arbiter::default();
        assert_eq!(arbiter.take(0, 10, 100), Verdict::New);
        assert_eq!(arbiter.take(1, 10, 130), Verdict::Copy(30));
        assert_eq!(arbiter.take(1, 10, 140), Verdict::Copy(40));
        assert_eq!(arbiter.take(0, 10, 140), Verdict::Repeated);
        // B is ahead, and A fills a gap of B. Neither has 13, 15 and 16.
        assert_eq!([arbiter.take(1, 12, 200), arbiter.take(1, 14, 201), arbiter.take(1, 17, 202)], [Verdict::New; 3]);
        assert_eq!([arbiter.take(0, 11, 210), arbiter.take(0, 12, 220)], [Verdict::New, Verdict::Copy(20)]);
        assert_eq!(arbiter.take(0, 9, 230), Verdict::Repeated, "before the first");
        assert_eq!(arbiter.first, [2, 3]);
        assert_eq!(arbiter.finish(20), [13..=13, 15..=16, 18..=19]);
    }

    #[test]
    fn a_message_behind_the_window_is_lost_and_a_jump_takes_no_time() {
        let mut arbiter = Arbiter::default();
        assert_eq!(arbiter.take(0, 1, 0), Verdict::New);
        assert_eq!(arbiter.take(0, 3 + WINDOW, 0), Verdict::New);
        assert_eq!(arbiter.take(1, 2, 0), Verdict::Repeated, "too old");
        assert_eq!(arbiter.take(1, u64::MAX - 1, 0), Verdict::New);
        assert_eq!(arbiter.finish(0), [2..=2 + WINDOW, 4 + WINDOW..=u64::MAX - 2]);
    }
}
