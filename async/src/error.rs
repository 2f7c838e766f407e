//! Why a stream of completions has ended.

use core::convert::Infallible;
use core::fmt;
use std::io;

use blueflame::verbs;
use blueflame::verbs::async_event::AsyncEvent;

/// Why a stream of completions has ended. `E` is the error of the closure that takes the completions.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error<E> {
    /// The closure that takes the completions refused one.
    Completion(E),
    /// An event could not be taken from the completion channel or the device. The errno is `EIO` after the device was
    /// removed (Linux `drivers/infiniband/core/uverbs_main.c`, `ib_uverbs_event_read`).
    Event(verbs::Error),
    /// The runtime cannot wait for a descriptor.
    Readiness(io::Error),
    /// The completion queue or the device is lost ([`AsyncEvent::CqError`], [`AsyncEvent::DeviceFatal`]): requests that
    /// have not completed never will. The device may still use their memory until their queues are destroyed.
    Lost(AsyncEvent),
}

impl Error<Infallible> {
    /// The same error, of a stream whose closure may fail.
    pub(crate) fn of<E>(self) -> Error<E> {
        match self {
            Self::Completion(never) => match never {},
            Self::Event(error) => Error::Event(error),
            Self::Readiness(error) => Error::Readiness(error),
            Self::Lost(event) => Error::Lost(event),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completion(error) => error.fmt(f),
            Self::Event(error) => write!(f, "no event can be taken: {error}"),
            Self::Readiness(error) => write!(f, "the runtime cannot wait for a descriptor: {error}"),
            Self::Lost(AsyncEvent::CqError { context }) => write!(
                f,
                "the completion queue of context {context} is lost, most often because it overran: make it as large as \
                 the queues that complete there"
            ),
            Self::Lost(event) => write!(f, "the device has failed ({event:?}): close it"),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for Error<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Completion(error) => Some(error),
            Self::Event(error) => Some(error),
            Self::Readiness(error) => Some(error),
            Self::Lost(_) => None,
        }
    }
}
