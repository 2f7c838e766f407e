//! Whether the device has requests about other queues and the clock.

use crate::ask::has;
use crate::context::Context;
use crate::error::Error;

impl Context {
    /// Whether queues wait for the completions of others and start others ([`wait_for_completion`](blueflame::wqe::wait_for_completion),
    /// [`SendQueue::enable`](blueflame::SendQueue::enable)).
    ///
    /// # Errors
    /// [`Error::Capability`] if not, or [`Error::Command`].
    pub fn cross_channel(&self) -> Result<(), Error> {
        has("cmd_hca_cap.cd", self.general()?.cd())
    }

    /// Whether queues wait for the clock ([`wait_until`](blueflame::wqe::wait_until)).
    ///
    /// # Errors
    /// [`Error::Capability`] if not, or [`Error::Command`].
    pub fn wait_on_time(&self) -> Result<(), Error> {
        has("cmd_hca_cap.wait_on_time", self.general()?.wait_on_time())
    }
}
