//! The commands, a file for each kind of object: their layouts, and what they do.

mod caps;
mod cq;
#[cfg(test)]
mod cq_tests;
mod dct;
#[cfg(test)]
mod dct_tests;
mod mkey;
#[cfg(test)]
mod mkey_tests;
mod pd;
mod qp;
#[cfg(test)]
mod qp_tests;
mod uctx;
mod umem;

use super::call::Command;

pub(super) use cq::eqn;

/// The tables, one a line.
#[rustfmt::skip]
const ALL: &[&[Command]] = &[
    caps::COMMANDS,
    cq::COMMANDS,
    dct::COMMANDS,
    mkey::COMMANDS,
    pd::COMMANDS,
    qp::COMMANDS,
    uctx::COMMANDS,
    umem::COMMANDS,
];

/// All commands.
pub(super) fn all() -> impl Iterator<Item = &'static Command> {
    ALL.iter().copied().flatten()
}
