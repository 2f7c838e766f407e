//! Queues that wait for completions, for the clock and for a word of memory, and that start other queues, with no CPU
//! in between.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use blueflame::db::Register;
use blueflame::transport::Rc;
use blueflame::verbs::Path;
use blueflame::wqe::Fence;
use blueflame::wqe::cross_channel::{ClockReading, DeviceClock, WordCondition};
use blueflame::{WrId, wqe};
use blueflame_devx::Context;
use blueflame_devx::memory::{Rings, ThreadRings};
use blueflame_devx::object::{Pd, QueuePair, Uar};

use super::check::Check;
use super::found::{Failure, Seen, ensure, same};
use super::lab::{End, INLINE, Lab, connected, memory};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "chains.completions",
        title: "a queue waits for a completion, and starts another queue",
        fault: "Cross-channel requests do not wait, or do not start: the firmware's support, or the queue's index.",
        needs: &[Need::Link, Need::Address, Need::Devx, Need::CrossChannel],
        run: completions,
    },
    Check {
        id: "chains.time_near",
        title: "WAIT on time: 10 us and 50 ms ahead",
        fault: "Timed sends leave too early, too late or never: the clock's mode (chains read it from MTUTC), or the \
                mask of the comparison.",
        needs: &[Need::Link, Need::Address, Need::Devx, Need::WaitOnTime],
        run: near,
    },
    Check {
        id: "chains.time_far",
        title: "WAIT on time: 3 s ahead waits, and 9 s ahead is refused",
        fault: "As chains.time_near. A device that compares more bits than expected would release at once.",
        needs: &[Need::Link, Need::Address, Need::Devx, Need::WaitOnTime],
        run: far,
    },
    Check {
        id: "chains.word",
        title: "WAIT on data: a message leaves when a word has its value",
        fault: "A message leaves too early or never: the comparison of the word, or its byte order.",
        needs: &[Need::Link, Need::Address, Need::Devx, Need::WaitOnData],
        run: word,
    },
];

fn connect_to_itself<R: Register>(pair: &mut QueuePair<Rc, R>, path: &Path) -> Result<(), Failure> {
    let itself = pair.qp.endpoint(path);
    pair.qp.to_init(path)?;
    Ok(pair.connect(path, &itself, &itself)?)
}

fn completions(lab: &Lab) -> Result<Seen, Failure> {
    let context = lab.devx()?;
    let path = lab.path()?;
    let verbs_pd = context.device().protection_domain()?;
    let pd = Pd::of_verbs(context, &verbs_pd)?;
    let rings = ThreadRings::new(&Rings::new(context)?);
    let inbox = memory(&verbs_pd, 64)?;
    let (uar, master_uar) = (Uar::new(context)?, Uar::new(context)?);
    let completion_queue = || rings.completion_queue(uar.page(), 16).build();
    let (mut sends, mut receives, mut started, steps) =
        (completion_queue()?, completion_queue()?, completion_queue()?, completion_queue()?);
    let builder = pd.queue_pair::<Rc>(&rings, &steps, &steps).sends(8).no_receives();
    let mut master = builder.cross_channel().build_on(master_uar)?;
    let builder = pd.queue_pair::<Rc>(&rings, &started, &started).sends(8).no_receives().inline(INLINE);
    let mut slave = builder.build_managed()?;
    let builder = pd.queue_pair::<Rc>(&rings, &sends, &receives).sends(8).receives(8).inline(INLINE);
    let mut caller = builder.build_on(uar)?;
    connect_to_itself(&mut master, &path)?;
    connect_to_itself(&mut slave, &path)?;
    connect_to_itself(&mut caller, &path)?;

    slave.sq.post(&wqe::write(inbox.remote()).inline(b"started").signaled(WrId(1)))?;
    let mut batch = master.sq.batch();
    batch.push(&wqe::wait_for_completion(receives.cqn(), receives.consumer_index()))?;
    // SAFETY: both queues are of one device. The request is posted at once, and completes before the slave goes.
    batch.push(&unsafe { slave.sq.enable() })?;
    batch.ring_doorbell();
    std::thread::sleep(Duration::from_millis(20));
    same("the prepared WRITE, before the message", &[0; 7], &inbox.to_vec(0..7))?;

    let rq = &mut caller.rq;
    // SAFETY: a message of no bytes needs no memory.
    unsafe { rq.post_unchecked(WrId(2), &[]) }?;
    caller.sq.post(&wqe::send().signaled(WrId(3)))?;
    lab.completion("the message", &mut sends, |cqe| caller.sq.complete(cqe))?;
    lab.completion("the started WRITE", &mut started, |cqe| slave.sq.complete(cqe))?;
    same("the prepared WRITE", b"started", &inbox.to_vec(0..7))?;
    lab.completion("the receive of the message", &mut receives, |cqe| rq.complete(cqe))?;
    Ok(Seen::new("a prepared WRITE waited for a message, and was executed then"))
}

/// The device's clock now, in its own units.
fn now(lab: &Lab, clock: DeviceClock, end: &mut End) -> Result<u64, Failure> {
    if clock == DeviceClock::REAL_TIME {
        // A completion's stamp is in the format of its queue, and the device's real time may not be this machine's.
        if let Ok(now) = lab.device().clock().map_err(Failure::from).and_then(|clock| Ok(clock.real_time()?)) {
            return Ok(now);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        return Ok(now.as_secs() << 32 | u64::from(now.subsec_nanos()));
    }
    end.post(&wqe::nop().signaled(WrId(0)))?;
    let End { pair, sent, .. } = end;
    lab.completion("a NOP", sent, |cqe| pair.sq.complete(cqe).map(|_| cqe.timestamp()))
}

/// The clock's value a while later.
fn later(context: &Context, clock: DeviceClock, now: u64, delay: Duration) -> Result<u64, Failure> {
    const SECOND: u64 = 1_000_000_000;
    if clock == DeviceClock::REAL_TIME {
        let nanoseconds = (now & 0xffff_ffff) + delay.as_nanos() as u64;
        return Ok((((now >> 32) + nanoseconds / SECOND) << 32) | (nanoseconds % SECOND));
    }
    let khz = u64::from(context.general()?.device_frequency_khz());
    Ok(now.wrapping_add(delay.as_nanos() as u64 * khz / 1_000_000))
}

/// Sends a message after a while. Returns how long it took.
fn send_after(lab: &Lab, near: &mut End, far: &mut End, delay: Duration) -> Result<Duration, Failure> {
    let context = lab.devx()?;
    let clock = context.clock()?;
    far.receive(WrId(1), 0..64)?;
    let begin = Instant::now();
    let now = now(lab, clock, near)?;
    let time = later(context, clock, now, delay)?;
    let mut batch = near.pair.sq.batch();
    batch.push(&clock.at(now).wait_until(time)?)?;
    batch.push(&wqe::send().inline(b"it is time").signaled(WrId(2)))?;
    batch.ring_doorbell();
    let (_, bytes, _) = far.received(lab, "the timed SEND")?;
    let waited = begin.elapsed();
    near.sent(lab, "the timed SEND")?;
    same("the timed SEND", b"it is time", &far.memory.to_vec(0..bytes))?;
    Ok(waited)
}

/// How late a message may be: this program may wait for a CPU.
const LATE: Duration = Duration::from_millis(800);

fn in_time(waited: Duration, delay: Duration) -> Result<(), Failure> {
    // Both clocks tick alike, but for a few parts in a million. The software device tells its time now and then.
    ensure(waited >= delay.mul_f64(0.9), || format!("{waited:?} after the request, not {delay:?}"))?;
    ensure(waited <= delay + LATE, || format!("{waited:?} after the request, not {delay:?}"))
}

fn near(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, mut far) = connected::<Rc>(lab)?;
    let mut seen = Seen::new("messages left when the clock said so");
    for delay in [Duration::from_micros(10), Duration::from_millis(50)] {
        let waited = send_after(lab, &mut near, &mut far, delay)?;
        in_time(waited, delay)?;
        seen = seen.figure(format!("{delay:?} ahead"), format!("arrived after {waited:?}"));
    }
    Ok(seen)
}

fn far(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, mut far) = connected::<Rc>(lab)?;
    let delay = Duration::from_secs(3);
    let waited = send_after(lab, &mut near, &mut far, delay)?;
    in_time(waited, delay)?;
    let context = lab.devx()?;
    let clock = context.clock()?;
    let now = now(lab, clock, &mut near)?;
    let time = later(context, clock, now, Duration::from_secs(9))?;
    let reading: ClockReading = clock.at(now);
    ensure(reading.wait_until(time).is_err(), || "a time 9 s ahead was accepted".into())?;
    Ok(Seen::new("a message left 3 s later; the crate refused to wait for 9 s")
        .figure("3 s ahead", format!("arrived after {waited:?}")))
}

fn word(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, mut far) = connected::<Rc>(lab)?;
    far.receive(WrId(1), 0..64)?;
    let (word, threshold) = (near.memory.sge(), 1_u64 << 32);
    near.memory.write(0, &(threshold - 1).to_be_bytes());
    let wait = wqe::wait_for_word(word.addr, word.lkey, WordCondition::is_at_least(threshold))?;
    let mut batch = near.pair.sq.batch();
    // SAFETY: the memory is registered longer than the queue lives.
    unsafe { batch.push_unchecked(&wait) }?;
    batch.push(&wqe::send().inline(b"enough").fence(Fence::SmallAndReads).signaled(WrId(2)))?;
    batch.ring_doorbell();
    std::thread::sleep(Duration::from_millis(20));
    ensure(near.sent.poll_with(1, |_| ()) == 0, || "the message left before the word had its value".into())?;
    near.memory.write(0, &threshold.to_be_bytes());
    let (_, bytes, _) = far.received(lab, "the SEND behind the WAIT")?;
    near.sent(lab, "the SEND behind the WAIT")?;
    same("the SEND behind the WAIT", b"enough", &far.memory.to_vec(0..bytes))?;
    Ok(Seen::new("a message waited for a word of memory, and left then"))
}
