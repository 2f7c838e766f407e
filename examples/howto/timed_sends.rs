//! Timed sends: a message that leaves when the device's clock says so.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use blueflame::WrId;
use blueflame::verbs::Device;
use blueflame::wqe::cross_channel::DeviceClock;
use blueflame::wqe::{self};
use blueflame_devx::Context;
use howto::{End, Failure};

const DELAY: Duration = Duration::from_millis(50);

/// The device's clock a moment ago, and `DELAY` after that, in the clock's own units.
fn times(context: &Context, clock: DeviceClock, near: &mut End) -> Result<[u64; 2], Failure> {
    if clock == DeviceClock::REAL_TIME {
        // Seconds and nanoseconds. Software such as phc2sys keeps the machine's time and the device's together.
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        return Ok([now, now + DELAY].map(|time| time.as_secs() << 32 | u64::from(time.subsec_nanos())));
    }
    // Ticks, which a completion's timestamp shows.
    near.pair.sq.post(&wqe::nop().signaled(WrId(0)))?;
    let now = howto::completion(&mut near.cq, |cqe| near.pair.sq.complete(cqe).map(|_| cqe.timestamp()))?;
    let ticks_per_ms = u64::from(context.general()?.device_frequency_khz());
    Ok([now, now + DELAY.as_millis() as u64 * ticks_per_ms])
}

fn main() -> Result<(), Failure> {
    let context = Context::over(howto::open(Device::options().devx(true))?);
    let pd = context.device().protection_domain()?;
    let (mut near, mut far) = howto::connected(&pd)?;
    let rq = &mut far.pair.rq;
    // SAFETY: the buffer is registered longer than the queue lives, and read after the completion.
    unsafe { rq.post_unchecked(WrId(1), &[far.buffer.sge()])? };

    // ANCHOR: clock
    context.wait_on_time()?;
    let clock = context.clock()?;
    let begin = Instant::now();
    let [now, time] = times(&context, clock, &mut near)?;
    // ANCHOR_END: clock
    // ANCHOR: send
    let mut batch = near.pair.sq.batch();
    batch.push(&clock.at(now).wait_until(time)?)?;
    batch.push(&wqe::send().inline(b"it is time").signaled(WrId(2)))?;
    batch.ring_doorbell();
    // ANCHOR_END: send
    let (_, bytes) = far.received()?;
    let waited = begin.elapsed();
    near.sent()?;
    assert_eq!(far.buffer.to_vec(0..bytes as usize), b"it is time");
    // Both clocks tick alike, but for a few parts in a million.
    if waited < DELAY.mul_f64(0.99) {
        return Err(format!("the message has come after {waited:?}").into());
    }
    println!("a message has left {DELAY:?} after it was posted");
    Ok(())
}
