//! A check: its needs and its work.

use super::found::{Failure, Seen};
use super::lab::Lab;
use crate::need::Need;

/// One thing that a NIC, its driver and this crate do together.
pub(crate) struct Check {
    /// `theme.name`.
    pub(crate) id: &'static str,
    /// The subject.
    pub(crate) title: &'static str,
    /// The meaning of a failure, and the places to look at.
    pub(crate) fault: &'static str,
    /// A check whose needs are not met is skipped, and only then.
    pub(crate) needs: &'static [Need],
    pub(crate) run: fn(&Lab) -> Result<Seen, Failure>,
}

impl Check {
    /// The part of the identifier before the dot.
    pub(crate) fn theme(&self) -> &'static str {
        self.id.split('.').next().unwrap_or(self.id)
    }
}
