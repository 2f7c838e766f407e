//! The commands, a file for each kind of object: their layouts, and what they do.

mod pd;
mod uctx;
mod umem;

use super::call::Command;

/// All commands.
pub(super) fn all() -> impl Iterator<Item = &'static Command> {
    [pd::COMMANDS, uctx::COMMANDS, umem::COMMANDS].into_iter().flatten()
}
