//! Completions of mlx5 NICs as an async stream, under any runtime that can wait for a file descriptor.
//!
//! [`Completions`] polls a completion queue of [`blueflame`]. While the queue is empty, the task sleeps until the
//! descriptor of the [completion channel](blueflame::verbs::CompletionChannel) is readable. The stream arms the queue,
//! polls it until it is empty, waits, takes the event, and arms again, in the order that loses no completion.
//!
//! This crate names no runtime. You say how yours waits for a descriptor, by a closure of one line:
//!
//! | runtime | closure |
//! |---|---|
//! | tokio | `move \|cx\| fd.poll_read_ready(cx).map_ok(\|mut guard\| guard.clear_ready())` with an `AsyncFd` |
//! | smol, async-io | `move \|cx\| fd.poll_readable(cx)` with an `Async` |
//!
//! # A task that completes the requests of a queue pair
//!
//! Under tokio. A failed request is an item like others: its buffer comes back, too. The task ends with an error if the
//! device or the queue is lost, and then nothing else completes.
//!
//! ```no_run
//! use blueflame::queue::Owned;
//! use blueflame::verbs::{CompletionChannel, Device, OwnedCq, Qp};
//! use blueflame::{CompleteError, SendQueue, transport};
//! use blueflame_async::Completions;
//! use tokio::io::unix::AsyncFd;
//!
//! /// `cq` was made with `channel`, and with `context(7)`.
//! async fn complete(
//!     device: &Device, channel: CompletionChannel, mut cq: OwnedCq, mut sq: Owned<SendQueue<transport::Rc>, Qp>,
//! ) -> Result<(), Box<dyn std::error::Error>> {
//!     // SAFETY: the channel keeps its descriptor open, and the same.
//!     let fd = unsafe { AsyncFd::register(channel.clone()) }.map_err(std::io::Error::from)?;
//!     // SAFETY: the device keeps its descriptor open, and the same.
//!     let events = unsafe { AsyncFd::register(device.async_events()) }.map_err(std::io::Error::from)?;
//!     let mut completions = Completions::new(
//!         &mut *cq,
//!         channel,
//!         move |cx| fd.poll_read_ready(cx).map_ok(|mut guard| guard.clear_ready()),
//!         |cqe| match sq.complete(cqe) {
//!             Ok(done) => Ok((done.wr_id, None)),
//!             Err(CompleteError::Failed { done, error }) => Ok((done.wr_id, Some(error))),
//!             // A completion that is not this queue's: ends the stream.
//!             Err(CompleteError::Foreign(error)) => Err(error),
//!         },
//!     )
//!     .until_lost(
//!         device.async_events(),
//!         7,
//!         move |cx| events.poll_read_ready(cx).map_ok(|mut guard| guard.clear_ready()),
//!         |event| println!("not about this queue: {event:?}"),
//!     );
//!     while let Some(item) = completions.next().await {
//!         match item? {
//!             (wr_id, None) => println!("request {wr_id:?} is done"),
//!             (wr_id, Some(error)) => println!("request {wr_id:?} has failed: {error}"),
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! With async-io, `Async::new(channel.clone())` makes the value for `fd`, and `Async::new(device.async_events())` that
//! for `events`.

mod completions;
mod error;

pub use completions::Completions;
pub use error::Error;
