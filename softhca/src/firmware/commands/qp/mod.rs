//! Queue pairs: making them, their states, and queries.

mod codes;
mod create;
mod layouts;
mod path;
mod query;
mod service;
mod transition;

use crate::firmware::call::{Command, bare_out, command};
use layouts::{
    create_qp_in, create_qp_out, destroy_qp_in, init2init_qp_in, init2init_qp_out, init2rtr_qp_in, init2rtr_qp_out,
    qp_2err_in, qp_2rst_in, query_qp_in, query_qp_out, rst2init_qp_in, rst2init_qp_out, rtr2rts_qp_in, rtr2rts_qp_out,
    rts2rts_qp_in, rts2rts_qp_out, sqd2rts_qp_in, sqerr2rts_qp_in,
};
use service::{INIT2RTR, RST2INIT, RTR2RTS, RTS2SQD, SQD2RTS, SQERR2RTS};
use transition::run;

/// Bytes of a transition without the later additions to contexts.
const TRANSITION_BYTES: usize = 0x110;

/// Opcodes are those of Linux 6.1. `RTS2SQD_QP` is from Linux 3.11 (`include/linux/mlx5/device.h`), which sent whole
/// contexts with it, as with all transitions; later ones do not drain send queues.
pub(super) const COMMANDS: &[Command] = &[
    command!(0x500, "CREATE_QP", create_qp_in, create_qp_out, create::create),
    command!(0x501, "DESTROY_QP", destroy_qp_in, bare_out, create::destroy),
    command!(0x502, "RST2INIT_QP", rst2init_qp_in, rst2init_qp_out, |call| run(call, RST2INIT)),
    command!(0x503, "INIT2RTR_QP", init2rtr_qp_in, init2rtr_qp_out, |call| run(call, INIT2RTR)),
    command!(0x504, "RTR2RTS_QP", rtr2rts_qp_in, rtr2rts_qp_out, |call| run(call, RTR2RTS)),
    command!(0x505, "RTS2RTS_QP", rts2rts_qp_in, rts2rts_qp_out, transition::rts2rts).with_least(TRANSITION_BYTES),
    command!(0x506, "SQERR2RTS_QP", sqerr2rts_qp_in, bare_out, |call| run(call, SQERR2RTS)),
    command!(0x507, "2ERR_QP", qp_2err_in, bare_out, transition::to_error),
    command!(0x508, "RTS2SQD_QP", sqd2rts_qp_in, bare_out, |call| run(call, RTS2SQD)),
    command!(0x50a, "2RST_QP", qp_2rst_in, bare_out, transition::to_reset),
    command!(0x50b, "QUERY_QP", query_qp_in, query_qp_out, query::query),
    command!(0x50c, "SQD_RTS_QP", sqd2rts_qp_in, bare_out, |call| run(call, SQD2RTS)),
    command!(0x50e, "INIT2INIT_QP", init2init_qp_in, init2init_qp_out, transition::init2init)
        .with_least(TRANSITION_BYTES),
];
