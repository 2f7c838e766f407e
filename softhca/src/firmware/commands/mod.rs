//! The commands, a file for each kind of object: their layouts, and what they do.

mod cq;
#[cfg(test)]
mod cq_tests;
mod pd;
mod uctx;
mod umem;

use super::call::Command;

pub(super) use cq::eqn;

/// All commands.
pub(super) fn all() -> impl Iterator<Item = &'static Command> {
    [cq::COMMANDS, pd::COMMANDS, uctx::COMMANDS, umem::COMMANDS].into_iter().flatten()
}
