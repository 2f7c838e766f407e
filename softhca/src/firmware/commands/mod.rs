//! The commands, a file for each kind of object: their layouts, and their actions.

mod adapter;
mod atomic_mode;
mod caps;
mod cq;
#[cfg(test)]
mod cq_tests;
mod dct;
#[cfg(test)]
mod dct_tests;
mod domain;
mod eq;
#[cfg(test)]
mod eq_tests;
mod flow_counter;
mod flow_entry;
mod flow_group;
mod flow_table;
mod general_object;
#[cfg(test)]
mod gsi_tests;
mod hca;
#[cfg(test)]
mod identity_tests;
mod lag;
#[cfg(test)]
mod lag_tests;
mod mad;
mod match_param;
mod mcg;
#[cfg(test)]
mod mcg_tests;
mod mkey;
#[cfg(test)]
mod mkey_tests;
#[cfg(test)]
mod mmo_tests;
mod modify_header;
mod nic_vport;
mod pages;
mod pd;
mod port_info;
mod psv;
mod q_counter;
mod qp;
#[cfg(test)]
mod qp_data_tests;
#[cfg(test)]
mod qp_state_tests;
#[cfg(test)]
mod qp_tests;
mod rate_limit;
mod register;
mod roce_address;
mod rq;
mod rqt;
mod sq;
mod srq;
#[cfg(test)]
mod srq_tests;
#[cfg(test)]
mod streams_tests;
mod strides;
mod tir;
mod tis;
mod uar;
mod uctx;
mod umem;
#[cfg(test)]
mod umr_tests;
mod vport;
mod vport_counter;
#[cfg(test)]
mod vport_tests;
mod vxlan;
mod work_queue;
#[cfg(test)]
mod xrc_tests;

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
    eq::COMMANDS,
    flow_counter::COMMANDS,
    flow_entry::COMMANDS,
    flow_group::COMMANDS,
    flow_table::COMMANDS,
    general_object::COMMANDS,
    hca::COMMANDS,
    mad::COMMANDS,
    mcg::COMMANDS,
    mkey::COMMANDS,
    modify_header::COMMANDS,
    nic_vport::COMMANDS,
    pages::COMMANDS,
    pd::COMMANDS,
    psv::COMMANDS,
    q_counter::COMMANDS,
    qp::COMMANDS,
    rate_limit::COMMANDS,
    register::COMMANDS,
    roce_address::COMMANDS,
    rq::COMMANDS,
    rqt::COMMANDS,
    sq::COMMANDS,
    srq::COMMANDS,
    tir::COMMANDS,
    tis::COMMANDS,
    uar::COMMANDS,
    uctx::COMMANDS,
    umem::COMMANDS,
    vport::COMMANDS,
    vport_counter::COMMANDS,
    vxlan::COMMANDS,
];

/// All commands.
pub(super) fn all() -> impl Iterator<Item = &'static Command> {
    ALL.iter().copied().flatten()
}
