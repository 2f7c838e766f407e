//! Lists of everything here: for tests, and for tools that print mailboxes.

use super::{
    adapter, cap_flow, cap_general, cap_sets, counter, cq, dct, domain, flow, flow_match, general_object, mkey, psv,
    qp, query_hca_cap, register, sq_rq, srq, tis_tir, vport, wq,
};
use crate::mailbox::{CommandInfo, Description};

/// All structures that this crate describes, a slice for each kind.
pub const STRUCTURES: &[&[&Description]] = &[
    adapter::STRUCTURES,
    cap_flow::STRUCTURES,
    cap_general::STRUCTURES,
    cap_sets::STRUCTURES,
    counter::STRUCTURES,
    cq::STRUCTURES,
    dct::STRUCTURES,
    domain::STRUCTURES,
    flow::STRUCTURES,
    flow_match::STRUCTURES,
    general_object::STRUCTURES,
    mkey::STRUCTURES,
    psv::STRUCTURES,
    qp::STRUCTURES,
    query_hca_cap::STRUCTURES,
    register::STRUCTURES,
    sq_rq::STRUCTURES,
    srq::STRUCTURES,
    tis_tir::STRUCTURES,
    vport::STRUCTURES,
    wq::STRUCTURES,
];

/// All commands that this crate describes, a slice for each kind.
pub const COMMANDS: &[&[CommandInfo]] = &[
    adapter::COMMANDS,
    counter::COMMANDS,
    cq::COMMANDS,
    dct::COMMANDS,
    domain::COMMANDS,
    flow::COMMANDS,
    general_object::COMMANDS,
    mkey::COMMANDS,
    psv::COMMANDS,
    qp::COMMANDS,
    query_hca_cap::COMMANDS,
    register::COMMANDS,
    sq_rq::COMMANDS,
    srq::COMMANDS,
    tis_tir::COMMANDS,
    vport::COMMANDS,
];
