//! The stream of the completions of one completion queue.

use core::convert::Infallible;
use core::fmt;
use core::future::poll_fn;
use core::mem;
use core::ops::DerefMut;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::io;

use blueflame::cq::mode::PollMode;
use blueflame::cq::{CompletionQueue, Cqe, Notify};
use blueflame::verbs::CompletionChannel;
use blueflame::verbs::async_event::{AsyncEvent, AsyncEvents};
use futures_core::Stream;

use crate::Error;

/// The completions of a completion queue, in order: what a closure makes of each.
///
/// An item is `Ok` for each completion, or `Err` once, after which the stream has ended. The
/// [example](crate#a-task-that-completes-the-requests-of-a-queue-pair) is a whole loop.
///
/// # Dropping
///
/// Drop the stream, or a future that waits for its next item, at any time. No completion is lost: each is taken from
/// the queue only when it becomes an item. A new stream of the same queue goes on, also if the old one had armed the
/// queue, or an event of it waits in the channel.
///
/// # Fairness
///
/// While completions are waiting, the stream is ready. If they come faster than you handle them, your task never sleeps:
/// let your runtime run other tasks now and then (tokio: `task::yield_now`).
///
/// # Cost
///
/// An item costs a poll of the queue. Each sleep costs the runtime's wait, and the system calls that take an event.
pub struct Completions<Q, R, C, L> {
    cq: Q,
    channel: CompletionChannel,
    readable: R,
    complete: C,
    lost: L,
    /// The queue is armed: a completion that comes after all that were polled raises an event.
    armed: bool,
    /// The channel may have events: the descriptor was readable, and not found empty since.
    may_have_events: bool,
    state: State,
}

/// Whether more items come.
#[derive(Debug)]
enum State {
    Open,
    /// The queue or the device is lost: what was written before comes first, then this error.
    Lost(Error<Infallible>),
    Ended,
}

// Nothing is pinned in it: its fields are used by `&mut`.
impl<Q, R, C, L> Unpin for Completions<Q, R, C, L> {}

impl<Q, R, C, L> fmt::Debug for Completions<Q, R, C, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completions").field("armed", &self.armed).field("state", &self.state).finish_non_exhaustive()
    }
}

/// Waits for no events of the device.
type Unwatched = fn(&mut Context<'_>) -> Poll<Error<Infallible>>;

impl<Q, R, C> Completions<Q, R, C, Unwatched> {
    /// The completions of `cq`, each as `complete` returns it. `complete` retires the request or receive, for instance by
    /// [`SendQueue::complete`](blueflame::SendQueue::complete). Its error ends the stream, so return failed requests as
    /// items.
    ///
    /// `cq` is the queue, or a `&mut` of it. It was made with `channel`
    /// ([`CqBuilder::channel`](blueflame::verbs::CqBuilder::channel)), and no other queue was: this stream takes each
    /// event of the channel.
    ///
    /// `readable` waits for the channel's descriptor. It returns `Ready` if the descriptor has become readable since it
    /// last returned `Ready`. Else it returns `Pending`, and wakes the task when that happens. It may return `Ready` for
    /// no reason. A runtime that reports edges is enough: the stream empties the channel before it calls `readable`
    /// again.
    ///
    /// The stream waits for completions alone. Add [`until_lost`](Self::until_lost), or it sleeps for ever once the
    /// queue or the device is lost.
    pub fn new<M, T, E>(cq: Q, channel: CompletionChannel, readable: R, complete: C) -> Self
    where
        M: PollMode,
        Q: DerefMut<Target = CompletionQueue<M>>,
        R: FnMut(&mut Context<'_>) -> Poll<io::Result<()>>,
        C: FnMut(&Cqe<'_>) -> Result<T, E>,
    {
        let lost: Unwatched = |_| Poll::Pending;
        Self { cq, channel, readable, complete, lost, armed: false, may_have_events: false, state: State::Open }
    }

    /// Ends the stream with [`Error::Lost`] if the completion queue overruns or fails otherwise, or if the device fails.
    /// Completions that were written before come first.
    ///
    /// `events` are the device's, and `context` is the value that the queue was made with
    /// ([`CqBuilder::context`](blueflame::verbs::CqBuilder::context)). `readable` waits for the descriptor of the
    /// events, as for that of the channel. Only one taker gets an event of a device, so all other events go to `other`.
    /// Of several streams on a device, let one take the events, and drop another stream when `other` gets the
    /// [`AsyncEvent::CqError`] of its queue.
    ///
    /// The stream takes events while it waits for completions.
    pub fn until_lost<S, O>(
        self,
        events: AsyncEvents,
        context: usize,
        mut readable: S,
        mut other: O,
    ) -> Completions<Q, R, C, impl FnMut(&mut Context<'_>) -> Poll<Error<Infallible>>>
    where
        S: FnMut(&mut Context<'_>) -> Poll<io::Result<()>>,
        O: FnMut(AsyncEvent),
    {
        // As the channel's events: taken until there are none, before the descriptor is waited for again.
        let mut may_have_events = false;
        let lost = move |cx: &mut Context<'_>| loop {
            if may_have_events {
                match events.wait_timeout(Duration::ZERO) {
                    Ok(Some(event @ AsyncEvent::DeviceFatal)) => return Poll::Ready(Error::Lost(event)),
                    Ok(Some(event @ AsyncEvent::CqError { context: of })) if of == context => {
                        return Poll::Ready(Error::Lost(event));
                    }
                    Ok(Some(event)) => other(event),
                    Ok(None) => may_have_events = false,
                    Err(error) => return Poll::Ready(Error::Event(error)),
                }
            } else {
                match readable(cx) {
                    Poll::Ready(Ok(())) => may_have_events = true,
                    Poll::Ready(Err(error)) => return Poll::Ready(Error::Readiness(error)),
                    Poll::Pending => return Poll::Pending,
                }
            }
        };
        let Self { cq, channel, readable, complete, armed, may_have_events, state, .. } = self;
        Completions { cq, channel, readable, complete, lost, armed, may_have_events, state }
    }
}

impl<Q, R, C, L> Completions<Q, R, C, L>
where
    Self: Stream,
{
    /// Waits for the next item. `None`: the stream has ended. The future may be dropped at any time.
    ///
    /// # Errors
    /// The error that ends the stream.
    pub async fn next(&mut self) -> Option<<Self as Stream>::Item> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<M, Q, R, C, L, T, E> Stream for Completions<Q, R, C, L>
where
    M: PollMode,
    Q: DerefMut<Target = CompletionQueue<M>>,
    R: FnMut(&mut Context<'_>) -> Poll<io::Result<()>>,
    C: FnMut(&Cqe<'_>) -> Result<T, E>,
    L: FnMut(&mut Context<'_>) -> Poll<Error<Infallible>>,
{
    type Item = Result<T, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { cq, channel, readable, complete, lost, armed, may_have_events, state } = self.get_mut();
        if matches!(state, State::Ended) {
            return Poll::Ready(None);
        }
        let error = loop {
            let mut item = None;
            cq.poll_with(1, |cqe| item = Some(complete(&cqe)));
            match item {
                Some(Ok(item)) => return Poll::Ready(Some(Ok(item))),
                Some(Err(error)) => break Error::Completion(error),
                None => {}
            }
            if let State::Lost(error) = mem::replace(state, State::Open) {
                break error.of();
            }
            if !*armed {
                // A completion that came since the poll raises no event: poll once more.
                cq.arm(Notify::Any);
                *armed = true;
                continue;
            }
            // Empty since it was armed: the next completion raises an event.
            if *may_have_events {
                match channel.wait_timeout(Duration::ZERO) {
                    Ok(Some(_)) => {
                        cq.event_received();
                        *armed = false;
                        continue;
                    }
                    Ok(None) => *may_have_events = false,
                    Err(error) => break Error::Event(error),
                }
            }
            match readable(cx) {
                Poll::Ready(Ok(())) => {
                    *may_have_events = true;
                    continue;
                }
                Poll::Ready(Err(error)) => break Error::Readiness(error),
                Poll::Pending => {}
            }
            match lost(cx) {
                Poll::Ready(error) => *state = State::Lost(error),
                Poll::Pending => return Poll::Pending,
            }
        };
        *state = State::Ended;
        Poll::Ready(Some(Err(error)))
    }
}
