//! Shared receive queues: SRQs, those of XRC domains, receive memory pools and extended receive queues. Their numbers
//! are from one space, as the kernel expects (`drivers/infiniband/hw/mlx5/srq_cmd.c` has one table for all), so that
//! events need not say which kind they mean.

mod layouts;
mod plain;
mod ring;
mod rmp;
mod xrc;
mod xrq;

use crate::firmware::call::{Command, bare_out, command};
use crate::firmware::objects::SrqKind;
use layouts::{
    arm_rq_in, arm_xrc_srq_in, arm_xrq_in, create_rmp_in, create_rmp_out, create_srq_in, create_srq_out,
    create_xrc_srq_in, create_xrc_srq_out, create_xrq_in, create_xrq_out, destroy_rmp_in, destroy_srq_in,
    destroy_xrc_srq_in, destroy_xrq_in, modify_rmp_in, query_rmp_in, query_rmp_out, query_srq_in, query_srq_out,
    query_xrc_srq_in, query_xrc_srq_out, query_xrq_in, query_xrq_out,
};

pub(super) const COMMANDS: &[Command] = &[
    command!(0x700, "CREATE_SRQ", create_srq_in, create_srq_out, plain::create),
    command!(0x701, "DESTROY_SRQ", destroy_srq_in, bare_out, |call| ring::destroy(call, SrqKind::Srq)),
    command!(0x702, "QUERY_SRQ", query_srq_in, query_srq_out, plain::query),
    command!(0x703, "ARM_RQ", arm_rq_in, bare_out, plain::arm).with_modifiers(),
    command!(0x705, "CREATE_XRC_SRQ", create_xrc_srq_in, create_xrc_srq_out, xrc::create),
    command!(0x706, "DESTROY_XRC_SRQ", destroy_xrc_srq_in, bare_out, |call| ring::destroy(call, SrqKind::Xrc)),
    command!(0x707, "QUERY_XRC_SRQ", query_xrc_srq_in, query_xrc_srq_out, xrc::query),
    command!(0x708, "ARM_XRC_SRQ", arm_xrc_srq_in, bare_out, xrc::arm).with_modifiers(),
    command!(0x717, "CREATE_XRQ", create_xrq_in, create_xrq_out, xrq::create),
    command!(0x718, "DESTROY_XRQ", destroy_xrq_in, bare_out, |call| ring::destroy(call, SrqKind::Xrq)),
    command!(0x719, "QUERY_XRQ", query_xrq_in, query_xrq_out, xrq::query),
    command!(0x71a, "ARM_XRQ", arm_xrq_in, bare_out, |call| ring::arm(call, &[SrqKind::Xrq])),
    command!(0x90c, "CREATE_RMP", create_rmp_in, create_rmp_out, rmp::create),
    command!(0x90d, "MODIFY_RMP", modify_rmp_in, bare_out, rmp::modify),
    command!(0x90e, "DESTROY_RMP", destroy_rmp_in, bare_out, |call| ring::destroy(call, SrqKind::Rmp)),
    command!(0x90f, "QUERY_RMP", query_rmp_in, query_rmp_out, rmp::query),
];
