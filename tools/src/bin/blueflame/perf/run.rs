//! A run at one end: the meeting, the threads, and their samples.

use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use common::{Failure, Role};

use super::ends::{Bench, Parts};
use super::meeting::{Meeting, Rates, Seen, Sign};
use super::options::Run;
use super::plan::{Figure, Limit, Plan, Verb};
use super::recorder::{Record, Recorder};
use super::report::{Outcome, Report};
use super::series::Series;
use super::show::Show;
use super::stream::{Job, Signs};

/// How often the peer is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Runs one end.
///
/// # Errors
/// [`Failure`].
pub(super) fn run(
    options: &Run,
    plan: &Plan,
    (role, stream): (Role, TcpStream),
    show: &mut Show,
) -> Result<Report, Failure> {
    let (device, mut path) = options.open()?;
    let pd = device.protection_domain()?;
    let mut meeting = Meeting::begin(stream, role, plan, &path)?;
    path.mtu = meeting.mtu();
    let mut benches = Parts { pd: &pd, path: &path, role, meeting: &mut meeting }.benches()?;
    let plan = meeting.plan().clone();
    let mut report = Report::new(&plan, role, &device, &path, meeting.peer());
    show.begin(&report)?;
    let mut rates = Rates::default();
    for &size in &plan.sizes {
        let job = job(&plan, size, role, meeting.is_ours());
        let is_passive = !job.sends && !job.receives && !meeting.is_ours();
        if is_passive {
            // perftest runs all its sizes, and speaks at the end.
            break;
        }
        let (record, series, peer) = one(&mut benches, &job, options, &mut meeting, show)?;
        let outcome = Outcome::new(&plan, size, &record, series, peer);
        rates = outcome.rates();
        show.row(&outcome)?;
        report.add(outcome, record);
        meeting.finish(&rates)?;
    }
    meeting.end(&rates)?;
    Ok(report)
}

/// The job of an end in a size.
fn job(plan: &Plan, size: usize, role: Role, is_ours: bool) -> Job {
    let is_client = role == Role::Client;
    let answers = plan.takes_turns();
    let streams = plan.figure != Figure::Lat;
    Job {
        plan: plan.clone(),
        size,
        sends: is_client || answers || plan.both_ways,
        receives: answers || streams && plan.is_received() && (!is_client || plan.both_ways),
        // perftest's server writes first.
        begins: is_client != (!is_ours && answers && plan.verb == Verb::Write),
        is_timed: is_client,
        ends_by_count: !is_ours && matches!(plan.limit, Limit::Messages(_)),
    }
}

/// Runs one size in all threads.
fn one(
    benches: &mut [Box<dyn Bench>],
    job: &Job,
    options: &Run,
    meeting: &mut Meeting,
    show: &mut Show,
) -> Result<(Record, Series, Option<Seen>), Failure> {
    for bench in &mut *benches {
        bench.begin(job);
    }
    meeting.start()?;
    let every = Duration::from_secs_f64(options.interval.max(0.001));
    let (signs, threads) = (Signs::default(), benches.len());
    let (samples, taken) = mpsc::channel();
    let mut series = Series::new(every, threads);
    let is_both = job.plan.both_ways;
    let mut has_said = false;
    let record = thread::scope(|scope| {
        let mut workers = Vec::new();
        for (thread, bench) in benches.iter_mut().enumerate() {
            let (samples, signs) = (samples.clone(), &signs);
            let worker = thread::Builder::new().spawn_scoped(scope, move || {
                let mut recorder = Recorder::new(&job.plan, (thread, every), &samples, job.plan.takes_turns());
                let ran = if job.sends || job.receives { bench.run(job, &mut recorder, signs) } else { Ok(()) };
                let record = recorder.finish();
                // The other threads have nothing to wait for.
                ran.inspect_err(|_| signs.peer_done.store(true, Ordering::Release)).map(|()| record)
            });
            // Those that run have nothing to wait for then.
            workers.push(worker.inspect_err(|_| signs.peer_done.store(true, Ordering::Release))?);
        }
        drop(samples);
        let mut watch = || -> Result<(), Failure> {
            let mut sent = 0;
            loop {
                match taken.recv_timeout(LOOK_EVERY) {
                    Ok(sample) => {
                        sent += sample.sent;
                        for line in series.add(sample) {
                            show.line(&line)?;
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => show.progress(job, sent),
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                if is_both && !has_said && signs.sent.load(Ordering::Acquire) == threads {
                    has_said = true;
                    meeting.say()?;
                }
                if meeting.look()? != Sign::None {
                    signs.peer_done.store(true, Ordering::Release);
                }
            }
        };
        let watched = watch();
        signs.peer_done.store(true, Ordering::Release);
        let mut record = Record::default();
        for worker in workers {
            let ran = worker.join().map_err(|_| "a thread has panicked")?;
            record.add(&ran.map_err(|error| meeting.explain(error))?);
        }
        watched.map(|()| record)
    })?;
    for line in series.finish() {
        show.line(&line)?;
    }
    show.progress_over();
    if (job.begins || is_both) && !has_said {
        meeting.say()?;
    }
    if !job.begins || is_both {
        meeting.hear()?;
    }
    let seen = Seen { sent: record.all_sent, received: record.all_received };
    let peer = meeting.compare(seen)?;
    let expected = job.total().map(|total| total * job.plan.queues as u64);
    if job.is_timed && job.begins && expected.is_some_and(|expected| record.all_sent < expected) {
        return Err(format!("the peer has left after {} messages", record.all_sent).into());
    }
    Ok((record, series, peer))
}
