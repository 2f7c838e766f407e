//! The return types that the closure of `poll_with` may have.
use core::convert::Infallible;

use crate::sealed::Sealed;

/// The value that the closure of [`CompletionQueue::poll_with`](super::CompletionQueue::poll_with) returns for each
/// completion: `()` if it cannot fail, or `Result<(), E>`, whose error ends the call.
#[diagnostic::on_unimplemented(
    message = "a closure that handles completions returns `()` or `Result<(), E>`, not `{Self}`",
    label = "end the closure with `;`, or with `Ok(())`"
)]
pub trait Handled: Sealed {
    /// Why the closure failed.
    type Error;
    /// The return type of polling: the number of completions, or the closure's error.
    type Polled;

    #[doc(hidden)]
    fn into_result(self) -> Result<(), Self::Error>;

    #[doc(hidden)]
    fn polled(outcome: Result<usize, Self::Error>) -> Self::Polled;
}

impl Sealed for () {}
impl Handled for () {
    type Error = Infallible;
    type Polled = usize;

    #[inline(always)]
    fn into_result(self) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline(always)]
    fn polled(outcome: Result<usize, Infallible>) -> usize {
        let Ok(completions) = outcome;
        completions
    }
}

impl<E> Sealed for Result<(), E> {}
impl<E> Handled for Result<(), E> {
    type Error = E;
    type Polled = Result<usize, E>;

    #[inline(always)]
    fn into_result(self) -> Self {
        self
    }

    #[inline(always)]
    fn polled(outcome: Result<usize, E>) -> Result<usize, E> {
        outcome
    }
}
