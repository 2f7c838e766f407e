//! One `RDMA_VERBS_IOCTL`, and the tables of the requests that it answers.

use super::ah::{self, Ah};
use super::counters::{self, Counters};
use super::devx::{
    answers as devx_answers, events as devx_events, general as devx, objects as devx_object, served as devx_served,
    umem as devx_umem,
};
use super::flow::{self, Flow};
use super::flow_action::{self, FlowAction};
use super::flow_matcher::{self, Matcher};
use super::mw::{self, Mw};
use super::pacing::{self, PacketPacing};
use super::request::Request;
use super::wq_table::{self, WqTable};
use super::xrc_domain::{self, Xrcd};
use super::{
    advise, cq, data_direct, device, dm, dma_handle, event_file, mcast, mr, pd, port, qp, qp_kind, qp_state, srq,
    tally, uar, wq, xrc_target,
};
use crate::abi::frames::ExDestroy;
use crate::abi::{self, ATTR_MANDATORY, AttrWire, Destroy, command, object, write};
use crate::context::device_memory::Piece;
use crate::context::{Context, Object};
use crate::device::refusal;
use crate::process::Errno;
use std::sync::Arc;

/// The function that answers a request.
type Handler = fn(&Arc<Context>, &Request) -> Result<(), Errno>;

/// Destroys the object that attribute `ID` names.
fn destroy<T: Object, const ID: u16>(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    context.destroy::<T>(request.handle(ID)?).map(drop)
}

/// A write command whose structure is the handle of an object: destroys it.
fn write_destroy<T: Object>(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    context.destroy::<T>(request.core_in()?).map(drop)
}

/// The handle in the write command that destroys a queue.
fn doomed(request: &Request) -> Result<u32, Errno> {
    request.core_in().map(|wanted: Destroy| wanted.handle)
}

/// The handle in the extended write command that destroys an object; `unknown` is the error of more than a handle.
fn ex_doomed(request: &Request, unknown: Errno) -> Result<u32, Errno> {
    let wanted: ExDestroy = request.core_in()?;
    if wanted.comp_mask == 0 { Ok(wanted.handle) } else { Err(unknown) }
}

/// A method of an object.
struct Method {
    object: u16,
    method: u16,
    name: &'static str,
    /// Ids of the attributes it knows besides the driver's two; other mandatory ones are refused.
    attrs: std::ops::Range<u16>,
    run: Handler,
}

const METHODS: &[Method] = {
    const fn method(object: u16, method: u16, name: &'static str, attrs: u16, run: Handler) -> Method {
        // The mlx5 driver's own methods number their attributes from 0x1000.
        let first = if method >= 0x1000 { 0x1000 } else { 0 };
        Method { object, method, name, attrs: first..first + attrs, run }
    }
    &[
        method(object::DEVICE, 0, "INVOKE_WRITE", 3, invoke_write),
        method(object::DEVICE, 2, "QUERY_PORT", 2, port::query_port),
        method(object::DEVICE, 3, "GET_CONTEXT", 2, device::get_context),
        method(object::DEVICE, 4, "QUERY_CONTEXT", 2, device::query_context),
        method(object::DEVICE, 5, "QUERY_GID_TABLE", 4, port::query_gid_table),
        method(object::DEVICE, 6, "QUERY_GID_ENTRY", 4, port::query_gid_entry),
        method(object::DEVICE, 7, "QUERY_PORT_SPEED", 2, port::query_port_speed),
        method(object::DEVICE, 0x1000, "QUERY_PORT", 2, port::query_place),
        method(object::DEVICE, 0x1001, "GET_DATA_DIRECT_SYSFS_PATH", 1, data_direct::path),
        method(object::PD, 0, "PD_DESTROY", 1, |c, r| pd::free(c, r.handle(0)?)),
        method(object::PD, 0x1000, "PD_QUERY", 2, pd::query_pd),
        method(object::CQ, 0, "CQ_CREATE", 8, cq::create),
        method(object::CQ, 1, "CQ_DESTROY", 2, |c, r| r.put(1, &cq::destroy(c, r.handle(0)?)?)),
        method(object::QP, 0, "QP_CREATE", 15, qp_kind::create),
        method(object::QP, 1, "QP_DESTROY", 2, |c, r| r.put(1, &qp::destroy(c, r.handle(0)?)?)),
        method(object::SRQ, 0, "SRQ_CREATE", 14, srq::create),
        method(object::SRQ, 1, "SRQ_DESTROY", 2, |c, r| r.put(1, &srq::destroy(c, r.handle(0)?)?)),
        method(object::AH, 0, "AH_DESTROY", 1, destroy::<Ah, 0>),
        method(object::MR, 0, "DM_MR_REG", 8, mr::reg_device_memory),
        method(object::MR, 1, "MR_DESTROY", 1, |c, r| mr::dereg(c, r.handle(0)?)),
        method(object::MR, 2, "ADVISE_MR", 4, advise::advise),
        method(object::MR, 3, "QUERY_MR", 5, mr::query),
        method(object::MR, 4, "REG_DMABUF_MR", 9, mr::reg_dmabuf),
        method(object::MR, 5, "REG_MR", 11, mr::reg),
        method(object::MW, 0, "MW_DESTROY", 1, destroy::<Mw, 0>),
        method(object::FLOW, 0, "FLOW_DESTROY", 1, destroy::<Flow, 0>),
        method(object::FLOW, 0x1000, "CREATE_FLOW", 10, flow_matcher::create_flow),
        method(object::FLOW, 0x1001, "DESTROY_FLOW", 1, destroy::<Flow, 0x1000>),
        method(object::FLOW_ACTION, 1, "FLOW_ACTION_DESTROY", 1, destroy::<FlowAction, 0>),
        method(object::FLOW_ACTION, 0x1000, "FLOW_ACTION_CREATE_MODIFY_HEADER", 3, flow_action::create),
        method(object::MLX5_FLOW_MATCHER, 0x1000, "FLOW_MATCHER_CREATE", 7, flow_matcher::create),
        method(object::MLX5_FLOW_MATCHER, 0x1001, "FLOW_MATCHER_DESTROY", 1, destroy::<Matcher, 0x1000>),
        method(object::RWQ_IND_TBL, 0, "RWQ_IND_TBL_DESTROY", 1, destroy::<WqTable, 0>),
        method(object::WQ, 0, "WQ_CREATE", 12, wq::create),
        method(object::WQ, 1, "WQ_DESTROY", 2, |c, r| r.put(1, &wq::destroy(c, r.handle(0)?)?.events_reported)),
        method(object::XRCD, 0, "XRCD_DESTROY", 1, destroy::<Xrcd, 0>),
        method(object::DM, 0, "DM_ALLOC", 3, dm::alloc),
        method(object::DM, 1, "DM_FREE", 1, destroy::<Piece, 0>),
        method(object::DMAH, 0, "DMAH_ALLOC", 4, dma_handle::alloc),
        method(object::DMAH, 1, "DMAH_FREE", 1, dma_handle::free),
        method(object::COUNTERS, 0, "COUNTERS_CREATE", 1, counters::create),
        method(object::COUNTERS, 1, "COUNTERS_DESTROY", 1, destroy::<Counters, 0>),
        method(object::COUNTERS, 2, "COUNTERS_READ", 3, counters::read),
        method(object::ASYNC_EVENT, 0, "ASYNC_EVENT_ALLOC", 1, event_file::alloc_async),
        method(object::MLX5_DEVX, 0x1000, "DEVX_OTHER", 2, devx::other),
        method(object::MLX5_DEVX, 0x1001, "DEVX_QUERY_UAR", 2, devx::query_uar),
        method(object::MLX5_DEVX, 0x1002, "DEVX_QUERY_EQN", 2, devx::query_eqn),
        method(object::MLX5_DEVX_OBJ, 0x1000, "DEVX_OBJ_CREATE", 3, devx_object::create),
        method(object::MLX5_DEVX_OBJ, 0x1001, "DEVX_OBJ_DESTROY", 1, devx_object::destroy),
        method(object::MLX5_DEVX_OBJ, 0x1002, "DEVX_OBJ_MODIFY", 3, devx_object::modify),
        method(object::MLX5_DEVX_OBJ, 0x1003, "DEVX_OBJ_QUERY", 3, devx_object::query),
        method(object::MLX5_DEVX, 0x1003, "DEVX_SUBSCRIBE_EVENT", 5, devx_events::subscribe),
        method(object::MLX5_DEVX_OBJ, 0x1004, "DEVX_OBJ_ASYNC_QUERY", 5, devx_answers::query),
        method(object::MLX5_DEVX_ASYNC_CMD_FD, 0x1000, "DEVX_ASYNC_CMD_FD_ALLOC", 1, devx_answers::alloc),
        method(object::MLX5_DEVX_ASYNC_EVENT_FD, 0x1000, "DEVX_ASYNC_EVENT_FD_ALLOC", 2, devx_events::alloc),
        method(object::MLX5_DEVX_UMEM, 0x1000, "DEVX_UMEM_REG", 7, devx_umem::register),
        method(object::MLX5_DEVX_UMEM, 0x1001, "DEVX_UMEM_DEREG", 1, devx_umem::deregister),
        method(object::MLX5_PP, 0x1000, "PP_OBJ_ALLOC", 4, pacing::alloc),
        method(object::MLX5_PP, 0x1001, "PP_OBJ_DESTROY", 1, destroy::<PacketPacing, 0x1000>),
        method(object::MLX5_UAR, 0x1000, "UAR_OBJ_ALLOC", 5, uar::alloc),
        method(object::MLX5_UAR, 0x1001, "UAR_OBJ_DESTROY", 1, devx_served::free_uar),
    ]
};

/// A write command.
struct Command {
    number: u32,
    run: Handler,
}

const COMMANDS: &[Command] = {
    const fn command(number: u32, run: Handler) -> Command {
        Command { number, run }
    }
    &[
        command(command::QUERY_DEVICE, device::query_device),
        command(command::QUERY_PORT, port::write_query_port),
        command(command::ALLOC_PD, pd::alloc_pd),
        command(command::DEALLOC_PD, |c, r| pd::free(c, r.core_in()?)),
        command(command::CREATE_AH, ah::create),
        command(command::DESTROY_AH, write_destroy::<Ah>),
        command(command::REG_MR, mr::write_reg),
        command(command::REREG_MR, mr::write_rereg),
        command(command::DEREG_MR, |c, r| mr::dereg(c, r.core_in()?)),
        command(command::ALLOC_MW, mw::alloc),
        command(command::DEALLOC_MW, write_destroy::<Mw>),
        command(command::CREATE_COMP_CHANNEL, event_file::create_channel),
        command(command::RESIZE_CQ, cq::resize),
        command(command::DESTROY_CQ, |c, r| r.core_out(&cq::destroy(c, doomed(r)?)?)),
        command(command::QUERY_QP, qp_state::query),
        command(command::MODIFY_QP, qp_state::modify),
        command(command::DESTROY_QP, |c, r| r.core_out(&qp::destroy(c, doomed(r)?)?)),
        command(command::ATTACH_MCAST, mcast::attach),
        command(command::DETACH_MCAST, mcast::detach),
        command(command::MODIFY_SRQ, srq::modify),
        command(command::QUERY_SRQ, srq::query),
        command(command::DESTROY_SRQ, |c, r| r.core_out(&srq::destroy(c, doomed(r)?)?)),
        command(command::OPEN_XRCD, xrc_domain::open),
        command(command::CLOSE_XRCD, write_destroy::<Xrcd>),
        command(command::OPEN_QP, xrc_target::open_target),
        command(command::EX_QUERY_DEVICE, device::ex_query_device),
        command(command::EX_MODIFY_QP, qp_state::ex_modify),
        command(command::EX_CREATE_FLOW, flow::create),
        command(command::EX_DESTROY_FLOW, |c, r| c.destroy::<Flow>(ex_doomed(r, Errno::EINVAL)?).map(drop)),
        command(command::EX_CREATE_WQ, wq::write_create),
        command(command::EX_MODIFY_WQ, wq::modify),
        command(command::EX_DESTROY_WQ, |c, r| r.core_out(&wq::destroy(c, ex_doomed(r, Errno::EOPNOTSUPP)?)?)),
        command(command::EX_CREATE_RWQ_IND_TBL, wq_table::create),
        command(command::EX_DESTROY_RWQ_IND_TBL, |c, r| {
            c.destroy::<WqTable>(ex_doomed(r, Errno::EOPNOTSUPP)?).map(drop)
        }),
        command(command::EX_MODIFY_CQ, cq::modify),
    ]
};

/// Answers the request at `address`.
pub(crate) fn run(context: &Arc<Context>, address: u64) -> Result<(), Errno> {
    tally::count();
    context.hca.is_here()?;
    let after = refusal::of_command()?;
    let (header, request) = Request::parse(address)?;
    let (object, method) = (header.object_id, header.method_id);
    let Some(entry) = METHODS.iter().find(|entry| (entry.object, entry.method) == (object, method)) else {
        // A kernel that was built without the method says so, and libraries go on without it.
        log::info!("{} method {method:#x}: not supported", object::name(object));
        return Err(Errno::EPROTONOSUPPORT);
    };
    let known =
        |attr: &&AttrWire| entry.attrs.contains(&attr.attr_id) || matches!(attr.attr_id, abi::UHW_IN | abi::UHW_OUT);
    if let Some(attr) = request.attrs.iter().find(|attr| attr.flags & ATTR_MANDATORY != 0 && !known(attr)) {
        log::info!("{}: mandatory attribute {:#x} is not supported", entry.name, attr.attr_id);
        return Err(Errno::EPROTONOSUPPORT);
    }
    let again = |(index, attr): (usize, &AttrWire)| request.attrs[..index].iter().any(|a| a.attr_id == attr.attr_id);
    if request.attrs.iter().enumerate().any(again) {
        return Err(Errno::EINVAL);
    }
    let result = (entry.run)(context, &request);
    match &result {
        Ok(()) => log::trace!("{}: done", entry.name),
        Err(error) => log::debug!("{}: {error:?}", entry.name),
    }
    after.and(result)
}

/// `INVOKE_WRITE`: a command of the old write() interface inside an ioctl.
fn invoke_write(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    // A constant, which takes 8 bytes.
    if request.len(write::COMMAND) != size_of::<u64>() {
        return Err(Errno::EINVAL);
    }
    let number: u32 = request.input(write::COMMAND)?;
    let Some(command) = COMMANDS.iter().find(|command| command.number == number) else {
        let extended = if number & command::EX == 0 { "" } else { "extended " };
        log::info!("{extended}command {} ({number:#x}): not supported", command::name(number));
        return Err(if number & !command::BITS == 0 { Errno::EOPNOTSUPP } else { Errno::EINVAL });
    };
    let result = (command.run)(context, request);
    // libibverbs begins with a QUERY_DEVICE that is too short, to learn whether commands can come this way.
    if let Err(error) = &result {
        log::debug!("command {}: {error:?}", command::name(number));
    }
    result
}
