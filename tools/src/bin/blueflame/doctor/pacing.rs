//! Packet pacing: rates of send queues of frames.

use std::time::Instant;

use blueflame::verbs::device::{RateLimit, RateLimits};
use blueflame::verbs::{CallError, Error};

use super::check::Check;
use super::ethernet::{Frames, Receiver, Sender};
use super::found::{Failure, Seen, ensure, same};
use super::lab::Lab;
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[Check {
    id: "ethernet.pacing",
    title: "packet pacing: rates within the device's range are accepted, and others refused",
    fault: "The device refuses a rate of the range that it reports, or frames do not leave at a rate. `devlink` and the \
            firmware's settings may have turned pacing off.",
    needs: &[Need::Ethernet, Need::Link, Need::NetRaw, Need::Pacing],
    run: pacing,
}];

/// Frames that are timed, and bytes of each.
const TIMED: u32 = 21;
const BYTES: usize = 1250;
/// Kbit/s at which the timed frames take 20 milliseconds.
const RATE: u32 = 10_000;
const EINVAL: i32 = 22;

fn pacing(lab: &Lab) -> Result<Seen, Failure> {
    let limits = lab.device().attr().rate_limits.ok_or("the device has no rates")?;
    let own = Frames::new(lab)?;
    let mut receiver = Receiver::new(lab, &own.flow())?;
    let mut sender = Sender::new(lab)?;
    let RateLimits { min, max } = limits;
    ensure(min <= max, || format!("the device reports rates from {min} to {max} kbit/s"))?;
    let (middle, timed) = (min.midpoint(max), RATE.clamp(min, max));
    let mut number = 0;
    for rate in [max, middle, timed] {
        sender.set_rate(Some(RateLimit::kilobits(rate))).map_err(|error| format!("{rate} kbit/s: {error}"))?;
        let frame = own.frame(number, BYTES);
        sender.send(lab, std::slice::from_ref(&frame)).map_err(|error| format!("at {rate} kbit/s: {error}"))?;
        same("a frame at a rate", &frame, &receiver.next(lab)?.0)?;
        number += 1;
    }
    // The least rate itself may keep a frame for seconds.
    sender.set_rate(Some(RateLimit::kilobits(min))).map_err(|error| format!("{min} kbit/s: {error}"))?;
    let burst = match sender.set_rate(Some(RateLimit::kilobits(middle).burst(BYTES as u32).typical_frame(1000))) {
        Ok(()) => "accepted".to_owned(),
        // The device has no such bounds, as the errno says.
        Err(Error::Call(CallError { errno: EINVAL, .. })) => "refused (EINVAL)".to_owned(),
        Err(other) => return Err(format!("{middle} kbit/s in bursts: {other}").into()),
    };
    // Refused before any call.
    let outside = [Some(0), min.checked_sub(1), max.checked_add(1)];
    for rate in outside.into_iter().flatten().filter(|rate| !(min.max(1)..=max).contains(rate)) {
        match sender.set_rate(Some(RateLimit::kilobits(rate))) {
            Err(Error::OutOfRange { value, .. }) if value == u64::from(rate) => {}
            other => return Err(format!("{rate} kbit/s are out of the range, and ended with {other:?}").into()),
        }
    }
    sender.set_rate(Some(RateLimit::kilobits(timed)))?;
    let frames: Vec<_> = (number..number + TIMED).map(|number| own.frame(number, BYTES)).collect();
    let begin = Instant::now();
    sender.send(lab, &frames)?;
    let seconds = begin.elapsed().as_secs_f64();
    for frame in &frames {
        same("a frame at a rate", frame, &receiver.next(lab)?.0)?;
    }
    sender.set_rate(None)?;
    ensure(seconds > 0.0, || "no time has passed".into())?;
    let measured = f64::from(TIMED - 1) * BYTES as f64 * 8.0 / seconds / 1000.0;
    Ok(Seen::new("rates of the range accepted, with frames that arrived; rates beyond it refused")
        .figure("range", format!("{min} to {max} kbit/s"))
        .figure("a bound of bursts", burst)
        .figure(format!("measured at {timed} kbit/s"), format!("{measured:.0} kbit/s")))
}
