//! Two runtimes, as the cases need them.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use async_io::{Async, Timer};
use blueflame::verbs::CompletionChannel;
use blueflame::verbs::async_event::AsyncEvents;
use futures_lite::future;
use tokio::io::unix::AsyncFd;

pub(crate) type Readable = Box<dyn FnMut(&mut Context<'_>) -> Poll<io::Result<()>>>;
type Task = Pin<Box<dyn Future<Output = ()>>>;

/// A runtime.
pub(crate) struct Runtime {
    /// Waits for a channel.
    pub(crate) channel: fn(CompletionChannel) -> Readable,
    /// Waits for the events of a device.
    pub(crate) events: fn(AsyncEvents) -> Readable,
    pub(crate) sleep: fn(Duration) -> Task,
    /// The device that the case of a failed device breaks.
    pub(crate) victim: i32,
    block_on: fn(Task),
}

pub(crate) static TOKIO: Runtime = Runtime {
    channel: |channel| {
        // SAFETY: the channel keeps its descriptor open, and the same.
        let fd = unsafe { AsyncFd::register(channel) }.expect("a descriptor");
        Box::new(move |cx| fd.poll_read_ready(cx).map_ok(|mut guard| guard.clear_ready()))
    },
    events: |events| {
        // SAFETY: the device keeps its descriptor open, and the same.
        let fd = unsafe { AsyncFd::register(events) }.expect("a descriptor");
        Box::new(move |cx| fd.poll_read_ready(cx).map_ok(|mut guard| guard.clear_ready()))
    },
    sleep: |time| Box::pin(tokio::time::sleep(time)),
    victim: 1,
    block_on: |task| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(task);
    },
};

pub(crate) static SMOL: Runtime = Runtime {
    channel: |channel| {
        let fd = Async::new(channel).expect("a descriptor");
        Box::new(move |cx| fd.poll_readable(cx))
    },
    events: |events| {
        let fd = Async::new(events).expect("a descriptor");
        Box::new(move |cx| fd.poll_readable(cx))
    },
    sleep: |time| {
        Box::pin(async move {
            Timer::after(time).await;
        })
    },
    victim: 2,
    block_on: async_io::block_on,
};

impl Runtime {
    /// Runs a case, which must end within a minute: a lost wake-up fails the test.
    pub(crate) fn run(&'static self, case: fn(&'static Self) -> Task) {
        (self.block_on)(Box::pin(async move {
            let late = async {
                (self.sleep)(Duration::from_secs(60)).await;
                panic!("a minute has passed: a wake-up got lost");
            };
            future::or(case(self), late).await;
        }));
    }
}
