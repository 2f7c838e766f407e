//! One message on its way at a time: latency.

use std::thread;
use std::time::{Duration, Instant};

use blueflame::transport::{PlainRecv, Transport};
use blueflame::verbs::VerbsTransport;
use common::Failure;

use super::lane::Lane;
use super::recorder::{Patience, Recorder};
use super::stream::{Job, PATIENCE, Signs};
use super::work::{Arrival, Work};

/// Turns between looks at the clock, at failed requests, and at the peer.
const SPINS: u32 = 1024;
/// A last message may come later than the word over TCP that it was sent.
const GRACE: Duration = Duration::from_millis(20);

/// Begins, and waits for each answer, or for each completion if the peer takes no part.
///
/// # Errors
/// A completion with an error, or silence.
pub(super) fn begin<T, W>(
    lane: &mut Lane<T, W>,
    job: &Job,
    recorder: &mut Recorder<'_>,
    signs: &Signs,
) -> Result<(), Failure>
where
    T: VerbsTransport + Transport<RecvForm = PlainRecv>,
    W: Work<T>,
{
    let deadline = job.deadline(recorder.begin());
    let pace = job.pace(recorder.begin());
    for number in 1_u64.. {
        if job.total().is_some_and(|total| number > total) {
            break;
        }
        let intended = pace.map(|pace| pace.at(number - 1));
        let posted = loop {
            let now = Instant::now();
            if intended.is_none_or(|intended| now >= intended) || deadline.is_some_and(|deadline| now >= deadline) {
                break now;
            }
            thread::yield_now();
        };
        if deadline.is_some_and(|deadline| posted >= deadline) {
            break;
        }
        say(lane, job, number)?;
        if !wait(lane, number, deadline, signs, true)? {
            break;
        }
        match job.is_timed {
            true => recorder.sent(number, 0, intended, posted, Instant::now()),
            false => recorder.received(number, 1, Instant::now()),
        }
    }
    settle(lane)
}

/// Answers each message. If times are wanted, they are those from an answer to the next message.
///
/// # Errors
/// A completion with an error.
pub(super) fn answer<T, W>(
    lane: &mut Lane<T, W>,
    job: &Job,
    recorder: &mut Recorder<'_>,
    signs: &Signs,
) -> Result<(), Failure>
where
    T: VerbsTransport + Transport<RecvForm = PlainRecv>,
    W: Work<T>,
{
    let deadline = job.deadline(recorder.begin()).filter(|_| job.is_timed);
    let mut answered = None;
    for number in 1_u64.. {
        let is_last = job.ends_by_count && job.total().is_some_and(|total| number > total);
        if is_last || !wait(lane, number, deadline, signs, job.is_timed)? {
            break;
        }
        let now = Instant::now();
        match answered.filter(|_| job.is_timed) {
            Some(answered) => recorder.sent(number, 0, None, answered, now),
            None => recorder.received(number, 1, now),
        }
        answered = Some(Instant::now());
        say(lane, job, number)?;
    }
    settle(lane)
}

/// Takes the completions that are still to come: they would count for the next size.
fn settle<T, W>(lane: &mut Lane<T, W>) -> Result<(), Failure>
where
    T: VerbsTransport + Transport<RecvForm = PlainRecv>,
    W: Work<T>,
{
    let patience = Patience::new(PATIENCE);
    while W::ARRIVAL != Arrival::Own && lane.outstanding() > lane.unasked {
        lane.poll_sent(|_| {})?;
        patience.check()?;
    }
    Ok(())
}

/// Posts the message of this number.
fn say<T, W>(lane: &mut Lane<T, W>, job: &Job, number: u64) -> Result<(), Failure>
where
    T: VerbsTransport + Transport<RecvForm = PlainRecv>,
    W: Work<T>,
{
    let (depth, every) = (u64::from(job.plan.tx_depth), u64::from(job.plan.cq_mod));
    let patience = Patience::new(PATIENCE);
    // A completion may lag behind the answer.
    while lane.outstanding() >= depth {
        lane.poll_sent(|_| {})?;
        patience.check()?;
    }
    if W::ARRIVAL == Arrival::Memory {
        lane.mark(number as u8);
    }
    // Many sizes of few messages fill the queue as well.
    let asks = W::ARRIVAL == Arrival::Own || lane.unasked + 1 >= every;
    Ok(lane.post(1, |_| asks)?)
}

/// Waits for the message of this number; false if there will be none.
fn wait<T, W>(
    lane: &mut Lane<T, W>,
    number: u64,
    deadline: Option<Instant>,
    signs: &Signs,
    is_impatient: bool,
) -> Result<bool, Failure>
where
    T: VerbsTransport + Transport<RecvForm = PlainRecv>,
    W: Work<T>,
{
    let patience = Patience::new(PATIENCE);
    let (mut spins, mut gone) = (0_u32, None);
    loop {
        let has_come = match W::ARRIVAL {
            Arrival::Memory => lane.has_mark(number as u8),
            Arrival::Receive => lane.poll_received()? > 0,
            Arrival::Own => {
                lane.poll_sent(|_| {})?;
                lane.done == number
            }
        };
        if has_come {
            return Ok(true);
        }
        std::hint::spin_loop();
        spins += 1;
        if spins.is_multiple_of(SPINS) {
            if W::ARRIVAL != Arrival::Own {
                lane.poll_sent(|_| {})?;
            }
            if signs.peer_is_done() && gone.get_or_insert_with(Instant::now).elapsed() > GRACE {
                return Ok(false);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(false);
            }
            if is_impatient {
                patience.check()?;
            }
            // A chance for the peer if it is on the same CPU.
            thread::yield_now();
        }
    }
}
