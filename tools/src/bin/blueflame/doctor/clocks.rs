//! The device's clock, and the times in completions.

use blueflame::cq::cqe::real_time_nanoseconds;
use blueflame::transport::Rc;
use blueflame::verbs::OwnedCq;
use blueflame::verbs::device::Clock;
use blueflame::{WrId, wqe};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::check::Check;
use super::found::{Failure, Seen, ensure};
use super::lab::{DEPTH, End, Lab, connect};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "clocks.page",
        title: "the kernel's page of the clock can be read, and the clock runs",
        fault: "Timestamps cannot be converted to times: the kernel does not keep the clock of this function, or the \
                clock stands still.",
        needs: &[Need::Clock],
        run: page,
    },
    Check {
        id: "clocks.free_running",
        title: "free-running timestamps of completions lie between the times before and after",
        fault: "Timestamps are of another clock or in another format than this crate reads.",
        needs: &[Need::Clock, Need::FreeRunning, Need::Link, Need::Address],
        run: free_running,
    },
    Check {
        id: "clocks.real_time",
        title: "real-time timestamps of completions ascend, in seconds and nanoseconds",
        fault: "Timestamps are no real time. REAL_TIME_CLOCK_ENABLE (mlxconfig) decides what the device has.",
        needs: &[Need::RealTime, Need::Link, Need::Address],
        run: real_time,
    },
];

fn clock(lab: &Lab) -> Result<Clock, Failure> {
    Ok(lab.device().clock()?)
}

fn page(lab: &Lab) -> Result<Seen, Failure> {
    let clock = clock(lab)?;
    let info = clock.info()?;
    let first = clock.cycles();
    let second = lab.until("a step of the clock", || {
        let now = clock.cycles();
        Ok((now != first || first.is_none()).then_some(now))
    })?;
    if let (Some(first), Some(second)) = (first, second) {
        ensure(second.wrapping_sub(first) < 1 << 63, || format!("from {first:#x} to {second:#x}"))?;
    }
    let seen = Seen::new("the page is consistent, and cycles ascend where the kernel maps them");
    Ok(seen
        .figure("mult, shift", format!("{}, {}", info.mult, info.shift))
        .figure("cycles are mapped", first.is_some()))
}

/// Completions on these queues, and what `stamp` makes of their times, with the time before and after each.
fn stamps(lab: &Lab, queues: [OwnedCq; 2], mut look: impl FnMut(u64) -> Result<(), Failure>) -> Result<(), Failure> {
    let (mut near, far) = (End::<Rc>::over(lab, queues)?, End::<Rc>::new(lab)?);
    let mut far = far;
    connect(&lab.path()?, &mut near.pair, &mut far.pair)?;
    for n in 0..20 {
        near.post(&wqe::write(far.memory.remote()).inline(b"now").signaled(WrId(n)))?;
        let End { pair, sent, .. } = &mut near;
        let stamp = lab.completion("a WRITE", sent, |cqe| pair.sq.complete(cqe).map(|_| cqe.timestamp()))?;
        look(stamp)?;
    }
    Ok(())
}

/// Nanoseconds since 1970 by this machine.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

/// By how much a stamp may lie outside of its bounds: the clocks drift, and the software device's register is a copy
/// that its thread writes now and then.
const SLACK: u64 = 50_000_000;

fn free_running(lab: &Lab) -> Result<Seen, Failure> {
    let clock = clock(lab)?;
    let cq = || lab.device().completion_queue(2 * DEPTH).free_running(true).build();
    let cqs = [cq()?, cq()?];
    let correlation = clock.correlate(cqs[0].handle())?;
    let (mut before, mut last, mut widest) = (now(), None, 0);
    let info = clock.info()?;
    let mut by_page = 0;
    stamps(lab, cqs, |stamp| {
        let (time, after) = (correlation.time_of(stamp), now());
        let off = before.saturating_sub(time.nanoseconds).max(time.nanoseconds.saturating_sub(after));
        ensure(off <= time.error + SLACK, || {
            format!("the stamp {stamp:#x} is {off} ns outside of the request's time, give or take {}", time.error)
        })?;
        ensure(last.is_none_or(|last| stamp >= last), || format!("{stamp:#x} comes after {last:x?}"))?;
        (last, before, widest) = (Some(stamp), after, widest.max(time.error));
        by_page = after.abs_diff(info.nanoseconds(stamp));
        Ok(())
    })?;
    let seen = Seen::new("20 stamps, each between the times around its request").figure("error, ns", widest);
    Ok(seen.figure("the kernel's page is off by, ns", by_page))
}

fn real_time(lab: &Lab) -> Result<Seen, Failure> {
    let cq = || lab.device().completion_queue(2 * DEPTH).real_time(true).build();
    let (begin, mut first, mut last) = (now(), None, None);
    stamps(lab, [cq()?, cq()?], |stamp| {
        ensure(stamp as u32 <= 999_999_999, || format!("{stamp:#x} has a second or more of nanoseconds"))?;
        let time = real_time_nanoseconds(stamp);
        ensure(last.is_none_or(|last| time >= last), || format!("{time} ns comes after {last:?}"))?;
        last = Some(time);
        first.get_or_insert(time);
        Ok(())
    })?;
    // The device's time need not be this machine's, but it runs as fast.
    let (first, last) = first.zip(last).ok_or("no stamps")?;
    let (device, machine) = (last - first, now() - begin);
    ensure(device <= machine + SLACK, || format!("{device} ns by the device, {machine} ns by this machine"))?;
    let off = Duration::from_nanos(begin.abs_diff(first));
    Ok(Seen::new("20 stamps of ascending seconds and nanoseconds")
        .figure("from this machine's time", format!("{off:?}")))
}
