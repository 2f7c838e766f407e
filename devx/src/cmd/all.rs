//! Lists of everything here: for tests, and for tools that print mailboxes.

use super::capability::{flow_tables, general, query, sets};
use super::ethernet::{match_fields, queues, steering, transport};
use super::function::{adapter, register, vport};
use super::{counter, cq, dct, domain, general_object, mkey, psv, qp, srq, wq};
use crate::mailbox::{CommandInfo, Description};

/// All structures that this crate describes, a slice for each kind.
pub const STRUCTURES: &[&[&Description]] = &[
    adapter::STRUCTURES,
    flow_tables::STRUCTURES,
    general::STRUCTURES,
    sets::STRUCTURES,
    counter::STRUCTURES,
    cq::STRUCTURES,
    dct::STRUCTURES,
    domain::STRUCTURES,
    steering::STRUCTURES,
    match_fields::STRUCTURES,
    general_object::STRUCTURES,
    mkey::STRUCTURES,
    psv::STRUCTURES,
    qp::STRUCTURES,
    query::STRUCTURES,
    register::STRUCTURES,
    queues::STRUCTURES,
    srq::STRUCTURES,
    transport::STRUCTURES,
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
    steering::COMMANDS,
    general_object::COMMANDS,
    mkey::COMMANDS,
    psv::COMMANDS,
    qp::COMMANDS,
    query::COMMANDS,
    register::COMMANDS,
    queues::COMMANDS,
    srq::COMMANDS,
    transport::COMMANDS,
    vport::COMMANDS,
];
