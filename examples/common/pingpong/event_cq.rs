//! A completion queue of verbs on which a thread can sleep.

use std::time::Duration;

use blueflame::verbs::{CompletionChannel, Device, OwnedCq};

use super::{PingPongOptions, completions};
use crate::Failure;

/// The queue, and the channel for its completion events, if the options ask for one.
pub(super) struct EventCq {
    pub(super) cq: OwnedCq,
    channel: Option<CompletionChannel>,
}

impl EventCq {
    /// Makes it, with room for all completions of a side.
    ///
    /// # Errors
    /// A failed call.
    pub(super) fn new(device: &Device, options: &PingPongOptions) -> Result<Self, Failure> {
        let channel = if options.events { Some(device.completion_channel()?) } else { None };
        let mut cq = device.completion_queue(completions(options));
        if let Some(channel) = &channel {
            cq = cq.channel(channel);
        }
        Ok(Self { cq: cq.build()?, channel })
    }

    /// Sleeps until there is an event. Returns whether one came in time.
    ///
    /// # Errors
    /// A failed call, or a queue without a channel.
    pub(super) fn wait(&self, timeout: Duration) -> Result<bool, Failure> {
        let channel = self.channel.as_ref().ok_or("the completion queue has no channel")?;
        Ok(channel.wait_timeout(timeout)?.is_some())
    }
}
