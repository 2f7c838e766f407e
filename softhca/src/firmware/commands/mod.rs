//! The commands, a file for each kind of object: their layouts, and what they do.

mod adapter;
mod caps;
mod cq;
#[cfg(test)]
mod cq_tests;
mod dct;
#[cfg(test)]
mod dct_tests;
mod domain;
#[cfg(test)]
mod identity_tests;
mod mkey;
#[cfg(test)]
mod mkey_tests;
mod pd;
mod qp;
#[cfg(test)]
mod qp_tests;
mod register;
mod roce_address;
mod uar;
mod uctx;
mod umem;
mod vport;

use super::call::Command;

pub(super) use cq::eqn;

/// The tables, one a line.
#[rustfmt::skip]
const ALL: &[&[Command]] = &[
    adapter::COMMANDS,
    caps::COMMANDS,
    cq::COMMANDS,
    dct::COMMANDS,
    domain::COMMANDS,
    mkey::COMMANDS,
    pd::COMMANDS,
    qp::COMMANDS,
    register::COMMANDS,
    roce_address::COMMANDS,
    uar::COMMANDS,
    uctx::COMMANDS,
    umem::COMMANDS,
    vport::COMMANDS,
];

/// All commands.
pub(super) fn all() -> impl Iterator<Item = &'static Command> {
    ALL.iter().copied().flatten()
}
