//! Streams of completions under tokio and under async-io (smol's reactor): no completion is lost, whenever it comes and
//! whenever a stream is dropped, and lost queues and devices end their streams.
//!
//! Streams belong here, completion channels without a runtime in `tests/lifecycle`.
//!
//! Each case runs under both runtimes. What a case needs of a runtime is in `runtime.rs`, connections in `line.rs`.
//!
//! The cases break `mlx5_1` and `mlx5_2`, so they need three devices:
//!
//! ```text
//! softhca-run --devices 3 --
//! softhca-run --devices 3 --strict -- many_completions a_completion a_new_stream
//! softhca-run --devices 3 --no-write-combining --
//! ```

mod line;
mod runtime;

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::ffi::{c_int, c_void};
use std::future::{Future, poll_fn};
use std::io;
use std::ops::{Deref, DerefMut};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use blueflame::cq::{CompletionQueue, Cqe, CqeError};
use blueflame::verbs::OwnedCq;
use blueflame::verbs::async_event::{AsyncEvent, AsyncEvents};
use blueflame_async::{Completions, Error};
use futures_core::Stream;
use futures_lite::future::{self, poll_once};

use crate::line::{ArmWord, Line, Sends};
use crate::runtime::{Readable, Runtime};

/// The identifier of a completion's request.
fn tag(sq: &Sends, cqe: &Cqe<'_>) -> Result<u64, Infallible> {
    Ok(sq.borrow_mut().retire(cqe).expect("outstanding").wr_id.0)
}

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
}

/// The identifiers of the next `count` completions, which must be good.
async fn tags<S, E>(stream: &mut S, count: usize) -> Vec<u64>
where
    S: Stream<Item = Result<u64, Error<E>>> + Unpin,
    E: std::fmt::Debug,
{
    let mut tags = Vec::new();
    while tags.len() < count {
        tags.push(next(stream).await.expect("the stream goes on").expect("a completion"));
    }
    tags
}

/// Whether the stream waits: it has found the queue empty, and armed it.
async fn waits<S: Stream + Unpin>(stream: &mut S) -> bool {
    poll_once(next(stream)).await.is_none()
}

/// A queue that lets a test act between two accesses of the stream: `act` gets the number of the access, from 0.
struct Meddled<F> {
    cq: OwnedCq,
    accesses: usize,
    act: F,
}

impl<F> Deref for Meddled<F> {
    type Target = CompletionQueue;

    fn deref(&self) -> &CompletionQueue {
        &self.cq
    }
}

impl<F: FnMut(usize)> DerefMut for Meddled<F> {
    fn deref_mut(&mut self) -> &mut CompletionQueue {
        (self.act)(self.accesses);
        self.accesses += 1;
        &mut self.cq
    }
}

/// A completion comes before the first poll, between poll and arm, between arm and the second poll, and later.
async fn a_completion_between_poll_and_arm(runtime: &'static Runtime) {
    for when in 0..6 {
        let Line { cq, channel, sends, .. } = Line::new("mlx5_0", 16, 0);
        let posting = sends.clone();
        let act = |access| {
            if access == when {
                posting.post(7);
                // The device is done before the stream goes on.
                posting.settle();
            }
        };
        let cq = Meddled { cq, accesses: 0, act };
        let readable = (runtime.channel)(channel.clone());
        let mut stream = Completions::new(cq, channel, readable, |cqe| tag(&sends, cqe));
        // The first accesses are those of one poll of the stream.
        let first = poll_once(next(&mut stream)).await;
        assert_eq!(first.is_some(), when < 3, "access {when}");
        match first {
            Some(item) => assert_eq!(item.expect("goes on").expect("good"), 7),
            None => {
                sends.post(7);
                assert_eq!(tags(&mut stream, 1).await, [7]);
            }
        }
    }
}

/// The task sleeps, many requests complete, and it wakes once for all of them.
async fn many_completions_by_one_event(runtime: &'static Runtime) {
    const MANY: usize = 60;
    let Line { mut cq, channel, sends, .. } = Line::new("mlx5_0", MANY as u32, 0);
    let readable = (runtime.channel)(channel.clone());
    let mut stream = Completions::new(&mut *cq, channel, readable, |cqe| tag(&sends, cqe));
    for round in 0..5 {
        let polls = Cell::new(0);
        let found = {
            let mut all = pin!(tags(&mut stream, MANY));
            let all = poll_fn(|cx| {
                polls.set(polls.get() + 1);
                all.as_mut().poll(cx)
            });
            let post = async {
                (0..MANY as u64).for_each(|tag| sends.post(tag));
                // All of them complete before the event is looked at.
                sends.settle();
            };
            future::zip(all, post).await.0
        };
        assert_eq!(found, (0..MANY as u64).collect::<Vec<_>>());
        // The first poll found nothing. The last round's event may wake the task for nothing.
        assert!((2..=4).contains(&polls.get()), "round {round}: {} polls", polls.get());
        assert!(waits(&mut stream).await, "there are no more");
    }
}

/// One request at a time: each completion must wake the task.
async fn each_completion_wakes_the_task(runtime: &'static Runtime) {
    let Line { mut cq, channel, sends, .. } = Line::new("mlx5_0", 16, 0);
    let readable = (runtime.channel)(channel.clone());
    let mut stream = Completions::new(&mut *cq, channel, readable, |cqe| tag(&sends, cqe));
    for round in 0..2000 {
        sends.post(round);
        assert_eq!(tags(&mut stream, 1).await, [round]);
    }
}

/// The device ignores a request for an event that has the number of the last event.
async fn each_event_is_told_to_the_queue(runtime: &'static Runtime) {
    let Line { mut cq, channel, sends, .. } = Line::new("mlx5_0", 16, 0);
    let arm = ArmWord::of(&cq);
    let readable = (runtime.channel)(channel.clone());
    let mut stream = Completions::new(&mut *cq, channel, readable, |cqe| tag(&sends, cqe));
    for round in 0..9 {
        // The event may come after the task has found its completion.
        while !waits(&mut stream).await || arm.number() != round % 4 {
            (runtime.sleep)(Duration::from_millis(1)).await;
        }
        sends.post(round.into());
        assert_eq!(tags(&mut stream, 1).await, [round.into()]);
    }
}

/// Futures of the next item are dropped, at times of their own.
async fn a_dropped_future_loses_nothing(runtime: &'static Runtime) {
    const ALL: u64 = 400;
    let Line { mut cq, channel, sends, .. } = Line::new("mlx5_0", 16, 0);
    let readable = (runtime.channel)(channel.clone());
    let mut stream = Completions::new(&mut *cq, channel, readable, |cqe| tag(&sends, cqe));
    let (mut posted, mut found, mut dropped) = (0, Vec::new(), 0);
    while found.len() < ALL as usize {
        while posted < ALL && posted - (found.len() as u64) < 4 {
            sends.post(posted);
            posted += 1;
        }
        let patience = Duration::from_micros(50 * (dropped % 7));
        let timeout = async {
            (runtime.sleep)(patience).await;
            None
        };
        let item = future::or(async { Some(next(&mut stream).await) }, timeout).await;
        match item {
            Some(item) => found.push(item.expect("goes on").expect("good")),
            None => dropped += 1,
        }
    }
    assert_eq!(found, (0..ALL).collect::<Vec<_>>());
}

/// The first stream armed the queue. The completion comes before the drop, between both streams, or to the second.
async fn a_new_stream_goes_on(runtime: &'static Runtime) {
    let Line { mut cq, channel, sends, .. } = Line::new("mlx5_0", 16, 0);
    for round in 0..60 {
        let readable = (runtime.channel)(channel.clone());
        let mut first = Completions::new(&mut *cq, channel.clone(), readable, |cqe| tag(&sends, cqe));
        assert!(waits(&mut first).await);
        let when = round % 3;
        if when == 0 {
            sends.post(round);
            sends.settle();
        }
        drop(first);
        if when == 1 {
            sends.post(round);
            sends.settle();
        }
        let readable = (runtime.channel)(channel.clone());
        let mut second = Completions::new(&mut *cq, channel.clone(), readable, |cqe| tag(&sends, cqe));
        if when == 2 {
            assert!(waits(&mut second).await);
            sends.post(round);
        }
        assert_eq!(tags(&mut second, 1).await, [round]);
        // And once more, with whatever event is left.
        sends.post(round + 1000);
        assert_eq!(tags(&mut second, 1).await, [round + 1000]);
    }
}

/// A failed request is an item; the error of the closure ends the stream.
async fn errors_of_the_closure_end_the_stream(runtime: &'static Runtime) {
    let Line { mut cq, channel, sends, .. } = Line::new("mlx5_0", 16, 0);
    let readable = (runtime.channel)(channel.clone());
    let mut stream = Completions::new(&mut *cq, channel, readable, |cqe| {
        let tag = sends.borrow_mut().retire(cqe).expect("outstanding").wr_id.0;
        match cqe.check() {
            Ok(_) => Ok((tag, true)),
            Err(CqeError::Completion(_)) if tag < 8 => Ok((tag, false)),
            Err(error) => Err(error),
        }
    });
    sends.post(1);
    let mut items = vec![next(&mut stream).await.expect("goes on").expect("good")];
    sends.post_refused(2);
    // Flushed, as the queue pair has failed.
    sends.post(3);
    sends.post(9);
    let error = loop {
        match next(&mut stream).await.expect("an end comes first") {
            Ok(item) => items.push(item),
            Err(error) => break error,
        }
    };
    assert_eq!(items, [(1, true), (2, false), (3, false)]);
    assert!(matches!(error, Error::Completion(CqeError::Completion(_))), "{error}");
    assert!(next(&mut stream).await.is_none(), "it has ended");
    assert!(next(&mut stream).await.is_none());
}

async fn a_runtime_that_cannot_wait_ends_the_stream(_: &'static Runtime) {
    let Line { mut cq, channel, sends, .. } = Line::new("mlx5_0", 16, 0);
    let broken = |_: &mut Context<'_>| Poll::Ready(Err(io::Error::other("no reactor")));
    sends.post(1);
    sends.settle();
    let mut stream = Completions::new(&mut *cq, channel, broken, |cqe| tag(&sends, cqe));
    assert_eq!(tags(&mut stream, 1).await, [1], "what is there comes first");
    let Some(Err(error)) = next(&mut stream).await else { panic!("no error") };
    assert_eq!(error.to_string(), "the runtime cannot wait for a descriptor: no reactor");
    assert!(matches!(error, Error::Readiness(_)));
    assert!(next(&mut stream).await.is_none());
}

/// A completion is written after the stream found the queue empty, and before it learns that the device is lost.
async fn what_was_written_comes_before_the_end(runtime: &'static Runtime) {
    let Line { device, mut cq, channel, sends } = Line::new("mlx5_0", 16, 0);
    let posting = sends.clone();
    let watch = |_: &mut Context<'_>| {
        posting.post(5);
        posting.settle();
        Poll::Ready(Err(io::Error::other("lost")))
    };
    let readable = (runtime.channel)(channel.clone());
    let mut stream = Completions::new(&mut *cq, channel, readable, |cqe| tag(&sends, cqe)).until_lost(
        device.async_events(),
        0,
        watch,
        |_| {},
    );
    assert_eq!(tags(&mut stream, 1).await, [5]);
    assert!(matches!(next(&mut stream).await, Some(Err(Error::Readiness(_)))));
    assert!(next(&mut stream).await.is_none());
}

fn until_lost(line: &Line, runtime: &Runtime) -> (AsyncEvents, Readable) {
    let events = line.device.async_events();
    (events.clone(), (runtime.events)(events))
}

/// What was written before the queue overran comes first. Other events go to the closure.
async fn an_overrun_ends_the_stream(runtime: &'static Runtime) {
    let line = Line::new("mlx5_0", 1, 77);
    let (events, watch) = until_lost(&line, runtime);
    let Line { mut cq, channel, sends, .. } = line;
    let others = RefCell::new(Vec::new());
    let readable = (runtime.channel)(channel.clone());
    let mut stream =
        Completions::new(&mut *cq, channel, readable, |cqe| tag(&sends, cqe))
            .until_lost(events, 77, watch, |event| others.borrow_mut().push(event));
    (0..4).for_each(|tag| sends.post(tag));
    let mut found = Vec::new();
    let error = loop {
        match next(&mut stream).await.expect("an error comes first") {
            Ok(tag) => found.push(tag),
            Err(error) => break error,
        }
        // Lets the device fail meanwhile.
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(matches!(error, Error::Lost(AsyncEvent::CqError { context: 77 })), "{error}");
    assert!(error.to_string().contains("context 77"), "{error}");
    assert!(!found.is_empty() && found.len() < 4, "{found:?}");
    assert!(others.borrow().iter().all(|event| matches!(event, AsyncEvent::Qp { .. })), "{others:?}");
    assert!(next(&mut stream).await.is_none());
}

/// Fails a device for good.
fn fail(device: c_int) {
    // SAFETY: looks a name up among the loaded objects.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"softhca_fail".as_ptr()) };
    assert!(!symbol.is_null(), "no softhca_fail: run this by ./run test, or under softhca-run");
    // SAFETY: the preloaded object's function of this name is of this type.
    let function = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> c_int>(symbol) };
    assert_eq!(function(device), 0);
}

async fn a_failed_device_ends_the_stream(runtime: &'static Runtime) {
    let line = Line::new(&format!("mlx5_{}", runtime.victim), 16, 0);
    let (events, watch) = until_lost(&line, runtime);
    let Line { mut cq, channel, sends, .. } = line;
    let readable = (runtime.channel)(channel.clone());
    let mut stream =
        Completions::new(&mut *cq, channel, readable, |cqe| tag(&sends, cqe))
            .until_lost(events, 0, watch, |event| assert!(matches!(event, AsyncEvent::Qp { .. }), "{event:?}"));
    sends.post(1);
    assert_eq!(tags(&mut stream, 1).await, [1]);
    assert!(waits(&mut stream).await);
    let failing = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(20));
        fail(runtime.victim);
    });
    let Some(Err(error)) = next(&mut stream).await else { panic!("no error") };
    assert!(matches!(error, Error::Lost(AsyncEvent::DeviceFatal)), "{error}");
    assert!(next(&mut stream).await.is_none());
    failing.join().expect("failed");
}

/// A stream moves between threads if what it is made of does.
#[test]
fn streams_are_send() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let Line { cq, channel, .. } = Line::new("mlx5_0", 16, 0);
    let fd = async_io::Async::new(channel.clone()).expect("a descriptor");
    let stream = Completions::new(cq, channel, move |cx| fd.poll_readable(cx), |cqe| Ok::<_, Infallible>(cqe.qpn()));
    drop(is_send(stream));
}

/// A test of each case under each runtime.
macro_rules! cases {
    ($($case:ident;)*) => {
        mod tokio {
            $(
                #[test]
                fn $case() {
                    crate::runtime::TOKIO.run(|runtime| Box::pin(super::$case(runtime)));
                }
            )*
        }
        mod smol {
            $(
                #[test]
                fn $case() {
                    crate::runtime::SMOL.run(|runtime| Box::pin(super::$case(runtime)));
                }
            )*
        }
    };
}

cases! {
    a_completion_between_poll_and_arm;
    many_completions_by_one_event;
    each_completion_wakes_the_task;
    each_event_is_told_to_the_queue;
    what_was_written_comes_before_the_end;
    a_dropped_future_loses_nothing;
    a_new_stream_goes_on;
    errors_of_the_closure_end_the_stream;
    a_runtime_that_cannot_wait_ends_the_stream;
    an_overrun_ends_the_stream;
    a_failed_device_ends_the_stream;
}
