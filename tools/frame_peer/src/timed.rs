//! Frames that testpmd sends at times: each burst has one, and says so in its first frame.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

/// testpmd's mark behind the headers of UDP: a signature, the place in the burst, the queue, the time of the first
/// frame of a burst (DPDK `app/test-pmd/txonly.c`, `struct tx_timestamp`).
const MARK: std::ops::Range<usize> = 42..58;
const SIGNATURE: [u8; 4] = 0xbeef_c0de_u32.to_be_bytes();
/// How much sooner than asked the last frame may come after the first: the first may be late.
const SLACK: Duration = Duration::from_millis(50);

/// The bursts that have come.
#[derive(Debug)]
pub(crate) struct Bursts {
    /// Nanoseconds from one to the next.
    gap: u64,
    first: Option<(Instant, u64)>,
    last: Option<(Instant, u64)>,
}

impl Bursts {
    pub(crate) fn new(gap: u64) -> Self {
        Self { gap, first: None, last: None }
    }

    /// Takes the mark out of a frame that has come now, and checks it. It leaves zeros there.
    pub(crate) fn take(&mut self, frame: &mut [u8], now: Instant) -> Result<()> {
        let Some(mark) = frame.get_mut(MARK) else { return Ok(()) };
        let [s0, s1, s2, s3, p0, p1, q0, q1, time @ ..] = mark else { return Ok(()) };
        ensure!([*s0, *s1, *s2, *s3] == SIGNATURE, "no mark of a time: {mark:02x?}");
        let (place, queue) = (u16::from_be_bytes([*p0, *p1]), u16::from_be_bytes([*q0, *q1]));
        let time = u64::from_be_bytes((&*time).try_into()?);
        ensure!(queue == 0 && (place == 0) == (time != 0), "place {place} of a burst of queue {queue} at {time}");
        if place == 0 {
            if let Some((_, before)) = self.last {
                // Bursts that find no room are dropped.
                let after = time.wrapping_sub(before);
                ensure!(after != 0 && after % self.gap == 0, "a burst {after} ns after one, not each {} ns", self.gap);
            }
            self.last = Some((now, time));
            self.first = self.first.or(self.last);
        }
        mark.fill(0);
        Ok(())
    }

    /// Whether the bursts took as long as they were to take. They may take longer, on a busy machine.
    pub(crate) fn check(&self) -> Result<String> {
        let (Some((begin, first)), Some((end, last))) = (self.first, self.last) else { return Ok(String::new()) };
        let (asked, took) = (Duration::from_nanos(last - first), end - begin);
        ensure!(took + SLACK >= asked, "bursts of {asked:?} came within {took:?}");
        ensure!(asked > 4 * SLACK, "bursts of {asked:?} show nothing");
        Ok(format!("bursts of {} ms came within {} ms", asked.as_millis(), took.as_millis()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(place: u16, time: u64) -> Vec<u8> {
        let mut frame = vec![7; 42];
        frame.extend(SIGNATURE);
        frame.extend(place.to_be_bytes());
        frame.extend([0; 2]);
        frame.extend(time.to_be_bytes());
        frame.extend([0; 6]);
        frame
    }

    #[test]
    fn frames_that_come_too_soon_are_found() {
        let begin = Instant::now();
        let run = |took: u64| {
            let mut bursts = Bursts::new(1_000_000);
            for n in [0, 1, 4, 1000] {
                let now = begin + Duration::from_millis(took * n / 1000);
                bursts.take(&mut frame(0, 5_000_000 + n * 1_000_000), now)?;
                bursts.take(&mut frame(1, 0), now)?;
            }
            bursts.check()
        };
        assert_eq!(run(1000).expect("in time"), "bursts of 1000 ms came within 1000 ms");
        assert!(run(1500).is_ok() && run(960).is_ok());
        assert!(run(900).is_err());
    }

    #[test]
    fn marks_are_checked_and_taken_out() {
        let (mut bursts, now) = (Bursts::new(100), Instant::now());
        let mut first = frame(0, 300);
        bursts.take(&mut first, now).expect("a mark");
        assert_eq!((&first[..42], &first[42..]), (&[7; 42][..], &[0; 22][..]));
        for (place, time) in [(0, 350), (0, 300), (0, 200), (0, 0), (1, 400)] {
            assert!(bursts.take(&mut frame(place, time), now).is_err(), "{place} {time}");
        }
        let mut other = frame(1, 0);
        other[42] = 0;
        assert!(bursts.take(&mut other, now).is_err());
    }
}
